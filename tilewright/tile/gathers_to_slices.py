"""Rewrite rules that turn gathers and scatters at affine positions into windows, that is, strided slices.

    cols = jnp.arange(64)
    pl.load(x_ref, (row, i * 64 + cols))          gather_load %x, broadcast(row), broadcast(i * 64) + iota
                                                  window_load %x, row, i * 64 {sizes=[1, 64]}

Along each axis of the array the positions must be a scalar, or a scalar and one index of the positions times a step, a different one for
each axis. A mask encoded in a scatter's positions (-1 where it does not hold) becomes a select of the old contents.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.tile.gather_scatter import Access, part
from tilewright.tile.ir import Op, Value
from tilewright.tile.literal import is_integer
from tilewright.tile.rewrite import Rewriter
from tilewright.tile.rules import Found, rule

_DEPTH = 16  # ops to look through


@dataclasses.dataclass(frozen=True)
class _Line:
  """Positions `offset + Σ factor * scalar + Σ steps[d] * index(d)`, by the indices of their own tile."""

  offset: int
  scalars: tuple[tuple[Value, int], ...] = ()
  steps: tuple[tuple[int, int], ...] = ()  # (dimension, step)

  def plus(self, other: _Line) -> _Line | None:
    if {d for d, _ in self.steps} & {d for d, _ in other.steps}:
      return None
    return _Line(self.offset + other.offset, self.scalars + other.scalars, self.steps + other.steps)

  def times(self, factor: int) -> _Line:
    scalars, steps = (tuple((x, n * factor) for x, n in pairs) for pairs in (self.scalars, self.steps))
    return _Line(self.offset * factor, scalars, steps)  # type: ignore[arg-type]

  def along(self, dims: Sequence[int | None]) -> _Line | None:
    """The same positions in a tile in which dimension d is `dims[d]`."""
    if any(dims[d] is None for d, _ in self.steps):
      return None
    return dataclasses.replace(self, steps=tuple((dims[d] or 0, n) for d, n in self.steps))


@rule("gather_load")
def gather_neighbours(rw: Rewriter, op: Op) -> Found:
  access = Access.of(op)
  window = _Window.of(rw, access, access.positions)
  if window is None:
    return None
  cache_attribute = {"cache": op.attrs["cache"]} if "cache" in op.attrs else {}
  found = rw.emit("window_load", [op.operands[0], *window.starts(rw)], **window.attributes, **cache_attribute)
  return [window.transposed(rw, found)]


@rule("scatter_store")
def scatter_to_neighbours(rw: Rewriter, op: Op) -> Found:
  access = Access.of(op)
  if op.attrs["kind"] != "set":
    return None
  unmasked = [_unmasked(rw, v) for v in access.positions]
  window = _Window.of(rw, access, [v for v, _ in unmasked])
  if window is None:
    return None
  masks = [mask for _, mask in unmasked if mask is not None]
  if len(masks) > 1 or (masks and window.order != tuple(range(len(window.order)))):
    return None  # no masked store of a window (`target.llvm.masking`)
  ref, value = op.operands[:2]
  starts = window.starts(rw)
  for mask in masks:
    there = rw.emit("window_load", [ref, *starts], **window.attributes)
    value = rw.emit("select", [_spread(rw, mask, access), value, there])
  cache_attribute = {"cache": op.attrs["cache"]} if "cache" in op.attrs else {}
  rw.emit_all("window_store", [ref, window.back(rw, value), *starts], **window.attributes, **cache_attribute)
  return []


def _unmasked(rw: Rewriter, position: Value) -> tuple[Value, Value | None]:
  """Positions, and the mask that sets some of them to -1."""
  select = rw.made_by(position, "select")
  if select is None or (other := rw.splat(select.operands[2])) is None or other != -1:
    return position, None
  return select.operands[1], select.operands[0]


def _spread(rw: Rewriter, mask: Value, access: Access) -> Value:
  """A mask of positions, for all elements of their windows."""
  if mask.tile.is_scalar:
    return rw.emit("broadcast", [mask], shape=access.result_shape, dims=())
  return rw.emit("broadcast", [mask], shape=access.result_shape, dims=access.batch)


@dataclasses.dataclass(frozen=True)
class _Window:
  """The window that positions make."""

  lines: tuple[_Line, ...]  # by axis of the array
  attributes: dict[str, Any]
  order: tuple[int, ...]  # which dimension of the gather's result each dimension of the window's is
  dtype: Any  # of its starts

  @classmethod
  def of(cls, rw: Rewriter, access: Access, positions: Sequence[Value]) -> _Window | None:
    if access.outside != "each" or not positions:
      return None
    lines = [_Line(0) for _ in access.shape]
    for value, axis in zip(positions, access.axes):
      own = _line(rw, value) if _counts_all(value, access.shape[axis]) else None
      both = None if own is None else lines[axis].plus(own)
      if both is None:
        return None
      lines[axis] = both
    used = [d for line in lines for d, _ in line.steps]
    if len(set(used)) < len(used) or any(len(line.steps) > 1 for line in lines):
      return None  # one index of the positions varies along two axes, or two along one
    if any(n > 1 and d not in used for d, n in enumerate(access.position_shape)):
      return None  # the same element several times
    return cls._made(access, lines, _widest(positions))

  @classmethod
  def _made(cls, access: Access, lines: Sequence[_Line], dtype: Any) -> _Window | None:
    rank = len(access.position_shape) + len(access.window)
    of_positions, of_window = part(range(rank), access.batch)
    shown = dict(zip(access.kept, of_window))
    sizes, steps, dropped, order = list(access.sizes), list(access.steps), list(access.dropped), []
    for axis, line in enumerate(lines):
      for dim, step in line.steps:
        if access.sizes[axis] != 1 or step <= 0:
          return None
        sizes[axis], steps[axis] = access.position_shape[dim], step
        if axis in dropped:
          dropped.remove(axis)
        else:  # one element of the window, which the result shows beside those of the positions
          return None
        shown[axis] = of_positions[dim]
      if axis in shown:
        order.append(shown[axis])
    if len(order) < rank:  # dimensions of positions of which there is one
      return None
    attributes = {"sizes": tuple(sizes), "steps": tuple(steps), "dropped": tuple(dropped)}
    return cls(tuple(lines), attributes, tuple(order), dtype)

  def starts(self, rw: Rewriter) -> list[Value]:
    return [_start(rw, line, self.dtype) for line in self.lines]

  def transposed(self, rw: Rewriter, loaded: Value) -> Value:
    """The contents of the window, transposed to the gather's order of dimensions."""
    permutation = tuple(self.order.index(d) for d in range(len(self.order)))
    return _transposed(rw, loaded, permutation)

  def back(self, rw: Rewriter, value: Value) -> Value:
    return _transposed(rw, value, self.order)


