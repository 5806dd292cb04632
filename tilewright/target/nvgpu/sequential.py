"""Steps of a grid that one block of threads takes one after the other: blocks arrive ahead of time, and what is added up stays near.

An input whose block changes from step to step is copied to shared memory a few steps before the body sees it (`staging`). An output whose
block stays the same is kept in shared memory from the first step to the last, and written once.

    grid (columns, rows), column sums: out[0, j] += x[i, j].sum(0)
      x     four stages: while rows i are added up, i + 1 to i + 3 are under way
      out   a row in shared memory, written after the last i
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import for_range, i64, if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu import blocks, cp_async, staging
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.block_memory import SHARED
from tilewright.target.nvgpu.code import BlockCode
from tilewright.target.nvgpu.staging import PaddedBlock
from tilewright.target.nvgpu.views import View
from tilewright.tile.dead_code import VIEWS
from tilewright.tile.grid import Blocked, Squeezed
from tilewright.tile.ir import Function, Value, users, walk
from tilewright.tile.native import NativeKernel

_MOST_STAGES = 4
_SHARE = (
  3  # a block of threads stages in at most this part of what it may ask for, so that several fit a multiprocessor
)
_KEPT_BYTES = 16 * 1024  # of an output's block
_FEWEST_STEPS = 4


@dataclasses.dataclass(frozen=True)
class Steps:
  """How the steps of a kernel are taken."""

  dims: tuple[int, ...]  # of the grid, the last fastest
  count: int
  inputs: tuple[PaddedBlock, ...]
  stages: int
  outputs: tuple[int, ...]  # that are kept, by number

  @property
  def stage_bytes(self) -> int:
    return sum(block.nbytes for block in self.inputs)


def find(kernel: NativeKernel, arch: Arch, parallel: tuple[int, ...]) -> Steps | None:
  """What can be staged or kept of a kernel's steps; None if nothing can, or there are few."""
  grid = kernel.mapping.grid
  dims = tuple(d for d in range(len(grid)) if d not in parallel)
  if None in grid or kernel.in_order or not dims:
    return None
  count = math.prod(int(grid[d]) for d in dims)
  if count < _FEWEST_STEPS:
    return None
  found = (_staged(kernel, position, dims) for position in range(kernel.mapping.num_inputs))
  inputs = tuple(block for block in found if block is not None)
  stages = 0
  while inputs:
    stages = min(_MOST_STAGES, arch.shared_bytes // _SHARE // sum(block.nbytes for block in inputs))
    if stages >= 2:
      break
    inputs, stages = tuple(sorted(inputs, key=lambda block: block.nbytes))[:-1], 0
  outputs = tuple(n for n in range(kernel.mapping.num_outputs) if _is_kept(kernel, n, dims))
  return Steps(dims, count, inputs, stages, outputs) if inputs or outputs else None


def _staged(kernel: NativeKernel, position: int, dims: tuple[int, ...]) -> PaddedBlock | None:
  """How an input is staged: one that changes along the steps, and that the body only loads from."""
  index_map, param = kernel.index_maps[position], kernel.body.params[kernel.mapping.num_prefetch + position]
  if index_map is None or not _depends(index_map, dims) or not _is_only_loaded(kernel, param):
    return None
  if kernel.mapping.num_prefetch + position in {into for into, _ in kernel.input_output_aliases}:
    return None
  if param in blocks.seen_without_edges(kernel.body.body):
    return None
  return staging.padded(kernel, position)


def _is_kept(kernel: NativeKernel, number: int, dims: tuple[int, ...]) -> bool:
  """Whether an output's block stays the same along the steps, and is read too."""
  mapping = kernel.mapping
  m, index_map = mapping.output_mappings[number], kernel.index_maps[mapping.num_inputs + number]
  if index_map is None or _depends(index_map, dims) or any(out == number for _, out in kernel.input_output_aliases):
    return False
  if not all(isinstance(d, Blocked | Squeezed) for d in m.block_shape):
    return False
  param = kernel.body.params[mapping.num_prefetch + mapping.num_inputs + number]
  is_read = any(op.name == "load" and op.operands[0] is param for op in walk(kernel.body.body))
  return is_read and math.prod(m.block_sizes) * np.dtype(m.array_aval.dtype).itemsize <= _KEPT_BYTES


def _depends(index_map: Function, dims: tuple[int, ...]) -> bool:
  """Whether an index map uses one of some grid indices, or what the kernel may not know before: prefetched numbers."""
  used = set(users(index_map.body)) | set(index_map.body.yielded)
  return any(index_map.params[d] in used for d in dims)


def _is_only_loaded(kernel: NativeKernel, ref: Value) -> bool:
  used = users(kernel.body.body)

  def loads_only(v: Value) -> bool:
    return all(
      op.name == "load" or (op.name in VIEWS and op.name != "bitcast_ref" and loads_only(op.result))
      for op in used.get(v, [])
    )

  return ref in used and loads_only(ref)


def run(frame: Any, code: BlockCode, plan: Steps, memory: list[Any]) -> None:
  """All steps at the present point of the other dimensions."""
  if code.arena_bytes + plan.stages * plan.stage_bytes > code.arch.shared_bytes // 2:
    plan = dataclasses.replace(plan, inputs=(), stages=0)  # scratch memory comes first
  b, count = code.b, plan.stages
  prefetched = frame.prefetched(code)
  start = code.allocate((plan.stages * plan.stage_bytes,), np.uint8) if plan.inputs else None

  def stand(step: ir.Value) -> None:
    for d in reversed(plan.dims):
      size = i64(int(frame.mapping.grid[d]))
      frame.indices[d], step = b.urem(step, size), b.udiv(step, size)

  def places(step: ir.Value) -> list[tuple[PaddedBlock, ir.Value]]:
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

  def fetch(step: ir.Value) -> None:
    stand(step)
    with code.scope():
      for block, at in places(step):
        view = frame.view(code, block.position, prefetched, None)
        staging.copy_block(b, code.thread, code.num_threads, view, block, b.ptrtoint(at, I32))

  stand(i64(0))
  kept = _kept_outputs(frame, code, plan, prefetched)
  if plan.inputs:
    code.has_stages = True
    for ahead in range(count - 1):
      if ahead < plan.count:
        fetch(i64(ahead))
      cp_async.commit(b)
  code.settle_memory()
  with for_range(b, 0, plan.count) as step, code.scope():
    staged: dict[int, Callable[[View], View]] = {n: _here(copy.view) for n, copy in kept.items()}
    if plan.inputs:
      cp_async.wait(b, count - 2)
      code.barrier()  # the step's blocks are there, and nobody reads those that are replaced
      later = b.add(step, i64(count - 1))
      with if_then(b, b.icmp_signed("<", later, i64(plan.count))):
        fetch(later)
      cp_async.commit(b)
      staged |= {block.position: _there(block, b.addrspacecast(at, ty.PTR)) for block, at in places(step)}
    stand(step)
    frame.instance(code, memory, frame.kernel.body.body, staged=staged)
    code.settle_memory()
  for copy in kept.values():
    copy.write_back()


def _kept_outputs(frame: Any, code: BlockCode, plan: Steps, prefetched: Any) -> dict[int, blocks.Copy]:
  """Copies of the outputs that stay, by position."""
  found = {}
  for number in plan.outputs:
    position = frame.mapping.num_inputs + number
    block = frame.block(code, position, prefetched, object())
    found[position] = blocks.Copy(code, block, is_output=True)
  return found


def _here(memory: View) -> Callable[[View], View]:
  return lambda view: memory


def _there(block: PaddedBlock, pointer: ir.Value) -> Callable[[View], View]:
  """A block that is staged, with the edges that it has where it comes from."""

  def staged(view: View) -> View:
    own = block.view(pointer)
    return dataclasses.replace(own, edges=view.edges, inside=view.inside, anchor=pointer)

  return staged
