"""Minimax polynomials for the functions of this package: `python -m tilewright.target.llvm.math.fit` writes coefficients.py.

The Remez exchange algorithm in 60 digits. The best polynomial p of degree n makes the weighted error w(v) (p(v) - f(v)) alternate between
+e and -e at n + 2 points; we solve for p and e on a guess of those points, move the points to the extrema of the error,
and repeat. The weight turns the error of p into the relative error of the function it is a part of.
"""

from __future__ import annotations

import dataclasses
import pathlib
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np

Real = Any  # mpmath's numbers have no types
Function = Callable[[Real], Real]


@dataclasses.dataclass(frozen=True)
class Fit:
  """What to approximate: `target(v)` on an interval, by a polynomial whose error counts `weight(v)`."""

  name: str
  comment: str
  target: Function
  weight: Function
  low: Real
  high: Real
  degree: dict[str, int]  # per element type


def remez(fit: Fit, degree: int) -> tuple[list[Real], Real]:
  """The coefficients, lowest power first, and the largest weighted error."""
  low, high = mp.mpf(fit.low), mp.mpf(fit.high)
  centre, half = (low + high) / 2, (high - low) / 2
  count = 24 * (degree + 2)
  # Chebyshev points are dense where the error moves fast; v = centre + half t keeps the linear system well conditioned.
  ts = [mp.cos(mp.pi * (count - 1 - i + mp.mpf("0.01")) / (count - mp.mpf("0.98"))) for i in range(count)]
  values = [mp.mpf(fit.target(centre + half * t)) for t in ts]
  weights = [mp.mpf(fit.weight(centre + half * t)) for t in ts]
  picks = [round((count - 1) * i / (degree + 1)) for i in range(degree + 2)]
  for _ in range(30):
    matrix = mp.matrix(degree + 2, degree + 2)
    right = mp.matrix(degree + 2, 1)
    for row, i in enumerate(picks):
      power = mp.mpf(1)
      for j in range(degree + 1):
        matrix[row, j] = power
        power *= ts[i]
      matrix[row, degree + 1] = (-1) ** row / weights[i]
      right[row] = values[i]
    solution = mp.lu_solve(matrix, right)
    shifted = [solution[j] for j in range(degree + 1)]
    level = abs(solution[degree + 1])
    errors = [w * (mp.polyval(shifted[::-1], t) - v) for t, v, w in zip(ts, values, weights)]
    largest = max(abs(e) for e in errors)
    if largest <= level * mp.mpf("1.0001"):
      break
    picks = _extrema(errors, degree + 2) or picks
  return _unshift(shifted, centre, half), largest


def _extrema(errors: list[Real], count: int) -> list[int] | None:
  """The places of alternating extrema: the largest of each run of one sign, trimmed at the ends to `count`."""
  runs: list[int] = []
  for i, e in enumerate(errors):
    if runs and (errors[runs[-1]] > 0) == (e > 0):
      if abs(e) > abs(errors[runs[-1]]):
        runs[-1] = i
    else:
      runs.append(i)
  while len(runs) > count:
    runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
  return runs if len(runs) == count else None


def _unshift(shifted: list[Real], centre: Real, half: Real) -> list[Real]:
  """p((v - centre) / half) as a polynomial in v."""
  result = [mp.mpf(0)] * len(shifted)
  for c in reversed(shifted):
    moved = [mp.mpf(0)] * len(shifted)
    for j, r in enumerate(result):
      moved[j] += r * (-centre / half)
      if j + 1 < len(moved):
        moved[j + 1] += r / half
    moved[0] += c
    result = moved
  return result


def _limit(function: Function, at_zero: Real) -> Function:
  """Formulas with a removable singularity at 0, where cancellation would eat the digits."""

  def safe(v: Real) -> Real:
    if v == 0:
      return mp.mpf(at_zero)
    with mp.workdps(120):
      return +function(v)

  return safe


def _odd(function: Function, third: Real) -> tuple[Function, Function]:
  """For f(x) = x + x^3 P(x^2): P as a function of v = x^2, and its weight in the relative error of f."""

  def target(v: Real) -> Real:
    x = mp.sqrt(v)
    return (function(x) - x) / x**3

  def weight(v: Real) -> Real:
    x = mp.sqrt(v)
    return x**3 / function(x)

  return _limit(target, third), _limit(weight, 0)


_SMALL = mp.mpf(10) ** -30  # a weight of zero would leave the linear system singular


def _positive(weight: Function) -> Function:
  return lambda v: weight(v) + _SMALL


