"""lgamma and digamma.

Both cross zero where large terms cancel, at 1.46 and between all negative integers, so f32 is computed in f64 and rounded
once. In f64 the error near those zeros is small compared with the terms, not with the result.
"""

from __future__ import annotations

import math

from tilewright.target.llvm.math import coefficients
from tilewright.target.llvm.math.lanes import INF, NAN, Lanes, fma, polynomial, where
from tilewright.target.llvm.math.logarithm import log


def _distance_to_integer(x: Lanes) -> Lanes:
  """|x - n| for the nearest integer n; exact."""
  below = x - x.floor()
  return where(below > 0.5, 1.0 - below, below)


def _sin_pi(f: Lanes) -> Lanes:
  """sin(pi f) for 0 <= f <= 1/2."""
  return f * polynomial(f * f, coefficients.SIN_PI["f64"])


def lgamma(x: Lanes) -> Lanes:
  """log |Gamma(x)|: a polynomial on [1, 3], recurrences to get there, Stirling's series from 8 on, reflection for x < 0."""
  kind = x.kind
  x = x.to_f64()
  magnitude = abs(x)
  large = magnitude >= 8.0

  # Gamma(x) = Gamma(x + 1) / x below 1; between 3 and 8, Gamma(x) = (x - 1) (x - 2) ... Gamma(y).
  y = magnitude
  product = x.const(1.0)
  for _ in range(5):
    above = y >= 3.0
    y = where(above, y - 1.0, y)
    product = where(above, product * y, product)
  below_one = magnitude < 1.0
  from_two = where(below_one, y - 1.0, y - 2.0)  # of y + 1 where y < 1
  from_one = where(below_one, y, y - 1.0)
  middle = from_one * from_two * polynomial(from_two, coefficients.LGAMMA["f64"])
  argument = where(large | below_one, magnitude, product)
  logarithm = log(argument)
  middle = where(below_one, middle - logarithm, middle + logarithm)

  inverse = 1.0 / magnitude
  series = polynomial(inverse * inverse, coefficients.STIRLING["f64"]) * inverse
  stirling = fma(magnitude - 0.5, logarithm - 1.0, series + (math.log(2 * math.pi) / 2 - 0.5))
  positive = where(large, stirling, middle)
  positive = where(magnitude.equals(INF), INF, positive)

  sine = _sin_pi(_distance_to_integer(magnitude))
  reflected = -log(sine * magnitude * (1 / math.pi)) - positive
  tiny = magnitude < 1e-20  # the product above goes with t^2 and would underflow; lgamma(-t) is lgamma(t) to 2^-66 here
  result = where((x < 0.0) & ~tiny, reflected, positive)
  pole = (x <= 0.0) & x.floor().equals(x)
  result = where(pole, INF, result)
  return result if kind == "f64" else result.to_f32()


def digamma(x: Lanes) -> Lanes:
  """Below 3, a polynomial times the distance from the zero; the asymptotic series from 10 on, and ten steps of the recurrence
  between; reflection for x < 0; NaN at the poles.
  """
  kind = x.kind
  x = x.to_f64()
  negative = x < 0.0
  t = where(negative, 1.0 - x, x)
  # The sum of 1 / (t + i) for i < 10 as one fraction: the derivative of the product of the t + i over that product.
  low = t < 10.0
  base = where(low, t, 1.0)
  product, derivative = base, x.const(1.0)
  for i in range(1, 10):
    factor = base + float(i)
    derivative = fma(derivative, factor, product)
    product = product * factor
  correction = where(low, derivative / product, 0.0)
  shifted = where(low, t + 10.0, t)
  inverse = 1.0 / shifted
  square = inverse * inverse
  tail = fma(inverse, 0.5, square * polynomial(square, coefficients.DIGAMMA["f64"]))
  result = log(shifted) - tail - correction

  # digamma(t + 1) = digamma(t) + 1/t brings (0, 1) and [2, 3) to [1, 2], where the polynomial is.
  below, above = t < 1.0, t >= 2.0
  y = where(below, t + 1.0, where(above, t - 1.0, t))
  root, root_low, _ = coefficients.DIGAMMA_ROOT["f64"]
  middle = ((y - root) - root_low) * polynomial(y - 1.5, coefficients.DIGAMMA_MIDDLE["f64"])
  reciprocal = 1.0 / where(below, -t, y)
  middle = where(below | above, middle + reciprocal, middle)
  result = where(t < 3.0, middle, result)

  # digamma(-t) = digamma(1 + t) + pi / tan(pi t), with the cosine as a sine of the exact complement.
  fraction = abs(x) - abs(x).floor()
  distance = _distance_to_integer(abs(x))
  cotangent = math.pi * _sin_pi(0.5 - distance) / _sin_pi(distance)
  reflected = result + where(fraction > 0.5, -cotangent, cotangent)
  result = where(negative, reflected, result)
  result = where((x <= 0.0) & x.floor().equals(x), NAN, result)
  return result if kind == "f64" else result.to_f32()
