"""A thread pool for kernels that may wait for each other: each runs on a thread of its own.

    hire(work, job)     an idle thread, or a new one, calls `work(job)`; then it waits for the next job, on a semaphore of its own

There are at most as many threads as kernels that waited at the same time. They never exit.
"""

from __future__ import annotations

from llvmlite import ir

from tilewright.target.llvm.frame import at, external, read
from tilewright.target.llvm.loops import i64, if_then
from tilewright.target.llvm.types import I32, I64, PTR, VOID

# A thread: the next idle one, what to call with what, its semaphore (sem_t has 32 bytes in glibc).
_NEXT, _WORK, _JOB, _SEMAPHORE, _BYTES = 0, 8, 16, 24, 64
_NULL = ir.Constant(PTR, None)


_WORK_TYPE = ir.FunctionType(VOID, [PTR])


def emit_start_thread(module: ir.Module) -> ir.Function:
  """`start_thread(work, job)`: let a thread call `work(job)`."""
  lock, idle = (_variable(module, name) for name in ("threads_lock", "threads_idle"))
  start = _emit_start(module, lock, idle)
  start_thread = ir.Function(module, ir.FunctionType(VOID, [PTR, PTR]), "hire")
  start_thread.linkage = "internal"
  b = ir.IRBuilder(start_thread.append_basic_block("entry"))
  work, job = start_thread.args
  _lock(b, lock)
  found = b.inttoptr(b.load(idle, typ=I64), PTR)
  some = b.icmp_unsigned("!=", found, _NULL)
  with if_then(b, some):
    b.store(read(b, found, _NEXT, I64), idle)
  _unlock(b, lock)
  with if_then(b, some, ends=True):
    b.store(work, at(b, found, _WORK))
    b.store(job, at(b, found, _JOB))
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


def _emit_start(module: ir.Module, lock: ir.Value, idle: ir.Value) -> ir.Function:
  start = ir.Function(module, ir.FunctionType(PTR, [PTR]), "thread")
  start.linkage = "internal"
  b = ir.IRBuilder(start.append_basic_block("entry"))
  (own,) = start.args
  again, sleep = b.append_basic_block("again"), b.append_basic_block("sleep")
  b.branch(again)
  b.position_at_end(again)
  b.call(read(b, own, _WORK, _WORK_TYPE.as_pointer()), [read(b, own, _JOB)])
  _lock(b, lock)
  b.store(b.load(idle, typ=I64), at(b, own, _NEXT))
  b.store(b.ptrtoint(own, I64), idle)
  _unlock(b, lock)
  b.branch(sleep)
  b.position_at_end(sleep)
  woken = b.call(external(module, "sem_wait", I32, [PTR]), [at(b, own, _SEMAPHORE)])
  b.cbranch(b.icmp_signed("==", woken, I32(0)), again, sleep)  # a signal may interrupt it
  return start


def _variable(module: ir.Module, name: str) -> ir.GlobalVariable:
  variable = ir.GlobalVariable(module, I64, name)
  variable.initializer, variable.linkage = ir.Constant(I64, 0), "internal"
  return variable


def _lock(b: ir.IRBuilder, lock: ir.Value) -> None:
  again, wait, inside = (b.append_basic_block(name) for name in ("lock", "wait", "locked"))
  b.branch(again)
  b.position_at_end(again)
  b.cbranch(b.icmp_unsigned("==", b.atomic_rmw("xchg", lock, i64(1), "seq_cst"), i64(0)), inside, wait)
  b.position_at_end(wait)
  b.call(external(b.module, "sched_yield", I32, []), [])
  b.branch(again)
  b.position_at_end(inside)


def _unlock(b: ir.IRBuilder, lock: ir.Value) -> None:
  b.store_atomic(i64(0), lock, "seq_cst", 8)
