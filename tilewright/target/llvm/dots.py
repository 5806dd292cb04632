"""Contractions: which dimensions are batched, free and contracted, how numbers along M, N and K index the operands, and which results are
added to memory as they are computed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index, div_rem
from tilewright.tile.ir import Block, Op, Value


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


class DeferredContraction:
  """Marks a contraction that its only user, a store, will carry out."""

  base = None


def accumulator_of(code: Any, dot: Op, block: Block) -> Value | None:
  """The ref to which the result of a contraction is only added, at once and unrounded, if it is there already and no operand reads it."""
  result = dot.results[0]
  users = code.users.get(result, [])
  if len(users) != 1 or users[0].name != "add" or users[0] not in block.ops:
    return None
  sum_op = users[0]
  old = next((v for v in sum_op.operands if v is not result), None)
  stores = code.users.get(sum_op.results[0], [])
  if old is None or len(stores) != 1 or stores[0].name != "store" or stores[0] not in block.ops:
    return None
  ref, load = stores[0].operands[0], old.owner
  if ref not in code.env:
    return None
  if not isinstance(load, Op) or load.name != "load" or load.operands[0] is not ref or old in code.env:
    return None
  between = block.ops[block.ops.index(dot) + 1 : block.ops.index(stores[0])]
  if any(code.bases_written(op) or op.blocks for op in between) or len(code.users.get(old, [])) != 1:
    return None
  memory = code.memory_of(ref)
  is_exact = memory.dtype == result.tile.dtype and memory.dtype in (np.float32, np.float64, np.int32)
  reads = code.bases_read(dot.operands[0]) | code.bases_read(dot.operands[1])
  return ref if is_exact and memory.base not in reads else None
