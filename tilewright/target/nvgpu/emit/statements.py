"""Rules for ops with side effects: views, stores, allocation, control flow. A table keyed by op."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any

from tilewright.target.llvm import control, operand_indices
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index, mul, shifted
from tilewright.target.llvm.masking import store_where, written_where
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit import views
from tilewright.target.nvgpu.emit.by_hand import async_copies, warpgroup_barriers, warpgroup_semaphores
from tilewright.target.nvgpu.emit.code import MOVES, BlockCode
from tilewright.target.nvgpu.emit.dot import ways, wgmma_dot, wgmma_operands
from tilewright.target.nvgpu.emit.ops import effects, gather_scatter, reductions
from tilewright.target.nvgpu.emit.register_tiles import RegisterRef
from tilewright.target.nvgpu.emit.units import cluster
from tilewright.target.nvgpu.emit.views import View
from tilewright.target.nvgpu.ir.ops import (
  COPY_ASYNC,
  COPY_COMMIT,
  COPY_WAIT,
  MMA,
  MMA_WAIT,
  STORE_ASYNC,
  WARPS,
  barrier_of,
)
from tilewright.target.nvgpu.passes.layouts import hints
from tilewright.tile.formats import poison_value
from tilewright.tile.ir import Op, Value
from tilewright.tile.pipeline import THREADS
from tilewright.tile.types import RefType
from tilewright.tile.uninitialized import must_poison


def _view(code: BlockCode, ref: Value) -> View:
  return views.view_of(code.memory_of(ref))


# --- views -------------------------------------------------------------------------------------------------------


def _subview(code: BlockCode, op: Op) -> None:
  ref, *starts = op.operands
  places = [code.scalar_index(s) for s in starts]
  if (lead := hints.tile_of_stack(op)) is not None:
    one = views.element_of_stack(code.b, _view(code, ref), places[:lead], op.results[0].ref.shape)
    if one is not None:
      code.env[op.results[0]] = one
      return
  code.env[op.results[0]] = views.subview(code.b, _view(code, ref), places, op.attrs["steps"], op.attrs["dropped"])


def _reshape_ref(code: BlockCode, op: Op) -> None:
  view = _view(code, op.operands[0])
  assert view.is_plain, (
    "such a block is copied, see `blocks`; and memory that is reshaped lies row by row, see `constraints`"
  )
  known = {"align": view.align, "in_global": view.in_global, "policy": view.policy, "is_elsewhere": view.is_elsewhere}
  code.env[op.results[0]] = View(view.pointer, op.results[0].ref.strides, view.dtype, view.base, **known)


def _transpose_ref(code: BlockCode, op: Op) -> None:
  code.env[op.results[0]] = views.transposed(_view(code, op.operands[0]), op.attrs["permutation"])


def _cluster_ref(code: BlockCode, op: Op) -> None:
  ref, rank = op.operands
  if not isinstance(op.result.type, RefType):
    code.env[op.result] = warpgroup_barriers.Elsewhere(code.env[ref], code.b.trunc(code.scalar_index(rank), I32))
    return
  view = _view(code, ref)
  pointer = cluster.there(code.b, view.pointer, code.b.trunc(code.scalar_index(rank), I32))
  code.env[op.result] = dataclasses.replace(view, pointer=pointer, home=None, is_elsewhere=True)


def _bitcast_ref(code: BlockCode, op: Op) -> None:
  view = _view(code, op.operands[0])
  code.env[op.results[0]] = dataclasses.replace(view, dtype=op.results[0].ref.dtype)


# --- memory ------------------------------------------------------------------------------------------------------


def _store(code: BlockCode, op: Op) -> None:
  ref, value = op.operands[:2]
  view = views.view_of(code.accessed(op))
  if ways.accumulates(code, value, view):
    return
  if _is_seen_by_others(code, view) and (found := written_where(code, op, view)) is not None:
    write = lambda index, new, chosen: views.store_where(code.b, view, index, new, chosen)
    store_where(code, view, *found, write, writes=view, layout=code.inferred_operand_layout(op, 1))
    return
  if view.base in code.bases_read(value) and not _reads_own_elements(code, value, ref):
    code.materialise(value)
  reads_itself = view.base in code.bases_read(value)
  with contextlib.nullcontext() if reads_itself else code.writing(view.base, ref):
    code.fill(view, value, code.inferred_operand_layout(op, 1))


def _is_seen_by_others(code: BlockCode, view: View) -> bool:
  """Whether other CTAs, or warpgroups, may write to some memory at the same time."""
  is_written_there = code.cooperation is not None and code.cooperation.writes_there
  return view.in_global or ((code.groups > 1 or is_written_there) and not isinstance(view, RegisterRef))


def _reads_own_elements(code: BlockCode, value: Value, ref: Value) -> bool:
  """Whether every read of the destination's memory is of the very element that is written."""
  base = _view(code, ref).base
  if value in code.env:
    return getattr(code.env[value], "base", None) is not base
  op = value.owner
  if not isinstance(op, Op):
    return True
  if op.name == "load":
    return op.operands[0] is ref or _view(code, op.operands[0]).base is not base
  if op.name in MOVES or op.name in operand_indices.SOURCES:
    return base not in code.bases_read(value)
  return all(_reads_own_elements(code, o, ref) for o in op.operands)


