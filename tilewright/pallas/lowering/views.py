"""Lowering of ref transforms: reads and writes through indices, reshapes, transposes and bitcasts.

Transforms are processed in order. The leading transforms that are views of memory (in-bounds static slices, a reshape of dense memory, a
transpose, a same-width bitcast) become view ops. The first index that is not a view, if any, becomes a memory access:

    slices and scalars         window_load, window_store
    with arrays or steps       gather_load, scatter_store: NumPy's rules for the order of the dimensions

A slice of a slice is merged into one slice, whose start is the sum of both starts. Elements of the second that lie outside the first
(`Limit`) are poison in a load and masked off in a store. A store must not write unselected elements: other warpgroups may write there.

Transforms after that are rare, and are applied to the value: a read loads the part and applies the rest; a write is a read-modify-write of
the part. This is the portable target's own code, traced and lowered, so it has the same semantics.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from tilewright import errors
from tilewright.pallas.lowering.expand import expand
from tilewright.pallas.lowering.table import Context
from tilewright.runtime import _jax
from tilewright.target.xla import refs
from tilewright.tile.formats import computed_in
from tilewright.tile.ir import Value
from tilewright.tile.types import TileType

NDIndexer = _jax.indexing.NDIndexer
Slice = _jax.indexing.Slice
_types = _jax.state_types


def refused(what: str) -> errors.NativeCodeError:
  return errors.NativeCodeError(f"{what} cannot be compiled to native code yet. Pass interpret=True.")


def is_static(x: Any) -> bool:
  return isinstance(x, int | np.integer)


@dataclasses.dataclass(frozen=True)
class Limit:
  """A bound on an index: of the selected elements i along an axis of a ref, those with `start + step * i` in [0, size) are valid."""

  axis: int
  start: Value
  step: int
  size: int


@dataclasses.dataclass(frozen=True)
class View:
  """A ref after the transforms that are views of memory, and the remaining transforms, the first of which may have limits."""

  ctx: Context
  ref: Value
  rest: tuple[Any, ...]
  limits: tuple[Limit, ...] = ()

  @classmethod
  def of(cls, ctx: Context, ref: Value, transforms: Sequence[Any]) -> View:
    rest, limits = _merged(ctx, ref.ref.shape, transforms)
    while rest and not limits and (view := _as_view(ctx, ref, rest[0])) is not None:
      ref = view
      rest, limits = _merged(ctx, ref.ref.shape, rest[1:])
    return cls(ctx, ref, tuple(rest), tuple(limits))

  @property
  def may_repeat(self) -> bool:
    """Whether the last index has arrays, which may name an element twice."""
    return bool(self.rest) and isinstance(self.rest[-1], NDIndexer) and bool(self.rest[-1].int_indexer_shape)

  def load(self, cache: str = "") -> Value:
    """Load the view's value; `cache` are the kernel's cache hints."""
    if not self.rest:
      return self.ctx.emit("load", self.ref, **_cache_attribute(cache))
    first, *inner = self.rest
    part = self._load_first(first, cache)
    return _on_values(self.ctx, lambda value, transforms: refs.read(value, transforms), inner, part) if inner else part

  def store(self, new: Value, cache: str = "") -> None:
    if not self.rest:
      self.ctx.builder.emit_all("store", [self.ref, new], **_cache_attribute(cache))
      return
    first, *inner = self.rest
    if inner:
      put = lambda value, transforms, new: refs.write(value, transforms, new)[1]
      new = _on_values(self.ctx, put, inner, self._load_first(first), new)
    self._store_first(first, new, "set", cache)

  def scatter_where(self, mask: Value, new: Value, cache: str = "") -> bool:
    """Store the elements selected by a mask at positions given by index arrays, which may repeat; False if there are no index arrays."""
    if not self.may_repeat or len(self.rest) > 1:
      return False
    positions, attrs = _elements(self.ctx, self.rest[0], self.ref.ref.shape)
    outside = self.ctx.broadcast_scalar(self.ctx.constant(-1, positions[0].tile.dtype), mask.tile.shape)
    positions[0] = self.ctx.emit("select", mask, positions[0], outside)
    self.ctx.builder.emit_all(
      "scatter_store", [self.ref, new, *positions], kind="set", **attrs, **_cache_attribute(cache)
    )
    return True

  def accumulate(self, kind: str, update: Value) -> None:
    """Combine a value into memory; values at repeated integer indices accumulate."""
    if self.may_repeat and len(self.rest) == 1 and isinstance(self.rest[0], NDIndexer):
      self._store_first(self.rest[0], update, kind)
    elif self.may_repeat:
      first, *inner = self.rest
      name = {"sum": "add"}.get(kind, kind)
      combine = lambda value, transforms, new: refs.accumulate(value, transforms, new, name)
      self._store_first(first, _on_values(self.ctx, combine, inner, self._load_first(first), update), "set")
    else:
      self.store(self.ctx.emit({"sum": "add"}.get(kind, kind), self.load(), update))

  def atomic(self, kind: str, value: Value, other: Value) -> Value | None:
    """Combine a value into memory, atomically per element; None if elements cannot be addressed individually."""
    ctx, shape, dtype = self.ctx, self.ref.ref.shape, self.ref.ref.dtype
    if dtype.kind == "c" or computed_in(dtype) is not None or len(self.rest) > 1 or self.limits:
      return None
    positions: list[Value] = []
    attrs: dict[str, Any] = {"axes": (), "sizes": shape, "steps": (1,) * len(shape), "dropped": (), "batch": ()}
    if self.rest:
      if not isinstance(self.rest[0], NDIndexer):
        return None
      positions, attrs = _arrays(ctx, self.rest[0], shape)
    return ctx.emit("atomic", self.ref, value, other, *positions, kind=kind, **{**attrs, "outside": "each"})

  def poison(self, ty: TileType) -> Value:
    return self.ctx.broadcast(self.ctx.constant(refs.poison_value(ty.dtype), ty.dtype), ty.shape)

  def _load_first(self, transform: Any, cache: str = "") -> Value:
    ctx, ref = self.ctx, self.ref
    if not isinstance(transform, NDIndexer):
      whole = ctx.emit("load", ref, **_cache_attribute(cache))
      return _on_values(ctx, lambda value, transforms: refs.read(value, transforms), [transform], whole)
    if (window := _Window.of(ctx, transform, ref.ref.shape)) is not None:
      part = ctx.emit("window_load", ref, *window.starts, **window.attributes, **_cache_attribute(cache))
      inside = self._within_limits(transform, part.tile.shape)
      return part if inside is None else ctx.emit("select", inside, part, self.poison(part.tile))
    positions, attrs = _arrays(ctx, transform, ref.ref.shape)
    return ctx.emit("gather_load", ref, *positions, **attrs, **_cache_attribute(cache))

  def _store_first(self, transform: Any, new: Value, kind: str, cache: str = "") -> None:
    ctx, ref = self.ctx, self.ref
    if not isinstance(transform, NDIndexer):
      put = lambda value, transforms, new: refs.write(value, transforms, new)[1]
      whole = _on_values(ctx, put, [transform], ctx.emit("load", ref), new)
      ctx.builder.emit_all("store", [ref, whole], **_cache_attribute(cache))
    elif kind == "set" and (window := _Window.of(ctx, transform, ref.ref.shape)) is not None:
      if (inside := self._within_limits(transform, new.tile.shape)) is not None:  # becomes a masked store
        old = ctx.emit("window_load", ref, *window.starts, **window.attributes)
        new = ctx.emit("select", inside, new, old)
      ctx.builder.emit_all("window_store", [ref, new, *window.starts], **window.attributes, **_cache_attribute(cache))
    else:
      positions, attrs = _arrays(ctx, transform, ref.ref.shape)
      ctx.builder.emit_all("scatter_store", [ref, new, *positions], kind=kind, **attrs, **_cache_attribute(cache))

  def _within_limits(self, indexer: Any, shape: Sequence[int]) -> Value | None:
    """Which elements that an index selects lie within its limits; None if it has none."""
    ctx, found = self.ctx, None
    kept = [axis for axis, index in enumerate(indexer.indices) if isinstance(index, Slice)]
    for limit in self.limits:
      start = _counted(ctx, limit.start, limit.size)
      dtype = start.tile.dtype
      of = lambda number: ctx.broadcast_scalar(ctx.constant(number, dtype), shape)
      place = ctx.broadcast_scalar(start, shape)
      if limit.axis in kept:
        along = ctx.emit("iota", shape=tuple(shape), dtype=dtype, axis=kept.index(limit.axis))
        place = ctx.emit("add", place, along if limit.step == 1 else ctx.emit("mul", along, of(limit.step)))
      for inside in (ctx.emit("ge", place, of(0)), ctx.emit("lt", place, of(limit.size))):
        found = inside if found is None else ctx.emit("and", found, inside)
    return found


def index_dtype(index: int) -> Any:
  """int32, the fastest index type of most targets, or int64 for an index beyond its range."""
  return np.int32 if abs(index) <= np.iinfo(np.int32).max else np.int64


def _counted(ctx: Context, index: Any, dim: int) -> Any:
  """An index in a dtype that can represent every position of a dimension, so that sums of indices do not wrap around."""
  if is_static(index) or dim <= np.iinfo(np.int32).max or index.tile.dtype.itemsize == 8:
    return index
  return ctx.emit("convert", index, dtype=np.dtype(np.int64))


def _cache_attribute(cache: str) -> dict[str, Any]:
  """The cache hints as an attribute of an op; empty if there are none."""
  return {"cache": cache} if cache else {}


# --- an index of an index ----------------------------------------------------------------------------------------


def _merged(ctx: Context, shape: Sequence[int], transforms: Sequence[Any]) -> tuple[list[Any], list[Limit]]:
  """The transforms, with an index that follows the first one merged into it: then only elements that both select are accessed."""
  rest, limits = [t for t in transforms if not getattr(t, "is_whole", False)], list[Limit]()
  while len(rest) > 1 and isinstance(rest[0], NDIndexer) and isinstance(rest[1], NDIndexer):
    if (both := _merge(ctx, shape, rest[0], rest[1], limits)) is None:
      break
    rest[:2], limits = [both[0]], both[1]
  return rest, limits


def _merge(
  ctx: Context, shape: Sequence[int], outer: Any, inner: Any, limits: Sequence[Limit]
) -> tuple[Any, list[Limit]] | None:
  """The composition of two indices, and its limits, given those of the first; None if the first is a view of which the second is better a
  window."""
  if outer.int_indexer_shape or inner.int_indexer_shape:
    return None
  is_view = not limits and _surely_inside(outer, shape)
  indices: list[Any] = []
  found: list[Limit] = []
  inner_indices = iter(inner.indices)
  for axis, (index, dim) in enumerate(zip(outer.indices, shape)):
    own_limits = [limit for limit in limits if limit.axis == axis]
    if not isinstance(index, Slice):
      indices.append(index)
      found += own_limits
      continue
    own = next(inner_indices)
    if index.is_dynamic_size or (isinstance(own, Slice) and own.is_dynamic_size):
      return None
    if is_static(index.start) and index.start == 0 and index.size == dim and index.stride == 1:
      indices.append(own)
      continue
    start, size, stride = (own.start, own.size, own.stride) if isinstance(own, Slice) else (own, 1, 1)
    if not isinstance(own, Slice):
      start = wrapped(ctx, start, index.size)
    first, start = (_counted(ctx, x, dim) for x in (index.start, start))
    is_inside = is_static(start) and start >= 0 and start + (size - 1) * stride < index.size
    if not is_inside and is_view:
      return None
    for limit in own_limits:
      moved = _as_value(ctx, _plus(ctx, limit.start, _times(ctx, start, limit.step)))
      found.append(Limit(axis, moved, limit.step * stride, limit.size))
    if not is_inside:
      found.append(Limit(axis, _as_value(ctx, start), stride, index.size))
    begin = _plus(ctx, first, _times(ctx, start, index.stride))
    if isinstance(own, Slice):
      indices.append(Slice(begin, size, stride * index.stride))
    elif is_static(begin):
      if begin < 0:
        return None
      indices.append(begin)
    else:  # a slice does not count from the end where its start is negative, as a scalar with a sign would
      unsigned = np.dtype(np.uint32 if begin.tile.dtype.itemsize == 4 else np.uint64)
      indices.append(ctx.emit("convert", begin, dtype=unsigned))
  return NDIndexer(tuple(indices), tuple(shape), ()), found


def _as_value(ctx: Context, x: Any) -> Value:
  """An index as a signed scalar."""
  if is_static(x):
    return ctx.constant(int(x), index_dtype(int(x)))
  is_wide = x.tile.dtype.kind == "i" and x.tile.dtype.itemsize >= 4
  return x if is_wide else ctx.emit("convert", x, dtype=np.dtype(np.int32))


def _plus(ctx: Context, x: Any, y: Any) -> Any:
  if is_static(x) and is_static(y):
    return x + y
  if is_static(y) and y == 0:
    return x
  if is_static(x) and x == 0:
    return y
  return ctx.emit("add", *_alike(ctx, x, y))


def _times(ctx: Context, x: Any, number: int) -> Any:
  if is_static(x):
    return x * number
  return x if number == 1 else ctx.emit("mul", *_alike(ctx, x, number))


def _alike(ctx: Context, x: Any, y: Any) -> tuple[Value, Value]:
  """Two indices as values of one dtype, with a sign."""
  a, b = _as_value(ctx, x), _as_value(ctx, y)
  dtype = max(a.tile.dtype, b.tile.dtype, key=lambda d: d.itemsize)
  a, b = (v if v.tile.dtype == dtype else ctx.emit("convert", v, dtype=dtype) for v in (a, b))
  return a, b


# --- views of memory ---------------------------------------------------------------------------------------------


def _as_view(ctx: Context, ref: Value, transform: Any) -> Value | None:
  match transform:
    case NDIndexer():
      if not _surely_inside(transform, ref.ref.shape):
        return None
      window = _Window.of(ctx, transform, ref.ref.shape)
      assert window is not None
      return ctx.emit("subview", ref, *window.starts, **window.attributes)
    case _types.ReshapeTransform() if ref.ref.is_dense:
      return ctx.emit("reshape_ref", ref, shape=tuple(transform.shape))
    case _types.TransposeTransform():
      return ctx.emit("transpose_ref", ref, permutation=tuple(transform.permutation))
    case _types.BitcastTransform() if np.dtype(transform.dtype).itemsize == ref.ref.dtype.itemsize:
      return ctx.emit("bitcast_ref", ref, dtype=np.dtype(transform.dtype))
  return None


@dataclasses.dataclass(frozen=True)
class _Window:
  """Slices and scalars: a start (a scalar value), a size and a step for each dimension."""

  starts: tuple[Value, ...]
  sizes: tuple[int, ...]
  steps: tuple[int, ...]
  dropped: tuple[int, ...]

  @classmethod
  def of(cls, ctx: Context, indexer: Any, shape: Sequence[int]) -> _Window | None:
    starts, sizes, steps, dropped = [], [], [], []
    for axis, (index, dim) in enumerate(zip(indexer.indices, shape)):
      if isinstance(index, Slice):
        if index.is_dynamic_size:
          raise refused("A slice of dynamic size")
        start = index.start
        sizes.append(int(index.size))
        steps.append(int(index.stride))
      elif is_static(index) or not index.type.shape:
        start = wrapped(ctx, index, dim)
        sizes.append(1)
        steps.append(1)
        dropped.append(axis)
      else:
        return None
      starts.append(ctx.constant(int(start), index_dtype(int(start))) if is_static(start) else start)
    return cls(tuple(starts), tuple(sizes), tuple(steps), tuple(dropped))

  @property
  def attributes(self) -> dict[str, Any]:
    return {"sizes": self.sizes, "steps": self.steps, "dropped": self.dropped}


def _surely_inside(indexer: Any, shape: Sequence[int]) -> bool:
  """Whether an index has only static slices and scalars, all in bounds."""
  for index, dim in zip(indexer.indices, shape):
    start = index.start if isinstance(index, Slice) else index
    if not is_static(start) or (isinstance(index, Slice) and index.is_dynamic_size):
      return False
    span = (index.size - 1) * index.stride if isinstance(index, Slice) else 0
    first = start + dim if start < 0 and not isinstance(index, Slice) else start
    if first < 0 or first + span >= dim:
      return False
  return True


def wrapped(ctx: Context, index: Any, dim: int) -> Any:
  """NumPy's rule for scalars and arrays: -1 is the last element."""
  if is_static(index):
    return int(index) + dim if index < 0 else int(index)
  ty = index.tile
  if ty.dtype == np.bool_:
    raise errors.BooleanIndexError(
      "A ref is indexed by booleans; how many elements they select is not known when the kernel is compiled. Use jnp.where on its "
      "value, or pl.load and pl.store with a mask."
    )
  if ty.dtype.kind == "u":
    return index
  index = _counted(ctx, index, dim)
  ty = index.tile
  if ty.dtype.itemsize < 4:  # so that adding the size cannot wrap around
    index = ctx.emit("convert", index, dtype=np.dtype(np.int32))
    ty = index.tile
  of = lambda number: ctx.broadcast(ctx.constant(number, ty.dtype), ty.shape)
  return ctx.emit("select", ctx.emit("lt", index, of(0)), ctx.emit("add", index, of(dim)), index)


