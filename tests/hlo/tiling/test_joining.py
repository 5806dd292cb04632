"""Groups that may be joined: exactly those whose union is no part of a cycle of groups."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.hlo import Builder, Instruction
from tilewright.hlo.tiling import joining


def random_graph(rng: random.Random) -> list[Instruction]:
  b = Builder("graph")
  values = [b.parameter("f32", (8,))]
  for _ in range(rng.randint(3, 14)):
    values.append(b.add(*rng.choices(values, k=2)))
  b.finish(values[-1])
  return values


def reaches_itself(groups: list[frozenset[Instruction]], start: frozenset[Instruction]) -> bool:
  """By following users from group to group, one group at a time."""
  of = {i: g for g in groups for i in g}
  seen: set[frozenset[Instruction]] = set()
  left = [start]
  while left:
    group = left.pop()
    for user in (u for i in group for u in i.users):
      if of[user] is start and group is not start:
        return True
      if of[user] not in seen and of[user] is not start:
        seen.add(of[user])
        left.append(of[user])
  return False


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_a_union_waits_for_itself_if_groups_make_a_cycle(seed):
  rng = random.Random(seed)
  order = random_graph(rng)
  position = {i: n for n, i in enumerate(order)}
  groups = {i: frozenset([i]) for i in order}
  for _ in range(20):
    one, two = groups[rng.choice(order)], groups[rng.choice(order)]
    if one is two:
      continue
    both = one | two
    others = [g for g in dict.fromkeys(groups.values()) if g is not one and g is not two]
    last = joining.last_that_leads_back(both, [g for g in others if len(g) > 1], position)
    waits = joining.waits_for_itself(both, groups.__getitem__, position, last)
    assert waits == reaches_itself([*others, both], both)
    if not waits:
      groups.update(dict.fromkeys(both, both))


def test_edges_and_readers_come_by_size():
  b = Builder("graph")
  small, large = b.parameter("f32", (4,)), b.parameter("f32", (64,))
  one, two, three = b.unary("negate", small), b.unary("negate", large), b.unary("tanh", large)
  last = b.add(two, three)
  b.finish(b.make_tuple(b.unary("abs", one), last))
  order = [i for i in b.computation.instructions if i.opcode != "tuple"]
  position = {i: n for n, i in enumerate(order)}
  found = joining.edges([i for i in order if i.opcode != "parameter"], position)
  assert [(e.producer, e.consumer) for e in found][:2] == [(two, last), (three, last)]
  assert found[-1].producer is one
  assert joining.readers(order, {two, three}, 100, position) == [(two, three, large)]
