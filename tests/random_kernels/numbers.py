"""The oracle's numbers: exact integers, and floats as float64 with a running bound of the error that any order of rounding can make.

A float element whose operands carry no error and whose exact result its dtype holds has no error either, so programs on small
integer-valued floats are compared bit by bit. Otherwise one rounding adds `eps` times the magnitude, twice what rounding to nearest needs
(it covers double rounding by way of float32), and a sum of n terms n times that of the sum of magnitudes, in whatever order they are added.
Of complex numbers the bound is that of the modulus. Integers of four bits are held in eight, and wrap around as they would.
"""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import ml_dtypes
import numpy as np

EXACT = {
  "float64": 2**53,
  "float32": 2**24,
  "bfloat16": 2**8,
  "float16": 2**11,
  "float8_e4m3fn": 2**4,
  "float8_e5m2": 2**3,
  "float8_e4m3fnuz": 2**4,
  "float8_e5m2fnuz": 2**3,
  "complex64": 2**24,
}
LARGEST = {"float64": 1e6, "float32": 1e6, "bfloat16": 1e6, "float16": 8e3, "float8_e4m3fn": 64.0, "float8_e5m2": 64.0}
LARGEST |= {"float8_e4m3fnuz": 64.0, "float8_e5m2fnuz": 64.0}
LARGEST["complex64"] = 1e6
HELD_AS = {"int4": np.dtype(np.int8), "uint4": np.dtype(np.uint8), "complex64": np.dtype(np.complex128)}


def is_inexact(dtype: str) -> bool:
  return dtype in EXACT


def is_float(dtype: str) -> bool:
  return is_inexact(dtype) and dtype != "complex64"


def wrapped(value: np.ndarray, dtype: str) -> np.ndarray:
  """Integers in a dtype, as the oracle holds them."""
  value = np.asarray(value)
  if dtype == "int4":
    return ((value.astype(np.int64) + 8) % 16 - 8).astype(np.int8)
  return (value.astype(np.int64) % 16).astype(np.uint8) if dtype == "uint4" else value.astype(dtype)


@dataclasses.dataclass(frozen=True)
class Number:
  """An array of the oracle: `value` in its dtype, or in float64 with the bound `error` where the dtype is a float."""

  value: np.ndarray
  error: np.ndarray
  dtype: str

  @property
  def shape(self) -> tuple[int, ...]:
    return self.value.shape

  def moved(self, f) -> Number:
    """What moves elements moves their bounds with them."""
    return Number(f(self.value), f(self.error), self.dtype)


def exact(value, dtype: str) -> Number:
  value = np.asarray(value)
  if is_inexact(dtype):
    value = value.astype(HELD_AS.get(dtype, np.float64))
  else:
    value = wrapped(value, dtype)
  return Number(value, np.zeros(value.shape), dtype)


def rounded(value: np.ndarray, error: np.ndarray, dtype: str, roundings: float = 1) -> Number:
  value, error = np.asarray(value, HELD_AS.get(dtype, np.float64)), np.asarray(error, np.float64)
  info = ml_dtypes.finfo(jnp.dtype(dtype))
  held = (error == 0) & (value.astype(jnp.dtype(dtype)).astype(value.dtype) == value) & (roundings == 1)
  added = roundings * float(info.eps) * (np.abs(value) + error) + float(info.smallest_normal)
  return Number(value, np.where(held, 0, error + added), dtype)


def summed(terms: np.ndarray, error: np.ndarray, axis: int, dtype: str) -> Number:
  """The sum over `axis` of terms that each carry an error."""
  total, size = terms.sum(axis), np.abs(terms).sum(axis)
  count = terms.shape[axis]
  info = ml_dtypes.finfo(jnp.dtype(dtype))
  bound = error.sum(axis) + count * (float(info.eps) * (size + error.sum(axis)) + float(info.smallest_normal))
  whole = (terms.real == np.floor(terms.real)) & (terms.imag == np.floor(terms.imag))
  free = (error == 0).all(axis) & whole.all(axis) & (size <= EXACT[dtype])
  return Number(total, np.where(free, 0, bound), dtype)


def difference(actual: np.ndarray, expected: Number, written: np.ndarray | None = None) -> str | None:
  """Where an output leaves the bound, or None."""
  if actual.shape != expected.shape:
    return f"shape {actual.shape}, expected {expected.shape}"
  if str(actual.dtype) != expected.dtype:
    return f"dtype {actual.dtype}, expected {expected.dtype}"
  if is_inexact(expected.dtype):
    wide = actual.astype(expected.value.dtype)
    with np.errstate(invalid="ignore"):
      same = (wide == expected.value) | (np.isnan(wide) & np.isnan(expected.value))  # also of infinities
      wrong = ~(same | (np.abs(wide - expected.value) <= expected.error))
  else:
    wide = actual.astype(expected.value.dtype)
    wrong = wide != expected.value
  if not wrong.any():
    return None
  at = tuple(int(i) for i in np.argwhere(wrong)[0])
  return f"{wrong.sum()} of {wrong.size} wrong, first at {at}: {wide[at]}, expected {expected.value[at]} ± {expected.error[at]}"
