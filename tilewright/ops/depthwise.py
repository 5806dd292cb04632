"""Depthwise convolution: each channel has its own window.

An instance computes some rows of an image. The input rows that it needs are copied into scratch memory, padded with columns of zeros, so
that every tap of the window is a slice of it, and a result is one sum of products with channels along vector lanes:

    out[h, w, c] = sum over (i, j) of rows[h · stride + i, w · stride + j, c] · window[i, j, c]

Rows of the image that do not exist are zero in scratch memory.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright import pallas as pl
from tilewright.ops import calling, tiling
from tilewright.ops.calling import Execution
from tilewright.runtime.user_line import names_line


@dataclasses.dataclass(frozen=True)
class Window:
  """How a window moves over one dimension: zeros before and after, the distance between two places, and between two taps."""

  before: int = 0
  after: int = 0
  stride: int = 1
  dilation: int = 1

  def reach(self, taps: int) -> int:
    """How many elements the taps span."""
    return (taps - 1) * self.dilation + 1

  def places(self, size: int, taps: int) -> int:
    return max(0, (size + self.before + self.after - self.reach(taps)) // self.stride + 1)


@names_line
def depthwise(
  x: jax.Array,
  w: jax.Array,
  rows: Window,
  columns: Window,
  *,
  interpret: bool | None = None,
  native: bool | None = None,
) -> jax.Array:
  """The convolution of each channel of images (batch, height, width, channels) with its own window (height, width, channels).

  Args:
    x: float32, bfloat16 or float16. Products are added up in float32; the result has the dtype of `x`.
    w: of the same dtype.
    rows: how windows move along the height.
    columns: how windows move along the width.
    interpret: True for the portable lowering on any backend.
    native: whether to compile native code; by default, on the CPU and on NVIDIA GPUs.
  """
  x, w = calling.floating("depthwise", "x", x, min_rank=4), calling.floating("depthwise", "w", w, min_rank=3)
  if x.ndim != 4 or w.ndim != 3 or x.shape[-1] != w.shape[-1] or x.dtype != w.dtype:
    raise errors.ShapeMismatchError(
      "depthwise: x must be (batch, height, width, channels) and w (height, width, channels) of the same dtype, got "
      f"{x.dtype}{list(x.shape)} and {w.dtype}{list(w.shape)}."
    )
  return _depthwise(calling.execution(interpret, native), x, w, rows, columns)


def _depthwise(execution: Execution, x: jax.Array, w: jax.Array, rows: Window, columns: Window) -> jax.Array:
  (batch, height, width, channels), (tall, wide, _) = x.shape, w.shape
  out_height, out_width = rows.places(height, tall), columns.places(width, wide)
  if 0 in (batch, channels, out_height, out_width):
    return jnp.zeros((batch, out_height, out_width, channels), x.dtype)
  span = (out_width - 1) * columns.stride + columns.reach(wide)  # columns that any result needs
  count = _rows_of_a_block(rows, tall, out_height, span * channels, batch)
  needed = (count - 1) * rows.stride + rows.reach(tall)
  inside = min(width, span - columns.before)

  def kernel(x_ref: Any, w_ref: Any, o_ref: Any, rows_ref: Any) -> None:
    first = pl.program_id(1) * (count * rows.stride) - rows.before
    if columns.before:
      rows_ref[:, : columns.before] = jnp.zeros((needed, columns.before, channels), x.dtype)
    if columns.before + inside < span:
      rest = span - columns.before - inside
      rows_ref[:, columns.before + inside :] = jnp.zeros((needed, rest, channels), x.dtype)

    @pl.loop(0, needed)
    def _(r: Any) -> None:
      row = first + r
      exists = (row >= 0) & (row < height)
      place = pl.ds(columns.before, inside)

      @pl.when(exists)
      def _() -> None:
        rows_ref[r, place] = x_ref[row, pl.ds(0, inside)]

      @pl.when(jnp.logical_not(exists))
      def _() -> None:
        rows_ref[r, place] = jnp.zeros((inside, channels), x.dtype)

    total: Any = None
    for i in range(tall):
      for j in range(wide):
        tap = rows_ref[
          pl.ds(i * rows.dilation, count, rows.stride), pl.ds(j * columns.dilation, out_width, columns.stride)
        ]
        product = tap.astype(jnp.float32) * w_ref[i, j].astype(jnp.float32)
        total = product if total is None else total + product
    o_ref[...] = total.astype(o_ref.dtype)

  return pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct((batch, out_height, out_width, channels), x.dtype),
    grid=(batch, pl.cdiv(out_height, count)),
    in_specs=[
      pl.BlockSpec((None, height, width, channels), lambda n, h: (n, 0, 0, 0)),
      pl.BlockSpec(w.shape, lambda n, h: (0, 0, 0)),
    ],
    out_specs=pl.BlockSpec((None, count, out_width, channels), lambda n, h: (n, h, 0, 0)),
    scratch_shapes=[jax.ShapeDtypeStruct((needed, span, channels), x.dtype)],
    name="depthwise",
    **execution.options("parallel", "parallel"),
  )(x, w)


def _rows_of_a_block(rows: Window, tall: int, out_height: int, row: int, batch: int) -> int:
  """The number of rows for which the input rows fit half of L2, and each thread has several blocks."""
  fits = tiling.host_caches().l2 // 2 // (4 * row)
  count = max(1, (fits - rows.reach(tall)) // rows.stride + 1)
  return max(1, min(count, 16, -(-out_height * batch // 8), out_height))
