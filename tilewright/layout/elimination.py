"""The cheapest choice among the candidates, by variable elimination: the variable with the smallest table is eliminated first.

A table over the neighbours of a variable keeps, for each combination of their candidates, the cheapest of its own. What remains at the end
is the cost of the cheapest assignment, and the tables read backwards are the assignment itself. This is exact, and polynomial where the
graph of constraints is tree-like, as that of kernels is.

Where it is not, a table may be larger than what is left of the budget. Then a variable is *fixed* first: it keeps the candidate that it
has in an assignment that satisfies all hard constraints, and the rest is optimal given that. Such an assignment is found by the same
elimination over the hard constraints alone. They connect few variables in a kernel, those of one op and its uses; ops are connected by what
only costs. So the search has a solution early, and its result is never worse than that.
"""

from __future__ import annotations

import dataclasses
import heapq
import math
from collections.abc import Mapping, Sequence

import numpy as np

from tilewright import errors
from tilewright.layout.candidates import Budget, Graph, Root, pairs
from tilewright.layout.constraints import Equal, Link, Listed, Place, Soft

Chosen = Mapping[Root, int]  # the number of the candidate of each class


@dataclasses.dataclass(frozen=True)
class Assignment:
  """A candidate for each class, what all constraints cost then, and whether nothing is cheaper."""

  chosen: Chosen
  cost: int
  is_cheapest: bool


@dataclasses.dataclass
class _Table:
  """Costs over the candidates of some variables, an axis for each."""

  scope: tuple[Root, ...]
  costs: np.ndarray


def assign(graph: Graph, budget: Budget) -> Assignment | None:
  """The cheapest assignment, or the best that the budget allows; None if the hard constraints exclude each other."""
  hard = [n for n, c in enumerate(graph.constraints) if not isinstance(c, Soft | Equal)]
  soft = _weighted(graph)
  tables = {number: _table(graph, number, budget) for number in hard}
  try:
    for number, weight in soft.items():
      tables[number] = _table(graph, number, budget, weight)
    found = _Elimination(graph, tables, budget).run()
    return None if found is None else Assignment(*found, is_cheapest=True)
  except errors.LayoutBudgetError:
    pass
  # Once more, with an assignment to fall back on. Costs that there was no time to look at are left out of the search.
  first = feasible_assignment(graph, Budget(budget.most))
  if first is None:
    return None
  again = Budget(budget.most)
  found = _Elimination(graph, tables, again, first).run()
  budget.spent += again.spent
  assert found is not None, "an assignment satisfies all hard constraints"
  chosen, _ = found
  return min((Assignment(own, _total(graph, own), False) for own in (chosen, first)), key=lambda own: own.cost)


def feasible_assignment(graph: Graph, budget: Budget) -> Chosen | None:
  """An assignment that satisfies the hard constraints, with the cheapest candidates for each variable by itself; None if there is none."""
  alone = {number: weight for number, weight in _weighted(graph).items() if len(graph.scope[number]) == 1}
  tables = {
    number: _table(graph, number, budget, alone.get(number, 1))
    for number, constraint in enumerate(graph.constraints)
    if number in alone or not isinstance(constraint, Equal | Soft)
  }
  found = _Elimination(graph, tables, budget).run()
  return None if found is None else found[0]


class _Elimination:
  """The tables that are left, and the order in which variables go. Given an assignment to fall back on, it always comes to an end."""

  def __init__(self, graph: Graph, tables: Mapping[int, _Table], budget: Budget, first: Chosen | None = None):
    self.budget, self.first = budget, first
    self.sizes = {root: len(own) for root, own in graph.candidates.items()}
    self.chosen = {root: 0 for root, size in self.sizes.items() if size == 1}
    self.open = [root for root in graph.roots if root not in self.chosen]
    self.total = 0.0
    self.alone = {root: np.zeros(self.sizes[root]) for root in self.open}  # what each candidate costs by itself
    self.tables: dict[int, _Table] = {}
    self.at: dict[Root, dict[int, None]] = {root: {} for root in self.open}
    self.near: dict[Root, dict[Root, int]] = {root: {} for root in self.open}  # neighbours, by how many tables
    self.weight = {root: self.sizes[root] for root in self.open}  # of the table that taking a variable out makes
    self.number = 0
    for table in tables.values():
      self._add(table)
    self.done: list[tuple[Root, tuple[Root, ...], np.ndarray]] = []
    self.queue = [(self.weight[root], root) for root in self.open]
    heapq.heapify(self.queue)

  def run(self) -> tuple[Chosen, int] | None:
    """The cheapest assignment and its cost; None if there is none."""
    gone: set[Root] = set()
    while self.queue:
      expected, root = heapq.heappop(self.queue)
      if root in gone:
        continue
      now = self.weight[root]
      if now > expected:  # its neighbours have come closer since; ask again later
        self._push(root)
      elif self.first is not None and now > self.budget.left // 2:
        gone.add(self._fix_most_connected((*self.near[root], root)))
        self._push(root)
      else:
        if self.first is None:
          self.budget.take(now)
        else:
          self.budget.spent += now
        self._remove(root)
        gone.add(root)
    if not math.isfinite(self.total):
      return None
    for root, around, best in reversed(self.done):
      self.chosen[root] = int(best[tuple(self.chosen[v] for v in around)])
    return self.chosen, int(self.total)

  def _push(self, root: Root) -> None:
    heapq.heappush(self.queue, (self.weight[root], root))

  def _add(self, table: _Table) -> None:
    """Add a table; what is about one variable alone is added up at once."""
    if not table.scope:
      self.total += float(table.costs)
    elif len(table.scope) == 1:
      self.alone[table.scope[0]] += table.costs
    else:
      self.number += 1
      self.tables[self.number] = table
      for root in table.scope:
        self.at[root][self.number] = None
        self._meet(root, table.scope, 1)

  def _take(self, number: int) -> _Table:
    table = self.tables.pop(number)
    for root in table.scope:
      self.at[root].pop(number)
      self._meet(root, table.scope, -1)
    return table

  def _meet(self, root: Root, scope: tuple[Root, ...], by: int) -> None:
    """A table more, or less, in which a variable is together with others."""
    near = self.near[root]
    for v in scope:
      if v == root:
        continue
      count = near.get(v, 0)
      if not count:
        self.weight[root] *= self.sizes[v]
      if count + by:
        near[v] = count + by
      else:
        del near[v]
        self.weight[root] //= self.sizes[v]

  def _remove(self, root: Root) -> None:
    """Take a variable out: a table over its neighbours is left."""
    around = tuple(self.near[root])
    scope = (*around, root)
    joint = np.zeros([self.sizes[v] for v in scope]) + self.alone[root]
    for number in list(self.at[root]):
      joint = joint + _aligned(self._take(number), scope)
    self.done.append((root, around, joint.argmin(axis=-1)))
    self._add(_Table(around, joint.min(axis=-1)))
    for v in around:
      self._push(v)

  def _fix_most_connected(self, among: Sequence[Root]) -> Root:
    """Let the variable that most tables are about keep its first candidate."""
    assert self.first is not None
    root = max(among, key=lambda v: (len(self.at[v]), self.sizes[v]))
    around = tuple(self.near[root])
    self.chosen[root] = self.first[root]
    self.total += float(self.alone[root][self.chosen[root]])
    for number in list(self.at[root]):
      table = self._take(number)
      costs = table.costs.take(self.chosen[root], axis=table.scope.index(root))
      self._add(_Table(tuple(v for v in table.scope if v != root), costs))
    for v in around:
      self._push(v)
    return root


