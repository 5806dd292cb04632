"""The user's layout hints, as text in the tile IR.

layout_cast       the layout of a tile, as an attribute
a ref's space     `smem.tile-8x64.swizzle-128`: shared memory, tiled and swizzled
                  `smem.union-1-2-3`: in a union of 3 buffers number 2, which belongs to tree 1 (see `passes.unions`)
                  `acc`: registers, as the tensor cores add up products
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

from tilewright import errors
from tilewright.layout.algebra import inverse
from tilewright.layout.layout import LANE, LANES, REGISTER, WARP, Layout
from tilewright.layout.options import mma_options, wgmma_variants
from tilewright.layout.shared import SharedLayout, unstacked
from tilewright.layout.transforms import Transform, read_transforms, transformed, transforms_text
from tilewright.target.nvgpu.arch import WGMMA, Arch
from tilewright.tile.ir import Op, Value
from tilewright.tile.types import RefType

SHARED_MEMORY = "smem"
_UNION = "union-"
MAX_WARPS_OF_CTA = 32  # of a CTA, on every architecture


def layout_text(layout: Any, shape: tuple[int, ...]) -> str:
  """The text of a layout that a tile of a shape can be held in; LayoutError says what is wrong with another."""
  if not isinstance(layout, Layout):
    raise errors.LayoutError(f"layout_cast: layout: expected a tilewright.layout.Layout, got {layout!r}.")
  if layout.shape != shape:
    raise errors.LayoutError(
      f"layout_cast: layout: expected one of a tile of shape {shape}, as x has, got one of shape {layout.shape}."
    )
  if set(layout.names) != {REGISTER, LANE, WARP} or layout.size(LANE) != LANES:
    raise errors.LayoutError(
      f"layout_cast: layout: expected one of registers, {LANES} lanes and warps, got {layout}. See tilewright.layout.build."
    )
  if layout.num_warps > MAX_WARPS_OF_CTA:
    raise errors.LayoutError(
      f"layout_cast: layout: expected one of at most {MAX_WARPS_OF_CTA} warps, which a CTA has, got one of {layout.num_warps}."
    )
  try:
    inverse(layout)
  except errors.LayoutError as e:
    raise errors.LayoutError(f"layout_cast: layout: expected one place, or copies, for each element; {e}.") from None
  return str(layout)


# --- refs --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class InUnion:
  """The place of a buffer in a union: the number of its tree, its own among all buffers, and how many these are."""

  tree: int
  number: int
  count: int


def space_text(transforms: Sequence[Transform], union: InUnion | None = None) -> str:
  """The name of shared memory in which a ref lies as transforms say."""
  own = "" if union is None else f"{_UNION}{union.tree}-{union.number}-{union.count}"
  return ".".join(filter(None, (SHARED_MEMORY, transforms_text(transforms), own)))


def split_space(space: str) -> tuple[str, InUnion | None]:
  """The name of shared memory without what it says of a union, and that."""
  plain, is_union, own = space.partition(f".{_UNION}")
  return (plain, InUnion(*map(int, own.split("-")))) if is_union else (space, None)


def given_layout(ref: RefType) -> SharedLayout | None:
  """How the user wants a ref to lie in shared memory; None if that is left open."""
  name, _, text = split_space(ref.space)[0].partition(".")
  if name != SHARED_MEMORY or not text:
    return None
  return transformed(ref.shape, 8 * ref.dtype.itemsize, read_transforms(text))


def tile_of_stack(view: Op) -> int | None:
  """Of a view that is one whole tile of an array of tiles, how many leading dimensions count them; None for other views."""
  ref = view.operands[0]
  lead = ref.ref.rank - view.results[0].ref.rank
  if view.name != "subview" or lead == 0 or tuple(view.attrs["dropped"]) != tuple(range(lead)):
    return None
  whole = view.attrs["sizes"][lead:] == ref.ref.shape[lead:] and all(step == 1 for step in view.attrs["steps"][lead:])
  return lead if whole else None


@functools.lru_cache(maxsize=256)
def one_of(stack: SharedLayout, shape: tuple[int, ...]) -> SharedLayout | None:
  """The layout of one tile of an array of tiles, if it is one."""
  try:
    return unstacked(stack, shape)
  except errors.LayoutError:
    return None


def layout_in_stack(ref: Value) -> SharedLayout | None:
  """The layout of a view of a ref whose layout the user gives: of one tile of a stack, or of a part, as a buffer of its own would lie."""
  view = ref.owner
  if not isinstance(view, Op) or view.name != "subview":
    return None
  if tile_of_stack(view) is None:
    try:
      return given_layout(ref.ref)
    except errors.LayoutError:  # a part that cuts through tiles
      return None
  given = given_layout(view.operands[0].ref) if not isinstance(view.operands[0].owner, Op) else None
  return None if given is None else one_of(given, ref.ref.shape)


def is_in_shared(ref: RefType) -> bool:
  """Whether the user wants a ref in shared memory, in whatever way it lies there."""
  return ref.space.partition(".")[0] == SHARED_MEMORY


def is_accumulator(ref: RefType) -> bool:
  return ref.is_accumulator


def accumulators(shape: tuple[int, ...], arch: Arch, num_warps: int) -> tuple[Layout, ...]:
  """The layouts in which tensor cores add up products of a shape: those of wgmma where there is one, then those of mma.sync."""
  if len(shape) != 2:
    return ()
  m, n = shape
  found = [way.accumulator for way in wgmma_variants(shape, num_warps)] if WGMMA in arch.rates else []
  found += [c for _, _, c in mma_options((m, 16), (16, n), 16, num_warps)]
  return tuple(dict.fromkeys(found))
