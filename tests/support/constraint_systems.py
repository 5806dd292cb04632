"""What systems of layout constraints cost, and whether they hold."""

from __future__ import annotations

from tilewright.layout.constraints import (
  Listed,
  Soft,
)


def holds(system, places):
  return all(own.constraint.holds(places) for own in system if not isinstance(own.constraint, Soft))


def cost(system, places):
  total = 0
  for own in system:
    constraint = own.constraint
    if isinstance(constraint, Soft):
      total += constraint.cost(places)
    elif isinstance(constraint, Listed) and getattr(constraint, "costs", ()):
      total += constraint.costs[constraint.options.index(tuple(places[v] for v in constraint.variables))]
  return total
