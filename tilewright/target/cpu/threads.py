"""A thread pool for kernels that wait for each other, and the queue by which devices continue after a rendezvous.

    start_thread(work, job)       an idle thread, or a new one, calls `work(job)`; then it waits for the next job, on a semaphore of its own
    resume(first, last, number)   a chain of states, each completed (`complete(state)`) by a thread of the pool

A thread without a job yields for `_SPIN` before it sleeps: waking a thread that sleeps costs more than a small collective. On a busy
machine a yield gives the processor to another process for milliseconds, while a thread that is woken preempts that process: once that is
noticed, threads sleep at once for a while (`_BUSY`). The thread that was idle last is started first. There are at most as many threads as
jobs at the same time. They never exit.

What XLA computes next for a device runs inside of `complete`, up to the next rendezvous of the device. So as many threads as there are
processors take one device after another from a queue, and a collective costs no thread switch. A device must then not block its thread for
another device that is still in the queue: `resume` is for programs all of whose collectives are gangs (`lifetime.WORLD`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from llvmlite import ir

from tilewright.target.cpu import call_state as state_of
from tilewright.target.llvm.frame import at, external, read
from tilewright.target.llvm.loops import for_range, i64, if_then
from tilewright.target.llvm.types import I32, I64, PTR, VOID

# A thread: the next idle one, what to call (or none yet, or that it sleeps) with what, its semaphore (sem_t has 32 bytes in glibc).
_NEXT, _WORK, _JOB, _SEMAPHORE, _BYTES = 0, 8, 16, 24, 64
_AWAKE, _ASLEEP = 0, 1  # instead of what to call: no job yet
_SPIN = 50_000  # nanoseconds
_SLICE = 1_000_000  # nanoseconds: who gave way for so long did so for another process
_BUSY = 1_000_000_000  # nanoseconds for which the machine then counts as busy
_NULL = ir.Constant(PTR, None)
_PROCESSORS = 84  # _SC_NPROCESSORS_ONLN of Linux's sysconf
_MONOTONIC = 1  # of Linux's clocks
_WORK_TYPE = ir.FunctionType(VOID, [PTR])


def now(b: ir.IRBuilder, room: ir.Value) -> ir.Value:
  """Nanoseconds of the monotonic clock, given room for a timespec."""
  b.call(external(b.module, "clock_gettime", I32, [I32, PTR]), [I32(_MONOTONIC), room])
  return b.add(b.mul(read(b, room, 0, I64), i64(1_000_000_000)), read(b, room, 8, I64))


def emit_start_thread(module: ir.Module) -> ir.Function:
  """`start_thread(work, job)`: let a thread call `work(job)`."""
  lock, idle, busy = (_variable(module, f"threads_{name}") for name in ("lock", "idle", "busy_until"))
  start = _emit_start(module, lock, idle, busy)
  start_thread = ir.Function(module, ir.FunctionType(VOID, [PTR, PTR]), "start_thread")
  start_thread.linkage = "internal"
  b = ir.IRBuilder(start_thread.append_basic_block("entry"))
  work, job = start_thread.args
  with _locked(b, lock):
    found = b.inttoptr(b.load(idle, typ=I64), PTR)
    some = b.icmp_unsigned("!=", found, _NULL)
    with if_then(b, some):
      b.store(read(b, found, _NEXT, I64), idle)
  with if_then(b, some, ends=True):
    b.store(job, at(b, found, _JOB))
    before = b.atomic_rmw("xchg", at(b, found, _WORK), b.ptrtoint(work, I64), "seq_cst")
    with if_then(b, b.icmp_unsigned("==", before, i64(_ASLEEP))):
      b.call(external(module, "sem_post", I32, [PTR]), [at(b, found, _SEMAPHORE)])
    b.ret_void()
  new = b.call(external(module, "calloc", PTR, [I64, I64]), [i64(1), i64(_BYTES)])
  b.call(external(module, "sem_init", I32, [PTR, I32, I32]), [at(b, new, _SEMAPHORE), I32(0), I32(0)])
  b.store(work, at(b, new, _WORK))
  b.store(job, at(b, new, _JOB))
  thread = b.inttoptr(b.ptrtoint(b.alloca(I64), I64), PTR)
  create = external(module, "pthread_create", I32, [PTR, PTR, PTR, PTR])
  failed = b.call(create, [thread, _NULL, start.bitcast(PTR), new])
  with if_then(b, b.icmp_signed("==", failed, I32(0)), ends=True):
    b.call(external(module, "pthread_detach", I32, [I64]), [b.load(thread, typ=I64)])
    b.ret_void()
  b.call(read(b, new, _WORK, _WORK_TYPE.as_pointer()), [job])  # the system has no more threads: better here than never
  b.ret_void()
  return start_thread


def _emit_start(module: ir.Module, lock: ir.Value, idle: ir.Value, busy: ir.Value) -> ir.Function:
  """The loop of a thread: its job, then waiting for the next. The machine counts as busy until the time in `busy`."""
  start = ir.Function(module, ir.FunctionType(PTR, [PTR]), "thread")
  start.linkage = "internal"
  b = ir.IRBuilder(start.append_basic_block("entry"))
  (own,) = start.args
  clock = b.inttoptr(b.ptrtoint(b.alloca(ir.ArrayType(I64, 2)), I64), PTR)
  last = b.alloca(I64)  # when it last looked at the clock
  work, spin, give_way, doze, sleep = (b.append_basic_block(n) for n in ("work", "spin", "give.way", "doze", "sleep"))
  b.branch(work)
  b.position_at_end(work)
  b.call(read(b, own, _WORK, _WORK_TYPE.as_pointer()), [read(b, own, _JOB)])
  b.store_atomic(i64(_AWAKE), _word(b, own, _WORK), "seq_cst", 8)
  with _locked(b, lock):
    b.store(b.load(idle, typ=I64), at(b, own, _NEXT))
    b.store(b.ptrtoint(own, I64), idle)
  since = now(b, clock)
  until = b.add(since, i64(_SPIN))
  b.store(since, last)
  b.cbranch(b.icmp_signed("<", since, b.load(busy, typ=I64)), doze, spin)
  b.position_at_end(spin)
  has_job = b.icmp_unsigned("!=", b.load_atomic(_word(b, own, _WORK), "seq_cst", 8), i64(_AWAKE))
  b.cbranch(has_job, work, give_way)
  b.position_at_end(give_way)
  b.call(external(module, "sched_yield", I32, []), [])
  time = now(b, clock)
  with if_then(b, b.icmp_signed(">", b.sub(time, b.load(last, typ=I64)), i64(_SLICE))):
    b.store(b.add(time, i64(_BUSY)), busy)
  b.store(time, last)
  b.cbranch(b.icmp_signed("<", time, until), spin, doze)
  b.position_at_end(doze)
  before = b.cmpxchg(at(b, own, _WORK), i64(_AWAKE), i64(_ASLEEP), "seq_cst", "seq_cst")
  b.cbranch(b.extract_value(before, 1), sleep, work)
  b.position_at_end(sleep)
  woken = b.call(external(module, "sem_wait", I32, [PTR]), [at(b, own, _SEMAPHORE)])
  b.cbranch(b.icmp_signed("==", woken, I32(0)), work, sleep)  # a signal may interrupt it
  return start


def emit_resume(module: ir.Module, start_thread: ir.Function, complete: ir.Function) -> ir.Function:
  """`resume(first, last, number)`: a chain of so many states, linked by their `NEXT`, is completed by threads of the pool."""
  lock, head, tail, active = (_variable(module, f"completions_{name}") for name in ("lock", "head", "tail", "active"))
  run = _emit_completions(module, lock, head, active, complete)
  resume = ir.Function(module, ir.FunctionType(VOID, [PTR, PTR, I64]), "resume")
  resume.linkage = "internal"
  b = ir.IRBuilder(resume.append_basic_block("entry"))
  first, last, number = resume.args
  processors = emit_processors(module)
  most = b.call(processors, [])
  b.store(i64(0), at(b, last, state_of.NEXT))
  with _locked(b, lock):
    is_empty = b.icmp_signed("==", b.load(head, typ=I64), i64(0))
    with b.if_else(is_empty) as (empty, filled):
      with empty:
        b.store(b.ptrtoint(first, I64), head)
      with filled:
        b.store(first, at(b, b.inttoptr(b.load(tail, typ=I64), PTR), state_of.NEXT))
    b.store(b.ptrtoint(last, I64), tail)
    at_work = b.load(active, typ=I64)
    free = b.sub(most, at_work)
    wanted = b.select(b.icmp_signed("<", number, free), number, free)
    wanted = b.select(b.icmp_signed("<", wanted, i64(0)), i64(0), wanted)
    b.store(b.add(at_work, wanted), active)
  with for_range(b, 0, wanted):
    b.call(start_thread, [run.bitcast(PTR), _NULL])
  b.ret_void()
  return resume


def _emit_completions(
  module: ir.Module, lock: ir.Value, head: ir.Value, active: ir.Value, complete: ir.Function
) -> ir.Function:
  """`completions(_)`: complete states until the queue is empty."""
  function = ir.Function(module, _WORK_TYPE, "completions")
  function.linkage = "internal"
  b = ir.IRBuilder(function.append_basic_block("entry"))
  take, work, out = (b.append_basic_block(name) for name in ("take", "work", "out"))
  b.branch(take)
  b.position_at_end(take)
  with _locked(b, lock):
    found = b.inttoptr(b.load(head, typ=I64), PTR)
    some = b.icmp_unsigned("!=", found, _NULL)
    with b.if_else(some) as (there, none):
      with there:
        b.store(read(b, found, state_of.NEXT, I64), head)
      with none:
        b.store(b.sub(b.load(active, typ=I64), i64(1)), active)
  b.cbranch(some, work, out)
  b.position_at_end(work)
  b.call(complete, [found])
  b.branch(take)
  b.position_at_end(out)
  b.ret_void()
  return function


def emit_processors(module: ir.Module) -> ir.Function:
  """`processors()`: how many there are; the system is asked once."""
  found = module.globals.get("processors")
  if found is not None:
    return found
  known = _variable(module, "processors_known")
  function = ir.Function(module, ir.FunctionType(I64, []), "processors")
  function.linkage = "internal"
  b = ir.IRBuilder(function.append_basic_block("entry"))
  with if_then(b, b.icmp_signed("==", b.load(known, typ=I64), i64(0))):
    found = b.call(external(module, "sysconf", I64, [I32]), [I32(_PROCESSORS)])
    b.store(b.select(b.icmp_signed("<", found, i64(1)), i64(1), found), known)
  b.ret(b.load(known, typ=I64))
  return function


def _word(b: ir.IRBuilder, pointer: ir.Value, offset: int) -> ir.Value:
  """The place of a word, as a pointer that atomic loads and stores take."""
  return b.inttoptr(b.ptrtoint(at(b, pointer, offset), I64), I64.as_pointer())


def _variable(module: ir.Module, name: str) -> ir.GlobalVariable:
  variable = ir.GlobalVariable(module, I64, name)
  variable.initializer, variable.linkage = ir.Constant(I64, 0), "internal"
  return variable


@contextmanager
def _locked(b: ir.IRBuilder, lock: ir.Value) -> Iterator[None]:
  again, wait, inside = (b.append_basic_block(name) for name in ("lock", "wait", "locked"))
  b.branch(again)
  b.position_at_end(again)
  b.cbranch(b.icmp_unsigned("==", b.atomic_rmw("xchg", lock, i64(1), "seq_cst"), i64(0)), inside, wait)
  b.position_at_end(wait)
  b.call(external(b.module, "sched_yield", I32, []), [])
  b.branch(again)
  b.position_at_end(inside)
  yield
  b.store_atomic(i64(0), lock, "seq_cst", 8)
