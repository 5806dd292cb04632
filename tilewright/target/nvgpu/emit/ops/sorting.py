"""Sorting by a CTA: a bitonic network over all lines at the same time.

Each line is padded to a power of two, with keys that come last. In a stage every thread compares pairs of elements that are a power of two
apart, and exchanges those that are in the wrong order; after log(n)² / 2 stages the line is sorted. An element is its key, an unsigned
integer in the order of the elements, and its number in the line: as numbers decide between equal keys, the sort is stable. With several
keys, lines are sorted by the last one first.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import gather_scatter
from tilewright.target.llvm.loops import Index, div_rem, for_range, i64, if_then
from tilewright.target.llvm.memory import Memory
from tilewright.target.llvm.sorting import key_bits, sort_key
from tilewright.target.llvm.types import I32, I64
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.distribution import distribute
from tilewright.target.nvgpu.emit.views import View
from tilewright.tile.ir import Op, Value


def sort(code: BlockCode, op: Op) -> None:
  """All operands, in the order of the first `keys` of them along `axis`."""
  shape, keys = op.operands[0].tile.shape, op.operands[: op.attrs["keys"]]
  sources = [_memory(code, v) for v in op.operands]
  results = [code.allocate(shape, v.tile.dtype) for v in op.operands]
  if 0 not in shape:
    lines = _sorted(code, op, shape, list(zip(keys, sources)))
    _each(
      code,
      shape,
      {lines.numbers.base, *(s.base for s in sources)},
      {r.base for r in results},
      lambda index: _move(code, op, lines, index, sources, results),
    )
  code.env.update(zip(op.results, results))


def top_k(code: BlockCode, op: Op) -> None:
  """The first elements of each line, and their numbers."""
  (x,) = op.operands
  source = _memory(code, x)
  values, numbers = (code.allocate(r.tile.shape, r.tile.dtype) for r in op.results)
  shape = op.results[0].tile.shape
  if 0 not in shape:
    lines = _sorted(code, op, x.tile.shape, [(x, source)])

    def one(index: list[Index]) -> None:
      number = lines.number(code, index)
      code.store(numbers, index, code.b.trunc(number, I32))
      code.store(values, index, code.load(source, _with(index, op.attrs["axis"], number), 1))

    _each(code, shape, {lines.numbers.base, source.base}, {values.base, numbers.base}, one)
  code.env.update(zip(op.results, (values, numbers)))


def _memory(code: BlockCode, v: Value) -> Memory:
  return gather_scatter.memory_behind(code, v) or code.in_memory(v)


def _move(
  code: BlockCode, op: Op, lines: _Lines, index: list[Index], sources: list[Memory], results: list[View]
) -> None:
  place = _with(index, op.attrs["axis"], lines.number(code, index))
  for source, result in zip(sources, results):
    code.store(result, index, code.load(source, place, 1))


def _with(index: list[Index], axis: int, number: Any) -> list[Index]:
  return [Index(number) if a == axis else i for a, i in enumerate(index)]


def _each(code: BlockCode, shape: tuple[int, ...], reads: set[Any], writes: set[Any], visit: Any) -> None:
  """Call `visit(index)` for each of the thread's elements of a shape."""
  code.sync(reads, writes)
  code.each_step(distribute(shape, 1, code.num_threads), lambda index, lanes, step: visit(index))


# --- lines -------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Lines:
  """The lines of a shape, padded: keys and numbers of the elements as they are at present."""

  shape: tuple[int, ...]
  axis: int
  size: int  # a power of two
  keys: View
  numbers: View

  @property
  def count(self) -> int:
    return math.prod(self.shape) // self.shape[self.axis]

  def line(self, code: BlockCode, index: list[Index]) -> Any:
    """The line that an element is in."""
    b, found = code.b, i64(0)
    for a, size in enumerate(self.shape):
      if a != self.axis:
        found = b.add(b.mul(found, i64(size)), i64(index[a].base))
    return found

  def number(self, code: BlockCode, index: list[Index]) -> ir.Value:
    """Which element of its line belongs at an index."""
    place = [Index(self.line(code, index)), index[self.axis]]
    return code.b.zext(code.load(self.numbers, place, 1), I64)

  def index(self, code: BlockCode, line: Any, number: Any) -> list[Index]:
    """The index of an element of a line."""
    found: list[Index] = []
    for a, size in reversed(list(enumerate(self.shape))):
      if a == self.axis:
        found.append(Index(number))
      else:
        line, own = div_rem(code.b, line, size)
        found.append(Index(own))
    return found[::-1]


