"""List scheduling: places one instruction after another, each chosen by the rules.

The list tracks a clock (when the main stream reaches this point), when each lane of each resource is free, which pairs are open, and
which buffers are live. Candidates are nodes whose dependencies are placed and that break no overlap limit: all dones, the starts and
computations with the longest path to the end, and, when memory is scarce, also those that come first in the original order. An annotated
group is begun only if all of it fits the limits, and is then the only source of candidates until it is finished.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.hlo.ir import Instruction
from tilewright.hlo.schedule.problem import COMPUTE, DONE, START, Problem
from tilewright.hlo.schedule.rules import ONLY, Candidate, Rule, State

_LOOKED_AT = 4  # computations with the longest path to the end that are compared at each step
_LOOKED_AT_PRESSED = 12


@dataclass(frozen=True, slots=True)
class Choice:
  """Why a node is placed where it is: the rule that decided, and the candidate it was preferred to."""

  rule: Rule
  backward: bool = False
  instead: int = -1
  note: str = ""


@dataclass(slots=True)
class Listed:
  order: list[int]
  choices: list[Choice]  # by node


class _Heap:
  """Ready nodes by a key; nodes placed in the meantime are skipped."""

  def __init__(self, placed: list[bool]) -> None:
    self.items: list[tuple[float, int]] = []
    self.placed = placed

  def push(self, key: float, v: int) -> None:
    heapq.heappush(self.items, (key, v))

  def first(self, count: int) -> list[int]:
    """Up to `count` nodes with the smallest keys. They stay in the heap."""
    items, placed = self.items, self.placed
    found: list[tuple[float, int]] = []
    while items and len(found) < count:
      item = heapq.heappop(items)
      if not placed[item[1]]:
        found.append(item)
    for item in found:
      heapq.heappush(items, item)
    return [v for _, v in found]


class List:
  """One run of the list over one problem."""

  def __init__(
    self,
    problem: Problem,
    rules: Sequence[Rule],
    instructions: Sequence[Instruction] | None = None,
    backward: bool = False,
    pressure: float = 0.8,
    tails: Sequence[float] | None = None,
  ) -> None:
    p = self.p = problem
    self.rules, self.instructions, self.backward = rules, instructions, backward
    self.tails = tails if tails is not None else p.tails()
    self.state = State(memory_limit=p.memory_limit, backward=backward)
    self.pressure = pressure * p.memory_limit
    self.waiting = [len(x) for x in p.preds]
    self.placed = [False] * p.size
    self.free = [[0.0] * max(1, n) for n in p.lanes]
    self.met = [0.0] * len(p.conflicts)
    self.meeting = [0] * len(p.conflicts)
    self.finish = [0.0] * p.size
    self.opened = [0] * len(p.limits)
    if not backward:
      for _, s in p.carried:
        self.opened[p.kind[s]] += 1
    self.left = p.touch_count.copy()
    self.state.memory = p.always + sum(size for size, there in zip(p.buffer_size, p.live_in) if there)
    self.dones: dict[int, None] = {}
    self.starts = [_Heap(self.placed) for _ in p.limits]
    self.compute = _Heap(self.placed)
    self.by_order = _Heap(self.placed)
    self.at_once: list[int] = []
    self.group = -1
    self.members_left = p.group_size.copy()
    self.group_needs = self._group_needs()
    for v in range(p.size):
      if not self.waiting[v]:
        self._ready(v)

  # What could come next.

  def _ready(self, v: int) -> None:
    p = self.p
    role = p.role[v]
    if role == DONE:
      self.dones[v] = None
    elif role == START:
      self.starts[p.kind[v]].push(-self.tails[v], v)
    elif p.cost[v] == 0.0 and p.kind[v] < 0 and p.group[v] < 0 and not p.touches[v] and v not in p.uses:
      heapq.heappush(self.at_once, v)
    else:
      self.compute.push(-self.tails[v], v)
      self.by_order.push(v, v)

  def _fits_limits(self, v: int) -> bool:
    p = self.p
    if p.group[v] >= 0 and p.group[v] != self.group:
      return self._group_fits(p.group[v])
    if p.role[v] == START:
      k, m = p.kind[v], p.meets[v]
      if self.opened[k] >= p.limits[k]:
        return False
      return m < 0 or not any(self.meeting[c] for c in p.conflicts[m])
    if v in p.uses:
      return all(self.opened[k] + count <= p.limits[k] for k, count in p.uses[v])
    return True

  def _group_needs(self) -> list[list[int]]:
    """For each group, by kind: how many pairs it opens that no node outside the group closes first."""
    p = self.p
    needs = [[0] * len(p.limits) for _ in p.groups]
    for v in range(p.size):
      if p.group[v] >= 0 and p.role[v] == START:
        needs[p.group[v]][p.kind[v]] += 1
    return needs

  def _group_fits(self, group: int) -> bool:
    return all(not need or self.opened[k] + need <= self.p.limits[k] for k, need in enumerate(self.group_needs[group]))

  def _candidates(self) -> list[int]:
    if self.at_once and self.group < 0:
      return [self.at_once[0]]
    pressed = self.state.pressed
    found = dict.fromkeys(self.dones)
    in_group = self.group >= 0
    count = (_LOOKED_AT_PRESSED if pressed else _LOOKED_AT) if not in_group else 1 << 30
    for kind, heap in enumerate(self.starts):
      if heap.items and self.opened[kind] < self.p.limits[kind]:
        found |= dict.fromkeys(heap.first(count))
    found |= dict.fromkeys(self.compute.first(count))
    if pressed and not in_group:
      found |= dict.fromkeys(self.by_order.first(count))
    if in_group:
      return [v for v in found if self.p.group[v] == self.group and self._fits_limits(v)] or self._free_ones()
    fitting = [v for v in found if self._fits_limits(v)]
    return fitting or self._place_any_ready()

  def _free_ones(self) -> list[int]:
    """A group waits only for nodes that cost nothing, or for a resource that a node outside holds."""
    if self.at_once:
      return [self.at_once[0]]
    self.group = -1
    return self._candidates()

  def _place_any_ready(self) -> list[int]:
    """Fallback for limits that cannot be kept: more pairs than may be open depend on one another. Any ready node is placed, and the
    measure of the order reports the broken limit.
    """
    found = [v for heap in (*self.starts, self.compute) for v in heap.first(1)]
    return found or [v for v in self.at_once[:1]]

  def _bytes(self, v: int) -> tuple[int, int]:
    """The bytes a node takes while it runs, and the change in live bytes afterwards."""
    p = self.p
    more = change = 0
    for b in p.touches[v]:
      size = p.buffer_size[b]
      if self.left[b] == p.touch_count[b] and not p.live_in[b]:
        more += size
        change += size
      if self.left[b] == 1 and not p.live_out[b]:
        change -= size
    return more + p.extra[v], change

  def _candidate(self, v: int, next_compute: float, next_bytes: int, more: int, change: int) -> Candidate:
    p, state = self.p, self.state
    role = p.role[v]
    stall, can_wait = 0.0, False
    if role == DONE:
      stall = max(0.0, self.finish[v] - state.time)
    elif role == START:
      lanes = self.free[p.kind[v]]
      can_wait = next_compute > 0 and min(lanes) >= state.time + next_compute
    elif p.kind[v] >= 0:
      stall = max(0.0, min(self.free[p.kind[v]]) - state.time)
    elif v in p.uses:
      waits = [sorted(self.free[k])[min(count, len(self.free[k])) - 1] for k, count in p.uses[v]]
      stall = max(0.0, max(waits) - state.time)
    excess = state.memory + more - p.memory_limit
    return Candidate(
      v,
      p.names[v],
      self.instructions[v] if self.instructions is not None else None,
      role == START,
      role == DONE,
      p.cost[v] if role == COMPUTE else 0.0,
      stall,
      self.tails[v],
      change,
      excess if excess > 0 else 0.0,
      role == COMPUTE and p.cost[v] == 0.0 and change <= 0,
      self.group >= 0 and p.group[v] == self.group,
      can_wait,
      state.memory + more + next_bytes <= p.memory_limit,
    )

  # Choosing.

  def _choose(self) -> tuple[int, Choice]:
    nodes = self._candidates()
    if len(nodes) == 1:
      return nodes[0], Choice(ONLY, self.backward)
    cost, role = self.p.cost, self.p.role
    next_compute = max((cost[v] for v in nodes if role[v] == COMPUTE), default=0.0)
    needs = [self._bytes(v) for v in nodes]
    next_bytes = max((need[0] for v, need in zip(nodes, needs) if role[v] == COMPUTE), default=0)
    candidates = [self._candidate(v, next_compute, next_bytes, *need) for v, need in zip(nodes, needs)]
    decided, instead = ONLY, -1
    for rule in self.rules:
      scores = [rule.condition(c, self.state) for c in candidates]
      best = max(scores)
      kept = [c for c, score in zip(candidates, scores) if score >= best]
      if len(kept) < len(candidates):
        decided = rule
        instead = next(c.node for c, score in zip(candidates, scores) if score < best)
        candidates = kept
        if len(kept) == 1:
          break
    return candidates[0].node, Choice(decided, self.backward, instead)

  def _place(self, v: int) -> None:
    p, state = self.p, self.state
    self.placed[v] = True
    role = p.role[v]
    if role == START:
      self._start(v)
    elif role == DONE:
      del self.dones[v]
      state.time = max(state.time, self.finish[v]) + p.main[v]
      if p.kind[v] >= 0:
        self.opened[p.kind[v]] -= 1
      if p.pair[v] >= 0 and p.meets[p.pair[v]] >= 0:
        self.meeting[p.meets[p.pair[v]]] -= 1
    else:
      if self.at_once and self.at_once[0] == v:
        heapq.heappop(self.at_once)
      self._compute(v)
    for b in p.touches[v]:
      if self.left[b] == p.touch_count[b] and not p.live_in[b]:
        state.memory += p.buffer_size[b]
      self.left[b] -= 1
      if not self.left[b] and not p.live_out[b]:
        state.memory -= p.buffer_size[b]
    state.pressed = state.memory > self.pressure
    if p.group[v] >= 0:
      self.members_left[p.group[v]] -= 1
      self.group = p.group[v] if self.members_left[p.group[v]] else -1
    for s in p.succs[v]:
      self.waiting[s] -= 1
      if not self.waiting[s]:
        self._ready(s)

  def _start(self, v: int) -> None:
    p = self.p
    k, m = p.kind[v], p.meets[v]
    lanes = self.free[k]
    at = 0 if len(lanes) == 1 else min(range(len(lanes)), key=lanes.__getitem__)
    begin = max(self.state.time, lanes[at])
    if m >= 0:
      begin = max(begin, max((self.met[c] for c in p.conflicts[m]), default=0.0))
      self.met[m] = begin + p.cost[v]
      if p.pair[v] >= 0:
        self.meeting[m] += 1
    lanes[at] = begin + p.cost[v]
    self.opened[k] += 1
    if p.pair[v] >= 0:
      self.finish[p.pair[v]] = lanes[at]
    self.state.time += p.main[v]

  def _compute(self, v: int) -> None:
    p, state = self.p, self.state
    if p.kind[v] >= 0:
      lanes = self.free[p.kind[v]]
      at = min(range(len(lanes)), key=lanes.__getitem__)
      lanes[at] = state.time = max(state.time, lanes[at]) + p.cost[v]
    elif v in p.uses:
      for k, count in p.uses[v]:
        state.time = max(state.time, sorted(self.free[k])[min(count, len(self.free[k])) - 1])
      state.time += p.cost[v]
      for k, count in p.uses[v]:
        lanes = sorted(self.free[k])
        self.free[k] = [state.time] * min(count, len(lanes)) + lanes[count:]
    else:
      state.time += p.cost[v]

  def run(self) -> Listed:
    order: list[int] = []
    choices = [Choice(ONLY, self.backward)] * self.p.size
    for _ in range(self.p.size):
      v, choice = self._choose()
      choices[v] = choice
      self._place(v)
      order.append(v)
    return Listed(order, choices)


def list_schedule(
  problem: Problem,
  rules: Sequence[Rule],
  instructions: Sequence[Instruction] | None = None,
  backward: bool = False,
  pressure: float = 0.8,
) -> Listed:
  """An order of the problem, from the beginning or from the end."""
  if not backward:
    return List(problem, rules, instructions, False, pressure).run()
  last = problem.size - 1
  seen = list(reversed(instructions)) if instructions is not None else None
  found = List(problem.mirror(), rules, seen, True, pressure).run()
  order = [last - v for v in reversed(found.order)]
  choices = [Choice(c.rule, True, last - c.instead if c.instead >= 0 else -1, c.note) for c in reversed(found.choices)]
  return Listed(order, choices)
