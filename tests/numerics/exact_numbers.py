"""Dots of quantised arrays in exact arithmetic, and how far a sum in float32 may be off."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import exact
import jax
import numpy as np

from tilewright.numerics import QArray, unpack

UNIT = 2.0**-24  # half the distance between neighbouring float32s, relative
TINY = 2.0**-126  # below this, float32s may be flushed to zero
HUGE = 2.0**128 - 2.0**103  # from here on, they are infinite


def raw(x) -> np.ndarray:
  """The bits of an array of small numbers."""
  x = np.asarray(x)
  return x.view({1: np.uint8, 2: np.uint16, 4: np.uint32}[x.dtype.itemsize])


@functools.cache
def table(name: str) -> np.ndarray:
  """What every pattern of a format stands for."""
  d = exact.DEFINITIONS[name]
  return np.array([float(exact.value(d, bits)) for bits in range(1 << d.width)])


def scale_values(scales) -> np.ndarray:
  """What scales stand for, as float64: exact."""
  if scales.dtype == jax.numpy.float8_e8m0fnu:
    return table("f8e8m0fnu")[raw(scales)]
  return np.asarray(scales).astype(np.float64)


def dequantised(q: QArray) -> np.ndarray:
  """The values without the global scale, as float64; exact for every format and scale, as they need at most 32 bits."""
  bits = np.asarray(unpack(q.data, q.format.width, q.pack_axis)) if q.format.width < 8 else raw(q.data)
  values = table(q.format.name)[bits]
  scales = scale_values(q.scales)
  if q.axis is not None:
    scales = np.repeat(scales, values.shape[q.axis] // scales.shape[q.axis], axis=q.axis)
  return np.take(values * scales, np.arange(q.size), axis=q.pack_axis)


def operand(x) -> tuple[np.ndarray, Fraction]:
  if isinstance(x, QArray):
    return dequantised(x), Fraction(1) if x.global_scale is None else Fraction(float(x.global_scale))
  return np.asarray(x).astype(np.float64), Fraction(1)


def matmul(a, b) -> tuple[np.ndarray, np.ndarray]:
  """(m, k) times (n, k): the exact dot rounded once to float64, and the bound on the error of one accumulated in float32."""
  (x, s), (y, t) = operand(a), operand(b)
  m, n, k = x.shape[0], y.shape[0], x.shape[1]
  want, bound = np.empty((m, n)), np.empty((m, n))
  for i in range(m):
    for j in range(n):
      terms = x[i] * y[j]  # exact: at most 24 bits times at most 28
      want[i, j] = float(Fraction(math.fsum(terms)) * s * t) if np.isfinite(terms).all() else np.sum(terms)
      size = math.fsum(np.abs(terms)) if np.isfinite(terms).all() else 0.0
      # Each operand is rounded when it is scaled, each product and sum when it is added, and the result when it is scaled.
      relative = (k + 8) * UNIT * size
      # Powers of two never make a float32 too small of an element. Other scales may, and products are where they are too small themselves.
      flushed = 0.0 if all(map(_has_powers, (a, b))) else float(np.sum(np.abs(x[i])) + np.sum(np.abs(y[j])))
      lost = TINY * (flushed + k + 1) if np.isfinite(terms).all() else 0.0
      bound[i, j] = (relative + lost) * float(s * t) + TINY
  return want, bound


def _has_powers(x) -> bool:
  return not isinstance(x, QArray) or x.scales.dtype == jax.numpy.float8_e8m0fnu


def check(got, a, b) -> None:
  want, bound = matmul(a, b)
  got = np.asarray(got, np.float64)
  assert got.shape == want.shape
  want = np.where(np.abs(want) < HUGE, want, want + np.copysign(np.inf, want))
  special = ~np.isfinite(want)
  np.testing.assert_array_equal(got[special], want[special])
  assert (np.abs(got - want)[~special] <= bound[~special]).all(), np.nanmax(np.abs(got - want) / bound)
