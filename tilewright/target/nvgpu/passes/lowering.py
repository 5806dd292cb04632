"""All decisions about a kernel, pass by pass, before any code is written.

    check        whether there is code for what the kernel asks
    simplify     rewrite rules of algebra; barriers of copies that are synchronous anyway are gone
    …            hand-written kernels: copies and products as ops that are started and waited for (`hand_written`, five passes)
    cooperation  what the CTAs of a cluster do to each other, in hand-written kernels
    roles        what each warpgroup does, its registers; races and deadlocks are errors
    blocks       large blocks of independent rows in smaller ones (`tile.finer_blocks`)
    grid         which dimensions of the grid CTAs share out; clusters
    pipeline     products along the grid: stages, engines, the work of warps (`matmul_plans`)
    split        long products of one instance, as loops (`k_loops`)
    occupancy    threads of a CTA, CTAs of an SM, what L2 keeps
    layouts      a layout for each tile, and the kind of each product
    fuse         long chains of elementwise ops
    memory       where scratch memory lies
    stage        blocks that come to shared memory ahead of time, or stay there
    bodies       the body at the first step, between, and at the last; which blocks it accesses in place, and of which it has a copy
    operands     operands of products that are copied as they are; loops for which they are copied ahead, in stages

Each is a function from a kernel (`GpuKernel`) to one of which more is decided; kernels of another form pass through. `verify_decisions`
checks after each what it wrote. Code generation (`emit.whole_kernel`) starts from the last.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeAlias

from tilewright import errors
from tilewright.runtime import dump
from tilewright.target.llvm import buffers
from tilewright.target.llvm.prepared import check_stage
from tilewright.target.nvgpu.arch import WGMMA, Arch
from tilewright.target.nvgpu.emit.units import threads
from tilewright.target.nvgpu.emit.units.cluster import ALONE, Cluster
from tilewright.target.nvgpu.host.device_log import may_log
from tilewright.target.nvgpu.ir import verify as races
from tilewright.target.nvgpu.ir.ops import MMA
from tilewright.target.nvgpu.passes import (
  algebraic_rewrites,
  bodies,
  cooperation,
  direct_loads,
  elementwise_chains,
  hand_written,
  k_loops,
  l2_hints,
  loop_stages,
  matmul_plans,
  memory,
  occupancy,
  register_budget,
  stage,
  symmetric_memory,
)
from tilewright.target.nvgpu.passes.gpu_kernel import COPY, PIPELINE, POINTS, TILED, WARPGROUPS, GpuKernel, Wishes
from tilewright.target.nvgpu.passes.layouts import choice
from tilewright.target.nvgpu.passes.layouts.hints import given_layout
from tilewright.target.nvgpu.passes.verify_decisions import verify
from tilewright.target.nvgpu.passes.warpgroup_effects import Roles
from tilewright.tile import finer_blocks
from tilewright.tile.ir import walk
from tilewright.tile.native import NativeKernel, copied_kernel
from tilewright.tile.parallel import parallel_dims
from tilewright.tile.ranges import always_inside
from tilewright.tile.rewrite import rewrite

NO_WISHES = Wishes()
_LARGEST_TILE = 1 << 16  # elements that the registers of a CTA hold
_TILE = 1 << 13  # and that large tiles are cut to: several of them have room
Pass: TypeAlias = Callable[[GpuKernel], GpuKernel]  # may change the ops of the kernel in place


def lower(
  kernel: NativeKernel,
  arch: Arch,
  wishes: Wishes = NO_WISHES,
  seen: Callable[[str, GpuKernel], None] = lambda name, kernel: None,
  until: str = "",
) -> GpuKernel:
  """A kernel with all decisions made, or those `until` a pass. Its ops are changed in place; `seen` gets it after each pass."""
  k = GpuKernel(kernel, arch, wishes)
  for name, run in PASSES.items():
    k = run(k)
    check_stage(k.kernel, "lowered")
    if dump.wants_checks():
      verify(k)
    seen(name, k)
    if name == until:
      break
  return k


def stages(kernel: NativeKernel, arch: Arch, wishes: Wishes = NO_WISHES) -> dict[str, str]:
  """The text of a kernel after each pass that changes it, for people. The kernel stays as it is."""
  texts, last = dict[str, str](), GpuKernel(kernel, arch).text()

  def seen(name: str, k: GpuKernel) -> None:
    nonlocal last
    if (text := k.text()) != last:
      texts[name] = last = text

  lower(copied_kernel(kernel), arch, wishes, seen)
  return texts


# --- what there is code for --------------------------------------------------------------------------------------


def check(k: GpuKernel) -> GpuKernel:
  kernel, wishes = k.kernel, k.wishes
  buffers.check(kernel, memory.MAX_WORKSPACE, "a launch")
  if kernel.cluster and not k.arch.has_clusters:
    kernel = cooperation.without_clusters(kernel, k.arch)
    k = k.replace(kernel=kernel)
  if not kernel.mesh:
    return k
  symmetric_memory.check(kernel)
  if wishes.pipeline is not None or wishes.cluster not in (None, (1,) * len(wishes.cluster or ())):
    raise errors.GridError(
      f"The kernel '{kernel.name}' accesses other devices, and has neither a pipeline nor clusters. Leave pipeline and cluster out."
    )
  return k


def _refuse_pipeline(k: GpuKernel) -> None:
  if k.wishes.pipeline is not None:
    raise errors.GridError(
      f"pipeline: the kernel '{k.kernel.name}' is no product along the last grid dimension that can be pipelined. Leave it out."
    )


# --- passes of the tile IR ---------------------------------------------------------------------------------------


def simplify(k: GpuKernel) -> GpuKernel:
  """Algebra; what earlier passes for another architecture wrote is gone, and so are barriers of copies that are synchronous."""
  kernel, body = k.kernel, k.kernel.body.body
  rewrite(kernel.body, algebraic_rewrites.RULES)
  for op in walk(body):
    if op.name == "dot" and "kind" in op.attrs:
      op.attrs = {name: value for name, value in op.attrs.items() if name != "kind"}
  if kernel.mesh:
    hand_written.without_barriers(body)
    return k
  if kernel.warpgroups == 1 and _num_warps(k) not in (None, threads.GROUP // threads.WARP):
    if kernel.cluster or kernel.grid_semaphores:
      raise errors.GridError(
        f"num_warps: the CTAs of the kernel '{kernel.name}' wait for each other, and have 4 warps each, got {_num_warps(k)}. Leave "
        "num_warps out."
      )
    hand_written.without_barriers(body)  # a CTA that is no warpgroup: its copies are synchronous
  if hand_written.is_by_hand(kernel, k.arch):
    _refuse_pipeline(k)
    return k.replace(form=WARPGROUPS)
  hand_written.without_barriers(body)
  return k


def _num_warps(k: GpuKernel) -> int | None:
  """The number of warps required by the user's options or layouts; None if unconstrained."""
  return k.wishes.num_warps or next((own.num_warps for own in choice.casts(k.kernel)), None)


