"""Slack for prediction errors: starts a little earlier and dones a little later than the model requires.

Real transfers sometimes take longer than predicted. Where a transfer has less computation between its start and its done
than `margin` times its own length, the start moves up and the done moves down past independent instructions,
until there is enough. This never delays anything in the model: the moved nodes take no time, and keep their place among the
transfers of their kind. It stops at the memory limit, because buffers are held longer, and at annotated groups.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.hlo.schedule.problem import COMPUTE, START, Problem
from tilewright.hlo.schedule.rules import DONE_LATER, START_EARLIER, START_LATER, Rule
from tilewright.hlo.schedule.timing import measure, memory_profile


def extend(p: Problem, order: Sequence[int], margin: float) -> tuple[list[int], dict[int, Rule]]:
  """The order with longer overlaps, and why each node was moved. The same order if the measure would be worse."""
  before = measure(p, order)
  if before.broken or before.excess or margin <= 0:
    return list(order), {}
  work = _Extension(p, order)
  for start in [v for v in order if p.role[v] == START and p.pair[v] >= 0]:
    work.lengthen(start, margin)
  after = measure(p, work.order)
  if (after.broken, after.excess, after.seconds) > (0, 0.0, before.seconds * (1 + 1e-12)):
    return list(order), {}
  return work.order, work.moved


def place_starts(p: Problem, order: Sequence[int], when: str) -> tuple[list[int], dict[int, Rule]]:
  """Starts as early as possible (`asap`), or as late as their transfers stay hidden (`alap`). The same order if that costs time."""
  before = measure(p, order)
  if before.broken or before.excess:
    return list(order), {}
  work = _Extension(p, order)
  starts = [v for v in order if p.role[v] == START and p.pair[v] >= 0 and p.group[v] < 0]
  for start in starts if when == "asap" else reversed(starts):
    if when == "asap":
      work.advance(start)
    else:
      work.delay(start)
  after = measure(p, work.order)
  if (after.broken, after.excess, after.seconds) > (0, 0.0, before.seconds * (1 + 1e-12)):
    return list(order), {}
  return work.order, work.moved


class _Extension:
  def __init__(self, p: Problem, order: Sequence[int]) -> None:
    self.p, self.order = p, list(order)
    self.place = [0] * p.size
    for i, v in enumerate(self.order):
      self.place[v] = i
    self.profile = memory_profile(p, self.order)
    self.moved: dict[int, Rule] = {}
    self.first, self.last = self._ends()

  def _ends(self) -> tuple[list[int], list[int]]:
    """For each buffer the node that touches it first, and the one that touches it last."""
    p = self.p
    first, last = [-1] * len(p.buffer_size), [-1] * len(p.buffer_size)
    for v in self.order:
      for b in p.touches[v]:
        if first[b] < 0:
          first[b] = v
        last[b] = v
    return first, last

  def lengthen(self, start: int, margin: float) -> None:
    p = self.p
    done, wanted = p.pair[start], p.cost[start] * margin
    overlap = sum(p.cost[v] for v in self.order[self.place[start] + 1 : self.place[done]] if p.role[v] == COMPUTE)
    if p.group[start] < 0:
      while overlap < wanted and self._pass(start, -1, p.preds[start]):
        overlap += self._cost_passed(start, 1)
        self.moved[start] = START_EARLIER
    if p.group[done] < 0:
      while overlap < wanted and self._pass(done, 1, p.succs[done]):
        overlap += self._cost_passed(done, -1)
        self.moved[done] = DONE_LATER

  def advance(self, start: int) -> None:
    while self._pass(start, -1, self.p.preds[start]):
      self.moved[start] = START_EARLIER

  def delay(self, start: int) -> None:
    """Moves the done down as far as it goes, then the start, as long as the nodes left between them hide the transfer as well as before."""
    p = self.p
    done = p.pair[start]
    while p.group[done] < 0 and self._pass(done, 1, p.succs[done]):
      self.moved[done] = DONE_LATER
    between = self.order[self.place[start] + 1 : self.place[done]]
    overlap = sum(p.cost[v] for v in between if p.role[v] == COMPUTE)
    needed = min(overlap, p.cost[start])
    while self.place[start] + 1 < self.place[done]:
      other = self.order[self.place[start] + 1]
      passed = p.cost[other] if p.role[other] == COMPUTE else 0.0
      if overlap - passed < needed or not self._pass(start, 1, p.succs[start]):
        return
      overlap -= passed
      self.moved[start] = START_LATER

  def _cost_passed(self, v: int, side: int) -> float:
    other = self.order[self.place[v] + side]
    return self.p.cost[other] if self.p.role[other] == COMPUTE else 0.0

  def _pass(self, v: int, step: int, tied: Sequence[int]) -> bool:
    """Swaps the node with its neighbour, if that is legal."""
    p, i = self.p, self.place[v]
    j = i + step
    if not 0 <= j < len(self.order):
      return False
    other = self.order[j]
    same_kind = p.kind[other] == p.kind[v] or any(k == p.kind[v] for k, _ in p.uses.get(other, ()))
    if other in tied or same_kind or p.group[other] >= 0 or (p.meets[v] >= 0 and p.meets[other] >= 0):
      return False
    self._swap(min(i, j))
    if max(self.profile[i], self.profile[j]) > p.memory_limit:
      self._swap(min(i, j))
      return False
    return True

  def _swap(self, i: int) -> None:
    """Exchanges the nodes at places i and i + 1, and updates the memory profile."""
    p = self.p
    a, b = self.order[i], self.order[i + 1]
    before = self.profile[i] - p.extra[a] - self._allocated(a)
    for buffer in p.touches[a]:
      if buffer in p.touches[b]:
        if self.first[buffer] == a:
          self.first[buffer] = b
        if self.last[buffer] == b:
          self.last[buffer] = a
    self.order[i], self.order[i + 1] = b, a
    self.place[b], self.place[a] = i, i + 1
    self.profile[i] = before + self._allocated(b) + p.extra[b]
    self.profile[i + 1] = before + self._allocated(b) - self._freed(b) + self._allocated(a) + p.extra[a]

  def _allocated(self, v: int) -> int:
    p = self.p
    return sum(p.buffer_size[b] for b in p.touches[v] if self.first[b] == v and not p.live_in[b])

  def _freed(self, v: int) -> int:
    p = self.p
    return sum(p.buffer_size[b] for b in p.touches[v] if self.last[b] == v and not p.live_out[b])
