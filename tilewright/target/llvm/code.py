"""Code generation for a kernel body: tiles become loops of vector code.

A tile value is not computed when it is defined but when something needs its elements: `value_at(v, index, lanes)` emits code for the
elements at an index, following operands as far as memory. So a chain of elementwise ops, broadcasts and transposes is fused into one loop
nest around its last op, a store, with no temporary. A value gets a buffer (is *materialised*) where that would be wrong or slow:

- a reduction, contraction or concatenation, which needs its operands many times;
- an expensive value with several users;
- a value read from memory that is overwritten before the last use.

Scalars are computed where they are defined.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright import errors
from tilewright.target.llvm import arithmetic, locations, operand_indices
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import ZERO, Index, for_range, lane
from tilewright.target.llvm.memory import Accesses, Memory
from tilewright.tile.dead_code import base_of
from tilewright.tile.ir import Block, Op, Value, walk
from tilewright.tile.ops import OPS, surely_written
from tilewright.tile.types import RefType, TileType

Statements = Mapping[str, Callable[[Any, Op], None]]


@dataclasses.dataclass(frozen=True)
class Position:
  """Where in the grid an instance is: i32 values for `program_id` and `num_programs`."""

  indices: tuple[ir.Value, ...]
  sizes: tuple[ir.Value, ...]


class Code(Accesses):
  """The state of emitting one function. Targets decide where values are kept; `statements` are the ops emitted in program order."""

  target = ""  # the name that errors give it
  synchronizing_ops = frozenset({"arrive", "await", "meet"})  # ops between which others may write

  def __init__(self, b: ir.IRBuilder, lanes: int, arena: ir.Value, statements: Statements):
    super().__init__(b, arena)
    self.lanes = lanes  # elements of 32 bits in a vector
    self.statements = statements
    self.instance: Position | None = None
    self.error: Any = None  # where an instance that fails leaves its message
    self.env: dict[Value, Any] = {}  # an llvm scalar, a Memory, or absent: to be computed from its op
    self.memo: list[dict[Any, ir.Value]] = [{}]
    self.waiting: dict[Value, int] = {}  # how many ops in a row are to be computed with a value
    self.users: dict[Value, list[Op]] = {}
    self.epilogues: dict[Op, Op] = {}  # a store that carries out the contraction it stores, panel by panel
    self.kept_by_reduction: set[Value] = set()
    self.deferred: set[Value] = set()  # what lies between the two: computed by the store
    self.whole: Block | None = None  # the kernel's body
    self.current = Block([], [])  # the block being emitted
    self.location = ""  # the user's line
    self.keeps_locations = locations.wanted()

  # --- elements --------------------------------------------------------------------------------------------------

  def value_at(self, v: Value, index: Sequence[Index], lanes: int) -> ir.Value:
    """The elements of a tile at an index: one, or `lanes` of them as a vector."""
    known = self.env.get(v)
    if isinstance(known, ir.Value):
      return ty.splat(self.b, known, lanes)
    if lanes > 1 and all(i.step == 0 for i in index):
      return ty.splat(self.b, self.value_at(v, index, 1), lanes)
    place = tuple(i.key for i in index)
    known = self._remembered(v, lanes, place)
    if known is None:
      for at in (*self._chain_to(v), v):
        known = self._remembered(at, lanes, place)
        if known is None:
          with self.marked(at.owner):
            known = self.memo[-1][at, lanes, place] = self._compute(at, index, lanes)
    return known

  def _remembered(self, v: Value, lanes: int, place: tuple[Any, ...]) -> ir.Value | None:
    return next((scope[v, lanes, place] for scope in reversed(self.memo) if (v, lanes, place) in scope), None)

  def _compute(self, v: Value, index: Sequence[Index], lanes: int) -> ir.Value:
    known = self.env.get(v)
    if isinstance(known, Memory):
      return self.load(known, index, lanes)
    op = v.owner
    assert isinstance(op, Op), f"{v} has no value"
    if op.name == "load":
      return self.load(self.accessed(op), index, lanes)
    if op.name in operand_indices.SOURCES:
      return operand_indices.SOURCES[op.name](self, op, index, lanes)
    operands = operand_indices.operand_indices(self, op, index, lanes)
    if operands is None:  # the lanes do not stay a fixed step apart
      return self._lane_by_lane(v, index, lanes)
    args = [self.value_at(operand, i, lanes) for operand, i in operands]
    return args[0] if op.name in operand_indices.MOVES else self.compute(op, args)

  def marked(self, owner: Op | Block | None) -> contextlib.AbstractContextManager[None]:
    """Let the instructions that are emitted inside say that they come from the line of an op."""
    if self.keeps_locations and isinstance(owner, Op):
      return locations.at(self.b, owner.loc)
    return _UNMARKED

  def _chain_to(self, v: Value) -> list[Value]:
    """What a long chain of elementwise ops computes on the way to a tile, in order: recursion need not follow all of it."""
    if v in self.env or self.waiting.get(v, 0) < _DEEP:
      return []
    found: dict[Value, None] = {}
    left = [v]
    while left:
      op = left[-1].owner
      inner: list[Value] = []
      if isinstance(op, Op) and op.name in arithmetic.ELEMENTWISE:
        inner = [o for o in op.operands if o in self.waiting and o not in found and o not in self.env]
      if inner:
        left += reversed(inner)
      else:
        found[left.pop()] = None
    del found[v]
    return list(found)

  def compute(self, op: Op, args: list[ir.Value]) -> ir.Value:
    """An elementwise op on the elements of its operands. f16 and bf16 are rounded after each, as XLA does."""
    return arithmetic.rounded(self.b, op, arithmetic.compute(self.b, op, args))

  def _lane_by_lane(self, v: Value, index: Sequence[Index], lanes: int) -> ir.Value:
    result = ir.Constant(ty.register_type(v.tile.dtype, lanes), ir.Undefined)
    for number in range(lanes):
      element = self.value_at(v, [lane(self.b, i, number) for i in index], 1)
      result = self.b.insert_element(result, element, ty.I32(number))
    return result

  # --- memory ----------------------------------------------------------------------------------------------------

  def kept_in_memory(self, v: Value) -> Memory | None:
    """The memory in which a tile is kept, if it is."""
    known = self.env.get(v)
    return known if isinstance(known, Memory) else None

  def memory_of(self, ref: Value) -> Memory:
    known = self.env[ref]
    assert isinstance(known, Memory)
    return known

  def accessed(self, op: Op) -> Memory:
    """The memory that a load or store is to, with what the kernel says of it."""
    return self.memory_of(op.operands[0])

  # --- loops -----------------------------------------------------------------------------------------------------

  def scope(self) -> Any:
    code = self

    class Scope:
      """Values computed inside are forgotten at the end: they do not dominate what follows."""

      def __enter__(self) -> None:
        code.memo.append({})

      def __exit__(self, *_: Any) -> None:
        code.memo.pop()

    return Scope()

  def nest(self, shape: Sequence[int], body: Callable[[list[Index], int], None], reads: Sequence[Value] = ()) -> None:
    """Call `body(index, lanes)` for all elements of a shape: loops outside, vectors along the innermost long dimension.

    What `reads` need that does not change along the vector dimension is computed before its loop.
    """
    if 0 in shape:
      return
    axis = max((a for a, d in enumerate(shape) if d > 1), default=None)
    if axis is None:
      with self.scope():
        body([ZERO] * len(shape), 1)
      return
    self._loops(shape, axis, 0, [], body, reads)

  def _loops(self, shape: Any, axis: int, at: int, index: list[Index], body: Any, reads: Sequence[Value]) -> None:
    if at == axis:
      rest = [ZERO] * (len(shape) - axis - 1)
      with self.scope():
        self._hoist(reads, index, axis, rest)
        self._vector_loop(shape[axis], lambda i, lanes: body([*index, i, *rest], lanes))
      return
    if shape[at] == 1:
      self._loops(shape, axis, at + 1, [*index, ZERO], body, reads)
      return
    with for_range(self.b, 0, shape[at]) as i, self.scope():
      self._loops(shape, axis, at + 1, [*index, Index(i)], body, reads)

  def _vector_loop(self, size: int, body: Callable[[Index, int], None]) -> None:
    lanes = self.lanes
    whole = size // lanes * lanes
    if whole == lanes:
      with self.scope():
        body(Index(0, 1, lanes), lanes)
    elif whole:
      with for_range(self.b, 0, whole, lanes) as i, self.scope():
        body(Index(i, 1, lanes), lanes)
    left = size - whole
    if left:
      with self.scope():
        body(Index(whole, 1 if left > 1 else 0, lanes), left)

  def _hoist(self, reads: Sequence[Value], index: list[Index], axis: int, rest: list[Index]) -> None:
    """Compute, before a vector loop, the scalars that its body needs in every iteration."""
    marker = Index(_INNER, 1)
    seen: set[Any] = set()
    for v in reads:
      for at in (*self._chain_to(v), v):
        self._hoist_value(at, [*index, marker, *rest], seen)

  def _hoist_value(self, v: Value, index: Sequence[Index], seen: set[Any]) -> None:
    key = (v, tuple(i.key for i in index))
    if key in seen or isinstance(self.env.get(v), ir.Value):
      return
    seen.add(key)
    if all(i.step == 0 for i in index):
      self.value_at(v, index, 1)
      return
    op = v.owner
    if v in self.env or not isinstance(op, Op) or op.name == "load":
      return
    if op.name in operand_indices.SOURCES:
      for operand, i in operand_indices.HOISTABLE[op.name](op, index) if op.name in operand_indices.HOISTABLE else ():
        self._hoist_value(operand, i, seen)
      return
    for operand, i in operand_indices.operand_indices(self, op, index, 1) or ():
      self._hoist_value(operand, i, seen)

  # --- keeping values --------------------------------------------------------------------------------------------

  def materialise(self, v: Value) -> Memory:
    """Give a tile a buffer and fill it."""
    known = self.env.get(v)
    if isinstance(known, Memory):
      return known
    assert isinstance(v.type, TileType)
    memory = self.allocate(v.type.shape, v.type.dtype)
    self.fill(memory, v)
    self.env[v] = memory
    self.forget(v)
    return memory

  def move_apart(self, v: Value, slot: Any, earlier: Sequence[Any]) -> None:
    """Copy a tile that is to replace `slot` if it lies in memory that changes before: in one of the `earlier` slots, or in this one."""
    known = self.env.get(v)
    if not isinstance(known, Memory) or known is slot:
      return
    changed = [s.base for s in (*earlier, slot) if isinstance(s, Memory)]
    if any(known.base is base for base in changed):
      assert isinstance(v.type, TileType)
      memory = self.allocate(v.type.shape, v.type.dtype)
      self.fill(memory, v)
      self.env[v] = memory
      self.forget(v)

  def fill(self, memory: Memory, v: Value) -> None:
    """Write all elements of a tile to a view of the same shape."""
    assert isinstance(v.type, TileType)
    self.nest(v.type.shape, lambda index, lanes: self.store(memory, index, self.value_at(v, index, lanes)), reads=[v])

  def forget(self, v: Value) -> None:
    for scope in self.memo:
      for key in [k for k in scope if k[0] is v]:
        del scope[key]

  def scalar(self, v: Value) -> ir.Value:
    """The value of a scalar tile."""
    return self.value_at(v, [], 1)

  def scalar_index(self, v: Value) -> ir.Value:
    """A scalar integer as i64."""
    value = self.scalar(v)
    dtype = v.tile.dtype
    return arithmetic.convert(self.b, value, dtype, np.dtype(np.int64))

  # --- values carried by control flow, see `control` --------------------------------------------------------------

  def new_slot(self, v: Value) -> Any:
    """Where a carried value lives: a stack slot for a scalar, a buffer for a tile."""
    tile = v.tile
    if not tile.is_scalar:
      return self.allocate(tile.shape, tile.dtype)
    with self.b.goto_entry_block():
      return self.b.alloca(ty.register_type(tile.dtype))

  def read_slots(self, values: Sequence[Value], slots: Sequence[Any]) -> None:
    for v, slot in zip(values, slots):
      self.env[v] = self.b.load(slot, typ=ty.register_type(v.tile.dtype)) if v.tile.is_scalar else slot

  def write_slots(self, values: Sequence[Value], slots: Sequence[Any]) -> None:
    """Replace the carried values, all at once: each is computed before any is overwritten."""
    raise NotImplementedError

  def inner_block(self, block: Block, slots: Sequence[Any]) -> None:
    """A block that may run several times, or not at all, and what it yields. Values computed inside are not visible outside."""
    outer = dict(self.env)
    self.block(block)
    self.write_slots(block.yielded, slots)
    self.env = outer

  def settle(self, op: Op) -> None:
    """Called before blocks that may run several times, or not at all."""

  def settle_memory(self) -> None:
    """Called where what has been read and written depends on the way taken."""

  # --- dependence ------------------------------------------------------------------------------------------------

  def base_of(self, ref: Value) -> Any:
    """What memory a ref is part of; a view that is yet to be emitted is followed to what it is a view of."""
    while ref not in self.env:
      op = ref.owner
      if not isinstance(op, Op) or op.name == "alloc":
        return ref
      ref = op.operands[0]
    return self.memory_of(ref).base

  def bases_read(self, v: Value) -> set[Any]:
    """The memory that computing a tile would read now."""
    found: set[Any] = set()
    waiting, seen = [v], {v}
    while waiting:
      at = waiting.pop()
      op = at.owner
      if at in self.env:
        found |= self.bases_held(at)
      elif isinstance(op, Op):
        found |= {self.base_of(operand) for operand in op.operands if isinstance(operand.type, RefType)}
        tiles = [o for o in op.operands if isinstance(o.type, TileType) and o not in seen]
        waiting += tiles
        seen.update(tiles)
    return found

  def bases_held(self, v: Value) -> set[Any]:
    """The memory that a tile is kept in."""
    known = self.env[v]
    return {known.base} if isinstance(known, Memory) else set()

  def bases_written(self, op: Op) -> set[Any]:
    """The memory that an op, with what is nested in it, may change."""
    found: set[Any] = set()
    for o in [op, *(o for inner in op.blocks for o in walk(inner))]:
      found |= {self.base_of(ref) for ref in surely_written(o)}
      if o.name in self.synchronizing_ops:
        found |= self._bases_exchanged()
    return found

  def _bases_exchanged(self) -> set[Any]:
    """The memory that warpgroups which run side by side may change for each other: where any of them writes, if all have it."""
    assert self.whole is not None
    written = {base_of(ref) for o in walk(self.whole) for ref in surely_written(o)}
    return {self.base_of(ref) for ref in written if isinstance(ref.owner, Block)}

  def is_constant(self, base: Any) -> bool:
    """Whether the kernel surely does not write some memory."""
    return self.whole is not None and not any(base in self.bases_written(op) for op in self.whole.ops)

  def before_write(self, bases: set[Any], later: Sequence[Value]) -> None:
    """Keep what later ops need of memory that is about to change."""
    for v in later:
      if v not in self.env and self.bases_read(v) & bases:
        self.materialise(v)

  # --- ops -------------------------------------------------------------------------------------------------------

  def block(self, block: Block) -> None:
    """Emit the ops of a block, in order."""
    outer, self.current = self.current, block
    mark = self.b.debug_metadata
    counts: dict[Value, int] = {}
    for op in walk(block):
      for operand in op.operands:
        counts[operand] = counts.get(operand, 0) + 1
    pending: list[Value] = []  # tiles defined here, not computed yet, with uses to come
    left = {v: n for v, n in counts.items()}
    self.plan(block)

    for op in block.ops:
      self.location = op.loc
      if self.keeps_locations:
        self.b.debug_metadata = op.loc or self.b.debug_metadata
      inside = [op, *(o for inner in op.blocks for o in walk(inner))]
      for o in inside:
        for operand in o.operands:
          left[operand] -= 1
      writes = self.bases_written(op)
      if writes:
        self.before_write(writes, [v for v in pending if left.get(v, 0) > 0 or (op.blocks and _used_in(v, op))])
      if op.name == "yield" or op.name in self.statements:
        self.before_statement(op)
      if op.name == "yield":
        continue
      if op.name in self.statements:
        self.statement(op)
      elif op.name not in ("load", "window_load") and not OPS[op.name].is_pure:
        raise errors.NativeCodeError(
          f"The {self.target} target does not compile '{op.name}' yet, at {op.loc}. Use interpret=True."
        )
      for result in op.results:
        if isinstance(result.type, TileType) and result not in self.env:
          self._define(result, op, counts.get(result, 0))
          if result not in self.env:
            pending.append(result)
    self.current, self.b.debug_metadata = outer, mark

  def plan(self, block: Block) -> None:
    """Called before the ops of a block: decide which of its tiles are kept."""

  def before_statement(self, op: Op) -> None:
    """Called before an op that is emitted in program order."""

  def statement(self, op: Op) -> None:
    """Emit an op that has a rule in `statements`."""
    self.statements[op.name](self, op)

  def _define(self, v: Value, op: Op, uses: int) -> None:
    raise NotImplementedError

  def ends_a_chain(self, v: Value, op: Op) -> bool:
    """Whether so many ops in a row are to be computed with this one that following them all would be a deep recursion."""
    self.waiting[v] = 1 + max((self.waiting.get(o, 0) for o in op.operands if o not in self.env), default=0)
    return self.waiting[v] >= _MAX_CHAIN

  def cost(self, v: Value) -> int:
    """About how many instructions an element takes to compute now."""
    raise NotImplementedError


def _used_in(v: Value, op: Op) -> bool:
  return any(v in o.operands for inner in op.blocks for o in walk(inner))


_MAX_CHAIN = 64  # ops
_DEEP = 32  # ops in a row, from which on elements are computed without recursion
_UNMARKED: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
_INNER = ir.Constant(ty.I64, ir.Undefined)  # stands for the index of a vector loop that is not open yet
