"""Shared parts of the rewrites of block-scaled calls: insertion points, separate fusions, and scales repeated for each element."""

from __future__ import annotations

from collections.abc import Callable

from tilewright.hlo.builder import Builder
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.dce import remove_dead
from tilewright.hlo.passes.effects import Effects


def builder_at(instruction: Instruction) -> Builder:
  assert instruction.parent is not None
  return Builder(instruction.parent, before=instruction, metadata=instruction.metadata)


def loop(
  b: Builder, module: Module, function: Callable[..., Instruction], operands: tuple[Instruction, ...]
) -> Instruction:
  """What a function makes of operands, as a fusion."""
  inner = Builder(f"block_scaling_{function.__name__}")
  computation = inner.finish(function(inner, *(inner.parameter(operand.shape) for operand in operands)))
  remove_dead(computation, Effects())  # XLA compiles no fusion that holds any
  module.add_computation(computation)
  return b.op("fusion", operands, computation.root.shape, kind="kLoop", calls=computation)


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
