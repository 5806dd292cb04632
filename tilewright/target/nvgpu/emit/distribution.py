"""The assignment of a tile's elements to the threads of a CTA, step by step: one vector of contiguous elements in each.

A tile that is kept in registers is `Held` as a layout says (`tilewright.layout`): a step is a group of registers that are neighbours. The
layout of a tile about which nothing else is known is the `ordinary` one, in which neighbouring threads touch neighbouring memory.

A tile that is too large for that is streamed (`VectorAssignment`): it is split into vectors of `lanes` neighbours along its last long
dimension, vectors are numbered row by row, and vector c belongs to thread c % T, as that thread's step c // T. Where no power of two
divides the dimension, vectors shrink, down to single elements.

    shape (2, 64), 8 lanes, 8 threads, dealt out: thread 3 has elements (0, 24..31) in step 0 and (1, 24..31) in step 1.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any, Protocol

from llvmlite import ir

from tilewright import errors
from tilewright.layout.algebra import without_register_copies
from tilewright.layout.build import blocked_for, strided
from tilewright.layout.layout import LANE, LANES, WARP, Layout, Term
from tilewright.layout.vectors import vector_width, vectors
from tilewright.target.llvm.loops import ZERO, Index
from tilewright.target.llvm.types import I32, I64
from tilewright.target.nvgpu.emit.symbolic import Number, value_of

_WIDEST = 8  # elements of a vector


class Distribution(Protocol):
  """An assignment of elements to threads: in each of `steps`, a thread has a vector of `lanes` elements."""

  @property
  def shape(self) -> tuple[int, ...]: ...

  @property
  def lanes(self) -> int: ...

  @property
  def steps(self) -> int: ...

  @property
  def unrolled(self) -> int | None:
    """Up to how many steps of a pass are written out; None for all of them."""

  def index(self, b: ir.IRBuilder, thread: ir.Value, step: Any) -> list[Index]:
    """The elements of a thread in a step: the i-th lane is i further along one dimension."""

  def has_vector(self, b: ir.IRBuilder, index: Sequence[Index], thread: ir.Value, step: Any) -> ir.Value | None:
    """Whether the thread has a vector in a step; None if every thread has."""

  def owns(self, b: ir.IRBuilder, thread: ir.Value) -> ir.Value | None:
    """Whether a thread is the first of those that have the same elements; None if none is shared."""


# --- in registers ------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Held:
  """The vectors of the registers that a layout gives each thread. Registers that are copies of others are left out."""

  layout: Layout

  def __post_init__(self) -> None:
    object.__setattr__(self, "layout", without_register_copies(self.layout))

  unrolled = None

  @property
  def shape(self) -> tuple[int, ...]:
    return self.layout.shape

  @functools.cached_property
  def axis(self) -> int:
    """The dimension along which vectors lie: that of the widest, the last of those."""
    return max(range(self.layout.rank), key=lambda a: (min(vector_width(self.layout, a), _WIDEST), a), default=-1)

  @functools.cached_property
  def lanes(self) -> int:
    return math.gcd(vector_width(self.layout, self.axis), _WIDEST) if self.layout.rank else 1

  @functools.cached_property
  def groups(self) -> tuple[tuple[int, ...], ...]:
    """The registers of each step; those that lie outside of the tile in every thread are left out."""
    offsets = self.layout.register_offsets
    found = vectors(self.layout, self.axis, self.lanes)
    return tuple(g for g in found if all(x < size for x, size in zip(offsets[g[0]], self.layout.shape)))

  @property
  def steps(self) -> int:
    return len(self.groups)

  @functools.cached_property
  def origins(self) -> tuple[tuple[Term, ...], ...]:
    """For each dimension, the terms of an index that depend on the thread: the rest is static."""
    return tuple(_along(self.layout, axis) for axis in range(self.layout.rank))

  @functools.cached_property
  def _places(self) -> dict[tuple[int, ...], tuple[int, int]]:
    """The step and lane of each register, by how far its element is from the thread's first one."""
    offsets = self.layout.register_offsets
    return {offsets[r]: (step, n) for step, group in enumerate(self.groups) for n, r in enumerate(group)}

  def offset(self, step: int) -> tuple[int, ...]:
    """How far the first element of a step is from the thread's first one."""
    return self.layout.register_offsets[self.groups[step][0]]

  def find(self, index: Sequence[Index], lanes: int) -> list[tuple[int, int]] | None:
    """The step and lane in which the thread holds each of the elements at an index; None if that is not statically known."""
    places = [i.place for i in index]
    if any(origin != own for (origin, _), own in zip(places, self.origins)):
      return None
    found = [self._places.get(tuple(at + n * i.step for (_, at), i in zip(places, index))) for n in range(lanes)]
    return None if None in found else found  # type: ignore[return-value]

  def start(self, b: ir.IRBuilder, thread: ir.Value) -> tuple[Any, ...]:
    """The first element of a thread."""
    number = Number(b, thread, LANES * self.layout.num_warps)
    total: list[Any] = [0] * self.layout.rank
    for place, size, moves in _thread_terms(self.layout):
      for axis, move in enumerate(moves):
        if move:
          total[axis] = total[axis] + number // place % size * move
    return tuple(total)

  def index(self, b: ir.IRBuilder, thread: ir.Value, step: Any, start: Sequence[Any] | None = None) -> list[Index]:
    found = []
    for axis, (first, offset) in enumerate(zip(start or self.start(b, thread), self.offset(step))):
      along, origin = int(axis == self.axis and self.lanes > 1), self.origins[axis]
      if not origin:
        found.append(Index(offset, along))
      else:
        align = math.gcd(offset, *(t.moves[0] for t in origin))
        base = b.zext(value_of(b, first), I64)
        # Added last, what is known of an address becomes part of the instruction that uses it.
        found.append(Index(b.add(base, I64(offset)) if offset else base, along, align, origin, offset))
    return found

  def has_vector(self, b: ir.IRBuilder, index: Sequence[Index], thread: ir.Value, step: Any) -> ir.Value | None:
    inside = None
    for i, size in zip(index, self.layout.shape):
      origin, offset = i.place
      if offset + sum((t.size - 1) * t.moves[0] for t in origin) >= size:
        ok = b.icmp_unsigned("<", i.base, I64(size))
        inside = ok if inside is None else b.and_(inside, ok)
    return inside

  def owns(self, b: ir.IRBuilder, thread: ir.Value) -> ir.Value | None:
    condition = None
    for term in self.layout.owner_terms:
      place = (1 if term.input == LANE else LANES) * term.place
      number = Number(b, thread, LANES * self.layout.num_warps) // place % term.size
      own = b.icmp_unsigned("==", value_of(b, number), I32(0))
      condition = own if condition is None else b.and_(condition, own)
    return condition


