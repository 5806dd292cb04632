"""Annotated groups in a problem: edges that allow each group to be contiguous, and an order in which it is.

Every outside dependency of a member precedes all members, and every dependent of a member follows all of them; the list and the search
then only have to keep other nodes out (`timing.measure` counts violations as broken). Within a group, starts come first and dones last,
as far as the data flow allows, so that the other members overlap the transfers. The members of a group may be far apart in the original
order, so the nodes are renumbered.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from tilewright.hlo.cost.collectives import carried as inner_of
from tilewright.hlo.ir import Instruction
from tilewright.hlo.schedule.annotations import Annotation, HloScheduleError, annotation
from tilewright.hlo.schedule.limits import KINDS
from tilewright.hlo.schedule.problem import DONE, START, Problem


def add_groups(p: Problem, nodes: list[Instruction]) -> list[Instruction]:
  """Finds the groups among the instructions of a problem; returns the instructions in their new numbering."""
  members: dict[Annotation, list[int]] = {}
  for v, instruction in enumerate(nodes):
    found = annotation(instruction)
    if found is None and instruction.opcode == "async-start":
      found = annotation(inner_of(instruction))
    if found is not None:
      members.setdefault(found, []).append(v)
  _add_other_halves(p, members)
  for found, group in sorted(members.items()):
    if len(group) > 1:
      _check(p, found, group)
      for v in group:
        p.group[v] = len(p.groups)
      p.groups.append(found)
      p.group_size.append(len(group))
  if not p.groups:
    return nodes
  for number in range(len(p.groups)):
    _gate(p, number)
  order = grouped_order(p)
  if len(order) < p.size:
    raise _cannot(p, order)
  renumber(p, order)
  return [nodes[v] for v in order]


def _add_other_halves(p: Problem, members: dict[Annotation, list[int]]) -> None:
  """A start whose done has no annotation adds the done to its group, and the reverse."""
  taken = {v for group in members.values() for v in group}
  for group in members.values():
    group += [p.pair[v] for v in list(group) if p.pair[v] >= 0 and p.pair[v] not in taken]


def _check(p: Problem, found: Annotation, members: Sequence[int]) -> None:
  pairs: dict[int, set[int]] = {}
  for v in members:
    if p.role[v] in (START, DONE) and p.kind[v] >= 0:
      pairs.setdefault(p.kind[v], set()).add(min(v, p.pair[v]) if p.pair[v] >= 0 else v)
  for kind, those in pairs.items():
    if len(those) > p.limits[kind]:
      names = ", ".join(f"%{p.names[v]}" for v in sorted(those))
      raise HloScheduleError(
        f"scheduling group {found} holds {len(those)} pairs of kind {KINDS[kind]} ({names}), and {p.limits[kind]} may be "
        f"open at once. Raise that limit, or take some of them out of the group."
      )


def _gate(p: Problem, number: int) -> None:
  members = [v for v in range(p.size) if p.group[v] == number]
  inside = set(members)
  before = dict.fromkeys(u for v in members for u in p.preds[v] if u not in inside)
  after = dict.fromkeys(u for v in members for u in p.succs[v] if u not in inside)
  for v in members:
    for u in before:
      p.add_edge(u, v)
    for u in after:
      p.add_edge(v, u)
  _overlap(p, members)


def _overlap(p: Problem, members: Sequence[int]) -> None:
  """A pair that is entirely in the group spans all other members that the data flow allows: a group exists to overlap."""
  inside = set(members)
  pairs = [(v, p.pair[v]) for v in members if p.role[v] == START and p.pair[v] in inside]
  ends = {v for pair in pairs for v in pair}
  for start, done in pairs:
    before, behind = _reached(p.preds, start, inside), _reached(p.succs, done, inside)
    for v in members:
      if v in ends:
        continue
      if v not in before:
        p.add_edge(start, v)
      if v not in behind:
        p.add_edge(v, done)


def _reached(edges: Sequence[Sequence[int]], start: int, inside: set[int]) -> set[int]:
  found, work = {start}, [start]
  while work:
    for u in edges[work.pop()]:
      if u in inside and u not in found:
        found.add(u)
        work.append(u)
  return found


def _cannot(p: Problem, order: Sequence[int]) -> HloScheduleError:
  left = sorted(set(range(p.size)) - set(order))
  stuck = next((p.groups[p.group[v]] for v in left if p.group[v] >= 0), None)
  names = ", ".join(f"%{p.names[v]}" for v in left[:8])
  return HloScheduleError(
    f"scheduling group {stuck} cannot be kept together: a value leaves the group and re-enters it, or two groups depend on each other. "
    f"In the way: {names}."
  )


def grouped_order(p: Problem) -> list[int]:
  """The order nearest to the numbering in which groups are contiguous; shorter than the problem if there is none."""
  waiting = [len(needs) for needs in p.preds]
  ready = [v for v in range(p.size) if not waiting[v]]  # a heap
  order: list[int] = []
  aside: list[int] = []
  current, left = -1, 0
  while ready:
    v = heapq.heappop(ready)
    if current >= 0 and p.group[v] != current:
      aside.append(v)  # until the group is finished; if nothing else is left, it never will be
      continue
    order.append(v)
    if p.group[v] >= 0 and current < 0:
      current, left = p.group[v], p.group_size[p.group[v]]
    for s in p.succs[v]:
      waiting[s] -= 1
      if not waiting[s]:
        heapq.heappush(ready, s)
    if current >= 0:
      left -= 1
      if not left:
        current = -1
        for u in aside:
          heapq.heappush(ready, u)
        aside.clear()
  return order


def renumber(p: Problem, order: Sequence[int]) -> None:
  """Makes `order` the numbering."""
  new = {old: v for v, old in enumerate(order)}

  def moved(items: list) -> list:
    return [items[old] for old in order]

  for name in ("role", "cost", "kind", "names", "meets", "group", "touches", "extra", "exposed", "main"):
    setattr(p, name, moved(getattr(p, name)))
  p.pair = [new[w] if w >= 0 else -1 for w in moved(p.pair)]
  p.preds = [[new[u] for u in row] for row in moved(p.preds)]
  p.succs = [[new[u] for u in row] for row in moved(p.succs)]
  p.uses = {new[v]: kinds for v, kinds in p.uses.items()}
  p.carried = [(new[a], new[b]) for a, b in p.carried]
  p._edges = {(new[a], new[b]) for a, b in p._edges}
