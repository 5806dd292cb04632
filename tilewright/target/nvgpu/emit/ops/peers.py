"""Kernels that access other devices: remote memory, and semaphores at system scope.

    enter                   CTA b has initialised its scratch memory: say so to CTA b of every device, and wait for all of them
    remote(ref, device)     the same offset in the other device's heap (`passes.symmetric_memory`)
    signal, wait            what all threads of the CTA wrote before a signal is seen by all threads behind the wait that it ends
    leave                   CTA b has ended its body, or failed: say so, and wait until all have

One thread signals and polls for its CTA, between barriers. Polling is bounded: by the time limit, by a device that has failed in this
kernel, and by a process that has ended, which the host writes to a word that all can read. Then the CTA logs why, skips to `leave`, and the
launcher returns the error. Where devices did not even come or leave, their counters no longer agree: the domain is broken for good, and
every kernel that comes after fails at once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright import errors
from tilewright.target.llvm.loops import for_range, i64, if_then, stack_slot
from tilewright.target.llvm.types import I8, I32, I64, PTR
from tilewright.target.nvgpu.emit import views
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.ops import effects
from tilewright.target.nvgpu.emit.units import system_scope as system
from tilewright.target.nvgpu.emit.units import threads
from tilewright.target.nvgpu.emit.views import View
from tilewright.target.nvgpu.host import device_log
from tilewright.target.nvgpu.passes import symmetric_memory as symmetric
from tilewright.target.nvgpu.passes.memory import Place
from tilewright.target.nvgpu.passes.symmetric_memory import Symmetric
from tilewright.tile.dead_code import base_of
from tilewright.tile.ir import Block, Op, Value, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.types import RefType, SemaphoreArrayType, dense_strides

# Numbers of a verdict: the message, by its number and one, and what it says; then the same for all verdicts.
_MESSAGE, _FIRST, _SECOND = 0, 1, 2
_POLLS = 64  # between two looks at the clock, and at what else may end a wait
_NAP = 100  # nanoseconds
_NANOSECONDS = 1_000_000
_ODD = 40503  # 2¹⁶ over the golden ratio: calls of a program have tags far apart
_ENDED = (
  "DeadlockError: Process {0} (pid {1}) has ended, and the others cannot go on without it. Look at its own output for the reason, and "
  "start all processes again."
)


@dataclasses.dataclass(eq=False)
class SystemSemaphores(View):
  """Semaphores in the heap, which other devices signal."""


@dataclasses.dataclass
class Peers:
  """What a CTA knows of the devices: addresses are i64s."""

  plan: Symmetric
  table: ir.Value  # a pointer
  heap: ir.Value
  slot: ir.Value
  row: ir.Value  # of this CTA, from the start of a heap on
  epoch: ir.Value
  me: ir.Value  # this device's number
  tag: ir.Value  # tells this kernel and call from others
  failing: ir.Value  # a stack slot: whether this CTA has failed
  verdict: View
  left: ir.Block  # what follows the body
  title: str

  def word(self, b: ir.IRBuilder, number: Any) -> ir.Value:
    return b.load(b.gep(self.table, [i64(number)], source_etype=I64), typ=I64, align=8)

  def heap_of(self, b: ir.IRBuilder, slot: Any) -> ir.Value:
    return self.word(b, b.add(i64(symmetric.HEAPS), i64(slot)))

  def own(self, b: ir.IRBuilder, offset: int, number: Any = 0) -> ir.Value:
    """The address of a word of this CTA's row, for a device."""
    return b.add(b.add(self.heap, self.row), b.add(i64(offset), b.mul(i64(number), i64(8))))


class PeerCode(BlockCode):
  """Code of a CTA on one of several devices."""

  synchronizing_ops = BlockCode.synchronizing_ops | symmetric.SYNCHRONISING
  peers: Peers

  def _bases_exchanged(self) -> set[Any]:
    """Memory that other devices access may change while this one waits."""
    assert self.whole is not None
    seen = [op.operands[0] for op in walk(self.whole) if op.name == "remote"]
    return {self.base_of(ref) for ref in seen if isinstance(ref.type, RefType)}

  def stop(self) -> None:
    """This CTA has failed, in all of its threads: it tells the others when it leaves."""
    self.b.store(I32(1), self.peers.failing)
    self.b.branch(self.peers.left)


# --- entering and leaving ----------------------------------------------------------------------------------------


