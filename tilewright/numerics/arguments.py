"""Checks of users' arguments: an error names the argument and what was expected."""

from __future__ import annotations

import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors


def array(what: str, x: Any) -> jax.Array:
  """An argument as an array; `what` names it, as in "quantize: x"."""
  try:
    return jnp.asarray(x)
  except (TypeError, ValueError) as error:
    raise errors.NumberFormatError(f"{what} must be an array, got {type(x).__name__}.") from error


def integers(what: str, x: Any) -> jax.Array:
  """Bits, as an array of integers."""
  x = array(what, x)
  if not jnp.issubdtype(x.dtype, jnp.integer):
    raise errors.NumberFormatError(
      f"{what} must be an array of integers, the bits of numbers, got {x.dtype}. "
      "Those of an array x of 8-bit floats are jax.lax.bitcast_convert_type(x, jnp.uint8)."
    )
  return x


def axis(what: str, axis: Any, shape: tuple[int, ...]) -> int:
  """One dimension of an array, counted from the front."""
  ndim = len(shape)
  if not isinstance(axis, int | np.integer) or not -ndim <= axis < ndim:
    raise errors.ShapeMismatchError(
      f"{what} must be one integer between {-ndim} and {ndim - 1} for shape {shape}, got {axis}."
    )
  return int(axis) % ndim


def integer(what: str, x: Any, least: int) -> int:
  """One whole number, such as how many elements share a scale. True is none."""
  if isinstance(x, bool) or not isinstance(x, int | np.integer) or x < least:
    raise errors.NumberFormatError(f"{what} must be an integer of at least {least}, got {x!r}.")
  return int(x)


def dtype(what: str, x: Any) -> np.dtype:
  try:
    return np.dtype(x)
  except TypeError as error:
    raise errors.NumberFormatError(f"{what} must be a dtype, got {x!r}.") from error


DimensionNumbers = tuple[tuple[tuple[int, ...], tuple[int, ...]], tuple[tuple[int, ...], tuple[int, ...]]]


def dimension_numbers(
  what: str, given: Any, names: tuple[str, str], shapes: tuple[tuple[int, ...], tuple[int, ...]]
) -> DimensionNumbers:
  """Contracted and batch dimensions of two operands, as `jax.lax.dot_general` has them, counted from the front."""
  try:
    contracted, batch = (tuple(tuple(map(operator.index, dims)) for dims in pair) for pair in given)
    (lc, rc), (lb, rb) = contracted, batch
  except (TypeError, ValueError) as error:
    raise errors.ShapeMismatchError(
      f"{what}: dimension_numbers must be ((contracted of {names[0]}, of {names[1]}), (batch of {names[0]}, of {names[1]})), each a tuple "
      f"of integers, got {given!r}."
    ) from error
  for name, shape, dims in zip(names, shapes, ((*lc, *lb), (*rc, *rb))):
    ndim = len(shape)
    if any(not -ndim <= d < ndim for d in dims) or len({d % ndim for d in dims}) != len(dims):
      range_ = f"between {-ndim} and {ndim - 1}" if ndim else "of which it has none"
      raise errors.ShapeMismatchError(
        f"{what}: dimension_numbers must name different dimensions of {name}, {range_}, got {dims}."
      )
  left, right = shapes
  lc, lb = (tuple(d % len(left) for d in dims) for dims in (lc, lb))
  rc, rb = (tuple(d % len(right) for d in dims) for dims in (rc, rb))
  for kind, own, other in (("contracted", lc, rc), ("batch", lb, rb)):
    if [left[d] for d in own] != [right[d] for d in other]:
      raise errors.ShapeMismatchError(
        f"{what}: {kind} dimensions {own} of {names[0]} ({left}) and {other} of {names[1]} ({right}) must have the same sizes."
      )
  return ((lc, rc), (lb, rb))
