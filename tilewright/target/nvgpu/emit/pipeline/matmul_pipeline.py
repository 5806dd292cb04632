"""The code of a plan of `matmul_plans`: a product along a sequential grid dimension, with operands copied a few steps ahead.

The first and the last step are peeled, so that no code tests which step it is:

    first step     total = 0; total += a @ b
    between        total += a @ b
    last step      total += a @ b; out = total
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import add, for_range, i64, if_then, stack_slot
from tilewright.target.llvm.types import I32, I64
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.kernel_function import Frame
from tilewright.target.nvgpu.emit.pipeline import (
  computed_operands,
  mma_sync_consumers,
  ring_barriers,
  scaled_matmul,
  staged_blocks,
  warp_specialized,
)
from tilewright.target.nvgpu.emit.pipeline.epilogue import FragmentCode, Output
from tilewright.target.nvgpu.emit.pipeline.rounds import Rounds
from tilewright.target.nvgpu.emit.register_tiles import RegisterRef
from tilewright.target.nvgpu.emit.units import cluster, mma_sync, shared_memory, threads
from tilewright.target.nvgpu.emit.units.cluster import ALONE, Cluster
from tilewright.target.nvgpu.emit.units.threads import GROUP
from tilewright.target.nvgpu.passes.gpu_kernel import Body
from tilewright.target.nvgpu.passes.matmul_plans import BoxedWarpPlan, Plan, RegisterPlan, WarpgroupPlan, WarpPlan
from tilewright.tile.ir import Value
from tilewright.tile.types import RefType

_GROUPED = 8  # rows of blocks that are taken together
_PRODUCERS = 2  # the number of the barrier of threads that compute operands


def emit(frame: Frame, plan: Plan) -> BlockCode:
  """Fill a frame; returns the code of the warps that hold the accumulators."""
  parallel = frame.lowered.parallel
  if isinstance(plan, WarpgroupPlan):
    return _emit_warpgroups(frame, parallel, plan)
  if isinstance(plan, BoxedWarpPlan):
    return _emit_boxed_warps(frame, parallel, plan)
  return _emit_warps(frame, parallel, plan)


def _each_step(frame: Frame, code: BlockCode, plan: Plan, contract: Callable[[ir.Value, Any], None]) -> None:
  """Run the kernel's bodies for the first step, those between, and the last; `contract(step, accumulators)` adds the product to the
  accumulators."""
  c = plan.contraction
  last = c.num_steps - 1
  memory, kept = _memory(frame, code, plan)
  frame.begin_steps(code)
  at_first, between, at_last = frame.lowered.bodies

  def one(step: ir.Value, body: Body) -> None:
    frame.indices[-1] = step
    before = dict(code.env)
    done: list[Any] = []

    def contraction(accumulators: Any) -> None:
      with code.marked(c.dot):
        contract(step, accumulators)
      done.append(accumulators)

    with code.scope():
      code.contraction = contraction
      frame.instance(code, memory, body, kept)
      code.settle_memory()
    assert len(done) == 1, "a step whose stage nobody reads would never end"
    code.env = before

  one(i64(0), at_first)
  if last > 1:
    together = plan.together if isinstance(plan, RegisterPlan) else 1
    with for_range(code.b, 1, last, together) as step:
      for further in range(together):
        one(add(code.b, step, further), between)
  if last > 0:
    one(i64(last), at_last)


def _memory(frame: Frame, code: Any, plan: Plan) -> tuple[list[Any], Any]:
  """Scratch buffers, with the accumulator in registers; or the output that is in registers, as `frame.instance` takes it."""
  c = plan.contraction
  code.accumulators = plan.distribution
  code.layouts[c.block[:2]] = plan.distribution.layout
  kernel = frame.kernel
  refs = kernel.body.params[len(kernel.body.params) - len(kernel.scratch) :]
  accumulators = {n: _in_registers(code, ref.ref) for n, ref in enumerate(refs) if ref is c.accumulator}
  kept = None if c.output is None else (c.accumulator, _in_registers(code, c.accumulator.ref), c.output)
  return frame.memory(code, accumulators), kept


def _in_registers(code: BlockCode, kind: RefType) -> RegisterRef:
  kept = code.new_registers(code.layouts[kind.shape], kind.dtype)
  return RegisterRef(None, kind.strides, np.dtype(kind.dtype), object(), registers=kept)


def read_accumulators(b: ir.IRBuilder, accumulators: Any) -> list[ir.Value]:
  """The thread's accumulators, one by one."""
  pairs = [b.load(slot, typ=ir.VectorType(ty.F32, 2)) for slot in accumulators.slots]
  return [b.extract_element(p, I32(i)) for p in pairs for i in range(2)]


