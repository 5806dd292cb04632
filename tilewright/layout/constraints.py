"""Constraints between layouts that are not known yet: what inference solves.

A variable stands for the layout of a tile, in registers or in shared memory. Constraints are small frozen dataclasses. Hard ones answer
`holds(known)`: yes, no, or None for "not yet". Soft ones have a `cost(known)` instead, and never fail. Together they are what the ops of a
kernel say about their operands:

    Equal(x, y)                              y = exp(x)
    Reduced(x, m, axes=(1,))                 m = max(x, axis=1): m has the layout of x without that dimension
    Broadcast(m, b, dims=(0,))               b = m[:, None]: m has the layout of b without that dimension
    RelayoutAllowed(x, y, bits, weight)      y is x in another layout, at a cost

What one layout says about another is in `images`, by `match`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TypeAlias

from tilewright import errors
from tilewright.layout.algebra import expanded, flattened_to_one, projected, reshaped, sliced, transposed, unsliced
from tilewright.layout.costs import memory_cost, part_cost, reduction_cost, relayout_cost, work_cost
from tilewright.layout.options import mma_options, tma_layouts, wgmma_accumulators, wgmma_left_registers, wgmma_shared
from tilewright.layout.shared import SharedLayout, stacked, unstacked
from tilewright.layout.value import Layout
from tilewright.layout.vectors import vector_width

Place: TypeAlias = Layout | SharedLayout


@dataclasses.dataclass(frozen=True)
class Variable:
  """A layout to be found. `key` tells it from others; the rest describes the tile."""

  key: Hashable
  shape: tuple[int, ...] = dataclasses.field(compare=False)
  bits: int = dataclasses.field(compare=False, default=32)
  name: str = dataclasses.field(compare=False, default="")

  def __post_init__(self) -> None:
    object.__setattr__(self, "_hash", hash(self.key))  # asked for very often

  def __hash__(self) -> int:
    return self._hash  # type: ignore[attr-defined]

  def __str__(self) -> str:
    return self.name or str(self.key)


Known: TypeAlias = Mapping[Variable, Place]


# --- hard --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Equal:
  """Two tiles have one layout."""

  a: Variable
  b: Variable

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.a, self.b)

  def holds(self, known: Known) -> bool | None:
    return _same(known.get(self.a), known.get(self.b))

  def __str__(self) -> str:
    return f"{self.a} and {self.b} must have the same layout"


@dataclasses.dataclass(frozen=True)
class Transposed:
  """The result is the operand with its dimensions in another order, and nothing moves."""

  operand: Variable
  result: Variable
  permutation: tuple[int, ...]

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.operand, self.result)

  def holds(self, known: Known) -> bool | None:
    return _agrees(self, known)

  def __str__(self) -> str:
    return f"{self.result} must be laid out as {self.operand} is, transposed by {self.permutation}"


@dataclasses.dataclass(frozen=True)
class Reshaped:
  """The result has the elements of the operand in row-major order, and nothing moves."""

  operand: Variable
  result: Variable

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.operand, self.result)

  def holds(self, known: Known) -> bool | None:
    return _agrees(self, known)

  def __str__(self) -> str:
    return (
      f"{self.result} must be laid out as {self.operand} is, reshaped from {self.operand.shape} to {self.result.shape}"
    )


@dataclasses.dataclass(frozen=True)
class Broadcast:
  """Dimension i of the operand is dimension `dims[i]` of the result; each thread holds what its part of the result needs."""

  operand: Variable
  result: Variable
  dims: tuple[int, ...]

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.operand, self.result)

  def holds(self, known: Known) -> bool | None:
    return _agrees(self, known)

  def __str__(self) -> str:
    return f"{self.operand} must be held where its broadcast {self.result} is"


@dataclasses.dataclass(frozen=True)
class Reduced:
  """The result is the operand without some dimensions: it is held by all threads that held a part of what was reduced."""

  operand: Variable
  result: Variable
  axes: tuple[int, ...]

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.operand, self.result)

  def holds(self, known: Known) -> bool | None:
    return _agrees(self, known)

  def __str__(self) -> str:
    return f"{self.result} must have the layout of {self.operand} without dimensions {self.axes}"


@dataclasses.dataclass(frozen=True)
class Stacked:
  """A ref in shared memory is an array of tiles, each laid out as the view of one of them: the stages of a pipeline."""

  base: Variable
  view: Variable

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.base, self.view)

  def holds(self, known: Known) -> bool | None:
    return _agrees(self, known)

  def __str__(self) -> str:
    return f"{self.base} must be a stack of tiles laid out as {self.view} is"


@dataclasses.dataclass(frozen=True)
class OneOf:
  """Some variables together have one of several combinations of layouts, each at a cost. The other `Fits…` are such lists."""

  over: tuple[Variable, ...]
  choices: tuple[tuple[Place, ...], ...]
  meaning: str
  costs: tuple[int, ...] = ()

  @property
  def variables(self) -> tuple[Variable, ...]:
    return self.over

  @property
  def options(self) -> tuple[tuple[Place, ...], ...]:
    return self.choices

  def holds(self, known: Known) -> bool | None:
    return _listed(self.over, self.choices, known)

  def __str__(self) -> str:
    return self.meaning


@dataclasses.dataclass(frozen=True)
class Hint:
  """The user (or an instruction) says what the layout is."""

  variable: Variable
  layout: Place

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.variable,)

  @property
  def options(self) -> tuple[tuple[Place, ...], ...]:
    return ((self.layout,),)

  def holds(self, known: Known) -> bool | None:
    return _same(known.get(self.variable), self.layout)

  def __str__(self) -> str:
    return f"{self.variable} is given the layout {self.layout}"


@dataclasses.dataclass(frozen=True)
class FitsMma:
  """Operands (m, k), (k, n) and accumulator (m, n) of mma.sync, with the warps over m and n in one way for all three."""

  lhs: Variable
  rhs: Variable
  accumulator: Variable
  num_warps: int

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.lhs, self.rhs, self.accumulator)

  @property
  def options(self) -> tuple[tuple[Place, ...], ...]:
    return mma_options(self.lhs.shape, self.rhs.shape, self.lhs.bits, self.num_warps)

  def holds(self, known: Known) -> bool | None:
    return _listed(self.variables, self.options, known)

  def __str__(self) -> str:
    return f"{self.lhs}, {self.rhs} and {self.accumulator} must be fragments of mma.sync"


@dataclasses.dataclass(frozen=True)
class FitsWgmmaAccumulator:
  """The accumulator of wgmma.mma_async, over as many warpgroups as there are."""

  variable: Variable
  num_warps: int

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.variable,)

  @property
  def options(self) -> tuple[tuple[Place, ...], ...]:
    return tuple((layout,) for layout in wgmma_accumulators(self.variable.shape, self.num_warps))

  def holds(self, known: Known) -> bool | None:
    return _listed(self.variables, self.options, known)

  def __str__(self) -> str:
    return f"{self.variable} must be an accumulator of wgmma"


@dataclasses.dataclass(frozen=True)
class FitsWgmmaLhs:
  """The left operand of wgmma: in registers, or in shared memory with a swizzle (16-bit types also contiguous along m)."""

  variable: Variable
  num_warps: int

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.variable,)

  @property
  def options(self) -> tuple[tuple[Place, ...], ...]:
    found: list[Place] = [*wgmma_left_registers(self.variable.shape, self.variable.bits, self.num_warps)]
    found += wgmma_shared(self.variable.shape, self.variable.bits, contracted=1)
    return tuple((place,) for place in found)

  def holds(self, known: Known) -> bool | None:
    return _listed(self.variables, self.options, known)

  def __str__(self) -> str:
    return f"{self.variable} must be a left operand of wgmma"


@dataclasses.dataclass(frozen=True)
class FitsWgmmaRhs:
  """The right operand (k, n) of wgmma, always in shared memory."""

  variable: Variable

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.variable,)

  @property
  def options(self) -> tuple[tuple[Place, ...], ...]:
    return tuple((s,) for s in wgmma_shared(self.variable.shape, self.variable.bits, contracted=0))

  def holds(self, known: Known) -> bool | None:
    return _listed(self.variables, self.options, known)

  def __str__(self) -> str:
    return f"{self.variable} must be a right operand of wgmma, in shared memory"


@dataclasses.dataclass(frozen=True)
class TmaTransferable:
  """A tile in shared memory that TMA fills or drains, in boxes of at most `swizzle` bytes along its last dimension."""

  variable: Variable
  swizzles: tuple[int, ...] = (128, 64, 32, 0)

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.variable,)

  @property
  def options(self) -> tuple[tuple[Place, ...], ...]:
    return tuple((s,) for s in tma_layouts(self.variable.shape, self.variable.bits, self.swizzles))

  def holds(self, known: Known) -> bool | None:
    return _listed(self.variables, self.options, known)

  def __str__(self) -> str:
    modes = ", ".join(f"{s} bytes" if s else "none" for s in self.swizzles)
    return f"{self.variable} must be transferable by TMA (swizzle: {modes})"


@dataclasses.dataclass(frozen=True)
class BitwidthLimit:
  """A thread holds at most so many bits of neighbours along a dimension, and at least so many."""

  variable: Variable
  axis: int
  most: int
  least: int = 0

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.variable,)

  def holds(self, known: Known) -> bool | None:
    layout = known.get(self.variable)
    if layout is None:
      return None
    return (
      isinstance(layout, Layout) and self.least <= vector_width(layout, self.axis) * self.variable.bits <= self.most
    )

  def __str__(self) -> str:
    return f"a thread must hold {self.least} to {self.most} bits of {self.variable} along dimension {self.axis}"


@dataclasses.dataclass(frozen=True)
class Price:
  """A cost as a function of layouts alone, so that equal ones are computed once: `function(*layouts, *parameters)`."""

  function: Callable[..., int]
  parameters: tuple[Hashable, ...] = ()

  def __call__(self, *places: Place) -> int:
    return self.function(*places, *self.parameters)


# --- soft --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class RelayoutAllowed:
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

  def cost(self, known: Known) -> int:
    return self.weight * self.price(known[self.source], known[self.target])


@dataclasses.dataclass(frozen=True)
class MemoryAccess:
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

  def cost(self, known: Known) -> int:
    return self.weight * self.price(known[self.variable])


@dataclasses.dataclass(frozen=True)
class SharedAccess:
  """A tile is read from or written to shared memory."""

  registers: Variable
  shared: Variable
  weight: int = 1

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.shared, self.registers)

  @property
  def price(self) -> Price:
    return Price(relayout_cost, (self.shared.bits,))

  def cost(self, known: Known) -> int:
    return self.weight * self.price(known[self.shared], known[self.registers])


@dataclasses.dataclass(frozen=True)
class Reduces:
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

  def cost(self, known: Known) -> int:
    return self.weight * self.price(known[self.variable])


@dataclasses.dataclass(frozen=True)
class PartOf:
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

  def cost(self, known: Known) -> int:
    return self.weight * self.price(known[self.whole], known[self.part])


@dataclasses.dataclass(frozen=True)
class Work:
  """An elementwise op: each register of each thread costs, copies and padding too."""

  variable: Variable
  weight: int = 1

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.variable,)

  @property
  def price(self) -> Price:
    return Price(work_cost)

  def cost(self, known: Known) -> int:
    return self.weight * self.price(known[self.variable])


Hard: TypeAlias = (
  Equal | Transposed | Reshaped | Broadcast | Reduced | Stacked | OneOf | Hint
  | FitsMma | FitsWgmmaAccumulator | FitsWgmmaLhs | FitsWgmmaRhs | TmaTransferable | BitwidthLimit
)  # fmt: skip
Listed: TypeAlias = OneOf | Hint | FitsMma | FitsWgmmaAccumulator | FitsWgmmaLhs | FitsWgmmaRhs | TmaTransferable
Soft: TypeAlias = RelayoutAllowed | MemoryAccess | SharedAccess | Reduces | PartOf | Work
Constraint: TypeAlias = Hard | Soft
LISTED = (OneOf, Hint, FitsMma, FitsWgmmaAccumulator, FitsWgmmaLhs, FitsWgmmaRhs, TmaTransferable)
SOFT = (RelayoutAllowed, MemoryAccess, SharedAccess, Reduces, PartOf, Work)


@dataclasses.dataclass(frozen=True)
class Located:
  """A constraint, the line of the user's program it comes from, and what that line does."""

  constraint: Constraint
  loc: str = ""
  op: str = ""

  def __str__(self) -> str:
    return f"{self.loc or '?'}: {self.op + ': ' if self.op else ''}{self.constraint}"


