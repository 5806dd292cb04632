"""Barriers between the warpgroups of a CTA, in kernels whose warpgroups each run the body independently.

    arrive(barrier)   every thread of the warpgroup arrives: its earlier accesses happen before the phase ends
    await(barrier)    every thread waits until the next phase has ended
    meet(barriers…)   all warpgroups wait for each other, and the barriers are initialised again

A barrier is an `mbarrier` in shared memory, which counts threads. Only the parity of a phase is observable, so a warpgroup keeps a parity
bit for each barrier, which every wait flips, in a register of each thread.

A copy from global memory that has a barrier is issued to TMA by one thread, if it has boxes (`tma_copies`): the barrier counts their bytes
in addition to the threads. Otherwise all threads copy pieces asynchronously (`cp.async`); a thread arrives when its pieces have arrived. A
copy to global memory that has boxes is in flight until its group of copies is waited for: the first thread of each warpgroup issues and
waits for all.

A warpgroup whose check fails ends, and others may be waiting for it. So in kernels with checks, waiting threads poll for a failed check.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence, Set
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm.loops import Index, if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit import views
from tilewright.target.nvgpu.emit.by_hand import tma_copies
from tilewright.target.nvgpu.emit.by_hand.tma_copies import Boxes
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.cta_memory import SHARED
from tilewright.target.nvgpu.emit.distribution import distribute
from tilewright.target.nvgpu.emit.ops import effects
from tilewright.target.nvgpu.emit.units import cp_async, mbarrier, threads, tma
from tilewright.target.nvgpu.emit.views import View
from tilewright.target.nvgpu.host import device_log
from tilewright.target.nvgpu.passes.layouts.hints import is_in_shared
from tilewright.tile.dead_code import VIEWS, base_of
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
  """Barriers of all warpgroups, or of each (see `BlockCode.sharing`); initialised before the body, in front of which all meet."""
  b, at = code.buffers, code.arena_bytes
  code.allocate((max(1, math.prod(kind.shape)),), np.int64, is_shared=True)
  # Of numbers, which are added up once: through a pointer to any memory, LLVM would find the address anew in each round of a loop.
  address = b.add(b.ptrtoint(b.addrspacecast(code.arena, ir.PointerType(addrspace=SHARED)), I32), I32(at))
  if not code.is_sharing:
    each = (code.arena_bytes - at) // code.groups
    address = b.add(address, b.mul(code.group, I32(each)))
  with code.b.goto_entry_block():
    parities = code.b.alloca(I32, size=_words(kind))
  made = Barriers(kind, address, parities, code.is_sharing)
  _begin(code, b, made)
  return made


def _begin(code: BlockCode, b: ir.IRBuilder, own: Barriers, *, again: bool = False) -> None:
  """One thread initialises the barriers, and all threads reset their parities. Afterwards a fence and a barrier of all threads are needed;
  with `again`, a barrier before it too."""
  is_one = b.icmp_unsigned("==", code.thread, I32(0))
  if own.is_for_all:
    is_one = b.and_(is_one, b.icmp_unsigned("==", code.group, I32(0)))
  with if_then(b, is_one):
    for number in range(own.count):
      address = b.add(own.address, I32(_BYTES * number))
      if again:
        mbarrier.end(b, address)
      mbarrier.init(b, address, own.kind.arrivals * threads.GROUP)
  for word in range(own.words):
    b.store(I32(0), b.gep(own.parities, [I32(word)], source_etype=I32))


def _tell_begun(code: BlockCode) -> None:
  """Initialising threads make the barriers visible to TMA: one fence for all of them, as it takes a microsecond."""
  if code.arch.has_tma:
    with if_then(code.b, code.b.icmp_unsigned("==", code.thread, I32(0))):
      mbarrier.fence_init(code.b)


def begin(code: BlockCode, *, has_barriers: bool) -> None:
  """All warpgroups wait for each other before the body, and for the barriers that were allocated."""
  if has_barriers:
    _tell_begun(code)
  threads.barrier(code.b)
  code.forget_accesses()


def meet(code: BlockCode, barriers: Sequence[Barriers] = ()) -> None:
  """All warpgroups wait for each other, and barriers are initialised again."""
  if barriers:
    threads.barrier(code.b)
    for own in barriers:
      _begin(code, code.b, own, again=True)
    _tell_begun(code)
  threads.barrier(code.b)
  code.forget_accesses()


def _alloc(code: BlockCode, op: Op) -> None:
  """Barriers that one warpgroup has for itself; or semaphores."""
  kind = op.results[0].type
  assert isinstance(kind, SemaphoreArrayType)
  if not code.is_by_hand or not kind.arrivals:
    effects.STATEMENTS["alloc_semaphores"](code, op)
    return
  own = code.env[op.results[0]] = allocate(code, kind)
  code.barrier()
  _begin(code, code.b, own, again=True)
  _tell_begun(code)
  code.barrier()


def _found(code: BlockCode, barrier: Value, index: list[Value]) -> tuple[Barriers, ir.Value]:
  """The barriers, and the number of the selected one."""
  b, own = code.b, code.env[barrier]
  number: ir.Value = I32(0)
  for size, i in zip(own.kind.shape, index):
    number = b.add(b.mul(number, I32(size)), b.trunc(code.scalar_index(i), I32))
  return own, number


def _arrive(code: BlockCode, op: Op) -> None:
  b = code.b
  own, number = _found(code, op.operands[0], op.operands[1:])
  address = b.add(own.address, b.mul(number, I32(_BYTES)))
  asked = code.asked_for.get(op)
  if asked is not None:
    _bring(code, asked, address)
    return
  if op in code.on_their_way:
    cp_async.arrive(b, address)
    return
  if not code.arch.has_tma:
    mbarrier.arrive(b, address)
    return
  _may_fence(code, lambda engine: code.roles is None or code.roles.tells_engines(op, engine))
  _arrive_by_warps(code, address)


def fence_operands(code: BlockCode, loads: Sequence[Op]) -> None:
  """Make the threads' writes and copies to memory from which a product reads visible to the tensor cores."""
  roles = code.roles
  _may_fence(code, lambda engine: roles is None or any(roles.is_written_by_threads(load, engine) for load in loads))


