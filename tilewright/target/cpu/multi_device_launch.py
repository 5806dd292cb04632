"""Kernels that access other devices, from XLA's call to its completion.

XLA computes for all devices on one thread pool, so a kernel that waits must not block one of its threads. Its handler returns a future to
XLA. The kernel then runs in one of two ways:

    a kernel with waits      runs on a thread of ours (`threads`), one for each device
    a gang                   kernels that never wait and access only arrays: nothing runs before all devices have arrived. The last one to
                             arrive runs the bodies of all, with the help of some threads if they are large, and completes all futures,
                             on a thread for each

In a gang no thread waits: an all-reduce of a few numbers costs each device but the last only a list entry.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from tilewright.runtime import ffi
from tilewright.target.cpu import call_state as state_of
from tilewright.target.cpu import device_rendezvous, lifetime, rendezvous_layout, threads
from tilewright.target.cpu.heaps import Heaps
from tilewright.target.llvm.frame import api_function, at, emit_error, external, fill, read, struct
from tilewright.target.llvm.loops import for_range, i64, if_then
from tilewright.target.llvm.types import I64, PTR, VOID

_NULL = ir.Constant(PTR, None)
_DEVICE_ID = ir.FunctionType(I64, [PTR])


class MultiDeviceLaunch:
  """The functions of the launcher that this needs."""

  def __init__(self, module: ir.Module, worker: ir.Function, heaps: Heaps):
    self.module, self.worker, self.heaps = module, worker, heaps
    self.start_thread = threads.emit_start_thread(module)
    self.complete = self._emit_complete()
    self.resume = threads.emit_resume(module, self.start_thread, self.complete)
    self.stage_in, self.stage_out = self._emit_stage_in(), self._emit_stage_out()
    self.run_waiting = self._emit_run_waiting()
    self.gang = self._emit_gang()
    self.helper = self._emit_helper()
    self._emit_abandon()

  def launch(self, b: ir.IRBuilder, frame: ir.Value, state: ir.Value, facts: ir.Value, site: ir.Value) -> ir.Value:
    """Let a kernel run whose state is filled; gives XLA's error, or null."""
    api, context = read(b, frame, ffi.FRAME_API), b.ptrtoint(read(b, frame, ffi.FRAME_CONTEXT), I64)
    request = struct(b, 4)
    fill(b, request, [i64(32), i64(0), context, i64(0)])
    b.call(api_function(b, api, "XLA_FFI_RunId_Get"), [request])
    run = read(b, request, 24, I64)
    fill(b, request, [i64(24), i64(0), i64(0)])
    failed = b.call(api_function(b, api, "XLA_FFI_Future_Create"), [request])
    with if_then(b, b.icmp_unsigned("==", failed, _NULL)):
      future = read(b, request, 16)
      for offset, value in ((state_of.FUTURE, future), (state_of.API, api), (state_of.SITE, site)):
        b.store(value, at(b, state, offset))
      b.store(run, at(b, state, state_of.RUN_ID))
      own = self.module.globals[rendezvous_layout.OWN_HEAP]
      is_shared = b.icmp_unsigned("!=", device_rendezvous.domain_of_call(b, site), _NULL)
      heap = b.add(b.ptrtoint(device_rendezvous.domain_of_call(b, site), I64), b.load(own, typ=I64))
      b.store(b.select(is_shared, heap, i64(0)), at(b, state, state_of.HEAP))
      b.store(future, at(b, frame, ffi.FRAME_FUTURE))
      is_gang = b.icmp_signed("==", read(b, facts, state_of.COMMUNICATION, I64), i64(state_of.GANG))
      with b.if_else(is_gang) as (together, apart):
        with together:
          self._join(b, state, facts, site, run)
        with apart:
          b.call(self.start_thread, [self.run_waiting.bitcast(PTR), state])
    return failed

  def _join(self, b: ir.IRBuilder, state: ir.Value, facts: ir.Value, site: ir.Value, run: ir.Value) -> None:
    """Join a gang; the last one to arrive runs it. The others must not access their state afterwards."""
    arrays = at(b, state, state_of.ARRAYS)
    me = b.call(read(b, facts, state_of.DEVICE_ID, _DEVICE_ID.as_pointer()), [arrays])
    count, is_large = (read(b, facts, offset, I64) for offset in (state_of.DEVICES, state_of.IS_LARGE))
    arrive = self.module.globals[rendezvous_layout.ARRIVE]
    rendezvous = b.call(arrive, [run, site, at(b, site, lifetime.SITE_TITLE), count, me, arrays, state])
    with if_then(b, b.icmp_unsigned("!=", rendezvous, _NULL)):
      members = read(b, rendezvous, rendezvous_layout.MEMBERS, I64)
      with if_then(b, b.icmp_signed("!=", is_large, i64(0))):
        processors = b.call(threads.emit_processors(self.module), [])
        most = b.select(b.icmp_signed("<", processors, members), processors, members)
        b.store(most, at(b, rendezvous, rendezvous_layout.HELPERS))
        with for_range(b, 1, most):
          b.call(self.start_thread, [self.helper.bitcast(PTR), rendezvous])
      with if_then(b, b.icmp_signed("==", is_large, i64(0))):
        b.store(i64(1), at(b, rendezvous, rendezvous_layout.HELPERS))
      b.call(self.gang, [rendezvous, me])

  def _slot(self, b: ir.IRBuilder, rendezvous: ir.Value, device: ir.Value) -> ir.Value:
    return device_rendezvous.slot(b, rendezvous, device)

  def _emit_gang(self) -> ir.Function:
    """`gang(rendezvous, own)`: run bodies until none is left. The last thread to finish completes all futures and frees the meeting.

    What XLA computes next for a device runs inside of its answer. In a program all of whose collectives are gangs it never waits for
    another device, and devices share threads (`threads`). Elsewhere it may, and each device is completed on a thread of its own. The
    device `own`, whose call to the handler this is, is completed here.
    """
    function = ir.Function(self.module, ir.FunctionType(VOID, [PTR, I64]), "gang")
    function.linkage = "internal"
    b = ir.IRBuilder(function.append_basic_block("entry"))
    rendezvous, own = function.args
    count = read(b, rendezvous, rendezvous_layout.COUNT, I64)
    take, work, out = (b.append_basic_block(name) for name in ("take", "work", "out"))
    b.branch(take)
    b.position_at_end(take)
    number = b.atomic_rmw("add", at(b, rendezvous, rendezvous_layout.ENDED), i64(1), "seq_cst")
    b.cbranch(b.icmp_signed("<", number, count), work, out)
    b.position_at_end(work)
    mine = b.append_basic_block("mine")
    b.cbranch(device_rendezvous.takes_part(b, rendezvous, number), mine, take)
    b.position_at_end(mine)
    state = read(b, self._slot(b, rendezvous, number), rendezvous_layout.ARENA)
    b.store(b.ptrtoint(rendezvous, I64), at(b, state, state_of.RUN_ID))
    b.call(self.worker, [state])
    b.branch(take)
    b.position_at_end(out)
    left = b.atomic_rmw("sub", at(b, rendezvous, rendezvous_layout.HELPERS), i64(1), "seq_cst")
    with if_then(b, b.icmp_signed("==", left, i64(1))):
      last = read(b, self._slot(b, rendezvous, own), rendezvous_layout.ARENA)
      only_gangs = b.icmp_signed("!=", read(b, read(b, last, state_of.SITE), lifetime.SITE_ONLY_GANGS, I64), i64(0))
      with b.if_else(only_gangs) as (shared, apart):
        with shared:
          self._resume_others(b, rendezvous, count, own)
        with apart, for_range(b, 0, count) as device, if_then(b, self._is_other(b, rendezvous, device, own)):
          b.call(
            self.start_thread,
            [self.complete.bitcast(PTR), read(b, self._slot(b, rendezvous, device), rendezvous_layout.ARENA)],
          )
      b.call(external(self.module, "free", VOID, [PTR]), [rendezvous])
      b.call(self.complete, [last])
    b.ret_void()
    return function

  def _resume_others(self, b: ir.IRBuilder, rendezvous: ir.Value, count: ir.Value, own: ir.Value) -> None:
    """Chain the states of the devices but `own`, and put them into the queue."""
    first, last = b.alloca(PTR), b.alloca(PTR)
    members = read(b, rendezvous, rendezvous_layout.MEMBERS, I64)
    b.store(_NULL, first)
    with for_range(b, 0, count) as device, if_then(b, self._is_other(b, rendezvous, device, own)):
      state = read(b, self._slot(b, rendezvous, device), rendezvous_layout.ARENA)
      with b.if_else(b.icmp_unsigned("==", b.load(first, typ=PTR), _NULL)) as (begin, more):
        with begin:
          b.store(state, first)
        with more:
          b.store(state, at(b, b.load(last, typ=PTR), state_of.NEXT))
      b.store(state, last)
    with if_then(b, b.icmp_unsigned("!=", b.load(first, typ=PTR), _NULL)):
      b.call(self.resume, [b.load(first, typ=PTR), b.load(last, typ=PTR), b.sub(members, i64(1))])

  def _is_other(self, b: ir.IRBuilder, rendezvous: ir.Value, device: ir.Value, own: ir.Value) -> ir.Value:
    return b.and_(b.icmp_signed("!=", device, own), device_rendezvous.takes_part(b, rendezvous, device))

  def _emit_helper(self) -> ir.Function:
    """`helper(rendezvous)`: the same on a thread of ours, which completes the call of the first device itself."""
    function = ir.Function(self.module, ir.FunctionType(VOID, [PTR]), "helper")
    function.linkage = "internal"
    b = ir.IRBuilder(function.append_basic_block("entry"))
    (rendezvous,), first = function.args, b.alloca(I64)
    b.store(i64(-1), first)
    look, found = b.append_basic_block("look"), b.append_basic_block("found")
    b.branch(look)
    b.position_at_end(look)
    device = b.add(b.load(first, typ=I64), i64(1))
    b.store(device, first)
    b.cbranch(device_rendezvous.takes_part(b, rendezvous, device), found, look)
    b.position_at_end(found)
    b.call(self.gang, [rendezvous, device])
    b.ret_void()
    return function

  def _emit_abandon(self) -> None:
    """`abandon(rendezvous, message)`: complete, with an error, the calls of devices that arrived at an incomplete gang. The caller
    holds the lock of the list and removes the gang from it first."""
    function = ir.Function(self.module, ir.FunctionType(VOID, [PTR, PTR]), rendezvous_layout.ABANDON)
    b = ir.IRBuilder(function.append_basic_block("entry"))
    rendezvous, message = function.args
    with for_range(b, 0, read(b, rendezvous, rendezvous_layout.COUNT, I64)) as device:
      own = self._slot(b, rendezvous, device)
      has_come = b.icmp_signed("!=", read(b, own, rendezvous_layout.STATE, I64), i64(rendezvous_layout.ABSENT))
      with if_then(b, b.and_(has_come, device_rendezvous.takes_part(b, rendezvous, device))):
        state = read(b, own, rendezvous_layout.ARENA)
        b.store(b.ptrtoint(message, I64), at(b, state, state_of.ERROR))
        b.call(self.complete, [state])
    b.call(external(self.module, "free", VOID, [PTR]), [rendezvous])
    b.ret_void()

  def _emit_run_waiting(self) -> ir.Function:
    """`run_waiting(state)`: run a kernel that waits. Arrays that other processes access are replaced by copies in shared memory."""
    run_waiting = ir.Function(self.module, ir.FunctionType(VOID, [PTR]), "run_waiting")
    run_waiting.linkage = "internal"
    (state,) = run_waiting.args
    b = ir.IRBuilder(run_waiting.append_basic_block("entry"))
    is_shared = b.icmp_unsigned("!=", read(b, state, state_of.HEAP), _NULL)
    with if_then(b, is_shared):
      b.call(self.stage_in, [state])
    with if_then(b, b.icmp_unsigned("==", read(b, state, state_of.ERROR, I64), i64(0))):
      b.call(self.worker, [state])
    with if_then(b, is_shared):
      b.call(self.stage_out, [state])
    b.call(self.complete, [state])
    b.ret_void()
    return run_waiting

  def _staged(self, b: ir.IRBuilder, state: ir.Value, body: Callable[[ir.Value, ir.Value, ir.Value], None]) -> None:
    """For each staged array: its entry among the facts, the place of its pointer, and the place of XLA's."""
    table = read(b, read(b, state, state_of.FACTS), state_of.STAGED)
    own = read(b, state, state_of.OWN_ARRAYS)
    with for_range(b, 0, b.load(table, typ=I64)) as i:
      entry = b.gep(table, [b.add(i64(1), b.mul(i, i64(5)))], source_etype=I64)
      place = b.gep(at(b, state, state_of.ARRAYS), [b.load(entry, typ=I64)], source_etype=I64)
      body(entry, place, b.gep(own, [i], source_etype=I64))

  def _emit_stage_in(self) -> ir.Function:
    """`stage_in(state)`: memory that others see for each staged array, with what is in it."""
    function = ir.Function(self.module, ir.FunctionType(VOID, [PTR]), "stage_in")
    function.linkage = "internal"
    b = ir.IRBuilder(function.append_basic_block("entry"))
    (state,) = function.args
    heap = read(b, state, state_of.HEAP)
    count = b.load(read(b, read(b, state, state_of.FACTS), state_of.STAGED), typ=I64)
    memory = b.call(external(self.module, "calloc", PTR, [I64, I64]), [b.add(count, i64(1)), i64(8)])
    b.store(memory, at(b, state, state_of.OWN_ARRAYS))

    def stage(entry: ir.Value, place: ir.Value, own: ir.Value) -> None:
      given = b.load(place, typ=PTR)
      nbytes, same = read(b, entry, 8, I64), read(b, entry, 16, I64)
      with b.if_else(b.icmp_signed(">=", same, i64(0))) as (alias, alone):
        with alias:
          b.store(b.load(b.gep(at(b, state, state_of.ARRAYS), [same], source_etype=I64), typ=PTR), place)
          b.store(given, own)
        with alone:
          block = b.call(self.heaps.lease, [heap, nbytes])
          is_there = b.icmp_unsigned("!=", block, _NULL)
          with b.if_else(is_there) as (some, none):
            with some:
              b.store(block, place)
              b.store(given, own)
              with if_then(b, b.icmp_signed("!=", read(b, entry, 24, I64), i64(0))):
                self._copy(b, block, given, nbytes)
            with none:
              full = read(b, read(b, state, state_of.FACTS), state_of.NO_MEMORY, I64)
              b.store(full, at(b, state, state_of.ERROR))

    self._staged(b, state, stage)
    facts = read(b, state, state_of.FACTS)
    operands, bounds, results = (
      read(b, facts, at_, I64) for at_ in (state_of.NUM_OPERANDS, state_of.NUM_BOUNDS, state_of.NUM_RESULTS)
    )
    nbytes = b.mul(b.add(b.sub(operands, bounds), results), i64(8))
    seen = b.call(self.heaps.lease, [heap, nbytes])
    b.store(seen, at(b, state, state_of.SEEN))
    with b.if_else(b.icmp_unsigned("!=", seen, _NULL)) as (some, none):
      with some:
        self._copy(b, seen, at(b, state, state_of.ARRAYS), nbytes)
      with none:
        b.store(read(b, facts, state_of.NO_MEMORY, I64), at(b, state, state_of.ERROR))
    b.ret_void()
    return function

  def _emit_stage_out(self) -> ir.Function:
    """`stage_out(state)`: copy results to XLA's buffers, and free the shared memory."""
    function = ir.Function(self.module, ir.FunctionType(VOID, [PTR]), "stage_out")
    function.linkage = "internal"
    b = ir.IRBuilder(function.append_basic_block("entry"))
    (state,) = function.args

    def copy_back(entry: ir.Value, place: ir.Value, own: ir.Value) -> None:
      given, block = b.load(own, typ=PTR), b.load(place, typ=PTR)
      is_written = b.icmp_signed("!=", read(b, entry, 32, I64), i64(0))
      with if_then(b, b.and_(is_written, b.icmp_unsigned("!=", given, _NULL))):
        self._copy(b, given, block, read(b, entry, 8, I64))

    def release_block(entry: ir.Value, place: ir.Value, own: ir.Value) -> None:
      alone = b.icmp_signed("<", read(b, entry, 16, I64), i64(0))
      with if_then(b, b.and_(alone, b.icmp_unsigned("!=", b.load(own, typ=PTR), _NULL))):
        b.call(self.heaps.release, [b.load(place, typ=PTR)])

    self._staged(b, state, copy_back)
    self._staged(b, state, release_block)
    seen = read(b, state, state_of.SEEN)
    with if_then(b, b.icmp_unsigned("!=", seen, _NULL)):
      b.call(self.heaps.release, [seen])
    b.call(external(self.module, "free", VOID, [PTR]), [read(b, state, state_of.OWN_ARRAYS)])
    b.ret_void()
    return function

  def _copy(self, b: ir.IRBuilder, target: ir.Value, source: ir.Value, nbytes: ir.Value) -> None:
    b.call(external(self.module, "memcpy", PTR, [PTR, PTR, I64]), [target, source, nbytes])

  def _emit_complete(self) -> ir.Function:
    """`complete(state)`: tell XLA that a kernel is done. After that its code and its arrays may be gone."""
    complete = ir.Function(self.module, ir.FunctionType(VOID, [PTR]), "complete")
    complete.linkage = "internal"
    (state,) = complete.args
    b = ir.IRBuilder(complete.append_basic_block("entry"))
    message, future = read(b, state, state_of.ERROR, I64), read(b, state, state_of.FUTURE, I64)
    api = read(b, state, state_of.API)
    b.call(external(self.module, "free", VOID, [PTR]), [state])
    request = struct(b, 4)
    with if_then(b, b.icmp_unsigned("!=", message, i64(0)), ends=True):
      error = emit_error(b, api, message)
      fill(b, request, [i64(32), i64(0), future, b.ptrtoint(error, I64)])
      b.call(api_function(b, api, "XLA_FFI_Future_SetError"), [request])
      b.ret_void()
    fill(b, request, [i64(24), i64(0), future])
    b.call(api_function(b, api, "XLA_FFI_Future_SetAvailable"), [request])
    b.ret_void()
    return complete