mp.mp.dps = 60
LN2 = mp.log(2)


def fits() -> list[Fit]:
  """Everything the functions need. The degrees put the error of approximation well below half an ulp."""
  reduced = LN2 / 2 * mp.mpf("1.001")  # rounding in the reduction may step a little outside
  table = [
    Fit(
      "EXP",
      "exp(r) = 1 + r + r^2 P(r), |r| <= ln(2)/2",
      _limit(lambda r: (mp.exp(r) - 1 - r) / r**2, 0.5),
      lambda r: r**2 / mp.exp(r),
      -reduced,
      reduced,
      {"f32": 4, "f64": 9},
    ),
    Fit(
      "EXP2",
      "2^r = 1 + r P(r), |r| <= 1/2",
      _limit(lambda r: (mp.power(2, r) - 1) / r, LN2),
      lambda r: abs(r) / mp.power(2, r),
      -0.5,
      0.5,
      {"f32": 5, "f64": 10},
    ),
    Fit(
      "EXPM1",
      "expm1(r) = r + r^2 P(r), |r| <= ln(2)/2",
      _limit(lambda r: (mp.exp(r) - 1 - r) / r**2, 0.5),
      _limit(lambda r: r**2 / abs(mp.expm1(r)), 0),
      -reduced,
      reduced,
      {"f32": 5, "f64": 10},
    ),
    Fit(
      "LOG",
      "log(1 + f) = f - f^2/2 + f^3 P(f), -1/3 <= f <= 1/3",
      _limit(lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3, mp.mpf(1) / 3),
      _limit(lambda f: abs(f**3 / mp.log1p(f)), 0),
      mp.mpf(-1) / 3,
      mp.mpf(1) / 3,
      {"f32": 7, "f64": 18},
    ),
    Fit(
      "ATANH_TAIL",
      "atanh(s) = s + s^3 (1/3 + s^2 P(s^2)), |s| <= 0.172: log(m) = 2 atanh((m - 1) / (m + 1)) for pow",
      _limit(lambda v: ((mp.atanh(mp.sqrt(v)) / mp.sqrt(v) - 1) / v - mp.mpf(1) / 3) / v, mp.mpf(1) / 5),
      lambda v: v**2,
      0,
      mp.mpf("0.0296"),
      {"f32": 2, "f64": 7},
    ),
    Fit(
      "TANH",
      "tanh(x) = x + x^3 P(x^2), |x| <= 5/8",
      *_odd(mp.tanh, mp.mpf(-1) / 3),
      0,
      mp.mpf("0.391"),
      {"f32": 4, "f64": 11},
    ),
    Fit(
      "SIN",
      "sin(r) = r + r^3 P(r^2), |r| <= pi/4",
      *_odd(mp.sin, mp.mpf(-1) / 6),
      0,
      (mp.pi / 4) ** 2 * mp.mpf("1.02"),
      {"f32": 2, "f64": 5},
    ),
    Fit(
      "COS",
      "cos(r) = 1 - r^2/2 + r^4 P(r^2), |r| <= pi/4",
      _limit(lambda v: (mp.cos(mp.sqrt(v)) - 1 + v / 2) / v**2, mp.mpf(1) / 24),
      lambda v: v**2 / mp.cos(mp.sqrt(v)),
      0,
      (mp.pi / 4) ** 2 * mp.mpf("1.02"),
      {"f32": 2, "f64": 5},
    ),
    Fit(
      "ERF",
      "erf(x) = x + x P(x^2), |x| <= 0.85",
      _limit(lambda v: mp.erf(mp.sqrt(v)) / mp.sqrt(v) - 1, 2 / mp.sqrt(mp.pi) - 1),
      _limit(lambda v: mp.sqrt(v) / mp.erf(mp.sqrt(v)), mp.sqrt(mp.pi) / 2),
      0,
      mp.mpf("0.7225"),
      {"f32": 5, "f64": 11},
    ),
    Fit(
      "ERF_TAIL",
      "erf(x) = 1 - exp(x P(x)), 0.85 <= x <= 4; only f32, where that is enough for 1",
      lambda x: mp.log(mp.erfc(x)) / x,
      lambda x: x * mp.erfc(x) / mp.erf(x),
      mp.mpf("0.85"),
      mp.mpf("4"),
      {"f32": 5},
    ),
    Fit("ATAN", "atan(z) = z + z^3 P(z^2), 0 <= z <= 1", *_odd(mp.atan, mp.mpf(-1) / 3), 0, 1, {"f32": 8, "f64": 19}),
    Fit(
      "ASIN", "asin(w) = w + w^3 P(w^2), 0 <= w <= 1/2", *_odd(mp.asin, mp.mpf(1) / 6), 0, 0.25, {"f32": 4, "f64": 11}
    ),
    Fit("SINH", "sinh(x) = x + x^3 P(x^2), 0 <= x <= 1", *_odd(mp.sinh, mp.mpf(1) / 6), 0, 1, {"f32": 3, "f64": 6}),
    *_error_function_fits(),
    *_gamma_fits(),
  ]
  return [dataclasses.replace(fit, weight=_positive(fit.weight)) for fit in table]


