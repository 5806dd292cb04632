"""log and log1p.

x = 2^k (1 + f) with 2/3 <= 1 + f < 4/3, so that f is exact, small where x is close to 1, and no digits are lost there:
log(x) = k ln 2 + f - f^2/2 + f^3 P(f).
"""

from __future__ import annotations

from tilewright.target.llvm.math import coefficients
from tilewright.target.llvm.math.lanes import INF, NAN, Lanes, fma, polynomial, where

_TWO_THIRDS = {"f32": 0x3F2AAAAB, "f64": 0x3FE5555555555555}


def split(x: Lanes, pivot: int) -> tuple[Lanes, Lanes, Lanes]:
  """(m, k, k as a float) with x = m 2^k for a positive x that may be denormal; m starts at the float with bits `pivot`."""
  form, kind = x.format, x.kind
  denormal = x < form.smallest_normal
  x = where(denormal, x * 2.0 ** (form.mantissa + 2), x)
  bits = x.bits()
  k = (bits - pivot) >> form.mantissa
  m = (bits - (k << form.mantissa)).floats(kind)
  k = where(denormal, k - (form.mantissa + 2), k)
  return m, k, k.to_float(kind)


def _assemble(f: Lanes, k: Lanes, more: Lanes | None = None) -> Lanes:
  """log(2^k (1 + f)) + more, for a tiny more."""
  high, low = coefficients.SHORT_LN2[f.kind]
  square = f * f
  p = polynomial(f, (-0.5, *coefficients.LOG[f.kind]))
  tail = fma(square, p, k * low)
  tail = tail if more is None else tail + more
  return fma(k, high, f + tail)


def _at_the_edges(result: Lanes, x: Lanes, pole: float) -> Lanes:
  """-inf at the pole, NaN to the left of it, infinity and NaN as they are."""
  result = where(x < INF, result, x)
  result = where(x.equals(pole), -INF, result)
  return where(x < pole, NAN, result)


def log(x: Lanes) -> Lanes:
  m, _, k = split(x, _TWO_THIRDS[x.kind])
  return _at_the_edges(_assemble(m - 1.0, k), x, 0.0)


def log1p(x: Lanes) -> Lanes:
  return log1p_of_sum(x)


def log1p_of_sum(x: Lanes, more: Lanes | None = None) -> Lanes:
  """log(1 + x), or log(1 + x + more) without rounding x + more first, for positive numbers.

  1 + x is rounded only to find k; f = x 2^-k + (2^-k - 1) is rounded once, and is x itself where k = 0.
  """
  form, kind = x.format, x.kind
  total = x if more is None else x + more
  k = ((total + 1.0).bits() - _TWO_THIRDS[kind]) >> form.mantissa
  scale = (x.const(4.0).bits() - (k << form.mantissa)).floats(kind)  # 2^(2 - k), normal for the largest x too
  f = fma(total * 0.25, scale, fma(scale, 0.25, -1.0))
  lost = None
  if more is not None:
    big = where(x > more, x, more)
    rounding = (big - total) + where(x > more, more, x)
    lost = (rounding * (scale * 0.25)).over(f + 1.0)
  # A tiny x may have lost a bit by the division.
  result = where(abs(total) < 8 * form.smallest_normal, total, _assemble(f, k.to_float(kind), lost))
  return _at_the_edges(result, total, -1.0)
