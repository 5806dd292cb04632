"""Warpgroups of a block on the CPU: coroutines of one thread, which yield where they wait.

    point(args, sizes, arena, number)     one block: starts its warpgroups, and schedules them round-robin until all are done
      start(state, group)                 the first turn of a warpgroup, on a stack of its own
        warpgroup(state, group)           its way through the body
          await: not yet? ──► back to `point`, which continues with the next one

Only one of them runs at a time, so nothing needs to be atomic. If none of them makes progress in a whole round, none ever will: that is a
DeadlockError, with the line at which each of them waits.

A barrier is a number of arrivals, and for each warpgroup a number of waits: the n-th wait is for n times the arrivals of a phase. If
another phase has ended by then, the wait fails, as a GPU would hang.

Cores of a mesh that signal each other (`NativeKernel.are_cores`) run in the same way. They have semaphores, and a wait that finds too
small a count lets the others run.

Coroutines are those of the C library (getcontext, makecontext, swapcontext).
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright import errors
from tilewright.target.cpu import effects, remote_ops, statements
from tilewright.target.cpu.code import HostCode
from tilewright.target.cpu.hosts import Host
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.frame import at, external, read, text_pointer
from tilewright.target.llvm.loops import Index, i64, if_then
from tilewright.target.llvm.memory import Memory
from tilewright.target.llvm.types import I32, I64, PTR, VOID
from tilewright.tile import polling
from tilewright.tile.ir import Op, Value, users
from tilewright.tile.native import NativeKernel
from tilewright.tile.types import RefType, SemaphoreArrayType

# struct ucontext_t of glibc: flags, what to go on with at the end, the stack (pointer, flags, size), then the registers.
_LINK, _STACK, _STACK_SIZE = 8, 16, 32
_CONTEXT_BYTES = 8192  # 968 on x86-64, 4560 on AArch64
_STACK_BYTES = 512 << 10
# The state of a block, in words: its arguments, whether anyone got any further in this round, how many have met, where the meeting of
# devices is; then the indices of the grid, then for each warpgroup whether it is done, the line where it waits, its context and its own
# memory.
_ARGS, _SIZES, _ARENA, _PROGRESS, _MET, _MAIN, _CELL, _INDICES = (8 * i for i in range(8))
_DONE, _WHERE, _CONTEXT, _OWN, _OF_GROUP = (8 * i for i in range(5))


@dataclasses.dataclass(eq=False)
class Barriers:
  """Barriers as one warpgroup sees them: arrivals of all, and its own waits."""

  arrived: Memory
  waits: Memory
  arrivals: int
  base = None


@dataclasses.dataclass(eq=False)
class RunningWarpgroup:
  """Which of a block's warpgroups is running, for the code of its body."""

  b: ir.IRBuilder
  state: ir.Value
  group: ir.Value  # an i64
  num_indices: int
  count: int
  met: ir.Value  # how often this one has met the others

  def own(self, offset: int) -> ir.Value:
    """Where a word of this warpgroup is."""
    first = 8 * self.num_indices + _INDICES + offset
    return self.b.gep(self.state, [self.b.add(i64(first), self.b.mul(self.group, i64(_OF_GROUP)))], source_etype=ty.I8)

  def until(self, is_so: Callable[[], ir.Value], where: str) -> None:
    """Let others run until something is so."""
    b = self.b
    look, wait, done = (b.append_basic_block(name) for name in ("look", "give.way", "go.on"))
    b.branch(look)
    b.position_at_end(look)
    b.cbranch(is_so(), done, wait)
    b.position_at_end(wait)
    b.store(text_pointer(b.module, where), self.own(_WHERE))
    self.yield_control()
    b.branch(look)
    b.position_at_end(done)
    b.store(i64(1), at(b, self.state, _PROGRESS))

  def yield_control(self) -> None:
    """Yield until it is this one's turn again."""
    b = self.b
    swap = external(b.module, "swapcontext", I32, [PTR, PTR])
    b.call(swap, [b.load(self.own(_CONTEXT), typ=PTR), read(b, self.state, _MAIN)])


def check_host() -> None:
  if sys.platform != "linux":
    raise errors.UnsupportedFeatureError(
      "Kernels of several warpgroups (num_threads), or of cores that signal each other, are native code only on Linux, whose C library has "
      "coroutines. Use interpret=True."
    )