def write_accumulators(b: ir.IRBuilder, accumulators: Any, values: list[ir.Value]) -> None:
  for i, slot in enumerate(accumulators.slots):
    b.store(ty.joined(b, values[2 * i : 2 * i + 2]), slot)


def _grouped(frame: Frame, parallel: tuple[int, ...], cluster: Cluster = ALONE) -> ir.Value | None:
  """Set the indices of the point that a CTA computes; returns its rank in its cluster, if there are clusters."""
  number = frame.b.zext(frame.number, I64)
  if cluster.size == 1:
    frame.indices = _point(frame, parallel, number)
    return None
  b, rank = frame.b, frame.b.urem(frame.number, I32(cluster.size))
  *_, rows, columns = parallel
  frame.indices = _point(frame, parallel, b.udiv(number, i64(cluster.size)), cluster)
  for d, size, place in zip((rows, columns), (cluster.down, cluster.across), cluster.place(b, rank)):
    frame.indices[d] = b.add(b.mul(frame.indices[d], i64(size)), b.zext(place, I64))
  return rank


def _point(frame: Frame, parallel: tuple[int, ...], number: ir.Value, cluster: Cluster = ALONE) -> list[Any]:
  """The n-th point of the grid, or the n-th cluster of points. Along two dimensions, neighbours in time are near in both, so that they
  share what is cached."""
  b, indices = frame.b, list(frame.indices)
  sizes = [int(size) for size in frame.mapping.grid]
  *outer, rows, columns = parallel if len(parallel) >= 2 else (0, 0, 0)
  if cluster.size > 1:
    sizes[rows], sizes[columns] = sizes[rows] // cluster.down, sizes[columns] // cluster.across
  left: Any = parallel
  if len(parallel) >= 2 and sizes[rows] > 1:
    total = i64(sizes[rows] * sizes[columns])
    inside, number = b.urem(number, total), b.udiv(number, total)
    indices[rows], indices[columns] = _in_groups(b, inside, sizes[rows], sizes[columns])
    left = tuple(outer)
  for d in reversed(left):
    indices[d] = b.urem(number, i64(sizes[d]))
    number = b.udiv(number, i64(sizes[d]))
  return indices


def _in_groups(b: ir.IRBuilder, number: ir.Value, rows: int, columns: int) -> tuple[ir.Value, ir.Value]:
  """The row and column of the n-th point: a few rows are taken together, column by column; at the end those that are left."""
  group = min(_GROUPED, rows)
  per_group = i64(group * columns)
  first, inside = b.mul(b.udiv(number, per_group), i64(group)), b.urem(number, per_group)
  row, column = b.urem(inside, i64(group)), b.udiv(inside, i64(group))
  if rest := rows % group:
    is_last = b.icmp_unsigned(">=", number, i64((rows - rest) * columns))
    row = b.select(is_last, b.urem(inside, i64(rest)), row)
    column = b.select(is_last, b.udiv(inside, i64(rest)), column)
  return b.add(first, row), column


