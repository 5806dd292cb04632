"""The scheduler: gives an order to every computation of a module that runs instructions one by one.

Callees come first, so that a loop has a known length when its caller is scheduled. For each computation the steps are: the problem
(`problem.py`), a list from the beginning and one from the end (`listing.py`), the original order, a search around the best of the
three (`search.py`), and some slack (`extend.py`). The result is never worse than the original order, by the
measure of `timing.py`, if the original order keeps the limits.

    result = schedule_module(module, device="h100", memory_limit=60e9)
    print(result)                               # seconds, exposed communication, peak memory; before and after
    result.explain("all-reduce-start.3")        # why it is placed where it is
    result.apply()                              # the module's instructions are in the new order
"""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tilewright.hlo.analysis import call_graph, topological_order
from tilewright.hlo.cost.devices import Device
from tilewright.hlo.cost.model import CostModel, Roofline
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.schedule.annotations import HloScheduleError
from tilewright.hlo.schedule.extend import extend, place_starts
from tilewright.hlo.schedule.limits import Limits
from tilewright.hlo.schedule.listing import Choice, Listed, list_schedule
from tilewright.hlo.schedule.problem import START, Inside, Lowered, Problem, lower
from tilewright.hlo.schedule.remat import recompute_once
from tilewright.hlo.schedule.rules import KEPT, RULES, SEARCH, Rule
from tilewright.hlo.schedule.search import search
from tilewright.hlo.schedule.timing import Outcome, Trace, live_at, measure, memory_profile, trace

_CALLERS = frozenset({"while", "call", "conditional"})
# XLA leaves a fifth of the device free, and 5% of the remainder.
_OF_DEVICE = 0.8 * 0.95
_OFTEN = 4000  # computations up to this size are listed more often than they must be
_MAX_RECOMPUTED = 256
_MIN_VISITS = 40  # of every instruction, in computations that are large for the budget


class HloMemoryError(HloScheduleError, MemoryError):
  """No order was found that fits the memory limit. `live` names what is live at the peak, with its bytes, largest first."""

  def __init__(self, message: str, live: list[tuple[str, int]]) -> None:
    self.live = live
    super().__init__(message)


@dataclass(frozen=True)
class Options:
  """The options of a schedule.

  `memory_limit` in bytes is binding: an error if it cannot be met. Without one, the limit is `headroom` times what the module's
  own order needs; without that either, it is 76% of the device, or what the module's own order needs if that is more.
  `budget` counts visits of instructions by the search, per computation, and is at least 40 of each; 0 uses the list as it
  is. An order that is legal is changed only if that saves `worth` of its time; None excludes it from the comparison.
  `remat` allows recomputing cheap values where memory does not suffice, which edits the module. `margin` is for
  `extend.py`, `pressure` is the fraction of the limit above which the list saves memory. `starts` places transfers' starts as soon as
  possible ("asap"), or as late as possible while the transfer stays hidden ("alap").
  """

  limits: Limits = Limits()  # noqa: RUF009  # frozen
  rules: tuple[Rule, ...] = RULES
  memory_limit: float | None = None
  headroom: float | None = None
  budget: int = 300_000
  margin: float = 1.25
  worth: float | None = 0.002
  pressure: float = 0.8
  remat: bool = False
  seed: int = 0
  starts: str = ""

  def __post_init__(self) -> None:
    if self.starts not in ("", "asap", "alap"):
      raise HloScheduleError(
        f'starts={self.starts!r} is none of "asap" (as soon as possible), "alap" (as late as possible) and ""'
      )
    for name in ("memory_limit", "headroom"):
      value = getattr(self, name)
      if value is not None and (isinstance(value, bool) or not isinstance(value, numbers.Real)):
        unit = "bytes, as 60e9" if name == "memory_limit" else "times the module's own peak, as 1.1"
        raise HloScheduleError(f"{name} must be a number of {unit}, got {value!r}")