class WarpgroupCode(HostCode):
  """The code of a body that several warpgroups or cores run, each its own way."""

  synchronizing_ops = HostCode.synchronizing_ops | {"signal", "wait", "read_semaphore"}

  def __init__(self, b: ir.IRBuilder, host: Host, arena: ir.Value, turns: RunningWarpgroup):
    super().__init__(b, host, arena, STATEMENTS)
    self.turns = turns
    self.polling = BetweenCores()


class BetweenCores:
  """Polling while other cores or warpgroups run: they do whenever this one polls. A loop that only waits is no progress, as a wait is
  none."""

  def begin(self, code: WarpgroupCode, kind: str) -> Any:
    return None

  def poll(self, code: WarpgroupCode, state: Any, kind: str, op: Op) -> None:
    b, turns = code.b, code.turns
    b.store(text_pointer(b.module, f"polls a semaphore at {op.loc}"), turns.own(_WHERE))
    if kind != polling.WAIT:
      self.end(code, state)
    turns.yield_control()

  def end(self, code: WarpgroupCode, state: Any) -> None:
    code.b.store(i64(1), at(code.b, code.turns.state, _PROGRESS))


class CommunicatingWarpgroups(remote_ops.CommunicatingCode, WarpgroupCode):
  """The code of a body of cores that access other devices, too."""

  synchronizing_ops = WarpgroupCode.synchronizing_ops | remote_ops.SYNCHRONISING

  def __init__(
    self,
    b: ir.IRBuilder,
    host: Host,
    arena: ir.Value,
    turns: RunningWarpgroup,
    rendezvous_scope: remote_ops.RendezvousScope,
  ):
    super().__init__(b, host, arena, turns)
    self.rendezvous_scope = rendezvous_scope
    self.statements = {**STATEMENTS, **remote_ops.REMOTE, "wait": _wait_atomically}

  def _bases_exchanged(self) -> set[Any]:
    return super()._bases_exchanged() | remote_ops.remotely_accessed_bases(self)


# --- ops ---------------------------------------------------------------------------------------------------------


def _counter(code: WarpgroupCode, barrier: Value, index: Sequence[Value]) -> tuple[Barriers, list[Index]]:
  return code.env[barrier], [Index(code.scalar_index(i)) for i in index]


def _alloc(code: WarpgroupCode, op: Op) -> None:
  """Barriers that one warpgroup has for itself; or semaphores."""
  kind = op.results[0].type
  assert isinstance(kind, SemaphoreArrayType)
  counts = effects.semaphores(code, kind.shape)
  waits = effects.semaphores(code, kind.shape) if kind.arrivals else None
  code.env[op.results[0]] = counts if waits is None else Barriers(counts, waits, kind.arrivals)


def _arrive(code: WarpgroupCode, op: Op) -> None:
  own, place = _counter(code, op.operands[0], op.operands[1:])
  code.store(own.arrived, place, code.b.add(code.load(own.arrived, place, 1), I32(1)))


def _await(code: WarpgroupCode, op: Op) -> None:
  b = code.b
  own, place = _counter(code, op.operands[0], op.operands[1:])
  waits = b.add(code.load(own.waits, place, 1), I32(1))
  code.store(own.waits, place, waits)
  needed = b.mul(waits, I32(own.arrivals))
  code.turns.until(
    lambda: b.icmp_signed(">=", code.load(own.arrived, place, 1), needed), f"waits at {op.attrs['message']}"
  )
  one_more = b.add(needed, I32(own.arrivals))
  effects.fail_unless(
    code,
    b.icmp_signed("<", code.load(own.arrived, place, 1), one_more),
    f"DeadlockError: The barrier_wait at {op.attrs['message']} comes too late: two phases of the barrier have ended since this warpgroup "
    "waited for it, which a GPU cannot tell from none. Let those who arrive wait for this warpgroup before, by another barrier.",
  )


def _read(code: WarpgroupCode, op: Op) -> None:
  """How many have arrived since the last phase that this one waited for. Others run first where that is no whole phase, since who asks may
  ask again until it is."""
  barrier, *index = op.operands
  own = code.env[barrier]
  if not isinstance(own, Barriers):
    return statements.STATEMENTS["read_semaphore"](code, op)
  b, place = code.b, [Index(code.scalar_index(i)) for i in index]
  count = lambda: b.sub(code.load(own.arrived, place, 1), b.mul(code.load(own.waits, place, 1), I32(own.arrivals)))
  with if_then(b, b.icmp_signed("<", count(), I32(own.arrivals))):
    b.store(i64(1), at(b, code.turns.state, _PROGRESS))
    code.turns.yield_control()
  code.env[op.results[0]] = count()


