"""The candidates of every variable: layouts that some constraint proposes, propagated over the system and pruned.

Constraints that list layouts (matrix instructions, hints, memory) propose them, and they propagate: along hard constraints to what they
imply, along soft ones to neighbours that would then need no relayout. Each new candidate wakes only the constraints of its variable. Then
candidates that are compatible with no candidate of a neighbour are dropped (arc consistency), which wakes the neighbours, until a fixed
point.

Variables that must be equal are one *class*, which has a number, their *root*.
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from tilewright import errors
from tilewright.layout.constraints import (
  Constraint,
  Equal,
  Link,
  Listed,
  Located,
  PartOf,
  Place,
  RelayoutAllowed,
  SharedAccess,
  Soft,
  Variable,
  direction,
  image,
)
from tilewright.layout.layout import Layout
from tilewright.layout.prices import Prices

Seeds = Callable[[Variable], Iterable[Place]]
Root: TypeAlias = int


class Budget:
  """How much a search may do, and how much it has done: candidates and entries of tables."""

  def __init__(self, most: int):
    self.most, self.spent = most, 0

  def take(self, amount: int) -> None:
    self.spent += amount
    if self.spent > self.most:
      raise errors.LayoutBudgetError(
        f"the search for layouts ran out of its budget of {self.most} steps before it found any that satisfy the kernel; there may be a "
        "solution. Give hints (layout_cast) for some values, or a larger budget"
      )

  @property
  def left(self) -> int:
    return max(self.most - self.spent, 0)


class Graph:
  """The constraints over classes of equal variables: candidates of each class, and which constraints touch it.

  What constraints say about layouts, and what layouts cost, is kept: it holds for whatever candidates there are.
  """

  def __init__(self, system: Sequence[Located], invent: bool):
    self.prices = Prices()
    self.invent = invent  # whether to try layouts that no constraint proposes
    self.constraints = [own.constraint for own in system]
    self.root = _classes(self.constraints)
    self.roots = range(max(self.root.values(), default=-1) + 1)
    self.candidates: dict[Root, list[Place]] = {}
    self.touching: dict[Root, list[int]] = {root: [] for root in self.roots}
    self.scope: list[tuple[Root, ...]] = []
    # Through which constraints, from which of their variables, a layout of a class says something about which other: those that must hold,
    # and those that would be spared.
    self.spreading: dict[bool, dict[Root, list[tuple[int, Variable, Root]]]] = {
      must: {root: [] for root in self.roots} for must in (True, False)
    }
    self.relayouts: dict[Root, list[Root]] = {root: [] for root in self.roots}  # classes to which one may be relaid out
    self.known_images: dict[tuple[int, Variable], dict[Place, Place | None]] = {}
    self._ones: dict[Place, Place] = {}
    for number, constraint in enumerate(self.constraints):
      self.scope.append(tuple(dict.fromkeys(self.root[v] for v in constraint.variables)))
      if not isinstance(constraint, Equal):
        for root in self.scope[-1]:
          self.touching[root].append(number)
      if isinstance(constraint, RelayoutAllowed):
        for here, there in itertools.permutations(self.scope[-1], 2):
          self.relayouts[here].append(there)
      elif isinstance(constraint, Link | SharedAccess | PartOf):
        a, b = constraint.variables
        for variable, other in ((a, b), (b, a)):
          self.known_images[number, variable] = {}
          way = number, variable, self.root[other]
          self.spreading[isinstance(constraint, Link)][self.root[variable]].append(way)

  def image(self, number: int, variable: Variable, place: Place) -> Place | None:
    """What a layout of a variable says about the other one of a constraint; needed in every phase."""
    known = self.known_images[number, variable]
    if place in known:
      return known[place]
    found = image(self.constraints[number], variable, place, self.invent)
    found = known[place] = self.one(found) if found is not None else None
    return found

  def one(self, place: Place) -> Place:
    """The same object for all layouts that are equal: they are looked up very often, and that is fast for what is identical."""
    return self._ones.setdefault(place, place)

  def places(self, chosen: Mapping[Root, int]) -> dict[Variable, Place]:
    """The layout of each variable, by the number of its class's candidate."""
    return {v: self.candidates[root][chosen[root]] for v, root in self.root.items()}

  def pinned(self) -> dict[Root, set[Place]]:
    """Classes that a hint gives a layout: they take no other candidate."""
    found: dict[Root, set[Place]] = {}
    for number, constraint in enumerate(self.constraints):
      if isinstance(constraint, Listed) and len(self.scope[number]) == 1 and len(constraint.variables) == 1:
        options = {option[0] for option in constraint.options}
        root = self.scope[number][0]
        found[root] = found[root] & options if root in found else options
    return found


