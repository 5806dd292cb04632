"""Explanation of a conflict: a smallest unsatisfiable set of constraints, and a cast that would resolve it.

A first set is found by deletion with bisection: if one half of the constraints is already unsatisfiable, the other is dropped, otherwise
each half is searched with the other half kept. So the number of attempts grows with the size of the conflict times the logarithm of the
size of the system. The set is irreducible: without any one member it is satisfiable; but another set may have fewer members.

One with fewer must meet every *way out*, a set of constraints without which the others have a solution. The fewest constraints that meet
all ways out that are known either exclude each other, and are the answer, or leave one more way out to be found, by the same halving:

    x is A, x = y, y is B, x is C     ways out: {x is A, x is C}, {x is A, x = y}, {x is C, x = y}, …     smallest: x is A, x is C
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from tilewright import errors
from tilewright.layout.candidates import Budget, Seeds
from tilewright.layout.constraints import BitwidthLimit, Equal, Hint, Link, Listed, Located, Place, Soft, Variable
from tilewright.layout.layout import Layout
from tilewright.layout.shared import SharedLayout
from tilewright.layout.solve import any_solution

# Constraints to look at, all attempts together, for a set with fewer members than the first that is found.
_SEARCH = 50_000


def explain(system: Sequence[Located], seeds: Seeds, budget: int) -> errors.LayoutConflictError:
  """The error for a system that has no solution."""
  hard = [own for own in system if not isinstance(own.constraint, Soft)]
  # These exclude nothing, but candidates propagate along them.
  soft = [own for own in system if isinstance(own.constraint, Soft)]

  def is_possible(part: Sequence[Located]) -> bool:
    part = _without_idle_limits(part)
    try:
      # The hard ones by themselves first: that is faster, and more candidates take no solution away.
      return any(any_solution([*part, *more], seeds, Budget(budget), hard) is not None for more in ((), soft))
    except errors.LayoutBudgetError:
      return True  # not known: what would have to be left out to know stays in the set

  core = smallest(hard, is_possible)
  proposal = _proposed_cast(core, seeds, budget, hard, soft)
  lines = ["no layouts satisfy all of this:", *(f"  {own}" for own in core)]
  return errors.LayoutConflictError("\n".join([*lines, proposal]), tuple(core), proposal)


def _without_idle_limits(part: Sequence[Located]) -> Sequence[Located]:
  """Without limits on what nothing lists layouts for, nor for anything linked to it: more choices are open there than candidates show."""
  if not any(isinstance(own.constraint, BitwidthLimit) for own in part):
    return part
  listed = {v for own in part if isinstance(own.constraint, Listed) for v in own.constraint.variables}
  links = [own.constraint.variables for own in part if isinstance(own.constraint, Equal | Link)]
  while more := {v for scope in links if listed & {*scope} for v in scope} - listed:
    listed |= more
  return [own for own in part if not isinstance(own.constraint, BitwidthLimit) or own.constraint.variable in listed]


Possible: TypeAlias = Callable[[Sequence[Located]], bool]
Solver: TypeAlias = Callable[[Sequence[Located]], Mapping[Variable, Place] | None]


def smallest(system: Sequence[Located], is_possible: Possible, budget: int = _SEARCH) -> list[Located]:
  """A smallest impossible subset; or one of which none can be left out, if the search for it takes longer than the budget allows."""
  everything = list(range(len(system)))
  checks = Budget(budget)

  def fits(numbers: Sequence[int]) -> bool:
    return is_possible([system[i] for i in numbers])

  def is_unsatisfiable(left_out: Sequence[int]) -> bool:
    checks.take(len(system))
    return not fits([i for i in everything if i not in left_out])

  found = irreducible(everything, fits)
  ways_out: list[list[int]] = []
  try:
    while (fewer := _meeting(ways_out, len(found) - 1, checks)) is not None:
      checks.take(len(system))
      if not fits(fewer):
        found = fewer
        break
      ways_out.append(irreducible([i for i in everything if i not in fewer], is_unsatisfiable))
  except errors.LayoutBudgetError:
    pass
  return [system[i] for i in found]


def irreducible(numbers: list[int], is_possible: Callable[[Sequence[int]], bool]) -> list[int]:
  """A part that is impossible, and possible without any one of its members: QuickXplain."""

  def search(held: list[int], changed: bool, part: list[int]) -> list[int]:
    if changed and not is_possible(held):
      return []
    if len(part) == 1:
      return part
    middle = len(part) // 2
    first, second = part[:middle], part[middle:]
    found = search([*held, *first], True, second)
    return [*search([*held, *found], bool(found), first), *found]

  return search([], False, numbers)


def _meeting(sets: Sequence[Sequence[int]], most: int, budget: Budget) -> list[int] | None:
  """The fewest numbers, `most` at most, of which each set has one; None if it takes more."""

  def search(chosen: list[int], more: int) -> list[int] | None:
    budget.take(1)
    unmet = next((own for own in sets if not set(own) & set(chosen)), None)
    if unmet is None:
      return sorted(chosen)
    return next((found for i in unmet if more and (found := search([*chosen, i], more - 1)) is not None), None)

  return next((found for count in range(most + 1) if (found := search([], count)) is not None), None)


def _proposed_cast(
  core: Sequence[Located], seeds: Seeds, budget: int, hard: Sequence[Located], soft: Sequence[Located]
) -> str:
  """A cast in place of links in the set. One that resolves everything, if there is one; else one that resolves this set."""

  def solved(part: Sequence[Located]) -> Mapping[Variable, Place] | None:
    try:
      return any_solution([*part, *soft], seeds, Budget(budget), hard)
    except errors.LayoutBudgetError:
      return None  # not known: another cast may do

  links = [own for own in core if isinstance(own.constraint, Equal | Link)]
  ways = itertools.chain(
    _casts_of_one_use(links, hard, solved),
    _casts_of_all_uses(links, hard, solved),
    _casts_of_one_use(links, core, solved),
    _without_hints(core),
  )
  return next(ways, "these ask for different layouts of one value: remove one of them")


def _casts_of_one_use(links: Sequence[Located], system: Sequence[Located], solved: Solver) -> Iterator[str]:
  """Casts that do what leaving one of the links out of a system does.

  A cast of the operand is inserted before the op, and the link from it to the result holds. Where no layout of the operand gives the
  result's, the result is cast instead, as it follows from the operand.
  """
  for own in links:
    source, target = own.constraint.variables
    found = solved([other for other in system if other is not own])
    if found is None or not isinstance(found.get(source), Layout):
      continue  # memory cannot be cast
    value, place = source, found.get(target)
    if place is not None and isinstance(own.constraint, Link):
      before = solved([own, Located(Hint(target, place))])
      value, place = (source, before[source]) if before is not None else (target, place)
      if before is None and solved([own]) is None:
        continue
    to = f" to {place}" if place is not None else ""
    yield f"cast one of them: layout_cast({value}{to}) at {own.loc or '?'} lets it have another layout from there on"


def _casts_of_all_uses(links: Sequence[Located], system: Sequence[Located], solved: Solver) -> Iterator[str]:
  """Casts right after a value is computed: where several ways lead from it to what it must not be like."""
  for own in links:
    source, target = own.constraint.variables
    uses = [o for o in system if isinstance(o.constraint, Equal | Link) and o.constraint.variables[0] == source]
    found = solved([other for other in system if other not in uses]) if isinstance(own.constraint, Equal) else None
    if found is not None and isinstance(place := found.get(target), Layout):
      yield f"cast one of them: use layout_cast({source} to {place}) instead of it wherever it is used"


def _without_hints(core: Sequence[Located]) -> Iterator[str]:
  for own in core:
    match own.constraint:
      case Hint(variable, SharedLayout()):
        yield f"leave {variable} without transforms, or copy it to a scratch buffer without transforms and use that instead"
      case Hint(variable, place):
        yield f"cast later: take the layout {place} off {variable}, and give it by layout_cast to what is computed from it"
