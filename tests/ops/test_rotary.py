"""Rotary embeddings against float64, natively and portably."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from float64_oracle import NATIVE, close, exact, gradient64, random, value64

from tilewright import errors, ops

targets = pytest.mark.parametrize("target", NATIVE.values(), ids=NATIVE.keys())


def rotary64(x, cos, sin):
  a, b = jnp.split(x, 2, -1)
  c, s = cos[:, None], sin[:, None]
  return jnp.concatenate([a * c - b * s, b * c + a * s], -1)


def tables(length, width, dtype=jnp.float32):
  angle = np.arange(length)[:, None] * 10000.0 ** (-np.arange(0, width, 2) / width)
  return jnp.asarray(np.cos(angle), dtype), jnp.asarray(np.sin(angle), dtype)


@targets
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16, jnp.float16], ids=lambda d: d.__name__)
@pytest.mark.parametrize("shape", [(2, 3, 37, 5, 18), (37, 1, 64), (1, 4, 128)], ids=str)
def test_each_pair_of_each_head_is_turned(target, dtype, shape):
  x, (cos, sin) = random(0, *shape, dtype=dtype), tables(shape[-3], shape[-1], dtype)
  # Two products and a sum, none larger than the largest |a| + |b|.
  close(ops.rotary(x, cos, sin, **target), value64(rotary64, x, cos, sin), steps=3, size=2 * np.abs(exact(x)).max())


@targets
def test_derivatives(target):
  x, w, (cos, sin) = random(1, 3, 21, 5, 18), random(2, 3, 21, 5, 18), tables(21, 18)
  found = jax.grad(lambda *a: jnp.sum(w * ops.rotary(*a, **target)), (0, 1, 2))(x, cos, sin)
  # Those towards the tables are sums of 2 * 3 * 5 products.
  for got, wanted, steps in zip(found, gradient64(lambda *a: exact(w) * rotary64(*a), x, cos, sin), (3, 32, 32)):
    close(got, wanted, steps=steps, size=steps * np.abs(exact(x)).max() * np.abs(exact(w)).max())


def test_a_rotation_keeps_lengths_and_turns_back():
  x, (cos, sin) = random(3, 50, 4, 32), tables(50, 32)
  there = ops.rotary(x, cos, sin)
  # Each turn has 3 roundings of numbers of the size of x, and cos² + sin² is 1 but for 2 more.
  close(ops.rotary(there, cos, -sin), exact(x), steps=8, size=4 * np.abs(exact(x)).max())
  close(jnp.sum(there**2, -1), np.sum(exact(x) ** 2, -1), steps=40, size=np.sum(exact(x) ** 2, -1))


def test_under_jit_and_vmap():
  x, (cos, sin) = random(4, 3, 9, 2, 8), tables(9, 8)
  expected = value64(rotary64, x, cos, sin)
  close(jax.jit(jax.vmap(lambda x: ops.rotary(x, cos, sin)))(x), expected, steps=3, size=8)
  own = jnp.stack([cos, 2 * cos, -cos])
  found = jax.vmap(ops.rotary, in_axes=(0, 0, None))(x, own, sin)
  close(found, np.stack([value64(rotary64, x[i], own[i], sin) for i in range(3)]), steps=3, size=16)


def test_the_tables_have_a_derivative_only_where_it_is_wanted():
  x, (cos, sin) = random(5, 9, 2, 8), tables(9, 8)
  program = jax.jit(jax.grad(lambda x: ops.rotary(x, cos, sin).sum())).lower(x).as_text()
  assert program.count("custom_call") == 1


def test_an_array_without_elements():
  assert ops.rotary(jnp.zeros((0, 2, 8)), jnp.zeros((0, 4)), jnp.zeros((0, 4))).shape == (0, 2, 8)


def test_mistakes_are_named():
  x, (cos, sin) = jnp.zeros((5, 2, 8)), tables(5, 8)
  for call, words in (
    (lambda: ops.rotary(x[0], cos, sin), "rotary: x must have at least 3 dimensions"),
    (lambda: ops.rotary(x[..., :7], cos, sin), "it must be even"),
    (lambda: ops.rotary(x, cos[:4], sin), r"cos must have shape \(5, 4\)"),
    (lambda: ops.rotary(x, cos, sin.astype(int)), "sin must be float32, bfloat16 or float16"),
  ):
    with pytest.raises(errors.ShapeMismatchError, match=words):
      call()
