"""Conversions between floats and the small formats, by integer arithmetic on bits: exact for every pattern, inside and outside of kernels.

`encode(x, format)` gives bits, `decode(bits, format)` the float32 that they represent:

    >>> encode(jnp.float32(2.6), F4E2M1FN), decode(jnp.uint8(5), F4E2M1FN)
    (Array(5, dtype=uint8), Array(3., dtype=float32))

Rounding is one of `ROUNDINGS`: to nearest with ties to even; towards zero; or *stochastic*, up with the probability that keeps the mean,
for which random 32-bit integers are given. Above the largest number, `saturate` gives that number; otherwise the result is infinity, or NaN
where there is none. Formats without either always saturate, and a NaN becomes -0 there (XLA's convention), or 0 in an integer.

Nothing here depends on how the processor treats subnormal float32s, which XLA flushes to zero: there, only integers are used.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright.numerics import arguments
from tilewright.numerics.formats import F16, F32, Format, Specials, format_of

ROUNDINGS = ("nearest_even", "toward_zero", "stochastic")

_MAGNITUDE = np.uint32(0x7FFFFFFF)
_INFINITY = np.uint32(0x7F800000)


def _bits(x: Any, dtype: Any) -> Any:
  return jax.lax.bitcast_convert_type(x, dtype)


# --- from bits ---------------------------------------------------------------------------------------------------


def decode(bits: Any, format: Any) -> Any:
  """The float32 that each bit pattern represents. Bits above the format's width are ignored."""
  f = format_of(format)
  bits = arguments.integers("decode: bits", bits)
  if not f.is_float:
    half = 1 << (f.width - 1)
    value = bits.astype(jnp.int32) & ((1 << f.width) - 1)
    return ((value ^ half) - half).astype(jnp.float32)
  if f.name == "f8e8m0fnu":
    exponent = bits.astype(jnp.uint32) & 0xFF
    found = jnp.where(exponent == 0, jnp.uint32(1 << 22), exponent << 23)  # 2^-127 is subnormal in float32
    return _bits(jnp.where(exponent == 0xFF, jnp.uint32(0x7FC00000), found), jnp.float32)
  if f.bias == F32.bias:  # float32 itself, and bf16, its upper half
    return _bits(bits.astype(jnp.uint32) << (32 - f.width), jnp.float32)
  if f == F16:
    return _bits(bits.astype(jnp.uint16), jnp.float16).astype(jnp.float32)
  value = _decode_through_half(bits, f) if f.bias < 16 else _decode_by_parts(bits, f)
  magnitude = bits & ((1 << (f.width - 1)) - 1)
  match f.specials:
    case Specials.IEEE if f.bias != F16.bias:
      infinite = jnp.where(value < 0, -np.float32(np.inf), np.float32(np.inf))
      value = jnp.where(magnitude == f.infinity_bits, infinite, value)
      value = jnp.where(magnitude > f.infinity_bits, np.float32(np.nan), value)
    case Specials.NAN_ONLY:
      value = jnp.where(magnitude == f.nan_bits, np.float32(np.nan), value)
    case Specials.NAN_IS_NEGATIVE_ZERO:
      value = jnp.where((bits & ((1 << f.width) - 1)) == f.sign_bit, np.float32(np.nan), value)
  return value


def half_exponent(f: Format) -> int:
  """A small float's bits, moved to those of a float16, stand for its value times 2 to the minus this."""
  return F16.bias - f.bias


def half_of_top_bits(top: Any, f: Format) -> Any:
  """The float32 of which the format's value is a power of two (see `half_exponent`), from bits at the top of int16s.

  An arithmetic shift leaves the sign where it is and moves the rest to its place in a float16, where subnormals need no special care.
  For formats whose exponent fits that of a float16; special values are not looked at.
  """
  magnitude = ((1 << (f.width - 1)) - 1) << (F16.mantissa_bits - f.mantissa_bits)
  moved = (top >> np.int16(F16.exponent_bits - f.exponent_bits)) & np.int16(magnitude - 0x8000)
  return _bits(moved, jnp.float16).astype(jnp.float32)


