"""A discrete-event simulation of many devices running a scheduled module.

Every device runs the same instructions in the same order, at its own speed. A start queues on a lane of its device's resource; a
collective begins when it is at the front on every device of its group, and ends on all of them at once; a done waits for that.
Transfers that use the same port of a device at the same time share its bandwidth, so that each proceeds at the rate its most
contended port allows. Ports are those of `Device`: inside the node, to the network, from and to the host.

    result = simulate(schedule, devices=1024, stragglers={17: 1.3})
    print(result)        # step time, exposed communication, utilisation
    result.finish        # when each device is done

Loops run a few times in full; the remaining trips take as long as the last of these. Time is exact to rounding, and equal inputs
give equal results: randomness (`jitter`) comes from a seed.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tilewright.hlo.cost.collectives import devices_of, participants
from tilewright.hlo.groups import Groups
from tilewright.hlo.ir import Computation, Instruction
from tilewright.hlo.schedule.annotations import HloScheduleError
from tilewright.hlo.schedule.limits import COPY_IN, COPY_OUT, IS_COLLECTIVE, P2P
from tilewright.hlo.schedule.problem import START, start_of
from tilewright.hlo.schedule.scheduler import Schedule, loop_trips

RUN, BEGIN, WAIT, MARK, SKIP = range(5)
_FULL_TRIPS = 3


@dataclass(frozen=True, slots=True)
class Step:
  """One step of the program every device runs."""

  do: int
  seconds: float = 0.0
  transfer: int = -1  # BEGIN and WAIT: which transfer; MARK and SKIP: which loop
  name: str = ""
  trips: int = 0  # SKIP: how many more


@dataclass(frozen=True, slots=True)
class Transfer:
  """The transfer a BEGIN starts, on every device of a group."""

  name: str
  seconds: float
  kind: int
  groups: Groups  # empty: every device on its own
  port: str  # "" if it shares nothing


@dataclass(slots=True)
class Program:
  steps: list[Step] = field(default_factory=list)
  transfers: list[Transfer] = field(default_factory=list)
  loops: int = 0
  lanes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Span:
  """An interval on a device, for timelines."""

  name: str
  begin: float
  end: float
  kind: int  # -1: the main stream
  exposed: bool = False


@dataclass(frozen=True)
class Simulation:
  devices: int
  finish: np.ndarray  # seconds, per device
  waited: np.ndarray  # exposed communication, per device
  busy: np.ndarray  # seconds of computation, per device
  spans: Mapping[int, Sequence[Span]]  # of the devices that were watched

  @property
  def seconds(self) -> float:
    """The step time: when the last device has finished."""
    return float(self.finish.max(initial=0.0))

  @property
  def exposed(self) -> float:
    """Exposed communication of the mean device."""
    return float(self.waited.mean())

  @property
  def utilisation(self) -> float:
    """The part of the step in which the mean device computes."""
    return float(self.busy.mean()) / self.seconds if self.seconds else 0.0

  def __str__(self) -> str:
    return (
      f"{self.devices} devices: step {self.seconds * 1e3:.4g} ms, exposed {self.exposed * 1e3:.4g} ms, "
      f"utilisation {self.utilisation * 100:.1f}%"
    )


# The program.


def program_of(schedule: Schedule, devices: int, original: bool = False) -> Program:
  """The steps of one device, loops unrolled a few times; in the module's original order, if `original`."""
  program = Program(lanes=schedule.entry.lowered.problem.lanes)
  _add(program, schedule, schedule.module.entry, devices, original)
  return program


def _add(
  program: Program,
  schedule: Schedule,
  computation: Computation,
  devices: int,
  original: bool,
  pending: Mapping[Instruction, int] | None = None,
) -> dict[Instruction, int]:
  """Adds the steps of a computation; returns the transfers its starts began. `pending`: dones of those begun a trip before."""
  found = schedule.computations[computation]
  p, order = found.lowered.problem, found.original_order if original else found.order
  begun: dict[Instruction, int] = {}
  for v in order:
    instruction = found.nodes[v]
    if p.role[v] == START:
      begun[instruction] = _begin(program, schedule, instruction, p.cost[v], p.kind[v], devices)
      if p.main[v] > 0:
        program.steps.append(Step(RUN, p.main[v], name=instruction.name))
    elif instruction.opcode == "while":
      _loop(program, schedule, instruction, devices, original)
    elif instruction.opcode in ("call", "conditional"):
      called = max(
        (schedule.computations[c] for c in instruction.called_computations),
        key=lambda s: (s.original if original else s.outcome).seconds,
      )
      _add(program, schedule, called.computation, devices, original)
    elif instruction.opcode.endswith("-done"):
      start = start_of(instruction)
      number = begun.get(start) if start is not None else (pending or {}).get(instruction)
      if number is not None:
        program.steps.append(Step(WAIT, transfer=number, name=instruction.name))
    elif p.kind[v] >= 0:  # synchronous
      number = _begin(program, schedule, instruction, p.cost[v], p.kind[v], devices)
      program.steps.append(Step(WAIT, transfer=number, name=instruction.name))
    elif p.cost[v] > 0:
      program.steps.append(Step(RUN, p.cost[v], name=instruction.name))
  return begun


