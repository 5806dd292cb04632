"""The FFI handler of a CPU kernel, in LLVM: collects pointers and spreads the parallel grid points over XLA's thread pool.

Work is handed out in chunks through an atomic counter. The calling thread takes chunks too, so nothing depends on another thread ever
running; it waits only for chunks that another thread has begun. The shared state is on the heap and freed by whoever leaves last, since
a task may be started by the pool after all work is done.
"""

from __future__ import annotations

import sys
from typing import Any

from llvmlite import ir

from tilewright.runtime import ffi
from tilewright.target.llvm.frame import api_function, at, emit_error, external, fill, read, struct
from tilewright.target.llvm.loops import for_range, i64, if_then
from tilewright.target.llvm.types import I32, I64, PTR, VOID

# The shared state: counters, the message of an instance that failed, then the pointers to the arrays, then the sizes of the grid.
_NEXT, _DONE, _POINTS, _CHUNK, _OWNERS, _ERROR, _ARRAYS = (8 * i for i in range(7))
_HUGE_PAGE = 1 << 21
_LARGE = 4 * _HUGE_PAGE  # bytes from which a result is worth huge pages
_MADV_HUGEPAGE = 14  # from Linux's sys/mman.h; only advice, so a refusal changes nothing
_CHUNKS_PER_THREAD = 16  # so that a slow thread, or a heavy part of the grid, does not keep the others waiting


def emit_worker(module: ir.Module, point: ir.Function, num_arrays: int, arena_bytes: int) -> ir.Function:
  """`worker(state)`: take chunks until none is left."""
  worker = ir.Function(module, ir.FunctionType(VOID, [PTR]), "worker")
  worker.linkage = "internal"
  (state,) = worker.args
  b = ir.IRBuilder(worker.append_basic_block("entry"))
  memory = b.call(external(module, "malloc", PTR, [I64]), [i64(arena_bytes + 64)])
  address = b.and_(b.add(b.ptrtoint(memory, I64), i64(63)), i64(-64))
  arena = b.inttoptr(address, PTR)
  arrays, sizes = at(b, state, _ARRAYS), at(b, state, _ARRAYS + 8 * num_arrays)
  points, chunk = read(b, state, _POINTS, I64), read(b, state, _CHUNK, I64)
  take, work, out = (b.append_basic_block(name) for name in ("take", "work", "out"))
  b.branch(take)
  b.position_at_end(take)
  first = b.mul(b.atomic_rmw("add", at(b, state, _NEXT), i64(1), "seq_cst"), chunk)
  b.cbranch(b.icmp_signed("<", first, points), work, out)
  b.position_at_end(work)
  end = b.add(first, chunk)
  end = b.select(b.icmp_signed("<", end, points), end, points)
  with for_range(b, first, end) as p:
    b.call(point, [arrays, sizes, arena, p])
  b.atomic_rmw("add", at(b, state, _DONE), b.sub(end, first), "seq_cst")
  b.branch(take)
  b.position_at_end(out)
  b.call(external(module, "free", VOID, [PTR]), [memory])
  b.ret_void()
  return worker


def _emit_leave(b: ir.IRBuilder, module: ir.Module, state: ir.Value) -> None:
  """Free the state if no one else uses it."""
  owners = b.atomic_rmw("sub", at(b, state, _OWNERS), i64(1), "seq_cst")
  with if_then(b, b.icmp_signed("==", owners, i64(1))):
    b.call(external(module, "free", VOID, [PTR]), [state])


def _emit_task(module: ir.Module, worker: ir.Function) -> ir.Function:
  task = ir.Function(module, ir.FunctionType(VOID, [PTR]), "task")
  task.linkage = "internal"
  b = ir.IRBuilder(task.append_basic_block("entry"))
  b.call(worker, task.args)
  _emit_leave(b, module, task.args[0])
  b.ret_void()
  return task


