"""Barriers between the warpgroups of a CTA, in kernels whose warpgroups each run the body independently.

    arrive(barrier)   every thread of the warpgroup arrives: its earlier accesses happen before the phase ends
    await(barrier)    every thread waits until the next phase has ended
    meet(barriers…)   all warpgroups wait for each other, and the barriers are initialised again

A barrier is an `mbarrier` in shared memory, which counts threads. Only the parity of a phase is observable, so a warpgroup keeps a parity
bit for each barrier, which every wait flips, in a register of each thread.

Where CTAs of a cluster arrive at each other's barriers, or fill each other's memory, all of them wait for each other before the body and at
its end: nobody accesses barriers that are not initialised, or the memory of a CTA that has ended.

A warpgroup whose check fails ends, and others may be waiting for it. So in kernels with checks, waiting threads poll for a failed check.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence, Set
from typing import Any

from llvmlite import ir

from tilewright.target.llvm.loops import if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.ops import effects
from tilewright.target.nvgpu.emit.units import cluster, mbarrier, shared_memory, threads, tma
from tilewright.target.nvgpu.host import device_log
from tilewright.target.nvgpu.passes.memory import RefPlace, barriers
from tilewright.tile.dead_code import base_of
from tilewright.tile.ir import Op, Value
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

  def begin_again(self, code: BlockCode) -> None:
    _initialize(code, code.b, self, again=True)


@dataclasses.dataclass(eq=False)
class Elsewhere:
  """The same barriers of another CTA of the cluster."""

  own: Barriers
  rank: ir.Value

  base = None


def _words(kind: SemaphoreArrayType) -> int:
  return max(1, -(-math.prod(kind.shape) // _BITS))


def at(code: BlockCode, kind: SemaphoreArrayType, own: RefPlace) -> Barriers:
  """Barriers at a place, of all warpgroups or of each; initialised before the body, in front of which all meet."""
  b = code.buffers
  assert own.place is not None
  # Of numbers, which are added up once: through a pointer to any memory, LLVM would find the address anew in each round of a loop.
  start = shared_memory.address(b, code.arena)
  address = b.add(start, I32(own.place.offset))
  if not own.is_for_all:
    address = b.add(address, b.mul(code.group, I32(own.place.nbytes)))
  with code.b.goto_entry_block():
    parities = code.b.alloca(I32, size=_words(kind))
  made = Barriers(kind, address, parities, own.is_for_all)
  _initialize(code, b, made)
  return made


def _initialize(code: BlockCode, b: ir.IRBuilder, own: Barriers, *, again: bool = False) -> None:
  """One thread initialises the barriers, and all threads reset their parities. Afterwards a fence and a barrier of all threads are needed;
  with `again`, a barrier before it too."""
  is_one = threads.is_first(b, code.thread)
  if own.is_for_all:
    is_one = b.and_(is_one, b.icmp_unsigned("==", code.group, I32(0)))
  with if_then(b, is_one):
    for number in range(own.count):
      address = b.add(own.address, I32(_BYTES * number))
      if again:
        mbarrier.end(b, address)
      ctas = own.kind.ctas if code.cooperation is not None else 1
      mbarrier.init(b, address, own.kind.arrivals * ctas * threads.GROUP)
  for word in range(own.words):
    b.store(I32(0), b.gep(own.parities, [I32(word)], source_etype=I32))


def _fence_initialized(code: BlockCode) -> None:
  """Initialising threads make the barriers visible to TMA: one fence for all of them, as it takes a microsecond."""
  if code.arch.has_tma:
    with if_then(code.b, threads.is_first(code.b, code.thread)):
      mbarrier.fence_init(code.b)


def begin(code: BlockCode, *, has_barriers: bool) -> None:
  """All warpgroups wait for each other before the body, and for the barriers that were allocated."""
  if has_barriers:
    _fence_initialized(code)
  _wait_for_all(code, in_cluster=code.cooperation is not None)
  code.forget_accesses()


def end(code: BlockCode) -> None:
  """After the body: other CTAs may still access the memory of this one."""
  if code.cooperation is not None:
    cluster.barrier(code.b)


def _wait_for_all(code: BlockCode, *, in_cluster: bool) -> None:
  """Barrier of all threads, of the CTA or of the cluster."""
  cluster.barrier(code.b) if in_cluster else threads.barrier(code.b)


def meet(code: BlockCode, barriers: Sequence[Any] = (), *, in_cluster: bool = False) -> None:
  """All warpgroups wait for each other, and barriers and semaphores begin again."""
  if barriers:
    _wait_for_all(code, in_cluster=in_cluster)
    for own in barriers:
      own.begin_again(code)
    _fence_initialized(code)
  _wait_for_all(code, in_cluster=in_cluster)
  code.forget_accesses()


def _alloc(code: BlockCode, op: Op) -> None:
  """Barriers that one warpgroup has for itself; or semaphores."""
  kind = op.results[0].type
  assert isinstance(kind, SemaphoreArrayType)
  if not code.is_by_hand or not kind.arrivals:
    effects.STATEMENTS["alloc_semaphores"](code, op)
    return
  own = code.env[op.results[0]] = at(code, kind, barriers(code.given, kind, code.location))
  code.barrier()
  _initialize(code, code.b, own, again=True)
  _fence_initialized(code)
  code.barrier()


def _found(code: BlockCode, barrier: Sequence[Value]) -> tuple[Barriers, ir.Value]:
  """The barriers, and the number of the selected one."""
  b, own, index = code.b, code.env[barrier[0]], barrier[1:]
  own = own.own if isinstance(own, Elsewhere) else own
  number: ir.Value = I32(0)
  for size, i in zip(own.kind.shape, index):
    number = b.add(b.mul(number, I32(size)), b.trunc(code.scalar_index(i), I32))
  return own, number


def address_of(code: BlockCode, barrier: Sequence[Value]) -> ir.Value:
  """The address of a barrier with an index."""
  own, number = _found(code, barrier)
  return code.b.add(own.address, code.b.mul(number, I32(_BYTES)))


def arrive(code: BlockCode, op: Op, barrier: Sequence[Value]) -> None:
  """The threads arrive, for an op before which they may have written what tensor cores or TMA read."""
  if not code.arch.has_tma:
    mbarrier.arrive(code.b, address_of(code, barrier))
    return
  if code.cooperation is not None and code.cooperation.writes_there:
    tma.fence_writes_of_cluster(code.b)
  else:
    may_fence(code, lambda engine: code.roles is None or code.roles.tells_engines(op, engine))
  if ranks := _ranks(code, op, barrier):
    _arrive_in_cluster(code, address_of(code, barrier), ranks)
  else:
    arrive_by_warps(code, address_of(code, barrier))


def _ranks(code: BlockCode, op: Op, barrier: Sequence[Value]) -> list[ir.Value]:
  """The CTAs of the cluster at whose barriers an op arrives; none: only its own."""
  own = code.env[barrier[0]]
  if isinstance(own, Elsewhere):
    return [own.rank]
  along = op.attrs.get("along", ()) if op.name == "arrive" else ()
  if code.cooperation is None or not along:
    return []
  first, _ = first_along(code, along)
  return [code.b.add(first, I32(rank)) for rank in code.cooperation.ranks(along)]


def first_along(code: BlockCode, dims: tuple[int, ...]) -> tuple[ir.Value, ir.Value]:
  """The rank of the first CTA of the cluster along some dimensions of the grid, at this CTA's place along the others, and the number of
  this CTA among those."""
  b, known = code.b, code.cooperation
  assert known is not None and code.instance is not None
  rank: ir.Value = I32(0)
  number: ir.Value = I32(0)
  for dim in range(known.first, known.first + len(known.sizes)):
    place = code.instance.indices[dim]
    if dim not in dims:
      rank = b.add(rank, b.mul(place, I32(known.stride(dim))))
  for dim in dims:
    number = b.add(b.mul(number, I32(known.extent(dim))), code.instance.indices[dim])
  return rank, number


def _arrive_in_cluster(code: BlockCode, address: ir.Value, ranks: Sequence[ir.Value]) -> None:
  """One thread of each warp arrives for the whole warp, in each of some CTAs."""
  b = code.b
  assert code.cooperation is not None
  threads.warp_barrier(b)
  with if_then(b, threads.is_first(b, code.thread, threads.WARP)):
    for rank in ranks:
      cluster.arrive(b, address, rank, threads.WARP, hands_over=code.cooperation.hands_over)


def fence_operands(code: BlockCode, loads: Sequence[Op]) -> None:
  """Make the threads' writes and copies to memory from which a product reads visible to the tensor cores."""
  roles = code.roles
  may_fence(code, lambda engine: roles is None or any(roles.is_written_by_threads(load, engine) for load in loads))


