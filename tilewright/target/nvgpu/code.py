"""Code generation for a kernel body on the GPU: all threads of a block run it together.

As on the CPU, a tile is computed when something needs its elements. A loop over a tile is dealt out to the threads (`distribution`), so a
chain of elementwise ops becomes one pass in which each thread computes its own vectors. A tile that is kept lies in the threads' registers
if every use asks each thread for its own elements and it is small enough; otherwise in shared memory, or in global memory that belongs to
the block where that is full. Scalars, and with them all control flow, are the same in all threads.

Threads wait for each other only where one needs what another wrote. `sync` knows what was written and read since the last barrier.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright import errors
from tilewright.target.llvm import structure
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.arithmetic import cost as op_cost
from tilewright.target.llvm.arithmetic import rounded
from tilewright.target.llvm.code import Code, Memory, Statements
from tilewright.target.llvm.control import tiles_from_outside
from tilewright.target.llvm.loops import Index, for_range, i64, if_then, lane
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu import arithmetic, recast, threads, views
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.distribution import Distribution, distribute
from tilewright.target.nvgpu.partials import Partials
from tilewright.target.nvgpu.views import View
from tilewright.tile.ir import Op, Value
from tilewright.tile.types import TileType

SHARED = 3  # LLVM's address space
_UNROLLED = 16  # steps of a pass that are written out
_WORTH_KEEPING = 6
MOVES = frozenset(structure.MOVES) | {"recast"}  # ops that ask their operands for elements elsewhere


@dataclasses.dataclass(eq=False)
class Registers:
  """A tile in registers: for each step of its distribution, the thread's vector, in a stack slot that LLVM turns into registers."""

  distribution: Distribution
  dtype: np.dtype
  slots: list[ir.Value]
  base: Any = None  # no memory that others could see


@dataclasses.dataclass(eq=False)
class RegisterRef(View):
  """A ref whose memory is registers: only ever read and written as a whole."""

  registers: Any = None


@dataclasses.dataclass(frozen=True)
class Pass:
  """The step of a pass over a tile that is being emitted."""

  distribution: Distribution
  step: Any
  keys: tuple[Any, ...]


