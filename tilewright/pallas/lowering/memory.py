"""Rules for refs: reads, writes, views, scoped memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright import errors
from tilewright.pallas.lowering.table import Context, lower_jaxpr, rule
from tilewright.runtime import _jax
from tilewright.tile.ir import Op, Value
from tilewright.tile.memory import is_semaphore
from tilewright.tile.types import RefType, TileType

NDIndexer = _jax.indexing.NDIndexer
Slice = _jax.indexing.Slice
_types = _jax.state_types


def _refused(what: str) -> errors.NativeCodeError:
  return errors.NativeCodeError(f"{what} cannot be compiled to native code yet. Pass interpret=True.")


class Window:
  """A view of a ref: the ref after whole-ref transforms, and the index that is applied last, if any."""

  def __init__(self, ctx: Context, ref: Value, transforms: Sequence[Any]):
    self.ctx, self.ref, self.index = ctx, ref, None
    for position, transform in enumerate(transforms):
      if isinstance(transform, NDIndexer) and position == len(transforms) - 1:
        self.index = transform
      else:
        self.ref = self._view(self.ref, transform)

  def _view(self, ref: Value, transform: Any) -> Value:
    assert isinstance(ref.type, RefType)
    match transform:
      case NDIndexer():
        starts, sizes, steps, dropped = self._window(transform, ref.type)
        if any(not _is_static(s) for s in starts):
          raise _refused("A ref indexed dynamically and then transformed again")
        return self.ctx.emit("subview", ref, *map(self._scalar, starts), sizes=sizes, steps=steps, dropped=dropped)
      case _types.ReshapeTransform():
        return self.ctx.emit("reshape_ref", ref, shape=tuple(transform.shape))
      case _types.TransposeTransform():
        return self.ctx.emit("transpose_ref", ref, permutation=tuple(transform.permutation))
      case _types.BitcastTransform() if np.dtype(transform.dtype).itemsize == ref.type.dtype.itemsize:
        return self.ctx.emit("bitcast_ref", ref, dtype=np.dtype(transform.dtype))
    raise _refused(f"A ref transformed by {transform}")

  def _scalar(self, x: Any) -> Value:
    return self.ctx.constant(int(x), np.int32) if _is_static(x) else x

  def _window(self, indexer: Any, ref: RefType) -> tuple[list[Any], tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    starts: list[Any] = []
    sizes, steps, dropped = [], [], []
    for axis, (index, dim) in enumerate(zip(indexer.indices, ref.shape)):
      if isinstance(index, Slice):
        if index.is_dynamic_size:
          raise _refused("A slice of dynamic size")
        starts.append(index.start)
        sizes.append(int(index.size))
        steps.append(int(index.stride))
      else:
        if not _is_static(index) and index.type.shape:
          raise _refused("Indexing a ref with an array")
        starts.append(self._wrapped(index, dim))
        sizes.append(1)
        steps.append(1)
        dropped.append(axis)
    return starts, tuple(sizes), tuple(steps), tuple(dropped)

  def _wrapped(self, index: Any, dim: int) -> Any:
    """NumPy's rule for scalars: -1 is the last element."""
    if _is_static(index):
      return int(index) + dim if index < 0 else int(index)
    dtype = index.type.dtype
    negative = self.ctx.emit("lt", index, self.ctx.constant(0, dtype))
    return self.ctx.emit("select", negative, self.ctx.emit("add", index, self.ctx.constant(dim, dtype)), index)

  def load(self) -> Value:
    assert isinstance(self.ref.type, RefType)
    if self.index is None:
      return self.ctx.emit("load", self.ref)
    starts, sizes, steps, dropped = self._window(self.index, self.ref.type)
    if self._surely_inside(starts, sizes, steps):
      view = self.ctx.emit("subview", self.ref, *map(self._scalar, starts), sizes=sizes, steps=steps, dropped=dropped)
      return self.ctx.emit("load", view)
    return self.ctx.emit("window_load", self.ref, *map(self._scalar, starts), sizes=sizes, steps=steps, dropped=dropped)

  def store(self, value: Value) -> None:
    assert isinstance(self.ref.type, RefType)
    if self.index is None:
      self.ctx.builder.emit_all("store", [self.ref, value])
      return
    starts, sizes, steps, dropped = self._window(self.index, self.ref.type)
    if self._surely_inside(starts, sizes, steps):
      view = self.ctx.emit("subview", self.ref, *map(self._scalar, starts), sizes=sizes, steps=steps, dropped=dropped)
      self.ctx.builder.emit_all("store", [view, value])
      return
    self.ctx.builder.emit_all(
      "window_store", [self.ref, value, *map(self._scalar, starts)], sizes=sizes, steps=steps, dropped=dropped
    )

  def _surely_inside(self, starts: Sequence[Any], sizes: Sequence[int], steps: Sequence[int]) -> bool:
    assert isinstance(self.ref.type, RefType)
    return all(
      _is_static(s) and s >= 0 and s + (n - 1) * t < d for s, n, t, d in zip(starts, sizes, steps, self.ref.type.shape)
    )