# --- what one layout says about another --------------------------------------------------------------------------


def images(constraint: Constraint, variable: Variable, place: Place) -> Iterator[tuple[Variable, Place]]:
  """The layouts of other variables that a layout of one variable determines, or spares a move."""
  try:
    match constraint, place:
      case Equal(a, b), _:
        yield (b if variable == a else a), place
      case Transposed(operand, result, permutation), Layout():
        if variable == operand:
          yield result, _transposed(place, permutation)
        else:
          yield operand, _transposed(place, _inverse(permutation))
      case Transposed(operand, result, permutation), SharedLayout():
        order = permutation if variable == operand else _inverse(permutation)
        moved = SharedLayout(_transposed(place.elements, order), place.bits, place.swizzle)
        yield (result if variable == operand else operand), moved
      case Reshaped(operand, result), Layout():
        other = result if variable == operand else operand
        yield other, _reshaped(place, other.shape)
      case Broadcast(operand, result, dims), Layout() if variable == result:
        yield operand, restricted(place, operand.shape, dims)
      case Reduced(operand, result, axes), Layout() if variable == operand:
        yield result, _projected(place, axes)
      case Stacked(base, view), SharedLayout():
        yield (base, stacked(place, base.shape)) if variable == view else (view, unstacked(place, view.shape))
      case SharedAccess(registers, shared), SharedLayout():
        yield (shared if variable == registers else registers), place
      case PartOf(whole, part, starts), Layout():
        yield (part, sliced(place, starts, part.shape)) if variable == whole else (whole, unsliced(place, whole.shape))
      case RelayoutAllowed(source, target), Layout():
        yield (target if variable == source else source), place
  except errors.LayoutError:
    return  # there is none: the digits would carry, or a dimension is padded


