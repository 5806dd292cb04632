"""The calls `__op$quantize` and `__op$dequantize` as plain HLO, exact to their definition on every back end.

Dequantising multiplies elements by scales and rounds once. Quantising computes the scale of a block as its largest magnitude over
2^(exponent of the largest element), rounded to the scales' format; the data are x / scale, rounded and saturated:

    x = [3, -1, 0, 0.5] to f4e2m1fn (at most 6 = 1.5 * 2^2), one block:   scale = 3 / 2^2 = 0.75,   data = [4, -1.5, 0, 0.5]

If the scale format has no zero, the scale of an all-zero block is 1; where a scale is 0, the data are x. All arithmetic is on integers
(`exact_floats`): with floats, results would differ between XLA's back ends. On GPUs it dropped the rounding of scales from the divisor.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.hlo.builder import Builder
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes import exact_floats
from tilewright.hlo.passes.block_scaling_expand import builder_at, loop, repeated
from tilewright.hlo.passes.exact_floats import F32, Array, FloatType, float_type


def quantize(instruction: Instruction, fused: bool) -> Instruction:
  """(data, scales) of the operand of a call. `fused`: as loops of their own, for where XLA fuses nothing any more."""
  b = builder_at(instruction)
  (x,) = instruction.operands
  data_shape, scale_shape = instruction.shape.tuple_shapes
  element, scale = float_type(data_shape.element_type), float_type(scale_shape.element_type)
  *outer, k = x.shape.dimensions
  blocks = scale_shape.dimensions[-1]
  apart = (*outer, blocks, k // max(1, blocks))
  assert instruction.parent is not None and instruction.parent.parent is not None
  module = instruction.parent.parent
  maximum = _maximum(module)

  def bits(b: Builder, x: Instruction) -> Array:
    return exact_floats.bits_of_f32(b, x).reshaped(apart)

  def largest(b: Builder, x: Instruction) -> Instruction:
    # As integers magnitudes are in the same order, with NaN on top.
    return b.reduce((bits(b, x) & exact_floats.MAGNITUDE).x, b.constant(np.int32(0)), (len(apart) - 1,), maximum)

  def codes(b: Builder, largest: Instruction) -> Instruction:
    return _scales(Array(b, largest), element, scale).x

  def scales(b: Builder, codes: Instruction) -> Instruction:
    return exact_floats.as_floats(Array(b, codes), scale_shape.element_type)

  def data(b: Builder, x: Instruction, codes: Instruction) -> Instruction:
    found = _data(bits(b, x), Array(b, codes), element, scale).reshaped(x.shape.dimensions)
    return exact_floats.as_floats(found, data_shape.element_type)

  def step(function: Callable[..., Instruction], *operands: Instruction) -> Instruction:
    return loop(b, module, function, operands) if fused else function(b, *operands)

  found = step(codes, step(largest, x))
  return b.make_tuple(step(data, x, found), step(scales, found))


def _scales(largest: Array, element: FloatType, scale: FloatType) -> Array:
  """The codes of scales from the largest magnitude of each block."""
  wanted = exact_floats.divided_by_power(largest, element.exponent)
  return exact_floats.encode(wanted if scale.mantissa else wanted.equals(0).chooses(F32.one, wanted), scale)


def _data(bits: Array, codes: Array, element: FloatType, scale: FloatType) -> Array:
  """The codes of elements, from f32s in blocks along the last dimension and the codes of their scales."""
  block = bits.x.shape.dimensions[-1]
  magnitude = bits & exact_floats.MAGNITUDE
  by, exponent = exact_floats.unpack(codes.equals(0).chooses(scale.one, codes) if scale.mantissa else codes, scale)
  found = exact_floats.quotient(magnitude, (by.spread(block), exponent.spread(block)), scale, element)
  is_nan = codes.equals(scale.nan).spread(block)
  if scale.has_infinity:
    is_infinite = codes.equals(scale.overflow).spread(block)
    found = is_infinite.chooses(0, found)
    is_nan = is_nan | (is_infinite & magnitude.equals(exact_floats.INFINITY))
  sign = (bits >> 31) << (element.bits - 1)
  if not element.has_negative_zero:
    sign = found.equals(0).chooses(0, sign)
  return is_nan.chooses(element.nan, found | sign)


def dequantize(instruction: Instruction, fused: bool) -> Instruction:
  """Each element times the scale of its block."""
  data, scales = instruction.operands
  return dequantized(builder_at(instruction), data, scales, instruction.shape.element_type, fused)


def dequantized(b: Builder, data: Instruction, scales: Instruction, target: str, fused: bool) -> Instruction:
  """Elements times scales, rounded once; scales may be fewer along any dimension."""

  def values(b: Builder, data: Instruction, scales: Instruction) -> Instruction:
    x = data if data.shape.kind == "float" else b.convert(data, "f32")
    y = repeated(b, scales, data.shape.dimensions)
    types = [float_type(z.shape.element_type) for z in (x, y)]
    bits = [exact_floats.bits_of(b, z) for z in (x, y)]
    found = exact_floats.product(bits[0], types[0], bits[1], types[1], float_type(target))
    return exact_floats.as_floats(found, target)

  if not fused:
    return values(b, data, scales)
  assert b.computation.parent is not None
  return loop(b, b.computation.parent, values, (data, scales))


def _maximum(module: Module) -> Computation:
  """A computation of the module that gives the larger of two integers."""
  inner = Builder("larger")
  x, y = inner.parameter("s32"), inner.parameter("s32")
  return module.add_computation(inner.finish(inner.op("maximum", (x, y))))
