"""Constraints between layouts that are not known yet: what inference solves.

A variable stands for the layout of a tile, in registers or in shared memory. Constraints are small frozen dataclasses. Hard ones (`hard`)
answer `holds(known)`: yes, no, or None for "not yet". Soft ones (`soft`) have a `cost(known)` instead, and never fail. Together they are
what the ops of a kernel say about their operands:

    Equal(x, y)                              y = exp(x)
    Reduced(x, m, axes=(1,))                 m = max(x, axis=1): m has the layout of x without that dimension
    Broadcast(m, b, dims=(0,))               b = m[:, None]: m has the layout of b without that dimension
    RelayoutAllowed(x, y, weight=8)          y is x in another layout, at a cost

What one layout says about another is in `images`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TypeAlias

from tilewright.layout.constraints.hard import (
  BitwidthLimit,
  Broadcast,
  Equal,
  FitsMma,
  FitsWgmmaAccumulator,
  FitsWgmmaLhs,
  FitsWgmmaRhs,
  Hard,
  Hint,
  Known,
  Link,
  Listed,
  OneOf,
  Place,
  Reduced,
  Reshaped,
  Stacked,
  TmaTransferable,
  Transposed,
  Variable,
  direction,
  invented,
  linked,
)
from tilewright.layout.constraints.soft import (
  MemoryAccess,
  PartOf,
  Price,
  Reduces,
  RelayoutAllowed,
  SharedAccess,
  Soft,
  Work,
  spared,
)

Constraint: TypeAlias = Hard | Soft


@dataclasses.dataclass(frozen=True)
class Located:
  """A constraint, the line of the user's program it comes from, and what that line does."""

  constraint: Constraint
  loc: str = ""
  op: str = ""

  def __str__(self) -> str:
    return f"{self.loc or '?'}: {self.op + ': ' if self.op else ''}{self.constraint}"


def images(constraint: Constraint, variable: Variable, place: Place) -> Iterator[tuple[Variable, Place]]:
  """The layouts of other variables that a layout of one variable determines, or that would spare a move."""
  match constraint:
    case Equal(a, b):
      yield (b if variable == a else a), place
    case Link():
      yield from linked(constraint, variable, place)
    case RelayoutAllowed() | SharedAccess() | PartOf():
      yield from spared(constraint, variable, place)
