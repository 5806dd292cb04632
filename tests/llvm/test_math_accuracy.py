"""Every function stays within the error it states, over the whole range of its inputs."""

from __future__ import annotations

import json

import exhaustive
import math_oracles
import math_report
import mpmath as mp
import numpy as np
import pytest
import ulp

from tilewright.target.llvm import math

_MEASURED = sorted(math_oracles.WIDE)
_EXACT = {"rem": np.fmod, "nextafter": np.nextafter}


def test_every_function_has_an_oracle() -> None:
  assert set(math.FUNCTIONS) == set(_MEASURED) | set(_EXACT)


def test_the_page_is_up_to_date_and_within_the_bounds() -> None:
  """`python tests/llvm/math_report.py` writes it."""
  measured = json.loads(math_report.MEASURED.read_text())
  assert math_report.PAGE.read_text() == math_report.page(measured)
  for kind in ("f32", "f64"):
    for name, row in measured[kind].items():
      assert row["error"] <= math.FUNCTIONS[name].ulp[kind], (name, kind)


@pytest.mark.parametrize("name", _MEASURED)
def test_f32_against_float64(name: str) -> None:
  error, at = math_report.worst_f32(name, stride=4099)
  assert error <= math.FUNCTIONS[name].ulp["f32"], at


@pytest.mark.parametrize("name", _MEASURED)
def test_f64_against_mpmath(name: str) -> None:
  error, at = math_report.worst_f64(name, count=150)
  assert error <= math.FUNCTIONS[name].ulp["f64"], at


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "erf", "logistic"])
def test_f32_on_a_whole_binade(name: str) -> None:
  """All 2^23 floats in [1, 2): the exhaustive sweep of exhaustive.py, cut to what is quick."""
  error, at = exhaustive.worst(name, 0x3F800000, 0x40000000)
  assert error <= math.FUNCTIONS[name].ulp["f32"], at


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", sorted(_EXACT))
def test_exact_functions_agree_bit_by_bit(name: str, kind: str) -> None:
  dtype = ulp.DTYPES[kind]
  bits = np.dtype(f"u{dtype.itemsize}")
  rng = np.random.default_rng(0)
  wild = [rng.integers(0, 2 ** (8 * dtype.itemsize), 20_000, dtype=bits).view(dtype) for _ in range(2)]
  tame = [rng.normal(0, scale, 20_000).astype(dtype) for scale in (1000, 3)]
  info = np.finfo(dtype)
  special = np.array(
    [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 3, -0.5, info.max, -info.max, info.tiny, info.smallest_subnormal], dtype
  )
  grid = np.meshgrid(special, special)
  x, y = (np.concatenate([a, b, c.ravel()]) for a, b, c in zip(wild, tame, grid))
  with np.errstate(all="ignore"):
    want = _EXACT[name](x, y)
  got = ulp.compiled(name, kind, 8)(x, y)
  same = (got.view(bits) == want.view(bits)) | (np.isnan(got) & np.isnan(want))
  assert same.all(), [(a, b, c, d) for a, b, c, d in zip(x[~same], y[~same], got[~same], want[~same])][:5]


def test_rem_of_numbers_far_apart() -> None:
  """The longest division there is, and quotients that round up to the next integer."""
  x = np.array([3.4028235e38, 3.4028235e38, 16777215.0, 8388607.5, 1e30, 5.3], np.float32)
  y = np.array([1e-45, 1.1754944e-38, 0.33333334, 0.99999994, 7.0, -2.1], np.float32)
  np.testing.assert_array_equal(ulp.compiled("rem", "f32", 1)(x, y), np.fmod(x, y))


@pytest.mark.parametrize("name", ["lgamma", "digamma"])
def test_reflected_gamma_functions_are_exact_relative_to_their_terms(name: str) -> None:
  """To the left of 0 these are sums of two large terms with zeros between the poles; the error is that of the terms."""
  rng = np.random.default_rng(0)
  x = np.concatenate([-rng.uniform(0, 50, 150), -rng.uniform(0, 2, 100), -np.exp(rng.uniform(-700, 10, 100))])
  exact = math_oracles.exact_f64(name, x)
  with mp.workdps(60):
    pi_x = [mp.pi * mp.mpf(float(v)) for v in x]
    if name == "lgamma":
      terms = [mp.loggamma(-mp.mpf(float(v))) for v in x], [mp.log(abs(mp.pi / v / mp.sin(p))) for v, p in zip(x, pi_x)]
    else:
      terms = [mp.digamma(1 - mp.mpf(float(v))) for v in x], [mp.pi / mp.tan(p) for p in pi_x]
  larger = np.max([np.abs(np.array(t, np.float64)) for t in terms], axis=0)
  got = ulp.compiled(name, "f64", 8)(x)
  error = np.abs(got.astype(np.longdouble) - exact) / np.spacing(larger)
  assert error.max() <= math.FUNCTIONS[name].ulp["f64"], x[np.argmax(error)]
