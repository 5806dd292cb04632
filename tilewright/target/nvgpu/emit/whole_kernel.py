"""A whole kernel as one GPU function: which CTA runs which grid points, and where their blocks of data are.

Parallel grid dimensions are distributed over the CTAs, one point each; the others are loops inside. A block of data is used in
place. If it may extend past an edge of its array, its view tracks the edges (`views`).
"""

from __future__ import annotations

from typing import Any

from tilewright import errors
from tilewright.layout.layout import Layout
from tilewright.layout.shared import SharedLayout
from tilewright.target.llvm import buffers
from tilewright.target.llvm.loops import for_range, i64
from tilewright.target.llvm.types import I64
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.emit import blocks, l2_hints
from tilewright.target.nvgpu.emit.by_hand import warpgroup_barriers
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.distribution import MAX_VALUE_REGISTERS, ordinary
from tilewright.target.nvgpu.emit.grid_loop import Meetings, Points
from tilewright.target.nvgpu.emit.kernel_function import MAX_WORKSPACE, Frame, Launch
from tilewright.target.nvgpu.emit.ops import effects, peers
from tilewright.target.nvgpu.emit.pipeline import matmul_pipeline
from tilewright.target.nvgpu.emit.units import cp_async, threads, tma
from tilewright.target.nvgpu.emit.units.cluster import ALONE, Cluster
from tilewright.target.nvgpu.ir.ops import COPY_ASYNC, STORE_ASYNC
from tilewright.target.nvgpu.passes import (
  algebraic_rewrites,
  elementwise_chains,
  hand_written,
  k_loops,
  matmul_plans,
  register_budget,
  symmetric_memory,
)
from tilewright.target.nvgpu.passes.layouts import choice
from tilewright.target.nvgpu.passes.layouts.hints import given_layout
from tilewright.target.nvgpu.passes.occupancy import choose_lanes, choose_threads, resident_blocks
from tilewright.target.nvgpu.passes.plans import Plan, Role
from tilewright.target.nvgpu.passes.warpgroup_effects import Roles
from tilewright.tile.ir import walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.parallel import parallel_dims
from tilewright.tile.pipeline import Pipeline
from tilewright.tile.ranges import always_inside
from tilewright.tile.rewrite import rewrite
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
  buffers.check(kernel, MAX_WORKSPACE, "a launch")
  if kernel.mesh:
    return _emit_for_devices(kernel, arch, num_warps, cluster, pipeline, profile)
  rewrite(kernel.body, algebraic_rewrites.RULES)
  parallel = tuple(parallel_dims(kernel))
  if kernel.warpgroups == 1 and _num_warps(kernel, num_warps) not in (None, threads.GROUP // threads.WARP):
    hand_written.without_barriers(kernel.body.body)  # a CTA that is no warpgroup: its copies are synchronous
  if hand_written.is_by_hand(kernel, arch):
    if pipeline is not None:
      raise errors.GridError(_NO_PIPELINE.format(kernel.name))
    return _emit_warpgroups(hand_written.lower(kernel, arch), arch, parallel, profile)
  hand_written.without_barriers(kernel.body.body)
  requested_cluster = _cluster(kernel, parallel, cluster) if cluster is not None and arch.has_tma else ALONE
  plan = _pipeline(kernel, arch, num_warps, requested_cluster, pipeline)
  if requested_cluster != ALONE and getattr(plan, "cluster", ALONE) != requested_cluster:
    raise errors.GridError(
      f"cluster: the blocks of the kernel '{kernel.name}' cannot share operands in clusters of {cluster} on {arch.name}. Clusters need a "
      "product accumulated along the last grid dimension by TMA and wgmma, operands that are the same along the dimensions of the "
      "cluster, and a grid that the cluster divides. Leave cluster out."
    )
  if plan is not None:
    return _emit_pipeline(kernel, arch, parallel, plan, profile)
  if pipeline is not None:
    raise errors.GridError(_NO_PIPELINE.format(kernel.name))
  kernel = k_loops.split(kernel, arch)
  return _emit_points(kernel, arch, parallel, choose_threads(kernel, num_warps, arch), profile)


def _emit_for_devices(
  kernel: NativeKernel,
  arch: Arch,
  num_warps: int | None,
  cluster: tuple[int, ...] | None,
  pipeline: Pipeline | None,
  profile: int | None,
) -> tuple[str, Launch]:
  """A kernel that accesses other devices: its copies are carried out where they stand, and blocks are not fetched ahead of their use."""
  symmetric_memory.check(kernel)
  if pipeline is not None or cluster not in (None, (1,) * len(cluster or ())):
    raise errors.GridError(
      f"The kernel '{kernel.name}' accesses other devices, and has neither a pipeline nor clusters. Leave pipeline and cluster out."
    )
  rewrite(kernel.body, algebraic_rewrites.RULES)
  hand_written.without_barriers(kernel.body.body)
  kernel = k_loops.split(kernel, arch)
  num_threads = choose_threads(kernel, num_warps, arch)
  text, launch = _emit_points(kernel, arch, tuple(parallel_dims(kernel)), num_threads, profile)
  if launch.launched_blocks > symmetric_memory.MAX_BLOCKS:
    raise errors.ResourceExhaustedError(
      f"The kernel '{kernel.name}' accesses other devices in {launch.launched_blocks} CTAs, of which {symmetric_memory.MAX_BLOCKS} at most "
      "can meet. Use a smaller grid, and loops in the kernel."
    )
  return text, launch


_NO_PIPELINE = (
  "pipeline: the kernel '{}' is no product along the last grid dimension that can be pipelined. Leave it out."
)


def _num_warps(kernel: NativeKernel, requested_cluster: int | None) -> int | None:
  """The number of warps required by the user's options or layouts; None if unconstrained."""
  return requested_cluster or next((own.num_warps for own in choice.casts(kernel)), None)


def _emit_points(
  kernel: NativeKernel, arch: Arch, parallel: tuple[int, ...], num_threads: int, profile: int | None
) -> tuple[str, Launch]:
  """A kernel whose CTAs take one point of the parallel dimensions each."""
  parallel = l2_hints.write_order(kernel, parallel)
  frame = Frame(kernel, profile=profile)
  code = frame.code(arch, num_threads, peers.PeerCode if kernel.mesh else BlockCode)
  frame.begin(code)
  if frame.symmetric is not None:
    assert frame.peers is not None
    peers.begin(code, kernel, frame.symmetric, *frame.peers, frame.arrays, frame.number)
  code.inferred = choice.choose(kernel, arch, num_threads // threads.WARP)
  code.chains = elementwise_chains.find(kernel.body.body, num_threads)
  resident = resident_blocks(kernel, arch, num_threads, parallel)
  points = Points(frame, code, parallel, resident)
  b = frame.b
  if frame.symmetric is not None:
    peers.enter(code)
    points.run(b.zext(frame.number, I64))
    peers.leave(code)
  elif frame.dynamic:
    total: Any = i64(1)
    for d in parallel:
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
  plan = Plan("one CTA for each point of the grid", _everything(num_threads), tuple(code.staged), notes=_notes(code))
  return frame.finish(code, num_threads, parallel, resident, plan=plan)


def _everything(num_threads: int) -> tuple[Role, ...]:
  return (Role("everything", num_threads // threads.WARP),)


def _notes(code: Any) -> tuple[str, ...]:
  """How products and copies are carried out."""
  what = {COPY_ASYNC: "copy", STORE_ASYNC: "store"}
  return tuple(
    dict.fromkeys(f"{what.get(op.name, 'product')} at {op.loc or '?'}: {way}" for op, way in code.ways.items())
  )


def _emit_warpgroups(
  kernel: NativeKernel, arch: Arch, parallel: tuple[int, ...], profile: int | None
) -> tuple[str, Launch]:
  """A kernel of which several warpgroups run each instance, each with its own control flow: see `warpgroup_barriers`."""
  roles = Roles(kernel)
  register_budget.check(kernel, roles)
  if any(op.name == "print" for op in walk(kernel.body.body)):
    raise errors.UnsupportedFeatureError(
      f"The kernel '{kernel.name}': several warpgroups (num_threads={kernel.warpgroups}) cannot print on a GPU. Write the values "
      "to an output, or run the kernel on the CPU."
    )
  frame = Frame(kernel, profile=profile)
  code = frame.code(arch, threads.GROUP)
  code.divide(kernel.warpgroups)
  frame.begin(code)
  code.inferred = choice.choose(kernel, arch, threads.GROUP // threads.WARP)
  if arch.has_tma:
    code.tensor_map = frame.tensor_map
    code.awaited = {op.operands[0] for op in walk(kernel.body.body) if op.name == "await"}
    code.only_read, code.only_copied = set(blocks.only_read(kernel)), set(blocks.only_copied(kernel))
  code.roles = roles
  Meetings(frame, code, parallel).run(frame.b.zext(frame.number, I64))
  warpgroup_barriers.drop_fences(code)
  if code.has_copies:  # no thread ends before its copies have arrived
    cp_async.commit(frame.b)
    cp_async.wait(frame.b, 0)
  if code.has_stores:
    tma.wait_groups(frame.b, 0, read_only=True)
  num_threads = kernel.warpgroups * threads.GROUP
  plan = Plan("warpgroups by hand", _roles(kernel, roles), tuple(code.staged), notes=_notes(code))
  return frame.finish(code, num_threads, parallel, exchanges_registers=code.sets_registers, plan=plan)


def _roles(kernel: NativeKernel, roles: Roles) -> tuple[Role, ...]:
  """The warpgroups, with the registers that they set."""
  set_by = [
    [op.attrs["count"] for op in walk(kernel.body.body) if op.name == "set_registers" and wg in roles.comes_to(op)]
    for wg in range(kernel.warpgroups)
  ]
  return tuple(
    Role(f"warpgroup {wg}", threads.GROUP // threads.WARP, own[0] if own else None) for wg, own in enumerate(set_by)
  )


def layouts_text(kernel: NativeKernel, arch: Arch, launch: Launch) -> str:
  """The layouts of a kernel in words, for those who look at how it was compiled."""
  num_warps, plan = launch.num_threads // kernel.warpgroups // threads.WARP, launch.pipeline
  if plan is not None:
    return f"{type(plan).__name__}: {plan.distribution}, {plan.stages} stages\n"
  found = choice.choose(k_loops.split(kernel, arch), arch, num_warps)
  return "Every tile is held in the ordinary layout of its shape.\n" if found is None else found.text(kernel.body)


def layouts(kernel: NativeKernel, arch: Arch, launch: Launch) -> list[tuple[str, str, Layout | SharedLayout]]:
  """The layouts of a kernel that was emitted: what has one, the user's line, and the layout. Where none are inferred, passes over a tile
  take its shape's ordinary layout."""
  num_warps, plan = launch.num_threads // kernel.warpgroups // threads.WARP, launch.pipeline
  if plan is not None:
    staged = matmul_plans.stage_layouts(plan)
    origins = {k: kernel.mapping.block_mappings[k].origin for k in staged}
    held = getattr(plan.distribution, "layout", None)
    product_accumulators = [] if held is None else [("accumulator, in registers", plan.contraction.dot.loc, held)]
    shared = [(f"{origins[k]}, in a stage", "", own) for k, own in staged.items() if own is not None]
    return [*product_accumulators, *shared]
  inferred = choice.choose(k_loops.split(kernel, arch), arch, num_warps)
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
  lanes = choose_lanes(kernel, launch.num_threads)
  tiles = [
    (op, v) for op in walk(kernel.body.body) for v in op.results if isinstance(v.type, TileType) and v.type.shape
  ]
  plain = [(op, v, ordinary(v.tile.shape, lanes, num_warps)) for op, v in tiles if v.tile.size]
  return [(f"{op.name} : {v.type}", op.loc, own) for op, v, own in plain if own.num_registers <= MAX_VALUE_REGISTERS]


def _pipeline(
  kernel: NativeKernel, arch: Arch, num_warps: int | None, cluster: Cluster, wish: Pipeline | None
) -> matmul_plans.Plan | None:
  """The pipeline of a kernel, if there is one that honours all that the kernel specifies."""
  inside = lambda m, index_map: always_inside(kernel.mapping.grid, m, index_map)
  problem = matmul_plans.problem_of(kernel, arch, inside, num_warps, cluster)
  plan = None if problem is None else matmul_plans.find(problem, wish)
  if plan is None or effects.may_log(kernel.body.body) or not _honours(kernel, plan):
    return None
  return plan


def _honours(kernel: NativeKernel, plan: matmul_plans.Plan) -> bool:
  """Whether a pipeline honours the user's layouts."""
  given = {position: given_layout(ref.ref) for position, ref in choice.given_blocks(kernel).items()}
  others = len(choice.given_refs(kernel)) - len(given) + len(choice.casts(kernel))
  own = matmul_plans.stage_layouts(plan)
  product_accumulators = [plan.contraction.accumulator]
  return (
    not others
    and all(own.get(p) == g for p, g in given.items())
    and all(a in product_accumulators for a in choice.accumulators(kernel))
  )


def _cluster(kernel: NativeKernel, parallel: tuple[int, ...], sizes: tuple[int, ...] | None) -> Cluster:
  """How the blocks of a cluster lie along the last two parallel dimensions of the grid."""
  if sizes is None or all(size == 1 for size in sizes):
    return ALONE
  grid, skip = kernel.mapping.grid, kernel.mapping.num_vmapped
  if len(sizes) != len(grid) - skip:
    raise errors.GridError(f"cluster: expected a size for each of {len(grid) - skip} grid dimensions, got {sizes}.")
  whole = (1,) * skip + tuple(sizes)
  rows, columns = parallel[-2:] if len(parallel) > 1 else (None, None)
  if rows is None or columns is None or any(size > 1 and d not in (rows, columns) for d, size in enumerate(whole)):
    raise errors.GridError(
      f"cluster: expected sizes above 1 only along the last two parallel dimensions of the grid, got {sizes}."
    )
  return Cluster(whole[rows], whole[columns])


def _emit_pipeline(
  kernel: NativeKernel, arch: Arch, parallel: tuple[int, ...], plan: matmul_plans.Plan, profile: int | None
) -> tuple[str, Launch]:
  """A kernel that prefetches the operands of a contraction into shared memory a few steps ahead: see `matmul_plans`."""
  stores = plan.stores if isinstance(plan, matmul_plans.WarpgroupPlan) else ()
  frame = Frame(kernel, (*plan.tensor_maps, *stores), profile)
  code = matmul_pipeline.emit(frame, arch, parallel, plan)
  return frame.finish(
    code,
    plan.num_threads,
    parallel,
    cluster=plan.cluster.size if isinstance(plan, matmul_plans.WarpgroupPlan) else 1,
    exchanges_registers=isinstance(plan, matmul_plans.RegisterPlan),
    resident=plan.resident if isinstance(plan, matmul_plans.RegisterPlan) else None,
    plan=matmul_plans.described(plan, kernel),
    pipeline=plan,
  )
