"""Kernels that carry sums, and extremes, along a sequential grid dimension: with exact results."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

F32, S = jnp.float32, jax.ShapeDtypeStruct
FIRST, LAST = lambda axis: pl.program_id(axis) == 0, lambda axis: pl.program_id(axis) == pl.num_programs(axis) - 1


def integers(*shape, dtype=np.float32):
  return np.asarray(np.random.default_rng(0).integers(-4, 5, shape), dtype)


def column_sums(x):
  """An output block is the accumulator; rows of four, and columns in two halves."""

  def kernel(x_ref, o_ref):
    pl.when(FIRST(1))(lambda: o_ref.__setitem__(..., jnp.zeros_like(o_ref)))
    o_ref[...] += jnp.sum(x_ref[...], axis=0, keepdims=True)

  rows, columns = x.shape
  return pl.pallas_call(
    kernel,
    S((1, columns), x.dtype),
    grid=(2, rows // 4),
    in_specs=[pl.BlockSpec((4, columns // 2), lambda i, j: (j, i))],
    out_specs=pl.BlockSpec((1, columns // 2), lambda i, j: (0, i)),
  )(x)


def mean_and_range(x, scale):
  """Three accumulators in scratch memory, and a last step that reads them, an input and its number."""

  def kernel(x_ref, scale_ref, mean_ref, range_ref, total, low, high):
    @pl.when(FIRST(0))
    def _():
      total[...] = jnp.zeros_like(total)
      low[...] = jnp.full_like(low, 100)
      high[...] = jnp.full_like(high, -100)

    x = x_ref[...] * scale_ref[...]
    total[...] += x
    low[...] = jnp.minimum(low[...], x.min(0, keepdims=True))
    high[...] = jnp.maximum(x.max(0, keepdims=True), high[...])

    @pl.when(LAST(0))
    def _():
      steps = (pl.program_id(0) + 1).astype(F32)
      mean_ref[...] = total[...] / steps
      range_ref[...] = high[...] - low[...] + scale_ref[...]

  rows, columns = x.shape
  whole = lambda r: pl.BlockSpec((r, columns), lambda i: (0, 0))
  return pl.pallas_call(
    kernel,
    (S((2, columns), F32), S((1, columns), F32)),
    grid=(rows // 2,),
    in_specs=[pl.BlockSpec((2, columns), lambda i: (i, 0)), whole(1)],
    out_specs=(whole(2), whole(1)),
    scratch_shapes=[pltpu.VMEM((2, columns), F32), pltpu.VMEM((1, columns), F32), pltpu.VMEM((1, columns), F32)],
  )(x, scale)


def chosen_blocks(table, x):
  """Blocks that a prefetched table names, weighted by the number of the step."""

  def kernel(table_ref, x_ref, o_ref):
    pl.when(FIRST(0))(lambda: o_ref.__setitem__(..., jnp.zeros_like(o_ref)))
    o_ref[...] += x_ref[...] * (pl.program_id(0) + table_ref[0])

  spec = pltpu.PrefetchScalarGridSpec(
    num_scalar_prefetch=1,
    grid=(table.shape[0],),
    in_specs=[pl.BlockSpec((1, 64), lambda i, t: (t[i], 0))],
    out_specs=pl.BlockSpec((1, 64), lambda i, t: (0, 0)),
  )
  return pl.pallas_call(kernel, S((1, 64), jnp.int32), grid_spec=spec)(table, x)


X, TABLE = integers(48, 128), np.asarray([3, 1, 0, 2] * 4, np.int32)
ROWS = integers(4, 64, dtype=np.int32)
SCALE = integers(1, 128) + 5
SCALED = (X * SCALE).reshape(24, 2, 128)
PROGRAMS = {
  column_sums: ([X], [X.sum(0, keepdims=True)]),
  mean_and_range: ([X, SCALE], [SCALED.sum(0) / 24, np.ptp(SCALED, (0, 1))[None] + SCALE]),
  chosen_blocks: ([TABLE, ROWS], [(ROWS[TABLE] * (np.arange(16) + 3)[:, None]).sum(0, keepdims=True)]),
}