def _transposed(rw: Rewriter, value: Value, permutation: tuple[int, ...]) -> Value:
  if permutation == tuple(range(len(permutation))):
    return value
  return rw.emit("transpose", [value], permutation=permutation)


def _counts_all(position: Value, dim: int) -> bool:
  """Whether positions that wrap around, as -1 does in a uint32, are the same elements as numbers with a sign are."""
  return position.tile.dtype.kind == "i" or (position.tile.dtype.itemsize == 4 and dim <= np.iinfo(np.int32).max)


def _widest(positions: Sequence[Value]) -> Any:
  """The dtype that starts are computed in: int32, unless positions have 64 bits."""
  return np.dtype(np.int64 if any(v.tile.dtype.itemsize == 8 for v in positions) else np.int32)


def _start(rw: Rewriter, line: _Line, dtype: Any) -> Value:
  """Where the positions along an axis begin."""
  total: Value | None = None
  for scalar, factor in line.scalars:
    term = scalar if scalar.tile.dtype == dtype else rw.emit("convert", [scalar], dtype=dtype)
    term = term if factor == 1 else rw.emit("mul", [term, _number(rw, factor, dtype)])
    total = term if total is None else rw.emit("add", [total, term])
  if total is None:
    return _number(rw, line.offset, dtype)
  return total if line.offset == 0 else rw.emit("add", [total, _number(rw, line.offset, dtype)])