def _error_function_fits() -> list[Fit]:
  def scaled(centre: int) -> Function:
    """(1 + 2x) exp(x^2) erfc(x), which moves between 1 and 1.3, as a function of u = (x - centre) / (x + centre)."""

    def target(u: Real) -> Real:
      x = centre * (1 + u) / (1 - u)
      return (1 + 2 * x) * mp.exp(x**2) * mp.erfc(x)

    return target

  def inverse(w: Real) -> Real:
    """erf_inv(x) / x at the x with w = -log(1 - x^2)."""
    if w == 0:
      return mp.sqrt(mp.pi) / 2
    x = mp.sqrt(-mp.expm1(-w))
    return mp.erfinv(x) / x

  def relative(function: Function) -> Function:
    return lambda v: 1 / function(v)

  of_root = lambda s: inverse(s**2)
  scaled_erfc = "(1 + 2x) exp(x^2) erfc(x) = P((x - c) / (x + c))"
  return [
    Fit("ERFC_F32", f"{scaled_erfc}, c = 2, x <= 10.5", scaled(2), relative(scaled(2)), -1, 0.681, {"f32": 10}),
    Fit("ERFC_F64", f"{scaled_erfc}, c = 4, x <= 27.5", scaled(4), relative(scaled(4)), -1, 0.747, {"f64": 22}),
    Fit(
      "ERF_INV",
      "erf_inv(x) = x P(w - 3), w = -log(1 - x^2) <= 6.25",
      lambda v: inverse(v + 3),
      lambda v: 1 / inverse(v + 3),
      -3,
      mp.mpf("3.25"),
      {"f32": 11, "f64": 24},
    ),
    Fit(
      "ERF_INV_MIDDLE",
      "erf_inv(x) = x P(sqrt(w) - 3.25), 6.25 <= w <= 16",
      lambda v: of_root(v + mp.mpf("3.25")),
      lambda v: 1 / of_root(v + mp.mpf("3.25")),
      mp.mpf("-0.75"),
      mp.mpf("0.75"),
      {"f32": 8, "f64": 19},
    ),
    Fit(
      "ERF_INV_TAIL",
      "erf_inv(x) = x P(sqrt(w) - 5), 16 <= w <= 36.8: only f64 gets so close to 1",
      lambda v: of_root(v + 5),
      lambda v: 1 / of_root(v + 5),
      -1,
      mp.mpf("1.07"),
      {"f64": 18},
    ),
  ]


