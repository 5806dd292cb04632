"""Rules for sliding windows: `reduce_window`, the primitives of its derivatives, and convolutions.

An array is padded (and dilated) once. Then each offset in the window is a strided slice of it, one element for each position of the
window, and the slices are combined in row-major order, as in XLA:

    window 3, stride 2 over x of 8:    x[0:6:2] + x[1:7:2] + x[2:8:2]
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright.pallas.lowering.expand import expansion
from tilewright.runtime import _jax

_UNROLLED = 64  # offsets in a window; more are a loop


@dataclasses.dataclass(frozen=True)
class Windows:
  """A window and how it moves, for each dimension."""

  sizes: tuple[int, ...]
  strides: tuple[int, ...]
  padding: tuple[tuple[int, int], ...]
  base_dilation: tuple[int, ...]
  dilation: tuple[int, ...]

  @classmethod
  def of(cls, params: Any) -> Windows:
    sizes = tuple(params["window_dimensions"])
    ones = (1,) * len(sizes)
    keys = ("window_strides", "padding", "base_dilation", "window_dilation")
    return cls(sizes, *(tuple(params.get(key) or ones) for key in keys))

  def padded(self, x: Any, fill: Any) -> Any:
    config = [(low, high, d - 1) for (low, high), d in zip(self.padding, self.base_dilation)]
    return lax.pad(x, jnp.asarray(fill, x.dtype), config)

  def count(self, padded: Sequence[int]) -> tuple[int, ...]:
    """How many positions the window has along each dimension."""
    spans = [(n - 1) * d + 1 for n, d in zip(self.sizes, self.dilation)]
    return tuple(max(0, (size - span) // step + 1) for size, span, step in zip(padded, spans, self.strides))

  def at(self, padded: Any, place: Sequence[Any]) -> Any:
    """The elements at one place of the window, for all its positions."""
    starts = [p * d for p, d in zip(place, self.dilation)]
    lengths = [(n - 1) * step + 1 if n else 0 for n, step in zip(self.count(padded.shape), self.strides)]
    part = lax.dynamic_slice(padded, starts, lengths) if any(not isinstance(s, int) for s in starts) else None
    if part is None:
      stops = [s + n for s, n in zip(starts, lengths)]
      return lax.slice(padded, starts, stops, self.strides)
    return lax.slice(part, [0] * len(lengths), lengths, self.strides)

  def fold(self, step: Callable[[Any, tuple[Any, ...]], Any], start: Any) -> Any:
    """Go over the places of the window in row-major order."""
    total = math.prod(self.sizes)
    if total <= _UNROLLED:
      return functools.reduce(step, np.ndindex(*self.sizes), start)

    def body(number: Any, state: Any) -> Any:
      place = []
      for size in reversed(self.sizes):
        place.append(lax.rem(number, np.int32(size)))
        number = lax.div(number, np.int32(size))
      return step(state, tuple(reversed(place)))

    return lax.fori_loop(np.int32(0), np.int32(total), body, start)


# --- reductions --------------------------------------------------------------------------------------------------


def _least(dtype: Any) -> Any:
  return -jnp.inf if jnp.issubdtype(dtype, jnp.floating) else False if dtype == np.bool_ else jnp.iinfo(dtype).min


def _greatest(dtype: Any) -> Any:
  return jnp.inf if jnp.issubdtype(dtype, jnp.floating) else True if dtype == np.bool_ else jnp.iinfo(dtype).max


def _reduction(combine: Any, start: Any) -> Any:
  def run(x: Any, **params: Any) -> Any:
    windows, fill = Windows.of(params), start(x.dtype)
    padded = windows.padded(x, fill)
    first = jnp.full(windows.count(padded.shape), fill, x.dtype)
    return windows.fold(lambda total, place: combine(total, windows.at(padded, place)), first)

  return run


expansion("reduce_window_sum")(_reduction(lax.add, lambda dtype: 0))
expansion("reduce_window_max")(_reduction(lax.max, _least))
expansion("reduce_window_min")(_reduction(lax.min, _greatest))


@expansion("reduce_window")
def _reduce_window(*args: Any, jaxpr: Any, consts: Any, **params: Any) -> Any:
  """Reduce with a custom function of two elements. Padding is not combined: it need not be the function's identity."""
  windows = Windows.of(params)
  xs, starts = args[: len(args) // 2], args[len(args) // 2 :]
  padded = [windows.padded(x, start) for x, start in zip(xs, starts)]
  count = windows.count(padded[0].shape)
  combine = lambda *both: tuple(_jax.core.eval_jaxpr(jaxpr, consts, *both))
  for _ in count:
    combine = jax.vmap(combine)
  first = tuple(jnp.full(count, start, x.dtype) for x, start in zip(xs, starts))
  inside = windows.padded(jnp.ones(xs[0].shape, jnp.int8), 0)

  def step(total: Any, place: Any) -> Any:
    own = windows.at(inside, place) > 0
    combined = combine(*total, *(windows.at(p, place) for p in padded))
    return tuple(jnp.where(own, new, old) for new, old in zip(combined, total))

  return list(windows.fold(step, first))


# --- the chosen element of each window -----------------------------------------------------------------------------


def _chosen(windows: Windows, x: Any, select_prim: Any) -> Any:
  """Where in the array, without its padding, the element of each window is that comes first in the order (`ge` or `le`)."""
  worst = _least(x.dtype) if select_prim is lax.ge_p else _greatest(x.dtype)
  numbers = lax.iota(jnp.int32, math.prod(x.shape)).reshape(x.shape)
  values, places = windows.padded(x, worst), windows.padded(numbers, -1)
  shape = windows.count(values.shape)
  better = lax.gt if select_prim is lax.ge_p else lax.lt

  def step(state: Any, place: Any) -> Any:
    best, where = state
    value, number = windows.at(values, place), windows.at(places, place)
    take = (number >= 0) & (better(value, best) | (where < 0) | ((value != value) & (best == best)))
    return jnp.where(take, value, best), jnp.where(take, number, where)

  return windows.fold(step, (jnp.full(shape, worst, x.dtype), jnp.full(shape, -1, jnp.int32)))[1]


@expansion("select_and_scatter_add")
def _select_and_scatter_add(source: Any, x: Any, *, select_prim: Any, **params: Any) -> Any:
  where = _chosen(Windows.of(params), x, select_prim)
  flat = jnp.zeros(math.prod(x.shape), source.dtype)
  return flat.at[where.reshape(-1)].add(source.reshape(-1), mode="drop", wrap_negative_indices=False).reshape(x.shape)


@expansion("select_and_gather_add")
def _select_and_gather_add(tangents: Any, x: Any, *, select_prim: Any, **params: Any) -> Any:
  where = _chosen(Windows.of(params), x, select_prim)
  return jnp.where(where < 0, 0, tangents.reshape(-1)[jnp.maximum(where, 0)])


# --- convolutions ------------------------------------------------------------------------------------------------


@expansion("conv_general_dilated")
def _convolution(
  lhs: Any,
  rhs: Any,
  *,
  window_strides: Any,
  padding: Any,
  lhs_dilation: Any,
  rhs_dilation: Any,
  dimension_numbers: Any,
  feature_group_count: int,
  batch_group_count: int,
  preferred_element_type: Any,
  **_: Any,
) -> Any:
  """Every place of the window is a slice of the padded array; side by side, they are what the kernel is multiplied with."""
  batch, feature, *spatial = dimension_numbers.lhs_spec
  out_feature, in_feature, *kernel_spatial = dimension_numbers.rhs_spec
  x = lax.transpose(lhs, (batch, feature, *spatial))
  w = lax.transpose(rhs, (out_feature, in_feature, *kernel_spatial))
  none = ((0, 0), (0, 0))
  windows = Windows(
    (1, 1, *w.shape[2:]), (1, 1, *window_strides), (*none, *padding), (1, 1, *lhs_dilation), (1, 1, *rhs_dilation)
  )
  padded = windows.padded(x, 0)
  patches = jnp.stack([windows.at(padded, place) for place in np.ndindex(*windows.sizes)], axis=2)
  batch_size, channels, places, *positions = patches.shape
  dtype = jnp.dtype(preferred_element_type or jnp.result_type(lhs.dtype, rhs.dtype))
  # Groups of features share nothing; groups of the batch go to groups of output features.
  groups = max(feature_group_count, batch_group_count)
  if batch_group_count > 1:
    patches = patches.reshape(groups, batch_size // groups, channels, places, *positions)
  else:
    patches = patches.reshape(batch_size, groups, channels // groups, places, *positions)
    patches = jnp.moveaxis(patches, 1, 0)
  kernel = w.reshape(groups, w.shape[0] // groups, w.shape[1], places)
  numbers = (((2, 3), (2, 3)), ((0,), (0,)))  # contract channels and places, group by group
  out = lax.dot_general(patches, kernel, numbers, preferred_element_type=dtype)
  out = jnp.moveaxis(jnp.moveaxis(out, -1, 1), 2, 0)  # (batch, groups, features, positions)
  out = out.reshape(out.shape[0], -1, *positions)
  return lax.transpose(out, tuple(np.argsort(dimension_numbers.out_spec).tolist()))


@expansion("ragged_dot_general")
def _ragged_dot_general(lhs: Any, rhs: Any, group_sizes: Any, **params: Any) -> Any:
  """JAX's own definition: one contraction per group, with the rows of other groups masked."""
  params.pop("group_offset", None)
  return _jax.ragged_dot_general_impl(lhs, rhs, group_sizes, **params)
