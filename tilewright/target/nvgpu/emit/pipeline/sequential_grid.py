"""The code of sequential grid dimensions whose blocks come to shared memory ahead of time, or stay there: see `passes.stage`.

Threads copy blocks by cp.async (`staged_blocks`), one of them issues the copies of TMA (`tma_stages`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import for_range, i64, if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit import blocks
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.kernel_function import Frame
from tilewright.target.nvgpu.emit.pipeline import staged_blocks, tma_stages
from tilewright.target.nvgpu.emit.pipeline.rounds import Rounds
from tilewright.target.nvgpu.emit.units import shared_memory
from tilewright.target.nvgpu.emit.views import View
from tilewright.target.nvgpu.passes.stage import Steps, read_in_stages
from tilewright.target.nvgpu.passes.staged_blocks import StagedBlock, SwizzledBlock
from tilewright.tile.uninitialized import outputs_written_first


def run(frame: Frame, code: BlockCode, plan: Steps, memory: list[Any]) -> None:
  """All steps at the present point of the other dimensions."""
  b, count = code.b, plan.stages
  code.steps_ahead = max(1, count)
  origin = lambda block: frame.mapping.block_mappings[block.position].origin
  name = f"{plan.stages} stages of {', '.join(map(origin, plan.inputs))}"
  start = code.own_buffer(plan.stages * plan.stage_bytes, plan.align, name) if plan.inputs else None
  held = [(block, code.own_buffer(block.nbytes, plan.align, f"block of {origin(block)}")) for block in plan.held]
  stage_loads = tma_stages.StageLoads(frame, code, plan.maps, count) if plan.maps else None
  code.in_stages |= read_in_stages(frame.kernel, plan)

  def set_indices(step: ir.Value) -> None:
    for d in reversed(plan.dims):
      size = i64(int(frame.mapping.grid[d]))
      frame.indices[d], step = b.urem(step, size), b.udiv(step, size)

  def places(step: ir.Value) -> list[tuple[StagedBlock, ir.Value]]:
    """Where in shared memory each block of a step lies."""
    assert start is not None
    stage = b.urem(b.trunc(step, I32), I32(count))
    shared = b.addrspacecast(start.pointer, shared_memory.POINTER)
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
        for block, to in (each for each in own if each[0].position not in plan.maps):
          view = frame.view(code, block.position, None)
          staged_blocks.copy_block(b, code.thread, code.num_threads, view, block, to)

  fenced = any(isinstance(block, SwizzledBlock) for block in plan.by_threads)
  arrive = stage_loads.wait if stage_loads is not None else lambda step: None
  rounds = Rounds(b, count, plan.count, fetch, code.barrier, bool(plan.by_threads), fenced, arrive)
  set_indices(i64(0))
  kept = _kept_outputs(frame, code, plan)
  if plan.inputs:
    code.has_stages = True
    staying = [(block, shared_memory.address(b, own.pointer)) for block, own in held if own is not None]
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
    frame.instance(code, memory, frame.lowered.bodies[0], staged=staged)
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
    own = staged_blocks.view(block, pointer)
    return dataclasses.replace(own, edges=view.edges, inside=view.inside, anchor=pointer)

  return staged