def emit_handler(
  module: ir.Module,
  worker: ir.Function,
  *,
  num_operands: int,
  num_bounds: int,
  result_bytes: list[int],
  grid: tuple[Any, ...],
  parallel: list[int],
  name: str,
  inline: bool,
  can_fail: bool,
  prepare: ir.Function | None,
) -> None:
  """The function XLA calls. The operands are the dynamic grid bounds, then the arrays; the results are arrays too.
  `prepare(arrays)` runs before any instance."""
  handler = ir.Function(module, ir.FunctionType(PTR, [PTR]), name)
  (frame,) = handler.args
  b = ir.IRBuilder(handler.append_basic_block("entry"))
  null = ir.Constant(PTR, None)
  extension = read(b, frame, ffi.FRAME_EXTENSION)
  run, metadata = b.append_basic_block("run"), b.append_basic_block("metadata")
  b.cbranch(b.icmp_unsigned("==", extension, null), run, metadata)
  b.position_at_end(metadata)
  version = read(b, extension, ffi.METADATA_POINTER)
  major, minor = ffi.api_version()
  b.store(I32(major), at(b, version, ffi.VERSION_MAJOR))
  b.store(I32(minor), at(b, version, ffi.VERSION_MINOR))
  b.ret(null)
  b.position_at_end(run)

  num_results = len(result_bytes)
  num_arrays = num_operands - num_bounds + num_results
  state = b.call(external(module, "malloc", PTR, [I64]), [i64(_ARRAYS + 8 * (num_arrays + len(grid)))])
  operands, results = read(b, frame, ffi.FRAME_ARGS), read(b, frame, ffi.FRAME_RETS)
  bounds = []
  for i in range(num_operands):
    data = read(b, read(b, operands, 8 * i), ffi.BUFFER_DATA)
    if i < num_bounds:
      bounds.append(b.sext(b.load(data, typ=I32), I64))
    else:
      b.store(data, at(b, state, _ARRAYS + 8 * (i - num_bounds)))
  for i in range(num_results):
    data = read(b, read(b, results, 8 * i), ffi.BUFFER_DATA)
    if result_bytes[i] >= _LARGE and sys.platform == "linux":
      _emit_huge_pages(b, module, data, result_bytes[i])
    b.store(data, at(b, state, _ARRAYS + 8 * (num_operands - num_bounds + i)))
  left = iter(bounds)
  sizes = [next(left) if size is None else i64(int(size)) for size in grid]
  points: Any = i64(1)
  for d, size in enumerate(sizes):
    b.store(size, at(b, state, _ARRAYS + 8 * (num_arrays + d)))
    if d in parallel:
      points = b.mul(points, size)
  for offset, value in ((_NEXT, i64(0)), (_DONE, i64(0)), (_POINTS, points), (_OWNERS, i64(1)), (_ERROR, i64(0))):
    b.store(value, at(b, state, offset))
  if prepare is not None:
    b.call(prepare, [at(b, state, _ARRAYS)])
  if inline:
    b.store(points, at(b, state, _CHUNK))
  else:
    _emit_spread(b, module, frame, state, points, _emit_task(module, worker))
  b.call(worker, [state])
  _emit_wait(b, module, state, points)
  message = read(b, state, _ERROR, I64) if can_fail else None
  _emit_leave(b, module, state)
  if message is not None:
    with if_then(b, b.icmp_unsigned("!=", message, i64(0)), ends=True):
      b.ret(emit_error(b, read(b, frame, ffi.FRAME_API), message))
  b.ret(null)


def _emit_huge_pages(b: ir.IRBuilder, module: ir.Module, data: ir.Value, nbytes: int) -> None:
  """Ask for huge pages under a large result that nothing has touched yet.

  XLA takes large results afresh from the system in each call, and touching them for the first time costs a page fault per 4 KiB: for a
  result of 64 MiB several times what computing a softmax into it costs. With pages of 2 MiB there are 512 times fewer.
  """
  start = b.and_(b.add(b.ptrtoint(data, I64), i64(_HUGE_PAGE - 1)), i64(-_HUGE_PAGE))
  end = b.and_(b.add(b.ptrtoint(data, I64), i64(nbytes)), i64(-_HUGE_PAGE))
  advise = external(module, "madvise", I32, [PTR, I64, I32])
  b.call(advise, [b.inttoptr(start, PTR), b.sub(end, start), I32(_MADV_HUGEPAGE)])


def _emit_spread(b: ir.IRBuilder, module: ir.Module, frame: Any, state: Any, points: Any, task: ir.Function) -> None:
  """Choose the size of a chunk and schedule one task per further thread."""
  api, context = read(b, frame, ffi.FRAME_API), read(b, frame, ffi.FRAME_CONTEXT)
  threads_slot = b.alloca(I64)
  b.store(i64(1), threads_slot)
  ask = struct(b, 4)
  fill(b, ask, [i64(32), i64(0), b.ptrtoint(context, I64), b.ptrtoint(threads_slot, I64)])
  b.call(api_function(b, api, "XLA_FFI_ThreadPool_NumThreads"), [ask])
  threads = b.load(threads_slot, typ=I64)
  wanted = b.mul(threads, i64(_CHUNKS_PER_THREAD))
  chunk = b.sdiv(b.add(points, b.sub(wanted, i64(1))), wanted)
  chunk = b.select(b.icmp_signed("<", chunk, i64(1)), i64(1), chunk)
  b.store(chunk, at(b, state, _CHUNK))
  chunks = b.sdiv(b.add(points, b.sub(chunk, i64(1))), chunk)
  helpers = b.sub(b.select(b.icmp_signed("<", chunks, threads), chunks, threads), i64(1))
  helpers = b.select(b.icmp_signed("<", helpers, i64(0)), i64(0), helpers)
  b.store(b.add(helpers, i64(1)), at(b, state, _OWNERS))
  request = struct(b, 5)
  fill(b, request, [i64(40), i64(0), b.ptrtoint(context, I64), b.ptrtoint(task, I64), b.ptrtoint(state, I64)])
  schedule = api_function(b, api, "XLA_FFI_ThreadPool_Schedule")
  with for_range(b, 0, helpers):
    failed = b.call(schedule, [request])
    # Without a thread pool the task never runs: its share of the state goes back, and the work is done here.
    with if_then(b, b.icmp_unsigned("!=", failed, ir.Constant(PTR, None))):
      b.atomic_rmw("sub", at(b, state, _OWNERS), i64(1), "seq_cst")


def _emit_wait(b: ir.IRBuilder, module: ir.Module, state: Any, points: Any) -> None:
  """Wait for the chunks that other threads have begun."""
  check, rest, out = (b.append_basic_block(name) for name in ("wait", "rest", "finished"))
  b.branch(check)
  b.position_at_end(check)
  done = b.load_atomic(at(b, state, _DONE), "seq_cst", 8, typ=I64)
  b.cbranch(b.icmp_signed("<", done, points), rest, out)
  b.position_at_end(rest)
  b.call(external(module, "sched_yield", I32, []), [])
  b.branch(check)
  b.position_at_end(out)
