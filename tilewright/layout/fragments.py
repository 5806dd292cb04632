"""Fragments: the operand layouts of matrix instructions, as the PTX ISA defines them.

    mma.sync      one warp: MMA[16, 16] has the layouts of A (m, k), B (k, n) and C (m, n) of m16n8k16 for 16-bit elements
    wgmma         four warps: the accumulator and A from registers; B and the other A come from shared memory
    tcgen05       tensor memory: 128 rows (the ISA calls them lanes) of 32-bit columns; loads and stores move parts of it

All of them are made of one 8 x 16-byte core matrix in which lane l holds 4 bytes of row l / 4, at byte 4 (l % 4). A tile larger than an
instruction is a repetition (`build.repeated`), an operand that lies transposed a transposition (`algebra.transposed`).
"""

from __future__ import annotations

import dataclasses
import math

from tilewright import errors
from tilewright.layout.algebra import compose
from tilewright.layout.layout import LANE, REGISTER, WARP, Digit, DigitLike, Layout, layout, register_layout

ROW, COLUMN, CELL = "row", "column", "cell"  # of tensor memory: 32-bit cells, and the elements packed in one


@dataclasses.dataclass(frozen=True)
class Fragments:
  """The operands of one matrix instruction. A is (m, k), B is (k, n), the accumulator (m, n)."""

  name: str
  a: Layout
  b: Layout
  c: Layout

  @property
  def shape(self) -> tuple[int, int, int]:
    m, k = self.a.shape
    return m, self.b.shape[1], k


# --- mma.sync ----------------------------------------------------------------------------------------------------


