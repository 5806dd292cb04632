"""Plans for software-pipelined contractions along a sequential grid dimension: copies overlap with products.

A kernel whose body adds `dot(a, b)` to an accumulator, while the last dimension of the grid moves the blocks of both operands along the
contraction, keeps the accumulator in registers from the first step to the last, and prefetches the blocks into shared memory a few stages
ahead. The mechanism depends on the hardware:

    sm_90a    one warpgroup issues TMA copies; the others wait for a stage, multiply it with `wgmma`, and release it
    later     one thread issues TMA copies; each warp waits for a stage, multiplies it with `mma.sync`, and releases it
    before    all threads start copies (`cp.async`), wait for a stage together, and multiply it warp by warp with `mma.sync`

An operand need not be an unmodified block. Where it is computed from blocks element by element (a conversion, a product with scales), on
sm_90a, dedicated warps fetch those blocks, compute the operand and store it where `wgmma` reads it. Where both operands are computed, the
left one is computed by the warps that multiply, in registers: see `scaled_matmul`.

Everything else in the body runs as in other kernels, in the warps that hold the accumulators.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np

from tilewright import errors
from tilewright.layout.shared import SharedLayout, shared_for_matrix
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.arch.tensor_cores import HALVES, NAMED
from tilewright.target.nvgpu.emit.units import mma_sync
from tilewright.target.nvgpu.emit.units.cluster import ALONE, Cluster
from tilewright.target.nvgpu.emit.units.mma_sync import MmaDistribution
from tilewright.target.nvgpu.emit.units.threads import GROUP, WARP
from tilewright.target.nvgpu.emit.units.tma import MAX_DIMS, SWIZZLE_BYTES, TensorMap, most_rows
from tilewright.target.nvgpu.emit.units.wgmma import ROWS, WgmmaDistribution
from tilewright.target.nvgpu.passes import grid_accumulation, plans, staged_blocks
from tilewright.target.nvgpu.passes.grid_accumulation import (
  Contraction,
  Inside,
  Operand,
  is_plain,
  runs_at,
  step_tests,
)
from tilewright.target.nvgpu.passes.layouts.hints import given_layout
from tilewright.target.nvgpu.passes.staged_blocks import (
  BOX_ALIGNMENT,
  PIECE,
  BoxedBlock,
  BoxedMatrix,
  PaddedBlock,
  SharedBlock,
)
from tilewright.tile.grid import Blocked, Squeezed
from tilewright.tile.ir import users, walk
from tilewright.tile.native import NativeKernel, moving_dims
from tilewright.tile.parallel import parallel_dims
from tilewright.tile.pipeline import CP_ASYNC, MMA_SYNC, REGISTERS, THREADS, TMA, WGMMA, Pipeline

_MAX_STAGES = {"wgmma": 10, "computed": 4, "boxed": 8, "mma": 5}
_MAX_CTAS_PER_SM = 4  # CTAs on an SM
_MIN_DEPTH = 32  # a part of a step, so that waiting for it is a small part of the work
_ENOUGH_STAGES = 3  # one that is read, one that is full, and one in flight
_DEPTH = 64  # of a contraction of halves: a row of 128 bytes
_MAX_ACCUMULATORS = 128 * 256  # of two warpgroups: 128 in each thread
_MAX_PREFETCHED_STEPS = 2  # steps before which blocks are asked for that operands in registers are computed from
_RESERVED = 2048  # bytes of shared memory for barriers and alignment
_NUM_SMS = 132  # of an H100 or H200; with more or fewer, blocks that take several points have less even shares


@dataclasses.dataclass(frozen=True)
class WarpgroupPlan:
  """Products by warpgroups, of operands that TMA copies or other warps compute.

  A stage has `depth` of the contraction. What operands are computed from is staged too, for a whole step.
  """

  contraction: Contraction
  maps: tuple[TensorMap | None, TensorMap | None]  # left, right: how they are copied, unless they are computed
  stages: int
  depth: int
  blocks: tuple[PaddedBlock, ...] = ()
  block_stages: int = 0
  cluster: Cluster = ALONE
  stores: tuple[TensorMap, ...] = ()  # of outputs that TMA writes

  @property
  def pipeline(self) -> Pipeline:
    return Pipeline(self.stages, [THREADS if m is None else TMA for m in self.maps], WGMMA)

  @property
  def groups(self) -> int:
    """Warpgroups that multiply."""
    return self.contraction.block[0] // ROWS

  @property
  def readers(self) -> int:
    """Who says that a stage is no longer read: warpgroups."""
    return self.groups

  @property
  def producers(self) -> int:
    """Threads that fetch and compute operands. No thread of a CTA has more registers than an equal share, so that where sums
    take 128 there is room for three warpgroups."""
    return 2 * GROUP if None in self.maps and self.contraction.block[1] <= 128 else GROUP

  @property
  def writers(self) -> int:
    """Warps that write a stage."""
    return self.producers // WARP if None in self.maps else 0

  @property
  def leaves_running(self) -> bool:
    """Whether a product runs while the next one is prepared. It keeps its stage: of two there would be none to fill meanwhile."""
    return self.contraction.is_quiet and self.stages > 2

  @property
  def num_threads(self) -> int:
    return self.producers + self.groups * GROUP

  @property
  def registers(self) -> tuple[int, int]:
    """Of a thread that fetches, and of one that multiplies: so many that all threads of a CTA together have 64 Ki."""
    if None not in self.maps:
      return 40, 232
    return (104, 200) if self.producers == GROUP else (104, 152)

  @property
  def distribution(self) -> WgmmaDistribution:
    return WgmmaDistribution(self.contraction.block[:2], self.groups)

  @property
  def slices(self) -> int:
    """Stages that a step takes."""
    return self.contraction.block[2] // self.depth

  @property
  def side_bytes(self) -> tuple[int, int]:
    (m, n, _), row = self.contraction.block, self.depth * self.contraction.itemsize
    return m * row, n * row

  @property
  def stage_bytes(self) -> int:
    return sum(self.side_bytes)

  @property
  def copied_bytes(self) -> int:
    """The part of a stage that TMA copies."""
    return sum(size for size, m in zip(self.side_bytes, self.maps) if m is not None)

  @property
  def tensor_maps(self) -> tuple[TensorMap, ...]:
    return tuple(m for m in self.maps if m is not None)

  @property
  def swizzled_bytes(self) -> int:
    """What lies in rows of 128 bytes."""
    return self.stages * self.stage_bytes

  @property
  def shared_bytes(self) -> int:
    """Stages, a pair of barriers for each, then the stages of what operands are computed from."""
    return self.swizzled_bytes + 16 * self.stages + self.block_stages * self.block_bytes

  @property
  def block_bytes(self) -> int:
    return sum(block.nbytes for block in self.blocks)


@dataclasses.dataclass(frozen=True)
class Sources:
  """The inputs of a computed operand, in shared memory: blocks that TMA copies, and others that threads copy."""

  boxed: tuple[BoxedBlock, ...]
  padded: tuple[PaddedBlock, ...]
  stages: int  # of a step each
  ahead: int  # steps before which they are asked for

  def places(self, block: BoxedBlock) -> int:
    """How many of a block there are: for each stage, or two where it is for several steps, which are more than there are stages."""
    return self.stages if block.steps == 1 else 2

  @property
  def boxed_bytes(self) -> int:
    return sum(self.places(block) * block.nbytes for block in self.boxed)

  @property
  def padded_bytes(self) -> int:
    return self.stages * sum(block.nbytes for block in self.padded)


@dataclasses.dataclass(frozen=True)
class RegisterPlan(WarpgroupPlan):
  """Products of computed operands, of which the left one is in registers: stages have the right one alone.

  The left operand is computed later than the right one, by those who multiply, and what it is computed from is free when a stage of the
  right one is that was multiplied after it.
  """

  sources: tuple[Sources, ...] = ()
  # CTAs that take all points of the grid, one after the other; None where each takes one.
  resident: int | None = None

  @property
  def pipeline(self) -> Pipeline:
    return Pipeline(self.stages, (REGISTERS, THREADS), WGMMA)

  @property
  def tensor_maps(self) -> tuple[TensorMap, ...]:
    return tuple(block.tensor_map for own in self.sources for block in own.boxed)

  @property
  def side_bytes(self) -> tuple[int, int]:
    return 0, super().side_bytes[1]

  @property
  def groups(self) -> int:
    return 2

  @property
  def parts(self) -> int:
    """Products, one below the other, of a warpgroup."""
    return self.contraction.block[0] // (self.groups * ROWS)

  @property
  def producers(self) -> int:
    """Two warpgroups take slices in turn, so that each has time to wait for what it reads, and stages in turn: one that both write would
    be handed from one to the other by those who multiply. What one product alone takes, all threads must be able to have: of four
    warpgroups, 128 registers each."""
    return GROUP if self.slices % 2 or self.stages % 2 or self.contraction.block[1] > 128 else 2 * GROUP

  @property
  def writers(self) -> int:
    return GROUP // WARP

  @property
  def together(self) -> int:
    """Steps whose code stands one after the other, so that they use all stages, and which stage is known; else one."""
    count, between = self.stages // self.slices, self.contraction.num_steps - 2
    is_whole = (
      count * self.slices == self.stages and between > 0 and between % count == 0 and (between + 2) % count == 0
    )
    return count if is_whole else 1

  @property
  def registers(self) -> tuple[int, int]:
    if self.producers == GROUP:
      return 104, 200
    return (48, 208) if self.parts > 1 else (104, 152)

  @property
  def swizzled_bytes(self) -> int:
    return super().swizzled_bytes + sum(own.boxed_bytes for own in self.sources)

  @property
  def shared_bytes(self) -> int:
    return self.swizzled_bytes + 16 * self.stages + sum(16 * own.stages + own.padded_bytes for own in self.sources)


@dataclasses.dataclass(frozen=True)
class BoxedWarpPlan:
  """Products by warps, of blocks that TMA copies. A stage has `depth` of the contraction."""

  contraction: Contraction
  distribution: MmaDistribution
  maps: tuple[TensorMap, TensorMap]
  stages: int
  depth: int

  writers, cluster = 0, ALONE  # nothing is computed, and nothing is shared

  @property
  def pipeline(self) -> Pipeline:
    return Pipeline(self.stages, (TMA, TMA), MMA_SYNC)

  @property
  def tensor_maps(self) -> tuple[TensorMap, ...]:
    return self.maps

  @property
  def readers(self) -> int:
    """Who says that a stage is no longer read: warps."""
    return self.distribution.threads // WARP

  @property
  def num_threads(self) -> int:
    return self.distribution.threads

  @property
  def ahead(self) -> int:
    """How many stages are asked for before they are read. Of many, all but two: who asks while the others still read the stage before the
    last need not wait for them."""
    return self.stages - (2 if self.stages > _ENOUGH_STAGES else 1)

  @property
  def slices(self) -> int:
    """Stages that a step takes."""
    return self.contraction.block[2] // self.depth

  @property
  def matrices(self) -> tuple[BoxedMatrix, BoxedMatrix]:
    """How the operands lie in a stage."""
    left, right = (
      BoxedMatrix(side.shape[0] if side.k_is_last else self.depth, own.swizzle_bytes)
      for side, own in zip(self.contraction.sides, self.maps)
    )
    return left, right

  @property
  def copied_bytes(self) -> int:
    m, n, _ = self.contraction.block
    return (m + n) * self.depth * 2

  @property
  def side_bytes(self) -> tuple[int, int]:
    """Each begins where a swizzle does."""
    m, n, _ = self.contraction.block
    left, right = (-(-size * self.depth * 2 // BOX_ALIGNMENT) * BOX_ALIGNMENT for size in (m, n))
    return left, right

  @property
  def stage_bytes(self) -> int:
    return sum(self.side_bytes)

  @property
  def swizzled_bytes(self) -> int:
    return self.stages * self.stage_bytes

  @property
  def shared_bytes(self) -> int:
    """Stages, and a pair of barriers for each."""
    return self.swizzled_bytes + 16 * self.stages


@dataclasses.dataclass(frozen=True)
class WarpPlan:
  """Products by warps, of blocks that all threads copy."""

  contraction: Contraction
  distribution: MmaDistribution
  blocks: tuple[SharedBlock, SharedBlock]
  stages: int
  tensor_maps: tuple[TensorMap, ...] = ()

  @property
  def pipeline(self) -> Pipeline:
    return Pipeline(self.stages, (CP_ASYNC, CP_ASYNC), MMA_SYNC)

  @property
  def num_threads(self) -> int:
    return self.distribution.threads

  @property
  def stage_bytes(self) -> int:
    return sum(block.nbytes for block in self.blocks)


FedPlan = WarpgroupPlan | BoxedWarpPlan  # with stages that some fill and others read
Plan = FedPlan | WarpPlan


@dataclasses.dataclass(frozen=True)
class Problem:
  """What a pipeline is planned for."""

  kernel: NativeKernel
  contraction: Contraction
  arch: Arch
  num_warps: int | None = None  # that the user wants
  cluster: Cluster = ALONE


def stage_parts(plan: Plan) -> list[tuple[str, int]]:
  """What lies in shared memory, in order, with the bytes it takes."""
  sides = [block.nbytes for block in plan.blocks] if isinstance(plan, WarpPlan) else plan.side_bytes
  parts = [
    (f"stage {k}: {side} operand", size)
    for k in range(plan.stages)
    for side, size in zip(("left", "right"), sides)
    if size
  ]
  if isinstance(plan, WarpPlan):
    return parts
  parts = [("room to align the stages", BOX_ALIGNMENT), *parts]
  return [
    *parts,
    ("barriers, and what operands are computed from", plan.shared_bytes - sum(size for _, size in parts[1:])),
  ]


def stage_layouts(plan: Plan) -> dict[int, SharedLayout | None]:
  """How the blocks of the operands lie in a stage, by position; None where no transforms would say that."""
  found: dict[int, SharedLayout | None] = {}
  for number, side in enumerate(plan.contraction.sides):
    if side.position is None:
      continue
    if isinstance(plan, WarpPlan):
      found[side.position] = plan.blocks[number].layout(side.shape[1])
    elif isinstance(plan, BoxedWarpPlan):
      swizzle = plan.maps[number].swizzle_bytes
      found[side.position] = shared_for_matrix(side.shape, 16, swizzle) if plan.slices == 1 else None
    else:
      bits = 8 * plan.contraction.itemsize
      found[side.position] = shared_for_matrix(side.shape, bits, 128) if plan.slices == 1 else None
  return found


def problem_of(
  kernel: NativeKernel, arch: Arch, inside: Inside, num_warps: int | None = None, cluster: Cluster = ALONE
) -> Problem | None:
  """The problem, if a kernel's body is a product along the grid. `inside(mapping, index_map)` says where blocks never hang over."""
  contraction = grid_accumulation.find(kernel, inside)
  return None if contraction is None else Problem(kernel, contraction, arch, num_warps, cluster)


