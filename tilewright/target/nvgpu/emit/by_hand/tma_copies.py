"""Copies between an array in global memory and shared memory by TMA (`tma`), in kernels with explicit copies.

A part of an array is copied as one box if its layout in shared memory is the one TMA writes: row by row, the rows of a swizzle's width. For
other layouts the tensor map may describe the array with more dimensions. With bf16[64, 256] in tiles of 8 x 64, swizzled,

    place in shared memory     column % 64, then row % 8, then column // 64, then row // 8
    tensor map                 an array of (rows / 8, columns / 64, 8, 64), of which the box is (8, 4, 8, 64)

so that one request copies all of it. That requires a part that begins at a multiple of 8 rows and 64 columns, in an array that such tiles
divide; otherwise each tile is a box of its own, up to `_MAX_BOXES`. Out-of-bounds elements arrive as zero, or are dropped.

Other parts have no boxes: arrays whose row stride is not a multiple of sixteen bytes, parts whose rows are not contiguous, steps.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.layout.shared import SWIZZLES, SharedLayout
from tilewright.target.llvm.loops import add, i64
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit.dot import wgmma_in_place
from tilewright.target.nvgpu.emit.units import shared_memory, tma
from tilewright.target.nvgpu.emit.units.tma import TensorMap
from tilewright.target.nvgpu.emit.views import Array, View, multiple
from tilewright.tile.ir import Op, Value

_MAX_BOXES = 16
_MAX_BOX_ELEMENTS = 256  # elements of a box along one dimension
_ALIGNED = 128  # bytes: where a box begins in shared memory
_STRIDE = 16  # bytes, of which the distances between rows are multiples


@dataclasses.dataclass(frozen=True)
class _Digit:
  """A dimension of a copy, or a digit of it: `size` steps of `place` elements, in shared memory `move` elements apart."""

  dim: int
  place: int
  size: int
  move: int


@dataclasses.dataclass(frozen=True)
class Boxes:
  """A copy as TMA requests: the tensor map of the array, and the start of each box, in the array and in shared memory."""

  tensor_map: TensorMap
  # For each dimension of the tensor map: its axis of the array and its place; None: 0
  digits: tuple[tuple[int, int] | None, ...]
  starts: tuple[tuple[int, ...], ...]  # of each box: elements along each axis of the array, from where the part begins
  offsets: tuple[int, ...]  # and bytes in shared memory

  @property
  def nbytes(self) -> int:
    return len(self.starts) * self.tensor_map.box_bytes


def plan(array: View, shared: View, shape: tuple[int, ...]) -> Boxes | None:
  """The boxes of a copy between two views of a shape; None if it has none."""
  home, itemsize = array.home, array.dtype.itemsize
  kind = next((name for name, (_, size) in tma.KINDS.items() if size == itemsize), None)
  if not isinstance(home, Array) or kind is None or array.has_edges or 0 in (*shape, *home.shape) or not home.shape:
    return None
  if any(a.scale != 1 for a in array.along) or array.along[-1].dim is None:
    return None
  strides = [itemsize * math.prod(home.shape[axis + 1 :]) for axis in range(len(home.shape))]
  if any(stride % _STRIDE for stride in strides[:-1]):
    return None
  found, swizzle = _digits(shared, shape)
  boxed = _boxed(array, found, swizzle) if found else None
  if boxed is None:
    return None
  axis_of = {a.dim: axis for axis, a in enumerate(array.along)}
  rest = [d for d in found if d not in boxed]
  if math.prod(d.size for d in rest) > _MAX_BOXES:
    return None
  # Axes that no digit of the box is of have a dimension too, along which the box is one element.
  alone = [axis for axis in range(len(home.shape)) if axis not in {axis_of[d.dim] for d in boxed}]
  # Axis, place, size of the box, from the outermost on
  dims: list[tuple[int, int, int]] = [(axis, 1, 1) for axis in alone]
  dims += [(axis_of[d.dim], d.place, d.size) for d in reversed(boxed)]
  if len(dims) > tma.MAX_DIMS:
    return None
  last = {axis: max(place for own, place, _ in dims if own == axis) for axis, _, _ in dims}
  sizes = tuple(home.shape[axis] // place if place == last[axis] else size for axis, place, size in dims)
  tensor_map = TensorMap(
    home.number,
    kind,
    sizes,
    tuple(size for _, _, size in dims[:-1]),
    0,
    dims[-1][2],
    tuple(place * strides[axis] for axis, place, _ in dims[:-1]),
    swizzle,
  )
  starts, offsets = [], []
  for steps in itertools.product(*(range(d.size) for d in rest)):
    moved = [0] * len(home.shape)
    for step, d in zip(steps, rest):
      moved[axis_of[d.dim]] += step * d.place
    starts.append(tuple(moved))
    offsets.append(itemsize * sum(step * d.move for step, d in zip(steps, rest)))
  if any(offset % max(_ALIGNED, SWIZZLES[swizzle].span) for offset in offsets):
    return None
  digits = tuple((axis, place) if place == last[axis] else None for axis, place, _ in dims)
  return Boxes(tensor_map, digits, tuple(starts), tuple(offsets))


def _digits(shared: View, shape: tuple[int, ...]) -> tuple[list[_Digit], int]:
  """The digits of a part of a buffer in shared memory, in ascending order, and its swizzle; nothing if no box can begin there."""
  layout = shared.tiled if shared.tiled is not None else shared.home
  if not isinstance(layout, SharedLayout) or shared.has_edges or any(a.scale != 1 for a in shared.along):
    return [], 0
  swizzle = next((size for size, own in SWIZZLES.items() if own == layout.swizzle), None)
  if swizzle is None:
    return [], 0
  if shared.tiled is None:
    own: Any = [(dim, 1, size, stride) for dim, (size, stride) in enumerate(zip(shape, shared.strides))]
  else:
    own = wgmma_in_place.digits_of_part(shared, layout, shape) or []
  if any(_begins_at(layout, axis, multiple(a.start)) % _ALIGNED for axis, a in enumerate(shared.along)):
    return [], 0
  found = [_Digit(*digit) for digit in own if digit[2] > 1]
  if not found:  # one element
    return [], 0
  return [
    part for digit in sorted(found, key=lambda d: d.move) for part in _split(digit, 8 * _STRIDE // layout.bits)
  ], swizzle


def _begins_at(layout: SharedLayout, axis: int, start: int) -> int:
  """A number that divides how many bytes further on a part begins that starts at a multiple of `start` along a dimension."""
  found = 0
  for term in layout.offset_terms:
    if term.input == str(axis):
      steps = 1 if start % term.place else math.gcd(start // term.place, term.size)
      found = math.gcd(found, 0 if steps == term.size else steps * term.moves[0] * layout.bits // 8)
  return found


def _split(digit: _Digit, grain: int) -> list[_Digit]:
  """A digit as two, if it is too long for a box; the first goes in multiples of sixteen bytes where it is the innermost."""
  if digit.size <= _MAX_BOX_ELEMENTS:
    return [digit]
  least = grain if digit.move == 1 else 1
  inner = next((n for n in range(_MAX_BOX_ELEMENTS, 0, -1) if digit.size % n == 0 and n % least == 0), digit.size)
  return [
    dataclasses.replace(digit, size=inner),
    _Digit(digit.dim, digit.place * inner, digit.size // inner, digit.move * inner),
  ]


def _boxed(array: View, digits: Sequence[_Digit], swizzle: int) -> list[_Digit] | None:
  """The digits that a box has, from the innermost on: as many as are consecutive and a tensor map can describe."""
  first, itemsize, home = digits[0], array.dtype.itemsize, array.home
  assert isinstance(home, Array)
  width = first.size * itemsize
  if (first.dim, first.place, first.move) != (array.along[-1].dim, 1, 1) or first.size > _MAX_BOX_ELEMENTS:
    return None
  if width % _STRIDE or (swizzle and width != swizzle):
    return None
  # Where the next digit of a dimension would begin
  found, after, follows = ([first], first.size, {first.dim: first.size})
  for digit in digits[1:]:
    axis = next(axis for axis, a in enumerate(array.along) if a.dim == digit.dim)
    is_whole = home.shape[axis] % digit.place == 0 and multiple(array.along[axis].start) % digit.place == 0
    dims = len(found) + 1 + len({*range(len(home.shape))} - {_axis(array, d.dim) for d in (*found, digit)})
    if digit.move != after or digit.place != follows.get(digit.dim, 1) or not is_whole or dims > tma.MAX_DIMS:
      break
    if digit.size > _MAX_BOX_ELEMENTS:
      break
    found.append(digit)
    after, follows[digit.dim] = after * digit.size, digit.place * digit.size
  return found


def _axis(array: View, dim: int) -> int:
  return next(axis for axis, a in enumerate(array.along) if a.dim == dim)


# --- what is copied ----------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Loaded:
  """A load of a part of an array, and the axes beyond whose edges zeros replace what is there."""

  op: Op
  masked: frozenset[int]

  def ends_with_array(self, source: View) -> bool:
    """Whether these axes, of the view that is loaded from, end where the array does, so that TMA fills in the zeros."""
    home, shape = source.home, self.op.operands[0].ref.shape
    assert isinstance(home, Array)
    whole = {
      own.dim
      for own, size in zip(source.along, home.shape)
      if own.dim is not None and (own.start, own.scale) == (0, 1) and shape[own.dim] == size
    }
    return self.masked <= whole


def load_behind(value: Value) -> Loaded | None:
  """The load of a part of an array that a value is, with zeros beyond its edges."""
  conditions: list[Value] = []
  while isinstance(op := value.owner, Op) and op.name == "select" and _number(op.operands[2]) == 0:
    conditions += _all_of(op.operands[0])
    value = op.operands[1]
  if not isinstance(op, Op) or op.name not in ("load", "window_load") or (conditions and op.name == "load"):
    return None
  axes = [_axis_within(op, condition) for condition in conditions]
  return None if None in axes else Loaded(op, frozenset(axis for axis in axes if axis is not None))


def _all_of(condition: Value) -> list[Value]:
  """The conditions that must all hold for one to hold."""
  op = condition.owner
  return [c for o in op.operands for c in _all_of(o)] if isinstance(op, Op) and op.name == "and" else [condition]


def _axis_within(window: Op, condition: Value) -> int | None:
  """The axis of a ref along which a condition is `start + iota < size`, or `>= 0`, of a window that is loaded; None if it is another."""
  compared = condition.owner
  if not isinstance(compared, Op) or compared.name not in ("lt", "ge"):
    return None
  if not isinstance(place := compared.operands[0].owner, Op):
    return None
  parts = [v.owner for v in place.operands] if place.name == "add" else [place]
  counted = next((p for p in parts if isinstance(p, Op) and p.name == "iota"), None)
  start = next((p.operands[0] for p in parts if isinstance(p, Op) and p.name == "broadcast"), None)
  if counted is None or len(parts) != (1 if start is None else 2):
    return None
  ref = window.operands[0].ref
  axis = [d for d in range(ref.rank) if d not in window.attrs["dropped"]][counted.attrs["axis"]]
  own = window.operands[1 + axis]
  begins = _number(own) == 0 if start is None else own is start
  edge = ref.shape[axis] if compared.name == "lt" else 0
  return axis if begins and window.attrs["steps"][axis] == 1 and _number(compared.operands[1]) == edge else None


def _number(value: Value) -> Any:
  """The number that a scalar, or every element of a tile, is; None if it is not known."""
  while isinstance(op := value.owner, Op) and op.name == "broadcast":
    value = op.operands[0]
  if not isinstance(op, Op) or op.name != "constant" or np.size(op.attrs["value"]) != 1:
    return None
  return np.asarray(op.attrs["value"]).reshape(())[()]


# --- requests ----------------------------------------------------------------------------------------------------


def address(b: ir.IRBuilder, shared: View) -> ir.Value:
  """The start address of a part of a buffer in shared memory (i32)."""
  pointer = shared.pointer if shared.tiled is None else wgmma_in_place.start(b, shared)
  return shared_memory.address(b, pointer)


def places(b: ir.IRBuilder, boxes: Boxes, array: View, number: int) -> list[ir.Value]:
  """The start of the box with a number, along each dimension of the tensor map."""
  found: list[ir.Value] = []
  for digit in boxes.digits:
    if digit is None:
      found.append(I32(0))
      continue
    axis, place = digit
    start = b.trunc(i64(add(b, array.along[axis].start, boxes.starts[number][axis])), I32)
    found.append(start if place == 1 else b.sdiv(start, I32(place)))
  return found


def issue_copy(
  b: ir.IRBuilder, boxes: Boxes, pointer: ir.Value, array: View, shared: View, barrier: ir.Value, is_own: bool
) -> None:
  """Issue the copies of all boxes to shared memory; the barrier counts their bytes. `is_own`: see `tma.copy`."""
  to = address(b, shared)
  for number, offset in enumerate(boxes.offsets):
    tma.copy(b, pointer, b.add(to, I32(offset)), places(b, boxes, array, number), barrier, is_own=is_own)


@dataclasses.dataclass(frozen=True)
class Part:
  """A copy, divided among CTAs of a cluster: `count` of them each ask for these boxes, moved on by its number times so much."""

  boxes: Boxes
  count: int
  dim: int = 0  # of the tensor map, along which the parts of a box lie one behind the other
  step: int = 0  # in units of that dimension
  nbytes: int = 0  # in shared memory


def divided(boxes: Boxes, count: int) -> Part:
  """A copy divided among so many CTAs, if its boxes divide where their outermost digit in shared memory does; else the first copies all."""
  m = boxes.tensor_map
  sizes = [*m.box, m.box_columns]
  dim = next((d for d, size in enumerate(sizes) if size > 1), len(sizes) - 1)
  nbytes = m.box_bytes // count
  align = max(_ALIGNED, SWIZZLES[m.swizzle or 0].span)
  if sizes[dim] % count or nbytes % align:
    return Part(boxes, 1)
  sizes[dim] //= count
  *box, columns = sizes
  if columns * m.itemsize % _STRIDE:
    return Part(boxes, 1)
  smaller = dataclasses.replace(m, box=tuple(box), box_columns=columns)
  return Part(dataclasses.replace(boxes, tensor_map=smaller), count, dim, sizes[dim], nbytes)


def issue_part(
  b: ir.IRBuilder,
  part: Part,
  number: ir.Value,
  pointer: ir.Value,
  array: View,
  shared: View,
  barrier: ir.Value,
  blocks: ir.Value,
) -> None:
  """Issue the copies of the part with a number of all boxes, to the shared memory of some blocks of the cluster (a mask)."""
  boxes = part.boxes
  to = b.add(address(b, shared), b.mul(number, I32(part.nbytes)))
  moved = b.mul(number, I32(part.step))
  for n, offset in enumerate(boxes.offsets):
    start = places(b, boxes, array, n)
    start[part.dim] = b.add(start[part.dim], moved)
    tma.copy(b, pointer, b.add(to, I32(offset)), start, barrier, blocks)


def take(b: ir.IRBuilder, boxes: Boxes, pointer: ir.Value, array: View, shared: View) -> None:
  """Issue the copies of all boxes to the array."""
  source = address(b, shared)
  for number, offset in enumerate(boxes.offsets):
    tma.store(b, pointer, b.add(source, I32(offset)), places(b, boxes, array, number))
