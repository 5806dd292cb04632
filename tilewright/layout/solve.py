"""The cheapest layouts that satisfy a system of constraints.

1. Variables that must be equal become one.
2. Candidates. Constraints that list layouts (matrix instructions, hints, memory) propose them, and they spread: along hard constraints to
   what they imply, along soft ones to neighbours that would then be spared a relayout. Each new candidate wakes only the constraints of its
   variable.
3. Propagation. A candidate that no candidate of a neighbour goes with is dropped, which wakes the neighbours, until nothing changes.
4. Elimination. Variables are taken out one after another, the one with the smallest table first. A table over the variable's neighbours
   keeps, for each combination of their candidates, the cheapest of its own. What remains is the cost of the cheapest assignment, and the
   tables read backwards are the assignment itself. This is exact for the candidates, and polynomial where the graph of constraints is
   tree-like, as that of kernels is.

The budget bounds candidates and table entries together. Past it LayoutBudgetError is raised; a system without a solution raises
LayoutConflictError, see `conflict`.
"""

from __future__ import annotations

import collections
import dataclasses
import heapq
import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from tilewright import errors
from tilewright.layout.constraints import (
  Constraint,
  Equal,
  Link,
  Listed,
  Located,
  Place,
  Price,
  Soft,
  Variable,
  direction,
  images,
  invented,
)

DEFAULT_BUDGET = 4_000_000
WIDTHS = (
  24,
  8,
  4,
)  # how many candidates a variable takes over from neighbours it need not agree with, at first and then
Seeds = Callable[[Variable], Iterable[Place]]


@dataclasses.dataclass(frozen=True)
class Solution:
  """The cheapest assignment, its cost, and how much of the budget it took to find."""

  places: Mapping[Variable, Place]
  cost: int
  spent: int


class Budget:
  def __init__(self, most: int):
    self.most, self.spent = most, 0

  def take(self, amount: int) -> None:
    self.spent += amount
    if self.spent > self.most:
      raise errors.LayoutBudgetError(
        f"the search for layouts stopped after {self.most} steps without having looked at everything; there may be a solution. "
        "Give hints (layout_cast) for some values, or a larger budget"
      )


def solve(system: Sequence[Located], seeds: Seeds = lambda v: (), budget: int = DEFAULT_BUDGET) -> Solution:
  """The cheapest consistent assignment. `seeds` proposes layouts for a variable about which nothing else says anything.

  A search that runs out of budget is narrowed, to fewer candidates that only spare relayouts, before it is given up.
  """
  for width in WIDTHS:
    try:
      found = attempt(system, seeds, Budget(budget), width=width)
      break
    except errors.LayoutBudgetError:
      if width == WIDTHS[-1]:
        raise
  if found is None:
    from tilewright.layout.conflict import explain

    raise explain(system, seeds, budget)
  return found


def attempt(
  system: Sequence[Located],
  seeds: Seeds,
  budget: Budget,
  propose: Sequence[Located] = (),
  width: int = WIDTHS[-1],
) -> Solution | None:
  """The cheapest assignment, or None if there is none. Constraints in `propose` give candidates, but need not hold."""
  for invent in (False, True):
    graph = Graph(system, width, invent)
    spread(graph, [*system, *propose], seeds, budget)
    if prune(graph, budget) and (found := eliminate(graph, budget)) is not None:
      return found
  return None


class Graph:
  """The constraints over classes of equal variables: candidates of each class, and which constraints touch it."""

  def __init__(self, system: Sequence[Located], width: int, invent: bool):
    self.width = width
    self.invent = invent  # whether to try layouts that nothing asks for
    self.constraints = [own.constraint for own in system]
    self.root = _classes(self.constraints)
    self.roots = list(dict.fromkeys(self.root.values()))
    self.candidates: dict[Variable, list[Place]] = {root: [] for root in self.roots}
    self.touching: dict[Variable, list[int]] = {root: [] for root in self.roots}
    self.scope: list[tuple[Variable, ...]] = []
    self.known_images: dict[tuple[int, Variable, Place], tuple[tuple[Variable, Place], ...]] = {}
    self.known_prices: dict[tuple[object, ...], np.ndarray] = {}
    for number, constraint in enumerate(self.constraints):
      self.scope.append(tuple(dict.fromkeys(self.root[v] for v in constraint.variables)))
      if not isinstance(constraint, Equal):
        for root in self.scope[-1]:
          self.touching[root].append(number)

  def images(self, number: int, variable: Variable, place: Place) -> tuple[tuple[Variable, Place], ...]:
    """What a layout of a variable says about the others of a constraint; asked for in every phase."""
    key = number, variable, place
    found = self.known_images.get(key)
    if found is None:
      constraint = self.constraints[number]
      more = invented(constraint, variable, place) if self.invent and isinstance(constraint, Link) else ()
      found = self.known_images[key] = (*images(constraint, variable, place), *more)
    return found

  def prices(self, price: Price, axes: list[int], lists: list[list[Place]]) -> np.ndarray:
    """A table of prices; argument i of the price is a candidate from list `axes[i]`. Many constraints have the same."""
    key = price, tuple(axes), tuple(map(tuple, lists))
    found = self.known_prices.get(key)
    if found is None:
      found = self.known_prices[key] = np.empty([len(own) for own in lists])
      for where in np.ndindex(*found.shape):
        found[where] = price(*(lists[axis][where[axis]] for axis in axes))
    return found

  def pinned(self) -> dict[Variable, set[Place]]:
    """Classes that a hint gives a layout: they take no other candidate."""
    found: dict[Variable, set[Place]] = {}
    for number, constraint in enumerate(self.constraints):
      if isinstance(constraint, Listed) and len(self.scope[number]) == 1 and len(constraint.variables) == 1:
        options = {option[0] for option in constraint.options}
        root = self.scope[number][0]
        found[root] = found[root] & options if root in found else options
    return found


