"""Panels of a contraction's operands: `width` rows of A, or columns of B, side by side for each step along K.

    pack(code, side, memory, batch, first, width):   memory[k, j] = operand[first + j, k]      for all k, and j < width

If the operand is contiguous along the panel, vectors are read along the panel. If it is contiguous along K, squares are read along K and
transposed in registers. Elements are converted while they are packed, and small ones joined to units of 32 or 64 bits (see
`multiply_instructions`).
"""

from __future__ import annotations

import dataclasses
from typing import Any

from llvmlite import ir

from tilewright.target.cpu.multiply_instructions import Multiplier
from tilewright.target.llvm import arithmetic
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index, add, for_range, mul
from tilewright.tile.ir import Value


@dataclasses.dataclass(frozen=True)
class Side:
  """An operand, and how a place along its free and its contracted dimensions becomes an index."""

  value: Value
  free: list[int]  # sizes of the dimensions along the panel
  contracted: list[int]
  free_is_last: bool  # whether neighbours along the panel are neighbours in the operand
  contracted_is_last: bool
  place: Any  # (batch, free indices, contracted indices) -> index
  spread: Any  # (number, sizes, step) -> indices
  multiplier: Multiplier
  depth: int  # how many elements are contracted
  flipped: int = 0
  start: Any = 0  # and from which on

  @property
  def units(self) -> int:
    return -(-self.depth // self.multiplier.group)

  def part(self, start: Any, depth: int) -> Side:
    """The same operand with a part of K."""
    return dataclasses.replace(self, start=start, depth=depth)

  def contracted_at(self, b: ir.IRBuilder, number: Any) -> list[Index]:
    """Where an element along K is, counted from the start of the part."""
    return self.spread(add(b, self.start, number), self.contracted)


def pack(code: Any, side: Side, memory: Any, batch: list[Index], first: Any, width: int) -> None:
  """Fill a panel. Stores may run over the end of it by less than a vector, never into what was packed before."""
  if side.contracted_is_last and not side.free_is_last and width > 1:
    _across(code, side, memory, batch, first, width)
    return
  with for_range(code.b, 0, side.depth // side.multiplier.group) as k, code.scope():
    _store_line(code, side, memory, batch, first, width, k, side.multiplier.group)
  left = side.depth % side.multiplier.group
  if left:
    with code.scope():
      _store_line(code, side, memory, batch, first, width, side.units - 1, left)


def line(code: Any, side: Side, batch: list[Index], first: Any, width: int, k: Any, rows: int) -> list[ir.Value]:
  """Unit `k` of each of `width` neighbours, as whole vectors and what is left; `rows` of the unit's elements are there."""
  lanes, group, found = code.host.lanes_of(side.multiplier.unit), side.multiplier.group, []
  for at in range(0, width, lanes):
    count = min(lanes, width - at)
    parts = []
    for r in range(rows):
      contracted = side.contracted_at(code.b, add(code.b, mul(code.b, k, group), r))
      parts.append(_element(code, side, batch, add(code.b, first, at), contracted, count))
    found.append(_join(code, side, parts))
  return found


def _store_line(code: Any, side: Side, memory: Any, batch: Any, first: Any, width: int, k: Any, rows: int) -> None:
  at = 0
  for vector in line(code, side, batch, first, width, k, rows):
    count = ty.lanes_of(vector)
    code.store(memory, [Index(k), Index(at, 1 if count > 1 else 0)], vector)
    at += count


def _element(code: Any, side: Side, batch: Any, number: Any, contracted: list[Index], count: int) -> ir.Value:
  """`count` neighbours along the panel, in the dtype of the panel."""
  b, v = code.b, side.value
  if len(side.free) == 1 or count == 1:
    index = side.place(batch, side.spread(number, side.free, 1 if count > 1 else 0), contracted)
    return converted(code, side, code.value_at(v, index, count))
  result = ir.Constant(ty.register_type(v.tile.dtype, count), ir.Undefined)
  for c in range(count):  # spread over several dimensions, neighbours need not lie a fixed step apart
    index = side.place(batch, side.spread(add(b, number, c), side.free), contracted)
    result = b.insert_element(result, code.value_at(v, index, 1), ty.I32(c))
  return converted(code, side, result)


def converted(code: Any, side: Side, value: ir.Value) -> ir.Value:
  """From the operand's register type to what the panel holds: a number, or the bits of a small one."""
  if side.multiplier.group == 1:
    return arithmetic.convert(code.b, value, side.value.tile.dtype, side.multiplier.dtype)
  bits = ty.narrow(code.b, value, side.multiplier.dtype)
  return code.b.xor(bits, ty.constant(bits.type, side.flipped)) if side.flipped else bits


def _join(code: Any, side: Side, parts: list[ir.Value]) -> ir.Value:
  """Elements along K as one unit, the first in the lowest bits."""
  if side.multiplier.group == 1:
    return parts[0]
  b, group = code.b, side.multiplier.group
  unit_type = ty.memory_type(side.multiplier.unit)
  lanes, width = ty.lanes_of(parts[0]), unit_type.width // group
  if lanes > 1 and len(parts) == group:
    while len(parts) > 1:  # neighbours at half the distance: parts 0 and 2, 1 and 3, then those pairs
      parts = [_interleaved(b, x, y) for x, y in zip(parts[: len(parts) // 2], parts[len(parts) // 2 :], strict=True)]
    return b.bitcast(parts[0], ir.VectorType(unit_type, lanes))
  wide = unit_type if lanes == 1 else ir.VectorType(unit_type, lanes)
  unit = b.zext(parts[0], wide)
  for position, part in enumerate(parts[1:], 1):
    unit = b.or_(unit, b.shl(b.zext(part, wide), ty.constant(wide, position * width)))
  return unit


def _interleaved(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
  """x0 y0 x1 y1 ..."""
  count = ty.lanes_of(x)
  picks = [i // 2 + (count if i % 2 else 0) for i in range(2 * count)]
  return b.shuffle_vector(x, y, ir.Constant(ir.VectorType(ty.I32, 2 * count), picks))


def _across(code: Any, side: Side, memory: Any, batch: Any, first: Any, width: int) -> None:
  b, lanes = code.b, code.host.lanes_of(side.multiplier.unit)
  whole = side.depth // (lanes * side.multiplier.group) * lanes
  if whole:
    with for_range(b, 0, whole, lanes) as k, code.scope():
      _square(code, side, memory, batch, first, width, k, lanes * side.multiplier.group)
  if whole < side.units:
    with code.scope():
      _square(code, side, memory, batch, first, width, whole, side.depth - whole * side.multiplier.group)


def _square(code: Any, side: Side, memory: Any, batch: Any, first: Any, width: int, k: Any, depth: int) -> None:
  """`depth` elements along K of each of `width` neighbours, from unit `k` on."""
  b, group = code.b, side.multiplier.group
  lanes = code.host.lanes_of(side.multiplier.unit)
  start, columns = add(b, side.start, mul(b, k, group)), []
  for at in range(0, width, lanes):
    rows = []
    for c in range(min(lanes, width - at)):
      free = side.spread(add(b, first, at + c), side.free)
      index = side.place(batch, free, [Index(start, 1 if depth > 1 else 0)])
      rows.append(units(code, side, converted(code, side, code.value_at(side.value, index, depth)), lanes))
    undefined = ir.Constant(rows[0].type, ir.Undefined)
    columns.append(transposed(b, rows + [undefined] * (lanes - len(rows))))
  for r in range(-(-depth // group)):
    for number, column in enumerate(columns):
      code.store(memory, [Index(add(b, k, r)), Index(number * lanes, 1)], column[r])


def units(code: Any, side: Side, value: ir.Value, lanes: int) -> ir.Value:
  """Neighbours along K as a whole vector of units: missing elements are zero."""
  b, group = code.b, side.multiplier.group
  count, element = ty.lanes_of(value), ty.element_type(value.type)
  if count < lanes * group:
    vector = ir.VectorType(element, lanes * group)
    if count == 1:
      value = b.insert_element(ty.constant(vector, 0), value, ty.I32(0))
    else:
      picks = [min(i, count) for i in range(lanes * group)]
      zero = ty.constant(value.type, 0)
      value = b.shuffle_vector(value, zero, ir.Constant(ir.VectorType(ty.I32, lanes * group), picks))
  return value if group == 1 else b.bitcast(value, ir.VectorType(ty.memory_type(side.multiplier.unit), lanes))


def widened(b: ir.IRBuilder, value: ir.Value, register: ir.Type) -> ir.Value:
  """A whole vector that begins with the given lanes; the others are zero."""
  count = ty.lanes_of(value)
  if count == register.count:
    return value
  if count == 1:
    return b.insert_element(ty.constant(register, 0), value, ty.I32(0))
  picks = [min(i, count) for i in range(register.count)]
  return b.shuffle_vector(value, ty.constant(value.type, 0), ir.Constant(ir.VectorType(ty.I32, register.count), picks))


def transposed(b: ir.IRBuilder, rows: list[ir.Value]) -> list[ir.Value]:
  """The transpose of a square of vectors, by swapping ever smaller off-diagonal squares."""
  size = len(rows)
  half = size // 2
  while half:
    low = [i + (size if i & half else 0) - (half if i & half else 0) for i in range(size)]
    high = [i + (half if not i & half else 0) + (size if i & half else 0) for i in range(size)]
    masks = [ir.Constant(ir.VectorType(ty.I32, size), picks) for picks in (low, high)]
    swapped = list(rows)
    for i in range(size):
      if not i & half:
        swapped[i], swapped[i + half] = (b.shuffle_vector(rows[i], rows[i + half], mask) for mask in masks)
    rows, half = swapped, half // 2
  return rows
