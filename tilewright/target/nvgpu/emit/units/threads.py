"""The threads of a CTA: thread ids, barriers, and shuffles between the lanes of a warp."""

from __future__ import annotations

from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.types import F32, F64, I1, I32, I64, VOID
from tilewright.target.nvgpu.emit.units.inline_ptx import effect

WARP = 32
GROUP = 4 * WARP  # the threads of a warpgroup
_FIRST_OF_GROUPS = 4  # the number of the first warpgroup's barrier; those below are for other parts of a CTA
_ALL = -1  # the mask of all lanes
REGISTERS, _MAX_THREAD_REGISTERS = 64 * 1024, 256  # of an SM, and of a thread
MAX_VALUE_REGISTERS = 64  # 32-bit registers a thread may spend on one value
MAX_ACCUMULATORS = 128  # and where layouts are inferred, on the accumulators of products


def _special(b: ir.IRBuilder, register: str) -> ir.Value:
  return ty.intrinsic(b, f"nvvm.read.ptx.sreg.{register}", [], I32, [])


def thread_id(b: ir.IRBuilder) -> ir.Value:
  """The number of this thread in its CTA."""
  return _special(b, "tid.x")


def block_id(b: ir.IRBuilder) -> ir.Value:
  return _special(b, "ctaid.x")


def num_blocks(b: ir.IRBuilder) -> ir.Value:
  return _special(b, "nctaid.x")


def barrier(b: ir.IRBuilder) -> None:
  """Barrier of all threads of the CTA; writes before it are visible to all of them after it."""
  ty.intrinsic(b, "nvvm.barrier0", [], VOID, [])


def barrier_of(b: ir.IRBuilder, number: int, num_threads: int) -> None:
  """Like `barrier`, for some warps of the CTA only; barrier 0 is that of all."""
  ty.intrinsic(b, "nvvm.barrier.cta.sync.aligned.count", [I32(number), I32(num_threads)], VOID, [])


def barrier_of_group(b: ir.IRBuilder, group: ir.Value) -> None:
  """Like `barrier`, for the threads of one warpgroup, each of which has a barrier of its own."""
  ty.intrinsic(b, "nvvm.barrier.cta.sync.aligned.count", [b.add(group, I32(_FIRST_OF_GROUPS)), I32(GROUP)], VOID, [])


def warp_barrier(b: ir.IRBuilder) -> None:
  """Barrier of all lanes of the warp; writes before it are visible to all of them after it."""
  ty.intrinsic(b, "nvvm.bar.warp.sync", [I32(_ALL)], VOID, [])


def registers_of(num_threads: int) -> int:
  """How many registers each thread of a CTA can have, if all have the same number: a multiple of eight."""
  return min(_MAX_THREAD_REGISTERS, REGISTERS // num_threads // 8 * 8)


def set_registers(b: ir.IRBuilder, count: int, *, increase: bool) -> None:
  """Release registers, or acquire registers that other warpgroups released (sm_90a, setmaxnreg)."""
  effect(b, f"setmaxnreg.{'inc' if increase else 'dec'}.sync.aligned.u32 {count};", in_order=False)


def is_first(b: ir.IRBuilder, thread: ir.Value, of: int | None = None) -> ir.Value:
  """Whether a thread is the first of all; or of each so many."""
  return b.icmp_unsigned("==", thread if of is None else b.urem(thread, I32(of)), I32(0))


def _shuffle_word(b: ir.IRBuilder, word: ir.Value, lane_mask: int) -> ir.Value:
  kind = "f32" if word.type == F32 else "i32"
  args = [I32(_ALL), word, I32(lane_mask), I32(WARP - 1)]
  return ty.intrinsic(b, f"nvvm.shfl.sync.bfly.{kind}", args, word.type, [])


def exchange(b: ir.IRBuilder, value: ir.Value, lane_mask: int) -> ir.Value:
  """The value that the lane whose number differs by these bits has. All lanes of the warp must take part."""
  kind = value.type
  if kind in (F32, I32):
    return _shuffle_word(b, value, lane_mask)
  if kind in (F64, I64):
    bits = b.bitcast(value, I64) if kind == F64 else value
    low = _shuffle_word(b, b.trunc(bits, I32), lane_mask)
    high = _shuffle_word(b, b.trunc(b.lshr(bits, I64(32)), I32), lane_mask)
    both = b.or_(b.zext(low, I64), b.shl(b.zext(high, I64), I64(32)))
    return b.bitcast(both, F64) if kind == F64 else both
  wide = _shuffle_word(b, b.zext(value, I32), lane_mask)
  return b.trunc(wide, I1 if kind == I1 else kind)


def from_lane(b: ir.IRBuilder, value: ir.Value, lane: ir.Value) -> ir.Value:
  """The value, of 32 or 64 bits, that a lane has. All lanes of the warp must take part."""
  if value.type == I64:
    low, high = (from_lane(b, b.trunc(b.lshr(value, I64(shift)), I32), lane) for shift in (0, 32))
    return b.or_(b.zext(low, I64), b.shl(b.zext(high, I64), I64(32)))
  return ty.intrinsic(b, "nvvm.shfl.sync.idx.i32", [I32(_ALL), value, lane, I32(WARP - 1)], I32, [])
