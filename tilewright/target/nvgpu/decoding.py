"""Products of two computed operands, as block-scaled ones are (sm_90a): each is computed where that costs shared memory the least.

Tensor cores read shared memory, and so do those who compute operands from what the copy engine brings: it is what there is least of. The
right operand is computed by warps that do nothing else, and written for `wgmma`, which all warpgroups read. The left one, of which each
warp needs rows of its own, is computed by the warps that multiply, into the registers from which `wgmma` takes it: one slice while the
product of the slice before is under way.

A thread has four pairs of columns of each row, for every sixteen along k; which columns those are, is free, as long as both operands
agree. Here lane q of four takes the q-th quarter of a step: what it reads is contiguous.

    step of 128, slices of 64     lane 0           lane 1           lane 2           lane 3
    slice 0, sixteens 0 to 3      0..3 … 12..15    32..35 … 44..47  64..67 … 76..79  96..99 … 108..111
    slice 1                       16..19 …         48..51 …         80..83 …         112..115 …
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index, for_range, i64, if_then
from tilewright.target.llvm.types import I32, I64
from tilewright.target.nvgpu import computed, cp_async, mbarrier, packed, staging, threads, tma, warpgroups, wgmma
from tilewright.target.nvgpu.accumulation import Operand
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.block_memory import SHARED
from tilewright.target.nvgpu.code import BlockCode
from tilewright.target.nvgpu.pipeline import RegisterPlan
from tilewright.target.nvgpu.warpgroups import Stages
from tilewright.target.nvgpu.wgmma import DEPTH, GROUP, ROWS
from tilewright.tile.ir import Op, Value

_LANES = 4  # that share a row
_OWN = DEPTH // _LANES  # columns of a lane, of each sixteen
PRODUCERS = 2  # the number of the barrier of threads that compute operands


def column_of(k: int, n: int) -> Callable[[int], int]:
  """Which column of a step of `k` stands in an even column of its n-th slice."""

  def column(place: int) -> int:
    sixteen, (half, lane) = place // DEPTH, divmod(place % DEPTH // 2, _LANES)
    return lane * (k // _LANES) + n * DEPTH + sixteen * _OWN + 2 * half

  return column


class Ring:
  """The stages of what one operand is computed from. Addresses are i32; `step` is one too."""

  def __init__(self, stages: Stages, side: int):
    plan = stages.plan
    assert isinstance(plan, RegisterPlan)
    self.b, self.plan, self.side = stages.b, plan, side
    self.sources, before = plan.sources[side], plan.sources[:side]
    own, self.ahead = self.sources, self.sources.ahead
    at = plan.stages * plan.stage_bytes + sum(s.stages * s.swizzled_bytes for s in before)
    self.swizzled = self.b.add(stages.start, I32(at))
    self.barriers = self.b.add(stages.blocks, I32(sum(16 * s.stages for s in before)))
    padded = sum(16 * s.stages for s in plan.sources) + sum(s.stages * s.padded_bytes for s in before)
    self.padded = self.b.add(stages.blocks, I32(padded))
    self.arrivals = 1 + (plan.producers // threads.WARP if own.padded and side == 0 else 0)
    self.first_map = sum(len(s.swizzled) for s in before)

  def init(self) -> None:
    for s in range(self.sources.stages):
      mbarrier.init(self.b, self.b.add(self.barriers, I32(16 * s)), self.arrivals)

  def _stage(self, step: ir.Value) -> ir.Value:
    return mbarrier.phase(self.b, step, self.sources.stages)[0]

  def barrier(self, step: ir.Value) -> ir.Value:
    return self.b.add(self.barriers, self.b.mul(self._stage(step), I32(16)))

  def wait(self, step: ir.Value) -> None:
    """Until what a step is computed from is there."""
    mbarrier.wait(self.b, self.barrier(step), mbarrier.phase(self.b, step, self.sources.stages)[1])

  def place(self, step: ir.Value, block: staging.BoxedBlock | staging.PaddedBlock) -> ir.Value:
    """Where a block lies."""
    own = self.sources
    is_swizzled = isinstance(block, staging.BoxedBlock)
    start, size = (self.swizzled, own.swizzled_bytes) if is_swizzled else (self.padded, own.padded_bytes)
    blocks: tuple[Any, ...] = own.swizzled if is_swizzled else own.padded
    inner = sum(other.nbytes for other in blocks[: blocks.index(block)])
    return self.b.add(start, self.b.add(self.b.mul(self._stage(step), I32(size)), I32(inner)))

  def ask(self, frame: Any, code: BlockCode, prefetched: Any, step: ir.Value) -> None:
    """Ask the copy engine for its blocks of a step, at the present indices."""
    b = self.b
    mbarrier.expect(b, self.barrier(step), self.sources.swizzled_bytes)
    for number, block in enumerate(self.sources.swizzled):
      *outer, last = (i64(v) for v in frame.starts(code, block.position, prefetched))
      pairs = b.lshr(b.mul(last, i64(block.dtype.itemsize)), i64(1))
      places = [b.trunc(v, I32) for v in (*outer, pairs)]
      tma.copy(b, frame.maps[self.first_map + number], self.place(step, block), places, self.barrier(step))

  def copy(self, frame: Any, code: BlockCode, prefetched: Any, step: ir.Value) -> None:
    """Start the copies of the others."""
    for block in self.sources.padded:
      view = frame.view(code, block.position, prefetched, None)
      staging.copy_block(self.b, code.thread, self.plan.producers, view, block, self.place(step, block))

  def know(self, frame: Any, code: BlockCode, step: ir.Value) -> None:
    """Let the operand's inputs be the staged blocks of a step; others stay where they are."""
    params = frame.kernel.body.params[frame.mapping.num_prefetch :]
    blocks: list[staging.BoxedBlock | staging.PaddedBlock] = [*self.sources.swizzled, *self.sources.padded]
    for block in blocks:
      pointer = self.b.inttoptr(self.place(step, block), ir.PointerType(addrspace=SHARED))
      code.env[params[block.position]] = block.view(self.b.addrspacecast(pointer, ty.PTR))