def _window_store(code: BlockCode, op: Op) -> None:
  ref, value, *starts = op.operands
  view = views.view_of(code.accessed(op))
  places = [code.scalar_index(s) for s in starts]
  if _is_seen_by_others(code, view) and (found := written_where(code, op, view)) is not None:
    inside = views.with_edges(view, ref.ref.shape)

    def write(index: list[Index], new: Any, chosen: Any) -> None:
      views.store_where(code.b, inside, operand_indices.window_index(code, op, index, places), new, chosen)

    store_where(code, view, *found, write, writes=view, layout=code.inferred_operand_layout(op, 1))
    return
  if view.base in code.bases_read(value):
    code.materialise(value)

  def each(index: list[Index], lanes: int) -> None:
    where = operand_indices.window_index(code, op, index, places)
    code.store_window(view, where, ref.type.shape, code.value_at(value, index, lanes))

  code.nest(value.tile.shape, each, reads=[value], writes=view, layout=code.inferred_operand_layout(op, 1))


def _copy_async(code: BlockCode, op: Op) -> None:
  if not async_copies.copy_async(code, op):
    code.ways[op] = THREADS
    _store(code, op)
    warpgroup_barriers.arrive(code, op, barrier_of(op))


def _store_async(code: BlockCode, op: Op) -> None:
  if not async_copies.store_async(code, op):
    code.ways[op] = THREADS
    (_store if len(op.operands) == 2 else _window_store)(code, op)


def _copy(code: BlockCode, op: Op) -> None:
  source, target = (_view(code, v) for v in op.operands)
  code.sync({source.base}, {target.base})
  code.each_step(
    code.distribution(op.operands[0].type.shape),
    lambda index, lanes, step: code.store(target, index, code.load(source, index, lanes)),
  )


def _alloc(code: BlockCode, op: Op) -> None:
  memory = code.allocate_ref(op.result)
  code.env[op.results[0]] = memory
  is_shared = code.is_by_hand and hints.is_in_shared(op.result.ref)  # where copies arrive beside the threads
  if not is_shared and must_poison(op, code.current):
    poison(code, memory, op.attrs["shape"])


def poison(code: BlockCode, memory: View, shape: Any) -> None:
  """Fill fresh memory with poison, which must not be read."""
  value = poison_value(memory.dtype)
  code.nest(
    shape, lambda index, lanes: code.store(memory, index, ty.element(memory.dtype, value, lanes)), writes=memory
  )


# --- values that need a buffer -----------------------------------------------------------------------------------


