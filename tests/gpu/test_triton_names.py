"""Names of `pallas.triton` on an NVIDIA GPU."""

from __future__ import annotations

import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "nvgpu"))

import triton_programs as programs

from tilewright import pallas as pl

pytestmark = pytest.mark.gpu


def test_blocks_that_run_at_the_same_time_count_together():
  numbers = np.random.default_rng(0).integers(0, 10, 1 << 18)
  got = programs.histogram(jnp.asarray(numbers, jnp.int32), 10, block=256)
  np.testing.assert_array_equal(got, np.bincount(numbers, minlength=10))


@pytest.mark.parametrize("dtype", programs.DTYPES, ids=lambda d: d.__name__)
def test_atomic_operations_give_the_old_value_and_leave_the_new_one(dtype):
  numbers = np.random.default_rng(1).integers(0, 100, (2, 1000))
  old, values = (jnp.asarray(x, dtype) for x in numbers)
  for name, (operation, wanted) in programs.OPERATIONS.items():
    if jnp.issubdtype(dtype, jnp.floating) and name not in programs.OF_FLOATS:
      continue
    new, before = programs.changed(operation, old, values)
    np.testing.assert_array_equal(before, old)
    np.testing.assert_array_equal(new, wanted(np.asarray(old), np.asarray(values)))


def test_a_lock_keeps_blocks_apart():
  assert programs.counted_under_a_lock(500) == 500


def test_assembly_with_packed_elements():
  x = jnp.asarray(np.random.default_rng(2).integers(-128, 128, 1001), jnp.int8)
  np.testing.assert_array_equal(programs.assembled(*programs.NOT_BYTES, x)[0], ~np.asarray(x))


def test_assembly_with_several_results():
  x, y = jax.random.normal(jax.random.key(0), (2, 7, 33))
  total, difference = programs.assembled(*programs.SUM_AND_DIFFERENCE, x, y)
  np.testing.assert_array_equal(total, np.asarray(x) + np.asarray(y))
  np.testing.assert_array_equal(difference, np.asarray(x) - np.asarray(y))


@pytest.mark.parametrize("shape", [(4096,), (64, 300), (3, 20_000)])
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.int8], ids=["f32", "i8"])
def test_threads_sort_together(dtype, shape):
  def kernel(x_ref, o_ref):
    o_ref[...] = jnp.sort(x_ref[...], axis=-1)

  x = jnp.asarray(np.random.default_rng(3).integers(-100, 100, shape), dtype)
  got = pl.pallas_call(kernel, jax.ShapeDtypeStruct(shape, dtype))(x)
  np.testing.assert_array_equal(got, np.sort(np.asarray(x), axis=-1))


def test_threads_scatter_together_and_the_last_value_stays():
  def kernel(n_ref, x_ref, o_ref):
    o_ref[...] = jnp.zeros((50, 64), jnp.float32).at[n_ref[...]].set(x_ref[...])

  numbers = np.random.default_rng(4).integers(0, 50, 500)
  rows = np.random.default_rng(5).standard_normal((500, 64)).astype(np.float32)
  got = pl.pallas_call(kernel, jax.ShapeDtypeStruct((50, 64), jnp.float32))(jnp.asarray(numbers, jnp.int32), rows)
  wanted = np.zeros((50, 64), np.float32)
  wanted[numbers] = rows
  np.testing.assert_array_equal(got, wanted)