def _by_hand(run: hand_written.Pass) -> Pass:
  return lambda k: k.replace(kernel=run(k.kernel, k.arch)) if k.form == WARPGROUPS else k


def find_cooperation(k: GpuKernel) -> GpuKernel:
  """What the CTAs of a cluster do to each other's shared memory; if nothing, they are CTAs like others."""
  found = cooperation.find(k.kernel) if k.form == WARPGROUPS else None
  return k.replace(
    cooperation=found, kernel=k.kernel if found is not None else dataclasses.replace(k.kernel, cluster=())
  )


def find_roles(k: GpuKernel) -> GpuKernel:
  """What each warpgroup does, and that they wait for each other where they must."""
  if k.form != WARPGROUPS:
    return k
  kernel = k.kernel
  races.verify(kernel)
  roles = Roles(kernel)
  register_budget.check(kernel, roles)
  return k.replace(roles=roles, num_threads=threads.GROUP)


# --- grid, pipelines ---------------------------------------------------------------------------------------------


def blocks(k: GpuKernel) -> GpuKernel:
  """Blocks of fewer rows, where the tiles of a block are more than the registers of a CTA hold and rows are independent."""
  if k.form != POINTS or k.kernel.mesh or k.wishes.pipeline is not None or choice.given_refs(k.kernel):
    return k
  return k.replace(kernel=finer_blocks.refine(k.kernel, _LARGEST_TILE, _TILE))


