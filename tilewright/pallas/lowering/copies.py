"""Rules for copies between refs, on one device or to another.

A copy is carried out when it starts; its semaphore is incremented by its bytes, and a wait subtracts them. The portable lowering uses the
same order. A program that waits before it uses the destination or changes the source cannot distinguish it from any other order.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tilewright.pallas.dma import fix_sizes
from tilewright.pallas.lowering.effects import as_int32, check_own_core, device_number, signal, wait
from tilewright.pallas.lowering.keys import with_words, words_of
from tilewright.pallas.lowering.memory import leaves
from tilewright.pallas.lowering.table import Context, rule
from tilewright.pallas.lowering.views import NDIndexer, View
from tilewright.runtime import _jax
from tilewright.target import xla
from tilewright.tile.ir import Block, Value


@dataclasses.dataclass(frozen=True)
class End:
  """One end of a copy: a ref and its transforms. Of a slice with a dynamic size only the leading elements are valid."""

  ctx: Context
  ref: Value
  transforms: tuple[Any, ...]
  words: tuple[int, ...] = ()  # the dimensions of an element that is a key

  def view(self, limits: Mapping[int, int] = {}) -> tuple[View, dict[int, Value]]:
    """The view with static sizes, as large as its ref and these limits allow, and the number of valid elements along an axis."""
    fixed, counts = [], {}
    for transform in self.transforms:
      if isinstance(transform, NDIndexer) and transform.is_dynamic_size:
        transform, more = fix_sizes(transform, limits)
        counts.update({axis: as_int32(self.ctx, count) for axis, count in more})
      fixed.append(transform)
    return View.of(self.ctx, self.ref, with_words(fixed, self.words) if self.words else fixed), counts

  @property
  def shape(self) -> tuple[int, ...]:
    return self.view()[0].load().tile.shape  # an unused load is removed as dead code

  def number_of_bytes(self) -> Value:
    """The number of valid bytes."""
    counts = self.view()[1]
    shape = self.shape
    fixed = math.prod(d for axis, d in enumerate(shape) if axis not in counts)
    number = self.ctx.constant(fixed * max(1, self.ref.ref.dtype.itemsize), np.int32)
    for count in counts.values():
      number = self.ctx.emit("mul", number, count)
    return number


def _with_end(
  ctx: Context, flat: Sequence[Value], view: Any, use: Callable[[End], None], transforms: tuple[Any, ...] = ()
) -> None:
  """Use the end of a copy that a view is; where it is one of several refs (`select_ref`), there is a case for each."""
  if isinstance(view, Value):
    words = next(words_of(var.aval) for var, operand in zip(ctx.eqn.invars, flat) if operand is view)
    use(End(ctx, view, transforms, words))
    return
  if not view.multiref:
    _with_end(ctx, flat, view.ref, use, (*view.transforms, *transforms))
    return
  choice, *rest = view.transforms
  cases = []
  for ref in view.ref:
    block = Block.of([])
    with ctx.builder.into(block):
      _with_end(ctx, flat, ref, use, (*rest, *transforms))
      ctx.builder.emit_all("yield", [])
    cases.append(block)
  ctx.builder.emit_all("switch", [as_int32(ctx, choice.idx)], cases)


def _on_core(end: End, core: Value | None) -> End:
  return end if core is None else dataclasses.replace(end, ref=end.ctx.builder.cores.part(end.ctx, end.ref, core))


def _on_device(end: End, device: Value | None) -> End:
  return (
    end
    if device is None
    else dataclasses.replace(end, ref=end.ctx.emit("remote", end.ref, device, where=end.ctx.where))
  )


def _copy(ctx: Context, source: End, target: End, *, add: bool) -> None:
  # Along a dimension of dynamic size no more elements are copied than fit both ends.
  limits: dict[int, int] = {}
  for end in (source, target):
    if counts := end.view()[1]:
      shape = end.shape
      for axis in counts:
        limits[axis] = min(limits.get(axis, shape[axis]), shape[axis])
  into, counts = target.view(limits)
  old = into.load()
  new = _fit(ctx, source.view(limits)[0].load(), old.tile.shape)
  if add:
    new = ctx.emit("add", old, new)
  for axis, count in counts.items():
    places = ctx.emit("iota", shape=old.tile.shape, axis=axis, dtype=np.dtype(np.int32))
    moved = ctx.emit("lt", places, ctx.emit("broadcast", count, shape=old.tile.shape, dims=()))
    new = ctx.emit("select", moved, new, old)
  into.store(new)


def _fit(ctx: Context, value: Value, shape: tuple[int, ...]) -> Value:
  """Cut or pad (with poison) to a shape: slices of dynamic size may be bounded by dimensions of different size."""
  ty = value.tile
  if ty.shape == shape:
    return value
  kept = tuple(min(a, b) for a, b in zip(ty.shape, shape))
  if kept != ty.shape:
    value = ctx.emit("slice", value, starts=(0,) * len(shape), stops=kept, strides=(1,) * len(shape))
  if kept != shape:
    fill = ctx.constant(xla.poison_value(ty.dtype), ty.dtype)
    nothing = (0,) * len(shape)
    value = ctx.emit("pad", value, fill, low=nothing, high=tuple(b - a for a, b in zip(kept, shape)), interior=nothing)
  return value


@rule("dma_start")
def _dma_start(ctx: Context, *flat: Value, tree: Any, device_id_type: Any, priority: int, add: bool) -> list[Value]:
  source, target, arrived, left, device_id, core = leaves(tree, flat)
  device = device_number(ctx, device_id, device_id_type)
  check_own_core(ctx, core)
  there = None if core is None or ctx.builder.cores is None else as_int32(ctx, core)

  def from_source(source: End) -> None:
    size = source.number_of_bytes()
    if add and device is not None:  # others may add there too
      ctx.builder.emit_all("lock_device", [device], where=ctx.where)
    _with_end(ctx, flat, target, lambda t: _copy(ctx, source, _on_device(_on_core(t, there), device), add=add))
    if add and device is not None:
      ctx.builder.emit_all("unlock_device", [device], where=ctx.where)
    signal(ctx, arrived, size, there, device)
    if left is not None:
      signal(ctx, left, size)

  _with_end(ctx, flat, source, from_source)
  return []


@rule("fetch_and_add")
def _fetch_and_add(ctx: Context, *flat: Value, tree: Any) -> Value:
  """Atomic for other cores: cores are coroutines that switch only at waits, and this rule has none."""
  view, _, core = leaves(tree, flat)
  _, value, _ = _jax.unflatten(tree, flat)  # a tile, also where it is constant
  found: list[Value] = []

  def add(end: End) -> None:
    at = _on_core(end, as_int32(ctx, core)).view()[0]
    found.append(at.load())
    at.store(ctx.emit("add", found[0], value))

  _with_end(ctx, flat, view, add)
  return found[0]


@rule("dma_wait")
def _dma_wait(ctx: Context, *flat: Value, tree: Any) -> list[Value]:
  moved, semaphore = leaves(tree, flat)
  _with_end(ctx, flat, moved, lambda end: wait(ctx, semaphore, end.number_of_bytes()))
  return []
