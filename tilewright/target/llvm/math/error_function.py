"""erf (and its relatives)."""

from __future__ import annotations

from tilewright.target.llvm.math import coefficients
from tilewright.target.llvm.math.exponential import exp_in_range
from tilewright.target.llvm.math.lanes import Lanes, fma, polynomial, where


def erf(x: Lanes) -> Lanes:
  """A polynomial up to 1; beyond, 1 - exp(polynomial), where the exponential is what is missing to 1."""
  magnitude = abs(x)
  near = fma(magnitude, polynomial(x * x, coefficients.ERF[x.kind]), magnitude)
  t = magnitude.at_most(4.0)  # erf is 1 from 3.92 on
  far = 1.0 - exp_in_range(t * polynomial(t, coefficients.ERF_TAIL[x.kind]))
  return where(magnitude < 1.0, near, far).copysign(x)