def as_half(bits: Any, f: Format) -> Any:
  """`half_of_top_bits` of bits at the bottom."""
  return half_of_top_bits(bits.astype(jnp.int16) << np.int16(16 - f.width), f)


def _decode_through_half(bits: Any, f: Format) -> Any:
  value = as_half(bits, f)
  return value if half_exponent(f) == 0 else value * np.float32(2.0 ** half_exponent(f))


def _decode_by_parts(bits: Any, f: Format) -> Any:
  """For a float whose largest exponent would be special in a float16."""
  wide = bits.astype(jnp.uint32)
  magnitude = wide & np.uint32((1 << (f.width - 1)) - 1)
  normal = (magnitude << (23 - f.mantissa_bits)) + np.uint32((F32.bias - f.bias) << 23)
  subnormal = magnitude.astype(jnp.int32).astype(jnp.float32) * np.float32(f.min_subnormal)
  value = jnp.where(magnitude < (1 << f.mantissa_bits), _bits(subnormal, jnp.uint32), normal)
  return _bits(value | ((wide << (32 - f.width)) & np.uint32(0x80000000)), jnp.float32)


# --- to bits -----------------------------------------------------------------------------------------------------


def encode(
  x: Any, format: Any, *, rounding: str = "nearest_even", saturate: bool = False, random_bits: Any = None
) -> Any:
  """The bits of each number in a format, one per uint8 (uint16, uint32 for wider formats).

  Args:
    x: float64, float32, bfloat16, float16 or a smaller float.
    format: a `Format`, its name, or a dtype.
    rounding: one of `ROUNDINGS`.
    saturate: whether numbers beyond the largest become the largest.
    random_bits: uint32s of the shape of `x`, for stochastic rounding.
  """
  f = format_of(format)
  x = _as_f32(x, f, rounding)
  random_bits = None if random_bits is None else arguments.array("encode: random_bits", random_bits)
  check_rounding(rounding, random_bits, x.shape)
  if not f.is_float:
    return _encode_int(x, f, rounding, random_bits)
  if f.name == "f8e8m0fnu":
    return _encode_exponent(x, rounding, saturate, random_bits)
  raw = _bits(x, jnp.uint32)
  magnitude, negative = raw & _MAGNITUDE, raw >> np.uint32(31)
  if f == F32:
    code = magnitude
  elif rounding == "nearest_even":
    code = _nearest(x, magnitude, f)
  else:
    code = _with_carry(magnitude, f, random_bits)
  is_nan = magnitude > _INFINITY
  over = f.max_bits if saturate or f.specials is Specials.NONE else f.max_bits + 1
  if f.specials is Specials.NAN_IS_NEGATIVE_ZERO and not saturate:
    is_nan = is_nan | (code > f.max_bits)
  elif f != F32:
    code = jnp.minimum(code, np.uint32(over))
  if f.specials is Specials.IEEE:
    code = jnp.where(magnitude == _INFINITY, np.uint32(f.infinity_bits if not saturate else f.max_bits), code)
  nan = f.nan_bits
  if nan is None:
    code, negative = jnp.where(is_nan, np.uint32(0), code), jnp.where(is_nan, np.uint32(1), negative)
  elif f.specials is Specials.NAN_IS_NEGATIVE_ZERO:
    negative = jnp.where(code == 0, np.uint32(0), negative)
  else:
    code = jnp.where(is_nan, np.uint32(nan), code)
  found = code | (negative << np.uint32(f.width - 1))
  if f.specials is Specials.NAN_IS_NEGATIVE_ZERO:
    found = jnp.where(is_nan, np.uint32(f.sign_bit), found)
  return found.astype(f.bits_dtype)


