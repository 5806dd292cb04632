"""erf, erfc, erf_inv."""

from __future__ import annotations

from tilewright.target.llvm.math import coefficients
from tilewright.target.llvm.math.exponential import exp_in_range, exp_of_sum
from tilewright.target.llvm.math.lanes import INF, Lanes, fma, polynomial, where
from tilewright.target.llvm.math.logarithm import log


def erf(x: Lanes) -> Lanes:
  """A polynomial up to 0.85; beyond, one minus a small number."""
  magnitude = abs(x)
  near = fma(magnitude, polynomial(x * x, coefficients.ERF[x.kind]), magnitude)
  if x.kind == "f32":
    t = magnitude.at_most(4.0)  # erf is 1 from 3.92 on
    missing = exp_in_range(t * polynomial(t, coefficients.ERF_TAIL["f32"]))
  else:
    missing = _erfc_of_positive(magnitude)
  return where(magnitude < 0.85, near, 1.0 - missing).copysign(x)


def _erfc_of_positive(x: Lanes) -> Lanes:
  """exp(-x^2) P(u) / (1 + 2x) with u = (x - c) / (x + c). The rounding error of x^2 goes into the exponential too."""
  centre, limit, p = {
    "f32": (2.0, 10.5, coefficients.ERFC_F32.get("f32")),
    "f64": (4.0, 27.5, coefficients.ERFC_F64.get("f64")),
  }[x.kind]
  assert p is not None
  x = x.at_most(limit)
  square = x * x
  decay = exp_of_sum(-square, -fma(x, x, -square))
  u = (x - centre) / (x + centre)
  return polynomial(u, p) / fma(x, 2.0, 1.0) * decay


def erfc(x: Lanes) -> Lanes:
  magnitude = abs(x)
  near = 1.0 - fma(x, polynomial(x * x, coefficients.ERF[x.kind]), x)
  right = _erfc_of_positive(magnitude)
  return where(magnitude < 0.7, near, where(x < 0.0, 2.0 - right, right))


def erf_inv(x: Lanes) -> Lanes:
  """x P(w), w = -log(1 - x^2): smooth at 0, and slow enough towards ±1. Beyond, the logarithm is NaN."""
  w = -log(fma(-x, x, 1.0))
  root = w.sqrt()
  p = polynomial(w - 3.0, coefficients.ERF_INV[x.kind])
  p = where(w > 6.25, polynomial(root - 3.25, coefficients.ERF_INV_MIDDLE[x.kind]), p)
  if x.kind == "f64":
    p = where(w > 16.0, polynomial(root - 5.0, coefficients.ERF_INV_TAIL["f64"]), p)
  return where(w.equals(INF), x.const(INF).copysign(x), x * p)
