"""Local search: moves around the best order found, as long as they improve it.

Two moves reach every order. *Up*: an instruction moves up to an earlier place, together with its dependencies from in between. *Down*:
it moves down to a later place, together with its dependents from in between. Both keep every dependency.

    a b c d e      up: e to the place of b, and e needs c:   a c e b d

Most moves target stalls of the main stream: the start of a late transfer moves up, past other starts or computation; the
done moves down; unconstrained computation moves up into the gap. Others are drawn at random, from a generator with a
fixed seed. A move is kept if the measure (`timing.measure`) is not worse, and counts as progress if it is better, so the
result is never worse than the starting order. The budget counts visits of nodes, not seconds: equal inputs give equal orders.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tilewright.hlo.schedule.problem import COMPUTE, DONE, START, Problem
from tilewright.hlo.schedule.timing import Outcome, measure, measure_unless_slower, trace

_AS_FAST = 1.001
_SMALL = 24  # problems up to this size are also searched from several starting orders


@dataclass(slots=True)
class Found:
  order: list[int]
  outcome: Outcome
  moved: dict[int, str] = field(default_factory=dict)  # node → what its last move gained
  visits: int = 0
  beginning: int = 0  # which of the orders given it grew from


def up(p: Problem, order: Sequence[int], at: int, to: int) -> list[int]:
  """The node at place `at` moved to place `to`, together with its dependencies from between."""
  v = order[at]
  needed = set(p.preds[v])
  taken: list[int] = []
  others: list[int] = []
  for i in range(at - 1, to - 1, -1):
    u = order[i]
    if u in needed:
      taken.append(u)
      needed.update(p.preds[u])
    else:
      others.append(u)
  return [*order[:to], *reversed(taken), v, *reversed(others), *order[at + 1 :]]


def down(p: Problem, order: Sequence[int], at: int, to: int) -> list[int]:
  """The node at place `at` moved behind place `to`, together with its dependents from between."""
  v = order[at]
  holding = set(p.succs[v])
  taken: list[int] = []
  others: list[int] = []
  for i in range(at + 1, to + 1):
    u = order[i]
    if u in holding:
      taken.append(u)
      holding.update(p.succs[u])
    else:
      others.append(u)
  return [*order[:at], *others, v, *taken, *order[to + 1 :]]


class _Search:
  def __init__(self, p: Problem, order: Sequence[int], budget: int, seed: int) -> None:
    self.p, self.budget = p, budget
    self.order = list(order)
    self.now = self.best = measure(p, self.order)
    self.best_order = self.order
    self.visits = p.size
    self.moved: dict[int, str] = {}
    self.random = random.Random(seed)
    self.lower = _lower_bound(p)

  @property
  def spent(self) -> bool:
    return self.visits >= self.budget

  @property
  def is_optimal(self) -> bool:
    """No order can be faster; the remaining criterion is memory, which only counts above the limit."""
    return self.best.broken == 0 and self.best.excess == 0 and self.best.seconds <= self.lower * (1 + 1e-9)

  def attempt(self, order: list[int], node: int) -> bool:
    """Accepts the order if it is not worse; returns whether it is better than the best."""
    self.visits += self.p.size
    outcome = measure_unless_slower(self.p, order, self.now)
    if outcome is None or outcome.key > self.now.key:
      return False
    before = self.now
    self.order, self.now = order, outcome
    if outcome.key < self.best.key:
      self.best, self.best_order = outcome, order
      self.moved[node] = _gain(before, outcome)
      return True
    return False

  # Moves at waits.

  def improve_longest_stalls(self) -> bool:
    """One round over the longest stalls; returns whether anything improved."""
    self.visits += self.p.size
    timeline = trace(self.p, self.order)
    waits = [v for v in self.order if timeline.wait[v] > 0 or (self.p.exposed[v] and self.p.cost[v] > 0)]
    waits.sort(key=lambda v: (-timeline.wait[v], v))
    for v in waits[:16]:
      for node, order in self._moves(v):
        if self.spent:
          return False
        if self.attempt(order, node):
          return True
    if self.now.excess > 0:
      return self._less_memory(timeline.memory)
    return False

  def _moves(self, done: int) -> Iterator[tuple[int, list[int]]]:
    p, order = self.p, self.order
    place = {v: i for i, v in enumerate(order)}
    at = place[done]
    start = p.pair[done]
    if start >= 0 and p.role[done] == DONE:
      s = place[start]
      for to in self._places_before(s):
        yield start, up(p, order, s, to)
    for to in self._places_after(at):
      yield done, down(p, order, at, to)
    count = 0
    for i in range(at + 1, len(order)):  # computation that could fill the gap
      u = order[i]
      if p.role[u] == COMPUTE and p.cost[u] > 0 and all(place[x] < at for x in p.preds[u]):
        yield u, up(p, order, i, at)
        count += 1
        if count == 6:
          break

  def _places_before(self, at: int) -> Iterator[int]:
    """Before the nearest few computations and starts, then in growing steps, then the front."""
    p, order = self.p, self.order
    given = 0
    for i in range(at - 1, -1, -1):
      if p.cost[order[i]] > 0:
        given += 1
        if given <= 4 or given & (given - 1) == 0:
          yield i
    if at > 0:
      yield 0

  def _places_after(self, at: int) -> Iterator[int]:
    p, order = self.p, self.order
    given = 0
    for i in range(at + 1, len(order)):
      if p.cost[order[i]] > 0 or p.role[order[i]] == DONE:
        given += 1
        if given <= 4 or given & (given - 1) == 0:
          yield i
        if given > 64:
          return

  # Moves at the peak of memory.

  def _less_memory(self, profile: Sequence[int]) -> bool:
    """Starts before the peak move down behind it; nodes that free memory move up before it."""
    p, order = self.p, self.order
    peak = max(range(len(order)), key=lambda i: (profile[i], -i))
    for i in range(peak, -1, -1):
      if p.role[order[i]] == START and not self.spent and self.attempt(down(p, order, i, peak), order[i]):
        return True
    later = range(peak + 1, min(len(order), peak + 40))
    return any(not self.spent and self.attempt(up(p, order, i, peak), order[i]) for i in later)

  # Moves at random.

  def drawn(self) -> bool:
    p, order = self.p, self.order
    size = len(order)
    at = self.random.randrange(size)
    reach = size if size <= 64 else 64
    if self.random.random() < 0.5:
      to = max(0, at - 1 - self.random.randrange(reach))
      return to < at and self.attempt(up(p, order, at, to), order[at])
    to = min(size - 1, at + 1 + self.random.randrange(reach))
    return to > at and self.attempt(down(p, order, at, to), order[at])

  def perturb(self) -> None:
    """A few random moves from the best order, whatever their cost: a new starting order nearby."""
    self.order, self.now = self.best_order, self.best
    for _ in range(2 + self.random.randrange(3)):
      at = self.random.randrange(len(self.order))
      to = self.random.randrange(len(self.order))
      move = up if to < at else down
      self.order = move(self.p, self.order, at, to)
    self.visits += self.p.size
    self.now = measure(self.p, self.order)

  def run(self, idle: int, perturbations: int) -> None:
    """Aimed moves while they help, random ones in between; after `idle` of these without progress a kick, `perturbations` times."""
    while not self.spent and not self.is_optimal:
      if self.improve_longest_stalls():
        continue
      progress = False
      for _ in range(idle):
        if self.spent or self.is_optimal:
          break
        if self.drawn():
          progress = True
          break
      if not progress:
        if not perturbations:
          return
        perturbations -= 1
        self.perturb()

  def found(self) -> Found:
    return Found(self.best_order, self.best, self.moved, self.visits)


def search(p: Problem, beginnings: Sequence[Sequence[int]], budget: int, seed: int = 0) -> Found:
  """The best order reached from the best of `beginnings`; small problems are searched from each of them."""
  if p.size < 2:
    return Found(list(beginnings[0]), measure(p, beginnings[0]))
  outcomes = [measure(p, order) for order in beginnings]
  ranked = _ranked(outcomes)
  best: Found | None = None
  todo = ranked if p.size <= _SMALL else ranked[:1]
  share = budget // len(todo)
  for number in todo:
    attempt = _Search(p, beginnings[number], share, seed + number)
    attempt.run(*((6 * p.size, 4) if p.size <= _SMALL else (2 * p.size, 1000)))
    found = attempt.found()
    found.beginning = number
    if best is None or found.outcome.key < best.outcome.key:
      best = found
    if attempt.is_optimal:
      break
  assert best is not None
  return best


def _ranked(outcomes: Sequence[Outcome]) -> list[int]:
  """Best first; of those that are as fast to a tenth of a percent, the one that needs the least memory."""
  order = sorted(range(len(outcomes)), key=lambda i: (outcomes[i].key, i))
  best = outcomes[order[0]]

  def is_near(o: Outcome) -> bool:
    return (o.broken, o.excess) == (best.broken, best.excess) and o.seconds <= best.seconds * _AS_FAST

  return sorted(order, key=lambda i: (0, outcomes[i].peak) if is_near(outcomes[i]) else (1, 0))


def _lower_bound(p: Problem) -> float:
  """No order takes less: all of the main stream's work, or the longest chain, or all of one resource's work."""
  main = sum(c for c, r in zip(p.cost, p.role) if r == COMPUTE) + sum(p.main)
  if p.carried:
    return main
  tails = p.tails()
  heads = p.mirror().tails()[::-1]  # the longest way from the beginning to the end of each node
  bound = max(main, max(tails, default=0.0))
  for kind, lanes in enumerate(p.lanes):
    starts = [v for v in range(p.size) if p.kind[v] == kind and p.role[v] == START and p.pair[v] >= 0]
    if starts:
      first = min(max((heads[u] for u in p.preds[v]), default=0.0) for v in starts)
      last = min(tails[p.pair[v]] for v in starts)
      bound = max(bound, first + sum(p.cost[v] for v in starts) / max(1, lanes) + last)
  return bound


def _gain(before: Outcome, after: Outcome) -> str:
  if after.broken < before.broken:
    return "an overlap limit is kept"
  if after.excess < before.excess:
    return f"memory above the limit {before.excess / 1e6:.1f} → {after.excess / 1e6:.1f} MB"
  if after.seconds < before.seconds:
    return f"{before.seconds * 1e6:.1f} → {after.seconds * 1e6:.1f} µs"
  return f"peak memory {before.peak / 1e6:.1f} → {after.peak / 1e6:.1f} MB"
