"""Rules of operations that slice, update, join, repeat or split arrays.

A slice moves a block: element `e` of the result is element `e + start` of the operand. Where `start` is a multiple of
the block size the moved block is a block again; else it is read element by element (`pl.Element`). Where only the
running program knows `start`, it comes from a prefetched scalar if it can, and otherwise the whole dimension is read
and the block is cut out inside the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from tilewright.pallas.fuser import push_rules, views
from tilewright.pallas.fuser.push_rules import derived, shape_of
from tilewright.pallas.fuser.table import Blocks, Pulled, Site, Usage, common_view, cut, define, is_literal
from tilewright.pallas.fuser.views import UNUSED, View, covers, is_blocked, is_squeezed, size_of
from tilewright.pallas.specs import no_block_spec
from tilewright.tile.grid import Blocked, BoundedSlice, Element

Change = Callable[[Any, Any], Any]


def moved(dim: Any, start: int) -> tuple[Any, Callable[[Any], Any]]:
  """A block dimension `start` elements further on, and the function of its index."""
  size = size_of(dim)
  if start == 0:
    return dim, lambda i: i
  match dim:
    case Element():
      return dim, lambda i: i + start
    case BoundedSlice():
      return dim, lambda i: views.Slice(i.start + start, i.size)
    case _ if is_squeezed(dim):
      return dim, lambda i: i + start
    case _ if start % size == 0:
      return dim, lambda i: i + start // size
    case _:
      return Element(size), lambda i: i * size + start


def last_block(length: int, size: int) -> int:
  """The number of the last block of a dimension; the first of one without elements."""
  return max(0, -(-length // size) - 1)


# --- slice -------------------------------------------------------------------------------------------------------


def _strided(site: Site, view: View, dim: Any, start: int, stride: int) -> tuple[Any, Callable[[Any], Any]]:
  """Every stride-th element: a block stride times as long, out of which the evaluation takes them."""
  if is_squeezed(dim):
    return dim, lambda i: i * stride + start
  if not is_blocked(dim):
    raise site.refuse(
      view, f"a slice with stride {stride} needs block indices, not element offsets", "Use pl.Blocked there."
    )
  whole, _ = divmod(start, stride)
  size = size_of(dim)
  if whole % size == 0:
    long = Blocked(size * stride) if isinstance(dim, Blocked) else size * stride
    return long, lambda i: i + whole // size
  return Element(size * stride), lambda i: (i * size + whole) * stride


def _pull_slice(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  (view,) = out_views
  if view.block_shape is None:
    view = views.whole(site.out_avals[0], view)
  begins = site.params["start_indices"]
  strides = site.params["strides"] or (1,) * len(begins)
  found = [
    moved(dim, begin) if stride == 1 else _strided(site, view, dim, begin, stride)
    for dim, begin, stride in zip(view.block_shape, begins, strides)
  ]
  return [view.then([d for d, _ in found], lambda i: tuple(f(x) for (_, f), x in zip(found, i)))]


def _evaluate_slice(blocks: Blocks, x: Any) -> list[Any]:
  begins = blocks.params["start_indices"]
  strides = blocks.params["strides"] or (1,) * len(begins)
  for d, (begin, stride, size) in enumerate(zip(begins, strides, blocks.out_sizes())):
    if x.shape[d] != size:  # a block `stride` times as long, which begins at a multiple of it
      first = begin % stride
      x = lax.slice_in_dim(x, first, first + (size - 1) * stride + 1, stride, axis=d)
  return [x]


def _push_slice(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  (spec,) = specs
  if spec is no_block_spec:
    return [spec]
  operand, out = site.in_avals[0].shape, site.out_avals[0].shape
  given = shape_of(spec, site.in_avals[0])
  for dim, n, m in zip(given, operand, out):
    if n != m and not covers(dim, n):
      raise site.refuse(
        spec,
        "some blocks of the operand lie outside of the slice",
        "Make the block cover the sliced dimension, or slice before the kernel.",
      )
  shape = [dim if n == m else m for dim, n, m in zip(given, operand, out)]
  return [derived(spec, shape, lambda i: i)]


# --- dynamic_slice -----------------------------------------------------------------------------------------------


def _index_usage(first: int) -> Any:
  """Operands from the given one on say where something lies."""

  def usage(site: Site, used: Sequence[bool]) -> Sequence[Usage]:
    if not any(used):
      return [Usage.NONE] * len(site.eqn.invars)
    return [Usage.VALUE if i < first else Usage.VALUE | Usage.INDEX for i in range(len(site.eqn.invars))]

  return usage


def _clamped(begin: Any, length: int, size: int) -> Any:
  if isinstance(begin, int):
    return max(0, min(begin, length - size))
  return jnp.clip(jnp.asarray(begin, jnp.int32), 0, length - size)


def _dynamically_moved(site: Site, d: int, dim: Any) -> tuple[Any, Change] | None:
  """Dimension d of a block, moved by a start, and the function of its index and of the prefetched scalars; None if the
  start is not known."""
  begin = site.eqn.invars[1 + d]
  out, length = site.out_avals[0].shape[d], site.in_avals[0].shape[d]
  size = size_of(dim)
  if out == length:
    return dim, lambda i, p: i
  if is_literal(begin):
    new, change = moved(dim, _clamped(int(begin.val), length, out))
    return new, lambda i, p: change(i)
  getter = site.scalar(begin)
  if getter is None:
    return None
  at = lambda p: _clamped(getter(p), length, out)
  if isinstance(dim, BoundedSlice):
    return dim, lambda i, p: views.Slice(i.start + at(p), i.size)
  if is_squeezed(dim) or isinstance(dim, Element) or size == 1:
    return dim, lambda i, p: i + at(p)
  return Element(size), lambda i, p: i * size + at(p)


def _pull_dynamic_slice(site: Site, out_views: Sequence[Any]) -> Pulled:
  (view,) = out_views
  operand = site.in_avals[0].shape
  if view.block_shape is None:
    view = views.whole(site.out_avals[0], view)
  found = [_dynamically_moved(site, d, dim) for d, dim in enumerate(view.block_shape)]
  inside = [d for d, f in enumerate(found) if f is None]  # dimensions that are read whole and cut in the kernel
  shape = [Blocked(operand[d]) if f is None else f[0] for d, f in enumerate(found)]
  inner = view.block_index_transform

  def transform(*outs: Any) -> tuple[Any, ...]:
    prefetched = getattr(outs[0], "prefetched", None)
    return tuple(0 if f is None else f[1](i, prefetched) for f, i in zip(found, inner(*outs)))

  new_view = view.replace(block_shape=tuple(shape), block_index_transform=transform)
  begins = [views.whole(a) if d in inside else UNUSED for d, a in enumerate(site.in_avals[1:])]
  return Pulled([new_view, *begins], tuple(inside))


def _evaluate_dynamic_slice(blocks: Blocks, x: Any, *begins: Any) -> list[Any]:
  out, operand = blocks.site.out_avals[0].shape, blocks.site.in_avals[0].shape
  for d in blocks.state:
    start = _clamped(begins[d], operand[d], out[d]) + blocks.out_starts()[d]
    x = cut(x, d, start, blocks.out_sizes()[d], aligned=False)
  return [x]


# --- dynamic_update_slice ----------------------------------------------------------------------------------------


def _pull_update(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  (view,) = out_views
  operand, update = site.in_avals[0], site.in_avals[1]
  if view.block_shape is None:
    view = views.whole(site.out_avals[0], view)
  same = [n == m for n, m in zip(operand.shape, update.shape)]
  shape = [dim if s else Blocked(m) for dim, s, m in zip(view.block_shape, same, update.shape)]
  new = view.then(shape, lambda i: tuple(x if s else 0 for x, s in zip(i, same)))
  return [view, new, *(views.whole(a) for a in site.in_avals[2:])]


def _evaluate_update(blocks: Blocks, x: Any, update: Any, *begins: Any) -> list[Any]:
  """The update, seen from this block: shifted along each dimension in which it is smaller, and masked where it does not
  reach."""
  operand, small = blocks.site.in_avals[0].shape, blocks.site.in_avals[1].shape
  inside: Any = None
  for d, (n, m) in enumerate(zip(operand, small)):
    if n == m:
      continue
    size = x.shape[d]
    # Where this block begins, counted from the update's first element.
    first = blocks.out_starts()[d] - _clamped(begins[d], n, m)
    widths = [(size if k == d else 0, size if k == d else 0, 0) for k in range(update.ndim)]
    padded = lax.pad(update, jnp.zeros((), update.dtype), widths)
    update = lax.dynamic_slice_in_dim(padded, jnp.clip(first + size, 0, m + size), size, d)
    place = first + lax.broadcasted_iota(jnp.int32, x.shape, d)
    here = (place >= 0) & (place < m)
    inside = here if inside is None else inside & here
  return [update if inside is None else jnp.where(inside, update, x)]


def _push_update(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  return [specs[0]]


# --- concatenate -------------------------------------------------------------------------------------------------


def _offsets(site: Site) -> list[int]:
  axis = site.params["dimension"]
  found = [0]
  for a in site.in_avals[:-1]:
    found.append(found[-1] + a.shape[axis])
  return found


def _pull_concatenate(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  (view,) = out_views
  axis, offsets = site.params["dimension"], _offsets(site)
  if view.block_shape is None:
    return [views.whole(a, view) for a in site.in_avals]
  dim, total = view.block_shape[axis], site.out_avals[0].shape[axis]
  size = size_of(dim)

  def part(length: int, offset: int) -> View:
    if covers(dim, total):
      return views.with_dim(view, axis, Blocked(length) if isinstance(dim, Blocked) else length, lambda i: 0)
    if not (is_blocked(dim) or is_squeezed(dim)) or offset % size or (length % size and offset + length != total):
      raise site.refuse(
        view,
        f"operands begin at elements {offsets} of dimension {axis}, not all multiples of the block size {size}",
        f"Make the block size a divisor of {length} and of the sizes of the other operands, or do not cut the "
        "dimension.",
      )
    return views.with_dim(view, axis, dim, lambda i: jnp.clip(i - offset // size, 0, last_block(length, size)))

  return [part(a.shape[axis], offset) for a, offset in zip(site.in_avals, offsets)]


def _evaluate_concatenate(blocks: Blocks, *parts: Any) -> list[Any]:
  axis = blocks.params["dimension"]
  view = blocks.out_views[0]
  total = blocks.site.out_avals[0].shape[axis]
  if view.block_shape is None or covers(view.block_shape[axis], total):
    return [lax.concatenate(parts, axis)]
  start = blocks.out_starts()[axis]
  found = parts[0]
  for part, offset in zip(parts[1:], _offsets(blocks.site)[1:]):
    found = jnp.where(start >= offset, part, found)
  return [found]


def _push_concatenate(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  axis = site.params["dimension"]
  given = [(s, a) for s, a in zip(specs, site.in_avals) if s is not no_block_spec]
  if not given:
    return [no_block_spec]
  spec, aval = given[0]
  shape = list(shape_of(spec, aval))
  for s, a in given:
    if not covers(shape_of(s, a)[axis], a.shape[axis]):
      raise site.refuse(
        s,
        "its operands are split into blocks along the dimension in which they are concatenated",
        "Make the block cover that dimension.",
      )
  shape[axis] = site.out_avals[0].shape[axis]
  return [derived(spec, shape, lambda i: tuple(0 if d == axis else x for d, x in enumerate(i)))]


# --- stack, tile -------------------------------------------------------------------------------------------------


def _pull_stack(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  (view,) = out_views
  axis = site.params["axis"]
  if view.block_shape is None:
    return [views.whole(a, view) for a in site.in_avals]
  dim = view.block_shape[axis]
  if size_of(dim) != 1 and not covers(dim, len(site.in_avals)):
    raise site.refuse(
      view,
      f"it joins {len(site.in_avals)} arrays in dimension {axis}",
      "Make that block size 1, or the whole dimension.",
    )
  drop = lambda items: (*items[:axis], *items[axis + 1 :])
  return [view.then(drop(tuple(view.block_shape)), lambda i: drop(tuple(i)))] * len(site.in_avals)


def _evaluate_stack(blocks: Blocks, *parts: Any) -> list[Any]:
  axis = blocks.params["axis"]
  rows = [lax.expand_dims(p, (axis,)) for p in parts]
  if blocks.out_sizes()[axis] == len(parts):
    return [lax.concatenate(rows, axis)]
  found = rows[0]
  for k, row in enumerate(rows[1:], 1):
    found = jnp.where(blocks.out_starts()[axis] == k, row, found)
  return [found]


def _push_stack(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  axis = site.params["axis"]
  given = push_rules.elementwise(site, specs, site.in_avals[0].shape)[0]
  if given is no_block_spec:
    return [given]
  shape = shape_of(given, site.in_avals[0])
  add = lambda items, x: (*items[:axis], x, *items[axis:])
  return [derived(given, add(shape, len(specs)), lambda i: add(i, 0))]


def _pull_unstack(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  """All that is needed of any of the results, in one view."""
  axis, operand = site.params["axis"], site.in_avals[0]

  def widened(view: View) -> View:
    if view.block_shape is None:
      return views.whole(operand, view)
    add = lambda items, x: (*items[:axis], x, *items[axis:])
    return view.then(add(tuple(view.block_shape), Blocked(operand.shape[axis])), lambda i: add(tuple(i), 0))

  return [common_view(site, [widened(v) for v in out_views if v is not UNUSED], operand.shape)]


def _evaluate_unstack(blocks: Blocks, x: Any) -> list[Any]:
  axis = blocks.params["axis"]
  row = lambda i: lax.squeeze(lax.slice_in_dim(x, i, i + 1, axis=axis), (axis,))
  return [None if v is UNUSED else row(i) for i, v in enumerate(blocks.out_views)]


def _pull_tile(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  (view,) = out_views
  if view.block_shape is None:
    return [views.whole(site.in_avals[0], view)]

  def once(dim: Any, n: int, times: int) -> tuple[Any, Callable[[Any], Any]]:
    size = size_of(dim)
    if times == 1:
      return dim, lambda i: i
    if not (is_blocked(dim) or is_squeezed(dim)) or (n % size and size % n):
      raise site.refuse(
        view,
        f"a block of {size} is not made of whole repeats of {n}",
        f"Make the block size a divisor or a multiple of {n}.",
      )
    if size % n == 0 and not is_squeezed(dim):
      return Blocked(n), lambda i: 0
    return dim, lambda i: i % (n // size)

  found = [once(*x) for x in zip(view.block_shape, site.in_avals[0].shape, site.params["reps"])]
  return [view.then([d for d, _ in found], lambda i: tuple(f(x) for (_, f), x in zip(found, i)))]


def _evaluate_tile(blocks: Blocks, x: Any) -> list[Any]:
  return [jnp.tile(x, [b // n for b, n in zip(blocks.out_sizes(), x.shape)])]


# --- split -------------------------------------------------------------------------------------------------------


def _pull_split(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  axis, operand = site.params["axis"], site.in_avals[0]

  def widened(view: View) -> View:
    if view.block_shape is None:
      return views.whole(operand, view)
    return views.with_dim(view, axis, Blocked(operand.shape[axis]), lambda i: 0)

  return [common_view(site, [widened(v) for v in out_views if v is not UNUSED], operand.shape)]


def _evaluate_split(blocks: Blocks, x: Any) -> list[Any]:
  axis = blocks.params["axis"]
  found: list[Any] = []
  offset = 0
  for i, size in enumerate(blocks.params["sizes"]):
    if blocks.out_views[i] is UNUSED:
      found.append(None)
    else:
      part = lax.slice_in_dim(x, offset, offset + size, axis=axis)
      dim = (blocks.out_views[i].block_shape or (size,) * x.ndim)[axis]
      whole = covers(dim, size)
      found.append(part if whole else cut(part, axis, blocks.out_starts(i)[axis], size_of(dim), is_blocked(dim)))
    offset += size
  return found


def _push_split(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  (spec,) = specs
  if spec is no_block_spec:
    return [spec] * len(site.out_avals)
  axis = site.params["axis"]
  shape = shape_of(spec, site.in_avals[0])
  if not covers(shape[axis], site.in_avals[0].shape[axis]):
    raise site.refuse(
      spec, "the dimension that it splits is also split into blocks", "Make the block cover that dimension."
    )
  whole = lambda n: [n if d == axis else x for d, x in enumerate(shape)]
  return [derived(spec, whole(int(n)), lambda i: i) for n in site.params["sizes"]]


# --- pad, rev ----------------------------------------------------------------------------------------------------


def _pull_pad(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  (view,) = out_views
  operand, out = site.in_avals[0], site.out_avals[0]
  if view.block_shape is None:
    view = views.whole(out, view)

  def unpadded(d: int, dim: Any, low: int, high: int, interior: int) -> tuple[Any, Callable[[Any], Any]]:
    size, length = size_of(dim), operand.shape[d]
    if (low, high, interior) == (0, 0, 0):
      return dim, lambda i: i
    if covers(dim, out.shape[d]):
      return Blocked(length), lambda i: 0
    if interior:
      raise site.refuse(view, f"it pads between the elements of dimension {d}", "Make the block cover the dimension.")
    if low % size or not (is_blocked(dim) or is_squeezed(dim)):
      raise site.refuse(
        view,
        f"it puts {low} elements before dimension {d}, not a multiple of the block size {size}",
        f"Make the block size a divisor of {low}, or make the block cover the dimension.",
      )
    return dim, lambda i: jnp.clip(i - low // size, 0, last_block(length, size))

  config = site.params["padding_config"]
  found = [unpadded(d, dim, *widths) for d, (dim, widths) in enumerate(zip(view.block_shape, config))]
  new = view.then([d for d, _ in found], lambda i: tuple(f(x) for (_, f), x in zip(found, i)))
  return [new, views.whole(site.in_avals[1])]


def _evaluate_pad(blocks: Blocks, x: Any, value: Any) -> list[Any]:
  view, operand = blocks.out_views[0], blocks.site.in_avals[0].shape
  config, masked = [], []
  for d, widths in enumerate(blocks.params["padding_config"]):
    uncut = view.block_shape is None or covers(view.block_shape[d], blocks.site.out_avals[0].shape[d])
    config.append(widths if uncut else (0, 0, 0))
    if not uncut and tuple(widths) != (0, 0, 0):
      masked.append((d, widths[0]))
  value = jnp.asarray(value, x.dtype)
  if any(tuple(w) != (0, 0, 0) for w in config):
    x = lax.pad(x, value, config)
  for d, low in masked:
    place = blocks.out_starts()[d] - low + lax.broadcasted_iota(jnp.int32, x.shape, d)
    x = jnp.where((place >= 0) & (place < operand[d]), x, value)
  return [x]


def _push_pad(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  spec = specs[0]
  if spec is no_block_spec:
    return [spec]
  shape = list(shape_of(spec, site.in_avals[0]))
  for d, widths in enumerate(site.params["padding_config"]):
    if tuple(widths) != (0, 0, 0):
      if not covers(shape[d], site.in_avals[0].shape[d]):
        raise site.refuse(
          spec, f"dimension {d}, which it pads, is split into blocks", "Make the block cover that dimension."
        )
      shape[d] = site.out_avals[0].shape[d]
  padded = [tuple(widths) != (0, 0, 0) for widths in site.params["padding_config"]]
  return [derived(spec, shape, lambda i: tuple(0 if p else x for p, x in zip(padded, i)))]


def _reversed_dims(site: Site, cut_: Any, dims: Sequence[Any]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
  counts: dict[int, int] = {}
  for d in site.params["dimensions"]:
    length, size = site.in_avals[0].shape[d], size_of(dims[d])
    if length % size or not (is_blocked(dims[d]) or is_squeezed(dims[d])):
      raise site.refuse(
        cut_,
        f"reversed, dimension {d} of size {length} begins in the middle of a block of {size}",
        f"Make the block size a divisor of {length}.",
      )
    counts[d] = length // size
  return lambda i: tuple(counts[d] - 1 - x if d in counts else x for d, x in enumerate(i))


def _pull_rev(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  (view,) = out_views
  if view.block_shape is None:
    return [view]
  return [view.then(view.block_shape, _reversed_dims(site, view, view.block_shape))]


def _evaluate_rev(blocks: Blocks, x: Any) -> list[Any]:
  return [lax.rev(x, blocks.params["dimensions"])]


def _push_rev(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  (spec,) = specs
  if spec is no_block_spec:
    return [spec]
  shape = shape_of(spec, site.in_avals[0])
  return [derived(spec, shape, _reversed_dims(site, spec, shape))]


define("slice", pull=_pull_slice, evaluate=_evaluate_slice, push=_push_slice)
define("dynamic_slice", pull=_pull_dynamic_slice, evaluate=_evaluate_dynamic_slice, usage=_index_usage(1))
define("dynamic_update_slice", pull=_pull_update, evaluate=_evaluate_update, push=_push_update)
define("concatenate", pull=_pull_concatenate, evaluate=_evaluate_concatenate, push=_push_concatenate)
define("stack", pull=_pull_stack, evaluate=_evaluate_stack, push=_push_stack)
define("unstack", pull=_pull_unstack, evaluate=_evaluate_unstack)
define("tile", pull=_pull_tile, evaluate=_evaluate_tile)
define("split", pull=_pull_split, evaluate=_evaluate_split, push=_push_split)
define("pad", pull=_pull_pad, evaluate=_evaluate_pad, push=_push_pad)
define("rev", pull=_pull_rev, evaluate=_evaluate_rev, push=_push_rev)