def _mma(bits: int, k: int, name: str) -> Fragments:
  """mma.sync.aligned.m16n8k{k}: "Matrix Fragments for mma.m16n8k…" of the PTX ISA.

  With groupID = lane / 4, threadID_in_group = lane % 4 and e elements of A or B in a register of 32 bits:
  A: row groupID (+ 8 for odd registers), column e threadID_in_group + i (+ 4e for the second pair of registers);
  B: row e threadID_in_group + i (+ 4e for the second register), column groupID;
  C: row groupID (+ 8 for i >= 2), column 2 threadID_in_group + (i & 1).
  """
  e = max(32 // bits, 1)
  halves = k // (4 * e)  # 16-byte steps along k
  return Fragments(
    name,
    a=register_layout(
      (16, k), [(e, (0, 1)), (2, (8, 0)), (halves, (0, 4 * e))], lane=[(4, (0, e)), (8, (1, 0))], warp=()
    ),
    b=register_layout((k, 8), [(e, (1, 0)), (halves, (4 * e, 0))], lane=[(4, (e, 0)), (8, (0, 1))]),
    c=register_layout((16, 8), [(2, (0, 1)), (2, (8, 0))], lane=[(4, (0, 2)), (8, (1, 0))]),
  )


# Keyed by the bits of an element of A and B, and k. f16 and bf16; tf32; s8, u8, e4m3, e5m2; s4, u4, e2m1; b1; f64.
MMA: dict[tuple[int, int], Fragments] = {
  (bits, k): _mma(bits, k, f"m16n8k{k}")
  for bits, ks in {16: (8, 16), 32: (4, 8), 8: (16, 32), 4: (32, 64), 1: (128, 256), 64: (4, 8, 16)}.items()
  for k in ks
}

# mma.sync.aligned.m8n8k4 for f64 (sm_80): row lane / 4, column lane % 4 of A; the transpose of that for B; C as ever.
MMA_F64_M8N8K4 = Fragments(
  "m8n8k4",
  a=register_layout((8, 4), lane=[(4, (0, 1)), (8, (1, 0))]),
  b=register_layout((4, 8), lane=[(4, (1, 0)), (8, (0, 1))]),
  c=register_layout((8, 8), [(2, (0, 1))], lane=[(4, (0, 2)), (8, (1, 0))]),
)


# --- wgmma -------------------------------------------------------------------------------------------------------

WGMMA_WARPS = [(4, (16, 0))]  # each warp of the warpgroup holds 16 rows
WGMMA_N = tuple(range(8, 257, 8))
WGMMA_N_INTEGERS = (8, 24, *range(16, 257, 16))


def wgmma_k(bits: int) -> int:
  """wgmma contracts 32 bytes at a time: k8 for tf32, k16 for f16 and bf16, k32 for 8-bit types, k256 for single bits."""
  if bits not in (1, 8, 16, 32):
    raise errors.LayoutError(f"wgmma takes elements of 1, 8, 16 or 32 bits, not {bits}")
  return 256 // bits


def wgmma_accumulator(n: int) -> Layout:
  """D of wgmma.mma_async.m64n{n}: "WGMMA .m64nNk… register fragment layout for accumulator matrix D"."""
  if n not in WGMMA_N:
    raise errors.LayoutError(f"wgmma has n from 8 to 256 in steps of 8, not {n}")
  return register_layout(
    (64, n), [(2, (0, 1)), (2, (8, 0)), (n // 8, (0, 8))], lane=[(4, (0, 2)), (8, (1, 0))], warp=WGMMA_WARPS
  )


def wgmma_lhs(bits: int) -> Layout:
  """A of wgmma.mma_async.m64nNk{k} from registers: in each warp the A fragment of mma.sync with the same k."""
  a = MMA[bits, wgmma_k(bits)].a
  return register_layout((64, wgmma_k(bits)), a.digits(REGISTER), a.digits(LANE), WGMMA_WARPS)


# --- tcgen05 -----------------------------------------------------------------------------------------------------

# tcgen05.ld/st of one warp, from (row, column) of tensor memory: "Matrix fragments for .16x64b" and the like. Each `.xN` repeats it
# N times along the columns. The warp with number w mod 4 sees rows 32w … 32w + 31.
_TCGEN05: dict[str, tuple[tuple[int, int], list[DigitLike], list[DigitLike]]] = {
  "32x32b": ((32, 1), [], [(32, (1, 0))]),
  "16x64b": ((16, 2), [], [(2, (0, 1)), (2, (8, 0)), (8, (1, 0))]),
  "16x128b": ((16, 4), [(2, (8, 0))], [(4, (0, 1)), (8, (1, 0))]),
  "16x256b": ((16, 8), [(2, (0, 1)), (2, (8, 0))], [(4, (0, 2)), (8, (1, 0))]),
}
TCGEN05_SHAPES = (*_TCGEN05, "16x32bx2")
TENSOR_ROWS, TENSOR_COLUMNS = 128, 512  # of tensor memory, columns of 32 bits (PTX ISA, tensor memory)
TCGEN05_WIDTHS = {name: columns for name, ((_, columns), _, _) in _TCGEN05.items()}  # of what is repeated


def tcgen05_repeats(shape: str) -> tuple[int, ...]:
  """The `.xN` of a shape: powers of two, of which a thread holds at most 128 registers."""
  if shape not in TCGEN05_SHAPES:
    raise errors.LayoutError(f"tcgen05 has no shape {shape!r}; there are {', '.join(TCGEN05_SHAPES)}")
  held = math.prod(size for size, _ in _TCGEN05[shape][1]) if shape in _TCGEN05 else 1
  return tuple(1 << i for i in range(8) if held << i <= 128)


def tcgen05_access(shape: str, repeat: int, packed: int = 1, split: int | None = None) -> Layout:
  """The registers of tcgen05.ld/st.{shape}.x{repeat} by row, column and element in the cell of tensor memory.

  A shape of 16 rows is issued twice, for the two halves of a warp's rows. `split` is the immediate of .16x32bx2: how many columns
  the upper lanes are from the lower ones. `packed` is the number of elements in a cell of 32 bits.
  """
  if packed not in (1, 2, 4):
    raise errors.LayoutError(f"packed: a cell of tensor memory holds 1, 2 or 4 elements, not {packed}")
  if repeat not in tcgen05_repeats(shape):
    most = max(tcgen05_repeats(shape))
    raise errors.LayoutError(
      f"repeat: tcgen05.ld and tcgen05.st of {shape} exist as .x1, .x2, .x4, … .x{most}, not as .x{repeat}"
    )
  if shape == "16x32bx2":
    # lanes 0-15 read 16 rows at a column, lanes 16-31 the same rows `split` columns further on
    if split is None or split < 1:
      raise errors.LayoutError(f"16x32bx2 needs the number of columns between its two halves, split=…, got {split}")
    rows, width = 16, 1
    registers: list[DigitLike] = []
    lanes: list[DigitLike] = [(16, (1, 0)), (2, (0, split))]
    columns = split + repeat
  else:
    (rows, width), registers, lanes = _TCGEN05[shape]
    columns = width * repeat
  halves: list[DigitLike] = [(2, (16, 0))] if rows == 16 else []
  digits = {
    REGISTER: [Digit(packed, (0, 0, 1)), *_with_cell([*registers, (repeat, (0, width)), *halves])],
    LANE: _with_cell(lanes),
    WARP: _with_cell([(4, (32, 0))]),
  }
  return layout((128, columns, packed), digits)


def _with_cell(digits: list[DigitLike]) -> list[Digit]:
  return [Digit(size, (*moves, 0)) for size, moves in digits]


def tensor_memory(m: int, n: int, bits: int = 32, two_blocks: bool = False) -> Layout:
  """Where tcgen05.mma keeps an m x n accumulator, or an operand of narrower elements (several in a cell): "Data path layouts".

  m = 128, one block (layout D): row i of the tile is row i of the memory.
  m = 64, one block (layout F): 16 rows in the lower half of each warp's 32.
  m = 256, two blocks (layout A): each block holds 128 rows, as in D; the layout is that of one block, for 128 rows of the tile.
  m = 128, two blocks (layout B): each block holds 64 rows; columns beyond the half are in rows 64 … 127. Again that of one block.
  """
  if bits not in (8, 16, 32):
    raise errors.LayoutError(f"a cell of tensor memory holds elements of 8, 16 or 32 bits, not {bits}")
  packed = 32 // bits
  if n < 1 or n % (2 * packed if two_blocks and m == 128 else packed):
    raise errors.LayoutError(f"{n} columns of {bits} bits do not fill whole cells of tensor memory")
  cells = n // packed // (2 if two_blocks and m == 128 else 1)
  if cells > TENSOR_COLUMNS:
    raise errors.LayoutError(f"{n} columns of {bits} bits take {cells} of tensor memory, which has {TENSOR_COLUMNS}")
  cell: list[DigitLike] = [(packed, (0, 1))]
  columns: list[DigitLike] = [(n // packed, (0, packed))]
  match m, two_blocks:
    case (128, False) | (256, True):
      return layout((128, n), {ROW: [(128, (1, 0))], COLUMN: columns, CELL: cell})
    case (64, False):
      # The upper 16 rows of each warp are not used: padding.
      rows: list[DigitLike] = [(16, (1, 0)), (2, (64, 0)), (4, (16, 0))]
      return layout((64, n), {ROW: rows, COLUMN: columns, CELL: cell})
    case (128, True):
      half: list[DigitLike] = [(64, (1, 0)), (2, (0, n // 2))]
      return layout((64, n), {ROW: half, COLUMN: [(n // (2 * packed), (0, packed))], CELL: cell})
  raise errors.LayoutError(f"tcgen05.mma has no accumulator of {m} rows in {2 if two_blocks else 1} block(s)")


def read_from_tensor_memory(memory: Layout, access: Layout) -> Layout:
  """The register layout of a tile that is read from tensor memory by an access that covers it."""
  return compose(memory, access)
