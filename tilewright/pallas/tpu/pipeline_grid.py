"""The steps of a pipeline: its grid in row-major order, or the share of it that one core does."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas.primitives import num_programs, program_id
from tilewright.pallas.tpu.params import GridDimensionSemantics, canonical_semantics


def _is_static(x: Any) -> bool:
  return isinstance(x, int)


@dataclasses.dataclass(frozen=True)
class PipelineGrid:
  """`sizes` steps in each dimension, beginning at `offsets`, of a grid that as a whole is `whole`."""

  sizes: tuple[Any, ...]
  offsets: tuple[Any, ...]
  whole: tuple[Any, ...]

  @property
  def num_steps(self) -> Any:
    return functools.reduce(operator.mul, self.sizes, 1)

  def contains(self, step: Any) -> Any:
    return step < self.num_steps

  def is_last(self, step: Any) -> Any:
    return step == self.num_steps - 1

  def indices(self, step: Any) -> tuple[Any, ...]:
    """The grid indices of a step. Outside of the range, those of the nearest step: index maps never see what is not there."""
    step = self._nearest(step)
    indices = []
    for size in reversed(self.sizes):
      if _is_static(step) and (step == 0 or _is_static(size)):
        quotient, index = (0, 0) if step == 0 else divmod(step, size)
      elif _is_static(size) and size == 1:
        quotient, index = step, 0
      else:
        step, divisor = jnp.asarray(step, jnp.int32), jnp.asarray(size, jnp.int32)
        quotient, index = lax.div(step, divisor), lax.rem(step, divisor)
      indices.append(index)
      step = quotient
    return tuple(i + o if not (_is_static(o) and o == 0) else i for i, o in zip(reversed(indices), self.offsets))

  def _nearest(self, step: Any) -> Any:
    last = self.num_steps - 1
    if _is_static(step) and _is_static(last):
      return max(min(step, last), 0)
    if _is_static(step) and step <= 0:
      return 0
    return jnp.clip(jnp.asarray(step, jnp.int32), 0, jnp.maximum(last, 0))


def canonical_sizes(grid: Sequence[Any]) -> tuple[Any, ...]:
  sizes = []
  for size in grid:
    if isinstance(size, bool) or (not hasattr(size, "__index__") and not hasattr(size, "dtype")):
      raise errors.GridError(f"emit_pipeline: grid must have integer sizes, got {tuple(grid)}.")
    try:
      known = operator.index(size)
    except TypeError:
      if jnp.shape(size) != () or not jnp.issubdtype(jnp.asarray(size).dtype, jnp.integer):
        raise errors.GridError(f"emit_pipeline: dynamic grid sizes must be integer scalars, got {size}.") from None
      sizes.append(jnp.asarray(size, jnp.int32))
      continue
    if known < 1:
      raise errors.GridError(
        f"emit_pipeline: All elements in the grid must be strictly positive, but got grid={tuple(grid)}. Leave the pipeline out where "
        "there is nothing to do, or pass the size as an array."
      )
    sizes.append(known)
  return tuple(sizes)


def partition(
  grid: Sequence[Any],
  core_axis: int | tuple[int, ...] | None = None,
  core_axis_name: str | tuple[str, ...] | None = None,
  dimension_semantics: Sequence[Any] | None = None,
) -> PipelineGrid:
  """This core's share of the grid: of one parallel dimension, a stretch that differs by at most one step among the cores."""
  sizes = canonical_sizes(grid)
  whole = PipelineGrid(sizes, (0,) * len(sizes), sizes)
  semantics = _check_semantics(dimension_semantics, len(sizes))
  if core_axis is not None and core_axis_name is not None:
    raise errors.GridError("emit_pipeline: give either core_axis or core_axis_name, not both.")
  cores, core = _own_core(core_axis, core_axis_name)
  if _is_static(cores) and cores == 1:
    return whole
  parallel = [d for d, s in enumerate(semantics) if s is not GridDimensionSemantics.ARBITRARY]
  if not parallel:
    raise errors.GridError(
      f"emit_pipeline: {cores} cores cannot share the grid {sizes}: none of its dimensions is parallel. Pass "
      "dimension_semantics with pltpu.PARALLEL for one of them."
    )
  axis = _axis_to_share(sizes, parallel, cores)
  size = sizes[axis]
  if _is_static(size) and _is_static(cores) and size % cores == 0:
    own: Any = size // cores
    offset = core * own
  else:
    base, extra = (
      lax.div(jnp.asarray(size, jnp.int32), jnp.int32(cores)),
      lax.rem(jnp.asarray(size, jnp.int32), jnp.int32(cores)),
    )
    own = base + (core < extra).astype(jnp.int32)
    offset = core * base + jnp.minimum(core, extra)
  replace = lambda values, value: tuple(value if d == axis else v for d, v in enumerate(values))
  return PipelineGrid(replace(sizes, own), replace(whole.offsets, offset), sizes)


def _check_semantics(semantics: Sequence[Any] | None, rank: int) -> tuple[GridDimensionSemantics, ...]:
  if semantics is None:
    return (GridDimensionSemantics.ARBITRARY,) * rank
  if isinstance(semantics, str | GridDimensionSemantics):
    semantics = (semantics,)
  found = canonical_semantics(semantics, "emit_pipeline: dimension_semantics")
  if len(found) != rank:
    raise errors.GridError(
      f"emit_pipeline: dimension_semantics needs one entry for each of {rank} grid dimensions, got {found}."
    )
  return found


def _own_core(core_axis: Any, core_axis_name: Any) -> tuple[Any, Any]:
  """How many cores share the work, and the number of this one among them."""
  cores: Any = 1
  core: Any = 0
  for axis in () if core_axis is None else core_axis if isinstance(core_axis, tuple) else (core_axis,):
    size = num_programs(axis)
    cores, core = cores * size, core * size + program_id(axis)
  for name in (
    () if core_axis_name is None else core_axis_name if isinstance(core_axis_name, tuple) else (core_axis_name,)
  ):
    size = lax.axis_size(name)
    cores, core = cores * size, core * size + lax.axis_index(name)
  return cores, core


def _axis_to_share(sizes: Sequence[Any], parallel: Sequence[int], cores: Any) -> int:
  """The longest dimension that divides evenly, else the longest, else the first."""
  static = [d for d in parallel if _is_static(sizes[d])]
  even = [d for d in static if _is_static(cores) and sizes[d] % cores == 0]
  return max(even or static or parallel[:1], key=lambda d: sizes[d] if _is_static(sizes[d]) else 0)
