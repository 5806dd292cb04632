"""The memory of a CTA: its buffers, in shared memory while there is room, and the barriers between its threads.

A barrier is emitted only for a dependence between threads. `sync` tracks the writes and reads since the last barrier. If all earlier writes
to a memory went to parts disjoint from the next one (`writing`), no barrier is needed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.layout.layout import LANES
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.code import Code, Statements
from tilewright.target.llvm.loops import Index, i64
from tilewright.target.llvm.memory import Memory
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.emit import views
from tilewright.target.nvgpu.emit.ops import cache_modifiers
from tilewright.target.nvgpu.emit.ops.relayout import Device
from tilewright.target.nvgpu.emit.register_tiles import RegisterRef
from tilewright.target.nvgpu.emit.symbolic import Number, value_of
from tilewright.target.nvgpu.emit.units import l2, shared_memory, threads
from tilewright.target.nvgpu.emit.views import View
from tilewright.target.nvgpu.passes.memory import Arena, Place
from tilewright.tile.boxes import are_apart
from tilewright.tile.ir import Op, Value


class BlockMemory(Code):
  """Code of one CTA, with the memory they share."""

  target = "GPU"

  def __init__(
    self,
    b: ir.IRBuilder,
    arch: Arch,
    num_threads: int,
    lanes: int,
    shared: ir.Value,
    scratch: ir.Value,
    statements: Statements,
  ):
    super().__init__(b, lanes, shared, statements)
    self.arch, self.num_threads = arch, num_threads
    self.scratch = scratch
    self.grid_memory: ir.Value | None = None  # where the memory that all CTAs share begins
    self.given = Arena(arch)  # what is given out of shared memory, and of the CTA's part of global memory
    self.steps_ahead = 1  # how many steps' blocks have a place in shared memory
    self.thread = threads.thread_id(b)
    self.buffers = b  # where the addresses of buffers are computed: before everything that uses them
    self.is_part = False  # whether other threads of the CTA run different code
    self.groups = 1  # warpgroups that each run the body
    self.is_by_hand = False  # whether the kernel has explicit copies and waits: see `divide`
    self.group: Any = None  # which of several this is
    self.written: set[Any] = set()
    self.read: set[Any] = set()
    # Memory whose reads need no barrier after them: registers, and memory that these threads read or write, but not both
    # (`warpgroup_effects`).
    self.unawaited: set[Any] = set()
    self.busy: list[View] = []  # of the following: those that hold operands until their product is done
    self._trips: list[tuple[View, int, int]] = []  # buffers for relayouts, their sizes and what they are aligned to
    # The parts of a memory written since the last barrier, where known.
    self._parts: dict[Any, tuple[Value, ...]] = {}

  def divide(self, groups: int) -> None:
    """Let each warpgroup run the body independently: from here on, the threads are those of one."""
    b, every = self.b, self.thread
    self.groups, self.is_by_hand = groups, True
    self.given = Arena(self.arch, groups, is_by_hand=True)
    if groups == 1:
      self.group = I32(0)
      return
    self.group = threads.from_lane(b, b.udiv(every, I32(threads.GROUP)), I32(0))
    self.thread = b.urem(every, I32(threads.GROUP))

  # --- memory ----------------------------------------------------------------------------------------------------

  @property
  def free_bytes(self) -> int:
    """The bytes of shared memory that are still unallocated."""
    return self.given.free_bytes

  def room_for(self, nbytes: int) -> int:
    """How many bytes buffers take that together have so many: each warpgroup has its own."""
    return self.given.room_for(nbytes)

  def view_at(self, place: Place, shape: Sequence[int], dtype: Any) -> View:
    """A buffer that has a place, row by row."""
    b, start = self.buffers, self.arena
    if place.in_global:
      start = b.load(self.grid_memory if place.of_grid else self.scratch, typ=ty.PTR)
    pointer = b.gep(start, [i64(place.offset)], source_etype=ty.I8)
    if place.apart:
      pointer = b.gep(pointer, [b.mul(b.zext(self.group, ty.I64), i64(place.apart))], source_etype=ty.I8)
    strides = tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))
    return View(pointer, strides, np.dtype(dtype), object(), align=16)

  def allocate(self, shape: Sequence[int], dtype: Any, is_shared: bool = False) -> View:
    """A buffer of the CTA: in shared memory while there is room, else in global memory, unless the user requires it to be `is_shared`."""
    return self.view_at(self.given.take(shape, dtype, is_shared, location=self.location), shape, dtype)

  def trip_buffer(self, nbytes: int, align: int = 128) -> View | None:
    """A temporary buffer in shared memory, disjoint from those that are busy; None if there is no room."""
    for buffer, size, own in self._trips:
      if size >= nbytes and own % align == 0 and buffer not in self.busy:
        return buffer
    made = self.own_buffer(nbytes, align)
    if made is not None:
      self._trips.append((made, nbytes, align))
    return made

  def own_buffer(self, nbytes: int, align: int = 128, name: str = "") -> View | None:
    """A buffer in shared memory, aligned at least to a row of its banks; None if there is no room."""
    place = self.given.take_own(nbytes, align, name, self.location)
    return None if place is None else self.view_at(place, (place.nbytes,), np.uint8)

  def load(self, memory: Memory, index: Sequence[Index], lanes: int) -> ir.Value:
    if isinstance(memory, RegisterRef):
      places = memory.registers.held.find(index, lanes)
      assert places is not None, "a ref in registers is asked for elsewhere"
      return memory.registers.at(self.b, places)
    return views.load(self.b, views.view_of(memory), index, lanes)

  def store(self, memory: Memory, index: Sequence[Index], value: ir.Value) -> None:
    views.store(self.b, views.view_of(memory), index, value)

  def accessed(self, op: Op) -> Memory:
    memory = self.memory_of(op.operands[0])
    hint = cache_modifiers.words(op.attrs.get("cache", ""), self.arch.ptx)
    if not hint or not isinstance(memory, View) or not memory.in_global:
      return memory
    return dataclasses.replace(memory, cache=hint)

  def load_element(self, memory: Memory, pointer: ir.Value) -> ir.Value:
    return views.load_vector(self.b, views.view_of(memory), pointer, 1, 1)

  def load_window(self, memory: Memory, index: Sequence[Index], shape: Sequence[int], lanes: int) -> ir.Value:
    return views.load(self.b, views.with_edges(views.view_of(memory), shape), index, lanes)

  def store_window(self, memory: Memory, index: Sequence[Index], shape: Sequence[int], value: ir.Value) -> None:
    views.store(self.b, views.with_edges(views.view_of(memory), shape), index, value)

  @functools.cached_property
  def read_policy(self) -> ir.Value:
    """How L2 treats arrays that are read once."""
    with self.b.goto_entry_block():
      return l2.keep_longest(self.b)

  # --- waiting for each other ------------------------------------------------------------------------------------

  def sync(self, reads: set[Any], writes: set[Any]) -> None:
    """Emit a barrier if memory to be read was written, or memory to be written was accessed, since the last barrier."""
    if reads & self.written or writes & (self.written | self.read):
      self.barrier()
    self.read |= reads - self.unawaited
    self.written |= writes
    for base in writes:
      self._parts.pop(base, None)

  @contextlib.contextmanager
  def writing(self, base: Any, ref: Value) -> Iterator[None]:
    """Around a pass that writes a ref, which lies in a memory that the pass does not read."""
    before = self._parts.get(base, ())
    if before and base not in self.read and all(are_apart(ref, part) for part in before):
      self.written.discard(base)
    elif base in self.written | self.read:
      self.barrier()
      before = ()
    yield
    if before:
      self.written.add(base)
    if base in self.written:
      self._parts[base] = (*before, ref)

  def barrier(self) -> None:
    if self.groups > 1:
      threads.barrier_of_group(self.b, self.group)
    elif self.is_part:
      threads.barrier_of(self.b, 1, self.num_threads)
    else:
      threads.barrier(self.b)
    self.forget_accesses()

  def forget_accesses(self) -> None:
    """A barrier was emitted: no accesses are outstanding."""
    self.written.clear()
    self.read.clear()
    self._parts.clear()

  def settle_memory(self) -> None:
    """Before and after a loop's body, where what comes before depends on the iteration."""
    if self.written or self.read:
      self.barrier()


class BlockDevice(Device):
  """The hardware that a relayout runs on, with barriers only where they are needed."""

  def __init__(self, code: BlockMemory, buffer: View | None):
    b, thread = code.b, Number(code.b, code.thread, code.num_threads)
    lane, warp = (
      Number(b, value_of(b, n), most)
      for n, most in ((thread % LANES, LANES), (thread // LANES, code.num_threads // LANES))
    )
    pointer = None if buffer is None else code.b.addrspacecast(buffer.pointer, shared_memory.POINTER)
    super().__init__(code.b, lane, warp, pointer)
    self.code, self.base = code, None if buffer is None else buffer.base

  def before_store(self) -> None:
    self.code.sync(set(), {self.base})

  def before_load(self) -> None:
    self.code.sync({self.base}, set())
