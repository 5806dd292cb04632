"""Rotary position embedding: each head's vector is rotated, plane by plane, by angles proportional to the position.

The first and the second half (a, b) of a head are the coordinates of its planes:

    (a, b)  becomes  (a cos - b sin, b cos + a sin)

The transpose of a rotation is its inverse, so the derivative towards x is the same kernel with -sin. Those towards the tables, which are
rarely needed, are a separate kernel, which JAX removes where they are unused.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright import pallas as pl
from tilewright.ops import calling, tiling
from tilewright.ops.calling import Execution
from tilewright.ops.result_shape import reshaped
from tilewright.runtime.user_line import names_line


@names_line
def rotary(
  x: jax.Array, cos: jax.Array, sin: jax.Array, *, interpret: bool | None = None, native: bool | None = None
) -> jax.Array:
  """Rotate the vectors of all heads by the angles of their positions; the result has the shape and dtype of `x`.

      angle = position[:, None] * 10000.0 ** (-jnp.arange(0, head_dim, 2) / head_dim)
      rotary(x, jnp.cos(angle), jnp.sin(angle))

  Args:
    x: `(..., length, heads, head_dim)` of float32, bfloat16 or float16; computed in float32.
    cos: `(length, head_dim // 2)` of the same dtypes: the cosine for each position and each pair of elements `i` and
      `i + head_dim // 2`.
    sin: the sines, as `cos`.
    interpret: True for the portable lowering on any backend.
    native: whether to compile native code; by default, on the CPU and on NVIDIA GPUs.
  """
  x = calling.floating("rotary", "x", x, min_rank=3)
  length, heads, width = x.shape[-3:]
  if width % 2:
    raise errors.ShapeMismatchError(
      f"rotary: the last dimension of x is a head's, which is rotated in pairs: it must be even, got shape {x.shape}."
    )
  cos, sin = calling.floating("rotary", "cos", cos), calling.floating("rotary", "sin", sin)
  for name, table in (("cos", cos), ("sin", sin)):
    calling.shaped("rotary", name, table, (length, width // 2), "the length of x, and half of a head")
  if x.size == 0:
    return x
  halves = x.reshape(math.prod(x.shape[:-3]), length, heads, 2, width // 2)
  return reshaped(_rotary(calling.execution(interpret, native), halves, cos, sin), x.shape)


def _halves(ref: Any) -> tuple[jax.Array, jax.Array]:
  """The coordinates that a block holds, in float32: for each position, head and pair."""
  return ref[:, :, 0].astype(jnp.float32), ref[:, :, 1].astype(jnp.float32)


def _table(ref: Any) -> jax.Array:
  """A block of a table, which is the same for all heads."""
  return ref[...].astype(jnp.float32)[:, None]


def _rows(execution: Execution, x: jax.Array) -> int:
  """How many positions, with all their heads, a block has."""
  _, length, heads, _, half = x.shape
  elements = 2 * heads * half
  return (
    tiling.rows_per_gpu_block(length, elements) if execution.on_gpu else tiling.rows_per_block(length, 4 * elements)
  )


def _rotated(execution: Execution, name: str, x: jax.Array, cos: jax.Array, sin: jax.Array, sign: int) -> jax.Array:
  batch, length, heads, _, half = x.shape
  if execution.on_gpu:
    rows = 1
    group = tiling.part_of_gpu_row(heads, 2 * half)
  else:
    rows, group = _rows(execution, x), heads
  halves = pl.BlockSpec((None, rows, group, 2, half), lambda i, j, h: (i, j, h, 0, 0))
  table = pl.BlockSpec((rows, half), lambda i, j, h: (j, 0))

  def kernel(x_ref: Any, cos_ref: Any, sin_ref: Any, o_ref: Any) -> None:
    (a, b), c, s = _halves(x_ref), _table(cos_ref), sign * _table(sin_ref)
    o_ref[:, :, 0] = (a * c - b * s).astype(o_ref.dtype)
    o_ref[:, :, 1] = (b * c + a * s).astype(o_ref.dtype)

  return pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    grid=(batch, pl.cdiv(length, rows), heads // group),
    in_specs=[halves, table, table],
    out_specs=halves,
    name=name,
    **execution.options(),
  )(x, cos, sin)


def _towards_tables(execution: Execution, x: jax.Array, g: jax.Array) -> tuple[jax.Array, jax.Array]:
  """The derivatives towards cos and sin, summed over heads and batch."""
  rows, (batch, length, heads, _, half) = _rows(execution, x), x.shape
  halves = pl.BlockSpec((None, rows, heads, 2, half), lambda i, j: (i, j, 0, 0, 0))

  def kernel(x_ref: Any, g_ref: Any, cos_ref: Any, sin_ref: Any) -> None:
    (a, b), (ga, gb) = _halves(x_ref), _halves(g_ref)
    cos_ref[...] = jnp.sum(ga * a + gb * b, axis=1)
    sin_ref[...] = jnp.sum(gb * a - ga * b, axis=1)

  own = pl.BlockSpec((None, rows, half), lambda i, j: (i, j, 0))
  partial_sums = jax.ShapeDtypeStruct((batch, length, half), jnp.float32)
  dcos, dsin = pl.pallas_call(
    kernel,
    out_shape=[partial_sums, partial_sums],
    grid=(batch, pl.cdiv(length, rows)),
    in_specs=[halves, halves],
    out_specs=[own, own],
    name="rotary_tables_backward",
    **execution.options(),
  )(x, g)
  return dcos.sum(0), dsin.sum(0)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _rotary(execution: Execution, x: jax.Array, cos: jax.Array, sin: jax.Array) -> jax.Array:
  return _rotated(execution, "rotary", x, cos, sin, 1)


def _rotary_forward(execution: Execution, x: jax.Array, cos: jax.Array, sin: jax.Array) -> tuple[jax.Array, Any]:
  return _rotary(execution, x, cos, sin), (x, cos, sin)


def _rotary_backward(execution: Execution, residuals: Any, g: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
  x, cos, sin = residuals
  dcos, dsin = _towards_tables(execution, x, g)
  return _rotated(execution, "rotary_backward", g, cos, sin, -1), dcos.astype(cos.dtype), dsin.astype(sin.dtype)


_rotary.defvjp(_rotary_forward, _rotary_backward)
