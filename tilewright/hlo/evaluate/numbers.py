"""How numbers are stored, converted and rounded: HLO's rules, on numpy arrays.

Types narrower than 32 bits are stored in their ml_dtypes type and computed in float32 (or int8), which rounds once,
as XLA does. Functions such as exp are computed in float64 and rounded once, so results here are at least as exact as
any back end's.

Conversion follows XLA: integers wrap; a float becomes the nearest integer towards zero, saturated, and NaN becomes 0;
floats round to nearest even, and overflow gives what the target has for it (infinity, else NaN, else the largest
value).
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tilewright.hlo.dtypes import PRIMITIVE_TYPES, PrimitiveType

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
C128 = np.dtype(np.complex128)

TYPE_OF: dict[np.dtype, PrimitiveType] = {row.dtype: row for row in PRIMITIVE_TYPES.values() if row.dtype is not None}
UNSIGNED: dict[int, np.dtype] = {
  1: np.dtype(np.uint8),
  2: np.dtype(np.uint16),
  4: np.dtype(np.uint32),
  8: np.dtype(np.uint64),
}
SIGNED: dict[int, np.dtype] = {
  1: np.dtype(np.int8),
  2: np.dtype(np.int16),
  4: np.dtype(np.int32),
  8: np.dtype(np.int64),
}


def _compute_type(row: PrimitiveType) -> np.dtype:
  assert row.dtype is not None
  if row.kind == "float" and row.bits < 32:
    return F32
  if row.kind in ("signed", "unsigned") and row.bits < 8:
    return np.dtype(np.int8 if row.kind == "signed" else np.uint8)
  return row.dtype


def _wide_type(row: PrimitiveType) -> np.dtype:
  assert row.dtype is not None
  return {"float": F64, "complex": C128}.get(row.kind, row.dtype)


# The type that arithmetic on a type is done in, and the type that functions and long sums of it are computed in.
COMPUTE: dict[np.dtype, np.dtype] = {dtype: _compute_type(row) for dtype, row in TYPE_OF.items()}
WIDE: dict[np.dtype, np.dtype] = {dtype: _wide_type(row) for dtype, row in TYPE_OF.items()}


def kind_of(dtype: np.dtype) -> str:
  """pred, signed, unsigned, float or complex."""
  return TYPE_OF[dtype].kind


def narrow(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
  """Brings a computed array back to the type it is stored in."""
  return x if x.dtype == dtype else x.astype(dtype)


def widen(x: np.ndarray) -> np.ndarray:
  """The array in the type arithmetic is done in."""
  return narrow(x, COMPUTE[x.dtype])


def integer_range(dtype: np.dtype) -> tuple[int, int]:
  row = TYPE_OF[dtype]
  if row.kind == "signed":
    return -(1 << (row.bits - 1)), (1 << (row.bits - 1)) - 1
  return 0, (1 << row.bits) - 1


def bits_of(x: np.ndarray) -> np.ndarray:
  """The same memory as unsigned integers."""
  return np.ascontiguousarray(x).reshape(x.shape).view(UNSIGNED[x.dtype.itemsize])


# Conversion.


def convert(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
  """HLO's `convert`."""
  source = kind_of(x.dtype)
  target = kind_of(dtype)
  if x.dtype == dtype:
    return x
  if target == "pred":
    return np.asarray(widen(x) != 0)
  if source == "complex" and target != "complex":
    return convert(np.ascontiguousarray(x.real), dtype)
  if source == "float" and target in ("signed", "unsigned"):
    return _float_to_integer(x, dtype)
  if source == "pred":
    return x.astype(np.uint8).astype(COMPUTE[dtype]).astype(dtype)
  if source in ("signed", "unsigned") and target in ("signed", "unsigned"):
    return x.astype(COMPUTE[x.dtype]).astype(COMPUTE[dtype]).astype(dtype)
  if source == "float" and x.dtype == F64:
    return x.astype(dtype)  # straight to the small type: by way of float32 it would round twice
  return widen(x).astype(COMPUTE[dtype]).astype(dtype)


