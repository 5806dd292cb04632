"""Operands of `wgmma` that are computed: by lanes with a row each, eight columns at a time.

Rows of 64 columns, 128 bytes, lie where TMA would have put them: sixteen-byte pieces swizzled within eight rows. A warp
takes 32 rows; where there are more warps than that needs, each takes a part of the columns. A lane's columns are known when the code is
written, so that indices below reshapes and casts are numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from tilewright.target.llvm.loops import Index, i64
from tilewright.target.llvm.types import I32, I64
from tilewright.target.nvgpu.emit.units import half2, threads
from tilewright.target.nvgpu.emit.units.inline_ptx import effect
from tilewright.target.nvgpu.passes.grid_accumulation import Operand

_BOX = 64  # columns
_ROW = 128  # bytes
_EIGHT = 8


def write(
  code: Any, side: Operand, start: int, depth: int, place: ir.Value, order: Callable[[int], int] | None = None
) -> None:
  """Compute an operand from `start` along k on, and write it to shared memory at `place`, with all warps of the code.

  Column `n`, for even n, and the column after it hold column `order(n)` of the operand and the one after it.
  """
  b = code.b
  rows, columns = (side.shape[0], depth) if side.k_is_last else (depth, side.shape[1])
  first_row, first_column = (0, start) if side.k_is_last else (start, 0)
  column = order or (lambda n: first_column + n)
  warps, groups = code.num_threads // threads.WARP, rows // threads.WARP
  warp = b.udiv(code.thread, I32(threads.WARP))
  parts = max(1, min(warps // groups, columns // _EIGHT))
  width = columns // parts
  for turn in range(-(-groups * parts // warps)):
    number = b.add(warp, I32(turn * warps))
    row = b.add(b.mul(b.urem(number, I32(groups)), I32(threads.WARP)), b.urem(code.thread, I32(threads.WARP)))
    for part in range(parts):
      done = b.append_basic_block("computed")
      own = b.append_basic_block("part")
      b.cbranch(b.icmp_unsigned("==", b.udiv(number, I32(groups)), I32(part)), own, done)
      b.position_at_end(own)
      with code.scope():
        index = Index(b.add(b.zext(row, I64), i64(first_row)))
        pieces = range(part * width, (part + 1) * width, _EIGHT)
        words = [
          [half2.pair_at(code, side.value, [index, Index(column(at + 2 * i))]) for i in range(4)] for at in pieces
        ]
        for at, four in zip(pieces, words):
          box, inner = divmod(at, _BOX)
          swizzled = b.xor(b.and_(row, I32(7)), I32(inner // _EIGHT))
          offset = b.add(b.mul(row, I32(_ROW)), b.add(b.mul(swizzled, I32(16)), I32(box * rows * _ROW)))
          effect(b, "st.shared.v4.b32 [$0], {$1, $2, $3, $4};", [b.add(place, offset), *four])
      b.branch(done)
      b.position_at_end(done)
