"""Stable sorting along an axis.

Each line of elements is sorted by itself. A key becomes an unsigned integer whose order is that of the elements (for floats: -0 equals 0,
and every NaN comes last), which travels together with the number of the element. Several keys are sorted by one after another, the last
one first: as each sort is stable, the first key decides, and the later ones where it is equal. At the end the numbers say which element
goes where, for all operands.

A short line is sorted by counting, for a vector of elements at a time, how many others come before each. A long one is sorted by bytes of
its keys (LSD radix sort): count how often each value occurs, add up, move; bytes that are the same everywhere are skipped.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import arithmetic
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.code import Code
from tilewright.target.llvm.gather_scatter import memory_behind
from tilewright.target.llvm.loops import Index, for_range, i64, if_then
from tilewright.target.llvm.memory import Memory
from tilewright.target.llvm.types import I8, I32, I64, PTR, VOID
from tilewright.tile.ir import Op, Value

_SHORT = 256  # elements up to which counting is faster than moving by bytes
_BUCKETS = 256


@dataclasses.dataclass(frozen=True)
class _Line:
  """What one line is sorted with: keys and numbers, each twice, to move from one to the other."""

  size: int
  wide: bool  # keys of 64 bits
  keys: tuple[Memory, Memory]
  numbers: tuple[Memory, Memory]

  @property
  def key_type(self) -> ir.Type:
    return I64 if self.wide else I32


def sort(code: Code, op: Op) -> None:
  """All operands, in the order of the first `keys` of them along `axis`."""
  axis, keys = op.attrs["axis"], op.operands[: op.attrs["keys"]]
  shape = op.operands[0].tile.shape
  sources = [in_memory(code, v) for v in op.operands]
  results = [code.allocate(v.tile.shape, v.tile.dtype) for v in op.operands]
  if 0 not in shape:
    line = _allocate(code, shape[axis], any(key_bits(v.tile.dtype) > 32 for v in keys))
    lines(code, shape, axis, lambda at: _sort_line(code, op, line, at, sources, results))
  code.env.update(zip(op.results, results))


def in_memory(code: Code, v: Value) -> Memory:
  return memory_behind(code, v) or code.materialise(v)


def _allocate(code: Code, size: int, wide: bool) -> _Line:
  lanes = code.lanes
  room = -(-size // lanes) * lanes
  key = np.uint64 if wide else np.uint32
  pair = lambda dtype: (code.allocate((room,), dtype), code.allocate((room,), dtype))
  return _Line(size, wide, pair(key), pair(np.uint32))


def lines(code: Code, shape: Sequence[int], axis: int, body: Any) -> None:
  """Call `body(at)` for each line; `at(i)` is the index of its i-th element."""

  def run(dim: int, index: list[Index]) -> None:
    if dim == len(shape):
      with code.scope():
        body(lambda i: [i if a == axis else own for a, own in enumerate(index)])
    elif dim == axis:
      run(dim + 1, [*index, Index(0)])
    else:
      with for_range(code.b, 0, shape[dim]) as i, code.scope():
        run(dim + 1, [*index, Index(i)])

  run(0, [])


def _sort_line(code: Code, op: Op, line: _Line, at: Any, sources: list[Memory], results: list[Memory]) -> None:
  b = code.b
  code.nest((line.size,), lambda index, lanes: code.store(line.numbers[0], index, _count_up(b, index[0], lanes)))
  chosen = list(enumerate(op.operands[: op.attrs["keys"]]))
  for position, (k, v) in enumerate(reversed(chosen)):
    dtype, source = v.tile.dtype, sources[k]
    if position == 0:  # nothing has moved yet

      def first(index: list[Index], lanes: int, source: Memory = source, dtype: np.dtype = dtype) -> None:
        code.store(line.keys[0], index, sort_key(code, op, code.load(source, at(index[0]), lanes), dtype, line.wide))

      code.nest((line.size,), first)
    else:
      with for_range(b, 0, line.size) as i:
        number = b.zext(code.load(line.numbers[0], [Index(i)], 1), I64)
        code.store(
          line.keys[0], [Index(i)], sort_key(code, op, code.load(source, at(Index(number)), 1), dtype, line.wide)
        )
    if line.size <= _SHORT:
      _by_counting(code, line)
    else:
      _by_bytes(code, line, key_bits(dtype))
  with for_range(b, 0, line.size) as i:
    number = b.zext(code.load(line.numbers[0], [Index(i)], 1), I64)
    for source, result in zip(sources, results):
      code.store(result, at(Index(i)), code.load(source, at(Index(number)), 1))


def _count_up(b: ir.IRBuilder, index: Index, lanes: int) -> ir.Value:
  base = b.trunc(i64(index.base), I32)
  if lanes == 1:
    return base
  return b.add(ty.splat(b, base, lanes), ir.Constant(ir.VectorType(I32, lanes), list(range(lanes))))


# --- keys --------------------------------------------------------------------------------------------------------


def key_bits(dtype: np.dtype) -> int:
  """How many bits an element's key has. Small floats are compared as f32."""
  if ty.is_float(dtype):
    return 64 if dtype == np.float64 else 32
  return 8 * dtype.itemsize


