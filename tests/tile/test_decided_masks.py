"""Masks and edges that the sizes of the grid decide are not computed: the order of programs and the masks of Triton's matrix product."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tilewright import pallas as pl
from tilewright.pallas import triton as plt
from tilewright.pallas.nvgpu.inspection import native_kernels
from tilewright.tile.ir import walk
from tilewright.tile.standard_passes import clean

S = jax.ShapeDtypeStruct


def product(m, n, k, mask=lambda chosen: chosen):
  """Programs in groups of eight rows of blocks, so that neighbours share operands, and masks for the edges."""
  rows, columns = -(-m // 16), -(-n // 16)

  def kernel(x_ref, y_ref, o_ref):
    number = pl.program_id(0)
    first = number // (8 * columns) * 8
    size = jnp.minimum(rows - first, 8)
    i, j = first + number % (8 * columns) % size, number % (8 * columns) // size
    own, other, along = 16 * i + jnp.arange(16), 16 * j + jnp.arange(16), jnp.arange(k)
    x = plt.load(x_ref.at[pl.ds(16 * i, 16), pl.ds(0, k)], mask=mask((own < m)[:, None] & (along < k)), other=0.0)
    y = plt.load(y_ref.at[pl.ds(0, k), pl.ds(16 * j, 16)], mask=mask((along < k)[:, None] & (other < n)), other=0.0)
    plt.store(o_ref.at[pl.ds(16 * i, 16), pl.ds(16 * j, 16)], x @ y, mask=mask((own < m)[:, None] & (other < n)))

  return pl.pallas_call(kernel, S((m, n), jnp.float32), grid=(rows * columns,))


def names_of(m, n, k, mask):
  """The names of the ops that a product becomes."""
  ((_, native),) = native_kernels(product(m, n, k, mask), S((m, k), jnp.float32), S((k, n), jnp.float32))
  return {op.name for op in walk(clean(native).body.body)}


@pytest.mark.parametrize(
  "mask", [lambda chosen: chosen, lambda chosen: jnp.full(chosen.shape, True)], ids=["masked", "plain"]
)
def test_masks_and_edges_go_where_blocks_divide_the_arrays(mask):
  found = names_of(256, 64, 32, mask)
  assert "store" in found and found.isdisjoint({"select", "window_load", "window_store", "sign", "lt"})
  assert "window_load" in names_of(250, 64, 32, mask)  # a row of blocks hangs over the edge


@pytest.mark.parametrize("m, n, k", [(256, 64, 32), (150, 40, 8)])
def test_every_block_is_computed(m, n, k):
  rng = np.random.default_rng(0)
  x, y = rng.integers(-4, 5, (m, k)).astype(np.float32), rng.integers(-4, 5, (k, n)).astype(np.float32)
  np.testing.assert_array_equal(jax.jit(product(m, n, k))(x, y), x @ y)
