"""Loads whose rows threads can copy as they are, in pieces of sixteen bytes: of whole blocks of arrays in global memory, or of parts of
them, that the kernel never writes.

    x_ref: rows of 512 bytes      x_ref[pl.ds(64 * i, 64), :]        pieces begin at multiples of sixteen bytes
                                  x_ref[:, pl.ds(4 * i, 64)]         those of bf16 may not
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tilewright.target.nvgpu.passes.block_accesses import written
from tilewright.target.nvgpu.passes.gpu_kernel import IN_PLACE, GpuKernel
from tilewright.tile.dead_code import VIEWS, base_of
from tilewright.tile.grid import Blocked, BoundedSlice, Element, Squeezed
from tilewright.tile.ir import Op, Value, walk
from tilewright.tile.native import index_entries
from tilewright.tile.types import dense_strides

_PIECE = 16  # bytes
_ALIGNED = 16  # elements of which an array begins at a multiple


@dataclasses.dataclass(frozen=True)
class _Part:
  """A part of an array: elements between neighbours along each dimension, and a number that divides the place of its first."""

  strides: tuple[int, ...]
  align: int

  def is_in_pieces(self, itemsize: int) -> bool:
    return self.strides[-1:] == (1,) and math.gcd(self.align, *self.strides[:-1]) * itemsize % _PIECE == 0


def find(k: GpuKernel) -> frozenset[Op]:
  """Such loads of a kernel that has one body."""
  return frozenset(op for op in walk(k.kernel.body.body) if op.name == "load" and _is_direct(k, op.operands[0]))


def _is_direct(k: GpuKernel, ref: Value) -> bool:
  params, first = k.kernel.body.params, k.kernel.mapping.num_prefetch
  base = base_of(ref)
  position = params.index(base) - first if base in params else -1
  if not 0 <= position < len(k.kernel.mapping.block_mappings) or _may_change(k, position):
    return False
  part = _block(k, position)
  views: list[Op] = []
  while ref is not base:
    assert isinstance(ref.owner, Op)
    views.append(ref.owner)
    ref = ref.owner.operands[0]
  for view in reversed(views):
    part = None if part is None else _seen(view, part)
  return part is not None and part.is_in_pieces(base.ref.dtype.itemsize)


def _may_change(k: GpuKernel, position: int) -> bool:
  """Whether the kernel writes a block's array, perhaps through one that is aliased to it."""
  mapping, params = k.kernel.mapping, k.kernel.body.params
  changed = {params.index(ref) - mapping.num_prefetch for ref in written(k.kernel.body.body) if ref in params}
  same = {position}
  for into, out in k.kernel.input_output_aliases:
    both = {into - mapping.num_prefetch, mapping.num_inputs + out}
    if same & both and all(p >= 0 and mapping.block_mappings[p].in_place for p in both):
      same |= both
  return not same.isdisjoint(changed)


def _block(k: GpuKernel, position: int) -> _Part | None:
  """A block, if it is accessed in place and never hangs over an edge."""
  m, index_map, access = (
    k.kernel.mapping.block_mappings[position],
    k.kernel.index_maps[position],
    k.bodies[0].accesses[position],
  )
  strides = dense_strides(tuple(m.array_aval.shape))
  if access.how != IN_PLACE or not all(access.inside):
    return None
  if index_map is None:
    return _Part(strides, _ALIGNED)
  align = _ALIGNED
  for dim, stride, (start, *_) in zip(m.block_shape, strides, index_entries(m, index_map)):
    match dim:
      case Blocked(size):
        align = math.gcd(align, divisor(start) * size * stride)
      case Element(_, (low, _)):
        align = math.gcd(align, math.gcd(divisor(start), low) * stride)
      case Squeezed():
        align = math.gcd(align, divisor(start) * stride)
      case BoundedSlice():
        return None  # it has an edge where its valid elements end
  return _Part(tuple(s for s, dim in zip(strides, m.block_shape) if not isinstance(dim, Squeezed)), align)


def _seen(view: Op, part: _Part) -> _Part | None:
  """A part of a part."""
  match view.name:
    case "subview":
      starts, steps, dropped = view.operands[1:], view.attrs["steps"], view.attrs["dropped"]
      align = math.gcd(part.align, *(divisor(start) * stride for start, stride in zip(starts, part.strides)))
      kept = [d for d in range(len(starts)) if d not in dropped]
      return _Part(tuple(part.strides[d] * steps[d] for d in kept), align)
    case "transpose_ref":
      return _Part(tuple(part.strides[p] for p in view.attrs["permutation"]), part.align)
    case "reshape_ref":
      return _Part(view.results[0].ref.strides, part.align)
  assert view.name in VIEWS
  return part


def divisor(v: Value) -> int:
  """A number that surely divides an integer; zero divides zero alone."""
  op = v.owner
  if not isinstance(op, Op) or v.tile.dtype.kind not in "iu":
    return 1
  match op.name:
    case "constant":
      value = np.asarray(op.attrs["value"])
      return abs(int(value)) if value.ndim == 0 else 1
    case "mul":
      return math.prod(divisor(x) for x in op.operands)
    case "add":
      return math.gcd(*(divisor(x) for x in op.operands))
    case "convert" if op.operands[0].tile.dtype.itemsize <= op.result.tile.dtype.itemsize:
      return divisor(op.operands[0])
  return 1