def _may_fence(code: BlockCode, is_needed: Callable[[Set[Op]], bool]) -> None:
  """A fence that is taken out again if it is not needed, which is known when all copies have been emitted."""
  code.fences.append((tma.fence_writes(code.b), is_needed))


def drop_fences(code: BlockCode) -> None:
  """Remove the fences between threads and the async proxy (TMA, tensor cores) where threads write nothing that it reads."""
  engine = code.by_engine - code.by_threads
  for fence, is_needed in code.fences:
    if not is_needed(engine):
      fence.parent.instructions.remove(fence)


def _arrive_by_warps(code: BlockCode, barrier: ir.Value) -> None:
  """One thread of each warp arrives for the whole warp, after a warp barrier."""
  b = code.b
  threads.warp_barrier(b)
  with if_then(b, b.icmp_unsigned("==", b.urem(code.thread, I32(threads.WARP)), I32(0))):
    mbarrier.arrive_for(b, barrier, threads.WARP)


@dataclasses.dataclass(frozen=True)
class Asked:
  """The TMA request that will be issued at the arrival of a copy."""

  boxes: Boxes
  source: View
  target: View


def _bring(code: BlockCode, asked: Asked, barrier: ir.Value) -> None:
  """One thread issues a copy to TMA, which arrives by its bytes.

  All threads arrive: the phase must not end before each is past the wait in front of the copy, of which it knows only the parity."""
  b, boxes = code.b, asked.boxes
  assert code.tensor_map is not None
  pointer = code.tensor_map(boxes.tensor_map)
  with if_then(b, b.icmp_unsigned("==", code.thread, I32(0))):
    mbarrier.expect_more(b, barrier, boxes.nbytes)
    tma_copies.bring(b, boxes, pointer, asked.source, asked.target, barrier, code.arch.has_own_copies)
  _arrive_by_warps(code, barrier)


def _ask(code: BlockCode, loaded: tma_copies.Loaded, store: Op, arrival: Op) -> bool:
  """Whether TMA carries out the copy of a load and a store: from an array that the kernel does not write, in boxes."""
  if code.tensor_map is None or arrival.operands[0] not in code.awaited:
    return False
  load = loaded.op
  source, target = (views.view_of(code.memory_of(o.operands[0])) for o in (load, store))
  if source.home is None or source.home not in code.only_read or not loaded.ends_with_array(source):
    return False
  if load.name == "window_load":  # its unspecified elements beyond the end are zeros
    starts = [code.scalar_index(s) for s in load.operands[1:]]
    source = views.subview(code.b, source, starts, load.attrs["steps"], load.attrs["dropped"])
  boxes = tma_copies.plan(source, target, load.result.tile.shape)
  if boxes is None:
    return False
  if (
    target.base in code.read | code.written
  ):  # other threads' accesses there are complete, and their writes visible to TMA
    roles, buffer = code.roles, base_of(store.operands[0])
    _may_fence(code, lambda engine: roles is None or roles.is_filled_by_threads(buffer, engine))
    code.barrier()
  code.asked_for[arrival] = Asked(boxes, source, target)
  return True


