"""exp, exp2, expm1, logistic.

x = n ln 2 + r with an integer n and |r| <= ln(2)/2, so exp(x) = exp(r) 2^n. The power is applied as two factors of about 2^(n/2):
both are normal numbers for every n, the first product is exact, and the second overflows to infinity or underflows
gradually, with a single rounding. There is nothing to select at the ends of the range.
"""

from __future__ import annotations

import math

from tilewright.target.llvm.math import coefficients
from tilewright.target.llvm.math.lanes import Lanes, fma, polynomial, where

# Beyond these exp, and half of it, is infinite or zero in any rounding. The clamp keeps the factors in the range of exponents.
_CLAMP = {"f32": (-105.0, 90.0), "f64": (-746.0, 711.0)}
_CLAMP2 = {"f32": (-151.0, 129.0), "f64": (-1076.0, 1025.0)}


def _round(x: Lanes, per_unit: float) -> tuple[Lanes, Lanes]:
  """The nearest integer n to x * per_unit as a float, and an integer whose low bits are n + 2 * bias."""
  shift = x.format.round_shift + 2 * x.format.bias
  z = fma(x, per_unit, shift)
  return z - shift, z.bits()


def _factors(biased: Lanes, kind: str) -> tuple[Lanes, Lanes]:
  """2^floor(n/2) and 2^ceil(n/2). What the shift to the right leaves above the exponents, the shift to the left removes."""
  mantissa = 23 if kind == "f32" else 52
  half = biased.logical_shift_right(1)
  return (half << mantissa).floats(kind), ((biased - half) << mantissa).floats(kind)


def clamp(x: Lanes) -> Lanes:
  low, high = _CLAMP[x.kind]
  return x.at_most(high).at_least(low)


def reduce(x: Lanes) -> tuple[Lanes, Lanes]:
  """r and the bits of n, for a clamped x."""
  n, biased = _round(x, 1 / math.log(2))
  # The first product is subtracted exactly: its bits end at 2^-24 (2^-53), as those of x do wherever n is not 0.
  high, low, _ = coefficients.LN2[x.kind]
  return fma(n, -low, fma(n, -high, x)), biased


def exp(x: Lanes) -> Lanes:
  r, biased = reduce(clamp(x))
  p = polynomial(r, (1.0, 1.0, *coefficients.EXP[x.kind]))
  first, second = _factors(biased, x.kind)
  return p * first * second


def exp_in_range(x: Lanes) -> Lanes:
  """exp where the caller knows that neither x nor the result is near the ends of its range: one factor is enough."""
  r, biased = reduce(x)
  p = polynomial(r, (1.0, 1.0, *coefficients.EXP[x.kind]))
  return p * ((biased - x.format.bias) << x.format.mantissa).floats(x.kind)


def exp_of_sum(high: Lanes, low: Lanes, factor: float = 1.0) -> Lanes:
  """exp(high + low) * factor for a small low and a factor near 1, without overflow before the end."""
  r, biased = reduce(clamp(high))
  p = polynomial(r + low, (1.0, 1.0, *coefficients.EXP[high.kind]))
  first, second = _factors(biased, high.kind)
  return p * (first * factor if factor != 1.0 else first) * second


def exp2(x: Lanes) -> Lanes:
  low, high = _CLAMP2[x.kind]
  x = x.at_most(high).at_least(low)
  n, biased = _round(x, 1.0)
  p = polynomial(x - n, (1.0, *coefficients.EXP2[x.kind]))  # the difference is exact
  first, second = _factors(biased, x.kind)
  return p * first * second


def expm1(x: Lanes) -> Lanes:
  """With 2^n = a b: expm1(x) = a b (expm1(r) + 1) - 1 = a (b expm1(r) + (b - 1/a)). Nothing overflows before the result."""
  form = x.format
  r, biased = reduce(clamp(x))
  p = fma(r * r, polynomial(r, coefficients.EXPM1[x.kind]), r)
  first, second = _factors(biased, x.kind)
  inverse = ((2 * form.bias << form.mantissa) - first.bits()).floats(x.kind)
  return (fma(p, second, second - inverse) * first).copysign(x)


def logistic(x: Lanes) -> Lanes:
  """e = exp(-|x|) never overflows, and gives 1 - e/(1 + e) on the right and e - e e/(1 + e) on the left.

  The left tail thus keeps the precision of e, down to the smallest denormal; e / (1 + e) alone would be half an ulp worse.
  """
  e = exp(-abs(x))
  base = where(x < 0.0, e, 1.0)
  return fma(base, e / (-1.0 - e), base)