def _number(rw: Rewriter, number: int, dtype: Any) -> Value:
  return rw.emit("constant", [], value=np.asarray(number).astype(dtype), dtype=dtype)


def _line(rw: Rewriter, value: Value, depth: int = _DEPTH) -> _Line | None:
  """Positions as a line, if that is what they are, and none can wrap around."""
  if depth == 0 or not is_integer(value.tile.dtype) or value.tile.dtype.itemsize < 4:
    return None
  if value.tile.is_scalar:
    known = rw.splat(value)
    return _Line(0, ((value, 1),)) if known is None else _Line(int(known))
  if (known := rw.splat(value)) is not None:
    return _Line(int(known))
  op = value.owner
  if not isinstance(op, Op):
    return None
  match op.name:
    case "iota":
      return _Line(0, (), ((op.attrs["axis"], 1),))
    case "convert":
      return _line(rw, op.operands[0], depth - 1) if _keeps_numbers(op) else None
    case "broadcast":
      line = _line(rw, op.operands[0], depth - 1)
      return None if line is None else _spread_line(line, op)
    case "reshape":
      line = _line(rw, op.operands[0], depth - 1)
      dims = _kept_dims(op.operands[0].tile.shape, op.result.tile.shape)
      return None if line is None or dims is None else line.along(dims)
    case "add":
      a, b = (_line(rw, v, depth - 1) for v in op.operands)
      return None if a is None or b is None else a.plus(b)
    case "mul":
      for v, other in (op.operands, op.operands[::-1]):
        factor = rw.splat(other)
        if factor is not None and (line := _line(rw, v, depth - 1)) is not None:
          return line.times(int(factor))
    case "select":
      return _from_the_end(rw, op, depth)
  return None


def _keeps_numbers(convert: Op) -> bool:
  """Whether an addition before a conversion may be done after it instead."""
  before, after = convert.operands[0].tile.dtype, convert.result.tile.dtype
  return before.itemsize == after.itemsize or (before.itemsize < after.itemsize and before.kind == "i")


def _spread_line(line: _Line, op: Op) -> _Line | None:
  """The line of a tile that is repeated along some dimensions, or spread out of one element."""
  source, dims = op.operands[0].tile, op.attrs["dims"]
  steps = [(d, n) for d, n in line.steps if source.shape[d] > 1]
  return dataclasses.replace(line, steps=tuple((dims[d], n) for d, n in steps))


def _kept_dims(before: Sequence[int], after: Sequence[int]) -> list[int | None] | None:
  """Which dimension each one becomes, where a reshape only adds or drops dimensions of size one."""
  kept = [d for d, n in enumerate(after) if n != 1]
  own = [d for d, n in enumerate(before) if n != 1]
  if [before[d] for d in own] != [after[d] for d in kept]:
    return None
  return [kept[own.index(d)] if d in own else None for d in range(len(before))]


def _from_the_end(rw: Rewriter, op: Op, depth: int) -> _Line | None:
  """`select(x < 0, x + size, x)`, of positions that are never negative."""
  condition, _, x = op.operands
  compared = rw.made_by(condition, "lt")
  if compared is None or compared.operands[0] is not x or (zero := rw.splat(compared.operands[1])) is None or zero != 0:
    return None
  line = _line(rw, x, depth - 1)
  if line is None or line.offset < 0 or any(n < 0 for _, n in line.steps):
    return None
  bounds = [(rw.bounds.of(v), n) for v, n in line.scalars]
  return line if all(b is not None and n > 0 and b.low >= 0 for b, n in bounds) else None
