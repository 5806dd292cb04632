"""Refs passed to `pallas_call`: read, written, mapped over."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from language import arange, run, same

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

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


@pytest.mark.parametrize("interpret", [False, True], ids=["native", "portable"])
@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_a_kernel_may_close_over_refs(wrap, interpret):
  def f(x):
    total, factor = jax.new_ref(jnp.zeros(8)), jax.new_ref(jnp.full(8, 3.0))

    def kernel(x_ref, o_ref):
      total[...] = total[...] + x_ref[0] * factor[...]
      o_ref[0] = total[...]

    out = pl.pallas_call(kernel, x, grid=4, in_specs=[ROWS], out_specs=ROWS, interpret=interpret)(x)
    return out, total[...], factor[...]

  out, total, factor = wrap(f)(X)
  same(out, 3 * np.cumsum(X, 0))
  same(total, 3 * np.sum(X, 0))
  same(factor, jnp.full(8, 3.0))


def test_a_kernel_over_a_mesh_that_works_on_refs_is_batched():
  mesh = pltpu.TensorCoreMesh(axis_name="core", num_cores=1)
  shared = jax.new_ref(jnp.arange(8.0))

  def f(x):
    own = jax.new_ref(x)

    def body(own, o_ref):
      o_ref[...] = own[...] * shared[...]
      own[...] = o_ref[...] + 1

    out = pl.kernel(body, jax.ShapeDtypeStruct((8,), jnp.float32), mesh=mesh)(own)
    return out, own[...]

  out, own = jax.vmap(f)(X)
  same(out, X * np.arange(8.0))
  same(own, X * np.arange(8.0) + 1)


def test_a_batched_kernel_does_not_write_a_ref_that_all_elements_share():
  mesh = pltpu.TensorCoreMesh(axis_name="core", num_cores=1)
  shared = jax.new_ref(jnp.zeros(8))

  def f(x):
    def body(x_ref):
      shared[...] = x_ref[...]

    pl.kernel(body, (), mesh=mesh)(x)
    return x

  with pytest.raises(errors.UnsupportedFeatureError, match="vmap of the kernel 'body': its operand 0 is a ref"):
    jax.vmap(f)(X)
