"""Atomic operations, and scatters: every thread takes elements of its own, and the order of conflicting updates is that of the atomics.

Integers, and additions of f32 and f64, are one instruction; everything else is a compare-and-swap loop. A scatter adds and
multiplies floats in the order of their positions, so that its result is always the same.

An `atomic` op orders memory (acquire and release): earlier writes of its instance are visible to any instance that observes its effect, so
that a lock can be built from one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import gather_scatter
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index, i64, if_then, over, stack_slot
from tilewright.target.llvm.types import I1, I32
from tilewright.target.nvgpu.emit import views
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.distribution import distribute
from tilewright.target.nvgpu.emit.units.inline_ptx import effect
from tilewright.target.nvgpu.emit.views import View
from tilewright.tile.formats import poison_value
from tilewright.tile.gather_scatter import Access, merge, part
from tilewright.tile.ir import Op, Value
from tilewright.tile.types import dense_strides

_SMALL = 1 << 16  # elements of an array of which each may keep a number of its own
_OF_INTEGERS = {"sum": "add", "and": "and", "or": "or", "xor": "xor"}


def combine_at(b: ir.IRBuilder, pointer: ir.Value, dtype: Any, kind: str, value: ir.Value) -> ir.Value:
  """Atomically combine a value with the element at an address; returns the old element."""
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
  new = gather_scatter.combined(b, kind, dtype, _from_bits(b, seen, dtype), value)
  tried = b.cmpxchg(pointer, seen, _to_bits(b, new, dtype), "monotonic", "monotonic")
  seen.add_incoming(b.extract_value(tried, 0), b.block)
  b.cbranch(b.extract_value(tried, 1), done, again)
  b.position_at_end(done)
  return _from_bits(b, seen, dtype)


def replace_at(b: ir.IRBuilder, pointer: ir.Value, dtype: Any, compared: ir.Value, value: ir.Value) -> ir.Value:
  """Compare and swap: replace the element at an address if it equals `compared`; returns the old element."""
  dtype = np.dtype(dtype)
  old, new = (_to_bits(b, v, dtype) for v in (compared, value))
  return _from_bits(b, b.extract_value(b.cmpxchg(pointer, old, new, "monotonic", "monotonic"), 0), dtype)


def _instruction(dtype: np.dtype, kind: str) -> str | None:
  """LLVM's name of the atomic instruction for it."""
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
  fence(code.b)
  _each(code, access.result_shape, lambda index: _one(code, access, view, kind, index, value, other, old))
  fence(code.b)
  code.barrier()
  code.env[result] = old
  if result.tile.is_scalar:
    code.sync({old.base}, set())  # in a loop, it is not written again before all threads have read it
    code.env[result] = code.load(old, [], 1)


def _one(
  code: BlockCode, access: Access, view: View, kind: str, index: list[Index], value: Value, other: Value, old: View
) -> None:
  b, dtype = code.b, view.dtype
  place, inside = gather_scatter.place_of(code, access, index)
  pointer, in_array = views.pointer_to(b, view, place)
  found = stack_slot(b, ty.register_type(dtype), ty.element(dtype, poison_value(dtype), 1))
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
  """Combine the value of a scatter into memory, or replace what is there, all elements at the same time."""
  access = Access.of(op)
  if 0 in access.shape or 0 in access.result_shape:
    return
  _settle(code, op.operands[1:], view)
  kind, value = op.attrs["kind"], op.operands[1]
  if kind == "set" and math.prod(access.shape) <= _SMALL:
    _replace(code, access, value, view)
  elif kind == "set" or (ty.is_float(view.dtype) and kind in ("sum", "prod")):
    _in_order(code, access, kind, value, view)
  else:
    _combine(code, access, kind, value, view)


def _in_order(code: BlockCode, access: Access, kind: str, value: Value, view: View) -> None:
  """One position after another, with the elements of a window at the same time."""
  b = code.b
  overlap = any(access.sizes[a] > 1 for a in access.axes)  # else an element of memory always belongs to the same thread

  def one(index: list[Index]) -> None:
    place, inside = gather_scatter.place_of(code, access, index)
    _, in_array = views.pointer_to(b, view, place)
    with _where(b, [inside, in_array]), code.scope():
      new = code.value_at(value, index, 1)
      if kind != "set":
        new = gather_scatter.combined(b, kind, view.dtype, code.load(view, place, 1), new)
      code.store(view, place, new)

  def each(own: list[Index]) -> None:
    _each(code, access.window, lambda index: one(list(merge(own, index, access.batch))))
    if overlap:
      code.barrier()

  code.sync(_bases(code, access, value), {view.base})
  over(code, access.position_shape, each)
  code.written.add(view.base)


def _combine(code: BlockCode, access: Access, kind: str, value: Value, view: View) -> None:
  def one(index: list[Index]) -> None:
    place, inside = gather_scatter.place_of(code, access, index)
    pointer, in_array = views.pointer_to(code.b, view, place)
    with _where(code.b, [inside, in_array]), code.scope():
      combine_at(code.b, pointer, view.dtype, kind, code.value_at(value, index, 1))

  code.sync(_bases(code, access, value), {view.base})
  _each(code, access.result_shape, one)


def _replace(code: BlockCode, access: Access, value: Value, view: View) -> None:
  """Where positions repeat, the last one counts: each place finds out which that is, and then only that one writes."""
  b = code.b
  strides = dense_strides(access.shape)
  last = code.allocate((math.prod(access.shape),), np.int32)
  code.nest(
    (math.prod(access.shape),),
    lambda index, lanes: code.store(last, index, ty.element(np.int32, -1, lanes)),
    writes=last,
  )

  def visit(index: list[Index], use: Any) -> None:
    place, inside = gather_scatter.place_of(code, access, index)
    with _where(b, [inside]), code.scope():
      use(Index(_linear(b, place, strides)), place, b.trunc(_number(b, access, index), I32))

  def vote(at: Index, place: list[Index], number: ir.Value) -> None:
    combine_at(b, views.pointer_to(b, last, [at])[0], np.int32, "max", number)

  code.sync(_bases(code, access, value), {last.base})
  _each(code, access.result_shape, lambda index: visit(index, vote))
  code.sync({last.base}, {view.base})

  def write(index: list[Index]) -> None:
    def put(at: Index, place: list[Index], number: ir.Value) -> None:
      with if_then(b, b.icmp_signed("==", code.load(last, [at], 1), number)):
        code.store(view, place, code.value_at(value, index, 1))

    visit(index, put)

  _each(code, access.result_shape, write)


def _linear(b: ir.IRBuilder, index: Sequence[Index], strides: Sequence[int]) -> ir.Value:
  found: ir.Value = i64(0)
  for i, stride in zip(index, strides):
    found = b.add(found, b.mul(i64(i.base), i64(stride)))
  return found


def _number(b: ir.IRBuilder, access: Access, index: Sequence[Index]) -> ir.Value:
  """The number of the position that an element of the value belongs to."""
  return _linear(b, part(index, access.batch)[0], dense_strides(access.position_shape))


def _bases(code: BlockCode, access: Access, value: Value) -> set[Any]:
  return set().union(*(code.bases_read(v) for v in (value, *access.positions)))


def _settle(code: BlockCode, values: Sequence[Value], target: View) -> None:
  """Make all elements of tiles accessible to any thread, and none of them in memory that is about to be written."""
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


def fence(b: ir.IRBuilder) -> None:
  """Device-scope fence: this thread's earlier reads and writes are ordered before its later ones."""
  effect(b, "fence.acq_rel.gpu;")
