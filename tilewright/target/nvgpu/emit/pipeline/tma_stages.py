"""Blocks of the steps of a sequential dimension that TMA copies (sm_90): see `sequential_grid`.

They are blocks that only products read: laid out as `wgmma` requires, or, where there is none, in the widest swizzle that a row allows,
for `ldmatrix`. One thread issues the copies of a stage, whose barrier counts their bytes, and all threads wait for it. A CTA barrier
before a stage is refilled ensures that it is no longer read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llvmlite import ir

from tilewright.layout.shared import SharedLayout, shared_for_matrix
from tilewright.target.llvm.loops import i64, if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.cta_memory import SHARED
from tilewright.target.nvgpu.emit.kernel_function import Frame
from tilewright.target.nvgpu.emit.pipeline import ring
from tilewright.target.nvgpu.emit.pipeline.staged_blocks import PaddedBlock, StagedBlock, SwizzledBlock, TiledBlock
from tilewright.target.nvgpu.emit.units import mbarrier, tma
from tilewright.target.nvgpu.emit.units.tma import TensorMap
from tilewright.target.nvgpu.emit.views import View
from tilewright.tile.grid import Squeezed
from tilewright.tile.native import NativeKernel

_BARRIER_BYTES = 8
_KINDS = {8: "u8", 16: "u16"}  # copies of bits
_SWIZZLES = (128, 64, 32)
_PIECE = 16  # bytes, of which rows in global memory are a multiple


def _box(kernel: NativeKernel, block: StagedBlock, arch: Arch) -> TensorMap | None:
  """The tensor map that copies a block into the layout that products require, if there is one: columns of a swizzle's
  bytes, each with all rows."""
  if not arch.has_tma or not isinstance(block, SwizzledBlock):
    return None
  layout, m = block.layout, kernel.mapping.block_mappings[block.position]
  swizzle, array = _swizzle(layout), m.array_aval
  if swizzle is None or len(array.shape) > tma.MAX_DIMS or array.shape[-1] * layout.bits // 8 % _PIECE:
    return None
  box = [d.block_size for d in m.block_shape[:-1]]
  row = max(d for d, dim in enumerate(m.block_shape[:-1]) if not isinstance(dim, Squeezed))
  box[row] = tma.most_rows(box[row])
  columns = swizzle * 8 // layout.bits
  number = kernel.mapping.num_prefetch + block.position
  return TensorMap(number, _KINDS[layout.bits], tuple(array.shape), tuple(box), row, columns, swizzle=swizzle)


def tiled(kernel: NativeKernel, arch: Arch, block: StagedBlock) -> TiledBlock | None:
  """A block that products of warps read, as TMA writes it, if it can and there are no other readers."""
  if arch.has_wgmma or not isinstance(block, PaddedBlock) or len(block.shape) != 2 or block.dtype.itemsize != 2:
    return None
  rows, columns = block.shape
  swizzle = next((n for n in _SWIZZLES if columns * 2 % n == 0), None)
  if swizzle is None or rows % 8:
    return None
  found = TiledBlock(block.position, shared_for_matrix((rows, columns), 16, swizzle), block.dtype)
  return found if _box(kernel, found, arch) is not None else None


def _swizzle(layout: SharedLayout) -> int | None:
  """The bytes of the swizzle of a matrix in a layout that TMA writes."""
  if len(layout.shape) != 2 or layout.bits not in _KINDS or layout.shape[0] % 8:
    return None
  fitting = (n for n in _SWIZZLES if layout.shape[1] * layout.bits // 8 % n == 0)
  return next((n for n in fitting if shared_for_matrix(layout.shape, layout.bits, n) == layout), None)


class StageLoads:
  """The stages of blocks that TMA copies, by the positions of the inputs. `start`: the address of their barriers (i32)."""

  def __init__(self, frame: Frame, code: BlockCode, maps: Mapping[int, TensorMap], stages: int, start: ir.Value):
    self.frame, self.code, self.maps, self.stages, self.start = frame, code, maps, stages, start
    with self._one_thread():
      for stage in range(stages):
        mbarrier.init(code.b, code.b.add(start, I32(stage * _BARRIER_BYTES)), 1)
      mbarrier.fence_init(code.b)
    code.barrier()

  @classmethod
  def of(
    cls, frame: Frame, code: BlockCode, changing: Sequence[StagedBlock], held: Sequence[StagedBlock], stages: int
  ) -> StageLoads | None:
    """The blocks among some that TMA copies; None if none of those changes from step to step, so that no step would wait."""
    found = ((block.position, _box(frame.kernel, block, code.arch)) for block in (*changing, *held))
    maps = {position: own for position, own in found if own is not None}
    if not any(block.position in maps for block in changing):
      return None
    barriers = code.own_buffer(_BARRIER_BYTES * stages)
    return None if barriers is None else cls(frame, code, maps, stages, address(code.b, barriers))

  def copies(self, block: StagedBlock) -> bool:
    return block.position in self.maps

  def _one_thread(self) -> Any:
    b = self.code.b
    return if_then(b, b.icmp_unsigned("==", self.code.thread, I32(0)))

  def _turn(self, step: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The barrier of a step, and the parity of its phase."""
    b = self.code.b
    turn = ring.nth(b, b.trunc(step, I32), self.stages)
    return b.add(self.start, b.mul(turn.stage, I32(_BARRIER_BYTES))), turn.parity

  def load_stage(self, step: ir.Value, blocks: Sequence[tuple[StagedBlock, ir.Value]]) -> None:
    """Issue the TMA copies among some blocks, at the current indices, to their addresses (i32), to arrive before a step."""
    own = [(block, to) for block, to in blocks if self.copies(block)]
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


def address(b: ir.IRBuilder, memory: View) -> ir.Value:
  """Of shared memory, as copies want it (i32)."""
  return b.ptrtoint(b.addrspacecast(memory.pointer, ir.PointerType(addrspace=SHARED)), I32)