# --- arrays of indices -------------------------------------------------------------------------------------------


def _arrays(ctx: Context, indexer: Any, shape: Sequence[int]) -> tuple[list[Value], dict[str, Any]]:
  """Positions and attributes for an index with arrays (or steps).

  NumPy puts the dimensions of integer indices first if a slice separates them, else in the place of the first of them.
  """
  of_arrays = tuple(indexer.int_indexer_shape)
  positions, axes, sizes, steps, dropped = [], [], [], [], []
  for axis, (index, dim) in enumerate(zip(indexer.indices, shape)):
    if isinstance(index, Slice):
      if index.is_dynamic_size:
        raise refused("A slice of dynamic size")
      sizes.append(int(index.size))
      steps.append(int(index.stride))
      start = index.start
      if is_static(start) and start == 0:
        continue
    else:
      sizes.append(1)
      steps.append(1)
      dropped.append(axis)
      start = wrapped(ctx, index, dim)
    start = ctx.constant(int(start), index_dtype(int(start))) if is_static(start) else start
    rank = start.tile.rank
    dims = tuple(range(len(of_arrays) - rank, len(of_arrays)))
    positions.append(
      start if start.tile.shape == of_arrays else ctx.emit("broadcast", start, shape=of_arrays, dims=dims)
    )
    axes.append(axis)
  first = 0
  if dropped and dropped[-1] - dropped[0] + 1 == len(dropped):
    first = dropped[0]
  batch = tuple(range(first, first + len(of_arrays)))
  attrs = {"axes": axes, "sizes": sizes, "steps": steps, "dropped": dropped}
  return positions, {**{k: tuple(v) for k, v in attrs.items()}, "batch": batch, "outside": "each"}


