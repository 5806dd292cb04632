"""Multi-stage prefetch of one warp's operands: the next round is copied to shared memory while the current one is multiplied.

Warps that split the k of a product need nothing from each other until the end, so each has stages of its own in shared memory, and waits
only for its own copies. A round of a warp takes one part of k of both operands; of each of their inputs, that is a part of the columns of
some rows:

    operand   (64, 512, 2, 2, 2, 2) bf16      a part of 64: [:, 8 p : 8 p + 8]
    made of   (64, 4096) u8                                 [:, 64 p : 64 p + 64]
              (64, 512) e4m3                                [:, 8 p : 8 p + 8]

All inputs are prefetched about equally early: waiting for a small one would take as long as for a large one. But copies arrive in the order
in which they were issued, so a round first issues those of the data that all CTAs read, which is in L2.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import operand_indices
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index, for_range, i64, if_then, stack_slot
from tilewright.target.llvm.memory import Memory
from tilewright.target.llvm.types import I8, I32, I64
from tilewright.target.nvgpu.emit.dot.skinny_dot_prefetch import LanePieces
from tilewright.target.nvgpu.emit.pipeline import staged_blocks
from tilewright.target.nvgpu.emit.register_tiles import RegisterRef, Registers
from tilewright.target.nvgpu.emit.units import cp_async, shared_memory, threads
from tilewright.target.nvgpu.emit.units.threads import WARP
from tilewright.target.nvgpu.emit.views import View, subview, view_of
from tilewright.target.nvgpu.passes.staged_blocks import PIECE, PaddedBlock
from tilewright.tile.ir import Op, Value

_BANKS = 128  # bytes that lie side by side in the banks
_LINE_PIECES = _BANKS // PIECE
_LINE_ROWS = WARP // _LINE_PIECES  # of which the lanes of a warp copy a line each
# Bytes of an L2 line, which warps with neighbouring parts fill together: each requests the whole line.
_LINE, _LINE_PTX = 128, 74
# Rounds whose short parts are copied at a time. With more, requests queue up faster than memory serves them.
_TOGETHER = 2
_MAX_ROUNDS = 4  # rounds of an iteration
_MAX_ROUNDS_IN_REGISTERS = 8  # rounds of an iteration where weights are loaded straight to registers


@dataclasses.dataclass(frozen=True)
class Part(PaddedBlock):
  """Rows of a part of the columns of something that lies in memory.

  Eight lanes that read sixteen bytes each, at four places of two rows, 64 bytes apart, would meet in a fourth of the banks. So pieces of
  long rows are exchanged: neighbours in the second half of a row, pairs of them in every other row.
  """

  @property
  def is_exchanged(self) -> bool:
    return self.row_bytes == 2 * _BANKS and self.piece == PIECE and self.rows > 1

  @property
  def pitch(self) -> int:
    return self.row_bytes


@dataclasses.dataclass(frozen=True)
class ShortPart(Part):
  """As that, with one piece in each row that is shorter than others, such as scales: those of two rounds are copied together.

  L1 looks up one line after another. A copy of such pieces has as many lines as rows, and those of two rounds are mostly in
  the same ones.
  """

  @property
  def pitch(self) -> int:
    return _TOGETHER * self.row_bytes


@staged_blocks.offset.register
def _(block: Part, b: ir.IRBuilder, row: ir.Value, piece: ir.Value) -> ir.Value:
  if block.is_exchanged:
    piece = b.xor(piece, _turn(b, row, b.lshr(piece, I32(3)), 1))
  return staged_blocks.offset.dispatch(PaddedBlock)(block, b, row, piece)


@staged_blocks.further.register
def _(block: Part, rows: int) -> int | None:
  return None if block.is_exchanged and rows % 2 else staged_blocks.further.dispatch(PaddedBlock)(block, rows)


@staged_blocks.view.register
def _(block: Part, pointer: ir.Value) -> View:
  own = staged_blocks.view.dispatch(PaddedBlock)(block, pointer)
  if isinstance(block, ShortPart):
    return dataclasses.replace(own, is_staged=False)
  return dataclasses.replace(own, exchange=_address, is_staged=False) if block.is_exchanged else own


def _turn(b: ir.IRBuilder, row: ir.Value, half: ir.Value, size: int) -> ir.Value:
  """What the numbers of pieces are exchanged by, in pieces of a size; of a row and a half of it, their last digits count."""
  one = ir.Constant(row.type, 1)
  digits = b.or_(b.and_(half, one), b.shl(b.and_(row, one), one))
  return b.mul(digits, ir.Constant(row.type, size))


def _address(b: ir.IRBuilder, view: View, index: Sequence[Index]) -> tuple[ir.Value, int | None, int]:
  """Where elements of a part with exchanged pieces are. What is known of a column without arithmetic stays known of its address."""
  row, column = index
  size, width = view.dtype.itemsize, PIECE // view.dtype.itemsize
  divisor, constant = _known(column.base)
  aligned = math.gcd(width, divisor, constant)
  inside = constant % width if divisor % width == 0 else 0  # of a piece
  start = b.sub(i64(column.base), i64(inside))
  turn = _turn(b, i64(row.base), b.lshr(start, i64((8 * width).bit_length() - 1)), width)
  offset = b.add(b.mul(i64(row.base), i64(view.strides[0])), b.xor(start, turn))
  element = ty.memory_type(view.dtype)
  piece = b.gep(view.pointer, [offset], source_etype=element)
  pointer = b.gep(piece, [i64(inside)], source_etype=element)
  return pointer, (column.step if aligned > 1 or not column.step else None), aligned * size


def _known(value: Any) -> tuple[int, int]:
  """An index as a multiple of a number, and a constant."""
  if isinstance(value, int):
    return 0, value
  if isinstance(value, ir.Constant):
    return 0, int(value.constant)
  name = getattr(value, "opname", "")
  if name == "add":
    (divisor, constant), (other, more) = (_known(v) for v in value.operands)
    return math.gcd(divisor, other), constant + more
  if name == "mul" and isinstance(value.operands[1], ir.Constant):
    divisor, constant = _known(value.operands[0])
    return divisor * int(value.operands[1].constant), constant * int(value.operands[1].constant)
  return 1, 0


def sources(code: Any, v: Value, parts: int) -> list[Value] | None:
  """The tiles in global memory that a tile is computed from: a part of all but its first dimension takes the same part of each of theirs.

  None if that is not so, or not known.
  """
  _, *sizes = v.tile.shape or (1,)
  if not v.tile.shape or isinstance(code.env.get(v), ir.Value):
    return []
  if math.prod(sizes) % parts:
    return None
  op = v.owner
  memory = memory_of(code, v)
  if memory is not None:
    return [v] if memory.in_global else []
  if v in code.env or not isinstance(op, Op):
    return None
  if op.name in operand_indices.SOURCES:
    return [] if op.name in ("constant", "iota") else None
  if not _keeps_parts(op, math.prod(sizes) // parts):
    return None
  found: list[Value] = []
  for operand in op.operands:
    own = sources(code, operand, parts)
    if own is None:
      return None
    found += [x for x in own if x not in found]
  return found


def _keeps_parts(op: Op, length: int) -> bool:
  """Whether a part of the result, so many elements of each row, is made of the same part of the operands."""
  shape = op.results[0].tile.shape
  match op.name:
    case "reshape" | "recast":
      return op.operands[0].tile.shape[:1] == shape[:1]
    case "broadcast":
      dims = list(op.attrs["dims"])
      return dims == list(range(len(dims)))
    case "transpose":
      moved = [d for d, p in enumerate(op.attrs["permutation"]) if d != p]
      return not moved or (moved[0] > 0 and length % math.prod(shape[moved[0] :]) == 0)
  return op.name not in operand_indices.MOVES and all(o.tile.shape in ((), shape) for o in op.operands)


def is_computable(code: Any, v: Value) -> bool:
  """Whether any thread can compute any element, from memory."""
  known, op = code.env.get(v), v.owner
  if known is not None:
    return not isinstance(known, Registers | RegisterRef)
  return isinstance(op, Op) and all(is_computable(code, o) for o in op.operands)


def memory_of(code: Any, v: Value) -> View | None:
  """Where a tile lies as it is."""
  known, op = code.env.get(v), v.owner
  if known is None and isinstance(op, Op) and op.name == "load":
    known = code.memory_of(op.operands[0])
  return view_of(known) if type(known) in (Memory, View) else None


class Stages:
  """The stages of a warp, used in turn: while it multiplies what lies in one, the others are filled.

  The next part is requested before the warp waits for the one it multiplies; or after that, where some tiles go straight to registers:
  then less is in flight, and the first part arrives sooner. What goes to registers is requested last, and midway through a round
  (docs/benchmarks.md, "Choices of the GPU target").
  """

  def __init__(
    self,
    code: Any,
    blocks: dict[Value, tuple[Part, Any]],
    count: int,
    step: int,
    in_registers: Mapping[Value, tuple[Part, Any, Sequence[Any]]] | None = None,
  ):
    """`blocks`: the rows of each tile that the warp needs of one part, and the number of the first of them. `step`: parts from a round to
    the next. Of tiles `in_registers` each lane reads its own pieces, of the rows that are given too."""
    self.waits_first = bool(in_registers)
    self.code, self.b, self.blocks, self.count, self.step = code, code.b, blocks, count, step
    self._next: tuple[Any, int, int, Any] | None = None  # what `midway` asks for
    self.pieces: dict[Value, LanePieces] = {}
    for v, (block, first, rows) in (in_registers or {}).items():
      view = memory_of(code, v)
      assert view is not None
      self.pieces[v] = LanePieces(code, view, block, first, rows, count, _known)
    self.nbytes = stage_bytes([block for block, _ in blocks.values()])
    total = code.num_threads // WARP * count * self.nbytes
    # Stages begin at lines of 128 bytes, as what is copied does: otherwise copies take much longer.
    self.memory = code.own_buffer(total) or code.allocate((total,), np.uint8)
    b = self.b
    warp = b.udiv(code.thread, I32(WARP))
    self.lane = b.urem(code.thread, I32(WARP))
    self.own = b.gep(self.memory.pointer, [b.zext(b.mul(warp, I32(count * self.nbytes)), I64)], source_etype=I8)
    self.views = {v: memory_of(code, v) for v in blocks}

  def fill(self, start: Any, further: int, stage: Any, inside: Any = None) -> None:
    """Start the copies of a part, so many after `start`, to a stage, if `inside` holds, and end their group."""
    b = self.b
    if inside is None:
      self._copies(start, further, stage)
    else:
      with if_then(b, inside):
        self._copies(start, further, stage)
    cp_async.commit(b)

  @property
  def _line(self) -> int:
    return _LINE if self.code.arch.ptx >= _LINE_PTX else 0

  def _copies(self, start: Any, further: int, stage: Any) -> None:
    b, offset = self.b, 0
    part = b.add(start, i64(further))
    for v, (block, first) in self.blocks.items():
      view = self.views[v]
      assert view is not None
      place = self._place(self._stage_of(block, further // self.step, stage), offset)
      to = shared_memory.address(b, place)
      if isinstance(block, ShortPart):
        self._copy_short(view, block, first, start, further, to)
      elif self.pieces and block.is_exchanged and not view.has_edges:
        self._copy_lines(view, block, first, start, further, to)
      else:
        source = subview(b, view, [first, b.mul(i64(part), i64(block.shape[1]))], [1, 1], [])
        staged_blocks.copy_block(
          b, self.lane, WARP, source, block, to, line=self._line if block.row_bytes < self._line else 0
        )
      offset += block.nbytes

  def _copy_lines(self, view: View, block: Part, first: Any, start: Any, further: int, to: ir.Value) -> None:
    """Start the copies of rows of two lines of the banks, eight lanes a line. Of a lane's pieces those of a row, in all parts, lie
    constants apart, so that it needs an address for every fourth row."""
    b = self.b
    row, piece = b.udiv(self.lane, I32(_LINE_PIECES)), b.urem(self.lane, I32(_LINE_PIECES))
    places = [
      b.add(to, staged_blocks.offset(block, b, row, b.add(piece, I32(_LINE_PIECES * half)))) for half in range(2)
    ]
    width = PIECE // view.dtype.itemsize
    column = b.add(b.mul(i64(start), i64(block.shape[1])), b.mul(b.zext(piece, I64), i64(width)))
    for below in range(0, block.rows, _LINE_ROWS):
      number = b.add(i64(first), b.add(b.zext(row, I64), i64(below)))
      offset = b.add(b.mul(number, i64(view.strides[0])), column)
      source = b.gep(view.pointer, [offset], source_etype=ty.memory_type(view.dtype))
      with self._rows_below(block, row, below, _LINE_ROWS):
        for half, place in enumerate(places):
          here = further * block.row_bytes + half * _BANKS
          cp_async.copy(b, place, source, PIECE, None, (below * block.pitch, here))

  def _copy_short(self, view: View, block: ShortPart, first: Any, start: Any, further: int, to: ir.Value) -> None:
    """Start the copies of the pieces of a round and of those after it, in the first of them: neighbouring lanes copy those of a row."""
    if further // self.step % _TOGETHER:
      return
    b, apart = self.b, WARP // _TOGETHER
    row, which = b.udiv(self.lane, I32(_TOGETHER)), b.urem(self.lane, I32(_TOGETHER))
    place = b.add(to, b.add(b.mul(row, I32(block.pitch)), b.mul(which, I32(block.row_bytes))))
    part = b.add(b.add(i64(start), i64(further)), b.mul(b.zext(which, I64), i64(self.step)))
    number = b.add(i64(first), b.zext(row, I64))
    offset = b.add(b.mul(number, i64(view.strides[0])), b.mul(part, i64(block.shape[1])))
    source = b.gep(view.pointer, [offset], source_etype=ty.memory_type(view.dtype))
    for below in range(0, block.rows, apart):
      here = below * view.strides[0] * view.dtype.itemsize
      with self._rows_below(block, row, below, apart):
        cp_async.copy(b, place, source, block.piece, None, (below * block.pitch, here))

  def _rows_below(self, block: Part, row: ir.Value, below: int, apart: int) -> contextlib.AbstractContextManager[Any]:
    """Around a copy of so many rows at a time by the lanes of a warp, which may be more than are left."""
    if below + apart <= block.rows:
      return contextlib.nullcontext()
    return if_then(self.b, self.b.icmp_unsigned("<", self.b.add(row, I32(below)), I32(block.rows)))

  def _stage_of(self, block: Part, number: int, stage: Any) -> Any:
    """Where the part of a round lies, the n-th of an iteration, for which other parts have a stage."""
    return I32(number // _TOGETHER % self.count) if isinstance(block, ShortPart) else stage

  def _place(self, stage: Any, offset: int) -> ir.Value:
    b = self.b
    start = b.add(b.mul(stage, I32(self.nbytes)), I32(offset))
    return b.gep(self.own, [b.zext(start, I64)], source_etype=I8)

  def rounds(self, first: ir.Value, stop: int) -> Iterator[ir.Value]:
    """The parts `range(first, stop, step)`, a multiple of `step` of them. What is emitted for one finds its elements in a stage, and calls
    `midway`.

    An iteration takes whole turns of the stages where it can: which stage is meant, and how far it is to the next part, are constants then.
    """
    b, code, step = self.b, self.code, self.step
    tiles = [*self.blocks, *self.pieces]
    known = {v: code.env[v] for v in tiles if v in code.env}
    own, lead = stop // step, self.count - 1
    at_once = rounds_at_once(self.count, own, self.waits_first)
    for n in range(lead):
      self.fill(first, n * step, I32(n))
      self._next = first, n * step, n, None
      self.midway()
    slot = stack_slot(b, I32, I32(0))
    with for_range(b, first, stop, at_once * step) as start, code.scope():
      for n in range(at_once):
        with code.scope():
          stage = b.load(slot, typ=I32) if at_once == 1 else I32(n % self.count)
          free = self._after(stage, lead) if at_once == 1 else I32((n + lead) % self.count)
          part, ahead = b.add(start, i64(n * step)), (n + lead) * step
          is_inside = b.icmp_signed("<", b.add(start, i64(ahead)), i64(stop)) if n + lead >= at_once else None
          if not self.waits_first:
            self.fill(start, ahead, free, is_inside)
          cp_async.wait(b, lead - self.waits_first)
          threads.warp_barrier(b)  # what lanes copied for each other is there, and what they read before is read
          if self.waits_first:
            self.fill(start, ahead, free, is_inside)
          self._enter(part, stage, n)
          self._next = (start, ahead, int(free.constant), is_inside) if self.pieces else None
          yield part
          if not self.waits_first:
            threads.warp_barrier(b)  # before the stage is filled again
      if at_once == 1:
        b.store(self._after(stage, 1), slot)
    for v in tiles:
      del code.env[v]
    code.env.update(known)

  def midway(self) -> None:
    """In the midst of a round, let each lane ask for the pieces of the next one that go straight to its registers."""
    if not self.pieces or self._next is None:
      return
    start, further, stage, inside = self._next
    threads.warp_barrier(self.b)  # before which ptxas does not put them
    with contextlib.nullcontext() if inside is None else if_then(self.b, inside):
      for own in self.pieces.values():
        own.load(start, further, stage, self._line)

  def _after(self, stage: ir.Value, number: int) -> ir.Value:
    """The stage that comes so many after one, fewer than there are."""
    b, later = self.b, self.b.add(stage, I32(number))
    return b.select(b.icmp_unsigned(">=", later, I32(self.count)), b.sub(later, I32(self.count)), later)

  def _enter(self, part: ir.Value, stage: ir.Value, n: int) -> None:
    """Let the tiles lie in a stage, with their elements of a part, the n-th of an iteration, where their own indices say."""
    b, offset = self.b, 0
    for v, (block, first) in self.blocks.items():
      own = staged_blocks.view(block, self._place(self._stage_of(block, n, stage), offset))
      inside = n % _TOGETHER * block.shape[1] if isinstance(block, ShortPart) else 0  # of a row
      columns = b.sub(b.mul(part, i64(block.shape[1])), i64(inside))
      back = b.add(b.mul(i64(first), i64(own.strides[0])), columns)
      pointer = b.gep(own.pointer, [b.neg(back)], source_etype=ty.memory_type(block.dtype))
      self.code.env[v] = dataclasses.replace(own, pointer=pointer, base=self.memory.base)
      offset += block.nbytes
    for v, pieces in self.pieces.items():
      self.code.env[v] = pieces.view(v, int(stage.constant), self.memory.base)

  def reused(self, shape: Sequence[int], dtype: Any, in_own: bool) -> View:
    """The memory of all stages as a buffer that is to be written next; another one, if that is too small. With `in_own` what each warp
    writes, one element of the first dimension, lies in its own stages if it can: then it waits for no other warp."""
    dtype = np.dtype(dtype)
    strides = tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))
    warps, each = self.code.num_threads // WARP, self.nbytes * self.count
    if in_own and shape[0] == warps and strides[0] * dtype.itemsize <= each:
      threads.warp_barrier(self.b)
      return View(self.memory.pointer, (each // dtype.itemsize, *strides[1:]), dtype, self.memory.base, align=PIECE)
    if math.prod(shape) * dtype.itemsize > each * warps:
      other = self.code.allocate(shape, dtype)
      self.code.sync(set(), {other.base})
      return other
    self.code.barrier()
    self.code.sync(set(), {self.memory.base})
    return View(self.memory.pointer, strides, dtype, self.memory.base, align=PIECE)


def rounds_at_once(stages: int, rounds: int, in_registers: bool = False) -> int:
  """Rounds of an iteration: whole turns of the stages, or one round where those do not come out even."""
  most = _MAX_ROUNDS_IN_REGISTERS if in_registers else _MAX_ROUNDS
  return next((n for n in range(most, 1, -1) if n % stages == 0 and rounds % n == 0), 1)


def part_of(code: Any, v: Value, rows: int, parts: int) -> Part | None:
  """A part of a tile, if its rows can be copied piece by piece."""
  view = memory_of(code, v)
  if view is None or v.tile.rank != 2 or view.strides[1] != 1 or not isinstance(view.strides[0], int):
    return None
  dtype, width = v.tile.dtype, v.tile.shape[1] // parts
  known = math.gcd(width, view.strides[0], view.align) * dtype.itemsize
  piece = next((n for n in cp_async.SIZES if known % n == 0), None)
  return None if piece is None else Part(0, (min(rows, v.tile.shape[0]), width), dtype, piece)


def in_twos(block: Part, view: View | None, stages: int, at_once: int) -> Part:
  """A part whose pieces are copied for two rounds at a time, if they are short and an iteration has whole turns of stages of such twos."""
  is_short = block.rows > 1 and block.row_bytes == block.piece < PIECE
  if not is_short or view is None or view.has_edges or at_once % (_TOGETHER * stages):
    return block
  return ShortPart(block.position, block.shape, block.dtype, block.piece)


def stage_bytes(blocks: list[Part]) -> int:
  return sum(block.nbytes for block in blocks)
