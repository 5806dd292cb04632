"""Common parts of push rules: comparison of block specs, and the rule of elementwise operations.

`pl.no_block_spec` denotes an operand that is not split, or whose spec is not given: it is compatible with any spec of
the other operands.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from tilewright import errors
from tilewright.pallas.fuser import views
from tilewright.pallas.fuser.compare import compare_jaxprs
from tilewright.pallas.fuser.table import Site
from tilewright.pallas.specs import BlockSpec, no_block_spec
from tilewright.runtime import _jax


def derived(spec: BlockSpec, block_shape: Sequence[Any], change: Callable[[tuple[Any, ...]], Any]) -> BlockSpec:
  """The spec whose indices are `change` of this one's."""
  index_map = spec.index_map

  def composed(*args: Any) -> Any:
    found = index_map(*args) if index_map is not None else (0,) * len(spec.block_shape or ())
    return change(tuple(found) if isinstance(found, tuple | list) else (found,))

  return spec.replace(block_shape=tuple(block_shape), index_map=composed)


def shape_of(spec: BlockSpec, aval: Any) -> tuple[Any, ...]:
  return tuple(aval.shape) if spec.block_shape is None else tuple(spec.block_shape)


def same_specs(a: BlockSpec, b: BlockSpec, grid_len: int | None) -> bool:
  """Whether two specs cut an array in the same way.

  `grid_len` is the number of grid indices that index maps take. Where it is not known and a map takes any number of
  them, the maps have to agree for every number.
  """
  if a is b:
    return True
  if a.block_shape is None or b.block_shape is None:
    return a.block_shape is b.block_shape and a.index_map is b.index_map
  dims = list(zip(a.block_shape, b.block_shape))
  if any(views.size_of(x) != views.size_of(y) or views.is_squeezed(x) != views.is_squeezed(y) for x, y in dims):
    return False
  if a.index_map is None or b.index_map is None or a.index_map is b.index_map:
    return a.index_map is b.index_map
  agree = [same for n in _numbers_of_indices(a, b, grid_len) if (same := same_starts(a, b, n)) is not None]
  return bool(agree) and all(agree)


MAX_GRID = 8  # dimensions; more are not looked at where an index map does not say how many it takes


def _numbers_of_indices(a: Any, b: Any, grid_len: int | None) -> Sequence[int]:
  if grid_len is not None:
    return [grid_len]
  for spec in (a, b):
    with contextlib.suppress(TypeError, ValueError):
      parameters = inspect.signature(spec.index_map).parameters.values()
      if not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return [sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)]
  return range(MAX_GRID + 1)


def same_starts(a: Any, b: Any, length: int) -> bool | None:
  """Whether blocks begin at the same elements for each point of a grid of this rank; None if the index maps are not for
  such a grid."""
  number = _jax.core.ShapedArray((), jnp.dtype("int32"))

  def starts(spec: Any) -> Any:
    def f(*grid: Any) -> list[Any]:
      found = spec.index_map(*grid)
      index = found if isinstance(found, tuple | list) else (found,)
      return [jnp.asarray(views.start_of(d, i), jnp.int32) for d, i in zip(spec.block_shape, index, strict=True)]

    return _jax.trace(f, [number] * length)

  try:
    jaxprs = [starts(s) for s in (a, b)]
  except Exception:  # a map of another grid, or one that reads prefetched scalars, fails in whatever way it likes
    return None
  return compare_jaxprs(*jaxprs)


def elementwise(site: Site, specs: Sequence[Any], shape: Sequence[int] | None = None) -> Sequence[Any]:
  """The spec that the operands of this shape (by default that of the result) have; operands without one are to be cut
  the same way."""
  out = site.out_avals[0].shape if shape is None else shape
  given = [s for s, a in zip(specs, site.in_avals) if s is not no_block_spec and a.shape == out]
  if not given:
    return [no_block_spec] * len(site.out_avals)
  for other in given[1:]:
    if not same_specs(given[0], other, site.grid_len):
      raise errors.FusionConflictError(
        f"Illegal binary push: the operands of '{site.eqn.primitive}' have different blocks, "
        f"{given[0].block_shape} and {other.block_shape}. "
        "Give one of them pl.no_block_spec, or the same spec."
      )
  return [given[0]] * len(site.out_avals)


def each(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  return list(specs)


def bitcast(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  (spec,) = specs
  before, after = site.in_avals[0], site.out_avals[0]
  if spec is no_block_spec or before.ndim == after.ndim:
    return [spec]
  shape = shape_of(spec, before)
  if before.ndim < after.ndim:
    return [derived(spec, (*shape, after.shape[-1]), lambda i: (*i, 0))]
  if not views.covers(shape[-1], before.shape[-1]):
    raise site.refuse(
      spec,
      "the narrow elements that form one wide element lie in different blocks",
      "Make the block cover the last dimension.",
    )
  return [derived(spec, shape[:-1], lambda i: i[:-1])]
