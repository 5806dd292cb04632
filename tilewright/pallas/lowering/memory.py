"""Rules for refs: reads, writes, atomics, scoped memory. Ref transforms are in `views`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from tilewright.pallas.lowering.expand import expand
from tilewright.pallas.lowering.table import Context, is_key, lower_jaxpr, physical, rule
from tilewright.pallas.lowering.views import View, refused
from tilewright.runtime import _jax
from tilewright.target.xla import refs
from tilewright.tile.ir import Op, Value
from tilewright.tile.memory import is_semaphore
from tilewright.tile.types import ACCUMULATOR, RefType, SemaphoreArrayType, TileType, dense_strides


@rule("get")
def _get(ctx: Context, ref: Value, *flat: Value, tree: Any) -> Value:
  return read(ctx, ref, transforms(tree, flat))


def read(ctx: Context, ref: Value, through: Sequence[Any]) -> Value:
  if _is_part_of_accumulator(ctx, ref, through):
    return expand(ctx, lambda whole: refs.read(whole, through), View.of(ctx, ref, ()).load())[0]
  return View.of(ctx, ref, through).load()


def _is_part_of_accumulator(ctx: Context, ref: Value, through: Sequence[Any]) -> bool:
  """Whether this accesses a static part of an accumulator. On a GPU that is in registers: the whole accumulator is accessed, and the
  part is taken from the tile."""
  if not through or not ctx.builder.for_gpu or ref.ref.space != ACCUMULATOR:
    return False
  if any(isinstance(leaf, Value) for leaf in _jax.flatten(tuple(through))[0]):
    return False
  whole = jax.ShapeDtypeStruct(ref.ref.shape, ref.ref.dtype)
  is_cut = any(not isinstance(t, _jax.indexing.NDIndexer) for t in through)
  return is_cut or jax.eval_shape(lambda x: refs.read(x, through), whole).shape != ref.ref.shape


@rule("swap")
def _swap(ctx: Context, ref: Value, value: Value, *flat: Value, tree: Any) -> Value:
  return exchange(ctx, ref, value, transforms(tree, flat))


def exchange(ctx: Context, ref: Value, value: Value, through: Sequence[Any]) -> Value:
  """Write a value, and return the old value."""
  if _is_part_of_accumulator(ctx, ref, through):
    all_of_it = View.of(ctx, ref, ())
    old, whole = expand(ctx, lambda x, new: refs.write(x, through, new), all_of_it.load(), value)
    all_of_it.store(whole)
    return old
  view = View.of(ctx, ref, through)
  old = view.load()
  view.store(value)
  return old


@rule("addupdate")
def _addupdate(ctx: Context, ref: Value, value: Value, *flat: Value, tree: Any) -> list[Value]:
  View.of(ctx, ref, transforms(tree, flat)).accumulate("sum", value)
  return []


def transforms(tree: Any, flat: Sequence[Value]) -> Any:
  return _jax.unflatten(tree, [_known(v) for v in flat])


def _known(v: Value) -> Any:
  """A constant index as an int, so that a provably in-bounds access needs no check."""
  op = v.owner
  if not isinstance(op, Op) or op.name != "constant" or np.ndim(op.attrs["value"]):
    return v
  return int(op.attrs["value"]) if np.issubdtype(op.attrs["dtype"], np.integer) else v


def leaves(tree: Any, flat: Sequence[Value]) -> Any:
  """The arguments of an access of the kernel language, its constant integers as ints."""
  return _jax.unflatten(tree, [_known(v) if isinstance(v.type, TileType) and v.type.is_scalar else v for v in flat])


def _arguments(ctx: Context, tree: Any, flat: Sequence[Value]) -> tuple[View, list[Any]]:
  """The view that an access of the kernel language is to, and its other arguments (None where not given)."""
  view, *_ = _jax.unflatten(tree, [v if isinstance(v.type, RefType) or v.type.shape else _known(v) for v in flat])
  _, *rest = _jax.unflatten(tree, flat)
  return View.of(ctx, view.ref, view.transforms), rest


@rule("masked_load")
def _masked_load(ctx: Context, *flat: Value, tree: Any, cache: str) -> Value:
  view, (mask, other) = _arguments(ctx, tree, flat)
  value = view.load(cache)
  if mask is None:
    return value
  if other is None:
    other = view.poison(value.tile)
  return ctx.emit("select", mask, value, other)


@rule("masked_swap")
def _masked_swap(ctx: Context, *flat: Value, tree: Any, cache: str) -> Value:
  view, (value, mask) = _arguments(ctx, tree, flat)
  old = view.load()
  if mask is None:
    view.store(value, cache)
  elif not view.scatter_where(mask, value, cache):
    view.store(ctx.emit("select", mask, value, old), cache)  # targets turn this into a masked store
  return old


# --- atomics -----------------------------------------------------------------------------------------------------

# On a GPU instances run concurrently, so atomics are lowered to atomic ops. On the CPU instances that use atomics run in order.
_COMBINE = {"add": "add", "max": "max", "min": "min", "and": "and", "or": "or", "xor": "xor"}


def _atomically(ctx: Context, view: View, kind: str, value: Value, other: Value) -> Value | None:
  """The operation as an atomic op of the target, or None if it has none: then instances must run in order."""
  made = view.atomic(kind, value, other) if ctx.builder.for_gpu else None
  ctx.builder.in_order |= made is None
  return made


@rule("atomic_rmw")
def _atomic_rmw(ctx: Context, *flat: Value, tree: Any, kind: str) -> Value:
  view, (value, mask) = _arguments(ctx, tree, flat)
  if kind == "add" and value.tile.dtype == np.bool_:
    kind = "or"  # as XLA adds them
  if mask is None and ctx.builder.for_gpu:
    mask = ctx.broadcast(ctx.constant(True, np.bool_), value.tile.shape)
  if (old := _atomically(ctx, view, {"add": "sum", "xchg": "set"}.get(kind, kind), value, mask)) is not None:
    return old
  old = view.load()
  if kind == "xchg" and mask is not None and view.scatter_where(mask, value):
    return old
  if kind != "xchg" and view.may_repeat:  # values at repeated indices accumulate
    if mask is not None:
      zero = ctx.broadcast(ctx.constant(0, old.tile.dtype), old.tile.shape)
      value = ctx.emit("select", mask, value, zero if kind in ("add", "xor") else old)
    view.accumulate({"add": "sum"}.get(kind, kind), value)
    return old
  new = value if kind == "xchg" else ctx.emit(_COMBINE[kind], old, value)
  view.store(new if mask is None else ctx.emit("select", mask, new, old))
  return old


@rule("atomic_cas")
def _atomic_cas(ctx: Context, *flat: Value, tree: Any) -> Value:
  view, (compared, value) = _arguments(ctx, tree, flat)
  if (old := _atomically(ctx, view, "cas", value, compared)) is not None:
    return old
  old = view.load()
  view.store(ctx.emit("select", ctx.emit("eq", old, compared), value, old))
  return old


# --- refs that a body makes --------------------------------------------------------------------------------------


def memory_type(aval: Any, strides: tuple[int, ...] | None = None) -> RefType | SemaphoreArrayType:
  """The type that a ref of the kernel language has in the tile IR."""
  shape = tuple(aval.shape)
  if is_semaphore(aval.dtype):
    return SemaphoreArrayType(shape, aval.dtype.name, getattr(aval.dtype, "arrivals", 0))
  if isinstance(aval.dtype, _jax.dtypes.ExtendedDType) and not is_key(aval):
    raise refused(str(aval.dtype))
  ty = physical(aval)
  space = getattr(getattr(aval, "memory_space", None), "tile_space", "any")
  return RefType(ty.shape, ty.dtype, space, dense_strides(ty.shape) if strides is None else strides)


def allocate(ctx: Context, aval: Any) -> Value:
  """Memory for a ref of this type, or semaphores."""
  ty = memory_type(aval)
  if isinstance(ty, SemaphoreArrayType):
    more = {"arrivals": ty.arrivals} if ty.arrivals else {}
    return ctx.emit("alloc_semaphores", shape=ty.shape, kind=ty.kind, **more)
  return ctx.emit("alloc", shape=ty.shape, dtype=ty.dtype, space="scratch" if ty.space == "any" else ty.space)


@rule("new_ref")
def _new_ref(ctx: Context, value: Value, **_: Any) -> Value:
  ref = allocate(ctx, ctx.eqn.outvars[0].aval)
  ctx.builder.emit_all("store", [ref, value])
  return ref


@rule("empty_ref")
def _empty_ref(ctx: Context, **_: Any) -> Value:
  return allocate(ctx, ctx.eqn.outvars[0].aval)


@rule("freeze")
def _freeze(ctx: Context, ref: Value) -> Value:
  return ctx.emit("load", ref)


@rule("free_ref")
def _free_ref(ctx: Context, ref: Value) -> list[Value]:
  return []


@rule("run_state")
def _run_state(ctx: Context, *args: Value, jaxpr: Any, **_: Any) -> list[Value]:
  """Values become refs while the body runs; their final contents are the results. An operand that is a ref already is used as it is."""
  refs = []
  for arg, var in zip(args, jaxpr.invars):
    if isinstance(arg.type, TileType):
      ref = allocate(ctx, var.aval)
      ctx.builder.emit_all("store", [ref, arg])
      refs.append(ref)
    else:
      refs.append(arg)
  lower_jaxpr(ctx.builder, jaxpr, (), refs)
  return [ctx.emit("load", ref) if isinstance(a.type, TileType) else ref for a, ref in zip(args, refs)]
