"""Relayout through shared memory: a buffer in which both the stores and the loads are wide and free of conflicts.

The buffer's order is free, so it is built from the atoms of both layouts. Lowest come the atoms that one access moves together (a vector
that the thread holds, or the rows of stmatrix / ldmatrix). Next come those that must be in different banks when the lanes store (x), and
above them those that must be when they load (y). Adding each y to an x without carry (a swizzle) spreads both:

    address = vector | x0^y0 x1^y1 x2^y2 | y0 y1 y2 | rest

The cost of a candidate is the exact number of wavefronts of its addresses; the cheapest is chosen.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

from tilewright.layout.access import VECTOR, Access, accesses, best_access
from tilewright.layout.algebra import without_register_copies
from tilewright.layout.atoms import Atom, Slots
from tilewright.layout.layout import OFFSET, REGISTER, Layout, layout
from tilewright.layout.shared import BANK_BYTES, AnyShared, SharedLayout, Swizzle, lanes_together, shared_tiled

_WIDEST = 16  # bytes a lane moves with one instruction
WAVEFRONT, ISSUE, LATENCY = 4, 1, 280  # quarter cycles of an SM; store, barrier and load one after another


@dataclasses.dataclass(frozen=True)
class Trip:
  """Store to shared memory, barrier, load. Only warps whose replication digits are zero store (`Layout.owner_terms`).

  Registers that are copies are left out: `store` and `load` count the registers of the layouts without them.
  """

  shared: AnyShared
  store: Access
  load: Access

  def cost(self, num_warps: int) -> int:
    issued = (self.store.instructions + self.load.instructions) * num_warps
    return LATENCY + WAVEFRONT * (self.store.wavefronts + self.load.wavefronts) + ISSUE * issued


def trip(
  source: Layout,
  target: Layout,
  bits: int,
  slots: tuple[Slots, Slots] | None,
  matrices: bool,
  piecewise: bool = False,
) -> Trip:
  """The cheapest way through shared memory. `slots` are the layouts in common atoms, if they have any.

  With `piecewise` the target is loaded a few fragments at a time, and loads by matrices come first: each loads a whole fragment,
  where vectors load parts of several.
  """
  source, target = without_register_copies(source), without_register_copies(target)
  candidates = _from_atoms(source.shape, bits, *slots) if slots else _row_major(source.shape, bits)
  fewest = 2 * -(-math.prod(source.shape) * bits // (8 * BANK_BYTES))  # a wavefront moves 128 bytes; once in, once out
  rank = lambda way: (piecewise and way.load.kind == VECTOR, way.cost(source.num_warps))
  best: Trip | None = None
  for shared in candidates:
    loads = accesses(target, shared)
    load = next((a for a in loads if a.kind != VECTOR), loads[0]) if piecewise else loads[0]
    found = Trip(shared, best_access(source, shared, matrices, True), load)
    if best is None or rank(found) < rank(best):
      best = found
    few = best.store.instructions + best.load.instructions <= sum(
      -(-layout.num_registers * bits // (8 * _WIDEST)) for layout in (source, target)
    )
    if few and not (piecewise and best.load.kind == VECTOR) and best.store.wavefronts + best.load.wavefronts <= fewest:
      break
  assert best is not None
  return best


def _row_major(shape: tuple[int, ...], bits: int) -> Iterator[SharedLayout]:
  for swizzle in (0, 32, 64, 128):
    yield shared_tiled(shape, None, bits, swizzle)


def _from_atoms(shape: tuple[int, ...], bits: int, source: Slots, target: Slots) -> Iterator[SharedLayout]:
  size = bits // 8
  atoms = list(dict.fromkeys(source.atoms("register", "lane", "warp")))
  for vector in _vectors(size, source, target):
    stored, loaded = (_in_different_banks(slots, vector, size) for slots in (source, target))
    order, pairs = _order(atoms, vector, stored, loaded, size)
    first = (size - 1).bit_length()
    place = {atom: first + i for i, atom in enumerate(order)}
    digits = [(a.size, tuple(a.step if axis == a.axis else 0 for axis in range(len(shape)))) for a in order]
    extents = layout(shape, {OFFSET: digits})
    yield SharedLayout(extents, bits, Swizzle(tuple((place[y], place[x]) for y, x in pairs)))


def _vectors(size: int, source: Slots, target: Slots) -> Iterator[tuple[Atom, ...]]:
  """What may lie together: registers of both, of the source, of the target; rows of matrices of either."""
  most = max(16 // size, 1)
  mine, theirs = ([a for a in slots.atoms(REGISTER) if a.size == 2] for slots in (source, target))
  both = [a for a in mine if a in theirs]
  for found in (both, [*both, *(a for a in mine if a not in both)], [*both, *(a for a in theirs if a not in both)]):
    yield tuple(found[: most.bit_length() - 1])
  for slots in (source, target):
    yield from (v for v in (_matrix_row(slots, size), _transposed_row(slots, size)) if v is not None)


def _matrix_row(slots: Slots, size: int) -> tuple[Atom, ...] | None:
  """The 16 bytes that stmatrix and ldmatrix spread over four lanes: 4 bytes of registers, then lane bits 0 and 1."""
  count = (4 // size).bit_length() - 1 if size <= 4 else None
  lanes = [atom for atom, _ in slots.lane[:2]]
  registers = [a for a in slots.atoms(REGISTER) if a.size == 2][:count]
  if count is None or len(registers) < count or None in lanes:
    return None
  return (*registers, *(a for a in lanes if a is not None))


def _transposed_row(slots: Slots, size: int) -> tuple[Atom, ...] | None:
  """The 8 elements of 2 bytes that the transposed forms spread over lanes 0, 4, 8, …"""
  lanes = [atom for atom, _ in slots.lane[2:5]]
  return tuple(a for a in lanes if a is not None) if size == 2 and None not in lanes else None


def _in_different_banks(slots: Slots, vector: tuple[Atom, ...], size: int) -> list[Atom]:
  """The atoms that one wavefront of an access has in all their values."""
  lanes = [atom for atom, _ in slots.lane]
  registers = slots.atoms(REGISTER)
  if vector == _matrix_row(slots, size):
    found = lanes[2:5]
  elif vector == _transposed_row(slots, size):
    found = [*registers[:1], *lanes[:2]]
  else:
    held = next((i for i, atom in enumerate(vector) if atom not in registers), len(vector))
    width = size * math.prod(a.size for a in vector[:held])
    found = lanes[: lanes_together(width).bit_length() - 1]
  return [a for a in found if a is not None and a.size == 2 and a not in vector]


def _order(
  atoms: list[Atom], vector: tuple[Atom, ...], stored: list[Atom], loaded: list[Atom], size: int
) -> tuple[list[Atom], list[tuple[Atom, Atom]]]:
  """The atoms from the lowest address bit up, and which are added to which."""
  room = max((BANK_BYTES // (size * 2 ** len(vector))).bit_length() - 1, 0)
  both = [a for a in stored if a in loaded]
  xs, ys = [a for a in stored if a not in both], [a for a in loaded if a not in both]
  banks = [*both, *xs][:room]
  pairs = [(y, x) for x, y in zip((x for x in xs if x in banks), ys)]
  free = [y for y in ys if y not in {own for own, _ in pairs}]
  banks += free[: room - len(banks)]
  rest = [a for a in atoms if a not in vector and a not in banks]
  moved = [y for y, _ in pairs]
  if len(banks) < room:  # bits that the swizzle reads must stay above the banks
    filler = [a for a in rest if a.size == 2 and a not in moved][: room - len(banks)]
    banks += filler
  if len(banks) < room:
    pairs = []  # the whole tile is smaller than a row of banks
  rest = [a for a in rest if a not in banks]
  rest.sort(key=lambda a: (a not in moved, a.size))
  return [*vector, *banks, *rest], pairs
