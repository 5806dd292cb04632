"""Where to test each function, and what it should give.

f32 is compared with float64 functions of NumPy and SciPy, f64 with mpmath in 60 digits.
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
import numpy as np
import scipy.special

INF = np.inf


def _digamma(x: np.ndarray) -> np.ndarray:
  return np.where((x <= 0) & (x == np.floor(x)), np.nan, scipy.special.digamma(x))


WIDE: dict[str, Callable[..., np.ndarray]] = {
  "exp": np.exp,
  "exp2": np.exp2,
  "expm1": np.expm1,
  "log": np.log,
  "log1p": np.log1p,
  "logistic": scipy.special.expit,
  "sin": np.sin,
  "cos": np.cos,
  "tan": np.tan,
  "asin": np.arcsin,
  "acos": np.arccos,
  "atan": np.arctan,
  "atan2": np.arctan2,
  "sinh": np.sinh,
  "cosh": np.cosh,
  "tanh": np.tanh,
  "asinh": np.arcsinh,
  "acosh": np.arccosh,
  "atanh": np.arctanh,
  "erf": scipy.special.erf,
  "erfc": scipy.special.erfc,
  "erf_inv": scipy.special.erfinv,
  "sqrt": np.sqrt,
  "rsqrt": lambda x: 1 / np.sqrt(x),
  "cbrt": np.cbrt,
  "pow": np.power,
  "lgamma": lambda x: scipy.special.gammaln(np.where(x == -INF, INF, x)),  # C and JAX have +inf at -inf
  "digamma": _digamma,
}


def _real(function: Callable[..., mp.mpf], valid: Callable[..., bool] = lambda *a: True) -> Callable[..., mp.mpf]:
  return lambda *args: function(*args) if valid(*args) else mp.nan


EXACT: dict[str, Callable[..., mp.mpf]] = {
  "exp": mp.exp,
  "exp2": lambda x: mp.power(2, x),
  "expm1": mp.expm1,
  "log": _real(mp.log, lambda x: x > 0),
  "log1p": _real(mp.log1p, lambda x: x > -1),
  "logistic": lambda x: 1 / (1 + mp.exp(-x)),
  "sin": mp.sin,
  "cos": mp.cos,
  "tan": mp.tan,
  "asin": _real(mp.asin, lambda x: abs(x) <= 1),
  "acos": _real(mp.acos, lambda x: abs(x) <= 1),
  "atan": mp.atan,
  "atan2": mp.atan2,
  "sinh": mp.sinh,
  "cosh": mp.cosh,
  "tanh": mp.tanh,
  "asinh": mp.asinh,
  "acosh": _real(mp.acosh, lambda x: x >= 1),
  "atanh": _real(mp.atanh, lambda x: abs(x) <= 1),
  "erf": mp.erf,
  "erfc": lambda x: mp.erfc(x) if abs(x) < 30 else mp.mpf(0 if x > 0 else 2),  # mpmath does not underflow
  "erf_inv": _real(mp.erfinv, lambda x: abs(x) <= 1),
  "sqrt": _real(mp.sqrt, lambda x: x >= 0),
  "rsqrt": _real(lambda x: 1 / mp.sqrt(x), lambda x: x > 0),
  "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
  "pow": mp.power,
  "lgamma": lambda x: mp.re(mp.loggamma(x)),
  "digamma": mp.digamma,
}

# Besides the whole range of floats, where each function has something to lose: (low, high) in f64.
RANGES: dict[str, list[tuple[float, float]]] = {
  "exp": [(-746, 710), (-1, 1), (-745, -708)],
  "exp2": [(-1075, 1024), (-1, 1), (-1075, -1022)],
  "expm1": [(-40, 710), (-2, 2), (-0.1, 0.1)],
  "log": [(0, 4), (0.6, 1.5), (0.99, 1.01)],
  "log1p": [(-1, 4), (-0.4, 0.5), (0, 100)],
  "logistic": [(-745, 40), (-5, 5), (-40, 40)],
  "sin": [(-10, 10), (-1e3, 1e3), (-1e9, 1e9), (1e9, 1e22)],
  "cos": [(-10, 10), (-1e3, 1e3), (-1e9, 1e9), (1e9, 1e22)],
  "tan": [(-10, 10), (-1e3, 1e3), (-1e9, 1e9), (1e9, 1e22)],
  "asin": [(-1, 1), (0.45, 0.55), (0.99, 1)],
  "acos": [(-1, 1), (0.45, 0.55), (-1, -0.99)],
  "atan": [(-5, 5), (0.8, 1.2), (-1000, 1000)],
  "sinh": [(-711, 711), (-3, 3), (709, 710.5)],
  "cosh": [(-711, 711), (-3, 3), (709, 710.5)],
  "tanh": [(-20, 20), (-2, 2), (0.6, 0.65)],
  "asinh": [(-100, 100), (-2, 2), (-0.5, 0.5)],
  "acosh": [(1, 100), (1, 2), (1, 1.01)],
  "atanh": [(-1, 1), (-0.5, 0.5), (0.9, 1)],
  "erf": [(-6, 6), (-1.5, 1.5), (0.9, 1.1)],
  "erfc": [(-6, 27.3), (-1, 1), (0, 6)],
  "erf_inv": [(-1, 1), (0.99, 1), (-0.5, 0.5)],
  "sqrt": [(0, 10)],
  "rsqrt": [(0, 10)],
  "cbrt": [(-10, 10), (0.9, 1.1)],
  "lgamma": [(0, 3), (0, 20), (0.9, 2.1), (0, 1e6)],
  "digamma": [(2, 20), (0.001, 1), (0, 1e6)],
}


def exact_f64(name: str, *arrays: np.ndarray) -> np.ndarray:
  """The function in 60 digits, as long doubles; infinite and NaN inputs are not asked for."""
  function = EXACT[name]
  with mp.workdps(60):
    results = []
    for xs in zip(*arrays):
      value = function(*(mp.mpf(float(x)) for x in xs))
      if not mp.isfinite(value):
        results.append(np.longdouble(float(value)))
        continue
      mantissa, exponent = mp.frexp(value)
      head = float(mantissa)  # long doubles have no constructor from mpf; two doubles hold what they can hold
      tail = float(mantissa - head)
      results.append(np.ldexp(np.longdouble(head) + np.longdouble(tail), max(min(exponent, 16000), -16000)))
  return np.array(results, np.longdouble)


SPECIALS = [0.0, 1.0, 2.0, 0.5, 3.0, 10.0, 0.625, 0.125, 1.5, 100.0, 1e5, 1e9]


def f32_inputs(stride: int) -> np.ndarray:
  """Every stride-th bit pattern, the special values, and what surrounds the places where algorithms change their branch."""
  spread = np.arange(0, 2**32, stride, dtype=np.uint64).astype(np.uint32).view(np.float32)
  places = np.array(
    SPECIALS + [np.pi / 4 * k for k in range(1, 20)] + [88.72284, 87.33654, 103.97208, 3.92, 9.01, 0.6931472],
    np.float32,
  )
  near = (places.view(np.uint32)[:, None] + np.arange(-40, 41)[None, :].astype(np.uint32)).ravel().view(np.float32)
  edges = np.array([np.finfo(np.float32).tiny, np.finfo(np.float32).max, 1e-45, INF, np.nan], np.float32)
  around = np.concatenate([near, edges])
  return np.concatenate([spread, around, -around])


def f64_inputs(name: str, count: int, seed: int = 0) -> np.ndarray:
  """Random bit patterns, and uniform numbers in each of the function's ranges."""
  rng = np.random.default_rng(seed)
  patterns = rng.integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
  parts = [patterns[np.isfinite(patterns)]]
  parts += [rng.uniform(low, high, count) for low, high in RANGES[name]]
  x = np.concatenate([*parts, np.array(SPECIALS[1:])])
  if name in ("lgamma", "digamma"):
    x = x[x > 0]  # to the left of 0 the error is relative to the terms
    x = x[x < 1e300]
  return x


def pairs(name: str, kind: str, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
  """Arguments of pow and atan2: for pow mostly such that the result is a finite number."""
  rng = np.random.default_rng(seed)
  dtype, low, high = (np.float32, -104, 89) if kind == "f32" else (np.float64, -745, 710)
  spread = 87 if kind == "f32" else 708
  x = np.concatenate(
    [np.exp(rng.uniform(-spread, spread, count)), rng.uniform(0.5, 2, count), rng.uniform(0.99, 1.01, count)]
  )
  x = x.astype(dtype)
  if name == "pow":
    with np.errstate(divide="ignore", over="ignore"):
      y = (rng.uniform(low, high, x.size) / np.log(x.astype(np.float64))).astype(dtype)
    keep = np.isfinite(y)
    return x[keep], y[keep]
  with np.errstate(over="ignore"):
    y = (x * np.exp(rng.normal(0, 2, x.size))).astype(dtype)
  x, y = x[np.isfinite(y)], y[np.isfinite(y)]
  return x * rng.choice(np.array([-1, 1], dtype), x.size), y * rng.choice(np.array([-1, 1], dtype), x.size)
