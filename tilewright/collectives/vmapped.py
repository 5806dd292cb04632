"""The rules of `vmap` for the collectives: around them, and along an axis that `vmap` has given a name.

Around a collective a batch is one more dimension of its array. Along a named axis of a batch the members are on this device, so that their
part is ordinary array code, and what is left is a collective along the other axes:

    vmap(lambda x: all_reduce(x, ("i", "x")), axis_name="i")      all_reduce(sum of x over the batch, "x")

Members are numbered in row-major order of the axes, wherever the batch's one stands among them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright import errors
from tilewright.collectives.members import OPS, wide
from tilewright.collectives.primitives import Spec, bind, collective_p
from tilewright.runtime import _jax


def _around(x: Any, d: int | None, spec: Spec) -> tuple[Any, int | None]:
  if d is None:  # requested only because the axis has a name
    return bind(x, spec), None
  match spec.kind:
    case "gather":
      return bind(x, spec), d + 1
    case "scatter":
      return bind(jnp.moveaxis(x, d, 1), spec), 0
    case "exchange":
      return bind(jnp.moveaxis(x, d, 1), spec), 1
  return bind(x, spec), d


def without_axis(spec: Spec, name: Any, size: int) -> tuple[Spec, int, int]:
  """The collective along the other axes, and how many members there are along those before and behind the batch's."""
  if spec.groups is not None:
    raise errors.UnsupportedFeatureError(
      f"{spec.title}: axis_index_groups along the axis {name!r} of a vmap. Call the collective along the axes of the mesh only, or reshape "
      "the batch into its groups."
    )
  at = spec.axes.index(name)
  sizes = [lax.axis_size(axis) if axis != name else size for axis in spec.axes]
  before, behind = int(np.prod(sizes[:at])), int(np.prod(sizes[at + 1 :]))
  axes = tuple(axis for axis in spec.axes if axis != name)
  return spec.like(spec.kind, axes=axes, members=before * behind), before, behind


def _here(x: Any, d: int, spec: Spec) -> Any:
  """The sum, or another reduction, of a batch, in the type in which it is to be combined further."""
  return functools.reduce(OPS[spec.op], [part.astype(wide(x.dtype, spec.op)) for part in jnp.moveaxis(x, d, 0)])


def _along(x: Any, d: int | None, spec: Spec, name: Any, size: int) -> tuple[Any, int | None]:
  rest, before, behind = without_axis(spec, name, size)
  others: Callable[[Any], Any] = lambda y: bind(y, rest)
  if not rest.axes:  # nobody else: gathered, a member is the first of one
    others = (
      (lambda y: y[None]) if spec.kind == "gather" else (lambda y: y[0]) if spec.kind == "scatter" else lambda y: y
    )
  if d is None:
    x, d = jnp.broadcast_to(x, (size, *x.shape)), 0
  match spec.kind:
    case "all_reduce":
      return others(_here(x, d, spec)).astype(x.dtype), None
    case "scatter":
      total = _here(x, d, spec)  # (members, *y)
      parts = total.reshape(before, size, behind, *total.shape[1:])
      parts = jnp.moveaxis(parts, 1, 2).reshape(before * behind, size, *total.shape[1:])
      return others(parts).astype(x.dtype), 0
    case "exchange":
      x = jnp.moveaxis(x, d, 0)  # (sender here, members, *y): the parts for one device together
      inner = x.shape[2:]
      parts = x.reshape(size, before, size, behind, *inner)  # sender here, before, receiver there, behind
      parts = jnp.transpose(parts, (1, 3, 0, 2, *range(4, parts.ndim)))
      parts = others(parts.reshape(before * behind, size, size, *inner)).reshape(before, behind, size, size, *inner)
      return jnp.moveaxis(parts, 2, 1).reshape(spec.members, size, *inner), 1
  everyone = bind(x, rest.like("gather")) if rest.axes else x[None]
  everyone = jnp.moveaxis(everyone, d + 1, 1)  # (others, batch, *x)
  inner = everyone.shape[2:]
  everyone = jnp.moveaxis(everyone.reshape(before, behind, size, *inner), 2, 1).reshape(spec.members, *inner)
  if spec.kind == "gather":
    return everyone, None
  other = lax.axis_index(rest.axes) if rest.axes else jnp.int32(0)
  numbers = other // behind * size * behind + jnp.arange(size) * behind + other % behind
  sources = jnp.asarray(spec.sources, jnp.int32)[numbers]
  found = everyone[jnp.maximum(sources, 0)]
  return jnp.where((sources >= 0).reshape(-1, *[1] * len(inner)), found, jnp.zeros((), x.dtype)), 0


def _batch(axis_data: Any, args: Any, dims: Any, *, spec: Spec) -> Any:
  (x,), (d,) = args, dims
  if axis_data.name in spec.axes:
    return _along(x, d, spec, axis_data.name, axis_data.size)
  return _around(x, d, spec)


_jax.batching.fancy_primitive_batchers[collective_p] = _batch
