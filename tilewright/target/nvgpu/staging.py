"""Blocks of global memory, copied to shared memory a few steps before they are needed.

A step's blocks lie in one of several stages, used in turn. While a step is computed from its stage, the copies for the steps after it are
under way into the others; a stage is filled again once all threads are done with it.

    stages  0  1  2      step 0 computes from stage 0, while the blocks of steps 1 and 2 arrive
            3  1  2      step 1 computes from stage 1, and asks for step 3

Rows of a block lie in sixteen-byte pieces that are exchanged within eight rows, so that reading eight rows at the same place, as
`ldmatrix` does, touches all banks of shared memory once. Where the pieces of a row do not allow that, rows are padded instead.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import i64
from tilewright.target.llvm.types import I32, I64
from tilewright.target.nvgpu import cp_async
from tilewright.target.nvgpu.views import View

PIECE = 16  # bytes
_BANKS = 8  # pieces that lie side by side in the banks


@dataclasses.dataclass(frozen=True)
class SharedBlock:
  """Where the pieces of a matrix's rows lie in shared memory."""

  rows: int
  pieces: int  # in a row

  @property
  def is_exchanged(self) -> bool:
    return self.pieces % _BANKS == 0 or self.pieces in (1, 2, 4)

  @property
  def pitch(self) -> int:
    """Bytes from a row to the next; an odd number of pieces, where they are not exchanged."""
    return PIECE * (self.pieces if self.is_exchanged else self.pieces | 1)

  @property
  def nbytes(self) -> int:
    return -(-self.rows * self.pitch // 128) * 128

  def offset(self, b: ir.IRBuilder, row: ir.Value, piece: ir.Value) -> ir.Value:
    """Bytes from the start to a piece of a row."""
    if self.is_exchanged and self.pieces > 1:
      count = min(self.pieces, _BANKS)  # several short rows lie side by side in the banks
      turn = b.and_(b.udiv(row, I32(_BANKS // count)), I32(count - 1))
      piece = b.xor(piece, turn)
    return b.add(b.mul(row, I32(self.pitch)), b.mul(piece, I32(PIECE)))


def copy_block(
  b: ir.IRBuilder, thread: ir.Value, num_threads: int, source: View, block: SharedBlock, to: ir.Value
) -> None:
  """Start the copies of a matrix by a number of threads, neighbours next to each other. What lies outside of its array becomes zero."""
  width = PIECE // source.dtype.itemsize
  total = block.rows * block.pieces
  for step in range(-(-total // num_threads)):
    number = b.add(thread, I32(step * num_threads))
    row, piece = b.udiv(number, I32(block.pieces)), b.urem(number, I32(block.pieces))
    row64, column64 = b.zext(row, I64), b.mul(b.zext(piece, I64), i64(width))
    inside = _inside(b, source, [row64, column64])
    offset = b.add(b.mul(row64, i64(source.strides[0])), b.mul(column64, i64(source.strides[1])))
    pointer = b.gep(source.pointer, [offset], source_etype=ty.memory_type(source.dtype))
    place = b.add(to, block.offset(b, row, piece))
    if (step + 1) * num_threads > total:
      with b.if_then(b.icmp_unsigned("<", number, I32(total))):
        cp_async.copy(b, place, pointer, PIECE, inside)
    else:
      cp_async.copy(b, place, pointer, PIECE, inside)


def _inside(b: ir.IRBuilder, view: View, places: list[ir.Value]) -> Any:
  """Whether a piece that starts at these places lies inside of the array; the array's width is a multiple of the piece's."""
  found = view.inside
  for edges, place in zip(view.edges, places):
    for edge in edges:
      ok = b.icmp_unsigned("<", b.add(i64(edge.offset), place), i64(edge.size))
      found = ok if found is None else b.and_(found, ok)
  return found