def invented(constraint: Constraint, variable: Variable, place: Place) -> Iterator[tuple[Variable, Place]]:
  """Where a constraint leaves a choice (the result of a broadcast, the operand of a reduction): one layout that satisfies it.

  It keeps what was broadcast or reduced in each thread's registers, which is rarely good: tried only if nothing else is found.
  """
  match constraint, place:
    case Broadcast(operand, result, dims), Layout() if variable == operand:
      yield result, expanded(place, result.shape, dims)
    case Reduced(operand, result, axes), Layout() if variable == result:
      kept = tuple(axis for axis in range(len(operand.shape)) if axis not in axes)
      yield operand, expanded(place, operand.shape, kept)


def _inverse(permutation: tuple[int, ...]) -> tuple[int, ...]:
  return tuple(permutation.index(i) for i in range(len(permutation)))


# A kernel asks for the same few layouts again and again.
_transposed, _reshaped, _projected = (functools.lru_cache(maxsize=16384)(f) for f in (transposed, reshaped, projected))


def direction(constraint: Constraint) -> tuple[Variable, Variable] | None:
  """For a constraint in which one layout determines the other: which one, and the other."""
  match constraint:
    case Transposed(operand, result) | Reshaped(operand, result) | Reduced(operand, result):
      return operand, result
    case Broadcast(operand, result):
      return result, operand
    case Stacked(base, view):
      return view, base
  return None


