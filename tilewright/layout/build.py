"""Constructors of basic layouts: splat, strided, blocked, and repetitions of a fragment.

    strided((4096,), num_warps=4, vector=8)      thread t holds 8t … 8t+7, then the same 1024 further on, …
    blocked((128, 64), per_thread=(1, 8), lanes=(4, 8), warps=(4, 1))
    repeated(mma.accumulator, (128, 64), warps=(4, 1))

A tile that is smaller than the threads' capacity is replicated; one that is not a multiple of it is padded at its end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tilewright import errors
from tilewright.layout.algebra import reshaped
from tilewright.layout.layout import LANE, LANES, REGISTER, WARP, Digit, Layout, layout, register_layout


def splat(shape: Sequence[int], num_warps: int) -> Layout:
  """Every thread holds every element, in row-major order: scalars, and tiles that are one value."""
  _check(shape, num_warps=num_warps)
  return register_layout(
    shape, [(n, _unit(axis, shape)) for axis, n in _inner_first(shape)], warp=[(num_warps, _zero(shape))]
  )


def strided(shape: Sequence[int], num_warps: int, vector: int = 1) -> Layout:
  """Threads side by side over the tile in row-major order, each with `vector` neighbours at a time: coalesced.

  Raises LayoutError if the shape cannot be dealt out evenly; `blocked` always can.
  """
  _check(shape, num_warps=num_warps, vector=vector)
  total, threads = math.prod(shape), LANES * num_warps
  if total % (vector * threads):
    raise errors.LayoutError(f"{tuple(shape)} cannot be dealt to {threads} threads by {vector}")
  flat = register_layout(
    (total,),
    register=[(vector, (1,)), (total // (vector * threads), (vector * threads,))],
    lane=[(LANES, (vector,))],
    warp=[(num_warps, (vector * LANES,))],
  )
  return reshaped(flat, shape)


def blocked(
  shape: Sequence[int],
  per_thread: Sequence[int],
  lanes: Sequence[int],
  warps: Sequence[int],
  order: Sequence[int] | None = None,
) -> Layout:
  """A grid of threads: `per_thread` neighbours each, then lanes, then warps, along each dimension; then registers again.

  `order` lists the dimensions, the fastest first; it is the last one first if not given.
  """
  _check(shape)
  order = _order(shape, order)
  for name, own in (("per_thread", per_thread), ("lanes", lanes), ("warps", warps)):
    _check_numbers(name, own, shape)
  if math.prod(lanes) != LANES:
    raise errors.LayoutError(f"lanes {tuple(lanes)} must be {LANES} in all")
  digits: dict[str, list[Digit]] = {REGISTER: [], LANE: [], WARP: []}
  reached = [1] * len(shape)
  for name, counts in ((REGISTER, per_thread), (LANE, lanes), (WARP, warps)):
    for axis in order:
      digits[name] += _spread(shape, axis, counts[axis], reached)
  for axis in order:
    digits[REGISTER] += _spread(shape, axis, -(-shape[axis] // reached[axis]), reached)
  digits[REGISTER] = [d for d in digits[REGISTER] if any(d.moves)]
  return layout(shape, digits)


def blocked_for(
  shape: Sequence[int],
  num_warps: int,
  vector: int = 1,
  order: Sequence[int] | None = None,
  whole_rows: bool = False,
) -> Layout:
  """A blocked layout in which the fastest dimension is read by vectors and by as many neighbouring lanes as it has room for.

  Warps follow the lanes; with `whole_rows` they divide the slowest dimension first, so that a row stays in one warp if it can.
  """
  _check(shape, num_warps=num_warps, vector=vector)
  order = _order(shape, order)
  per_thread, lanes, warps = ([1] * len(shape) for _ in range(3))
  if not shape:
    return splat(shape, num_warps)
  per_thread[order[0]] = math.gcd(vector, shape[order[0]])
  room = [-(-size // own) for size, own in zip(shape, per_thread)]
  for counts, total, along in ((lanes, LANES, order), (warps, num_warps, order[::-1] if whole_rows else order)):
    for axis in along:
      counts[axis] = math.gcd(total, _side_by_side(room[axis]))
      total //= counts[axis]
      room[axis] = -(-room[axis] // counts[axis])
    counts[along[-1]] *= total
  return blocked(shape, per_thread, lanes, warps, order)


def repeated(
  fragment: Layout,
  shape: Sequence[int],
  warps: Sequence[int],
  order: Sequence[int] | None = None,
  repeat_first: bool = False,
) -> Layout:
  """A fragment that one warp (or warpgroup) holds, repeated over a tile.

  Along each dimension `warps` fragments lie side by side, and all of that is repeated in registers; with `repeat_first` each warp holds
  neighbouring fragments instead. `order` is the order of the warps and of the repetitions, the fastest dimension first.
  """
  _check(shape)
  if not len(shape) == len(warps) == fragment.rank:
    raise errors.LayoutError(
      f"warps: expected a number for each dimension of {tuple(shape)} and of {fragment}, got {tuple(warps)}"
    )
  _check_numbers("warps", warps, shape)
  order = _order(shape, order)
  digits = {name: list(own) for name, own in fragment.inputs}
  digits.setdefault(WARP, [])
  reached = list(fragment.shape)

  def repeat_in_registers() -> None:
    for axis in order:
      outside = 1 if not repeat_first else warps[axis]
      digits[REGISTER] += [
        d for d in _spread(shape, axis, -(-shape[axis] // (reached[axis] * outside)), reached) if any(d.moves)
      ]

  if repeat_first:
    repeat_in_registers()
  for axis in order:
    digits[WARP] += _spread(shape, axis, warps[axis], reached)
  if not repeat_first:
    repeat_in_registers()
  return layout(shape, digits)


def _check(shape: Sequence[int], **counts: int) -> None:
  if (
    isinstance(shape, str) or not isinstance(shape, Sequence) or not all(isinstance(n, int | np.integer) for n in shape)
  ):
    raise errors.LayoutError(f"shape: expected a sequence of integers, got {shape!r}")
  if min(shape, default=1) < 1:
    raise errors.LayoutError(f"a tile of shape {tuple(shape)} has no elements to lay out")
  for name, count in counts.items():
    if not isinstance(count, int | np.integer) or count < 1:
      raise errors.LayoutError(f"{name}: expected 1 or more, got {count}")


def _check_numbers(name: str, numbers: Sequence[int], shape: Sequence[int]) -> None:
  whole = all(isinstance(n, int | np.integer) for n in numbers)
  if len(numbers) != len(shape) or not whole or min(numbers, default=1) < 1:
    raise errors.LayoutError(f"{name}: expected a number for each dimension of {tuple(shape)}, got {tuple(numbers)}")


def _order(shape: Sequence[int], order: Sequence[int] | None) -> list[int]:
  """The dimensions, the fastest first: the last one first if the order is not given."""
  found = list(order) if order is not None else [axis for axis, _ in _inner_first(shape)]
  if sorted(found) != list(range(len(shape))):
    raise errors.LayoutError(f"order: expected each dimension of {tuple(shape)} once, got {tuple(found)}")
  return found


def _spread(shape: Sequence[int], axis: int, count: int, reached: list[int]) -> list[Digit]:
  """A digit of `count` steps along a dimension; what is more than the tile needs becomes copies, if it divides."""
  stride, needed = reached[axis], -(-shape[axis] // reached[axis])
  used = next(n for n in range(1, count + 1) if count % n == 0 and (n >= needed or n == count))
  reached[axis] *= used
  return [Digit(used, tuple(stride if i == axis else 0 for i in range(len(shape)))), Digit(count // used, _zero(shape))]


def _inner_first(shape: Sequence[int]) -> list[tuple[int, int]]:
  return list(reversed(list(enumerate(shape))))


def _unit(axis: int, shape: Sequence[int]) -> tuple[int, ...]:
  return tuple(int(i == axis) for i in range(len(shape)))


def _zero(shape: Sequence[int]) -> tuple[int, ...]:
  return (0,) * len(shape)


def _side_by_side(room: int) -> int:
  """How many threads, a power of two, lie side by side along a dimension with room for `room` of them."""
  dividing = room & -room
  if dividing >= 4 or room <= 8:
    return dividing  # an odd factor goes to registers
  return 1 << (room - 1).bit_length()  # padding is better than a few threads along a long dimension
