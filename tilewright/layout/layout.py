"""A layout: the function from places of the hardware to elements of a tile.

The hardware's places are counted by named inputs: the registers of a thread, the lanes of a warp, the warps of a CTA; or the offset in
shared memory; or the row and column of a tensor-memory cell. Each input is written in a mixed radix, least significant digit first, and
each digit moves some way along the dimensions of the tile. The coordinates are the sum:

    C fragment of mma.sync m16n8 (16 rows, 8 columns, 32 lanes, 4 registers)

      register = r0 + 2 r1         r0 moves (0, 1)    r1 moves (8, 0)
      lane     = l0 + 4 l1         l0 moves (0, 2)    l1 moves (1, 0)

      register_layout((16, 8), register=[(2, (0, 1)), (2, (8, 0))], lane=[(4, (0, 2)), (8, (1, 0))])

Digits of any size are allowed, so a tile of 48 columns is a digit of 3 that moves 16 columns. A digit that moves nowhere is replication:
places that differ only there hold the same element. Coordinates may lie outside of the shape: such places are padding and their
contents are ignored.

A layout is a value. Neighbouring digits that continue each other are joined when it is built, and that form is unique: two layouts of a
tile are equal if and only if they are the same function, whether registers, lanes or warps are named first.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tilewright import errors

REGISTER, LANE, WARP, OFFSET = "register", "lane", "warp", "offset"
LANES = 32
_NAMES = [REGISTER, LANE, WARP]

DigitLike = tuple[int, Sequence[int]]


class Digit(NamedTuple):
  """One digit of an input: how many values it has, and how far along each dimension of the tile a step of it moves."""

  size: int
  moves: tuple[int, ...]

  @property
  def is_replication(self) -> bool:
    return not any(self.moves)


class Term(NamedTuple):
  """A digit in place: `(input // place % size)` steps of `moves`. What code generators emit, one term after another."""

  input: str
  place: int
  size: int
  moves: tuple[int, ...]

  @property
  def is_replication(self) -> bool:
    return not any(self.moves)


@dataclasses.dataclass(frozen=True, eq=False)
class Layout:
  """A function from places of the hardware to elements of a tile of a given shape."""

  shape: tuple[int, ...]
  inputs: tuple[tuple[str, tuple[Digit, ...]], ...]

  def __post_init__(self) -> None:
    object.__setattr__(self, "shape", tuple(self.shape))
    inputs = [(name, _joined(digits, self.shape)) for name, digits in self.inputs]
    # Canonical order: registers, lanes, warps, however they are written.
    if [name for name, _ in inputs] != _NAMES:
      inputs.sort(key=lambda own: _NAMES.index(own[0]) if own[0] in _NAMES else len(_NAMES))
    object.__setattr__(self, "inputs", tuple(inputs))
    if len(set(self.names)) != len(self.names):
      raise errors.LayoutError(f"the inputs {self.names} must have different names")
    object.__setattr__(self, "_hash", hash((self.shape, self.inputs)))

  def __hash__(self) -> int:
    return self._hash  # type: ignore[attr-defined]

  def __reduce__(self) -> tuple[Any, ...]:
    return Layout, (self.shape, self.inputs)  # hashes of names differ from process to process

  def __eq__(self, other: object) -> bool:
    if self is other:  # inference asks very often
      return True
    if not isinstance(other, Layout) or hash(self) != hash(other):
      return NotImplemented if not isinstance(other, Layout) else False
    return self.shape == other.shape and self.inputs == other.inputs

  # --- what is there ---------------------------------------------------------------------------------------------

  @property
  def rank(self) -> int:
    return len(self.shape)

  @functools.cached_property
  def names(self) -> tuple[str, ...]:
    return tuple(name for name, _ in self.inputs)

  @functools.cached_property
  def _digits(self) -> dict[str, tuple[Digit, ...]]:
    return dict(self.inputs)

  @functools.cached_property
  def _sizes(self) -> dict[str, int]:
    return {name: math.prod([digit.size for digit in digits]) for name, digits in self.inputs}

  def digits(self, name: str) -> tuple[Digit, ...]:
    """The digits of an input, least significant first; none if there is no such input."""
    return self._digits.get(name, ())

  def size(self, name: str) -> int:
    """How many values an input has: registers of a thread, lanes of a warp, …"""
    return self._sizes.get(name, 1)

  @property
  def num_registers(self) -> int:
    return self.size(REGISTER)

  @property
  def num_warps(self) -> int:
    return self.size(WARP)

  @functools.cached_property
  def terms(self) -> tuple[Term, ...]:
    """Every digit with its place. The coordinates are the sum over them."""
    found = []
    for name, digits in self.inputs:
      place = 1
      for digit in digits:
        found.append(Term(name, place, digit.size, digit.moves))
        place *= digit.size
    return tuple(found)

  def terms_of(self, *names: str) -> tuple[Term, ...]:
    return tuple(term for term in self.terms if term.input in names)

  @functools.cached_property
  def extents(self) -> tuple[int, ...]:
    """One more than the largest coordinate along each dimension: the shape, or more if there is padding."""
    return tuple(1 + sum((t.size - 1) * t.moves[axis] for t in self.terms) for axis in range(self.rank))

  @property
  def is_padded(self) -> bool:
    """Whether some places lie outside of the tile. Code must then look at coordinates before it stores or reduces."""
    return any(extent > size for extent, size in zip(self.extents, self.shape))

  @property
  def is_replicated(self) -> bool:
    return any(term.is_replication for term in self.terms)

  @functools.cached_property
  def owner_terms(self) -> tuple[Term, ...]:
    """The terms that are replication. Of all places of an element, the one where these digits are zero is its owner."""
    return tuple(term for term in self.terms if term.is_replication)

  @functools.cached_property
  def holds_all(self) -> bool:
    """Whether every element of the tile has a place."""
    by_axis: list[list[tuple[int, int]]] = [[] for _ in self.shape]
    for term in self.terms:
      axes = [axis for axis, move in enumerate(term.moves) if move]
      if len(axes) > 1:
        return self._holds_all_of_its_table()
      for axis in axes:
        by_axis[axis].append((term.moves[axis], term.size))
    for size, steps in zip(self.shape, by_axis):
      reached = 0  # the largest coordinate such that all up to it are held, by the steps so far
      for move, count in sorted(steps):
        if move > reached + 1:
          break
        reached += move * (count - 1)
      if reached + 1 < size:
        return False
    return True

  def _holds_all_of_its_table(self) -> bool:
    table = self.table().reshape(-1, self.rank)
    inside = table[(table < np.asarray(self.shape, np.int64)).all(-1)]
    return len(np.unique(np.ravel_multi_index(tuple(inside.T), self.shape))) == math.prod(self.shape)

  # --- as a function ---------------------------------------------------------------------------------------------

  def coordinates(self, **index: Any) -> tuple[Any, ...]:
    """The element at a place, for ints or arrays of ints: `layout.coordinates(register=1, lane=5, warp=0)`.

    Inputs that are not given are zero, so `coordinates(lane=l, warp=w)` is where a thread begins.
    """
    if unknown := set(index) - set(self.names):
      raise errors.LayoutError(f"a layout of {self.names} has no input {sorted(unknown)}")
    total: list[Any] = [0] * self.rank
    for name, place, size, moves in self.terms:
      if name not in index:
        continue
      step = index[name] // place % size
      for axis, move in enumerate(moves):
        if move:
          total[axis] = total[axis] + step * move
    return tuple(total)

  @functools.cached_property
  def register_offsets(self) -> tuple[tuple[int, ...], ...]:
    """How far each register's element is from the thread's first one."""
    return tuple(self.coordinates(register=r) for r in range(self.num_registers))

  def table(self) -> np.ndarray:
    """All coordinates: an array indexed by the inputs in order, then by dimension."""
    result = np.zeros((*(self.size(name) for name in self.names), self.rank), np.int64)
    for axis, (name, place, size, moves) in ((self.names.index(t.input), t) for t in self.terms):
      steps = np.arange(self.size(name)) // place % size
      shape = [1] * len(self.names)
      shape[axis] = -1
      result += steps.reshape(*shape, 1) * np.asarray(moves, np.int64)
    return result

  def __iter__(self) -> Iterator[Any]:
    raise TypeError("a layout is not a sequence; see Layout.table and Layout.terms")

  def __str__(self) -> str:
    def text(digits: Iterable[Digit]) -> str:
      return " ".join(f"{d.size}:{','.join(map(str, d.moves)) or '-'}" for d in digits) or "1"

    parts = [f"{name} {text(digits)}" for name, digits in self.inputs]
    return f"layout<{'x'.join(map(str, self.shape)) or 'scalar'}; {'; '.join(parts)}>"


def _joined(digits: Sequence[DigitLike], shape: tuple[int, ...]) -> tuple[Digit, ...]:
  """The canonical form: no digit of size one, and none that continues the one before it.

  It is unique. The first digit moves m, and its size is the smallest s at which the function is not s times m; the others follow by
  induction on the function of (input // s).
  """
  found: list[Digit] = []
  for size, moves in digits:
    if size < 1 or len(moves) != len(shape) or min(moves, default=0) < 0:
      raise errors.LayoutError(f"digit {size}:{tuple(moves)} does not fit a tile of shape {shape}")
    if size == 1:
      continue
    if found and all(m == found[-1].size * before for m, before in zip(moves, found[-1].moves)):
      found[-1] = Digit(found[-1].size * size, found[-1].moves)
    else:
      found.append(Digit(size, tuple(moves)))
  return tuple(found)


def read_layout(text: str) -> Layout:
  """The layout that `str` gave: `layout<16x8; register 2:0,1 2:8,0; lane 4:0,2 8:1,0; warp 1>`."""
  found = re.fullmatch(r"layout<([\dx]+|scalar); (.*)>", text)
  if found is None:
    raise errors.LayoutError(f"expected the text of a layout, layout<shape; register …; lane …; warp …>, got {text!r}")
  shape = () if found[1] == "scalar" else tuple(map(int, found[1].split("x")))
  inputs: dict[str, list[DigitLike]] = {}
  for part in found[2].split("; "):
    name, *digits = part.split(" ")
    pairs = [d.split(":") for d in digits if ":" in d]
    inputs[name] = [(int(size), () if moves == "-" else tuple(map(int, moves.split(",")))) for size, moves in pairs]
  return layout(shape, inputs)


def layout(shape: Sequence[int], inputs: Mapping[str, Sequence[DigitLike]]) -> Layout:
  """A layout from its digits by input, least significant first."""
  return Layout(tuple(shape), tuple((name, tuple(Digit(s, tuple(m)) for s, m in ds)) for name, ds in inputs.items()))


def register_layout(
  shape: Sequence[int],
  register: Sequence[DigitLike] = (),
  lane: Sequence[DigitLike] = (),
  warp: Sequence[DigitLike] = (),
) -> Layout:
  """A layout of a tile in registers. Lanes that no digit names hold copies."""
  named = math.prod(size for size, _ in lane)
  if named > LANES or LANES % named:
    raise errors.LayoutError(f"a warp has {LANES} lanes; the digits name {named}")
  rest = (LANES // named, (0,) * len(shape))
  return layout(shape, {REGISTER: register, LANE: [*lane, rest], WARP: warp})