def _meet(code: WarpgroupCode, op: Op) -> None:
  """The last to come lets barriers begin anew, before any other goes on."""
  b, turns = code.b, code.turns
  met = b.add(b.load(turns.met, typ=I64), i64(turns.count))
  b.store(met, turns.met)
  count = b.add(read(b, turns.state, _MET, I64), i64(1))
  b.store(count, at(b, turns.state, _MET))
  barriers = [(v, code.env[v]) for v in op.operands]
  with if_then(b, b.icmp_signed("==", count, met)), code.scope():
    for v, own in barriers:
      effects.clear(code, own.arrived if isinstance(own, Barriers) else own, v.type.shape)
  turns.until(
    lambda: b.icmp_signed(">=", read(b, turns.state, _MET, I64), met), f"waits for the others to come to {op.loc}"
  )
  for v, own in barriers:
    if isinstance(own, Barriers):
      effects.clear(code, own.waits, v.type.shape)


def _wait(code: WarpgroupCode, op: Op) -> None:
  b = code.b
  semaphore, amount, *index = op.operands
  memory, place = code.memory_of(semaphore), [Index(code.scalar_index(i)) for i in index]
  needed = b.trunc(code.scalar_index(amount), I32)
  code.turns.until(lambda: b.icmp_signed(">=", code.load(memory, place, 1), needed), f"waits at {op.loc}")
  if op.attrs["decrement"]:
    code.store(memory, place, b.sub(code.load(memory, place, 1), needed))


def _wait_atomically(code: CommunicatingWarpgroups, op: Op) -> None:
  """A wait for a semaphore that other devices count, too."""
  b = code.b
  semaphore, amount, *index = op.operands
  place = code.address(code.memory_of(semaphore), [Index(code.scalar_index(i)) for i in index])[0]
  needed = b.trunc(code.scalar_index(amount), I32)
  count = lambda: b.load_atomic(place, "seq_cst", 4, typ=I32)
  code.turns.until(lambda: b.icmp_signed(">=", count(), needed), f"waits at {op.loc}")
  if op.attrs["decrement"]:
    b.atomic_rmw("sub", place, needed, "seq_cst")


STATEMENTS: dict[str, Callable[[Any, Op], None]] = {
  **statements.STATEMENTS,
  "wait": _wait,
  "alloc_semaphores": _alloc,
  "arrive": _arrive,
  "await": _await,
  "read_semaphore": _read,
  "meet": _meet,
}


# --- functions ---------------------------------------------------------------------------------------------------


