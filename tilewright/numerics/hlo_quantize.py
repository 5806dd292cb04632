"""The calls `__op$quantize` and `__op$dequantize` of HLO as kernels: one pass over memory.

The numbers are those of the calls' definition, which chooses scales in another way than the recipes of `quantize`: the largest magnitude
divided by the power of two in the format's largest number, rounded to the scales' format. An instance takes some of the blocks, which
are rows here; bytes of sub-byte elements are packed and unpacked in the kernel.

    x = [3, -1, 0, 0.5] to f4e2m1fn (at most 6 = 1.5 * 2^2), one block:   scale = 3 / 2^2 = 0.75,   data = [4, -1.5, 0, 0.5]
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.numerics import packing
from tilewright.numerics.convert import decode, encode
from tilewright.numerics.formats import F8E8M0FNU, F32, Format, format_of
from tilewright.numerics.launch import Execution
from tilewright.numerics.scaling import inverse_power

_INFINITY, _ONE, _SIGN, _MAGNITUDE = 0x7F800000, 0x3F800000, -(1 << 31), (1 << 31) - 1  # bits of float32s
_TINY = int(np.float32(2.0**-62).view(np.int32))
_ELEMENTS = {"cpu": 1 << 16, "gpu": 1 << 12, "portable": 1 << 16}  # of an instance


def _bits(x: Any, dtype: Any) -> Any:
  return jax.lax.bitcast_convert_type(x, dtype)


def quantize(
  x: jax.Array, block: int, f: Format, scale_format: Format, packed: bool, execution: Execution
) -> tuple[jax.Array, jax.Array]:
  """Data and scales; of a format of less than 8 bits, bytes with several elements if they are to be packed, else one in each."""

  def kernel(x_ref: Any, data_ref: Any, scales_ref: Any) -> None:
    raw = _bits(x_ref[...].astype(jnp.float32), jnp.int32)
    magnitude = raw & 0x7FFFFFFF
    largest = jnp.max(magnitude, axis=1)  # as integers in the same order, with NaN on top
    wanted = over_power(largest, f.max_exponent)
    if scale_format == F8E8M0FNU:  # which has no zero
      wanted = jnp.where(wanted == 0, _ONE, wanted)
    scales = encode(_bits(wanted, jnp.float32), scale_format)
    scales_ref[...] = _bits(scales, scale_format.storage)
    ratio = _ratio(magnitude, largest, scales, scale_format)
    ratio = _bits(_bits(jnp.minimum(ratio, np.float32(f.max)), jnp.int32) | (raw & _SIGN), jnp.float32)
    bits = encode(jnp.where(ratio == ratio, ratio, np.float32(np.nan)), f)
    data_ref[...] = _bits(packing.pack(bits, f.width, 1) if packed else bits, data_ref.dtype)

  *outer, k = x.shape
  rows = x.size // block
  step, width = _step(rows, block, execution), _width(block, f) if packed else block
  data, scales = pl.pallas_call(
    kernel,
    out_shape=[jax.ShapeDtypeStruct((rows, width), f.storage), jax.ShapeDtypeStruct((rows,), scale_format.storage)],
    grid=(pl.cdiv(rows, step),),
    in_specs=[pl.BlockSpec((step, block), lambda i: (i, 0))],
    out_specs=[pl.BlockSpec((step, width), lambda i: (i, 0)), pl.BlockSpec((step,), lambda i: (i,))],
    name="quantize",
    **execution.options("parallel"),
  )(x.reshape(rows, block))
  return data.reshape(*outer, -1), scales.reshape(*outer, k // block)


def over_power(magnitude: Any, exponent: int, rest: Any = 0) -> Any:
  """The bits of float32s over 2^exponent (at least 1): by integers, as a subnormal result would be flushed to zero on the CPU.

  They may stand for numbers that are larger (`rest` 1) or smaller (-1) by less than half a unit in the last place.
  """
  field = magnitude >> 23
  normal = magnitude - (exponent << 23)
  significand = 2 * ((magnitude & 0x7FFFFF) | jnp.where(field > 0, 1 << 23, 0)) + rest
  drop = jnp.clip(exponent + 2 - jnp.maximum(field, 1), 2, 31)
  odd = (significand >> drop) & 1
  subnormal = (significand + (jnp.left_shift(1, drop - 1) - 1 + odd)) >> drop
  found = jnp.where(field > exponent, normal, subnormal)
  return jnp.where(magnitude >= _INFINITY, magnitude, found)


def _ratio(magnitude: Any, largest: Any, scales: Any, scale_format: Format) -> Any:
  """|x| / scale, not negative, in float32: rounded, or where scales have few bits such that rounding it further is rounding once.

  Numbers of a block of tiny ones, and its scale, are multiplied by 2^64 first, as far as scales are that small.
  """
  is_tiny = largest < _TINY
  can_be_tiny = scale_format.bias == F32.bias
  x = _bits(jnp.where(is_tiny[:, None], _raised(magnitude), magnitude) if can_be_tiny else magnitude, jnp.float32)
  if scale_format == F8E8M0FNU:
    code = scales.astype(jnp.int32)
    first, second = inverse_power(code + jnp.where(is_tiny, 64, 0))
    return x * first[:, None] * second[:, None]
  by = _bits(decode(scales, scale_format), jnp.int32)
  by = _bits(jnp.where(is_tiny, _raised(by), by) if can_be_tiny else by, jnp.float32)
  by = jnp.where(by == 0, jnp.float32(1), by)[:, None]
  return x / by if scale_format == F32 else _to_odd_quotient(x, by)


def _product(values: Any, scales: Any, scale_format: Format) -> Any:
  """Values times the scale of their row. Tiny scales are multiplied by 2^64 first, and the product divided by it, subnormal or not."""
  if scale_format.bias != F32.bias:
    return values * scales[:, None]
  raw = _bits(scales, jnp.int32)
  is_tiny = (raw & _MAGNITUDE) < _TINY
  raised = _bits(jnp.where(is_tiny, _raised(raw & _MAGNITUDE), raw & _MAGNITUDE) | (raw & _SIGN), jnp.float32)[:, None]
  found = values * raised
  bits = _bits(found, jnp.int32)
  rest = _rest(values, raised, found) if scale_format == F32 else 0
  lowered = over_power(bits & _MAGNITUDE, 64, rest) | (bits & _SIGN)
  return jnp.where(is_tiny[:, None], _bits(lowered, jnp.float32), found)


def _rest(x: Any, y: Any, rounded: Any) -> Any:
  """Whether |x * y|, for an x of at most 8 bits, is larger (1) or smaller (-1) than what it was rounded to: the difference is exact."""
  high = _bits(_bits(y, jnp.int32) & -(1 << 12), jnp.float32)
  lost = (x * high - rounded) + x * (y - high)
  return jnp.where(lost == 0, 0, jnp.where((lost > 0) == (rounded > 0), 1, -1))


def _raised(magnitude: Any) -> Any:
  """The bits of float32s below 2^63, times 2^64; subnormal ones count as integers."""
  small = _bits(magnitude.astype(jnp.float32) * np.float32(2.0 ** (64 - 149)), jnp.int32)
  return jnp.where(magnitude < (1 << 23), small, magnitude + (64 << 23))


def _to_odd_quotient(x: Any, by: Any) -> Any:
  """x / by for divisors of at most 11 bits, though a division may be off by some units in the last place: the number of 12 bits that is
  nearest, and the sign of what it differs by.

  Its product with the divisor is exact, and so is the difference of that from x. No other number of 12 bits, such as the middle between two
  numbers of a small format, is as near, so that a unit in the last place more or less stands for that difference.
  """
  found = x / by
  near = (_bits(found, jnp.int32) + (1 << 11)) & -(1 << 12)
  rest = x - _bits(near, jnp.float32) * by
  nearest = _bits(near + jnp.where(rest > 0, 1, jnp.where(rest < 0, -1, 0)), jnp.float32)
  return jnp.where(found == found, nearest, found)


def dequantize(
  data: jax.Array, scales: jax.Array, block: int, f: Format, dtype: np.dtype, execution: Execution
) -> jax.Array:
  """Each scale times its block, rounded once, for elements of at most 8 bits; float32 scales only if that is the result's dtype too."""
  scale_format = format_of(scales.dtype)

  def kernel(data_ref: Any, scales_ref: Any, out_ref: Any) -> None:
    values = decode(packing.unpack(_bits(data_ref[...], jnp.uint8), f.width, 1), f)
    by = decode(_bits(scales_ref[...], scale_format.bits_dtype), scale_format)
    out_ref[...] = _product(values, by, scale_format).astype(out_ref.dtype)

  *outer, _ = data.shape
  rows, width = scales.size, _width(block, f)
  step = _step(rows, block, execution)
  out = pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct((rows, block), dtype),
    grid=(pl.cdiv(rows, step),),
    in_specs=[pl.BlockSpec((step, width), lambda i: (i, 0)), pl.BlockSpec((step,), lambda i: (i,))],
    out_specs=pl.BlockSpec((step, block), lambda i: (i, 0)),
    name="dequantize",
    **execution.options("parallel"),
  )(data.reshape(rows, width), scales.reshape(rows))
  return out.reshape(*outer, -1)


def _step(rows: int, block: int, execution: Execution) -> int:
  """Blocks that an instance takes."""
  return min(rows, max(1, _ELEMENTS[execution.target] // block))


def _width(block: int, f: Format) -> int:
  """Bytes of a block."""
  return packing.packed_size(block, f.width) if f.width < 8 else block
