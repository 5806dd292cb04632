"""Integer range analysis of scalars: enough to prove that a loop's index stays inside an array.

    for i in 0 … 8:   i in [0, 7],   4 * i + 3 in [3, 31]
      if i < 2:       i in [0, 1],   4 * i + 3 in [3, 7]

An interval is given only where no step can wrap around; None means that nothing is known.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import ml_dtypes
import numpy as np

from tilewright.tile.grid import Blocked, BlockMapping, Element, Squeezed
from tilewright.tile.ir import Block, Function, Op, Value
from tilewright.tile.literal import is_integer
from tilewright.tile.native import index_entries
from tilewright.tile.ops import OPS
from tilewright.tile.types import TileType

_DEPTH = 16  # ops to look through; index arithmetic is short
_MAX_INSTANCES = 2**31 - 1  # a grid dimension has no more instances than this


@dataclasses.dataclass(frozen=True)
class Interval:
  """Integers from low to high, inclusive."""

  low: int
  high: int

  def __and__(self, other: Interval) -> Interval | None:
    """The intersection; None if it is empty."""
    low, high = max(self.low, other.low), min(self.high, other.high)
    return Interval(low, high) if low <= high else None


@dataclasses.dataclass(frozen=True)
class Bounds:
  """The facts from which intervals are derived: the parent op of each block, known grid sizes, and conditions that hold."""

  around: Mapping[Block, Op]
  grid: Sequence[int | None] = ()
  blocks: Mapping[Op, Block] = dataclasses.field(default_factory=dict)  # the block that contains each op
  known: Mapping[Value, Interval] = dataclasses.field(default_factory=dict)

  def of(self, value: Value, depth: int = _DEPTH) -> Interval | None:
    """The bounds of an integer scalar."""
    ty, owner = value.type, value.owner
    if not isinstance(ty, TileType) or not ty.is_scalar or not is_integer(ty.dtype) or depth == 0:
      return None
    if isinstance(owner, Block):
      found = self._loop_index(value, owner, depth)
    else:
      found = None if owner is None else self._result(owner, depth)
    if (also := self.known.get(value)) is not None:
      found = also if found is None else found & also
    return found if found is not None and _holds(ty, found) else None

  def of_elements(self, value: Value, depth: int = _DEPTH) -> Interval | None:
    """The bounds of all elements of an integer tile: of places along a dimension, `start + iota`."""
    ty, op = value.type, value.owner
    if not isinstance(ty, TileType) or ty.is_scalar or not isinstance(op, Op) or not is_integer(ty.dtype) or depth == 0:
      return self.of(value, depth)
    found = None
    match op.name:
      case "broadcast" | "reshape" | "transpose" | "convert":
        found = self.of_elements(op.operands[0], depth - 1)
      case "iota":
        found = Interval(0, max(0, ty.shape[op.attrs["axis"]] - 1))
      case "add" | "sub" | "mul":
        a, b = (self.of_elements(v, depth - 1) for v in op.operands)
        found = None if a is None or b is None else _binary(op.name, a, b)
    return found if found is not None and _holds(ty, found) else None

  def inside(self, block: Block | None) -> Bounds:
    """The bounds inside a block, refined by the conditions under which it runs."""
    found: Bounds = self
    while block is not None and (op := self.around.get(block)) is not None:
      if OPS[op.name].is_choice and len(op.blocks) == 2:
        found = found._where(op.operands[0], block is op.blocks[1])
      block = self.blocks.get(op)
    return found

  def _where(self, condition: Value, holds: bool) -> Bounds:
    """The bounds refined by a condition that holds, or that does not."""
    op = condition.owner
    if not isinstance(op, Op):
      return self
    if op.name == "convert" and op.operands[0].tile.dtype == np.bool_:
      return self._where(op.operands[0], holds)
    if op.name == "not":
      return self._where(op.operands[0], not holds)
    if op.name == ("and" if holds else "or") and condition.tile.dtype == np.bool_:
      return self._where(op.operands[0], holds)._where(op.operands[1], holds)
    if op.name not in _NEGATED or (limit := self.of(op.operands[1])) is None or limit.low != limit.high:
      return self
    value = op.operands[0]
    also = _compared(op.name if holds else _NEGATED[op.name], limit.low, self.of(value))
    before = self.known.get(value)
    both = also if before is None or also is None else also & before
    return self if both is None else dataclasses.replace(self, known={**self.known, value: both})

  def _loop_index(self, value: Value, block: Block, depth: int) -> Interval | None:
    loop = self.around.get(block)
    if loop is None or loop.name != "for" or block.params[0] is not value:
      return None
    lower, upper = (self.of(v, depth - 1) for v in loop.operands[:2])
    return None if lower is None or upper is None else Interval(lower.low, upper.high - 1)

  def size(self, axis: int) -> int | None:
    return self.grid[axis] if axis < len(self.grid) else None

  def _result(self, op: Op, depth: int) -> Interval | None:
    match op.name:
      case "constant":
        number = int(np.asarray(op.attrs["value"]).reshape(()))
        return Interval(number, number)
      case "program_id":
        return Interval(0, (self.size(op.attrs["axis"]) or _MAX_INSTANCES) - 1)
      case "num_programs":
        size = self.size(op.attrs["axis"])
        return Interval(1, _MAX_INSTANCES) if size is None else Interval(size, size)
      case "convert":
        return self.of(op.operands[0], depth - 1)
      case "sign":
        a = self.of(op.operands[0], depth - 1)
        return None if a is None else Interval(*(int(end > 0) - int(end < 0) for end in (a.low, a.high)))
      case "select":
        a, b = (self.of(v, depth - 1) for v in op.operands[1:])
        return None if a is None or b is None else Interval(min(a.low, b.low), max(a.high, b.high))
      case "max" | "min":  # also for operands of which only the dtype is known
        info = ml_dtypes.iinfo(op.results[0].tile.dtype)
        anything = Interval(int(info.min), int(info.max))
        a, b = (self.of(v, depth - 1) or anything for v in op.operands)
        return _binary(op.name, a, b)
      case "add" | "sub" | "mul" | "div" | "rem":
        a, b = (self.of(v, depth - 1) for v in op.operands)
        return None if a is None or b is None else _binary(op.name, a, b)
    return None


def _holds(ty: TileType, found: Interval) -> bool:
  """Whether a type has all numbers of an interval: where it has not, they have wrapped around."""
  info = ml_dtypes.iinfo(ty.dtype)
  return int(info.min) <= found.low <= found.high <= int(info.max)


_NEGATED = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}
_FAR = 2**63


def _compared(name: str, number: int, before: Interval | None) -> Interval | None:
  """Where an integer lies of which a comparison with a number holds."""
  match name:
    case "lt":
      return Interval(-_FAR, number - 1)
    case "le":
      return Interval(-_FAR, number)
    case "gt":
      return Interval(number + 1, _FAR)
    case "ge":
      return Interval(number, _FAR)
    case "eq":
      return Interval(number, number)
  if before is None or number not in (before.low, before.high):
    return None
  return Interval(number + 1, _FAR) if number == before.low else Interval(-_FAR, number - 1)


@dataclasses.dataclass(frozen=True)
class GridBounds(Bounds):
  """The bounds of values of an index map, whose first parameters are the indices of the grid."""

  params: tuple[Value, ...] = ()

  def of(self, value: Value, depth: int = _DEPTH) -> Interval | None:
    if value in self.params:
      size = self.grid[self.params.index(value)]
      return None if size is None else Interval(0, max(0, size - 1))
    return super().of(value, depth)


def always_inside(grid: Sequence[int | None], m: BlockMapping, index_map: Function) -> list[bool]:
  """For each dimension, whether the blocks of an operand lie inside its array for every instance."""
  bounds = GridBounds({}, grid, params=tuple(index_map.params[: len(grid)]))
  found = []
  for dim, size, (entry, *_) in zip(m.block_shape, m.array_aval.shape, index_entries(m, index_map)):
    known = bounds.of(entry)
    scale = dim.block_size if isinstance(dim, Blocked) else 1
    low = dim.padding[0] if isinstance(dim, Element) else 0
    found.append(
      known is not None
      and isinstance(dim, Blocked | Element | Squeezed)
      and known.low * scale >= low
      and known.high * scale - low + dim.block_size <= size
    )
  return found


def _binary(name: str, a: Interval, b: Interval) -> Interval | None:
  match name:
    case "add":
      return Interval(a.low + b.low, a.high + b.high)
    case "sub":
      return Interval(a.low - b.high, a.high - b.low)
    case "mul":
      corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
      return Interval(min(corners), max(corners))
    case "max":
      return Interval(max(a.low, b.low), max(a.high, b.high))
    case "min":
      return Interval(min(a.low, b.low), min(a.high, b.high))
    case "div" if a.low >= 0 and b.low > 0:
      return Interval(a.low // b.high, a.high // b.low)
    case "rem" if a.low >= 0 and b.low > 0:
      return Interval(0, min(a.high, b.high - 1))
  return None
