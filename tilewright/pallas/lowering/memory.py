"""Rules for refs: reads, writes, atomics, scoped memory. What their transforms mean is in `views`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.pallas.lowering.table import Context, lower_jaxpr, rule
from tilewright.pallas.lowering.views import View, refused
from tilewright.runtime import _jax
from tilewright.tile.ir import Op, Value
from tilewright.tile.memory import is_semaphore
from tilewright.tile.types import RefType


@rule("get")
def _get(ctx: Context, ref: Value, *flat: Value, tree: Any) -> Value:
  return View.of(ctx, ref, _transforms(tree, flat)).load()


@rule("swap")
def _swap(ctx: Context, ref: Value, value: Value, *flat: Value, tree: Any) -> Value:
  view = View.of(ctx, ref, _transforms(tree, flat))
  old = view.load()
  view.store(value)
  return old


@rule("addupdate")
def _addupdate(ctx: Context, ref: Value, value: Value, *flat: Value, tree: Any) -> list[Value]:
  View.of(ctx, ref, _transforms(tree, flat)).accumulate("sum", value)
  return []


def _transforms(tree: Any, flat: Sequence[Value]) -> Any:
  return _jax.unflatten(tree, [_known(v) for v in flat])


def _known(v: Value) -> Any:
  """A constant index as an int, so that what is surely inside needs no check."""
  op = v.owner
  if isinstance(op, Op) and op.name == "constant" and np.ndim(op.attrs["value"]) == 0:
    return int(op.attrs["value"])
  return v


def _arguments(ctx: Context, tree: Any, flat: Sequence[Value]) -> tuple[View, list[Any]]:
  """The view that an access of the kernel language is to, and its other arguments (None where not given)."""
  view, *_ = _jax.unflatten(tree, [v if isinstance(v.type, RefType) or v.type.shape else _known(v) for v in flat])
  _, *rest = _jax.unflatten(tree, flat)
  return View.of(ctx, view.ref, view.transforms), rest


@rule("masked_load")
def _masked_load(ctx: Context, *flat: Value, tree: Any) -> Value:
  view, (mask, other) = _arguments(ctx, tree, flat)
  value = view.load()
  if other is None:
    other = view.poison(value.tile)
  return ctx.emit("select", mask, value, other)


@rule("masked_swap")
def _masked_swap(ctx: Context, *flat: Value, tree: Any) -> Value:
  view, (value, mask) = _arguments(ctx, tree, flat)
  old = view.load()
  view.store(ctx.emit("select", mask, value, old))
  return old


# --- atomics -----------------------------------------------------------------------------------------------------

_COMBINE = {"add": "add", "max": "max", "min": "min", "and": "and", "or": "or", "xor": "xor"}
_REPEATABLE = {"add": "sum", "max": "max", "min": "min"}  # every value counts where an index repeats


@rule("atomic_rmw")
def _atomic_rmw(ctx: Context, *flat: Value, tree: Any, kind: str) -> Value:
  view, (value, mask) = _arguments(ctx, tree, flat)
  old = view.load()
  if kind in _REPEATABLE and view.may_repeat:
    if mask is not None:
      neutral = ctx.broadcast(ctx.constant(0, old.tile.dtype), old.tile.shape) if kind == "add" else old
      value = ctx.emit("select", mask, value, neutral)
    view.accumulate(_REPEATABLE[kind], value)
    return old
  new = value if kind == "xchg" else ctx.emit(_COMBINE[kind], old, value)
  view.store(new if mask is None else ctx.emit("select", mask, new, old))
  return old


@rule("atomic_cas")
def _atomic_cas(ctx: Context, *flat: Value, tree: Any) -> Value:
  view, (compared, value) = _arguments(ctx, tree, flat)
  old = view.load()
  view.store(ctx.emit("select", ctx.emit("eq", old, compared), value, old))
  return old


# --- scoped memory -----------------------------------------------------------------------------------------------


@rule("run_scoped")
def _run_scoped(ctx: Context, *consts: Value, jaxpr: Any, collective_axes: Any) -> list[Value]:
  refs = []
  for v in jaxpr.invars[len(consts) :]:
    if is_semaphore(v.aval.dtype):
      raise refused("A semaphore")
    refs.append(ctx.emit("alloc", shape=tuple(v.aval.shape), dtype=np.dtype(v.aval.dtype), space="scratch"))
  return lower_jaxpr(ctx.builder, jaxpr, (), [*consts, *refs])
