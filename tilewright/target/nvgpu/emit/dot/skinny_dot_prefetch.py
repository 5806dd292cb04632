"""Register prefetch of a packed operand: each lane loads its own pieces of the next round, one round ahead.

Of a part of 64 bytes of some rows, lane (g, q) of a warp takes sixteen bytes of every eighth row: those that it multiplies, if all that is
done to them keeps them together (`skinny_dot_stages.sources`). So they need not be seen by other lanes, and shared memory is left out:

    rows g, g + 8, …; bytes 16 q … 16 q + 15 of the part

They lie in stack slots, at places that are known when the code is written, which become registers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from tilewright.target.llvm.loops import Index, i64
from tilewright.target.llvm.types import I8, I32, I64
from tilewright.target.nvgpu.emit.units.inline_ptx import effect, several
from tilewright.target.nvgpu.emit.units.threads import WARP
from tilewright.target.nvgpu.emit.views import View
from tilewright.target.nvgpu.passes.staged_blocks import PIECE, PaddedBlock
from tilewright.tile.ir import Value

_LANES = 4  # of a row
_APART = WARP // _LANES  # rows of a lane

Known = Callable[[Any], tuple[int, int]]


def can_take(view: View | None, block: PaddedBlock, count: int) -> bool:
  """Whether the lanes of a warp can read a part of so many rows of memory: whole pieces of rows that all exist."""
  if view is None or view.has_edges or view.dtype.itemsize > 1:
    return False
  is_whole = block.row_bytes == _LANES * PIECE and block.piece == PIECE
  return is_whole and block.rows == count and count % _APART == 0


class LanePieces:
  """The pieces that each lane has of a tile, of as many parts as there are stages."""

  def __init__(
    self, code: Any, view: View, block: PaddedBlock, first: Any, rows: Sequence[Any], stages: int, known: Known
  ):
    """`rows`: the numbers of a lane's rows, eight apart from each other, of those from `first` on; `known`: an index as a multiple and a
    constant."""
    self.b, self.source, self.block, self.first, self.rows, self.known = code.b, view, block, first, rows, known
    b = self.b
    self.q = b.zext(b.urem(code.thread, I32(_LANES)), I64)
    with b.goto_entry_block():
      self.slots = [b.alloca(I32, size=self.pieces * PIECE // 4) for _ in range(stages)]
    for slot in self.slots:
      slot.align = PIECE

  @property
  def pieces(self) -> int:
    return self.block.rows // _APART

  def load(self, start: Any, further: int, stage: int, line: int) -> None:
    """Read a part, so many after `start`, which the instruction adds; nothing waits for it until it is used. `line`: as in `cp_async`."""
    b, hint = self.b, f".L1::no_allocate.L2::{line}B" if line else ""
    text = f"ld.global{hint}.v4.b32 {{$0, $1, $2, $3}}, [$4+{further * self.block.row_bytes}];"
    column = b.add(b.mul(i64(start), i64(self.block.row_bytes)), b.mul(self.q, i64(PIECE)))
    for n in range(self.pieces):
      place = b.add(b.mul(self.rows[n], i64(self.source.strides[0])), column)
      pointer = b.gep(self.source.pointer, [place], source_etype=I8)
      loaded = effect(b, text, [b.ptrtoint(pointer, I64)], several(I32, 4))
      for k in range(4):  # each taken out where it is stored
        b.store(b.extract_value(loaded, k), self._at(stage, I64(n * PIECE + 4 * k)))

  def view(self, v: Value, stage: int, base: Any) -> View:
    """The tile as a lane sees it that looks at its own pieces of a part alone."""

    def address(b: ir.IRBuilder, view: View, index: Sequence[Index]) -> tuple[ir.Value, int | None, int]:
      row, column = index
      number = next((n for n, own in enumerate(self.rows) if own is row.base), None)
      n = b.udiv(b.sub(i64(row.base), i64(self.first)), i64(_APART)) if number is None else i64(number)
      divisor, constant = self.known(column.base)
      inside = constant % PIECE if divisor % PIECE == 0 else None  # of a piece
      k = b.and_(i64(column.base), i64(PIECE - 1)) if inside is None else i64(inside)
      align = 1 if inside is None else math.gcd(PIECE, inside)
      return self._at(stage, b.add(b.mul(n, i64(PIECE)), k)), column.step, align

    return View(self.slots[stage], (0, 1), v.tile.dtype, base, align=PIECE, exchange=address)

  def _at(self, stage: int, offset: ir.Value) -> ir.Value:
    return self.b.gep(self.slots[stage], [offset], source_etype=I8)