def init(stages: Stages, is_first: ir.Value) -> None:
  """The barriers of what operands are computed from, before those of the stages."""
  with if_then(stages.b, is_first):
    for side in range(2):
      Ring(stages, side).init()


def produce(frame: Any, arch: Arch, plan: RegisterPlan, stages: Stages) -> None:
  """What the warps do that fetch blocks and compute the right operand, slice by slice."""
  b, c = frame.b, plan.contraction
  code = frame.code(arch, plan.producers, BlockCode)
  prefetched = frame.prefetched(code)
  left, right = rings = Ring(stages, 0), Ring(stages, 1)

  def fetch(ring: Ring, step: ir.Value) -> None:
    frame.indices[-1] = step
    number = b.trunc(step, I32)
    with if_then(b, b.icmp_unsigned("==", code.thread, I32(0))), code.scope():
      ring.ask(frame, code, prefetched, number)
    with code.scope():
      ring.copy(frame, code, prefetched, number)

  # A step's copies are in a group that is followed by as many as the left operand's are ahead, less one.
  for group in range(left.ahead):
    for ring in rings:
      for step in range(group, ring.ahead if group == left.ahead - 1 else group + 1):
        if step < c.num_steps:
          fetch(ring, i64(step))
    cp_async.commit(b)
  with for_range(b, 0, c.num_steps) as step, code.scope():
    number = b.trunc(step, I32)
    cp_async.wait(b, left.ahead - 1)
    if left.arrivals > 1:
      threads.warp_barrier(b)
      with if_then(b, b.icmp_unsigned("==", b.urem(code.thread, I32(threads.WARP)), I32(0))):
        mbarrier.arrive(b, left.barrier(number))
    threads.barrier_of(
      b, PRODUCERS, plan.producers
    )  # the step's copies are there, and nobody reads those that are replaced
    first = b.mul(number, I32(plan.slices))
    stages.acquire(first)
    for ring in (right, left):
      later = b.add(step, i64(ring.ahead))
      with if_then(b, b.icmp_signed("<", later, i64(c.num_steps))):
        fetch(ring, later)
    cp_async.commit(b)
    right.wait(number)
    frame.indices[-1] = step
    frame.stand(code)
    params = frame.kernel.body.params[frame.mapping.num_prefetch :]
    for position in c.sides[1].inputs:
      code.env[params[position]] = frame.view(code, position, prefetched, object())
    for n in range(plan.slices):
      own = b.add(first, I32(n))
      if n:
        stages.acquire(own)
      with code.scope():
        right.know(frame, code, number)
        computed.write(code, c.sides[1], 0, plan.depth, stages.side(1, own), column_of(c.block[2], n))
      stages.computed(own, code.thread)


