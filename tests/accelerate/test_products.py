"""Products of bfloat16 and int8 matrices in accelerated programs, on processors with instructions for them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tilewright
from tilewright.accelerate import costs, products, tiles

pytestmark = [
  pytest.mark.usefixtures("all_regions_are_worth_it", "on_the_cpu"),
  pytest.mark.skipif({"bf16", "s8"} - products._types(), reason="the processor has no instructions for them"),
]
RNG = np.random.default_rng(0)


def accelerated(f, *args):
  with tilewright.accelerate() as acceleration:
    found = jax.jit(lambda *a: f(*a))(*args)
  return found, [d for r in acceleration.reports for d in r.taken if d.kind == "product"]


@pytest.mark.parametrize("transpose_x", [False, True])
@pytest.mark.parametrize("transpose_y", [False, True])
@pytest.mark.parametrize(("m", "k", "n"), [(64, 128, 96), (97, 129, 71)])
def test_products_of_bfloat16(transpose_x, transpose_y, m, k, n):
  x = RNG.normal(size=(k, m) if transpose_x else (m, k)).astype(jnp.bfloat16)
  y = RNG.normal(size=(n, k) if transpose_y else (k, n)).astype(jnp.bfloat16)
  bias = RNG.normal(size=n).astype(jnp.bfloat16)
  right = lambda x, y: (x.T if transpose_x else x, y.T if transpose_y else y)

  def f(x, y, bias):
    a, b = right(x, y)
    return jnp.dot(a, b, preferred_element_type=jnp.float32), jax.nn.relu(a @ b + bias)

  (wide, rounded), taken = accelerated(f, x, y, bias)
  assert taken
  a, b = right(x.astype(np.float64), y.astype(np.float64))
  bound = 2 * k * 2.0**-24 * (np.abs(a) @ np.abs(b))
  assert (np.abs(wide - a @ b) <= bound).all()
  biased = a @ b + bias.astype(np.float64)
  assert (np.abs(rounded - np.maximum(biased, 0)) <= bound + 2.0**-7 * (np.abs(a @ b) + np.abs(biased))).all()


@pytest.mark.parametrize("transpose_y", [False, True])
def test_products_of_int8_are_exact(transpose_y):
  x = RNG.integers(-128, 128, (65, 130)).astype(np.int8)
  y = RNG.integers(-128, 128, (77, 130) if transpose_y else (130, 77)).astype(np.int8)
  right = lambda y: y.T if transpose_y else y
  ours, taken = accelerated(lambda x, y: jax.lax.dot(x, right(y), preferred_element_type=jnp.int32), x, y)
  assert taken
  np.testing.assert_array_equal(ours, x.astype(np.int64) @ right(y).astype(np.int64))


def test_the_derivative_of_a_layer():
  x, w = (RNG.normal(size=s).astype(jnp.bfloat16) for s in ((80, 96), (96, 72)))
  f = lambda x, w: (jnp.tanh(x @ w).astype(jnp.float32) ** 2).sum()
  plain = jax.jit(jax.grad(f, (0, 1)))(x, w)
  ours, taken = accelerated(jax.grad(f, (0, 1)), x, w)
  assert taken
  for a, b in zip(ours, plain):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    assert np.abs(a - b).max() <= 2.0**-6 * np.abs(b).max()


def test_products_that_xla_has_fast_kernels_for_are_not_worth_it():
  machine = tiles.host()
  times = {w: costs.product_times(1 << 30, "bf16", w, machine) for w in (False, True)}
  assert times[False][0] < 1.2 * times[False][1]
  assert times[True][0] > 1.2 * times[True][1]


def test_other_products_are_left_to_xla():
  x, y = RNG.normal(size=(80, 96)).astype(np.float32), RNG.normal(size=(96, 72)).astype(np.float32)
  few = RNG.normal(size=(4, 96)).astype(jnp.bfloat16)
  _, taken = accelerated(lambda x, y, few: (x @ y, few @ y.astype(jnp.bfloat16)), x, y, few)
  assert not taken
