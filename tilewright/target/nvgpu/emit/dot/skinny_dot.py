"""Products of a few rows with a wide operand that is computed in the registers of the lanes that multiply it.

In `dot(x, w)` with x of a few rows, (m, k), and w of many, (n, k), each element of w is used for a handful of products: the cost is loading
it. So the inputs of w are loaded from memory once, prefetched one round of the warp ahead (`skinny_dot_stages`); w is computed in registers
(decoded, scaled), and multiplied by `mma.sync.m16n8k16`, without ever being stored to memory. The mapping from an instruction's k slots to
k is free, as long as both operands agree: a lane takes a contiguous run, so that its loads are wide.

    lane (g, q) of a warp, g = lane / 4, q = lane % 4, in round c of the warp:
      of w   rows g and g + 8 of each 16,   of x   row g of each 8,     k in [run * (4 c + q), run * (4 c + q + 1))
      instruction j of the round takes the four elements 4 j … 4 j + 3 of the run of each row

Where w is stored transposed, so that its rows are contiguous along n, a lane takes a short run of k and neighbouring rows instead.

Warps split k, and where k is too short for that, n. Their partial sums go to shared memory: all threads add them up there, or the consumer
of the result adds up those of the elements it reads (`product`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.dots import Dot
from tilewright.target.llvm.loops import Index, add, for_range, i64
from tilewright.target.llvm.types import F32, I32, I64
from tilewright.target.nvgpu.arch.tensor_cores import HALVES
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.distribution import distribute
from tilewright.target.nvgpu.emit.dot.skinny_dot_prefetch import can_take
from tilewright.target.nvgpu.emit.dot.skinny_dot_stages import (
  Part,
  Stages,
  in_twos,
  is_computable,
  memory_of,
  part_of,
  rounds_at_once,
  sources,
  stage_bytes,
)
from tilewright.target.nvgpu.emit.units import half2, mma_sync
from tilewright.target.nvgpu.emit.units.threads import WARP
from tilewright.target.nvgpu.emit.views import SummedView, View
from tilewright.tile.ir import Op, Value
from tilewright.tile.types import TileType

ROWS, COLUMNS, DEPTH = 16, 8, 16  # of one mma: rows of w, rows of x, elements of k
_LANES = 4  # that share a row
_MAX_ROWS = 32  # rows of x
_MAX_ACCUMULATORS = 64  # registers of a thread
_RUN = 32  # elements of k that a lane takes at a time: sixteen bytes of 4-bit elements
_STAGES = 2  # one round of a warp in flight while one is multiplied
_MAX_WARPS_ALONG_K = 8  # warps that split k; the others split n
# Where half of a round or more is x, which all CTAs read, weights go straight to registers, and a warp waits for a round
# before it requests the next (docs/benchmarks.md, "Choices of the GPU target").
_STRAIGHT_TILES = 2
_ELEMENTS = 512  # of w that a lane loads at a time, if it can: what is on its way hides the time that takes
_APART = 4  # padding elements after each row of partial sums, so that lanes with different rows have no bank conflicts
_TRANSPOSED_RUN = 8  # the run where w is transposed: a word of 4-bit elements


@dataclasses.dataclass(frozen=True)
class Plan:
  """The run of a lane along k, how many warps lie along k and along n, and whether a lane's rows are neighbours."""

  run: int
  along_k: int
  along_n: int
  is_transposed: bool