def _is_static(x: Any) -> bool:
  return isinstance(x, int | np.integer)


@rule("get")
def _get(ctx: Context, ref: Value, *flat: Value, tree: Any) -> Value:
  return Window(ctx, ref, _transforms(ctx, tree, flat)).load()


@rule("swap")
def _swap(ctx: Context, ref: Value, value: Value, *flat: Value, tree: Any) -> Value:
  window = Window(ctx, ref, _transforms(ctx, tree, flat))
  old = window.load()
  window.store(value)
  return old


@rule("addupdate")
def _addupdate(ctx: Context, ref: Value, value: Value, *flat: Value, tree: Any) -> list[Value]:
  window = Window(ctx, ref, _transforms(ctx, tree, flat))
  window.store(ctx.emit("add", window.load(), value))
  return []


def _transforms(ctx: Context, tree: Any, flat: Sequence[Value]) -> Any:
  return _jax.unflatten(tree, [_known(v) for v in flat])


def _known(v: Value) -> Any:
  """A constant index as an int, so that what is surely inside needs no check."""
  op = v.owner
  if isinstance(op, Op) and op.name == "constant" and np.ndim(op.attrs["value"]) == 0:
    return int(op.attrs["value"])
  return v


@rule("masked_load")
def _masked_load(ctx: Context, *flat: Value, tree: Any) -> Value:
  view, mask, other = _jax.unflatten(
    tree, [_known(v) if not isinstance(v.type, RefType) and v.type.shape == () else v for v in flat]
  )
  value = Window(ctx, view.ref, view.transforms).load()
  if other is None:
    return value
  assert isinstance(value.type, TileType)
  return ctx.emit("select", _as_value(ctx, mask, np.bool_), value, _as_value(ctx, other, value.type.dtype))


@rule("masked_swap")
def _masked_swap(ctx: Context, *flat: Value, tree: Any) -> Value:
  view, value, mask = _jax.unflatten(
    tree, [_known(v) if not isinstance(v.type, RefType) and v.type.shape == () else v for v in flat]
  )
  window = Window(ctx, view.ref, view.transforms)
  old = window.load()
  assert isinstance(old.type, TileType)
  window.store(ctx.emit("select", _as_value(ctx, mask, np.bool_), _as_value(ctx, value, old.type.dtype), old))
  return old


def _as_value(ctx: Context, x: Any, dtype: Any) -> Value:
  return ctx.constant(x, dtype) if _is_static(x) else x


@rule("run_scoped")
def _run_scoped(ctx: Context, *consts: Value, jaxpr: Any, collective_axes: Any) -> list[Value]:
  refs = []
  for v in jaxpr.invars[len(consts) :]:
    if is_semaphore(v.aval.dtype):
      raise _refused("A semaphore")
    refs.append(ctx.emit("alloc", shape=tuple(v.aval.shape), dtype=np.dtype(v.aval.dtype), space="scratch"))
  return lower_jaxpr(ctx.builder, jaxpr, (), [*consts, *refs])
