"""Fast cost estimates of moving a tile, for thousands of queries: in quarter cycles of an SM, as in `plan`.

Inference compares these; the exact plan that is executed is made later.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from tilewright import errors
from tilewright.layout.access import best_access
from tilewright.layout.algebra import projected, sliced
from tilewright.layout.atoms import common_slots
from tilewright.layout.layout import LANE, REGISTER, WARP, Digit, Layout
from tilewright.layout.plan import SHUFFLE_LATENCY
from tilewright.layout.shared import SharedLayout
from tilewright.layout.steps import SELECT, SHUFFLE, shuffles
from tilewright.layout.through_shared_memory import ISSUE, LATENCY, WAVEFRONT
from tilewright.layout.vectors import vector_width

LINE, SECTOR = 128, 32  # bytes of a cache line, and of the part that memory moves
_SAMPLE = 64  # bytes of each lane to look at: four of the widest vectors, sixteen matrices


@functools.lru_cache(maxsize=65536)
def relayout_cost(source: Layout | SharedLayout, target: Layout | SharedLayout, bits: int) -> int:
  """From any place to any other: registers, shared memory, or one to the other."""
  if source == target:
    return 0
  match source, target:
    case Layout(), Layout():
      return _between_registers(source, target, max(bits, 8))
    case Layout(), SharedLayout():
      return access_cost(source, target) + LATENCY // 2
    case SharedLayout(), Layout():
      return access_cost(target, source)
    case SharedLayout(), SharedLayout():  # read in, write out
      return LATENCY + 4 * WAVEFRONT * _fewest(source.shape, bits)
  raise AssertionError


def _sample(layout: Layout, bits: int) -> tuple[Layout, int]:
  """One warp's first registers, and how many times that the whole is."""
  kept, left = [], max(8 * _SAMPLE // max(bits, 8), 1)
  for digit in layout.digits(REGISTER):
    size = math.gcd(digit.size, 1 << (left.bit_length() - 1)) if digit.size > left else digit.size
    kept.append(Digit(size, digit.moves))
    left //= size
    if size < digit.size or left <= 1:
      break
  first = {REGISTER: tuple(kept), WARP: ()}
  part = Layout(layout.shape, tuple((name, first.get(name, digits)) for name, digits in layout.inputs))
  return part, layout.num_warps * layout.num_registers // part.num_registers


@functools.lru_cache(maxsize=16384)
def access_cost(registers: Layout, shared: SharedLayout) -> int:
  """As the first warp does it with its first registers, times all of them."""
  part, times = _sample(registers, shared.bits)
  access = best_access(part, shared)
  return times * (WAVEFRONT * access.wavefronts + ISSUE * access.instructions)


@functools.lru_cache(maxsize=16384)
def memory_cost(layout: Layout, strides: tuple[int, ...], bits: int) -> int:
  """Global memory: the cache lines and sectors that the instructions of one warp touch, times the warps."""
  size = max(bits, 8) // 8
  axis = next((a for a, s in enumerate(strides) if s == 1), None)
  width = 1 if axis is None else min(vector_width(layout, axis), max(16 // size, 1))
  part, times = _sample(layout, bits)
  width = math.gcd(width, part.num_registers)
  table = part.table()[:, :, 0]
  inside = np.asarray((table < np.asarray(layout.shape, np.int64)).all(-1))
  at = (table * np.asarray(strides, np.int64)).sum(-1) * size
  if width > 1 and axis is not None:
    firsts = (table[:, 0, axis] - table[0, 0, axis]) % width == 0
    at, inside = at[firsts], inside[firsts]
  sectors = np.where(inside, at // SECTOR, -1)
  last = np.where(inside, (at + width * size - 1) // SECTOR, -1)
  touched = np.sort(np.concatenate([sectors, last], axis=1), axis=1)
  count = _different(touched)
  lines = _different(np.where(touched >= 0, touched // (LINE // SECTOR), -1))
  passes = np.maximum(lines, -(-count // (LINE // SECTOR))).sum()
  return int(times * (WAVEFRONT * passes + ISSUE * len(at)))


@functools.lru_cache(maxsize=16384)
def reduction_cost(layout: Layout, axes: tuple[int, ...]) -> int:
  """Combining along dimensions: every register once, a butterfly over the lanes that differ there, shared memory between warps."""
  result = projected(layout, axes).num_registers

  def along(name: str) -> int:
    return math.prod(t.size for t in layout.terms_of(name) if any(t.moves[axis] for axis in axes))

  rounds = (along(LANE) - 1).bit_length()
  cost = layout.num_warps * (SELECT * layout.num_registers + rounds * result * (SHUFFLE + SELECT))
  if along(WARP) > 1:
    cost += LATENCY + layout.num_warps * result * 2 * WAVEFRONT
  return cost


def part_cost(whole: Layout, part: Layout, starts: tuple[int, ...], bits: int) -> int:
  """A part of a tile: nothing if it is a choice of registers, otherwise a way through shared memory."""
  if part_in_registers(whole, starts, part.shape) == part:
    return 0
  return LATENCY + 2 * WAVEFRONT * _fewest(part.shape, max(bits, 8))


@functools.lru_cache(maxsize=16384)
def part_in_registers(whole: Layout, starts: tuple[int, ...], shape: tuple[int, ...]) -> Layout | None:
  """The layout of a part of a tile where nothing moves; None if the part is spread over threads."""
  try:
    return sliced(whole, starts, shape)
  except errors.LayoutError:
    return None


def work_cost(layout: Layout) -> int:
  """One instruction for each register of each warp."""
  return SELECT * layout.num_registers * layout.num_warps


def _different(rows: np.ndarray) -> np.ndarray:
  """How many different numbers each sorted row has, -1 not counted."""
  return (np.diff(rows, axis=1) != 0).sum(1) + (rows[:, 0] >= 0)


def _between_registers(source: Layout, target: Layout, bits: int) -> int:
  slots = common_slots(source, target)
  if slots is None:  # a buffer that suits neither: each element moves separately
    each = max(bits, 32)
    return LATENCY + (WAVEFRONT + ISSUE) * (_held(source, each, True) + _held(target, each, False))
  through = LATENCY + WAVEFRONT * (_held(source, bits, True) + _held(target, bits, False))
  before, after = slots
  chosen = 0
  for (own, size), (wanted, other) in zip(before.warp, after.warp) if before.warp != after.warp else ():
    if size != other or (own != wanted and (own is not None or wanted is None)):
      return through
    chosen += own != wanted
  coming = len(after.in_lanes - before.in_lanes)
  leaving = len(before.in_lanes - after.in_lanes)
  registers = max(before.registers, after.registers)
  exchanged = min(leaving, max(coming - before.free_lanes, 0))
  chosen += coming - exchanged
  gathered = leaving - exchanged
  moved = any(own in after.in_lanes and own != wanted for (own, _), (wanted, _) in zip(before.lane, after.lane))
  each = shuffles(registers, bits)
  cost = exchanged * (SHUFFLE * each // 2 + 3 * SELECT * registers // 2)
  cost += gathered * (SHUFFLE * each + SELECT * registers) + moved * SHUFFLE * each
  cost += SELECT * (registers - (registers >> chosen))  # each choice leaves half of them
  inside = source.num_warps * cost + SHUFFLE_LATENCY * (exchanged + gathered + moved)
  return min(inside, through)


@functools.lru_cache(maxsize=16384)
def _held(layout: Layout, bits: int, owners_only: bool) -> int:
  """The wavefronts in which all threads move what they hold, without conflicts: 4 bytes of each lane at a time."""
  copies = math.prod(t.size for t in layout.owner_terms if t.input == WARP) if owners_only else 1
  return layout.num_warps // copies * -(-layout.num_registers * bits // 32)


def _fewest(shape: tuple[int, ...], bits: int) -> int:
  return -(-math.prod(shape) * bits // (8 * 128))
