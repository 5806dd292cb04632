"""Rules for gathers and scatters of values: `lax.gather`, `lax.scatter` and its variants.

XLA's dimension numbers become those of `tile.gather_scatter`: the last dimension of the indices is split into one position tile for each
axis, and the position along a batching dimension is an iota.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright.pallas.lowering.expand import expand
from tilewright.pallas.lowering.table import RULES, Context, rule
from tilewright.runtime import _jax
from tilewright.tile.ir import Block, Value
from tilewright.tile.types import INDEX, TileType

Mode = lax.GatherScatterMode


def _positions(ctx: Context, indices: Value, batching: Sequence[int], count: int) -> list[Value]:
  """A tile for each entry of the index vectors, then an iota for each batching dimension."""
  *shape, entries = indices.tile.shape
  assert entries == count
  found = []
  for k in range(entries):
    starts, stops = (0,) * len(shape) + (k,), (*shape, k + 1)
    column = ctx.emit("slice", indices, starts=starts, stops=stops, strides=(1,) * (len(shape) + 1))
    found.append(ctx.emit("reshape", column, shape=tuple(shape)))
  for dim in batching:
    found.append(ctx.emit("iota", shape=tuple(shape), axis=dim, dtype=np.dtype(np.int32)))
  return found


def _outside(mode: Any, otherwise: str) -> str:
  """Out-of-bounds behaviour: clamped, or whole windows dropped; with the promise of in-bounds indices, the same as XLA."""
  mode = Mode.from_any(mode)
  return {Mode.CLIP: "clip", Mode.FILL_OR_DROP: "window"}.get(mode, otherwise)


@rule("gather")
def _gather(
  ctx: Context,
  x: Value,
  indices: Value,
  *,
  dimension_numbers: Any,
  slice_sizes: Any,
  mode: Any,
  fill_value: Any,
  **_: Any,
) -> Value:
  d = dimension_numbers
  rank = len(slice_sizes)
  batch = tuple(i for i in range(len(ctx.out.shape)) if i not in d.offset_dims)
  axes = (*d.start_index_map, *d.operand_batching_dims)
  if not axes:  # one window, repeated
    return _repeated(ctx, x, tuple(slice_sizes), d, batch)
  positions = _positions(ctx, indices, d.start_indices_batching_dims, len(d.start_index_map))
  return ctx.emit(
    "gather",
    x,
    ctx.constant(_fill(fill_value, x.tile.dtype), x.tile.dtype),
    *positions,
    axes=axes,
    sizes=tuple(map(int, slice_sizes)),
    steps=(1,) * rank,
    dropped=tuple(sorted((*d.collapsed_slice_dims, *d.operand_batching_dims))),
    batch=batch,
    outside=_outside(mode, "clip"),
  )


def _repeated(ctx: Context, x: Value, sizes: tuple[int, ...], d: Any, batch: tuple[int, ...]) -> Value:
  part = ctx.emit("slice", x, starts=(0,) * len(sizes), stops=sizes, strides=(1,) * len(sizes))
  kept = tuple(s for a, s in enumerate(sizes) if a not in d.collapsed_slice_dims)
  part = ctx.emit("reshape", part, shape=kept)
  return ctx.emit("broadcast", part, shape=ctx.out.shape, dims=tuple(d.offset_dims))


def _fill(value: Any, dtype: Any) -> Any:
  """The fill value, by default JAX's: NaN, the minimum signed or the maximum unsigned integer, true."""
  if value is not None:
    return value
  if jnp.issubdtype(dtype, jnp.inexact):
    return np.asarray(np.nan).astype(dtype)
  if dtype == np.bool_:
    return True
  info = jnp.iinfo(dtype)
  return info.min if jnp.issubdtype(dtype, jnp.signedinteger) else info.max


_KINDS = {"scatter": "set", "scatter-add": "sum", "scatter-mul": "prod", "scatter-min": "min", "scatter-max": "max"}

# Combiners that need whole complex numbers, whose parts are stored separately: one position after another.
_OF_COMPLEX = {"prod": jax.lax.mul, "min": jax.lax.min, "max": jax.lax.max}


