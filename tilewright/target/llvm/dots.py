"""The dimensions of a contraction: which are batched, free and contracted, and how numbers along M, N and K index the operands."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index, div_rem
from tilewright.tile.ir import Op


class Dot:
  """The dimensions of a contraction, and how a number along M, N or K becomes indices of the operands."""

  def __init__(self, code: Any, op: Op):
    self.b = code.b
    self.lhs, self.rhs = op.operands
    (self.lc, self.rc), (self.lb, self.rb) = op.attrs["contract"], op.attrs["batch"]
    ls, rs = self.lhs.tile.shape, self.rhs.tile.shape
    self.lf = [a for a in range(len(ls)) if a not in (*self.lc, *self.lb)]
    self.rf = [a for a in range(len(rs)) if a not in (*self.rc, *self.rb)]
    self.batch = [ls[a] for a in self.lb]
    self.ms, self.ns, self.ks = [ls[a] for a in self.lf], [rs[a] for a in self.rf], [ls[a] for a in self.lc]
    self.m, self.n, self.k = math.prod(self.ms), math.prod(self.ns), math.prod(self.ks)
    self.dtype = np.dtype(op.attrs["dtype"])
    # Small floats are added up in f32.
    self.accumulator = np.dtype(np.float32) if self.dtype.itemsize < 4 and ty.is_float(self.dtype) else self.dtype

  def spread(self, number: Any, sizes: list[int], step: int = 0) -> list[Index]:
    """A number as indices of several dimensions; lanes go along the last."""
    if len(sizes) == 1:
      return [Index(number, step)]
    indices: list[Index] = []
    for position in reversed(range(len(sizes))):
      number, left = div_rem(self.b, number, sizes[position]) if position else (0, number)
      indices.append(Index(left, step if position == len(sizes) - 1 else 0))
    return indices[::-1]

  def place(self, batch: list[Index], free: list[Index], contracted: list[Index], side: str) -> list[Index]:
    b_axes, f_axes, c_axes = (self.lb, self.lf, self.lc) if side == "lhs" else (self.rb, self.rf, self.rc)
    index: list[Any] = [None] * (len(b_axes) + len(f_axes) + len(c_axes))
    for axes, part in ((b_axes, batch), (f_axes, free), (c_axes, contracted)):
      for a, i in zip(axes, part):
        index[a] = i
    return index
