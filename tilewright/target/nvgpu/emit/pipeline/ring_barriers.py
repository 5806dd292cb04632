"""Stages in shared memory that some threads fill with operands and others read, and the barriers of each (sm_90).

stage s:  full[s]   counts the bytes that arrive (the producer expects them), and the warps that have written their part
          empty[s]  counts its readers that are done: warpgroups, or warps
"""

from __future__ import annotations

from typing import Any, TypeAlias

from llvmlite import ir

from tilewright.target.llvm.loops import i64, if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit.pipeline import ring
from tilewright.target.nvgpu.emit.pipeline.ring import StageUse
from tilewright.target.nvgpu.emit.units import mbarrier, threads, tma
from tilewright.target.nvgpu.emit.units.threads import WARP
from tilewright.target.nvgpu.passes.matmul_plans import FedPlan
from tilewright.target.nvgpu.passes.staged_blocks import BOX_ALIGNMENT

Number: TypeAlias = ir.Value | StageUse  # of a use of a stage, from the first step on; or the use itself


class Stages:
  """The stages in shared memory, and the barriers of each. Addresses are i32."""

  def __init__(self, b: ir.IRBuilder, plan: FedPlan, shared: ir.Value):
    self.b, self.plan = b, plan
    self.start = b.and_(b.add(b.ptrtoint(shared, I32), I32(BOX_ALIGNMENT - 1)), I32(-BOX_ALIGNMENT))
    self.barriers = b.add(self.start, I32(plan.swizzled_bytes))
    self.blocks = b.add(self.barriers, I32(16 * plan.stages))  # the inputs of computed operands

  def full(self, stage: ir.Value | int) -> ir.Value:
    number = I32(stage) if isinstance(stage, int) else stage
    return self.b.add(self.barriers, self.b.mul(number, I32(8)))

  def empty(self, stage: ir.Value | int) -> ir.Value:
    return self.b.add(self.full(stage), I32(8 * self.plan.stages))

  def turn(self, number: Number) -> StageUse:
    return number if isinstance(number, StageUse) else ring.nth(self.b, number, self.plan.stages)

  def side(self, side: int, number: Number) -> ir.Value:
    """Where the left or the right operand lies."""
    start = self.b.add(self.start, self.b.mul(self.turn(number).stage, I32(self.plan.stage_bytes)))
    return self.b.add(start, I32(self.plan.side_bytes[0])) if side else start

  def init(self, is_first: ir.Value) -> None:
    with if_then(self.b, is_first):
      for s in range(self.plan.stages):
        mbarrier.init(self.b, self.full(s), self.plan.writers + (1 if self.plan.copied_bytes else 0))
        mbarrier.init(self.b, self.empty(s), self.plan.readers * self.plan.cluster.peers)
      mbarrier.fence_init(self.b)

  def acquire(self, number: Number) -> None:
    """Wait until the previous operands of a stage are no longer read."""
    turn = self.turn(number)
    mbarrier.wait(self.b, self.empty(turn.stage), self.b.xor(turn.parity, I32(1)))

  def computed(self, number: Number, thread: ir.Value) -> None:
    """The calling warp has written its part of a stage."""
    stage = self.turn(number).stage
    tma.fence_writes(self.b)
    threads.warp_barrier(self.b)
    with if_then(self.b, threads.is_first(self.b, thread, WARP)):
      mbarrier.arrive(self.b, self.full(stage))

  def wait(self, number: Number) -> None:
    """Wait until a stage's operands have arrived."""
    turn = self.turn(number)
    mbarrier.wait(self.b, self.full(turn.stage), turn.parity)


def copy(
  b: ir.IRBuilder,
  stages: Stages,
  number: Number,
  n: int,
  copies: list[tuple[int, ir.Value, list[Any]]],
  rank: ir.Value | None = None,
  is_own: bool = False,
) -> None:
  """Issue the copies of a stage's operands, the n-th of its step: their side, tensor map, and where the step's block begins.

  Of an operand that CTAs of a cluster share, the CTA of each rank issues its part of the rows, multicast to all of them. `is_own`: see
  `tma.copy`.
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
    rows, width = (side.shape[0], plan.depth) if side.k_is_last else (plan.depth, side.shape[1])
    sharers, blocks = plan.cluster.sharers[i], None
    down = rows // sharers // tensor_map.box[tensor_map.row]  # boxes, one below the other
    if sharers > 1:
      assert rank is not None
      own, blocks = plan.cluster.place(b, rank)[1 - i], plan.cluster.masks(b, rank)[i]
      place = b.add(place, b.mul(own, I32(down * tensor_map.box_bytes)))
      places[tensor_map.row] = b.add(places[tensor_map.row], b.mul(own, I32(rows // sharers)))
    for part in range(width // tensor_map.box_columns):
      along = b.add(places[-1], I32(part * tensor_map.box_columns))
      for below in range(down):
        to = b.add(place, I32((part * sharers * down + below) * tensor_map.box_bytes))
        row = b.add(places[tensor_map.row], I32(below * tensor_map.box[tensor_map.row]))
        at = [*places[: tensor_map.row], row, *places[tensor_map.row + 1 : -1], along]
        tma.copy(b, pointer, to, at, stages.full(stage), blocks, is_own)
