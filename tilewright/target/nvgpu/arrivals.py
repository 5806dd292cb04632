"""Barriers between the warpgroups of a block, in kernels whose warpgroups each run the body for themselves.

    arrive(barrier)   every thread of the warpgroup arrives: what it did before is done
    await(barrier)    every thread waits until the next phase has ended
    meet(barriers…)   all warpgroups wait for each other, and the barriers begin anew

A barrier is an `mbarrier` in shared memory, which counts threads. Of a phase it is known only whether its number is even or odd; so a
warpgroup keeps a bit for each barrier, which every wait turns, in a register of each thread.

A copy from global memory that has a barrier goes there in pieces that threads ask for and do not wait for (`cp.async`); a thread arrives
when its pieces have.

A warpgroup whose check fails ends, and others may wait for it. So where a kernel has checks, those who wait look whether one has failed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm.loops import Index, if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu import cp_async, effects, mbarrier, reporting, threads, tma, views
from tilewright.target.nvgpu.block_memory import SHARED
from tilewright.target.nvgpu.code import BlockCode
from tilewright.target.nvgpu.distribution import distribute
from tilewright.target.nvgpu.hints import is_in_shared
from tilewright.target.nvgpu.views import View
from tilewright.tile.dead_code import VIEWS
from tilewright.tile.ir import Op, Value
from tilewright.tile.ops import OPS
from tilewright.tile.types import SemaphoreArrayType

_BYTES = 8  # of an mbarrier
_BITS = 32


@dataclasses.dataclass(eq=False)
class Barriers:
  """An array of barriers: the address of the first in shared memory (i32), and words on the stack that hold a bit for each."""

  kind: SemaphoreArrayType
  address: ir.Value
  parities: ir.Value
  is_for_all: bool  # or for one warpgroup

  base = None  # no load or store is of it

  @property
  def count(self) -> int:
    return math.prod(self.kind.shape)

  @property
  def words(self) -> int:
    return _words(self.kind)


def _words(kind: SemaphoreArrayType) -> int:
  return max(1, -(-math.prod(kind.shape) // _BITS))


def allocate(code: BlockCode, kind: SemaphoreArrayType) -> Barriers:
  """Barriers of all warpgroups, or of each (see `BlockCode.sharing`); they begin before the body."""
  b = code.buffers
  view = code.allocate((max(1, math.prod(kind.shape)),), np.int64, is_shared=True)
  address = b.ptrtoint(b.addrspacecast(view.pointer, ir.PointerType(addrspace=SHARED)), I32)
  with code.b.goto_entry_block():
    parities = code.b.alloca(I32, size=_words(kind))
  made = Barriers(kind, address, parities, code.is_sharing)
  _begin(code, b, made)
  return made


def _begin(code: BlockCode, b: ir.IRBuilder, own: Barriers, *, again: bool = False) -> None:
  """One thread lets barriers begin, and all forget their phases. Threads must wait for each other after it; `again`, before it too."""
  is_one = b.icmp_unsigned("==", code.thread, I32(0))
  if own.is_for_all:
    is_one = b.and_(is_one, b.icmp_unsigned("==", code.group, I32(0)))
  with if_then(b, is_one):
    for number in range(own.count):
      address = b.add(own.address, I32(_BYTES * number))
      if again:
        mbarrier.end(b, address)
      mbarrier.init(b, address, own.kind.arrivals * threads.GROUP)
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
  for size, i in zip(own.kind.shape, index):
    number = b.add(b.mul(number, I32(size)), b.trunc(code.scalar_index(i), I32))
  return own, number


def _arrive(code: BlockCode, op: Op) -> None:
  b = code.b
  own, number = _found(code, op.operands[0], op.operands[1:])
  address = b.add(own.address, b.mul(number, I32(_BYTES)))
  if op in code.on_their_way:
    cp_async.arrive(b, address)
    return
  if code.arch.has_tma:
    tma.fence_writes(b)
  mbarrier.arrive(b, address)


def start_copy(code: BlockCode, op: Op) -> bool:
  """Carry out a store as a copy that is on its way, if it is one, and an arrival that waits for it comes next: whether it was."""
  arrival = _arrival_of(code, op) if code.groups > 1 else None
  load = op.operands[1].owner
  if arrival is None or not isinstance(load, Op) or load.name != "load" or load.result in code.env:
    return False
  source, target = (views.view_of(code.memory_of(o.operands[0])) for o in (load, op))
  piece = next((n for n in cp_async.SIZES if _goes_in_pieces(source, target, load.result.tile.shape, n)), None)
  if piece is None or not source.in_global or not is_in_shared(op.operands[0].ref):
    return False
  if target.base in code.read | code.written:  # whose accesses do not count what is on its way
    code.barrier()
  b = code.b

  def one(index: list[Index], lanes: int, step: Any) -> None:
    place = b.addrspacecast(views.address(b, target, index, lanes)[0], ir.PointerType(addrspace=SHARED))
    cp_async.copy(b, b.ptrtoint(place, I32), views.address(b, source, index, lanes)[0], piece)

  code.each_step(distribute(load.result.tile.shape, piece // source.dtype.itemsize, code.num_threads), one)
  code.on_their_way.add(arrival)
  return True


def _arrival_of(code: BlockCode, store: Op) -> Op | None:
  """The arrival that belongs to a copy: nothing but index arithmetic stands between the two."""
  ops = code.current.ops
  for op in ops[ops.index(store) + 1 :]:
    if op.name == "arrive":
      return op if op.attrs["of_copy"] else None
    if not OPS[op.name].is_pure and op.name not in VIEWS:
      return None
  return None


def _goes_in_pieces(source: View, target: View, shape: tuple[int, ...], nbytes: int) -> bool:
  """Whether each run of so many bytes along the last dimension lies side by side, and is aligned, on both sides."""
  size = source.dtype.itemsize
  if nbytes < size or not shape or shape[-1] * size % nbytes or source.has_edges or target.has_edges:
    return False
  return all(views.is_in_pieces(view, nbytes) for view in (source, target))


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