class Points:
  """The points of the grid that a CTA takes: one, or one after the other."""

  def __init__(self, frame: Frame, parallel: tuple[int, ...], plan: RegisterPlan):
    self.frame, self.parallel, self.is_several = frame, parallel, plan.resident is not None
    self.total = math.prod(int(frame.mapping.grid[d]) for d in parallel)
    self.num_steps = plan.contraction.num_steps
    self.before: ir.Value = I32(0)  # steps of the points that this CTA took before

  def at(self, number: ir.Value) -> list[Any]:
    """The indices of a point."""
    return _point(self.frame, self.parallel, number)

  @property
  def first(self) -> ir.Value:
    return self.frame.b.zext(self.frame.number, I64)

  def after(self, number: ir.Value) -> ir.Value:
    return self.frame.b.add(number, self.frame.b.zext(threads.num_blocks(self.frame.b), I64))

  @contextlib.contextmanager
  def each(self) -> Iterator[ir.Value]:
    """For each point of this CTA, with its indices."""
    b, frame = self.frame.b, self.frame
    if not self.is_several:
      frame.indices = self.at(self.first)
      yield self.first
      return
    taken = stack_slot(b, I32, I32(0))
    with for_range(b, self.first, self.total, b.zext(threads.num_blocks(b), I64)) as number:
      frame.indices = self.at(number)
      self.before = b.load(taken, typ=I32)
      yield number
      b.store(b.add(self.before, I32(self.num_steps)), taken)


# --- warps: cp.async and mma.sync --------------------------------------------------------------------------------


def _emit_warps(frame: Frame, parallel: tuple[int, ...], plan: WarpPlan) -> BlockCode:
  b, c, count = frame.b, plan.contraction, plan.stages
  code = frame.code(plan.num_threads, FragmentCode)
  frame.begin(code)
  start = b.ptrtoint(frame.shared, I32)
  code.steps_ahead = plan.stages
  _grouped(frame, parallel)

  def places(step: ir.Value) -> list[ir.Value]:
    """Where the operands of a step lie."""
    stage = b.urem(b.trunc(step, I32), I32(count))
    left = b.add(start, b.mul(stage, I32(plan.stage_bytes)))
    return [left, b.add(left, I32(plan.blocks[0].nbytes))]

  def fetch(step: ir.Value) -> None:
    frame.indices[-1] = step
    with code.span("load", "start the copies of a step"), code.scope():
      for side, block, place in zip(c.sides, plan.blocks, places(step)):
        assert side.position is not None
        view = frame.view(code, side.position, None)
        staged_blocks.copy_block(b, code.thread, plan.num_threads, view, block, place)

  def multiply(step: ir.Value, accumulators: Any) -> None:
    left, right = (
      lambda row, piece, at=at, block=block: b.add(at, staged_blocks.offset(block, b, row, piece))
      for at, block in zip(places(step), plan.blocks)
    )
    k_is_last = c.sides[0].k_is_last, c.sides[1].k_is_last
    values = read_accumulators(b, accumulators)
    values = mma_sync.step(b, c.kind, plan.distribution, code.thread, c.block[2], values, (left, right), k_is_last)
    write_accumulators(b, accumulators, values)

  rounds = Rounds(b, count, c.num_steps, fetch, lambda: threads.barrier(b))

  def contract(step: ir.Value, accumulators: Any) -> None:
    with code.span("wait", "the blocks of a step"):
      rounds.enter(step)
    frame.indices[-1] = step
    with code.span("compute", "mma.sync", c.dot.loc):
      multiply(step, accumulators)

  rounds.begin(0)
  _each_step(frame, code, plan, contract)
  return code


# --- warps: TMA and mma.sync -------------------------------------------------------------------------------------