def plan(code: BlockCode, parts: Dot) -> Plan | None:
  """How a product is carried out, if it is of this kind."""
  dtype = parts.lhs.tile.dtype
  if dtype != parts.rhs.tile.dtype or dtype not in HALVES or parts.accumulator != np.float32 or parts.batch:
    return None
  if parts.m > _MAX_ROWS or parts.n < parts.m or parts.n % ROWS or parts.ks[-1] % 2:
    return None
  in_order = all(
    list(axes) == list(range(rank - len(axes), rank))
    for axes, rank in ((parts.lc, parts.lhs.tile.rank), (parts.rc, parts.rhs.tile.rank))
  )
  if not in_order or not all(is_computable(code, v) for v in (parts.lhs, parts.rhs)):
    return None
  is_transposed = _is_transposed(code, parts.rhs)
  warps, tiles = code.num_threads // WARP, parts.n // ROWS
  run = math.gcd(parts.k // _LANES, _TRANSPOSED_RUN if is_transposed else _RUN) if parts.k % _LANES == 0 else 0
  while run and run % 4 == 0:  # shorter runs where there are too few for all warps
    along_k = math.gcd(warps if is_transposed else min(warps, _MAX_WARPS_ALONG_K), parts.k // (_LANES * run))
    along_n = warps // along_k
    if tiles % along_n == 0 and tiles // along_n * _columns(parts) * 4 <= _MAX_ACCUMULATORS:
      return Plan(run, along_k, along_n, is_transposed)
    run //= 2
  return None


def _columns(parts: Dot) -> int:
  return -(-parts.m // COLUMNS)


def _is_transposed(code: BlockCode, v: Value) -> bool:
  """Whether the last dimension is not contiguous in memory."""
  op = v.owner
  if v in code.env or not isinstance(op, Op):
    return False
  if op.name == "transpose" and op.attrs["permutation"][-1] != v.tile.rank - 1:
    return True
  return any(_is_transposed(code, o) for o in op.operands if isinstance(o.type, TileType))


def keeps_partial_sums(code: BlockCode, parts: Dot) -> bool:
  """Whether `product` is worth it: where threads have more than one element each (docs/benchmarks.md, "Choices of the GPU target")."""
  return len(parts.ms) == len(parts.ns) == 1 and parts.dtype == np.float32 and parts.m * parts.n > code.num_threads


def product(code: BlockCode, parts: Dot, how: Plan) -> SummedView:
  """The product as partial sums, added up when read: a consumer that reads it once needs no other buffer, nor a barrier after that."""
  accumulators = _accumulators(code, parts, how, is_left=True)
  own = accumulators.strides[1:]
  return SummedView(
    accumulators.pointer,
    own,
    accumulators.dtype,
    accumulators.base,
    align=_APART,
    terms=how.along_k,
    apart=accumulators.strides[0],
  )


def multiply(code: BlockCode, parts: Dot, how: Plan, into: View, accumulate: bool) -> None:
  b, accumulators = code.b, _accumulators(code, parts, how, is_left=False)
  code.sync({accumulators.base}, {into.base})
  shape = (*parts.ms, *parts.ns)
  split = len(parts.ms)

  def each(index: list[Index], lanes: int, step: Any) -> None:
    m, n = (_number(b, index[:split], parts.ms), _number(b, index[split:], parts.ns))
    total = code.load(accumulators, [Index(0), m, n], lanes)
    for k in range(1, how.along_k):
      total = b.fadd(total, code.load(accumulators, [Index(k), m, n], lanes))
    if accumulate:
      total = b.fadd(code.load(into, index, lanes), total)
    code.store(into, index, total)

  # Vectors so narrow that every thread has some.
  lanes = min(code.lanes, 1 << max(1, math.prod(shape) // code.num_threads).bit_length() - 1)
  code.each_step(distribute(shape, lanes, code.num_threads), each)


def _accumulators(code: BlockCode, parts: Dot, how: Plan, is_left: bool) -> View:
  """The partial sums of each warp along k, in shared memory: (warps, rows of x, rows of w)."""
  b = code.b
  run, along_k, along_n = how.run, how.along_k, how.along_n
  tiles, columns = parts.n // ROWS // along_n, _columns(parts)
  code.sync(code.bases_read(parts.lhs) | code.bases_read(parts.rhs), set())
  warp, lane = b.udiv(code.thread, I32(WARP)), b.urem(code.thread, I32(WARP))
  g, q = (b.zext(v, I64) for v in (b.udiv(lane, I32(_LANES)), b.urem(lane, I32(_LANES))))
  own_k, own_n = b.zext(b.urem(warp, I32(along_k)), I64), b.zext(b.udiv(warp, I32(along_k)), I64)
  first = b.mul(own_n, i64(tiles * ROWS)) if along_n > 1 else 0
  rows = [
    [_row_of_w(b, first, g, t, half, tiles if how.is_transposed else None) for half in range(2)] for t in range(tiles)
  ]
  w_rows = [[Index(row) for row in pair] for pair in rows]
  x_rows = [_row(b, g, c * COLUMNS, parts.m) for c in range(columns)]
  with b.goto_entry_block():
    slots = [[[b.alloca(F32) for _ in range(4)] for _ in range(columns)] for _ in range(tiles)]
  for slot in (s for tile in slots for column in tile for s in column):
    b.store(ty.constant(F32, 0), slot)
  rounds = parts.k // (_LANES * run)
  own = _Fragments(code, parts, run, w_rows, x_rows)
  chunk = lambda c: b.add(b.mul(c, i64(_LANES)), q)
  stages = None if how.is_transposed else _stages(code, parts, rounds, first, rows, rounds // along_k)
  if stages is None:
    at_once = math.gcd(rounds // along_k, max(1, _ELEMENTS // (2 * tiles * run)))
    with for_range(b, own_k, rounds, along_k * at_once) as c, code.scope():
      for number in range(at_once):
        own.multiply(chunk(add(b, c, number * along_k)), slots)
  else:
    code.sync(set(), {stages.memory.base})  # partial sums of an earlier product may be there
    for c in stages.rounds(own_k, rounds):
      own.multiply(chunk(c), slots, stages.midway)
  shape = (along_k, columns * COLUMNS, parts.n + _APART)
  if stages is None:
    accumulators = code.allocate(shape, np.float32)
    code.sync(set(), {accumulators.base})
  else:
    accumulators = stages.reused(shape, np.float32, in_own=is_left)
  _write(code, slots, (own_k, rows, q), accumulators)
  return accumulators


def _stages(code: BlockCode, parts: Dot, rounds: int, first: Any, rows: list[Any], own_rounds: int) -> Stages | None:
  """Stages for the parts of both operands that a warp takes in a round, if they can be copied and there is room."""
  if len(parts.ms) != 1 or len(parts.ns) != 1:
    return None
  tiles = len(rows)
  blocks: dict[Value, tuple[Part, Any]] = {}
  sizes = []  # of x and of what w is computed from
  for operand, start, count in ((parts.lhs, 0, parts.m), (parts.rhs, first, tiles * ROWS)):
    found = sources(code, operand, rounds)
    if found is None:
      return None
    for v in found:
      block = part_of(code, v, count, rounds)
      if block is None:
        return None
      blocks[v] = block, start if block.rows == count else 0
    sizes.append(stage_bytes([blocks[v][0] for v in found]))
  straight = _straight(code, parts, rounds, tiles, own_rounds, blocks) if sizes[0] >= sizes[1] else []
  in_registers = {v: (*blocks.pop(v), [row for pair in rows for row in pair]) for v in straight}
  at_once = rounds_at_once(_STAGES, own_rounds, bool(straight))
  blocks = {v: (in_twos(block, memory_of(code, v), _STAGES, at_once), start) for v, (block, start) in blocks.items()}
  each = stage_bytes([block for block, _ in blocks.values()]) * (code.num_threads // WARP)
  fits = [n for n in range(2, min(_STAGES, own_rounds) + 1) if code.room_for(n * each) <= code.free_bytes]
  return Stages(code, blocks, fits[-1], rounds // own_rounds, in_registers) if fits and blocks else None


def _straight(
  code: BlockCode, parts: Dot, rounds: int, tiles: int, own_rounds: int, blocks: dict[Value, tuple[Part, Any]]
) -> list[Value]:
  """Of the tiles that w is computed from, those that each lane loads straight into registers: it needs only its own pieces of them."""
  own = sources(code, parts.rhs, rounds * _LANES)
  if own is None or tiles != _STRAIGHT_TILES or rounds_at_once(_STAGES, own_rounds, True) == 1:
    return []
  return [v for v in own if v in blocks and can_take(memory_of(code, v), blocks[v][0], tiles * ROWS)]


class _Fragments:
  """What a lane has of both operands in a round: pairs of neighbours along k, four elements of a row for each instruction."""

  def __init__(self, code: BlockCode, parts: Dot, run: int, w_rows: list[list[Index]], x_rows: list[Index]):
    self.code, self.parts, self.run, self.w_rows, self.x_rows = code, parts, run, w_rows, x_rows

  def places(self, chunk: ir.Value) -> list[list[Index]]:
    """The indices along k of the pairs of a run."""
    elements = half2.Run(self.code.b, chunk, self.run, self.parts.ks)
    return [elements[at] for at in range(0, self.run, 2)]

  def left(self, places: list[list[Index]], at: int) -> list[list[ir.Value]]:
    return [[_pair(self.code, self.parts, "lhs", row, places[at + k]) for k in range(2)] for row in self.x_rows]

  def right(self, places: list[list[Index]], at: int) -> list[list[ir.Value]]:
    return [
      [_pair(self.code, self.parts, "rhs", row, places[at + k]) for k in range(2) for row in rows]
      for rows in self.w_rows
    ]

  def multiply(self, chunk: ir.Value, slots: Any, midway: Callable[[], None] = lambda: None) -> None:
    """Add the products of a round to the accumulators; `midway` is called after half of them."""
    b, kind = self.code.b, HALVES[self.parts.lhs.tile.dtype]
    places = self.places(chunk)
    for at in range(0, len(places), 2):
      if at == len(places) // 4 * 2:
        midway()
      pairs = self.left(places, at)
      for own, columns in zip(self.right(places, at), slots):
        for slot, pair in zip(columns, pairs):
          add_product(b, kind, slot, own, pair)


def _row_of_w(b: ir.IRBuilder, first: Any, g: ir.Value, t: int, half: int, side_by_side: int | None) -> Any:
  """The rows that a lane has of a warp's tile: with so many tiles side by side, its rows are neighbours."""
  if side_by_side is None:
    return add(b, add(b, first, g), t * ROWS + 8 * half)
  return add(b, add(b, first, b.mul(g, i64(2 * side_by_side))), 2 * t + half)


def _row(b: ir.IRBuilder, g: ir.Value, start: int, count: int) -> Index:
  """The row of a lane; lanes that have none repeat the last one, and their results are unused."""
  if count - start == 1:
    return Index(start)
  row = add(b, g, start)
  if count - start >= COLUMNS:
    return Index(row)
  return Index(b.select(b.icmp_unsigned("<", row, i64(count)), row, i64(count - 1)))


def _pair(code: BlockCode, parts: Dot, side: str, row: Index, inner: list[Index]) -> ir.Value:
  value, sizes = (parts.lhs, parts.ms) if side == "lhs" else (parts.rhs, parts.ns)
  free = [row] if len(sizes) == 1 else parts.spread(row.base, sizes)
  return half2.pair_at(code, value, parts.place([], free, inner, side))


def _write(code: BlockCode, slots: Any, place: tuple[ir.Value, Any, Any], accumulators: View) -> None:
  b = code.b
  own_k, numbers, q = place
  for t, tile in enumerate(slots):
    for c, column in enumerate(tile):
      for i, slot in enumerate(column):
        n = numbers[t][i // 2]
        m = b.add(b.mul(q, i64(2)), i64(c * COLUMNS + i % 2))
        code.store(accumulators, [Index(own_k), Index(m), Index(n)], b.load(slot, typ=F32))


def _number(b: ir.IRBuilder, index: list[Index], sizes: list[int]) -> Index:
  if len(index) == 1:
    return index[0]
  base: Any = 0
  for i, size in zip(index, sizes):
    base = add(b, b.mul(i64(base), i64(size)) if base else 0, i.base)
  return Index(base, index[-1].step, index[-1].align) if index else Index(0)


def add_product(b: ir.IRBuilder, kind: str, slots: list[ir.Value], left: list[ir.Value], right: list[ir.Value]) -> None:
  """Add the product of a 16 x 16 and a 16 x 8 fragment to accumulators in stack slots."""
  old = [b.load(s, typ=F32) for s in slots]
  for slot, new in zip(slots, mma_sync.multiply(b, kind, old, left, right, is_pure=True, is_tied=False)):
    b.store(new, slot)
