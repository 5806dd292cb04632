"""Gathers and scatters (see `tile.gather_scatter`): rows where the lanes of a vector share a position, elements where they do not.

A gather is computed where its elements are needed, like any other tile. If the lanes run along a window, its position is one scalar,
known before the loop, and the lanes are loaded side by side: gathering along the leading axis copies rows. If they run along the
positions, each lane has an address of its own. A scatter is a loop over the positions, in order, around the window as vectors.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import arithmetic, combining, operand_indices
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.code import Code
from tilewright.target.llvm.loops import Index, add, i64, if_then, mul, over, scaled, shifted
from tilewright.target.llvm.memory import Memory
from tilewright.tile.formats import computed_in, poison_value
from tilewright.tile.gather_scatter import Access, merge, part
from tilewright.tile.ir import Op, Value
from tilewright.tile.types import TileType, dense_strides

_CHEAP = 4  # positions that cost more are computed once, before
_GATHERED = (4, 8)  # widths of elements, in bytes, that processors gather


def memory_behind(code: Code, v: Value) -> Memory | None:
  """Memory that holds the elements of a tile, if they are there already: perhaps in another order, or among others."""
  op = v.owner
  kept = code.kept_in_memory(v)
  if kept is not None:
    return kept if kept.is_plain else None
  if not isinstance(op, Op) or op.name not in _BEHIND:
    return None
  if op.name == "load":
    memory = code.memory_of(op.operands[0])
    unchanged = v not in code.env or code.is_constant(memory.base)
    return memory if unchanged and memory.is_plain else None
  if v in code.env:
    return None
  source = memory_behind(code, op.operands[0])
  return None if source is None else _BEHIND[op.name](code, op, source)


def _behind_reshape(code: Code, op: Op, source: Memory) -> Memory | None:
  if source.strides != dense_strides(op.operands[0].tile.shape):
    return None
  return source.seen_as(source.pointer, dense_strides(op.result.tile.shape))


def _behind_slice(code: Code, op: Op, source: Memory) -> Memory | None:
  offset: Any = 0
  for start, stride in zip(op.attrs["starts"], source.strides):
    offset = add(code.b, offset, mul(code.b, start, stride))
  pointer = code.b.gep(source.pointer, [i64(offset)], source_etype=ty.memory_type(source.dtype))
  strides = tuple(mul(code.b, stride, step) for stride, step in zip(source.strides, op.attrs["strides"]))
  return source.seen_as(pointer, strides)


def _behind_transpose(code: Code, op: Op, source: Memory) -> Memory | None:
  return source.seen_as(source.pointer, tuple(source.strides[p] for p in op.attrs["permutation"]))


_BEHIND: dict[str, Any] = {
  "load": None,
  "reshape": _behind_reshape,
  "slice": _behind_slice,
  "transpose": _behind_transpose,
}


def prepare(code: Code, op: Op) -> None:
  """Put the array of a gather into memory, and positions that would be computed many times. The gather itself can wait."""
  array = op.operands[0]
  if isinstance(array.type, TileType) and memory_behind(code, array) is None:
    code.materialise(array)
  access = Access.of(op)
  for v in access.positions:
    if v not in code.env and not v.tile.is_scalar and (code.cost(v) > _CHEAP or len(access.window) > 1):
      code.materialise(v)


def hoistable(op: Op, index: Sequence[Index]) -> list[tuple[Value, list[Index]]]:
  """What a loop along the window needs in every iteration: the positions."""
  access = Access.of(op)
  own, _ = part(index, access.batch)
  return [(v, own) for v in access.positions]


def gather(code: Code, op: Op, index: Sequence[Index], lanes: int) -> ir.Value:
  """Some elements of a `gather` or `gather_load`."""
  access = Access.of(op)
  array = op.operands[0]
  memory = memory_behind(code, array) if isinstance(array.type, TileType) else code.accessed(op)
  assert memory is not None
  if op.name == "gather":
    fill = ty.splat(code.b, code.scalar(op.operands[1]), lanes)
  else:
    fill = poison(memory.dtype, lanes)
  if 0 in access.shape:
    return fill
  own, window = part(index, access.batch)
  windows = dict(zip(access.kept, window))
  if lanes > 1 and any(i.step for i in own):
    return _gather_lanes(code, access, memory, _lane_places(code, access, own, windows, lanes), lanes, fill)
  starts = WindowStarts.of(code, access, own)
  place = starts.at(code.b, access, windows)
  if access.outside == "each":
    inside = _and(code.b, [starts.surely_inside(code, access, lanes), _edges(code, access, place, lanes)])
  else:
    inside = None if starts.inside is None else ty.splat(code.b, starts.inside, lanes)
  if inside is None:
    return code.load(memory, place, lanes)
  if access.outside == "window":  # one answer for all lanes: read another window rather than none
    nearest = dataclasses.replace(
      starts, starts=tuple(_clamp(code.b, s, a, access) for a, s in enumerate(starts.starts))
    )
    return code.b.select(inside, code.load(memory, nearest.at(code.b, access, windows), lanes), fill)
  return code.load_masked(memory, place, inside, lanes)


def place_of(code: Code, access: Access, index: Sequence[Index]) -> tuple[list[Index], ir.Value | None]:
  """Where in the array an element of the result (for a scatter: of the value) is, and whether it lies inside (None: surely)."""
  own, window = part(index, access.batch)
  starts = WindowStarts.of(code, access, own)
  place = starts.at(code.b, access, dict(zip(access.kept, window)))
  if access.outside == "each":
    return place, _and(code.b, [starts.surely_inside(code, access, 1), _edges(code, access, place, 1)])
  return place, starts.inside


def poison(dtype: np.dtype, lanes: int) -> ir.Value:
  """What is read where nothing is: NaN, or the least integer."""
  return ty.element(dtype, poison_value(dtype), lanes)


# --- one position for all lanes ----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class WindowStarts:
  """Where a window begins along each axis (ints or i64s), and whether it lies inside (None: surely)."""

  starts: tuple[Any, ...]
  inside: ir.Value | None

  @classmethod
  def of(cls, code: Code, access: Access, own: Sequence[Index]) -> WindowStarts:
    b = code.b
    starts: list[Any] = [0] * len(access.shape)
    for axis, v in zip(access.axes, access.positions):
      raw = code.value_at(v, own, 1)
      starts[axis] = add(b, starts[axis], arithmetic.convert(b, raw, v.tile.dtype, np.dtype(np.int64)))
    if access.outside == "clip":
      return cls(tuple(_clamp(b, s, a, access) for a, s in enumerate(starts)), None)
    if access.outside == "each":
      return cls(tuple(starts), None)
    checks = []
    for axis, start in enumerate(starts):
      if isinstance(start, int) and start == 0 and access.fits(axis):
        continue
      room = access.shape[axis] - access.span(axis)
      checks.append(b.icmp_unsigned("<=", i64(start), i64(room)) if room >= 0 else ir.Constant(ty.I1, 0))
    return cls(tuple(starts), _and(b, checks))

  def at(self, b: ir.IRBuilder, access: Access, windows: dict[int, Index]) -> list[Index]:
    """Where in the array an element of the window is."""
    found = []
    for axis, start in enumerate(self.starts):
      if axis in windows:
        found.append(shifted(b, scaled(b, windows[axis], access.steps[axis]), start))
      else:
        found.append(Index(start))
    return found

  def surely_inside(self, code: Code, access: Access, lanes: int) -> ir.Value | None:
    """For `each`: whether the axes along which a window has one element are inside, for all lanes at once."""
    checks = [
      code.b.icmp_unsigned("<", i64(start), i64(access.shape[axis]))
      for axis, start in enumerate(self.starts)
      if access.sizes[axis] == 1 and not (isinstance(start, int) and start == 0)
    ]
    found = _and(code.b, checks)
    return None if found is None else ty.splat(code.b, found, lanes)


def _edges(code: Code, access: Access, place: Sequence[Index], lanes: int) -> ir.Value | None:
  """For `each`: which lanes lie inside along the axes where a window may hang over an edge."""
  crossed = [a for a in range(len(access.shape)) if access.sizes[a] > 1 and (a in access.axes or not access.fits(a))]
  return code.lanes_inside([place[a] for a in crossed], [access.shape[a] for a in crossed], lanes)


def _clamp(b: ir.IRBuilder, start: Any, axis: int, access: Access) -> Any:
  """The nearest start with which a window fits."""
  if isinstance(start, int) and start == 0:
    return 0
  last = max(access.shape[axis] - access.span(axis), 0)
  low = b.select(b.icmp_signed("<", start, ty.constant(start.type, 0)), ty.constant(start.type, 0), start)
  return b.select(b.icmp_signed(">", low, ty.constant(start.type, last)), ty.constant(start.type, last), low)


def _and(b: ir.IRBuilder, checks: Sequence[ir.Value | None]) -> ir.Value | None:
  result = None
  for check in checks:
    if check is not None:
      result = check if result is None else b.and_(result, check)
  return result


# --- a position for each lane ------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class LanePositions:
  """For each axis a vector of i64, and which lanes lie inside (None: all)."""

  places: list[ir.Value]
  inside: ir.Value | None


def _lane_places(
  code: Code, access: Access, own: Sequence[Index], windows: dict[int, Index], lanes: int
) -> LanePositions:
  b = code.b
  vector = ir.VectorType(ty.I64, lanes)
  starts: list[Any] = [None] * len(access.shape)
  for axis, v in zip(access.axes, access.positions):
    wide = arithmetic.convert(b, code.value_at(v, own, lanes), v.tile.dtype, np.dtype(np.int64))
    starts[axis] = wide if starts[axis] is None else b.add(starts[axis], wide)
  places, checks = [], []
  for axis, start in enumerate(starts):
    if start is not None and access.outside == "clip":
      start = _clamp(b, start, axis, access)
    elif access.outside == "window" and (start is not None or not access.fits(axis)):
      room = access.shape[axis] - access.span(axis)
      first = ty.constant(vector, 0) if start is None else start
      ok = b.icmp_unsigned("<=", first, ty.constant(vector, room)) if room >= 0 else None
      checks.append(ty.constant(ir.VectorType(ty.I1, lanes), 0) if ok is None else ok)
    place = ty.constant(vector, 0) if start is None else start
    if axis in windows:
      moved = scaled(b, windows[axis], access.steps[axis])
      steps = ir.Constant(vector, [moved.step * n for n in range(lanes)])
      place = b.add(place, b.add(ty.splat(b, i64(moved.base), lanes), steps))
    if access.outside == "each" and (start is not None or not access.fits(axis)):
      checks.append(b.icmp_unsigned("<", place, ty.constant(vector, access.shape[axis])))
    places.append(place)
  return LanePositions(places, _and(b, checks))


def _gather_lanes(
  code: Code, access: Access, memory: Memory, where: LanePositions, lanes: int, fill: ir.Value
) -> ir.Value:
  """Load each lane from its own place; lanes outside are the fill and touch no memory."""
  b = code.b
  offsets = ty.constant(ir.VectorType(ty.I64, lanes), 0)
  for place, stride in zip(where.places, memory.strides):
    offsets = b.add(offsets, b.mul(place, ty.splat(b, i64(stride), lanes)))
  element = ty.memory_type(memory.dtype)
  if memory.dtype.itemsize in _GATHERED and not memory.has_hint and ty.register_type(memory.dtype) == element:
    width = ty.constant(offsets.type, memory.dtype.itemsize)
    base = ty.splat(b, b.ptrtoint(memory.pointer, ty.I64), lanes)
    pointers = b.inttoptr(b.add(base, b.mul(offsets, width)), ir.VectorType(ty.PTR, lanes))
    mask = where.inside if where.inside is not None else ty.constant(ir.VectorType(ty.I1, lanes), 1)
    vector = ir.VectorType(element, lanes)
    return ty.intrinsic(
      b, "masked.gather", [pointers, ty.I32(memory.dtype.itemsize), mask, fill], vector, [vector, pointers.type]
    )
  if where.inside is not None:
    offsets = b.select(where.inside, offsets, ty.constant(offsets.type, 0))
  result = ir.Constant(ty.register_type(memory.dtype, lanes), ir.Undefined)
  for number in range(lanes):
    place = b.gep(memory.pointer, [b.extract_element(offsets, ty.I32(number))], source_etype=element)
    result = b.insert_element(result, code.load_element(memory, place), ty.I32(number))
  return result if where.inside is None else b.select(where.inside, result, fill)


# --- scatter -----------------------------------------------------------------------------------------------------


def scatter(code: Code, op: Op) -> None:
  """A copy of the tile, with the value scattered into it."""
  result = op.results[0]
  memory = code.allocate(result.tile.shape, result.tile.dtype)
  code.fill(memory, op.operands[0])
  scatter_into(code, op, memory)
  code.env[result] = memory if result.tile.shape else code.load(memory, [], 1)


def scatter_store(code: Code, op: Op) -> None:
  ref, value, *positions = op.operands
  memory = code.memory_of(ref)
  for v in (value, *positions):
    if memory.base in code.bases_read(v):
      code.materialise(v)
  scatter_into(code, op, memory)


def scatter_into(code: Code, op: Op, memory: Memory) -> None:
  """Combine the value of a scatter into memory, one position after another."""
  access, kind, value = Access.of(op), op.attrs["kind"], op.operands[1]
  if 0 in access.shape or 0 in access.result_shape:
    return

  def each(own: list[Index]) -> None:
    starts = WindowStarts.of(code, access, own)
    inside = starts.surely_inside(code, access, 1) if access.outside == "each" else starts.inside
    if inside is None:
      window(own, starts)
    else:
      with if_then(code.b, inside), code.scope():
        window(own, starts)

  def window(own: list[Index], starts: WindowStarts) -> None:
    code.nest(access.window, lambda index, lanes: put(own, starts, index, lanes))

  def put(own: list[Index], starts: WindowStarts, index: list[Index], lanes: int) -> None:
    place = starts.at(code.b, access, dict(zip(access.kept, index)))
    new = code.value_at(value, list(merge(own, index, access.batch)), lanes)
    mask = _edges(code, access, place, lanes) if access.outside == "each" else None
    if kind != "set":
      old = code.load(memory, place, lanes) if mask is None else code.load_masked(memory, place, mask, lanes)
      new = combined(code.b, kind, memory.dtype, old, new)
    if mask is None:
      code.store(memory, place, new)
    else:
      code.store_masked(memory, place, mask, new)

  over(code, access.position_shape, each)


def combined(b: ir.IRBuilder, kind: str, dtype: np.dtype, old: ir.Value, new: ir.Value) -> ir.Value:
  """What a scatter makes of two elements."""
  wide = computed_in(dtype)
  if wide is None:
    return combining.combine(b, kind, dtype, old, new)
  combined = combining.combine(b, kind, wide, *(arithmetic.convert(b, x, dtype, wide) for x in (old, new)))
  return arithmetic.convert(b, combined, wide, dtype)


for _name in ("gather", "gather_load"):
  operand_indices.SOURCES[_name] = gather
  operand_indices.HOISTABLE[_name] = hoistable