def _fill_part(code: BlockCode, memory: View, part: Value, starts: list[Any]) -> None:
  """Write a tile into a larger buffer from given starts on."""

  def each(index: list[Index], lanes: int) -> None:
    place = [shifted(code.b, i, start) for i, start in zip(index, starts)]
    code.store(memory, place, code.value_at(part, index, lanes))

  code.nest(part.tile.shape, each, reads=[part], writes=memory)


def _concatenate(code: BlockCode, op: Op) -> None:
  result = op.results[0].tile
  memory = code.allocate(result.shape, result.dtype)
  axis, at = op.attrs["axis"], 0
  for part in op.operands:
    _fill_part(code, memory, part, [at if a == axis else 0 for a in range(result.rank)])
    at += part.tile.shape[axis]
    code.written.discard(memory.base)  # the parts do not overlap
  code.written.add(memory.base)
  code.env[op.results[0]] = memory


def _pad(code: BlockCode, op: Op) -> None:
  x, fill = op.operands
  result = op.results[0].tile
  memory = code.allocate(result.shape, result.dtype)
  value = code.scalar(fill)
  code.nest(result.shape, lambda index, lanes: code.store(memory, index, ty.splat(code.b, value, lanes)), writes=memory)
  low, inside = op.attrs["low"], op.attrs["interior"]
  inner = code.in_memory(x)
  edges = [views.Edge(lo, gap + 1, d) for lo, gap, d in zip(low, inside, result.shape)]
  code.sync({inner.base}, {memory.base})

  def each(index: list[Index], lanes: int, step: Any) -> None:
    # Negative padding cuts: what would land outside is dropped.
    target = dataclasses.replace(memory, align=1, edges=tuple((views.Edge(0, 1, d),) for d in result.shape))
    place = [
      shifted(code.b, Index(mul(code.b, i.base, e.scale), i.step * e.scale), e.offset) for i, e in zip(index, edges)
    ]
    code.store(target, place, code.load(inner, index, lanes))

  code.each_step(code.distribution(x.tile.shape), each)
  code.env[op.results[0]] = memory


def _dynamic_update_slice(code: BlockCode, op: Op) -> None:
  x, update, *starts = op.operands
  memory = code.allocate(x.tile.shape, x.tile.dtype)
  code.fill(memory, x)
  _fill_part(code, memory, update, operand_indices.clamped_starts(code, starts, x.tile.shape, update.tile.shape))
  code.env[op.results[0]] = memory


def _for(code: BlockCode, op: Op) -> None:
  if not wgmma_operands.run_loop(code, op):
    control.STATEMENTS["for"](code, op)


STATEMENTS: dict[str, Callable[[BlockCode, Op], None]] = {
  "subview": _subview,
  "reshape_ref": _reshape_ref,
  "transpose_ref": _transpose_ref,
  "bitcast_ref": _bitcast_ref,
  "cluster_ref": _cluster_ref,
  "store": _store,
  "window_store": _window_store,
  "copy": _copy,
  "alloc": _alloc,
  "reduce": reductions.reduce,
  "arg_reduce": reductions.arg_reduce,
  "cumulative": reductions.cumulative,
  "dot": ways.dot,
  MMA: wgmma_dot.start,
  MMA_WAIT: wgmma_dot.wait,
  COPY_ASYNC: _copy_async,
  STORE_ASYNC: _store_async,
  COPY_COMMIT: async_copies.copy_commit,
  COPY_WAIT: async_copies.copy_wait,
  "concatenate": _concatenate,
  "pad": _pad,
  "dynamic_update_slice": _dynamic_update_slice,
  **control.STATEMENTS,
  "for": _for,
  WARPS: control.STATEMENTS["switch"],
  **effects.STATEMENTS,
  **warpgroup_barriers.STATEMENTS,
  **warpgroup_semaphores.STATEMENTS,
  **gather_scatter.STATEMENTS,
}
