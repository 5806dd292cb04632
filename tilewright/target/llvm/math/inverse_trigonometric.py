"""asin, acos, atan, atan2. Where a multiple of pi/2 is added, its second part is added to the small terms first."""

from __future__ import annotations

from tilewright.target.llvm.math import coefficients
from tilewright.target.llvm.math.lanes import INF, Lanes, fma, polynomial, where


def _asin_parts(x: Lanes) -> tuple[Lanes, Lanes, Lanes]:
  """(small, w, t): w + t = asin(w) with w = |x| where that is small, and otherwise w = sqrt((1 - |x|) / 2).

  Then asin(|x|) = pi/2 - 2 asin(w). Beyond 1 the root is NaN, and so is the result.
  """
  magnitude = abs(x)
  small = magnitude < 0.5
  square = where(small, x * x, fma(magnitude, -0.5, 0.5))
  w = where(small, magnitude, square.sqrt())
  return small, w, w * square * polynomial(square, coefficients.ASIN[x.kind])


def asin(x: Lanes) -> Lanes:
  small, w, t = _asin_parts(x)
  half_pi, half_pi_low, _ = coefficients.HALF_PI[x.kind]
  large = half_pi - fma(w, 2.0, fma(t, 2.0, -half_pi_low))
  return where(small, w + t, large).copysign(x)


def acos(x: Lanes) -> Lanes:
  small, w, t = _asin_parts(x)
  half_pi, half_pi_low, _ = coefficients.HALF_PI[x.kind]
  negative = x < 0.0
  signed = where(negative, -w, w)
  signed_t = where(negative, -t, t)
  near_zero = half_pi - (signed + (signed_t - half_pi_low))
  near_one = (w + t) * 2.0
  near_minus_one = fma(w.const(half_pi), 2.0, fma(w, -2.0, fma(t, -2.0, 2 * half_pi_low)))
  return where(small, near_zero, where(negative, near_minus_one, near_one))


def atan(x: Lanes) -> Lanes:
  """atan(1/z) = pi/2 - atan(z) brings |x| below 1."""
  magnitude = abs(x)
  inverse = magnitude > 1.0
  z = where(inverse, x.const(1.0).over(magnitude), magnitude)
  square = z * z
  t = z * square * polynomial(square, coefficients.ATAN[x.kind])
  half_pi, half_pi_low, _ = coefficients.HALF_PI[x.kind]
  return where(inverse, half_pi - (z + (t - half_pi_low)), z + t).copysign(x)


def atan2(y: Lanes, x: Lanes) -> Lanes:
  """The angle of the smaller over the larger, then moved to its octant. All special cases of C."""
  height, width = abs(y), abs(x)
  steep = height > width
  larger, smaller = where(steep, height, width), where(steep, width, height)
  z = smaller / larger
  z = where(larger.equals(0.0), 0.0, where(smaller.equals(INF), 1.0, z))
  square = z * z
  t = z * square * polynomial(square, coefficients.ATAN[y.kind])

  half_pi, half_pi_low, _ = coefficients.HALF_PI[y.kind]
  left = x.bits() < 0  # -0 is left of the origin
  flip = steep ^ left
  multiple = where(steep, x.const(1.0), where(left, x.const(2.0), 0.0))
  z, t = where(flip, -z, z), where(flip, -t, t)
  angle = fma(multiple, half_pi, z + fma(multiple, half_pi_low, t)).copysign(y)
  return where(x.is_nan() | y.is_nan(), x + y, angle)
