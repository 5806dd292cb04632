"""The arithmetic of block scales, on values: used by `quantize` and inside of its kernels alike."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright.numerics.convert import encode
from tilewright.numerics.formats import F8E8M0FNU, F32, Format


@dataclasses.dataclass(frozen=True)
class Scaling:
  """The static part of block scaling."""

  format: Format
  scale_format: Format
  rule: str
  rounding: str
  divides_once: bool = True  # whether divisions are rounded once; XLA's are not on GPUs


def largest_magnitude(x: Any, axis: int | None = None) -> Any:
  """The largest magnitude of float32s, as one; NaN if there is a NaN. As integers the patterns are in the same order, with NaN on top.

  A maximum of floats is not enough: XLA's may drop a NaN on the CPU.
  """
  bits = jax.lax.bitcast_convert_type(x, jnp.int32) & 0x7FFFFFFF
  return jax.lax.bitcast_convert_type(jnp.max(bits, axis=axis, initial=0), jnp.float32)


def block_exponents(amax: Any, scaling: Scaling) -> Any:
  """The biased exponents (int32) of power-of-two scales; 255, NaN, for a block that is not finite."""
  f = scaling.format
  raw = jax.lax.bitcast_convert_type(amax, jnp.int32)
  exponent = (raw >> 23) - f.max_exponent
  if scaling.rule == "ceil":
    # One more where the significand exceeds that of the largest element.
    top = int(np.float32(f.max).view(np.int32)) & 0x7FFFFF
    exponent = exponent + jnp.where((raw & 0x7FFFFF) > top, 1, 0)
  exponent = jnp.clip(exponent, 0, 254)
  exponent = jnp.where(raw == 0, 127, exponent)
  return jnp.where(raw >= 0x7F800000, 255, exponent)


def block_scales(amax: Any, divisor: Any, scaling: Scaling) -> Any:
  """The scale of each block, in the scales' format, from its largest magnitude (float32)."""
  f, scales = scaling.format, scaling.scale_format
  if scales == F8E8M0FNU:
    amax = amax if divisor is None else quotient(amax, jnp.abs(divisor), scaling)
    return jax.lax.bitcast_convert_type(block_exponents(amax, scaling).astype(jnp.uint8), scales.storage)
  amax_there = amax if divisor is None else _first_quotient(amax, divisor, scaling)
  value = quotient(amax_there, np.float32(f.max), scaling)
  if scales.min_normal == F32.min_normal:  # XLA would flush a subnormal scale, and the block with it, to zero
    value = jnp.where(jnp.abs(value) < F32.min_normal, np.float32(F32.min_normal), value)
  value = jnp.where(amax == 0, jnp.float32(1), value)
  value = jnp.where(amax < jnp.inf, value, np.float32(np.nan))
  if scales == F32:
    return value
  return jax.lax.bitcast_convert_type(encode(value, scales, saturate=True), scales.storage)


def inverse_power(code: Any) -> tuple[Any, Any]:
  """2^(127 - code) as two float32s that are normal; NaN for code 255."""
  low = (127 - code) >> 1
  high = 127 - code - low
  first, second = (jax.lax.bitcast_convert_type((e + 127) << 23, jnp.float32) for e in (low, high))
  return jnp.where(code == 255, np.float32(np.nan), first), second


def block_elements(x: Any, scales: Any, divisor: Any, scaling: Scaling) -> Any:
  """x (/ global scale) / scale in float32, not rounded to the format yet; 0 where the scale is 0."""
  x = x if divisor is None else _first_quotient(x, divisor, scaling)
  if scaling.scale_format == F8E8M0FNU:
    code = jax.lax.bitcast_convert_type(scales, jnp.uint8).astype(jnp.int32)
    first, second = inverse_power(code)
    return x * first * second
  scale = scales.astype(jnp.float32)
  return jnp.where(scale == 0, jnp.float32(0), quotient(x, scale, scaling))


def quotient(x: Any, divisor: Any, scaling: Scaling) -> Any:
  """x / divisor, rounded once. Otherwise numbers in the middle between two of a format would be rounded to either of them, and there are
  many of those among bfloat16s. XLA would multiply by the reciprocal of what it sees to be the same for many elements.
  """
  if scaling.divides_once:
    return x / jnp.where(x == x, divisor, np.float32(np.nan))
  return corrected(x / divisor, x, divisor)


def _first_quotient(x: Any, divisor: Any, scaling: Scaling) -> Any:
  """A quotient that is divided again. XLA would divide once, by the product of both divisors, if it saw that: a select hides it."""
  return jnp.where(x == x, quotient(x, divisor, scaling), np.float32(np.nan))


def corrected(near: Any, x: Any, divisor: Any) -> Any:
  """x / divisor from what is a few units in the last place off: what that leaves of x, computed without rounding, is divided again.

  The halves of factors have 12 bits, so that products of them are exact, and so is the first difference: both sides are nearly the same.
  The next ones are rounded far below the last place of the result.
  """
  rest = x
  for p in _halves(near):
    for q in _halves(jnp.broadcast_to(divisor, jnp.shape(x))):
      rest = rest - p * q
  better = near + rest / divisor
  return jnp.where((rest != 0) & (jnp.abs(better) < np.float32(np.inf)), better, near)  # -0 and infinities stay


def _halves(x: Any) -> tuple[Any, Any]:
  bits = jax.lax.bitcast_convert_type(jnp.asarray(x, jnp.float32), jnp.uint32) & np.uint32(0xFFFFF000)
  upper = jax.lax.bitcast_convert_type(bits, jnp.float32)
  return upper, x - upper
