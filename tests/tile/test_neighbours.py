"""Gathers and scatters of neighbours are windows; others stay what they are. Either way the result is that of the portable lowering."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tilewright import pallas as pl
from tilewright.pallas.nvgpu.inspection import native_kernels
from tilewright.tile.ir import walk
from tilewright.tile.standard_passes import clean

S = jax.ShapeDtypeStruct
F32, I32 = jnp.float32, jnp.int32
X = np.arange(6 * 40, dtype=np.float32).reshape(6, 40)
WHOLE = pl.BlockSpec(memory_space=pl.ANY)


def accesses(body, grid=(3,)):
  """The names of what a body does with memory, after it was compared with the portable lowering."""

  def call(x, interpret=False):
    return pl.pallas_call(
      body,
      S(X.shape, F32),
      grid=grid,
      in_specs=[WHOLE],
      out_specs=WHOLE,
      interpret=interpret,
      input_output_aliases={0: 0},
    )(x)

  np.testing.assert_array_equal(jax.jit(call)(X), call(X, True))
  ((_, native),) = native_kernels(call, S(X.shape, F32))
  names = {op.name for op in walk(clean(native).body.body)}
  return names & {"gather_load", "scatter_store", "window_load", "window_store", "load", "store"}


@pytest.mark.parametrize(
  "place",
  [
    lambda i: (i, jnp.arange(40)),
    lambda i: (i, 8 * i + jnp.arange(16)),  # over the edge
    lambda i: (i, 2 * jnp.arange(16) + 3),
    lambda i: (jnp.arange(2) * 3 + i, slice(None)),
    lambda i: ((2 * i + jnp.arange(2))[:, None], jnp.arange(8)[None, :]),
  ],
)
@pytest.mark.parametrize("masked", [False, True])
def test_neighbours_are_read_and_written_as_windows(place, masked):
  def kernel(x_ref, o_ref):
    at = place(pl.program_id(0))
    chosen = jnp.arange(x_ref[at].shape[-1]) % 3 < 2 if masked else True
    x = pl.load(x_ref, at, mask=jnp.broadcast_to(chosen, x_ref[at].shape), other=0.0)
    o_ref[at] = 2 * x

  assert not accesses(kernel) & {"gather_load", "scatter_store"}


def test_a_masked_store_of_neighbours_leaves_the_others_alone():
  def kernel(x_ref, o_ref):
    i, cols = pl.program_id(0), jnp.arange(16)
    x = pl.load(x_ref, (i, cols), mask=cols < 5, other=-1.0)
    pl.store(o_ref, (i, cols + 3), x * 2, mask=(cols < 7) & (cols > 1))

  assert not accesses(kernel) & {"gather_load", "scatter_store"}


@pytest.mark.parametrize(
  "place",
  [
    lambda i, x: (i, 5 - jnp.arange(4)),  # backwards
    lambda i, x: (jnp.arange(4), jnp.arange(4)),  # a diagonal
    lambda i, x: (i, jnp.arange(8)[:, None] * 4 + jnp.arange(4)[None, :]),  # two indices along one axis
    lambda i, x: (i, jnp.arange(8) * jnp.arange(8)),
    lambda i, x: (i, i - 2 + jnp.arange(8)),  # negative ones count from the end
    lambda i, x: (i, x[0, :4].astype(I32)),
    lambda i, x: (i, jnp.arange(8) // 2),  # elements twice
  ],
)
def test_other_positions_are_gathered(place):
  def kernel(x_ref, o_ref):
    o_ref[pl.program_id(0), 0] = jnp.sum(x_ref[place(pl.program_id(0), x_ref)])

  assert "gather_load" in accesses(kernel)


def test_the_last_of_equal_positions_is_written():
  def kernel(x_ref, o_ref):
    o_ref[pl.program_id(0), jnp.arange(8) // 2] = jnp.arange(8.0)

  assert "scatter_store" in accesses(kernel)


def test_dimensions_keep_their_order():
  """Positions along the last axis come first in the result."""

  def kernel(x_ref, o_ref):
    o_ref[:, :8] = x_ref[:, jnp.arange(8)]
    o_ref[:, jnp.arange(8) + 10] = x_ref[jnp.arange(6)[None, :], jnp.arange(8)[:, None]].T

  assert not accesses(kernel, (1,)) & {"gather_load", "scatter_store"}
