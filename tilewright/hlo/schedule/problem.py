"""A computation as a scheduling problem: numbers instead of objects.

Every instruction that takes time, memory or a resource is a *node*; parameters, constants, elements and bitcasts are omitted and
reinserted when an order is converted back to instructions. A node is one of

    COMPUTE   occupies the main stream for `cost` seconds (a loop too, with the resources its body uses)
    START     hands `cost` seconds of work to a resource and takes no time itself
    DONE      waits until the work of its START has ended

Edges are data and control dependencies, the order among side effects, and anti-dependencies between values that share a buffer
(`memory.py`). A loop's body may start a transfer in one iteration and wait for it in the next: `carried` lists those pairs.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tilewright.hlo.analysis import topological_order
from tilewright.hlo.cost.collectives import participants
from tilewright.hlo.cost.model import HOST_THREAD, CostModel, crosses_memories
from tilewright.hlo.groups import Groups
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.opcodes import COLLECTIVES, STARTS
from tilewright.hlo.schedule.annotations import Annotation
from tilewright.hlo.schedule.limits import ASYNC_COMPUTE, IS_COLLECTIVE, Limits, conflicts, kind_of, lanes
from tilewright.hlo.schedule.memory import Memory, memory_of, readers_first
from tilewright.hlo.shape import ShapeIndex

COMPUTE, START, DONE = range(3)
_LEFT_OUT = frozenset({"parameter", "constant", "get-tuple-element", "bitcast", "partition-id", "replica-id"})
_ORDERED = frozenset({"infeed", "outfeed", "rng", "rng-get-and-update-state"})


@dataclass(frozen=True, slots=True)
class MemoryFacts:
  """What is known about memory before there is an order."""

  at_first: int
  added: list[int]  # bytes each node is the first to write
  freed: list[int]  # bytes each node is the only one to read
  shared: list[list[int]]  # buffers that other nodes also read
  readers: list[int]  # of each buffer


@dataclass
class Problem:
  """What list, search and timing work on. Index: the node's number, which follows the original order."""

  size: int
  role: list[int]
  cost: list[float]
  kind: list[int]  # of starts, dones and synchronous transfers; -1 for others
  pair: list[int]  # start ↔ done; -1 for others
  preds: list[list[int]]
  succs: list[list[int]]
  names: list[str]
  limits: tuple[int, ...]  # by kind
  lanes: tuple[int, ...]
  meets: list[int]  # the number of a collective's groups in `conflicts`; -1 for others
  conflicts: list[tuple[int, ...]] = field(default_factory=list)
  uses: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)  # of loops: (kind, pairs open inside)
  carried: list[tuple[int, int]] = field(default_factory=list)  # (done, start of the iteration before)
  group: list[int] = field(default_factory=list)  # the number of an annotated group; -1 for others
  groups: list[Annotation] = field(default_factory=list)
  group_size: list[int] = field(default_factory=list)
  # Memory: sizes of buffers, those each node touches, how many touch each, which are live at the ends.
  buffer_size: list[int] = field(default_factory=list)
  buffer_name: list[str] = field(default_factory=list)
  touches: list[list[int]] = field(default_factory=list)
  touch_count: list[int] = field(default_factory=list)
  live_in: list[bool] = field(default_factory=list)
  live_out: list[bool] = field(default_factory=list)
  extra: list[int] = field(default_factory=list)  # bytes a loop or a call needs inside while it runs
  always: int = 0
  memory_limit: float = float("inf")
  exposed: list[bool] = field(default_factory=list)  # synchronous transfers: all of their cost is exposed
  # Of starts: what they take from the main stream, which runs slower meanwhile.
  main: list[float] = field(default_factory=list)
  _edges: set[tuple[int, int]] = field(default_factory=set, repr=False)

  def __post_init__(self) -> None:
    self.main = self.main or [0.0] * self.size

  @functools.cached_property
  def memory_facts(self) -> MemoryFacts:
    """For orders from the beginning to the end. A buffer's first toucher, by number, writes it."""
    touching: list[list[int]] = [[] for _ in self.buffer_size]
    for v in range(self.size):
      for b in self.touches[v]:
        touching[b].append(v)
    added, freed = [0] * self.size, [0] * self.size
    shared: list[list[int]] = [[] for _ in range(self.size)]
    at_first = self.always
    for b, nodes in enumerate(touching):
      if self.live_in[b]:
        at_first += self.buffer_size[b]
      else:
        added[nodes[0]] += self.buffer_size[b]
      readers = nodes if self.live_in[b] else nodes[1:] or nodes
      if self.live_out[b]:
        continue
      if len(readers) == 1:
        freed[readers[0]] += self.buffer_size[b]
      else:
        for v in readers:
          shared[v].append(b)
    return MemoryFacts(
      at_first, added, freed, shared, [max(1, len(n) - (not i)) for n, i in zip(touching, self.live_in)]
    )

  def add_edge(self, a: int, b: int) -> None:
    """`a` before `b`."""
    if (a, b) not in self._edges:
      self._edges.add((a, b))
      self.preds[b].append(a)
      self.succs[a].append(b)

  def mirror(self) -> Problem:
    """Time reversed: node v becomes `size - 1 - v`, and dones become starts. An order of one, read backwards and
    renumbered, is an order of the other.
    """
    last = self.size - 1
    swapped = {START: DONE, DONE: START, COMPUTE: COMPUTE}
    role = [swapped[r] for r in reversed(self.role)]
    pair = [last - w if w >= 0 else -1 for w in reversed(self.pair)]
    cost = list(reversed(self.cost))
    for v in range(self.size):
      if role[v] == START and pair[v] >= 0:
        cost[v], cost[pair[v]] = cost[pair[v]], 0.0
    return Problem(
      size=self.size,
      role=role,
      cost=cost,
      kind=self.kind[::-1],
      pair=pair,
      preds=[[last - u for u in row] for row in reversed(self.succs)],
      succs=[[last - u for u in row] for row in reversed(self.preds)],
      names=self.names[::-1],
      limits=self.limits,
      lanes=self.lanes,
      meets=self._groups_of_dones()[::-1],
      conflicts=self.conflicts,
      uses={last - v: kinds for v, kinds in self.uses.items()},
      group=self.group[::-1],
      groups=self.groups,
      group_size=self.group_size,
      buffer_size=self.buffer_size,
      buffer_name=self.buffer_name,
      touches=self.touches[::-1],
      touch_count=self.touch_count,
      live_in=self.live_out,
      live_out=self.live_in,
      extra=self.extra[::-1],
      always=self.always,
      memory_limit=self.memory_limit,
      exposed=self.exposed[::-1],
      main=self.main[::-1],
    )

  def _groups_of_dones(self) -> list[int]:
    """The groups of a collective at its done as well."""
    return [self.meets[self.pair[v]] if self.pair[v] >= 0 else self.meets[v] for v in range(self.size)]

  def tails(self) -> list[float]:
    """The longest path from the beginning of each node to the end, in seconds, without queueing."""
    tail = [0.0] * self.size
    for v in reversed(range(self.size)):
      after = max((tail[s] for s in self.succs[v]), default=0.0)
      # A start's work lies between it and its done; other successors of a start do not wait for that.
      if self.role[v] == START:
        done = self.pair[v]
        tail[v] = max(after + self.main[v], self.cost[v] + (tail[done] if done >= 0 else 0.0))
      else:
        tail[v] = self.cost[v] + after
    return tail