def sort_key(code: Code, op: Op, value: ir.Value, dtype: np.dtype, wide: bool) -> ir.Value:
  """Unsigned integers in the order of the elements, or in the opposite order."""
  b, bits, lanes = code.b, key_bits(dtype), ty.lanes_of(value)
  of_width = lambda n: ir.IntType(n) if lanes == 1 else ir.VectorType(ir.IntType(n), lanes)
  key = of_width(bits)
  sign = ty.constant(key, 1 << (bits - 1))
  if ty.is_float(dtype):
    value = arithmetic.convert(b, value, dtype, np.dtype(np.float64 if bits == 64 else np.float32))
    raw = b.bitcast(value, key)
    raw = b.xor(raw, b.select(b.icmp_signed("<", raw, ty.constant(key, 0)), ty.constant(key, -1), sign))
    if not op.attrs["total"]:
      raw = b.select(b.fcmp_ordered("==", value, ty.constant(value.type, 0)), sign, raw)
      raw = b.select(b.fcmp_unordered("uno", value, value), ty.constant(key, -1), raw)
  elif dtype == np.bool_:
    raw = b.zext(value, key)
  else:
    raw = arithmetic.convert(b, value, dtype, np.dtype(f"{'int' if ty.is_signed(dtype) else 'uint'}{bits}"))
    raw = b.xor(raw, sign) if ty.is_signed(dtype) else raw
  if op.attrs["descending"]:
    raw = b.xor(raw, ty.constant(key, -1))
  wanted = of_width(64 if wide else 32)
  return raw if raw.type == wanted else b.zext(raw, wanted)


# --- short lines -------------------------------------------------------------------------------------------------


def _by_counting(code: Code, line: _Line) -> None:
  """An element goes to the place that is the number of elements before it: smaller ones, and equal ones to its left."""
  b, lanes, size = code.b, code.lanes, line.size
  function = _function(code, f"sort_by_counting_{64 if line.wide else 32}", [PTR] * 4 + [I64])
  if not function.blocks:
    _emit_counting(function, line.key_type, lanes)
  b.call(function, [*(m.pointer for m in (*line.keys, *line.numbers)), i64(size)])


