"""Atomic operations, and scatters that combine: every thread takes elements of its own, and memory settles who comes first.

Integers, and sums of f32 and f64, are one instruction; everything else is a loop that tries to replace what it has seen. The sum of floats
that meet in one place depends on the order in which they come, in the last bits, as with XLA's scatters on a GPU.

An `atomic` op orders memory: what its instance wrote before is seen by whoever sees its effect, so that a lock can be built of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import gathering
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index, if_then
from tilewright.target.llvm.types import I1, VOID
from tilewright.target.nvgpu import views
from tilewright.target.nvgpu.code import BlockCode
from tilewright.target.nvgpu.distribution import distribute
from tilewright.target.nvgpu.views import View
from tilewright.tile.formats import poison_value
from tilewright.tile.indexed import Access
from tilewright.tile.ir import Op, Value

_OF_INTEGERS = {"sum": "add", "and": "and", "or": "or", "xor": "xor"}


def combine_at(b: ir.IRBuilder, pointer: ir.Value, dtype: Any, kind: str, value: ir.Value) -> ir.Value:
  """Combine a value with what stands at a place, in one step; gives what stood there."""
  dtype = np.dtype(dtype)
  name = _instruction(dtype, kind)
  if name is not None:
    return ty.widen(b, b.atomic_rmw(name, pointer, ty.narrow(b, value, dtype), "monotonic"), dtype, 1)
  bits = ir.IntType(8 * dtype.itemsize)
  if kind == "set":
    return _from_bits(b, b.atomic_rmw("xchg", pointer, _to_bits(b, value, dtype), "monotonic"), dtype)
  again, done = b.append_basic_block("again"), b.append_basic_block("done")
  first = b.load_atomic(pointer, "monotonic", dtype.itemsize, typ=bits)
  before = b.block
  b.branch(again)
  b.position_at_end(again)
  seen = b.phi(bits)
  seen.add_incoming(first, before)
  new = gathering.combined(b, kind, dtype, _from_bits(b, seen, dtype), value)
  tried = b.cmpxchg(pointer, seen, _to_bits(b, new, dtype), "monotonic", "monotonic")
  seen.add_incoming(b.extract_value(tried, 0), b.block)
  b.cbranch(b.extract_value(tried, 1), done, again)
  b.position_at_end(done)
  return _from_bits(b, seen, dtype)


def replace_at(b: ir.IRBuilder, pointer: ir.Value, dtype: Any, compared: ir.Value, value: ir.Value) -> ir.Value:
  """Replace what stands at a place if it is what it is compared with; gives what stood there."""
  dtype = np.dtype(dtype)
  old, new = (_to_bits(b, v, dtype) for v in (compared, value))
  return _from_bits(b, b.extract_value(b.cmpxchg(pointer, old, new, "monotonic", "monotonic"), 0), dtype)


def _instruction(dtype: np.dtype, kind: str) -> str | None:
  """LLVM's name of what does it in one step."""
  if dtype.kind in "iu" and kind in ("max", "min"):
    return kind if dtype.kind == "i" else f"u{kind}"
  if dtype.kind in "iu" or (dtype == np.bool_ and kind != "sum"):
    return _OF_INTEGERS.get(kind)
  return "fadd" if kind == "sum" and dtype in (np.float32, np.float64) else None


def _to_bits(b: ir.IRBuilder, value: ir.Value, dtype: np.dtype) -> ir.Value:
  raw = ty.narrow(b, value, dtype)
  return b.bitcast(raw, ir.IntType(8 * dtype.itemsize))


def _from_bits(b: ir.IRBuilder, bits: ir.Value, dtype: np.dtype) -> ir.Value:
  return ty.widen(b, b.bitcast(bits, ty.memory_type(dtype)), dtype, 1)


# --- ops ---------------------------------------------------------------------------------------------------------


def atomic(code: BlockCode, op: Op) -> None:
  _, value, other = op.operands[:3]
  access, kind, result = Access.of(op), op.attrs["kind"], op.results[0]
  view = views.view_of(code.memory_of(op.operands[0]))
  _settle(code, op.operands[1:], view)
  old = code.allocate(result.tile.shape, result.tile.dtype)
  code.settle_memory()  # all threads have written what they wrote before
  _fence(code.b)
  _each(code, access.result_shape, lambda index: _one(code, access, view, kind, index, value, other, old))
  _fence(code.b)
  code.barrier()
  code.env[result] = old if result.tile.shape else code.load(old, [], 1)


def _one(
  code: BlockCode, access: Access, view: View, kind: str, index: list[Index], value: Value, other: Value, old: View
) -> None:
  b, dtype = code.b, view.dtype
  place, inside = gathering.place_of(code, access, index)
  pointer, in_array = views.pointer_to(b, view, place)
  with b.goto_entry_block():
    found = b.alloca(ty.register_type(dtype))
  b.store(ty.element(dtype, poison_value(dtype), 1), found)
  with _where(b, [inside, in_array]), code.scope():
    new, extra = (code.value_at(v, index, 1) for v in (value, other))
    if kind == "cas":
      b.store(replace_at(b, pointer, dtype, extra, new), found)
    elif isinstance(extra, ir.Constant) and extra.constant:
      b.store(combine_at(b, pointer, dtype, kind, new), found)
    else:
      with b.if_else(extra) as (then, otherwise):
        with then:
          b.store(combine_at(b, pointer, dtype, kind, new), found)
        with otherwise:
          b.store(code.load(view, place, 1), found)
  code.store(old, index, b.load(found, typ=ty.register_type(dtype)))


def scatter_into(code: BlockCode, op: Op, view: View) -> None:
  """Combine the value of a scatter into memory, all elements at the same time."""
  access, value = Access.of(op), op.operands[1]
  if 0 in access.shape:
    return
  _settle(code, op.operands[1:], view)
  code.sync(set().union(*(code.bases_read(v) for v in op.operands[1:])), {view.base})

  def one(index: list[Index]) -> None:
    place, inside = gathering.place_of(code, access, index)
    pointer, in_array = views.pointer_to(code.b, view, place)
    with _where(code.b, [inside, in_array]), code.scope():
      combine_at(code.b, pointer, view.dtype, op.attrs["kind"], code.value_at(value, index, 1))

  _each(code, access.result_shape, one)


def _settle(code: BlockCode, values: Sequence[Value], target: View) -> None:
  """See to it that any thread finds any element of tiles, and none of them in memory that is about to change."""
  for v in values:
    if v.tile.is_scalar:
      continue
    code.prepare(v, None)
    if target.base in code.bases_read(v):
      code.in_memory(v)


def _each(code: BlockCode, shape: Sequence[int], visit: Any) -> None:
  """Call `visit(index)` for each of the thread's elements; one thread has a scalar."""
  if 0 not in shape:
    code.each_step(distribute(tuple(shape), 1, code.num_threads), lambda index, lanes, step: visit(index))


def _where(b: ir.IRBuilder, conditions: Sequence[ir.Value | None]) -> Any:
  """Emit what follows only where all conditions hold."""
  holds: ir.Value = ir.Constant(I1, 1)
  for condition in conditions:
    if condition is not None:
      holds = b.and_(holds, condition)
  return if_then(b, holds)


def _fence(b: ir.IRBuilder) -> None:
  """What this thread has seen and written comes before what follows, for the whole device."""
  text = ir.InlineAsm(ir.FunctionType(VOID, []), "fence.acq_rel.gpu;", "~{memory}", side_effect=True)
  b.call(text, [])
