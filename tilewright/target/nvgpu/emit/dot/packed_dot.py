"""Products of bf16 or f16 by `mma.sync.m16n8k16` on operands that are packed in shared memory, k innermost: of batches, and of operands
for which there is no room in other layouts.

A warp owns a rectangle of the result; its lanes hold of each 16 x 8 part the elements (g, 2q), (g, 2q + 1), (g + 8, 2q), (g + 8, 2q + 1),
where g = lane / 4 and q = lane % 4 (PTX ISA, matrix fragments for mma.m16n8k16).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.dots import Dot
from tilewright.target.llvm.loops import Index, add, for_range, i64, mul
from tilewright.target.llvm.types import F32, I32, I64
from tilewright.target.nvgpu.arch.tensor_cores import HALVES
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.distribution import distribute
from tilewright.target.nvgpu.emit.dot import skinny_dot
from tilewright.target.nvgpu.emit.dot.skinny_dot_stages import is_computable
from tilewright.target.nvgpu.emit.units.threads import WARP
from tilewright.target.nvgpu.emit.views import View

_M, _N, _K = 16, 8, 16  # of one mma
_MAX_ACCUMULATORS = 128  # registers of a thread


def plan(code: BlockCode, parts: Dot) -> tuple[int, int] | None:
  """How many warps lie along each side of the result, if a product is of this kind."""
  left, right = parts.lhs.tile.dtype, parts.rhs.tile.dtype
  if parts.m % _M or parts.n % _N or parts.k % _K or left != right or left not in HALVES:
    return None
  return _warps(code, parts.m, parts.n) if parts.accumulator == np.float32 else None


def _warps(code: BlockCode, m: int, n: int) -> tuple[int, int] | None:
  """How many warps lie along each side of the result; None if no way leaves enough registers."""
  warps = code.num_threads // WARP
  best = None
  for down in (w for w in range(1, warps + 1) if warps % w == 0):
    across = warps // down
    if m % (_M * down) or n % (_N * across):
      continue
    rows, columns = m // (_M * down), n // (_N * across)
    if rows * columns * 4 <= _MAX_ACCUMULATORS:
      traffic = rows * _M + columns * _N  # elements of the operands a warp reads for each k
      best = min(best, (traffic, down, across)) if best else (traffic, down, across)
  return best[1:] if best else None


def _packed(code: BlockCode, parts: Dot, side: str, batch: ir.Value | int) -> View:
  """An operand in shared memory with k innermost, rows a little apart so that eight of them lie in different banks."""
  value = parts.lhs if side == "lhs" else parts.rhs
  sizes = parts.ms if side == "lhs" else parts.ns
  rows = math.prod(sizes)
  stride = parts.k + 8
  memory = code.allocate((rows, stride), value.tile.dtype)
  packed = View(memory.pointer, (stride, 1), memory.dtype, memory.base, align=8)
  source = code.in_memory(value) if not is_computable(code, value) else None
  code.sync(code.bases_read(value), {packed.base})
  # The operand is read along its own last dimension, so that neighbouring threads read neighbours.
  last_is_k = (parts.lc if side == "lhs" else parts.rc)[-1:] == (value.tile.rank - 1,)
  order = (rows, parts.k) if last_is_k else (parts.k, rows)

  def each(index: list[Index], lanes: int, step: Any) -> None:
    row, k = index if last_is_k else index[::-1]
    free = parts.spread(row.base, sizes, row.step)
    inner = parts.spread(k.base, parts.ks, k.step)
    place = parts.place(parts.spread(batch, parts.batch), free, inner, side)
    element = code.value_at(value, place, lanes) if source is None else code.load(source, place, lanes)
    code.store(packed, [row, k], element)

  whole = sizes[-1:] if not last_is_k else parts.ks[-1:]
  d = distribute(order, code.lanes, code.num_threads)
  if whole and whole[0] % d.lanes:
    d = distribute(order, 1, code.num_threads)
  code.each_step(d, each)
  return packed


def multiply(code: BlockCode, parts: Dot, warps: tuple[int, int], into: View, accumulate: bool) -> None:
  """Multiply by so many warps along each side of the result."""
  b = code.b
  kind = HALVES[parts.lhs.tile.dtype]
  down, across = warps
  rows, columns = parts.m // (_M * down), parts.n // (_N * across)
  warp, lane = b.udiv(code.thread, I32(WARP)), b.urem(code.thread, I32(WARP))
  g, q = (b.zext(v, I64) for v in (b.udiv(lane, I32(4)), b.urem(lane, I32(4))))
  first_row = b.mul(b.zext(b.udiv(warp, I32(across)), I64), i64(rows * _M))
  first_column = b.mul(b.zext(b.urem(warp, I32(across)), I64), i64(columns * _N))
  count = math.prod(parts.batch)
  for batch in range(count):
    left, right = (_packed(code, parts, side, batch) for side in ("lhs", "rhs"))
    with b.goto_entry_block():
      slots = [[[b.alloca(F32) for _ in range(4)] for _ in range(columns)] for _ in range(rows)]
    for slot in (s for row in slots for part in row for s in part):
      b.store(ty.constant(F32, 0), slot)
    code.sync({left.base, right.base}, set())
    with for_range(b, 0, parts.k, _K) as k, code.scope():
      at = b.add(k, b.mul(q, i64(2)))
      lefts = [
        [_pair(b, left, add(b, first_row, add(b, g, r * _M + 8 * (i % 2))), add(b, at, 8 * (i // 2))) for i in range(4)]
        for r in range(rows)
      ]
      for c in range(columns):
        column = add(b, first_column, add(b, g, c * _N))
        pair = [_pair(b, right, column, add(b, at, 8 * i)) for i in range(2)]
        for r in range(rows):
          skinny_dot.add_product(b, kind, slots[r][c], lefts[r], pair)
    code.sync(set(), {into.base})
    for r in range(rows):
      for c in range(columns):
        for i, slot in enumerate(slots[r][c]):
          m = add(b, first_row, add(b, g, r * _M + 8 * (i // 2)))
          n = add(b, first_column, add(b, mul(b, q, 2), c * _N + i % 2))
          place = [*parts.spread(batch, parts.batch), *parts.spread(m, parts.ms), *parts.spread(n, parts.ns)]
          total = b.load(slot, typ=F32)
          if accumulate:
            total = b.fadd(code.load(into, place, 1), total)
          code.store(into, place, total)


def _pair(b: ir.IRBuilder, packed: View, row: Any, k: Any) -> ir.Value:
  """Two neighbours along k, as one register."""
  offset = b.add(b.mul(i64(row), i64(packed.strides[0])), i64(k))
  return b.load(b.gep(packed.pointer, [offset], source_etype=ty.I16), typ=I32, align=4)
