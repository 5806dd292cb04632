"""Packing and unpacking of sub-byte elements: packed as XLA:CPU keeps them in memory, one byte per element in the emitted code.

XLA packs arrays of such elements, in FFI buffers too: two int4 or float4_e2m1fn to a byte, four int2, the first in the lowest bits (seen
with jax 0.10.2 and 0.11.2). A row may begin and end inside of a byte:

    unpack(array, offset, row, count)     row[i] = element `offset + i` of the array
    pack(array, offset, row, count)       the other way

Whole bytes are processed as vectors. Bytes at the ends may hold elements of adjacent rows, which other threads may be writing, so there
each element is written atomically.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.cpu import statements
from tilewright.target.cpu.blocks import CutBlock, PreviousBlock
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.arithmetic import extended
from tilewright.target.llvm.block_ranges import BlockRange
from tilewright.target.llvm.code import Code
from tilewright.target.llvm.loops import Index, add, for_range, i64, if_then, mul
from tilewright.target.llvm.memory import Memory
from tilewright.tile.formats import poison_value, width

_AT_ONCE = 64  # elements of a vector


class PackedBlock(CutBlock):
  """A block of a packed array: always a copy, with a byte for each element."""

  def cut(
    self, where: list[BlockRange], always_inside: Sequence[bool], last: PreviousBlock | None
  ) -> tuple[Memory, Callable[[], None]]:
    sizes = [where[i].size for i in self.kept]
    copy = self.code.allocate(sizes, self.dtype)
    inside = self._inside(where, always_inside)
    is_new = self._is_new(where, last)
    with contextlib.nullcontext() if is_new is None else if_then(self.code.b, is_new), self.code.scope():
      if inside is not None:
        with if_then(self.code.b, self.code.b.not_(inside)), self.code.scope():
          statements.poison(self.code, copy, sizes)
      self._copy_valid(where, copy, into_copy=True)
    return dataclasses.replace(copy, base=self.base), lambda: self._copy_valid(where, copy, into_copy=False)

  def _copy_valid(self, where: list[BlockRange], copy: Memory, *, into_copy: bool) -> None:
    b = self.code.b

    def copy_run(in_array: list[Any], in_block: list[Any], count: Any) -> None:
      offset: Any = i64(0)
      for number, stride in zip(in_array, self.strides):
        offset = add(b, offset, mul(b, number, stride))
      own, _ = self.code.address(copy, [Index(in_block[k]) for k in self.kept])
      (unpack if into_copy else pack)(b, self.dtype, self.pointer, offset, own, count)

    self._each_run(where, copy_run)


def poison(code: Code, array: ir.Value, dtype: np.dtype, size: int) -> None:
  """Fill a packed array: the same element over and over, in every byte."""
  element = int(ty.element(dtype, poison_value(dtype)).constant) & ((1 << width(dtype)) - 1)
  byte = sum(element << shift for shift in range(0, 8, width(dtype)))
  memory = Memory(array, (1,), np.dtype(np.uint8), object())
  code.nest(
    (packed_bytes(dtype, size),),
    lambda index, lanes: code.store(memory, index, ty.element(np.uint8, byte, lanes)),
  )


def unpack(b: ir.IRBuilder, dtype: np.dtype, array: ir.Value, offset: ir.Value, row: ir.Value, count: ir.Value) -> None:
  b.call(_function(b.module, "unpack", dtype, _unpack_one, _unpack_many), [array, offset, row, count])


def pack(b: ir.IRBuilder, dtype: np.dtype, array: ir.Value, offset: ir.Value, row: ir.Value, count: ir.Value) -> None:
  b.call(_function(b.module, "pack", dtype, _pack_one, _pack_many), [array, offset, row, count])


def packed_bytes(dtype: Any, size: int) -> int:
  """How many bytes an array takes."""
  return -(-size * width(dtype) // 8)


def _function(module: ir.Module, name: str, dtype: np.dtype, one: Any, many: Any) -> ir.Function:
  """A loop up to the first whole byte, one over vectors of whole bytes, and one over what is left."""
  full = f"tilewright.{name}.{dtype.name}"
  if (known := module.globals.get(full)) is not None:
    return known
  function = ir.Function(module, ir.FunctionType(ty.VOID, [ty.PTR, ty.I64, ty.PTR, ty.I64]), full)
  function.linkage = "internal"
  array, offset, row, count = function.args
  b = ir.IRBuilder(function.append_basic_block("entry"))
  per_byte = 8 // width(dtype)
  to_byte = b.and_(b.sub(i64(0), offset), i64(per_byte - 1))
  head = b.select(b.icmp_unsigned("<", to_byte, count), to_byte, count)
  vectors = b.and_(b.sub(count, head), i64(-_AT_ONCE))
  with for_range(b, 0, head) as i:
    one(b, dtype, array, b.add(offset, i), _byte(b, row, i))
  with for_range(b, head, b.add(head, vectors), _AT_ONCE) as i:
    many(b, dtype, _byte(b, array, b.udiv(b.add(offset, i), i64(per_byte))), _byte(b, row, i))
  with for_range(b, b.add(head, vectors), count) as i:
    one(b, dtype, array, b.add(offset, i), _byte(b, row, i))
  b.ret_void()
  return function


def _byte(b: ir.IRBuilder, pointer: ir.Value, number: ir.Value) -> ir.Value:
  return b.gep(pointer, [number], inbounds=True, source_etype=ty.I8)


def _place(b: ir.IRBuilder, dtype: np.dtype, array: ir.Value, number: ir.Value) -> tuple[ir.Value, ir.Value]:
  """The byte an element is in, and how far it is shifted there."""
  per_byte = i64(8 // width(dtype))
  shift = b.mul(b.urem(number, per_byte), i64(width(dtype)))
  return _byte(b, array, b.udiv(number, per_byte)), b.trunc(shift, ty.I8)


def _unpack_one(b: ir.IRBuilder, dtype: np.dtype, array: ir.Value, number: ir.Value, out: ir.Value) -> None:
  place, shift = _place(b, dtype, array, number)
  b.store(extended(b, b.lshr(b.load(place, typ=ty.I8), shift), dtype), out)


def _pack_one(b: ir.IRBuilder, dtype: np.dtype, array: ir.Value, number: ir.Value, element: ir.Value) -> None:
  place, shift = _place(b, dtype, array, number)
  mask = ir.Constant(ty.I8, (1 << width(dtype)) - 1)
  b.atomic_rmw("and", place, b.not_(b.shl(mask, shift)), "monotonic")
  b.atomic_rmw("or", place, b.shl(b.and_(b.load(element, typ=ty.I8), mask), shift), "monotonic")


def _unpack_many(b: ir.IRBuilder, dtype: np.dtype, place: ir.Value, out: ir.Value) -> None:
  per_byte = 8 // width(dtype)
  vector = ir.VectorType(ty.I8, _AT_ONCE // per_byte)
  raw = b.load(place, typ=vector, align=1)
  parts = [b.lshr(raw, ty.constant(vector, width(dtype) * k)) for k in range(per_byte)]
  while len(parts) > 1:  # each with the one half of them further on, so that the order is right at the end
    half = len(parts) // 2
    parts = [_interleaved(b, parts[k], parts[k + half]) for k in range(half)]
  b.store(extended(b, parts[0], dtype), out, align=1)


def _interleaved(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
  count = x.type.count
  picks = [k // 2 + (k % 2) * count for k in range(2 * count)]
  return b.shuffle_vector(x, y, ir.Constant(ir.VectorType(ty.I32, 2 * count), picks))


def _pack_many(b: ir.IRBuilder, dtype: np.dtype, place: ir.Value, row: ir.Value) -> None:
  per_byte = 8 // width(dtype)
  elements = b.load(row, typ=ir.VectorType(ty.I8, _AT_ONCE), align=1)
  short = ir.VectorType(ty.I32, _AT_ONCE // per_byte)
  total = None
  for k in range(per_byte):
    picks = ir.Constant(short, list(range(k, _AT_ONCE, per_byte)))
    part = b.shuffle_vector(elements, ir.Constant(elements.type, ir.Undefined), picks)
    part = b.and_(part, ty.constant(part.type, (1 << width(dtype)) - 1))
    part = b.shl(part, ty.constant(part.type, width(dtype) * k))
    total = part if total is None else b.or_(total, part)
  b.store(total, place, align=1)
