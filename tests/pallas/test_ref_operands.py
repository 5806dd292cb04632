"""Refs passed to `pallas_call`: read, written, mapped over."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from language import arange, run, same

from tilewright import errors
from tilewright import pallas as pl

X = arange(4, 8)
ROWS = pl.BlockSpec((1, 8), lambda i: (i, 0))


def test_a_kernel_reads_a_ref():
  def kernel(r, o_ref):
    o_ref[...] = r[...] + 1

  same(run(kernel, jax.new_ref(X), out=X), X + 1)


def test_a_kernel_reads_blocks_of_a_ref():
  def kernel(r, o_ref):
    o_ref[...] = r[...] + pl.program_id(0)

  got = run(kernel, jax.new_ref(X), grid=4, in_specs=[ROWS], out_specs=ROWS, out=X)
  same(got, X + jnp.arange(4.0)[:, None])


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit])
def test_a_kernel_writes_refs(wrap):
  def kernel(a, x_ref, b, o_ref):
    i = pl.program_id(0)
    a[i] = x_ref[0] * 2
    b[i] = b[i] + a[i]
    o_ref[...] = x_ref[...] + 1

  def f(x):
    a, b = jax.new_ref(jnp.zeros_like(x)), jax.new_ref(x * 10)
    whole = pl.BlockSpec(memory_space=pl.ANY)
    out = run(kernel, a, x, b, grid=4, in_specs=[whole, ROWS, whole], out_specs=ROWS, out=x)
    return out, a[...], b[...]

  for got, want in zip(wrap(f)(X), (X + 1, X * 2, X * 12), strict=True):
    same(got, want)


def test_a_kernel_without_outputs_writes_a_ref():
  def kernel(r):
    r[...] = r[...] * 2

  ref = jax.new_ref(X)
  assert run(kernel, ref, out=()) == ()
  same(ref[...], X * 2)


def test_kernels_on_refs_are_batched():
  def kernel(r, o_ref):
    o_ref[...] = r[...] + 1
    r[...] = r[...] * 2

  def f(x):
    ref = jax.new_ref(x)
    return run(kernel, ref, out=x), ref[...]

  batch = jnp.stack([X, X + 3, -X])
  out, left = jax.vmap(f)(batch)
  np.testing.assert_array_equal(out, batch + 1)
  np.testing.assert_array_equal(left, batch * 2)


def test_blocks_of_a_ref_are_not_written():
  def kernel(r, o_ref):
    r[...] = r[...] * 2
    o_ref[...] = r[...]

  with pytest.raises(errors.KernelTypeError, match=r"argument 0 is a ref that the kernel writes.*pl\.ANY"):
    run(kernel, jax.new_ref(X), grid=4, in_specs=[ROWS], out_specs=ROWS, out=X)
