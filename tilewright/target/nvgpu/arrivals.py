"""Barriers between the warpgroups of a block, in kernels whose warpgroups each run the body for themselves.

    arrive(barrier)   the 128 threads wait for each other, then one of them arrives: what all of them did before is done
    await(barrier)    every thread waits until the next phase has ended
    meet(barriers…)   all warpgroups wait for each other, and the barriers begin anew

A barrier is an `mbarrier` in shared memory. Of a phase it is known only whether its number is even or odd; so a warpgroup keeps a bit for
each barrier, which every wait turns, in a register of each thread.

A warpgroup whose check fails ends, and others may wait for it. So where a kernel has checks, those who wait look whether one has failed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm.loops import if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu import effects, mbarrier, reporting, threads, tma
from tilewright.target.nvgpu.block_memory import SHARED
from tilewright.target.nvgpu.code import BlockCode
from tilewright.tile.ir import Op, Value
from tilewright.tile.types import SemaphoreArrayType

_BYTES = 8  # of an mbarrier
_BITS = 32


@dataclasses.dataclass(eq=False)
class Barriers:
  """An array of barriers: the address of the first in shared memory (i32), and the words that hold a bit for each."""

  address: ir.Value
  shape: tuple[int, ...]
  arrivals: int
  parities: ir.Value
  is_for_all: bool  # or for one warpgroup

  base = None

  @property
  def count(self) -> int:
    return math.prod(self.shape)

  @property
  def words(self) -> int:
    return max(1, -(-self.count // _BITS))


def allocate(code: BlockCode, kind: SemaphoreArrayType) -> Barriers:
  """Barriers of all warpgroups, or of each (see `BlockCode.sharing`); they begin before the body."""
  b = code.buffers
  view = code.allocate((max(1, math.prod(kind.shape)),), np.int64, is_shared=True)
  address = b.ptrtoint(b.addrspacecast(view.pointer, ir.PointerType(addrspace=SHARED)), I32)
  with code.b.goto_entry_block():
    parities = code.b.alloca(I32, size=max(1, -(-math.prod(kind.shape) // _BITS)))
  made = Barriers(address, kind.shape, kind.arrivals, parities, code.is_sharing)
  _begin(code, b, made)
  return made


def _begin(code: BlockCode, b: ir.IRBuilder, own: Barriers, *, again: bool = False) -> None:
  """One thread lets barriers begin, and all forget their phases. They wait for each other before, where it is `again`, and after."""
  is_one = b.icmp_unsigned("==", code.thread, I32(0))
  if own.is_for_all:
    is_one = b.and_(is_one, b.icmp_unsigned("==", code.group, I32(0)))
  with if_then(b, is_one):
    for number in range(own.count):
      address = b.add(own.address, I32(_BYTES * number))
      if again:
        mbarrier.end(b, address)
      mbarrier.init(b, address, own.arrivals)
    if code.arch.has_tma:
      mbarrier.fence_init(b)
  for word in range(own.words):
    b.store(I32(0), b.gep(own.parities, [I32(word)], source_etype=I32))


def meet(code: BlockCode, barriers: Sequence[Barriers] = ()) -> None:
  """All warpgroups wait for each other, and barriers begin again."""
  if barriers:
    threads.barrier(code.b)
  for own in barriers:
    _begin(code, code.b, own, again=True)
  threads.barrier(code.b)
  code.forget_accesses()


def _alloc(code: BlockCode, op: Op) -> None:
  """Barriers that one warpgroup has for itself; or semaphores."""
  kind = op.results[0].type
  assert isinstance(kind, SemaphoreArrayType)
  if code.groups == 1 or not kind.arrivals:
    effects.STATEMENTS["alloc_semaphores"](code, op)
    return
  own = code.env[op.results[0]] = allocate(code, kind)
  code.barrier()
  _begin(code, code.b, own, again=True)
  code.barrier()


def _found(code: BlockCode, barrier: Value, index: list[Value]) -> tuple[Barriers, ir.Value]:
  """The barriers, and the number of the one that is meant."""
  b, own = code.b, code.env[barrier]
  number: ir.Value = I32(0)
  for size, i in zip(own.shape, index):
    number = b.add(b.mul(number, I32(size)), b.trunc(code.scalar_index(i), I32))
  return own, number


def _arrive(code: BlockCode, op: Op) -> None:
  b = code.b
  own, number = _found(code, op.operands[0], op.operands[1:])
  if code.arch.has_tma:
    tma.fence_writes(b)
  code.barrier()
  with if_then(b, b.icmp_unsigned("==", code.thread, I32(0))):
    mbarrier.arrive(b, b.add(own.address, b.mul(number, I32(_BYTES))))


def _await(code: BlockCode, op: Op) -> None:
  b = code.b
  own, number = _found(code, op.operands[0], op.operands[1:])
  address = b.add(own.address, b.mul(number, I32(_BYTES)))
  bit = b.and_(number, I32(_BITS - 1))
  word: ir.Value = I32(0) if own.words == 1 else b.lshr(number, I32(5))
  place = b.gep(own.parities, [word], source_etype=I32)
  parities = b.load(place, typ=I32)
  parity = b.and_(b.lshr(parities, bit), I32(1))
  b.store(b.xor(parities, b.shl(I32(1), bit)), place)
  look, done = b.append_basic_block("await"), b.append_basic_block("await.done")
  b.branch(look)
  b.position_at_end(look)
  has_ended = mbarrier.has_ended(b, address, parity, may_sleep=code.arch.has_tma)
  if code.error is None:
    b.cbranch(has_ended, done, look)
  else:
    failing, fail = b.append_basic_block("await.failing"), b.append_basic_block("await.fail")
    b.cbranch(has_ended, done, failing)
    b.position_at_end(failing)
    failed = b.load_atomic(code.error.word(b, reporting.FAILED), "monotonic", 4, typ=I32)
    b.cbranch(b.icmp_unsigned("!=", failed, I32(0)), fail, look)
    b.position_at_end(fail)
    b.ret_void()
  b.position_at_end(done)


def _meet(code: BlockCode, op: Op) -> None:
  meet(code, [code.env[v] for v in op.operands])


STATEMENTS: dict[str, Callable[[Any, Op], None]] = {
  "alloc_semaphores": _alloc,
  "arrive": _arrive,
  "await": _await,
  "meet": _meet,
}
