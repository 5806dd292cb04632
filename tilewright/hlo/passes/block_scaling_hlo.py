"""Block scaling in the form of HLO's own: `scaled-dot`, and calls whose scales are padded and whose block size is written out.

    scaled-dot(x[M,K], y[K,N], sx[M,K/32], sy[K/32,N])   →   custom-call(x, yᵀ, sx, syᵀ), "__op$block_scaled_dot"

Both become the form that the other rewrites of block scaling read: batch dimensions first, the contracting one last, one scale for each
block. A scaled-dot without such a form (scalar scales, several contracting dimensions) becomes a dot of elements times scales.
"""

from __future__ import annotations

import numpy as np

from tilewright.hlo import block_scaled_calls
from tilewright.hlo.builder import Builder
from tilewright.hlo.errors import HloShapeError
from tilewright.hlo.ir import Instruction
from tilewright.hlo.passes.block_scaling_expand import builder_at, repeated
from tilewright.hlo.passes.block_scaling_quantize import dequantized
from tilewright.hlo.shape import Shape


def lower_scaled_dot(instruction: Instruction, fused: bool) -> Instruction:
  """Replaces a scaled-dot by a block-scaled call or a dot; returns the replacement."""
  assert instruction.parent is not None
  found = _as_call(instruction) or _as_dot(instruction, fused)
  layouts = instruction.shape.layout, found.shape.layout
  if layouts[0] is not None and layouts[1] is not None and layouts[0].minor_to_major != layouts[1].minor_to_major:
    found = builder_at(instruction).op("copy", (found,), instruction.shape)
  instruction.parent.replace(instruction, found)
  return found


def _as_call(instruction: Instruction) -> Instruction | None:
  x, y, x_scales, y_scales = instruction.operands
  sides = [_Side(instruction, "lhs", x, x_scales), _Side(instruction, "rhs", y, y_scales)]
  if not all(side.is_plain for side in sides) or instruction.shape.is_dynamic:
    return None
  b = builder_at(instruction)
  moved = [side.arranged(b, z) for side in sides for z in (side.elements, side.scales)]
  batch = tuple(x.shape.dimensions[d] for d in sides[0].batch)
  rows = [side.rows for side in sides]
  shape = Shape.array(instruction.shape.element_type, (*batch, *rows))
  operands = (moved[0], moved[2], moved[1], moved[3])
  call = b.op("custom-call", operands, shape, custom_call_target=block_scaled_calls.DOT)
  try:
    block_scaled_calls.check(call)
  except HloShapeError:  # types or sizes that the call does not have
    call.parent.remove_all([call]) if call.parent is not None else None
    return None
  plain = call.shape.dimensions == instruction.shape.dimensions
  return call if plain else b.reshape(call, instruction.shape.dimensions)


class _Side:
  """One operand of a scaled-dot, and how its dimensions are used."""

  def __init__(self, dot: Instruction, side: str, elements: Instruction, scales: Instruction) -> None:
    self.elements, self.scales = elements, scales
    self.batch = tuple(dot.attrs.get(f"{side}_batch_dims", ()))
    self.contracted = tuple(dot.attrs.get(f"{side}_contracting_dims", ()))
    rank = elements.shape.rank
    self.free = tuple(d for d in range(rank) if d not in self.batch and d not in self.contracted)

  @property
  def rows(self) -> int:
    return int(np.prod([self.elements.shape.dimensions[d] for d in self.free], dtype=np.int64))

  @property
  def is_plain(self) -> bool:
    x, s = self.elements.shape, self.scales.shape
    if len(self.contracted) != 1 or s.rank != x.rank or x.is_dynamic or s.is_dynamic:
      return False
    return len(self.free) == 1 or all(s.dimensions[d] == x.dimensions[d] for d in self.free)

  def arranged(self, b: Builder, x: Instruction) -> Instruction:
    """Batch dimensions first, then the free ones as one, then the contracted one."""
    order = (*self.batch, *self.free, *self.contracted)
    x = x if order == tuple(range(x.shape.rank)) else b.transpose(x, order)
    if len(self.free) == 1:
      return x
    sizes, first = x.shape.dimensions, len(self.batch)
    middle = int(np.prod(sizes[first:-1], dtype=np.int64))
    return b.reshape(x, (*sizes[:first], middle, sizes[-1]))


def _as_dot(instruction: Instruction, fused: bool) -> Instruction:
  b = builder_at(instruction)
  x, y, x_scales, y_scales = instruction.operands
  operands = [_product(b, z, s, fused) for z, s in ((x, x_scales), (y, y_scales))]
  dims = {k: v for k, v in instruction.attrs.items() if k.endswith(("_batch_dims", "_contracting_dims"))}
  found = b.op("dot", operands, instruction.shape.with_element_type("f32"), **dims)
  target = instruction.shape.element_type
  return found if target == "f32" else b.convert(found, target)


def _product(b: Builder, x: Instruction, scales: Instruction, fused: bool) -> Instruction:
  if scales.shape.rank == 0 and x.shape.rank:
    scales = b.broadcast(scales, (1,) * x.shape.rank)
  if fused:
    return dequantized(b, x, scales, "f32", fused)
  wide = [z if z.shape.element_type == "f32" else b.convert(z, "f32") for z in (x, scales)]
  return b.multiply(wide[0], repeated(b, wide[1], x.shape.dimensions))


def with_blocks_as_shapes(call: Instruction) -> bool:
  """Cuts padded scales, and pads K where its last block is shorter than the block size that the call writes out, so that block sizes
  follow from the shapes; whether the call had one.
  """
  block = block_scaled_calls.block_size(call)
  if block is None:
    return False
  b = builder_at(call)
  x, y, *scales = call.operands
  k = x.shape.dimensions[-1]
  columns = -(-k // block)
  cut = [_cut(b, s, z, columns) for s, z in zip(scales[:2], (x, y))]
  # The elements added are multiplied by scales that others of their block have too.
  padded = [_padded(b, z, columns * block - k) for z in (x, y)]
  call.set_operands((*padded, *cut, *scales[2:]))
  call.backend_config = ""
  return True


def _cut(b: Builder, scales: Instruction, data: Instruction, columns: int) -> Instruction:
  *batch, rows, _ = data.shape.dimensions
  have = scales.shape.dimensions
  wanted = (*have[: len(batch)], min(rows, have[-2]), columns)
  return scales if have == wanted else b.slice(scales, *((0, size) for size in wanted))


def _padded(b: Builder, x: Instruction, more: int) -> Instruction:
  if not more:
    return x
  zero = b.constant(np.zeros((), x.shape.dtype))
  return b.pad(x, zero, *[(0, 0)] * (x.shape.rank - 1), (0, more))
