"""Block-scaled operations as plain HLO, and back: the expansion of the custom calls, and the recognition of the same formula in a dot."""

from __future__ import annotations

import math
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
  sizes, counts = x.shape.dimensions, s.shape.dimensions
  apart: list[int] = []
  at: list[int] = []
  padded: list[int] = []
  for size, count in zip(sizes, counts):
    block = -(-size // count)
    at.append(len(apart))
    apart += [count, block]
    padded.append(count * block)
  wide = b.reshape(b.broadcast(s, tuple(apart), at), tuple(padded))
  if tuple(padded) != tuple(sizes):
    wide = b.slice(wide, *((0, size) for size in sizes))
  return b.multiply(x, wide)


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
  """x -> (data, scales): the scale is amax / 2^(overflow exponent - 1), converted; the data are x / scale."""
  (x,) = instruction.operands
  data_shape, scale_shape = instruction.shape.tuple_shapes
  if data_shape.element_type not in _OVERFLOW:
    return f"the elements' type {data_shape.element_type} is not known"
  b = builder_at(instruction)
  wide = x if x.shape.element_type == "f32" else b.convert(x, "f32")
  *outer, k = wide.shape.dimensions
  blocks = scale_shape.dimensions[-1]
  if k % blocks:
    return f"{k} elements do not divide into {blocks} blocks"
  apart = b.reshape(wide, (*outer, blocks, k // blocks))
  rank = len(outer) + 2
  amax = b.reduce(b.unary("abs", apart), b.constant(np.float32(0)), (rank - 1,), _maximum(b, instruction))
  factor = np.float32(2.0 ** (1 - _OVERFLOW[data_shape.element_type]))
  scales = b.convert(b.multiply(amax, _splat(b, factor, amax.shape.dimensions)), scale_shape.element_type)
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


# --- recognition -------------------------------------------------------------------------------------------------


def recognise(dot: Instruction, target: str) -> bool:
  """Turns dot(x * broadcast(sx), y * broadcast(sy)), or with one side scaled, into a block-scaled dot."""
  x, y = dot.operands
  contracted = dot.attrs.get("lhs_contracting_dims", ()), dot.attrs.get("rhs_contracting_dims", ())
  batch = tuple(dot.attrs.get("lhs_batch_dims", ())), tuple(dot.attrs.get("rhs_batch_dims", ()))
  rank = x.shape.rank
  leading = tuple(range(rank - 2))
  if y.shape.rank != rank or rank < 2 or batch != (leading, leading) or contracted != ((rank - 1,), (rank - 1,)):
    return False
  left, right = _block_scaled(x), _block_scaled(y)
  if left is None and right is None:
    return False
  b = builder_at(dot)
  assert dot.parent is not None
  if left is not None and right is not None:
    made = b.op("custom-call", (left[0], right[0], left[1], right[1]), dot.shape, custom_call_target=target)
  elif left is not None:
    made = b.op("custom-call", (left[0], y, left[1]), dot.shape, custom_call_target=target)
  else:
    # The call has its one scaled operand first, so this is the transpose of what is wanted.
    assert right is not None
    *batch_sizes, m, n = dot.shape.dimensions
    turned = Shape.array(dot.shape.element_type, (*batch_sizes, n, m))
    made = b.op("custom-call", (right[0], x, right[1]), turned, custom_call_target=target)
    made = b.transpose(made, (*leading, rank - 1, rank - 2))
  dot.replace_all_uses_with(made)
  dot.parent.remove(dot)
  return True


_SMALL_BITS = 8


def _block_scaled(x: Instruction) -> tuple[Instruction, Instruction] | None:
  """The elements and scales of convert(data) * reshape(broadcast(convert(scales)))."""
  if x.opcode != "multiply":
    return None
  for data, wide in (x.operands, x.operands[::-1]):
    scales = _spread_along_last(wide)
    element = data.operands[0] if data.opcode == "convert" else data
    if scales is None or math.prod(element.shape.dimensions) == 0 or element.shape.dtype.itemsize * 8 > _SMALL_BITS:
      continue
    return element, scales
  return None


def _spread_along_last(x: Instruction) -> Instruction | None:
  """`s` if x is s repeated along its last dimension, block by block."""
  if x.opcode == "convert":
    return _spread_along_last(x.operands[0])
  if x.opcode != "reshape" or x.operands[0].opcode != "broadcast":
    return None
  wide = x.operands[0]
  s = wide.operands[0]
  rank = x.shape.rank
  if wide.shape.rank != rank + 1 or tuple(wide.attrs["dimensions"]) != tuple(range(rank)):
    return None
  if wide.shape.dimensions[:-1] != s.shape.dimensions or x.shape.dimensions[:-1] != wide.shape.dimensions[:-2]:
    return None
  narrow = s.operands[0] if s.opcode == "convert" else s
  return narrow
