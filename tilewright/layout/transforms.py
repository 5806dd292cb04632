"""User-specified transforms of a ref in shared memory, applied in order from the shape that the kernel sees to the order in memory.

    ref (128, 64), bf16          transforms (Tiling((8, 64)), Swizzle(128))

    Tiling((8, 64))              dimensions (16, 1, 8, 64): tiles of 8 rows, one behind the other
    row by row                   element (i, j) at offset 512 (i // 8) + 64 (i % 8) + j
    Swizzle(128)                 16-byte chunks of the byte address permuted within eight rows of 128 bytes

They have a text, `tile-8x64.swizzle-128`, in which they go through the tile IR as part of a memory space.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import TypeAlias

from tilewright import errors
from tilewright.layout.layout import OFFSET, Digit, layout
from tilewright.layout.shared import SWIZZLES, SharedLayout

_NO_SWIZZLE = 16  # bytes that every swizzle keeps together: nothing is exchanged


@dataclasses.dataclass(frozen=True)
class Tiling:
  """The last dimensions are cut into tiles: (M, N) by (X, Y) becomes (M // X, N // Y, X, Y)."""

  tiling: tuple[int, ...]

  def __post_init__(self) -> None:
    object.__setattr__(self, "tiling", tuple(self.tiling))
    if not self.tiling or any(not isinstance(t, int) or t < 1 for t in self.tiling):
      raise errors.LayoutError(f"tiling: expected sizes of one or more, got {self.tiling}.")


@dataclasses.dataclass(frozen=True)
class Transpose:
  """The dimensions in another order: dimension i of the result is dimension `permutation[i]` of what there is so far."""

  permutation: tuple[int, ...]

  def __post_init__(self) -> None:
    object.__setattr__(self, "permutation", tuple(self.permutation))
    if sorted(self.permutation) != list(range(len(self.permutation))):
      raise errors.LayoutError(
        f"permutation: expected each of 0 … {len(self.permutation) - 1} once, got {self.permutation}."
      )


@dataclasses.dataclass(frozen=True)
class Swizzle:
  """16-byte chunks of the address are permuted within lines of `swizzle` bytes, as TMA and wgmma do; always the last transform."""

  swizzle: int

  def __post_init__(self) -> None:
    if self.swizzle not in (_NO_SWIZZLE, *(s for s in SWIZZLES if s)):
      raise errors.LayoutError(
        f"swizzle: Swizzle {self.swizzle} is not supported. Only 32, 64 and 128 bytes are accepted, and 16, which is none."
      )


Transform: TypeAlias = Tiling | Transpose | Swizzle


def stacked(transforms: Sequence[Transform]) -> tuple[Transform, ...]:
  """The transforms of several refs one behind another: a new first dimension stays the first."""
  return tuple(Transpose((0, *(p + 1 for p in t.permutation))) if isinstance(t, Transpose) else t for t in transforms)


def transformed(shape: Sequence[int], bits: int, transforms: Sequence[Transform]) -> SharedLayout:
  """Where the elements of a ref lie: row by row in the transformed shape, then swizzled. LayoutError says which transform does not fit."""
  dims = [Digit(size, tuple(int(a == axis) for a in range(len(shape)))) for axis, size in enumerate(shape)]
  swizzle = 0
  for number, own in enumerate(transforms):
    sizes = tuple(d.size for d in dims)
    match own:
      case Tiling(tiling):
        lead = len(dims) - len(tiling)
        if lead < 0 or any(size % t for size, t in zip(sizes[lead:], tiling)):
          raise errors.LayoutError(
            f"transforms: tiles of {tiling} do not divide {sizes}, of a ref of shape {tuple(shape)}."
          )
        outer = [Digit(d.size // t, tuple(m * t for m in d.moves)) for d, t in zip(dims[lead:], tiling)]
        dims = [*dims[:lead], *outer, *(Digit(t, d.moves) for d, t in zip(dims[lead:], tiling))]
      case Transpose(permutation):
        if len(permutation) != len(dims):
          raise errors.LayoutError(
            f"transforms: a permutation {permutation} does not fit the {len(dims)} dimensions {sizes}."
          )
        dims = [dims[p] for p in permutation]
      case Swizzle():
        if number != len(transforms) - 1:
          raise errors.LayoutError(f"transforms: a swizzle must be the last transform, got {tuple(transforms)}.")
        swizzle = own.swizzle if own.swizzle != _NO_SWIZZLE else 0
      case _:
        raise errors.LayoutError(f"transforms: expected a Tiling, Transpose or Swizzle, got {own!r}.")
  if swizzle and math.prod(shape) * bits // 8 % SWIZZLES[swizzle].span:
    raise errors.LayoutError(
      f"transforms: a swizzle of {swizzle} bytes goes over {SWIZZLES[swizzle].span} bytes, of which a ref of shape {tuple(shape)} "
      f"with elements of {bits} bits is no multiple."
    )
  return SharedLayout(layout(shape, {OFFSET: list(reversed(dims))}), bits, SWIZZLES[swizzle])


# --- as text -----------------------------------------------------------------------------------------------------

_WORDS: dict[str, type[Tiling] | type[Transpose]] = {"tile": Tiling, "transpose": Transpose}


def transforms_text(transforms: Sequence[Transform]) -> str:
  """`tile-8x64.swizzle-128`"""
  parts = []
  for own in transforms:
    match own:
      case Swizzle(swizzle):
        parts.append(f"swizzle-{swizzle}")
      case Tiling(numbers):
        parts.append(f"tile-{'x'.join(map(str, numbers))}")
      case Transpose(numbers):
        parts.append(f"transpose-{'x'.join(map(str, numbers))}")
  return ".".join(parts)


def read_transforms(text: str) -> tuple[Transform, ...]:
  """The reverse of `transforms_text`."""
  found: list[Transform] = []
  for part in text.split(".") if text else ():
    own = re.fullmatch(r"(tile|transpose|swizzle)-([\dx]+)", part)
    if own is None:
      raise errors.LayoutError(f"expected the text of transforms, as in tile-8x64.swizzle-128, got {text!r}")
    found.append(Swizzle(int(own[2])) if own[1] == "swizzle" else _WORDS[own[1]](tuple(map(int, own[2].split("x")))))
  return tuple(found)
