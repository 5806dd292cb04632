"""What the rewrites of block-scaled calls share: where instructions are put, and scales repeated for each element."""

from __future__ import annotations

from tilewright.hlo.builder import Builder
from tilewright.hlo.ir import Instruction


def builder_at(instruction: Instruction) -> Builder:
  assert instruction.parent is not None
  return Builder(instruction.parent, before=instruction, metadata=instruction.metadata)


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
