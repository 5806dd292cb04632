"""Rules of refs: a function that is cut reads and writes, for each block, the part of the ref at the block's place.

    def f(ref, x): return ref[...].T + x
    block_fn, (ref_spec, x_spec), _ = pull_block_spec(f, spec, grid_len=2)(ref_type, x_type)
    block_fn((i, j), (), ref, x_block)       # reads ref[j * bj : (j + 1) * bj, i * bi : (i + 1) * bi]

`block_fn` takes refs whole, or the function closes over them; `ref_spec` says which part a block uses. Blocks are
computed one after the other, so one block must not see what another wrote: all accesses to a ref that is written must be
to the same part (`Accesses`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from tilewright.pallas.fuser import views
from tilewright.pallas.fuser.slicing import moved
from tilewright.pallas.fuser.table import Blocks, Site, define, first_used, is_literal
from tilewright.pallas.fuser.views import View
from tilewright.runtime import _jax
from tilewright.tile.grid import Squeezed

AbstractRef = _jax.state_types.AbstractRef
TransformedRef = _jax.state_types.TransformedRef
state_primitives = _jax.state_primitives

# For each primitive: how many operands come before the leaves of the transforms.
ACCESSES = {"get": 1, "swap": 2, "addupdate": 2}
WRITES = ("swap", "addupdate")


def is_ref(aval: Any) -> bool:
  return isinstance(aval, AbstractRef)


def _transforms(eqn: Any, leaves: Sequence[Any]) -> tuple[Any, ...]:
  return tuple(jax.tree.unflatten(eqn.params["tree"], leaves))


def accessed_type(eqn: Any) -> Any:
  """The type of the value that is read or written."""
  return eqn.outvars[0].aval if eqn.primitive.name == "get" else eqn.invars[1].aval


def _ref_view(site: Site, view: View) -> View:
  """The part of the ref that a block of the value is, where the indices say that before the kernel runs; else all of
  it."""
  ref = site.in_avals[0]
  through = _transforms(site.eqn, site.eqn.invars[ACCESSES[site.eqn.primitive.name] :])
  if view.block_shape is None or len(through) > 1 or not all(map(_is_plain, through)):
    return views.whole(ref, view)
  if not through:
    return view
  left = iter(view.block_shape)
  found: list[tuple[Any, Callable[[Any], Any]]] = []
  for index in through[0].indices:
    if isinstance(index, views.Slice):
      found.append(moved(next(left), int(index.start)))
    else:
      found.append((Squeezed(), _constant(int(index.val if is_literal(index) else index))))
  kept = [isinstance(i, views.Slice) for i in through[0].indices]

  def change(block_indices: tuple[Any, ...]) -> tuple[Any, ...]:
    rest = iter(block_indices)
    return tuple(f(next(rest) if k else 0) for (_, f), k in zip(found, kept))

  return view.then([d for d, _ in found], change)


def _constant(number: int) -> Callable[[Any], Any]:
  return lambda _: number


def _is_plain(transform: Any) -> bool:
  """Whether this is indexing by numbers that are written in the program and by slices without strides."""
  if not isinstance(transform, _jax.indexing.NDIndexer):
    return False
  is_number = lambda i: isinstance(i, int) or (is_literal(i) and not i.aval.shape)
  is_slice = lambda i: isinstance(i, views.Slice) and isinstance(i.start, int) and i.stride == 1
  return all(is_number(i) or is_slice(i) for i in transform.indices)


@dataclasses.dataclass
class Accesses:
  """The accesses to each ref of a program, to find those that depend on what another block wrote."""

  found: dict[Any, list[tuple[Site, View]]] = dataclasses.field(default_factory=dict)

  def add(self, site: Site, view: View) -> None:
    ref = site.eqn.invars[0]
    others = self.found.setdefault(ref, [])
    for other, part in others:
      writes = site.eqn.primitive.name in WRITES or other.eqn.primitive.name in WRITES
      if writes and not (_same_transforms(site.eqn, other.eqn) and site.same(view, part, ref.aval.shape)):
        raise site.refuse(
          view,
          f"'{other.eqn.primitive}' uses another part of the same ref, {part.block_shape}, so a block would depend on "
          "what other blocks wrote",
          "Read the ref before the kernel, or access the same part everywhere.",
        )
    others.append((site, view))


def _same_transforms(a: Any, b: Any) -> bool:
  leaves = [e.invars[ACCESSES[e.primitive.name] :] for e in (a, b)]
  same = lambda x, y: x is y or (is_literal(x) and is_literal(y) and bool(x.val == y.val))
  return a.params["tree"] == b.params["tree"] and all(map(same, *leaves))


# --- rules -------------------------------------------------------------------------------------------------------


def _pull(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  before = ACCESSES[site.eqn.primitive.name]
  view: View = first_used(out_views)
  value = accessed_type(site.eqn)
  if view.block_shape is not None:
    for d, (dim, n) in enumerate(zip(view.block_shape, value.shape)):
      if views.is_blocked(dim) and n % views.size_of(dim):
        raise site.refuse(
          view,
          f"the last block along dimension {d} reaches past the end of the ref",
          f"Make the block size of that dimension a divisor of {n}.",
        )
  indices = [views.whole(a) for a in site.in_avals[before:]]
  return [_ref_view(site, view), *([view] if before == 2 else []), *indices]


def _place(blocks: Blocks, view: View, ref: Any, leaves: Sequence[Any]) -> tuple[Any, Any]:
  """Where a block of the value lies: a ref, and the index into it."""
  value = accessed_type(blocks.eqn)
  outer = ref.transforms if isinstance(ref, TransformedRef) else ()
  part = TransformedRef(getattr(ref, "ref", ref), (*outer, *_transforms(blocks.eqn, leaves)))
  if view.block_shape is None or not value.shape:
    return part, ... if value.shape else ()
  index = view.block_index_transform(*blocks.program_indices)
  starts = views.starts(view, index, len(value.shape))
  return part, tuple(_jax.ds(s, n) for s, n in zip(starts, views.sizes(view, value.shape)))


def _evaluate_get(blocks: Blocks, ref: Any, *leaves: Any) -> list[Any]:
  return [state_primitives.ref_get(*_place(blocks, blocks.out_views[0], ref, leaves))]


def _evaluate_swap(blocks: Blocks, ref: Any, value: Any, *leaves: Any) -> list[Any]:
  return [state_primitives.ref_swap(*_place(blocks, blocks.in_views[1], ref, leaves), jnp.asarray(value))]


def _evaluate_addupdate(blocks: Blocks, ref: Any, value: Any, *leaves: Any) -> list[Any]:
  state_primitives.ref_addupdate(*_place(blocks, blocks.in_views[1], ref, leaves), jnp.asarray(value))
  return []


define("get", pull=_pull, evaluate=_evaluate_get)
define("swap", pull=_pull, evaluate=_evaluate_swap)
define("addupdate", pull=_pull, evaluate=_evaluate_addupdate)