def _as_f32(x: Any, f: Format, rounding: str) -> Any:
  """What is rounded to the format: float32s that hold all of x, or in place of a float64 one that rounds as it does."""
  if isinstance(x, float | np.ndarray | np.generic) and np.asarray(x).dtype == np.float64 and f != F32:
    return jnp.asarray(_to_odd_host(np.asarray(x)))  # as it is, whether or not JAX is to hold float64s
  x = arguments.array("encode: x", x)
  if not jnp.issubdtype(x.dtype, jnp.floating):
    raise errors.NumberFormatError(
      f"encode: x must be an array of floats, got {x.dtype}. Convert it first: x.astype(jnp.float32)."
    )
  if x.dtype != jnp.float64:
    return x if x.dtype == jnp.float32 else x.astype(jnp.float32)
  if f != F32:
    return _to_odd(x)
  if rounding != "nearest_even":
    raise errors.NumberFormatError(f"float64s are rounded to f32 to nearest only, got rounding={rounding!r}.")
  return x.astype(jnp.float32)


def _to_odd(x: Any) -> Any:
  """float64s cut to float32s, with the last bit set if anything was cut off: that never lies between two numbers of a format with
  at least two bits less, so rounding to such a format afterwards is rounding once. What no float32 comes near is infinite.
  """
  u64 = lambda n: jnp.uint64(n)
  raw = _bits(x, jnp.uint64)
  magnitude = raw & u64((1 << 63) - 1)
  exponent = (magnitude >> u64(52)).astype(jnp.int32) - (1023 - F32.bias)
  significand = (magnitude & u64((1 << 52) - 1)) | jnp.where(magnitude >> u64(52) > 0, u64(1 << 52), u64(0))
  # Below the smallest normal number the significand moves down; past 63 bits nothing is left of it anyway.
  drop = (29 + jnp.clip(1 - exponent, 0, 34)).astype(jnp.uint64)
  kept = significand >> drop
  lost = (kept << drop) != significand
  code = kept + (jnp.maximum(exponent, 1).astype(jnp.uint64) - u64(1) << u64(23))
  code = jnp.where(exponent > 254, u64(0x7F800000), code | lost.astype(jnp.uint64))
  code = jnp.where(magnitude > u64(0x7FF << 52), u64(0x7FC00000), code)
  return _bits((code | (raw >> u64(63) << u64(31))).astype(jnp.uint32), jnp.float32)


def _to_odd_host(x: np.ndarray) -> np.ndarray:
  """`_to_odd` of what is not on a device yet."""
  with np.errstate(over="ignore", invalid="ignore"):
    near = x.astype(np.float32)
  cut = np.where((np.abs(near) > np.abs(x)) & (np.abs(x) < 2.0**128), np.nextafter(near, np.float32(0)), near)
  return (cut.view(np.uint32) | (np.isfinite(cut) & (cut != x))).view(np.float32)


def check_rounding(rounding: str, random_bits: Any, shape: tuple[int, ...]) -> None:
  if rounding not in ROUNDINGS:
    raise errors.NumberFormatError(f"encode: rounding must be one of {', '.join(ROUNDINGS)}, got {rounding!r}.")
  if (rounding == "stochastic") != (random_bits is not None):
    wants = (
      "needs random_bits: jax.random.bits(key, x.shape, jnp.uint32)" if random_bits is None else "takes no random_bits"
    )
    raise errors.NumberFormatError(f"encode: rounding={rounding!r} {wants}.")
  if random_bits is not None and (random_bits.shape != shape or random_bits.dtype != jnp.uint32):
    raise errors.ShapeMismatchError(
      f"encode: random_bits must be uint32 of shape {shape}, got {random_bits.dtype} of shape {random_bits.shape}."
    )


def _nearest(x: Any, magnitude: Any, f: Format) -> Any:
  """To nearest, ties to even. Where the format is subnormal, adding a large number makes the processor round at the right place."""
  shift = 23 - f.mantissa_bits
  odd = (magnitude >> np.uint32(shift)) & np.uint32(1)
  rounded = (magnitude + (odd + np.uint32((1 << (shift - 1)) - 1))) >> np.uint32(shift)
  if f.bias == F32.bias:
    return rounded
  normal = rounded - np.uint32((F32.bias - f.bias) << f.mantissa_bits)
  anchor = np.float32(2.0 ** (23 + 1 - f.bias - f.mantissa_bits))
  subnormal = _bits(jnp.abs(x) + anchor, jnp.uint32) - anchor.view(np.uint32)
  return jnp.where(magnitude < np.float32(f.min_normal).view(np.uint32), subnormal, normal)


