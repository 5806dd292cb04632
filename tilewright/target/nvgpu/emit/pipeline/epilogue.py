"""The epilogue code of warps that hold the accumulators of matrix products: values computed from those stay in the same lanes.

A lane holds pairs, eight columns apart. So that sixteen-bit results reach memory in sixteen bytes a lane, the four lanes of a row
exchange pairs before they are stored: lane q takes the q-th of four groups of eight columns.

    columns   0..7        8..15       16..23      24..31
    before    q0 q1 q2 q3 q0 q1 q2 q3 q0 q1 q2 q3 q0 q1 q2 q3
    after     q0          q1          q2          q3

Where TMA writes an output, each warpgroup assembles its rows in shared memory, reusing the stages of the operands.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Set
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.layout.access import best_access
from tilewright.layout.layout import Layout
from tilewright.layout.shared import shared_for_matrix
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index, i64, if_then
from tilewright.target.llvm.types import I16, I32, I64
from tilewright.target.nvgpu.emit import views
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.cta_memory import BlockDevice
from tilewright.target.nvgpu.emit.distribution import Held
from tilewright.target.nvgpu.emit.ops.relayout import store
from tilewright.target.nvgpu.emit.units import threads, tma
from tilewright.target.nvgpu.emit.units.mma_sync import MmaDistribution
from tilewright.target.nvgpu.emit.units.threads import GROUP
from tilewright.target.nvgpu.emit.units.tma import TensorMap
from tilewright.target.nvgpu.emit.units.wgmma import ROWS, WgmmaDistribution
from tilewright.target.nvgpu.emit.views import View
from tilewright.tile.ir import Op, Value

_GROUPS = 4  # of eight columns, that four lanes exchange


@dataclasses.dataclass(frozen=True)
class Output:
  """An output that TMA writes: its tensor map, the pointer to that, and where the block begins at the present step."""

  tensor_map: TensorMap
  pointer: ir.Value
  starts: Callable[[], list[Any]]


class FragmentCode(BlockCode):
  """As `BlockCode`, where tiles of one shape are laid out as accumulators of matrix products are; other warps compute `elsewhere`."""

  accumulators: MmaDistribution | WgmmaDistribution | None = None
  elsewhere: Set[Value] = frozenset()
  outputs: Mapping[Value, Output] = {}
  room: ir.Value | None = None  # shared memory (address space 3) that is free when outputs are written

  def _define(self, v: Value, op: Op, uses: int) -> None:
    if v not in self.elsewhere:
      super()._define(v, op, uses)

  def fill(self, memory: Any, v: Value, layout: Layout | None = None) -> None:
    output = next((own for ref, own in self.outputs.items() if self.env.get(ref) is memory), None)
    if output is not None and v.tile.shape in self.layouts:
      self._store_boxes(output, v)
      return
    is_sum = (
      self.accumulators is not None
      and v.tile.shape == self.accumulators.shape
      and self.accumulators.columns % _GROUPS == 0
    )
    if is_sum and isinstance(memory, View) and self._is_wide(memory):
      self._fill_rows(memory, v, Held(self.layouts[v.tile.shape]))
    else:
      super().fill(memory, v, layout)

  def _store_boxes(self, output: Output, v: Value) -> None:
    """Assemble a tile in shared memory, and issue the stores of its boxes: each warpgroup for its rows."""
    b, layout = self.b, self.layouts[v.tile.shape]
    shared = shared_for_matrix(v.tile.shape, 16, tma.SWIZZLE_BYTES)
    elements = self.elements_of(v, layout)
    self.barrier()  # the overwritten memory is no longer read
    way = best_access(layout, shared, self.arch.has_stmatrix, owners_only=True)
    store(layout, shared, way, elements, 16, _OutputBuffer(self, self.room))
    tma.fence_writes(b)
    group = b.udiv(self.thread, I32(GROUP))
    threads.barrier_of_group(b, group)
    with if_then(b, threads.is_first(b, self.thread, GROUP)):
      places = [b.trunc(i64(start), I32) for start in output.starts()]
      row = output.tensor_map.row
      places[row] = b.add(places[row], b.mul(group, I32(ROWS)))
      source = b.add(b.ptrtoint(self.room, I32), b.mul(group, I32(output.tensor_map.box_bytes)))
      for part in range(v.tile.shape[1] // output.tensor_map.box_columns):
        along = b.add(places[-1], I32(part * output.tensor_map.box_columns))
        column = b.add(source, I32(part * v.tile.shape[0] * tma.SWIZZLE_BYTES))
        tma.store(b, output.pointer, column, [*places[:-1], along])
      tma.wait_stores(b)

  def _is_wide(self, memory: View) -> bool:
    if memory.tiled is not None or memory.pointer is None:
      return False
    return memory.dtype.itemsize == 2 and memory.strides[-1] == 1 and memory.align % 8 == 0

  def _fill_rows(self, memory: View, v: Value, d: Held) -> None:
    b = self.b
    self.prepare(v, d.layout)
    self.sync(self.bases_read(v), {memory.base})
    bits = View(
      memory.pointer,
      memory.strides,
      np.dtype(np.uint16),
      memory.base,
      align=memory.align,
      edges=memory.edges,
      inside=memory.inside,
      anchor=memory.anchor,
    )
    with b.goto_entry_block():
      own = b.and_(self.thread, I32(_GROUPS - 1))
      further = b.zext(b.mul(own, I32(6)), I64)  # from the lane's pair to its eight columns
    words: dict[int, ir.Value] = {}

    def narrowed(index: list[Index], lanes: int, step: int) -> None:
      words[step] = b.bitcast(views.narrow(b, self.value_at(v, index, lanes), memory.dtype), I32)

    for first in range(0, d.steps, 2 * _GROUPS):
      for half in range(2):
        steps = [first + half + 2 * n for n in range(_GROUPS)]
        for step in steps:
          self._one_step(d, step, narrowed)
        row, column = self.index_of(d, steps[0])
        place = Index(b.add(column.base, further), 1, 8)
        whole = ty.joined(b, _exchanged(b, own, [words[step] for step in steps]))
        views.store(b, bits, [row, place], b.bitcast(whole, ir.VectorType(I16, 2 * _GROUPS)))


class _OutputBuffer(BlockDevice):
  """Shared memory in which an output is assembled; barriers are the caller's responsibility."""

  def __init__(self, code: FragmentCode, room: ir.Value | None):
    super().__init__(code, None)
    self.buffer = room

  def before_store(self) -> None:
    pass


def _exchanged(b: ir.IRBuilder, own: ir.Value, words: list[ir.Value]) -> list[ir.Value]:
  """Of four lanes with four words each, the n-th word of every lane for the n-th lane: a transpose in two rounds."""
  words = list(words)
  for distance in (1, 2):
    upper = b.icmp_unsigned("!=", b.and_(own, I32(distance)), I32(0))
    for low in (n for n in range(_GROUPS) if not n & distance):
      high = low + distance
      given = b.select(upper, words[low], words[high])
      got = threads.exchange(b, given, distance)
      words[low], words[high] = b.select(upper, got, words[low]), b.select(upper, words[high], got)
  return words
