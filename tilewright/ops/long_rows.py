"""Row kernels on a GPU for rows that do not fit a CTA's registers, are too few to fill the device, or are not 16-byte aligned.

An array is seen as one-dimensional. A CTA's chunk of a row is extended downwards to the preceding 16-byte boundary, so that all
loads and stores are vectorised, and elements of the neighbouring rows are masked:

    row 1 of 5 elements, vectors of 4     | 0 1 2 3 | 4 5 6 7 | 8 9 a b |
                                                      ^ from here to b: elements 4, a and b are masked

A row of one chunk is computed in one kernel. Of longer ones each chunk gives parts of the statistics, which are combined, and a second
kernel maps the elements:

    softmax   parts: maximum m, sum of exp(x - m)       combined: greatest m, sum of the sums times exp(m - greatest)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import pallas as pl
from tilewright.ops.calling import Execution

_PIECE = 16  # bytes that a thread reads at a time
_SHORTEST = 512  # elements of a row: of shorter ones a CTA takes several
_MAX_CHUNK = 16384  # elements of a chunk that is a whole row: what a CTA of 1024 threads holds
_MAX_UNMASKED_ROW = 32768  # elements of a row that needs no masks and fits a CTA's registers
_CHUNK = 8192  # elements of a chunk of a longer row
_PASSING = 8192  # the same, where one CTA takes all chunks of a row
_SMS = 132  # of an H200: with fewer rows than that, rows are split
_FEW = 4 * _CHUNK  # elements of rows that are split though they would fit, where there are few
_MAX_ELEMENTS = 2**31 - 2**20  # of an array: places are 32-bit numbers


@dataclasses.dataclass(frozen=True)
class Row:
  """What a body knows of its chunk: which elements are the row's own."""

  width: int  # of the whole row
  column: jax.Array  # of each element, in the row
  valid: jax.Array

  def masked(self, x: jax.Array, other: float) -> jax.Array:
    return jnp.where(self.valid, x, jnp.asarray(other, x.dtype))

  def sum(self, x: jax.Array) -> jax.Array:
    return jnp.sum(self.masked(x, 0.0), axis=-1, keepdims=True)

  def max(self, x: jax.Array) -> jax.Array:
    return jnp.max(self.masked(x, -jnp.inf), axis=-1, keepdims=True)

  @property
  def count(self) -> jax.Array:
    return jnp.sum(self.valid.astype(jnp.float32), axis=-1, keepdims=True)


Body = Callable[..., Any]


def is_one_chunk(x: jax.Array) -> bool:
  return chunks_of(x)[0] == 1


def applies(execution: Execution, x: jax.Array) -> bool:
  """Whether this way is better for the rows of an array."""
  rows, width = x.shape
  if not execution.on_gpu or width < _SHORTEST or x.size >= _MAX_ELEMENTS or rows == 0:
    return False
  is_uneven = width * x.dtype.itemsize % _PIECE != 0
  return is_uneven or width > _MAX_UNMASKED_ROW or (rows < _SMS and width >= _FEW)


def are_many(x: jax.Array) -> bool:
  """Whether there are rows enough for all SMs."""
  return x.shape[0] >= _SMS