def _emit_counting(function: ir.Function, key: ir.Type, lanes: int) -> None:
  keys, moved_keys, numbers, moved_numbers, size = function.args
  b = ir.IRBuilder(function.append_basic_block("entry"))
  vector, counts = ir.VectorType(key, lanes), ir.VectorType(I32, lanes)
  slot, places = b.alloca(counts), untyped(b, b.alloca(counts))

  def at(array: ir.Value, i: Any, element: ir.Type) -> ir.Value:
    return b.gep(array, [i64(i)], source_etype=element)

  def count(first: Any, last: Any, comes_before: Any) -> None:
    with for_range(b, first, last) as j:
      other = ty.splat(b, b.load(at(keys, j, key), typ=key), lanes)
      more = b.zext(comes_before(j, other), counts)
      b.store(b.add(b.load(slot, typ=counts), more), slot)

  with for_range(b, 0, size, lanes) as i:
    own = b.load(at(keys, i, key), typ=vector, align=4)
    end = b.add(i, i64(lanes))
    end = b.select(b.icmp_signed("<", end, size), end, size)
    b.store(ty.constant(counts, 0), slot)
    count(0, i, lambda j, other: b.icmp_unsigned("<=", other, own))
    lane = ir.Constant(counts, list(range(lanes)))

    def between(j: ir.Value, other: ir.Value) -> ir.Value:
      left = b.icmp_signed("<", ty.splat(b, b.trunc(b.sub(j, i), I32), lanes), lane)
      return b.or_(b.icmp_unsigned("<", other, own), b.and_(b.icmp_unsigned("==", other, own), left))

    count(i, end, between)
    count(end, size, lambda j, other: b.icmp_unsigned("<", other, own))
    b.store(b.load(slot, typ=counts), places)
    with for_range(b, i, end) as j:
      place = b.zext(b.load(at(places, b.sub(j, i), I32), typ=I32), I64)
      b.store(b.load(at(keys, j, key), typ=key), at(moved_keys, place, key))
      b.store(b.load(at(numbers, j, I32), typ=I32), at(moved_numbers, place, I32))
  _copy(b, moved_keys, keys, b.mul(size, i64(key.width // 8)))
  _copy(b, moved_numbers, numbers, b.mul(size, i64(4)))
  b.ret_void()


# --- long lines --------------------------------------------------------------------------------------------------


def _by_bytes(code: Code, line: _Line, bits: int) -> None:
  function = _function(code, f"sort_by_bytes_{64 if line.wide else 32}", [PTR] * 4 + [I64, I64])
  if not function.blocks:
    _emit_bytes(function, line.key_type)
  arrays = [m.pointer for m in (*line.keys, *line.numbers)]
  code.b.call(function, [*arrays, i64(line.size), i64(bits)])


def _emit_bytes(function: ir.Function, key: ir.Type) -> None:
  keys, other_keys, numbers, other_numbers, size, bits = function.args
  b = ir.IRBuilder(function.append_basic_block("entry"))
  counts = untyped(b, b.alloca(ir.ArrayType(I32, _BUCKETS)))
  # Where the line is now, and where it moves to next.
  slots = [b.alloca(PTR) for _ in range(4)]
  for slot, value in zip(slots, (keys, other_keys, numbers, other_numbers)):
    b.store(value, slot)
  total = b.alloca(I32)

  def at(array: ir.Value, i: Any, element: ir.Type) -> ir.Value:
    return b.gep(array, [i64(i)], source_etype=element)

  with for_range(b, 0, bits, 8) as shift:
    now_keys, next_keys, now_numbers, next_numbers = (b.load(slot, typ=PTR) for slot in slots)

    def bucket(i: Any, shift: ir.Value = shift, array: ir.Value = now_keys) -> tuple[ir.Value, ir.Value]:
      """An element's key, and where its byte is counted."""
      own = b.load(at(array, i, key), typ=key)
      amount = shift if key == I64 else b.trunc(shift, key)
      byte = b.and_(b.lshr(own, amount), ir.Constant(key, _BUCKETS - 1))
      return own, at(counts, byte if key == I64 else b.zext(byte, I64), I32)

    _fill_zero(b, counts, 4 * _BUCKETS)
    with for_range(b, 0, size) as i:
      _, place = bucket(i)
      b.store(b.add(b.load(place, typ=I32), I32(1)), place)
    _, first = bucket(0)
    varies = b.icmp_unsigned("!=", b.zext(b.load(first, typ=I32), I64), size)
    with if_then(b, varies):
      b.store(I32(0), total)
      with for_range(b, 0, _BUCKETS) as k:
        before = b.load(total, typ=I32)
        b.store(b.add(before, b.load(at(counts, k, I32), typ=I32)), total)
        b.store(before, at(counts, k, I32))
      with for_range(b, 0, size) as i:
        own, place = bucket(i)
        target = b.load(place, typ=I32)
        b.store(b.add(target, I32(1)), place)
        target = b.zext(target, I64)
        b.store(own, at(next_keys, target, key))
        b.store(b.load(at(now_numbers, i, I32), typ=I32), at(next_numbers, target, I32))
      for slot, value in zip(slots, (next_keys, now_keys, next_numbers, now_numbers)):
        b.store(value, slot)
  moved = b.icmp_unsigned("!=", b.load(slots[0], typ=PTR), keys)
  with if_then(b, moved):
    _copy(b, other_keys, keys, b.mul(size, i64(key.width // 8)))
    _copy(b, other_numbers, numbers, b.mul(size, i64(4)))
  b.ret_void()


# --- functions ---------------------------------------------------------------------------------------------------


def _function(code: Code, name: str, arguments: list[ir.Type]) -> ir.Function:
  """A function of the module, made when it is first asked for."""
  found = code.b.module.globals.get(name)
  if found is None:
    found = ir.Function(code.b.module, ir.FunctionType(VOID, arguments), name)
    found.linkage = "internal"
    for array in found.args[:4]:
      array.add_attribute("noalias")
  return found


def untyped(b: ir.IRBuilder, slot: ir.Value) -> ir.Value:
  """A stack slot as a plain pointer: it is filled by one type and read by another."""
  return b.inttoptr(b.ptrtoint(slot, I64), PTR)


def _copy(b: ir.IRBuilder, source: ir.Value, target: ir.Value, nbytes: ir.Value) -> None:
  ty.intrinsic(b, "memcpy", [target, source, nbytes, ir.Constant(ty.I1, 0)], VOID, [PTR, PTR, I64])


def _fill_zero(b: ir.IRBuilder, array: ir.Value, nbytes: int) -> None:
  pointer = b.gep(array, [i64(0)], source_etype=I8)
  ty.intrinsic(b, "memset", [pointer, ir.Constant(I8, 0), i64(nbytes), ir.Constant(ty.I1, 0)], VOID, [PTR, I64])
