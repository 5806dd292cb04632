"""Disjointness analysis: whether instances along a grid dimension access disjoint parts of an array that the body sees as a whole.

    row = pl.program_id(0)
    o_ref[row, pl.ds(i * 64, 64)] = …         row by row: no two instances share an element

Every access to the array must begin, along one of its axes, at `stride * id + offset` with the same stride, and end before the next id's
part begins: `offset` and the elements from there lie within one interval that is no longer than the stride. If instances along another
dimension are already known to access disjoint parts, only instances with the same index along that dimension are compared:

    o_ref[pl.ds((i * 8 + j) * 64, 64)] = …    i separates parts of 512 elements; for equal i, j separates parts of 64
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Sequence

import ml_dtypes

from tilewright.tile.boxes import unconverted
from tilewright.tile.dead_code import accesses, base_of
from tilewright.tile.gather_scatter import Access
from tilewright.tile.ir import Block, Function, Op, Value, walk
from tilewright.tile.literal import is_integer
from tilewright.tile.ranges import Bounds
from tilewright.tile.types import RefType

_DEPTH = 16  # ops to look through; index arithmetic is short
_FIRST_START = {"subview": 1, "window_load": 1, "window_store": 2}


@dataclasses.dataclass(frozen=True)
class _AffineIndex:
  """Integers `offset + Σ strides[d] * id(d)`, with offsets from low to high, inclusive."""

  strides: tuple[int, ...]  # by dimension of the grid
  low: int
  high: int

  def __add__(self, other: _AffineIndex) -> _AffineIndex:
    strides = tuple(a + b for a, b in zip(self.strides, other.strides))
    return _AffineIndex(strides, self.low + other.low, self.high + other.high)

  def __or__(self, other: _AffineIndex) -> _AffineIndex | None:
    if self.strides != other.strides:
      return None
    return _AffineIndex(self.strides, min(self.low, other.low), max(self.high, other.high))

  def times(self, factor: int) -> _AffineIndex:
    ends = sorted((self.low * factor, self.high * factor))
    return _AffineIndex(tuple(stride * factor for stride in self.strides), *ends)


class Parts:
  """The parts of arrays that the instances of a body access; `grid` has the sizes of the dimensions that the body sees."""

  def __init__(self, body: Function, grid: Sequence[int | None]):
    self.body, self.grid = body, grid
    around = {inner: op for op in walk(body.body) for inner in op.blocks}
    self.home: dict[Op, Block] = {op: block for block in [body.body, *around] for op in block.ops}
    self.bounds = Bounds(around, grid, self.home)

  def are_apart(self, refs: Sequence[Value], axis: int, others: Collection[int] = ()) -> bool:
    """Whether no two instances along a grid dimension, at the same index along `others`, access the same element of the
    array behind these parameters."""
    if None in self.grid:
      return False
    touching = [(op, ref) for op in walk(self.body.body) for ref in self._accessed_operands(op, refs)]
    rank = len(refs[0].ref.shape)
    return any(self._separates(touching, d, axis, others) for d in range(rank))

  def _accessed_operands(self, op: Op, refs: Sequence[Value]) -> Iterator[Value]:
    """The operands through which an op accesses the array."""
    reads, writes = accesses(op)
    if any(ref in reads or ref in writes for ref in refs):
      yield from (v for v in op.operands if isinstance(v.type, RefType) and base_of(v) in refs)

  def _separates(self, touching: list[tuple[Op, Value]], dim: int, axis: int, others: Collection[int]) -> bool:
    """Whether the parts are disjoint along a dimension of the array."""
    total: _AffineIndex | None = None
    for op, ref in touching:
      place = self._part(op, ref, dim)
      place = (
        None
        if place is None
        else self._union_over(place, [d for d in range(len(self.grid)) if d != axis and d not in others])
      )
      total = place if total is None or place is None else total | place
      if total is None:
        return False
    return total is None or total.high - total.low < total.strides[axis]

  def _union_over(self, place: _AffineIndex, dims: Sequence[int]) -> _AffineIndex:
    """The union of a place over all indices along some grid dimensions."""
    ends = [place.strides[d] * ((self.grid[d] or 1) - 1) for d in dims]
    strides = tuple(0 if d in dims else stride for d, stride in enumerate(place.strides))
    return _AffineIndex(strides, place.low + sum(min(0, e) for e in ends), place.high + sum(max(0, e) for e in ends))

  def _part(self, op: Op, ref: Value, dim: int) -> _AffineIndex | None:
    """The range, along a dimension of the array, of the elements that an op accesses through a ref."""
    first = _first_view(ref)
    at = op if first is None else first
    bounds = self.bounds.inside(self.home.get(op))
    if at.name in _FIRST_START:
      start = self._place(at.operands[_FIRST_START[at.name] + dim], bounds)
      extent = (at.attrs["sizes"][dim] - 1) * at.attrs["steps"][dim]
    elif at.name in ("gather_load", "scatter_store"):
      access = Access.of(at)
      if access.outside != "each":
        return None
      start = self._offsets(0, 0)
      for position, d in zip(access.positions, access.axes):
        if d == dim:
          start = _sum(start, self._place(_unmasked(position), bounds))
      extent = (access.sizes[dim] - 1) * access.steps[dim]
    else:
      return None
    return _sum(start, self._offsets(min(0, extent), max(0, extent)))

  def _offsets(self, low: int, high: int) -> _AffineIndex:
    return _AffineIndex((0,) * len(self.grid), low, high)

  def _place(self, value: Value, bounds: Bounds, depth: int = _DEPTH) -> _AffineIndex | None:
    """An integer scalar or integer tile as an affine function of the grid indices."""
    if depth == 0 or not is_integer(value.tile.dtype):
      return None
    found = self._computed(value, bounds, depth)
    if found is None:
      return None
    ends, info = self._union_over(found, range(len(self.grid))), ml_dtypes.iinfo(value.tile.dtype)
    is_index = ends.low >= 0 and ends.high <= int(info.max)  # it has not wrapped around, nor does it count from the end
    return found if is_index else None

  def _computed(self, value: Value, bounds: Bounds, depth: int) -> _AffineIndex | None:
    op = value.owner
    if isinstance(op, Op):
      match op.name:
        case "program_id":
          return _AffineIndex(tuple(int(d == op.attrs["axis"]) for d in range(len(self.grid))), 0, 0)
        case "convert" | "broadcast" | "reshape" | "transpose":
          return self._place(op.operands[0], bounds, depth - 1)
        case "iota":
          return self._offsets(0, max(0, op.attrs["shape"][op.attrs["axis"]] - 1))
        case "select" if _is_of_negatives(op):
          return self._place(op.operands[2], bounds, depth - 1)
        case "add":
          return _sum(*(self._place(v, bounds, depth - 1) for v in op.operands))
        case "mul":
          a, b = (self._place(v, bounds, depth - 1) for v in op.operands)
          if a is None or b is None:
            return None
          for factor, other in ((a, b), (b, a)):
            if not any(factor.strides) and factor.low == factor.high:
              return other.times(factor.low)
    known = bounds.of(value)  # of a tile nothing is known
    return None if known is None else self._offsets(known.low, known.high)


def _sum(a: _AffineIndex | None, b: _AffineIndex | None) -> _AffineIndex | None:
  return None if a is None or b is None else a + b


def _first_view(ref: Value) -> Op | None:
  """The outermost view in the chain that leads to a ref: the one taken of the array itself."""
  found = None
  while isinstance(ref.owner, Op) and base_of(ref) is not ref:
    found, ref = ref.owner, ref.owner.operands[0]
  return found


def _unmasked(position: Value) -> Value:
  """A tile of positions without the mask that makes some of them -1, where nothing is read or written."""
  op = position.owner
  if isinstance(op, Op) and op.name == "select" and _number(op.operands[2]) == -1:
    return op.operands[1]
  return position


def _is_of_negatives(op: Op) -> bool:
  """Whether a `select` counts negative indices from the end: `select(x < 0, x + size, x)`. The indices considered here are not negative."""
  condition = op.operands[0].owner
  if not isinstance(condition, Op) or condition.name != "lt" or condition.operands[0] is not op.operands[2]:
    return False
  return _number(condition.operands[1]) == 0


def _number(v: Value) -> int | None:
  """The integer that a scalar, or every element of a tile, is known to be."""
  v = unconverted(v)
  if isinstance(v.owner, Op) and v.owner.name == "broadcast":
    v = unconverted(v.owner.operands[0])
  if not isinstance(v.owner, Op) or v.owner.name != "constant" or not v.tile.is_scalar:
    return None
  return int(v.owner.attrs["value"])
