"""pow: exp(y log x), with log x to twice the precision.

The result has as many correct bits as y log x has after the binary point, and that product is as large as 128 ln 2 (1024 ln 2):
the logarithm needs 8 (11) bits more than the result. Numbers here are unevaluated sums (high, low).
"""

from __future__ import annotations

from tilewright.target.llvm.math import coefficients
from tilewright.target.llvm.math.exponential import exp_of_sum
from tilewright.target.llvm.math.lanes import INF, NAN, Lanes, fma, polynomial, where
from tilewright.target.llvm.math.logarithm import split

_ROOT_HALF = {"f32": 0x3F3504F3, "f64": 0x3FE6A09E667F3BCD}


def log_of_positive(x: Lanes) -> tuple[Lanes, Lanes]:
  """log(x) as a sum of two, to about 2^-36 (2^-65) of itself; x is positive and finite."""
  m, _, k = split(x, _ROOT_HALF[x.kind])
  # log m = 2 atanh(s), s = (m - 1) / (m + 1).
  f = m - 1.0
  sum_high = m + 1.0
  sum_low = m - (sum_high - 1.0)
  s = f.over(sum_high)
  s_low = fma(-s, sum_low, fma(-s, sum_high, f)).over(sum_high)
  # s^2 and s^3 in two parts, then the first term of the series in two parts and the others, 2^-12 of the sum, in one.
  square = s * s
  square_low = fma(s, s, -square) + (s + s) * s_low
  cube = square * s
  cube_low = fma(square, s, -cube) + fma(square, s_low, square_low * s)
  third, third_low, _ = coefficients.THIRD[x.kind]
  rest = square * polynomial(square, coefficients.ATANH_TAIL[x.kind])
  series = rest + third
  series_low = (third - series) + rest + third_low
  term = cube * series
  term_low = fma(cube, series, -term) + fma(cube, series_low, cube_low * series)
  high = s + term
  low = (s - high) + term + (s_low + term_low)
  # Add k ln 2, which is the larger of the two unless it is 0.
  ln2, ln2_low, _ = coefficients.LN2[x.kind]
  base = k * ln2
  base_low = fma(k, ln2, -base) + k * ln2_low
  high, low = high + high, low + low
  total = base + high
  return total, (base - total) + high + (low + base_low)


def pow(x: Lanes, y: Lanes) -> Lanes:
  """All special cases of IEEE 754-2019, section 9.2."""
  magnitude = abs(x)
  high, low = log_of_positive(magnitude)
  product = y * high
  product_low = fma(y, high, -product) + y * low
  # Far outside exp's range the low part may be infinite; it does not matter there.
  product_low = where(abs(product) < 1000.0, product_low, 0.0)
  result = exp_of_sum(product, product_low)

  down = y < 0.0
  result = where(magnitude.equals(0.0), where(down, y.const(INF), 0.0), result)
  result = where(magnitude.equals(INF), where(down, y.const(0.0), INF), result)
  integer = y.floor().equals(y)
  half = y * 0.5
  odd = integer & ~half.floor().equals(half)
  result = where(odd, result.copysign(x), result)
  result = where((x < 0.0) & (magnitude < INF) & ~integer & (magnitude > 0.0), NAN, result)
  result = where(x.is_nan() | y.is_nan(), NAN, result)
  infinite = abs(y).equals(INF)
  return where(y.equals(0.0) | x.equals(1.0) | (infinite & magnitude.equals(1.0)), 1.0, result)
