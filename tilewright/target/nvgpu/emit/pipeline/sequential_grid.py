"""Sequential grid dimensions: input blocks are prefetched, and accumulators stay in shared memory.

An input whose block changes from step to step is copied to shared memory a few steps ahead (`staged_blocks`). One whose block stays the
same while matrix products read it is copied there once. Blocks that only `wgmma` reads have its swizzle (`wgmma_operands`), and TMA copies
the operands of products, where there is TMA (`tma_stages`). An output whose block stays the same is kept in shared memory from the first
step to the last, and written once.

    grid (columns, rows), column sums: out[0, j] += x[i, j].sum(0)
      x     four stages: while rows i are added up, i + 1 to i + 3 are in flight
      out   a row in shared memory, written after the last i
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import for_range, i64, if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.emit import blocks, l2_hints
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.cta_memory import SHARED
from tilewright.target.nvgpu.emit.dot import mma_sync_dot, wgmma_operands
from tilewright.target.nvgpu.emit.kernel_function import Frame
from tilewright.target.nvgpu.emit.pipeline import staged_blocks, tma_stages
from tilewright.target.nvgpu.emit.pipeline.rounds import Rounds
from tilewright.target.nvgpu.emit.pipeline.staged_blocks import PaddedBlock, StagedBlock, SwizzledBlock, TiledBlock
from tilewright.target.nvgpu.emit.views import View
from tilewright.target.nvgpu.passes.layouts.hints import given_layout
from tilewright.target.nvgpu.passes.plans import Staged
from tilewright.tile.grid import Blocked, Squeezed
from tilewright.tile.ir import Value, users, walk
from tilewright.tile.native import NativeKernel, moving_dims
from tilewright.tile.pipeline import CP_ASYNC, TMA
from tilewright.tile.ranges import always_inside
from tilewright.tile.uninitialized import outputs_written_first

_MAX_STAGES = 4
_SWIZZLED_STAGES = 2  # more take room from other CTAs: level or slower in attention on an H200
# Stages take at most this part of the shared memory that a CTA may allocate, so that several CTAs fit an SM.
_SHARE = 3
_PRODUCT_SHARE = 0.65  # but for two stages of what tensor cores multiply: those keep an SM busy alone
_MAX_SHARED_SHARE = 0.82  # with what stays, and scratch memory
_KEPT_BYTES = 32 * 1024  # of an output's block
_MIN_STEPS = 4


@dataclasses.dataclass(frozen=True)
class Steps:
  """How the steps of a kernel are taken."""

  dims: tuple[int, ...]  # of the grid, the last fastest
  count: int
  inputs: tuple[StagedBlock, ...]
  stages: int
  outputs: tuple[int, ...]  # that are kept, by number
  held: tuple[StagedBlock, ...] = ()  # inputs that stay the same

  @property
  def stage_bytes(self) -> int:
    nbytes = sum(block.nbytes for block in self.inputs)
    return -(-nbytes // self.align) * self.align if self.swizzled else nbytes

  @property
  def swizzled(self) -> list[SwizzledBlock]:
    return [block for block in (*self.inputs, *self.held) if isinstance(block, SwizzledBlock)]

  @property
  def in_place(self) -> list[SwizzledBlock]:
    """Those that only products of warpgroups can read."""
    return [block for block in self.swizzled if not isinstance(block, TiledBlock)]

  @property
  def align(self) -> int:
    """Bytes to which stages are aligned."""
    return max((block.layout.swizzle.span for block in self.swizzled), default=128)

  @property
  def staged_bytes(self) -> int:
    return self.stages * self.stage_bytes + sum(block.nbytes for block in self.held)


def find(kernel: NativeKernel, arch: Arch, parallel: tuple[int, ...]) -> Steps | None:
  """What can be staged or kept of a kernel's steps; None if nothing can, or there are few."""
  grid = kernel.mapping.grid
  dims = tuple(d for d in range(len(grid)) if d not in parallel)
  if None in grid or kernel.in_order or not dims:
    return None
  count = math.prod(int(grid[d]) for d in dims)
  if count < _MIN_STEPS:
    return None
  found = (_staged(kernel, position, dims) for position in range(kernel.mapping.num_inputs))
  inputs = tuple(block for block in found if block is not None)
  stages = 0
  while inputs:
    nbytes = sum(block.nbytes for block in inputs)
    stages = min(_MAX_STAGES, arch.shared_bytes // _SHARE // nbytes)
    if stages < 2 and all(_is_multiplied(kernel, block.position) for block in inputs):
      stages = 2 if 2 * nbytes <= arch.shared_bytes * _PRODUCT_SHARE else 0
    if stages >= 2:
      break
    inputs, stages = tuple(sorted(inputs, key=lambda block: block.nbytes))[:-1], 0
  outputs = tuple(n for n in range(kernel.mapping.num_outputs) if _is_kept(kernel, n, dims))
  found = (_held(kernel, position, dims) for position in range(kernel.mapping.num_inputs if inputs else 0))
  held = tuple(block for block in found if block is not None)
  return Steps(dims, count, inputs, stages, outputs, held) if inputs or outputs else None


def _staged(kernel: NativeKernel, position: int, dims: tuple[int, ...]) -> PaddedBlock | None:
  """How an input is staged: one that changes along the steps, and that the body only loads from."""
  index_map, param = kernel.index_maps[position], kernel.body.params[kernel.mapping.num_prefetch + position]
  if index_map is None or moving_dims(kernel, position).isdisjoint(dims) or not l2_hints.is_only_loaded(kernel, param):
    return None
  if kernel.mapping.num_prefetch + position in {into for into, _ in kernel.input_output_aliases}:
    return None
  if param in blocks.accessed_without_edges(kernel.body.body) or given_layout(param.ref) is not None:
    return None
  return staged_blocks.padded(kernel, position)


def _held(kernel: NativeKernel, position: int, dims: tuple[int, ...]) -> PaddedBlock | None:
  """How an input is kept in shared memory: one that stays the same along the steps, and that only matrix products read."""
  index_map, param = kernel.index_maps[position], kernel.body.params[kernel.mapping.num_prefetch + position]
  if (
    index_map is None
    or not moving_dims(kernel, position).isdisjoint(dims)
    or not l2_hints.is_only_loaded(kernel, param)
  ):
    return None
  if kernel.mapping.num_prefetch + position in {into for into, _ in kernel.input_output_aliases}:
    return None
  if given_layout(param.ref) is not None:
    return None
  return staged_blocks.padded(kernel, position) if _is_multiplied(kernel, position) else None


def _is_multiplied(kernel: NativeKernel, position: int) -> bool:
  """Whether only products on tensor cores read an input, as a whole."""
  used, param = users(kernel.body.body), kernel.body.params[kernel.mapping.num_prefetch + position]

  def multiplied(v: Value) -> bool:
    own = used.get(v, [])
    return bool(own) and all(
      mma_sync_dot.is_for_warps(op) if op.name == "dot" else op.name == "transpose" and multiplied(op.result)
      for op in own
    )

  return all(op.name == "load" and multiplied(op.result) for op in used[param])


def _is_kept(kernel: NativeKernel, number: int, dims: tuple[int, ...]) -> bool:
  """Whether an output's block stays the same along the steps, and is read too."""
  mapping = kernel.mapping
  m, position = mapping.output_mappings[number], mapping.num_inputs + number
  if kernel.index_maps[position] is None or not moving_dims(kernel, position).isdisjoint(dims):
    return False
  if any(out == number for _, out in kernel.input_output_aliases):
    return False
  if not all(isinstance(d, Blocked | Squeezed) for d in m.block_shape):
    return False
  param = kernel.body.params[mapping.num_prefetch + mapping.num_inputs + number]
  if given_layout(param.ref) is not None:
    return False
  is_read = any(op.name == "load" and op.operands[0] is param for op in walk(kernel.body.body))
  return is_read and math.prod(m.block_sizes) * np.dtype(m.array_aval.dtype).itemsize <= _KEPT_BYTES


def run(frame: Frame, code: BlockCode, plan: Steps, memory: list[Any]) -> None:
  """All steps at the present point of the other dimensions."""
  plan = _swizzled(frame.kernel, code, plan)
  if code.arena_bytes + plan.staged_bytes > code.arch.shared_bytes * (
    _MAX_SHARED_SHARE if plan.swizzled or plan.held else 0.5
  ):
    plan = dataclasses.replace(plan, inputs=(), stages=0, held=())  # scratch memory comes first
  b, count = code.b, plan.stages
  code.steps_ahead = max(1, count)
  origin = lambda block: frame.mapping.block_mappings[block.position].origin
  name = f"{plan.stages} stages of {', '.join(map(origin, plan.inputs))}"
  start = code.own_buffer(plan.stages * plan.stage_bytes, plan.align, name) if plan.inputs else None
  held = [(block, code.own_buffer(block.nbytes, plan.align, f"block of {origin(block)}")) for block in plan.held]
  stage_loads = tma_stages.StageLoads.of(frame, code, plan.inputs, plan.held, count) if plan.inputs else None
  by_threads = [block for block in (*plan.inputs, *plan.held) if stage_loads is None or not stage_loads.copies(block)]
  for block, stages in (*((own, count) for own in plan.inputs), *((own, 1) for own, _ in held)):
    engine = CP_ASYNC if block in by_threads else TMA
    code.staged.append(Staged(origin(block), engine, stages, block.nbytes))
  code.in_stages |= {v for block in plan.in_place for v in _loaded(frame.kernel, block.position)}

  def set_indices(step: ir.Value) -> None:
    for d in reversed(plan.dims):
      size = i64(int(frame.mapping.grid[d]))
      frame.indices[d], step = b.urem(step, size), b.udiv(step, size)

  def places(step: ir.Value) -> list[tuple[StagedBlock, ir.Value]]:
    """Where in shared memory each block of a step lies."""
    assert start is not None
    stage = b.urem(b.trunc(step, I32), I32(count))
    shared = b.addrspacecast(start.pointer, ir.PointerType(addrspace=SHARED))
    at = b.gep(shared, [b.mul(stage, I32(plan.stage_bytes))], source_etype=ty.I8)
    found = []
    for block in plan.inputs:
      found.append((block, at))
      at = b.gep(at, [I32(block.nbytes)], source_etype=ty.I8)
    return found

  def fetch(step: ir.Value, more: Sequence[tuple[StagedBlock, ir.Value]] = ()) -> None:
    """Start the copies of a step's blocks, and of some that are to be there with them."""
    set_indices(step)
    own = [*more, *((block, b.ptrtoint(at, I32)) for block, at in places(step))]
    with code.span("load", "start the copies of a step"):
      if stage_loads is not None:
        stage_loads.load_stage(step, own)
      with code.scope():
        for block, to in (each for each in own if each[0] in by_threads):
          view = frame.view(code, block.position, None)
          staged_blocks.copy_block(b, code.thread, code.num_threads, view, block, to)

  fenced = any(isinstance(block, SwizzledBlock) for block in by_threads)
  arrive = stage_loads.wait if stage_loads is not None else lambda step: None
  rounds = Rounds(b, count, plan.count, fetch, code.barrier, bool(by_threads), fenced, arrive)
  set_indices(i64(0))
  kept = _kept_outputs(frame, code, plan)
  if plan.inputs:
    code.has_stages = True
    staying = [(block, tma_stages.address(b, own)) for block, own in held if own is not None]
    rounds.begin(0, staying)  # what is held arrives with the first step
  code.settle_memory()
  with for_range(b, 0, plan.count) as step, code.scope():
    staged: dict[int, Callable[[View], View]] = {n: _here(copy.view) for n, copy in kept.items()}
    if plan.inputs:
      with code.span("wait", "the blocks of a step"):
        rounds.enter(step)
      staged |= {block.position: _there(block, b.addrspacecast(at, ty.PTR)) for block, at in places(step)}
      staged |= {block.position: _there(block, own.pointer) for block, own in held if own is not None}
    set_indices(step)
    _restart(frame, code, plan, step, memory)
    frame.instance(code, memory, frame.kernel.body.body, staged=staged)
    code.settle_memory()
  for copy in kept.values():
    with code.span("store", "write back"):
      copy.write_back()


def _restart(frame: Frame, code: BlockCode, plan: Steps, step: ir.Value, memory: list[Any]) -> None:
  """At the first step of an element of a batch (vmap)."""
  own = [d for d in plan.dims if d >= frame.mapping.num_vmapped]
  if len(own) == len(plan.dims) or not blocks.has_first_values(frame.kernel):
    return
  per_element = math.prod(int(frame.mapping.grid[d]) for d in own)
  is_first = code.b.icmp_unsigned("==", code.b.urem(step, i64(per_element)), i64(0))
  with if_then(code.b, is_first), code.scope():
    blocks.restart(code, frame.kernel, memory)


def _swizzled(kernel: NativeKernel, code: BlockCode, plan: Steps) -> Steps:
  """The plan with blocks laid out for the products that read them: by warpgroups, or by warps where TMA copies the blocks."""

  def laid_out(block: StagedBlock) -> StagedBlock:
    index_map = kernel.index_maps[block.position]
    if code.inferred is None or index_map is None or not _is_multiplied(kernel, block.position):
      return block
    if not all(always_inside(kernel.mapping.grid, kernel.mapping.block_mappings[block.position], index_map)):
      return block
    found = {wgmma_operands.shared_layout_for_products(code, v) for v in _loaded(kernel, block.position)}
    layout = found.pop()
    if layout is not None and not found:
      return SwizzledBlock(block.position, layout)
    return tma_stages.tiled(kernel, code.arch, block) or block

  inputs, held = ([laid_out(block) for block in own] for own in (plan.inputs, plan.held))
  inputs.sort(key=lambda block: -block.layout.swizzle.span if isinstance(block, SwizzledBlock) else 0)
  found = dataclasses.replace(plan, inputs=tuple(inputs), held=tuple(held))
  if not found.in_place:
    return found
  found = dataclasses.replace(found, stages=min(plan.stages, _SWIZZLED_STAGES))
  loads = {v for block in found.in_place for v in _loaded(kernel, block.position)}
  return found if wgmma_operands.leaves_room(code, loads, found.staged_bytes + 2 * found.align) else plan


def _loaded(kernel: NativeKernel, position: int) -> list[Value]:
  param = kernel.body.params[kernel.mapping.num_prefetch + position]
  return [op.result for op in users(kernel.body.body)[param]]


def _kept_outputs(frame: Frame, code: BlockCode, plan: Steps) -> dict[int, blocks.Copy]:
  """Copies of the outputs that stay, by position."""
  found = {}
  fresh = outputs_written_first(frame.kernel)
  for number in plan.outputs:
    position = frame.mapping.num_inputs + number
    block = frame.block(code, position, object())
    found[position] = blocks.Copy(code, block, is_output=True, is_read=number not in fresh)
  return found


def _here(memory: View) -> Callable[[View], View]:
  return lambda view: memory


def _there(block: StagedBlock, pointer: ir.Value) -> Callable[[View], View]:
  """A staged block, with the edges of its source block."""

  def staged(view: View) -> View:
    own = block.view(pointer)
    return dataclasses.replace(own, edges=view.edges, inside=view.inside, anchor=pointer)

  return staged