def begin(
  code: PeerCode,
  kernel: NativeKernel,
  plan: Symmetric,
  table: ir.Value,
  site: ir.Value,
  arrays: list[Any],
  number: ir.Value,
) -> None:
  """Find the heap and this CTA's row of counters."""
  b = code.b
  failing = stack_slot(b, I32, I32(0))
  verdict = code.view_at(Place(0, symmetric.VERDICT_BYTES), (symmetric.VERDICT_WORDS,), np.int32)
  word = lambda number: b.load(b.gep(table, [i64(number)], source_etype=I64), typ=I64, align=8)
  slot = word(symmetric.OWN_SLOT)
  heap = word(b.add(i64(symmetric.HEAPS), slot))
  row = b.add(i64(symmetric.ROWS), b.mul(b.zext(number, I64), i64(symmetric.ROW_BYTES)))
  count = b.load(b.inttoptr(b.add(b.add(heap, row), i64(symmetric.COUNT)), PTR), typ=I64, align=8)
  me: ir.Value = i64(0)
  for param, size in kernel.mesh:
    me = b.add(b.mul(me, i64(size)), b.sext(b.load(arrays[param], typ=I32, align=4), I64))
  code.peers = Peers(
    plan,
    table,
    heap,
    slot,
    row,
    b.add(count, i64(1)),
    me,
    b.and_(b.add(i64(plan.tag), b.mul(site, i64(_ODD))), i64(symmetric.TAG_MASK)),
    failing,
    verdict,
    b.append_basic_block("left"),
    f"the kernel '{_escaped(kernel.name)}'",
  )


def scratch(code: PeerCode, kernel: NativeKernel) -> dict[int, View]:
  """The scratch memory and semaphores that lie in the heap, by number; semaphores are zero."""
  b, found = code.b, dict[int, View]()
  for number, offset in code.peers.plan.scratch:
    kind = kernel.scratch[number]
    pointer = b.inttoptr(b.add(code.peers.heap, i64(offset)), PTR)
    if isinstance(kind, SemaphoreArrayType):
      found[number] = SystemSemaphores(pointer, dense_strides(kind.shape), np.dtype(np.int32), object(), align=16)
      count = int(np.prod(kind.shape))
      with for_range(b, b.zext(code.thread, I64), count, code.num_threads) as i:
        b.store(I32(0), b.gep(pointer, [i], source_etype=I32), align=4)
    else:
      assert isinstance(kind, RefType)
      found[number] = View(pointer, dense_strides(kind.shape), kind.dtype, object(), align=16, in_global=True)
  return found


def enter(code: PeerCode) -> None:
  """Tell all devices that this CTA is here, and wait for theirs."""
  b, peers = code.b, code.peers
  absent, other, broken = (
    _message(code, text)
    for text in (
      f"DeadlockError: Device {{0}} has not come to {peers.title} within {{3}} ms; device {{4}} waited for it. It may have ended, or run "
      "another program.",
      f"DeadlockError: Device {{0}} is in another kernel than {peers.title}, in which device {{4}} is. Let all devices run the same "
      "programs in the same order.",
      f"DeadlockError: {peers.title[0].upper()}{peers.title[1:]} cannot run: devices did not come to an earlier kernel that accesses other "
      "devices, or did not end it, and their counters differ since then. Start all processes again.",
    )
  )
  _reset_verdict(code)
  with if_then(b, threads.is_first(b, code.thread)):
    flag = system.load_acquire(b, b.add(peers.heap, i64(symmetric.BROKEN)))
    with if_then(b, b.icmp_unsigned("!=", flag, i64(0))):
      _judge(code, broken)
  threads.barrier(b)
  is_whole = b.icmp_unsigned("==", b.load(peers.verdict.pointer, typ=I32, align=4), I32(0))
  threads.barrier(b)
  count = peers.word(b, symmetric.NUM_SLOTS)
  with if_then(b, is_whole):
    tagged = b.or_(b.shl(peers.epoch, i64(symmetric.EPOCH_SHIFT)), b.shl(peers.tag, i64(symmetric.TAG_SHIFT)))
    mine = b.or_(tagged, peers.slot)
    _tell(code, count, symmetric.ARRIVED, mine)
    with for_range(b, b.zext(code.thread, I64), peers.plan.devices, code.num_threads) as device:
      word = peers.own(b, symmetric.ARRIVED, device)
      has_come = lambda: b.icmp_unsigned(
        ">=", b.lshr(system.load_acquire(b, word), i64(symmetric.EPOCH_SHIFT)), peers.epoch
      )
      _poll(code, has_come, lambda: _judge(code, absent, device))
      same = b.icmp_unsigned(
        "==", b.lshr(system.load_acquire(b, word), i64(symmetric.TAG_SHIFT)), b.lshr(tagged, i64(symmetric.TAG_SHIFT))
      )
      with if_then(b, b.not_(same)):
        _judge(code, other, device)
  _unless_judged(code, is_last=True)
  code.forget_accesses()


