"""`recast`, computed where its elements are needed: a wide element is narrower ones side by side, the low bits first.

Four bytes that lie side by side are one load of a word; a half of a word is a shift. Nothing goes through memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index, i64
from tilewright.tile.ir import Op


def element(code: Any, op: Op, index: Sequence[Index], lanes: int) -> ir.Value | None:
  """The elements of a recast; None if only lane by lane will do."""
  (x,) = op.operands
  if x.tile.dtype.itemsize < op.results[0].tile.dtype.itemsize:
    return _joined(code, op, index) if lanes == 1 else None
  return _part(code, op, index, lanes)


def _joined(code: Any, op: Op, index: Sequence[Index]) -> ir.Value:
  (x,) = op.operands
  count, target = x.tile.shape[-1], op.results[0].tile.dtype
  parts = code.value_at(x, [*index, Index(0, 1, count)], count)
  word = code.b.bitcast(ty.narrow(code.b, parts, x.tile.dtype), ir.IntType(8 * target.itemsize))
  return _from_bits(code.b, word, target, 1)


def _part(code: Any, op: Op, index: Sequence[Index], lanes: int) -> ir.Value | None:
  b, (x,) = code.b, op.operands
  source, target = x.tile.dtype, op.results[0].tile.dtype
  *outer, last = index
  if lanes > 1 and last.step:
    return None
  word = _bits(b, ty.narrow(b, code.value_at(x, outer, lanes), source), 8 * source.itemsize)
  if isinstance(last.base, int):
    amount: ir.Value = ty.constant(word.type, last.base * 8 * target.itemsize)
  else:
    bits = b.mul(i64(last.base), i64(8 * target.itemsize))
    single = ty.element_type(word.type)
    amount = ty.splat(b, b.trunc(bits, single) if single.width < 64 else bits, lanes)
  narrow = ir.IntType(8 * target.itemsize)
  part = b.trunc(b.lshr(word, amount), narrow if lanes == 1 else ir.VectorType(narrow, lanes))
  return _from_bits(b, part, target, lanes)


def _bits(b: ir.IRBuilder, value: ir.Value, width: int) -> ir.Value:
  lanes = ty.lanes_of(value)
  return b.bitcast(value, ir.IntType(width) if lanes == 1 else ir.VectorType(ir.IntType(width), lanes))


def _from_bits(b: ir.IRBuilder, bits: ir.Value, dtype: Any, lanes: int) -> ir.Value:
  memory = ty.memory_type(dtype)
  return ty.widen(b, b.bitcast(bits, memory if lanes == 1 else ir.VectorType(memory, lanes)), dtype, lanes)
