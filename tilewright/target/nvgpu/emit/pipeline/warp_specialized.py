"""Warp specialization: producer warpgroups copy operands, consumer warpgroups multiply them (sm_90a).

A product stays in flight while the next one is started, so that the tensor cores never wait for the code between them: a stage is released
one step later than it is read.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from tilewright.target.llvm.loops import if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit.pipeline.ring import StageUse
from tilewright.target.nvgpu.emit.pipeline.ring_barriers import Number, Stages
from tilewright.target.nvgpu.emit.units import cluster, mbarrier, threads, tma, wgmma
from tilewright.target.nvgpu.emit.units.threads import GROUP
from tilewright.target.nvgpu.emit.units.wgmma import ROWS


def consume(
  code: Any, stages: Stages, step: ir.Value, values: list[ir.Value], pending: int, rank: ir.Value | None = None
) -> list[ir.Value]:
  """Wait for a step's blocks and add their product to the accumulators. With `pending`, that many products are still in flight after
  it, and the stage of the step so much earlier is released."""
  b, plan = code.b, stages.plan
  sides, (m, n, _), k = plan.contraction.sides, plan.contraction.block, plan.depth
  with code.span("wait", "a full stage"):
    stages.wait(step)
  group = b.udiv(code.thread, I32(GROUP))
  rows = ROWS * tma.SWIZZLE_BYTES if sides[0].k_is_last else k * tma.SWIZZLE_BYTES  # of a group of the left operand
  places = b.add(stages.side(0, step), b.mul(group, I32(rows))), stages.side(1, step)
  itemsize = plan.contraction.itemsize
  with code.span("compute", f"wgmma, {pending} left running" if pending else "wgmma", plan.contraction.dot.loc):
    wgmma.fence(b)
    for at in range(0, k, wgmma.DEPTH_BYTES // itemsize):
      left, right = (
        operand(b, side.k_is_last, place, size, k, at, itemsize) for side, place, size in zip(sides, places, (m, n))
      )
      transposed = not sides[0].k_is_last, not sides[1].k_is_last
      values = wgmma.multiply(b, plan.contraction.kind, n, values, left, right, transposed)
    wgmma.commit(b)
    values = wgmma.wait(b, values, pending)
  release_stage(code, stages, b.sub(step, I32(pending)), rank)
  return values


def release_stage(code: Any, stages: Stages, number: Number, rank: ir.Value | None = None) -> None:
  """Release a stage that the calling warpgroup has multiplied, to all CTAs of a cluster that share it; no-op before the first stage."""
  b, plan = code.b, stages.plan
  gives = threads.is_first(b, code.thread, GROUP)
  if not isinstance(number, StageUse):
    gives = b.and_(gives, b.icmp_signed(">=", number, I32(0)))
  with if_then(b, gives):
    empty = stages.empty(stages.turn(number).stage)
    if rank is None:
      mbarrier.arrive(b, empty)
    else:
      for peer in plan.cluster.ranks(b, rank):
        cluster.arrive(b, empty, peer)


def operand(
  b: ir.IRBuilder, k_is_last: bool, place: ir.Value, size: int, depth: int, at: int, itemsize: int = 2
) -> ir.Value:
  """The descriptor of an operand from `at` along k on. A box is 128 bytes wide; boxes follow each other."""
  if k_is_last:
    box, inner = divmod(at * itemsize, tma.SWIZZLE_BYTES)
    return wgmma.descriptor(b, b.add(place, I32(box * size * tma.SWIZZLE_BYTES + inner)), 16)
  return wgmma.descriptor(b, b.add(place, I32(at * tma.SWIZZLE_BYTES)), depth * tma.SWIZZLE_BYTES)
