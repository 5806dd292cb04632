"""Matrix products of a warp from registers: `ldmatrix` and `mma.sync` of sm_80, m16n8k16 of halves and m16n8k8 of tf32.

A warp multiplies 16 x 16 by 16 x 8. Lane l holds the accumulators at row l / 4 + 8 h and columns 2 (l % 4), for h = 0, 1 (PTX ISA,
fragments of mma.m16n8k16). `ldmatrix` loads four 8 x 8 matrices from shared memory into the lanes that need them, transposed
where k runs down the rows: each lane provides the address of one row of sixteen bytes.

The left operand's four matrices are its parts (rows 0, k 0), (rows 8, k 0), (rows 0, k 8), (rows 8, k 8). Of the right operand they are
two columns of eight: (columns 0, k 0), (columns 0, k 8), (columns 8, k 0), (columns 8, k 8).

An instruction takes 32 bytes along k, so that of tf32 the same matrices have half as many k. `ldmatrix` transposes 16-bit elements only:
where k runs down the rows of tf32, each lane loads its elements one by one, (k = l % 4, column = l / 4) of each matrix.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from llvmlite import ir

from tilewright.layout.build import repeated
from tilewright.layout.fragments import MMA
from tilewright.layout.layout import Layout
from tilewright.target.llvm.types import F32, I32
from tilewright.target.nvgpu.arch.tensor_cores import NAMED
from tilewright.target.nvgpu.emit.units import shared_memory
from tilewright.target.nvgpu.emit.units.inline_ptx import effect, parts, pure, several
from tilewright.target.nvgpu.emit.units.threads import WARP

ROWS, COLUMNS, DEPTH = 16, 8, 16
PAIR = 2 * COLUMNS  # columns that one ldmatrix loads
_MAX_ACCUMULATORS = 128  # registers of a thread


@dataclasses.dataclass(frozen=True)
class MmaDistribution:
  """How an accumulator is divided among `down` x `across` warps, each with adjacent fragments."""

  shape: tuple[int, int]
  down: int
  across: int

  @property
  def threads(self) -> int:
    return self.down * self.across * WARP

  @property
  def rows(self) -> int:
    """Fragments of a warp, one below the other."""
    return self.shape[0] // (self.down * ROWS)

  @property
  def columns(self) -> int:
    return self.shape[1] // (self.across * COLUMNS)

  @property
  def steps(self) -> int:
    """Pairs that a lane holds."""
    return self.rows * self.columns * 2

  @property
  def layout(self) -> Layout:
    return repeated(MMA[16, DEPTH].c, self.shape, (self.down, self.across), repeat_first=True)

  def first(self, b: ir.IRBuilder, thread: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The first row and column of the thread's warp."""
    warp = b.lshr(thread, I32(5))
    row = b.mul(b.udiv(warp, I32(self.across)), I32(self.rows * ROWS))
    return row, b.mul(b.urem(warp, I32(self.across)), I32(self.columns * COLUMNS))