def may_fence(code: BlockCode, is_needed: Callable[[Set[Op]], bool]) -> None:
  """A fence that is taken out again if it is not needed, which is known when all copies have been emitted."""
  code.fences.append((tma.fence_writes(code.b), is_needed))


def drop_fences(code: BlockCode) -> None:
  """Remove the fences between threads and the async proxy (TMA, tensor cores) where threads write nothing that it reads."""
  engine = code.by_engine - code.by_threads
  for fence, is_needed in code.fences:
    if not is_needed(engine):
      fence.parent.instructions.remove(fence)


def arrive_by_warps(code: BlockCode, barrier: ir.Value) -> None:
  """One thread of each warp arrives for the whole warp, after a warp barrier."""
  b = code.b
  threads.warp_barrier(b)
  with if_then(b, threads.is_first(b, code.thread, threads.WARP)):
    mbarrier.arrive_for(b, barrier, threads.WARP)


@dataclasses.dataclass(frozen=True)
class NextPhase:
  """The phase that this warpgroup waits for next: the address of its barrier, its parity, and what says so from its end on."""

  address: ir.Value
  parity: ir.Value
  place: ir.Value  # of a word of parities
  following: ir.Value  # that word for the phase after it


def next_phase(code: BlockCode, barrier: Sequence[Value]) -> NextPhase:
  b = code.b
  own, number = _found(code, barrier)
  address = b.add(own.address, b.mul(number, I32(_BYTES)))
  bit = b.and_(number, I32(_BITS - 1))
  word: ir.Value = I32(0) if own.words == 1 else b.lshr(number, I32(5))
  place = b.gep(own.parities, [word], source_etype=I32)
  parities = b.load(place, typ=I32)
  parity = b.and_(b.lshr(parities, bit), I32(1))
  return NextPhase(address, parity, place, b.xor(parities, b.shl(I32(1), bit)))