def _thread_terms(layout: Layout) -> list[tuple[int, int, tuple[int, ...]]]:
  """The digits of a thread's number, each with its place and size and what it moves, joined where they continue each other."""
  found: list[tuple[int, int, tuple[int, ...]]] = []
  for name, place, size, moves in layout.terms_of(LANE, WARP):
    place *= 1 if name == LANE else LANES
    if found:
      before, count, moved = found[-1]
      if before * count == place and tuple(count * m for m in moved) == moves:
        found[-1] = (before, count * size, moved)
        continue
    found.append((place, size, moves))
  return found


def _along(layout: Layout, axis: int) -> tuple[Term, ...]:
  """The digits of the thread that move along a dimension, with what they move there, joined where they continue each other."""
  found: list[Term] = []
  for name, place, size, moves in layout.terms_of(LANE, WARP):
    if not moves[axis]:
      continue
    if found and (found[-1].input, found[-1].place * found[-1].size) == (name, place):
      before = found[-1]
      if before.size * before.moves[0] == moves[axis]:
        found[-1] = Term(name, before.place, before.size * size, before.moves)
        continue
    found.append(Term(name, place, size, (moves[axis],)))
  return tuple(found)


@functools.lru_cache(maxsize=4096)
def ordinary(shape: tuple[int, ...], lanes: int, num_warps: int) -> Layout:
  """The layout of a tile about which nothing is known: vectors of up to `lanes` side by side, row by row."""
  inner = next((d for d in reversed(shape) if d > 1), 1)
  vector = math.gcd(inner, lanes)
  try:
    return strided(shape, num_warps, vector)
  except errors.LayoutError:  # it cannot be dealt out evenly
    return blocked_for(shape, num_warps, vector)


