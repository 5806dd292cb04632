"""NaN bit patterns: `nan(0x123)` in the text is a bit pattern with a payload, not a number.

A table of the float formats: mantissa bits, and whether the format has an infinity. Formats without one have only one NaN in
XLA (or, with a sign, two), and a payload has no meaning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.hlo.dtypes import PRIMITIVE_TYPES


@dataclass(frozen=True, slots=True)
class FloatFormat:
  mantissa_bits: int
  has_payload: bool  # IEEE-like: any mantissa but zero under an all-ones exponent is a NaN
  has_negative_nan: bool


FORMATS: dict[str, FloatFormat] = {
  "f64": FloatFormat(52, True, True),
  "f32": FloatFormat(23, True, True),
  "f16": FloatFormat(10, True, True),
  "bf16": FloatFormat(7, True, True),
  "f8e5m2": FloatFormat(2, True, True),
  "f8e4m3": FloatFormat(3, True, True),
  "f8e3m4": FloatFormat(4, True, True),
  "f8e4m3fn": FloatFormat(3, False, True),
  "f8e4m3b11fnuz": FloatFormat(3, False, False),
  "f8e4m3fnuz": FloatFormat(3, False, False),
  "f8e5m2fnuz": FloatFormat(2, False, False),
  "f8e8m0fnu": FloatFormat(0, False, False),
}
WITHOUT_NAN = frozenset({"f4e2m1fn", "f6e2m3fn", "f6e3m2fn"})

_BITS: dict[int, np.dtype] = {
  8: np.dtype(np.uint8),
  16: np.dtype(np.uint16),
  32: np.dtype(np.uint32),
  64: np.dtype(np.uint64),
}


def bits_dtype(element_type: str) -> np.dtype:
  """The unsigned integer type as wide as an element of this type in numpy."""
  dtype = PRIMITIVE_TYPES[element_type].dtype
  assert dtype is not None
  return _BITS[dtype.itemsize * 8]


def default_nan_bits(element_type: str, negative: bool) -> int:
  """The bits of plain `nan` (`-nan`): quiet, no other payload."""
  dtype = PRIMITIVE_TYPES[element_type].dtype
  assert dtype is not None
  fmt = FORMATS[element_type]
  if not fmt.has_payload:
    bits = int(np.array(float("nan"), dtype).view(bits_dtype(element_type)))
    sign = 1 << (PRIMITIVE_TYPES[element_type].bits - 1)
    return ((bits | sign) if negative else (bits & ~sign)) if fmt.has_negative_nan else bits
  return nan_bits(element_type, 1 << (fmt.mantissa_bits - 1), negative)


def nan_bits(element_type: str, payload: int, negative: bool) -> int:
  """Sign, all-ones exponent, payload."""
  width = PRIMITIVE_TYPES[element_type].bits
  mantissa = FORMATS[element_type].mantissa_bits
  exponent = ((1 << (width - 1 - mantissa)) - 1) << mantissa
  return (int(negative) << (width - 1)) | exponent | payload


def nan_text(element_type: str, bits: int) -> str:
  """How the text spells the NaN with these bits."""
  fmt = FORMATS[element_type]
  width = PRIMITIVE_TYPES[element_type].bits
  negative = bool(bits >> (width - 1)) and fmt.has_negative_nan
  sign = "-" if negative else ""
  if not fmt.has_payload or bits == default_nan_bits(element_type, negative):
    return f"{sign}nan"
  return f"{sign}nan({hex(bits & ((1 << fmt.mantissa_bits) - 1))})"
