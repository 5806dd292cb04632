"""Rows of a table, gathered by index.

The indices are prefetched scalars, so the index map selects an instance's row: the kernel only copies it. The derivative
adds rows to a table of zeros sequentially, since an index may be repeated; it is parallel over columns instead.

A GPU needs more parallelism, so indices are sorted first. There is an instance for each position of the sorted list, and the first of
those with equal indices adds up the rows of all of them, in order, so that the result is deterministic:

    indices  5 2 5 9     sorted  2 5 5 9     places  1 0 2 3     the second instance adds rows 0 and 2
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
from tilewright.ops.result_shape import reshaped
from tilewright.pallas import tpu
from tilewright.runtime.user_line import names_line


@names_line
def embedding(
  table: jax.Array, indices: jax.Array, *, interpret: bool | None = None, native: bool | None = None
) -> jax.Array:
  """table[indices]: for each index, a row of the table.

  Args:
    table: `(rows, width)` of any dtype; derivatives need a float dtype.
    indices: integers of any shape. One outside of the table is moved to its first or last row.
    interpret: True for the portable lowering on any backend.
    native: whether to compile native code; by default, on the CPU and on NVIDIA GPUs.

  Returns:
    An array of shape `(*indices.shape, width)`.
  """
  table = calling.array("embedding", "table", table)
  indices = calling.array("embedding", "indices", indices)
  if table.ndim != 2:
    raise errors.ShapeMismatchError(f"embedding: table must have shape (rows, width), got {table.shape}.")
  if not jnp.issubdtype(indices.dtype, jnp.integer):
    raise errors.ShapeMismatchError(f"embedding: indices must be integers, got {indices.dtype}.")
  if table.shape[0] == 0 and indices.size:
    raise errors.ShapeMismatchError("embedding: table has no rows, but there are indices.")
  flat = jnp.clip(indices.reshape(-1), 0, max(0, table.shape[0] - 1)).astype(jnp.int32)
  rows = _gather(calling.execution(interpret, native), table.shape[0], table, flat)
  return reshaped(rows, (*indices.shape, table.shape[1]))


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _gather(execution: Execution, num_rows: int, table: jax.Array, indices: jax.Array) -> jax.Array:
  width, count = table.shape[1], indices.shape[0]
  if width == 0 or count == 0:
    return jnp.zeros((count, width), table.dtype)

  def kernel(indices_ref: Any, row_ref: Any, o_ref: Any) -> None:
    o_ref[...] = row_ref[...]

  return pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct((count, width), table.dtype),
    grid_spec=tpu.PrefetchScalarGridSpec(
      num_scalar_prefetch=1,
      grid=(count,),
      in_specs=[pl.BlockSpec((None, width), lambda i, indices_ref: (indices_ref[i], 0))],
      out_specs=pl.BlockSpec((None, width), lambda i, indices_ref: (i, 0)),
    ),
    name="embedding",
    **execution.options("parallel"),
  )(indices, table)


def _forward(execution: Execution, num_rows: int, table: jax.Array, indices: jax.Array) -> tuple[jax.Array, Any]:
  return _gather(execution, num_rows, table, indices), (indices, jnp.zeros((0,), table.dtype))


def _backward(execution: Execution, num_rows: int, residuals: Any, g: jax.Array) -> tuple[jax.Array, np.ndarray]:
  indices, like = residuals
  nothing = np.zeros(indices.shape, jax.dtypes.float0)
  count, width = g.shape
  if 0 in (count, width, num_rows):
    return jnp.zeros((num_rows, width), like.dtype), nothing
  if execution.on_gpu:
    return _summed_in_order(execution, num_rows, indices, g, like.dtype), nothing
  block = tiling.divisor_near(width, max(16, pl.cdiv(width, 8)), 16)
  if width % block:  # a strip of the table that extends past its edge would be copied for each index
    block = width

  def kernel(indices_ref: Any, g_ref: Any, o_ref: Any) -> None:
    @pl.when(pl.program_id(1) == 0)
    def _() -> None:
      o_ref[...] = jnp.zeros(o_ref.shape, o_ref.dtype)

    row = pl.ds(indices_ref[pl.program_id(1)], 1)
    o_ref[row, :] += g_ref[...].astype(jnp.float32)

  summed = pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct((num_rows, width), jnp.float32),
    grid_spec=tpu.PrefetchScalarGridSpec(
      num_scalar_prefetch=1,
      grid=(pl.cdiv(width, block), count),
      in_specs=[pl.BlockSpec((1, block), lambda j, i, indices_ref: (i, j))],
      out_specs=pl.BlockSpec((num_rows, block), lambda j, i, indices_ref: (0, j)),
    ),
    name="embedding_backward",
    **execution.options("parallel", "arbitrary"),
  )(indices, g)
  return summed.astype(like.dtype), nothing


def _summed_in_order(execution: Execution, num_rows: int, indices: jax.Array, g: jax.Array, dtype: Any) -> jax.Array:
  """A table of zeros to whose rows those of `g` are added, in float32."""
  count, width = g.shape
  block = tiling.elements_per_gpu_block(width)
  places = jnp.argsort(indices, stable=True).astype(jnp.int32)
  sorted_indices = indices[places]
  ends = jnp.searchsorted(sorted_indices, sorted_indices, side="right").astype(jnp.int32)

  def kernel(indices_ref: Any, places_ref: Any, ends_ref: Any, g_ref: Any, zeros_ref: Any, o_ref: Any) -> None:
    i, j = pl.program_id(0), pl.program_id(1)

    @pl.when((i == 0) | (indices_ref[jnp.maximum(i - 1, 0)] != indices_ref[i]))
    def _() -> None:
      def add(n: Any, total: jax.Array) -> jax.Array:
        return total + g_ref[places_ref[n], pl.ds(j * block, block)].astype(jnp.float32)

      total = jax.lax.fori_loop(i, ends_ref[i], add, jnp.zeros((block,), jnp.float32))
      o_ref[...] = total.astype(o_ref.dtype)

  padded = jnp.pad(g, ((0, 0), (0, -width % block)))
  out = jax.ShapeDtypeStruct((num_rows, width), dtype)
  return pl.pallas_call(
    kernel,
    out_shape=out,
    grid_spec=tpu.PrefetchScalarGridSpec(
      num_scalar_prefetch=3,
      grid=(count, pl.cdiv(width, block)),
      in_specs=[pl.BlockSpec(memory_space=pl.ANY)] * 2,
      out_specs=pl.BlockSpec((None, block), lambda i, j, indices_ref, *_: (indices_ref[i], j)),
    ),
    input_output_aliases={4: 0},
    name="embedding_backward",
    **execution.options("parallel", "parallel"),
  )(sorted_indices, places, ends, padded, jnp.zeros(out.shape, out.dtype))


_gather.defvjp(_forward, _backward)
