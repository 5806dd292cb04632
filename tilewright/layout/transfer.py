"""The plan and the cost of moving a tile between any two places: registers, shared memory, tensor memory.

    transfer(blocked, swizzled, bits=16)              registers to shared memory: one Move, by vectors or by stmatrix
    transfer(tensor_memory(128, 64), blocked, 32)     a TensorMove by tcgen05.ld, then a relayout between registers
    transfer(row_major, swizzled, 16)                 from one buffer in shared memory to another: two Moves

A transfer that neither begins nor ends in registers goes through them, in the layout for which the total is cheapest.
"""

from __future__ import annotations

import dataclasses
import functools

from tilewright import errors
from tilewright.layout.access import VECTOR, Access, accesses
from tilewright.layout.algebra import trimmed, without_register_copies
from tilewright.layout.build import blocked_for, repeated
from tilewright.layout.fragments import (
  CELL,
  COLUMN,
  ROW,
  TCGEN05_WIDTHS,
  read_from_tensor_memory,
  tcgen05_access,
  tcgen05_repeats,
)
from tilewright.layout.layout import LANE, Layout
from tilewright.layout.plan import Plan, relayout
from tilewright.layout.shared import SharedLayout
from tilewright.layout.through_shared_memory import ISSUE, LATENCY, WAVEFRONT

_CELL_BITS = 32  # of tensor memory
_TENSOR_WARPS = 4  # that see all rows of tensor memory


@dataclasses.dataclass(frozen=True)
class Move:
  """Between registers and shared memory. Only warps whose replication digits are zero store (`Layout.owner_terms`)."""

  registers: Layout  # without copies in registers, which `access` does not count
  shared: SharedLayout
  access: Access
  is_store: bool

  @property
  def cost(self) -> int:
    latency = LATENCY // 2
    return latency + WAVEFRONT * self.access.wavefronts + ISSUE * self.access.instructions * self.registers.num_warps


@dataclasses.dataclass(frozen=True)
class TensorMove:
  """Between registers and tensor memory: tcgen05.ld or tcgen05.st of a shape, `.x{repeat}`, so many times along the columns."""

  registers: Layout
  memory: Layout
  shape: str
  repeat: int
  times: int
  is_store: bool

  @property
  def cost(self) -> int:
    """Each warp has its own rows, of which it moves a cell for each lane in a cycle; of several with the same rows, one after another."""
    return LATENCY // 2 + self.registers.num_registers // max(self.memory.size(CELL), 1) * self.registers.num_warps


@dataclasses.dataclass(frozen=True)
class Transfer:
  """How a tile goes from one place to another."""

  steps: tuple[Move | TensorMove | Plan, ...]
  cost: int

  def __str__(self) -> str:
    return f"{' -> '.join(map(_step_text, self.steps)) or 'nothing'} (cost {self.cost})"


def _step_text(step: Move | TensorMove | Plan) -> str:
  match step:
    case Move(access=access, is_store=is_store):
      instruction = ("st" if is_store else "ld") + (".shared" if access.kind == VECTOR else "matrix")
      return f"{instruction} of {access.width} bytes" if access.kind == VECTOR else instruction
    case TensorMove(shape=shape, repeat=repeat, times=times, is_store=is_store):
      return f"tcgen05.{'st' if is_store else 'ld'}.{shape}.x{repeat}" + (f" {times} times" if times > 1 else "")
    case _:
      return str(step)


@functools.lru_cache(maxsize=1024)
def transfer(
  source: Layout | SharedLayout, target: Layout | SharedLayout, bits: int, num_warps: int = 4, matrices: bool = True
) -> Transfer:
  """The cheapest way between two places of a tile. `matrices` says whether stmatrix is there.

  `num_warps` is for what goes from memory to memory; a layout of registers says it by itself.
  """
  _check(source, target, bits)
  if source == target:
    return Transfer((), 0)
  own = [place.num_warps for place in (source, target) if isinstance(place, Layout) and LANE in place.names]
  num_warps = own[0] if own else num_warps
  held, wanted = (_registers_for(place, num_warps) for place in (source, target))
  if held is None and wanted is None:
    pairs = [(own, own) for own in _ordinary(source.shape, bits, num_warps)]
  elif held is None or wanted is None:  # shared memory takes any
    pairs = [(own, own) for own in held or wanted or ()]
  else:
    pairs = [(a, b) for a in held for b in wanted]
  found = []
  for a, b in pairs:
    steps: list[Move | TensorMove | Plan] = []
    if source != a:
      steps.append(_move(source, a, False, matrices))
    if a != b:
      steps.append(relayout(a, b, bits, matrices))
    if target != b:
      steps.append(_move(target, b, True, matrices))
    found.append(Transfer(tuple(steps), sum(step.cost for step in steps)))
  return min(found, key=lambda way: way.cost)


