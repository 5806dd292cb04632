"""The oracle's numbers: exact integers, and floats as float64 with a running bound of the error that any order of rounding can make.

A float element whose operands carry no error and whose exact result its dtype holds has no error either, so programs on small
integer-valued floats are compared bit by bit. Otherwise one rounding adds `eps` times the magnitude, twice what rounding to nearest needs
(it covers double rounding by way of float32), and a sum of n terms n times that of the sum of magnitudes, in whatever order they are added.
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
}
LARGEST = {"float64": 1e6, "float32": 1e6, "bfloat16": 1e6, "float16": 8e3, "float8_e4m3fn": 64.0, "float8_e5m2": 64.0}


def is_float(dtype: str) -> bool:
  return dtype in EXACT


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
  value = value.astype(np.float64) if is_float(dtype) else value.astype(dtype)
  return Number(value, np.zeros(value.shape), dtype)


def rounded(value: np.ndarray, error: np.ndarray, dtype: str, roundings: float = 1) -> Number:
  value, error = np.asarray(value, np.float64), np.asarray(error, np.float64)
  info = ml_dtypes.finfo(jnp.dtype(dtype))
  held = (error == 0) & (value.astype(jnp.dtype(dtype)).astype(np.float64) == value) & (roundings == 1)
  added = roundings * float(info.eps) * (np.abs(value) + error) + float(info.smallest_normal)
  return Number(value, np.where(held, 0, error + added), dtype)


def summed(terms: np.ndarray, error: np.ndarray, axis: int, dtype: str) -> Number:
  """The sum over `axis` of terms that each carry an error."""
  total, size = terms.sum(axis), np.abs(terms).sum(axis)
  count = terms.shape[axis]
  info = ml_dtypes.finfo(jnp.dtype(dtype))
  bound = error.sum(axis) + count * (float(info.eps) * (size + error.sum(axis)) + float(info.smallest_normal))
  free = (error == 0).all(axis) & (terms == np.floor(terms)).all(axis) & (size <= EXACT[dtype])
  return Number(total, np.where(free, 0, bound), dtype)


def difference(actual: np.ndarray, expected: Number, written: np.ndarray | None = None) -> str | None:
  """Where an output leaves the bound, or None."""
  if actual.shape != expected.shape:
    return f"shape {actual.shape}, expected {expected.shape}"
  if str(actual.dtype) != expected.dtype:
    return f"dtype {actual.dtype}, expected {expected.dtype}"
  if is_float(expected.dtype):
    wide = actual.astype(np.float64)
    with np.errstate(invalid="ignore"):
      wrong = ~(np.abs(wide - expected.value) <= expected.error)
  else:
    wide, wrong = actual, actual != expected.value
  if not wrong.any():
    return None
  at = tuple(int(i) for i in np.argwhere(wrong)[0])
  return f"{wrong.sum()} of {wrong.size} wrong, first at {at}: {wide[at]}, expected {expected.value[at]} ± {expected.error[at]}"
