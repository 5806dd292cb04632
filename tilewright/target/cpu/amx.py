"""AMX: accumulators of 32 x 32 in four tile registers, operands in tiles of 16 rows of 64 bytes.

    tmm0 tmm1      A: tmm4 (rows 0 to 15), tmm5 (16 to 31)          for k in blocks of 16 units:
    tmm2 tmm3      B: tmm6 (columns 0 to 15), tmm7 (16 to 31)         load A, B;  four products

A tile of B is 16 units (see `multiply_instructions`) of 16 columns, as a panel holds them. A tile of A is 16 rows of 16 units, so A is
packed in blocks along K of whole rows: `A[block of K][row][16 units]`. The elements of a tile beyond K are zero in both operands (zero in
only one is not enough: 0 times whatever lies in memory could be NaN). Elements beyond the rows and columns of the result are computed and
never stored.

The tile registers are configured at the start of each contraction and released at its end: other code of the thread (XLA's own products)
configures them for itself. tdpbf16ps treats subnormal numbers as zero, as vdpbf16ps does.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from tilewright.target.cpu import panel_packing
from tilewright.target.cpu.left_operand import Part
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index, add, for_range, i64, mul, sub
from tilewright.target.llvm.memory import Memory

SIDE = 16  # rows of a tile, and units or columns of 32 bits in each
ROWS = 2 * SIDE  # of the accumulators in registers; as many columns
_TILES = 8
_CONFIGURATION = "amx_configuration"


def configure(b: ir.IRBuilder) -> None:
  """All eight tile registers with 16 rows of 64 bytes."""
  constant = b.module.globals.get(_CONFIGURATION)
  if constant is None:
    # Palette 1, then the bytes of a row of each tile from byte 16 on, and its rows from byte 48 on (Intel SDM, LDTILECFG).
    content = bytearray(64)
    content[0] = 1
    for tile in range(_TILES):
      content[16 + 2 * tile] = 4 * SIDE
      content[48 + tile] = SIDE
    kind = ir.ArrayType(ty.I8, 64)
    constant = ir.GlobalVariable(b.module, kind, _CONFIGURATION)
    constant.linkage, constant.global_constant, constant.align = "internal", True, 64
    constant.initializer = ir.Constant(kind, content)
  _call(b, "llvm.x86.ldtilecfg", [b.bitcast(constant, ty.PTR)])


def release(b: ir.IRBuilder) -> None:
  _call(b, "llvm.x86.tilerelease", [])


def padded(units: int) -> int:
  """Units along K, in whole tiles."""
  return -(-units // SIDE) * SIDE


def zero_beyond(code: Any, memory: Memory, side: panel_packing.Side, width: int) -> None:
  """Fill the elements of a packed panel's last tile beyond K with zeros."""
  zeros = ty.constant(ir.VectorType(ty.I32, SIDE), 0)
  for k in range(side.units, padded(side.units)):
    for at in range(0, width, SIDE):
      code.store(memory, [Index(k), Index(at, 1)], zeros)