@dataclass(slots=True)
class ComputationSchedule:
  """The order of one computation, and how it was found."""

  lowered: Lowered
  order: list[int]
  choices: list[Choice]
  outcome: Outcome
  original: Outcome  # of the original order
  original_order: list[int]
  original_problem: Problem  # loops as long as they were before
  trips: int = 1
  caller: Instruction | None = None
  recomputed: list[str] = field(default_factory=list)

  @property
  def computation(self) -> Computation:
    return self.lowered.computation

  @property
  def nodes(self) -> list[Instruction]:
    return self.lowered.nodes

  @property
  def instructions(self) -> list[Instruction]:
    """The order, of all instructions."""
    return self.lowered.instructions(self.order)

  def timeline(self) -> Trace:
    return trace(self.lowered.problem, self.order)

  def original_timeline(self) -> Trace:
    return trace(self.original_problem, self.original_order)

  def reason(self, node: int) -> str:
    """One sentence on why a node is placed where it is."""
    choice = self.choices[node]
    text = f"{choice.rule.name}: {choice.rule.says(choice.backward)}"
    if choice.instead >= 0:
      text += f" (rather than %{self.nodes[choice.instead].name})"
    if choice.note:
      text += f" [{choice.note}]"
    return text


@dataclass(slots=True)
class Schedule:
  """Orders for every computation of a module."""

  module: Module
  model: CostModel
  options: Options
  memory_limit: float
  computations: dict[Computation, ComputationSchedule]

  @property
  def entry(self) -> ComputationSchedule:
    return self.computations[self.module.entry]

  @property
  def seconds(self) -> float:
    return self.entry.outcome.seconds

  @property
  def exposed(self) -> float:
    """Seconds the main stream waits for transfers, multiplied by trip counts inside loops."""
    return self.entry.outcome.exposed

  @property
  def peak(self) -> int:
    return self.entry.outcome.peak

  @property
  def original(self) -> Outcome:
    """The measure of the module's original order."""
    return self.entry.original

  def order(self, computation: Computation | None = None) -> list[Instruction]:
    return self.computations[computation or self.module.entry].instructions

  def explain(self, name: str) -> str:
    """Why the instruction of that name is placed where it is."""
    name = name.removeprefix("%")
    for schedule in self.computations.values():
      for v, instruction in enumerate(schedule.nodes):
        if instruction.name == name:
          return schedule.reason(v)
    instruction = self.module.find_instruction(name)
    return f"{instruction.opcode} takes no time: it is placed before its first use"

  def apply(self) -> bool:
    """Puts the module's instructions into the new order, and marks it as scheduled; returns whether anything changed."""
    changed = not self.module.is_scheduled
    for computation in self.module.computations:
      found = self.computations.get(computation)
      order = found.instructions if found is not None else topological_order(computation)
      changed |= order != computation.instructions
      computation.instructions = order
    self.module.is_scheduled = True
    return changed

  def __str__(self) -> str:
    new, old = self.entry.outcome, self.original
    rows = [
      ("step time", f"{old.seconds * 1e3:.4g} ms", f"{new.seconds * 1e3:.4g} ms"),
      ("exposed communication", f"{old.exposed * 1e3:.4g} ms", f"{new.exposed * 1e3:.4g} ms"),
      ("peak memory", f"{old.peak / 1e6:.4g} MB", f"{new.peak / 1e6:.4g} MB"),
    ]
    head = f"module {self.module.name} on {self.model.device.name}: {self.module.instruction_count} instructions"
    return "\n".join([head, *(f"  {name:<24}{before:>14} → {after}" for name, before, after in rows)])


