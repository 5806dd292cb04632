"""A matrix product in which each group of rows has its own right operand, as in a mixture of experts.

Rows lie in one array, group after group; the group sizes are known only at run time. Blocks of rows are not aligned to
groups, so a block may belong to several: the list of *tiles* pairs each block with each group that has rows in it, in order. The list
is computed before the call and prefetched, so that block specs can index it; an instance writes only its group's rows.

    groups of 3, 5 and 0 rows, blocks of 4:   tiles (block 0, group 0), (block 0, group 1), (block 1, group 1)

Rows after the last group form a group of their own, whose result is 0. There are at most one tile per block and one more per group.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright import pallas as pl
from tilewright.ops import calling, tiling
from tilewright.ops.calling import Execution
from tilewright.pallas import tpu
from tilewright.runtime.user_line import names_line


@names_line
def grouped_matmul(
  x: jax.Array,
  weights: jax.Array,
  group_sizes: jax.Array,
  *,
  transpose_weights: bool = False,
  interpret: bool | None = None,
  native: bool | None = None,
) -> jax.Array:
  """For each group of rows of `x`, its product with the group's own matrix.

  Args:
    x: `(m, k)` of float32, bfloat16 or float16; the rows of group 0 come first, then those of group 1, and so on.
    weights: `(groups, k, n)`, or `(groups, n, k)` with `transpose_weights`, of the dtype of `x`.
    group_sizes: integers `(groups,)`: how many rows each group has. Rows that are left over give 0.
    transpose_weights: whether the matrices are given transposed.
    interpret: True for the portable lowering on any backend.
    native: whether to compile native code; by default, on the CPU and on NVIDIA GPUs.

  Returns:
    An array of shape `(m, n)` and the dtype of `x`, accumulated in float32.
  """
  x = calling.floating("grouped_matmul", "x", x)
  weights = calling.floating("grouped_matmul", "weights", weights)
  group_sizes = calling.array("grouped_matmul", "group_sizes", group_sizes)
  if x.ndim != 2 or weights.ndim != 3 or x.shape[1] != weights.shape[2 if transpose_weights else 1]:
    form = "(groups, n, k)" if transpose_weights else "(groups, k, n)"
    raise errors.ShapeMismatchError(
      f"grouped_matmul: x must have shape (m, k) and weights {form}, got {x.shape} and {weights.shape}."
    )
  if x.dtype != weights.dtype:
    raise errors.ShapeMismatchError(
      f"grouped_matmul: x and weights must have one dtype, got {x.dtype} and {weights.dtype}. Convert one of them."
    )
  calling.shaped("grouped_matmul", "group_sizes", group_sizes, weights.shape[:1], "one size for each group")
  if not jnp.issubdtype(group_sizes.dtype, jnp.integer):
    raise errors.ShapeMismatchError(f"grouped_matmul: group_sizes must be integers, got {group_sizes.dtype}.")
  sizes = group_sizes.astype(jnp.int32)
  return _grouped(calling.execution(interpret, native), transpose_weights, x, weights, sizes)


def tiles_of(sizes: jax.Array, m: int, block: int) -> tuple[jax.Array, jax.Array, jax.Array]:
  """The block of each tile, its group, and for each group its first row, with the rows left over as the last group.

  Tiles past the end of the list repeat the last one.
  """
  ends = jnp.cumsum(jnp.concatenate([sizes, (m - jnp.sum(sizes))[None]]))
  starts = jnp.concatenate([jnp.zeros((1,), ends.dtype), ends[:-1]])
  first, last = starts // block, (ends - 1) // block
  counts = jnp.where(ends > starts, last - first + 1, 0)
  before = jnp.cumsum(counts) - counts
  total = pl.cdiv(m, block) + sizes.shape[0]
  number = jnp.minimum(jnp.arange(total), jnp.sum(counts) - 1)
  group = jnp.searchsorted(jnp.cumsum(counts), number, side="right", method="compare_all")
  return (
    (first[group] + number - before[group]).astype(jnp.int32),
    group.astype(jnp.int32),
    jnp.concatenate([starts, ends[-1:]]).astype(jnp.int32),
  )


def own_rows(block: int, shape: tuple[int, ...], t: Any, blocks: Any, groups: Any, starts: Any) -> jax.Array:
  """Which rows of tile `t` belong to its group."""
  row = blocks[t] * block + jax.lax.broadcasted_iota(jnp.int32, shape, 0)
  group = groups[t]
  return (row >= starts[group]) & (row < starts[group + 1])


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _grouped(execution: Execution, transpose: bool, x: jax.Array, weights: jax.Array, sizes: jax.Array) -> jax.Array:
  (m, k), num_groups = x.shape, weights.shape[0]
  n = weights.shape[1 if transpose else 2]
  if 0 in (m, k, n, num_groups):
    return jnp.zeros((m, n), x.dtype)
  if execution.on_gpu:
    from tilewright.ops import grouped_matmul_gpu

    return grouped_matmul_gpu.grouped(execution, transpose, x, weights, sizes)
  block_m, block_n = tiling.divisor_near(m, 128), tiling.divisor_near(n, 256, 32)
  blocks, groups, starts = tiles_of(sizes, m, block_m)
  contract = (((1,), (1 if transpose else 0,)), ((), ()))

  def kernel(blocks_ref: Any, groups_ref: Any, starts_ref: Any, x_ref: Any, w_ref: Any, o_ref: Any) -> None:
    t = pl.program_id(1)
    is_first = (t == 0) | (blocks_ref[jnp.maximum(t - 1, 0)] != blocks_ref[t])

    @pl.when(is_first)
    def _() -> None:
      o_ref[...] = jnp.zeros(o_ref.shape, o_ref.dtype)

    @pl.when(groups_ref[t] < num_groups)
    def _() -> None:
      product = jax.lax.dot_general(x_ref[...], w_ref[...], contract, preferred_element_type=jnp.float32)
      own = own_rows(block_m, product.shape, t, blocks_ref, groups_ref, starts_ref)
      o_ref[...] = jnp.where(own, product.astype(o_ref.dtype), o_ref[...])

  of_group = lambda groups, t: jnp.minimum(groups[t], num_groups - 1)
  if transpose:
    w_spec = pl.BlockSpec((None, block_n, k), lambda j, t, b, g, s: (of_group(g, t), j, 0))
  else:
    w_spec = pl.BlockSpec((None, k, block_n), lambda j, t, b, g, s: (of_group(g, t), 0, j))
  return pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
    grid_spec=tpu.PrefetchScalarGridSpec(
      num_scalar_prefetch=3,
      grid=(pl.cdiv(n, block_n), blocks.shape[0]),
      in_specs=[pl.BlockSpec((block_m, k), lambda j, t, b, g, s: (b[t], 0)), w_spec],
      out_specs=pl.BlockSpec((block_m, block_n), lambda j, t, b, g, s: (b[t], j)),
    ),
    name="grouped_matmul",
    **execution.options("parallel", "arbitrary"),
  )(blocks, groups, starts, x, weights)


def _weight_slopes(execution: Execution, num_groups: int, x: jax.Array, g: jax.Array, sizes: jax.Array) -> jax.Array:
  """For each group, the product of its rows of `x`, transposed, with its rows of `g`: (groups, k, n), added up in float32."""
  if execution.on_gpu:
    from tilewright.ops import grouped_matmul_gpu

    return grouped_matmul_gpu.weight_slopes(execution, num_groups, x, g, sizes)
  (m, k), n = x.shape, g.shape[1]
  block_m, block_n = tiling.divisor_near(m, 128), tiling.divisor_near(n, 256, 32)
  blocks, groups, starts = tiles_of(sizes, m, block_m)

  def kernel(
    blocks_ref: Any, groups_ref: Any, starts_ref: Any, x_ref: Any, g_ref: Any, zeros_ref: Any, o_ref: Any
  ) -> None:
    t = pl.program_id(1)
    is_new = (t == 0) | (blocks_ref[jnp.maximum(t - 1, 0)] != blocks_ref[t])
    is_new |= groups_ref[jnp.maximum(t - 1, 0)] != groups_ref[t]

    @pl.when((groups_ref[t] < num_groups) & is_new)  # a tile past the end of the list has been added already
    def _() -> None:
      own = functools.partial(own_rows, block_m, t=t, blocks=blocks_ref, groups=groups_ref, starts=starts_ref)
      rows = jnp.where(own(x_ref.shape), x_ref[...], 0.0)
      slopes = jnp.where(own(g_ref.shape), g_ref[...], 0.0)
      o_ref[...] += jax.lax.dot_general(rows, slopes, (((0,), (0,)), ((), ())), preferred_element_type=jnp.float32)

  # Groups without rows keep their initial zeros.
  of_group = pl.BlockSpec((None, k, block_n), lambda j, t, b, g, s: (jnp.minimum(g[t], num_groups - 1), 0, j))
  out = jax.ShapeDtypeStruct((num_groups, k, n), jnp.float32)
  return pl.pallas_call(
    kernel,
    out_shape=out,
    grid_spec=tpu.PrefetchScalarGridSpec(
      num_scalar_prefetch=3,
      grid=(pl.cdiv(n, block_n), blocks.shape[0]),
      in_specs=[
        pl.BlockSpec((block_m, k), lambda j, t, b, g, s: (b[t], 0)),
        pl.BlockSpec((block_m, block_n), lambda j, t, b, g, s: (b[t], j)),
        of_group,
      ],
      out_specs=of_group,
    ),
    input_output_aliases={5: 0},
    name="grouped_matmul_weights",
    **execution.options("parallel", "arbitrary"),
  )(blocks, groups, starts, x, g, jnp.zeros(out.shape, out.dtype))


def _forward(
  execution: Execution, transpose: bool, x: jax.Array, weights: jax.Array, sizes: jax.Array
) -> tuple[jax.Array, Any]:
  return _grouped(execution, transpose, x, weights, sizes), (x, weights, sizes)


def _backward(
  execution: Execution, transpose: bool, residuals: Any, g: jax.Array
) -> tuple[jax.Array, jax.Array, np.ndarray]:
  x, weights, sizes = residuals
  nothing = np.zeros(sizes.shape, jax.dtypes.float0)
  if 0 in (*x.shape, *weights.shape):
    return jnp.zeros_like(x), jnp.zeros_like(weights), nothing
  dx = _grouped(execution, not transpose, g, weights, sizes)
  left, right = (g, x) if transpose else (x, g)
  return dx, _weight_slopes(execution, weights.shape[0], left, right, sizes).astype(weights.dtype), nothing


_grouped.defvjp(_forward, _backward)
