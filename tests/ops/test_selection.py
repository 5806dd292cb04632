"""Embedding, running sums and top-k: mostly exact, against NumPy and JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from float64_oracle import NATIVE, close, exact, gradient64, random

from tilewright import errors, ops

targets = pytest.mark.parametrize("target", NATIVE.values(), ids=NATIVE.keys())


@targets
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16, jnp.int8], ids=lambda d: d.__name__)
def test_embedding_takes_rows(target, dtype):
  table = (random(0, 50, 37) * 10).astype(dtype)
  indices = np.random.default_rng(0).integers(0, 50, (7, 11))
  np.testing.assert_array_equal(ops.embedding(table, indices, **target), np.asarray(table)[indices])


@targets
def test_an_index_outside_of_the_table_is_moved_into_it(target):
  table = random(1, 5, 8)
  found = ops.embedding(table, jnp.array([-3, 0, 4, 9]), **target)
  np.testing.assert_array_equal(found, np.asarray(table)[[0, 0, 4, 4]])


@targets
@pytest.mark.parametrize("width", [37, 64])
def test_the_derivative_adds_up_rows_that_are_taken_several_times(target, width):
  table, indices = random(2, 9, width), jnp.asarray(np.random.default_rng(1).integers(0, 7, 40))
  found = jax.grad(lambda t: jnp.sum(jnp.sin(ops.embedding(t, indices, **target))))(table)
  (expected,) = gradient64(lambda t: jnp.sin(t[indices]), table)
  close(found, expected, steps=50, size=10)


@targets
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", ["sum", "prod", "max", "min"])
def test_running_results(target, kind, reverse):
  x = 1 + random(3, 19, 301) / 8  # so that products neither grow nor vanish
  turned = exact(x)[:, ::-1] if reverse else exact(x)
  run = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[kind].accumulate
  expected = run(turned, axis=1)
  size = np.add.accumulate(np.abs(turned), axis=1) if kind == "sum" else np.abs(expected)
  found = ops.cumulative(kind, x, reverse=reverse, **target)
  close(found[:, ::-1] if reverse else found, expected, steps=301, size=size)


@targets
def test_running_sum_along_another_dimension_and_of_integers(target):
  x = jnp.asarray(np.random.default_rng(2).integers(-9, 9, (3, 40, 5)), jnp.int32)
  np.testing.assert_array_equal(ops.cumsum(x, axis=1, **target), np.cumsum(x, axis=1))


@targets
def test_derivative_of_the_running_sum(target):
  x, w = random(4, 3, 40), random(5, 3, 40)
  found = jax.grad(lambda x: jnp.sum(w * ops.cumsum(x, **target)))(x)
  close(found, np.cumsum(exact(w)[:, ::-1], axis=1)[:, ::-1], steps=40, size=40)


@targets
@pytest.mark.parametrize(
  "dtype", [jnp.float32, jnp.bfloat16, jnp.float16, jnp.int32, jnp.int8], ids=lambda d: d.__name__
)
def test_top_k_is_that_of_jax(target, dtype):
  x = (random(6, 19, 131) * 3).astype(dtype)
  x = x.at[:, 9].set(2).at[:, 11].set(2)  # equals: the first comes first
  if jnp.issubdtype(dtype, jnp.floating):
    x = x.at[3, 5].set(jnp.nan).at[3, 6].set(jnp.inf).at[4].set(-jnp.inf).at[5].set(-0.0).at[5, 7].set(0.0)
  else:
    x = x.at[4].set(jnp.iinfo(dtype).min).at[5, 3].set(jnp.iinfo(dtype).max)
  values, indices = ops.top_k(x, 7, **target)
  expected_values, expected_indices = jax.lax.top_k(x, 7)
  np.testing.assert_array_equal(exact(values), exact(expected_values))
  np.testing.assert_array_equal(indices, expected_indices)


@targets
@pytest.mark.parametrize("n", [1, 64, 150])
def test_top_k_of_a_whole_row_sorts_it(target, n):
  """Groups run out one after another, and equals lie in several."""
  x = jnp.asarray(np.random.default_rng(n).integers(-3, 3, (2, n)), jnp.int32).at[0].set(jnp.iinfo(jnp.int32).min)
  values, indices = ops.top_k(x, n, **target)
  expected_values, expected_indices = jax.lax.top_k(x, n)
  np.testing.assert_array_equal(values, expected_values)
  np.testing.assert_array_equal(indices, expected_indices)


@targets
def test_derivative_of_top_k_and_vmap(target):
  x, w = random(7, 3, 4, 30), random(8, 3, 4, 5)
  op = jax.vmap(lambda x: ops.top_k(x, 5, **target)[0])
  found = jax.grad(lambda x: jnp.sum(w * op(x)))(x)
  (expected,) = gradient64(lambda x: exact(w) * jax.lax.top_k(x, 5)[0], x)
  close(found, expected, steps=1)


def test_mistakes_are_named():
  x = jnp.zeros((4, 8))
  for call, words in (
    (lambda: ops.embedding(x, jnp.zeros(3)), "indices must be integers"),
    (lambda: ops.embedding(x[0], jnp.zeros(3, int)), r"table must have shape \(rows, width\)"),
    (lambda: ops.embedding(x[:0], jnp.zeros(3, int)), "table has no rows"),
    (lambda: ops.cumulative("mean", x), "kind must be one of sum"),
    (lambda: ops.cumsum(x.astype(jnp.uint8)), "got uint8"),
    (lambda: ops.top_k(x, 9), "k must be between 0 and the 8 elements"),
    (lambda: ops.top_k(x.astype(jnp.uint8), 1), "got uint8"),
  ):
    with pytest.raises(errors.ShapeMismatchError, match=words):
      call()
