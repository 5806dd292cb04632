"""The FFI handler of CPU kernels, in LLVM: collects pointers and spreads the parallel grid points over XLA's thread pool.

    execute(frame)              XLA's entry point: one function for all kernels, compiled once, which looks up a kernel's facts (`records`)
      launch(frame, facts)
        worker(state)           takes chunks of grid points until none is left
          run(..., first, end)  the kernel's own function, for the grid points of a chunk

Work is distributed in chunks through an atomic counter. The calling thread takes chunks too, so progress never depends on another thread;
it waits only for chunks that another thread has started. The shared state is on the heap and freed by the last thread to leave, since
the pool may start a task after all work is done. Such a task must not touch the kernel's facts or code, which may be freed by then:
only a thread that holds a chunk reads them.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from tilewright.runtime import ffi
from tilewright.target.cpu import call_state as state_of
from tilewright.target.cpu import device_rendezvous, records
from tilewright.target.cpu.heaps import Heaps
from tilewright.target.cpu.multi_device_launch import MultiDeviceLaunch
from tilewright.target.llvm.frame import api_function, at, emit_error, external, fill, read, struct, text_pointer
from tilewright.target.llvm.loops import for_range, i64, if_then
from tilewright.target.llvm.types import I32, I64, PTR, VOID

_RUN_TYPE = ir.FunctionType(VOID, [PTR, PTR, PTR, I64, I64])
_HUGE_PAGE = 1 << 21
_LARGE = 4 * _HUGE_PAGE  # bytes from which a result is worth huge pages
_MADV_HUGEPAGE = 14  # from Linux's sys/mman.h; only advice, so a refusal changes nothing
_CHUNKS_PER_THREAD = 16  # so that a slow thread, or a heavy part of the grid, does not keep the others waiting


# --- of each kernel ----------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Facts:
  """The properties of one kernel. Its operands are the dynamic grid bounds, then the arrays; its results are arrays too."""

  point: ir.Function  # (arrays, sizes, arena, number): runs a parallel grid point
  prepare: ir.Function | None  # (arrays): runs before any instance
  arena_bytes: int
  no_memory: str  # the error message if the arena cannot be allocated
  num_operands: int
  num_bounds: int
  result_bytes: Sequence[int]
  grid: Sequence[int | None]
  parallel: Sequence[int]
  threads: int  # how many threads a call is worth, the calling one included
  communication: int = (
    state_of.NO_COMMUNICATION
  )  # how it communicates with other devices: not at all, with waits, or as a gang
  staged: ir.GlobalVariable | None = None  # the arrays that other processes access
  device_id: ir.Function | None = None  # (arrays): the number of this device, of a gang
  devices: int = 1
  is_large: bool = False  # whether the bodies of a gang are worth several threads


def emit_facts(module: ir.Module, facts: Facts, name: str) -> None:
  """The kernel's facts, as a constant that the launcher reads."""
  null = ir.Constant(PTR, None)
  words = [
    *(_emit_run(module, facts.point), facts.prepare or null, text_pointer(module, facts.no_memory)),
    *(
      facts.arena_bytes,
      facts.num_operands,
      facts.num_bounds,
      len(facts.result_bytes),
      len(facts.grid),
      facts.threads,
      facts.communication,
    ),
    *(facts.device_id or null, facts.devices, int(facts.is_large), facts.staged or null),
    *facts.result_bytes,
    *(
      n
      for d, size in enumerate(facts.grid)
      for n in (state_of.DYNAMIC if size is None else int(size), int(d in facts.parallel))
    ),
  ]
  values = [i64(word) if isinstance(word, int) else word for word in words]
  table = ir.LiteralStructType([PTR if isinstance(v, ir.GlobalValue) else v.type for v in values])
  constant = ir.GlobalVariable(module, table, name)
  constant.global_constant = True
  constant.initializer = ir.Constant(table, [v.bitcast(PTR) if isinstance(v, ir.GlobalValue) else v for v in values])


def _emit_run(module: ir.Module, point: ir.Function) -> ir.Function:
  """`run(arrays, sizes, arena, first, end)`: a range of grid points."""
  run = ir.Function(module, _RUN_TYPE, "run")
  run.linkage = "internal"
  arrays, sizes, arena, first, end = run.args
  b = ir.IRBuilder(run.append_basic_block("entry"))
  with for_range(b, first, end) as p:
    b.call(point, [arrays, sizes, arena, p])
  b.ret_void()
  return run


# --- of all kernels ----------------------------------------------------------------------------------------------


