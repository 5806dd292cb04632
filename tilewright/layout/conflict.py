"""Why there is no solution: a smallest set of constraints that exclude each other, and a cast that would resolve it.

The set is found by deletion, halving: if a half of the constraints is already impossible, the rest is forgotten, otherwise each half is
searched with the other half held. So it takes a number of attempts that grows with the size of the conflict, times the logarithm of that of
the system. Without any one of its members, the rest of the set has a solution.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright import errors
from tilewright.layout.candidates import Budget, Seeds
from tilewright.layout.constraints import BitwidthLimit, Equal, Hint, Link, Located, Soft
from tilewright.layout.shared import SharedLayout
from tilewright.layout.solve import any_solution


def explain(system: Sequence[Located], seeds: Seeds, budget: int) -> errors.LayoutConflictError:
  """The error for a system that has no solution."""
  hard = [own for own in system if not isinstance(own.constraint, Soft)]

  def is_possible(part: Sequence[Located]) -> bool:
    if all(isinstance(own.constraint, BitwidthLimit) for own in part):
      return True  # limits alone leave every choice open
    try:
      return any_solution(part, seeds, Budget(budget), hard) is not None
    except errors.LayoutBudgetError:
      return True  # not known: what would have to be left out to know stays in the set

  core = smallest(hard, is_possible)
  proposal = _proposal(core, seeds, budget, hard)
  lines = ["no layouts satisfy all of this:", *(f"  {own}" for own in core)]
  return errors.LayoutConflictError("\n".join([*lines, proposal]), tuple(core), proposal)


def smallest(system: Sequence[Located], is_possible: object) -> list[Located]:
  """A smallest impossible subset: QuickXplain."""
  assert callable(is_possible)

  def search(held: list[Located], changed: bool, part: list[Located]) -> list[Located]:
    if changed and not is_possible(held):
      return []
    if len(part) == 1:
      return part
    middle = len(part) // 2
    first, second = part[:middle], part[middle:]
    found = search([*held, *first], True, second)
    return [*search([*held, *found], bool(found), first), *found]

  return search([], False, list(system))


def _proposal(core: Sequence[Located], seeds: Seeds, budget: int, hard: Sequence[Located]) -> str:
  """A cast in place of one of the links in the set: without it the rest has a solution, which says what to cast to."""
  for own in core:
    if not isinstance(own.constraint, Equal | Link):
      continue
    rest = [other for other in core if other is not own]
    solution = any_solution(rest, seeds, Budget(budget), hard)
    first, second = own.constraint.variables
    if solution is None or first not in solution:
      continue
    target = solution.get(second)
    wanted = f" to {target}" if target is not None and target.shape == first.shape else ""
    return (
      f"cast one of them: layout_cast({first}{wanted}) at {own.loc or '?'} lets it have another layout from there on"
    )
  for own in core:
    match own.constraint:
      case Hint(variable, SharedLayout()):
        return (
          f"leave {variable} without transforms, or copy it to a scratch buffer without transforms and use that instead"
        )
      case Hint(variable, place):
        return (
          f"cast later: take the layout {place} off {variable}, and give it by layout_cast to what is computed from it"
        )
  return "these ask for different layouts of one value: remove one of them"