def leave(code: PeerCode) -> None:
  """The end of the kernel, where failed CTAs come too."""
  b, peers = code.b, code.peers
  threads.barrier(b)
  b.branch(peers.left)
  b.position_at_end(peers.left)
  absent = _message(
    code,
    f"DeadlockError: Device {{0}} has not ended {peers.title} within {{3}} ms; device {{4}} waited for it. It may have ended, or be slow.",
  )
  failed = _failed(code)
  threads.barrier(b)
  _reset_verdict(code)
  count = peers.word(b, symmetric.NUM_SLOTS)
  has_failed = b.icmp_unsigned("!=", b.load(peers.failing, typ=I32), I32(0))
  with if_then(b, has_failed):
    _tell(code, count, symmetric.FAILED, peers.epoch)
  _tell(code, count, symmetric.LEFT, peers.epoch)
  with for_range(b, b.zext(code.thread, I64), peers.plan.devices, code.num_threads) as device:
    has_left = lambda: b.icmp_unsigned(">=", system.load_acquire(b, peers.own(b, symmetric.LEFT, device)), peers.epoch)
    _poll(code, has_left, lambda: _judge(code, absent, device), others=False)
  _unless_judged(code, is_last=True)
  # Nobody is in the body any more. A device that has failed without others waiting for it is an error for all.
  with for_range(b, b.zext(code.thread, I64), peers.plan.devices, code.num_threads) as device:
    last = system.load_acquire(b, peers.own(b, symmetric.FAILED, device))
    with if_then(b, b.icmp_unsigned("==", last, peers.epoch)):
      _judge(code, failed, device)
  threads.barrier(b)
  with if_then(b, threads.is_first(b, code.thread)):
    b.store(peers.epoch, b.inttoptr(peers.own(b, symmetric.COUNT), PTR), align=8)
    _log_verdict(code)


def _tell(code: PeerCode, count: ir.Value, offset: int, value: ir.Value) -> None:
  """Write a word of this device to the rows of all."""
  b, peers = code.b, code.peers
  system.fence(b)
  with for_range(b, b.zext(code.thread, I64), count, code.num_threads) as slot:
    place = b.add(b.add(peers.heap_of(b, slot), peers.row), b.add(i64(offset), b.mul(peers.me, i64(8))))
    system.store_release(b, place, value)


# --- polling -----------------------------------------------------------------------------------------------------


def _poll(code: PeerCode, holds: Callable[[], ir.Value], give_up: Callable[[], None], *, others: bool = True) -> None:
  """In a thread: poll until something holds, or until it is judged that it will not. `others`: a device that has failed ends it too."""
  b, peers = code.b, code.peers
  start, patience = system.now(b), peers.word(b, symmetric.PATIENCE)
  look, again, beside, nap, done = (b.append_basic_block(n) for n in ("poll", "again", "beside", "nap", "polled"))
  before = b.block
  b.branch(look)
  b.position_at_end(look)
  polls = b.phi(I32)
  polls.add_incoming(I32(0), before)
  b.cbranch(holds(), done, again)
  b.position_at_end(again)
  more = b.add(polls, I32(1))
  b.cbranch(b.icmp_unsigned("==", b.urem(more, I32(_POLLS)), I32(0)), beside, nap)
  b.position_at_end(beside)
  ended = system.load_acquire(b, peers.word(b, symmetric.HOST_WORD))
  with if_then(b, b.icmp_unsigned("!=", ended, i64(0)), ends=True):
    process, pid = b.sub(b.trunc(b.lshr(ended, i64(32)), I32), I32(1)), b.trunc(ended, I32)
    _judge(code, _message(code, _ENDED), process, pid)
    b.branch(done)
  if others:
    failed = _failed(code)
    with for_range(b, 0, peers.plan.devices) as device:
      last = system.load_acquire(b, peers.own(b, symmetric.FAILED, device))
      with if_then(b, b.icmp_unsigned("==", last, peers.epoch), ends=True):
        _judge(code, failed, device)
        b.branch(done)
  is_late = b.icmp_unsigned(">", b.sub(system.now(b), start), patience)
  with if_then(b, is_late, ends=True):
    give_up()
    b.branch(done)
  b.branch(nap)
  b.position_at_end(nap)
  system.nap(b, _NAP)
  polls.add_incoming(more, nap)
  b.branch(look)
  b.position_at_end(done)


