"""Constants as text, bit-exact.

The type gives shape and dtype; the text gives the elements, in row-major order, in one of three forms:

    1.5                one element, or every element
    [1.0, -inf, 2.5]   each element
    hex"0000803f…"     the bytes of many elements, little-endian

Numbers are written in the fewest digits that read back to the same bits. A NaN other than NumPy's own is written as its bits,
`nan:0x7fc00001`; complex numbers are pairs, `(1.0, -0.0)`.
"""

from __future__ import annotations

import re
import sys
from typing import Any

import ml_dtypes
import numpy as np

_MANY = 32  # elements; more of them are printed as bytes
ELEMENT = re.compile(r"true\b|false\b|nan:0x[0-9a-f]++|-?(?:nan|inf)\b|-?\d++(?:\.\d*+)?(?:e[-+]?\d++)?", re.ASCII)
HEX = re.compile(r'hex"([0-9a-f]*+)"')


def is_float(dtype: np.dtype) -> bool:
  """Whether a dtype holds real floating-point numbers, NumPy's or ml_dtypes'."""
  if dtype.kind == "f":
    return True
  try:
    ml_dtypes.finfo(dtype)
  except ValueError:
    return False
  return dtype.kind != "c"


def is_integer(dtype: np.dtype) -> bool:
  """Whether a dtype holds integers (bools are none)."""
  if dtype.kind in "iu":
    return True
  try:
    ml_dtypes.iinfo(dtype)
  except ValueError:
    return False
  return True


def bits(dtype: np.dtype) -> int:
  """How many bits an integer of this dtype has."""
  return int(ml_dtypes.iinfo(dtype).bits)


def canonical(value: Any, dtype: np.dtype) -> np.ndarray:
  """The array that a constant denotes, in whatever form it was given."""
  array = np.asarray(value)
  return array if array.dtype == dtype else array.astype(dtype)


def _little_endian(array: np.ndarray) -> bytes:
  data = np.ascontiguousarray(array)
  return (data.byteswap() if sys.byteorder == "big" else data).tobytes()


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
  return a.dtype == b.dtype and a.shape == b.shape and _little_endian(a) == _little_endian(b)


# --- to text -----------------------------------------------------------------------------------------------------


def element_text(x: Any, dtype: np.dtype) -> str:
  """One element: a zero-dimensional array or a NumPy scalar of this dtype."""
  if dtype == np.bool_:
    return "true" if x else "false"
  if dtype.kind == "c":
    part = np.dtype(f"f{dtype.itemsize // 2}")
    return f"({element_text(x.real, part)}, {element_text(x.imag, part)})"
  if is_integer(dtype):
    return str(int(x))
  own = np.asarray(x, dtype)
  with np.errstate(invalid="ignore"):  # a signalling NaN
    is_nan = bool(np.isnan(own))
  if is_nan:
    if same_bits(own, np.asarray(np.nan, dtype)):
      return "nan"
    return "nan:0x" + _little_endian(own)[::-1].hex()
  number = float(own)
  if np.isinf(number):
    return "inf" if number > 0 else "-inf"
  short = str(own[()])
  for text in (short + ".0" if short.removeprefix("-").isdigit() else short, repr(number)):
    if ELEMENT.fullmatch(text) and same_bits(np.asarray(float(text)).astype(dtype), own):
      return text
  raise AssertionError(f"{number!r} does not read back as {dtype}")


def literal_text(value: Any, dtype: np.dtype) -> str:
  """The elements of a constant; its type is to be written beside them."""
  array = canonical(value, dtype)
  flat = array.reshape(-1)
  if array.ndim == 0:
    return element_text(flat[0], dtype)
  data = _little_endian(flat)
  if flat.size > 1 and data == data[: dtype.itemsize] * flat.size:
    return element_text(flat[0], dtype)
  if flat.size > _MANY:
    return f'hex"{data.hex()}"'
  return "[" + ", ".join(element_text(x, dtype) for x in flat) + "]"


# --- from text ---------------------------------------------------------------------------------------------------


def element(text: str, dtype: np.dtype) -> np.ndarray:
  """The real number or bool that `element_text` wrote; ValueError if it is none of this dtype."""
  if dtype == np.bool_:
    if text not in ("true", "false"):
      raise ValueError(f"{text} is neither true nor false")
    return np.asarray(text == "true")
  if text in ("true", "false"):
    raise ValueError(f"{text} is not a number")
  if is_integer(dtype):
    if not text.removeprefix("-").isdigit():
      raise ValueError(f"{text} is not an integer")
    number, info = int(text), ml_dtypes.iinfo(dtype)
    if not int(info.min) <= number <= int(info.max):
      raise ValueError(f"{text} does not fit into {dtype}")
    return np.asarray(number).astype(dtype)
  if text.startswith("nan:0x"):
    digits = text[6:].zfill(2 * dtype.itemsize)
    if len(digits) != 2 * dtype.itemsize:
      raise ValueError(f"{text} has too many bits for {dtype}")
    return from_bytes(bytes.fromhex(digits)[::-1], (), dtype)
  return np.asarray(float(text)).astype(dtype)


def from_bytes(data: bytes, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
  array = np.frombuffer(data, np.uint8).copy().view(dtype)
  return (array.byteswap() if sys.byteorder == "big" else array).reshape(shape)
