"""`grouped_matmul` on an NVIDIA GPU: every group has its own tiles, and a tile is a pipelined tensor-core product.

A tile is a number of rows of one group, starting at any row; the last one of a group may be shorter. Tiles run in parallel, since each
writes its own rows: the blocks of `x` and of the result are bounded slices whose bounds are read from prefetched lists.

    groups of 3, 5 and 0 rows, tiles of 4:   rows 0-2 of group 0, rows 3-6 of group 1, row 7 of group 1

Rows after the last group are a group without a matrix. There are at most as many tiles as blocks of rows, plus one for each group;
unused tiles have no rows.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from tilewright import pallas as pl
from tilewright.ops import tiling
from tilewright.ops.calling import Execution
from tilewright.pallas import tpu


def tiles_of_groups(sizes: jax.Array, m: int, block: int) -> tuple[jax.Array, jax.Array, jax.Array]:
  """The group of each tile, its first row, and how many rows it has. Tiles of a group follow each other, and the groups too."""
  sizes = jnp.concatenate([sizes, (m - jnp.sum(sizes))[None]])
  starts = jnp.cumsum(sizes) - sizes
  counts = (sizes + block - 1) // block
  ends = jnp.cumsum(counts)
  number = jnp.arange(pl.cdiv(m, block) + sizes.shape[0] - 1)
  # Comparing with all elements at once is one XLA kernel, where a binary search is a loop.
  group = jnp.searchsorted(ends, number, side="right", method="compare_all")
  group = jnp.minimum(group, sizes.shape[0] - 1)
  first = (number - (ends - counts)[group]) * block
  rows = jnp.clip(sizes[group] - first, 0, block)
  return tuple(z.astype(jnp.int32) for z in (group, jnp.where(rows > 0, starts[group] + first, 0), rows))


def grouped(execution: Execution, transpose: bool, x: jax.Array, weights: jax.Array, sizes: jax.Array) -> jax.Array:
  """(m, n) from rows (m, k) and matrices (groups, k, n), or (groups, n, k) if they are transposed."""
  (m, k), num_groups = x.shape, weights.shape[0]
  n = weights.shape[1 if transpose else 2]
  blocks = tiling.gpu_matmul_blocks(m, n, k, x.dtype.itemsize)
  bm, bn, bk = blocks.m, blocks.n, blocks.k
  steps = pl.cdiv(k, bk)
  axis = 1 if transpose else 0

  def within(z: jax.Array, axis: int) -> jax.Array:
    """The last block along k with zeros past the end, where there is poison."""
    if k % bk == 0:
      return z
    place = pl.program_id(2) * bk + jax.lax.broadcasted_iota(jnp.int32, z.shape, axis)
    return jnp.where(place < k, z, jnp.zeros((), z.dtype))

  def kernel(group_ref: Any, first_ref: Any, rows_ref: Any, x_ref: Any, w_ref: Any, o_ref: Any, acc_ref: Any) -> None:
    @pl.when(pl.program_id(2) == 0)
    def _() -> None:
      acc_ref[...] = jnp.zeros(acc_ref.shape, acc_ref.dtype)

    contract = (((1,), (axis,)), ((), ()))
    acc_ref[...] += jax.lax.dot_general(
      within(x_ref[...], 1), within(w_ref[...], axis), contract, preferred_element_type=jnp.float32
    )

    @pl.when(pl.program_id(2) == steps - 1)
    def _() -> None:
      has_matrix = group_ref[pl.program_id(0)] < num_groups
      o_ref[...] = jnp.where(has_matrix, acc_ref[...], 0.0).astype(o_ref.dtype)

  of = lambda groups, t: jnp.clip(groups[t], 0, num_groups - 1)
  if transpose:
    w_spec = pl.BlockSpec((None, bn, bk), lambda t, j, l, g, r, c: (of(g, t), j, l))
  else:
    w_spec = pl.BlockSpec((None, bk, bn), lambda t, j, l, g, r, c: (of(g, t), l, j))
  tiles = tiles_of_groups(sizes, m, bm)
  own_rows = pl.BoundedSlice(bm)
  return pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
    grid_spec=tpu.PrefetchScalarGridSpec(
      num_scalar_prefetch=3,
      grid=(tiles[0].shape[0], pl.cdiv(n, bn), steps),
      in_specs=[pl.BlockSpec((own_rows, bk), lambda t, j, l, g, r, c: (pl.ds(r[t], c[t]), l)), w_spec],
      out_specs=pl.BlockSpec((own_rows, bn), lambda t, j, l, g, r, c: (pl.ds(r[t], c[t]), j)),
      scratch_shapes=[jax.ShapeDtypeStruct((bm, bn), jnp.float32)],
    ),
    name="grouped_matmul",
    **execution.options("parallel", "parallel", "arbitrary"),
  )(*tiles, x, weights)


def weight_slopes(execution: Execution, num_groups: int, x: jax.Array, g: jax.Array, sizes: jax.Array) -> jax.Array:
  """For each group, the product of its rows of `x`, transposed, with its rows of `g`: (groups, k, n), added up in float32.

  The kernel loops over the tiles of all groups. At the end of a group the accumulator is written and reset.
  """
  (m, k), n = x.shape, g.shape[1]
  rows, bk, bn = tiling.gpu_weight_slope_blocks(x.dtype.itemsize)
  tiles = tiles_of_groups(sizes, m, rows)
  count = tiles[0].shape[0]

  def kernel(
    group_ref: Any, first_ref: Any, rows_ref: Any, x_ref: Any, g_ref: Any, zeros_ref: Any, o_ref: Any, acc_ref: Any
  ) -> None:
    t = pl.program_id(2)
    group = group_ref[t]

    @pl.when(t == 0)
    def _() -> None:
      acc_ref[...] = jnp.zeros(acc_ref.shape, acc_ref.dtype)

    def own(z: jax.Array) -> jax.Array:
      is_own = jax.lax.broadcasted_iota(jnp.int32, z.shape, 0) < rows_ref[t]
      return jnp.where(is_own, z, jnp.zeros((), z.dtype))

    along_rows = (((0,), (0,)), ((), ()))
    acc_ref[...] += jax.lax.dot_general(
      own(x_ref[...]), own(g_ref[...]), along_rows, preferred_element_type=jnp.float32
    )

    @pl.when((group < num_groups) & ((t == count - 1) | (group_ref[jnp.minimum(t + 1, count - 1)] != group)))
    def _() -> None:
      o_ref[...] = acc_ref[...].astype(o_ref.dtype)
      acc_ref[...] = jnp.zeros(acc_ref.shape, acc_ref.dtype)

  of_rows = lambda width, place: pl.BlockSpec(
    (pl.BoundedSlice(rows), width), lambda i, j, t, g, r, c: (pl.ds(r[t], c[t]), (i, j)[place])
  )
  # Groups without rows keep their initial zeros.
  of_group = pl.BlockSpec((None, bk, bn), lambda i, j, t, g, r, c: (jnp.clip(g[t], 0, num_groups - 1), i, j))
  out = jax.ShapeDtypeStruct((num_groups, k, n), x.dtype)
  return pl.pallas_call(
    kernel,
    out_shape=out,
    grid_spec=tpu.PrefetchScalarGridSpec(
      num_scalar_prefetch=3,
      grid=(pl.cdiv(k, bk), pl.cdiv(n, bn), count),
      in_specs=[of_rows(bk, 0), of_rows(bn, 1), pl.BlockSpec(memory_space=pl.ANY)],
      out_specs=of_group,
      scratch_shapes=[jax.ShapeDtypeStruct((bk, bn), jnp.float32)],
    ),
    input_output_aliases={5: 0},
    name="grouped_matmul_weights",
    **execution.options("parallel", "parallel", "arbitrary"),
  )(*tiles, x, g, jnp.zeros(out.shape, out.dtype))
