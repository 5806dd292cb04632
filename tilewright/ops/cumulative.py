"""Running sums, products, maxima and minima along one dimension.

A row is cut into blocks that are processed in order; the running total of a row is kept in scratch memory and combined with the next block.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright import pallas as pl
from tilewright.ops import calling, tiling
from tilewright.ops.calling import Execution
from tilewright.ops.result_shape import reshaped
from tilewright.ops.rowwise import as_rows
from tilewright.runtime.user_line import names_line

_SCANS: dict[str, tuple[Callable[..., jax.Array], Callable[..., jax.Array]]] = {
  "sum": (jax.lax.cumsum, jnp.add),
  "prod": (jax.lax.cumprod, jnp.multiply),
  "max": (jax.lax.cummax, jnp.maximum),
  "min": (jax.lax.cummin, jnp.minimum),
}
_DTYPES = (*calling.FLOATS, np.dtype(jnp.int32))


@names_line
def cumulative(
  kind: str,
  x: jax.Array,
  axis: int = -1,
  *,
  reverse: bool = False,
  interpret: bool | None = None,
  native: bool | None = None,
) -> jax.Array:
  """The running "sum", "prod", "max" or "min" of `x` along `axis`.

  Args:
    kind: which of the four.
    x: float32, bfloat16, float16 or int32. Small floats are added up in float32; the result has the dtype of `x`.
    axis: the dimension to run along.
    reverse: whether to run from the end.
    interpret: True for the portable lowering on any backend.
    native: whether to compile native code; by default, on the CPU and on NVIDIA GPUs.

  Only the running sum has derivatives.
  """
  if kind not in _SCANS:
    raise errors.ShapeMismatchError(f"cumulative: kind must be one of {', '.join(_SCANS)}, got {kind!r}.")
  x = calling.array("cumulative", "x", x, min_rank=1)
  if x.dtype not in _DTYPES:
    raise errors.ShapeMismatchError(
      f"cumulative: x must be float32, bfloat16, float16 or int32, got {x.dtype}. Convert it with x.astype(jnp.float32)."
    )
  axis = calling.axis_of("cumulative", x, axis)
  moved = jnp.moveaxis(x, axis, -1)
  execution = calling.execution(interpret, native)
  if kind == "sum":
    rows = _running_sum(execution, reverse, as_rows(moved))
  else:
    rows = _scan(kind, execution, reverse, as_rows(moved))
  return jnp.moveaxis(reshaped(rows, moved.shape), -1, axis)


@names_line
def cumsum(
  x: jax.Array,
  axis: int = -1,
  *,
  reverse: bool = False,
  interpret: bool | None = None,
  native: bool | None = None,
) -> jax.Array:
  """The running sum of `x` along `axis`, from the end if `reverse`; `interpret` and `native` are those of `cumulative`."""
  return cumulative("sum", x, axis, reverse=reverse, interpret=interpret, native=native)


def _scan(kind: str, execution: Execution, reverse: bool, x: jax.Array) -> jax.Array:
  rows, width = x.shape
  if 0 in x.shape:
    return x
  scan, join = _SCANS[kind]
  dtype = x.dtype if x.dtype == jnp.int32 else np.dtype(jnp.float32)
  block_r, block_c = tiling.scan_blocks(execution.on_gpu, rows, width)
  steps = pl.cdiv(width, block_c)
  order = lambda s: steps - 1 - s if reverse else s

  def kernel(x_ref: Any, o_ref: Any, so_far_ref: Any) -> None:
    step = pl.program_id(1)
    values = x_ref[...].astype(dtype)
    if reverse and width % block_c:  # poison past the end would come first
      place = order(step) * block_c + jax.lax.broadcasted_iota(jnp.int32, values.shape, 1)
      values = jnp.where(place < width, values, _neutral(kind, dtype))
    scanned = scan(values, axis=1, reverse=reverse)

    @pl.when(step == 0)
    def _() -> None:
      so_far_ref[...] = jnp.full(so_far_ref.shape, _neutral(kind, dtype), dtype)

    total = join(scanned, so_far_ref[...])
    o_ref[...] = total.astype(o_ref.dtype)
    so_far_ref[...] = total[:, :1] if reverse else total[:, -1:]

  spec = pl.BlockSpec((block_r, block_c), lambda i, s: (i, order(s)))
  return pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    grid=(pl.cdiv(rows, block_r), steps),
    in_specs=[spec],
    out_specs=spec,
    scratch_shapes=[jax.ShapeDtypeStruct((block_r, 1), dtype)],
    name=f"cumulative_{kind}",
    **execution.options("parallel", "arbitrary"),
  )(x)


def _neutral(kind: str, dtype: np.dtype) -> Any:
  if kind in ("sum", "prod"):
    return int(kind == "prod")
  if dtype == np.int32:
    return np.iinfo(dtype).min if kind == "max" else np.iinfo(dtype).max
  return -np.inf if kind == "max" else np.inf


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _running_sum(execution: Execution, reverse: bool, x: jax.Array) -> jax.Array:
  return _scan("sum", execution, reverse, x)


def _forward(execution: Execution, reverse: bool, x: jax.Array) -> tuple[jax.Array, None]:
  return _running_sum(execution, reverse, x), None


def _backward(execution: Execution, reverse: bool, _: None, g: jax.Array) -> tuple[jax.Array]:
  return (_scan("sum", execution, not reverse, g),)


_running_sum.defvjp(_forward, _backward)
