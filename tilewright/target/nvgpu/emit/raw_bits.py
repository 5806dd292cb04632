"""The elements of a tile as the integers that memory would hold: values that only move are never widened.

f16 and bf16 are computed with in f32, so `value_at` widens what it loads, and a store narrows it again. A tile that is loaded, transposed
and stored, or is an operand of a matrix instruction, has no use for that. And what is rounded to sixteen bits to be kept so is rounded
only once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import operand_indices
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index
from tilewright.target.nvgpu.emit import views
from tilewright.target.nvgpu.emit.views import View
from tilewright.tile.ir import Op, Value


def integers(bits: int, count: int) -> ir.Type:
  return ir.IntType(bits) if count == 1 else ir.VectorType(ir.IntType(bits), count)


def as_bits(memory: View) -> View:
  """The same memory, of integers."""
  return dataclasses.replace(memory, dtype=np.dtype(f"uint{8 * memory.dtype.itemsize}"))


def narrowed(b: ir.IRBuilder, value: ir.Value, dtype: Any) -> ir.Value:
  """A value in registers as the bits that memory would hold."""
  return b.bitcast(views.narrow(b, value, dtype), integers(8 * np.dtype(dtype).itemsize, ty.lanes_of(value)))


def widened(b: ir.IRBuilder, bits: ir.Value, dtype: Any) -> ir.Value:
  lanes, memory = ty.lanes_of(bits), ty.memory_type(dtype)
  return ty.widen(b, b.bitcast(bits, memory if lanes == 1 else ir.VectorType(memory, lanes)), dtype, lanes)


def bits_at(code: Any, v: Value, index: Sequence[Index], lanes: int) -> ir.Value:
  """The elements of a tile at an index, as `code.value_at` gives them, but as bits."""
  b, dtype, op = code.b, v.tile.dtype, v.owner
  if lanes > 1 and all(i.step == 0 for i in index):
    return ty.splat(b, bits_at(code, v, index, 1), lanes)
  known = code.env.get(v)
  if known is None and isinstance(op, Op) and op.name == "load":
    known = code.accessed(op) if op.operands[0] in code.env else None
  found = code.register_bits(v, known, index, lanes)
  if found is not None:
    return found
  if type(known) is View and not known.has_edges:  # what lies outside is poison, whose bits depend on the dtype
    return views.load(b, as_bits(known), index, lanes)
  if known is None and isinstance(op, Op):
    if op.name == "convert" and ty.is_half(dtype) and op.operands[0].tile.dtype == np.float32:
      return narrowed(b, code.value_at(op.operands[0], index, lanes), dtype)
    if op.name in operand_indices.MOVES:
      operands = operand_indices.operand_indices(code, op, index, lanes)
      if operands is not None:
        return bits_at(code, *operands[0], lanes)
  return narrowed(b, code.value_at(v, index, lanes), dtype)
