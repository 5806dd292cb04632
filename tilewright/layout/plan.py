"""The plan and the cost of a relayout: moving a tile from one register layout to another.

    plan = relayout(source, target, bits=16)
    plan.steps    () if the layouts are equal; Rename, Choose, Exchange, Gather and Permute inside of warps; or one Trip
    plan.cost     quarter cycles of an SM for all warps, from the throughput of each instruction

The cheaper of a relayout by shuffles (if no element must change its warp) and one through shared memory is chosen.
"""

from __future__ import annotations

import dataclasses
import functools

from tilewright import errors
from tilewright.layout.atoms import common_slots
from tilewright.layout.layout import LANES, Layout
from tilewright.layout.shuffle import shuffle_steps
from tilewright.layout.steps import Exchange, Gather, Permute, Step
from tilewright.layout.through_shared_memory import Trip, trip

SHUFFLE_LATENCY = 96  # quarter cycles until a shuffled value is available


@dataclasses.dataclass(frozen=True)
class Plan:
  """How a tile goes from one layout to another."""

  source: Layout
  target: Layout
  bits: int
  steps: tuple[Step | Trip, ...]
  cost: int

  @property
  def shared_bytes(self) -> int:
    """The temporary shared memory of the plan."""
    return max((step.shared.nbytes for step in self.steps if isinstance(step, Trip)), default=0)

  def __str__(self) -> str:
    return f"{' -> '.join(type(s).__name__ for s in self.steps) or 'nothing'} (cost {self.cost})"


@functools.lru_cache(maxsize=8192)
def relayout(source: Layout, target: Layout, bits: int, matrices: bool = True, piecewise: bool = False) -> Plan:
  """The cheapest plan. `matrices` says whether stmatrix is there (sm_90 and later; ldmatrix is on every target); `piecewise`, whether
  what comes out of shared memory is loaded a few fragments at a time."""
  _check(source, target)
  if not isinstance(bits, int) or bits < 1 or bits & (bits - 1):
    raise errors.LayoutError(f"bits: expected those of an element, 1, 2, 4, 8, …, got {bits}")
  if source == target:
    return Plan(source, target, bits, (), 0)
  if common_warp_count(source, target) is None:
    raise errors.LayoutError(f"{source.num_warps} warps hold the source, but {target.num_warps} the target")
  bits = max(bits, 8)  # elements below a byte are widened in registers
  slots = common_slots(source, target)
  steps = shuffle_steps(*slots) if slots is not None else None
  inside = None if steps is None else Plan(source, target, bits, steps, _cost(steps, bits, source.num_warps))
  if inside is not None and inside.cost <= SHUFFLE_LATENCY:
    return inside
  through = trip(source, target, bits, slots, matrices, piecewise)
  outside = Plan(source, target, bits, (through,), through.cost(source.num_warps))
  return min((plan for plan in (inside, outside) if plan is not None), key=lambda plan: plan.cost)


def common_warp_count(source: Layout, target: Layout) -> int | None:
  return source.num_warps if source.num_warps == target.num_warps else None


def _cost(steps: tuple[Step, ...], bits: int, num_warps: int) -> int:
  waits = sum(isinstance(step, Exchange | Gather | Permute) for step in steps)
  return num_warps * sum(step.cost(bits) for step in steps) + waits * SHUFFLE_LATENCY


def _check(source: Layout, target: Layout) -> None:
  for name, layout in (("source", source), ("target", target)):
    if not isinstance(layout, Layout) or layout.size("lane") != LANES:
      raise errors.LayoutError(f"the {name} of a relayout must be a layout of registers, got {layout}")
  if source.shape != target.shape:
    raise errors.LayoutError(f"a tile of shape {source.shape} cannot be laid out as one of shape {target.shape}")
  if not source.holds_all:
    raise errors.LayoutError(f"the source of a relayout must hold every element of the tile, got {source}")