@functools.lru_cache(maxsize=16384)
def restricted(result: Layout, shape: tuple[int, ...], dims: tuple[int, ...]) -> Layout:
  """The layout of an operand of `shape` that is broadcast to a result: dimensions that are new, or of size one, go."""
  new = [axis for axis in range(result.rank) if axis not in dims]
  narrow = projected(result, new)
  ones = [i for i, size in enumerate(shape) if size == 1 and narrow.shape[i] != 1]
  return flattened_to_one(narrow, ones) if ones else narrow


def _agrees(constraint: Constraint, known: Known) -> bool | None:
  """Whether the layout that the other determines is what it must be."""
  way = direction(constraint)
  assert way is not None
  source, target = way
  a, b = known.get(source), known.get(target)
  if a is None or b is None:
    return None
  return any(place == b for _, place in images(constraint, source, a))


def _same(a: Place | None, b: Place | None) -> bool | None:
  return None if a is None or b is None else a == b


def _listed(variables: tuple[Variable, ...], options: tuple[tuple[Place, ...], ...], known: Known) -> bool | None:
  """Yes if all are known and listed together, no if what is known is in no option."""
  have = [known.get(v) for v in variables]
  left = [o for o in options if all(h is None or h == place for h, place in zip(have, o))]
  if not left:
    return False
  return True if all(h is not None for h in have) else None