def launcher() -> str:
  """The LLVM IR of the functions that all kernels share."""
  module = ir.Module("tilewright")
  heaps = Heaps(module)
  worker = _emit_worker(module, heaps)
  device_rendezvous.emit(module, heaps)
  records.emit(module, _emit_launch(module, worker, MultiDeviceLaunch(module, worker, heaps)))
  return str(module)


def _emit_worker(module: ir.Module, heaps: Heaps) -> ir.Function:
  """`worker(state)`: take chunks until none is left."""
  worker = ir.Function(module, ir.FunctionType(VOID, [PTR]), "worker")
  worker.linkage = "internal"
  (state,) = worker.args
  b = ir.IRBuilder(worker.append_basic_block("entry"))
  slot = b.alloca(PTR)  # the arena of the instances, allocated once there is a chunk to run
  b.store(ir.Constant(PTR, None), slot)
  points, chunk = read(b, state, state_of.POINTS, I64), read(b, state, state_of.CHUNK, I64)
  take, work, out = (b.append_basic_block(name) for name in ("take", "work", "out"))
  b.branch(take)
  b.position_at_end(take)
  first = b.mul(b.atomic_rmw("add", at(b, state, state_of.NEXT), i64(1), "seq_cst"), chunk)
  b.cbranch(b.icmp_signed("<", first, points), work, out)
  b.position_at_end(work)
  end = b.add(first, chunk)
  end = b.select(b.icmp_signed("<", end, points), end, points)
  facts, arrays = read(b, state, state_of.FACTS), at(b, state, state_of.ARRAYS)
  run = read(b, facts, state_of.RUN, _RUN_TYPE.as_pointer())
  sizes = _word(b, arrays, _num_arrays(b, facts))
  with if_then(b, _is_null(b, b.load(slot))):
    nbytes, heap = b.add(read(b, facts, state_of.ARENA, I64), i64(64)), read(b, state, state_of.HEAP)
    with b.if_else(_is_null(b, heap)) as (alone, shared):
      with alone:
        b.store(b.call(external(module, "malloc", PTR, [I64]), [nbytes]), slot)
      with shared:
        b.store(b.call(heaps.lease, [heap, nbytes]), slot)
    with if_then(b, _is_null(b, b.load(slot))):
      b.cmpxchg(at(b, state, state_of.ERROR), i64(0), read(b, facts, state_of.NO_MEMORY, I64), "seq_cst", "seq_cst")
  memory = b.load(slot)
  with if_then(
    b, b.not_(_is_null(b, memory))
  ):  # if allocation fails, the worker's chunks count as done, and the call fails
    arena = b.inttoptr(b.and_(b.add(b.ptrtoint(memory, I64), i64(63)), i64(-64)), PTR)
    b.call(run, [arrays, sizes, arena, first, end])
  b.atomic_rmw("add", at(b, state, state_of.DONE), b.sub(end, first), "seq_cst")
  b.branch(take)
  b.position_at_end(out)
  with (
    if_then(b, b.not_(_is_null(b, b.load(slot)))),
    b.if_else(_is_null(b, read(b, state, state_of.HEAP))) as (alone, shared),
  ):
    with alone:
      b.call(external(module, "free", VOID, [PTR]), [b.load(slot)])
    with shared:
      b.call(heaps.release, [b.load(slot)])
  b.ret_void()
  return worker


def _is_null(b: ir.IRBuilder, pointer: ir.Value) -> ir.Value:
  return b.icmp_unsigned("==", pointer, ir.Constant(PTR, None))


def _word(b: ir.IRBuilder, array: ir.Value, number: Any) -> ir.Value:
  return b.gep(array, [number], source_etype=I64)


def _num_arrays(b: ir.IRBuilder, facts: ir.Value) -> ir.Value:
  operands, bounds, results = (
    read(b, facts, at_, I64) for at_ in (state_of.NUM_OPERANDS, state_of.NUM_BOUNDS, state_of.NUM_RESULTS)
  )
  return b.add(b.sub(operands, bounds), results)


def _emit_leave(b: ir.IRBuilder, module: ir.Module, state: ir.Value) -> None:
  """Drop one reference to the state; the last one frees it."""
  owners = b.atomic_rmw("sub", at(b, state, state_of.OWNERS), i64(1), "seq_cst")
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


