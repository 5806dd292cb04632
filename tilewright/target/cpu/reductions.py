"""Reductions over a tile, vectorised along its last dimension whether that is reduced or kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import arithmetic
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.combining import add_to_first, combine, horizontal, identity
from tilewright.target.llvm.loops import ZERO, Index, for_range, i64, over, scaled, shifted
from tilewright.tile.ir import Op, Value
from tilewright.tile.types import TileType

Element = Callable[[list[Index], int], ir.Value]  # index, lanes -> elements of the reduced value
_SIDE_BY_SIDE = 8  # vectors that are reduced at a time where their elements are
_CHEAP = 4  # to compute, as `Code.cost` counts
_UNROLL = 4  # independent accumulators, to hide the latency of an add


def reduce(code: Any, op: Op) -> None:
  """Compute a reduction where it is defined."""
  (x,) = op.operands
  result = op.results[0]
  source = x.type
  assert isinstance(source, TileType)
  axes = tuple(sorted(op.attrs["axes"]))
  kept = [a for a in range(source.rank) if a not in axes]
  memory = code.allocate(result.tile.shape, result.tile.dtype)
  # A value that is needed again is kept on the way.
  kept_too = x in code.kept_by_reduction and x not in code.env
  buffer = code.allocate(source.shape, source.dtype) if kept_too else None

  def element(index: list[Index], lanes: int) -> ir.Value:
    value = code.value_at(x, index, lanes)
    if buffer is not None:
      code.store(buffer, index, value)
    return value

  last = max((a for a, d in enumerate(source.shape) if d > 1), default=source.rank - 1)
  if last in axes:
    _reduce_last(code, op.attrs["kind"], x, element, axes, kept, last, memory)
  else:
    _reduce_leading(code, op.attrs["kind"], x, element, axes, kept, memory)
  if buffer is not None:
    code.env[x] = buffer
    code.forget(x)
  code.env[result] = memory
  if not result.tile.shape:
    code.env[result] = code.load(memory, [], 1)


def _reduce_last(
  code: Any, kind: str, x: Any, element: Element, axes: Any, kept: list[int], last: int, memory: Any
) -> None:
  """Along the vector dimension: vector accumulators, combined at the end."""
  source = x.tile
  b, dtype, lanes = code.b, source.dtype, code.lanes
  size = source.shape[last]
  outer = [a for a in axes if a != last]
  wide = max(1, min(size, lanes))  # of nothing, the result is the identity
  unroll = max(1, min(_UNROLL, size // wide))
  register = ty.register_type(dtype, wide)
  slots = [_entry_alloca(b, register) for _ in range(unroll)]
  whole = size // (wide * unroll) * (wide * unroll)

  def each(out: list[Index]) -> None:
    index: list[Any] = [None] * source.rank
    for a, i in zip(kept, out):
      index[a] = i
    index[last] = Index(0)
    for slot in slots:
      b.store(ty.constant(register, identity(kind, dtype)), slot)

    def add(inner: list[Index]) -> None:
      for a, i in zip(outer, inner):
        index[a] = i
      code._hoist([x], index[:last], last, index[last + 1 :])
      if whole:
        with for_range(b, 0, whole, wide * unroll) as i, code.scope():
          for k, slot in enumerate(slots):
            index[last] = Index(b.add(i, i64(k * wide)) if k else i, 1 if wide > 1 else 0, wide)
            value = element(list(index), wide)
            b.store(combine(b, kind, dtype, b.load(slot, typ=register), value), slot)
      at = whole
      while size - at >= wide:
        with code.scope():
          index[last] = Index(at, 1 if wide > 1 else 0, wide)
          value = element(list(index), wide)
          b.store(combine(b, kind, dtype, b.load(slots[0], typ=register), value), slots[0])
        at += wide
      if at < size:
        with code.scope():
          index[last] = Index(at, 1 if size - at > 1 else 0, 1)
          tail = element(list(index), size - at)
          if size - at > 1:
            tail = horizontal(b, kind, dtype, tail)
          first = b.load(slots[0], typ=register)
          joined = add_to_first(b, kind, dtype, first, tail) if wide > 1 else combine(b, kind, dtype, first, tail)
          b.store(joined, slots[0])

    over(code, [source.shape[a] for a in outer], add)
    total = b.load(slots[0], typ=register)
    for slot in slots[1:]:
      total = combine(b, kind, dtype, total, b.load(slot, typ=register))
    code.store(memory, out, horizontal(b, kind, dtype, total))

  over(code, [source.shape[a] for a in kept], each)


def _reduce_leading(code: Any, kind: str, x: Value, element: Element, axes: Any, kept: list[int], memory: Any) -> None:
  """Along other dimensions: vectors of the result accumulate over them, several side by side, so that memory is read in long runs."""
  source = x.tile
  b, dtype, lanes = code.b, source.dtype, code.lanes
  *outer, size = [source.shape[a] for a in kept] or [1]
  wide = lanes * (_SIDE_BY_SIDE if code.cost(x) <= _CHEAP else 2)

  def each(out: list[Index], count: int) -> None:
    starts = range(0, count, lanes)
    ends = [shifted(b, out[-1], at) for at in starts]
    counts = [min(lanes, count - at) for at in starts]
    last = [Index(i.base, 1 if n > 1 else 0, lanes) for i, n in zip(ends, counts)]
    registers = [ty.register_type(dtype, n) for n in counts]
    slots = [_entry_alloca(b, register) for register in registers]
    for slot, register in zip(slots, registers):
      b.store(ty.constant(register, identity(kind, dtype)), slot)
    index: list[Any] = [ZERO] * source.rank
    for a, i in zip(kept, out):
      index[a] = i

    def add(inner: list[Index]) -> None:
      for a, i in zip(axes, inner):
        index[a] = i
      for place, slot, register, n in zip(last, slots, registers, counts):
        if kept:
          index[kept[-1]] = place
        b.store(combine(b, kind, dtype, b.load(slot, typ=register), element(list(index), n)), slot)

    over(code, [source.shape[a] for a in axes], add)
    for place, slot, register in zip(last, slots, registers):
      code.store(memory, [*out[:-1], place][: len(kept)], b.load(slot, typ=register))

  whole = size // wide
  if whole:
    over(code, [*outer, whole], lambda i: each([*i[:-1], scaled(b, i[-1], wide)], wide))
  if size % wide:
    over(code, outer, lambda i: each([*i, Index(whole * wide, 0, lanes)], size % wide))


def _entry_alloca(b: ir.IRBuilder, register: ir.Type) -> ir.Value:
  """A slot on the stack, made once per call: LLVM turns it into registers."""
  with b.goto_entry_block():
    return b.alloca(register)


def arg_reduce(code: Any, op: Op) -> None:
  """The position of the first extreme; a NaN counts as extreme, as in XLA."""
  (x,) = op.operands
  result, axis, kind = op.results[0], op.attrs["axis"], op.attrs["kind"]
  source = x.type
  assert isinstance(source, TileType)
  b, dtype = code.b, source.dtype
  memory = code.allocate(result.tile.shape, result.tile.dtype)
  best = _entry_alloca(b, ty.register_type(dtype))
  where = _entry_alloca(b, ty.I64)

  def each(out: list[Index]) -> None:
    first = [*out[:axis], ZERO, *out[axis:]]
    b.store(code.value_at(x, first, 1), best)
    b.store(i64(0), where)
    with for_range(b, 1, source.shape[axis]) as i, code.scope():
      value = code.value_at(x, [*out[:axis], Index(i), *out[axis:]], 1)
      old = b.load(best, typ=value.type)
      sign = ">" if kind == "max" else "<"
      if ty.is_float(dtype):
        better = b.fcmp_ordered(sign, value, old)
        new_nan = b.and_(b.fcmp_unordered("uno", value, value), b.fcmp_ordered("ord", old, old))
        better = b.or_(better, new_nan)
      else:
        better = (b.icmp_signed if ty.is_signed(dtype) else b.icmp_unsigned)(sign, value, old)
      b.store(b.select(better, value, old), best)
      b.store(b.select(better, i, b.load(where, typ=ty.I64)), where)
    found = arithmetic.convert(b, b.load(where, typ=ty.I64), np.dtype(np.int64), result.tile.dtype)
    code.store(memory, out, found)

  over(code, [d for a, d in enumerate(source.shape) if a != axis], each)
  code.env[result] = memory if result.tile.shape else code.load(memory, [], 1)


def cumulative(code: Any, op: Op) -> None:
  """Running totals: each element from the one before it along the axis, vectors along the others."""
  (x,) = op.operands
  result, axis, kind = op.results[0], op.attrs["axis"], op.attrs["kind"]
  source = x.type
  assert isinstance(source, TileType)
  memory = code.allocate(source.shape, source.dtype)
  size = source.shape[axis]
  others = [d for a, d in enumerate(source.shape) if a != axis]
  b = code.b

  def each(out: list[Index], lanes: int) -> None:
    register = ty.register_type(source.dtype, lanes)
    slot = _entry_alloca(b, register)
    b.store(ty.constant(register, identity(kind, source.dtype)), slot)
    with for_range(b, 0, size) as i, code.scope():
      at = b.sub(i64(size - 1), i) if op.attrs["reverse"] else i
      index = [*out[:axis], Index(at), *out[axis:]]
      total = combine(b, kind, source.dtype, b.load(slot, typ=register), code.value_at(x, index, lanes))
      b.store(total, slot)
      code.store(memory, index, total)

  code.nest(others, each)
  code.env[result] = memory
