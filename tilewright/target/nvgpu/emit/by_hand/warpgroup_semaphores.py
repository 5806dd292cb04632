"""Semaphores that the warpgroups of a CTA share, and questions to barriers, in kernels whose warpgroups each run the body independently.

    signal(semaphore, 2)       warpgroup 0: its threads meet, and the first adds 2, which releases what they wrote
    wait(semaphore, 2)         warpgroup 1: the first thread polls, and takes 2 off; its threads meet before they go on

A semaphore is a 32-bit counter in shared memory, or in global memory where all CTAs share it (`pl.get_global`). What one thread finds is
told to the others through a word of memory, because the threads of a warpgroup must take the same control flow. As for barriers
(`warpgroup_barriers`), a waiting thread of a kernel with checks gives up when another warpgroup has failed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
from llvmlite import ir

from tilewright import errors
from tilewright.target.llvm.loops import if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit.by_hand import warpgroup_barriers
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.ops import atomics, effects
from tilewright.target.nvgpu.emit.ops.told import told_by_first
from tilewright.target.nvgpu.emit.units import mbarrier, system_scope, threads, tma
from tilewright.target.nvgpu.emit.views import View
from tilewright.target.nvgpu.host import device_log
from tilewright.target.nvgpu.passes.memory import RefPlace
from tilewright.tile.ir import Op
from tilewright.tile.types import SemaphoreArrayType

SYNCHRONISING = frozenset({"signal", "wait", "read_semaphore"})  # ops between which others may write
_NAP = 40  # nanoseconds between two looks at a counter
_WAITS, _DONE, _FAILED = range(3)


@dataclasses.dataclass(eq=False)
class SharedSemaphores(View):
  """Counters in shared memory, of all warpgroups; or of all CTAs (`of_grid`), in global memory, which the launcher has set to zero."""

  count: int = 1
  of_grid: bool = False

  def begin_again(self, code: BlockCode) -> None:
    """One thread sets them to zero; a barrier of all threads is needed on both sides."""
    b = code.b
    if self.of_grid:
      return
    with if_then(b, b.and_(threads.is_first(b, code.thread), b.icmp_unsigned("==", code.group, I32(0)))):
      for number in range(self.count):
        b.store(I32(0), b.gep(self.pointer, [I32(number)], source_etype=I32), align=4)


def asks(op: Op) -> bool:
  """Whether an op asks a barrier if its phase has ended."""
  return op.name == "read_semaphore" and op.operands[0].type.arrivals > 0  # type: ignore[union-attr]


def at(code: BlockCode, kind: SemaphoreArrayType, own: RefPlace) -> SharedSemaphores:
  """Counters at a place, of all warpgroups, set to zero before the body, in front of which all meet; or of all CTAs."""
  assert own.place is not None
  made, count = code.view_at(own.place, kind.shape, np.int32), max(1, math.prod(kind.shape))
  found = SharedSemaphores(made.pointer, made.strides, made.dtype, made.base, count=count, of_grid=own.place.of_grid)
  found.begin_again(code)
  return found


def _signal(code: BlockCode, op: Op) -> None:
  if (found := effects.shared_counter(code, op, SharedSemaphores)) is None:
    return
  b, (memory, place, (value,)) = code.b, found
  if code.arch.has_tma:
    tma.fence_writes(b)  # others may let tensor cores or TMA read what these threads wrote
  code.barrier()
  with if_then(b, threads.is_first(b, code.thread)):
    if memory.of_grid:  # LLVM leaves the ordering of atomic updates out
      atomics.fence(b)
    b.atomic_rmw("add", place, value, "release")


def _wait(code: BlockCode, op: Op) -> None:
  if (found := effects.shared_counter(code, op, SharedSemaphores)) is None:
    return
  b, (memory, place, (needed,)) = code.b, found

  def poll() -> ir.Value:
    verdict = _poll(code, place, needed, is_taken=op.attrs["decrement"])
    if memory.of_grid:
      atomics.fence(b)
    return verdict

  verdict = told_by_first(code, poll)
  if code.error is not None:
    with if_then(b, b.icmp_unsigned("==", verdict, I32(_FAILED)), ends=True):
      code.stop()
  code.forget_accesses()


def _poll(code: BlockCode, place: ir.Value, needed: ir.Value, *, is_taken: bool) -> ir.Value:
  """In the first thread: how the wait for a count ends. Others may wait for the same, so it is taken off at once or not at all."""
  b = code.b
  look, nap, done = (b.append_basic_block(f"semaphore.{name}") for name in ("look", "nap", "done"))
  b.branch(look)
  b.position_at_end(look)
  count = b.load_atomic(place, "acquire", 4, typ=I32)
  is_enough = b.icmp_signed(">=", count, needed)
  if is_taken:
    take = b.append_basic_block("semaphore.take")
    b.cbranch(is_enough, take, nap)
    b.position_at_end(take)
    taken = b.cmpxchg(place, count, b.sub(count, needed), "acq_rel", "monotonic")
    b.cbranch(b.extract_value(taken, 1), done, look)
    success = take
  else:
    b.cbranch(is_enough, done, nap)
    success = look
  b.position_at_end(nap)
  system_scope.nap(b, _NAP)
  if code.error is None:
    b.branch(look)
  else:
    failed = b.load_atomic(code.error.word(b, device_log.FAILED), "monotonic", 4, typ=I32)
    b.cbranch(b.icmp_unsigned("!=", failed, I32(0)), done, look)
  b.position_at_end(done)
  verdict = b.phi(I32)
  verdict.add_incoming(I32(_DONE), success)
  if code.error is not None:
    verdict.add_incoming(I32(_FAILED), nap)
  return verdict


def _read(code: BlockCode, op: Op) -> None:
  """What a semaphore holds. Of a barrier, all arrivals of a phase if the one that this warpgroup waits for next has ended, else none."""
  own = code.env[op.operands[0]]
  if isinstance(own, warpgroup_barriers.Barriers):
    code.env[op.results[0]] = _test(code, op, own)
    return
  if asks(op):
    where = f"plgpu.barrier_test at {op.loc or '?'}: with one warpgroup"
    if not code.arch.has_tma:
      raise errors.UnsupportedFeatureError(f"{where} it needs sm_90 or later, got {code.arch.name}. Use barrier_wait.")
    raise errors.UnsupportedFeatureError(
      f"{where} that prints, copies are done where they stand. Use plgpu.barrier_wait, or leave the print out."
    )
  if (found := effects.shared_counter(code, op, SharedSemaphores)) is None:
    return
  place = found[1]
  code.env[op.results[0]] = told_by_first(code, lambda: code.b.load_atomic(place, "acquire", 4, typ=I32))
  code.forget_accesses()


def _test(code: BlockCode, op: Op, own: warpgroup_barriers.Barriers) -> ir.Value:
  """The first thread asks. If the phase has ended, each thread sees it end, so that what arrived is visible to it."""
  b = code.b
  phase = warpgroup_barriers.next_phase(code, op.operands)
  sees = warpgroup_barriers.sees_others(code, op.operands[0])
  ask = lambda: mbarrier.has_ended(b, phase.address, phase.parity, may_sleep=False, of_cluster=sees)
  ended = b.icmp_unsigned("!=", told_by_first(code, lambda: b.zext(ask(), I32)), I32(0))
  with if_then(b, ended):
    look, done = b.append_basic_block("test.look"), b.append_basic_block("test.done")
    b.branch(look)
    b.position_at_end(look)
    b.cbranch(ask(), done, look)
    b.position_at_end(done)
  code.forget_accesses()
  return b.select(ended, I32(own.kind.arrivals * own.kind.ctas), I32(0))


STATEMENTS: dict[str, Callable[[BlockCode, Op], None]] = {
  "signal": _signal,
  "wait": _wait,
  "read_semaphore": _read,
}
