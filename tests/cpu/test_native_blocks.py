"""Blocks of every kind in native kernels: what the body sees, what comes back, and what is poison."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.cpu.native import agrees
from tilewright import pallas as pl
from tilewright.pallas import cpu
from tilewright.pallas import tpu as pltpu

S = jax.ShapeDtypeStruct
f32 = jnp.float32


def numbers(*shape, dtype=f32):
  return jnp.arange(np.prod(shape), dtype=dtype).reshape(shape)


def copy(x_ref, o_ref):
  o_ref[...] = x_ref[...]


def test_element_dimensions_with_padding():
  spec = pl.BlockSpec((pl.Element(4, (2, 3)), 24), lambda i: (3 * i, 0))
  agrees(
    copy,
    S((16, 24), f32),
    numbers(9, 24),
    grid=(4,),
    in_specs=[spec],
    out_specs=pl.BlockSpec((4, 24), lambda i: (i, 0)),
  )


@pytest.mark.parametrize("outputs", [False, True])
def test_bounded_slices(outputs):
  """What does not count is poison when read, and stays as it was when written."""
  bounds = jnp.array([0, 3, 4, 11, 12, 20], jnp.int32)

  def bounded(i, bounds_ref):
    return pl.ds(bounds_ref[i], bounds_ref[i + 1] - bounds_ref[i]), 0

  slices = pl.BlockSpec((pl.BoundedSlice(9), 5), bounded)
  blocks = pl.BlockSpec((9, 5), lambda i, _: (i, 0))
  spec = pltpu.PrefetchScalarGridSpec(
    num_scalar_prefetch=1,
    grid=(5,),
    in_specs=[blocks if outputs else slices],
    out_specs=slices if outputs else blocks,
  )
  x, out = (numbers(45, 5), S((18, 5), f32)) if outputs else (numbers(18, 5), S((45, 5), f32))
  agrees(lambda _, x_ref, o_ref: copy(x_ref, o_ref), out, bounds, x, grid_spec=spec)


@pytest.mark.parametrize("outputs", [False, True])
def test_indirect_dimensions(outputs):
  """A gather of rows, or a scatter to rows; numbers outside are poison or dropped, and negative ones count from the end."""
  order = jnp.array([[3, 0, 9], [5, -1, 2]], jnp.int32)
  rows = pl.BlockSpec((pl.Indirect(3), 5), lambda i, order_ref: (order_ref.at[i], 0))
  blocks = pl.BlockSpec((3, 5), lambda i, _: (i, 0))
  spec = pltpu.PrefetchScalarGridSpec(
    num_scalar_prefetch=1, grid=(2,), in_specs=[blocks if outputs else rows], out_specs=rows if outputs else blocks
  )
  x, out = (numbers(6, 5), S((7, 5), f32)) if outputs else (numbers(7, 5), S((6, 5), f32))
  agrees(lambda _, x_ref, o_ref: copy(x_ref, o_ref), out, order, x, grid_spec=spec)


def test_buffered_blocks_and_memory_spaces():
  spec = pl.BlockSpec((4, 16), lambda i: (i, 0), pipeline_mode=pl.Buffered(3))

  def kernel(x_ref, s_ref, y_ref, o_ref):
    o_ref[...] = x_ref[...] * s_ref[pl.program_id(0)] + y_ref[pl.ds(pl.program_id(0), 4)]

  specs = [spec, pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec(memory_space=pl.ANY)]
  agrees(kernel, S((8, 16), f32), numbers(8, 16), numbers(2), numbers(8, 16), grid=(2,), in_specs=specs, out_specs=spec)


@pytest.mark.parametrize("grid", [0, 2, 4])
def test_what_no_instance_writes_is_poison(grid):
  def run(n):
    spec = pl.BlockSpec((4,), lambda i: i)
    how = {"grid": (n,), "in_specs": [spec], "out_specs": spec, "compiler_params": cpu.CompilerParams()}
    return pl.pallas_call(copy, S((16,), f32), **how)(numbers(16))

  expected = np.where(np.arange(16) < 4 * grid, np.arange(16), np.nan)
  np.testing.assert_array_equal(run(grid), expected)
  np.testing.assert_array_equal(jax.jit(run)(grid), expected)