def _emit_launch(module: ir.Module, worker: ir.Function, multi_device_launch: MultiDeviceLaunch) -> ir.Function:
  """`launch(frame, facts, site)`: an error of XLA's, or null."""
  launch = ir.Function(module, ir.FunctionType(PTR, [PTR, PTR, PTR]), "launch")
  launch.linkage = "internal"
  frame, facts, site = launch.args
  b = ir.IRBuilder(launch.append_basic_block("entry"))
  null = ir.Constant(PTR, None)
  num_arrays, rank = _num_arrays(b, facts), read(b, facts, state_of.RANK, I64)
  words = b.add(i64(state_of.ARRAYS // 8), b.add(num_arrays, rank))
  state = b.call(external(module, "malloc", PTR, [I64]), [b.mul(words, i64(8))])
  with if_then(b, _is_null(b, state), ends=True):
    b.ret(emit_error(b, read(b, frame, ffi.FRAME_API), read(b, facts, state_of.NO_MEMORY, I64)))
  arrays = at(b, state, state_of.ARRAYS)
  _emit_arrays(b, module, frame, facts, arrays)
  points = _emit_sizes(b, frame, facts, _word(b, arrays, num_arrays))
  for offset, value in (
    (state_of.NEXT, i64(0)),
    (state_of.DONE, i64(0)),
    (state_of.POINTS, points),
    (state_of.CHUNK, points),
    (state_of.OWNERS, i64(1)),
  ):
    b.store(value, at(b, state, offset))
  b.store(facts, at(b, state, state_of.FACTS))
  b.store(i64(0), at(b, state, state_of.ERROR))
  b.store(i64(0), at(b, state, state_of.HEAP))
  with if_then(b, b.icmp_unsigned("!=", read(b, facts, state_of.PREPARE), null)):
    b.call(read(b, facts, state_of.PREPARE, ir.FunctionType(VOID, [PTR]).as_pointer()), [arrays])
  with if_then(b, b.icmp_signed("!=", read(b, facts, state_of.COMMUNICATION, I64), i64(0)), ends=True):
    b.ret(multi_device_launch.launch(b, frame, state, facts, site))
  with if_then(b, b.icmp_signed(">", read(b, facts, state_of.THREADS, I64), i64(1))):
    _emit_spread(b, module, frame, facts, state, points, _emit_task(module, worker))
  b.call(worker, [state])
  _emit_wait(b, module, state, points)
  message = read(b, state, state_of.ERROR, I64)
  _emit_leave(b, module, state)
  with if_then(b, b.icmp_unsigned("!=", message, i64(0)), ends=True):
    b.ret(emit_error(b, read(b, frame, ffi.FRAME_API), message))
  b.ret(null)
  return launch


def _emit_arrays(b: ir.IRBuilder, module: ir.Module, frame: ir.Value, facts: ir.Value, arrays: ir.Value) -> None:
  """The pointers to all arrays, the operands first."""
  operands, results = read(b, frame, ffi.FRAME_ARGS), read(b, frame, ffi.FRAME_RETS)
  num_bounds = read(b, facts, state_of.NUM_BOUNDS, I64)
  num_inputs = b.sub(read(b, facts, state_of.NUM_OPERANDS, I64), num_bounds)
  with for_range(b, 0, num_inputs) as i:
    b.store(_data(b, operands, b.add(num_bounds, i)), _word(b, arrays, i))
  with for_range(b, 0, read(b, facts, state_of.NUM_RESULTS, I64)) as i:
    data = _data(b, results, i)
    if sys.platform == "linux":
      nbytes = b.load(_word(b, at(b, facts, state_of.RESULTS), i), typ=I64)
      with if_then(b, b.icmp_signed(">=", nbytes, i64(_LARGE))):
        _emit_huge_pages(b, module, data, nbytes)
    b.store(data, _word(b, arrays, b.add(num_inputs, i)))


def _data(b: ir.IRBuilder, buffers: ir.Value, number: ir.Value) -> ir.Value:
  return read(b, b.load(_word(b, buffers, number), typ=PTR), ffi.BUFFER_DATA)


def _emit_sizes(b: ir.IRBuilder, frame: ir.Value, facts: ir.Value, sizes: ir.Value) -> ir.Value:
  """The sizes of the grid; dynamic ones are the first operands. Returns the number of parallel points."""
  operands = read(b, frame, ffi.FRAME_ARGS)
  points, bounds = b.alloca(I64), b.alloca(I64)
  b.store(i64(1), points)
  b.store(i64(0), bounds)
  grid = _word(b, at(b, facts, state_of.RESULTS), read(b, facts, state_of.NUM_RESULTS, I64))
  with for_range(b, 0, read(b, facts, state_of.RANK, I64)) as d:
    known = _word(b, grid, b.mul(d, i64(2)))
    size = _word(b, sizes, d)
    b.store(b.load(known, typ=I64), size)
    with if_then(b, b.icmp_signed("==", b.load(known, typ=I64), i64(state_of.DYNAMIC))):
      bound = b.load(bounds, typ=I64)
      b.store(b.sext(b.load(_data(b, operands, bound), typ=I32), I64), size)
      b.store(b.add(bound, i64(1)), bounds)
    with if_then(b, b.icmp_signed("!=", read(b, known, 8, I64), i64(0))):
      b.store(b.mul(b.load(points, typ=I64), b.load(size, typ=I64)), points)
  return b.load(points, typ=I64)


def _emit_huge_pages(b: ir.IRBuilder, module: ir.Module, data: ir.Value, nbytes: ir.Value) -> None:
  """Request huge pages (madvise) for a large result that has not been touched yet.

  XLA allocates large results anew from the system in each call, and the first touch costs a page fault per 4 KiB: for a result of 64 MiB
  several times the cost of computing a softmax into it. With pages of 2 MiB there are 512 times fewer.
  """
  start = b.and_(b.add(b.ptrtoint(data, I64), i64(_HUGE_PAGE - 1)), i64(-_HUGE_PAGE))
  end = b.and_(b.add(b.ptrtoint(data, I64), nbytes), i64(-_HUGE_PAGE))
  advise = external(module, "madvise", I32, [PTR, I64, I32])
  b.call(advise, [b.inttoptr(start, PTR), b.sub(end, start), I32(_MADV_HUGEPAGE)])


def _emit_spread(
  b: ir.IRBuilder, module: ir.Module, frame: Any, facts: Any, state: Any, points: Any, task: ir.Function
) -> None:
  """Choose the size of a chunk and schedule one task per further thread."""
  api, context = read(b, frame, ffi.FRAME_API), read(b, frame, ffi.FRAME_CONTEXT)
  threads_slot = b.alloca(I64)
  b.store(i64(1), threads_slot)
  query = struct(b, 4)
  fill(b, query, [i64(32), i64(0), b.ptrtoint(context, I64), b.ptrtoint(threads_slot, I64)])
  b.call(api_function(b, api, "XLA_FFI_ThreadPool_NumThreads"), [query])
  threads, useful = b.load(threads_slot, typ=I64), read(b, facts, state_of.THREADS, I64)
  threads = b.select(b.icmp_signed("<", useful, threads), useful, threads)
  wanted = b.mul(threads, i64(_CHUNKS_PER_THREAD))
  chunk = b.sdiv(b.add(points, b.sub(wanted, i64(1))), wanted)
  chunk = b.select(b.icmp_signed("<", chunk, i64(1)), i64(1), chunk)
  b.store(chunk, at(b, state, state_of.CHUNK))
  chunks = b.sdiv(b.add(points, b.sub(chunk, i64(1))), chunk)
  helpers = b.sub(b.select(b.icmp_signed("<", chunks, threads), chunks, threads), i64(1))
  helpers = b.select(b.icmp_signed("<", helpers, i64(0)), i64(0), helpers)
  b.store(b.add(helpers, i64(1)), at(b, state, state_of.OWNERS))
  request = struct(b, 5)
  fill(b, request, [i64(40), i64(0), b.ptrtoint(context, I64), b.ptrtoint(task, I64), b.ptrtoint(state, I64)])
  schedule = api_function(b, api, "XLA_FFI_ThreadPool_Schedule")
  with for_range(b, 0, helpers):
    failed = b.call(schedule, [request])
    # Without a thread pool the task never runs: its reference to the state is dropped, and the work is done here.
    with if_then(b, b.icmp_unsigned("!=", failed, ir.Constant(PTR, None))):
      b.atomic_rmw("sub", at(b, state, state_of.OWNERS), i64(1), "seq_cst")


def _emit_wait(b: ir.IRBuilder, module: ir.Module, state: Any, points: Any) -> None:
  """Wait for the chunks that other threads have started."""
  check, rest, out = (b.append_basic_block(name) for name in ("wait", "rest", "finished"))
  b.branch(check)
  b.position_at_end(check)
  done = b.load_atomic(at(b, state, state_of.DONE), "seq_cst", 8, typ=I64)
  b.cbranch(b.icmp_signed("<", done, points), rest, out)
  b.position_at_end(rest)
  b.call(external(module, "sched_yield", I32, []), [])
  b.branch(check)
  b.position_at_end(out)