def start_copy(code: BlockCode, op: Op) -> bool:
  """Carry out a store as an asynchronous copy, if it is a copy and an arrival that tracks it comes next; returns whether it was."""
  arrival = _arrival_of(code, op) if code.is_by_hand else None
  loaded = tma_copies.load_behind(op.operands[1])
  if arrival is None or loaded is None or loaded.op.result in code.env:
    return False
  load = loaded.op
  if _ask(code, loaded, op, arrival):
    code.by_engine.add(op)
    return True
  code.by_threads.add(op)
  if load.name == "window_load" or load.result is not op.operands[1]:
    return False
  source, target = (views.view_of(code.memory_of(o.operands[0])) for o in (load, op))
  piece = next((n for n in cp_async.SIZES if _goes_in_pieces(source, target, load.result.tile.shape, n)), None)
  if piece is None or not source.in_global or not is_in_shared(op.operands[0].ref):
    return False
  if target.base in code.read | code.written:  # which do not include copies in flight
    code.barrier()
  b = code.b

  def one(index: list[Index], lanes: int, step: Any) -> None:
    place = b.addrspacecast(views.address(b, target, index, lanes)[0], ir.PointerType(addrspace=SHARED))
    cp_async.copy(b, b.ptrtoint(place, I32), views.address(b, source, index, lanes)[0], piece)

  code.each_step(distribute(load.result.tile.shape, piece // source.dtype.itemsize, code.num_threads), one)
  code.on_their_way.add(arrival)
  return True


def _arrival_of(code: BlockCode, store: Op) -> Op | None:
  """The arrival that belongs to a copy: only index arithmetic may be between the two."""
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
    failed = b.load_atomic(code.error.word(b, device_log.FAILED), "monotonic", 4, typ=I32)
    b.cbranch(b.icmp_unsigned("!=", failed, I32(0)), fail, look)
    b.position_at_end(fail)
    b.ret_void()
  b.position_at_end(done)


# --- copies to global memory -------------------------------------------------------------------------------------


def start_store(code: BlockCode, op: Op, array: View) -> bool:
  """Let TMA carry out a store, if it is a copy of shared memory, in boxes, to an array that is written in no other way: whether
  it does."""
  load = op.operands[1].owner
  if code.tensor_map is None or array.home not in code.only_copied or not isinstance(load, Op):
    return False
  if load.name not in ("load", "window_load") or load.result in code.env or not is_in_shared(load.operands[0].ref):
    return False
  source = views.view_of(code.memory_of(load.operands[0]))
  if load.name == "window_load":  # its elements outside of the buffer are unspecified
    starts = [code.scalar_index(s) for s in load.operands[1:]]
    source = views.subview(code.b, source, starts, load.attrs["steps"], load.attrs["dropped"])
  boxes = tma_copies.plan(array, source, load.result.tile.shape)
  if boxes is None:
    return False
  b, pointer = code.b, code.tensor_map(boxes.tensor_map)
  tma.fence_writes(b)
  code.barrier()
  with if_then(b, b.icmp_unsigned("==", code.thread, I32(0))):
    tma_copies.take(b, boxes, pointer, array, source)
  code.has_stores = True
  return True


def _commit(code: BlockCode, op: Op) -> None:
  b = code.b
  if code.tensor_map is not None and op.attrs["group"]:
    with if_then(b, b.icmp_unsigned("==", code.thread, I32(0))):
      tma.commit_stores(b)


def _await_copies(code: BlockCode, op: Op) -> None:
  b = code.b
  if code.tensor_map is not None:
    with if_then(b, b.icmp_unsigned("==", code.thread, I32(0))):
      tma.wait_groups(b, op.attrs["pending"], read_only=op.attrs["read_only"])
    code.barrier()


def _meet(code: BlockCode, op: Op) -> None:
  """Initialise barriers again, unless this runs once: they belong to one scope, and were initialised before the body."""
  is_once = code.whole is not None and op in code.whole.ops
  meet(code, () if is_once else [code.env[v] for v in op.operands])


def _set_registers(code: BlockCode, op: Op) -> None:
  """Before it, all warps of the warpgroup must have carried out the last one."""
  count, increase = op.attrs["count"], op.attrs["increase"]
  begins = threads.registers_of(code.groups * threads.GROUP)
  if not code.arch.has_register_exchange or (count <= begins if increase else count >= begins):
    return
  code.barrier()
  threads.set_registers(code.b, count, increase=increase)
  code.sets_registers = True


STATEMENTS: dict[str, Callable[[Any, Op], None]] = {
  "alloc_semaphores": _alloc,
  "arrive": _arrive,
  "await": _await,
  "meet": _meet,
  "commit_copies": _commit,
  "await_copies": _await_copies,
  "await_products": lambda code, op: (
    None
  ),  # of architectures whose products are synchronous; else see `passes.async_products`
  "set_registers": _set_registers,
}
