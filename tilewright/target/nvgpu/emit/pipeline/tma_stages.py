"""Blocks of the steps of a sequential dimension that TMA copies (sm_90): see `sequential_grid`.

They are blocks that only products read: laid out as `wgmma` requires, or, where there is none, in the widest swizzle that a row allows,
for `ldmatrix`. One thread issues the copies of a stage, whose barrier counts their bytes, and all threads wait for it. A CTA barrier
before a stage is refilled ensures that it is no longer read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llvmlite import ir

from tilewright.target.llvm.loops import i64, if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.kernel_function import Frame
from tilewright.target.nvgpu.emit.pipeline import ring
from tilewright.target.nvgpu.emit.units import mbarrier, shared_memory, threads, tma
from tilewright.target.nvgpu.emit.units.tma import TensorMap
from tilewright.target.nvgpu.passes.staged_blocks import StagedBlock

_BARRIER_BYTES = 8


class StageLoads:
  """The stages of blocks that TMA copies, by the positions of the inputs."""

  def __init__(self, frame: Frame, code: BlockCode, maps: Mapping[int, TensorMap], stages: int):
    self.frame, self.code, self.maps, self.stages = frame, code, maps, stages
    barriers = code.own_buffer(_BARRIER_BYTES * stages)
    assert barriers is not None, "see passes.stage: stages leave a part of shared memory"
    start = self.start = shared_memory.address(code.b, barriers.pointer)
    with self._one_thread():
      for stage in range(stages):
        mbarrier.init(code.b, code.b.add(start, I32(stage * _BARRIER_BYTES)), 1)
      mbarrier.fence_init(code.b)
    code.barrier()

  def _one_thread(self) -> Any:
    b = self.code.b
    return if_then(b, threads.is_first(b, self.code.thread))

  def _turn(self, step: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The barrier of a step, and the parity of its phase."""
    b = self.code.b
    turn = ring.nth(b, b.trunc(step, I32), self.stages)
    return b.add(self.start, b.mul(turn.stage, I32(_BARRIER_BYTES))), turn.parity

  def load_stage(self, step: ir.Value, blocks: Sequence[tuple[StagedBlock, ir.Value]]) -> None:
    """Issue the TMA copies among some blocks, at the current indices, to their addresses (i32), to arrive before a step."""
    own = [(block, to) for block, to in blocks if block.position in self.maps]
    with self._one_thread(), self.code.scope():
      barrier, _ = self._turn(step)
      mbarrier.expect(self.code.b, barrier, sum(block.nbytes for block, _ in own))
      for block, to in own:
        self._copy(block, to, barrier)

  def _copy(self, block: StagedBlock, to: ir.Value, barrier: ir.Value) -> None:
    b, own = self.code.b, self.maps[block.position]
    pointer, starts = self.frame.tensor_map(own), self.frame.starts(self.code, block.position)
    places = [b.trunc(i64(start), I32) for start in starts]
    rows = own.box[own.row]
    for number in range(block.nbytes // own.box_bytes):
      part, below = divmod(number, block.rows // rows)
      at = list(places)
      at[own.row], at[-1] = b.add(at[own.row], I32(below * rows)), b.add(at[-1], I32(part * own.box_columns))
      there = b.add(to, I32(number * own.box_bytes))
      tma.copy(b, pointer, there, at, barrier, is_own=self.code.arch.has_own_copies)

  def wait(self, step: ir.Value) -> None:
    """Wait until the blocks of a step have arrived."""
    mbarrier.wait(self.code.b, *self._turn(step))
