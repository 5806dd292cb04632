"""Code generation for a kernel body on the GPU: all threads of a CTA run it together.

As on the CPU, a tile is computed when something needs its elements. A pass over a tile gives each thread its own vectors (`distribution`),
so a chain of elementwise ops is fused into one pass, in which each thread computes its own elements of the result.

A materialised tile is held in the threads' registers, in a layout, if it is small enough; otherwise in shared memory, or, where that is
full, in global memory that belongs to the CTA. A pass in another layout than that of an operand first makes a copy of the operand
(`prepare`): in registers, converted to the new layout (`relayout`), or in shared memory if any thread may access any element.

The layout is the inferred one (`inference`), or the `ordinary` one of its shape if nothing was inferred. Scalars, and with them all
control flow, are the same in all threads.

Threads wait for each other only where one needs what another wrote (`cta_memory`).
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir

from tilewright.layout.algebra import without_register_copies
from tilewright.layout.layout import LANES, Layout
from tilewright.layout.plan import relayout
from tilewright.layout.shared import shared_tiled
from tilewright.target.llvm import gather_scatter, operand_indices
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.arithmetic import cost as op_cost
from tilewright.target.llvm.arithmetic import rounded
from tilewright.target.llvm.control import tiles_from_outside
from tilewright.target.llvm.loops import Index
from tilewright.target.llvm.memory import Memory
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit import chain_code, views
from tilewright.target.nvgpu.emit.cta_memory import BlockDevice
from tilewright.target.nvgpu.emit.distribution import (
  Distribution,
  Held,
  distribute,
  ordinary,
)
from tilewright.target.nvgpu.emit.ops import arithmetic, recast
from tilewright.target.nvgpu.emit.ops.relayout import emit
from tilewright.target.nvgpu.emit.profiler import NO_SPAN, Profiler, lane_of, scopes_of
from tilewright.target.nvgpu.emit.raw_bits import as_bits, bits_at, integers
from tilewright.target.nvgpu.emit.register_tiles import RegisterRef, Registers, elements
from tilewright.target.nvgpu.emit.tile_loop import Passes
from tilewright.target.nvgpu.emit.units import cluster, ldmatrix
from tilewright.target.nvgpu.emit.units.threads import MAX_ACCUMULATORS, MAX_VALUE_REGISTERS
from tilewright.target.nvgpu.emit.units.tma import TensorMap
from tilewright.target.nvgpu.emit.views import View
from tilewright.target.nvgpu.host.profile import Mark
from tilewright.target.nvgpu.ir.ops import COPY_ASYNC
from tilewright.target.nvgpu.passes import elementwise_chains
from tilewright.target.nvgpu.passes.cooperation import Cooperation
from tilewright.target.nvgpu.passes.layouts.operand_layouts import operand_layout, uses_held_layout
from tilewright.target.nvgpu.passes.layouts.system import ELEMENTWISE
from tilewright.target.nvgpu.passes.loop_stages import StagedLoop
from tilewright.target.nvgpu.passes.memory import RefPlace
from tilewright.target.nvgpu.passes.memory import place as place_of
from tilewright.target.nvgpu.passes.warpgroup_effects import Roles
from tilewright.tile.ir import Block, Op, Value, walk
from tilewright.tile.types import RefType, TileType

if TYPE_CHECKING:
  from tilewright.target.nvgpu.passes.layouts.inference import Inferred

_WORTH_KEEPING = 6
MOVES = frozenset(operand_indices.MOVES) | {"recast"}  # ops that ask their operands for elements elsewhere


# Ops that take a tile in a form of their own: `rule(code, op, i)` makes it of operand i, and says whether it did.
AHEAD: dict[str, Callable[[Any, Op, int], bool]] = {}
# Ops that may read a tile from the memory it is loaded from: `rule(code, op, i)` says whether they do so with operand i.
IN_PLACE: dict[str, Callable[[Any, Op, int], bool]] = {}


class BlockCode(Passes):
  """The state of emitting the code of one CTA."""

  synchronizing_ops = Passes.synchronizing_ops | {COPY_ASYNC}

  def __init__(self, *args: Any):
    super().__init__(*args)
    self.layouts: dict[tuple[int, ...], Layout] = {}  # shapes for which another layout is the ordinary one
    self.inferred: Inferred | None = None
    self.chains = elementwise_chains.Chains()  # what is computed element by element
    self.direct: Set[Op] = frozenset()  # loads whose rows threads can copy as they are
    self.loops: Mapping[Op, StagedLoop] = {}  # whose products read stages
    self.streams: tuple[int, ...] = ()  # inputs, by position, that L2 keeps longest
    self._unfinished: dict[Value, Callable[[], None]] = {}
    self.copies: dict[Value, list[Any]] = {}  # of tiles in registers: in other layouts, or in memory
    self.contraction: Callable[[Registers], None] | None = None  # adds the product to an accumulator in registers
    self.in_stages: set[Value] = set()  # tiles that products read in place, in their stages
    self.has_copies = False  # whether threads issue cp.async that arrive at barriers
    self.roles: Roles | None = None  # how several warpgroups access shared memory
    self.cooperation: Cooperation | None = None  # of the CTAs of a cluster
    self.by_engine: set[Op] = set()  # copies (`copy_async`) by TMA
    self.by_threads: set[Op] = set()  # and those that could be, and are not where they are emitted another time
    # Fences that are emitted in case they are needed, and whether they are, of the copies that are TMA's
    self.fences: list[tuple[ir.Instruction, Callable[[Set[Op]], bool]]] = []
    self.tensor_map: Callable[[TensorMap], ir.Value] | None = None  # lets TMA know of an array
    self.awaited: set[Value] = set()  # barriers that some warpgroup waits for
    self.has_stores = False  # whether TMA writes to global memory
    self.sets_registers = False  # whether warpgroups exchange registers
    self.only_read: set[Any] = set()  # arrays (`views.Array`) that the kernel does not write
    self.only_copied: set[Any] = set()  # and those to which it only copies shared memory
    self.ways: dict[Op, str] = {}  # how products and copies are carried out
    self.profiler: Profiler | None = None
    self.has_stages = False  # whether copies may be in flight that the code here did not issue

  def stop(self) -> None:
    """These threads have failed, and end: where others may access their CTA's memory, when those do."""
    if self.cooperation is not None:
      cluster.barrier(self.b)
    self.b.ret_void()

  # --- values carried by control flow ----------------------------------------------------------------------------

  def new_slot(self, v: Value) -> Any:
    layout = None if v.tile.is_scalar else self.layout_of(v)
    return super().new_slot(v) if layout is None else self.new_registers(layout, v.tile.dtype)

  def write_slots(self, values: Sequence[Value], slots: Sequence[Any]) -> None:
    kept: list[Any] = []
    for v, slot in zip(values, slots):
      if v.tile.is_scalar:
        kept.append(self.scalar(v))
      elif self.env.get(v) is slot:
        kept.append(None)
      elif isinstance(slot, Registers):
        kept.append(self.vectors(v, slot.layout))
      else:
        self.materialise(v)
        kept.append(v)
    for n, (new, slot) in enumerate(zip(kept, slots)):
      if isinstance(new, Value):
        self.move_apart(new, slot, slots[:n])
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
    for v in list(self._unfinished):
      self._finish(v)
    for v in tiles_from_outside(op):
      if v not in self.env and (self.cost(v) > 2 or self.bases_read(v)):
        self.materialise(v)
      if isinstance(self.env.get(v), Registers):
        self._copy_ahead(v, op)

  def _copy_ahead(self, v: Value, op: Op) -> None:
    """Make the copies of a tile in registers that the blocks of an op will need, once and before them (hoisted)."""
    known = self.env[v]
    if self.inferred is None:
      if known.layout != without_register_copies(self._ordinary(v.tile.shape)) or not uses_held_layout(v, op):
        self.in_memory(v)
      return
    inside = {o for inner in op.blocks for o in walk(inner)}
    for user in (o for o in self.users.get(v, ()) if o in inside):
      for i in (i for i, operand in enumerate(user.operands) if operand is v):
        wanted = self.inferred_operand_layout(user, i)
        if user.name in AHEAD and AHEAD[user.name](self, user, i):
          continue
        if wanted is None:
          self.in_memory(v)
        else:
          self._relay(v, known, wanted)

  def block(self, block: Block) -> None:
    """The ops of a block. Copies that are made inside are gone at its end: it may not have run."""
    outer = {v: list(own) for v, own in self.copies.items()}
    self._ops(block)
    self.copies = outer

  def inner_block(self, block: Block, slots: Sequence[Any]) -> None:
    env, copies = dict(self.env), {v: list(own) for v, own in self.copies.items()}
    self._ops(block)
    self.write_slots(block.yielded, slots)
    self.env, self.copies = env, copies

  def _ops(self, block: Block) -> None:
    if self.profiler is None:
      super().block(block)
    else:
      with self.profiler.scopes():
        super().block(block)
    for v in list(self._unfinished):
      self._finish(v)

  # --- marks of the profiler -------------------------------------------------------------------------------------

  def span(self, lane: str, name: str, loc: str = "") -> contextlib.AbstractContextManager[None]:
    """What is emitted inside is a span of the kernel's profile, if there is one."""
    return NO_SPAN if self.profiler is None else self.profiler.span(Mark(lane, name, loc))

  def span_of(self, v: Value) -> contextlib.AbstractContextManager[None]:
    """A tile is computed, or loaded, and kept."""
    if self.profiler is None or not isinstance(v.owner, Op) or v.tile.is_scalar:
      return NO_SPAN
    source = self.env.get(v.owner.operands[0]) if v.owner.name in ("load", "window_load") else None
    return self.span("load" if getattr(source, "in_global", False) else "compute", v.owner.name, v.owner.loc)

  def statement(self, op: Op) -> None:
    if self.profiler is None:
      super().statement(op)
      return
    self.profiler.enter_scopes(scopes_of(op))
    lane = lane_of(self, op)
    with NO_SPAN if lane is None else self.span(lane, op.name, op.loc):
      super().statement(op)

  # --- passes over tiles -----------------------------------------------------------------------------------------

  def distribution(self, shape: Sequence[int]) -> Distribution:
    """The assignment of elements to threads in a pass over a shape: that of a tile in registers, if it could be one."""
    layout = None if 0 in shape else self._ordinary(tuple(shape))
    if layout is None or not self.fits(layout):
      return distribute(tuple(shape), self.lanes, self.num_threads)
    return Held(layout)

  def _ordinary(self, shape: tuple[int, ...]) -> Layout:
    return self.layouts.get(shape) or ordinary(shape, self.lanes, self.num_threads // LANES)

  def fits(self, layout: Layout) -> bool:
    """Whether a thread has enough registers for a layout; inferred layouts may take more than ordinary ones."""
    if self.inferred is not None:
      return self.inferred.fits(layout)
    if layout in self.layouts.values():
      return layout.num_registers <= MAX_ACCUMULATORS
    return layout.num_registers <= MAX_VALUE_REGISTERS

  def layout_of(self, v: Value) -> Layout | None:
    """The layout of a tile if it is kept in registers; None if it is too large for that, or has no elements."""
    known = self.env.get(v)
    if isinstance(known, Registers):
      return known.layout
    if 0 in v.tile.shape:
      return None
    layout = self.inferred.layouts.get(v) if self.inferred is not None else None
    if layout is None:
      layout = self._ordinary(v.tile.shape)
    return without_register_copies(layout) if self.fits(layout) else None

  def inferred_operand_layout(self, op: Op, i: int) -> Layout | None:
    """The layout in which an op takes an operand from registers; None if that is too large for them."""
    found = self.inferred.uses.get((op, i)) if self.inferred is not None else None
    if not isinstance(found, Layout):
      return self.layout_of(op.operands[i])
    return without_register_copies(found) if self.fits(found) else None

  def nest(
    self,
    shape: Sequence[int],
    body: Callable[[list[Index], int], None],
    reads: Sequence[Value] = (),
    writes: Memory | None = None,
    layout: Layout | None = None,
  ) -> None:
    """Call `body(index, lanes)` for the thread's vectors of a shape, in a layout if it is given."""
    if 0 in shape:
      return
    if layout is None and reads and reads[0].tile.shape == tuple(shape):
      layout = self.layout_of(reads[0])
    elif layout is not None and len(reads) == 1:
      layout = self._with_room(reads[0], layout)
    d = self.distribution(shape) if layout is None else Held(layout)
    if len(reads) == 1 and chain_code.is_looped(self, reads[0]):
      d = dataclasses.replace(distribute(tuple(shape), self.lanes, self.num_threads), unrolled=1)
    for v in reads:
      self.prepare(v, d.layout if isinstance(d, Held) and v.tile.shape == d.shape else None)
    found: set[Any] = set().union(*(self.bases_read(v) for v in reads))
    self.sync(found, set() if writes is None else {writes.base})
    self.each_step(d, lambda index, lanes, step: body(index, lanes))

  def values_of(self, v: Value, held: Held, otherwise: ir.Value) -> list[ir.Value]:
    """The thread's vectors of a tile in a layout, step by step; `otherwise` where it has none."""
    return self.each_vector(held, lambda index: self.value_at(v, index, held.lanes), otherwise)

  # --- tiles in registers, later -----------------------------------------------------------------------------------

  def later(self, v: Value, finish: Callable[[], None]) -> None:
    """Fill the registers of a tile at its first use, or before blocks that may use it."""
    self._unfinished[v] = finish

  def _finish(self, v: Value) -> None:
    if v in self._unfinished:
      self._unfinished.pop(v)()

  # --- tiles in registers, elsewhere -----------------------------------------------------------------------------

  def prepare(self, v: Value, layout: Layout | None) -> None:
    """Before a pass over a tile in a layout, or one that accesses arbitrary elements: make all elements available."""
    known = self.env.get(v)
    if isinstance(known, Registers):
      self._finish(v)
      if layout is None:
        self.in_memory(v)
      else:
        self._relay(v, known, layout)
      return
    op = v.owner
    if known is not None or not isinstance(op, Op):
      return
    if op.name in ("load", "window_load"):
      ref = self.env.get(op.operands[0])
      if layout is not None and op.name == "load" and ldmatrix.load_of(ref, layout) is not None:
        self.materialise(v)
        self.prepare(v, layout)
        return
      if isinstance(ref, RegisterRef):
        if layout != ref.registers.layout:
          self.materialise(v)
          self.prepare(v, layout)
        return
    if layout is not None and self._is_chosen(v, layout):
      self.materialise(v)
      self.prepare(v, layout)
      return
    if op.name in ("load", "window_load"):
      return
    is_transposed = op.name == "transpose" and op.attrs["permutation"][-1] != v.tile.rank - 1
    if is_transposed and (self.inferred is None or layout is None):
      self._stage(op.operands[0], operand_layout(op, 0, layout))
      return
    if v in self.chains.ops:
      for leaf in chain_code.leaves(self, v):
        self.prepare(leaf, layout)
      return
    for i, operand in enumerate(op.operands):
      if isinstance(operand.type, TileType) and not operand.type.is_scalar:
        self.prepare(operand, operand_layout(op, i, layout))

  def _is_chosen(self, v: Value, layout: Layout) -> bool:
    """Whether inference chose to compute a tile in another layout than the requested one, and to convert it."""
    if self.inferred is None or v in self.inferred.free or v not in self.inferred.layouts:
      return False
    return self.layout_of(v) not in (None, layout)

  def _relay(self, v: Value, known: Registers, layout: Layout) -> None:
    """Make a copy of a tile in another layout, if there is none."""
    for copy in (known, *self.copies.get(v, ())):
      if isinstance(copy, Registers) and copy.layout == layout:
        return
    plan = relayout(known.layout, layout, 8 * max(1, known.dtype.itemsize), self.arch.has_stmatrix)
    buffer = self.trip_buffer(plan.shared_bytes) if plan.shared_bytes else None
    if not self.fits(layout) or (plan.shared_bytes and buffer is None):
      self.in_memory(v)
      return
    copy = self.new_registers(layout, known.dtype)
    copy.set_elements(self.b, emit(plan, known.elements(self.b), BlockDevice(self, buffer)))
    self.copies.setdefault(v, []).append(copy)

  def _with_room(self, v: Value, layout: Layout) -> Layout:
    """The layout of a pass over a tile; the layout it is held in, if converting it needs shared memory and that is full."""
    held = self._held(v)
    if held is None or held.layout == layout or held.layout.shape != layout.shape:
      return layout
    dtype = v.tile.dtype if self._is_chosen(v, layout) else held.dtype
    plan = relayout(held.layout, layout, 8 * max(1, dtype.itemsize), self.arch.has_stmatrix)
    has_room = not plan.shared_bytes or self.trip_buffer(plan.shared_bytes) is not None
    return layout if has_room else held.layout

  def _held(self, v: Value) -> Registers | None:
    """The registers that an elementwise computation begins with."""
    known, op = self.env.get(v), v.owner
    if known is not None or not isinstance(op, Op):
      return known if isinstance(known, Registers) else None
    if op.name == "load":
      ref = self.env.get(op.operands[0])
      return ref.registers if isinstance(ref, RegisterRef) else None
    if op.name not in ELEMENTWISE:
      return None
    found = (self._held(o) for o in op.operands if o.tile.shape == v.tile.shape)
    return next((own for own in found if own is not None), None)

  def bits_of(self, v: Value, held: Held) -> list[ir.Value]:
    """The thread's vectors of a tile in a layout, step by step, as the integers that memory would hold."""
    self.prepare(v, held.layout)
    self.sync(self.bases_read(v), set())
    nothing = ir.Constant(integers(8 * v.tile.dtype.itemsize, held.lanes), ir.Undefined)
    return self.each_vector(held, lambda index: bits_at(self, v, index, held.lanes), nothing)

  def register_bits(self, v: Value, known: Any, index: Sequence[Index], lanes: int) -> ir.Value | None:
    """The elements of a tile, or of a ref it is loaded from, as bits, if this thread holds them."""
    kept = [known.registers] if isinstance(known, RegisterRef) else [known, *self.copies.get(v, ())]
    for copy in kept:
      if isinstance(copy, Registers):
        places = copy.held.find(index, lanes)
        if places is not None:
          return copy.bits_at(self.b, places)
    return None

  def elements_of(self, v: Value, layout: Layout) -> list[ir.Value]:
    """The registers of a tile in a layout, each the integer that memory would hold."""
    held = Held(layout)
    return elements(self.b, held, self.bits_of(v, held), 8 * v.tile.dtype.itemsize)

  def words_of(self, v: Value, layout: Layout) -> dict[int, ir.Value]:
    """The registers of a tile in a layout, packed in words of 32 bits, by the first register of each."""
    held, each = Held(layout), 4 // v.tile.dtype.itemsize
    assert held.lanes % each == 0, f"{layout} does not hold neighbours side by side"
    found = {}
    for group, vector in zip(held.groups, self.bits_of(v, held)):
      words = self.b.bitcast(vector, integers(32, held.lanes // each))
      for n, register in enumerate(group[::each]):
        found[register] = words if held.lanes == each else self.b.extract_element(words, I32(n))
    return found

  def _stage(self, v: Value, layout: Layout | None) -> None:
    """Before a tile is read across its rows: into shared memory, row by row, with rows an odd number of words apart."""
    if isinstance(self.env.get(v), Memory):
      return
    if isinstance(self.env.get(v), Registers) or not self.bases_read(v):
      self.prepare(v, layout)
      return
    *outer, last = v.tile.shape
    word = max(1, 4 // v.tile.dtype.itemsize)
    padded = self.allocate([*outer, last + word], v.tile.dtype)
    memory = dataclasses.replace(padded, align=word)
    self.fill(memory, v)
    self.env[v] = memory
    self.forget(v)

  def value_at(self, v: Value, index: Sequence[Index], lanes: int) -> ir.Value:
    known = self.env.get(v)
    if not isinstance(known, Registers):
      return super().value_at(v, index, lanes)
    assert v not in self._unfinished, f"{v} is asked for without notice"
    if lanes > 1 and all(i.step == 0 for i in index):
      return ty.splat(self.b, self.value_at(v, index, 1), lanes)
    copies = (known, *self.copies.get(v, ()))
    for copy in copies:
      if isinstance(copy, Registers):
        places = copy.held.find(index, lanes)
        if places is not None:
          return copy.at(self.b, places)
    for copy in copies:
      if isinstance(copy, Memory):
        return self.load(copy, index, lanes)
    raise AssertionError(f"{v} lies in registers and is asked for elsewhere")

  def bases_held(self, v: Value) -> set[Any]:
    if isinstance(self.env[v], Registers):
      return {copy.base for copy in self.copies.get(v, ()) if isinstance(copy, Memory)}
    return super().bases_held(v)

  def compute(self, op: Op, args: list[ir.Value]) -> ir.Value:
    return rounded(self.b, op, arithmetic.compute(self.b, op, args, self.arch))

  def _compute(self, v: Value, index: Sequence[Index], lanes: int) -> ir.Value:
    op = v.owner
    if v in self.chains.ops and v not in self.env:
      return chain_code.compute(self, v, index, lanes)
    if isinstance(op, Op) and op.name == "recast" and v not in self.env:
      found = recast.element(self, op, index, lanes)
      return self._lane_by_lane(v, index, lanes) if found is None else found
    return super()._compute(v, index, lanes)

  # --- keeping values --------------------------------------------------------------------------------------------

  def new_registers(self, layout: Layout, dtype: Any) -> Registers:
    held = Held(layout)
    with self.b.goto_entry_block():
      slots = [self.b.alloca(Registers.slot_type(dtype, held.lanes)) for _ in range(held.steps)]
    return Registers(held, np.dtype(dtype), slots)

  def memory_at(self, kind: RefType, own: RefPlace, base: Any = None) -> Any:
    """The memory of a ref that has a place: registers, shared memory laid out in some way, or a buffer. A `base` is that of its union."""
    if own.registers is not None:
      kept = self.new_registers(own.registers, kind.dtype)
      found = RegisterRef(None, kind.strides, kept.dtype, object(), registers=kept)
      self.unawaited.add(found.base)
      return found
    assert own.place is not None
    view = self.view_at(own.place, kind.shape, kind.dtype)
    base = view.base if base is None else base
    if own.tiled is not None:
      return View(view.pointer, view.strides, view.dtype, base, tiled=own.tiled, along=views.whole(own.tiled))
    if own.is_box:
      home = shared_tiled(kind.shape, None, 8 * kind.dtype.itemsize)
      return dataclasses.replace(view, base=base, home=home, along=views.whole(home))
    return dataclasses.replace(view, base=base)

  def allocate_ref(self, ref: Value) -> Any:
    """Memory for a ref that a body allocates."""
    return self.memory_at(ref.ref, place_of(self.given, self.inferred, ref, self.location))

  def materialise(self, v: Value) -> Any:
    known = self.env.get(v)
    if isinstance(known, Memory | Registers):
      return known
    layout = self.layout_of(v)
    kept: Any = (
      self.allocate(v.tile.shape, v.tile.dtype) if layout is None else self.new_registers(layout, v.tile.dtype)
    )
    with self.span_of(v):
      self.fill(kept, v)
    self.env[v] = kept
    self.forget(v)
    return kept

  def vectors(self, v: Value, layout: Layout) -> list[ir.Value]:
    """The thread's vectors of a tile in a layout, step by step, as slots keep them."""
    self._finish(v)
    known = self.env.get(v)
    if not isinstance(known, Registers) or known.layout != layout:
      known = self.new_registers(layout, v.tile.dtype)
      self.fill(known, v)
    return [known.get(self.b, step) for step in range(known.held.steps)]

  def kept_in_memory(self, v: Value) -> View | None:
    for place in (self.env.get(v), *self.copies.get(v, ())):
      if isinstance(place, Memory) and not isinstance(place, RegisterRef):
        return views.view_of(place)
    return None

  def in_memory(self, v: Value) -> View:
    """The tile in memory that all threads see."""
    self._finish(v)
    kept = self.kept_in_memory(v)
    if kept is not None:
      return kept
    known = self.env.get(v)
    memory = self.allocate(v.tile.shape, v.tile.dtype)
    if isinstance(known, Registers):
      self.sync(set(), {memory.base})
      self.each_step(known.held, lambda index, lanes, step: self.store(memory, index, known.vector(self.b, step)))
      self.copies.setdefault(v, []).append(memory)
    else:
      self.fill(memory, v)
      self.env[v] = memory
      self.forget(v)
    return memory

  def fill(self, memory: Any, v: Value, layout: Layout | None = None) -> None:
    """Write all elements of a tile to a place of the same shape, in a pass in a layout if it is given."""
    if isinstance(memory, RegisterRef):
      memory = memory.registers
    if ldmatrix.fill(self, memory, v, layout):
      return
    if isinstance(memory, Registers):
      self.prepare(v, memory.layout)
      self.sync(self.bases_read(v), set())
      self.each_step(
        memory.held,
        lambda index, lanes, step: (
          memory.set_bits(self.b, step, bits_at(self, v, index, lanes))
          if ty.is_half(memory.dtype)
          else memory.set(self.b, step, self.value_at(v, index, lanes))
        ),
        everywhere=True,
      )
      return
    bits = as_bits(memory) if isinstance(memory, View) and ty.is_half(memory.dtype) else None
    self.nest(
      v.tile.shape,
      lambda index, lanes: (
        self.store(memory, index, self.value_at(v, index, lanes))
        if bits is None
        else self.store(bits, index, bits_at(self, v, index, lanes))
      ),
      reads=[v],
      writes=memory,
      layout=layout,
    )

  # --- ops -------------------------------------------------------------------------------------------------------

  def _define(self, v: Value, op: Op, uses: int) -> None:
    if self.profiler is not None:
      self.profiler.enter_scopes(scopes_of(op))
    if v.tile.is_scalar:
      self.prepare(v, None)
      self.sync(self.bases_read(v), set())
      self.env[v] = self.value_at(v, [], 1)
    elif v in self.in_stages or v in self.chains.passing:
      return
    elif (
      uses - self._uses_in_memory(v) > 1 and op.name not in MOVES and self._is_worth_keeping(v)
    ) or self.ends_a_chain(v, op):
      self.materialise(v)

  def _uses_in_memory(self, v: Value) -> int:
    """How many uses read a tile where it is: gathers from memory, products of blocks in shared memory."""
    uses = [(user, i) for user in self.users.get(v, []) for i, operand in enumerate(user.operands) if operand is v]
    found = sum(user.name in IN_PLACE and IN_PLACE[user.name](self, user, i) for user, i in uses)
    if gather_scatter.memory_behind(self, v) is not None:
      found += sum(user.name == "gather" and i == 0 for user, i in uses)
    return found

  def _is_worth_keeping(self, v: Value) -> bool:
    """Whether computing the tile takes long, or reads global memory while keeping it takes registers only."""
    return self.cost(v) >= _WORTH_KEEPING or (bool(self.bases_read(v)) and self.layout_of(v) is not None)

  def cost(self, v: Value) -> int:
    op = v.owner
    if v in self.env or not isinstance(op, Op) or op.name in ("load", "window_load"):
      return 1
    if op.name in operand_indices.SOURCES or (op.name == "broadcast" and op.operands[0].tile.is_scalar):
      return 1
    return op_cost(op.name) + sum(self.cost(o) for o in op.operands if isinstance(o.type, TileType))