def _elements(ctx: Context, indexer: Any, shape: Sequence[int]) -> tuple[list[Value], dict[str, Any]]:
  """As `_arrays`, with a separate position for every element."""
  positions, attrs = _arrays(ctx, indexer, shape)
  of_axis = dict(zip(attrs["axes"], positions))
  kept = [axis for axis in range(len(shape)) if axis not in attrs["dropped"]]
  rank, batch = len(attrs["batch"]) + len(kept), attrs["batch"]
  free = [d for d in range(rank) if d not in batch]  # the dimensions of slices
  sizes = {d: attrs["sizes"][axis] for d, axis in zip(free, kept)}
  whole = tuple(sizes.get(d) or int(indexer.int_indexer_shape[batch.index(d)]) for d in range(rank))
  found = []
  for axis in range(len(shape)):
    place = of_axis.get(axis)
    if place is not None:
      place = ctx.emit("broadcast", place, shape=whole, dims=batch)
    if axis in kept:
      ty = np.dtype(index_dtype(shape[axis])) if place is None else place.tile.dtype
      along = ctx.emit("iota", shape=whole, dtype=ty, axis=free[kept.index(axis)])
      step = ctx.broadcast_scalar(ctx.constant(attrs["steps"][axis], ty), whole)
      along = ctx.emit("mul", along, step)
      place = along if place is None else ctx.emit("add", place, along)
    assert place is not None, "what is no slice is an array"
    found.append(place)
  every = tuple(range(len(shape)))
  ones = (1,) * len(shape)
  alone = {"axes": every, "sizes": ones, "steps": ones, "dropped": every, "batch": tuple(range(rank))}
  return found, {**attrs, **alone}


# --- transforms of values ----------------------------------------------------------------------------------------


def _on_values(ctx: Context, f: Any, transforms: Sequence[Any], *args: Value) -> Value:
  """`f(args[0], transforms, *args[1:])` as the portable target would do it."""
  leaves, tree = jax.tree.flatten(tuple(transforms), is_leaf=lambda x: isinstance(x, Value))
  dynamic = [x for x in leaves if isinstance(x, Value)]

  def run(*arrays: Any) -> Any:
    own, rest = arrays[: len(args)], iter(arrays[len(args) :])
    return f(own[0], jax.tree.unflatten(tree, [next(rest) if isinstance(x, Value) else x for x in leaves]), *own[1:])

  (result,) = expand(ctx, run, *args, *dynamic)
  return result
