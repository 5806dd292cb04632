"""Reductions by a block of threads.

A reduction along the last dimensions of a tile that is dealt out evenly needs no memory traffic but its result's: each thread combines its
own vectors of a row, lanes of a warp exchange, and the warps of a row meet in shared memory. Otherwise each warp takes whole rows, or,
along other dimensions, each thread its own columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import arithmetic
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.combining import identity
from tilewright.target.llvm.loops import ZERO, Index, for_range, i64, if_then
from tilewright.target.llvm.types import I32, I64
from tilewright.target.nvgpu import threads
from tilewright.target.nvgpu.arithmetic import combine, horizontal
from tilewright.target.nvgpu.code import BlockCode
from tilewright.target.nvgpu.distribution import Distribution
from tilewright.target.nvgpu.partials import Partials
from tilewright.target.nvgpu.threads import WARP
from tilewright.target.nvgpu.views import View
from tilewright.tile.ir import Op, Value
from tilewright.tile.types import TileType


def reduce(code: BlockCode, op: Op) -> None:
  (x,) = op.operands
  result, kind = op.results[0], op.attrs["kind"]
  source = x.tile
  axes = [a for a in sorted(op.attrs["axes"]) if source.shape[a] > 1]
  kept = [a for a in range(source.rank) if a not in op.attrs["axes"]]
  memory = code.allocate(result.tile.shape, result.tile.dtype)
  long_kept = [a for a in kept if source.shape[a] > 1]
  d = code.distribution(source.shape)
  if 0 in source.shape:
    _fill_with_identity(code, kind, memory, result.tile)
  elif axes and all(a < axes[0] for a in long_kept):
    row = math.prod(source.shape[a] for a in axes) // d.lanes  # vectors
    linear = isinstance(d, Distribution)
    if (
      linear
      and d.fits_registers
      and d.is_even
      and (row % d.threads == 0 or (d.threads % row == 0 and _is_power_of_two(row)))
    ):
      memory = _reduce_even_rows(code, kind, x, d, row, memory)
    else:
      _reduce_rows_by_warp(code, kind, x, axes, kept, memory)
  else:
    _reduce_columns(code, kind, x, axes, kept, memory)
  code.env[result] = memory
  if result.tile.is_scalar:
    code.sync({memory.base}, set())
    code.env[result] = code.load(memory, [], 1)


def _is_power_of_two(n: int) -> bool:
  return n & (n - 1) == 0


def _fill_with_identity(code: BlockCode, kind: str, memory: View, tile: TileType) -> None:
  value = lambda lanes: ty.element(tile.dtype, identity(kind, tile.dtype), lanes)
  code.nest(tile.shape, lambda index, lanes: code.store(memory, index, value(lanes)), writes=memory)


def _slot(code: BlockCode, kind: ir.Type) -> ir.Value:
  with code.b.goto_entry_block():
    return code.b.alloca(kind)


def _across_lanes(code: BlockCode, kind: str, dtype: Any, value: ir.Value, lanes: int) -> ir.Value:
  """Combine the values of `lanes` neighbouring lanes of a warp; all get the result."""
  distance = 1
  while distance < lanes:
    value = combine(code.b, kind, dtype, value, threads.exchange(code.b, value, distance))
    distance *= 2
  return value


def _reduce_even_rows(code: BlockCode, kind: str, x: Value, d: Distribution, row: int, memory: View) -> View:
  """Rows of `row` vectors. In a step, a row has all threads, or a power of two of them; a thread may meet a row in several steps."""
  b, dtype = code.b, x.tile.dtype
  code.prepare(x, d.shape)
  code.sync(code.bases_read(x), {memory.base})
  in_row = min(row, d.threads)  # threads that work on one row together
  per_thread = row // in_row  # steps of one row
  totals: list[Any] = []

  def each(index: list[Index], lanes: int, step: int) -> None:
    value = code.value_at(x, index, lanes)
    if step % per_thread == 0:
      totals.append(value)
    else:
      totals[-1] = combine(b, kind, dtype, totals[-1], value)

  code.each_step(d, each)
  totals = [_across_lanes(code, kind, dtype, horizontal(b, kind, dtype, t), min(in_row, WARP)) for t in totals]
  rows_at_once = d.threads // in_row
  warps = max(1, in_row // WARP)
  first_row = b.udiv(code.thread, I32(in_row)) if rows_at_once > 1 else I32(0)
  flat = View(memory.pointer, (1,), memory.dtype, memory.base, align=1)
  if warps == 1:
    with if_then(b, b.icmp_unsigned("==", b.urem(code.thread, I32(in_row)), I32(0))):
      for k, total in enumerate(totals):
        code.store(flat, [Index(b.zext(b.add(first_row, I32(k * rows_at_once)), I64))], total)
    return memory
  count = len(totals) * rows_at_once
  partial = code.allocate((count, warps), dtype)
  code.sync(set(), {partial.base})
  warp = b.udiv(b.urem(code.thread, I32(in_row)), I32(WARP))
  with if_then(b, b.icmp_unsigned("==", b.urem(code.thread, I32(WARP)), I32(0))):
    for k, total in enumerate(totals):
      place = [Index(b.zext(b.add(first_row, I32(k * rows_at_once)), I64)), Index(b.zext(warp, I64))]
      code.store(partial, place, total)
  return Partials(partial.pointer, memory.strides, dtype, partial.base, kind=kind, parts=warps)


def _each_row(code: BlockCode, rows: int, body: Callable[[ir.Value], None]) -> None:
  """Call `body(row)` for the rows of this warp: all its lanes together."""
  b = code.b
  warp = b.zext(b.udiv(code.thread, I32(WARP)), I64)
  with for_range(b, warp, rows, code.num_threads // WARP) as row, code.scope():
    body(row)


def _rows_index(code: BlockCode, row: Any, shape: list[int]) -> list[Index]:
  found: list[Index] = []
  for position in reversed(range(len(shape))):
    left = code.b.urem(row, i64(shape[position])) if position else row
    row = code.b.udiv(row, i64(shape[position])) if position else row
    found.append(Index(left) if shape[position] > 1 else ZERO)
  return found[::-1]


def _reduce_rows_by_warp(code: BlockCode, kind: str, x: Value, axes: list[int], kept: list[int], memory: View) -> None:
  b, source = code.b, x.tile
  dtype = source.dtype
  code.prepare(x, None)
  code.sync(code.bases_read(x), {memory.base})
  last = axes[-1]
  lanes = math.gcd(source.shape[last], code.lanes)
  counts = [source.shape[a] // (lanes if a == last else 1) for a in axes]
  vectors = math.prod(counts)
  register = ty.register_type(dtype, lanes)
  slot = _slot(code, register)
  lane_number = b.zext(b.urem(code.thread, I32(WARP)), I64)

  def each(row: ir.Value) -> None:
    b.store(ty.constant(register, identity(kind, dtype)), slot)
    own = _rows_index(code, row, [source.shape[a] for a in kept])
    with for_range(b, lane_number, vectors, WARP) as number, code.scope():
      parts = _rows_index(code, number, counts)
      index: list[Any] = [ZERO] * source.rank
      for a, i in zip(kept, own):
        index[a] = i
      for a, i in zip(axes, parts):
        step = 1 if a == last and lanes > 1 else 0
        index[a] = Index(b.mul(i64(i.base), i64(lanes)), step, lanes) if step else i
      value = code.value_at(x, index, lanes)
      b.store(combine(b, kind, dtype, b.load(slot, typ=register), value), slot)
    total = horizontal(b, kind, dtype, b.load(slot, typ=register))
    total = _across_lanes(code, kind, dtype, total, WARP)
    with if_then(b, b.icmp_unsigned("==", lane_number, i64(0))):
      code.store(memory, own, total)

  _each_row(code, math.prod(source.shape[a] for a in kept), each)


def _reduce_columns(code: BlockCode, kind: str, x: Value, axes: list[int], kept: list[int], memory: View) -> None:
  """Each vector of the result accumulates over the other dimensions."""
  b, source = code.b, x.tile
  dtype = source.dtype
  code.prepare(x, None)
  code.sync(code.bases_read(x), {memory.base})

  def each(out: list[Index], lanes: int, step: Any) -> None:
    register = ty.register_type(dtype, lanes)
    slot = _slot(code, register)
    b.store(ty.constant(register, identity(kind, dtype)), slot)
    index: list[Any] = [ZERO] * source.rank
    for a, i in zip(kept, out):
      index[a] = i

    def run(left: list[int]) -> None:
      if left:
        with for_range(b, 0, source.shape[left[0]]) as i, code.scope():
          index[left[0]] = Index(i)
          run(left[1:])
        return
      value = code.value_at(x, list(index), lanes)
      b.store(combine(b, kind, dtype, b.load(slot, typ=register), value), slot)

    run(axes)
    code.store(memory, out, b.load(slot, typ=register))

  code.each_step(code.distribution([source.shape[a] for a in kept]), each)


def arg_reduce(code: BlockCode, op: Op) -> None:
  """The position of the first extreme; a NaN counts as extreme, as in XLA. Each warp takes whole rows."""
  (x,) = op.operands
  result, axis, kind = op.results[0], op.attrs["axis"], op.attrs["kind"]
  source, b = x.tile, code.b
  dtype = source.dtype
  code.prepare(x, None)
  memory = code.allocate(result.tile.shape, result.tile.dtype)
  code.sync(code.bases_read(x), {memory.base})
  register = ty.register_type(dtype)
  best, where = _slot(code, register), _slot(code, I64)
  lane_number = b.zext(b.urem(code.thread, I32(WARP)), I64)
  kept = [d for a, d in enumerate(source.shape) if a != axis]

  def take(value: ir.Value, at: ir.Value) -> None:
    """Replace the best so far by a better value, or by the same value further in front."""
    old, old_at = b.load(best, typ=register), b.load(where, typ=I64)
    sign = ">" if kind == "max" else "<"
    in_front = b.icmp_signed("<", at, old_at)
    if ty.is_float(dtype):
      is_nan, was_nan = (b.fcmp_unordered("uno", v, v) for v in (value, old))
      better = b.or_(b.fcmp_ordered(sign, value, old), b.and_(is_nan, b.not_(was_nan)))
      same = b.or_(b.fcmp_ordered("==", value, old), b.and_(is_nan, was_nan))
    else:
      better = (b.icmp_signed if ty.is_signed(dtype) else b.icmp_unsigned)(sign, value, old)
      same = b.icmp_unsigned("==", value, old)
    chosen = b.or_(better, b.and_(same, in_front))
    b.store(b.select(chosen, value, old), best)
    b.store(b.select(chosen, at, old_at), where)

  def each(row: ir.Value) -> None:
    own = _rows_index(code, row, kept)
    at = lambda i: [*own[:axis], i, *own[axis:]]
    last = i64(source.shape[axis] - 1)
    start = b.select(b.icmp_signed("<", lane_number, last), lane_number, last)
    b.store(code.value_at(x, at(Index(start)), 1), best)
    b.store(start, where)
    with for_range(b, b.add(lane_number, i64(WARP)), source.shape[axis], WARP) as i, code.scope():
      take(code.value_at(x, at(Index(i)), 1), i)
    distance = 1
    while distance < WARP:
      value, place = b.load(best, typ=register), b.load(where, typ=I64)
      take(threads.exchange(b, value, distance), threads.exchange(b, place, distance))
      distance *= 2
    with if_then(b, b.icmp_unsigned("==", lane_number, i64(0))):
      found = arithmetic.convert(b, b.load(where, typ=I64), np.dtype(np.int64), result.tile.dtype)
      code.store(memory, own, found)

  _each_row(code, math.prod(kept), each)
  code.env[result] = memory
  if result.tile.is_scalar:
    code.sync({memory.base}, set())
    code.env[result] = code.load(memory, [], 1)


def cumulative(code: BlockCode, op: Op) -> None:
  """Running totals: a thread goes along the axis, vectors along the others."""
  (x,) = op.operands
  result, axis, kind = op.results[0], op.attrs["axis"], op.attrs["kind"]
  source, b = x.tile, code.b
  size = source.shape[axis]
  others = [d for a, d in enumerate(source.shape) if a != axis]
  inner = code.in_memory(x)
  memory = code.allocate(source.shape, source.dtype)
  code.sync({inner.base}, {memory.base})

  def each(out: list[Index], lanes: int, step: Any) -> None:
    register = ty.register_type(source.dtype, lanes)
    slot = _slot(code, register)
    b.store(ty.constant(register, identity(kind, source.dtype)), slot)
    with for_range(b, 0, size) as i, code.scope():
      at = b.sub(i64(size - 1), i) if op.attrs["reverse"] else i
      index = [*out[:axis], Index(at), *out[axis:]]
      total = combine(b, kind, source.dtype, b.load(slot, typ=register), code.load(inner, index, lanes))
      b.store(total, slot)
      code.store(memory, index, total)

  code.each_step(code.distribution(others), each)
  code.env[result] = memory
