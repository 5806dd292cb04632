"""The instructions of sm_90a, for `block_on_cpu`: barriers that count, copies of boxes, products of warpgroups. Each is done at once.

A barrier in shared memory is a word of 64 bits: how many arrivals its phase still waits for (bits 0-15), how many a phase has (16-31), the
bytes that are still to come (32-61, signed), and the parity of the phase (63). An array's tensor map is its address, its sizes, the sizes
of the box and the strides in bytes, from the last dimension on, then which bits of an address are exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm.loops import for_range
from tilewright.target.llvm.types import F32, I8, I16, I32, I64, PTR, VOID
from tilewright.target.nvgpu.emit.units.tma import TensorMap

WINDOW = 1 << 18  # descriptors have 18 bits of an address: shared memory starts at a multiple of this
_TX = 32


def tensor_map(m: TensorMap, array: np.ndarray) -> np.ndarray:
  """What stands for a tensor map here."""
  strides = [m.itemsize, *reversed(m.outer_strides)]
  rows = max(m.swizzle_bytes // 16 - 1, 0)  # of eight rows of 128 bytes, the bits that are added to those of a piece
  return np.array([array.ctypes.data, *reversed(m.shape), m.box_columns, *reversed(m.box), *strides, rows], np.int64)


def _pointer(b: ir.IRBuilder, address: ir.Value) -> ir.Value:
  return b.inttoptr(b.zext(address, I64), PTR)


def _init(m: Any, count: str) -> Any:
  word = int(count) | int(count) << 16
  return VOID, [I32], lambda b, tid, args: b.store(I64(word), _pointer(b, args[0]))


def _advance(b: ir.IRBuilder, place: ir.Value, arrivals: int, nbytes: ir.Value) -> None:
  """Count, and begin a new phase where nothing is left to wait for."""
  head, done = b.append_basic_block(), b.append_basic_block()
  b.branch(head)
  b.position_at_end(head)
  old = b.load_atomic(place, "acquire", 8, typ=I64)
  left = b.sub(old, I64(arrivals))
  left = b.add(left, b.shl(nbytes, I64(_TX)))
  waits = b.and_(left, I64((1 << 62) - (1 << _TX) | 0xFFFF))
  phase = b.and_(b.xor(old, I64(-(1 << 63))), I64(-(1 << 63)))
  again = b.and_(b.lshr(old, I64(16)), I64(0xFFFF))
  fresh = b.or_(phase, b.or_(again, b.shl(again, I64(16))))
  kept = b.or_(b.and_(left, I64((1 << 62) - 1)), b.and_(old, I64(-(1 << 63))))
  new = b.select(b.icmp_unsigned("==", waits, I64(0)), fresh, kept)
  out = b.cmpxchg(place, old, new, "acq_rel", "monotonic")
  b.cbranch(b.extract_value(out, 1), done, head)
  b.position_at_end(done)


def _expect(m: Any, nbytes: str) -> Any:
  if nbytes == "$1":
    return VOID, [I32, I32], lambda b, tid, args: _advance(b, _pointer(b, args[0]), 1, b.zext(args[1], I64))
  return VOID, [I32], lambda b, tid, args: _advance(b, _pointer(b, args[0]), 1, I64(int(nbytes)))


def _expect_more(m: Any, nbytes: str) -> Any:
  return VOID, [I32], lambda b, tid, args: _advance(b, _pointer(b, args[0]), 0, I64(int(nbytes)))


def _arrive(m: Any, count: str = "1") -> Any:
  return VOID, [I32], lambda b, tid, args: _advance(b, _pointer(b, args[0]), int(count), I64(0))


def _wait(m: Any) -> Any:
  def body(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> None:
    place, parity = _pointer(b, args[0]), b.zext(args[1], I64)
    phase = b.lshr(b.load_atomic(place, "acquire", 8, typ=I64), I64(63))
    with b.if_then(b.icmp_unsigned("==", phase, parity)):
      b.call(m.fibers.wait_until, [place, I64(63), parity])

  return VOID, [I32, I32], body


def _has_ended(m: Any) -> Any:
  def body(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> ir.Value:
    b.call(m.fibers.give_way, [])
    phase = b.trunc(b.lshr(b.load_atomic(_pointer(b, args[0]), "acquire", 8, typ=I64), I64(63)), I32)
    return b.zext(b.icmp_unsigned("!=", phase, args[1]), I32)

  return I32, [I32, I32], body


def _swizzled(b: ir.IRBuilder, address: ir.Value, rows: ir.Value) -> ir.Value:
  """Bits 4-6 of an address are exchanged by those of bits 7-9 that a swizzle has: all of them, of rows of 128 bytes."""
  return b.xor(address, b.shl(b.and_(b.lshr(address, I32(7)), rows), I32(4)))


def _elsewhere(m: Any, b: ir.IRBuilder, tid: ir.Value, address: ir.Value, rank: ir.Value) -> ir.Value:
  """An address of this block's shared memory, in that of another block of the cluster."""
  return b.add(b.sub(address, m.window_of(b, m.rank(b, tid))), m.window_of(b, rank))


