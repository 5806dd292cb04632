"""Mosaic GPU's tiled layouts: an array is tiled hierarchically, and the tiled dimensions are mapped to warps, lanes and registers.

    wgmma = Tiling(((64, 8), (16, 8), (8, 8), (2,)))
    wgmma.tile_shape((64, 8))                         (1, 1, 4, 1, 2, 1, 8, 4, 2)
    Layout.TILED(wgmma, warp_dims=(-7,), lane_dims=(-3, -2), vector_dim=-1)

Of the nine dimensions, the four tiles of 16 rows go to the warps of a warpgroup, the 8 rows and 4 pairs of a tile of 8 x 8 to lanes, and
the others to registers, the two of a pair side by side. `Replicated(4)` in place of a dimension: so many hold the same.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from tilewright import errors
from tilewright.layout.layout import LANES, Digit, Layout, register_layout

WARPS = 4  # of a warpgroup
Shape = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Replicated:
  """In place of a dimension of warps or lanes: so many of them hold the same elements."""

  times: int


@dataclasses.dataclass(frozen=True)
class Tiling:
  """Tiles of the last dimensions, one after another: each cuts what the one before it left, and its own dimensions come last."""

  tiles: tuple[Shape, ...]

  def __post_init__(self) -> None:
    object.__setattr__(self, "tiles", tuple(tuple(tile) for tile in self.tiles))
    ranks = [len(tile) for tile in self.tiles]
    if ranks != sorted(ranks, reverse=True):
      raise errors.LayoutError(
        f"Tiling: tiles: expected tiles of non-increasing rank (a decreasing rank), got {self.tiles}."
      )
    if any(size < 1 for tile in self.tiles for size in tile):
      raise errors.LayoutError(f"Tiling: tiles: expected positive sizes, got {self.tiles}.")

  def __str__(self) -> str:
    return f"Tiling({''.join(map(str, self.tiles))})"

  @property
  def _rank(self) -> int:
    return len(self.tiles[0]) if self.tiles else 0

  def _digits(self, digits: Sequence[Digit]) -> list[Digit]:
    """Dimensions that move some way, cut into tiles; LayoutError where the tiles do not divide them."""
    found = list(digits)
    for tile in self.tiles:
      lead = len(found) - len(tile)
      if lead < 0 or any(own.size % size for own, size in zip(found[lead:], tile)):
        raise errors.LayoutError(
          f"Tiling {self.tiles} does not apply to shape {tuple(d.size for d in digits)}: each tile must divide the dimensions it tiles."
        )
      outer = [Digit(own.size // size, tuple(m * size for m in own.moves)) for own, size in zip(found[lead:], tile)]
      inner = [Digit(size, own.moves) for own, size in zip(found[lead:], tile)]
      found = [*found[:lead], *outer, *inner]
    return found

  def dimensions(self, shape: Sequence[int]) -> list[Digit]:
    """The dimensions of a tiled array: how many there are, and how far along those of the array one step moves."""
    return self._digits(
      [Digit(size, tuple(int(a == axis) for a in range(len(shape)))) for axis, size in enumerate(shape)]
    )

  def tile_shape(self, shape: Sequence[int]) -> Shape:
    """The shape of an array once it is tiled."""
    return tuple(d.size for d in self.dimensions(shape))

  def untile_shape(self, shape: Sequence[int]) -> Shape:
    """The shape of an array before it was tiled."""
    found = tuple(shape)
    for tile in reversed(self.tiles):
      n = len(tile)
      if len(found) < 2 * n or found[len(found) - n :] != tile:
        raise errors.LayoutError(f"shape {tuple(shape)} is not a valid result of applying tiling {self}.")
      outer = found[len(found) - 2 * n : len(found) - n]
      found = (*found[: len(found) - 2 * n], *(a * b for a, b in zip(outer, tile)))
    return found

  def tile_strides(self, strides: Sequence[int]) -> Shape:
    """The strides of an array once it is tiled."""
    found = tuple(strides)
    for tile in self.tiles:
      lead = len(found) - len(tile)
      found = (*found[:lead], *(s * t for s, t in zip(found[lead:], tile)), *found[lead:])
    return found

  def tile_indices(self, indices: Sequence[Any]) -> tuple[Any, ...]:
    """The indices of an element in the tiled array."""
    found = tuple(indices)
    for tile in self.tiles:
      lead = len(found) - len(tile)
      outer = [i // t for i, t in zip(found[lead:], tile)]
      found = (*found[:lead], *outer, *(i % t for i, t in zip(found[lead:], tile)))
    return found

  def untile_indices(self, indices: Sequence[Any]) -> tuple[Any, ...]:
    """The inverse of `tile_indices`: the indices in the untiled array."""
    found = tuple(indices)
    for tile in reversed(self.tiles):
      n = len(tile)
      outer, inner = found[len(found) - 2 * n : len(found) - n], found[len(found) - n :]
      found = (*found[: len(found) - 2 * n], *(o * t + i for o, t, i in zip(outer, tile, inner)))
    return found

  def tile_nested_shape_strides(
    self, shape: Sequence[Shape], strides: Sequence[Shape]
  ) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    """As `tile_shape` and `tile_strides`, of dimensions that consist of several, the last of them fastest."""
    found = [list(zip(sizes, steps)) for sizes, steps in zip(shape, strides)]
    for tile in self.tiles:
      lead = len(found) - len(tile)
      parts = [_split(own, size) for own, size in zip(found[lead:], tile)]
      found = [*found[:lead], *(outer for outer, _ in parts), *(inner for _, inner in parts)]
    return tuple(tuple(n for n, _ in own) for own in found), tuple(tuple(s for _, s in own) for own in found)

  def tile_dimension(self, dim: int) -> tuple[bool, ...]:
    """Which dimensions of the tiled array come from a dimension of the first tile."""
    self._check_dimension(dim)
    found = [axis == dim for axis in range(self._rank)]
    for tile in self.tiles:
      found += found[len(found) - len(tile) :]
    return tuple(found)

  def remove_dimension(self, dim: int) -> Tiling:
    """The tiling of an array without a dimension."""
    self._check_dimension(dim)
    from_last = dim - self._rank
    kept = [
      tile if -from_last > len(tile) else tile[:from_last] + tile[len(tile) + from_last + 1 :] for tile in self.tiles
    ]
    return Tiling(tuple(tile for tile in kept if tile))

  def canonicalize(self) -> Tiling:
    """The same without tiles that cut nothing."""
    kept: list[Shape] = []
    for tile in self.tiles:
      if not kept or kept[-1][len(kept[-1]) - len(tile) :] != tile:
        kept.append(tile)
    return Tiling(tuple(kept))

  def _check_dimension(self, dim: int) -> None:
    if not 0 <= dim < self._rank:
      raise errors.LayoutError(f"Invalid dimension {dim} for tiling {self}.")


def _split(dimension: list[tuple[int, int]], tile: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
  """A dimension of several (sizes and strides), cut behind the fastest `tile` elements."""
  inner: list[tuple[int, int]] = []
  outer = list(dimension)
  while tile > 1 and outer:
    size, step = outer.pop()
    if tile % size == 0:
      inner.insert(0, (size, step))
      tile //= size
    elif size % tile == 0:
      inner.insert(0, (tile, step))
      outer.append((size // tile, step * tile))
      tile = 1
    else:
      break
  if tile > 1:
    raise errors.LayoutError(f"Tiling: a tile does not divide a dimension of {tuple(n for n, _ in dimension)}.")
  return outer or [(1, 1)], inner or [(1, 1)]


def tiled(
  shape: Shape,
  tiling: Tiling,
  warp_dims: Sequence[int | Replicated],
  lane_dims: Sequence[int | Replicated],
  vector_dim: int,
) -> Layout | None:
  """The layout of a tile whose tiled dimensions are dealt out so; None if the tiling does not divide its shape."""
  own = [d for d in (*warp_dims, *lane_dims, vector_dim) if not isinstance(d, Replicated)]
  if any(d >= 0 for d in own):
    raise errors.LayoutError("Layout.TILED: all dimensions must be negative: they are counted from the last one.")
  if len(set(own)) < len(own):
    raise errors.LayoutError(f"Layout.TILED: duplicate dimensions: expected each one once, got {own}.")
  first = tiling.tiles[0] if tiling.tiles else ()
  if len(shape) < len(first) or any(n % t for n, t in zip(shape[len(shape) - len(first) :], first)):
    return None
  dims = tiling.dimensions(shape)
  if any(-d > len(dims) for d in own):
    raise errors.LayoutError(f"Layout.TILED: expected dimensions of the {len(dims)} there are, got {own}.")

  def digits(given: Sequence[int | Replicated]) -> list[Digit]:
    nowhere = (0,) * len(shape)
    return [Digit(d.times, nowhere) if isinstance(d, Replicated) else dims[d] for d in reversed(given)]

  for what, given, wanted in (("warp_dims", warp_dims, WARPS), ("lane_dims", lane_dims, LANES)):
    count = math.prod(d.size for d in digits(given))
    if count != wanted:
      raise errors.LayoutError(f"Layout.TILED: {what}: expected {wanted} in all, got {count}.")
  others = [d for n, d in enumerate(dims) if n - len(dims) not in own]
  return register_layout(shape, [dims[vector_dim], *reversed(others)], digits(lane_dims), digits(warp_dims))
