"""How much work a kernel is, and how many threads that is worth."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import lax

from tests.support.native_kernels import native_kernel
from tilewright import pallas as pl
from tilewright.target import cpu
from tilewright.target.cpu import cost, hosts

S = jax.ShapeDtypeStruct
LANES = 16


def time_of(body, rows, columns=128, out=None):
  def kernel(x_ref, o_ref):
    o_ref[...] = body(x_ref[...])

  out = out or S((rows, columns), jnp.float32)
  return cost.nanoseconds(native_kernel(kernel, out, jnp.zeros((rows, columns))), LANES)


def test_more_work_takes_longer():
  plain, costly = (lambda x: x * 2.0), (lambda x: jnp.exp(jnp.sin(x)))
  assert time_of(plain, 256) < time_of(plain, 512) < time_of(costly, 512)
  assert time_of(lambda x: jnp.sort(x, axis=1), 64) > time_of(plain, 64)
  product = lambda n: time_of(lambda x: x @ x.T, n, out=S((n, n), jnp.float32))
  # n * n * 128 multiplications, and what is loaded and stored
  assert 3 < product(256) / product(128) < 4.5


def test_loops_count_as_often_as_they_run():
  def repeated(times):
    return time_of(lambda x: lax.fori_loop(0, times, lambda _, y: jnp.exp(y), x), 64)

  once = repeated(1)
  assert repeated(50) > 30 * once

  def until_small(x):
    return lax.while_loop(lambda y: y[0, 0] > 0, lambda y: y - 1, x)

  assert time_of(until_small, 8) == float("inf")


@given(st.floats(1, 1e12), st.floats(1, 1e12))
def test_threads_grow_with_the_work_and_slower_than_it(one, other):
  less, more = sorted((one, other))
  assert 1 <= cost.threads(less) <= cost.threads(more) <= cost.ANY
  # Waking threads never costs more than what they take off the calling one.
  n = cost.threads(more)
  assert n == 1 or cost._WAKE * n <= more


@pytest.mark.parametrize("rows, several", [(64, False), (8192, True)])
def test_short_kernels_are_left_to_the_calling_thread(rows, several):
  """A large table of which few rows are read is no large work."""
  block = pl.BlockSpec((8, 128), lambda i: (i, 0))

  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2

  grid = {"grid": (rows // 8,), "in_specs": [block], "out_specs": block}
  native = native_kernel(kernel, S((rows, 128), jnp.float32), jnp.zeros((1 << 16, 128)), **grid)
  assert (cpu._threads(native, hosts.of({"avx512f"}), (0,)) > 1) == several
