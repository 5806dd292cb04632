"""Layer and RMS normalisation over the last dimension.

With r = 1 / sqrt(mean of squares + eps) of a (for layer_norm: centred) row and n = row * r, the derivative towards the row is

    dx = r * (h - n * mean(h * n))            h = g * scale         (layer_norm: h is centred as well)

and those towards scale and shift are sums over rows, of g * n and of g. The backward kernel recomputes n from the row: reading the row is
cheaper than storing n.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.ops import calling, long_rows
from tilewright.ops.calling import Execution
from tilewright.ops.long_rows import Row
from tilewright.ops.result_shape import reshaped
from tilewright.ops.rowwise import as_rows, by_rows, summed_over_rows
from tilewright.runtime.user_line import names_line


@names_line
def layer_norm(
  x: jax.Array,
  scale: jax.Array | None = None,
  shift: jax.Array | None = None,
  *,
  eps: float = 1e-5,
  interpret: bool | None = None,
  native: bool | None = None,
) -> jax.Array:
  """(x - mean) / sqrt(variance + eps) * scale + shift, with mean and variance over the last dimension.

  Args:
    x: float32, bfloat16 or float16; computed in float32, the result has the dtype of `x`.
    scale: one factor for each element of the last dimension; left out, 1.
    shift: what is added to each element of the last dimension; left out, 0.
    eps: added to the variance.
    interpret: True for the portable lowering on any backend.
    native: whether to compile native code; by default, on the CPU and on NVIDIA GPUs.
  """
  x, scale = _checked("layer_norm", x, scale, eps)
  if shift is None:
    shift = jnp.zeros(x.shape[-1:], scale.dtype)
  shift = calling.floating("layer_norm", "shift", shift)
  calling.shaped("layer_norm", "shift", shift, x.shape[-1:], "the last dimension of x")
  return reshaped(_layer_norm(calling.execution(interpret, native), float(eps), as_rows(x), scale, shift), x.shape)


@names_line
def rms_norm(
  x: jax.Array,
  scale: jax.Array | None = None,
  *,
  eps: float = 1e-6,
  interpret: bool | None = None,
  native: bool | None = None,
) -> jax.Array:
  """x / sqrt(mean(x²) + eps) * scale over the last dimension; the arguments, `interpret` and `native` too, are those of `layer_norm`."""
  x, scale = _checked("rms_norm", x, scale, eps)
  return reshaped(_rms_norm(calling.execution(interpret, native), float(eps), as_rows(x), scale), x.shape)


def _checked(op: str, x: jax.Array, scale: jax.Array | None, eps: float) -> tuple[jax.Array, jax.Array]:
  x = calling.floating(op, "x", x, min_rank=1)
  if not eps >= 0:
    raise errors.ShapeMismatchError(f"{op}: eps must not be negative, got {eps}.")
  if scale is None:
    scale = jnp.ones(x.shape[-1:], x.dtype)
  scale = calling.floating(op, "scale", scale)
  calling.shaped(op, "scale", scale, x.shape[-1:], "the last dimension of x")
  return x, scale


def _mean(x: jax.Array) -> jax.Array:
  return jnp.sum(x, axis=-1, keepdims=True) * (1.0 / x.shape[-1])


def _like(x: jax.Array) -> jax.ShapeDtypeStruct:
  return jax.ShapeDtypeStruct(x.shape, x.dtype)


def _of_long_rows(
  execution: Execution, name: str, eps: float, x: jax.Array, shared: list[jax.Array], is_centred: bool
) -> jax.Array:
  """Norms of rows that a GPU processes in chunks, see `long_rows`; `shared` are the scale and perhaps the shift."""

  def result(centred: jax.Array, r: jax.Array, scale: jax.Array, *shift: jax.Array) -> jax.Array:
    y = centred * r * scale.astype(jnp.float32)
    return y + shift[0].astype(jnp.float32) if shift else y

  def at_once(row: Row, x: jax.Array, *shared: jax.Array) -> jax.Array:
    x = x.astype(jnp.float32)
    if is_centred:
      x = x - row.sum(x) * (1.0 / row.width)
    return result(x, jax.lax.rsqrt(row.sum(x * x) * (1.0 / row.width) + eps), *shared)

  if long_rows.is_one_chunk(x):
    return long_rows.run(execution, name, at_once, [x], [], shared, maps=x.dtype)[0]
  if is_centred:
    mean, square = long_rows.moments(execution, f"{name}_parts", x)
  else:

    def squares(row: Row, x: jax.Array) -> tuple[jax.Array]:
      x = x.astype(jnp.float32)
      return (row.sum(x * x),)

    (parts,) = long_rows.run(execution, f"{name}_parts", squares, [x], [], [], parts=1)
    mean, square = jnp.zeros(x.shape[:1], jnp.float32), jnp.sum(parts, axis=1) * (1.0 / x.shape[1])

  def body(row: Row, x: jax.Array, mean: jax.Array, r: jax.Array, *shared: jax.Array) -> jax.Array:
    return result(x.astype(jnp.float32) - mean, r, *shared)

  return long_rows.run(execution, name, body, [x], [mean, jax.lax.rsqrt(square + eps)], shared, maps=x.dtype)[0]


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _layer_norm(execution: Execution, eps: float, x: jax.Array, scale: jax.Array, shift: jax.Array) -> jax.Array:
  def body(x: jax.Array, scale: jax.Array, shift: jax.Array) -> jax.Array:
    x = x.astype(jnp.float32)
    centred = x - _mean(x)
    return centred * jax.lax.rsqrt(_mean(centred * centred) + eps) * scale.astype(jnp.float32) + shift.astype(
      jnp.float32
    )

  if long_rows.applies(execution, x):
    return _of_long_rows(execution, "layer_norm", eps, x, [scale, shift], is_centred=True)
  return by_rows(body, execution, "layer_norm", [x], [scale, shift], [_like(x)])[0]


def _layer_norm_forward(
  execution: Execution, eps: float, x: jax.Array, scale: jax.Array, shift: jax.Array
) -> tuple[jax.Array, tuple[jax.Array, jax.Array, jax.Array]]:
  return _layer_norm(execution, eps, x, scale, shift), (x, scale, shift)


def _layer_norm_backward(
  execution: Execution, eps: float, residuals: tuple[jax.Array, jax.Array, jax.Array], g: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
  x, scale, shift = residuals

  def body(x: jax.Array, g: jax.Array, scale: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    x, g = x.astype(jnp.float32), g.astype(jnp.float32)
    centred = x - _mean(x)
    r = jax.lax.rsqrt(_mean(centred * centred) + eps)
    n, h = centred * r, g * scale.astype(jnp.float32)
    return r * (h - _mean(h) - n * _mean(h * n)), g * n, g

  dx, (dscale, dshift) = summed_over_rows(body, execution, "layer_norm_backward", [x, g], [scale], _like(x), 2)
  return dx, dscale.astype(scale.dtype), dshift.astype(shift.dtype)


_layer_norm.defvjp(_layer_norm_forward, _layer_norm_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _rms_norm(execution: Execution, eps: float, x: jax.Array, scale: jax.Array) -> jax.Array:
  def body(x: jax.Array, scale: jax.Array) -> jax.Array:
    x = x.astype(jnp.float32)
    return x * jax.lax.rsqrt(_mean(x * x) + eps) * scale.astype(jnp.float32)

  if long_rows.applies(execution, x):
    return _of_long_rows(execution, "rms_norm", eps, x, [scale], is_centred=False)
  return by_rows(body, execution, "rms_norm", [x], [scale], [_like(x)])[0]


def _rms_norm_forward(
  execution: Execution, eps: float, x: jax.Array, scale: jax.Array
) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
  return _rms_norm(execution, eps, x, scale), (x, scale)


def _rms_norm_backward(
  execution: Execution, eps: float, residuals: tuple[jax.Array, jax.Array], g: jax.Array
) -> tuple[jax.Array, jax.Array]:
  x, scale = residuals

  def body(x: jax.Array, g: jax.Array, scale: jax.Array) -> tuple[jax.Array, jax.Array]:
    x, g = x.astype(jnp.float32), g.astype(jnp.float32)
    r = jax.lax.rsqrt(_mean(x * x) + eps)
    n, h = x * r, g * scale.astype(jnp.float32)
    return r * (h - n * _mean(h * n)), g * n

  dx, (dscale,) = summed_over_rows(body, execution, "rms_norm_backward", [x, g], [scale], _like(x), 1)
  return dx, dscale.astype(scale.dtype)


_rms_norm.defvjp(_rms_norm_forward, _rms_norm_backward)
