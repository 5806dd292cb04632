"""Symbolic index arithmetic that emits LLVM: the numbers of `tilewright.layout` functions where the thread is not static.

Layouts are functions of ints, written with `+ * // % & ^ << >>`. Given a `Number` instead of an int, the same function emits the code:

    lane = Number(builder, lane_id, bound=32)
    row, column = layout.coordinates(register=3, lane=lane, warp=warp)       # Numbers, or ints where nothing depends on the thread
    address = shared.address((row, column))

A number knows an upper bound (not included), so that `lane // 4 % 8` is one shift; powers of two become shifts and masks.
"""

from __future__ import annotations

import dataclasses

from llvmlite import ir

I32 = ir.IntType(32)


@dataclasses.dataclass(frozen=True, eq=False)
class Number:
  """An i32 that is not negative and below `bound`."""

  builder: ir.IRBuilder
  value: ir.Value
  bound: int = 1 << 31

  def _constant(self, x: int) -> ir.Constant:
    return ir.Constant(I32, x)

  def _new(self, value: ir.Value, bound: int) -> Number:
    return Number(self.builder, value, min(bound, 1 << 31))

  def __add__(self, other: Number | int) -> Number:
    if isinstance(other, int):
      if other == 0:
        return self
      return self._new(self.builder.add(self.value, self._constant(other)), self.bound + other)
    return self._new(self.builder.add(self.value, other.value), self.bound + other.bound - 1)

  __radd__ = __add__

  def __mul__(self, factor: int) -> Number | int:
    if factor in (0, 1):
      return self if factor else 0
    bound = (self.bound - 1) * factor + 1
    if factor & (factor - 1) == 0:
      return self._new(self.builder.shl(self.value, self._constant(factor.bit_length() - 1)), bound)
    return self._new(self.builder.mul(self.value, self._constant(factor)), bound)

  __rmul__ = __mul__

  def __floordiv__(self, divisor: int) -> Number | int:
    if divisor == 1:
      return self
    if divisor >= self.bound:
      return 0
    bound = (self.bound - 1) // divisor + 1
    if divisor & (divisor - 1) == 0:
      return self._new(self.builder.lshr(self.value, self._constant(divisor.bit_length() - 1)), bound)
    return self._new(self.builder.udiv(self.value, self._constant(divisor)), bound)

  def __mod__(self, divisor: int) -> Number | int:
    if divisor >= self.bound:
      return self
    if divisor == 1:
      return 0
    if divisor & (divisor - 1) == 0:
      return self._new(self.builder.and_(self.value, self._constant(divisor - 1)), divisor)
    return self._new(self.builder.urem(self.value, self._constant(divisor)), divisor)

  def __and__(self, mask: int) -> Number | int:
    mask &= _ones(self.bound)
    return self._new(self.builder.and_(self.value, self._constant(mask)), mask + 1) if mask else 0

  def __xor__(self, other: Number | int) -> Number:
    if isinstance(other, int):
      if other == 0:
        return self
      value, bound = self._constant(other), other + 1
    else:
      value, bound = other.value, other.bound
    return self._new(self.builder.xor(self.value, value), max(_ones(self.bound), _ones(bound)) + 1)

  __rxor__ = __xor__

  def __rshift__(self, count: int) -> Number | int:
    return self // (1 << count)

  def __lshift__(self, count: int) -> Number | int:
    return self * (1 << count)


def _ones(bound: int) -> int:
  """All bits that a number below the bound may have."""
  return (1 << (bound - 1).bit_length()) - 1


def value_of(builder: ir.IRBuilder, number: Number | int) -> ir.Value:
  """The LLVM value of what index arithmetic gave."""
  return number.value if isinstance(number, Number) else ir.Constant(I32, number)
