"""Rules of operations that work along whole dimensions: reductions, cumulative sums, sorts, contractions; and iota,
which has no operands.

A dimension that an operation works along cannot be split: its block is the whole dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from tilewright.pallas.fuser import views
from tilewright.pallas.fuser.inlining import evaluate_equation
from tilewright.pallas.fuser.push_rules import derived, elementwise, shape_of
from tilewright.pallas.fuser.table import Blocks, Site, common_view, define, first_used
from tilewright.pallas.fuser.views import UNUSED, View, covers
from tilewright.pallas.specs import BlockSpec, no_block_spec
from tilewright.tile.grid import Blocked


def _evaluate(blocks: Blocks, *args: Any) -> list[Any]:
  return evaluate_equation(blocks.eqn, args)


# --- reductions --------------------------------------------------------------------------------------------------


def _pull_reduce(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  axes = set(site.params["axes"])
  operand = site.in_avals[0]

  def widened(view: View) -> View:
    if view.block_shape is None:
      return views.whole(operand, view)
    left = iter(view.block_shape)
    shape = [Blocked(n) if d in axes else next(left) for d, n in enumerate(operand.shape)]

    def change(index: Any) -> tuple[Any, ...]:
      rest = iter(index)
      return tuple(0 if d in axes else next(rest) for d in range(operand.ndim))

    return view.then(shape, change)

  view = common_view(site, [widened(v) for v in out_views if v is not UNUSED], operand.shape)
  return [view] * len(site.in_avals)


def _push_reduce(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  spec = specs[0]
  if spec is no_block_spec:
    return [spec] * len(site.out_avals)
  axes = set(site.params["axes"])
  operand = site.in_avals[0]
  shape = shape_of(spec, operand)
  for d in axes:
    if not covers(shape[d], operand.shape[d]):
      raise site.refuse(
        spec,
        f"it reduces dimension {d}, which is split into blocks",
        f"Make the block size of that dimension {operand.shape[d]}.",
      )
  keep = [d for d in range(operand.ndim) if d not in axes]
  return [derived(spec, [shape[d] for d in keep], lambda i: tuple(i[d] for d in keep))] * len(site.out_avals)


# --- operations along one dimension ------------------------------------------------------------------------------


def _whole_along(site: Site, view: View, axis: int, length: int) -> View:
  if view.block_shape is not None and not covers(view.block_shape[axis], length):
    raise site.refuse(
      view,
      f"it needs all of dimension {axis}, which is split into blocks",
      f"Make the block size of dimension {axis} {length}, the whole dimension.",
    )
  return view


def _pull_along(name: str) -> Any:
  def pull(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
    axis = site.params[name]
    operand = site.in_avals[0]
    found = [_whole_along(site, v, axis, operand.shape[axis]) for v in out_views if v is not UNUSED]
    return [common_view(site, found, operand.shape)] * len(site.in_avals)

  return pull


def _push_along(name: str) -> Any:
  def push(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
    axis = site.params[name]
    for spec, aval in zip(specs, site.in_avals):
      if spec is not no_block_spec and not covers(shape_of(spec, aval)[axis], aval.shape[axis]):
        raise site.refuse(
          spec, f"it needs all of dimension {axis}, which is split into blocks", "Make the block cover that dimension."
        )
    return elementwise(site, specs)

  return push


def _pull_top_k(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  axis = site.params.get("axis", site.in_avals[0].ndim - 1) % site.in_avals[0].ndim
  operand, k = site.in_avals[0], site.out_avals[0].shape
  whole = lambda v: views.whole(operand, v)
  widened = lambda v: (
    whole(v) if v.block_shape is None else views.with_dim(v, axis, Blocked(operand.shape[axis]), lambda i: 0)
  )
  found = [widened(_whole_along(site, v, axis, k[axis])) for v in out_views if v is not UNUSED]
  return [common_view(site, found, operand.shape)]


# --- dot_general -------------------------------------------------------------------------------------------------


def _dot_dims(site: Site) -> tuple[dict[int, int], dict[int, int]]:
  """For each operand, the dimension of the result that each of its free and batch dimensions becomes."""
  (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = site.params["dimension_numbers"]
  lhs, rhs = site.in_avals
  lhs_free = [d for d in range(lhs.ndim) if d not in lhs_contract and d not in lhs_batch]
  rhs_free = [d for d in range(rhs.ndim) if d not in rhs_contract and d not in rhs_batch]
  batch = len(lhs_batch)
  left = {**{d: o for o, d in enumerate(lhs_batch)}, **{d: batch + o for o, d in enumerate(lhs_free)}}
  right = {**{d: o for o, d in enumerate(rhs_batch)}, **{d: batch + len(lhs_free) + o for o, d in enumerate(rhs_free)}}
  return left, right


def _pull_dot(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  view: View = first_used(out_views)
  if view.block_shape is None:
    return [views.whole(a, view) for a in site.in_avals]

  def part(aval: Any, place: dict[int, int]) -> View:
    shape = [view.block_shape[place[d]] if d in place else n for d, n in enumerate(aval.shape)]  # type: ignore[index]
    return view.then(shape, lambda i: tuple(i[place[d]] if d in place else 0 for d in range(aval.ndim)))

  return [part(a, place) for a, place in zip(site.in_avals, _dot_dims(site))]


def _push_dot(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  """Both sides must be cut, or whole, along what is kept; the contracted dimensions must be whole."""
  if all(s is no_block_spec for s in specs):
    return [no_block_spec]
  out = site.out_avals[0]
  shape: list[Any] = list(out.shape)
  sources: dict[int, tuple[Any, int]] = {}
  for spec, aval, place in zip(specs, site.in_avals, _dot_dims(site)):
    if spec is no_block_spec:
      continue
    given = shape_of(spec, aval)
    for d in range(aval.ndim):
      if d not in place:
        if not covers(given[d], aval.shape[d]):
          raise site.refuse(
            spec,
            f"it contracts dimension {d}, which is split into blocks",
            f"Make the block size of that dimension {aval.shape[d]}.",
          )
      elif place[d] not in sources:
        shape[place[d]] = given[d]
        sources[place[d]] = (spec, d)
  base = next(s for s in specs if s is not no_block_spec)

  def index_map(*args: Any) -> tuple[Any, ...]:
    at = {id(s): s.index_map(*args) if s.index_map else (0,) * 8 for s, _ in sources.values()}
    return tuple(at[id(sources[d][0])][sources[d][1]] if d in sources else 0 for d in range(out.ndim))

  return [BlockSpec(tuple(shape), index_map, base.pipeline_mode, memory_space=base.memory_space)]


# --- iota --------------------------------------------------------------------------------------------------------


def _pull_nothing(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  return [UNUSED] * len(site.in_avals)


def _evaluate_iota(blocks: Blocks, *sizes: Any) -> list[Any]:
  dtype, axis = blocks.params["dtype"], blocks.params["dimension"]
  start = blocks.out_starts()[axis]
  if isinstance(start, int) and start == 0:
    return [lax.broadcasted_iota(dtype, blocks.out_sizes(), axis)]
  # Numbers are exact as integers; past 2**24 a float would not be.
  places = lax.broadcasted_iota(jnp.int32, blocks.out_sizes(), axis) + start
  return [places.astype(dtype)]


def _push_nothing(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  return [no_block_spec] * len(site.out_avals)


define(
  *(
    "reduce_sum",
    "reduce_max",
    "reduce_min",
    "reduce_prod",
    "reduce_and",
    "reduce_or",
    "reduce_xor",
    "argmax",
    "argmin",
  ),
  pull=_pull_reduce,
  evaluate=_evaluate,
  push=_push_reduce,
)
define(
  *("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"),
  pull=_pull_along("axis"),
  evaluate=_evaluate,
  push=_push_along("axis"),
)
define("sort", pull=_pull_along("dimension"), evaluate=_evaluate, push=_push_along("dimension"))
define("top_k", pull=_pull_top_k, evaluate=_evaluate)
define("dot_general", pull=_pull_dot, evaluate=_evaluate, push=_push_dot)
define("iota", pull=_pull_nothing, evaluate=_evaluate_iota, push=_push_nothing)