def _classes(constraints: Sequence[Constraint]) -> dict[Variable, Variable]:
  """For each variable the one that stands for all that must be equal to it."""
  parent = {v: v for constraint in constraints for v in constraint.variables}

  def find(variable: Variable) -> Variable:
    while parent[variable] != variable:
      parent[variable] = variable = parent[parent[variable]]
    return variable

  for constraint in constraints:
    if isinstance(constraint, Equal):
      parent[find(constraint.a)] = find(constraint.b)
  return {v: find(v) for v in parent}


# --- candidates --------------------------------------------------------------------------------------------------


def spread(graph: Graph, proposals: Sequence[Located], seeds: Seeds, budget: Budget) -> None:
  """Fill in the candidates: what is listed, then what follows from it."""
  pinned = graph.pinned()
  hard: collections.deque[tuple[Variable, Place]] = collections.deque()
  soft: collections.deque[tuple[Variable, Place]] = collections.deque()
  known: dict[Variable, set[Place]] = {root: set() for root in graph.roots}

  def add(root: Variable, place: Place, must: bool) -> None:
    if place in known[root] or (root in pinned and place not in pinned[root]):
      return
    if not must and len(known[root]) >= graph.width:
      return
    budget.take(1)
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
      for number in graph.touching[root]:
        constraint = graph.constraints[number]
        if isinstance(constraint, Soft) == must:
          continue
        for variable in constraint.variables:
          if graph.root[variable] == root:
            for other, image in graph.images(number, variable, place):
              add(graph.root[other], image, must)

  for own in proposals:
    constraint = own.constraint
    if isinstance(constraint, Listed):
      for option in constraint.options:
        for variable, place in zip(constraint.variables, option):
          if variable in graph.root:
            add(graph.root[variable], place, True)
  members: dict[Variable, list[Variable]] = {}
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


def _supported(graph: Graph, number: int, root: Variable, budget: Budget) -> list[Place]:
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
  allowed_pairs = _pairs(graph, number, budget)
  side = scope.index(root)
  numbers = {pair[side] for pair in allowed_pairs}
  return [place for i, place in enumerate(own) if i in numbers]


def _pairs(graph: Graph, number: int, budget: Budget) -> set[tuple[int, int]]:
  """Which candidates of two variables go together, by number, under a constraint in which one determines the other."""
  scope = graph.scope[number]
  link = graph.constraints[number]
  assert isinstance(link, Link) and len(scope) == 2
  source, target = direction(link)
  index = {place: i for i, place in enumerate(graph.candidates[graph.root[target]])}
  budget.take(len(graph.candidates[graph.root[source]]))
  found = set()
  for i, place in enumerate(graph.candidates[graph.root[source]]):
    for _, image in graph.images(number, source, place):
      if image in index:
        found.add((i, index[image]) if scope[0] == graph.root[source] else (index[image], i))
  return found


# --- elimination -------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class _Table:
  """Costs over the candidates of some variables, an axis for each."""

  scope: tuple[Variable, ...]
  costs: np.ndarray


