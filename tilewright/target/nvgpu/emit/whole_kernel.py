"""A whole kernel as one GPU function, from what the passes decided (`passes.lowering`).

Parallel grid dimensions are distributed over the CTAs, one point each; the others are loops inside. A block of data is used in
place. If it may extend past an edge of its array, its view tracks the edges (`views`).
"""

from __future__ import annotations

from typing import Any

from tilewright import errors
from tilewright.layout.layout import Layout
from tilewright.layout.shared import SharedLayout
from tilewright.target.llvm.loops import for_range, i64
from tilewright.target.llvm.types import I64
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.emit import blocks
from tilewright.target.nvgpu.emit.by_hand import warpgroup_barriers, warpgroup_semaphores
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.distribution import ordinary
from tilewright.target.nvgpu.emit.grid_loop import Meetings, Points
from tilewright.target.nvgpu.emit.kernel_function import Frame, Launch
from tilewright.target.nvgpu.emit.ops import peers
from tilewright.target.nvgpu.emit.pipeline import matmul_pipeline
from tilewright.target.nvgpu.emit.units import cp_async, threads, tma
from tilewright.target.nvgpu.emit.units.threads import MAX_VALUE_REGISTERS
from tilewright.target.nvgpu.emit.views import Array
from tilewright.target.nvgpu.passes import block_accesses, lowering, matmul_plans, symmetric_memory
from tilewright.target.nvgpu.passes.gpu_kernel import PIPELINE, WARPGROUPS, GpuKernel, Wishes
from tilewright.target.nvgpu.passes.occupancy import choose_lanes
from tilewright.tile.ir import walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.pipeline import Pipeline
from tilewright.tile.types import TileType


def emit_kernel(
  kernel: NativeKernel,
  arch: Arch,
  num_warps: int | None = None,
  cluster: tuple[int, ...] | None = None,
  pipeline: Pipeline | None = None,
  profile: int | None = None,
) -> tuple[str, Launch]:
  """The LLVM IR of a kernel, and how to launch it: see `nvgpu.CompilerParams` for what a user may say. With `profile`, the kernel records
  so many begins and ends of spans in each track (see `profiler`)."""
  return emit(lowering.lower(kernel, arch, Wishes(num_warps, cluster, pipeline)), profile)


def emit(k: GpuKernel, profile: int | None = None) -> tuple[str, Launch]:
  """The LLVM IR of a kernel of which everything is decided, and how to launch it."""
  if k.form == PIPELINE:
    return _emit_pipeline(k, profile)
  return (_emit_warpgroups if k.form == WARPGROUPS else _emit_points)(k, profile)


def _emit_points(k: GpuKernel, profile: int | None) -> tuple[str, Launch]:
  """A kernel whose CTAs take one point of the parallel dimensions each."""
  kernel, frame = k.kernel, Frame(k, profile=profile)
  code = frame.code(k.num_threads, peers.PeerCode if kernel.mesh else BlockCode)
  frame.begin(code)
  if frame.symmetric is not None:
    assert frame.peers is not None
    peers.begin(code, kernel, frame.symmetric, *frame.peers, frame.arrays, frame.number)
  points = Points(frame, code)
  b = frame.b
  if frame.symmetric is not None:
    peers.enter(code)
    points.run(b.zext(frame.number, I64))
    peers.leave(code)
  elif frame.dynamic:
    total: Any = i64(1)
    for d in k.parallel:
      total = b.mul(total, frame.sizes[d])
    with for_range(b, b.zext(frame.number, I64), total, b.zext(threads.num_blocks(b), I64)) as number, code.scope():
      blocks.restart(code, kernel, points.memory)
      points.run(number)
      code.settle_memory()
  else:
    number = b.zext(frame.number, I64)
    points.prefetch_ahead(number)
    points.run(number)
    points.release_lines(number)
  text, launch = frame.finish(code, k.num_threads)
  if kernel.mesh and launch.launched_blocks > symmetric_memory.MAX_BLOCKS:
    raise errors.ResourceExhaustedError(
      f"The kernel '{kernel.name}' accesses other devices in {launch.launched_blocks} CTAs, of which {symmetric_memory.MAX_BLOCKS} at most "
      "can meet. Use a smaller grid, and loops in the kernel."
    )
  return text, launch


