"""Products of two computed operands, as block-scaled ones are (sm_90a): each is computed where that costs shared memory the least.

Tensor cores read shared memory, and so do the warps that compute operands from blocks copied by TMA: its bandwidth is the bottleneck. The
right operand is computed by dedicated warps, and stored for `wgmma`, which all warpgroups read. The left one, of which each
warp needs rows of its own, is computed by the warps that multiply, into the registers from which `wgmma` takes it: one slice while the
product of the previous slice is in flight.

A thread has four pairs of columns of each row, for every sixteen along k; which columns those are, is free, as long as both operands
agree. Here lane q of four takes the q-th quarter of a step: what it reads is contiguous.

    step of 128, slices of 64     lane 0           lane 1           lane 2           lane 3
    slice 0, sixteens 0 to 3      0..3 … 12..15    32..35 … 44..47  64..67 … 76..79  96..99 … 108..111
    slice 1                       16..19 …         48..51 …         80..83 …         112..115 …
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from tilewright.target.llvm.loops import Index, for_range, i64, if_then
from tilewright.target.llvm.types import I32, I64
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.kernel_function import Frame
from tilewright.target.nvgpu.emit.pipeline import computed_operands, staged_blocks, warp_specialized
from tilewright.target.nvgpu.emit.pipeline.ring import StageUse, StageUses
from tilewright.target.nvgpu.emit.pipeline.ring_barriers import Stages
from tilewright.target.nvgpu.emit.units import cp_async, half2, mbarrier, shared_memory, threads, tma, wgmma
from tilewright.target.nvgpu.emit.units.threads import GROUP
from tilewright.target.nvgpu.emit.units.wgmma import DEPTH, ROWS
from tilewright.target.nvgpu.passes.grid_accumulation import Operand
from tilewright.target.nvgpu.passes.matmul_plans import RegisterPlan
from tilewright.target.nvgpu.passes.staged_blocks import BoxedBlock, PaddedBlock
from tilewright.tile.ir import Op, Value

_LANES = 4  # that share a row
_OWN = DEPTH // _LANES  # columns of a lane, of each sixteen


def column_of(k: int, n: int) -> Callable[[int], int]:
  """The column of a step of `k` that an even column of its n-th slice holds."""

  def column(place: int) -> int:
    sixteen, (half, lane) = place // DEPTH, divmod(place % DEPTH // 2, _LANES)
    return lane * (k // _LANES) + n * DEPTH + sixteen * _OWN + 2 * half

  return column


class Ring:
  """The stages of the inputs of one computed operand. Addresses are i32.

    stage s:  full   counts the bytes that arrive, and the threads whose copies have
              free   where threads copy: counts the threads that have read it

  That a stage is free also follows from the operand's barriers, but only transitively, and from one thread of a warpgroup for all. That is
  enough for TMA. Threads that overwrite a stage need an arrival of each thread that has read it, as race detectors expect.
  """

  def __init__(self, stages: Stages, side: int):
    plan = stages.plan
    assert isinstance(plan, RegisterPlan)
    self.b, self.plan, self.side = stages.b, plan, side
    self.sources, before = plan.sources[side], plan.sources[:side]
    self.ahead = self.sources.ahead
    self.boxes = self.b.add(stages.start, I32(plan.stages * plan.stage_bytes + sum(s.boxed_bytes for s in before)))
    self.barriers = self.b.add(stages.blocks, I32(sum(16 * s.stages for s in before)))
    padded = sum(16 * s.stages for s in plan.sources) + sum(s.padded_bytes for s in before)
    self.padded = self.b.add(stages.blocks, I32(padded))
    self.arrivals = 1 + (GROUP if self.sources.padded else 0)
    self.first_map = sum(len(s.boxed) for s in before)

  def init(self) -> None:
    readers = self.plan.producers if self.side else self.plan.groups * GROUP
    for s in range(self.sources.stages):
      mbarrier.init(self.b, self.b.add(self.barriers, I32(16 * s)), self.arrivals)
      if self.sources.padded:
        mbarrier.init(self.b, self.b.add(self.barriers, I32(16 * s + 8)), readers)

  def turns(self) -> StageUses:
    """Its stages, step by step."""
    return StageUses(self.b, self.sources.stages)

  def barrier(self, turn: StageUse) -> ir.Value:
    return self.b.add(self.barriers, self.b.mul(turn.stage, I32(16)))

  def wait(self, turn: StageUse) -> None:
    """Wait until the inputs of a step have arrived."""
    mbarrier.wait(self.b, self.barrier(turn), turn.parity)

  def free(self, turn: StageUse) -> ir.Value:
    return self.b.add(self.barrier(turn), I32(8))

  def done(self, turn: StageUse) -> None:
    """The calling thread has read the inputs of a step."""
    if self.sources.padded:
      mbarrier.arrive(self.b, self.free(turn))

  def box(self, turn: StageUse, block: BoxedBlock, step: ir.Value) -> ir.Value:
    """The address of a block that TMA copies, perhaps for several steps. Steps are counted over all points."""
    b, own = self.b, self.sources
    before = sum(own.places(other) * other.nbytes for other in own.boxed[: own.boxed.index(block)])
    number = turn.stage if block.steps == 1 else b.and_(b.udiv(step, I32(block.steps)), I32(1))
    return b.add(self.boxes, b.add(b.mul(number, I32(block.nbytes)), I32(before)))

  def copied(self, turn: StageUse, block: PaddedBlock) -> ir.Value:
    """Where a block lies that threads copy."""
    own = self.sources
    before = sum(own.stages * other.nbytes for other in own.padded[: own.padded.index(block)])
    return self.b.add(self.padded, self.b.add(self.b.mul(turn.stage, I32(block.nbytes)), I32(before)))

  def fetch(self, frame: Frame, code: BlockCode, turn: StageUse, step: ir.Value) -> None:
    """Issue the copies of a step's blocks, at the current indices, as a warpgroup: TMA copies by one thread, the others by all."""
    b, barrier = self.b, self.barrier(turn)
    with if_then(b, threads.is_first(b, code.thread)), code.scope():
      self._issue_copies(frame, code, turn, step)
    if self.sources.padded:
      mbarrier.wait(b, self.free(turn), b.xor(turn.parity, I32(1)))
    for padded in self.sources.padded:
      with code.scope():
        view = frame.view(code, padded.position, None)
        staged_blocks.copy_block(b, code.thread, GROUP, view, padded, self.copied(turn, padded))
    if self.sources.padded:
      cp_async.arrive(b, barrier)

  def _issue_copies(self, frame: Frame, code: BlockCode, turn: StageUse, step: ir.Value) -> None:
    """Issue the TMA copies of a step's blocks, and those for several steps where it is the first of them."""
    b, barrier, own = self.b, self.barrier(turn), self.sources
    begins = {
      block: b.icmp_unsigned("==", b.urem(step, I32(block.steps)), I32(0)) for block in own.boxed if block.steps > 1
    }
    nbytes: ir.Value = I32(sum(block.tensor_map.box_bytes for block in own.boxed if block not in begins))
    for block, begin in begins.items():
      nbytes = b.add(nbytes, b.select(begin, I32(block.tensor_map.box_bytes), I32(0)))
    mbarrier.expect(b, barrier, nbytes)
    for number, block in enumerate(own.boxed):
      with if_then(b, begins[block]) if block in begins else contextlib.nullcontext(), code.scope():
        *outer, last = (i64(v) for v in frame.starts(code, block.position))
        pairs = b.lshr(b.mul(last, i64(block.dtype.itemsize)), i64(1))
        places = [b.trunc(v, I32) for v in (*outer, pairs)]
        tma.copy(b, frame.maps[self.first_map + number], self.box(turn, block, step), places, barrier)

  def know(self, frame: Frame, code: BlockCode, turn: StageUse, step: ir.Value) -> None:
    """Use the staged blocks of a step as the operand's inputs; others are read in place."""
    b, params = self.b, frame.kernel.body.params[frame.mapping.num_prefetch :]
    places: list[tuple[Any, ir.Value]] = [(block, self.copied(turn, block)) for block in self.sources.padded]
    for block in self.sources.boxed:
      inner = b.mul(b.urem(step, I32(block.steps)), I32(block.step_bytes))
      places.append((block, b.add(self.box(turn, block, step), inner)))
    for block, place in places:
      code.env[params[block.position]] = staged_blocks.view(block, shared_memory.pointer(b, place))


