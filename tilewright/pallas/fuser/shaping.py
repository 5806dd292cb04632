"""Rules of shape operations, which keep all elements: broadcasts, transposes, reshapes, squeezes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jax import lax

from tilewright.pallas.fuser import views
from tilewright.pallas.fuser.push_rules import derived, shape_of
from tilewright.pallas.fuser.table import Blocks, Site, define
from tilewright.pallas.fuser.views import View, covers, is_blocked, is_squeezed, size_of
from tilewright.pallas.specs import no_block_spec
from tilewright.tile.grid import Blocked, BoundedSlice, Element

# --- broadcast_in_dim --------------------------------------------------------------------------------------------


def _pull_broadcast(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  (view,) = out_views
  operand, out = site.in_avals[0], site.out_avals[0]
  rest = [views.UNUSED] * (len(site.in_avals) - 1)  # sizes that are not static
  return [views.repeated(view, operand.shape, out.shape, site.params["broadcast_dimensions"]), *rest]


def _evaluate_broadcast(blocks: Blocks, x: Any, *sizes: Any) -> list[Any]:
  return [lax.broadcast_in_dim(x, blocks.out_sizes(), blocks.params["broadcast_dimensions"])]


def _push_broadcast(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  spec = specs[0]
  operand, out = site.in_avals[0], site.out_avals[0]
  if spec is no_block_spec or operand.ndim == 0:
    return [no_block_spec]
  dims = site.params["broadcast_dimensions"]
  given = shape_of(spec, operand)
  source = {o: d for d, o in enumerate(dims) if operand.shape[d] == out.shape[o]}
  shape = [given[source[o]] if o in source else n for o, n in enumerate(out.shape)]
  return [derived(spec, shape, lambda i: tuple(i[source[o]] if o in source else 0 for o in range(out.ndim)))]


# --- transpose ---------------------------------------------------------------------------------------------------


def _pull_transpose(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  (view,) = out_views
  permutation = site.params["permutation"]
  if view.block_shape is None:
    return [view]
  place = {p: o for o, p in enumerate(permutation)}
  order = [place[d] for d in range(len(permutation))]
  return [view.then([view.block_shape[o] for o in order], lambda i: tuple(i[o] for o in order))]


def _evaluate_transpose(blocks: Blocks, x: Any) -> list[Any]:
  return [lax.transpose(x, blocks.params["permutation"])]


def _push_transpose(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  (spec,) = specs
  if spec is no_block_spec:
    return [spec]
  order = site.params["permutation"]
  shape = shape_of(spec, site.in_avals[0])
  return [derived(spec, [shape[p] for p in order], lambda i: tuple(i[p] for p in order))]


# --- squeeze -----------------------------------------------------------------------------------------------------


def _pull_squeeze(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  (view,) = out_views
  if view.block_shape is None:
    return [view]
  gone = set(site.params["dimensions"])
  rank = site.in_avals[0].ndim

  def insert(items: Sequence[Any], fill: Any) -> tuple[Any, ...]:
    left = iter(items)
    return tuple(fill if d in gone else next(left) for d in range(rank))

  return [view.then(insert(view.block_shape, None), lambda i: insert(i, 0))]


def _evaluate_reshape(blocks: Blocks, x: Any, *sizes: Any) -> list[Any]:
  if not x.size:  # all of an array without elements; of the block, nothing is in range
    return [lax.full(blocks.out_sizes(), 0, x.dtype)]
  return [lax.reshape(x, blocks.out_sizes())]


def _push_squeeze(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  (spec,) = specs
  if spec is no_block_spec:
    return [spec]
  gone = set(site.params["dimensions"])
  keep = [d for d in range(site.in_avals[0].ndim) if d not in gone]
  shape = shape_of(spec, site.in_avals[0])
  return [derived(spec, [shape[d] for d in keep], lambda i: tuple(i[d] for d in keep))]


# --- reshape -----------------------------------------------------------------------------------------------------
#
# Both shapes are cut into groups of dimensions with the same number of elements: (512, 6, 128) -> (2, 256, 768) has the
# groups 512 -> (2, 256) and (6, 128) -> 768. Within a group one side is a single dimension (a split or a merge), or the
# group is not cut at all.


def groups(a: Sequence[int], b: Sequence[int]) -> list[tuple[list[int], list[int]]]:
  """The dimensions of two shapes with the same number of elements, in the smallest groups that agree."""
  if 0 in (*a, *b):  # nothing to keep apart
    return [(list(range(len(a))), list(range(len(b))))]
  found: list[tuple[list[int], list[int]]] = []
  i = j = 0
  while i < len(a) or j < len(b):
    left, right = [], []
    if i < len(a):
      left.append(i)
      i += 1
    if j < len(b):
      right.append(j)
      j += 1
    size = lambda dims, shape: math.prod(shape[d] for d in dims)
    while size(left, a) != size(right, b):
      if size(left, a) < size(right, b):
        left.append(i)
        i += 1
      else:
        right.append(j)
        j += 1
    found.append((left, right))
  # Dimensions of size one at the end of a group that is complete belong to it rather than to a group of their own.
  merged: list[tuple[list[int], list[int]]] = []
  for left, right in found:
    if merged and (not left or not right):
      merged[-1][0].extend(left)
      merged[-1][1].extend(right)
    else:
      merged.append((left, right))
  return merged


def _refuse_reshape(site: Site, view: Any, sizes: Sequence[int], blocks: Sequence[int]) -> Any:
  inner = math.prod(sizes[1:]) if len(sizes) > 1 else sizes[0]
  return site.refuse(
    view,
    f"the reshape takes dimensions of sizes {tuple(sizes)} together, and blocks of {tuple(blocks)} of them are not "
    "contiguous",
    f"Make the block size a multiple or a divisor of {inner}, or make the block cover these dimensions.",
  )


def _one_to_many(site: Site, cut: Any, sizes: Sequence[int], dims: Sequence[Any]) -> tuple[Any, Any]:
  """How one dimension must be cut so that its blocks are those of the dimensions it is split into: block dimension,
  function of indices."""
  lengths = [size_of(d) for d in dims]
  inner = len(sizes)
  while inner > 0 and covers(dims[inner - 1], sizes[inner - 1]):
    inner -= 1
  if inner == 0:
    total = math.prod(sizes)
    return total, lambda index: 0
  p = inner - 1
  if any(n != 1 for n in lengths[:p]):
    raise _refuse_reshape(site, cut, sizes, lengths)
  tail = math.prod(sizes[inner:])
  outer_one = all(n == 1 for n in sizes[:p])
  if isinstance(dims[p], BoundedSlice):
    if outer_one and tail == 1:
      return dims[p], lambda index: index[p]
    raise _refuse_reshape(site, cut, sizes, lengths)
  size = lengths[p] * tail

  def element(index: Sequence[Any]) -> Any:
    at: Any = 0
    for d in range(p + 1):
      at = at * sizes[d] + views.start_of(dims[d], index[d])
    return at * tail

  if is_squeezed(dims[p]) and tail == 1:
    return dims[p], element
  if is_blocked(dims[p]) or is_squeezed(dims[p]):
    per = lengths[p]
    if outer_one or sizes[p] % per == 0:

      def block(index: Sequence[Any]) -> Any:
        at: Any = 0
        for d in range(p):
          at = at * sizes[d] + views.start_of(dims[d], index[d])
        return at * (sizes[p] // per) + index[p] if not outer_one else index[p]

      return (Blocked(size) if isinstance(dims[p], Blocked) else size), block
  return Element(size), element


def _many_to_one(site: Site, cut: Any, sizes: Sequence[int], dim: Any) -> tuple[list[Any], Any]:
  """How dimensions must be cut so that their blocks are those of the one they are merged into."""
  total, n = math.prod(sizes), size_of(dim)
  spell = lambda k: Blocked(k) if isinstance(dim, Blocked) else k
  if covers(dim, total) and not is_squeezed(dim):
    return [spell(s) for s in sizes], lambda index: [0] * len(sizes)
  big = [d for d, s in enumerate(sizes) if s != 1]
  if len(big) <= 1 and not is_squeezed(dim):
    at = big[0] if big else len(sizes) - 1
    return [dim if d == at else spell(1) for d in range(len(sizes))], lambda index: [
      index if d == at else 0 for d in range(len(sizes))
    ]
  if not (is_blocked(dim) or is_squeezed(dim)):
    raise _refuse_reshape(site, cut, sizes, [n])
  p, tail = len(sizes) - 1, 1
  while p > 0 and n % (tail * sizes[p]) == 0 and n >= tail * sizes[p]:
    tail *= sizes[p]
    p -= 1
  if n % tail or sizes[p] % (n // tail):
    raise _refuse_reshape(site, cut, sizes, [n])
  per = n // tail

  def unravel(index: Any) -> list[Any]:
    found: list[Any] = [0] * len(sizes)
    left = index
    for d in range(p, -1, -1):
      count = sizes[d] // per if d == p else sizes[d]
      if d == 0 or all(s == 1 for s in sizes[:d]):
        found[d] = left
        break
      found[d] = left % count
      left = left // count
    return found

  if is_squeezed(dim):
    return [1] * len(sizes), unravel
  return [spell(1 if d < p else per if d == p else sizes[d]) for d in range(len(sizes))], unravel


def reshaped(
  site: Site, cut: Any, have: Sequence[int], want: Sequence[int], dims: Sequence[Any]
) -> tuple[list[Any], Any]:
  """Carry block dimensions from shape `have` to shape `want`: the new ones, and the function of their indices."""
  shape: list[Any] = [None] * len(want)
  parts: list[tuple[list[int], list[int], Any]] = []
  for ours, theirs in groups(have, want):
    mine = [dims[d] for d in ours]
    lengths = [have[d] for d in ours]
    if not theirs:
      continue
    if 0 in lengths and list(have) != list(want):
      for d in theirs:
        shape[d] = Blocked(want[d])
      first = [0] * len(theirs)
      parts.append((ours, theirs, lambda index, first=first: first))
      continue
    if len(theirs) == 1:
      if len(ours) == 1:
        shape[theirs[0]] = mine[0]
        parts.append((ours, theirs, lambda index: [index[0]]))
        continue
      new, f = _one_to_many(site, cut, lengths, mine)
      shape[theirs[0]] = new
      parts.append((ours, theirs, lambda index, f=f: [f(index)]))
    elif len(ours) == 1:
      new_dims, f = _many_to_one(site, cut, [want[d] for d in theirs], mine[0])
      for d, new in zip(theirs, new_dims):
        shape[d] = new
      parts.append((ours, theirs, lambda index, f=f: f(index[0])))
    elif not ours or all(covers(d, n) for d, n in zip(mine, lengths)):
      for d in theirs:
        shape[d] = Blocked(want[d])
      zeros = [0] * len(theirs)
      parts.append((ours, theirs, lambda index, zeros=zeros: zeros))
    else:
      merged = math.prod(lengths)
      one, f = _one_to_many(site, cut, lengths, mine)
      new_dims, g = _many_to_one(site, cut, [want[d] for d in theirs], one)
      if merged != math.prod(want[d] for d in theirs):
        raise _refuse_reshape(site, cut, lengths, [size_of(d) for d in mine])
      for d, new in zip(theirs, new_dims):
        shape[d] = new
      parts.append((ours, theirs, lambda index, f=f, g=g: g(f(index))))

  def change(index: Sequence[Any]) -> tuple[Any, ...]:
    found: list[Any] = [0] * len(want)
    for ours, theirs, f in parts:
      for d, i in zip(theirs, f([index[d] for d in ours])):
        found[d] = i
    return tuple(found)

  return shape, change


def _refuse_permuting(site: Site, cut: Any) -> None:
  if site.params.get("dimensions") is not None:
    raise site.refuse(cut, "it also permutes dimensions", "Transpose first, then reshape.")


def _pull_reshape(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  view: View = out_views[0]
  rest = [views.UNUSED] * (len(site.in_avals) - 1)
  operand, out = site.in_avals[0], site.out_avals[0]
  _refuse_permuting(site, view)
  if view.block_shape is None:
    return [view, *rest]
  shape, change = reshaped(site, view, out.shape, operand.shape, view.block_shape)
  # `None` becomes a block of one element, `pl.squeezed` stays what it is: so does the original.
  return [view.then([1 if d is None else d for d in shape], change), *rest]


def _push_reshape(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  spec = specs[0]
  if spec is no_block_spec:
    return [spec]
  _refuse_permuting(site, spec)
  operand, out = site.in_avals[0], site.out_avals[0]
  shape, change = reshaped(site, spec, operand.shape, out.shape, shape_of(spec, operand))
  return [derived(spec, shape, change)]


define("broadcast_in_dim", pull=_pull_broadcast, evaluate=_evaluate_broadcast, push=_push_broadcast)
define("transpose", pull=_pull_transpose, evaluate=_evaluate_transpose, push=_push_transpose)
define("squeeze", pull=_pull_squeeze, evaluate=_evaluate_reshape, push=_push_squeeze)
define("reshape", "expand_dims", pull=_pull_reshape, evaluate=_evaluate_reshape, push=_push_reshape)