@dataclass(slots=True)
class Lowered:
  """A problem and the instructions its nodes represent."""

  problem: Problem
  computation: Computation
  order: list[Instruction]  # the base order, of all instructions
  nodes: list[Instruction]

  def instructions(self, order: Sequence[int]) -> list[Instruction]:
    """An order of nodes as an order of instructions: parameters and constants first, omitted instructions before their first use."""
    wanted, nodes = [self.nodes[v] for v in order], set(self.nodes)
    if wanted == [i for i in self.order if i in nodes]:
      return list(self.order)  # nothing moves, not even a constant
    waits_for_nothing = (i for i in self.order if i.opcode in ("parameter", "constant") and not i.control_predecessors)
    placed: dict[Instruction, None] = dict.fromkeys(waits_for_nothing)

    def place(instruction: Instruction) -> None:
      stack = [instruction]
      while stack:
        top = stack[-1]
        missing = [o for o in (*top.operands, *top.control_predecessors) if o not in placed]
        if top in placed or not missing:
          placed[top] = None
          stack.pop()
        else:
          stack += missing

    for v in order:
      place(self.nodes[v])
    for instruction in self.order:  # unused instructions
      place(instruction)
    return list(placed)


@dataclass(frozen=True, slots=True)
class Inside:
  """What is known about a scheduled computation that an instruction calls."""

  seconds: float
  peak: int
  opened: tuple[tuple[int, int], ...]  # (kind, pairs open at once)
  exposed: float = 0.0


