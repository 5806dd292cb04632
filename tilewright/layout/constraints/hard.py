"""Hard constraints: links between the layouts of operands and results, and lists of the layouts that an instruction accepts.

Each is a small frozen dataclass that answers `holds(known)`: yes, no, or None for "not yet".
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeAlias

from tilewright import errors
from tilewright.layout.algebra import expanded, projected, reshaped, restricted, transposed
from tilewright.layout.layout import Layout
from tilewright.layout.options import mma_options, tma_layouts, wgmma_accumulators, wgmma_left_registers, wgmma_shared
from tilewright.layout.shared import SharedLayout, stacked, unstacked
from tilewright.layout.vectors import vector_width

Place: TypeAlias = Layout | SharedLayout


@dataclasses.dataclass(frozen=True)
class Variable:
  """A layout to be inferred. `key` identifies it; the rest describes the tile."""

  key: Hashable
  shape: tuple[int, ...] = dataclasses.field(compare=False)
  bits: int = dataclasses.field(compare=False, default=32)
  name: str = dataclasses.field(compare=False, default="")

  def __post_init__(self) -> None:
    object.__setattr__(self, "_hash", hash(self.key))  # looked up very often

  def __hash__(self) -> int:
    return self._hash  # type: ignore[attr-defined]

  def __str__(self) -> str:
    return self.name or str(self.key)


Known: TypeAlias = Mapping[Variable, Place]
Options: TypeAlias = tuple[tuple[Place, ...], ...]


# --- links: one layout says what another is ----------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Equal:
  """Two tiles have one layout."""

  a: Variable
  b: Variable

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.a, self.b)

  def holds(self, known: Known) -> bool | None:
    a, b = known.get(self.a), known.get(self.b)
    return None if a is None or b is None else a == b

  def __str__(self) -> str:
    return f"{self.a} and {self.b} must have the same layout"


@dataclasses.dataclass(frozen=True)
class Link:
  """An operand and a result, of which one determines the other, see `direction`."""

  operand: Variable
  result: Variable

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.operand, self.result)

  def holds(self, known: Known) -> bool | None:
    source, target = direction(self)
    a, b = known.get(source), known.get(target)
    if a is None or b is None:
      return None
    return linked(self, source, a) == b


@dataclasses.dataclass(frozen=True)
class Transposed(Link):
  """The result is the operand with its dimensions in another order, and nothing moves."""

  permutation: tuple[int, ...]

  def __str__(self) -> str:
    return f"{self.result} must be laid out as {self.operand} is, transposed by {self.permutation}"


@dataclasses.dataclass(frozen=True)
class Reshaped(Link):
  """The result has the elements of the operand in row-major order, and nothing moves."""

  def __str__(self) -> str:
    return (
      f"{self.result} must be laid out as {self.operand} is, reshaped from {self.operand.shape} to {self.result.shape}"
    )


@dataclasses.dataclass(frozen=True)
class Broadcast(Link):
  """Dimension i of the operand is dimension `dims[i]` of the result; each thread holds what its part of the result needs."""

  dims: tuple[int, ...]

  def __str__(self) -> str:
    return f"{self.operand} must be held where its broadcast {self.result} is"


@dataclasses.dataclass(frozen=True)
class Reduced(Link):
  """The result is the operand without some dimensions: it is held by all threads that held a part of what was reduced."""

  axes: tuple[int, ...]

  def __str__(self) -> str:
    return f"{self.result} must have the layout of {self.operand} without dimensions {self.axes}"


@dataclasses.dataclass(frozen=True)
class Stacked(Link):
  """The operand, a ref in shared memory, is an array of tiles, each laid out as the result, a view of one: stages of a pipeline."""

  def __str__(self) -> str:
    return f"{self.operand} must be a stack of tiles laid out as {self.result} is"


def direction(link: Link) -> tuple[Variable, Variable]:
  """The variable of a link whose layout determines the other, then the other."""
  match link:
    case Broadcast() | Stacked():
      return link.result, link.operand
  return link.operand, link.result


def linked(link: Link, variable: Variable, place: Place) -> Place | None:
  """The layout of the other variable of a link that a layout of one of them determines; None if there is none, or more than one."""
  forward = variable == link.operand
  shape = (link.result if forward else link.operand).shape
  match link, place:
    case Transposed(permutation=permutation), Layout():
      return _transposed(place, permutation if forward else _inverse(permutation))
    case Transposed(permutation=permutation), SharedLayout():
      elements = _transposed(place.elements, permutation if forward else _inverse(permutation))
      return SharedLayout(elements, place.bits, place.swizzle) if elements is not None else None
    case Reshaped(), Layout():
      return _reshaped(place, shape)
    case Broadcast(dims=dims), Layout() if not forward:
      return _restricted(place, shape, dims)
    case Reduced(axes=axes), Layout() if forward:
      return _projected(place, axes)
    case Stacked(), SharedLayout():
      return _unstacked(place, shape) if forward else _stacked(place, shape)
  return None


def default_layout(link: Link, variable: Variable, place: Place) -> Place | None:
  """Where a link leaves a choice (the result of a broadcast, the operand of a reduction): one layout that satisfies it.

  It keeps what was broadcast or reduced in each thread's registers, which is rarely good: tried only if nothing else is found.
  """
  match link, place:
    case Broadcast(operand, result, dims), Layout() if variable == operand:
      return expanded(place, result.shape, dims)
    case Reduced(operand, result, axes), Layout() if variable == result:
      kept = tuple(axis for axis in range(len(operand.shape)) if axis not in axes)
      return expanded(place, operand.shape, kept)
  return None


def _inverse(permutation: tuple[int, ...]) -> tuple[int, ...]:
  return tuple(permutation.index(i) for i in range(len(permutation)))


def _known(function: Callable[..., Place]) -> Callable[..., Any]:
  """Memoise: a kernel needs the same few layouts again and again. None where none exists: digits would carry, or a dimension is padded."""

  @functools.lru_cache(maxsize=16384)
  def found(*arguments: Hashable) -> Place | None:
    try:
      return function(*arguments)
    except errors.LayoutError:
      return None

  return found


_transposed, _reshaped, _projected, _restricted, _stacked, _unstacked = (
  _known(f) for f in (transposed, reshaped, projected, restricted, stacked, unstacked)
)


# --- lists: what an instruction, or the user, allows -------------------------------------------------------------


class Listed:
  """Some variables together have one of several combinations of layouts, at a cost each if there are `costs`."""

  costs: tuple[int, ...] = ()

  @property
  def variables(self) -> tuple[Variable, ...]:
    raise NotImplementedError

  @property
  def options(self) -> Options:
    raise NotImplementedError

  def holds(self, known: Known) -> bool | None:
    """Yes if all are known and listed together, no if the known layouts are in no option."""
    have = [known.get(v) for v in self.variables]
    if not any(all(h is None or h == place for h, place in zip(have, option)) for option in self.options):
      return False
    return True if all(h is not None for h in have) else None


@dataclasses.dataclass(frozen=True)
class OneOf(Listed):
  """An explicit list, each combination at a cost."""

  over: tuple[Variable, ...]
  choices: Options
  meaning: str
  costs: tuple[int, ...] = ()

  @property
  def variables(self) -> tuple[Variable, ...]:
    return self.over

  @property
  def options(self) -> Options:
    return self.choices

  def __str__(self) -> str:
    return self.meaning


@dataclasses.dataclass(frozen=True)
class FitsMma(Listed):
  """Operands (m, k), (k, n) and accumulator (m, n) of mma.sync, with the warps over m and n in one way for all three."""

  lhs: Variable
  rhs: Variable
  accumulator: Variable
  num_warps: int

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.lhs, self.rhs, self.accumulator)

  @property
  def options(self) -> Options:
    return mma_options(self.lhs.shape, self.rhs.shape, self.lhs.bits, self.num_warps)

  def __str__(self) -> str:
    return f"{self.lhs}, {self.rhs} and {self.accumulator} must be fragments of mma.sync"


@dataclasses.dataclass(frozen=True)
class _ListedOne(Listed):
  """A list for one variable."""

  variable: Variable

  @property
  def variables(self) -> tuple[Variable, ...]:
    return (self.variable,)


@dataclasses.dataclass(frozen=True)
class Hint(_ListedOne):
  """The layout is given by the user."""

  layout: Place

  @property
  def options(self) -> Options:
    return ((self.layout,),)

  def __str__(self) -> str:
    return f"{self.variable} is given the layout {self.layout}"


@dataclasses.dataclass(frozen=True)
class FitsWgmmaAccumulator(_ListedOne):
  """The accumulator of wgmma.mma_async, over as many warpgroups as there are."""

  num_warps: int

  @property
  def options(self) -> Options:
    return tuple((layout,) for layout in wgmma_accumulators(self.variable.shape, self.num_warps))

  def __str__(self) -> str:
    return f"{self.variable} must be an accumulator of wgmma"


@dataclasses.dataclass(frozen=True)
class FitsWgmmaLhs(_ListedOne):
  """The left operand of wgmma: in registers, or in shared memory with a swizzle (16-bit types also contiguous along m)."""

  num_warps: int

  @property
  def options(self) -> Options:
    v = self.variable
    registers = tuple((r,) for r in wgmma_left_registers(v.shape, v.bits, self.num_warps))
    return (*registers, *((s,) for s in wgmma_shared(v.shape, v.bits, contracted=1)))

  def __str__(self) -> str:
    return f"{self.variable} must be a left operand of wgmma"


@dataclasses.dataclass(frozen=True)
class FitsWgmmaRhs(_ListedOne):
  """The right operand (k, n) of wgmma, always in shared memory."""

  @property
  def options(self) -> Options:
    return tuple((s,) for s in wgmma_shared(self.variable.shape, self.variable.bits, contracted=0))

  def __str__(self) -> str:
    return f"{self.variable} must be a right operand of wgmma, in shared memory"


@dataclasses.dataclass(frozen=True)
class TmaTransferable(_ListedOne):
  """A tile in shared memory that TMA fills or drains, in boxes of at most `swizzle` bytes along its last dimension."""

  swizzles: tuple[int, ...] = (128, 64, 32, 0)

  @property
  def options(self) -> Options:
    return tuple((s,) for s in tma_layouts(self.variable.shape, self.variable.bits, self.swizzles))

  def __str__(self) -> str:
    modes = ", ".join(f"{s} bytes" if s else "none" for s in self.swizzles)
    return f"{self.variable} must be transferable by TMA (swizzle: {modes})"


# --- limits ------------------------------------------------------------------------------------------------------


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


Hard: TypeAlias = (
  Equal | Transposed | Reshaped | Broadcast | Reduced | Stacked | BitwidthLimit
  | OneOf | Hint | FitsMma | FitsWgmmaAccumulator | FitsWgmmaLhs | FitsWgmmaRhs | TmaTransferable
)  # fmt: skip
