"""tanh (and its relatives)."""

from __future__ import annotations

from tilewright.target.llvm.math import coefficients
from tilewright.target.llvm.math.exponential import exp_in_range
from tilewright.target.llvm.math.lanes import Lanes, fma, polynomial, where

_SATURATION = {"f32": 10.0, "f64": 20.0}  # tanh rounds to 1 from 9.01 (19.06) on


def tanh(x: Lanes) -> Lanes:
  """A polynomial near 0; elsewhere 1 - 2 / (exp(2|x|) + 1), where the subtraction loses at most a bit."""
  magnitude = abs(x)
  square = x * x
  near = fma(magnitude * square, polynomial(square, coefficients.TANH[x.kind]), magnitude)
  saturated = magnitude.at_most(_SATURATION[x.kind])
  far = 1.0 - 2.0 / (exp_in_range(saturated + saturated) + 1.0)
  return where(magnitude < 0.625, near, far).copysign(x)
