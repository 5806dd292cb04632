"""Finds regions of a computation that are better as one kernel.

Every instruction that tiles can be computed of begins as a region of its own. Along the edges between them, the largest values first, two
regions become one if no path leaves the union and comes back, if the union still has tiles (`tiles.choose`), and if its kernel is
estimated to be faster than the kernels of both. Then regions that read the same large array are joined the same way. A region is taken
if its kernel is estimated to be faster than XLA's instructions by a margin; of every other one the reason is kept.

Which groups may be joined, and in which order to try, is answered by `hlo.tiling.joining`, as for the finder of that package. What can be
a kernel, and what it costs, is answered here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from tilewright.accelerate import exactness
from tilewright.accelerate.axes import Axes, analyse
from tilewright.accelerate.costs import XlaTimes, kernel_time
from tilewright.accelerate.graph import ELEMENTWISE, RULES, Graph, Incomplete, Refused, build
from tilewright.accelerate.tiles import Machine, Tiling, choose
from tilewright.hlo import Computation, Instruction
from tilewright.hlo.tiling import joining

_DATA_MOVEMENT = frozenset({"bitcast", "get-tuple-element", "broadcast", "iota", "constant", "reshape"})
_CANDIDATES = frozenset({*RULES, *ELEMENTWISE, "fusion", "get-tuple-element"}) - {
  "parameter",
  "dot",
  "tuple",
  "constant",
}
_NOTHING = frozenset({"leaf", "constant", "broadcast", "reshape", "iota"})
_MARGIN = 1.2  # what a kernel must promise to be faster by
_TRIED = 0.6  # of the margin, where it is measured: what promises less is not even compiled
_MIN_SECONDS = 30e-6  # seconds that XLA needs: less is not worth a call
# More of it for each instruction that XLA runs beside another: a kernel waits for the last of its operands.
_SIDE_BY_SIDE = 0.3
_LEAST_GPU, _MARGIN_GPU = 15e-6, 1.1
_LONG = 100e-6  # seconds that XLA needs, from which on all threads must be busy
_MAX_NODES = 400
_MAX_OPERANDS = 24


@dataclasses.dataclass(frozen=True)
class RegionPlan:
  """A region with its tiles and the two estimates."""

  members: tuple[Instruction, ...]
  graph: Graph
  axes: Axes
  tiling: Tiling
  xla_seconds: float
  kernel_seconds: float

  @property
  def speedup(self) -> float:
    return self.xla_seconds / self.kernel_seconds


@dataclasses.dataclass(frozen=True)
class LeftToXla:
  """A region that is left to XLA, and why."""

  members: tuple[Instruction, ...]
  why: str
  xla_seconds: float = 0.0
  kernel_seconds: float = 0.0


class Finder:
  """The regions of one computation."""

  def __init__(
    self,
    computation: Computation,
    machine: Machine,
    exact: bool = False,
    taken: Iterable[Instruction] = (),
    measured: bool = False,
  ):
    """`measured`: plans are measured before they are taken, so that the estimate need not promise a gain."""
    self.order = computation.topological_order()
    self.position = {i: n for n, i in enumerate(self.order)}
    self.machine, self.exact, self.measured = machine, exact, measured
    self._taken = set(taken)
    self._times = XlaTimes.of(self.order, machine)
    self._plans: dict[frozenset[Instruction], RegionPlan | str] = {}
    self._incomplete: set[frozenset[Instruction]] = set()
    self.region: dict[Instruction, frozenset[Instruction]] = {}

  def find(self) -> list[RegionPlan | LeftToXla]:
    refused: list[LeftToXla] = []
    for instruction in self.order:
      if instruction.opcode not in _CANDIDATES or instruction in self._taken:
        continue
      own = frozenset([instruction])
      plan = self.plan(own)
      if instruction.opcode in _DATA_MOVEMENT or not isinstance(plan, str) or own in self._incomplete:
        self.region[instruction] = own
      elif instruction.opcode in ("fusion", "reduce"):
        refused.append(LeftToXla((instruction,), plan))
    along = [(e.producer, e.consumer) for e in joining.edges(self.region, self.position)]
    beside = [(a, b) for a, b, _ in joining.readers(self.order, self.region, self.machine.l2 // 4, self.position)]
    for _ in range(3):
      if not self._join(along) and not self._join(beside):
        break
    return [*self._decided(), *refused]

  # --- joining ---------------------------------------------------------------------------------------------------

  def _join(self, pairs: Sequence[tuple[Instruction, Instruction]]) -> bool:
    changed = False
    for a, b in pairs:
      one, two = self.region[a], self.region[b]
      if one is two:
        continue
      both = one | two
      if len(both) > _MAX_NODES or self._waits_for_itself(both):
        continue
      plan = self.plan(both)
      if isinstance(plan, str):
        continue
      is_part = one in self._incomplete or two in self._incomplete  # with what is still to come, it may be worth it
      if not is_part and plan.kernel_seconds > self._seconds(one) + self._seconds(two):
        continue
      for member in both:
        self.region[member] = both
      changed = True
    return changed

  def _seconds(self, region: frozenset[Instruction]) -> float:
    plan = self.plan(region)
    return plan.kernel_seconds if not isinstance(plan, str) else max(self.xla(region), 1e-6)

  def xla(self, region: Iterable[Instruction]) -> float:
    return self._times.total(sorted(region, key=self.position.__getitem__))

  def _waits_for_itself(self, region: frozenset[Instruction]) -> bool:
    """Each other region is one step of a path: it will be one instruction."""
    others = {r for r in self.region.values() if len(r) > 1 and not r <= region}
    last = joining.last_that_leads_back(region, others, self.position)
    return joining.waits_for_itself(region, lambda i: self.region.get(i, (i,)), self.position, last)

  # --- planning --------------------------------------------------------------------------------------------------

  def plan(self, region: frozenset[Instruction]) -> RegionPlan | str:
    if region not in self._plans:
      try:
        self._plans[region] = self._plan(tuple(sorted(region, key=self.position.__getitem__)))
      except Refused as why:
        self._plans[region] = str(why)
        if isinstance(why, Incomplete):
          self._incomplete.add(region)
    return self._plans[region]

  def _plan(self, members: tuple[Instruction, ...]) -> RegionPlan:
    graph = build(members)
    if len(graph.nodes) > _MAX_NODES:
      raise Refused(f"{len(graph.nodes)} operations are too many for one kernel")
    if len(graph.leaves) + len(graph.outputs) > _MAX_OPERANDS:
      raise Refused(f"{len(graph.leaves) + len(graph.outputs)} arrays are too many for one kernel")
    if any(node.opcode == "dot" for node in graph.nodes):
      raise Refused("matrix products are left to XLA's library")
    axes = analyse(graph)
    tiling = choose(graph, axes, self.machine)
    return RegionPlan(members, graph, axes, tiling, self.xla(members), kernel_time(graph, axes, tiling, self.machine))

  def _decided(self) -> list[RegionPlan | LeftToXla]:
    found: list[RegionPlan | LeftToXla] = []
    for region in dict.fromkeys(self.region.values()):
      if all(i.opcode in _DATA_MOVEMENT for i in region):
        continue
      plan = self.plan(region)
      members = tuple(sorted(region, key=self.position.__getitem__))
      if isinstance(plan, str):
        found.append(LeftToXla(members, plan, self.xla(members)))
        continue
      why = self._why_not(plan)
      found.append(plan if why is None else LeftToXla(members, why, plan.xla_seconds, plan.kernel_seconds))
    return found

  def _why_not(self, plan: RegionPlan) -> str | None:
    callback = next((u for o in plan.graph.outputs for u in o.source.users if is_callback(u)), None)
    if callback is not None:
      return f"%{callback.name} calls back into Python with a value of it"
    if self.exact and (inexact := exactness.inexact(plan.graph, on_gpu=self.machine.is_gpu)):
      return f"exact=True: {inexact}"
    if all(n.opcode in _NOTHING for n in plan.graph.nodes):
      return "it computes nothing"
    sizes = [o.shape.byte_size for o in plan.graph.outputs]
    if self.machine.is_gpu and sum(sizes) > 1.5 * max(sizes):
      return "several large arrays would be written that XLA computes where they are used"
    if plan.xla_seconds < (_LEAST_GPU if self.machine.is_gpu else _MIN_SECONDS):
      return f"XLA needs about {plan.xla_seconds * 1e6:.0f} µs: too little to gain"
    margin = _MARGIN_GPU if self.machine.is_gpu else _MARGIN * (1 + _SIDE_BY_SIDE * (self._times.overlap - 1))
    if plan.speedup < (margin * _TRIED if self.measured else margin):
      return f"estimated to be only {plan.speedup:.2f} times as fast"
    if plan.tiling.instances < self.machine.threads and plan.xla_seconds > _LONG and not self.machine.is_gpu:
      return f"{plan.tiling.instances} tiles leave threads idle"
    return None


def is_callback(instruction: Instruction) -> bool:
  """Whether an instruction runs Python while the program runs."""
  return instruction.opcode == "custom-call" and "callback" in instruction.attrs.get("custom_call_target", "")
