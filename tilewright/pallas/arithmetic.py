"""Arithmetic utilities: sizes of grids and blocks, and tile operations that Pallas exports under its own names."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.runtime import _jax


def cdiv(a: Any, b: Any) -> Any:
  """`a / b`, rounded up: the number of blocks of size b that cover a elements."""
  if isinstance(a, int) and isinstance(b, int):
    return -(-a // b)
  if hasattr(a, "scope") or hasattr(b, "scope"):  # symbolic dimensions
    return -(-a // b)
  return lax.div(a + (b - 1), b)


def align_to(a: Any, alignment: Any) -> Any:
  """`a` rounded up to a multiple of `alignment`."""
  return cdiv(a, alignment) * alignment


def next_power_of_2(x: int) -> int:
  """The smallest power of two that is not less than `x`."""
  if x < 0:
    raise errors.ShapeMismatchError(f"pl.next_power_of_2: requires a non-negative integer, got {x}.")
  return 1 if x == 0 else 1 << (x - 1).bit_length()


def strides_from_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
  """The strides, in elements, of a dense row-major array."""
  return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))


def broadcast_to(a: Any, shape: tuple[int, ...]) -> jax.Array:
  """Like `jnp.broadcast_to`."""
  return _jax.state_primitives.broadcast_to(jnp.asarray(a), tuple(shape))


def reciprocal(x: Any, *, approx: bool = False, full_range: bool = True) -> jax.Array:
  """1 / x. `approx` and `full_range=False` permit a target to be less exact; on every target of ours the quotient is rounded once."""
  del approx, full_range
  return 1 / jnp.asarray(x)


def dot(
  a: Any,
  b: Any,
  trans_a: bool = False,
  trans_b: bool = False,
  allow_tf32: bool | None = None,
  precision: Any = None,
) -> jax.Array:
  """The matrix product of two 2-D tiles, each optionally transposed, with an accumulator of at least float32.

  `allow_tf32` and `precision` are mutually exclusive.
  """
  if allow_tf32 is not None:
    if precision is not None:
      raise errors.ShapeMismatchError("pl.dot: Only one of allow_tf32 and precision can be specified.")
    precision = lax.Precision.HIGH if allow_tf32 else lax.Precision.HIGHEST
  a, b = jnp.asarray(a), jnp.asarray(b)
  if a.ndim != 2 or b.ndim != 2:
    raise errors.ShapeMismatchError(f"pl.dot: `a` and `b` must be 2D arrays, got shapes {a.shape} and {b.shape}.")
  dims = (((0 if trans_a else 1,), (1 if trans_b else 0,)), ((), ()))
  if a.shape[dims[0][0][0]] != b.shape[dims[0][1][0]]:
    raise errors.ShapeMismatchError(
      f"pl.dot: the contracted dimensions differ: {a.shape} (trans_a={trans_a}) and {b.shape} (trans_b={trans_b})."
    )
  is_wide = a.dtype in (jnp.float64, jnp.complex64, jnp.complex128)
  out_dtype = jnp.int32 if jnp.issubdtype(a.dtype, jnp.integer) else a.dtype if is_wide else jnp.float32
  return lax.dot_general(a, b, dims, precision=precision, preferred_element_type=out_dtype)
