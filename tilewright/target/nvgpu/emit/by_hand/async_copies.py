"""`copy_async` and `store_async`: copies between global and shared memory that are in flight while the threads go on.

A copy to shared memory is issued to TMA by one thread, if it has boxes (`tma_copies`): the barrier counts their bytes in addition to the
threads. Otherwise all threads copy pieces asynchronously (`cp.async`), and a thread arrives when its pieces have arrived; or they load,
store and arrive, as for a buffer that is kept in registers. A copy to global memory that has boxes is in flight until its group is waited
for: the first thread of each warpgroup issues and waits for all. Others are carried out in program order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from tilewright.target.llvm.loops import Index, if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit import views
from tilewright.target.nvgpu.emit.by_hand import tma_copies
from tilewright.target.nvgpu.emit.by_hand.warpgroup_barriers import (
  address_of,
  arrive_by_warps,
  first_along,
  may_fence,
)
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.distribution import distribute
from tilewright.target.nvgpu.emit.register_tiles import RegisterRef
from tilewright.target.nvgpu.emit.units import cp_async, mbarrier, shared_memory, threads, tma
from tilewright.target.nvgpu.emit.views import View
from tilewright.target.nvgpu.ir.ops import barrier_of
from tilewright.target.nvgpu.passes.cooperation import is_elsewhere
from tilewright.target.nvgpu.passes.layouts.hints import is_in_shared
from tilewright.tile.dead_code import base_of
from tilewright.tile.ir import Op, Value
from tilewright.tile.pipeline import CP_ASYNC, TMA


def copy_async(code: BlockCode, op: Op) -> bool:
  """Start a copy to shared memory, if TMA or cp.async can carry it out; returns whether they do."""
  loaded = tma_copies.load_behind(op.operands[1])
  if is_elsewhere(op.operands[0]) or is_elsewhere(barrier_of(op)[0]):
    return False  # threads reach there
  if loaded is None or loaded.op.result in code.env or isinstance(code.memory_of(op.operands[0]), RegisterRef):
    return False
  if _by_tma(code, op, loaded):
    code.by_engine.add(op)
    code.ways[op] = f"{TMA}, multicast" if _along(code, op) else TMA
    return True
  code.by_threads.add(op)
  return _by_cp_async(code, op, loaded.op)


def _by_tma(code: BlockCode, op: Op, loaded: tma_copies.Loaded) -> bool:
  """Let one thread issue a copy from an array that the kernel does not write, in boxes, which arrives by its bytes.

  All threads arrive: the phase must not end before each is past the wait in front of the copy, of which it knows only the parity."""
  barrier = barrier_of(op)
  if code.tensor_map is None or barrier[0] not in code.awaited:
    return False
  source, target = views.view_of(code.memory_of(loaded.op.operands[0])), views.view_of(code.memory_of(op.operands[0]))
  if source.home is None or source.home not in code.only_read or not loaded.ends_with_array(source):
    return False
  source = _window(code, source, loaded.op)  # its unspecified elements beyond the end are zeros
  boxes = tma_copies.plan(source, target, loaded.op.result.tile.shape)
  if boxes is None:
    return False
  b = code.b
  if target.base in code.read:  # a barrier alone does not wait for loads in flight, and what TMA writes overtakes them
    tma.fence_writes(b)
    code.barrier()
  elif target.base in code.written:  # other threads' writes are visible to TMA
    roles, buffer = code.roles, base_of(op.operands[0])
    may_fence(code, lambda engine: roles is None or roles.is_filled_by_threads(buffer, engine))
    code.barrier()
  address = address_of(code, barrier)
  if along := _along(code, op):
    _multicast(code, boxes, source, target, address, along)
  else:
    pointer = code.tensor_map(boxes.tensor_map)
    with if_then(b, threads.is_first(b, code.thread)):
      mbarrier.expect_more(b, address, boxes.nbytes)
      tma_copies.issue_copy(b, boxes, pointer, source, target, address, code.arch.has_own_copies)
  arrive_by_warps(code, address)
  return True


def _along(code: BlockCode, op: Op) -> tuple[int, ...]:
  """The dimensions of the grid along which the CTAs of a cluster make a copy together."""
  return op.attrs.get("along", ()) if code.cooperation is not None else ()


def _multicast(
  code: BlockCode, boxes: tma_copies.Boxes, source: View, target: View, address: ir.Value, along: tuple[int, ...]
) -> None:
  """Let each CTA of a cluster along some dimensions of the grid ask for its part of a copy, which arrives in all of them.

  Each barrier expects all bytes. Those of others may come before it does: the phase does not end before this CTA's threads arrive."""
  b, known = code.b, code.cooperation
  assert known is not None and code.tensor_map is not None
  ranks = known.ranks(along)
  part = tma_copies.divided(boxes, len(ranks))
  pointer = code.tensor_map(part.boxes.tensor_map)
  first, number = first_along(code, along)
  everyone = b.shl(I32(sum(1 << rank for rank in ranks)), first)
  with if_then(b, threads.is_first(b, code.thread)):
    mbarrier.expect_more(b, address, boxes.nbytes)
    with if_then(b, b.icmp_unsigned("<", number, I32(part.count))):
      tma_copies.issue_part(b, part, number, pointer, source, target, address, everyone)


