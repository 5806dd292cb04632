"""Number formats as data: width, exponent, bias, special values.

A float with sign s, exponent e and mantissa m of M bits is (-1)^s * 2^(e - bias) * (1 + m / 2^M), or with e = 0
(-1)^s * 2^(1 - bias) * m / 2^M.
Which bit patterns are not numbers is the format's `specials`:

    >>> F8E4M3FN.max, F8E4M3FN.min_subnormal, F4E2M1FN.max
    (448.0, 0.001953125, 6.0)

Integers have no exponent; f8e8m0fnu is an exponent alone, with neither sign nor zero.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from typing import Any

import jax.numpy as jnp
import ml_dtypes
import numpy as np

from tilewright import errors


class Specials(enum.Enum):
  """Which bit patterns of a float format are not finite numbers."""

  IEEE = "the largest exponent holds infinities and NaNs"
  NAN_ONLY = "all ones (whatever the sign) is NaN; there is no infinity"
  NAN_IS_NEGATIVE_ZERO = "what would be -0 is NaN; there is no infinity"
  NONE = "every pattern is a finite number"


@dataclasses.dataclass(frozen=True)
class Format:
  """A number format of up to 32 bits. `exponent_bits` is 0 for integers (two's complement)."""

  name: str
  width: int
  exponent_bits: int
  mantissa_bits: int
  bias: int
  specials: Specials
  signed: bool = True
  dtype: np.dtype | None = None  # JAX's dtype; None where JAX has none, and arrays hold bits

  def __repr__(self) -> str:
    return f"Format({self.name})"

  @property
  def is_float(self) -> bool:
    return self.exponent_bits > 0

  @property
  def has_infinity(self) -> bool:
    return self.specials is Specials.IEEE

  @property
  def has_nan(self) -> bool:
    return self.specials is not Specials.NONE

  @property
  def has_zero(self) -> bool:
    return not self.is_float or self.mantissa_bits > 0

  @property
  def nan_bits(self) -> int | None:
    """The NaN that conversions give; None if there is none."""
    match self.specials:
      case Specials.IEEE:
        return self.infinity_bits + (1 << (self.mantissa_bits - 1))  # quiet: the first bit of the mantissa is set
      case Specials.NAN_ONLY:
        return (1 << (self.width - self.signed)) - 1
      case Specials.NAN_IS_NEGATIVE_ZERO:
        return self.sign_bit
    return None

  @property
  def infinity_bits(self) -> int:
    """Where the finite numbers end if the largest exponent is special."""
    return ((1 << self.exponent_bits) - 1) << self.mantissa_bits

  @property
  def sign_bit(self) -> int:
    return 1 << (self.width - 1) if self.signed else 0

  @property
  def max_bits(self) -> int:
    """The pattern of the largest finite number."""
    match self.specials:
      case Specials.IEEE:
        return self.infinity_bits - 1
      case Specials.NAN_ONLY:
        return (1 << (self.width - self.signed)) - 2
    return (1 << (self.width - self.signed)) - 1

  @property
  def max_exponent(self) -> int:
    """The exponent of the largest finite number, `emax` in the OCP MX specification."""
    if not self.is_float:
      return self.width - 2
    return (self.max_bits >> self.mantissa_bits) - self.bias

  @property
  def max(self) -> float:
    """The largest finite number."""
    if not self.is_float:
      return float(self.max_bits)
    fraction = 1 + (self.max_bits & ((1 << self.mantissa_bits) - 1)) / (1 << self.mantissa_bits)
    return math.ldexp(fraction, self.max_exponent)

  @property
  def min(self) -> float:
    """The most negative finite number."""
    if not self.signed:
      return self.min_normal if not self.has_zero else 0.0
    return -self.max if self.is_float else -self.max - 1

  @property
  def min_normal(self) -> float:
    """The smallest positive number with a leading one."""
    if not self.is_float:
      return 1.0
    return math.ldexp(1, (1 if self.mantissa_bits else 0) - self.bias)

  @property
  def min_subnormal(self) -> float:
    """The smallest positive number."""
    if not self.is_float or not self.mantissa_bits:
      return self.min_normal
    return math.ldexp(1, 1 - self.bias - self.mantissa_bits)

  @property
  def bits_dtype(self) -> np.dtype:
    """The unsigned integers that hold one element's bits."""
    return np.dtype(np.uint8 if self.width <= 8 else np.uint16 if self.width <= 16 else np.uint32)

  @property
  def storage(self) -> np.dtype:
    """The dtype of arrays of this format: JAX's own, or bytes of packed bits below 8 bits."""
    return np.dtype(self.dtype) if self.dtype is not None and self.width >= 8 else np.dtype(np.uint8)


def _float(
  name: str, exponent: int, mantissa: int, bias: int, specials: Specials, dtype: Any = None, signed: bool = True
) -> Format:
  width = exponent + mantissa + signed
  return Format(name, width, exponent, mantissa, bias, specials, signed, None if dtype is None else np.dtype(dtype))


def _int(width: int, dtype: Any) -> Format:
  return Format(f"int{width}", width, 0, width - 1, 0, Specials.NONE, True, np.dtype(dtype))


_IEEE, _FN, _FNUZ, _FINITE = Specials.IEEE, Specials.NAN_ONLY, Specials.NAN_IS_NEGATIVE_ZERO, Specials.NONE

F4E2M1FN = _float("f4e2m1fn", 2, 1, 1, _FINITE, jnp.float4_e2m1fn)
F6E2M3FN = _float("f6e2m3fn", 2, 3, 1, _FINITE)
F6E3M2FN = _float("f6e3m2fn", 3, 2, 3, _FINITE)
F8E4M3FN = _float("f8e4m3fn", 4, 3, 7, _FN, jnp.float8_e4m3fn)
F8E5M2 = _float("f8e5m2", 5, 2, 15, _IEEE, jnp.float8_e5m2)
F8E4M3 = _float("f8e4m3", 4, 3, 7, _IEEE, jnp.float8_e4m3)
F8E3M4 = _float("f8e3m4", 3, 4, 3, _IEEE, jnp.float8_e3m4)
F8E4M3FNUZ = _float("f8e4m3fnuz", 4, 3, 8, _FNUZ, jnp.float8_e4m3fnuz)
F8E5M2FNUZ = _float("f8e5m2fnuz", 5, 2, 16, _FNUZ, jnp.float8_e5m2fnuz)
F8E4M3B11FNUZ = _float("f8e4m3b11fnuz", 4, 3, 11, _FNUZ, jnp.float8_e4m3b11fnuz)
F8E8M0FNU = _float("f8e8m0fnu", 8, 0, 127, _FN, jnp.float8_e8m0fnu, signed=False)
BF16 = _float("bf16", 8, 7, 127, _IEEE, jnp.bfloat16)
F16 = _float("f16", 5, 10, 15, _IEEE, jnp.float16)
F32 = _float("f32", 8, 23, 127, _IEEE, jnp.float32)
INT8, INT4, INT2 = _int(8, jnp.int8), _int(4, jnp.int4), _int(2, jnp.int2)

FORMATS: dict[str, Format] = {
  f.name: f
  for f in (
    *(F4E2M1FN, F6E2M3FN, F6E3M2FN),
    *(F8E4M3FN, F8E5M2, F8E4M3, F8E3M4, F8E4M3FNUZ, F8E5M2FNUZ, F8E4M3B11FNUZ, F8E8M0FNU),
    *(BF16, F16, F32, INT8, INT4, INT2),
  )
}
_BY_DTYPE = {
  **{f.dtype: f for f in FORMATS.values() if f.dtype is not None},
  **{np.dtype(ml_dtypes.float6_e2m3fn): F6E2M3FN, np.dtype(ml_dtypes.float6_e3m2fn): F6E3M2FN},  # NumPy's alone
}


def format_of(x: Any, argument: str = "format") -> Format:
  """A format from itself, its name, or a dtype of JAX or ml_dtypes."""
  if isinstance(x, Format):
    return x
  if isinstance(x, str) and x in FORMATS:
    return FORMATS[x]
  try:
    return _BY_DTYPE[np.dtype(x)]
  except (TypeError, KeyError):
    raise errors.NumberFormatError(
      f"{argument} must be a number format, its name or its dtype, got {x!r}. Formats: {', '.join(FORMATS)}."
    ) from None
