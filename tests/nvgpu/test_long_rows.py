"""Rows on a GPU that begin anywhere, and rows in chunks: emulated, with chunks so small that all ways are taken."""

from __future__ import annotations

import emulated
import jax.numpy as jnp
import numpy as np
import pytest

from tilewright import ops
from tilewright.ops import calling, long_rows
from tilewright.pallas import targets

WAYS = {"one chunk": (3, 77), "a CTA for each row": (9, 301), "a CTA for each chunk": (2, 301), "even": (2, 304)}


@pytest.fixture(autouse=True)
def on_a_small_gpu(monkeypatch):
  monkeypatch.setitem(targets.NATIVE, "cpu", emulated.run)
  monkeypatch.setattr(calling, "execution", lambda interpret, native: calling.Execution(False, None, True))
  for name, value in {
    "_SHORTEST": 32,
    "_MAX_CHUNK": 128,
    "_MAX_UNMASKED_ROW": 128,
    "_CHUNK": 128,
    "_PASSING": 128,
    "_SMS": 8,
  }.items():
    monkeypatch.setattr(long_rows, name, value)


def normal(*shape, dtype, seed=0):
  return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), dtype)


def close(found, expected, dtype):
  """Computed in float32 and rounded once; a row of a few hundred sums."""
  rounding = 2.0**-8 if dtype == jnp.bfloat16 else 2.0**-20
  np.testing.assert_allclose(np.asarray(found, np.float64), expected, rtol=0, atol=rounding * np.abs(expected).max())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float32], ids=["bf16", "f32"])
def test_softmax_and_norms(way, dtype):
  rows, width = WAYS[way]
  x, scale, shift = normal(rows, width, dtype=dtype), *(normal(width, dtype=dtype, seed=s) for s in (1, 2))
  assert long_rows.applies(calling.Execution(False, None, True), x)
  exact, s, h = (np.asarray(z, np.float64) for z in (x, scale, shift))
  e = np.exp(exact - exact.max(1, keepdims=True))
  weights = e / e.sum(1, keepdims=True)
  close(ops.softmax(x), weights, dtype)
  centred = exact - exact.mean(1, keepdims=True)
  norm = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
  close(ops.layer_norm(x, scale, shift), norm * s + h, dtype)
  if dtype == jnp.float32:
    close(ops.log_softmax(x), np.log(weights), dtype)
    close(ops.rms_norm(x, scale), exact / np.sqrt((exact**2).mean(1, keepdims=True) + 1e-6) * s, dtype)
    labels = jnp.arange(rows, dtype=jnp.int32) * 7 - 7
    loss = np.where(labels >= 0, -np.log(weights)[np.arange(rows), np.maximum(labels, 0)], 0)
    close(ops.cross_entropy(x, labels), loss, dtype)


def test_a_row_of_infinities_is_what_it_is_in_jax():
  x = normal(2, 301, dtype=jnp.float32).at[0, :].set(-jnp.inf).at[1, 5].set(-jnp.inf)
  found = np.asarray(ops.softmax(x))
  assert np.isnan(found[0]).all() and found[1, 5] == 0 and found[1].sum() == pytest.approx(1)


def test_short_even_rows_are_taken_several_at_a_time():
  execution = calling.Execution(False, None, True)
  assert not long_rows.applies(execution, jnp.ones((64, 64), jnp.bfloat16))
  assert not long_rows.applies(calling.Execution(False, None, False), jnp.ones((64, 1001), jnp.bfloat16))