def _float_to_integer(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
  low, high = integer_range(dtype)
  compute = COMPUTE[dtype]
  wide = widen(x).astype(F64)
  above, below = wide >= float(high), wide <= float(low)
  inside = np.where(above | below | np.isnan(wide), 0.0, np.trunc(wide))
  whole = inside.astype(compute)
  whole = np.where(above, np.array(high, compute), np.where(below, np.array(low, compute), whole))
  return whole.astype(dtype)


def stochastic_convert(x: np.ndarray, random: np.ndarray, dtype: np.dtype) -> np.ndarray:
  """Rounds up with a probability equal to the part that would be cut off; `random` holds unsigned integers.

  To an integer: the fraction, scaled to the range of `random`, is compared with it. To a float: the random bits are
  added below the mantissa that is kept, and the sum is truncated.
  """
  if kind_of(dtype) not in ("signed", "unsigned"):
    return _stochastic_to_float(x, random, dtype)
  low, high = integer_range(dtype)
  wide = widen(x).astype(F64)
  magnitude = np.abs(wide)
  whole = np.trunc(magnitude)
  scaled = np.ldexp(magnitude - whole, 8 * random.dtype.itemsize)
  rounded = whole + (random.astype(F64) < scaled)
  result = np.where(np.signbit(wide), -rounded, rounded)
  return convert(np.clip(result, float(low), float(high)), dtype)


def _stochastic_to_float(x: np.ndarray, random: np.ndarray, dtype: np.dtype) -> np.ndarray:
  source = ml_dtypes.finfo(x.dtype)
  dropped = int(source.nmant) - int(ml_dtypes.finfo(dtype).nmant)
  if dropped <= 0:
    return convert(x, dtype)
  bits = bits_of(x)
  width = 8 * random.dtype.itemsize
  noise = random >> (width - dropped) if width > dropped else random
  total = (bits + noise.astype(bits.dtype)) & ~np.array((1 << dropped) - 1, bits.dtype)
  kept = np.where(np.isfinite(widen(x)), total, bits)
  return convert(kept.astype(bits.dtype).view(x.dtype), dtype)


def reduce_precision(x: np.ndarray, exponent_bits: int, mantissa_bits: int) -> np.ndarray:
  """Rounds to a float with fewer bits, without changing the type: to nearest even; too large becomes infinity, and
  below the smallest normal number of that format there is only zero.
  """
  info = ml_dtypes.finfo(x.dtype)
  have_mantissa = int(info.nmant)
  width = 8 * x.dtype.itemsize
  have_exponent = width - 1 - have_mantissa
  unsigned = UNSIGNED[x.dtype.itemsize]
  bits = bits_of(x)
  sign = bits & np.array(1 << (width - 1), unsigned)
  magnitude = bits & np.array((1 << (width - 1)) - 1, unsigned)
  infinity = np.array(((1 << have_exponent) - 1) << have_mantissa, unsigned)
  is_nan = magnitude > infinity
  if mantissa_bits < have_mantissa:
    dropped = have_mantissa - mantissa_bits
    last = (magnitude >> dropped) & np.array(1, unsigned)
    bias = np.array((1 << (dropped - 1)) - 1, unsigned) + last
    magnitude = (magnitude + bias) & ~np.array((1 << dropped) - 1, unsigned)
  if exponent_bits < have_exponent:
    center = (1 << (have_exponent - 1)) - 1
    reach = (1 << (exponent_bits - 1)) - 1
    exponent = magnitude >> have_mantissa
    magnitude = np.where(exponent > np.array(center + reach, unsigned), infinity, magnitude)
    magnitude = np.where(exponent <= np.array(center - reach, unsigned), np.array(0, unsigned), magnitude)
  result = np.where(is_nan, bits if mantissa_bits > 0 else sign | infinity, sign | magnitude)
  return result.astype(unsigned).view(x.dtype)


# Order and bits.


def total_order_key(x: np.ndarray) -> np.ndarray:
  """Integers that sort as the total order of the values: -NaN < -inf < … < -0 < +0 < … < inf < NaN."""
  if kind_of(x.dtype) != "float":
    return widen(x)
  if x.dtype == np.dtype(ml_dtypes.float8_e8m0fnu):
    return bits_of(x)  # no sign
  width = TYPE_OF[x.dtype].bits
  bits = bits_of(x).astype(UNSIGNED[x.dtype.itemsize]) & np.array((1 << width) - 1, UNSIGNED[x.dtype.itemsize])
  negative = (bits >> (width - 1)).astype(np.bool_)
  magnitude = (bits & np.array((1 << (width - 1)) - 1, bits.dtype)).view(SIGNED[x.dtype.itemsize])
  return np.where(negative, ~magnitude, magnitude)


def bitcast_convert(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
  """Reinterprets the bits. Wider → narrower adds a minor dimension (low bits first), narrower → wider removes one."""
  old, new = TYPE_OF[x.dtype].bits, TYPE_OF[dtype].bits
  if old == new:
    return np.ascontiguousarray(x).reshape(x.shape).view(dtype)
  if min(old, new) >= 8:
    flat = np.ascontiguousarray(x)
    return flat.reshape(*x.shape, 1).view(dtype) if old > new else flat.view(dtype)[..., 0]
  return _bitcast_sub_byte(x, dtype, old, new)


def _bitcast_sub_byte(x: np.ndarray, dtype: np.dtype, old: int, new: int) -> np.ndarray:
  if old > new:
    wide = bits_of(x).astype(np.uint64)[..., None]
    shifts = np.arange(0, old, new, dtype=np.uint64)
    parts = ((wide >> shifts) & np.uint64((1 << new) - 1)).astype(np.uint8)
    return from_low_bits(parts, dtype)
  low = (bits_of(x) & np.array((1 << old) - 1, np.uint8)).astype(np.uint64)
  shifts = np.arange(0, new, old, dtype=np.uint64)
  joined = (low << shifts).sum(axis=-1, dtype=np.uint64)
  return joined.astype(UNSIGNED[dtype.itemsize]).view(dtype) if new >= 8 else from_low_bits(joined, dtype)


def from_low_bits(parts: np.ndarray, dtype: np.dtype) -> np.ndarray:
  """Elements of a type narrower than a byte from their bits; integers are sign-extended as ml_dtypes keeps them."""
  if kind_of(dtype) in ("signed", "unsigned"):
    return parts.astype(np.uint8).view(np.int8).astype(dtype)
  return parts.astype(np.uint8).view(dtype)
