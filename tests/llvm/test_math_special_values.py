"""Zeros keep their sign, infinities and NaN go where IEEE 754 and JAX send them, results underflow gradually."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special
import ulp

INF, NAN = np.inf, np.nan

KINDS = pytest.mark.parametrize("kind", ["f32", "f64"])


def _check(name: str, kind: str, rows: list[tuple[float, ...]]) -> None:
  dtype = ulp.DTYPES[kind]
  *arguments, want = (np.array(column, dtype) for column in zip(*rows))
  got = ulp.compiled(name, kind, 1)(*arguments)
  np.testing.assert_array_equal(got, want, err_msg=name)
  number = ~np.isnan(want)
  np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(want[number]), err_msg=name)


ONE_ARGUMENT: dict[str, list[tuple[float, float]]] = {
  "exp": [(0, 1), (-0.0, 1), (INF, INF), (-INF, 0), (NAN, NAN)],
  "exp2": [(0, 1), (3, 8), (-5, 2**-5), (INF, INF), (-INF, 0), (NAN, NAN)],
  "expm1": [(0, 0), (-0.0, -0.0), (INF, INF), (-INF, -1), (NAN, NAN), (-1000, -1)],
  "log": [(1, 0), (0, -INF), (-0.0, -INF), (-1, NAN), (INF, INF), (-INF, NAN), (NAN, NAN)],
  "log1p": [(0, 0), (-0.0, -0.0), (-1, -INF), (-2, NAN), (INF, INF), (-INF, NAN), (NAN, NAN)],
  "logistic": [(0, 0.5), (INF, 1), (-INF, 0), (NAN, NAN), (1000, 1)],
  "sin": [(0, 0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN)],
  "cos": [(0, 1), (-0.0, 1), (INF, NAN), (-INF, NAN), (NAN, NAN)],
  "tan": [(0, 0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN)],
  "asin": [(0, 0), (-0.0, -0.0), (2, NAN), (-1.5, NAN), (INF, NAN), (NAN, NAN)],
  "acos": [(1, 0), (2, NAN), (-1.5, NAN), (-INF, NAN), (NAN, NAN)],
  "atan": [(0, 0), (-0.0, -0.0), (NAN, NAN)],
  "sinh": [(0, 0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN)],
  "cosh": [(0, 1), (-0.0, 1), (INF, INF), (-INF, INF), (NAN, NAN)],
  "tanh": [(0, 0), (-0.0, -0.0), (INF, 1), (-INF, -1), (50, 1), (NAN, NAN)],
  "asinh": [(0, 0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN)],
  "acosh": [(1, 0), (0.5, NAN), (-3, NAN), (INF, INF), (-INF, NAN), (NAN, NAN)],
  "atanh": [(0, 0), (-0.0, -0.0), (1, INF), (-1, -INF), (1.5, NAN), (INF, NAN), (NAN, NAN)],
  "erf": [(0, 0), (-0.0, -0.0), (INF, 1), (-INF, -1), (NAN, NAN)],
  "erfc": [(0, 1), (INF, 0), (-INF, 2), (NAN, NAN)],
  "erf_inv": [(0, 0), (-0.0, -0.0), (1, INF), (-1, -INF), (1.5, NAN), (NAN, NAN)],
  "sqrt": [(0, 0), (-0.0, -0.0), (-1, NAN), (INF, INF), (NAN, NAN)],
  "rsqrt": [(0, INF), (-0.0, -INF), (-1, NAN), (INF, 0), (NAN, NAN), (4, 0.5)],
  "cbrt": [(0, 0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (-8, -2), (27, 3), (NAN, NAN)],
  "lgamma": [(1, 0), (2, 0), (0, INF), (-0.0, INF), (-3, INF), (INF, INF), (-INF, INF), (NAN, NAN)],
  "digamma": [(0, NAN), (-2, NAN), (INF, INF), (NAN, NAN)],
}


@KINDS
@pytest.mark.parametrize("name", sorted(ONE_ARGUMENT))
def test_special_arguments(name: str, kind: str) -> None:
  _check(name, kind, ONE_ARGUMENT[name])


@KINDS
def test_pow_has_all_special_cases_of_ieee_754(kind: str) -> None:
  values = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 1e30, -1e30, 2.0**24 + 2, 0.75]
  rows = [(x, y) for x in values for y in values]
  with np.errstate(all="ignore"):
    dtype = ulp.DTYPES[kind]
    wide = np.power(*np.array(rows, dtype).astype(np.float64).T.copy())  # of arrays: NumPy turns a scalar 0.5 into sqrt
    # Where the result is an ordinary number the accuracy tests speak; here only what is exact.
    _check("pow", kind, [(x, y, w) for (x, y), w in zip(rows, wide) if w in (0, 1, -1) or not np.isfinite(w)])


@KINDS
def test_pow_of_small_integers_is_exact(kind: str) -> None:
  _check("pow", kind, [(float(x), float(n), float(x**n)) for x in (-3, -2, 2, 3, 10) for n in range(7)])


@KINDS
def test_atan2_has_all_special_cases_of_c(kind: str) -> None:
  values = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 2.0]
  _check(
    "atan2", kind, [(y, x, float(np.arctan2(y, x))) for y in values for x in values if abs(y) != 2 and abs(x) != 2]
  )


@KINDS
@pytest.mark.parametrize("name", ["exp", "exp2", "logistic", "erfc"])
def test_gradual_underflow(name: str, kind: str) -> None:
  """Results below the smallest normal number are denormal, never flushed, and within an ulp of theirs."""
  dtype = ulp.DTYPES[kind]
  tiny = np.finfo(dtype).tiny
  edge = {"exp": np.log(tiny), "exp2": np.log2(tiny), "logistic": np.log(tiny), "erfc": np.sqrt(-np.log(tiny))}[name]
  x = np.linspace(float(edge) * 1.001, float(edge) * 1.03, 50).astype(dtype)
  oracle = {"exp": np.exp, "exp2": np.exp2, "logistic": np.exp, "erfc": scipy.special.erfc}[name]
  want = oracle(x.astype(np.longdouble) if name != "erfc" else x.astype(np.float64))
  got = ulp.compiled(name, kind, 1)(x)
  assert (got[want > 0.6 * np.finfo(dtype).smallest_subnormal] > 0).all()
  if name != "erfc" or kind == "f32":
    assert ulp.errors(got, want, kind).max() <= 1.0


@KINDS
def test_tiny_arguments_of_odd_functions_give_themselves(kind: str) -> None:
  smallest = float(np.finfo(ulp.DTYPES[kind]).smallest_subnormal)
  for name in ("expm1", "log1p", "sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh"):
    _check(name, kind, [(x, x) for x in (smallest, -smallest, 5 * smallest, 1e-37, -1e-37)])
