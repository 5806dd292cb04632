"""Block-scaled operations as plain HLO: the expansion of the custom calls."""

from __future__ import annotations

from tilewright.hlo.builder import Builder
from tilewright.hlo.ir import Instruction


def builder_at(instruction: Instruction) -> Builder:
  assert instruction.parent is not None
  return Builder(instruction.parent, before=instruction, metadata=instruction.metadata)


# --- expansions --------------------------------------------------------------------------------------------------


def scaled_operand(b: Builder, data: Instruction, scales: Instruction, element_type: str) -> Instruction:
  """Elements times the scales of their blocks; scales may be fewer along any dimension."""
  x = data if data.shape.element_type == element_type else b.convert(data, element_type)
  s = scales if scales.shape.element_type == element_type else b.convert(scales, element_type)
  return b.multiply(x, repeated(b, s, x.shape.dimensions))


def repeated(b: Builder, scales: Instruction, sizes: tuple[int, ...]) -> Instruction:
  """Scales so often along each dimension that there is one for each element; the last block may be shorter than the others."""
  if scales.shape.dimensions == tuple(sizes):
    return scales
  apart: list[int] = []
  at: list[int] = []
  padded: list[int] = []
  for size, count in zip(sizes, scales.shape.dimensions, strict=True):
    block = -(-size // max(1, count))  # where there are no elements, there are no scales
    at.append(len(apart))
    apart += [count, block]
    padded.append(count * block)
  wide = b.reshape(b.broadcast(scales, tuple(apart), at), tuple(padded))
  return wide if tuple(padded) == tuple(sizes) else b.slice(wide, *((0, size) for size in sizes))


def dot(instruction: Instruction, fused: bool) -> Instruction:
  """(lhs, rhs, lhs scales, rhs scales, global scale), the last two if given; contracting dimension minor, batch major."""
  b = builder_at(instruction)
  x, y, x_scales, *rest = instruction.operands
  left = scaled_operand(b, x, x_scales, "f32")
  right = (
    scaled_operand(b, y, rest[0], "f32") if rest else (y if y.shape.element_type == "f32" else b.convert(y, "f32"))
  )
  rank = x.shape.rank
  batch = tuple(range(rank - 2))
  found = b.dot(left, right, contracting=((rank - 1,), (y.shape.rank - 1,)), batch=(batch, batch))
  if len(rest) > 1:
    whole = rest[1] if rest[1].shape.element_type == "f32" else b.convert(rest[1], "f32")
    found = b.multiply(found, b.broadcast(b.reshape(whole, ()), found.shape.dimensions))
  target = instruction.shape.element_type
  return found if target == "f32" else b.convert(found, target)
