"""Reading and writing parts of arrays: slice, pad, dynamic-slice, dynamic-update-slice, gather, scatter.

Start indices of dynamic-slice, dynamic-update-slice and gather are clamped so that the whole slice lies inside. A
scatter update whose window does not lie inside is left out as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.hlo.evaluate.interpreter import Device
from tilewright.hlo.evaluate.reductions import fold_at, untuple
from tilewright.hlo.evaluate.table import Arrays, Value, rule
from tilewright.hlo.ir import Instruction


@rule("slice")
def slice_(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  return operands[0][tuple(slice(s.start, s.limit, s.stride) for s in instruction.attrs["slice"])]


@rule("pad")
def pad(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  """Interior first, then the edges; a negative edge cuts off."""
  x, value = operands
  padding = instruction.attrs["padding"]
  spread = [0 if n == 0 else (n - 1) * (p.interior + 1) + 1 for n, p in zip(x.shape, padding)]
  sizes = [max(0, n + p.low + p.high) for n, p in zip(spread, padding)]
  result = np.full(sizes, value)
  to, out_of = [], []
  for n, size, p in zip(x.shape, sizes, padding):
    place = np.arange(n) * (p.interior + 1) + p.low
    inside = np.flatnonzero((place >= 0) & (place < size))
    to.append(place[inside])
    out_of.append(inside)
  result[np.ix_(*to)] = x[np.ix_(*out_of)]
  return result


def start_indices(operands: Sequence[Value], sizes: Sequence[int], limits: Sequence[int]) -> list[int]:
  """Scalars, or one vector of them; clamped."""
  starts = [int(i) for i in operands[0]] if len(operands) == 1 and operands[0].ndim == 1 else [int(i) for i in operands]
  return [min(max(i, 0), limit - size) for i, size, limit in zip(starts, sizes, limits)]


@rule("dynamic-slice")
def dynamic_slice(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  x, *indices = operands
  sizes = instruction.attrs["dynamic_slice_sizes"]
  starts = start_indices(indices, sizes, x.shape)
  return x[tuple(slice(i, i + n) for i, n in zip(starts, sizes))]


@rule("dynamic-update-slice")
def dynamic_update_slice(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  x, update, *indices = operands
  starts = start_indices(indices, update.shape, x.shape)
  result = np.array(x)
  result[tuple(slice(i, i + n) for i, n in zip(starts, update.shape))] = update
  return result


def _index_vectors(indices: np.ndarray, vector_dim: int) -> np.ndarray:
  """int64 indices with the index vector last; unsigned ones too large for it count as far out of bounds."""
  if vector_dim == indices.ndim:
    indices = indices[..., None]
  moved = np.moveaxis(indices, vector_dim, -1)
  if moved.dtype == np.uint64:
    moved = np.minimum(moved, np.uint64(2**62))
  return moved.astype(np.int64)


def _batch_starts(
  vectors: np.ndarray,
  rank: int,
  index_map: tuple[int, ...],
  operand_batching: tuple[int, ...],
  index_batching: tuple[int, ...],
  vector_dim: int,
) -> np.ndarray:
  """The start of each slice in operand coordinates: [batch dimensions…, rank]."""
  starts = np.zeros((*vectors.shape[:-1], rank), np.int64)
  for position, dimension in enumerate(index_map):
    starts[..., dimension] = vectors[..., position]
  batch_rank = vectors.ndim - 1
  for dimension, index_dim in zip(operand_batching, index_batching):
    axis = index_dim if index_dim < vector_dim else index_dim - 1
    counts = np.arange(vectors.shape[axis]).reshape([-1 if i == axis else 1 for i in range(batch_rank)])
    starts[..., dimension] = counts
  return starts


@rule("gather")
def gather(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  x, indices = operands
  a = instruction.attrs
  sizes, vector_dim = a["slice_sizes"], a["index_vector_dim"]
  batching = a.get("operand_batching_dims", ())
  vectors = _index_vectors(indices, vector_dim)
  starts = _batch_starts(
    vectors, x.ndim, a.get("start_index_map", ()), batching, a.get("start_indices_batching_dims", ()), vector_dim
  )
  limits = np.array(x.shape, np.int64) - np.array(sizes, np.int64)
  starts = np.clip(starts, 0, limits) if x.ndim else starts
  batch_shape = starts.shape[:-1]
  dropped = {*a.get("collapsed_slice_dims", ()), *batching}
  window_dims = [d for d in range(x.ndim) if d not in dropped]
  index = []
  for dimension in range(x.ndim):
    start = starts[..., dimension].reshape((*batch_shape, *(1,) * len(window_dims)))
    if dimension in dropped:
      index.append(start)
    else:
      place = [1] * (len(batch_shape) + len(window_dims))
      place[len(batch_shape) + window_dims.index(dimension)] = sizes[dimension]
      index.append(start + np.arange(sizes[dimension]).reshape(place))
  window_shape = tuple(sizes[d] for d in window_dims)
  found = np.broadcast_to(x[tuple(index)] if index else x, batch_shape + window_shape)
  # found is [batch…, window…]; window dimensions go to offset_dims, batch dimensions fill the rest in order.
  offset_dims = tuple(a.get("offset_dims", ()))
  rest = [d for d in range(found.ndim) if d not in offset_dims]
  where = [*rest, *offset_dims]
  return found.transpose(np.argsort(where, kind="stable").tolist()) if found.ndim else found


@rule("scatter")
def scatter(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  a = instruction.attrs
  count = len(operands) // 2
  inputs, indices, updates = operands[:count], operands[count], operands[count + 1 :]
  shape, vector_dim = inputs[0].shape, a["index_vector_dim"]
  batching = a.get("input_batching_dims", ())
  vectors = _index_vectors(indices, vector_dim)
  starts = _batch_starts(
    vectors,
    len(shape),
    a.get("scatter_dims_to_operand_dims", ()),
    batching,
    a.get("scatter_indices_batching_dims", ()),
    vector_dim,
  )
  window_axes = tuple(a.get("update_window_dims", ()))
  batch_axes = [d for d in range(updates[0].ndim) if d not in window_axes]
  rows = [u.transpose([*batch_axes, *window_axes]) for u in updates]
  dropped = {*a.get("inserted_window_dims", ()), *batching}
  window_dims = [d for d in range(len(shape)) if d not in dropped]
  window = rows[0].shape[len(batch_axes) :]
  full = np.ones(len(shape), np.int64)
  full[window_dims] = window
  inside = np.all((starts >= 0) & (starts + full <= np.array(shape, np.int64)), axis=-1)
  strides = np.ones(len(shape), np.int64)
  strides[:-1] = np.cumprod(np.array(shape[:0:-1], np.int64))[::-1]
  base = (starts * strides).sum(axis=-1)[inside]
  offsets = np.zeros(window, np.int64)
  for axis, dimension in enumerate(window_dims):
    step = np.arange(window[axis]) * strides[dimension]
    offsets += step.reshape([-1 if i == axis else 1 for i in range(len(window))])
  where = (base[:, None] + offsets.reshape(1, -1)).reshape(-1)
  targets: Arrays = [np.array(x).reshape(-1) for x in inputs]
  flat = [row[inside].reshape(-1) for row in rows]
  fold_at(device, a["to_apply"], targets, where, flat)
  return untuple(instruction, [t.reshape(shape) for t in targets])
