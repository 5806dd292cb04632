"""The ways to multiply matrices, and the layouts each requires.

    wgmma   sm_90a, warpgroups: the right operand in shared memory, the left one there or in registers
    mma     mma.sync: both operands in registers
    fma     any shapes and types: both operands in shared memory, the result blocked

Each is a list of combinations of layouts with its cost; the solver weighs the cost against that of converting the operands to them. An
operand that is loaded from shared memory, perhaps transposed, and used only by dots is never loaded: the dot reads the memory itself.
"""

from __future__ import annotations

import math

import numpy as np

from tilewright.layout.build import blocked_for
from tilewright.layout.constraints import OneOf, Place, SharedAccess, Transposed, Variable
from tilewright.layout.layout import OFFSET, Layout
from tilewright.layout.options import mma_options, wgmma_left_registers, wgmma_shared, wgmma_variants
from tilewright.layout.shared import SharedLayout, shared_tiled
from tilewright.target.nvgpu.arch import FMA, MMA, WGMMA, Arch
from tilewright.target.nvgpu.arch.tensor_cores import KINDS, is_rounded, multiplies
from tilewright.target.nvgpu.passes.layouts.operand_layouts import behind_transposes
from tilewright.target.nvgpu.passes.layouts.system import System
from tilewright.tile.ir import Op, Value

FMA_RATE = 128
_MAX_INSTRUCTIONS = 2048  # of `mma.sync` for one product
_QUARTERS = 4  # costs are in quarter cycles
_MAX_SHARED_SHARE = 0.75  # of shared memory that the operands of one product may take