def choose(m: int, n: int, warps: int | None) -> MmaDistribution | None:
  """How an accumulator is divided among warps: they read least from shared memory with a square each, with registers for 64 x 64 each."""
  for count in [warps] if warps is not None else [w for w in (4, 8) if m * n <= w * WARP * _MAX_ACCUMULATORS]:
    found = [
      MmaDistribution((m, n), down, count // down)
      for down in range(1, count + 1)
      if count % down == 0 and m % (down * ROWS) == 0 and n % (count // down * PAIR) == 0
    ]
    found = [d for d in found if d.steps * 2 <= _MAX_ACCUMULATORS]
    if found:
      return min(found, key=lambda d: d.rows * ROWS + d.columns * COLUMNS)
  return None


def load(b: ir.IRBuilder, address: ir.Value, transposed: bool) -> list[ir.Value]:
  """Four matrices of shared memory: lane l names the start of row l % 8 of matrix l / 8."""
  way = ".trans" if transposed else ""
  text = f"ldmatrix.sync.aligned.m8n8.x4{way}.shared.b16 {{$0, $1, $2, $3}}, [$4];"
  return parts(b, effect(b, text, [address], several(I32, 4)))


def multiply(
  b: ir.IRBuilder,
  kind: str,
  accumulators: list[ir.Value],
  left: list[ir.Value],
  right: list[ir.Value],
  *,
  is_pure: bool = False,
  is_tied: bool = True,
) -> list[ir.Value]:
  """The four accumulators of a lane, with one product added, in the same registers if they are tied. LLVM may move a pure one."""
  own = NAMED[kind]
  element, letter = (F32, "f") if own.accumulator == "f32" else (I32, "r")
  text = (
    f"mma.sync.aligned.m16n8k{own.depth}.row.col.{own.accumulator}.{kind}.{kind}.{own.accumulator} "
    "{$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};"
  )
  constraints = ",".join([*[f"={letter}"] * 4, *["r"] * 6, *("0123" if is_tied else [letter] * 4)])
  result, args = ir.LiteralStructType([element] * 4), [*left, *right, *accumulators]
  if is_pure:
    out = pure(b, result, text, constraints, args, together=True)
  else:
    out = b.call(ir.InlineAsm(ir.FunctionType(result, [a.type for a in args]), text, constraints), args)
  return parts(b, out)


Place = Callable[[ir.Value, ir.Value], ir.Value]


def matrices(
  b: ir.IRBuilder,
  thread: ir.Value,
  place: Place,
  free: ir.Value,
  k: int,
  *,
  is_left: bool,
  k_is_last: bool,
  kind: str = "bf16",
) -> list[ir.Value]:
  """The fragment of an operand from `free` (a row of the left one, a column of the right one) and `k` on.

  `place(row, piece)` is the address of sixteen bytes in a row of the operand as it is stored.
  """
  each = NAMED[kind].depth // 2  # elements of sixteen bytes
  if each == 4 and not k_is_last:
    return _words_down_rows(b, thread, place, free, k, is_left=is_left)
  row = b.and_(thread, I32(7))
  low, high = b.and_(b.lshr(thread, I32(3)), I32(1)), b.and_(b.lshr(thread, I32(4)), I32(1))
  eighth_free, eighth_k = (low, high) if is_left else (high, low)
  if k_is_last:
    stored = b.add(free, b.add(row, b.shl(eighth_free, I32(3))))
    return load(b, place(stored, b.add(eighth_k, I32(k // each))), transposed=False)
  stored = b.add(b.add(row, I32(k)), b.shl(eighth_k, I32(3)))
  return load(b, place(stored, b.add(b.lshr(free, I32(3)), eighth_free)), transposed=True)


def _words_down_rows(
  b: ir.IRBuilder, thread: ir.Value, place: Place, free: ir.Value, k: int, *, is_left: bool
) -> list[ir.Value]:
  """The same for elements of 32 bits with k down the rows: four loads of a word each."""
  lane = b.and_(thread, I32(WARP - 1))
  down, along = b.add(b.and_(lane, I32(3)), I32(k)), b.add(free, b.lshr(lane, I32(2)))
  word = b.shl(b.and_(along, I32(3)), I32(2))  # bytes into its piece
  found = []
  for number in range(4):
    second_k, second_free = (number >> 1, number & 1) if is_left else (number & 1, number >> 1)
    piece = b.add(b.lshr(along, I32(2)), I32(2 * second_free))
    address = b.add(place(b.add(down, I32(4 * second_k)), piece), word)
    found.append(b.load(b.inttoptr(address, shared_memory.POINTER), typ=I32))
  return found


def step(
  b: ir.IRBuilder,
  kind: str,
  d: MmaDistribution,
  thread: ir.Value,
  depth: int,
  accumulators: list[ir.Value],
  places: tuple[Place, Place],
  k_is_last: tuple[bool, bool],
) -> list[ir.Value]:
  """Add the product of two blocks in shared memory to the accumulators (two for each step of the distribution, in order)."""
  row, column = d.first(b, thread)
  totals = [list(accumulators[4 * i : 4 * i + 4]) for i in range(d.rows * d.columns)]
  for k in range(0, depth, NAMED[kind].depth):
    lefts = [
      matrices(b, thread, places[0], b.add(row, I32(r * ROWS)), k, is_left=True, k_is_last=k_is_last[0], kind=kind)
      for r in range(d.rows)
    ]
    for pair in range(d.columns // 2):
      free = b.add(column, I32(pair * PAIR))
      rights = matrices(b, thread, places[1], free, k, is_left=False, k_is_last=k_is_last[1], kind=kind)
      for half in range(2):
        for r in range(d.rows):
          at = r * d.columns + 2 * pair + half
          totals[at] = multiply(b, kind, totals[at], lefts[r], rights[2 * half : 2 * half + 2])
  return [v for four in totals for v in four]
