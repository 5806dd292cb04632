"""Warpgroups that divide the work: some bring operands, the others multiply them (sm_90a).

    stage s:  full[s]   counts the bytes that arrive (the producer expects them), and the warps that have written their part
              empty[s]  counts the warpgroups that are done with it

A product is left running while the next one is started, so that the tensor cores never wait for the code between them: a stage is given
back one step later than it is read.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from llvmlite import ir

from tilewright.target.llvm.loops import i64, if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu import cluster, mbarrier, threads, tma, turns, wgmma
from tilewright.target.nvgpu.pipeline import WarpgroupPlan
from tilewright.target.nvgpu.threads import GROUP, WARP
from tilewright.target.nvgpu.turns import Turn
from tilewright.target.nvgpu.wgmma import ROWS

Number: TypeAlias = ir.Value | Turn  # of a use of a stage, from the first step on; or the use itself


class Stages:
  """The stages in shared memory, and the barriers of each. Addresses are i32."""

  def __init__(self, b: ir.IRBuilder, plan: WarpgroupPlan, shared: ir.Value):
    self.b, self.plan = b, plan
    self.start = b.and_(b.add(b.ptrtoint(shared, I32), I32(1023)), I32(-1024))  # a swizzle repeats every 1024 bytes
    self.barriers = b.add(self.start, I32(plan.swizzled_bytes))
    self.blocks = b.add(self.barriers, I32(16 * plan.stages))  # what operands are computed from

  def full(self, stage: ir.Value | int) -> ir.Value:
    number = I32(stage) if isinstance(stage, int) else stage
    return self.b.add(self.barriers, self.b.mul(number, I32(8)))

  def empty(self, stage: ir.Value | int) -> ir.Value:
    return self.b.add(self.full(stage), I32(8 * self.plan.stages))

  def turn(self, number: Number) -> Turn:
    return number if isinstance(number, Turn) else turns.nth(self.b, number, self.plan.stages)

  def side(self, side: int, number: Number) -> ir.Value:
    """Where the left or the right operand lies."""
    start = self.b.add(self.start, self.b.mul(self.turn(number).stage, I32(self.plan.stage_bytes)))
    return self.b.add(start, I32(self.plan.side_bytes[0])) if side else start

  def init(self, is_first: ir.Value) -> None:
    with if_then(self.b, is_first):
      for s in range(self.plan.stages):
        mbarrier.init(self.b, self.full(s), self.plan.writers + (1 if self.plan.copied_bytes else 0))
        mbarrier.init(self.b, self.empty(s), self.plan.groups * self.plan.cluster.peers)
      mbarrier.fence_init(self.b)

  def acquire(self, number: Number) -> None:
    """Until the operands that lay in a stage before are no longer read."""
    turn = self.turn(number)
    mbarrier.wait(self.b, self.empty(turn.stage), self.b.xor(turn.parity, I32(1)))

  def computed(self, number: Number, thread: ir.Value) -> None:
    """The calling warp has written its part of a stage."""
    stage = self.turn(number).stage
    tma.fence_writes(self.b)
    threads.warp_barrier(self.b)
    with if_then(self.b, self.b.icmp_unsigned("==", self.b.urem(thread, I32(WARP)), I32(0))):
      mbarrier.arrive(self.b, self.full(stage))


def copy(
  b: ir.IRBuilder,
  stages: Stages,
  number: ir.Value,
  n: int,
  copies: list[tuple[int, ir.Value, list[Any]]],
  rank: ir.Value | None = None,
) -> None:
  """Ask for operands of a stage, which is the n-th of its step: their side, tensor map, and where the step's block begins.

  Of an operand that blocks of a cluster share, the one with a rank asks for its part of the rows, and all of them get it.
  """
  plan = stages.plan
  stage = stages.turn(number).stage
  mbarrier.expect(b, stages.full(stage), plan.copied_bytes)
  for i, pointer, start in copies:
    side, tensor_map = plan.contraction.sides[i], plan.maps[i]
    assert tensor_map is not None and side.position is not None
    place = stages.side(i, number)
    places = [b.trunc(i64(v), I32) for v in start]
    kept = len(places) - 1 if side.k_is_last else tensor_map.row
    places[kept] = b.add(places[kept], I32(n * plan.depth))
    width = plan.depth if side.k_is_last else side.shape[1]
    sharers, blocks = plan.cluster.sharers[i], None
    if sharers > 1:
      assert rank is not None
      own, blocks = plan.cluster.place(b, rank)[1 - i], plan.cluster.masks(b, rank)[i]
      place = b.add(place, b.mul(own, I32(tensor_map.box_bytes)))
      places[tensor_map.row] = b.add(places[tensor_map.row], b.mul(own, I32(tensor_map.box[tensor_map.row])))
    for part in range(width // tensor_map.box_columns):
      to = b.add(place, I32(part * sharers * tensor_map.box_bytes))
      along = b.add(places[-1], I32(part * tensor_map.box_columns))
      tma.copy(b, pointer, to, [*places[:-1], along], stages.full(stage), blocks)


def consume(
  code: Any, stages: Stages, step: ir.Value, values: list[ir.Value], pending: int, rank: ir.Value | None = None
) -> list[ir.Value]:
  """Wait for a step's blocks and add their product to the sums. With `pending`, that many products are still running after it, and it
  is the stage of the step so much earlier that is given back."""
  b, plan = code.b, stages.plan
  sides, (m, n, _), k = plan.contraction.sides, plan.contraction.block, plan.depth
  await_stage(stages, step)
  group = b.udiv(code.thread, I32(GROUP))
  rows = ROWS * tma.SWIZZLE_BYTES if sides[0].k_is_last else k * tma.SWIZZLE_BYTES  # of a group of the left operand
  places = b.add(stages.side(0, step), b.mul(group, I32(rows))), stages.side(1, step)
  wgmma.fence(b)
  for at in range(0, k, wgmma.DEPTH):
    left, right = (operand(b, side.k_is_last, place, size, k, at) for side, place, size in zip(sides, places, (m, n)))
    turned = not sides[0].k_is_last, not sides[1].k_is_last
    values = wgmma.multiply(b, plan.contraction.kind, n, values, left, right, turned)
  wgmma.commit(b)
  values = wgmma.wait(b, values, pending)
  give_back(code, stages, b.sub(step, I32(pending)), rank)
  return values


def await_stage(stages: Stages, number: Number) -> None:
  """Until a stage's operands are there."""
  turn = stages.turn(number)
  mbarrier.wait(stages.b, stages.full(turn.stage), turn.parity)


