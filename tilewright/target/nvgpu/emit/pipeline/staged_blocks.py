"""The code of blocks in shared memory (`passes.staged_blocks`): where a piece of a row lies, how a body sees a block, copies by threads."""

from __future__ import annotations

import contextlib
import functools
import math
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import i64, if_then
from tilewright.target.llvm.types import I32, I64
from tilewright.target.nvgpu.emit.symbolic import Number, value_of
from tilewright.target.nvgpu.emit.units import cp_async
from tilewright.target.nvgpu.emit.views import SwizzledView, View, swizzled_address, whole
from tilewright.target.nvgpu.passes.staged_blocks import (
  BANKS,
  PIECE,
  BoxedBlock,
  BoxedMatrix,
  PaddedBlock,
  SharedBlock,
  StagedBlock,
  SwizzledBlock,
  TiledBlock,
)

_MAX_OFFSET = 1 << 23  # bytes that an instruction adds to an address, less one


@functools.singledispatch
def offset(block: Any, b: ir.IRBuilder, row: ir.Value, piece: ir.Value) -> ir.Value:
  """Bytes from the start of a block to a piece of a row."""
  raise NotImplementedError(type(block))


@offset.register
def _(block: SharedBlock, b: ir.IRBuilder, row: ir.Value, piece: ir.Value) -> ir.Value:
  if block.is_exchanged and block.pieces > 1:
    count = min(block.pieces, BANKS)  # several short rows lie side by side in the banks
    turn = b.and_(b.udiv(row, I32(BANKS // count)), I32(count - 1))
    piece = b.xor(piece, turn)
  return b.add(b.mul(row, I32(block.pitch)), b.mul(piece, I32(PIECE)))


@offset.register
def _(block: PaddedBlock, b: ir.IRBuilder, row: ir.Value, piece: ir.Value) -> ir.Value:
  return b.add(b.mul(row, I32(block.pitch)), b.mul(piece, I32(block.piece)))


@offset.register
def _(block: SwizzledBlock, b: ir.IRBuilder, row: ir.Value, piece: ir.Value) -> ir.Value:
  at = Number(b, row, block.rows), Number(b, piece, block.pieces) * block.width
  return value_of(b, block.layout.address(at))


@offset.register
def _(block: BoxedMatrix, b: ir.IRBuilder, row: ir.Value, piece: ir.Value) -> ir.Value:
  count = block.width // PIECE
  turn = b.and_(b.udiv(row, I32(BANKS // count)), I32(count - 1))
  own = b.add(b.mul(row, I32(block.width)), b.mul(b.xor(b.urem(piece, I32(count)), turn), I32(PIECE)))
  return b.add(own, b.mul(b.udiv(piece, I32(count)), I32(block.rows * block.width)))


@functools.singledispatch
def view(block: Any, pointer: ir.Value) -> View:
  """A block as a body sees it."""
  raise NotImplementedError(type(block))


@view.register
def _(block: PaddedBlock, pointer: ir.Value) -> View:
  pitch = block.pitch // block.dtype.itemsize
  strides = tuple(math.prod(block.shape[d + 1 : -1]) * pitch for d in range(len(block.shape) - 1))
  is_staged = block.pitch % PIECE == 0
  return View(pointer, (*strides, 1), block.dtype, object(), align=PIECE, is_staged=is_staged)


@view.register
def _(block: SwizzledBlock, pointer: ir.Value) -> View:
  """Only products see it."""
  dtype = np.dtype(f"V{block.layout.bits // 8}")
  return SwizzledView(pointer, (0, 0), dtype, object(), layout=block.layout)


@view.register
def _(block: TiledBlock, pointer: ir.Value) -> View:
  own, strides = block.layout, (block.layout.shape[1], 1)
  return View(pointer, strides, block.dtype, object(), tiled=own, along=whole(own), is_staged=True)


@view.register
def _(block: BoxedBlock, pointer: ir.Value) -> View:
  """It starts at a multiple of 1024 bytes, or so many steps further in a row."""
  pitch = block.steps * block.shape[1]
  if block.tensor_map.is_swizzled:
    return View(pointer, (pitch, 1), block.dtype, object(), align=PIECE, exchange=swizzled_address)
  return View(pointer, (pitch, 1), block.dtype, object(), align=block.step_bytes, is_staged=block.steps == 1)


@functools.singledispatch
def further(block: Any, rows: int) -> int | None:
  """Bytes to a piece so many rows further, if they are the same for all."""
  return None


@further.register
def _(block: PaddedBlock, rows: int) -> int | None:
  return rows * block.pitch


def copy_block(
  b: ir.IRBuilder,
  thread: ir.Value,
  num_threads: int,
  source: View,
  block: SharedBlock | StagedBlock,
  to: ir.Value,
  part: tuple[int, int] = (0, 1),
  line: int = 0,
) -> None:
  """Start the copies of a block by a number of threads, coalesced. Out-of-bounds elements become zero.

  With `part` (i, n), only every n-th copy of a thread, from the i-th on. `line`: see `cp_async.copy`.
  """
  width = block.piece // source.dtype.itemsize
  total = block.rows * block.pieces
  shape = block.shape if isinstance(block, PaddedBlock) else (block.rows, 0)
  apart = num_threads // block.pieces if num_threads % block.pieces == 0 else 0  # rows between a thread's copies
  first: tuple[ir.Value, ir.Value] | None = None  # the places of its first copy
  for step in range(part[0], -(-total // num_threads), part[1]):
    number = b.add(thread, I32(step * num_threads))
    if apart:
      row, piece = b.add(b.udiv(thread, I32(block.pieces)), I32(step * apart)), b.urem(thread, I32(block.pieces))
    else:
      row, piece = b.udiv(number, I32(block.pieces)), b.urem(number, I32(block.pieces))
    places = [b.mul(b.zext(piece, I64), i64(width))]
    left = row
    for d in reversed(range(len(shape) - 1)):
      places.insert(0, b.zext(b.urem(left, I32(shape[d])) if d else left, I64))
      left = b.udiv(left, I32(shape[d])) if d else left
    inside = _inside(b, source, places)
    moved = _further(block, source, (step - part[0]) * apart) if apart and len(shape) == 2 else None
    if first is None or moved is None:
      start: ir.Value = i64(0)
      for place, stride in zip(places, source.strides):
        start = b.add(start, b.mul(place, i64(stride)))
      pointer = b.gep(source.pointer, [start], source_etype=ty.memory_type(source.dtype))
      own, moved = (b.add(to, offset(block, b, row, piece)), pointer), (0, 0)
      first = first or own
    else:
      own = first
    with contextlib.ExitStack() as stack:
      if (step + 1) * num_threads > total:
        stack.enter_context(if_then(b, b.icmp_unsigned("<", number, I32(total))))
      cp_async.copy(b, *own, block.piece, inside, moved, line)


def _further(block: SharedBlock | StagedBlock, source: View, rows: int) -> tuple[int, int] | None:
  """Bytes to what lies so many rows further, in shared memory and where it comes from, if they are the same for all rows."""
  stride, there = source.strides[0], further(block, rows)
  if there is None or not isinstance(stride, int) or stride * rows * source.dtype.itemsize >= _MAX_OFFSET:
    return None
  return there, stride * rows * source.dtype.itemsize


def _inside(b: ir.IRBuilder, view: View, places: list[ir.Value]) -> Any:
  """Whether a piece that starts at these places lies inside of the array; the array's width is a multiple of the piece's."""
  found = view.inside
  for edges, place in zip(view.edges, places):
    for edge in edges:
      ok = b.icmp_unsigned("<", b.add(i64(edge.offset), place), i64(edge.size))
      found = ok if found is None else b.and_(found, ok)
  return found
