"""Block-scaled operations as plain HLO: the expansion of the custom calls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.hlo.builder import Builder
from tilewright.hlo.ir import Computation, Instruction
from tilewright.hlo.shape import Shape

# The exponent at which a format overflows: its largest number is below 2 to this.
_OVERFLOW = {"f4e2m1fn": 3, "f8e4m3fn": 9, "f8e5m2": 16, "f8e4m3": 8, "f8e3m4": 4, "f8e4m3fnuz": 8, "f8e5m2fnuz": 16}


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


def _dequantize(instruction: Instruction) -> Instruction | str:
  data, scales = instruction.operands
  return scaled_operand(builder_at(instruction), data, scales, instruction.shape.element_type)


def _dot(instruction: Instruction) -> Instruction | str:
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


def _quantize(instruction: Instruction) -> Instruction | str:
  """x -> (data, scales): the scale is amax / 2^(overflow exponent - 1), converted; the data are x / scale. Zeros have scale 1 or 0."""
  (x,) = instruction.operands
  data_shape, scale_shape = instruction.shape.tuple_shapes
  if data_shape.element_type not in _OVERFLOW:
    return f"the elements' type {data_shape.element_type} is not known"
  b = builder_at(instruction)
  wide = x if x.shape.element_type == "f32" else b.convert(x, "f32")
  *outer, k = wide.shape.dimensions
  blocks = scale_shape.dimensions[-1]
  block, left = divmod(k, max(1, blocks))
  if left:
    return f"{k} elements do not divide into {blocks} blocks"
  apart = b.reshape(wide, (*outer, blocks, block))
  rank = len(outer) + 2
  amax = b.reduce(b.unary("abs", apart), b.constant(np.float32(0)), (rank - 1,), _maximum(b, instruction))
  factor = np.float32(2.0 ** (1 - _OVERFLOW[data_shape.element_type]))
  wanted = b.multiply(amax, _splat(b, factor, amax.shape.dimensions))
  if scale_shape.element_type == "f8e8m0fnu":  # has no zero, and would make a block of zeros one of NaNs
    none = b.compare(wanted, _splat(b, np.float32(0), wanted.shape.dimensions), "EQ")
    wanted = b.select(none, _splat(b, np.float32(1), wanted.shape.dimensions), wanted)
  scales = b.convert(wanted, scale_shape.element_type)
  divisor = b.convert(scales, "f32")
  nothing = b.compare(divisor, _splat(b, np.float32(0), divisor.shape.dimensions), "EQ")
  divisor = b.select(nothing, _splat(b, np.float32(1), divisor.shape.dimensions), divisor)
  spread = b.broadcast(divisor, apart.shape.dimensions, tuple(range(rank - 1)))
  limit = np.float32(_largest(data_shape))
  ratio = b.reshape(b.op("divide", (apart, spread)), (*outer, k))
  clamped = b.op("clamp", (_splat(b, -limit, ratio.shape.dimensions), ratio, _splat(b, limit, ratio.shape.dimensions)))
  return b.make_tuple(b.convert(clamped, data_shape.element_type), scales)


def _largest(shape: Shape) -> float:
  import ml_dtypes

  return float(ml_dtypes.finfo(shape.dtype).max)


def _splat(b: Builder, value: np.float32, dimensions: tuple[int, ...]) -> Instruction:
  scalar = b.constant(value)
  return b.broadcast(scalar, dimensions) if dimensions else scalar


def _maximum(b: Builder, instruction: Instruction) -> Computation:
  """A computation of the module that gives the larger of two numbers."""
  inner = Builder("larger")
  x, y = inner.parameter("f32"), inner.parameter("f32")
  computation = inner.finish(inner.op("maximum", (x, y)))
  assert instruction.parent is not None and instruction.parent.parent is not None
  instruction.parent.parent.add_computation(computation)
  return computation


EXPANSIONS: dict[str, Callable[[Instruction], Instruction | str]] = {
  "__op$quantize": _quantize,
  "__op$dequantize": _dequantize,
  "__op$block_scaled_dot": _dot,
}
