"""Constraints between layouts that are not known yet: what inference solves.

A variable denotes the layout of a tile, in registers or in shared memory. Constraints are small frozen dataclasses. Hard ones (`hard`)
answer `holds(known)`: yes, no, or None for "not yet". Soft ones (`soft`) have a `cost(known)` instead, and never fail. They are the
requirements of a kernel's ops on their operands:

    Equal(x, y)                              y = exp(x)
    Reduced(x, m, axes=(1,))                 m = max(x, axis=1): m has the layout of x without that dimension
    Broadcast(m, b, dims=(0,))               b = m[:, None]: m has the layout of b without that dimension
    RelayoutAllowed(x, y, weight=8)          y is x in another layout, at a cost

The layout that one layout implies for another variable is its `image`.
"""

from __future__ import annotations

import dataclasses
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
  default_layout,
  direction,
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


def image(constraint: Constraint, variable: Variable, place: Place, invent: bool = False) -> Place | None:
  """The layout of the other variable that a layout of one determines, or that would avoid a relayout; None if there is none.

  With `invent`, also one of several layouts where a constraint leaves a choice.
  """
  match constraint:
    case Equal():
      return place
    case Link():
      found = linked(constraint, variable, place)
      return default_layout(constraint, variable, place) if found is None and invent else found
    case RelayoutAllowed() | SharedAccess() | PartOf():
      return spared(constraint, variable, place)
  return None