def _check(source: Layout | SharedLayout, target: Layout | SharedLayout, bits: int) -> None:
  for name, place in (("source", source), ("target", target)):
    if not isinstance(place, Layout | SharedLayout):
      raise errors.LayoutError(f"{name}: expected a layout of registers, shared memory or tensor memory, got {place!r}")
    if isinstance(place, SharedLayout) and place.bits != bits:
      raise errors.LayoutError(f"bits: the {name}, {place}, holds elements of {place.bits} bits, got {bits}")
    if isinstance(place, Layout) and CELL in place.names and place.size(CELL) * bits > _CELL_BITS:
      raise errors.LayoutError(
        f"bits: {place.size(CELL)} elements of {bits} bits do not fit a cell of the {name}, {place}"
      )
  if source.shape != target.shape:
    raise errors.LayoutError(f"a tile of shape {source.shape} cannot be laid out as one of shape {target.shape}")
  if isinstance(source, Layout) and not source.holds_all:
    raise errors.LayoutError(f"source: expected a layout that holds every element of the tile, got {source}")


def _registers_for(place: Layout | SharedLayout, num_warps: int) -> list[Layout] | None:
  """The layouts of registers that a place can be moved to or from at once; None if any will do."""
  if isinstance(place, SharedLayout):
    return None
  if LANE in place.names:
    return [place]
  if place.names != (ROW, COLUMN, CELL):
    raise errors.LayoutError(f"expected a layout of registers, shared memory or tensor memory, got {place}")
  found = list(_tensor_accesses(place, num_warps))
  if not found:
    raise errors.LayoutError(
      f"{num_warps} warps cannot divide {place} among them: each four of them see all rows of tensor memory, and take their share of "
      "its columns"
    )
  return found


@functools.lru_cache(maxsize=64)
def _tensor_accesses(memory: Layout, num_warps: int) -> dict[Layout, tuple[str, int, int]]:
  """What each shape of tcgen05.ld makes of a tile in tensor memory as a whole: by as few instructions as there can be.

  Of more than four warps, each four take their share of the columns.
  """
  found: dict[Layout, tuple[str, int, int]] = {}
  columns, packed = memory.size(COLUMN), memory.size(CELL)
  groups, rest = divmod(num_warps, _TENSOR_WARPS)
  for shape, width in TCGEN05_WIDTHS.items():
    if rest or columns % (width * groups):
      continue
    share = columns // groups
    repeat = max(n for n in tcgen05_repeats(shape) if share // width % n == 0)
    part = repeated(tcgen05_access(shape, repeat, packed), (memory.size(ROW), share, packed), (1, 1, 1))
    access = repeated(part, (memory.size(ROW), columns, packed), (1, groups, 1))
    way = shape, repeat, share // width // repeat
    found.setdefault(trimmed(read_from_tensor_memory(memory, access)), way)
  return found


def _ordinary(shape: tuple[int, ...], bits: int, num_warps: int) -> list[Layout]:
  vector = max(128 // max(bits, 8), 1)
  return list(dict.fromkeys(blocked_for(shape, num_warps, v, whole_rows=r) for v in (vector, 1) for r in (False, True)))


def _move(place: Layout | SharedLayout, registers: Layout, is_store: bool, matrices: bool) -> Move | TensorMove:
  if isinstance(place, Layout):
    return TensorMove(registers, place, *_tensor_accesses(place, registers.num_warps)[registers], is_store)
  own = without_register_copies(registers)
  ways = accesses(own, place, owners_only=is_store)
  way = next(a for a in ways if a.kind == VECTOR or matrices or not is_store)
  return Move(own, place, way, is_store)
