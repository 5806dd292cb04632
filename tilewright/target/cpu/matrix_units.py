"""Products of two rows by two columns in each 128 bits of a vector: bfmmla and smmla of NEON and SVE.

    A   rows r, r + 1          B   columns c, c + 1         accumulator   r,c  r,c+1  r+1,c  r+1,c+1
        one unit of each           one unit of each

A unit is 64 bits along K (see `multiply_instructions`), so packed strips and panels already have the operands side by side. A vector of
several 128 bits has two more columns in each, and the same two rows. After the loop over K, two adjacent accumulators become a vector of
each row.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from tilewright.target.llvm import types as ty


def rows_of(b: ir.IRBuilder, pair: ir.Value, lanes: int) -> ir.Value:
  """The units of two rows in each 128 bits of a vector that has `lanes` accumulators."""
  if lanes == 4:
    return pair
  return _picked(b, pair, pair, [0, 1] * (lanes // 4))


def apart(b: ir.IRBuilder, left: ir.Value, right: ir.Value) -> tuple[ir.Value, ir.Value]:
  """Of the accumulators of neighbouring columns: the upper row, and the lower."""
  pairs = range(0, 2 * ty.lanes_of(left), 4)
  upper, lower = ([first + at + i for first in pairs for i in (0, 1)] for at in (0, 2))
  return _picked(b, left, right, upper), _picked(b, left, right, lower)


def _picked(b: ir.IRBuilder, x: ir.Value, y: ir.Value, picks: list[Any]) -> ir.Value:
  return b.shuffle_vector(x, y, ir.Constant(ir.VectorType(ty.I32, len(picks)), picks))