def _gamma_fits() -> list[Fit]:
  """Only f64: near their zeros these functions need its digits for results in f32 too."""

  def middle(v: Real) -> Real:
    x = v + 2
    if abs((x - 1) * (x - 2)) < mp.mpf(10) ** -40:
      return mp.digamma(x) / (2 * x - 3)
    with mp.workdps(110):
      return +(mp.loggamma(x) / ((x - 1) * (x - 2)))

  def stirling(v: Real) -> Real:
    if v < mp.mpf(10) ** -12:
      return mp.mpf(1) / 12 - v / 360
    x = 1 / mp.sqrt(v)
    with mp.workdps(110):
      return +((mp.loggamma(x) - (x - mp.mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2) * x)

  def asymptotic(v: Real) -> Real:
    if v < mp.mpf(10) ** -12:
      return mp.mpf(1) / 12 - v / 120
    x = 1 / mp.sqrt(v)
    with mp.workdps(110):
      return +((mp.log(x) - 1 / (2 * x) - mp.digamma(x)) / v)

  root = mp.findroot(mp.digamma, mp.mpf("1.4616321449683623"))

  def from_root(v: Real) -> Real:
    distance = v + mp.mpf("1.5") - root
    if abs(distance) < mp.mpf(10) ** -25:
      return mp.polygamma(1, root)
    return mp.digamma(v + mp.mpf("1.5")) / distance

  sine = _limit(lambda v: mp.sin(mp.pi * mp.sqrt(v)) / mp.sqrt(v), mp.pi)
  one: Function = lambda v: mp.mpf(1)
  return [
    Fit(
      "LGAMMA", "lgamma(x) = (x - 1)(x - 2) P(x - 2), 1 <= x <= 3", middle, lambda v: 1 / middle(v), -1, 1, {"f64": 28}
    ),
    Fit(
      "STIRLING",
      "lgamma(x) = (x - 1/2) log x - x + log(2 pi)/2 + P(1/x^2)/x, x >= 8",
      stirling,
      one,
      0,
      mp.mpf(1) / 64,
      {"f64": 6},
    ),
    Fit(
      "DIGAMMA",
      "digamma(x) = log x - 1/(2x) - P(1/x^2)/x^2, x >= 10",
      asymptotic,
      one,
      0,
      mp.mpf(1) / 100,
      {"f64": 6},
    ),
    Fit(
      "DIGAMMA_MIDDLE",
      "digamma(x) = (x - root) P(x - 1.5), 1 <= x <= 2, where root = 1.46... is the zero",
      from_root,
      lambda v: 1 / from_root(v),
      -0.5,
      0.5,
      {"f64": 21},
    ),
    Fit("SIN_PI", "sin(pi f) = f P(f^2), 0 <= f <= 1/2", sine, lambda v: 1 / sine(v), 0, 0.25, {"f64": 8}),
  ]


def constants() -> list[tuple[str, str, Real]]:
  """Numbers kept as unevaluated sums of three floats, each the rounded rest of those before it."""
  return [
    ("LN2", "ln 2", LN2),
    ("THIRD", "1/3", mp.mpf(1) / 3),
    ("HALF_PI", "pi/2", mp.pi / 2),
    ("DIGAMMA_ROOT", "the zero of digamma", mp.findroot(mp.digamma, mp.mpf("1.4616321449683623"))),
  ]


def _parts(value: Real, kind: str) -> list[str]:
  parts = []
  for _ in range(3):
    parts.append(_rounded(value, kind))
    value -= mp.mpf(float(parts[-1]) if kind == "f64" else float(np.float32(parts[-1])))
  return parts


def _short_ln2(kind: str) -> list[str]:
  bits = {"f32": 15, "f64": 41}[kind]
  high = mp.floor(LN2 * 2**bits) / 2**bits
  return [_rounded(high, kind), _rounded(LN2 - high, kind)]


def _rounded(c: Real, kind: str) -> str:
  return repr(float(c)) if kind == "f64" else str(np.float32(mp.nstr(c, 17)))


def _wrapped(words: list[str], width: int = 110) -> list[str]:
  return textwrap.wrap(" ".join(words), width, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def write(path: pathlib.Path) -> None:
  lines = [
    '"""Coefficients of minimax polynomials, lowest power first, by element type. Written by fit.py; do not edit."""',
    "",
    "# fmt: off",
    "",
  ]
  for name, comment, value in constants():
    lines += [f"# {comment} = the sum", f"{name}: dict[str, tuple[float, ...]] = {{"]
    lines += [f'  "{kind}": ({", ".join(_parts(value, kind))}),' for kind in ("f32", "f64")]
    lines += ["}", ""]
  lines += ["# ln 2 = the sum; the first has so few bits that its product with any exponent is exact"]
  lines += ["SHORT_LN2: dict[str, tuple[float, ...]] = {"]
  lines += [f'  "{kind}": ({", ".join(_short_ln2(kind))}),' for kind in ("f32", "f64")]
  lines += ["}", ""]
  for fit in fits():
    lines += [f"# {fit.comment}", f"{fit.name}: dict[str, tuple[float, ...]] = {{"]
    for kind, degree in fit.degree.items():
      coefficients, error = remez(fit, degree)
      bits = f"2^{mp.nstr(mp.log(error, 2), 4)}"
      print(f"{fit.name:12} {kind} degree {degree:2}: {bits}", file=sys.stderr)
      lines.append(f'  "{kind}": (  # relative error {bits}')
      lines += _wrapped([f"{_rounded(c, kind)}," for c in coefficients])
      lines.append("  ),")
    lines += ["}", ""]
  path.write_text("\n".join(lines[:-1]) + "\n")


if __name__ == "__main__":
  target = pathlib.Path(__file__).with_name("coefficients.py")
  write(target)
  subprocess.run([sys.executable, "-m", "ruff", "check", str(target)], check=True)
