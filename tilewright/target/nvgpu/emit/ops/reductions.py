"""Reductions by a CTA.

A tile that is held in registers is reduced there, along any dimensions and in any layout: each thread combines its own registers, lanes
that differ along those dimensions combine by shuffles, and warps through shared memory. The result is held by all threads that held a part
of it, in the layout without those dimensions.

    (64, 128) with a row in each quarter of a warp: registers, two shuffles for each row of a thread; no memory, no barrier

A tile that streams through is reduced by warps that take whole rows, or, along other dimensions, by threads that take columns each. So are
positions of extremes found, and running totals added up.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.layout.algebra import projected
from tilewright.layout.layout import LANE, Layout
from tilewright.layout.layout import WARP as WARPS
from tilewright.target.llvm import arithmetic
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.combining import identity
from tilewright.target.llvm.loops import ZERO, Index, for_range, i64, if_then, lane, over, stack_slot
from tilewright.target.llvm.memory import Memory
from tilewright.target.llvm.types import F32, I32, I64
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.distribution import Held
from tilewright.target.nvgpu.emit.ops.arithmetic import combine, horizontal
from tilewright.target.nvgpu.emit.symbolic import Number, value_of
from tilewright.target.nvgpu.emit.units import threads
from tilewright.target.nvgpu.emit.units.threads import WARP
from tilewright.target.nvgpu.emit.views import View
from tilewright.tile.ir import Op, Value
from tilewright.tile.types import TileType

_MAX_SCAN_ROW = 1024  # elements of which a warp holds running totals
_VECTOR = 4  # words that a lane loads together
_IN_FLIGHT = 4  # loads of a lane, of a row that streams through


def reduce(code: BlockCode, op: Op) -> None:
  (x,) = op.operands
  result, kind = op.results[0], op.attrs["kind"]
  source = x.tile
  axes = [a for a in sorted(op.attrs["axes"]) if source.shape[a] > 1]
  kept = [a for a in range(source.rank) if a not in op.attrs["axes"]]
  layout = code.inferred_operand_layout(op, 0)
  if 0 not in source.shape and layout is not None and _is_separable(layout, axes):
    _reduce_registers(code, op, Held(layout))
    return
  memory = code.allocate(result.tile.shape, result.tile.dtype)
  if 0 in source.shape:
    _fill_with_identity(code, kind, memory, result.tile)
  elif axes and all(a < axes[0] for a in kept if source.shape[a] > 1):
    _reduce_rows_by_warp(code, kind, x, axes, kept, memory)
  else:
    _reduce_columns(code, kind, x, axes, kept, memory)
  code.env[result] = memory
  if result.tile.is_scalar:
    code.sync({memory.base}, set())
    code.env[result] = code.load(memory, [], 1)


def _fill_with_identity(code: BlockCode, kind: str, memory: View, tile: TileType) -> None:
  value = lambda lanes: ty.element(tile.dtype, identity(kind, tile.dtype), lanes)
  code.nest(tile.shape, lambda index, lanes: code.store(memory, index, value(lanes)), writes=memory)


def _across_lanes(code: BlockCode, kind: str, dtype: Any, value: ir.Value, masks: Sequence[int]) -> ir.Value:
  """Combine the values of the lanes whose numbers differ by some bits; all get the result."""
  for mask in masks:
    value = combine(code.b, kind, dtype, value, threads.exchange(code.b, value, mask))
  return value


_ALL_LANES = (1, 2, 4, 8, 16)


# --- in registers ------------------------------------------------------------------------------------------------


def _is_separable(layout: Layout, axes: Sequence[int]) -> bool:
  """Whether each digit of the thread moves along dimensions that are reduced, or along others, not both."""
  along = lambda term: [bool(m) for a, m in enumerate(term.moves) if a in axes]
  across = lambda term: [bool(m) for a, m in enumerate(term.moves) if a not in axes]
  return not any(any(along(t)) and any(across(t)) for t in layout.terms_of(LANE, WARPS))


def _reduce_registers(code: BlockCode, op: Op, held: Held) -> None:
  b, x, result, kind = code.b, op.operands[0], op.results[0], op.attrs["kind"]
  dtype, axes = x.tile.dtype, op.attrs["axes"]
  kept = [a for a in range(x.tile.rank) if a not in axes]
  code.prepare(x, held.layout)
  code.sync(code.bases_read(x), set())
  own: dict[tuple[int, ...], ir.Value] = {}  # by how far the results are from the thread's first one
  for step, value in enumerate(code.values_of(x, held, ty.element(dtype, identity(kind, dtype), held.lanes))):
    key = tuple(held.offset(step)[a] for a in kept)
    own[key] = value if key not in own else combine(b, kind, dtype, own[key], value)
  totals: dict[tuple[int, ...], ir.Value] = {}
  for key, value in own.items():
    if held.lanes == 1 or held.axis in axes:
      totals[key] = horizontal(b, kind, dtype, value)
      continue
    along = kept.index(held.axis)
    for n in range(held.lanes):
      totals[tuple(k + n * (i == along) for i, k in enumerate(key))] = b.extract_element(value, I32(n))
  lanes = [t for t in held.layout.terms_of(LANE) if any(t.moves[a] for a in axes)]
  masks = [t.place << bit for t in lanes for bit in range(t.size.bit_length() - 1)]
  totals = {key: _across_lanes(code, kind, dtype, value, masks) for key, value in totals.items()}
  target = Held(projected(held.layout, axes))
  combined = lambda: totals
  if any(t.moves[a] for t in held.layout.terms_of(WARPS) for a in axes):
    combined = _across_warps(code, kind, dtype, held, axes, target, totals)
  if result.tile.is_scalar:
    (total,) = combined().values()
    code.env[result] = ty.round_to(b, total, dtype) if ty.is_half(dtype) else total
    return
  found = code.new_registers(target.layout, dtype)

  def finish() -> None:
    values = combined()
    for step in range(target.steps):
      found.set(b, step, _vector(b, target, step, values))

  code.env[result] = found
  code.later(result, finish)


def _vector(b: ir.IRBuilder, held: Held, step: int, values: dict[tuple[int, ...], ir.Value]) -> ir.Value:
  offsets = held.layout.register_offsets
  parts = [values[offsets[r]] for r in held.groups[step]]
  return ty.joined(b, parts)


def _across_warps(
  code: BlockCode, kind: str, dtype: Any, held: Held, axes: Sequence[int], target: Held, totals: dict[Any, ir.Value]
) -> Callable[[], dict[Any, ir.Value]]:
  """Each warp stores its partial results in shared memory, contiguous for each result; returns a function by which all threads combine
  them.

  That function contains the barrier, and is called as late as possible, so that the same barrier covers other reductions too.
  """
  b = code.b
  count, part = 1, Number(b, I32(0), 1) * 1
  thread = Number(b, code.thread, code.num_threads)
  first: ir.Value | None = None  # whether this thread writes: the first of those that have the same
  for term in held.layout.terms_of(LANE, WARPS):
    digit = thread // (term.place if term.input == LANE else WARP * term.place) % term.size
    if term.input == WARPS and any(term.moves[a] for a in axes):
      part, count = part + digit * count, count * term.size
    elif term.is_replication or any(term.moves[a] for a in axes):
      own = b.icmp_unsigned("==", value_of(b, digit), I32(0))
      first = own if first is None else b.and_(first, own)
  memory = code.allocate((*target.shape, count), np.float32 if ty.is_half(dtype) else dtype)
  code.sync(set(), {memory.base})
  number = Index(b.zext(value_of(b, part), I64))
  offsets = target.layout.register_offsets

  def leave(index: list[Index], step: int) -> None:
    for n, register in enumerate(target.groups[step]):
      code.store(memory, [*(lane(b, i, n) for i in index), number], totals[offsets[register]])

  with contextlib.nullcontext() if first is None else if_then(b, first):
    for step in range(target.steps):
      code.in_step(target, step, lambda index, step=step: leave(index, step))  # type: ignore[misc]
  wide = math.gcd(count, 4)

  def combined() -> dict[Any, ir.Value]:
    code.sync({memory.base}, set())
    found = {}
    for step in range(target.steps):
      for n, register in enumerate(target.groups[step]):
        slot = stack_slot(code.b, ty.register_type(dtype))

        def load(index: list[Index], n: int = n, slot: ir.Value = slot) -> None:
          own, total = [lane(b, i, n) for i in index], None
          for at in range(0, count, wide):
            parts = code.load(memory, [*own, Index(at, 1 if wide > 1 else 0, wide)], wide)
            total = parts if total is None else combine(b, kind, dtype, total, parts)
          b.store(horizontal(b, kind, dtype, total), slot)

        code.in_step(target, step, load)
        found[offsets[register]] = b.load(slot, typ=ty.register_type(dtype))
    return found

  return combined


# --- streaming ---------------------------------------------------------------------------------------------------


def _each_row(code: BlockCode, rows: int, body: Callable[[ir.Value], None]) -> None:
  """Call `body(row)` for the rows of this warp: all its lanes together."""
  b = code.b
  warp = b.zext(b.udiv(code.thread, I32(WARP)), I64)
  with for_range(b, warp, rows, code.num_threads // WARP) as row, code.scope():
    body(row)


def _rows_index(code: BlockCode, row: Any, shape: list[int]) -> list[Index]:
  """The number of a row as indices, the last one fastest."""
  found: list[Index] = []
  for position in reversed(range(len(shape))):
    left = code.b.urem(row, i64(shape[position])) if position else row
    row = code.b.udiv(row, i64(shape[position])) if position else row
    found.append(Index(left) if shape[position] > 1 else ZERO)
  return found[::-1]


def _reduce_rows_by_warp(code: BlockCode, kind: str, x: Value, axes: list[int], kept: list[int], memory: View) -> None:
  """Each warp takes whole rows; where there are fewer rows than warps, several warps share a row and combine through shared memory."""
  b, source = code.b, x.tile
  dtype = source.dtype
  code.prepare(x, None)
  last = axes[-1]
  lanes = math.gcd(source.shape[last], code.lanes)
  counts = [source.shape[a] // (lanes if a == last else 1) for a in axes]
  rows, vectors, warps = math.prod(source.shape[a] for a in kept), math.prod(counts), code.num_threads // WARP
  sharers = _sharers(rows, vectors, warps)
  threads_of_row = sharers * WARP
  unrolled = next(n for n in (_IN_FLIGHT, 1) if vectors % (n * threads_of_row) == 0 or n == 1)
  register = ty.register_type(dtype, lanes)
  slots = [stack_slot(code.b, register) for _ in range(unrolled)]
  lane_number = b.zext(b.urem(code.thread, I32(WARP)), I64)
  warp = b.zext(b.udiv(code.thread, I32(WARP)), I64)
  part = b.urem(warp, i64(sharers))
  first = b.add(b.mul(part, i64(WARP)), lane_number)
  parts = code.allocate((rows, sharers), np.float32 if ty.is_half(dtype) else dtype) if sharers > 1 else memory
  code.sync(code.bases_read(x), {parts.base})

  def each(row: ir.Value) -> None:
    for slot in slots:
      b.store(ty.constant(register, identity(kind, dtype)), slot)
    own = _rows_index(code, row, [source.shape[a] for a in kept])
    with for_range(b, first, vectors, unrolled * threads_of_row) as begin, code.scope():
      for n, slot in enumerate(slots):
        number = b.add(begin, i64(n * threads_of_row))
        index: list[Any] = [ZERO] * source.rank
        for a, i in zip(kept, own):
          index[a] = i
        for a, i in zip(axes, _rows_index(code, number, counts)):
          step = 1 if a == last and lanes > 1 else 0
          index[a] = Index(b.mul(i64(i.base), i64(lanes)), step, lanes) if step else i
        value = code.value_at(x, index, lanes)
        b.store(combine(b, kind, dtype, b.load(slot, typ=register), value), slot)
    total = b.load(slots[0], typ=register)
    for slot in slots[1:]:
      total = combine(b, kind, dtype, total, b.load(slot, typ=register))
    total = _across_lanes(code, kind, dtype, horizontal(b, kind, dtype, total), _ALL_LANES)
    with if_then(b, b.icmp_unsigned("==", lane_number, i64(0))):
      code.store(parts, [Index(row), Index(part)] if sharers > 1 else own, total)

  with for_range(b, b.udiv(warp, i64(sharers)), rows, warps // sharers) as row, code.scope():
    each(row)
  if sharers > 1:
    _combine_parts(code, kind, parts, [source.shape[a] for a in kept], memory)


def _sharers(rows: int, vectors: int, warps: int) -> int:
  """How many warps share a row: a power of two, so that each has some vectors for every lane."""
  found = 1
  while 2 * found * max(1, rows) <= warps and warps % (2 * found) == 0 and vectors >= 4 * found * WARP:
    found *= 2
  return found


def _combine_parts(code: BlockCode, kind: str, parts: View, shape: list[int], memory: View) -> None:
  """The results of rows of which each of several warps has stored a part: always in the same order."""
  b, dtype = code.b, memory.dtype
  rows, sharers = math.prod(shape), parts.strides[0]
  code.sync({parts.base}, {memory.base})
  with for_range(b, b.zext(code.thread, I64), rows, code.num_threads) as row, code.scope():
    total = None
    for n in range(sharers):
      value = code.load(parts, [Index(row), Index(i64(n))], 1)
      total = value if total is None else combine(b, kind, dtype, total, value)
    code.store(memory, _rows_index(code, row, shape), total)


def _reduce_columns(code: BlockCode, kind: str, x: Value, axes: list[int], kept: list[int], memory: View) -> None:
  """Each vector of the result accumulates over the other dimensions."""
  b, source = code.b, x.tile
  dtype = source.dtype
  code.prepare(x, None)
  code.sync(code.bases_read(x), {memory.base})

  def each(out: list[Index], lanes: int, step: Any) -> None:
    register = ty.register_type(dtype, lanes)
    slot = stack_slot(b, register, ty.constant(register, identity(kind, dtype)))
    index: list[Any] = [ZERO] * source.rank
    for a, i in zip(kept, out):
      index[a] = i

    def add(inner: list[Index]) -> None:
      for a, i in zip(axes, inner):
        index[a] = i
      value = code.value_at(x, list(index), lanes)
      b.store(combine(b, kind, dtype, b.load(slot, typ=register), value), slot)

    over(code, [source.shape[a] for a in axes], add)
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
  best, where = stack_slot(code.b, register), stack_slot(code.b, I64)
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
  """Running totals: a thread goes along the axis, vectors along the others; or a warp goes along rows, if those are few."""
  (x,) = op.operands
  result, axis, kind = op.results[0], op.attrs["axis"], op.attrs["kind"]
  source, b = x.tile, code.b
  size = source.shape[axis]
  others = [d for a, d in enumerate(source.shape) if a != axis]
  inner = code.in_memory(x)
  memory = code.allocate(source.shape, source.dtype)
  code.sync({inner.base}, {memory.base})
  code.env[result] = memory
  is_word = ty.register_type(source.dtype) in (F32, I32)
  few = math.prod(others) < code.num_threads and size % WARP == 0 and size <= _MAX_SCAN_ROW
  if few and is_word and axis == source.rank - 1:
    _each_row(
      code, math.prod(others), lambda row: _row_of_totals(code, op, _rows_index(code, row, others), inner, memory)
    )
    return

  def each(out: list[Index], lanes: int, step: Any) -> None:
    register = ty.register_type(source.dtype, lanes)
    slot = stack_slot(b, register, ty.constant(register, identity(kind, source.dtype)))
    with for_range(b, 0, size) as i, code.scope():
      at = b.sub(i64(size - 1), i) if op.attrs["reverse"] else i
      index = [*out[:axis], Index(at), *out[axis:]]
      total = combine(b, kind, source.dtype, b.load(slot, typ=register), code.load(inner, index, lanes))
      b.store(total, slot)
      code.store(memory, index, total)

  code.each_step(code.distribution(others), each)


def _row_of_totals(code: BlockCode, op: Op, row: list[Index], source: Memory, target: Memory) -> None:
  """Running totals of a row by a warp: each lane has those of its part, and adds what the parts before come to.

  With `reverse`, the first lane has the last part.
  """
  b, kind, reverse, tile = code.b, op.attrs["kind"], op.attrs["reverse"], op.results[0].tile
  dtype, part = tile.dtype, tile.shape[-1] // WARP
  width = math.gcd(part, _VECTOR)
  lane_number = b.urem(code.thread, I32(WARP))
  first = b.mul(b.zext(b.sub(I32(WARP - 1), lane_number) if reverse else lane_number, I64), i64(part))
  places = [[*row, Index(b.add(first, i64(n)), 1 if width > 1 else 0, align=width)] for n in range(0, part, width)]
  loaded = [code.load(source, at, width) for at in places]
  values: list[ir.Value] = [v if width == 1 else b.extract_element(v, I32(i)) for v in loaded for i in range(width)]
  order = range(part)[::-1] if reverse else range(part)
  for before, own in itertools.pairwise(order):
    values[own] = combine(b, kind, dtype, values[before], values[own])

  def from_lane(value: ir.Value, distance: int) -> tuple[ir.Value, ir.Value]:
    """What an earlier lane has, and whether there is one."""
    word = b.bitcast(value, I32) if value.type == F32 else value
    word = threads.from_lane(b, word, b.sub(lane_number, I32(distance)))
    is_there = b.icmp_unsigned(">=", lane_number, I32(distance))
    return (b.bitcast(word, F32) if value.type == F32 else word), is_there

  total, distance = values[order[-1]], 1
  while distance < WARP:
    other, is_there = from_lane(total, distance)
    total, distance = b.select(is_there, combine(b, kind, dtype, other, total), total), 2 * distance
  other, is_there = from_lane(total, 1)
  values = [b.select(is_there, combine(b, kind, dtype, other, v), v) for v in values]
  for n, at in enumerate(places):
    own_values = values[n * width : (n + 1) * width]
    code.store(target, at, ty.joined(b, own_values))