def _with_carry(magnitude: Any, f: Format, random_bits: Any) -> Any:
  """Towards zero, or with random bits added below the last one that stays."""
  exponent = magnitude >> np.uint32(23)
  smallest = F32.bias + 1 - f.bias
  leading = jnp.where(exponent > 0, np.uint32(1 << 23), np.uint32(0))
  significand = (magnitude & np.uint32(0x7FFFFF)) | leading
  exponent = jnp.maximum(exponent, np.uint32(1))
  above = jnp.maximum(exponent, np.uint32(smallest))
  drop = above - exponent + np.uint32(23 - f.mantissa_bits)
  # No more than 31 bits are dropped at once: what is smaller still has lost its last bits before.
  early = jnp.where(drop > 31, jnp.minimum(drop - np.uint32(31), np.uint32(31)), np.uint32(0))
  significand, drop = significand >> early, jnp.minimum(drop, np.uint32(31))
  if random_bits is not None:
    significand = significand + (random_bits & ((np.uint32(1) << drop) - np.uint32(1)))
  return (significand >> drop) + ((above - np.uint32(smallest)) << np.uint32(f.mantissa_bits))


def _encode_exponent(x: Any, rounding: str, saturate: bool, random_bits: Any) -> Any:
  """To powers of two. With one bit of precision, neither neighbour of a tie is even: the larger is taken, as IEEE 754 and XLA do."""
  raw = _bits(x, jnp.uint32)
  if rounding == "nearest_even":
    normal = (raw + np.uint32(1 << 22)) >> np.uint32(23)
    small = jnp.where(raw >= np.uint32(3 << 21), np.uint32(1), np.uint32(0))
  elif rounding == "toward_zero":
    normal, small = raw >> np.uint32(23), jnp.zeros_like(raw)
  else:
    normal = (raw + (random_bits & np.uint32((1 << 23) - 1))) >> np.uint32(23)
    over = raw - np.uint32(1 << 22)  # how far above 2^-127, in units of which 2^22 lead to 2^-126
    rounds_up = (raw > np.uint32(1 << 22)) & ((random_bits & np.uint32((1 << 22) - 1)) < over)
    small = jnp.where(rounds_up, np.uint32(1), np.uint32(0))
  code = jnp.where(raw < np.uint32(1 << 23), small, normal)
  code = jnp.minimum(code, np.uint32(0xFE if saturate else 0xFF))
  code = jnp.where(raw == _INFINITY, np.uint32(0xFE if saturate else 0xFF), code)
  invalid = (raw > _INFINITY) | ((raw == 0) & (not saturate))  # NaN, negative numbers; zero
  return jnp.where(invalid, np.uint32(0xFF), code).astype(jnp.uint8)


def _encode_int(x: Any, f: Format, rounding: str, random_bits: Any) -> Any:
  x = jnp.where(x != x, jnp.float32(0), jnp.clip(x, np.float32(f.min), np.float32(f.max)))
  if rounding == "nearest_even":
    whole = jax.lax.round(x, jax.lax.RoundingMethod.TO_NEAREST_EVEN)
  elif rounding == "toward_zero":
    whole = jnp.where(x < 0, jnp.ceil(x), jnp.floor(x))
  else:
    below = jnp.floor(x)
    chance = (random_bits >> np.uint32(8)).astype(jnp.float32) * np.float32(2.0**-24)
    whole = below + jnp.where(chance < x - below, jnp.float32(1), jnp.float32(0))
  return (whole.astype(jnp.int32) & ((1 << f.width) - 1)).astype(f.bits_dtype)


def round_to(x: Any, format: Any, **options: Any) -> Any:
  """What numbers become in a format, as float32; options as for `encode`."""
  return decode(encode(x, format, **options), format)