def chunks_of(x: jax.Array) -> tuple[int, int]:
  """How many chunks a row has, and how many elements those have."""
  rows, width = x.shape
  each = _PIECE // x.dtype.itemsize
  whole = -(-(width + each - 1) // each) * each
  if whole <= _MAX_CHUNK and not (rows < _SMS and width >= _FEW):
    return 1, whole
  return -(-whole // _CHUNK), _CHUNK


def run(
  execution: Execution,
  name: str,
  body: Body,
  arrays: Sequence[jax.Array],
  per_row: Sequence[jax.Array],
  shared: Sequence[jax.Array],
  *,
  maps: Any = None,
  parts: int = 0,
) -> list[jax.Array]:
  """Call `body(row, *chunks, *per_row, *shared)` for each chunk of each row.

  `arrays` have rank 2 and one shape and dtype; `per_row` have rank 1, and a body sees an element, of shape (1, 1); `shared` have a row's
  width. With `maps`, a dtype, the body gives the elements of a result of the shape of the arrays; with `parts`, so many numbers, of shape
  (1, 1): the results are `(rows, chunks)` of float32.
  """
  first = arrays[0]
  rows, width = first.shape
  each = _PIECE // first.dtype.itemsize
  count, chunk = chunks_of(first)
  begin = lambda i: lax.div(i * width, jnp.int32(each)) * each

  def kernel(*refs: Any) -> None:
    i, c = pl.program_id(0), pl.program_id(1)
    start = begin(i) + c * chunk
    column = lax.broadcasted_iota(jnp.int32, (1, chunk), 1) + (start - i * width)
    row = Row(width, column, (column >= 0) & (column < width))
    inputs = refs[: len(arrays) + len(per_row) + len(shared)]
    results = refs[len(inputs) :]
    values = [ref[...].reshape(1, -1) for ref in inputs]
    found = body(row, *values)
    if maps is not None:
      pl.store(results[0], (pl.ds(0, 1), pl.ds(start, chunk)), found.astype(maps), mask=row.valid)
    else:
      for ref, value in zip(results, found, strict=True):
        ref[...] = value.reshape(ref.shape)

  def transposed(x: jax.Array) -> jax.Array:
    """A row-wide array shifted for each alignment of a row within a vector: one row per alignment."""
    return jnp.stack([jnp.pad(x, (s, count * chunk - width - s)) for s in range(each)])

  line = pl.BlockSpec((1, pl.Element(chunk)), lambda i, c: (0, begin(i) + c * chunk))
  own = pl.BlockSpec((1, 1), lambda i, c: (i, 0))
  along = pl.BlockSpec((1, chunk), lambda i, c: (i * width - begin(i), c))
  part = jax.ShapeDtypeStruct((rows, count), jnp.float32)
  outs = [part] * parts if maps is None else [jax.ShapeDtypeStruct((1, rows * width), maps)]
  found = pl.pallas_call(
    kernel,
    out_shape=outs,
    grid=(rows, count),
    in_specs=[*[line] * len(arrays), *[own] * len(per_row), *[along] * len(shared)],
    out_specs=[pl.BlockSpec((1, 1), lambda i, c: (i, c)) if maps is None else pl.BlockSpec(memory_space=pl.ANY)]
    * len(outs),
    name=name,
    **execution.options("parallel", "parallel", on_gpu={"num_warps": _warps(chunk), "writes_all": True}),
  )(*(x.reshape(1, -1) for x in arrays), *(x[:, None] for x in per_row), *(transposed(x) for x in shared))
  return found if maps is None else [found[0].reshape(rows, width)]


def online(execution: Execution, name: str, x: jax.Array, result: Callable[..., jax.Array]) -> jax.Array:
  """`result(x, maximum, sum of exponentials)` of rows that are too long for registers, and enough for the device: a CTA reads a row twice.

  The second pass hits L2. The running maximum grows from chunk to chunk, and the sum is rescaled with it.
  """
  rows, width = x.shape
  each = _PIECE // x.dtype.itemsize
  chunk = _PASSING
  count = -(-(width + each - 1) // chunk)

  begin = lambda i: lax.div(i * width, jnp.int32(each)) * each

  def kernel(x_ref: Any, o_ref: Any, most_ref: Any, total_ref: Any) -> None:
    i, step = pl.program_id(0), pl.program_id(1)
    start = begin(i) + lax.rem(step, jnp.int32(count)) * chunk
    column = lax.broadcasted_iota(jnp.int32, (1, chunk), 1) + (start - i * width)
    row = Row(width, column, (column >= 0) & (column < width))

    @pl.when(step == 0)
    def _() -> None:
      most_ref[...] = jnp.full((1, 1), -jnp.inf, jnp.float32)
      total_ref[...] = jnp.zeros((1, 1), jnp.float32)

    @pl.when(step < count)
    def _() -> None:
      x = x_ref[...].astype(jnp.float32)
      old = most_ref[...]
      row_max = jnp.maximum(old, row.max(x))
      finite = jnp.where(row_max > -jnp.inf, row_max, 0.0)
      most_ref[...] = row_max
      total_ref[...] = total_ref[...] * jnp.exp(old - finite) + row.sum(jnp.exp(x - finite))

    @pl.when(step >= count)
    def _() -> None:
      found = result(x_ref[...].astype(jnp.float32), most_ref[...], total_ref[...])
      pl.store(o_ref, (pl.ds(0, 1), pl.ds(start, chunk)), found.astype(o_ref.dtype), mask=row.valid)

  one = jax.ShapeDtypeStruct((1, 1), jnp.float32)
  place = lambda i, step: (0, begin(i) + lax.rem(step, jnp.int32(count)) * chunk)
  line = pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct((1, rows * width), x.dtype),
    grid=(rows, 2 * count),
    in_specs=[pl.BlockSpec((1, pl.Element(chunk)), place)],
    out_specs=pl.BlockSpec(memory_space=pl.ANY),
    scratch_shapes=[one, one],
    name=name,
    **execution.options("parallel", "arbitrary", on_gpu={"num_warps": 16, "writes_all": True}),
  )(x.reshape(1, -1))
  return line.reshape(rows, width)


def _warps(chunk: int) -> int:
  """Of a CTA: so many that a thread has sixteen elements, and registers for their masks."""
  return next((n for n in (4, 8, 16) if chunk <= n * 512), 32)


def softmax_parts(execution: Execution, name: str, x: jax.Array) -> tuple[jax.Array, jax.Array]:
  """The maximum m of each row, and the sum of exp(x - m)."""

  def body(row: Row, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    x = x.astype(jnp.float32)
    row_max = row.max(x)
    # A chunk may have no element of its row, or none that counts.
    return row_max, row.sum(jnp.where(row_max > -jnp.inf, jnp.exp(x - row_max), 0.0))

  row_max, total = run(execution, name, body, [x], [], [], parts=2)
  greatest = jnp.max(row_max, axis=1)
  factor = jnp.where(row_max > -jnp.inf, jnp.exp(row_max - greatest[:, None]), 0.0)
  return greatest, jnp.sum(total * factor, axis=1)


def moments(execution: Execution, name: str, x: jax.Array) -> tuple[jax.Array, jax.Array]:
  """The mean of each row, and the mean of the squared differences from it: chunks have their own, which are put together exactly."""

  def body(row: Row, x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    x = x.astype(jnp.float32)
    count = row.count
    mean = row.sum(x) / jnp.maximum(count, 1.0)
    centred = x - mean
    return count, mean, row.sum(centred * centred)

  count, mean, squares = run(execution, name, body, [x], [], [], parts=3)
  width = x.shape[1]
  whole = jnp.sum(count * mean, axis=1) / width
  apart = mean - whole[:, None]
  return whole, jnp.sum(squares + count * apart * apart, axis=1) / width