def schedule_module(
  module: Module,
  *,
  device: str | Device = "h100",
  devices: int | None = None,
  model: CostModel | None = None,
  options: Options | None = None,
  limits: Limits | None = None,
  rules: Sequence[Rule] | None = None,
  memory_limit: float | None = None,
  headroom: float | None = None,
  budget: int | None = None,
  remat: bool | None = None,
  starts: str | None = None,
) -> Schedule:
  """Orders for the module's computations. The module is not changed until `apply` (except by `remat`).

  `model` predicts how long instructions take; the default is `Roofline(device, devices)`. The other arguments replace fields of
  `options`.
  """
  given: dict[str, Any] = {
    "limits": limits,
    "rules": tuple(rules) if rules is not None else None,
    "memory_limit": memory_limit,
  }
  given |= {"headroom": headroom, "budget": budget, "remat": remat, "starts": starts}
  chosen = dataclasses.replace(options or Options(), **{k: v for k, v in given.items() if v is not None})
  return _Scheduler(module, model or Roofline(device, devices), chosen).run()


class _Scheduler:
  def __init__(self, module: Module, model: CostModel, options: Options) -> None:
    self.module, self.model, self.options = module, model, options
    self.done: dict[Computation, ComputationSchedule] = {}
    self.graph = call_graph(module)
    self.limit = options.memory_limit if options.memory_limit is not None else float("inf")

  def run(self) -> Schedule:
    scheduled = [c for c in self.graph.post_order if self._owner(c) is not None]
    base = self._base_peaks(scheduled)
    if self.options.memory_limit is None:
      own, device = base[self.module.entry][1], self.model.device.memory * _OF_DEVICE
      self.limit = max(own, own * self.options.headroom if self.options.headroom is not None else device)
    for computation in scheduled:
      around = base[computation][0]
      self.done[computation] = self._schedule(computation, self.limit - around)
    return Schedule(self.module, self.model, self.options, self.limit, self.done)

  def _owner(self, computation: Computation) -> str | None:
    """The holder of parameters and results; None for computations that are not run instruction by instruction."""
    if computation is self.module.entry:
      return "entry"
    owner = None
    for caller in self.graph.callers[computation]:
      if caller.opcode == "while" and caller.attrs["body"] is computation:
        return "body"
      if caller.opcode in _CALLERS:
        owner = "branch"
    return owner

  def _base_peaks(self, scheduled: Sequence[Computation]) -> dict[Computation, tuple[float, float]]:
    """For each computation, in the module's original order: bytes live around it, and its own peak."""
    peaks: dict[Computation, float] = {}
    lowered: dict[Computation, tuple[Lowered, list[int]]] = {}
    for computation in scheduled:
      insides = {
        i: Inside(0.0, int(max((peaks.get(c, 0.0) for c in i.called_computations), default=0.0)), ())
        for i in computation.instructions
        if i.opcode in _CALLERS
      }
      low = lower(computation, self.module, self.model, self.options.limits, insides, self._owner(computation) or "")
      order = list(range(low.problem.size))
      profile = memory_profile(low.problem, order)
      peaks[computation] = max(profile, default=low.problem.always)
      lowered[computation] = (low, profile)
    around: dict[Computation, float] = {self.module.entry: 0.0}
    for computation in reversed(scheduled):  # callers first
      low, profile = lowered[computation]
      for v, instruction in enumerate(low.nodes):
        if instruction.opcode in _CALLERS:
          here = around.get(computation, 0.0) + profile[v] - low.problem.extra[v]
          for called in instruction.called_computations:
            around[called] = max(around.get(called, 0.0), here)
    return {c: (around.get(c, 0.0), peaks[c]) for c in scheduled}

  # One computation.

  def _schedule(self, computation: Computation, limit: float) -> ComputationSchedule:
    result = self._once(computation, limit)
    if result.outcome.excess > 0 and self.options.remat:
      result = self._recompute(result, limit)
    if result.outcome.excess > 0 and self.options.memory_limit is not None:
      raise self._memory_error(result)
    return result

  def _recompute(self, result: ComputationSchedule, limit: float) -> ComputationSchedule:
    """Rematerialises values as long as that lowers the peak; if it does not get below the limit, nothing is changed."""
    from tilewright.hlo.passes.snapshot import Snapshot  # passes import us: scheduling is one

    untouched, first = Snapshot(self.module), result
    recomputed: list[str] = []
    while result.outcome.excess > 0 and len(recomputed) < _MAX_RECOMPUTED:
      name = recompute_once(result.lowered, result.order)
      again = self._once(result.computation, limit) if name is not None else result
      if name is None or again.outcome.excess >= result.outcome.excess:
        untouched.restore()
        return first
      recomputed.append(name)
      result = again
    result.recomputed = recomputed
    return result

  def _once(self, computation: Computation, limit: float) -> ComputationSchedule:
    owner = self._owner(computation)
    assert owner is not None
    insides, originals = self._insides(computation, False), self._insides(computation, True)
    lowered = lower(computation, self.module, self.model, self.options.limits, insides, owner, limit)
    p, options = lowered.problem, self.options
    base = list(range(p.size))
    original_problem = self._with_insides(lowered, originals) if insides else p
    before = self._with_inner(measure(original_problem, base), lowered, originals)
    lists = self._lists(lowered)
    orders = [found.order for found in lists] + ([base] if options.worth is not None else [])
    budget = max(options.budget, _MIN_VISITS * p.size) if options.budget else 0
    found = search(p, orders, budget, options.seed)
    order, moved, first = found.order, found.moved, found.beginning
    own = measure(p, base)
    # XLA may open more pairs than our default limits allow; limits that the user has chosen are kept.
    trusted = own.broken == 0 or options.limits == Limits()
    legal = options.worth is not None and trusted and own.excess == 0
    if legal and measure(p, order).seconds > own.seconds * (1 - (options.worth or 0.0)):
      order, moved, first = base, {}, len(orders) - 1
      extended: dict[int, Rule] = {}
    else:
      order, extended = extend(p, order, options.margin)
    if options.starts:
      order, placed = place_starts(p, order, options.starts)
      extended |= placed
    choices = list(lists[first].choices) if first < len(lists) else [Choice(KEPT)] * p.size
    for v, gain in moved.items():
      choices[v] = Choice(SEARCH, note=gain)
    for v, rule in extended.items():
      choices[v] = Choice(rule)
    outcome = self._with_inner(measure(p, order), lowered, insides)
    trips, caller = self._trips(computation)
    return ComputationSchedule(lowered, order, choices, outcome, before, base, original_problem, trips, caller)

  def _lists(self, lowered: Lowered) -> list[Listed]:
    """From the beginning and from the end, and again with a lower threshold for memory pressure."""
    p, options = lowered.problem, self.options

    def both(pressure: float) -> list[Listed]:
      return [list_schedule(p, options.rules, lowered.nodes, backward, pressure) for backward in (False, True)]

    found = both(options.pressure)
    fits = any(measure(p, listed.order).excess == 0 for listed in found)
    for pressure in (0.5, 0.0) if not fits else (0.0,) if p.size <= _OFTEN else ():
      found += both(pressure)
    return found

  def _trips(self, computation: Computation) -> tuple[int, Instruction | None]:
    callers = [c for c in self.graph.callers[computation] if c.opcode in _CALLERS]
    if not callers:
      return 1, None
    return (loop_trips(callers[0]) if callers[0].opcode == "while" else 1), callers[0]

  def _insides(self, computation: Computation, original: bool) -> dict[Instruction, Inside]:
    return {
      i: self._inside(i, original)
      for i in computation.instructions
      if i.opcode in _CALLERS and all(c in self.done for c in i.called_computations)
    }

  def _inside(self, caller: Instruction, original: bool) -> Inside:
    results = [self.done[c] for c in caller.called_computations]
    outcomes = [r.original if original else r.outcome for r in results]
    opened: dict[int, int] = {}
    for result in results:
      for kind, count in _most_open(result.lowered.problem, result.original_order if original else result.order):
        opened[kind] = max(opened.get(kind, 0), count)
    if caller.opcode == "while":
      trips = loop_trips(caller)
      seconds, exposed = trips * sum(o.seconds for o in outcomes), trips * sum(o.exposed for o in outcomes)
    else:
      slowest = max(outcomes, key=lambda o: o.seconds)
      seconds, exposed = slowest.seconds, slowest.exposed
    return Inside(seconds, max(o.peak for o in outcomes), tuple(sorted(opened.items())), exposed)

  @staticmethod
  def _with_insides(lowered: Lowered, insides: dict[Instruction, Inside]) -> Problem:
    p = lowered.problem
    cost, extra = list(p.cost), list(p.extra)
    for v, instruction in enumerate(lowered.nodes):
      if instruction in insides:
        cost[v], extra[v] = insides[instruction].seconds, insides[instruction].peak
    return dataclasses.replace(p, cost=cost, extra=extra)

  @staticmethod
  def _with_inner(outcome: Outcome, lowered: Lowered, insides: dict[Instruction, Inside]) -> Outcome:
    inner = sum(inside.exposed for inside in insides.values())
    return dataclasses.replace(outcome, exposed=outcome.exposed + inner) if inner else outcome

  def _memory_error(self, result: ComputationSchedule) -> HloMemoryError:
    p = result.lowered.problem
    profile = memory_profile(p, result.order)
    at = max(range(len(profile)), key=lambda i: (profile[i], -i))
    live = [(p.buffer_name[b], p.buffer_size[b]) for b in live_at(p, result.order, at)]
    shown = "\n".join(f"  {size / 1e6:>12.3f} MB  %{name}" for name, size in live[:12])
    more = f"\n  … and {len(live) - 12} smaller ones" if len(live) > 12 else ""
    held = f"\n  {p.always / 1e6:>12.3f} MB  parameters" if p.always else ""
    inside = p.extra[result.order[at]]
    held += f"\n  {inside / 1e6:>12.3f} MB  inside %{p.names[result.order[at]]}" if inside else ""
    return HloMemoryError(
      f"memory_limit={self.options.memory_limit:.0f}: %{result.computation.name} of module {self.module.name} needs "
      f"{result.outcome.peak / 1e6:.3f} MB where {p.memory_limit / 1e6:.3f} MB are left for it, in the best order found. At its "
      f"peak, at %{p.names[result.order[at]]}, these are live:\n{shown}{more}{held}\nRaise memory_limit, "
      + (
        "or donate or shrink some of these."
        if self.options.remat
        else "or allow remat=True, which computes cheap values twice."
      ),
      live,
    )


