"""Random scheduling problems, and the best order of a small one, found by trying them all.

`optimum` goes over sets of placed nodes. Which pairs are open and what is live depends on the set alone; the clock, the lanes and
the ends of open transfers depend on the order, and of two ways to reach a set, one that is later in none of these is
at least as good from there on. Only ways that nothing beats in this sense are kept, so the result is exact.
"""

from __future__ import annotations

import random

from tilewright.hlo.schedule.limits import ASYNC_COMPUTE, COLLECTIVE, COPY_IN, P2P
from tilewright.hlo.schedule.problem import COMPUTE, DONE, START, Problem

LIMITS = (1, 1, 4, 2, 2, 2)
LANES = (1, 1, 4, 2, 1, 1)


def random_problem(seed: int, nodes: int, limits: tuple[int, ...] = LIMITS, memory: bool = False) -> Problem:
  """A problem of `nodes` nodes: computation and pairs, each node after up to three earlier ones."""
  draw = random.Random(seed)
  pairs = draw.randint(1, max(1, 2 * nodes // 5))
  marks = ["pair"] * pairs + ["compute"] * (nodes - 2 * pairs)
  draw.shuffle(marks)
  role, cost, kind, pair, preds = [], [], [], [], []
  opened: list[int] = []

  def add(r: int, c: float, k: int, needs: list[int]) -> int:
    role.append(r)
    cost.append(c)
    kind.append(k)
    pair.append(-1)
    preds.append(sorted(set(needs)))
    return len(role) - 1

  def some(count: int) -> list[int]:
    usable = [v for v in range(len(role)) if role[v] != START]
    return draw.sample(usable, min(len(usable), count))

  def close(start: int) -> None:
    done = add(DONE, 0.0, kind[start], [start])
    pair[start], pair[done] = done, start
    opened.remove(start)

  for mark in marks:
    if opened and draw.random() < 0.4:
      close(draw.choice(opened))
    if mark == "pair":
      kind_of = draw.choice((COLLECTIVE, COLLECTIVE, COPY_IN, P2P, ASYNC_COMPUTE))
      opened.append(add(START, float(draw.randint(1, 12)), kind_of, some(draw.randint(0, 2))))
    else:
      add(COMPUTE, float(draw.randint(1, 8)), -1, some(draw.randint(0, 3)))
  while opened:
    close(draw.choice(opened))
  size = len(role)
  succs: list[list[int]] = [[] for _ in range(size)]
  for v, needs in enumerate(preds):
    for u in needs:
      succs[u].append(v)
  lanes = tuple(min(lane, limit) for lane, limit in zip(LANES, limits))
  problem = Problem(
    size, role, cost, kind, pair, preds, succs, [f"n{v}" for v in range(size)], limits, lanes, [-1] * size,
    group=[-1] * size, touches=[[] for _ in range(size)], extra=[0] * size, exposed=[False] * size,
  )  # fmt: skip
  if memory:
    _add_memory(problem, draw)
  return problem


def _add_memory(p: Problem, draw: random.Random) -> None:
  """Every node writes a buffer that its users read; a start's operands and result stay until its done."""
  for v in range(p.size):
    if p.role[v] == DONE:
      continue
    users = set(p.succs[v])
    for u in list(users):
      if p.role[u] == START:
        users.add(p.pair[u])
    if p.role[v] == START:
      users.add(p.pair[v])
      users |= set(p.succs[p.pair[v]])
    touched = sorted({v, *users})
    b = len(p.buffer_size)
    p.buffer_size.append(draw.randint(1, 10))
    p.buffer_name.append(p.names[v])
    p.touch_count.append(len(touched))
    p.live_in.append(False)
    p.live_out.append(not p.succs[v])
    for u in touched:
      p.touches[u].append(b)


def optimum(p: Problem) -> float | None:
  """The least time of any order that keeps all limits; None if no order does."""
  full = (1 << p.size) - 1
  needs = [sum(1 << u for u in row) for row in p.preds]
  start = (0.0, tuple((0.0,) * n for n in p.lanes), ())
  fronts: dict[int, list[tuple]] = {0: [start]}
  for _ in range(p.size):
    following: dict[int, list[tuple]] = {}
    for mask, states in fronts.items():
      for v in range(p.size):
        if mask >> v & 1 or needs[v] & ~mask or not _allowed(p, mask, v):
          continue
        into = following.setdefault(mask | 1 << v, [])
        for state in states:
          _keep(into, _step(p, state, v))
    fronts = following
  return min((state[0] for state in fronts.get(full, [])), default=None)


def _allowed(p: Problem, mask: int, v: int) -> bool:
  if p.role[v] == START:
    k = p.kind[v]
    opened = sum(
      1 for s in range(p.size) if mask >> s & 1 and p.role[s] == START and p.kind[s] == k and not mask >> p.pair[s] & 1
    )
    if opened >= p.limits[k]:
      return False
  return _live(p, mask, v) <= p.memory_limit


def _live(p: Problem, mask: int, v: int) -> int:
  touched: dict[int, int] = {}
  for u in range(p.size):
    if mask >> u & 1:
      for b in p.touches[u]:
        touched[b] = touched.get(b, 0) + 1
  live = sum(p.buffer_size[b] for b, n in touched.items() if n < p.touch_count[b] or p.live_out[b])
  return live + sum(p.buffer_size[b] for b in p.touches[v] if b not in touched)


def _step(p: Problem, state: tuple, v: int) -> tuple:
  now, lanes, ends = state
  if p.role[v] == COMPUTE:
    return (now + p.cost[v], lanes, ends)
  if p.role[v] == START:
    k = p.kind[v]
    free = list(lanes[k])
    at = free.index(min(free))
    free[at] = max(now, free[at]) + p.cost[v]
    changed = tuple(tuple(free) if i == k else lane for i, lane in enumerate(lanes))
    return (now, changed, tuple(sorted((*ends, (p.pair[v], free[at])))))
  end = dict(ends)[v]
  return (max(now, end), lanes, tuple(e for e in ends if e[0] != v))


def _keep(front: list[tuple], new: tuple) -> None:
  def vector(state: tuple) -> list[float]:
    now, lanes, ends = state
    # What is free or over by now is as good as free now.
    return [now, *(max(t, now) for lane in lanes for t in sorted(lane)), *(max(t, now) for _, t in ends)]

  mine = vector(new)
  for old in front:
    if all(a <= b for a, b in zip(vector(old), mine)):
      return
  front[:] = [old for old in front if not all(a <= b for a, b in zip(mine, vector(old)))]
  front.append(new)
