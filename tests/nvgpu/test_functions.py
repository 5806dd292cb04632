"""Functions that the GPU computes in its own way, in float32 against float64, with the threads of a block on the CPU."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import by_rows, natives

INF, NAN = math.inf, math.nan


def computed(function, values):
  """What a kernel computes of some numbers."""
  x = jnp.asarray(np.resize(np.asarray(values, np.float32), (1, -(-len(values) // 2048) * 2048)))
  ((_, native),) = natives(by_rows(function), x)
  return np.asarray(run(native, x, arch="sm_90a")[0])[0, : len(values)]


def _spread(low, high, count=4000):
  return np.random.default_rng(0).uniform(low, high, count).astype(np.float32)


_LARGE = np.concatenate(
  [[1e5, 99999.99, 2.0**127, 3.4e38, 1.5e5, 6381956970095103.0 * 2.0**66], 10.0 ** _spread(5, 38)]
)
# Numbers, what float64 gives for them, and how many units in the last place the result may be off. What is 1 - t or 2 - t rounds with t;
# the tail of erfc has two reciprocals and a power of two and one units, and two of each rounding between them.
CASES = {
  "erf": (jax.lax.erf, np.vectorize(math.erf), _spread(-4.5, 4.5), 3),
  "erfc": (jax.lax.erfc, np.vectorize(math.erfc), _spread(-4.5, 9), 8),
  "log": (jnp.log, np.log, np.exp(_spread(-87, 88)), 1),
  "log near one": (jnp.log, np.log, 1 + _spread(-0.4, 0.4), 1),
  "log of denormals": (jnp.log, np.log, np.exp(_spread(-103, -88)), 1),
  "cbrt of denormals": (jnp.cbrt, np.cbrt, np.exp(_spread(-103, -80)), 2),
  "remainders that are denormal": (
    lambda x: jax.lax.rem(x, jnp.full_like(x, 1e-37)),
    lambda x: np.fmod(x, np.float64(np.float32(1e-37))),
    np.exp(_spread(-85, 80)),
    0,
  ),
  "sin": (jnp.sin, np.sin, _spread(-50, 50), 2),
  "sin of large angles": (jnp.sin, np.sin, np.concatenate([_LARGE, -_LARGE]), 2),
  "cos of large angles": (jnp.cos, np.cos, np.concatenate([_LARGE, -_LARGE]), 2),
  "tan of large angles": (jnp.tan, np.tan, np.concatenate([_LARGE, -_LARGE]), 6),
}


@pytest.mark.parametrize("name", CASES)
def test_functions_are_as_good_as_their_instructions(name):
  function, exact, values, units = CASES[name]
  values = np.asarray(values, np.float32)
  wanted = exact(values.astype(np.float64))
  error = np.abs(computed(function, values) - wanted) / np.spacing(np.abs(wanted).astype(np.float32)).astype(np.float64)
  assert error.max() <= units, (values[error.argmax()], error.max())


@pytest.mark.parametrize(
  "function, values, wanted",
  [
    (jax.lax.erf, [INF, -INF, NAN, 0.0, -0.0], [1.0, -1.0, NAN, 0.0, -0.0]),
    (jax.lax.erfc, [INF, -INF, NAN, 0.0, 11.0], [0.0, 2.0, NAN, 1.0, 0.0]),
    (jnp.log, [INF, -INF, NAN, 0.0, -0.0, -1.0, 1.0, -1e-40], [INF, NAN, NAN, -INF, -INF, NAN, 0.0, NAN]),
    (jnp.sin, [INF, -INF, NAN, 0.0, -0.0], [NAN, NAN, NAN, 0.0, -0.0]),
    (jnp.cos, [INF, NAN, 0.0], [NAN, NAN, 1.0]),
  ],
)
def test_special_values(function, values, wanted):
  got = computed(function, values)
  np.testing.assert_array_equal(got, np.asarray(wanted, np.float32))
  np.testing.assert_array_equal(np.signbit(got), np.signbit(np.where(np.isnan(wanted), got, wanted)))