def eliminate(graph: Graph, budget: Budget) -> Solution | None:
  """The cheapest assignment of the candidates, exactly."""
  tables: dict[int, _Table] = {}
  at: dict[Variable, set[int]] = {root: set() for root in graph.roots}
  for number, constraint in enumerate(graph.constraints):
    if isinstance(constraint, Equal):
      continue
    tables[number] = _Table(*_without_settled(graph, graph.scope[number], _costs(graph, number, budget)))
    for root in tables[number].scope:
      at[root].add(number)
  sizes = {root: len(own) for root, own in graph.candidates.items()}
  total = sum(float(table.costs) for table in tables.values() if not table.scope)
  chosen = {root: 0 for root, size in sizes.items() if size == 1}

  def neighbours(root: Variable) -> list[Variable]:
    return list(dict.fromkeys(v for number in sorted(at[root]) for v in tables[number].scope if v != root))

  def weight(root: Variable) -> int:
    return sizes[root] * math.prod(sizes[v] for v in neighbours(root))

  order = {root: i for i, root in enumerate(graph.roots) if root not in chosen}
  queue = [(weight(root), order[root], root) for root in order]
  heapq.heapify(queue)
  done: list[tuple[Variable, tuple[Variable, ...], np.ndarray]] = []
  gone: set[Variable] = set()
  while queue:
    expected, _, root = heapq.heappop(queue)
    if root in gone:
      continue
    now = weight(root)
    if now > expected:  # its neighbours have come closer since; ask again later
      heapq.heappush(queue, (now, order[root], root))
      continue
    around = tuple(neighbours(root))
    budget.take(now)
    scope = (*around, root)
    joint = np.zeros([sizes[v] for v in scope])
    for number in sorted(at[root]):
      joint = joint + _aligned(tables[number], scope)
    best = joint.argmin(axis=-1)
    left = joint.min(axis=-1)
    done.append((root, around, best))
    gone.add(root)
    for number in list(at[root]):
      for v in tables[number].scope:
        at[v].discard(number)
      del tables[number]
    if not around:
      total += float(left)
      continue
    number = len(graph.constraints) + len(done)
    tables[number] = _Table(around, left)
    for v in around:
      at[v].add(number)
      heapq.heappush(queue, (weight(v), order[v], v))
  if not math.isfinite(total):
    return None
  for root, around, best in reversed(done):
    chosen[root] = int(best[tuple(chosen[v] for v in around)])
  places = {v: graph.candidates[graph.root[v]][chosen[graph.root[v]]] for v in graph.root}
  return Solution(places, int(total), budget.spent)


def _without_settled(
  graph: Graph, scope: tuple[Variable, ...], costs: np.ndarray
) -> tuple[tuple[Variable, ...], np.ndarray]:
  """A table without the variables that have one candidate."""
  open_axes = [axis for axis, root in enumerate(scope) if len(graph.candidates[root]) > 1]
  return tuple(scope[axis] for axis in open_axes), costs.reshape([costs.shape[axis] for axis in open_axes])


def _aligned(table: _Table, scope: tuple[Variable, ...]) -> np.ndarray:
  """A table's costs with its axes where `scope` has them, and axes of one element elsewhere."""
  present = [v for v in scope if v in table.scope]
  moved = np.transpose(table.costs, [table.scope.index(v) for v in present])
  return moved.reshape([moved.shape[present.index(v)] if v in present else 1 for v in scope])


def _costs(graph: Graph, number: int, budget: Budget) -> np.ndarray:
  """The cost of each combination of candidates under one constraint; infinite where it does not hold."""
  constraint, scope = graph.constraints[number], graph.scope[number]
  lists = [graph.candidates[root] for root in scope]
  budget.take(math.prod(map(len, lists)))
  if isinstance(constraint, Listed):
    costs = np.full([len(own) for own in lists], np.inf)
    index = [{place: i for i, place in enumerate(own)} for own in lists]
    prices = getattr(constraint, "costs", ()) or (0,) * len(constraint.options)
    for option, price in zip(constraint.options, prices):
      chosen: dict[Variable, Place] = {}
      if any(chosen.setdefault(graph.root[v], place) != place for v, place in zip(constraint.variables, option)):
        continue
      if all(chosen[root] in own for own, root in zip(index, scope)):
        where = tuple(own[chosen[root]] for own, root in zip(index, scope))
        costs[where] = min(costs[where], price)
    return costs
  if isinstance(constraint, Link) and len(scope) == 2:
    costs = np.full([len(own) for own in lists], np.inf)
    for pair in _pairs(graph, number, budget):
      costs[pair] = 0.0
    return costs
  axes = [scope.index(graph.root[v]) for v in constraint.variables]
  if isinstance(constraint, Soft):
    return constraint.weight * graph.prices(constraint.price, axes, lists)
  costs = np.empty([len(own) for own in lists])
  for where in np.ndindex(*costs.shape):
    known = {v: lists[axis][where[axis]] for v, axis in zip(constraint.variables, axes)}
    costs[where] = 0.0 if constraint.holds(known) else np.inf
  return costs