def candidates(problem: Problem) -> Iterator[Plan]:
  """The plans there are, the best first; then the same with fewer stages."""
  found: list[Plan] = []
  for make in (*plans.planners(), *PLANNERS):
    if (plan := make(problem)) is not None:
      found.append(plan)
      yield plan
  for plan in found:
    for stages in range(plan.stages - 1, 1, -1):
      yield _with_fewer(plan, stages)


def _with_fewer(plan: Plan, stages: int) -> Plan:
  if isinstance(plan, RegisterPlan):  # whose sources have stages of their own, as many as these take
    return dataclasses.replace(plan, stages=stages, stores=())
  if isinstance(plan, WarpgroupPlan):
    m, n, _ = plan.contraction.block
    stores = plan.stores if 2 * m * n <= stages * plan.stage_bytes else ()  # which are put together in the stages
    return dataclasses.replace(plan, stages=stages, stores=stores, block_stages=min(plan.block_stages, stages + 1))
  return dataclasses.replace(plan, stages=stages)


def described(plan: Plan, kernel: NativeKernel) -> plans.Plan:
  """A pipeline in words."""
  c, own = plan.contraction, plan.pipeline
  m, n, k = c.block
  form = f"pipeline of products by {own.product}, {m} x {n} x {k}"
  origin = lambda position: kernel.mapping.block_mappings[position].origin
  sizes = [block.nbytes for block in plan.blocks] if isinstance(plan, WarpPlan) else list(plan.side_bytes)
  staged = []
  for side, engine, nbytes, name in zip(c.sides, own.engines, sizes, ("left operand", "right operand")):
    inputs = f"{name}, of {', '.join(map(origin, side.inputs))}"
    if nbytes and engine is not None:
      staged.append(
        plans.Staged(inputs if side.position is None else origin(side.position), engine, plan.stages, nbytes)
      )
  notes = ["the grid's last two parallel dimensions are taken in groups of rows, for L2"]
  if isinstance(plan, WarpgroupPlan):
    fewer, more = plan.registers
    work = "copy" if None not in plan.maps else "compute operands"
    roles = [plans.Role(work, plan.producers // WARP, fewer), plans.Role("multiply", plan.groups * GROUP // WARP, more)]
    staged += [plans.Staged(origin(b.position), CP_ASYNC, plan.block_stages, b.nbytes) for b in plan.blocks]
    for sources in plan.sources if isinstance(plan, RegisterPlan) else ():
      staged += [plans.Staged(origin(b.position), TMA, sources.places(b), b.nbytes) for b in sources.boxed]
      staged += [plans.Staged(origin(b.position), CP_ASYNC, sources.stages, b.nbytes) for b in sources.padded]
    if plan.cluster.size > 1:
      notes.append(f"clusters of {plan.cluster.down} x {plan.cluster.across} CTAs multicast what they share")
    if plan.stores:
      notes.append("outputs are put together in the stages and stored by TMA")
    if isinstance(plan, RegisterPlan) and plan.resident is not None:
      notes.append(f"{plan.resident} CTAs take all points of the grid")
  else:
    roles = [plans.Role("multiply", plan.num_threads // WARP)]
  return plans.Plan(form, tuple(roles), tuple(staged), own, tuple(notes))


def find(problem: Problem, wish: Pipeline | None = None) -> Plan | None:
  """The best plan, of those that do as the user says; an error if none does."""
  if wish is None:
    return next(candidates(problem), None)
  every = list(candidates(problem))
  found = next((plan for plan in every if wish.allows(plan.pipeline)), None)
  if found is None:
    there = sorted({str(dataclasses.replace(plan.pipeline, stages=None)) for plan in every})
    raise errors.GridError(
      f"pipeline: the kernel '{problem.kernel.name}' cannot have {wish} on {problem.arch.name}. There are: {'; '.join(there) or 'none'}, "
      f"with up to {max((plan.stages for plan in every), default=0)} stages. Leave some of it out."
    )
  return found


def register_plan(problem: Problem) -> RegisterPlan | None:
  """Two operands with k last, computed from blocks of which no one is both's, and of which TMA brings some of each."""
  kernel, c, arch = problem.kernel, problem.contraction, problem.arch
  if problem.cluster.size > 1:
    return None
  (left, right), (m, n, k) = c.sides, c.block
  if c.itemsize != 2 or not arch.has_wgmma or m not in (128, 256) or n % 32 or m * n > _MAX_ACCUMULATORS or k % _DEPTH:
    return None
  if any(s.position is not None or not s.k_is_last for s in c.sides) or {*left.inputs} & {*right.inputs}:
    return None
  found = [[staged_blocks.padded(kernel, i) for i in side.inputs] for side in c.sides]
  staged = [[block for block in blocks if block is not None] for blocks in found]
  if not all(any(staged_blocks.is_wide(kernel, block) for block in blocks) for blocks in staged):
    return None
  # A CTA has all registers of an SM. Where it takes several points, copies for the next one are under way early.
  points = math.prod(int(kernel.mapping.grid[d] or 1) for d in parallel_dims(kernel))
  resident = _NUM_SMS if points > _NUM_SMS and c.num_steps >= _MAX_PREFETCHED_STEPS else None
  made: list[RegisterPlan] = []
  for stages, *ahead in itertools.product((4, 3, 2), *[range(_MAX_PREFETCHED_STEPS, 0, -1)] * 2):
    # Where the last slice of a step finds a free stage, of all steps up to it but so many are multiplied.
    behind = -(-stages // (k // _DEPTH))
    sources = tuple(_sources(kernel, c, blocks, early + behind, early) for blocks, early in zip(staged, ahead))
    plan = RegisterPlan(c, (None, None), stages, _DEPTH, sources=sources, resident=resident)
    if ahead[0] <= ahead[1] and plan.shared_bytes <= arch.shared_bytes - _RESERVED:
      made.append(plan)
  # The right operand is needed first, so that what it is computed from is asked for early.
  key = lambda p: (min(p.stages, 3), p.producers, *(own.ahead for own in p.sources[::-1]), p.stages)
  return max(made, key=key, default=None)


def _sources(kernel: NativeKernel, c: Contraction, blocks: list[PaddedBlock], stages: int, ahead: int) -> Sources:
  """Blocks by who copies them: TMA where it can, for several steps if no more than those are under way or in use."""
  together = (staged_blocks.steps_together(kernel, block, c.num_steps) for block in blocks)
  boxed = [staged_blocks.boxed(kernel, block, n if n >= stages else 1) for block, n in zip(blocks, together)]
  others = tuple(block for block, box in zip(blocks, boxed) if box is None)
  return Sources(tuple(box for box in boxed if box is not None), others, stages, ahead)


def warpgroup_plan(problem: Problem) -> WarpgroupPlan | None:
  """Warpgroups that multiply what TMA copies, or what other warps compute."""
  kernel, c, arch, cluster = problem.kernel, problem.contraction, problem.arch, problem.cluster
  right, (m, n, k), wide = c.sides[1], c.block, SWIZZLE_BYTES // c.itemsize
  if c.itemsize != 2 and not all(side.k_is_last and side.position is not None for side in c.sides):
    return None  # of such operands tensor cores read rows along k alone
  if not arch.has_wgmma or k % wide or m not in (64, 128) or n % (8 if right.k_is_last else 64) or n > 256:
    return None
  computed = any(side.position is None for side in c.sides)
  if computed and any(size % 32 for size in (m, n)):
    return None
  depth = _DEPTH if computed else k
  if cluster.size > 1 and (computed or not _is_shared(kernel, c, depth, cluster)):
    cluster = ALONE
  maps = tuple(
    None if s.position is None else _tensor_map(kernel, s, c, depth, sharers)
    for s, sharers in zip(c.sides, cluster.sharers)
  )
  if any(t is not None and len(t.shape) > 5 for t in maps):
    return None
  found = (staged_blocks.padded(kernel, i) for i in dict.fromkeys(i for side in c.sides for i in side.inputs))
  plan = WarpgroupPlan(c, maps, 1, depth, tuple(b for b in found if b is not None), int(computed), cluster)  # type: ignore[arg-type]
  # More stages as long as they fit: of operands and of what those are computed from in turn.
  while True:
    deeper = dataclasses.replace(plan, stages=plan.stages + 1)
    if plan.blocks and plan.block_stages <= plan.stages:
      deeper = dataclasses.replace(plan, block_stages=plan.block_stages + 1)
    most = _MAX_STAGES["computed" if computed else "wgmma"]
    if deeper.shared_bytes > arch.shared_bytes - _RESERVED or deeper.stages > most:
      break
    plan = deeper
  room = plan.stages * plan.stage_bytes
  plan = dataclasses.replace(plan, stores=tuple(_store_maps(kernel, c)) if 2 * m * n <= room else ())
  return plan if plan.stages >= 2 and (plan.block_stages >= 2 or not plan.blocks) else None


def _store_maps(kernel: NativeKernel, c: Contraction) -> Iterator[TensorMap]:
  """The outputs that are only written as a whole, after the last product: then stages are free, and a box can be put together there."""
  mapping, used, tests = kernel.mapping, users(kernel.body.body), step_tests(kernel)
  ops = kernel.body.body.ops
  (add,) = used[c.dot.result]
  (added,) = used[add.result]
  last = [op for op in ops[ops.index(added) :] if runs_at(op, tests) == c.num_steps - 1]
  inside = {op for own in last for block in own.blocks for op in walk(block)}
  params = kernel.body.params[mapping.num_prefetch + mapping.num_inputs :]
  for number, (m, ref) in enumerate(zip(mapping.output_mappings, params)):
    kind, position = HALVES.get(np.dtype(m.array_aval.dtype)), mapping.num_inputs + number
    if kind is None or kernel.index_maps[position] is None or not is_plain(m) or len(m.block_shape) > 5:
      continue
    if any(out == number for _, out in kernel.input_output_aliases) or ref.ref.shape != c.block[:2]:
      continue
    if not all(isinstance(d, Blocked | Squeezed) for d in m.block_shape):
      continue  # of a bounded slice not all rows are written
    if c.block[1] % _DEPTH or any(op.name != "store" or op not in inside for op in used.get(ref, [])):
      continue
    row = max(d for d, dim in enumerate(m.block_shape[:-1]) if isinstance(dim, Blocked))
    box = tuple(ROWS if d == row else 1 for d in range(len(m.block_shape) - 1))
    yield TensorMap(mapping.num_prefetch + position, kind, tuple(m.array_aval.shape), box, row)


def _is_shared(kernel: NativeKernel, c: Contraction, depth: int, cluster: Cluster) -> bool:
  """Whether the blocks of a cluster need the same rows of the left operand across, and of the right one down, in parts of eight."""
  *_, rows, columns = parallel_dims(kernel)
  grid = kernel.mapping.grid
  if int(grid[rows]) % cluster.down or int(grid[columns]) % cluster.across:
    return False
  for side, sharers, other in zip(c.sides, cluster.sharers, (columns, rows)):
    if sharers == 1:
      continue
    if side.position is None or kernel.index_maps[side.position] is None:
      return False
    if other in moving_dims(kernel, side.position):
      return False
    if (side.shape[0] if side.k_is_last else depth) % (8 * sharers):
      return False
  return True


def _tensor_map(
  kernel: NativeKernel, side: Operand, c: Contraction, depth: int, sharers: int = 1, swizzle: int = SWIZZLE_BYTES
) -> TensorMap:
  """The boxes of which an operand of a stage is put together: columns of `swizzle` bytes, of so many rows as one copy brings."""
  assert side.position is not None
  mapping = kernel.mapping.block_mappings[side.position]
  box = [d.block_size for d in mapping.block_shape[:-1]]
  row = max(d for d, dim in enumerate(mapping.block_shape[:-1]) if not isinstance(dim, Squeezed))
  if not side.k_is_last:
    box[row] = depth
  box[row] = most_rows(box[row] // sharers)
  array, shape = kernel.mapping.num_prefetch + side.position, tuple(mapping.array_aval.shape)
  # Rows of 128 bytes are swizzled in any case.
  return TensorMap(
    array,
    c.kind,
    shape,
    tuple(box),
    row,
    swizzle // c.itemsize,
    swizzle=None if swizzle == SWIZZLE_BYTES else swizzle,
  )


def boxed_warp_plan(problem: Problem) -> BoxedWarpPlan | None:
  """Where TMA can bring both operands. Of large steps a stage has a part, so that enough stages fit."""
  kernel, c, arch, num_warps = problem.kernel, problem.contraction, problem.arch, problem.num_warps
  m, n, k = c.block
  distribution = mma_sync.choose(m, n, num_warps)
  if c.itemsize != 2 or not arch.has_tma or arch.has_wgmma or distribution is None or k % mma_sync.DEPTH:
    return None
  arrays = [kernel.mapping.block_mappings[s.position].array_aval for s in c.sides if s.position is not None]
  if len(arrays) < 2 or any(len(a.shape) > MAX_DIMS for a in arrays):
    return None
  refs = [kernel.body.params[kernel.mapping.num_prefetch + s.position].ref for s in c.sides if s.position is not None]
  may_be_parted = all(given_layout(ref) is None for ref in refs)
  depths = [
    d
    for d in range(mma_sync.DEPTH, k + 1, mma_sync.DEPTH)
    if d == k or (may_be_parted and d >= _MIN_DEPTH and k % d == 0)
  ]
  made = [_boxed_stages(kernel, c, arch, distribution, depth) for depth in depths]
  # Whole steps, if they leave room for another CTA; else parts whose rows are wide, since a box has one row's width.
  key = lambda p: (
    *(min(arch.shared_bytes // p.shared_bytes, _max_ctas_per_sm(c), 2), min(p.stages, _ENOUGH_STAGES)),
    *(p.depth == k, min(own.swizzle_bytes for own in p.maps), p.depth),
  )
  plan = max((p for p in made if p.stages >= 2), key=key, default=None)
  if plan is None:
    return None
  uses = max(2, c.num_steps * plan.slices)  # of stages
  return dataclasses.replace(plan, stages=min(plan.stages, uses))


def _boxed_stages(
  kernel: NativeKernel, c: Contraction, arch: Arch, distribution: MmaDistribution, depth: int
) -> BoxedWarpPlan:
  """Stages of a depth, as many as fit where as many CTAs share an SM as keep it busy, if those are enough stages.

  Two CTAs with three stages each are faster than one CTA with seven (docs/benchmarks.md, "Choices of the GPU target").
  """
  maps = []
  for side in c.sides:
    row_bytes = 2 * (depth if side.k_is_last else side.shape[1])
    swizzle = next(size for size in (128, 64, 32) if row_bytes % size == 0)
    maps.append(_tensor_map(kernel, side, c, depth, swizzle=swizzle))
  plan = BoxedWarpPlan(c, distribution, (maps[0], maps[1]), 1, depth)
  fitting = [(arch.shared_bytes // n - _RESERVED) // plan.shared_bytes for n in range(_max_ctas_per_sm(c), 0, -1)]
  stages = next((n for n in fitting if n >= _ENOUGH_STAGES), fitting[-1])
  return dataclasses.replace(plan, stages=min(_MAX_STAGES["boxed"], stages))


def _max_ctas_per_sm(c: Contraction) -> int:
  """CTAs that shall share an SM, so that those which wait leave it to others: as their sums take registers."""
  m, n, _ = c.block
  return max(1, min(_MAX_CTAS_PER_SM, _MAX_ACCUMULATORS // (m * n)))


def warp_plan(problem: Problem) -> WarpPlan | None:
  """Warps that multiply what all threads copy."""
  c, arch, num_warps = problem.contraction, problem.arch, problem.num_warps
  m, n, k = c.block
  distribution = mma_sync.choose(m, n, num_warps)
  if (
    c.itemsize == 1 or distribution is None or k % NAMED[c.kind].depth or any(side.position is None for side in c.sides)
  ):
    return None
  blocks = tuple(SharedBlock(side.shape[0], side.shape[1] * c.itemsize // PIECE) for side in c.sides)
  stages = min(_MAX_STAGES["mma"], (arch.shared_bytes - _RESERVED) // sum(block.nbytes for block in blocks))
  return WarpPlan(c, distribution, blocks, stages) if stages >= 2 else None  # type: ignore[arg-type]


# The compiler's planners; the first that has a plan for a problem makes it.
PLANNERS: tuple[Callable[[Problem], Plan | None], ...] = (register_plan, warpgroup_plan, boxed_warp_plan, warp_plan)