def _classes(constraints: Sequence[Constraint]) -> dict[Variable, Root]:
  """For each variable the number of its class, which all that must be equal to it have."""
  parent = {v: v for constraint in constraints for v in constraint.variables}

  def find(variable: Variable) -> Variable:
    while parent[variable] != variable:
      parent[variable] = variable = parent[parent[variable]]
    return variable

  for constraint in constraints:
    if isinstance(constraint, Equal):
      parent[find(constraint.a)] = find(constraint.b)
  number: dict[Variable, Root] = {}
  return {v: number.setdefault(find(v), len(number)) for v in parent}


# --- candidates --------------------------------------------------------------------------------------------------


def spread(graph: Graph, proposals: Sequence[Located], seeds: Seeds, budget: Budget, width: int) -> None:
  """Fill in the candidates: what is listed, then what follows from it; up to `width` of those that would only spare a move."""
  graph.candidates = {root: [] for root in graph.roots}
  pinned = graph.pinned()
  hard: collections.deque[tuple[Root, Place]] = collections.deque()
  soft: collections.deque[tuple[Root, Place]] = collections.deque()
  known: dict[Root, set[Place]] = {root: set() for root in graph.roots}

  def add(root: Root, place: Place, must: bool) -> None:
    if place in known[root] or (root in pinned and place not in pinned[root]):
      return
    if not must and len(known[root]) >= width:
      return
    budget.take(1)
    place = graph.one(place)
    known[root].add(place)
    graph.candidates[root].append(place)
    hard.append((root, place))

  def settle() -> None:
    while hard or soft:
      if hard:
        root, place = hard.popleft()
        soft.append((root, place))
        must = True
      else:
        root, place = soft.popleft()
        must = False
      for number, variable, other in graph.spreading[must][root]:
        found = graph.image(number, variable, place)
        if found is not None:
          add(other, found, must)
      if not must and isinstance(place, Layout):
        for other in graph.relayouts[root]:
          add(other, place, False)

  for own in proposals:
    constraint = own.constraint
    if isinstance(constraint, Listed):
      for option in constraint.options:
        for variable, place in zip(constraint.variables, option):
          if variable in graph.root:
            add(graph.root[variable], place, True)
  members: dict[Root, list[Variable]] = {}
  for variable in graph.root:
    members.setdefault(graph.root[variable], []).append(variable)
  for root, own_members in members.items():
    for variable in own_members:
      for place in seeds(variable):
        add(root, place, False)
  settle()


# --- propagation -------------------------------------------------------------------------------------------------


def prune(graph: Graph, budget: Budget) -> bool:
  """Drop candidates that some constraint excludes whatever its other variables are. False if a variable has none left."""
  work = collections.deque(n for n, c in enumerate(graph.constraints) if not isinstance(c, Soft | Equal))
  waiting = set(work)
  while work:
    number = work.popleft()
    waiting.discard(number)
    for root in graph.scope[number]:
      kept = _supported(graph, number, root, budget)
      if len(kept) == len(graph.candidates[root]):
        continue
      graph.candidates[root] = kept
      if not kept:
        return False
      for other in graph.touching[root]:
        if other != number and other not in waiting and not isinstance(graph.constraints[other], Soft):
          waiting.add(other)
          work.append(other)
  return all(graph.candidates.values())


def _supported(graph: Graph, number: int, root: Root, budget: Budget) -> list[Place]:
  """The candidates of a variable that go with some candidates of the others of one constraint."""
  constraint, scope = graph.constraints[number], graph.scope[number]
  own = graph.candidates[root]
  budget.take(len(own))
  if isinstance(constraint, Listed):
    sets = {r: set(graph.candidates[r]) for r in scope}
    left = [
      option
      for option in constraint.options
      if all(place in sets[graph.root[v]] for v, place in zip(constraint.variables, option))
    ]
    allowed = {option[i] for option in left for i, v in enumerate(constraint.variables) if graph.root[v] == root}
    return [place for place in own if place in allowed]
  if len(scope) == 1:
    return [p for p in own if constraint.holds({v: p for v in constraint.variables})]  # type: ignore[union-attr]
  together = pairs(graph, number, budget)
  side = scope.index(root)
  numbers = {pair[side] for pair in together}
  return [place for i, place in enumerate(own) if i in numbers]


def pairs(graph: Graph, number: int, budget: Budget) -> set[tuple[int, int]]:
  """Which candidates of two variables go together, by number, under a constraint in which one determines the other."""
  scope = graph.scope[number]
  link = graph.constraints[number]
  assert isinstance(link, Link) and len(scope) == 2
  source, target = direction(link)
  index = {place: i for i, place in enumerate(graph.candidates[graph.root[target]])}
  budget.take(len(graph.candidates[graph.root[source]]))
  found = set()
  for i, place in enumerate(graph.candidates[graph.root[source]]):
    other = graph.image(number, source, place)
    if other in index:
      found.add((i, index[other]) if scope[0] == graph.root[source] else (index[other], i))
  return found