class TiledRows:
  """Some strips of the left operand, packed in tiles: the same interface as `left_operand.Packed`."""

  def __init__(self, code: Any, d: Any):
    self.code, self.d = code, d
    self.blocks = d.cut.blocks
    self.units = padded(d.left.part(0, d.cut.depths[0]).units)
    self.memory = code.allocate([d.cut.at_a_time, self.units // SIDE, ROWS, SIDE], d.multiplier.unit)
    self.first: Any = 0

  def strip(self, m: Any, rows: int) -> Memory:
    """Where the strip that begins with row `m` is: its tiles along K, with rows of units."""
    b, strips = self.code.b, self.d.cut.strips
    number = strips.number(b, m, rows)
    offset = mul(b, sub(b, number, self.first), self.units * ROWS)
    pointer = b.gep(self.memory.pointer, [i64(offset)], inbounds=True, source_etype=ty.memory_type(self.memory.dtype))
    return Memory(pointer, self.memory.strides[1:], self.memory.dtype, self.memory.base)

  def prepare(self, part: Part, start: Any, stop: Any) -> None:
    """Pack a range of strips."""
    code, side = self.code, part.left
    self.first = start

    def pack(m: Any, rows: int) -> None:
      with code.scope():
        along = _along_rows if side.contracted_is_last else _across_rows
        along(code, side, self.strip(m, rows), part.batch, m, rows)

    self.d.cut.strips.each(code.b, start, stop, pack)


def _along_rows(code: Any, side: panel_packing.Side, memory: Memory, batch: list[Index], m: Any, rows: int) -> None:
  """K is the contiguous dimension: rows are copied, a tile's width at a time."""
  b, wide = code.b, SIDE * side.multiplier.group
  whole, left = divmod(side.depth, wide)
  with for_range(b, 0, rows) as r, code.scope():
    free = side.spread(add(b, m, r), side.free)

    def copy(block: Any, depth: int) -> None:
      place = side.place(batch, free, [Index(add(b, side.start, mul(b, block, wide)), 1 if depth > 1 else 0)])
      value = panel_packing.converted(code, side, code.value_at(side.value, place, depth))
      code.store(memory, [Index(block), Index(r), Index(0, 1)], panel_packing.units(code, side, value, SIDE))

    if whole:
      with for_range(b, 0, whole) as block, code.scope():
        copy(block, wide)
    if left:
      with code.scope():
        copy(whole, left)


def _across_rows(code: Any, side: panel_packing.Side, memory: Memory, batch: list[Index], m: Any, rows: int) -> None:
  """K is not the contiguous dimension: squares of units are transposed in registers."""
  b, group = code.b, side.multiplier.group
  whole, left = divmod(side.depth, SIDE * group)
  vector = ir.VectorType(ty.I32, SIDE)

  def square(block: Any, depth: int) -> None:
    for at in range(0, rows, SIDE):
      lines = []
      for u in range(-(-depth // group)):
        k = add(b, mul(b, block, SIDE), u)
        count, there = min(SIDE, rows - at), min(group, depth - u * group)
        (line,) = panel_packing.line(code, side, batch, add(b, m, at), count, k, there)
        lines.append(panel_packing.widened(b, line, vector))
      lines += [ty.constant(vector, 0)] * (SIDE - len(lines))
      for r, row in enumerate(panel_packing.transposed(b, lines)):
        code.store(memory, [Index(block), Index(at + r), Index(0, 1)], row)

  if whole:
    with for_range(b, 0, whole) as block, code.scope():
      square(block, SIDE * group)
  if left:
    with code.scope():
      square(whole, left)


def multiply(
  b: ir.IRBuilder, intrinsic: str, left: Memory, right: Memory, units: int, rows: int, columns: int, into: Memory
) -> None:
  """The accumulators of a strip of rows by a panel of columns, added up along K in tile registers, then stored to `into`."""
  across, down = range(-(-columns // SIDE)), range(-(-rows // SIDE))
  row_bytes = i64(4 * SIDE)
  panel_bytes = i64(4 * right.strides[0])
  for i in down:
    for j in across:
      _call(b, "llvm.x86.tilezero", [_accumulator(i, j)])
  with for_range(b, 0, units // SIDE) as block:
    for j in across:
      offset = b.add(b.mul(block, i64(SIDE * right.strides[0])), i64(j * SIDE))
      _call(b, "llvm.x86.tileloadd64", [ty.I8(6 + j), _moved(b, right, offset), panel_bytes])
    for i in down:
      offset = b.add(b.mul(block, i64(ROWS * SIDE)), i64(i * SIDE * SIDE))
      _call(b, "llvm.x86.tileloadd64", [ty.I8(4 + i), _moved(b, left, offset), row_bytes])
      for j in across:
        _call(b, intrinsic, [_accumulator(i, j), ty.I8(4 + i), ty.I8(6 + j)])
  for i in down:
    for j in across:
      pointer = _moved(b, into, i64(i * SIDE * into.strides[0] + j * SIDE))
      _call(b, "llvm.x86.tilestored64", [_accumulator(i, j), pointer, i64(4 * into.strides[0])])


def _accumulator(i: int, j: int) -> ir.Constant:
  return ty.I8(2 * i + j)


def _moved(b: ir.IRBuilder, memory: Memory, offset: ir.Value) -> ir.Value:
  return b.gep(memory.pointer, [offset], inbounds=True, source_etype=ty.memory_type(memory.dtype))


def _call(b: ir.IRBuilder, name: str, arguments: list[ir.Value]) -> None:
  function = b.module.globals.get(name)
  if function is None:
    function = ir.Function(b.module, ir.FunctionType(ty.VOID, [a.type for a in arguments]), name)
  b.call(function, arguments)