def _begin(
  program: Program, schedule: Schedule, instruction: Instruction, seconds: float, kind: int, devices: int
) -> int:
  groups: Groups = ()
  if IS_COLLECTIVE[kind]:
    groups = participants(instruction, schedule.module, devices)
  node = schedule.model.device.node
  port = ""
  if kind in (COPY_IN, COPY_OUT):
    port = "host in" if kind == COPY_IN else "host out"
  elif groups:
    port = "network" if any(len({d // node for d in g}) > 1 for g in groups) else "scale up"
  elif kind == P2P:
    port = "network" if devices > node else "scale up"
  program.transfers.append(Transfer(instruction.name, seconds, kind, groups, port))
  number = len(program.transfers) - 1
  program.steps.append(Step(BEGIN, transfer=number, name=instruction.name))
  return number


def _loop(program: Program, schedule: Schedule, loop: Instruction, devices: int, original: bool) -> None:
  trips, number = loop_trips(loop), program.loops
  program.loops += 1
  body, condition = loop.attrs["body"], loop.attrs["condition"]
  found = schedule.computations[body]
  carried = {found.nodes[done]: found.nodes[start] for done, start in found.lowered.problem.carried}
  before: dict[Instruction, int] = {}
  for _ in range(min(trips, _FULL_TRIPS)):
    program.steps.append(Step(MARK, transfer=number))
    _add(program, schedule, condition, devices, original)
    pending = {done: before[start] for done, start in carried.items() if start in before}
    before = _add(program, schedule, body, devices, original, pending)
  if trips > _FULL_TRIPS:
    program.steps.append(Step(SKIP, transfer=number, trips=trips - _FULL_TRIPS))


# The devices.


@dataclass(slots=True, eq=False)
class _Active:
  """A transfer of one group that is in flight."""

  transfer: int
  members: tuple[int, ...]
  left: float  # seconds at full rate
  rate: float = 1.0
  since: float = 0.0
  version: int = 0
  begin: float = 0.0


class _Simulator:
  def __init__(
    self, program: Program, devices: int, speed: np.ndarray, links: np.ndarray, watched: Sequence[int]
  ) -> None:
    self.program, self.devices, self.speed, self.links = program, devices, speed, links
    self.at = [0] * devices
    self.clock = [0.0] * devices
    self.blocked: list[tuple[int, float]] = [(-1, 0.0)] * devices  # (transfer waited for, since when)
    self.over: list[set[int]] = [set() for _ in range(devices)]
    self.lanes = [[n] * devices for n in (max(1, k) for k in program.lanes)]
    self.queues: list[list[deque[int]]] = [[deque() for _ in range(devices)] for _ in program.lanes]
    self.arrived: dict[tuple[int, int], int] = {}
    self.home = [self._transfer_devices(t) for t in program.transfers]
    self.ports: dict[str, list[dict[_Active, None]]] = {}
    self.events: list[tuple[float, int, int, object, int]] = []  # time, number, device or -1, transfer, version
    self.count = 0
    self.marks: dict[tuple[int, int], tuple[float, float, float]] = {}  # of the last trip: time, busy, waited
    self.waited = np.zeros(devices)
    self.busy = np.zeros(devices)
    self.spans: dict[int, list[Span]] = {d: [] for d in watched}

  def _transfer_devices(self, transfer: Transfer) -> dict[int, int] | None:
    if not transfer.groups:
      return None
    homes: dict[int, int] = {}
    for number, group in enumerate(transfer.groups):
      for d in group:
        homes[d] = number
    return homes

  def run(self) -> None:
    for d in range(self.devices):
      self._advance(d, 0.0)
    while self.events:
      now, _, device, what, version = heapq.heappop(self.events)
      if device >= 0:
        self._advance(device, now)
      else:
        assert isinstance(what, _Active)
        if what.version == version:
          self._finish(what, now)
    stuck = [d for d in range(self.devices) if self.at[d] < len(self.program.steps)]
    if stuck:
      step = self.program.steps[self.at[stuck[0]]]
      raise HloScheduleError(
        f"device {stuck[0]} never ends its wait at %{step.name}: not every device of a group takes part"
      )

  def _push(self, time: float, device: int, what: object = None, version: int = 0) -> None:
    self.count += 1
    heapq.heappush(self.events, (time, self.count, device, what, version))

  def _advance(self, d: int, now: float) -> None:
    """Runs device `d` from `now` on, until it computes or waits."""
    steps = self.program.steps
    while self.at[d] < len(steps):
      step = steps[self.at[d]]
      if step.do == RUN:
        end = now + step.seconds * self.speed[d]
        self.busy[d] += end - now
        if d in self.spans:
          self.spans[d].append(Span(step.name, now, end, -1))
        self.at[d] += 1
        if self.at[d] < len(steps) and steps[self.at[d]].do == RUN:
          now = end
          continue
        self._push(end, d)
        return
      if step.do == WAIT:
        if step.transfer not in self.over[d]:
          self.blocked[d] = (step.transfer, now)
          return
      elif step.do == BEGIN:
        self._queue(d, step.transfer, now)
      elif step.do == MARK:
        self.marks[d, step.transfer] = (now, self.busy[d], self.waited[d])
      else:
        begun, busy, waited = self.marks[d, step.transfer]
        self.busy[d] += (self.busy[d] - busy) * step.trips
        self.waited[d] += (self.waited[d] - waited) * step.trips
        self.at[d] += 1
        self._push(now + (now - begun) * step.trips, d)
        return
      self.at[d] += 1
    self.clock[d] = now

  # Transfers.

  def _queue(self, d: int, number: int, now: float) -> None:
    kind = self.program.transfers[number].kind
    self.queues[kind][d].append(number)
    self._take(d, kind, now)

  def _take(self, d: int, kind: int, now: float) -> None:
    """Gives free lanes of a device to the transfers queued there, in order."""
    queue = self.queues[kind][d]
    while queue and self.lanes[kind][d]:
      number = queue.popleft()
      self.lanes[kind][d] -= 1
      homes = self.home[number]
      if homes is None:
        self._start(number, (d,), now)
        continue
      group = homes.get(d)
      if group is None:  # takes no part: over at once
        self.lanes[kind][d] += 1
        self.over[d].add(number)
        continue
      members = self.program.transfers[number].groups[group]
      key = (number, group)
      self.arrived[key] = self.arrived.get(key, 0) + 1
      if self.arrived[key] == len(members):
        self._start(number, members, now)

  def _start(self, number: int, members: tuple[int, ...], now: float) -> None:
    transfer = self.program.transfers[number]
    slow = float(self.links[list(members)].max()) if transfer.port else 1.0
    active = _Active(number, members, transfer.seconds * slow, since=now, begin=now)
    crowded = self._occupy(active, transfer.port)
    if crowded:
      for other in crowded:
        self._retime(other, now)
    self._retime(active, now)

  def _occupy(self, active: _Active, port: str) -> list[_Active]:
    """Other transfers that use a port of the same devices."""
    if not port:
      return []
    table = self.ports.setdefault(port, [{} for _ in range(self.devices)])
    others: dict[_Active, None] = {}
    for d in active.members:
      others |= table[d]
      table[d][active] = None
    return list(others)

  def _retime(self, active: _Active, now: float) -> None:
    active.left -= (now - active.since) * active.rate
    active.since = now
    port = self.program.transfers[active.transfer].port
    table = self.ports.get(port) if port else None
    active.rate = 1.0 / max(len(table[d]) for d in active.members) if table else 1.0
    active.version += 1
    self._push(now + max(0.0, active.left) / active.rate, -1, active, active.version)

  def _finish(self, active: _Active, now: float) -> None:
    transfer = self.program.transfers[active.transfer]
    active.version += 1
    freed: dict[_Active, None] = {}
    if transfer.port:
      table = self.ports[transfer.port]
      for d in active.members:
        del table[d][active]
        freed |= table[d]
    for other in freed:
      self._retime(other, now)
    for d in active.members:
      if d in self.spans:
        self.spans[d].append(Span(transfer.name, active.begin, now, transfer.kind))
      self.over[d].add(active.transfer)
      self.lanes[transfer.kind][d] += 1
    for d in active.members:
      self._take(d, transfer.kind, now)
      wanted, since = self.blocked[d]
      if wanted == active.transfer:
        self.blocked[d] = (-1, 0.0)
        self.waited[d] += now - since
        if d in self.spans and now > since:
          self.spans[d].append(Span(transfer.name, since, now, -1, exposed=True))
        self.at[d] += 1
        self._push(now, d)


def simulate(
  schedule: Schedule,
  devices: int | None = None,
  *,
  original: bool = False,
  stragglers: Mapping[int, float] | None = None,
  slow_links: Mapping[int, float] | None = None,
  jitter: float = 0.0,
  seed: int = 0,
  watch: Sequence[int] = (0,),
) -> Simulation:
  """Runs the schedule (or the module's original order) on `devices` devices.

  `stragglers` gives devices a factor on their computation time, `slow_links` one on their transfer time; `jitter` is the
  relative spread of a random factor on every device's computation. Devices in `watch` get timelines.
  """
  count = max(devices or schedule.model.devices or 1, devices_of(schedule.module))
  speed, links = np.ones(count), np.ones(count)
  if jitter:
    speed += np.abs(np.random.default_rng(seed).normal(0.0, jitter, count))
  for table, factors in ((speed, stragglers), (links, slow_links)):
    for d, factor in (factors or {}).items():
      if not 0 <= d < count or not factor > 0:
        raise HloScheduleError(
          f"device {d} with factor {factor}: there are devices 0 to {count - 1}, factors are positive"
        )
      table[d] *= factor
  simulator = _Simulator(program_of(schedule, count, original), count, speed, links, [d for d in watch if d < count])
  simulator.run()
  return Simulation(count, np.array(simulator.clock), simulator.waited, simulator.busy, simulator.spans)
