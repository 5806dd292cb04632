"""The call `__op$block_scaled_dot` as plain HLO: a dot of elements times scales."""

from __future__ import annotations

from tilewright.hlo.builder import Builder
from tilewright.hlo.ir import Instruction
from tilewright.hlo.passes.block_scaling_expand import builder_at, repeated
from tilewright.hlo.passes.block_scaling_quantize import dequantized


def dot(instruction: Instruction, fused: bool) -> Instruction:
  """(lhs, rhs, lhs scales, rhs scales, global scale), the last two if given; contracting dimension minor, batch major."""
  b = builder_at(instruction)
  x, y, x_scales, *rest = instruction.operands
  left = _scaled(b, x, x_scales, fused)
  right = _scaled(b, y, rest[0], fused) if rest else _as_f32(b, y)
  rank = x.shape.rank
  batch = tuple(range(rank - 2))
  found = b.dot(left, right, contracting=((rank - 1,), (rank - 1,)), batch=(batch, batch))
  if len(rest) > 1:
    found = b.multiply(found, b.broadcast(b.reshape(_as_f32(b, rest[1]), ()), found.shape.dimensions))
  target = instruction.shape.element_type
  return found if target == "f32" else b.convert(found, target)


def _scaled(b: Builder, data: Instruction, scales: Instruction, fused: bool) -> Instruction:
  """Elements times the scales of their blocks. On the CPU exactly, as 2^-127 is zero to XLA there; elsewhere XLA may fuse the product."""
  if fused:
    return dequantized(b, data, scales, "f32", fused)
  return b.multiply(_as_f32(b, data), repeated(b, _as_f32(b, scales), data.shape.dimensions))


def _as_f32(b: Builder, x: Instruction) -> Instruction:
  return x if x.shape.element_type == "f32" else b.convert(x, "f32")