Insides = Mapping[Instruction, Inside]


def lower(
  computation: Computation,
  module: Module,
  model: CostModel,
  limits: Limits,
  insides: Insides,
  owner: str,
  memory_limit: float = float("inf"),
) -> Lowered:
  """The problem of one computation. `insides` describes the loops, calls and branches in it."""
  from tilewright.hlo.schedule.forced import add_forced
  from tilewright.hlo.schedule.grouping import add_groups  # which edit problems, so they come after them

  order = topological_order(computation)
  if not module.is_scheduled:
    order = readers_first(order)
  donated: dict[ShapeIndex, tuple[int, ShapeIndex]] = {}
  if owner == "entry":
    donated = {a.output_index: (a.parameter, a.parameter_index) for a in module.input_output_alias}
  memory = memory_of(computation, order, model.device.host_memory_space, owner, donated)
  builder = _Lowering(module, model, limits, insides, order)
  builder.add_edges(memory)
  builder.add_memory(memory)
  problem = builder.problem
  problem.memory_limit = memory_limit
  if owner == "body":
    builder.find_carried(computation)
  builder.forget_lone_halves()
  nodes = add_groups(problem, add_forced(problem, builder.nodes))
  return Lowered(problem, computation, order, nodes)


class _Lowering:
  def __init__(
    self, module: Module, model: CostModel, limits: Limits, insides: Insides, order: Sequence[Instruction]
  ) -> None:
    self.module, self.model, self.limits, self.order = module, model, limits, order
    self.nodes = [i for i in order if not self._is_left_out(i)]
    self.number = {instruction: v for v, instruction in enumerate(self.nodes)}
    size = len(self.nodes)
    self.problem = Problem(
      size,
      role=[COMPUTE] * size,
      cost=[0.0] * size,
      kind=[-1] * size,
      pair=[-1] * size,
      preds=[[] for _ in range(size)],
      succs=[[] for _ in range(size)],
      names=[i.name for i in self.nodes],
      limits=limits.of_kinds(),
      lanes=lanes(limits),
      meets=[-1] * size,
      group=[-1] * size,
      touches=[[] for _ in range(size)],
      extra=[0] * size,
      exposed=[False] * size,
    )
    self._groups: dict[Groups, int] = {}
    for v, instruction in enumerate(self.nodes):
      self._classify(v, instruction, insides)
    self.problem.conflicts = conflicts(list(self._groups))

  @staticmethod
  def _is_left_out(instruction: Instruction) -> bool:
    return (
      instruction.opcode in _LEFT_OUT and not instruction.control_predecessors and not instruction.control_successors
    )

  # Roles.

  def _classify(self, v: int, instruction: Instruction, insides: Insides) -> None:
    p, opcode = self.problem, instruction.opcode
    if opcode in STARTS or opcode in ("send", "recv"):
      p.role[v], p.cost[v] = START, self.model.cost(instruction).seconds
      self._resource(v, instruction)
      if p.kind[v] == ASYNC_COMPUTE and not _runs_on_host(instruction):
        p.main[v] = p.cost[v] * self.model.device.shared_compute
      elif IS_COLLECTIVE[p.kind[v]]:
        p.main[v] = p.cost[v] * self.model.device.collective_share
      return
    if opcode.endswith("-done"):
      start = start_of(instruction)
      p.role[v] = DONE
      if start is not None and start in self.number:
        s = self.number[start]
        if p.pair[s] < 0:
          p.pair[s], p.pair[v], p.kind[v] = v, s, p.kind[s]
      return
    inside = insides.get(instruction)
    if inside is not None:
      p.cost[v], p.extra[v] = inside.seconds, inside.peak
      if inside.opened:
        p.uses[v] = inside.opened
      return
    p.cost[v] = self.model.cost(instruction).seconds
    if opcode in COLLECTIVES or (opcode == "copy" and crosses_memories(instruction)):
      self._resource(v, instruction)
      p.exposed[v] = True

  def _resource(self, v: int, instruction: Instruction) -> None:
    p = self.problem
    p.kind[v] = kind_of(instruction, self.module, self.model.device, self.limits, self.model.devices)
    if IS_COLLECTIVE[p.kind[v]]:
      groups = participants(instruction, self.module, self.model.devices)
      p.meets[v] = self._groups.setdefault(groups, len(self._groups))

  # Edges.

  def _edge(self, a: int, b: int) -> None:
    if a != b:
      self.problem.add_edge(a, b)

  def _source(self, instruction: Instruction) -> int | None:
    """The node an omitted instruction depends on; None if it waits for nothing."""
    while instruction not in self.number:
      if not instruction.operands:
        return None
      instruction = instruction.operands[0]
    return self.number[instruction]

  def add_edges(self, memory: Memory) -> None:
    position = {instruction: i for i, instruction in enumerate(self.order)}
    last: int | None = None
    for v, instruction in enumerate(self.nodes):
      for need in (*instruction.operands, *instruction.control_predecessors):
        source = self._source(need)
        if source is not None:
          self._edge(source, v)
      if instruction.opcode in _ORDERED or instruction.attrs.get("custom_call_has_side_effect"):
        if last is not None:
          self._edge(last, v)
        last = v
    for reader, writer in memory.waits(position):
      a, b = self.number.get(reader), self.number.get(writer)
      if a is not None and b is not None:
        self._edge(a, b)

  # Memory.

  def add_memory(self, memory: Memory) -> None:
    p = self.problem
    p.always = memory.always
    for _, buffer, touched in memory.touched():
      nodes = sorted({self.number[i] for i in touched if i in self.number})
      if not nodes:
        continue
      b = len(p.buffer_size)
      p.buffer_size.append(buffer.size)
      p.buffer_name.append(buffer.name)
      p.touch_count.append(len(nodes))
      p.live_in.append(buffer.live_in)
      p.live_out.append(buffer.live_out)
      for v in nodes:
        p.touches[v].append(b)

  # Loops.

  def find_carried(self, body: Computation) -> None:
    """Dones that wait for a transfer started in the previous iteration: through an element of the body's parameter."""
    root, p = body.root, self.problem
    if root.opcode != "tuple":
      return
    for v, instruction in enumerate(self.nodes):
      if p.role[v] != DONE or p.pair[v] >= 0:
        continue
      element = instruction.operands[0]
      while (
        element.opcode in ("get-tuple-element", "async-update", "bitcast") and element.operands[0].opcode != "parameter"
      ):
        element = element.operands[0]
      if element.opcode != "get-tuple-element" or element.attrs["index"] >= len(root.operands):
        continue
      source = root.operands[element.attrs["index"]]
      while source.opcode == "async-update":
        source = source.operands[0]
      start = self.number.get(source)
      if start is not None and p.role[start] == START and p.pair[start] < 0:
        p.carried.append((v, start))
        p.kind[v] = p.kind[start]

  def forget_lone_halves(self) -> None:
    """A done whose start is outside waits for nothing known here. A start whose done is outside (in an enclosing loop, or nowhere)
    holds nothing that could be freed here.
    """
    p = self.problem
    known = {v for pair in p.carried for v in pair}
    for v in range(p.size):
      if p.role[v] != COMPUTE and p.pair[v] < 0 and v not in known:
        p.role[v], p.kind[v], p.meets[v], p.cost[v], p.main[v] = COMPUTE, -1, -1, 0.0, 0.0


def _runs_on_host(start: Instruction) -> bool:
  return any(c.execution_thread == HOST_THREAD for c in start.called_computations)


def start_of(done: Instruction) -> Instruction | None:
  """The start a done waits for, through updates; None if it comes from outside the computation."""
  value = done.operands[0] if done.operands else None
  while value is not None and value.opcode in ("async-update", "bitcast"):
    value = value.operands[0]
  if value is None or (value.opcode not in STARTS and value.opcode not in ("send", "recv")):
    return None
  return value