def _arrive_elsewhere(m: Any, count: str | None) -> Any:
  def body(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> None:
    _advance(b, _pointer(b, _elsewhere(m, b, tid, *args)), int(count or 1), I64(0))

  return VOID, [I32, I32], body


def _pointer_elsewhere(m: Any) -> Any:
  def body(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> ir.Value:
    pointer, rank = args
    return b.zext(_elsewhere(m, b, tid, b.trunc(pointer, I32), rank), I64)

  return I64, [I64, I32], body


def _each_element(
  b: ir.IRBuilder,
  tensor: ir.Value,
  starts: Sequence[ir.Value],
  shared: ir.Value,
  move: Callable[[ir.IntType, ir.Value, ir.Value, ir.Value], None],
) -> ir.Value:
  """Call `move(type, array's element, whether it is inside, the box's element)` for each of a box, by pointers, in halves of words or in
  bytes; gives the box's bytes."""
  rank = len(starts)
  read = lambda i: b.load(b.gep(tensor, [I32(i)], source_etype=I64), typ=I64)
  array, (sizes, box, strides) = read(0), ([read(1 + n * rank + d) for d in range(rank)] for n in range(3))
  turned = b.trunc(read(1 + 3 * rank), I32)
  rows: ir.Value = I64(1)
  for d in range(1, rank):
    rows = b.mul(rows, box[d])

  def each(unit: ir.IntType) -> None:
    parts = b.udiv(strides[0], I64(unit.width // 8))  # of an element
    with for_range(b, 0, rows) as row, for_range(b, 0, b.mul(box[0], parts)) as part:
      place, left = b.add(b.sext(starts[0], I64), b.udiv(part, parts)), row
      inside = b.icmp_unsigned("<", place, sizes[0])
      offset = b.add(b.mul(place, strides[0]), b.mul(b.urem(part, parts), I64(unit.width // 8)))
      for d in range(1, rank):
        place = b.add(b.sext(starts[d], I64), b.urem(left, box[d]))
        left = b.udiv(left, box[d])
        inside = b.and_(inside, b.icmp_unsigned("<", place, sizes[d]))
        offset = b.add(offset, b.mul(place, strides[d]))
      element = b.inttoptr(b.add(array, b.select(inside, offset, I64(0))), PTR)
      own = b.mul(b.add(b.mul(row, b.mul(box[0], parts)), part), I64(unit.width // 8))
      move(unit, element, inside, _pointer(b, _swizzled(b, b.add(shared, b.trunc(own, I32)), turned)))

  with b.if_else(b.icmp_unsigned("==", strides[0], I64(1))) as (bytes_, halves):
    with bytes_:
      each(I8)
    with halves:
      each(I16)
  return b.mul(rows, b.mul(box[0], strides[0]))


def _copy_box(m: Any, rank_text: str, to_many: str | None) -> Any:
  rank = int(rank_text)

  def body(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> None:
    if not to_many:
      return one(b, args[0], args[-1], args)
    for other in range(m.cluster):
      bit = b.and_(b.lshr(b.zext(args[-1], I32), I32(other)), I32(1))
      with b.if_then(b.icmp_unsigned("!=", bit, I32(0))):
        one(b, *(_elsewhere(m, b, tid, address, I32(other)) for address in (args[0], args[-2])), args)

  def one(b: ir.IRBuilder, to: ir.Value, barrier: ir.Value, args: list[ir.Value]) -> None:
    def move(unit: ir.IntType, element: ir.Value, inside: ir.Value, own: ir.Value) -> None:
      b.store(b.select(inside, b.load(element, typ=unit), unit(0)), own)

    nbytes = _each_element(b, b.inttoptr(args[1], PTR), args[2 : 2 + rank], to, move)
    _advance(b, _pointer(b, barrier), 0, b.neg(nbytes))

  return VOID, [I32, I64, *([I32] * rank), I32, *([I16] if to_many else [])], body


def _store_box(m: Any, rank_text: str) -> Any:
  rank = int(rank_text)

  def body(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> None:
    def move(unit: ir.IntType, element: ir.Value, inside: ir.Value, own: ir.Value) -> None:
      with b.if_then(inside):
        b.store(b.load(own, typ=unit), element)

    _each_element(b, b.inttoptr(args[1], PTR), args[2:], args[0], move)

  return VOID, [I32, I64, *([I32] * rank)], body


_EIGHT_BITS = ("e4m3", "e5m2", "s8", "u8")


def _number(b: ir.IRBuilder, bits: ir.Value, kind: str) -> ir.Value:
  """The number that some bits of a word (i32) are: a float or an integer."""
  if kind == "tf32":  # the last 13 bits are not read
    return b.bitcast(b.and_(bits, I32(0xFFFFE000)), F32)
  if kind == "bf16":
    return b.bitcast(b.shl(bits, I32(16)), F32)
  if kind == "f16":
    return b.fpext(b.bitcast(b.trunc(bits, I16), ir.HalfType()), F32)
  if kind in ("s8", "u8"):
    return b.sext(b.trunc(bits, I8), I32) if kind == "s8" else bits
  sign = b.shl(b.and_(bits, I32(0x80)), I32(8))
  if kind == "e5m2":  # the upper half of an f16
    return _number(b, b.shl(bits, I32(8)), "f16")
  half = b.or_(sign, b.shl(b.and_(bits, I32(0x7F)), I32(7)))  # an f16 whose exponent is 8 too small
  return b.fmul(_number(b, half, "f16"), F32(256.0))


def _stored(
  b: ir.IRBuilder, window: ir.Value, descriptor: ir.Value, turned: bool, row: ir.Value, k: ir.Value, kind: str
) -> ir.Value:
  """Element (row, k) of an operand in shared memory; `turned` where k runs down the rows."""
  size = 1 if kind in _EIGHT_BITS else 4 if kind == "tf32" else 2
  field = lambda shift: b.shl(b.trunc(b.and_(b.lshr(descriptor, I64(shift)), I64(0x3FFF)), I32), I32(4))
  start, leading, stride = field(0), field(16), field(32)
  mode = b.trunc(b.lshr(descriptor, I64(62)), I32)  # 1, 2, 3: rows of 128, 64, 32 bytes
  row_bytes = b.lshr(I32(256), mode)
  down, along = (k, row) if turned else (row, k)
  place = b.add(b.mul(b.lshr(down, I32(3)), stride), b.mul(b.and_(down, I32(7)), row_bytes))
  along = b.mul(along, I32(size))
  place = b.add(place, b.mul(b.udiv(along, row_bytes), leading) if turned else I32(0))
  place = b.add(start, b.add(place, b.urem(along, row_bytes) if turned else along))
  rows = b.and_(b.lshr(place, I32(7)), b.lshr(I32(15), mode))
  bits = b.load(_pointer(b, b.add(window, b.xor(place, b.shl(rows, I32(4))))), typ={1: I8, 2: I16, 4: I32}[size])
  return _number(b, bits if size == 4 else b.zext(bits, I32), kind)


def _multiply(
  m: Any, columns_text: str, depth_text: str, total: str, kind: str, left_text: str, flags_text: str
) -> Any:
  """wgmma.m64nNkK, "matrix fragments for wgmma.mma_async", matrices A and D, of the PTX ISA."""
  count, depth = int(columns_text) // 2, int(depth_text)
  element = F32 if total == "f32" else I32
  result = ir.LiteralStructType([element] * count)
  flags = [int(f) for f in flags_text.split(", ")]
  has_words = left_text.startswith("{")
  each = depth // 8  # elements in a word
  turned = flags[3:] or [0, 0]  # after whether to add, and signs
  left_turned, right_turned = [0, *turned][-2:]

  def body(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> ir.Value:
    *left, right = args[count:]
    if has_words:
      m.leave(b, tid, left)
    window = m.window_of(b, m.rank(b, tid))
    sums = b.alloca(element, count)
    for i in range(count):
      b.store(args[i] if flags[0] else element(0), b.gep(sums, [I32(i)], source_etype=element))
    lane, warp = b.and_(tid, I32(31)), b.and_(b.lshr(tid, I32(5)), I32(3))

    def held(half: ir.Value, k: ir.Value) -> ir.Value:
      """Element k of this lane's row, or of that eight rows below: four lanes have it."""
      inside, word = b.urem(k, I32(4 * each)), b.add(half, b.shl(b.udiv(k, I32(4 * each)), I32(1)))
      owner = b.or_(b.and_(lane, I32(28)), b.udiv(inside, I32(each)))
      bits = b.lshr(m.take(b, tid, owner, word), b.mul(b.urem(inside, I32(each)), I32(32 // each)))
      return _number(b, bits if each == 1 else b.and_(bits, I32((1 << 32 // each) - 1)), kind)

    with for_range(b, 0, count) as wide:
      number = b.trunc(wide, I32)
      half = b.and_(b.lshr(number, I32(1)), I32(1))
      row = b.add(b.mul(warp, I32(16)), b.add(b.lshr(lane, I32(2)), b.mul(half, I32(8))))
      column = b.add(
        b.mul(b.lshr(number, I32(2)), I32(8)), b.add(b.mul(b.and_(lane, I32(3)), I32(2)), b.and_(number, I32(1)))
      )
      slot = b.gep(sums, [number], source_etype=element)
      with for_range(b, 0, depth) as k64:
        k = b.trunc(k64, I32)
        x = held(half, k) if has_words else _stored(b, window, left[0], bool(left_turned), row, k, kind)
        y = _stored(b, window, right, bool(right_turned), column, k, kind)
        old = b.load(slot, typ=element)
        b.store(b.fadd(old, b.fmul(x, y)) if element == F32 else b.add(old, b.mul(x, y)), slot)
    m.group_barrier(b, tid)  # a product is done when it is done for all warps
    out = ir.Constant(result, ir.Undefined)
    for i in range(count):
      out = b.insert_value(out, b.load(b.gep(sums, [I32(i)], source_etype=element), typ=element), i)
    return out

  return result, [element] * count + ([I32] * 4 if has_words else [I64]) + [I64], body


def _through(m: Any, kinds: str) -> Any:
  """What goes through a fence or a wait: products are done when they are asked for."""
  types = [F32 if kind == "f" else I32 for kind in kinds]
  result = ir.LiteralStructType(types)

  def body(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> ir.Value:
    out = ir.Constant(result, ir.Undefined)
    for i, arg in enumerate(args):
      out = b.insert_value(out, arg, i)
    return out

  return result, types, body


def _nothing(m: Any) -> Any:
  return VOID, [], lambda b, tid, args: None


INSTRUCTIONS: dict[str, tuple[bool, Any]] = {
  r"mbarrier\.init\.shared\.b64 \[\$0\], (\d+);": (True, _init),
  r"mbarrier\.inval\.shared\.b64 \[\$0\];": (True, lambda m: (VOID, [I32], lambda b, tid, args: None)),
  r"fence\.mbarrier_init\.release\.cluster; fence\.proxy\.async;": (True, _nothing),
  r"fence\.proxy\.async\.shared::cta;": (True, _nothing),
  r"mbarrier\.arrive\.expect_tx\.shared::cta\.b64 _, \[\$0\], (\d+|\$1);": (True, _expect),
  r"mbarrier\.expect_tx\.relaxed\.cta\.shared::cta\.b64 \[\$0\], (\d+);": (True, _expect_more),
  r"mbarrier\.arrive\.shared\.b64 _, \[\$0\];": (True, _arrive),
  r"mbarrier\.arrive\.shared::cta\.b64 _, \[\$0\], (\d+);": (True, _arrive),
  r"cp\.async\.mbarrier\.arrive\.noinc\.shared\.b64 \[\$0\];": (True, _arrive),
  r"\{ \.reg \.pred P; W.*mbarrier\.try_wait\.parity.*\}": (True, _wait),
  r"\{ \.reg \.pred P; mbarrier\.t\w+_wait\.parity(?:\.acquire\.cluster)?\.shared\.b64.*\}": (True, _has_ended),
  r"cp\.async\.bulk\.tensor\.(\d)d\.shared::(?:cluster|cta)\.global\.mbarrier::complete_tx::bytes(\.multicast::cluster)? .*": (
    True,
    _copy_box,
  ),
  r"cp\.async\.bulk\.tensor\.(\d)d\.global\.shared::cta\.bulk_group .*": (True, _store_box),
  r"cp\.async\.bulk\.commit_group; cp\.async\.bulk\.wait_group\.read 0;": (True, _nothing),
  r"cp\.async\.bulk\.(?:commit_group|wait_group(?:\.read)? \d+);": (True, _nothing),
  r"\{ \.reg \.b32 R; mapa\.shared::cluster\.u32 .*mbarrier\.arrive\.[^,]*, \[R\](?:, (\d+))?; \}": (
    True,
    _arrive_elsewhere,
  ),
  r"mapa\.u64 \$0, \$1, \$2;": (True, _pointer_elsewhere),
  r"fence\.proxy\.async;": (True, _nothing),
  r"barrier\.cluster\.arrive\.release; barrier\.cluster\.wait\.acquire;": (
    True,
    lambda m: (VOID, [], lambda b, tid, args: m.cluster_barrier(b)),
  ),
  r"setmaxnreg\..*": (True, _nothing),
  r"wgmma\.(?:fence|commit_group)\.sync\.aligned;": (True, _nothing),
  r"wgmma\.(?:wait_group\.sync\.aligned \d+|fence\.sync\.aligned); // (\w+)": (True, _through),
  r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k(\d+)\.(f32|s32)\.(\w+)\.\4 "
  r"\{[^}]*\}, (\$\d+|\{[^}]*\}), \$\d+, ([01, ]+);": (True, _multiply),
}