def grid(k: GpuKernel) -> GpuKernel:
  parallel = tuple(parallel_dims(k.kernel))
  if k.form == WARPGROUPS or k.kernel.mesh or k.wishes.cluster is None or not k.arch.has_tma:
    return k.replace(parallel=parallel)
  return k.replace(parallel=parallel, cluster=_cluster(k.kernel, parallel, k.wishes.cluster))


def _cluster(kernel: NativeKernel, parallel: tuple[int, ...], sizes: tuple[int, ...]) -> Cluster:
  """How the blocks of a cluster lie along the last two parallel dimensions of the grid."""
  if all(size == 1 for size in sizes):
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


def pipeline(k: GpuKernel) -> GpuKernel:
  """The pipeline of a product along the grid, if there is one that honours all that the kernel specifies."""
  kernel, arch = k.kernel, k.arch
  if k.form != POINTS or kernel.mesh:
    return k
  inside = lambda m, index_map: always_inside(kernel.mapping.grid, m, index_map)
  problem = matmul_plans.problem_of(kernel, arch, inside, k.wishes.num_warps, k.cluster)
  plan = None if problem is None else matmul_plans.find(problem, k.wishes.pipeline)
  if plan is not None and (may_log(kernel.body.body) or not _honours(kernel, plan)):
    plan = None
  if k.cluster != ALONE and getattr(plan, "cluster", ALONE) != k.cluster:
    raise errors.GridError(
      f"cluster: the blocks of the kernel '{kernel.name}' cannot share operands in clusters of {k.wishes.cluster} on {arch.name}. Clusters "
      "need a product accumulated along the last grid dimension by TMA and wgmma, operands that are the same along the dimensions of the "
      "cluster, and a grid that the cluster divides. Leave cluster out."
    )
  if plan is None:
    _refuse_pipeline(k)
    return k
  return k.replace(form=PIPELINE, pipeline=plan)


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


# --- points of a grid --------------------------------------------------------------------------------------------


def split(k: GpuKernel) -> GpuKernel:
  return k.replace(kernel=k_loops.split(k.kernel, k.arch)) if k.form == POINTS else k


def choose_occupancy(k: GpuKernel) -> GpuKernel:
  if k.form != POINTS:
    return k
  kernel, arch = k.kernel, k.arch
  num_threads = occupancy.choose_threads(kernel, k.wishes.num_warps, arch)
  parallel = l2_hints.write_order(kernel, k.parallel)
  resident = occupancy.resident_blocks(kernel, arch, num_threads, parallel)
  return k.replace(
    num_threads=num_threads,
    parallel=parallel,
    resident=resident,
    streams=tuple(n for n, _ in l2_hints.streams(kernel, arch)),
    ahead=tuple(l2_hints.prefetched_blocks(kernel, arch, resident)),
  )


# --- tiles -------------------------------------------------------------------------------------------------------