def _emit_warpgroups(k: GpuKernel, profile: int | None) -> tuple[str, Launch]:
  """A kernel of which several warpgroups run each instance, each with its own control flow: see `warpgroup_barriers`."""
  kernel, frame = k.kernel, Frame(k, profile=profile)
  code = frame.code(k.num_threads)
  code.divide(kernel.warpgroups)
  if kernel.warpgroups > 1 or kernel.grid_semaphores or any(map(warpgroup_semaphores.asks, walk(kernel.body.body))):
    code.synchronizing_ops = code.synchronizing_ops | warpgroup_semaphores.SYNCHRONISING
  frame.begin(code)
  if k.arch.has_tma:
    code.tensor_map = frame.tensor_map
    code.awaited = {op.operands[0] for op in walk(kernel.body.body) if op.name == "await"}
    code.only_read = {_array(kernel, n) for n in block_accesses.only_read(kernel)}
    code.only_copied = {_array(kernel, n) for n in block_accesses.only_copied(kernel)}
  Meetings(frame, code).run(frame.b.zext(frame.number, I64))
  warpgroup_barriers.drop_fences(code)
  if code.has_copies:  # no thread ends before its copies have arrived
    cp_async.commit(frame.b)
    cp_async.wait(frame.b, 0)
  if code.has_stores:
    tma.wait_groups(frame.b, 0, read_only=True)
  warpgroup_barriers.end(code)
  return frame.finish(
    code,
    kernel.warpgroups * threads.GROUP,
    cluster=1 if k.cooperation is None else k.cooperation.size,
    exchanges_registers=code.sets_registers,
  )


def _array(kernel: NativeKernel, number: int) -> Array:
  return Array(number, tuple(kernel.mapping.block_mappings[number - kernel.mapping.num_prefetch].array_aval.shape))


def _emit_pipeline(k: GpuKernel, profile: int | None) -> tuple[str, Launch]:
  """A kernel that prefetches the operands of a contraction into shared memory a few steps ahead: see `matmul_plans`."""
  plan = k.pipeline
  assert plan is not None
  stores = plan.stores if isinstance(plan, matmul_plans.WarpgroupPlan) else ()
  frame = Frame(k, (*plan.tensor_maps, *stores), profile)
  code = matmul_pipeline.emit(frame, plan)
  return frame.finish(
    code,
    plan.num_threads,
    cluster=plan.cluster.size if isinstance(plan, matmul_plans.WarpgroupPlan) else 1,
    exchanges_registers=isinstance(plan, matmul_plans.RegisterPlan),
    resident=plan.resident if isinstance(plan, matmul_plans.RegisterPlan) else None,
  )


# --- for people --------------------------------------------------------------------------------------------------


def layouts_text(k: GpuKernel) -> str:
  """The layouts of a kernel in words, for those who look at how it was compiled."""
  if k.pipeline is not None:
    return f"{type(k.pipeline).__name__}: {k.pipeline.distribution}, {k.pipeline.stages} stages\n"
  if k.inferred is None:
    return "Every tile is held in the ordinary layout of its shape.\n"
  return k.inferred.text(k.kernel.body)


def layouts(k: GpuKernel) -> list[tuple[str, str, Layout | SharedLayout]]:
  """The layouts of a kernel: what has one, the user's line, and the layout. Where none are inferred, passes over a tile take its shape's
  ordinary layout."""
  kernel, plan, inferred = k.kernel, k.pipeline, k.inferred
  if plan is not None:
    staged = matmul_plans.stage_layouts(plan)
    origins = {k: kernel.mapping.block_mappings[k].origin for k in staged}
    held = getattr(plan.distribution, "layout", None)
    product_accumulators = [] if held is None else [("accumulator, in registers", plan.contraction.dot.loc, held)]
    shared = [(f"{origins[k]}, in a stage", "", own) for k, own in staged.items() if own is not None]
    return [*product_accumulators, *shared]
  found: list[tuple[str, str, Layout | SharedLayout]] = []
  if inferred is not None:
    found += [(f"{ref.type}, in shared memory", "", own) for ref, own in inferred.shared.items()]
    ops = {v: op for op in walk(kernel.body.body) for v in op.results}
    found += [
      (f"{ops[v].name} : {v.type}" if v in ops else str(v.type), ops[v].loc if v in ops else "", own)
      for v, own in inferred.layouts.items()
      if v.tile.shape
    ]
    return found
  lanes = choose_lanes(kernel, k.num_threads * kernel.warpgroups)
  tiles = [
    (op, v) for op in walk(kernel.body.body) for v in op.results if isinstance(v.type, TileType) and v.type.shape
  ]
  plain = [(op, v, ordinary(v.tile.shape, lanes, k.num_warps)) for op, v in tiles if v.tile.size]
  return [(f"{op.name} : {v.type}", op.loc, own) for op, v, own in plain if own.num_registers <= MAX_VALUE_REGISTERS]
