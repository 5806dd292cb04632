"""The measure by which schedules are compared: how long an order takes and how much memory it needs.

One main stream runs the order. A start hands its work to a lane of its resource, where it begins as soon as the lane is free and no
conflicting collective runs; a done stalls the main stream until that work has ended. The stall is *exposed* time; so is the whole
of a transfer that is not asynchronous.

    time   0    1    2    3    4
    main   [start][ dot ][ dot ]~~~[done]       ~~~ exposed
    lane   [      all-reduce       ]

An order is better if it breaks fewer limits, then if it exceeds the memory limit by less, then if it is faster, then if it needs less
memory. A loop's body is timed in its second iteration, so that transfers started in the first are in flight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tilewright.hlo.schedule.problem import COMPUTE, START, Problem


@dataclass(frozen=True, slots=True)
class Outcome:
  """The measure of an order; smaller is better, field by field."""

  broken: int  # limits, conflicts and groups that are not kept
  excess: float  # bytes above the memory limit
  seconds: float
  peak: int
  exposed: float

  @property
  def key(self) -> tuple[int, float, float, int]:
    return (self.broken, self.excess, self.seconds, self.peak)


@dataclass(slots=True)
class Trace:
  """Every node's interval, for timelines. `wait` is how long the main stream stalled at it."""

  begin: list[float]
  end: list[float]
  wait: list[float]
  lane: list[int]  # of starts: which lane of their kind
  memory: list[int]  # bytes live while the node at this place of the order runs
  seconds: float = 0.0
  ends: list[float] = field(default_factory=list)  # of starts: when their work ends


def measure(p: Problem, order: Sequence[int]) -> Outcome:
  """The outcome of an order that keeps the dependencies."""
  seconds, exposed = _time(p, order)
  return _outcome(p, order, seconds, exposed)


def measure_unless_slower(p: Problem, order: Sequence[int], than: Outcome) -> Outcome | None:
  """The same; None if it is slower `than` an order that keeps everything."""
  seconds, exposed = _time(p, order)
  if seconds > than.seconds and than.broken == 0 and than.excess == 0:
    return None
  return _outcome(p, order, seconds, exposed)


def _outcome(p: Problem, order: Sequence[int], seconds: float, exposed: float) -> Outcome:
  peak = _peak(p, order)
  return Outcome(_broken(p, order), max(0.0, peak - p.memory_limit), seconds, peak, exposed)


def _time(p: Problem, order: Sequence[int]) -> tuple[float, float]:
  """Seconds, and how many of them are exposed."""
  if p.carried:
    record = Trace([0.0] * p.size, [0.0] * p.size, [0.0] * p.size, [0] * p.size, [])
    first, _ = _run(p, order, record, 0.0)
    second, exposed = _run(p, order, record, first, {d: record.ends[s] for d, s in p.carried})
    return second - first, exposed
  return _run(p, order, None, 0.0)


def trace(p: Problem, order: Sequence[int]) -> Trace:
  """The timeline of an order. A loop's body that carries transfers across iterations is shown in its second iteration."""
  result = Trace([0.0] * p.size, [0.0] * p.size, [0.0] * p.size, [0] * p.size, [])
  result.seconds, _ = _run(p, order, result, 0.0)
  if p.carried:
    first = result.seconds
    again = Trace([0.0] * p.size, [0.0] * p.size, [0.0] * p.size, [0] * p.size, [])
    end, _ = _run(p, order, again, first, {d: result.ends[s] for d, s in p.carried})
    for times in (again.begin, again.end, again.ends):
      times[:] = [t - first for t in times]
    again.seconds = end - first
    result = again
  result.memory = memory_profile(p, order)
  return result


def _run(
  p: Problem, order: Sequence[int], record: Trace | None, now: float, pending: dict[int, float] | None = None
) -> tuple[float, float]:
  role, cost, kind, pair, meets, uses = p.role, p.cost, p.kind, p.pair, p.meets, p.uses
  free = [[0.0] * max(1, n) for n in p.lanes]
  met = [0.0] * len(p.conflicts)  # when the last collective of these groups ends
  finish = [0.0] * p.size
  if pending:
    for done, at in pending.items():
      finish[done] = at
  waited = 0.0
  for v in order:
    r = role[v]
    begin, wait = now, 0.0
    if r == COMPUTE:
      k = kind[v]
      if k >= 0:  # a synchronous transfer: waits for its lane, and is exposed as a whole
        lane = free[k]
        at = min(range(len(lane)), key=lane.__getitem__)
        now = max(now, lane[at])
        if meets[v] >= 0:
          now = max(now, max((met[c] for c in p.conflicts[meets[v]]), default=0.0))
        wait = now - begin
        now += cost[v]
        lane[at] = now
        if meets[v] >= 0:
          met[meets[v]] = now
        waited += now - begin
      elif v in uses:  # a loop that uses resources waits until as many lanes as it needs are free
        for used, count in uses[v]:
          now = max(now, sorted(free[used])[min(count, len(free[used])) - 1])
        wait = now - begin
        waited += wait
        now += cost[v]
        for used, count in uses[v]:
          lane = sorted(free[used])
          free[used] = [now] * min(count, len(lane)) + lane[count:]
      else:
        now += cost[v]
    elif r == START:
      lane = free[kind[v]]
      at = 0 if len(lane) == 1 else min(range(len(lane)), key=lane.__getitem__)
      start = now if now > lane[at] else lane[at]
      m = meets[v]
      if m >= 0:
        for c in p.conflicts[m]:
          if met[c] > start:
            start = met[c]
      end = start + cost[v]
      lane[at] = end
      if m >= 0:
        met[m] = end
      finish[v] = end
      if pair[v] >= 0:
        finish[pair[v]] = end
      now += p.main[v]
      if record is not None:
        record.lane[v] = at
        begin = start
    else:
      end = finish[v]
      if end > now:
        wait = end - now
        waited += wait
        now = end
      now += p.main[v]
    if record is not None:
      record.begin[v] = begin
      record.end[v] = finish[v] if r == START else now
      record.wait[v] = wait
  if record is not None:
    record.ends = finish
  return now, waited