def init(stages: Stages, is_first: ir.Value) -> None:
  """Initialise the barriers of the inputs of computed operands, located before those of the stages."""
  with if_then(stages.b, is_first):
    for side in range(2):
      Ring(stages, side).init()


def produce(frame: Frame, stages: Stages, points: Any) -> None:
  """The code of the warpgroups that compute the right operand, slices in turn. The last one fetches blocks, too."""
  b, plan = frame.b, stages.plan
  assert isinstance(plan, RegisterPlan)
  thread = threads.thread_id(b)
  for group in range(plan.producers // GROUP):
    own, others = (b.append_basic_block(name) for name in ("producer", "others"))
    b.cbranch(b.icmp_unsigned("==", b.udiv(thread, I32(GROUP)), I32(group)), own, others)
    b.position_at_end(own)
    code = frame.code(GROUP, BlockCode)
    code.thread = b.urem(thread, I32(GROUP))
    _Producer(frame, code, stages, points, group).run()
    b.branch(others)
    b.position_at_end(others)


class _Producer:
  """One of the warpgroups that compute the right operand."""

  def __init__(self, frame: Frame, code: BlockCode, stages: Stages, points: Any, group: int):
    plan = stages.plan
    assert isinstance(plan, RegisterPlan)
    self.frame, self.code, self.stages, self.plan, self.points, self.group = frame, code, stages, plan, points, group
    left, self.right = Ring(stages, 0), Ring(stages, 1)
    self.steps = self.right.turns()
    self.own = StageUses(code.b, plan.stages, group)
    fetches = group == plan.producers // GROUP - 1
    self.fetched = [(ring, ring.turns()) for ring in (self.right, left)] if fetches else []

  def run(self) -> None:
    b, frame, points, num_steps = self.code.b, self.frame, self.points, self.plan.contraction.num_steps
    if self.fetched:
      frame.indices = points.at(points.first)
    for step in range(max((ring.ahead for ring, _ in self.fetched), default=0)):
      for ring, turns in self.fetched:
        if step < min(ring.ahead, num_steps):
          frame.indices[-1] = i64(step)
          ring.fetch(frame, self.code, turns.take(), I32(step))
    with points.each() as number, self.code.scope():
      here = list(frame.indices)
      follows = points.after(number) if points.is_several and self.fetched else None
      there = None if follows is None else points.at(follows)
      with for_range(b, 0, num_steps) as step, self.code.scope():
        for n in range(self.group, self.plan.slices, self.plan.producers // GROUP):
          turn = self.own.now()
          with self.code.span("wait", "an empty stage"):
            self.stages.acquire(turn)
          if n == self.plan.slices - 1:
            # Once the last slice of a step has a free stage, blocks of the steps that far behind are no longer read.
            for ring, turns in self.fetched:
              self._fetch(ring, turns, b.add(step, i64(ring.ahead)), here, there, follows)
          frame.indices = [*here[:-1], step]
          with self.code.span("compute", "a slice of the right operand"):
            self._write(turn, n)

  def _fetch(
    self,
    ring: Ring,
    turns: StageUses,
    later: ir.Value,
    here: list[Any],
    there: list[Any] | None,
    follows: ir.Value | None,
  ) -> None:
    """Fetch a step of this point or, after its last one, of the point that follows."""
    b, frame, num_steps = self.code.b, self.frame, self.plan.contraction.num_steps
    is_there = b.icmp_signed("<", later, i64(num_steps))
    if there is None:
      frame.indices = [*here[:-1], later]
    else:
      places = [i64(x) if x is y else b.select(is_there, i64(x), i64(y)) for x, y in zip(here, there)]
      frame.indices = [*places[:-1], b.select(is_there, later, b.sub(later, i64(num_steps)))]
      is_there = b.or_(is_there, b.icmp_signed("<", follows, i64(self.points.total)))
    with if_then(b, is_there), self.code.span("load", "start the copies of a step"):
      ring.fetch(frame, self.code, turns.now(), b.add(self.points.before, b.trunc(later, I32)))
    turns.advance()

  def _write(self, turn: StageUse, n: int) -> None:
    """Compute the n-th slice of a step, at the present indices, and write it to a stage."""
    frame, code, plan = self.frame, self.code, self.plan
    side = plan.contraction.sides[1]
    if n == self.group:
      self.step = self.steps.take()
      with code.span("wait", "the inputs of a step"):
        self.right.wait(self.step)
    frame.set_indices(code)
    params = frame.kernel.body.params[frame.mapping.num_prefetch :]
    for position in side.inputs:
      code.env[params[position]] = frame.view(code, position, object())
    with code.scope():
      step = code.b.add(self.points.before, code.b.trunc(i64(frame.indices[-1]), I32))
      self.right.know(frame, code, self.step, step)
      computed_operands.write(
        code, side, 0, plan.depth, self.stages.side(1, turn), column_of(plan.contraction.block[2], n)
      )
    self.stages.computed(turn, code.thread)
    groups = plan.producers // GROUP
    self.own.advance(groups)
    if n + groups >= plan.slices:
      self.right.done(self.step)


class Products:
  """The products of slices, in the warps that hold the accumulators: slice after slice, step after step."""

  def __init__(self, frame: Frame, code: Any, stages: Stages, points: Any):
    plan = stages.plan
    assert isinstance(plan, RegisterPlan)
    self.frame, self.code, self.stages, self.plan, self.points = frame, code, stages, plan, points
    self.ring = Ring(stages, 0)
    self.steps = self.ring.turns()
    repeats = plan.together * plan.slices % plan.stages == 0
    self.own, self.given = (StageUses(code.b, plan.stages, repeats=repeats) for _ in range(2))

  def add(self, step: ir.Value, values: list[ir.Value], is_first: bool, is_last: bool) -> list[ir.Value]:
    """Add the product of a step to the accumulators: the left operand's fragments are computed, one after the other, while the product of
    the previous one is in flight.

    A product in flight keeps its stage, which is released with the next one. The last product is waited for.
    """
    code, plan = self.code, self.plan
    b, c = code.b, plan.contraction
    own = self.steps.take()
    with code.span("wait", "the inputs of a step"):
      self.ring.wait(own)
    with code.scope():
      self.ring.know(self.frame, code, own, b.add(self.points.before, b.trunc(step, I32)))
      lanes = [_Lanes(code, c.sides[0], part, plan.parts) for part in range(plan.parts)]
      for n, part in itertools.product(range(plan.slices), range(plan.parts)):
        left = lanes[part].fragments(n * DEPTH, plan.depth)
        if part == 0:
          turn = self.own.take()
          with code.span("wait", "a full stage"):
            self.stages.wait(turn)
          place = self.stages.side(1, turn)
        is_done = part == plan.parts - 1
        runs = plan.leaves_running and not (is_last and n == plan.slices - 1 and is_done)
        values = self._multiply(left, place, values, part)
        values = wgmma.wait(b, values, int(runs))
        if plan.leaves_running and part == 0 and not (is_first and n == 0):
          warp_specialized.release_stage(code, self.stages, self.given.take())
        if is_done and not runs:
          warp_specialized.release_stage(code, self.stages, self.given.take())
    self.ring.done(own)
    return values

  def _multiply(self, left: Any, place: ir.Value, values: list[ir.Value], part: int) -> list[ir.Value]:
    """Start the product of a part of the rows and a slice that lies at `place`."""
    b, plan, c = self.code.b, self.plan, self.plan.contraction
    count = len(values) // plan.parts
    own = values[part * count : (part + 1) * count]
    wgmma.fence(b)
    for at, registers in zip(range(0, plan.depth, DEPTH), left):
      right = warp_specialized.operand(b, True, place, c.block[1], plan.depth, at)
      own = wgmma.multiply(b, c.kind, c.block[1], own, registers, right, (False, False))
    wgmma.commit(b)
    return [*values[: part * count], *own, *values[(part + 1) * count :]]


class _Lanes:
  """What the threads that multiply hold of a part of the rows. A warpgroup has `parts` of them, one below the other."""

  def __init__(self, code: Any, side: Operand, part: int, parts: int):
    b = code.b
    lane = b.urem(code.thread, I32(threads.WARP))
    group, warp = b.udiv(code.thread, I32(GROUP)), b.udiv(b.urem(code.thread, I32(GROUP)), I32(threads.WARP))
    first = b.add(b.mul(group, I32(parts * ROWS)), b.mul(warp, I32(ROWS * threads.WARP // GROUP)))
    upper = b.add(b.zext(b.add(first, b.udiv(lane, I32(_LANES))), I64), i64(part * ROWS))
    self.code, self.rows = code, (Index(upper), Index(b.add(upper, i64(8))))
    self.value, sizes = _as_computed(side.value)
    self.run = half2.Run(b, b.zext(b.urem(lane, I32(_LANES)), I64), side.shape[1] // _LANES, sizes)

  def fragments(self, start: int, depth: int) -> list[list[ir.Value]]:
    """The registers of this thread for every sixteen columns of a slice, of which a lane's quarter has those from `start` on."""
    found = []
    for at in range(start, start + depth // _LANES, _OWN):
      places = [self.run[at + 2 * half] for half in range(2)]
      found.append([half2.pair_at(self.code, self.value, [row, *place]) for place in places for row in self.rows])
    return found


def _as_computed(v: Value) -> tuple[Value, tuple[int, ...]]:
  """A matrix before its columns were put in one dimension, and the dimensions they had: so that more of an index is known."""
  op = v.owner
  if isinstance(op, Op) and op.name == "reshape" and op.operands[0].tile.shape[:1] == v.tile.shape[:1]:
    return op.operands[0], op.operands[0].tile.shape[1:]
  return v, v.tile.shape[1:]