def _emit_boxed_warps(frame: Frame, parallel: tuple[int, ...], plan: BoxedWarpPlan) -> BlockCode:
  b = frame.b
  code = frame.code(plan.num_threads, FragmentCode)
  frame.begin(code)
  stages = ring_barriers.Stages(b, plan, frame.shared)
  code.steps_ahead = max(1, plan.stages // plan.slices)
  stages.init(threads.is_first(b, code.thread))
  threads.barrier(b)
  _grouped(frame, parallel)

  def load_stage(step: ir.Value, n: int, number: ring_barriers.Number) -> None:
    with code.scope():
      _copy_operands(frame, code, stages, step, number, n)

  products = mma_sync_consumers.Products(code, plan, stages, load_stage)

  def contract(step: ir.Value, accumulators: Any) -> None:
    values = products.add(step, read_accumulators(b, accumulators))
    frame.indices[-1] = step
    write_accumulators(b, accumulators, values)

  _each_step(frame, code, plan, contract)
  return code


# --- warpgroups: TMA and wgmma -----------------------------------------------------------------------------------


def _emit_warpgroups(frame: Frame, parallel: tuple[int, ...], plan: WarpgroupPlan) -> BlockCode:
  b, c, producers = frame.b, plan.contraction, plan.producers
  code = frame.code(plan.groups * GROUP, FragmentCode)
  code.outputs = _outputs(frame, code, plan)
  code.elsewhere = {v for side in c.sides for op in side.ops for v in op.results}
  thread = code.thread
  code.thread = b.sub(thread, I32(producers))
  code.is_part = True
  frame.begin(code)
  stages = ring_barriers.Stages(b, plan, frame.shared)
  code.room = b.inttoptr(stages.start, shared_memory.POINTER)
  code.steps_ahead = max(1, plan.stages // plan.slices)
  is_first = threads.is_first(b, thread)
  if isinstance(plan, RegisterPlan):
    scaled_matmul.init(stages, is_first)
  stages.init(is_first)
  if plan.cluster.size > 1:
    cluster.barrier(b)
  else:
    threads.barrier(b)
  points = Points(frame, parallel, plan) if isinstance(plan, RegisterPlan) else None
  rank = _grouped(frame, parallel, plan.cluster) if points is None else None
  producer, consumer, done = (b.append_basic_block(name) for name in ("producer", "consumer", "done"))
  b.cbranch(b.icmp_unsigned("<", thread, I32(producers)), producer, consumer)
  fewer, more = plan.registers

  b.position_at_end(producer)
  threads.set_registers(b, fewer, increase=False)
  if points is not None:
    scaled_matmul.produce(frame, stages, points)
  elif None in plan.maps:
    _compute_operands(frame, plan, stages)
  else:
    only_one = if_then(b, threads.is_first(b, thread))
    with only_one, code.scope(), for_range(b, 0, c.num_steps) as step, code.scope():
      number = b.trunc(step, I32)
      with code.span("wait", "an empty stage"):
        stages.acquire(number)
      with code.span("load", "start TMA copies"):
        _copy_operands(frame, code, stages, step, number, 0, rank)
  b.branch(done)

  b.position_at_end(consumer)
  threads.set_registers(b, more, increase=True)

  products = None if points is None else scaled_matmul.Products(frame, code, stages, points)

  def contract(step: ir.Value, accumulators: Any) -> None:
    first = b.mul(b.trunc(step, I32), I32(plan.slices))
    known = step.constant if isinstance(step, ir.Constant) else None
    is_first, is_last = known == 0, known == c.num_steps - 1
    values = read_accumulators(b, accumulators)
    if products is not None:
      with code.span("compute", "a step of products", c.dot.loc):
        values = products.add(step, values, is_first, is_last)
    else:
      for n in range(plan.slices):
        pending = int(plan.leaves_running and not (is_last and n == plan.slices - 1))
        values = warp_specialized.consume(code, stages, b.add(first, I32(n)), values, pending, rank)
    write_accumulators(b, accumulators, values)

  if points is None:
    _each_step(frame, code, plan, contract)
  else:
    with points.each(), code.scope():
      _each_step(frame, code, plan, contract)
  b.branch(done)
  b.position_at_end(done)
  if plan.cluster.size > 1:  # no CTA exits while others may write to its shared memory
    cluster.barrier(b)
  return code


def _outputs(frame: Frame, code: FragmentCode, plan: WarpgroupPlan) -> dict[Value, Output]:
  """The outputs that TMA writes, by the refs that the body knows them by."""
  mapping, found = frame.mapping, {}
  for tensor_map, pointer in zip(plan.stores, frame.maps[len(frame.maps) - len(plan.stores) :]):
    position = tensor_map.array - mapping.num_prefetch
    starts = lambda position=position: frame.starts(code, position)
    found[frame.kernel.body.params[tensor_map.array]] = Output(tensor_map, pointer, starts)
  return found


def _copy_operands(
  frame: Frame,
  code: BlockCode,
  stages: ring_barriers.Stages,
  step: ir.Value,
  number: ring_barriers.Number,
  n: int,
  rank: ir.Value | None = None,
) -> None:
  """Issue the TMA copies of the n-th slice of the operands. `number` counts slices."""
  frame.indices[-1] = step
  pointers = iter(frame.maps)
  copies = []
  for i, (side, tensor_map) in enumerate(zip(stages.plan.contraction.sides, stages.plan.maps)):
    if tensor_map is not None:
      assert side.position is not None
      copies.append((i, next(pointers), frame.starts(code, side.position)))
  ring_barriers.copy(code.b, stages, number, n, copies, rank, code.arch.has_own_copies)


def _compute_operands(frame: Frame, plan: WarpgroupPlan, stages: ring_barriers.Stages) -> None:
  """The code of the warps that compute operands: fetch blocks a few steps ahead, and write the operands of one slice after the other."""
  b, c, producers, count = frame.b, plan.contraction, plan.producers, plan.block_stages
  code = frame.code(producers, BlockCode)
  is_first = threads.is_first(b, code.thread)

  def place(step: ir.Value) -> ir.Value:
    """Bytes from the start of shared memory to the blocks of a step."""
    stage = b.urem(b.trunc(step, I32), I32(count))
    return b.add(stages.blocks, b.mul(stage, I32(plan.block_bytes)))

  def fetch(step: ir.Value, part: tuple[int, int] = (0, 1)) -> None:
    frame.indices[-1] = step
    with code.scope():
      to = place(step)
      for block in plan.blocks:
        view = frame.view(code, block.position, None)
        staged_blocks.copy_block(b, code.thread, producers, view, block, to, part)
        to = b.add(to, I32(block.nbytes))

  def known(step: ir.Value) -> None:
    """Let the operands' inputs be the staged blocks, or those in global memory where there are none."""
    frame.indices[-1] = step
    frame.set_indices(code)
    params = frame.kernel.body.params[frame.mapping.num_prefetch :]
    for position in dict.fromkeys(i for side in c.sides for i in side.inputs):
      code.env[params[position]] = frame.view(code, position, object())
    at = place(step)
    for block in plan.blocks:
      code.env[params[block.position]] = staged_blocks.view(block, shared_memory.pointer(b, at))
      at = b.add(at, I32(block.nbytes))

  rounds = Rounds(b, count, c.num_steps, fetch, lambda: threads.barrier_of(b, _PRODUCERS, producers))
  rounds.begin(0)
  with for_range(b, 0, c.num_steps) as step, code.scope():
    if plan.blocks:
      with code.span("wait", "the blocks of a step"):
        rounds.wait(step)
    later = rounds.later(step)
    # Copies are started a few at a time: many at once would wait for each other. The last operand comes without, so that those before it
    # have time to arrive.
    work = [(n, i) for n in range(plan.slices) for i, side in enumerate(c.sides) if side.position is None]
    parts = max(1, len(work) - 1)
    for turn, (n, i) in enumerate(work):
      if plan.blocks and turn < parts:
        rounds.request(later, (turn, parts), is_last=turn == parts - 1)
      number = b.add(b.mul(b.trunc(step, I32), I32(plan.slices)), I32(n))
      if turn == 0 or work[turn - 1][0] != n:
        with code.span("wait", "an empty stage"):
          stages.acquire(number)
        if plan.copied_bytes:
          with if_then(b, is_first), code.scope():
            _copy_operands(frame, code, stages, step, number, n)
      known(step)
      with code.span("compute", "an operand"):
        computed_operands.write(code, c.sides[i], n * plan.depth, plan.depth, stages.side(i, number))
      if turn == len(work) - 1 or work[turn + 1][0] != n:
        stages.computed(number, code.thread)