def _message(code: PeerCode, text: str) -> int:
  """The number of a message that is told with the verdict's three numbers, the milliseconds that are waited, and this device's number."""
  assert code.error is not None
  return code.error.report.message(text, None)


def _failed(code: PeerCode) -> int:
  return _message(code, f"DeadlockError: Device {{0}} has failed in {code.peers.title}: see its own error.")


def _escaped(text: str) -> str:
  return text.replace("{", "{{").replace("}", "}}")


def _reset_verdict(code: PeerCode) -> None:
  b = code.b
  with if_then(b, threads.is_first(b, code.thread)):
    for word in range(symmetric.VERDICT_WORDS):
      b.store(I32(0), b.gep(code.peers.verdict.pointer, [i64(word)], source_etype=I32), align=4)
  threads.barrier(b)


def _judge(code: PeerCode, message: int, *numbers: ir.Value) -> None:
  """A thread's verdict: the first one counts."""
  b, pointer = code.b, code.peers.verdict.pointer
  tried = b.cmpxchg(pointer, I32(0), I32(message + 1), "monotonic", "monotonic")
  with if_then(b, b.extract_value(tried, 1)):
    for word, number in enumerate(numbers, _FIRST):
      value = number if number.type == I32 else b.trunc(number, I32)
      b.store(value, b.gep(pointer, [i64(word)], source_etype=I32), align=4)


def _log_verdict(code: PeerCode) -> None:
  """In one thread: keep the verdict, if there is one, as the launch's error, unless there is an error."""
  b, log, pointer = code.b, code.error, code.peers.verdict.pointer
  word = lambda number: b.load(b.gep(pointer, [i64(number)], source_etype=I32), typ=I32, align=4)
  with if_then(b, b.icmp_unsigned("!=", word(_MESSAGE), I32(0))):
    before = b.cmpxchg(log.word(b, device_log.FAILED), I32(0), I32(1), "monotonic", "monotonic")
    with if_then(b, b.extract_value(before, 1)):
      patience = b.udiv(code.peers.word(b, symmetric.PATIENCE), i64(_NANOSECONDS))
      fields = [*(word(_FIRST + k) for k in range(3)), b.trunc(patience, I32), b.trunc(code.peers.me, I32)]
      for number, value in enumerate([b.sub(word(_MESSAGE), I32(1)), I32(0), I32(len(fields)), *fields]):
        b.store(value, log.word(b, device_log.MESSAGE + number), align=4)


def _unless_judged(code: PeerCode, *, is_last: bool = False) -> None:
  """In all threads: go on unless there is a verdict. If this `is_last`, others are missing, and the domain is broken."""
  b, peers = code.b, code.peers
  threads.barrier(b)
  verdict = b.load(peers.verdict.pointer, typ=I32, align=4)
  threads.barrier(b)  # before there may be another
  with if_then(b, b.icmp_unsigned("!=", verdict, I32(0)), ends=True):
    with if_then(b, threads.is_first(b, code.thread)):
      _log_verdict(code)
    if is_last:
      with for_range(b, b.zext(code.thread, I64), peers.word(b, symmetric.NUM_SLOTS), code.num_threads) as slot:
        system.store_release(b, b.add(peers.heap_of(b, slot), i64(symmetric.BROKEN)), i64(1))
      b.ret_void()
    else:
      code.stop()


# --- ops ---------------------------------------------------------------------------------------------------------


def _distance(code: PeerCode, device: Value, where: str) -> ir.Value:
  """How far another device's heap is from this one's."""
  b, peers = code.b, code.peers
  number = code.scalar_index(device)
  effects.fail_unless(
    code,
    b.icmp_unsigned("<", number, i64(peers.plan.devices)),
    f"GridError: There is no device of the number used at {where}; the mesh has {peers.plan.devices}.",
  )
  word = b.load(b.inttoptr(peers.own(b, symmetric.ARRIVED, number), PTR), typ=I64, align=8)
  return b.sub(peers.heap_of(b, b.and_(word, i64(symmetric.SLOT_MASK))), peers.heap)