def _scatter_attributes(x: TileType, updates: TileType, d: Any, mode: Any) -> dict[str, Any]:
  """The window of a scatter is that of the updates: axes that are not in it have one element."""
  missing = (*d.inserted_window_dims, *d.operand_batching_dims)
  window = iter(d.update_window_dims)
  sizes = tuple(1 if a in missing else updates.shape[next(window)] for a in range(x.rank))
  return {
    "axes": (*d.scatter_dims_to_operand_dims, *d.operand_batching_dims),
    "sizes": sizes,
    "steps": (1,) * x.rank,
    "dropped": tuple(sorted(missing)),
    "batch": tuple(i for i in range(updates.rank) if i not in d.update_window_dims),
    "outside": _outside(mode, "window"),
  }


def _scatter(kind: str) -> Any:
  def lower(
    ctx: Context, x: Value, indices: Value, updates: Value, *, dimension_numbers: Any, mode: Any, **params: Any
  ) -> Value:
    d = dimension_numbers
    attrs = _scatter_attributes(x.tile, updates.tile, d, mode)
    positions = _positions(ctx, indices, d.scatter_indices_batching_dims, len(d.scatter_dims_to_operand_dims))
    if not positions and x.tile.rank:  # every window begins at the origin
      positions = [ctx.constant(np.zeros(indices.tile.shape[:-1], np.int32), np.int32)]
      attrs["axes"] = (0,)
    if kind == "sub":
      return ctx.emit("scatter", x, ctx.emit("neg", updates), *positions, kind="sum", **attrs)
    if kind == "set" and not _keeps_update(params.get("update_jaxpr")):
      jaxpr, consts = params["update_jaxpr"], params["update_consts"]
      return _apply(ctx, x, positions, updates, lambda old, new: _jax.core.eval_jaxpr(jaxpr, consts, old, new), attrs)
    if x.tile.dtype.kind == "c" and kind in _OF_COMPLEX:
      change = _OF_COMPLEX[kind]
      return _apply(ctx, x, positions, updates, lambda old, new: [change(old, new)], attrs)
    return ctx.emit("scatter", x, updates, *positions, kind=kind, **attrs)

  return lower


RULES.update({name: _scatter(kind) for name, kind in _KINDS.items()})
RULES["scatter-sub"] = _scatter("sub")


def _keeps_update(jaxpr: Any) -> bool:
  """Whether an update function of (old, new) returns the new value."""
  return jaxpr is None or (not jaxpr.eqns and jaxpr.outvars[0] is jaxpr.invars[-1])


def _apply(
  ctx: Context,
  x: Value,
  positions: Sequence[Value],
  updates: Value,
  change: Callable[[jax.Array, jax.Array], list[jax.Array]],
  attrs: dict[str, Any],
) -> Value:
  """`lax.scatter_apply`: one position after another, each window is read, updated by the function, and written back."""
  shape = positions[0].tile.shape
  count = int(np.prod(shape, dtype=int))
  if count == 0:
    return x
  rows = [ctx.emit("reshape", p, shape=(count,)) for p in positions]
  order = (*attrs["batch"], *(i for i in range(updates.tile.rank) if i not in attrs["batch"]))
  flat = ctx.emit("transpose", updates, permutation=order)
  window = flat.tile.shape[len(shape) :]
  flat = ctx.emit("reshape", flat, shape=(count, *window))
  one = {**attrs, "batch": ()}
  zero = ctx.constant(np.zeros((), x.tile.dtype), x.tile.dtype)
  for _ in window:
    change = jax.vmap(change)

  def row(v: Value, i: Value) -> Value:
    rest = v.tile.shape[1:]
    at = [i, *[ctx.constant(0, np.int32)] * len(rest)]
    return ctx.emit("reshape", ctx.emit("dynamic_slice", v, *at, sizes=(1, *rest)), shape=rest)

  body = Block.of([INDEX, x.type])
  with ctx.builder.into(body):
    i, carried = body.params
    at = [row(p, i) for p in rows]
    old = ctx.emit("gather", carried, zero, *at, **{**one, "outside": "clip"})
    (changed,) = expand(ctx, change, old, row(flat, i))
    ctx.builder.emit_all("yield", [ctx.emit("scatter", carried, changed, *at, kind="set", **one)])
  (result,) = ctx.builder.emit_all("for", [ctx.constant(0, np.int32), ctx.constant(count, np.int32), x], [body])
  return result