def layouts(k: GpuKernel) -> GpuKernel:
  """A layout for each tile; products are told their kind."""
  if k.form == PIPELINE:
    return k
  inferred = choice.choose(k.kernel, k.arch, k.num_warps)
  if inferred is None:
    return k
  started = {op.operands[1].owner for op in walk(k.kernel.body.body) if op.name == MMA}  # as the user says
  for op, kind in inferred.dots.items():
    op.attrs = {**op.attrs, "kind": kind if op in started else inferred.kind_of(op)}
  return k.replace(inferred=inferred)


def fuse(k: GpuKernel) -> GpuKernel:
  if k.form != POINTS:
    return k
  return k.replace(chains=elementwise_chains.find(k.kernel.body.body, k.num_threads))


def place_scratch(k: GpuKernel) -> GpuKernel:
  if k.form == WARPGROUPS:
    arena = memory.Arena(k.arch, k.kernel.warpgroups, is_by_hand=True)
    return k.replace(arena=arena, scratch=memory.shared_scratch(k.kernel, arena, k.inferred))
  arena, elsewhere = memory.Arena(k.arch), set[int]()
  if k.pipeline is not None:
    arena.reserve(matmul_plans.stage_parts(k.pipeline))
    refs = memory.scratch_refs(k.kernel)
    elsewhere = {n for n, ref in enumerate(refs) if ref is k.pipeline.contraction.accumulator}
  if k.kernel.mesh:
    arena.reserve([("the verdict of a wait", symmetric_memory.VERDICT_BYTES)])
    elsewhere = {number for number, _ in symmetric_memory.plan(k.kernel).scratch}
  return k.replace(arena=arena, scratch=memory.scratch(k.kernel, arena, k.inferred, elsewhere))


def stage_blocks(k: GpuKernel) -> GpuKernel:
  if k.form != POINTS or k.kernel.mesh:  # what other devices write must not be read ahead
    return k
  assert k.arena is not None
  return k.replace(steps=stage.stage(k.kernel, k.arch, k.parallel, k.inferred, k.arena.used))


def find_bodies(k: GpuKernel) -> GpuKernel:
  return k.replace(bodies=bodies.bodies(k))


def find_operands(k: GpuKernel) -> GpuKernel:
  if k.inferred is None or WGMMA not in k.arch.rates:
    return k
  assert k.arena is not None
  arena = k.arena.copied()
  k = k.replace(direct=direct_loads.find(k), arena=arena)
  if k.steps is not None and k.steps.inputs:  # whose copies are in flight
    return k
  used = _used_in_body(k)
  if k.inferred is None or used is None:
    return k
  return k.replace(loops=loop_stages.find(k.kernel.body.body, k.arch, k.inferred, k.direct, arena, used))


def _used_in_body(k: GpuKernel) -> int | None:
  """The bytes of shared memory that scratch memory, copies of blocks, and what a body allocates there take; None if there is no room."""
  assert k.arena is not None
  arena, mapping = k.arena.copied(), k.kernel.mapping
  try:
    for access, m, ref in zip(
      k.bodies[0].accesses, mapping.block_mappings, k.kernel.body.params[mapping.num_prefetch :]
    ):
      if access.how == TILED:
        memory.place(arena, k.inferred, ref)
      elif access.how == COPY:
        arena.take(ref.ref.shape, m.array_aval.dtype)
    for op in walk(k.kernel.body.body):
      if op.name == "alloc":
        memory.place(arena, k.inferred, op.result)
  except errors.ResourceExhaustedError:  # which is raised again where the line of the user is known
    return None
  return arena.used


PASSES: dict[str, Pass] = {
  "check": check,
  "simplify": simplify,
  **{name: _by_hand(run) for name, run in hand_written.PASSES.items()},
  "cooperation": find_cooperation,
  "roles": find_roles,
  "blocks": blocks,
  "grid": grid,
  "pipeline": pipeline,
  "split": split,
  "occupancy": choose_occupancy,
  "layouts": layouts,
  "fuse": fuse,
  "memory": place_scratch,
  "stage": stage_blocks,
  "bodies": find_bodies,
  "operands": find_operands,
}
