"""The largest elements of each row, without sorting.

The order is total: larger first, and among equals the lower index first. So the next element is the largest among those after the last one
found in this order, and nothing has to be marked as taken. Floats are compared as integers that have the same order (with NaN above
infinity, as in `jax.lax.top_k`).

A row is cut into groups, and the kernel keeps the best remaining element of each group:

    row     3 1 4 1 | 5 9 2 6 | 5 3 5 8        best of each group   4 9 8
    step 1  9 is found, in the second group:   its best becomes     4 6 8
    step 2  8 is found, in the third group:    its best becomes     4 6 5

So the whole row is read once, and each of the k steps reads the groups' bests and one group.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright import pallas as pl
from tilewright.ops import calling
from tilewright.ops.calling import Execution
from tilewright.ops.result_shape import reshaped
from tilewright.ops.rowwise import as_rows
from tilewright.runtime.user_line import names_line

_DTYPES = (*calling.FLOATS, np.dtype(jnp.int32), np.dtype(jnp.int16), np.dtype(jnp.int8))
_GROUP = 64  # elements: a few vectors
_INT_MIN, _INT_MAX = np.iinfo(np.int32).min, np.iinfo(np.int32).max


@names_line
def top_k(
  x: jax.Array, k: int, *, interpret: bool | None = None, native: bool | None = None
) -> tuple[jax.Array, jax.Array]:
  """The `k` largest elements along the last dimension, in descending order, and their indices.

  Args:
    x: `(..., n)` of a float or a signed integer dtype of at most 32 bits.
    k: how many, at most n. The work grows with n + k * n / 64.
    interpret: True for the portable lowering on any backend.
    native: whether to compile native code; by default, on the CPU and on NVIDIA GPUs.

  Returns:
    The values and the indices (int32), both of shape `(..., k)`.
  """
  x = calling.array("top_k", "x", x, min_rank=1)
  if x.dtype not in _DTYPES:
    raise errors.ShapeMismatchError(
      f"top_k: x must be float32, bfloat16, float16, int32, int16 or int8, got {x.dtype}. Convert it first."
    )
  if not hasattr(k, "__index__") or isinstance(k, bool):
    raise errors.ShapeMismatchError(f"top_k: k must be an int, got {k!r}. It is part of the shape of the results.")
  if not 0 <= k <= x.shape[-1]:
    raise errors.ShapeMismatchError(f"top_k: k must be between 0 and the {x.shape[-1]} elements of a row, got {k}.")
  execution = calling.execution(interpret, native)
  values, indices = _top_k(execution, int(k), as_rows(x))
  return reshaped(values, (*x.shape[:-1], k)), reshaped(indices, (*x.shape[:-1], k))


def _key(x: jax.Array) -> jax.Array:
  """Integers in the order of `x`. The bits of a float, as an integer, are in its order if it is positive and in the opposite one if not."""
  if jnp.issubdtype(x.dtype, jnp.integer):
    return x.astype(jnp.int32)
  bits = jax.lax.bitcast_convert_type(x.astype(jnp.float32), jnp.int32)
  return bits ^ (jax.lax.shift_right_arithmetic(bits, 31) & _INT_MAX)


def _value(key: jax.Array, dtype: Any) -> jax.Array:
  if jnp.issubdtype(dtype, jnp.integer):
    return key.astype(dtype)
  bits = key ^ (jax.lax.shift_right_arithmetic(key, 31) & _INT_MAX)
  return jax.lax.bitcast_convert_type(bits, jnp.float32).astype(dtype)


def _first(key: jax.Array, place: jax.Array, left: jax.Array) -> tuple[jax.Array, jax.Array]:
  """The first in order, along the last dimension, of those that are left: its key and its place; no place if none is left."""
  found = jnp.max(jnp.where(left, key, _INT_MIN), axis=-1)
  return found, jnp.min(jnp.where(left & (key == found[..., None]), place, _INT_MAX), axis=-1)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _top_k(execution: Execution, k: int, x: jax.Array) -> tuple[jax.Array, jax.Array]:
  rows, n = x.shape
  outs = (jax.ShapeDtypeStruct((rows, k), x.dtype), jax.ShapeDtypeStruct((rows, k), jnp.int32))
  if rows == 0 or k == 0:
    return jnp.zeros(outs[0].shape, x.dtype), jnp.zeros(outs[1].shape, jnp.int32)
  width = min(n, _GROUP)
  groups = pl.cdiv(n, width)

  def kernel(x_ref: Any, values_ref: Any, indices_ref: Any, key_ref: Any, best_ref: Any, place_ref: Any) -> None:
    # What fills the last group comes after everything in the row, and k is at most n.
    keys = jnp.pad(_key(x_ref[...]), (0, groups * width - n), constant_values=_INT_MIN)
    key_ref[...] = keys.reshape(groups, width)
    places = jax.lax.iota(jnp.int32, groups * width).reshape(groups, width)
    best_ref[...], place_ref[...] = _first(key_ref[...], places, jnp.full((groups, width), True))

    def step(t: Any, _: None) -> None:
      found, where = _first(best_ref[...], place_ref[...], jnp.full((groups,), True))
      values_ref[t] = _value(found, values_ref.dtype)
      indices_ref[t] = where
      group = where // width
      key, place = key_ref[group], group * width + jax.lax.iota(jnp.int32, width)
      left = (key < found) | ((key == found) & (place > where))
      best_ref[group], place_ref[group] = _first(key, place, left)

    jax.lax.fori_loop(0, k, step, None)

  by_rows = lambda width: pl.BlockSpec((None, width), lambda i: (i, 0))
  integers = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.int32)
  values, indices = pl.pallas_call(
    kernel,
    out_shape=outs,
    grid=(rows,),
    in_specs=[by_rows(n)],
    out_specs=(by_rows(k), by_rows(k)),
    scratch_shapes=[integers(groups, width), integers(groups), integers(groups)],
    name="top_k",
    **execution.options("parallel"),
  )(x)
  return values, indices


def _forward(execution: Execution, k: int, x: jax.Array) -> tuple[tuple[jax.Array, jax.Array], Any]:
  values, indices = _top_k(execution, k, x)
  return (values, indices), (indices, jnp.zeros((0, x.shape[1]), x.dtype))


def _backward(execution: Execution, k: int, residuals: Any, g: tuple[jax.Array, Any]) -> tuple[jax.Array]:
  indices, like = residuals
  rows = jnp.arange(indices.shape[0])[:, None]
  return (jnp.zeros((indices.shape[0], like.shape[1]), like.dtype).at[rows, indices].add(g[0]),)


_top_k.defvjp(_forward, _backward)