def _remote(code: PeerCode, op: Op) -> None:
  b, (ref, device) = code.b, op.operands
  _check_is_in_heap(code, ref, op)
  view = views.view_of(code.memory_of(ref))
  distance = _distance(code, device, op.attrs["where"])
  moved = lambda pointer: None if pointer is None else b.gep(pointer, [distance], source_etype=I8)
  pointer, anchor = moved(view.pointer), moved(view.anchor)
  code.env[op.results[0]] = dataclasses.replace(view, pointer=pointer, anchor=anchor, policy=None, home=None)


def _check_is_in_heap(code: PeerCode, ref: Value, op: Op) -> None:
  base = base_of(ref)
  if not isinstance(base.owner, Block) or base.owner is not code.whole:
    raise errors.NativeCodeError(
      f"The ref at {op.loc} is memory of a scope in which no other device is accessed, and cannot be accessed by one. Pass it as scratch "
      "memory of the kernel."
    )


def _counter(code: PeerCode, op: Op) -> tuple[ir.Value, list[ir.Value]] | None:
  """The address of a semaphore that other devices signal, and the amount that an op has."""
  found = effects.shared_counter(code, op, SystemSemaphores)
  return None if found is None else (code.b.ptrtoint(found[1], I64), found[2])


def _signal(code: PeerCode, op: Op) -> None:
  if (found := _counter(code, op)) is None:
    return
  b, (place, (value,)) = code.b, found
  code.barrier()
  with if_then(b, threads.is_first(b, code.thread)):
    system.fence(b)
    system.add_release(b, place, value)


def _wait(code: PeerCode, op: Op) -> None:
  if (found := _counter(code, op)) is None:
    return
  b, (place, (needed,)) = code.b, found
  late = _message(
    code,
    f"DeadlockError: Device {{4}} waited for {{3}} ms at {_escaped(op.loc or '?')}, in {code.peers.title}, for a semaphore with {{0}} "
    "of {1}. Others have not signalled it, or wait for this device.",
  )

  def give_up() -> None:
    _judge(code, late, system.load_acquire(b, place, I32), needed)

  code.barrier()
  _reset_verdict(code)
  with if_then(b, threads.is_first(b, code.thread)):
    _poll(code, lambda: b.icmp_signed(">=", system.load_acquire(b, place, I32), needed), give_up)
    if op.attrs["decrement"]:
      system.add_relaxed(b, place, b.neg(needed))
  _all_see(code)


def _all_see(code: PeerCode) -> None:
  """What the first thread saw, all threads see; the CTA stops if it was a verdict."""
  _unless_judged(code)
  code.forget_accesses()


def _read(code: PeerCode, op: Op) -> None:
  if (found := _counter(code, op)) is None:
    return
  b, (place, _), told = code.b, found, code.peers.verdict.pointer
  code.barrier()
  with if_then(b, threads.is_first(b, code.thread)):
    b.store(system.load_acquire(b, place, I32), told, align=4)
  threads.barrier(b)
  code.env[op.results[0]] = b.load(told, typ=I32, align=4)
  code.barrier()


def _lock_device(code: PeerCode, op: Op) -> None:
  """Take the lock of a device's memory: additions to it are serialised."""
  b = code.b
  place = b.add(b.add(code.peers.heap, _distance(code, op.operands[0], op.attrs["where"])), i64(symmetric.LOCK))
  late = _message(
    code,
    f"DeadlockError: Device {{4}} waited for {{3}} ms at {_escaped(op.attrs['where'])}, in {code.peers.title}, for others to be done "
    "adding to the same memory.",
  )
  code.barrier()
  _reset_verdict(code)
  with if_then(b, threads.is_first(b, code.thread)):
    taken = lambda: b.icmp_unsigned("==", system.swap_acquire(b, place, I32(0), I32(1)), I32(0))
    _poll(code, taken, lambda: _judge(code, late))
  _all_see(code)


def _unlock_device(code: PeerCode, op: Op) -> None:
  b = code.b
  place = b.add(b.add(code.peers.heap, _distance(code, op.operands[0], op.attrs["where"])), i64(symmetric.LOCK))
  code.barrier()
  with if_then(b, threads.is_first(b, code.thread)):
    system.fence(b)
    system.store_release(b, place, I32(0))


STATEMENTS: dict[str, Any] = {
  "remote": _remote,
  "signal": _signal,
  "wait": _wait,
  "read_semaphore": _read,
  "lock_device": _lock_device,
  "unlock_device": _unlock_device,
}