def give_back(code: Any, stages: Stages, number: Number, rank: ir.Value | None = None) -> None:
  """The calling warpgroup has multiplied a stage, which all blocks of a cluster that share it are told; one before the first is nothing."""
  b, plan = code.b, stages.plan
  gives = b.icmp_unsigned("==", b.urem(code.thread, I32(GROUP)), I32(0))
  if not isinstance(number, Turn):
    gives = b.and_(gives, b.icmp_signed(">=", number, I32(0)))
  with if_then(b, gives):
    empty = stages.empty(stages.turn(number).stage)
    if rank is None:
      mbarrier.arrive(b, empty)
    else:
      for peer in plan.cluster.ranks(b, rank):
        cluster.arrive(b, empty, peer)


def operand(b: ir.IRBuilder, k_is_last: bool, place: ir.Value, size: int, depth: int, at: int) -> ir.Value:
  """The descriptor of an operand from `at` along k on. A box is 64 columns wide; boxes follow each other."""
  if k_is_last:
    box, inner = divmod(at, 64)
    return wgmma.descriptor(b, b.add(place, I32(box * size * tma.SWIZZLE_BYTES + inner * 2)), 16)
  return wgmma.descriptor(b, b.add(place, I32(at * tma.SWIZZLE_BYTES)), depth * tma.SWIZZLE_BYTES)