def _sorted(code: BlockCode, op: Op, shape: tuple[int, ...], keys: list[tuple[Value, Memory]]) -> _Lines:
  """The numbers of the elements of each line, in order."""
  axis = op.attrs["axis"]
  size = 1 << (shape[axis] - 1).bit_length()
  wide = any(key_bits(v.tile.dtype) > 32 for v, _ in keys)
  count = math.prod(shape) // shape[axis]
  own = code.allocate((count, size), np.uint64 if wide else np.uint32)
  lines = _Lines(shape, axis, size, own, code.allocate((count, size), np.uint32))
  before: View | None = None
  for left, (v, source) in reversed(list(enumerate(keys))):
    _fill(code, op, lines, v.tile.dtype, source, before)
    _network(code, lines)
    if before is not None:  # numbers are of places in the order before: look them up there
      _compose(code, lines, before)
    if left:
      before = _copied(code, lines, before)
  return lines


def _fill(code: BlockCode, op: Op, lines: _Lines, dtype: np.dtype, source: Memory, before: View | None) -> None:
  """The keys of elements, in the order in which they are at present, and their places in that order."""
  b, length = code.b, lines.shape[lines.axis]
  wide = lines.keys.dtype == np.uint64

  def one(index: list[Index]) -> None:
    line, place = (i64(i.base) for i in index)
    inside = b.icmp_unsigned("<", place, i64(length))
    number = place if before is None else b.zext(code.load(before, index, 1), I64)
    safe = b.select(inside, number, i64(0))
    key = sort_key(code, op, code.load(source, lines.index(code, line, safe), 1), dtype, wide)
    code.store(lines.keys, index, b.select(inside, key, ir.Constant(key.type, -1)))
    code.store(lines.numbers, index, b.trunc(place, I32))

  reads = {source.base} if before is None else {source.base, before.base}
  _each(code, (lines.count, lines.size), reads, {lines.keys.base, lines.numbers.base}, one)


def _network(code: BlockCode, lines: _Lines) -> None:
  """Sort keys, and numbers with them."""
  b, half = code.b, lines.size // 2
  if not half:
    return
  code.barrier()
  with for_range(b, 0, lines.size.bit_length() - 1) as level, for_range(b, 0, b.add(level, i64(1))) as step:
    run = b.shl(i64(2), level)
    apart = b.lshr(run, b.add(step, i64(1)))
    below = b.sub(apart, i64(1))
    with for_range(b, b.zext(code.thread, I64), lines.count * half, code.num_threads) as pair, code.scope():
      line, number = div_rem(b, pair, half)
      inner = b.and_(i64(number), below)
      first = b.or_(b.shl(b.sub(i64(number), inner), i64(1)), inner)
      places = [[Index(line), Index(first)], [Index(line), Index(b.or_(first, apart))]]
      (x, y), (m, n) = ([code.load(memory, p, 1) for p in places] for memory in (lines.keys, lines.numbers))
      after = b.or_(b.icmp_unsigned(">", x, y), b.and_(b.icmp_unsigned("==", x, y), b.icmp_unsigned(">", m, n)))
      rising = b.icmp_unsigned("==", b.and_(first, run), i64(0))
      with if_then(b, b.icmp_unsigned("==", after, rising)):
        for memory, (p, q) in ((lines.keys, (x, y)), (lines.numbers, (m, n))):
          code.store(memory, places[0], q)
          code.store(memory, places[1], p)
    code.barrier()


def _compose(code: BlockCode, lines: _Lines, before: View) -> None:
  """Numbers of places in an order become numbers of elements. A number is read and written by one thread."""
  b = code.b

  def one(index: list[Index]) -> None:
    place = Index(b.zext(code.load(lines.numbers, index, 1), I64))
    code.store(lines.numbers, index, code.load(before, [index[0], place], 1))

  _each(code, (lines.count, lines.size), {before.base}, {lines.numbers.base}, one)


def _copied(code: BlockCode, lines: _Lines, into: View | None) -> View:
  """The numbers as they are now."""
  into = into if into is not None else code.allocate((lines.count, lines.size), np.uint32)
  copy = lambda index: code.store(into, index, code.load(lines.numbers, index, 1))
  _each(code, (lines.count, lines.size), {lines.numbers.base}, {into.base}, copy)
  return into