def consume(
  frame: Any, code: Any, stages: Stages, step: ir.Value, n: int, values: list[ir.Value], pending: int
) -> list[ir.Value]:
  """Compute the left operand of the n-th slice of a step, wait for the right one, and add their product to the sums.

  With `pending`, that many products are still running after it, and the stage of the slice before is given back.
  """
  b, plan = code.b, stages.plan
  assert isinstance(plan, RegisterPlan)
  c = plan.contraction
  number = b.add(b.mul(step, I32(plan.slices)), I32(n))
  ring = Ring(stages, 0)
  if n == 0:
    ring.wait(step)
  place = stages.side(1, number)
  count = len(values) // plan.parts
  for part in range(plan.parts):
    with code.scope():
      ring.know(frame, code, step)
      left = fragments(code, c.sides[0], part, plan.parts, n * DEPTH, plan.depth)
    if part == 0:
      warpgroups.await_stage(stages, number)
    own = values[part * count : (part + 1) * count]
    wgmma.fence(b)
    for at, registers in zip(range(0, plan.depth, DEPTH), left):
      right = warpgroups.operand(b, True, place, c.block[1], plan.depth, at)
      own = wgmma.multiply(b, c.kind, c.block[1], own, registers, right, (False, False))
    wgmma.commit(b)
    values = [*values[: part * count], *own, *values[(part + 1) * count :]]
    values = wgmma.wait(b, values, pending)
    if pending and part == 0:
      warpgroups.give_back(code, stages, b.sub(number, I32(1)))
  if not pending:
    warpgroups.give_back(code, stages, number)
  return values


def fragments(code: Any, side: Operand, part: int, parts: int, start: int, depth: int) -> list[list[ir.Value]]:
  """The registers of this thread for every sixteen columns of a slice, of which a lane's quarter has those from `start` on.

  A warpgroup has `parts` of the rows, one below the other.
  """
  b = code.b
  lane = b.urem(code.thread, I32(threads.WARP))
  group, warp = b.udiv(code.thread, I32(GROUP)), b.udiv(b.urem(code.thread, I32(GROUP)), I32(threads.WARP))
  first = b.add(b.mul(group, I32(parts * ROWS)), b.mul(warp, I32(ROWS * threads.WARP // GROUP)))
  upper = b.add(b.zext(b.add(first, b.udiv(lane, I32(_LANES))), I64), i64(part * ROWS))
  rows = Index(upper), Index(b.add(upper, i64(8)))
  value, sizes = _as_computed(side.value)
  run = packed.Run(b, b.zext(b.urem(lane, I32(_LANES)), I64), side.shape[1] // _LANES, sizes)
  found = []
  for at in range(start, start + depth // _LANES, _OWN):
    places = [run[at + 2 * half] for half in range(2)]
    found.append([packed.pair_at(code, value, [row, *place]) for place in places for row in rows])
  return found


def _as_computed(v: Value) -> tuple[Value, tuple[int, ...]]:
  """A matrix before its columns were put in one dimension, and the dimensions they had: so that more of an index is known."""
  op = v.owner
  if isinstance(op, Op) and op.name == "reshape" and op.operands[0].tile.shape[:1] == v.tile.shape[:1]:
    return op.operands[0], op.operands[0].tile.shape[1:]
  return v, v.tile.shape[1:]