def _aligned(table: _Table, scope: tuple[Root, ...]) -> np.ndarray:
  """A table's costs with its axes where `scope` has them, and axes of one element elsewhere."""
  present = [v for v in scope if v in table.scope]
  moved = np.transpose(table.costs, [table.scope.index(v) for v in present])
  return moved.reshape([moved.shape[present.index(v)] if v in present else 1 for v in scope])


# --- costs -------------------------------------------------------------------------------------------------------


def _weighted(graph: Graph) -> dict[int, int]:
  """The soft constraints, one for all that have the same price for the same classes, with the sum of their weights."""
  first: dict[tuple[object, ...], int] = {}
  weights: dict[int, int] = {}
  for number, constraint in enumerate(graph.constraints):
    if isinstance(constraint, Soft):
      own = first.setdefault((constraint.price, *(graph.root[v] for v in constraint.variables)), number)
      weights[own] = weights.get(own, 0) + constraint.weight
  return weights


def _table(graph: Graph, number: int, budget: Budget, weight: int = 1) -> _Table:
  """The table of a constraint, without the variables that have one candidate; `weight` is for those that have a price."""
  scope, costs = graph.scope[number], weight * _costs(graph, number, budget)
  open_axes = [axis for axis, root in enumerate(scope) if len(graph.candidates[root]) > 1]
  return _Table(tuple(scope[axis] for axis in open_axes), costs.reshape([costs.shape[axis] for axis in open_axes]))


def _costs(graph: Graph, number: int, budget: Budget) -> np.ndarray:
  """The cost of each combination of candidates under one constraint, for a weight of one; infinite where it does not hold."""
  constraint, scope = graph.constraints[number], graph.scope[number]
  lists = [graph.candidates[root] for root in scope]
  budget.take(math.prod(map(len, lists)))
  if isinstance(constraint, Listed):
    costs = np.full([len(own) for own in lists], np.inf)
    index = [{place: i for i, place in enumerate(own)} for own in lists]
    prices = constraint.costs or (0,) * len(constraint.options)
    for option, price in zip(constraint.options, prices):
      chosen: dict[Root, Place] = {}
      if any(chosen.setdefault(graph.root[v], place) != place for v, place in zip(constraint.variables, option)):
        continue
      if all(chosen[root] in own for own, root in zip(index, scope)):
        where = tuple(own[chosen[root]] for own, root in zip(index, scope))
        costs[where] = min(costs[where], price)
    return costs
  if isinstance(constraint, Link) and len(scope) == 2:
    costs = np.full([len(own) for own in lists], np.inf)
    for pair in pairs(graph, number, budget):
      costs[pair] = 0.0
    return costs
  axes = [scope.index(graph.root[v]) for v in constraint.variables]
  if isinstance(constraint, Soft):
    return graph.prices.table(constraint.price, axes, lists)
  costs = np.empty([len(own) for own in lists])
  for where in np.ndindex(*costs.shape):
    known = {v: lists[axis][where[axis]] for v, axis in zip(constraint.variables, axes)}
    costs[where] = 0.0 if constraint.holds(known) else np.inf
  return costs


def _total(graph: Graph, chosen: Chosen) -> int:
  """What an assignment costs, constraint by constraint."""
  places = graph.places(chosen)
  total = 0
  for constraint in graph.constraints:
    if isinstance(constraint, Soft):
      total += constraint.cost(places)
    elif isinstance(constraint, Listed) and constraint.costs:
      wanted = tuple(places[v] for v in constraint.variables)
      total += min(p for option, p in zip(constraint.options, constraint.costs) if option == wanted)
  return total
