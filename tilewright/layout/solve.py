"""The cheapest layouts that satisfy a system of constraints.

1. Variables that must be equal become one.
2. Candidates are propagated over the system and pruned (`candidates`).
3. Elimination (`elimination`) finds the cheapest assignment of them, exactly.

The budget bounds candidates and table entries together. Where it does not allow an exact answer, the best assignment that was found is
taken: with all candidates and some variables fixed early, or with fewer candidates. Only if there is not even an assignment that
satisfies the hard constraints by then, LayoutBudgetError is raised. A system without a solution raises LayoutConflictError, see `conflict`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from tilewright import errors
from tilewright.layout.candidates import Budget, Graph, Seeds, prune, spread
from tilewright.layout.constraints import Located, Place, Variable
from tilewright.layout.elimination import assign, feasible_assignment

DEFAULT_BUDGET = 4_000_000
# How many candidates a variable takes over from neighbours it need not agree with, at first and then.
WIDTHS = (16, 8, 4)


@dataclasses.dataclass(frozen=True)
class Solution:
  """An assignment, its cost, how much of the budget it took to find, and whether no assignment of the candidates is cheaper."""

  places: Mapping[Variable, Place]
  cost: int
  spent: int
  is_cheapest: bool = True


def solve(system: Sequence[Located], seeds: Seeds = lambda v: (), budget: int = DEFAULT_BUDGET) -> Solution:
  """The cheapest consistent assignment. `seeds` proposes layouts for a variable about which nothing else says anything.

  A search that runs out of budget is narrowed, to fewer candidates that only spare relayouts; the best of all that was found is taken.
  """
  graphs: dict[bool, Graph] = {}  # shared by all attempts
  best: Solution | None = None
  gave_up: errors.LayoutBudgetError | None = None
  for width in WIDTHS:
    try:
      found = attempt(system, seeds, Budget(budget), width, graphs)
    except errors.LayoutBudgetError as e:
      gave_up = e
      continue
    if found is None:
      if best is not None or gave_up is not None:
        continue  # fewer candidates prove nothing about more
      from tilewright.layout.conflict import explain

      raise explain(system, seeds, budget)
    is_better = best is None or found.cost < best.cost
    best = found if is_better else best
    if found.is_cheapest or not is_better:
      break
  if best is None:
    assert gave_up is not None
    raise gave_up
  return best


def attempt(
  system: Sequence[Located], seeds: Seeds, budget: Budget, width: int, graphs: dict[bool, Graph]
) -> Solution | None:
  """The cheapest assignment that the budget allows to find, or None if there is none."""
  for graph in _graphs(system, seeds, budget, width, graphs):
    found = assign(graph, budget)
    if found is not None:
      return Solution(graph.places(found.chosen), found.cost, budget.spent, found.is_cheapest)
  return None


def any_solution(
  system: Sequence[Located], seeds: Seeds, budget: Budget, propose: Sequence[Located]
) -> Mapping[Variable, Place] | None:
  """Some assignment, whatever it costs. Constraints in `propose` give candidates, but need not hold."""
  for graph in _graphs(system, seeds, budget, WIDTHS[-1], {}, propose):
    found = feasible_assignment(graph, budget)
    if found is not None:
      return graph.places(found)
  return None


def _graphs(
  system: Sequence[Located],
  seeds: Seeds,
  budget: Budget,
  width: int,
  known: dict[bool, Graph],
  propose: Sequence[Located] = (),
) -> Iterator[Graph]:
  """The system with candidates: with those that something asks for, then with layouts that nothing asks for too."""
  for invent in (False, True):
    graph = known[invent] if invent in known else known.setdefault(invent, Graph(system, invent))
    spread(graph, [*system, *propose], seeds, budget, width)
    if prune(graph, budget):
      yield graph
