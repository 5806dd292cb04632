"""Products by multiplications of single numbers, for dtypes and shapes that tensor cores do not have: operands in shared memory, and each
thread multiplies and adds for its own elements of the result, in registers or in memory."""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir

from tilewright.target.llvm import arithmetic
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.dots import Dot
from tilewright.target.llvm.loops import Index, for_range, lane, stack_slot
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.register_tiles import Registers
from tilewright.target.nvgpu.emit.views import View
from tilewright.tile.ir import Op, Value

_TOGETHER = 4  # elements along k that a thread loads at a time


def multiply(code: BlockCode, parts: Dot, into: View, accumulate: bool) -> None:
  """Each thread multiplies and adds for its vectors of the result, which lies in memory."""
  b = code.b
  sides = [code.in_memory(v) for v in (parts.lhs, parts.rhs)]
  code.sync({s.base for s in sides}, {into.base})
  dtype = parts.accumulator
  shape = tuple([*parts.batch, *parts.ms, *parts.ns])
  free = len(parts.batch), len(parts.batch) + len(parts.ms)

  def each(index: list[Index], lanes: int, step: Any) -> None:
    register = ty.register_type(dtype, lanes)
    slot = stack_slot(b, register, ty.constant(register, 0))
    batch, rows, columns = index[: free[0]], index[free[0] : free[1]], index[free[1] :]
    with for_range(b, 0, parts.k) as k, code.scope():
      inner = parts.spread(k, parts.ks)
      x = code.load(sides[0], parts.place(batch, rows, inner, "lhs"), _width(rows + batch, lanes))
      y = code.load(sides[1], parts.place(batch, columns, inner, "rhs"), _width(columns + batch, lanes))
      x, y = (
        ty.splat(b, v, lanes) if ty.lanes_of(v) < lanes else v
        for v in (
          arithmetic.convert(b, x, parts.lhs.tile.dtype, dtype),
          arithmetic.convert(b, y, parts.rhs.tile.dtype, dtype),
        )
      )
      total = b.load(slot, typ=register)
      if ty.is_float(dtype):
        total = ty.intrinsic(b, "fma", [x, y, total])
      else:
        total = b.add(total, b.mul(x, y))
      b.store(total, slot)
    total = arithmetic.convert(b, b.load(slot, typ=register), dtype, parts.dtype)
    if accumulate:
      old = code.load(into, index, lanes)
      total = b.fadd(old, total) if ty.is_float(parts.dtype) else b.add(old, total)
    code.store(into, index, total)

  code.each_step(code.distribution(shape), each)


def in_registers(code: BlockCode, op: Op, old: Value | None) -> Registers:
  """Each thread multiplies and adds for the elements it holds, all of them for a few k at a time: what it loads serves many."""
  b, parts = code.b, Dot(code, op)
  layout = code.layout_of(op.result)
  assert layout is not None
  result = code.new_registers(layout, parts.dtype)
  held, dtype = result.held, parts.accumulator
  sides = [code.in_memory(v) for v in (parts.lhs, parts.rhs)]
  if old is not None:
    code.fill(result, old)
  code.sync({s.base for s in sides}, set())
  register = ty.register_type(dtype, held.lanes)
  with b.goto_entry_block():
    slots = [b.alloca(register) for _ in range(held.steps)]
  for slot in slots:
    b.store(ty.constant(register, 0), slot)
  depth = math.gcd(parts.ks[-1], _TOGETHER) if parts.ks else 1
  first, second = len(parts.batch), len(parts.batch) + len(parts.ms)
  with for_range(b, 0, parts.k, depth) as k, code.scope():
    inner = parts.spread(k, parts.ks, 1 if depth > 1 else 0)
    known: dict[Any, list[ir.Value]] = {}

    def loaded(side: int, batch: list[Index], free: list[Index]) -> list[ir.Value]:
      """The operand's elements for each of a few k: single numbers, or vectors along the result's."""
      key = side, tuple((*i.place, i.step) for i in (*batch, *free))
      if key not in known:
        name, value = ("lhs", parts.lhs) if side == 0 else ("rhs", parts.rhs)
        if _width([*batch, *free], held.lanes) > 1:
          rows = [[lane(b, i, n) for i in inner] for n in range(depth)]
          found = [code.load(sides[side], parts.place(batch, free, row, name), held.lanes) for row in rows]
        else:
          whole = code.load(sides[side], parts.place(batch, free, inner, name), depth)
          found = [whole if depth == 1 else b.extract_element(whole, I32(n)) for n in range(depth)]
        known[key] = [arithmetic.convert(b, v, value.tile.dtype, dtype) for v in found]
      return known[key]

    for step, slot in enumerate(slots):
      index = code.index_of(held, step)
      batch, rows, columns = index[:first], index[first:second], index[second:]
      total = b.load(slot, typ=register)
      for x, y in zip(loaded(0, batch, rows), loaded(1, batch, columns)):
        x, y = (ty.splat(b, v, held.lanes) if ty.lanes_of(v) < held.lanes else v for v in (x, y))
        total = ty.intrinsic(b, "fma", [x, y, total]) if ty.is_float(dtype) else b.add(total, b.mul(x, y))
      b.store(total, slot)
  for step, slot in enumerate(slots):
    total = arithmetic.convert(b, b.load(slot, typ=register), dtype, parts.dtype)
    if old is not None:
      before = result.vector(b, step)
      total = b.fadd(before, total) if ty.is_float(parts.dtype) else b.add(before, total)
    result.set(b, step, total)
  return result


def _width(index: list[Index], lanes: int) -> int:
  return lanes if any(i.step for i in index) else 1