def dot(system: System, op: Op) -> None:
  """The row of the table: the layouts of both operands and the result, together."""
  if not all(v.tile.size for v in (*op.operands, op.result)):
    return  # nothing is multiplied
  result = system.of(op.result)
  if result is None:
    return _scalar_result(system, op)
  lhs, rhs = (_operand(system, op, i) for i in range(2))
  found: list[tuple[str, tuple[Place, ...], int]] = []
  work = op.operands[0].tile.size * result.shape[-1] if is_matrix(op) else _multiplications(op)
  if is_matrix(op) and has_tensor_cores(system.arch, op):
    for kind, options in ((WGMMA, _wgmma(system, op, lhs, rhs, result)), (MMA, _mma(system, lhs, rhs))):
      rate = system.arch.rates.get(kind)
      if rate is not None:
        price = _QUARTERS * work * lhs.bits // (rate * 16)
        found += [(kind, option, price) for option in options if option[2].num_registers <= system.max_registers]  # type: ignore[union-attr]
  if found and any(user.name == "mma" for user in system.users[op.result]):  # that a warpgroup is to multiply
    found = [own for own in found if own[0] == WGMMA] or found
    return _require(system, op, (lhs, rhs, result), found)
  rows = tuple(shared_tiled(v.shape, None, v.bits) for v in (lhs, rhs))
  for whole_rows in (False, True):
    blocked = blocked_for(result.shape, system.num_warps, max(128 // result.bits, 1), whole_rows=whole_rows)
    found.append((FMA, (*rows, blocked), _QUARTERS * work // FMA_RATE))
  _require(system, op, (lhs, rhs, result), found)


def _require(
  system: System, op: Op, over: tuple[Variable, Variable, Variable], found: list[tuple[str, tuple[Place, ...], int]]
) -> None:
  """The operands and the result of a product lie in one of these ways."""
  kinds: dict[tuple[Place, ...], str] = {}
  prices: dict[tuple[Place, ...], int] = {}
  for kind, option, price in found:
    if option not in kinds or price < prices[option]:
      kinds[option], prices[option] = kind, price * system.weight
  lhs, rhs, result = over
  meaning = f"{lhs}, {rhs} and {result} must be those of {' or '.join(dict.fromkeys(kinds.values()))}"
  constraint = OneOf(over, tuple(kinds), meaning, tuple(prices.values()))
  system.dots[op] = constraint, tuple(kinds.values())
  system.require(constraint)


def _scalar_result(system: System, op: Op) -> None:
  """A product of two vectors: like an elementwise product in the layout of the first, then a reduction."""
  own = system.of(op.operands[0])
  if own is not None:
    for i in range(2):
      system.link(op, i, own)


def _operand(system: System, op: Op, i: int) -> Variable:
  """An operand as the instruction sees it, (m, k) or (k, n), linked to the value or to the memory it is loaded from."""
  value = op.operands[i]
  wanted = system.use(op, i)
  system.uses[op, i] = wanted
  source, permutation = behind_transposes(value)
  ref = source.owner.operands[0] if isinstance(source.owner, Op) and source.owner.name == "load" else None
  if ref is not None and reads_shared_directly(system, value):
    shared = system.shared(ref)
    assert shared is not None
    start = wanted
    if permutation != tuple(range(len(permutation))):
      start = system.use(op, i, source.tile.shape, "stored")
      system.require(Transposed(start, wanted, permutation))
    system.require(SharedAccess(start, shared, system.weight))
  else:
    system.link(op, i, wanted)
  if not is_matrix(op):
    return wanted
  contracted = op.attrs["contract"][i][0]
  place = 1 if i == 0 else 0  # of the contracted dimension, as the instruction sees it
  if contracted == place:
    return wanted
  matrix = system.use(op, i, tuple(reversed(wanted.shape)), "matrix")
  system.require(Transposed(wanted, matrix, (1, 0)))
  return matrix


def reads_shared_directly(system: System, value: Value) -> bool:
  """Whether a value is a load from shared memory, perhaps transposed, that only dots use."""
  if system.is_plain:
    return False
  source, _ = behind_transposes(value)
  if not isinstance(source.owner, Op) or source.owner.name != "load" or system.shared(source.owner.operands[0]) is None:
    return False
  shared = system.shared(source.owner.operands[0])
  return shared is not None and shared.shape == source.tile.shape and _only_dots(system, source)


def _only_dots(system: System, value: Value) -> bool:
  return all(
    user.name == "dot" or (user.name == "transpose" and _only_dots(system, user.result))
    for user in system.users.get(value, [])
  )


def is_matrix(op: Op) -> bool:
  (left, right), (batch, _) = op.attrs["contract"], op.attrs["batch"]
  return len(left) == len(right) == 1 and not batch and all(v.tile.rank == 2 for v in op.operands)


def _multiplications(op: Op) -> int:
  lhs = op.operands[0].tile
  free = op.result.tile.size // max(
    math.prod(lhs.shape[a] for a in range(lhs.rank) if a not in op.attrs["contract"][0]), 1
  )
  return lhs.size * max(free, 1)


def has_tensor_cores(arch: Arch, op: Op) -> bool:
  """Whether tensor cores multiply what a dot multiplies, and add it up as it asks."""
  a, b = (v.tile.dtype for v in op.operands)
  if a != b or (is_rounded(a) and not op.attrs.get("tf32")):
    return False
  return multiplies(arch, a, op.attrs["dtype"])


def is_for_warps(op: Op) -> bool:
  """Whether a product is a matrix product of dtypes that tensor cores support."""
  dtypes = {v.tile.dtype for v in op.operands}
  if any(map(is_rounded, dtypes)) and not op.attrs.get("tf32"):
    return False
  return len(dtypes) == 1 and dtypes <= set(KINDS) and all(v.tile.rank == 2 for v in (*op.operands, op.result))


def is_short(op: Op, result: Layout) -> bool:
  """Whether a product of `mma.sync` takes whole instructions, and few enough to write them all out."""
  depth, k = KINDS[op.operands[0].tile.dtype].depth, op.operands[0].tile.shape[op.attrs["contract"][0][0]]
  return k % depth == 0 and result.num_registers // 4 * (k // depth) <= _MAX_INSTRUCTIONS


def _wgmma(system: System, op: Op, lhs: Variable, rhs: Variable, result: Variable) -> list[tuple[Place, ...]]:
  if (
    lhs.bits * math.prod(lhs.shape) + rhs.bits * math.prod(rhs.shape)
  ) // 8 > _MAX_SHARED_SHARE * system.arch.shared_bytes:
    return []
  stored, right = (
    _swizzled(system, value, wgmma_shared(v.shape, v.bits, contracted))
    for value, v, contracted in zip(op.operands, (lhs, rhs), (1, 0))
  )
  registers = wgmma_left_registers(lhs.shape, lhs.bits, system.num_warps)
  integers = np.dtype(op.attrs["dtype"]).kind in "iu"
  source = behind_transposes(op.operands[0])[0].owner
  is_load = isinstance(source, Op) and source.name == "load"
  is_by_hand = any(user.name == "mma" for user in system.users[op.result])
  found: list[tuple[Place, ...]] = []
  for way in wgmma_variants(result.shape, system.num_warps, integers):
    left: tuple[Place, ...] = (*stored, *registers) if way.across == 1 else stored  # registers go with groups along m
    if (
      registers and way.across == 1 and is_by_hand and not is_load
    ):  # a tile that the user has in registers stays there
      left = registers
    fitting = [b for b in right if way.width % _wide(b, 1) == 0 or way.width == result.shape[1]]
    found += [(a, b, way.accumulator) for a in left for b in fitting]
  return found


def _swizzled(system: System, value: Value, options: tuple[SharedLayout, ...]) -> tuple[SharedLayout, ...]:
  """Of an operand that is brought to shared memory for its product: the widest swizzle in either direction. None is without one."""
  found: dict[int, SharedLayout] = {}
  some = [option for option in options if option.swizzle.bits]
  if reads_shared_directly(system, value):
    return tuple(some)
  for option in some:  # the widest come first
    found.setdefault(_wide(option, 0) > 1, option)
  return tuple(found.values())


def _wide(option: SharedLayout, axis: int) -> int:
  """How many neighbours along a dimension lie together."""
  first = option.elements.digits(OFFSET)[0]
  return first.size if first.moves[axis] == 1 else 1


def _mma(system: System, lhs: Variable, rhs: Variable) -> list[tuple[Place, ...]]:
  return [tuple(option) for option in mma_options(lhs.shape, rhs.shape, lhs.bits, system.num_warps)]