def _await(code: BlockCode, op: Op) -> None:
  b = code.b
  phase = next_phase(code, op.operands)
  address, parity = phase.address, phase.parity
  b.store(phase.following, phase.place)
  look, done = b.append_basic_block("await"), b.append_basic_block("await.done")
  b.branch(look)
  b.position_at_end(look)
  sees = sees_others(code, op.operands[0])
  has_ended = mbarrier.has_ended(b, address, parity, may_sleep=code.arch.has_tma, of_cluster=sees)
  if code.error is None:
    b.cbranch(has_ended, done, look)
  else:
    failing, fail = b.append_basic_block("await.failing"), b.append_basic_block("await.fail")
    b.cbranch(has_ended, done, failing)
    b.position_at_end(failing)
    failed = b.load_atomic(code.error.word(b, device_log.FAILED), "monotonic", 4, typ=I32)
    b.cbranch(b.icmp_unsigned("!=", failed, I32(0)), fail, look)
    b.position_at_end(fail)
    code.stop()
  b.position_at_end(done)
  if sees and code.cooperation is not None and code.cooperation.writes_there:
    tma.fence_writes_of_cluster(b)


def sees_others(code: BlockCode, barrier: Value) -> bool:
  """Whether a wait at a barrier is for what threads of other CTAs of the cluster wrote."""
  known = code.cooperation
  return known is not None and known.hands_over and base_of(barrier) in known.barriers


def _meet(code: BlockCode, op: Op) -> None:
  """Initialise barriers again, unless this runs once: they belong to one scope, and were initialised before the body."""
  is_once = code.whole is not None and op in code.whole.ops
  in_cluster = code.cooperation is not None and not code.cooperation.barriers.isdisjoint(op.operands)
  meet(code, () if is_once else [code.env[v] for v in op.operands], in_cluster=in_cluster)


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
  "arrive": lambda code, op: arrive(code, op, op.operands),
  "await": _await,
  "meet": _meet,
  # Where copies and products are synchronous; else see `passes.async_copies`, `passes.async_products`
  **dict.fromkeys(("commit_copies", "await_copies", "await_products"), lambda code, op: None),
  "set_registers": _set_registers,
}