# --- streaming ---------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class VectorAssignment:
  """The vectors of a shape, dealt out to the threads of a CTA."""

  shape: tuple[int, ...]
  lanes: int
  threads: int
  unrolled: int | None = 16

  @property
  def axis(self) -> int | None:
    """The dimension along which vectors lie."""
    return max((a for a, d in enumerate(self.shape) if d > 1), default=None)

  @property
  def counts(self) -> tuple[int, ...]:
    """How many vectors there are along each dimension."""
    return tuple(d // self.lanes if a == self.axis else d for a, d in enumerate(self.shape))

  @property
  def vectors(self) -> int:
    return math.prod(self.counts)

  @property
  def steps(self) -> int:
    return -(-self.vectors // self.threads)

  def index(self, b: ir.IRBuilder, thread: ir.Value, step: Any) -> list[Index]:
    if isinstance(step, int):
      parts = _unravel(b, thread, self.threads, self.threads * step, self.counts)
    else:
      number = b.add(thread, b.mul(step, I32(self.threads)))
      parts = _unravel(b, number, self.threads * self.steps, 0, self.counts)
    found = []
    for a, part in enumerate(parts):
      wide = self.lanes if a == self.axis else 1
      if isinstance(part, int):
        found.append(Index(part * wide, 1 if wide > 1 else 0, wide) if part * wide or wide > 1 else ZERO)
      else:
        base = b.zext(b.mul(part, I32(wide)) if wide > 1 else part, I64)
        found.append(Index(base, 1 if wide > 1 else 0, wide))
    return found

  def has_vector(self, b: ir.IRBuilder, index: Sequence[Index], thread: ir.Value, step: Any) -> ir.Value | None:
    if self.vectors % self.threads == 0 or (isinstance(step, int) and self.threads * (step + 1) <= self.vectors):
      return None
    number = b.add(thread, b.mul(I32(step) if isinstance(step, int) else step, I32(self.threads)))
    return b.icmp_unsigned("<", number, I32(self.vectors))

  def owns(self, b: ir.IRBuilder, thread: ir.Value) -> ir.Value | None:
    return None


def distribute(shape: tuple[int, ...], lanes: int, threads: int) -> VectorAssignment:
  inner = next((d for d in reversed(shape) if d > 1), 1)
  return VectorAssignment(tuple(shape), math.gcd(inner, lanes), threads)


def _unravel(
  b: ir.IRBuilder, dynamic: ir.Value, bound: int, static: int, sizes: tuple[int, ...]
) -> list[int | ir.Value]:
  """`dynamic + static`, where 0 <= dynamic < bound, as an index of each dimension, keeping what is known without arithmetic."""
  found: list[int | ir.Value] = []
  number: ir.Value | None = dynamic if bound > 1 else None
  for position, size in reversed(list(enumerate(sizes))):
    if position == 0:
      size = max(
        size, bound + static
      )  # the outermost dimension takes the rest: the caller masks out-of-bounds elements
    if size == 1:
      found.append(0)
      continue
    if number is None:
      found.append(static % size)
      static //= size
      continue
    inside = static % size
    if inside + bound <= size:
      found.append(b.add(number, I32(inside)) if inside else number)
      number, static = None, static // size
    elif inside == 0 and bound % size == 0:
      found.append(b.urem(number, I32(size)))
      number, bound, static = b.udiv(number, I32(size)), bound // size, static // size
    else:
      whole = b.add(number, I32(static)) if static else number
      found.append(b.urem(whole, I32(size)))
      number, bound, static = b.udiv(whole, I32(size)), -(-(bound + static) // size), 0
  return found[::-1]
