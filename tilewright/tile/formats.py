"""Number formats narrower than a processor computes in: small floats, and integers of less than a byte.

A row of `SMALL_FLOATS` describes a small float completely; the conversion code is driven by it. `computed_in` names the dtype in
which arithmetic on a narrow format is carried out, and `width` counts the bits of a dtype, which NumPy does not know for those of less than
a byte:

    computed_in(float8_e4m3fn) -> float32        width(int4) -> 4        small_float(float4_e2m1fn).largest -> 0b111
"""

from __future__ import annotations

import dataclasses
from typing import Any

import ml_dtypes
import numpy as np


@dataclasses.dataclass(frozen=True)
class SmallFloat:
  """A format: sign, exponent and mantissa from the highest bit down.

  Codes are given without the sign bit: `largest` is the largest finite number, `overflow` the result of an overflow, `nan` is NaN.
  Where the negative zero is NaN (`has_negative_zero` is False), `nan` is that code.
  """

  exponent: int
  mantissa: int
  bias: int
  largest: int
  overflow: int
  nan: int
  signed: bool = True
  has_infinity: bool = False
  has_negative_zero: bool = True

  @property
  def width(self) -> int:
    return self.exponent + self.mantissa + self.signed

  @property
  def sign(self) -> int:
    """The sign bit."""
    return 1 << (self.width - 1)


def _ieee(exponent: int, mantissa: int) -> SmallFloat:
  """With infinities and NaNs, as in IEEE 754."""
  infinity = ((1 << exponent) - 1) << mantissa
  nan = infinity | (1 << (mantissa - 1))
  bias = (1 << (exponent - 1)) - 1
  return SmallFloat(exponent, mantissa, bias, infinity - 1, infinity, nan, has_infinity=True)


def _unsigned_zero(exponent: int, mantissa: int, bias: int) -> SmallFloat:
  """No infinities, and NaN in place of the negative zero."""
  return SmallFloat(exponent, mantissa, bias, 0x7F, 0x80, 0x80, has_negative_zero=False)


SMALL_FLOATS: dict[str, SmallFloat] = {
  "float8_e5m2": _ieee(5, 2),
  "float8_e4m3": _ieee(4, 3),
  "float8_e3m4": _ieee(3, 4),
  "float8_e4m3fn": SmallFloat(4, 3, 7, 0x7E, 0x7F, 0x7F),
  "float8_e5m2fnuz": _unsigned_zero(5, 2, 16),
  "float8_e4m3fnuz": _unsigned_zero(4, 3, 8),
  "float8_e4m3b11fnuz": _unsigned_zero(4, 3, 11),
  # Powers of two: no sign, no zero, no subnormals.
  "float8_e8m0fnu": SmallFloat(8, 0, 127, 0xFE, 0xFF, 0xFF, signed=False),
  # Saturates. It has no NaN; XLA makes it -0.
  "float4_e2m1fn": SmallFloat(2, 1, 1, 0x7, 0x7, 0x8),
}

_SMALL_INTEGERS = {"int2": np.int8, "int4": np.int8, "uint2": np.uint8, "uint4": np.uint8}


def small_float(dtype: Any) -> SmallFloat | None:
  """The format of a dtype, or None if it is not one of these."""
  return SMALL_FLOATS.get(np.dtype(dtype).name)


def is_small_integer(dtype: Any) -> bool:
  """Whether a dtype is an integer of less than a byte."""
  return np.dtype(dtype).name in _SMALL_INTEGERS


def width(dtype: Any) -> int:
  """How many bits of information an element has; a bool is a byte."""
  dtype = np.dtype(dtype)
  if (form := small_float(dtype)) is not None:
    return form.width
  return int(ml_dtypes.iinfo(dtype).bits) if is_small_integer(dtype) else 8 * dtype.itemsize


def computed_in(dtype: Any) -> np.dtype | None:
  """The dtype that arithmetic on a narrow one is carried out in, or None if it needs no other.

  f32 has more than twice the digits of each small float, so a sum, product, quotient or square root that is rounded to f32 and then to the
  small format is rounded as if once. float8_e8m0fnu takes f64: its 2^-127 is subnormal in f32, and XLA's threads flush those to zero.
  """
  dtype = np.dtype(dtype)
  if dtype.name == "float8_e8m0fnu":
    return np.dtype(np.float64)
  if small_float(dtype) is not None:
    return np.dtype(np.float32)
  return np.dtype(_SMALL_INTEGERS[dtype.name]) if is_small_integer(dtype) else None


def poison_value(dtype: Any) -> Any:
  """The fill value of elements that must not be read: NaN where the dtype has one, else its smallest value."""
  dtype = np.dtype(dtype)
  if dtype == np.bool_:
    return False
  if dtype.kind in "iu" or is_small_integer(dtype):
    return int(ml_dtypes.iinfo(dtype).min)
  if dtype.name.startswith(("float4_", "float6_")):
    return float(ml_dtypes.finfo(dtype).min)  # these have no NaN
  return np.nan