def _by_cp_async(code: BlockCode, op: Op, load: Op) -> bool:
  """Let all threads copy pieces, if these lie side by side in global and in shared memory."""
  if load.name == "window_load" or load.result is not op.operands[1]:
    return False
  shape = load.result.tile.shape
  source, target = (views.view_of(code.memory_of(o.operands[0])) for o in (load, op))
  piece = next((n for n in cp_async.SIZES if _goes_in_pieces(source, target, shape, n)), None)
  if piece is None or not source.in_global or not is_in_shared(op.operands[0].ref):
    return False
  if target.base in code.read | code.written:  # which do not include copies in flight
    code.barrier()
  b = code.b

  def one(index: list[Index], lanes: int, step: Any) -> None:
    place = shared_memory.address(b, views.address(b, target, index, lanes)[0])
    cp_async.copy(b, place, views.address(b, source, index, lanes)[0], piece)

  code.each_step(distribute(shape, piece // source.dtype.itemsize, code.num_threads), one)
  cp_async.arrive(b, address_of(code, barrier_of(op)))
  code.has_copies, code.ways[op] = True, CP_ASYNC
  return True


def _goes_in_pieces(source: View, target: View, shape: tuple[int, ...], nbytes: int) -> bool:
  """Whether each run of so many bytes along the last dimension lies side by side, and is aligned, on both sides."""
  size = source.dtype.itemsize
  if nbytes < size or not shape or shape[-1] * size % nbytes or source.has_edges or target.has_edges:
    return False
  return all(views.is_in_pieces(view, nbytes) for view in (source, target))


def _window(code: BlockCode, view: View, op: Op, starts: Sequence[Value] | None = None) -> View:
  """The part of a view that an op takes a window of, if it does."""
  starts = op.operands[1:] if starts is None else starts
  if not starts:
    return view
  places = [code.scalar_index(start) for start in starts]
  return views.subview(code.b, view, places, op.attrs["steps"], op.attrs["dropped"])


# --- to global memory --------------------------------------------------------------------------------------------


def store_async(code: BlockCode, op: Op) -> bool:
  """Let TMA carry out a copy of shared memory, in boxes, to an array that is written in no other way; returns whether it does."""
  load = op.operands[1].owner
  array = views.view_of(code.memory_of(op.operands[0]))
  if code.tensor_map is None or array.home not in code.only_copied or not isinstance(load, Op):
    return False
  if load.name not in ("load", "window_load") or load.result in code.env or not is_in_shared(load.operands[0].ref):
    return False
  if is_elsewhere(load.operands[0]):
    return False
  array = _window(code, array, op, op.operands[2:])  # what lies outside, TMA drops too
  source = _window(
    code, views.view_of(code.memory_of(load.operands[0])), load
  )  # whose elements outside are unspecified
  boxes = tma_copies.plan(array, source, load.result.tile.shape)
  if boxes is None:
    return False
  b, pointer = code.b, code.tensor_map(boxes.tensor_map)
  tma.fence_writes(b)
  code.barrier()
  with if_then(b, threads.is_first(b, code.thread)):
    tma_copies.take(b, boxes, pointer, array, source)
  code.has_stores, code.ways[op] = True, TMA
  return True


def copy_commit(code: BlockCode, op: Op) -> None:
  b = code.b
  if code.tensor_map is not None:
    with if_then(b, threads.is_first(b, code.thread)):
      tma.commit_stores(b)


def copy_wait(code: BlockCode, op: Op) -> None:
  b = code.b
  if code.tensor_map is not None:
    with if_then(b, threads.is_first(b, code.thread)):
      tma.wait_groups(b, op.attrs["pending"], read_only=op.attrs["read_only"])
    code.barrier()
