"""Warps that multiply operands copied by TMA, where there is no `wgmma` (sm_100 and later): `mma.sync` on boxes.

Every warp waits for a stage and releases it independently, so that fast warps need not wait for slow ones; one lane of the first warp
issues the copies. A dedicated producer warp would leave the others fewer registers than their accumulators and operands take: with nine
warps, one of an SM's four partitions has three, and each thread of those 168.

Pieces of rows are swizzled, as TMA leaves them: reading eight rows at the same place, as `ldmatrix` does, touches all banks of
shared memory once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from tilewright.target.llvm.loops import add, i64, if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit.pipeline.ring import StageUses
from tilewright.target.nvgpu.emit.pipeline.ring_barriers import Number, Stages
from tilewright.target.nvgpu.emit.pipeline.staged_blocks import offset
from tilewright.target.nvgpu.emit.units import mbarrier, mma_sync, threads
from tilewright.target.nvgpu.emit.units.mma_sync import Place
from tilewright.target.nvgpu.emit.units.threads import WARP
from tilewright.target.nvgpu.passes.matmul_plans import BoxedWarpPlan
from tilewright.target.nvgpu.passes.staged_blocks import BoxedMatrix

Ask = Callable[[ir.Value, int, Number], None]  # for the n-th slice of a step, in a use of a stage


class Products:
  """Steps of products, with their operands prefetched. `load_stage` is called for one thread."""

  def __init__(self, code: Any, plan: BoxedWarpPlan, stages: Stages, load_stage: Ask):
    self.code, self.plan, self.stages, self.load_stage = code, plan, stages, load_stage
    self.total = plan.contraction.num_steps * plan.slices
    with if_then(code.b, self._is_first()):
      for number in range(min(plan.ahead, self.total)):
        with code.span("load", "start TMA copies"):
          load_stage(i64(number // plan.slices), number % plan.slices, I32(number))
    self.stage_loads, self.read = StageUses(code.b, plan.stages, plan.ahead), StageUses(code.b, plan.stages)

  def _is_first(self) -> ir.Value:
    return threads.is_first(self.code.b, self.code.thread)

  def add(self, step: ir.Value, values: list[ir.Value]) -> list[ir.Value]:
    """The accumulators of a lane, with the product of a step added."""
    for n in range(self.plan.slices):
      further, later = divmod(n + self.plan.ahead, self.plan.slices)
      self._load_ahead(add(self.code.b, step, further), later)
      values = self._multiply(values)
    return values

  def _load_ahead(self, step: ir.Value, n: int) -> None:
    b, turn = self.code.b, self.stage_loads.take()
    is_left = b.icmp_signed("<", step, i64(self.plan.contraction.num_steps))
    with if_then(b, b.and_(self._is_first(), is_left)):
      with self.code.span("wait", "an empty stage"):
        self.stages.acquire(turn)
      with self.code.span("load", "start TMA copies"):
        self.load_stage(step, n, turn)
    threads.warp_barrier(b)  # matrices are read and multiplied by whole warps

  def _multiply(self, values: list[ir.Value]) -> list[ir.Value]:
    code, b, plan, turn = self.code, self.code.b, self.plan, self.read.take()
    left, right = plan.contraction.sides
    with code.span("wait", "a full stage"):
      self.stages.wait(turn)
    own = [_place(b, matrix, self.stages.side(i, turn)) for i, matrix in enumerate(plan.matrices)]
    kind, k_is_last = plan.contraction.kind, (left.k_is_last, right.k_is_last)
    with code.span("compute", "mma.sync", plan.contraction.dot.loc):
      values = mma_sync.step(b, kind, plan.distribution, code.thread, plan.depth, values, (own[0], own[1]), k_is_last)
    threads.warp_barrier(b)  # all lanes have read it
    with if_then(b, threads.is_first(b, code.thread, WARP)):
      mbarrier.arrive(b, self.stages.empty(turn.stage))
    return values


def _place(b: ir.IRBuilder, matrix: BoxedMatrix, start: ir.Value) -> Place:
  return lambda row, piece: b.add(start, offset(matrix, b, row, piece))
