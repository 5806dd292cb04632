"""The loop over the grid points of one CTA: the current indices, and the L2 hints for its blocks of data.

A CTA has one index along each parallel dimension, computed from its number; the other dimensions are loops. Several
warpgroups of a CTA run the same instance, each with its own control flow, and synchronise before the next.
"""

from __future__ import annotations

from typing import Any

from tilewright.target.llvm.loops import for_range, i64, if_then
from tilewright.target.llvm.types import I8, I32, I64
from tilewright.target.nvgpu.emit import blocks
from tilewright.target.nvgpu.emit.by_hand import warpgroup_barriers, warpgroup_semaphores
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.kernel_function import Frame
from tilewright.target.nvgpu.emit.ops import peers
from tilewright.target.nvgpu.emit.pipeline import sequential_grid
from tilewright.target.nvgpu.emit.units import l2, threads
from tilewright.target.nvgpu.passes import l2_hints


class _Grid:
  """Instances of a kernel, of which a CTA runs those of one point of the parallel dimensions."""

  def __init__(self, frame: Frame, code: BlockCode, memory: list[Any]):
    self.frame, self.code, self.parallel, self.memory = frame, code, frame.lowered.parallel, memory

  def _set_indices(self, number: Any) -> None:
    """Set the indices to a point of the parallel dimensions."""
    b, sizes, grid = self.frame.b, self.frame.sizes, self.frame.mapping.grid
    for d in reversed(self.parallel):
      # Of the first nothing is left over; one that is always zero is known to be.
      self.frame.indices[d] = number if d == self.parallel[0] and grid[d] != 1 else b.urem(number, sizes[d])
      number = b.udiv(number, sizes[d])

  def _run_sequential(self, dims: list[int]) -> None:
    """The instances along the dimensions that are not parallel, one after another."""
    self.own_dims = [d for d in dims if d >= self.frame.mapping.num_vmapped]
    self.is_batched = self.own_dims != dims
    self._run_along(dims)

  def _run_along(self, dims: list[int]) -> None:
    if self.is_batched and dims == self.own_dims:
      blocks.restart(self.code, self.frame.kernel, self.memory)
    if not dims:
      self._run_here()
      return
    self.code.settle_memory()
    with for_range(self.frame.b, 0, self.frame.sizes[dims[0]]) as i, self.code.scope():
      self.frame.indices[dims[0]] = i
      self._run_along(dims[1:])
      self.code.settle_memory()

  def _run_here(self) -> None:
    self.frame.instance(self.code, self.memory, self.frame.lowered.bodies[0])


class Points(_Grid):
  """The points of a grid by number, with their L2 prefetches and eviction hints."""

  def __init__(self, frame: Frame, code: BlockCode):
    known = peers.scratch(code, frame.kernel) if isinstance(code, peers.PeerCode) else {}
    super().__init__(frame, code, frame.memory(code, known))

  def run(self, number: Any) -> None:
    """One point, with all of the other dimensions."""
    self._set_indices(number)
    self.frame.begin_steps(self.code)
    if self.frame.lowered.steps is not None:
      sequential_grid.run(self.frame, self.code, self.frame.lowered.steps, self.memory)
    else:
      self._run_sequential([d for d in range(len(self.frame.sizes)) if d not in self.parallel])

  def prefetch_ahead(self, number: Any) -> None:
    """Prefetch the blocks of later instances to L2."""
    b, code = self.frame.b, self.code
    for piece in self.frame.lowered.ahead:
      running = b.mul(l2.num_processors(b), I32(self.frame.lowered.resident))
      later = b.add(number, b.zext(b.lshr(b.mul(running, I32(piece.quarters)), I32(2)), I64))
      first = threads.is_first(b, code.thread)
      exists = b.icmp_unsigned("<", later, i64(l2_hints.num_instances(self.frame.kernel)))
      is_new = b.icmp_unsigned("==", b.urem(later, i64(piece.period)), i64(0))
      with if_then(b, b.and_(b.and_(first, exists), is_new)), code.scope():
        self._set_indices(later)
        pointer = self.frame.view(code, piece.position, None).pointer
        l2.prefetch(b, pointer, piece.nbytes, code.read_policy)

  def release_lines(self, number: Any) -> None:
    """Release the last blocks of streamed and prefetched arrays, so that they do not stay in L2 permanently."""
    b, code, kernel = self.frame.b, self.code, self.frame.kernel
    passing = {n: l2_hints.streamed(kernel, n) for n in self.frame.lowered.streams}
    if not passing:
      return
    count = l2_hints.num_last(kernel, sum(block.count * block.nbytes for block in passing.values()))
    released = {
      piece.position: l2_hints.BlockSegments(1, piece.nbytes, piece.nbytes) for piece in self.frame.lowered.ahead
    }
    is_last = b.icmp_unsigned(">=", number, i64(l2_hints.num_instances(kernel) - count))
    with if_then(b, is_last), code.scope():
      for turn in range(l2_hints.TURNS):
        self._set_indices(b.sub(number, i64(turn * count)))
        for position, block in {**passing, **released}.items():
          self._release_block(self.frame.view(code, position, None).pointer, block)

  def _release_block(self, pointer: Any, block: l2_hints.BlockSegments) -> None:
    """All lines of a block, a thread one of them at a time."""
    b, code = self.frame.b, self.code
    nbytes = block.count * block.nbytes
    for start in range(0, nbytes, code.num_threads * l2.LINE):
      offset = b.add(b.mul(b.zext(code.thread, I64), i64(l2.LINE)), i64(start))
      with if_then(b, b.icmp_unsigned("<", offset, i64(nbytes))):
        if block.count > 1:
          piece, inside = b.udiv(offset, i64(block.nbytes)), b.urem(offset, i64(block.nbytes))
          offset = b.add(b.mul(piece, i64(block.pitch)), inside)
        l2.release_lines(b, b.gep(pointer, [offset], source_etype=I8))


class Meetings(_Grid):
  """The points of a grid whose last dimension is that of several warpgroups, which synchronise before each instance."""

  def __init__(self, frame: Frame, code: BlockCode):
    super().__init__(frame, code, blocks.shared_scratch(code, frame.kernel, frame.lowered.scratch))
    shared = warpgroup_barriers.Barriers, warpgroup_semaphores.SharedSemaphores
    self.barriers = [own for own in self.memory if isinstance(own, shared)]

  def run(self, number: Any) -> None:
    """One point, with all of the other dimensions."""
    self._set_indices(number)
    if self.code.groups > 1:
      self.frame.indices[self._own] = self.frame.b.zext(self.code.group, I64)
    self._run_sequential([d for d in range(self._own) if d not in self.parallel])

  @property
  def _own(self) -> int:
    """How many dimensions there are besides that of several warpgroups."""
    return len(self.frame.sizes) - (self.code.groups > 1)

  def _run_here(self) -> None:
    if len(self.parallel) < self._own:  # instances follow each other
      warpgroup_barriers.meet(self.code, self.barriers, in_cluster=self.code.cooperation is not None)
    else:
      warpgroup_barriers.begin(self.code, has_barriers=bool(self.barriers))
    super()._run_here()
