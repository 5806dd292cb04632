"""Row-wise and elementwise kernels: the body is a function of values, the blocks are chosen here.

`by_rows` passes a kernel body a few rows at a time, `elementwise` a run of elements. An array of any rank is seen as rows of its last
dimension. Rows past the end are poison and are never written, so bodies need no masks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import pallas as pl
from tilewright.ops import spaces, tiling
from tilewright.ops.calling import Execution
from tilewright.ops.result_shape import reshaped

Body = Callable[..., Any]


def by_rows(
  body: Body,
  execution: Execution,
  name: str,
  arrays: Sequence[jax.Array],
  shared: Sequence[jax.Array],
  outs: Sequence[jax.ShapeDtypeStruct],
  passes: int = 2,
) -> list[jax.Array]:
  """Apply `body(*rows, *shared)` to blocks of rows.

  `arrays` and `outs` have a common number of rows: rank 2, or rank 1 with one element per row (which the body sees as a column).
  `shared` are arrays of rank 1 that every block sees whole, as a row.
  """
  num_rows, num_arrays = (
    arrays[0].shape[0],
    len(arrays),
  )  # the kernel closes over no array, which would cause a retrace
  if num_rows == 0 or any(0 in x.shape for x in arrays):
    return [jnp.zeros(o.shape, o.dtype) for o in outs]
  row_elements = max(math.prod(x.shape[1:]) for x in (*arrays, *outs))
  block, execution = spaces.rows_of_block(execution, name, num_rows, row_elements, arrays[0].dtype)
  if not block and execution.on_gpu:
    block = tiling.rows_per_gpu_block(num_rows, row_elements, is_sharing=bool(shared))
  elif not block:
    block = tiling.rows_per_block(num_rows, 4 * row_elements, passes)

  def kernel(*refs: Any) -> None:
    inputs, results = refs[: -len(outs)], refs[-len(outs) :]
    values = [ref[...][:, None] if ref.ndim == 1 else ref[...] for ref in inputs[:num_arrays]]
    computed = body(*values, *(ref[...][None, :] for ref in inputs[num_arrays:]))
    for ref, value in zip(results, computed if isinstance(computed, tuple) else (computed,)):
      ref[...] = value.reshape(ref.shape).astype(ref.dtype)

  def rows(x: Any) -> pl.BlockSpec:
    rest = tuple(x.shape[1:])
    return pl.BlockSpec((block, *rest), lambda i: (i, *(0 for _ in rest)))

  return pl.pallas_call(
    kernel,
    out_shape=list(outs),
    grid=(pl.cdiv(num_rows, block),),
    in_specs=[*(rows(x) for x in arrays), *(pl.BlockSpec(x.shape, lambda i: (0,)) for x in shared)],
    out_specs=[rows(o) for o in outs],
    name=name,
    **execution.options(),
  )(*arrays, *shared)


def summed_over_rows(
  body: Body,
  execution: Execution,
  name: str,
  arrays: Sequence[jax.Array],
  shared: Sequence[jax.Array],
  out: jax.ShapeDtypeStruct,
  num_accumulators: int,
) -> tuple[jax.Array, list[jax.Array]]:
  """Like `by_rows` with one output, and with sums over all rows: `body` gives the rows, then for each sum the rows to be added up.

  Rows are distributed over a few groups, which run in parallel; within a group each block is added to the group's partial sums, and those
  are added at the end.
  """
  (num_rows, width), num_arrays = arrays[0].shape, len(arrays)
  if num_rows == 0 or width == 0:
    return jnp.zeros(out.shape, out.dtype), [jnp.zeros((width,), jnp.float32)] * num_accumulators
  block = (
    tiling.rows_per_gpu_block(num_rows, width) if execution.on_gpu else tiling.rows_per_block(num_rows, width * 4, 3)
  )
  blocks = pl.cdiv(num_rows, block)
  steps = pl.cdiv(blocks, tiling.row_groups(execution.on_gpu))
  groups = pl.cdiv(blocks, steps)
  ragged = groups * steps * block != num_rows

  def kernel(*refs: Any) -> None:
    inputs, out_ref, accumulators = refs[: -1 - num_accumulators], refs[-1 - num_accumulators], refs[-num_accumulators:]
    step = pl.program_id(1)

    @pl.when(step == 0)
    def _() -> None:
      for ref in accumulators:
        ref[...] = jnp.zeros(ref.shape, ref.dtype)

    values = [ref[...][:, None] if ref.ndim == 1 else ref[...] for ref in inputs[:num_arrays]]
    rows, *parts = body(*values, *(ref[...][None, :] for ref in inputs[num_arrays:]))
    out_ref[...] = rows.astype(out_ref.dtype)
    first = (pl.program_id(0) * steps + step) * block
    for ref, part in zip(accumulators, parts):
      if ragged:
        part = jnp.where(first + jax.lax.broadcasted_iota(jnp.int32, part.shape, 0) < num_rows, part, 0.0)
      ref[...] += jnp.sum(part, axis=0, keepdims=True)

  def rows_of(x: Any) -> pl.BlockSpec:
    rest = tuple(x.shape[1:])
    # The last group may run out of blocks: it revisits its last one, and adds none of its rows.
    return pl.BlockSpec((block, *rest), lambda g, s: (jnp.minimum(g * steps + s, blocks - 1), *(0 for _ in rest)))

  rows_out, *accumulators = pl.pallas_call(
    kernel,
    out_shape=[out, *[jax.ShapeDtypeStruct((groups, 1, width), jnp.float32)] * num_accumulators],
    grid=(groups, steps),
    in_specs=[*(rows_of(x) for x in arrays), *(pl.BlockSpec(x.shape, lambda g, s: (0,)) for x in shared)],
    out_specs=[rows_of(out), *[pl.BlockSpec((None, 1, width), lambda g, s: (g, 0, 0))] * num_accumulators],
    name=name,
    **execution.options("parallel", "arbitrary"),
  )(*arrays, *shared)
  return rows_out, [s.sum(axis=(0, 1)) for s in accumulators]


def elementwise(body: Body, execution: Execution, name: str, *arrays: jax.Array, num_outs: int = 1) -> list[jax.Array]:
  """Apply `body` to each element of arrays of one shape. The results have the shape and dtype of the first; computed in float32."""
  first = arrays[0]
  if first.size == 0:
    return [first] * num_outs
  block = tiling.elements_per_gpu_block(first.size) if execution.on_gpu else tiling.elements_per_block(first.size, 4)

  def kernel(*refs: Any) -> None:
    computed = body(*(ref[...].astype(jnp.float32) for ref in refs[: len(arrays)]))
    for ref, value in zip(refs[len(arrays) :], computed if isinstance(computed, tuple) else (computed,)):
      ref[...] = value.astype(ref.dtype)

  spec = pl.BlockSpec((block,), lambda i: (i,))
  flat = pl.pallas_call(
    kernel,
    out_shape=[jax.ShapeDtypeStruct((first.size,), first.dtype)] * num_outs,
    grid=(pl.cdiv(first.size, block),),
    in_specs=[spec] * len(arrays),
    out_specs=[spec] * num_outs,
    name=name,
    **execution.options(),
  )(*(x.reshape(-1) for x in arrays))
  return [reshaped(x, first.shape) for x in flat]


def as_rows(x: jax.Array, kept: int = 1) -> jax.Array:
  """An array with all dimensions but the last few made one: as a matrix of rows of its last dimension, or a list of matrices."""
  first = x.ndim - kept
  return x.reshape(math.prod(x.shape[:first]), *x.shape[first:])
