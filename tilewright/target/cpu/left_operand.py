"""The left operand of a contraction: strips of it packed in the order of use, or read in place.

    strip of three rows, packed:    a00 a10 a20   a01 a11 a21   a02 a12 a22 ...

The micro-kernel multiplies one element after another of a strip by a row of the right operand.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from llvmlite import ir

from tilewright.target.cpu import panel_packing
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index, add, i64, mul, sub
from tilewright.target.llvm.memory import Memory
from tilewright.tile.ir import Op

_CLOSE = 256  # elements between neighbouring lines of the left operand that is used where it is


@dataclasses.dataclass(frozen=True)
class Part:
  """A part of K: its range in both operands, and whether it is the first or the last part to be accumulated."""

  batch: list[Index]
  left: panel_packing.Side
  right: panel_packing.Side
  is_first: Any  # a bool, or an i1 where one piece of code carries out several parts
  is_last: bool


class InPlace:
  """The left operand as it lies in memory."""

  def __init__(self, code: Any, d: Any, memory: Memory):
    self.code, self.d, self.memory = code, d, memory
    self.blocks = 1

  def prepare(self, part: Part, start: Any, stop: Any) -> None:
    pass

  def unit(self, part: Part, m: Any, r: int, rows: int, k: Any) -> ir.Value:
    d, b = self.d, self.code.b
    index = d.place(part.batch, d.spread(add(b, m, r), d.ms), part.left.contracted_at(b, k), "lhs")
    return self.code.load(self.memory, index, 1)


class Packed:
  """Some strips of the left operand, one after another: each holds, for every unit along K, its rows side by side."""

  def __init__(self, code: Any, d: Any):
    self.code, self.d = code, d
    self.blocks = d.cut.blocks
    units = d.left.part(0, d.cut.depths[0]).units
    rows = min(d.m, d.cut.at_a_time * d.cut.strips.height)
    self.memory = code.allocate([rows * units + d.lanes], d.multiplier.unit)  # stores may run over the end
    self.first_row: Any = 0

  def _strip(self, part: Part, m: Any, rows: int) -> Memory:
    b, unit = self.code.b, self.memory.dtype
    offset = mul(b, sub(b, m, self.first_row), part.left.units)
    pointer = b.gep(self.memory.pointer, [i64(offset)], inbounds=True, source_etype=ty.memory_type(unit))
    return Memory(pointer, (rows, 1), unit, self.memory.base)

  def prepare(self, part: Part, start: Any, stop: Any) -> None:
    """Pack a range of strips."""
    code, strips = self.code, self.d.cut.strips
    self.first_row = strips.first_row(code.b, start)

    def pack(m: Any, rows: int) -> None:
      with code.scope():
        panel_packing.pack(code, part.left, self._strip(part, m, rows), part.batch, m, rows)

    strips.each(code.b, start, stop, pack)

  def unit(self, part: Part, m: Any, r: int, rows: int, k: Any) -> ir.Value:
    return self.code.load(self._strip(part, m, rows), [Index(k), Index(r)], 1)

  def two_rows(self, part: Part, m: Any, r: int, rows: int, k: Any) -> ir.Value:
    """The units of a row and of the one below it; beyond a strip's last row the contents are undefined."""
    return self.code.load(self._strip(part, m, rows), [Index(k), Index(r, 1)], 2)


def left_operand(code: Any, d: Any) -> InPlace | Packed:
  """The left operand, packed unless it is reused too little for that."""
  known = code.env.get(d.lhs)
  memory = known if isinstance(known, Memory) else None
  if known is None and isinstance(d.lhs.owner, Op) and d.lhs.owner.name == "load":
    memory = code.memory_of(d.lhs.owner.operands[0])
  if memory is None or memory.dtype != d.multiplier.dtype or d.multiplier.group > 1:
    return Packed(code, d)
  # Lines that lie close together stay in L1; lines far apart conflict and evict each other.
  lines = d.lf if d.left.contracted_is_last else d.lc
  close = all(isinstance(memory.strides[a], int) and memory.strides[a] <= _CLOSE for a in lines)
  return InPlace(code, d, memory) if close or d.cut.strips.count == 1 else Packed(code, d)