class BlockCode(Code):
  """The state of emitting the code of one block of threads."""

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
    self.scratch, self.scratch_bytes = scratch, 0
    self.allocated: list[tuple[str, int]] = []  # for the error that names the buffers
    self.thread = threads.thread_id(b)
    self.buffers = b  # where the addresses of buffers are computed: before everything that uses them
    self.is_alone = False  # whether what is emitted is for one thread only
    self.is_part = False  # whether other threads of the block do something else
    self.distributions: dict[tuple[int, ...], Any] = {}  # shapes that are dealt out in another way
    self.contraction: Callable[[Registers], None] | None = None  # adds the product to an accumulator in registers
    self.written: set[Any] = set()
    self.read: set[Any] = set()
    self.position: Pass | None = None
    self._indices: dict[Any, list[Index]] = {}

  # --- memory ----------------------------------------------------------------------------------------------------

  def allocate(self, shape: Sequence[int], dtype: Any) -> View:
    """A buffer of the block: in shared memory while there is room, else in global memory."""
    dtype = np.dtype(dtype)
    nbytes = -(-max(1, math.prod(shape)) * dtype.itemsize // 16) * 16
    self.allocated.append((self.location, nbytes))
    if self.arena_bytes + nbytes <= self.arch.shared_bytes - 1024:
      pointer = self.buffers.gep(self.arena, [i64(self.arena_bytes)], source_etype=ty.I8)
      self.arena_bytes += nbytes
    else:
      scratch = self.buffers.load(self.scratch, typ=ty.PTR)
      pointer = self.buffers.gep(scratch, [i64(self.scratch_bytes)], source_etype=ty.I8)
      self.scratch_bytes += nbytes
    strides = tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))
    return View(pointer, strides, dtype, object(), align=16)

  def load(self, memory: Memory, index: Sequence[Index], lanes: int) -> ir.Value:
    if isinstance(memory, RegisterRef):
      assert self.position is not None and self.position.distribution == memory.registers.distribution
      return self.b.load(memory.registers.slots[self.position.step], typ=ty.register_type(memory.dtype, lanes))
    if isinstance(memory, Partials):
      if lanes > 1 and any(i.step for i in index):
        parts = [memory.load(self.b, [lane(self.b, i, n) for i in index]) for n in range(lanes)]
        return _joined(self.b, parts)
      return ty.splat(self.b, memory.load(self.b, index), lanes)
    return views.load(self.b, views.view_of(memory), index, lanes)

  def store(self, memory: Memory, index: Sequence[Index], value: ir.Value) -> None:
    views.store(self.b, views.view_of(memory), index, value)

  def load_window(self, memory: Memory, index: Sequence[Index], shape: Sequence[int], lanes: int) -> ir.Value:
    return views.load(self.b, _with_edges(memory, shape), index, lanes)

  def store_window(self, memory: Memory, index: Sequence[Index], shape: Sequence[int], value: ir.Value) -> None:
    views.store(self.b, _with_edges(memory, shape), index, value)

  # --- waiting for each other ------------------------------------------------------------------------------------

  def sync(self, reads: set[Any], writes: set[Any]) -> None:
    """Wait, if what is read was written, or what is written was touched, since the last barrier."""
    if reads & self.written or writes & (self.written | self.read):
      self.barrier()
    self.read |= reads
    self.written |= writes

  def barrier(self) -> None:
    if self.is_part:
      threads.barrier_of(self.b, 1, self.num_threads)
    else:
      threads.barrier(self.b)
    self.written.clear()
    self.read.clear()

  @contextlib.contextmanager
  def alone(self) -> Iterator[None]:
    """What is emitted here runs in one thread, with loops over all elements: nothing is dealt out, and no one waits."""
    self.is_alone = True
    try:
      yield
    finally:
      self.is_alone = False

  def settle_memory(self) -> None:
    """Before and after a loop's body, where what comes before depends on the iteration."""
    if self.written or self.read:
      self.barrier()

  # --- values carried by control flow ----------------------------------------------------------------------------

  def new_slot(self, tile: TileType) -> Any:
    if not tile.is_scalar and self.distribution(tile.shape).fits_registers:
      return self.new_registers(tile.shape, tile.dtype)
    return super().new_slot(tile)

  def write_slots(self, values: Sequence[Value], slots: Sequence[Any]) -> None:
    kept: list[Any] = []
    for v, slot in zip(values, slots):
      if v.tile.is_scalar:
        kept.append(self.scalar(v))
      elif self.env.get(v) is slot:
        kept.append(None)
      elif isinstance(slot, Registers):
        self.prepare(v, slot.distribution.shape)
        kept.append(self.vectors(v))
      else:
        self.materialise(v)
        kept.append(v)
    for slot, new in zip(slots, kept):
      if isinstance(new, list):
        for value, target in zip(new, slot.slots):
          self.b.store(value, target)
      elif isinstance(new, Value):
        self.fill(slot, new)
      elif new is not None:
        self.b.store(new, slot)

  def settle(self, op: Op) -> None:
    """Compute the tiles that blocks use before the blocks: inside, they would be computed in every iteration."""
    for v in tiles_from_outside(op):
      if v not in self.env and (self.cost(v) > 2 or self.bases_read(v)):
        self.materialise(v)
      if isinstance(self.env.get(v), Registers):
        self.in_memory(v)  # a block may ask for it elsewhere, and must find it where it was before

  # --- passes over tiles -----------------------------------------------------------------------------------------

  def distribution(self, shape: Sequence[int]) -> Any:
    """How a tile of a shape is dealt out to the threads."""
    if tuple(shape) in self.distributions:
      return self.distributions[tuple(shape)]
    return distribute(tuple(shape), self.lanes, self.num_threads)

  def nest(
    self,
    shape: Sequence[int],
    body: Callable[[list[Index], int], None],
    reads: Sequence[Value] = (),
    writes: Memory | None = None,
  ) -> None:
    """Call `body(index, lanes)` for the thread's vectors of a shape."""
    if 0 in shape:
      return
    if self.is_alone:
      super().nest(shape, body, reads)
      return
    for v in reads:
      self.prepare(v, tuple(shape))
    found: set[Any] = set().union(*(self.bases_read(v) for v in reads))
    self.sync(found, set() if writes is None else {writes.base})
    self.each_step(self.distribution(shape), lambda index, lanes, step: body(index, lanes))

  def each_step(self, d: Distribution, body: Callable[[list[Index], int, Any], None]) -> None:
    """Call `body(index, lanes, step)` for each step of a distribution in which this thread has a vector."""
    if d.steps > _UNROLLED and not d.fits_registers:
      with for_range(self.b, 0, d.steps) as i, self.scope():
        self._one_step(d, self.b.trunc(i, I32), body)
      return
    for step in range(d.steps):
      with self.scope():
        self._one_step(d, step, body)

  def _one_step(self, d: Distribution, step: Any, body: Callable[[list[Index], int, Any], None]) -> None:
    b = self.b
    index = self._index(d, step)
    outer, self.position = self.position, Pass(d, step, tuple(i.key for i in index))
    last = isinstance(step, int) and d.threads * (step + 1) <= d.vectors
    if d.is_even or last:
      body(index, d.lanes, step)
    else:
      number = b.add(self.thread, b.mul(I32(step) if isinstance(step, int) else step, I32(d.threads)))
      with if_then(b, b.icmp_unsigned("<", number, I32(d.vectors))):
        body(index, d.lanes, step)
    self.position = outer

  def _index(self, d: Distribution, step: Any) -> list[Index]:
    """The thread's elements in a step: computed once for each distribution, at the start of the kernel."""
    if not isinstance(step, int):
      return d.index(self.b, self.thread, step)
    if (d, step) not in self._indices:
      with self.b.goto_entry_block():
        self._indices[d, step] = d.index(self.b, self.thread, step)
    return self._indices[d, step]

  def prepare(self, v: Value, shape: tuple[int, ...] | None) -> None:
    """Before a pass over `shape`: what lies in registers must be asked for by its own thread, else it moves to shared memory."""
    known = self.env.get(v)
    if isinstance(known, Registers):
      if shape is None or known.distribution.shape != shape:
        self._demote(v, known)
      return
    op = v.owner
    if known is not None or not isinstance(op, Op):
      return
    if op.name in ("load", "window_load"):
      if isinstance(self.env.get(op.operands[0]), RegisterRef) and shape != v.tile.shape:
        self.in_memory(v)
      return
    moves = op.name in MOVES
    if op.name == "transpose" and op.attrs["permutation"][-1] != v.tile.rank - 1:
      self._stage(op.operands[0])
      return
    for operand in op.operands:
      if isinstance(operand.type, TileType) and not operand.type.is_scalar:
        self.prepare(operand, None if moves else shape)

  def _stage(self, v: Value) -> None:
    """Before a tile is read across its rows: into shared memory, row by row, with rows an odd number of words apart."""
    if isinstance(self.env.get(v), Memory) or not self.bases_read(v):
      return
    *outer, last = v.tile.shape
    word = max(1, 4 // v.tile.dtype.itemsize)
    padded = self.allocate([*outer, last + word], v.tile.dtype)
    memory = dataclasses.replace(padded, align=word)
    self.fill(memory, v)
    self.env[v] = memory
    self.forget(v)

  def _demote(self, v: Value, known: Registers) -> None:
    memory = self.allocate(v.tile.shape, v.tile.dtype)
    self.sync(set(), {memory.base})
    d = known.distribution
    self.each_step(
      d, lambda index, lanes, step: self.store(memory, index, self.b.load(known.slots[step], typ=self._vector(d, v)))
    )
    self.env[v] = memory

  def _vector(self, d: Distribution, v: Value) -> ir.Type:
    return ty.register_type(v.tile.dtype, d.lanes)

  def value_at(self, v: Value, index: Sequence[Index], lanes: int) -> ir.Value:
    known = self.env.get(v)
    if isinstance(known, Registers):
      at = self.position
      assert at is not None and at.distribution == known.distribution, "a tile in registers is asked for elsewhere"
      assert at.keys == tuple(i.key for i in index)
      return self.b.load(known.slots[at.step], typ=self._vector(known.distribution, v))
    return super().value_at(v, index, lanes)

  def compute(self, op: Op, args: list[ir.Value]) -> ir.Value:
    return rounded(self.b, op, arithmetic.compute(self.b, op, args, self.arch))

  def _compute(self, v: Value, index: Sequence[Index], lanes: int) -> ir.Value:
    op = v.owner
    if isinstance(op, Op) and op.name == "recast" and v not in self.env:
      found = recast.element(self, op, index, lanes)
      return self._lane_by_lane(v, index, lanes) if found is None else found
    return super()._compute(v, index, lanes)

  # --- keeping values --------------------------------------------------------------------------------------------

  def new_registers(self, shape: Sequence[int], dtype: Any) -> Registers:
    d = self.distribution(shape)
    with self.b.goto_entry_block():
      slots = [self.b.alloca(ty.register_type(dtype, d.lanes)) for _ in range(d.steps)]
    return Registers(d, np.dtype(dtype), slots)

  def materialise(self, v: Value) -> Any:
    known = self.env.get(v)
    if isinstance(known, Memory | Registers):
      return known
    fits = self.distribution(v.tile.shape).fits_registers
    kept: Any = (self.new_registers if fits else self.allocate)(v.tile.shape, v.tile.dtype)
    self.fill(kept, v)
    self.env[v] = kept
    self.forget(v)
    return kept

  def vectors(self, v: Value) -> list[ir.Value]:
    """The thread's vectors of a tile, step by step."""
    known = self.env.get(v)
    if not isinstance(known, Registers):
      known = self.new_registers(v.tile.shape, v.tile.dtype)
      self.fill(known, v)
    return [self.b.load(slot, typ=self._vector(known.distribution, v)) for slot in known.slots]

  def in_memory(self, v: Value) -> View:
    """The tile in memory that all threads see."""
    known = self.env.get(v)
    if isinstance(known, Memory) and not isinstance(known, Partials):
      return views.view_of(known)
    if isinstance(known, Registers):
      self._demote(v, known)
    else:
      memory = self.allocate(v.tile.shape, v.tile.dtype)
      self.fill(memory, v)
      self.env[v] = memory
      self.forget(v)
    return views.view_of(self.env[v])

  def fill(self, memory: Any, v: Value) -> None:
    """Write all elements of a tile to a place of the same shape."""
    if self.is_alone:
      super().fill(memory, v)
      return
    if isinstance(memory, RegisterRef):
      memory = memory.registers
    if isinstance(memory, Registers):
      self.prepare(v, memory.distribution.shape)
      self.sync(self.bases_read(v), set())
      self.each_step(
        memory.distribution,
        lambda index, lanes, step: self.b.store(self.value_at(v, index, lanes), memory.slots[step]),
      )
      return
    self.nest(
      v.tile.shape,
      lambda index, lanes: self.store(memory, index, self.value_at(v, index, lanes)),
      reads=[v],
      writes=memory,
    )

  # --- ops -------------------------------------------------------------------------------------------------------

  def _define(self, v: Value, op: Op, uses: int) -> None:
    if v.tile.is_scalar:
      self.prepare(v, None)
      self.sync(self.bases_read(v), set())
      self.env[v] = self.value_at(v, [], 1)
    elif uses > 1 and op.name not in MOVES and (self.cost(v) >= _WORTH_KEEPING or self._is_far(v)):
      self.materialise(v)

  def _is_far(self, v: Value) -> bool:
    """Whether computing the tile reads global memory, and keeping it takes registers only."""
    return bool(self.bases_read(v)) and self.distribution(v.tile.shape).fits_registers

  def cost(self, v: Value) -> int:
    op = v.owner
    if v in self.env or not isinstance(op, Op) or op.name in ("load", "window_load"):
      return 1
    if op.name in structure.SOURCES or (op.name == "broadcast" and op.operands[0].tile.is_scalar):
      return 1
    return op_cost(op.name) + sum(self.cost(o) for o in op.operands if isinstance(o.type, TileType))


def _with_edges(memory: Memory, shape: Sequence[int]) -> View:
  """A view of which accesses may lie outside."""
  view = views.view_of(memory)
  own = view.edges or (None,) * len(shape)
  if any(e is not None for e in own):
    # The window lies inside of the block as well as of the array.
    raise errors.NativeCodeError(
      "The GPU target does not compile a window into a block that hangs over the edge of its array yet. Use interpret=True."
    )
  edges = tuple(views.Edge(0, 1, d) for d in shape)
  return dataclasses.replace(view, edges=edges, anchor=view.anchor if view.anchor is not None else view.pointer)


def _joined(b: ir.IRBuilder, parts: list[ir.Value]) -> ir.Value:
  result = ir.Constant(ir.VectorType(parts[0].type, len(parts)), ir.Undefined)
  for n, part in enumerate(parts):
    result = b.insert_element(result, part, I32(n))
  return result
