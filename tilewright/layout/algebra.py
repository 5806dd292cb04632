"""Layouts from layouts: composition, inverse, and what moving the dimensions of a tile does to its layout.

Composition is the basic operation: a reshape is the composition with the layout of the new shape by the old one, and a tile that is read
from tensor memory is the composition of the memory's layout with that of the instruction. Digits compose where no addition carries
from one digit of the outer layout into the next:

    outer: offset 8:(0,1) 4:(1,0)      a 4 x 8 tile, row-major in memory
    inner: lane   16:(2)               each lane holds every second element
    inner then outer: lane 4:(0,2) 4:(1,0)

Where they would carry, no such layout exists, and LayoutError is raised.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

from tilewright import errors
from tilewright.layout.layout import REGISTER, Digit, Layout, layout


def compose(outer: Layout, inner: Layout) -> Layout:
  """`outer` after `inner`: the tile of `inner` is the space of the inputs of `outer`, in order."""
  if inner.rank != len(outer.inputs):
    raise errors.LayoutError(f"{inner} has {inner.rank} dimensions, but {outer} has {len(outer.inputs)} inputs")
  used: dict[tuple[int, int], int] = {}
  inputs = {name: [p for d in digits for p in _through(outer, d, used)] for name, digits in inner.inputs}
  for (axis, number), most in used.items():
    digits = outer.inputs[axis][1]
    if number < len(digits) and most < digits[number].size:
      continue
    if not _leaves(outer, axis, number):
      raise errors.LayoutError(f"{inner} does not compose with {outer}: its sum carries from digit to digit")
  return layout(outer.shape, inputs)


def _through(outer: Layout, digit: Digit, used: dict[tuple[int, int], int]) -> list[Digit]:
  """A digit of the inner layout, split at the digits of the outer one and moved as they move."""
  pieces: list[Digit] = []
  size, moves = digit
  while size > 1:
    taken = size
    landing = []  # for each axis that the digit moves along: which digit of the outer input, and how many steps of it
    for axis, move in enumerate(moves):
      if not move:
        continue
      number, place, end = _digit_at(outer.inputs[axis][1], move)
      if move % place or (end is not None and move * size > end and end % move):
        raise errors.LayoutError(f"a step of {move} does not compose with {outer}: it carries from digit to digit")
      if end is not None and move * size > end:
        taken = math.gcd(taken, end // move)
      landing.append((axis, number, move // place))
    if taken == 1 or size % taken:
      raise errors.LayoutError(f"a digit of size {size} that moves {moves} does not compose with {outer}")
    total = [0] * outer.rank
    for axis, number, steps in landing:
      used[axis, number] = used.get((axis, number), 0) + (taken - 1) * steps
      own = outer.inputs[axis][1]
      for i, move in enumerate(own[number].moves if number < len(own) else (0,) * outer.rank):
        total[i] += steps * move
    pieces.append(Digit(taken, tuple(total)))
    size, moves = size // taken, tuple(taken * m for m in moves)
  return pieces


def _digit_at(digits: Sequence[Digit], move: int) -> tuple[int, int, int | None]:
  """The digit of an input in which a value lies: its number, its place, and where the next begins (None for the last)."""
  place = 1
  for number, digit in enumerate(digits[:-1]):
    if move < place * digit.size:
      return number, place, place * digit.size
    place *= digit.size
  return max(len(digits) - 1, 0), place, None


def _leaves(outer: Layout, axis: int, number: int) -> bool:
  """Whether the last digit of an input, beyond its size, moves out of the tile: then what lies there is padding."""
  digits = outer.inputs[axis][1]
  if number != len(digits) - 1:
    return False
  size, moves = digits[number]
  return any(size * move >= extent for move, extent in zip(moves, outer.shape))


def inverse(of: Layout) -> Layout:
  """From coordinates (inputs named "0", "1", …) to places: the owner of each element, where replication digits are zero.

  The tile of the inverse is the space of the inputs, `(registers, lanes, warps)` for a register layout.
  """
  sizes = tuple(of.size(name) for name in of.names)
  by_axis: list[list[tuple[int, int, tuple[int, ...]]]] = [[] for _ in of.shape]
  for term in of.terms:
    axes = [axis for axis, move in enumerate(term.moves) if move]
    if len(axes) > 1:
      raise errors.LayoutError(
        f"{of} has no inverse with separate digits: one of its digits moves along two dimensions"
      )
    if axes:
      place = tuple(term.place if name == term.input else 0 for name in of.names)
      by_axis[axes[0]].append((term.moves[axes[0]], term.size, place))
  inputs = {}
  for axis, found in enumerate(by_axis):
    reached = 1
    for move, size, _ in sorted(found):
      if move != reached:
        raise errors.LayoutError(
          f"{of} has no inverse: along dimension {axis}, steps of {move} follow a part of {reached}"
        )
      reached *= size
    if reached < of.shape[axis]:
      raise errors.LayoutError(f"{of} has no inverse: it holds {reached} of {of.shape[axis]} along dimension {axis}")
    inputs[str(axis)] = [(size, place) for _, size, place in sorted(found)]
  return layout(sizes, inputs)


# --- the dimensions of the tile ----------------------------------------------------------------------------------


def transposed(of: Layout, permutation: Sequence[int]) -> Layout:
  """The layout of the transposed tile: nothing moves."""
  if sorted(permutation) != list(range(of.rank)):
    raise errors.LayoutError(f"{tuple(permutation)} is no permutation of the {of.rank} dimensions of {of}")
  return _moved(of, tuple(of.shape[p] for p in permutation), lambda moves: tuple(moves[p] for p in permutation))


def reshaped(of: Layout, shape: Sequence[int]) -> Layout:
  """The layout of the tile in another shape, with the same elements in row-major order: nothing moves."""
  return of if tuple(shape) == of.shape else compose(_reshape_map(of.shape, tuple(shape)), of)


def expanded(of: Layout, shape: Sequence[int], dims: Sequence[int]) -> Layout:
  """The layout in more dimensions: dimension i becomes `dims[i]`, and new ones have registers of their own, outermost.

  The inverse of `projected`: `projected(expanded(of, shape, dims), new dims) == of`.
  """
  size_of = {d: of.shape[i] for i, d in enumerate(dims)}
  if len(size_of) != of.rank or any(d not in range(len(shape)) or n not in (1, shape[d]) for d, n in size_of.items()):
    raise errors.LayoutError(
      f"{of} does not become a tile of shape {tuple(shape)} with its dimensions at {tuple(dims)}"
    )

  def place(moves: tuple[int, ...]) -> tuple[int, ...]:
    wide = [0] * len(shape)
    for move, d in zip(moves, dims):
      wide[d] = move
    return tuple(wide)

  new = [
    (size, tuple(int(i == axis) for i in range(len(shape))))
    for axis, size in reversed(list(enumerate(shape)))
    if size_of.get(axis, 1) != size
  ]
  inputs = {name: [(d.size, place(d.moves)) for d in digits] for name, digits in of.inputs}
  return layout(shape, {**inputs, REGISTER: [*inputs.get(REGISTER, []), *new]})


def projected(of: Layout, axes: Sequence[int]) -> Layout:
  """The layout without some dimensions, as after a reduction over them: threads that differed there hold copies.

  Registers that would be copies go.
  """
  if any(axis not in range(-of.rank, of.rank) for axis in axes):
    raise errors.LayoutError(f"{of} has no dimensions {tuple(axes)}")
  gone = {axis % of.rank for axis in axes}
  kept = [axis for axis in range(of.rank) if axis not in gone]
  narrow = _moved(of, tuple(of.shape[a] for a in kept), lambda moves: tuple(moves[a] for a in kept))
  return without_register_copies(narrow)


def flattened_to_one(of: Layout, axes: Sequence[int]) -> Layout:
  """The layout of a tile whose `axes` have size one instead, as an operand that is broadcast along them."""
  shape = tuple(1 if axis in axes else size for axis, size in enumerate(of.shape))
  narrow = _moved(of, shape, lambda moves: tuple(0 if axis in axes else move for axis, move in enumerate(moves)))
  return without_register_copies(narrow)


def restricted(result: Layout, shape: Sequence[int], dims: Sequence[int]) -> Layout:
  """The layout of an operand of `shape` that is broadcast to a result: dimensions that are new, or of size one, go.

  Those of size one in both too: threads that have padding there hold the one element like all others.
  """
  new = [axis for axis in range(result.rank) if axis not in dims]
  narrow = projected(result, new)
  ones = [i for i, size in enumerate(shape) if size == 1 and narrow.extents[i] != 1]
  return flattened_to_one(narrow, ones) if ones else narrow


def sliced(of: Layout, starts: Sequence[int], shape: Sequence[int]) -> Layout:
  """The layout of the part of a tile at `starts`, if it is a choice of registers: then nothing moves.

  Register r of the part is the register of the whole whose offset is that of r plus `starts`, see `part_registers`.
  """
  digits = {name: list(own) for name, own in of.inputs}
  for axis, (start, size) in enumerate(zip(starts, shape)):
    if size == of.shape[axis] and start == 0:
      continue
    is_inside = 0 <= start <= of.shape[axis] - size
    if size < 1 or of.shape[axis] % size or start % size or not is_inside or of.extents[axis] != of.shape[axis]:
      raise errors.LayoutError(f"{size} elements from {start} of {of.shape[axis]} are not a whole part")
    for name, own in digits.items():
      kept = []
      for digit in own:
        low, high = _cut(digit, axis, size)
        kept += low
        if high and name != REGISTER:
          raise errors.LayoutError(f"{of}: a part of {size} along dimension {axis} is spread over {name}s")
      digits[name] = kept
  return layout(shape, digits)


def _cut(digit: Digit, axis: int, at: int) -> tuple[list[Digit], list[Digit]]:
  """A digit below and from a step along a dimension on."""
  size, moves = digit
  if not moves[axis] or moves[axis] * size <= at:
    return [digit], []
  if moves[axis] >= at:
    return ([], [digit]) if moves[axis] % at == 0 else _carries(digit, at)
  if at % moves[axis] or size % (at // moves[axis]):
    return _carries(digit, at)
  below = at // moves[axis]
  return [Digit(below, moves)], [Digit(size // below, tuple(m * below for m in moves))]


def _carries(digit: Digit, at: int) -> tuple[list[Digit], list[Digit]]:
  raise errors.LayoutError(f"a digit of {digit.size} that moves {digit.moves} cannot be split at {at}")


def unsliced(part: Layout, shape: Sequence[int]) -> Layout:
  """A layout of a larger tile of which `part` is that of each part: one register digit more along each dimension."""
  digits = {name: list(own) for name, own in part.inputs}
  for axis, (size, whole) in enumerate(zip(part.shape, shape)):
    if whole % size or part.extents[axis] != size:
      raise errors.LayoutError(f"{size} elements along dimension {axis} are not a whole part of {whole}")
    digits[REGISTER].append(Digit(whole // size, tuple(size if a == axis else 0 for a in range(part.rank))))
  return layout(shape, digits)


def part_registers(whole: Layout, part: Layout, starts: Sequence[int]) -> tuple[int, ...]:
  """For each register of a part, as `sliced` gives it, the register of the whole that holds the same element."""
  at = {offset: r for r, offset in reversed(list(enumerate(whole.register_offsets)))}
  return tuple(at[tuple(x + s for x, s in zip(offset, starts))] for offset in part.register_offsets)


def without_register_copies(of: Layout) -> Layout:
  """Without register digits that move nowhere."""
  return layout(
    of.shape,
    {name: [d for d in digits if name != REGISTER or not d.is_replication] for name, digits in of.inputs},
  )


def trimmed(of: Layout) -> Layout:
  """Without registers that lie outside of the tile in every thread; the others are counted anew."""

  def needed(digit: Digit) -> int:
    return min([digit.size, *(-(-size // move) for size, move in zip(of.shape, digit.moves) if move)])

  return layout(
    of.shape, {name: [(needed(d) if name == REGISTER else d.size, d.moves) for d in own] for name, own in of.inputs}
  )


def _moved(of: Layout, shape: tuple[int, ...], change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Layout:
  return Layout(
    shape, tuple((name, tuple(Digit(d.size, change(d.moves)) for d in digits)) for name, digits in of.inputs)
  )


@functools.lru_cache(maxsize=1024)
def _reshape_map(old: tuple[int, ...], new: tuple[int, ...]) -> Layout:
  """The layout of a tile of shape `new` by the coordinates in `old`, dimensions that do not mix kept apart."""
  if math.prod(old) != math.prod(new):
    raise errors.LayoutError(f"{old} and {new} have different sizes")
  inputs: dict[str, list[Digit]] = {str(axis): [] for axis in range(len(old))}
  for old_axes, new_axes in matching_dims(old, new):
    total = math.prod(old[a] for a in old_axes)
    flat = layout((total,), {str(a): [(old[a], (math.prod(old[a + 1 : old_axes[-1] + 1]),))] for a in old_axes})
    unit = {a: tuple(int(a == b) for b in range(len(new))) for a in new_axes}
    back = layout(new, {"flat": [(new[a], unit[a]) for a in reversed(new_axes)]})
    inputs.update({name: list(digits) for name, digits in compose(back, flat).inputs})
  return layout(new, inputs)


def matching_dims(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
  """Runs of dimensions of both shapes with equal products, as short as can be."""
  groups = []
  i = j = 0
  while i < len(old) or j < len(new):
    old_axes, new_axes = [], []
    a = b = 1
    if i < len(old):
      old_axes.append(i)
      a, i = a * old[i], i + 1
    if j < len(new):
      new_axes.append(j)
      b, j = b * new[j], j + 1
    while a != b:
      if a < b and i < len(old):
        old_axes.append(i)
        a, i = a * old[i], i + 1
      elif j < len(new):
        new_axes.append(j)
        b, j = b * new[j], j + 1
      else:
        old_axes.append(i)
        a, i = a * old[i], i + 1
    groups.append((old_axes, new_axes))
  return groups
