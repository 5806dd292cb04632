"""Softmax and its logarithm along one dimension.

Each instance takes a few rows, which stay in L1 over the three passes: the maximum, the sum of exponentials, and the division.
The derivative is a separate kernel that reads the result: dx = y * (g - sum(g * y)).
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp

from tilewright.ops import calling, long_rows
from tilewright.ops.calling import Execution
from tilewright.ops.long_rows import Row
from tilewright.ops.result_shape import reshaped
from tilewright.ops.rowwise import as_rows, by_rows
from tilewright.runtime.user_line import names_line


@names_line
def softmax(x: jax.Array, axis: int = -1, *, interpret: bool | None = None, native: bool | None = None) -> jax.Array:
  """exp(x) / sum(exp(x)) along `axis`, computed without overflow in float32; the result has the dtype of `x`.

  Args:
    x: an array of float32, bfloat16 or float16.
    axis: the dimension along which the results add up to one.
    interpret: True for the portable lowering on any backend.
    native: whether to compile native code; by default, on the CPU and on NVIDIA GPUs.
  """
  return _along("softmax", _softmax, x, axis, calling.execution(interpret, native))


@names_line
def log_softmax(
  x: jax.Array, axis: int = -1, *, interpret: bool | None = None, native: bool | None = None
) -> jax.Array:
  """x - log(sum(exp(x))) along `axis`; the arguments, `interpret` and `native` too, are those of `softmax`."""
  return _along("log_softmax", _log_softmax, x, axis, calling.execution(interpret, native))


def _along(name: str, f: Callable[..., jax.Array], x: jax.Array, axis: int, execution: Execution) -> jax.Array:
  x = calling.floating(name, "x", x, min_rank=1)
  axis = calling.axis_of(name, x, axis)
  moved = jnp.moveaxis(x, axis, -1)
  return jnp.moveaxis(reshaped(f(execution, as_rows(moved)), moved.shape), -1, axis)


def _same(x: jax.Array) -> list[jax.ShapeDtypeStruct]:
  return [jax.ShapeDtypeStruct(x.shape, x.dtype)]


def _of_long_rows(execution: Execution, name: str, x: jax.Array, result: Callable[..., jax.Array]) -> jax.Array:
  """`result(x, maximum, sum of exponentials)` of rows that a GPU processes in chunks, see `long_rows`."""
  if long_rows.is_one_chunk(x):

    def at_once(row: Row, x: jax.Array) -> jax.Array:
      x = x.astype(jnp.float32)
      row_max = row.max(x)
      return result(x, row_max, row.sum(jnp.exp(x - row_max)))

    return long_rows.run(execution, name, at_once, [x], [], [], maps=x.dtype)[0]
  if long_rows.are_many(x):
    return long_rows.online(execution, name, x, result)
  parts = long_rows.softmax_parts(execution, f"{name}_parts", x)
  body = lambda row, x, row_max, total: result(x.astype(jnp.float32), row_max, total)
  return long_rows.run(execution, name, body, [x], parts, [], maps=x.dtype)[0]


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _softmax(execution: Execution, x: jax.Array) -> jax.Array:
  def body(x: jax.Array) -> jax.Array:
    x = x.astype(jnp.float32)
    e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
    return e * (1.0 / jnp.sum(e, axis=-1, keepdims=True))

  if long_rows.applies(execution, x):
    return _of_long_rows(execution, "softmax", x, lambda x, row_max, total: jnp.exp(x - row_max) * (1.0 / total))
  return by_rows(body, execution, "softmax", [x], [], _same(x))[0]


def _softmax_forward(execution: Execution, x: jax.Array) -> tuple[jax.Array, jax.Array]:
  y = _softmax(execution, x)
  return y, y


def _softmax_backward(execution: Execution, y: jax.Array, g: jax.Array) -> tuple[jax.Array]:
  def body(y: jax.Array, g: jax.Array) -> jax.Array:
    y, g = y.astype(jnp.float32), g.astype(jnp.float32)
    return y * (g - jnp.sum(y * g, axis=-1, keepdims=True))

  return (by_rows(body, execution, "softmax_backward", [y, g], [], _same(y), passes=3)[0],)


_softmax.defvjp(_softmax_forward, _softmax_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _log_softmax(execution: Execution, x: jax.Array) -> jax.Array:
  def body(x: jax.Array) -> jax.Array:
    x = x.astype(jnp.float32)
    shifted = x - jnp.max(x, axis=-1, keepdims=True)
    return shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis=-1, keepdims=True))

  if long_rows.applies(execution, x):
    return _of_long_rows(execution, "log_softmax", x, lambda x, row_max, total: x - row_max - jnp.log(total))
  return by_rows(body, execution, "log_softmax", [x], [], _same(x))[0]


def _log_softmax_forward(execution: Execution, x: jax.Array) -> tuple[jax.Array, jax.Array]:
  y = _log_softmax(execution, x)
  return y, y


def _log_softmax_backward(execution: Execution, y: jax.Array, g: jax.Array) -> tuple[jax.Array]:
  def body(y: jax.Array, g: jax.Array) -> jax.Array:
    y, g = y.astype(jnp.float32), g.astype(jnp.float32)
    return g - jnp.exp(y) * jnp.sum(g, axis=-1, keepdims=True)

  return (by_rows(body, execution, "log_softmax_backward", [y, g], [], _same(y), passes=3)[0],)


_log_softmax.defvjp(_log_softmax_forward, _log_softmax_backward)
