"""tanh, sinh, cosh and their inverses. Odd functions work on |x| and get the sign back at the end, also that of -0."""

from __future__ import annotations

import math

from tilewright.target.llvm.math import coefficients
from tilewright.target.llvm.math.exponential import exp_in_range, exp_of_sum
from tilewright.target.llvm.math.lanes import NAN, Lanes, fma, polynomial, where
from tilewright.target.llvm.math.logarithm import log1p, log1p_of_sum

_SATURATION = {"f32": 10.0, "f64": 20.0}  # tanh rounds to 1 from 9.01 (19.06) on
_HUGE = {"f32": 2.0**30, "f64": 2.0**60}  # beyond, x^2 + 1 is x^2, and before, x^2 does not overflow


def tanh(x: Lanes) -> Lanes:
  """A polynomial near 0; elsewhere 1 - 2 / (exp(2|x|) + 1), where the subtraction loses at most a bit."""
  magnitude = abs(x)
  square = x * x
  near = fma(magnitude * square, polynomial(square, coefficients.TANH[x.kind]), magnitude)
  saturated = magnitude.at_most(_SATURATION[x.kind])
  far = 1.0 - 2.0 / (exp_in_range(saturated + saturated) + 1.0)
  return where(magnitude < 0.625, near, far).copysign(x)


def _half_exp(magnitude: Lanes) -> Lanes:
  """exp(|x|) / 2, finite wherever sinh and cosh are."""
  return exp_of_sum(magnitude, magnitude.const(0.0), 0.5)


def sinh(x: Lanes) -> Lanes:
  magnitude = abs(x)
  square = x * x
  near = fma(magnitude * square, polynomial(square, coefficients.SINH[x.kind]), magnitude)
  half = _half_exp(magnitude)
  return where(magnitude < 1.0, near, half - half.const(0.25).over(half)).copysign(x)


def cosh(x: Lanes) -> Lanes:
  half = _half_exp(abs(x))
  return half + half.const(0.25).over(half)


def asinh(x: Lanes) -> Lanes:
  """log1p(|x| + x^2 / (1 + sqrt(1 + x^2))); where x^2 might overflow, log(|x|) + ln 2."""
  magnitude = abs(x)
  huge = magnitude > _HUGE[x.kind]
  square = magnitude * magnitude
  more = square.over((square + 1.0).sqrt() + 1.0)
  result = log1p_of_sum(magnitude, where(huge, 0.0, more))
  return where(huge, result + math.log(2), result).copysign(x)


def acosh(x: Lanes) -> Lanes:
  """With t = x - 1, which is exact near 1: log1p(t + sqrt(t (t + 2)))."""
  huge = x > _HUGE[x.kind]
  t = x - 1.0
  root = (t * (t + 2.0)).sqrt()
  result = log1p_of_sum(where(huge, x, root), where(huge, 0.0, t))
  return where(x < 1.0, NAN, where(huge, result + math.log(2), result))


def atanh(x: Lanes) -> Lanes:
  """log1p(2|x| / (1 - |x|)) / 2: infinite at 1 and NaN beyond, as log1p is."""
  magnitude = abs(x)
  return (log1p((magnitude + magnitude).over(1.0 - magnitude)) * 0.5).copysign(x)