def _most_open(p: Problem, order: Sequence[int]) -> list[tuple[int, int]]:
  """For each kind that is used, how many pairs are open at once; a synchronous transfer counts as one."""
  opened: dict[int, int] = {}
  most: dict[int, int] = {}
  for v in order:
    kind = p.kind[v]
    if kind >= 0:
      if p.role[v] == START:
        opened[kind] = opened.get(kind, 0) + 1
        most[kind] = max(most.get(kind, 0), opened[kind])
      elif p.pair[v] >= 0:
        opened[kind] -= 1
      elif p.exposed[v]:
        most[kind] = max(most.get(kind, 0), opened.get(kind, 0) + 1)
    for used, count in p.uses.get(v, ()):
      most[used] = max(most.get(used, 0), opened.get(used, 0) + count)
  return sorted(most.items())


def loop_trips(loop: Instruction) -> int:
  """The trip count of a loop; 1 if it is unknown."""
  from tilewright.hlo.passes.while_loops import read_loop, trip_count  # passes import us: scheduling is one

  config = loop.backend_config_json
  if isinstance(config, dict) and "known_trip_count" in config:
    try:
      return max(1, int(config["known_trip_count"]["n"]))
    except (KeyError, TypeError, ValueError):
      pass
  found = read_loop(loop)
  trips = trip_count(found) if found is not None else None
  return max(1, trips) if trips is not None else 1
