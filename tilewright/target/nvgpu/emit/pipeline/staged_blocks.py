"""Blocks of global memory, copied to shared memory a few steps before they are needed.

A step's blocks are in one of several stages, used in turn. While a step is computed from its stage, the copies for the steps after it are
in flight into the others; a stage is filled again once all threads are done with it.

    stages  0  1  2      step 0 computes from stage 0, while the blocks of steps 1 and 2 arrive
            3  1  2      step 1 computes from stage 1, and issues step 3

Rows of a block lie in sixteen-byte pieces that are swizzled within eight rows, so that reading eight rows at the same place, as
`ldmatrix` does, touches all banks of shared memory once. Where the pieces of a row do not allow that, rows are padded instead.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.layout.shared import SharedLayout, shared_tiled
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import i64, if_then
from tilewright.target.llvm.types import I32, I64
from tilewright.target.nvgpu.emit.symbolic import Number, value_of
from tilewright.target.nvgpu.emit.units import cp_async, tma
from tilewright.target.nvgpu.emit.units.tma import SWIZZLE_BYTES, TensorMap
from tilewright.target.nvgpu.emit.views import SwizzledView, View, swizzled_address, whole
from tilewright.tile.grid import Blocked, BoundedSlice, Squeezed
from tilewright.tile.ir import users
from tilewright.tile.native import NativeKernel

PIECE = 16  # bytes
_MAX_OFFSET = 1 << 23  # bytes that an instruction adds to an address, less one
_BANKS = 8  # pieces that lie side by side in the banks
BOX_ALIGNMENT = 1024  # bytes, after which a swizzle repeats


@dataclasses.dataclass(frozen=True)
class SharedBlock:
  """Where the pieces of a matrix's rows lie in shared memory, for `ldmatrix`."""

  rows: int
  pieces: int  # in a row

  piece = PIECE

  @property
  def is_exchanged(self) -> bool:
    return self.pieces % _BANKS == 0 or self.pieces in (1, 2, 4)

  @property
  def pitch(self) -> int:
    """Bytes from a row to the next; an odd number of pieces, where they are not swizzled."""
    return PIECE * (self.pieces if self.is_exchanged else self.pieces | 1)

  @property
  def nbytes(self) -> int:
    return -(-self.rows * self.pitch // 128) * 128

  def layout(self, columns: int) -> SharedLayout | None:
    """The same as a layout of rows of so many elements; None if its swizzle is none of the hardware's."""
    if self.pieces not in (1, 2, 4, _BANKS):
      return None
    row_bytes = self.pieces * PIECE
    return shared_tiled((self.rows, columns), None, 8 * row_bytes // columns, row_bytes if self.pieces > 1 else 0)

  def offset(self, b: ir.IRBuilder, row: ir.Value, piece: ir.Value) -> ir.Value:
    """Bytes from the start to a piece of a row."""
    if self.is_exchanged and self.pieces > 1:
      count = min(self.pieces, _BANKS)  # several short rows lie side by side in the banks
      turn = b.and_(b.udiv(row, I32(_BANKS // count)), I32(count - 1))
      piece = b.xor(piece, turn)
    return b.add(b.mul(row, I32(self.pitch)), b.mul(piece, I32(PIECE)))


@dataclasses.dataclass(frozen=True)
class PaddedBlock:
  """A block of an input in shared memory, with its row pitch an odd number of sixteen bytes: lanes with a row each have no bank
  conflicts."""

  position: int  # among the inputs
  shape: tuple[int, ...]
  dtype: np.dtype
  piece: int  # bytes that one copy brings

  @property
  def rows(self) -> int:
    return math.prod(self.shape[:-1])

  @property
  def row_bytes(self) -> int:
    return self.shape[-1] * self.dtype.itemsize

  @property
  def pieces(self) -> int:
    return self.row_bytes // self.piece

  @property
  def pitch(self) -> int:
    return self.row_bytes if self.row_bytes % PIECE or self.rows == 1 else PIECE * (self.row_bytes // PIECE | 1)

  @property
  def nbytes(self) -> int:
    return -(-self.rows * self.pitch // PIECE) * PIECE

  def offset(self, b: ir.IRBuilder, row: ir.Value, piece: ir.Value) -> ir.Value:
    return b.add(b.mul(row, I32(self.pitch)), b.mul(piece, I32(self.piece)))

  def further(self, rows: int) -> int | None:
    """Bytes to a piece so many rows further, if they are the same for all."""
    return rows * self.pitch

  def view(self, pointer: ir.Value) -> View:
    """The block as a body sees it."""
    pitch = self.pitch // self.dtype.itemsize
    strides = tuple(math.prod(self.shape[d + 1 : -1]) * pitch for d in range(len(self.shape) - 1))
    is_staged = self.pitch % PIECE == 0
    return View(pointer, (*strides, 1), self.dtype, object(), align=PIECE, is_staged=is_staged)


@dataclasses.dataclass(frozen=True)
class SwizzledBlock:
  """A matrix that is a block of an input in shared memory, laid out for the products of warpgroups that read it there."""

  position: int  # among the inputs
  layout: SharedLayout

  piece = PIECE

  @property
  def rows(self) -> int:
    return self.layout.shape[0]

  @property
  def _width(self) -> int:
    """Elements of a piece."""
    return 8 * PIECE // self.layout.bits

  @property
  def pieces(self) -> int:
    return self.layout.shape[1] // self._width

  @property
  def nbytes(self) -> int:
    return self.layout.nbytes

  def offset(self, b: ir.IRBuilder, row: ir.Value, piece: ir.Value) -> ir.Value:
    at = Number(b, row, self.rows), Number(b, piece, self.pieces) * self._width
    return value_of(b, self.layout.address(at))

  def view(self, pointer: ir.Value) -> View:
    """The block as products see it."""
    dtype = np.dtype(f"V{self.layout.bits // 8}")
    return SwizzledView(pointer, (0, 0), dtype, object(), layout=self.layout)


@dataclasses.dataclass(frozen=True)
class TiledBlock(SwizzledBlock):
  """As that, for the products of warps, which read it by `ldmatrix`. Any other code finds its elements too."""

  dtype: np.dtype

  def view(self, pointer: ir.Value) -> View:
    own, strides = self.layout, (self.layout.shape[1], 1)
    return View(pointer, strides, self.dtype, object(), tiled=own, along=whole(own), is_staged=True)


StagedBlock = PaddedBlock | SwizzledBlock


@dataclasses.dataclass(frozen=True)
class BoxedBlock:
  """A block of an input in shared memory as TMA writes it: rows of 128 bytes, pieces swizzled within eight of them; or rows of
  sixteen bytes, which may be those of several steps."""

  position: int  # among the inputs
  shape: tuple[int, int]
  dtype: np.dtype
  tensor_map: TensorMap  # of pairs of bytes
  steps: int = 1  # whose blocks, side by side in their array, are copied together

  @property
  def nbytes(self) -> int:
    return -(-self.tensor_map.box_bytes // BOX_ALIGNMENT) * BOX_ALIGNMENT

  @property
  def step_bytes(self) -> int:
    """Of a row, in a step."""
    return self.shape[1] * self.dtype.itemsize

  def view(self, pointer: ir.Value) -> View:
    """The block as a body sees it. It starts at a multiple of 1024 bytes, or so many steps further in a row."""
    pitch = self.steps * self.shape[1]
    if self.tensor_map.is_swizzled:
      return View(pointer, (pitch, 1), self.dtype, object(), align=PIECE, exchange=swizzled_address)
    return View(pointer, (pitch, 1), self.dtype, object(), align=self.step_bytes, is_staged=self.steps == 1)


@dataclasses.dataclass(frozen=True)
class BoxedMatrix:
  """A matrix in shared memory as TMA writes it, for `ldmatrix`: columns of `width` bytes, each with all rows below one another,
  and with its pieces swizzled. It starts at a multiple of 1024 bytes."""

  rows: int
  width: int  # 128, 64 or 32

  def offset(self, b: ir.IRBuilder, row: ir.Value, piece: ir.Value) -> ir.Value:
    """Bytes from the start to a piece of a row."""
    count = self.width // PIECE
    turn = b.and_(b.udiv(row, I32(_BANKS // count)), I32(count - 1))
    own = b.add(b.mul(row, I32(self.width)), b.mul(b.xor(b.urem(piece, I32(count)), turn), I32(PIECE)))
    return b.add(own, b.mul(b.udiv(piece, I32(count)), I32(self.rows * self.width)))


def is_wide(kernel: NativeKernel, block: PaddedBlock) -> bool:
  """Whether TMA stages an input's blocks in rows of 128 bytes."""
  found = boxed(kernel, block)
  return found is not None and found.tensor_map.is_swizzled


def boxed(kernel: NativeKernel, block: PaddedBlock, steps: int = 1) -> BoxedBlock | None:
  """How TMA stages an input's blocks, if it can: matrices of up to 256 rows, of 128 bytes or of sixteen in so many steps."""
  row_bytes = steps * block.row_bytes
  if len(block.shape) != 2 or row_bytes not in (PIECE, SWIZZLE_BYTES) or (steps == 1 and block.piece != PIECE):
    return None
  m = kernel.mapping.block_mappings[block.position]
  array, outer = m.array_aval, m.block_shape[:-1]
  if len(array.shape) > tma.MAX_DIMS or block.shape[0] > tma.MAX_BOX_ROWS or block.shape[0] % _BANKS:
    return None
  shape = (*array.shape[:-1], array.shape[-1] * block.dtype.itemsize // 2)
  row = max(d for d, dim in enumerate(outer) if isinstance(dim, Blocked))
  box = tuple(d.block_size for d in outer)
  tensor_map = TensorMap(kernel.mapping.num_prefetch + block.position, "bf16", shape, box, row, row_bytes // 2)
  return BoxedBlock(block.position, block.shape, block.dtype, tensor_map, steps)


def padded(kernel: NativeKernel, position: int) -> PaddedBlock | None:
  """How an input's blocks are staged, if they can be: rows that begin at multiples of at least four bytes."""
  m = kernel.mapping.block_mappings[position]
  dims, dtype = m.block_shape, np.dtype(m.array_aval.dtype)
  if kernel.index_maps[position] is None or not dims or not isinstance(dims[-1], Blocked):
    return None
  if not all(isinstance(d, Blocked | BoundedSlice | Squeezed) for d in dims):
    return None
  shape = tuple(d.block_size for d in dims if not isinstance(d, Squeezed))
  sizes = (shape[-1] * dtype.itemsize, m.array_aval.shape[-1] * dtype.itemsize)
  piece = next((n for n in cp_async.SIZES if not any(size % n for size in sizes)), None)
  return None if piece is None else PaddedBlock(position, shape, dtype, piece)


def steps_together(kernel: NativeKernel, block: PaddedBlock, num_steps: int) -> int:
  """Of how many steps the rows are sixteen bytes, if their blocks lie side by side and steps come in that number; else one."""
  m, index_map = kernel.mapping.block_mappings[block.position], kernel.index_maps[block.position]
  assert index_map is not None
  steps, is_whole = PIECE // block.row_bytes, PIECE % block.row_bytes == 0
  step = index_map.params[len(kernel.mapping.grid) - 1]
  *others, last = index_map.body.yielded
  is_used = step in others or any(op.name != "yield" for op in users(index_map.body).get(step, []))
  if steps < 2 or not is_whole or last is not step or is_used or num_steps % steps:
    return 1
  return steps if m.array_aval.shape[-1] == num_steps * block.shape[-1] else 1


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
    further = _further(block, source, (step - part[0]) * apart) if apart and len(shape) == 2 else None
    if first is None or further is None:
      offset: ir.Value = i64(0)
      for place, stride in zip(places, source.strides):
        offset = b.add(offset, b.mul(place, i64(stride)))
      pointer = b.gep(source.pointer, [offset], source_etype=ty.memory_type(source.dtype))
      own, further = (b.add(to, block.offset(b, row, piece)), pointer), (0, 0)
      first = first or own
    else:
      own = first
    with contextlib.ExitStack() as stack:
      if (step + 1) * num_threads > total:
        stack.enter_context(if_then(b, b.icmp_unsigned("<", number, I32(total))))
      cp_async.copy(b, *own, block.piece, inside, further, line)


def _further(block: SharedBlock | StagedBlock, source: View, rows: int) -> tuple[int, int] | None:
  """Bytes to what lies so many rows further, in shared memory and where it comes from, if they are the same for all rows."""
  stride, there = source.strides[0], block.further(rows) if isinstance(block, PaddedBlock) else None
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
