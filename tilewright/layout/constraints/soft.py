"""Soft constraints, which have a cost instead of failing: relayouts, accesses to memory, and work on tiles.

A price is a function of layouts alone, without the variables, so that the solver computes equal ones once.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable
from typing import TypeAlias

from tilewright import errors
from tilewright.layout.algebra import unsliced
from tilewright.layout.constraints.hard import Known, Place, Variable
from tilewright.layout.costs import memory_cost, part_cost, part_in_registers, reduction_cost, relayout_cost, work_cost
from tilewright.layout.layout import Layout
from tilewright.layout.shared import SharedLayout


@dataclasses.dataclass(frozen=True)
class Price:
  """`function(*layouts, *parameters)`"""

  function: Callable[..., int]
  parameters: tuple[Hashable, ...] = ()

  def __call__(self, *places: Place) -> int:
    return self.function(*places, *self.parameters)


class _Soft:
  weight: int

  @property
  def variables(self) -> tuple[Variable, ...]:
    raise NotImplementedError

  @property
  def price(self) -> Price:
    """The cost for a weight of one, of the layouts of `variables` in order."""
    raise NotImplementedError

  def cost(self, known: Known) -> int:
    return self.weight * self.price(*(known[v] for v in self.variables))


@dataclasses.dataclass(frozen=True)
class RelayoutAllowed(_Soft):
  """The target is the source in another place, if need be: by shuffles, through shared memory, or by staying there."""

  source: Variable
  target: Variable
  weight: int = 1

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.source, self.target)

  @property
  def price(self) -> Price:
    return Price(relayout_cost, (self.source.bits,))


@dataclasses.dataclass(frozen=True)
class SharedAccess(_Soft):
  """A tile is read from or written to shared memory; if it may stay there, reading it in the same layout costs nothing."""

  tile: Variable
  shared: Variable
  weight: int = 1

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.shared, self.tile)

  @property
  def price(self) -> Price:
    return Price(relayout_cost, (self.shared.bits,))


@dataclasses.dataclass(frozen=True)
class PartOf(_Soft):
  """A tile is the part of another at `starts` (a slice, or an operand of a concatenation): free if it is a choice of registers."""

  whole: Variable
  part: Variable
  starts: tuple[int, ...]
  weight: int = 1

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.whole, self.part)

  @property
  def price(self) -> Price:
    return Price(part_cost, (self.starts, self.part.bits))


@dataclasses.dataclass(frozen=True)
class MemoryAccess(_Soft):
  """A tile is read from or written to global memory, where its dimensions have these strides (in elements)."""

  variable: Variable
  strides: tuple[int, ...]
  weight: int = 1

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.variable,)

  @property
  def price(self) -> Price:
    return Price(memory_cost, (self.strides, self.variable.bits))


@dataclasses.dataclass(frozen=True)
class Reduces(_Soft):
  """A tile is combined along some dimensions: in registers, between lanes, between warps."""

  variable: Variable
  axes: tuple[int, ...]
  weight: int = 1

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.variable,)

  @property
  def price(self) -> Price:
    return Price(reduction_cost, (self.axes,))


@dataclasses.dataclass(frozen=True)
class Work(_Soft):
  """An elementwise op: each register of each thread costs, copies and padding too."""

  variable: Variable
  weight: int = 1

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.variable,)

  @property
  def price(self) -> Price:
    return Price(work_cost)


Soft: TypeAlias = RelayoutAllowed | SharedAccess | PartOf | MemoryAccess | Reduces | Work


@functools.lru_cache(maxsize=16384)
def _whole_of(part: Layout, shape: tuple[int, ...]) -> Layout | None:
  """The layout of a larger tile of which nothing moves to become parts; None if it is not made of them."""
  try:
    return unsliced(part, shape)
  except errors.LayoutError:
    return None


def spared(constraint: Soft, variable: Variable, place: Place) -> Place | None:
  """The layout of the other variable with which a layout of one costs nothing to move, if there is one."""
  match constraint, place:
    case RelayoutAllowed(), Layout():
      return place
    case SharedAccess(tile), SharedLayout() if variable == tile:  # the tile may stay where it is
      return place
    case PartOf(whole, part, starts), Layout():
      return part_in_registers(place, starts, part.shape) if variable == whole else _whole_of(place, whole.shape)
  return None
