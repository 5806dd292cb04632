"""Tiles in shared memory: the offset of each element, a swizzle over it, and the conflicts of an access.

Shared memory has 32 banks of 4 bytes. One pass (a *wavefront*) serves one word of each bank, so a warp whose lanes want different words of
one bank needs several. A swizzle moves elements around inside of 128-byte rows, so that a column too is spread over the banks:

    128-byte swizzle: bits 7, 8, 9 of the byte address (the row) are added to bits 4, 5, 6 (the 16-byte chunk), without carry

    row 0   chunk 0 1 2 3 4 5 6 7
    row 1   chunk 1 0 3 2 5 4 7 6
    row 2   chunk 2 3 0 1 6 7 4 5   …

TMA, wgmma and tcgen05 know the swizzles of 32, 64 and 128 bytes; relayouts may use any.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright import errors
from tilewright.layout.algebra import inverse
from tilewright.layout.layout import OFFSET, DigitLike, Layout, Term, layout

BANKS, BANK_BYTES, WORD = 32, 128, 4


@dataclasses.dataclass(frozen=True)
class Swizzle:
  """Bits of a byte address that are added, without carry, to lower ones: pairs (from, to)."""

  bits: tuple[tuple[int, int], ...] = ()

  def __post_init__(self) -> None:
    # Their order does not matter, and equal swizzles shall be equal.
    object.__setattr__(self, "bits", tuple(sorted(self.bits)))
    sources, targets = {s for s, _ in self.bits}, {t for _, t in self.bits}
    if min(sources | targets, default=0) < 0:
      raise errors.LayoutError(f"swizzle {self.bits}: bits of an address are counted from 0")
    if sources & targets or len(sources) < len(self.bits):
      raise errors.LayoutError(f"swizzle {self.bits}: a bit must not be both moved and changed, nor moved twice")

  def __call__(self, address: Any) -> Any:
    """The swizzled address of an int or an array of ints. It is its own inverse."""
    for mask, shift in self.steps:
      address = address ^ ((address & mask) >> shift if shift >= 0 else (address & mask) << -shift)
    return address

  @functools.cached_property
  def steps(self) -> tuple[tuple[int, int], ...]:
    """What code generators emit: `address ^= (address & mask) >> shift`, one after another."""
    shifts: dict[int, int] = {}
    for source, target in self.bits:
      shifts[source - target] = shifts.get(source - target, 0) | 1 << source
    return tuple((mask, shift) for shift, mask in shifts.items())

  @property
  def grain(self) -> int:
    """Bytes that stay together."""
    return 1 << min((t for _, t in self.bits), default=30)

  @property
  def span(self) -> int:
    """Bytes after which the pattern repeats, to which a buffer must be aligned."""
    return 1 << (1 + max((s for s, _ in self.bits), default=-1))

  @property
  def name(self) -> str:
    if not self.bits:
      return "none"
    return next((f"{size}B" for size, own in SWIZZLES.items() if own == self), f"bits{list(self.bits)}")


# What TMA, wgmma and tcgen05 call the modes: 16-byte chunks moved by the number of the 128-byte line.
SWIZZLES: dict[int, Swizzle] = {
  0: Swizzle(),
  32: Swizzle(((7, 4),)),
  64: Swizzle(((7, 4), (8, 5))),
  128: Swizzle(((7, 4), (8, 5), (9, 6))),
}


@dataclasses.dataclass(frozen=True)
class SharedLayout:
  """A tile in shared memory: which element lies at each offset (in elements), then the swizzle of byte addresses."""

  elements: Layout
  bits: int
  swizzle: Swizzle = Swizzle()

  def __post_init__(self) -> None:
    if self.elements.names != (OFFSET,):
      raise errors.LayoutError(f"a layout of shared memory has the input {OFFSET!r} alone, got {self.elements.names}")
    if self.bits in (1, 2, 4):
      raise errors.LayoutError(f"elements of {self.bits} bits have no byte address; pack them first")
    if not isinstance(self.bits, int) or self.bits < 8 or self.bits & (self.bits - 1):
      raise errors.LayoutError(f"bits: expected those of an element, 8, 16, 32, …, got {self.bits}")
    object.__setattr__(self, "_hash", hash((self.elements, self.bits, self.swizzle)))  # looked up very often

  def __hash__(self) -> int:
    return self._hash  # type: ignore[attr-defined]

  def __reduce__(self) -> tuple[Any, ...]:
    # Without the hash, which another process has otherwise.
    return SharedLayout, (self.elements, self.bits, self.swizzle)

  @property
  def shape(self) -> tuple[int, ...]:
    return self.elements.shape

  @property
  def nbytes(self) -> int:
    """What to allocate: the elements, up to where the swizzle repeats."""
    used = self.elements.size(OFFSET) * self.bits // 8
    return -(-used // self.swizzle.span) * self.swizzle.span

  @functools.cached_property
  def offset_terms(self) -> tuple[Term, ...]:
    """The offset in elements, before swizzling, is the sum over these: `coordinate // place % size * moves[0]`."""
    return inverse(self.elements).terms

  def address(self, coordinates: Sequence[Any]) -> Any:
    """The byte address of an element, for ints or arrays."""
    return self.at_offset(self.offset(coordinates))

  def offset(self, coordinates: Sequence[Any]) -> Any:
    """How many elements before swizzling lie in front of one, for ints or arrays."""
    offset: Any = 0
    for name, place, size, (move,) in self.offset_terms:
      offset = offset + coordinates[int(name)] // place % size * move
    return offset

  def at_offset(self, offset: Any) -> Any:
    """The byte address of the element at an offset."""
    return self.swizzle(offset * (self.bits // 8))

  def adds_up(self, parts: Sequence[Sequence[int]]) -> bool:
    """Whether the offset of a sum of coordinates is the sum of their offsets: `parts` are the bits that each has along each dimension.

    It is if no two have a bit in common, and dimensions are cut at powers of two.
    """
    return self._is_cut_at_bits and all(sum(own) == functools.reduce(operator.or_, own) for own in zip(*parts))

  @functools.cached_property
  def _is_cut_at_bits(self) -> bool:
    return all(term.place & (term.place - 1) == 0 for term in self.offset_terms)

  def coordinates(self, address: Any) -> tuple[Any, ...]:
    """The element whose first byte is at an address."""
    return self.elements.coordinates(offset=self.swizzle(address) // (self.bits // 8))

  def __str__(self) -> str:
    return f"shared<{self.elements}, {self.bits} bits, swizzle {self.swizzle.name}>"


@dataclasses.dataclass(frozen=True)
class StridedShared:
  """A tile in shared memory that is read where it lies: rows at any distance. What reads a `SharedLayout` reads it as well."""

  shape: tuple[int, ...]
  strides: tuple[int, ...]  # elements
  bits: int

  @property
  def nbytes(self) -> int:
    return (1 + sum((size - 1) * stride for size, stride in zip(self.shape, self.strides))) * self.bits // 8

  def address(self, coordinates: Sequence[Any]) -> Any:
    """The byte address of an element, for ints or arrays."""
    return self.at_offset(self.offset(coordinates))

  def offset(self, coordinates: Sequence[Any]) -> Any:
    """How many elements lie in front of one, for ints or arrays."""
    offset: Any = 0
    for coordinate, stride in zip(coordinates, self.strides):
      offset = offset + coordinate * stride
    return offset

  def at_offset(self, offset: Any) -> Any:
    """The byte address of the element at an offset."""
    return offset * (self.bits // 8)

  def adds_up(self, parts: Sequence[Sequence[int]]) -> bool:
    """Whether the offset of a sum of coordinates is the sum of their offsets."""
    return True


AnyShared = SharedLayout | StridedShared


def shared_tiled(
  shape: Sequence[int],
  tile: Sequence[int] | None,
  bits: int,
  swizzle: int | Swizzle = 0,
  order: Sequence[int] | None = None,
) -> SharedLayout:
  """Row-major inside of tiles, and the tiles side by side in `order` (fastest first; row-major if not given).

  `shared_tiled((128, 256), (8, 64), 16, swizzle=128, order=(0, 1))` is what TMA boxes of 64 columns and wgmma make of bf16 (K-major).
  """
  tile = tuple(tile) if tile is not None else tuple(shape)
  rank = len(shape)
  if len(tile) != rank or min(tile, default=1) < 1 or any(n % t for n, t in zip(shape, tile)):
    raise errors.LayoutError(f"tiles of {tile} do not divide {tuple(shape)}")
  if order is not None and sorted(order) != list(range(rank)):
    raise errors.LayoutError(f"order: expected each dimension of {tuple(shape)} once, got {tuple(order)}")
  unit = lambda axis, step: tuple(step if a == axis else 0 for a in range(rank))
  inside: list[DigitLike] = [(tile[a], unit(a, 1)) for a in reversed(range(rank))]
  outside: list[DigitLike] = [
    (shape[a] // tile[a], unit(a, tile[a])) for a in (order if order is not None else reversed(range(rank)))
  ]
  mode = _mode(swizzle) if isinstance(swizzle, int) else swizzle
  return SharedLayout(layout(shape, {OFFSET: [*inside, *outside]}), bits, mode)


def shared_for_matrix(shape: Sequence[int], bits: int, swizzle: int, transposed: bool = False) -> SharedLayout:
  """An operand of wgmma or tcgen05.mma, as TMA writes it: columns of `swizzle` bytes, each with all rows below one another.

  `transposed` is for operands whose contiguous dimension is the first.
  """
  mode = _mode(swizzle)
  wide = (swizzle or 16) * 8 // bits
  contiguous = 0 if transposed else len(shape) - 1
  if shape[contiguous] % wide:
    raise errors.LayoutError(f"{shape[contiguous]} elements of {bits} bits are no multiple of {swizzle or 16} bytes")
  order = [a for a in reversed(range(len(shape))) if a != contiguous]
  digits: list[DigitLike] = []
  unit = lambda axis, step: tuple(step if a == axis else 0 for a in range(len(shape)))
  digits.append((wide, unit(contiguous, 1)))
  digits += [(shape[a], unit(a, 1)) for a in order]
  digits.append((shape[contiguous] // wide, unit(contiguous, wide)))
  return SharedLayout(layout(shape, {OFFSET: digits}), bits, mode)


def _mode(swizzle: int) -> Swizzle:
  if swizzle not in SWIZZLES:
    raise errors.LayoutError(f"swizzle: expected the bytes of one, {', '.join(map(str, SWIZZLES))}, got {swizzle}")
  return SWIZZLES[swizzle]


def stacked(tile: SharedLayout, shape: tuple[int, ...]) -> SharedLayout:
  """An array of tiles, one behind the other: the leading dimensions of `shape` count them."""
  more = len(shape) - len(tile.shape)
  if shape[more:] != tile.shape or tile.elements.size(OFFSET) * tile.bits // 8 % tile.swizzle.span:
    raise errors.LayoutError(f"{shape} is no stack of {tile.shape}, or the swizzle does not fit into one of them")
  inner: list[DigitLike] = [(d.size, ((0,) * more + d.moves)) for d in tile.elements.digits(OFFSET)]
  outer: list[DigitLike] = [(shape[a], tuple(int(a == b) for b in range(len(shape)))) for a in reversed(range(more))]
  return SharedLayout(layout(shape, {OFFSET: [*inner, *outer]}), tile.bits, tile.swizzle)


def unstacked(stack: SharedLayout, shape: tuple[int, ...]) -> SharedLayout:
  """One tile of an array of tiles."""
  more = len(stack.shape) - len(shape)
  inner = [(d.size, d.moves[more:]) for d in stack.elements.digits(OFFSET) if any(d.moves[more:])]
  tile = SharedLayout(layout(shape, {OFFSET: inner}), stack.bits, stack.swizzle)
  if stacked(tile, stack.shape) != stack:
    raise errors.LayoutError(f"{stack} is no stack of tiles of shape {shape}")
  return tile


# --- bank conflicts ----------------------------------------------------------------------------------------------


def lanes_together(width: int) -> int:
  """How many lanes one wavefront can serve: accesses of 8 bytes go by half warps, of 16 bytes by quarters."""
  return min(32, BANK_BYTES // max(width, WORD))


def wavefronts(addresses: np.ndarray, width: int) -> int:
  """How many passes the accesses take: each row of `addresses` (accesses, 32 lanes) is one instruction, `width` bytes a lane."""
  addresses = np.asarray(addresses)
  if addresses.size % 32 or width not in (1, 2, 4, 8, 16):
    raise errors.LayoutError(
      f"expected addresses of 32 lanes that move 1, 2, 4, 8 or 16 bytes each, got {addresses.shape} and {width} bytes"
    )
  if not addresses.size:
    return 0
  addresses = addresses.reshape(-1, 32)
  together = lanes_together(width)
  words = max(width // WORD, 1)
  phases = addresses.reshape(-1, together, 1) // WORD + np.arange(words)
  phases = np.sort(phases.reshape(len(phases), -1), axis=1)
  first = np.concatenate([np.ones((len(phases), 1), bool), phases[:, 1:] != phases[:, :-1]], axis=1)
  number = np.arange(len(phases))[:, None] * BANKS + phases % BANKS
  counts = np.bincount(number[first], minlength=len(phases) * BANKS).reshape(len(phases), BANKS)
  return int(counts.max(axis=1).sum())


def fewest_wavefronts(accesses: int, width: int) -> int:
  """What that many instructions take without conflicts, if all lanes want different words."""
  return accesses * (32 // lanes_together(width))


def address_conflicts(addresses: np.ndarray, width: int) -> int:
  """Wavefronts beyond the fewest; none if the access is conflict-free. See `access.bank_conflicts` for layouts."""
  accesses = math.prod(np.asarray(addresses).shape) // 32
  return max(wavefronts(addresses, width) - fewest_wavefronts(accesses, width), 0)
