"""Batched kernels whose instances follow each other in one CTA: each element of the batch has its own prefetched scalars and semaphores."""

from __future__ import annotations

import emulated
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tilewright import pallas as pl
from tilewright.pallas import targets
from tilewright.pallas import tpu as pltpu


@pytest.fixture(autouse=True)
def _as_the_code_of_a_gpu(monkeypatch):
  monkeypatch.setitem(targets.NATIVE, "cpu", emulated.run)


ROW = lambda i, table: (i, 0)
TABLES = jnp.asarray([[0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 1, 0]], jnp.int32)
IN_ORDER = [pltpu.SemaphoreType.REGULAR]  # scratch memory keeps instances in one CTA


def _call(kernel, specs, out_shape):
  grid_spec = pltpu.PrefetchScalarGridSpec(1, (4,), specs, pl.BlockSpec((1, 8), ROW), IN_ORDER)
  return pl.pallas_call(kernel, out_shape, grid_spec=grid_spec)


def test_blocks_copied_ahead_follow_the_table_of_their_element():
  x = np.arange(32, dtype=np.float32).reshape(4, 8)
  specs = [pl.BlockSpec((1, 8), lambda i, table: (table[i], 0))]

  def kernel(table, x, o, _):
    o[...] = x[...]

  call = _call(kernel, specs, jax.ShapeDtypeStruct((4, 8), x.dtype))
  found = jax.vmap(call, (0, None))(TABLES, x)
  np.testing.assert_array_equal(found, x[np.asarray(TABLES)])


def test_a_block_that_only_the_table_chooses_changes_with_the_element():
  x = np.arange(32, dtype=np.float32).reshape(4, 8)
  matrices = np.stack([np.full((8, 8), float(n)) for n in range(4)]).astype(np.float32)
  specs = [pl.BlockSpec((None, 8, 8), lambda i, table: (table[0], 0, 0)), pl.BlockSpec((1, 8), ROW)]

  def kernel(table, matrix, x, o, _):
    o[...] = x[...] @ matrix[...]  # small integers, which tensor cores multiply exactly

  call = _call(kernel, specs, jax.ShapeDtypeStruct((4, 8), x.dtype))
  found = jax.vmap(call, (0, None, None))(TABLES, matrices, x)
  np.testing.assert_array_equal(found, np.stack([x @ matrices[t[0]] for t in np.asarray(TABLES)]))


@pytest.mark.parametrize("staged", [False, True])
def test_semaphores_are_at_zero_for_each_element(staged):
  x = np.arange(32, dtype=np.float32).reshape(4, 8)
  table = jnp.zeros(1, jnp.int32)
  specs = [pl.BlockSpec((1, 8), ROW if staged else lambda i, table: (0, 0))]

  def kernel(table, x, o, sem):
    pl.semaphore_signal(sem, 2)
    o[...] = x[...] + pl.semaphore_read(sem).astype(jnp.float32)

  call = lambda x: _call(kernel, specs, jax.ShapeDtypeStruct((4, 8), x.dtype))(table, x)
  found = jax.vmap(call)(np.stack([x, x + 1]))
  counts = 2 * np.arange(1, 5)[:, None]
  np.testing.assert_array_equal(found, [(y if staged else y[:1]) + counts for y in (x, x + 1)])