class Block:
  """The functions of a kernel's block: the code of its warpgroups, and what `point` has to say to run them."""

  def __init__(self, module: ir.Module, kernel: NativeKernel, host: Host, instance: Callable[..., None]):
    check_host()
    self.module, self.kernel, self.host = module, kernel, host
    self.count, self.rank = kernel.warpgroups, len(kernel.mapping.grid)
    self.body = self._emit_warpgroup(instance)
    self.start = self._emit_start()

  def shared(self, code: HostCode) -> list[Memory | None]:
    """The scratch memory that all warpgroups share, from the start of an arena on; None for what each has for itself."""
    found: list[Memory | None] = []
    for kind in self.kernel.scratch:
      if isinstance(kind, SemaphoreArrayType):
        found.append(code.allocate(kind.shape, np.int32))
      else:
        assert isinstance(kind, RefType)
        found.append(None if kind.is_accumulator else code.allocate(kind.shape, kind.dtype))
    return found

  def _emit_warpgroup(self, instance: Callable[..., None]) -> ir.Function:
    """`warpgroup(state, group)`: one way through the body."""
    function = ir.Function(self.module, ir.FunctionType(VOID, [PTR, I64]), "warpgroup")
    function.linkage = "internal"
    state, group = function.args
    b = ir.IRBuilder(function.append_basic_block("entry"))
    met = b.alloca(I64)
    b.store(i64(0), met)
    start = b.append_basic_block("start")
    b.position_at_end(start)
    turns = RunningWarpgroup(b, state, group, self.rank, self.count, met)
    args, sizes_pointer = read(b, state, _ARGS), read(b, state, _SIZES)
    code: WarpgroupCode
    if self.kernel.mesh:
      rendezvous_scope = remote_ops.RendezvousScope(self.kernel, args, read(b, state, _CELL), read(b, state, _ARENA))
      code = CommunicatingWarpgroups(b, self.host, read(b, state, _ARENA), turns, rendezvous_scope)
    else:
      code = WarpgroupCode(b, self.host, read(b, state, _ARENA), turns)
    code.users, code.whole = users(self.kernel.body.body), self.kernel.body.body
    code.error = b.gep(args, [i64(-1)], source_etype=I64)
    shared = self.shared(code)
    code.arena, code.arena_bytes = b.load(turns.own(_OWN), typ=PTR), 0
    memory: list[Any] = []
    own: Any
    for kind, own in zip(self.kernel.scratch, shared):
      if isinstance(kind, SemaphoreArrayType):
        own = Barriers(own, effects.semaphores(code, kind.shape), kind.arrivals) if kind.arrivals else own
      elif own is None:
        assert isinstance(kind, RefType)
        own = code.allocate(kind.shape, kind.dtype)
        statements.poison(code, own, kind.shape)
      memory.append(own)
    sizes = [b.load(b.gep(sizes_pointer, [i64(d)], source_etype=I64), typ=I64) for d in range(self.rank)]
    indices = [read(b, state, _INDICES + 8 * d, I64) for d in range(self.rank - 1)]
    instance(code, args, memory, [*indices, group], sizes)
    b.ret_void()
    b.position_at_end(function.entry_basic_block)
    b.branch(start)
    self.own_bytes = code.arena_bytes
    return function

  def _emit_start(self) -> ir.Function:
    """`start(low, high, group)`: the first turn of a warpgroup; a coroutine takes numbers of 32 bits."""
    function = ir.Function(self.module, ir.FunctionType(VOID, [I32, I32, I32]), "start")
    function.linkage = "internal"
    low, high, number = function.args
    b = ir.IRBuilder(function.append_basic_block("entry"))
    address = b.or_(b.zext(low, I64), b.shl(b.zext(high, I64), i64(32)))
    state, group = b.inttoptr(address, PTR), b.zext(number, I64)
    b.store(i64(1), at(b, state, _PROGRESS))
    b.call(self.body, [state, group])
    turns = RunningWarpgroup(b, state, group, self.rank, self.count, state)
    b.store(i64(1), turns.own(_DONE))
    b.store(i64(1), at(b, state, _PROGRESS))
    b.ret_void()
    return function

  def run(
    self, code: HostCode, args: ir.Value, sizes: ir.Value, scratch: Sequence[Any], indices: Sequence[Any]
  ) -> None:
    """Run the warpgroups of a block at some indices of the grid. Everything is in the arena, from which a worker gives each block."""
    b = code.b
    for kind, memory in zip(self.kernel.scratch, scratch):
      if isinstance(kind, SemaphoreArrayType):
        effects.clear(code, memory, kind.shape)
    words = _INDICES + 8 * self.rank + _OF_GROUP * self.count
    state = code.allocate((words,), np.uint8).pointer
    main = code.allocate((_CONTEXT_BYTES,), np.uint8).pointer
    cell = code.rendezvous_scope.cell if isinstance(code, remote_ops.DeviceCode) else ir.Constant(PTR, None)
    for offset, value in (
      *((_ARGS, args), (_SIZES, sizes), (_ARENA, code.arena), (_MET, i64(0)), (_MAIN, main), (_CELL, cell)),
      *((_INDICES + 8 * d, i64(index)) for d, index in enumerate(indices)),
    ):
      b.store(value, at(b, state, offset))
    groups = [RunningWarpgroup(b, state, i64(w), self.rank, self.count, state) for w in range(self.count)]
    for number, group in enumerate(groups):
      self._begin(code, state, main, number, group)
    self._run_round_robin(code, state, main, groups)

  def _begin(self, code: HostCode, state: ir.Value, main: ir.Value, number: int, group: RunningWarpgroup) -> None:
    """A coroutine for a warpgroup, with its stack and its memory."""
    b, module = code.b, self.module
    context, stack, own = (
      code.allocate((size,), np.uint8).pointer for size in (_CONTEXT_BYTES, _STACK_BYTES, max(1, self.own_bytes))
    )
    b.call(external(module, "getcontext", I32, [PTR]), [context])
    for offset, value in ((_LINK, main), (_STACK, stack), (_STACK_SIZE, i64(_STACK_BYTES))):
      b.store(value, at(b, context, offset))
    for offset, value in ((_DONE, i64(0)), (_WHERE, ir.Constant(PTR, None)), (_CONTEXT, context), (_OWN, own)):
      b.store(value, group.own(offset))
    make = external(module, "makecontext", VOID, [PTR, PTR, I32], var_arg=True)
    address = b.ptrtoint(state, I64)
    low, high = b.trunc(address, I32), b.trunc(b.lshr(address, i64(32)), I32)
    b.call(make, [context, self.start.bitcast(PTR), I32(3), low, high, I32(number)])

  def _run_round_robin(
    self, code: HostCode, state: ir.Value, main: ir.Value, groups: Sequence[RunningWarpgroup]
  ) -> None:
    """Let all run, one after another, until all are done, one has failed, or none gets any further."""
    b = code.b
    swap = external(self.module, "swapcontext", I32, [PTR, PTR])
    again, out = b.append_basic_block("round"), b.append_basic_block("end.of.block")
    b.branch(again)
    b.position_at_end(again)
    b.store(i64(0), at(b, state, _PROGRESS))
    is_done = lambda group: b.icmp_signed("!=", b.load(group.own(_DONE), typ=I64), i64(0))
    for group in groups:
      with if_then(b, b.not_(is_done(group))):
        b.call(swap, [main, b.load(group.own(_CONTEXT), typ=PTR)])
      on = b.append_basic_block("next")
      failed = b.load_atomic(code.error, "monotonic", 8, typ=I64)
      b.cbranch(b.icmp_unsigned("!=", failed, i64(0)), out, on)
      b.position_at_end(on)
    done: ir.Value = is_done(groups[0])
    for group in groups[1:]:
      done = b.and_(done, is_done(group))
    look, stuck = b.append_basic_block("is.stuck"), b.append_basic_block("stuck")
    b.cbranch(done, out, look)
    b.position_at_end(look)
    moved = b.append_basic_block("moved")
    b.cbranch(b.icmp_signed("!=", read(b, state, _PROGRESS, I64), i64(0)), moved, stuck)
    b.position_at_end(moved)
    if isinstance(code, remote_ops.DeviceCode):
      remote_ops.moved(code)
    b.branch(again)
    b.position_at_end(stuck)
    if isinstance(code, remote_ops.DeviceCode):
      # Another device may signal one of them: only if that can never be is it an error.
      where = b.load(groups[0].own(_WHERE), typ=PTR)
      for group in groups[1:]:
        where = b.select(is_done(groups[0]), b.load(group.own(_WHERE), typ=PTR), where)
      remote_ops.idle(code, where)
      failed = b.load_atomic(code.error, "monotonic", 8, typ=I64)
      b.cbranch(b.icmp_unsigned("!=", failed, i64(0)), out, again)
    else:
      self._report(code, groups)
      b.branch(out)
    b.position_at_end(out)

  def _report(self, code: HostCode, groups: Sequence[RunningWarpgroup]) -> None:
    """Say where all those wait that are not done. The text is never freed: the call has failed."""
    b, module = code.b, self.module
    text = lambda words: text_pointer(module, words)
    size = 1024 * (1 + len(groups))
    name = self.kernel.name.replace("%", "%%")
    noun, subject, advice = (
      ("core", f"The cores of kernel '{name}'", "Signal each semaphore as often as it is waited for.")
      if self.kernel.are_cores
      else (
        "warpgroup",
        f"The warpgroups of a block of kernel '{name}'",
        "Arrive at each barrier as often as its num_arrivals, for every wait.",
      )
    )
    buffer = b.call(external(module, "malloc", PTR, [I64]), [i64(size)])
    parts: list[ir.Value] = []
    for number, group in enumerate(groups):
      done = b.icmp_signed("!=", b.load(group.own(_DONE), typ=I64), i64(0))
      where = b.load(group.own(_WHERE), typ=PTR)
      parts += [text(f"\n  {noun} {number} "), b.select(done, text("is done"), where)]
    form = f"DeadlockError: {subject} wait for each other and never go on:" + "%s%s" * len(groups) + f"\n{advice}"
    write = external(module, "snprintf", I32, [PTR, I64, PTR], var_arg=True)
    b.call(write, [buffer, i64(size), text(form), *parts])
    b.cmpxchg(code.error, i64(0), b.ptrtoint(buffer, I64), "seq_cst", "seq_cst")
