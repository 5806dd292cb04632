"""A CTA, by brute force: registers, lanes, warps and shared memory, and the steps of a relayout on them."""

from __future__ import annotations

import numpy as np

from tilewright.layout import Layout
from tilewright.layout.access import MATRIX, TRANSPOSED, VECTOR, Access
from tilewright.layout.algebra import without_register_copies
from tilewright.layout.plan import Plan
from tilewright.layout.shared import SharedLayout
from tilewright.layout.steps import Choose, Exchange, Gather, Permute, Rename
from tilewright.layout.through_shared_memory import Trip

LANE = np.arange(32)
EMPTY = -1


def held(layout: Layout) -> np.ndarray:
  """Registers (register, lane, warp) that hold the number of each element; padding holds -1."""
  table = layout.table()
  inside = (table < np.asarray(layout.shape)).all(-1)
  strides = [int(np.prod(layout.shape[i + 1 :])) for i in range(layout.rank)]
  return np.where(inside, (table * np.asarray(strides, np.int64)).sum(-1), EMPTY)


def run(plan: Plan, registers: np.ndarray) -> np.ndarray:
  for step in plan.steps:
    match step:
      case Rename():
        registers = registers[list(step.source)]
      case Choose():
        index = LANE[:, None] if step.input == "lane" else np.arange(registers.shape[2])[None, :]
        digit = index // step.place % len(step.choices[0])
        options = registers[np.asarray(step.choices)]  # (new register, choice, lane, warp)
        registers = np.take_along_axis(options, np.broadcast_to(digit, options.shape[2:])[None, None], axis=1)[:, 0]
      case Exchange():
        registers = registers.copy()
        bit = (LANE & step.mask != 0)[:, None]
        for low, high in step.pairs:
          sent = np.where(bit, registers[low], registers[high])
          got = sent[LANE ^ step.mask]
          registers[low], registers[high] = np.where(bit, got, registers[low]), np.where(bit, registers[high], got)
      case Gather():
        other = registers[:, LANE ^ step.mask]
        bit = (LANE & step.mask != 0)[:, None]
        registers = np.stack([np.where(bit == wanted, registers[r], other[r]) for r, wanted in step.source])
      case Permute():
        assert step.registers == len(registers)
        registers = registers[:, list(step.source)]
      case Trip():
        registers = travel(plan, step, registers)
  return registers


def travel(plan: Plan, trip: Trip, registers: np.ndarray) -> np.ndarray:
  """Store by the owners, load by everyone; counts the wavefronts again, and checks what each instruction asks of its addresses."""
  size = plan.bits // 8
  memory = np.full(trip.shared.nbytes // size, EMPTY)
  source, target = without_register_copies(plan.source), without_register_copies(plan.target)
  kept = [r for r in range(plan.source.num_registers) if _is_first_copy(plan.source, r)]
  owners = [
    w
    for w in range(source.num_warps)
    if all(w // t.place % t.size == 0 for t in source.owner_terms if t.input == "warp")
  ]
  at, inside = addresses(source, trip.shared)
  assert sorted(r for g in trip.store.groups for r in g) == list(range(len(at)))
  assert spent(trip.store, at, inside, owners) == trip.store.wavefronts
  for register, warp in np.ndindex(len(at), source.num_warps):
    if warp in owners:
      ok = inside[register, :, warp]
      memory[at[register, ok, warp] // size] = registers[kept[register], ok, warp]
  at, inside = addresses(target, trip.shared)
  assert spent(trip.load, at, inside, list(range(target.num_warps))) == trip.load.wavefronts
  loaded = np.where(inside, memory[np.where(inside, at // size, 0)], EMPTY)
  copies = {tuple(x): i for i, x in enumerate(target.register_offsets)}
  return loaded[[copies[tuple(x)] for x in plan.target.register_offsets]]


def _is_first_copy(layout: Layout, register: int) -> bool:
  return all(register // t.place % t.size == 0 for t in layout.owner_terms if t.input == "register")


def addresses(layout: Layout, shared: SharedLayout) -> tuple[np.ndarray, np.ndarray]:
  """Byte addresses and what is inside of the tile, through the other direction: which element lies at each offset."""
  offsets = np.arange(shared.elements.size("offset"))
  elements = np.stack([np.broadcast_to(x, offsets.shape) for x in shared.elements.coordinates(offset=offsets)])
  inside = (elements < np.asarray(shared.shape)[:, None]).all(0)
  where = np.full(shared.shape, EMPTY)
  where[tuple(elements[:, inside])] = shared.swizzle(offsets[inside] * (shared.bits // 8))
  assert (where != EMPTY).all()
  table = layout.table()
  clamped = np.minimum(table, np.asarray(shared.shape) - 1)
  return where[tuple(np.moveaxis(clamped, -1, 0))], (table == clamped).all(-1)


def spent(access: Access, at: np.ndarray, inside: np.ndarray, warps: list[int]) -> int:
  """Wavefronts, counted with sets, after checking that the addresses suit the instruction."""
  total = 0
  for group in access.groups:
    for warp in warps:
      mine = at[list(group), :, warp]  # (register of the group, lane)
      match access.kind:
        case "vector":
          size = access.width // len(group)
          assert (mine[0] % access.width == 0).all()
          assert (mine == mine[0] + size * np.arange(len(group))[:, None]).all()
          together = min(32, 128 // max(access.width, 4))
          for first in range(0, 32, together):
            total += _passes(mine[0, first : first + together], access.width)
        case "matrix":
          size = 4 // len(group)
          rows = mine[0, ::4]
          assert (rows % 16 == 0).all()
          assert (mine == rows[LANE // 4] + 4 * (LANE % 4) + size * np.arange(len(group))[:, None]).all()
          total += _passes(rows, 16)
        case "transposed":
          rows = mine[:, :4].T.reshape(8)  # row 2t + i is held by register i of lane t
          assert (rows % 16 == 0).all()
          for i in range(2):
            assert (mine[i] == rows[2 * (LANE % 4) + i] + 2 * (LANE // 4)).all()
          total += _passes(rows, 16)
  assert access.kind in (VECTOR, MATRIX, TRANSPOSED)
  return total


def _passes(starts: np.ndarray, width: int) -> int:
  """The most different words that one bank must give."""
  words = {int(start) // 4 + i for start in starts for i in range(max(width // 4, 1))}
  banks: dict[int, int] = {}
  for word in words:
    banks[word % 32] = banks.get(word % 32, 0) + 1
  return max(banks.values())