def _broken(p: Problem, order: Sequence[int]) -> int:
  """How many overlap limits, conflicts and groups are not kept."""
  role, kind, pair, limits, meets = p.role, p.kind, p.pair, p.limits, p.meets
  opened = [0] * len(limits)
  for _, s in p.carried:  # open when an iteration begins
    opened[kind[s]] += 1
  meeting = [0] * len(p.conflicts)
  broken = 0
  for v in order:
    r = role[v]
    if r == COMPUTE:
      if v in p.uses:
        broken += sum(opened[k] + count > limits[k] for k, count in p.uses[v])
      continue
    k = kind[v]
    if r == START:
      m = meets[v]
      opened[k] += 1
      broken += opened[k] > limits[k]
      if m >= 0:
        broken += any(meeting[c] for c in p.conflicts[m])
        if pair[v] >= 0:
          meeting[m] += 1
    else:
      if k >= 0:
        opened[k] -= 1
      if pair[v] >= 0 and meets[pair[v]] >= 0:
        meeting[meets[pair[v]]] -= 1
  return broken + (_broken_groups(p, order) if p.groups else 0)


def _broken_groups(p: Problem, order: Sequence[int]) -> int:
  """How many nodes that take time or a resource are placed between members of a group."""
  broken, current, inside = 0, -1, 0
  for v in order:
    group = p.group[v]
    if current < 0:
      if group >= 0:
        current, inside = group, p.group_size[group]
    elif group != current:
      broken += p.cost[v] > 0 or p.role[v] != COMPUTE
      continue
    if current >= 0:
      inside -= 1
      if not inside:
        current = -1
  return broken


def _peak(p: Problem, order: Sequence[int]) -> int:
  """The peak of live memory. The first writer of a buffer is the same in every order, so the bytes a node adds are
  known; so are the bytes it frees, unless several nodes read the buffer.
  """
  facts = p.memory_facts
  added, freed, shared, sizes, extra = facts.added, facts.freed, facts.shared, p.buffer_size, p.extra
  left = facts.readers.copy()
  live = peak = facts.at_first
  for v in order:
    live += added[v]
    if live + extra[v] > peak:
      peak = live + extra[v]
    live -= freed[v]
    for b in shared[v]:
      left[b] -= 1
      if not left[b]:
        live -= sizes[b]
  return peak


def memory_profile(p: Problem, order: Sequence[int]) -> list[int]:
  """Bytes live while each node of the order runs."""
  left = p.touch_count.copy()
  live = p.always + sum(size for size, there in zip(p.buffer_size, p.live_in) if there)
  profile: list[int] = []
  for v in order:
    for b in p.touches[v]:
      if left[b] == p.touch_count[b] and not p.live_in[b]:
        live += p.buffer_size[b]
    profile.append(live + p.extra[v])
    for b in p.touches[v]:
      left[b] -= 1
      if not left[b] and not p.live_out[b]:
        live -= p.buffer_size[b]
  return profile


def live_at(p: Problem, order: Sequence[int], place: int) -> list[int]:
  """The buffers that are live while the node at `place` runs, largest first."""
  first: dict[int, int] = {}
  last: dict[int, int] = {}
  for i, v in enumerate(order):
    for b in p.touches[v]:
      first.setdefault(b, i)
      last[b] = i
  found = [b for b in first if (p.live_in[b] or first[b] <= place) and (p.live_out[b] or last[b] >= place)]
  return sorted(found, key=lambda b: (-p.buffer_size[b], b))


def keeps_dependencies(p: Problem, order: Sequence[int]) -> bool:
  place = {v: i for i, v in enumerate(order)}
  return len(place) == p.size == len(order) and all(place[u] < place[v] for v in range(p.size) for u in p.preds[v])
