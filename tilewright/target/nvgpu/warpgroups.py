"""Warpgroups that divide the work: one asks the copy engine for blocks, the others multiply them (sm_90a).

    stage s:  full[s]   counts the bytes that arrive     (the producer expects them)
              empty[s]  counts the warpgroups that are done with it

A product is left running while the next one is started, so that the tensor cores never wait for the code between them: a stage is given
back one step later than it is read.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from tilewright.target.llvm.loops import i64, if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu import mbarrier, tma, wgmma
from tilewright.target.nvgpu.pipeline import WarpgroupPlan
from tilewright.target.nvgpu.wgmma import GROUP, ROWS


class Stages:
  """The stages in shared memory, and the barriers of each. Addresses are i32."""

  def __init__(self, b: ir.IRBuilder, plan: WarpgroupPlan, shared: ir.Value):
    self.b, self.plan = b, plan
    self.start = b.and_(b.add(b.ptrtoint(shared, I32), I32(1023)), I32(-1024))  # a swizzle repeats every 1024 bytes
    self.barriers = b.add(self.start, I32(plan.stages * plan.stage_bytes))

  def full(self, stage: ir.Value | int) -> ir.Value:
    number = I32(stage) if isinstance(stage, int) else stage
    return self.b.add(self.barriers, self.b.mul(number, I32(8)))

  def empty(self, stage: ir.Value | int) -> ir.Value:
    return self.b.add(self.full(stage), I32(8 * self.plan.stages))

  def left(self, stage: ir.Value) -> ir.Value:
    return self.b.add(self.start, self.b.mul(stage, I32(self.plan.stage_bytes)))

  def right(self, stage: ir.Value) -> ir.Value:
    return self.b.add(self.left(stage), I32(self.plan.left_bytes))

  def init(self, is_first: ir.Value) -> None:
    with if_then(self.b, is_first):
      for s in range(self.plan.stages):
        mbarrier.init(self.b, self.full(s), 1)
        mbarrier.init(self.b, self.empty(s), self.plan.groups)
      mbarrier.fence_init(self.b)


def produce(b: ir.IRBuilder, stages: Stages, maps: list[ir.Value], step: ir.Value, starts: list[list[Any]]) -> None:
  """Ask for the blocks of a step: `starts` are where they begin along each dimension of their arrays."""
  plan = stages.plan
  stage, parity = mbarrier.phase(b, step, plan.stages)
  mbarrier.wait(b, stages.empty(stage), b.xor(parity, I32(1)))
  mbarrier.expect(b, stages.full(stage), plan.stage_bytes)
  for side, tensor_map, pointer, place, start in zip(
    plan.contraction.sides, plan.maps, maps, (stages.left(stage), stages.right(stage)), starts
  ):
    *outer, column = (b.trunc(i64(v), I32) for v in start)
    for part in range(side.shape[1] // tensor_map.box_columns):
      to = b.add(place, I32(part * tensor_map.box_bytes))
      along = b.add(column, I32(part * tensor_map.box_columns))
      tma.copy(b, pointer, to, [*outer, along], stages.full(stage))


def consume(code: Any, stages: Stages, step: ir.Value, values: list[ir.Value], pending: int) -> list[ir.Value]:
  """Wait for a step's blocks and add their product to the sums. With `pending`, that many products are still running after it, and it
  is the stage of the step so much earlier that is given back."""
  b, plan = code.b, stages.plan
  sides, (m, n, k) = plan.contraction.sides, plan.contraction.block
  stage, parity = mbarrier.phase(b, step, plan.stages)
  mbarrier.wait(b, stages.full(stage), parity)
  group = b.udiv(code.thread, I32(GROUP))
  rows = ROWS * tma.SWIZZLE_BYTES if sides[0].k_is_last else k * tma.SWIZZLE_BYTES  # of a group of the left operand
  places = b.add(stages.left(stage), b.mul(group, I32(rows))), stages.right(stage)
  wgmma.fence(b)
  for at in range(0, k, wgmma.DEPTH):
    left, right = (_operand(b, side.k_is_last, place, size, k, at) for side, place, size in zip(sides, places, (m, n)))
    turned = not sides[0].k_is_last, not sides[1].k_is_last
    values = wgmma.multiply(b, plan.contraction.kind, n, values, left, right, turned)
  wgmma.commit(b)
  values = wgmma.wait(b, values, pending)
  is_leader = b.icmp_unsigned("==", b.urem(code.thread, I32(GROUP)), I32(0))
  done = b.sub(step, I32(pending))
  is_there = b.icmp_signed(">=", done, I32(0))
  with if_then(b, b.and_(is_leader, is_there)):
    mbarrier.arrive(b, stages.empty(mbarrier.phase(b, done, plan.stages)[0]))
  return values


def _operand(b: ir.IRBuilder, k_is_last: bool, place: ir.Value, size: int, depth: int, at: int) -> ir.Value:
  """The descriptor of an operand from `at` along k on. A box is 64 columns wide; boxes follow each other."""
  if k_is_last:
    box, inner = divmod(at, 64)
    return wgmma.descriptor(b, b.add(place, I32(box * size * tma.SWIZZLE_BYTES + inner * 2)), 16)
  return wgmma.descriptor(b, b.add(place, I32(at * tma.SWIZZLE_BYTES)), depth * tma.SWIZZLE_BYTES)
