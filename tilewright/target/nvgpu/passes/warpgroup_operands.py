"""Operands of warpgroups' products that are loaded unchanged from global memory: loads that can go straight to where tensor cores read.

k = k_ref[...]            a load that only products use, all of which want it in the same layout
s = dot(q, k.T)           the operand is that load, transposed: rows of the memory are rows of the layout
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping

from tilewright.layout.algebra import transposed
from tilewright.layout.layout import OFFSET
from tilewright.layout.shared import SharedLayout
from tilewright.target.nvgpu.arch import WGMMA, Arch
from tilewright.target.nvgpu.passes.layouts.inference import Inferred
from tilewright.target.nvgpu.passes.layouts.operand_layouts import behind_transposes
from tilewright.tile.ir import Op, Value

_PIECE = 16  # bytes of one copy
_SPARE = 2048  # bytes of shared memory for barriers and alignment
MAX_COPY_BYTES = 512  # of an operand that a thread copies to shared memory at a time


@dataclasses.dataclass(frozen=True)
class Source:
  """A load whose elements go to shared memory in pieces of sixteen bytes; `shared` is the operand's layout as the load sees it."""

  load: Op
  shared: SharedLayout


def source_of(value: Value, wanted: SharedLayout) -> Source | None:
  """The load that an operand is, perhaps transposed, if rows of the memory are rows of what is wanted."""
  loaded, permutation = behind_transposes(value)
  if not isinstance(loaded.owner, Op) or loaded.owner.name != "load":
    return None
  back = tuple(permutation.index(axis) for axis in range(len(permutation)))
  shared = SharedLayout(transposed(wanted.elements, back), wanted.bits, wanted.swizzle)
  along = shared.elements.digits(OFFSET)[0]
  if along.moves[-1] != 1 or along.size * wanted.bits // 8 % _PIECE:
    return None
  return Source(loaded.owner, shared)


def shared_layout_for_products(
  inferred: Inferred, users: Mapping[Value, list[Op]], loaded: Value
) -> SharedLayout | None:
  """The layout that products of warpgroups require of a load's result, if they are its only users and all require the same."""
  found, pending = set(), [loaded]
  while pending:
    value = pending.pop()
    for user in users.get(value, []):
      if user.name == "transpose":
        pending.append(user.result)
        continue
      if user.attrs.get("kind") != WGMMA:
        return None
      for i in (i for i, operand in enumerate(user.operands) if operand is value):
        wanted = inferred.inferred_operand_layout(user, i)
        source = source_of(value, wanted) if isinstance(wanted, SharedLayout) else None
        found.add(None if source is None else source.shared)
  return found.pop() if len(found) == 1 else None


def room_of_others(inferred: Inferred, staged: Collection[Value]) -> int | None:
  """Bytes of the operands of warpgroups' products that are none of the staged loads; None if threads cannot copy one of them.

  Products read stages where they are, and cannot do without: so stages must leave room for every other operand.
  """
  others: dict[Value, int] = {}
  for dot in (op for op in inferred.dots if op.attrs.get("kind") == WGMMA):
    for i, value in enumerate(dot.operands):
      wanted = inferred.inferred_operand_layout(dot, i)
      if isinstance(wanted, SharedLayout) and behind_transposes(value)[0] not in staged:
        others[value] = wanted.nbytes + wanted.swizzle.span
        if held_bytes(inferred, value) > MAX_COPY_BYTES:
          return None
  return sum(others.values())


def held_bytes(inferred: Inferred, value: Value) -> int:
  """Of an operand, in the registers of a thread that copies it."""
  return inferred.layouts[value].num_registers * value.tile.dtype.itemsize


def fits(arch: Arch, nbytes: int) -> bool:
  """Whether stages and the operands beside them fit shared memory."""
  return nbytes <= arch.shared_bytes - _SPARE
