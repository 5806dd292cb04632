"""Contractions with few columns: inner products of rows of A, as they lie in memory, with columns of B, packed along K.

    for m in strips of a few rows:
      acc[rows][columns] = 0                    each a vector of partial sums along K
      for k in vectors along K: acc[r][c] += A[m + r, k : k + lanes] * Bt[c, k : k + lanes]
      C[m + r, c] = horizontal sum of acc[r][c]

The micro-kernel of `contraction` has lanes along the columns, most of which would be idle here, and reads one element from each of many
rows at a time, which is slow for rows far apart in memory. Here A is read once, in long runs, from as many streams as the prefetcher can
follow.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from tilewright.target.cpu import panel_packing
from tilewright.target.cpu.left_operand import Part
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index, add, for_range, mul
from tilewright.target.llvm.memory import Memory

_MAX_COLUMNS = 12  # columns: with more, most lanes of the other micro-kernel are busy
_MAX_ROWS = 8  # that are read side by side


def applies(lanes: int, columns: int, depth: int, is_along_rows: bool) -> bool:
  """Whether a contraction has few columns, and rows that are contiguous along K and long enough for vectors."""
  return is_along_rows and columns <= min(_MAX_COLUMNS, lanes) and depth >= 2 * lanes


def rows_at_a_time(num_registers: int, columns: int) -> int:
  """How many rows have their accumulators in registers, beside a vector of each row and one of B."""
  return max(1, min(_MAX_ROWS, (num_registers - 2) // (columns + 1)))


class Rows:
  """The left operand, read along K: the same interface as `left_operand.InPlace`."""

  blocks = 1

  def prepare(self, part: Part, start: Any, stop: Any) -> None:
    pass


def pack(code: Any, side: panel_packing.Side, memory: Memory, batch: list[Index], columns: int) -> None:
  """Columns of B along K: `memory[column, unit]`, with zeros up to the next whole vector."""
  b, group = code.b, side.multiplier.group
  lanes = code.host.lanes_of(side.multiplier.unit)
  whole, left = divmod(side.depth, lanes * group)

  def vectors(block: Any, depth: int) -> None:
    first = mul(b, block, lanes)
    for column, value in enumerate(_columns(code, side, batch, first, columns, depth)):
      code.store(memory, [Index(column), Index(first, 1)], value)

  if whole:
    with for_range(b, 0, whole) as block, code.scope():
      vectors(block, lanes * group)
  if left:
    with code.scope():
      vectors(whole, left)


def _columns(
  code: Any, side: panel_packing.Side, batch: list[Index], first: Any, columns: int, depth: int
) -> list[ir.Value]:
  """A vector of units along K of each column, from unit `first` on."""
  b, group = code.b, side.multiplier.group
  lanes = code.host.lanes_of(side.multiplier.unit)
  if side.contracted_is_last:
    return [along(code, side, batch, column, mul(b, first, group), depth, lanes) for column in range(columns)]
  kind = ir.VectorType(ty.register_type(side.multiplier.unit, 1), lanes)
  lines = []
  for u in range(-(-depth // group)):
    (line,) = panel_packing.line(code, side, batch, 0, columns, add(b, first, u), min(group, depth - u * group))
    lines.append(panel_packing.widened(b, line, kind))
  lines += [ty.constant(kind, 0)] * (lanes - len(lines))
  return panel_packing.transposed(b, lines)[:columns]


def along(
  code: Any, side: panel_packing.Side, batch: list[Index], number: Any, k: Any, depth: int, lanes: int
) -> ir.Value:
  """A vector of units along K of one row or column, from element `k` of the part on."""
  b = code.b
  place = side.place(batch, side.spread(number, side.free), [Index(add(b, side.start, k), 1 if depth > 1 else 0)])
  return panel_packing.units(
    code, side, panel_packing.converted(code, side, code.value_at(side.value, place, depth)), lanes
  )
