"""The state of emitting a function for the CPU: `target.llvm.code`, specialised for a processor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from tilewright.target.cpu import polling
from tilewright.target.cpu.hosts import Host
from tilewright.target.cpu.passes import BufferPass, passes_of
from tilewright.target.llvm import arithmetic
from tilewright.target.llvm.code import Code, Statements
from tilewright.target.llvm.control import tiles_from_outside
from tilewright.target.llvm.loops import Index
from tilewright.target.llvm.memory import Memory
from tilewright.tile.ir import Block, Op, Value
from tilewright.tile.ops import OPS, READ
from tilewright.tile.types import TileType

_WORTH_KEEPING = 12
_MAX_CHAIN = 512  # elementwise ops that are computed together
_RECURSION = 8  # what an op counts for whose operands' elements are found by recursion
_VIEWS = frozenset({"subview", "reshape_ref", "transpose_ref", "bitcast_ref", "alloc"})


class HostCode(Code):
  """Code that one thread runs; loops cover whole tiles, and a tile that is materialised has a buffer."""

  target = "CPU"

  def __init__(self, b: ir.IRBuilder, host: Host, arena: ir.Value, statements: Statements):
    super().__init__(b, host.lanes, arena, statements)
    self.host = host
    self.passes: dict[Value, BufferPass] = {}  # the tiles to materialise, with the pass that fills their buffers
    self.keeping: list[Value] = []  # those defined since the last statement
    self.polls: list[tuple[Any, str]] = []  # the loops around this place that read semaphores: state and kind
    self.polling: Any = polling.AloneInItsThread()

  # --- keeping values --------------------------------------------------------------------------------------------

  def plan(self, block: Block) -> None:
    self.passes |= passes_of(block, self.users, _WORTH_KEEPING)

  def before_statement(self, op: Op) -> None:
    if op.name not in _VIEWS:
      self._fill_buffers()

  def _fill_buffers(self) -> None:
    """Compute the tiles to materialise, those of one pass together."""
    together: dict[BufferPass, list[Value]] = {}
    for v in self.keeping:
      if v not in self.env and v not in self.deferred:
        together.setdefault(self.passes[v], []).append(v)
    self.keeping.clear()
    for filling, values in together.items():
      memories = [self.allocate(filling.shape, v.tile.dtype) for v in values]

      def each(index: list[Index], lanes: int) -> None:
        for v, memory in zip(values, memories):
          self.store(memory, index, self.value_at(v, index, lanes))

      self.nest(filling.shape, each, reads=values)
      for v, memory in zip(values, memories):
        self.env[v] = memory
        self.forget(v)

  def _define(self, v: Value, op: Op, uses: int) -> None:
    if v.tile.is_scalar:
      self.env[v] = self.value_at(v, [], 1)
      return
    if v in self.deferred:
      return
    ends = self.ends_a_chain(v, op)
    if v in self.passes and not self._is_kept_by_reduction(v, op):
      self.keeping.append(v)
    if ends:
      self._fill_buffers()
      self.materialise(v)

  def ends_a_chain(self, v: Value, op: Op) -> bool:
    weight = 1 if op.name in arithmetic.ELEMENTWISE else _RECURSION
    self.waiting[v] = weight + max((self.waiting.get(o, 0) for o in op.operands if o not in self.env), default=0)
    return self.waiting[v] >= _MAX_CHAIN

  def _is_kept_by_reduction(self, v: Value, op: Op) -> bool:
    """Whether the first use of a tile is a reduction: computing, storing and reducing are then fused into one pass."""
    first, ops = next(iter(self.users.get(v, ())), op), self.current.ops
    if first.name != "reduce" or first not in ops:
      return False
    between = ops[ops.index(op) + 1 : ops.index(first)]
    if any(o.blocks or OPS[o.name].effects - {READ} for o in between):
      return False
    self.kept_by_reduction.add(v)
    return True

  def cost(self, v: Value) -> int:
    total, left = 0, [v]
    while left and total < _WORTH_KEEPING:
      at = left.pop()
      op = at.owner
      if at in self.env or not isinstance(op, Op) or op.name == "load":
        total += 1
      else:
        total += arithmetic.cost(op.name)
        left += [o for o in op.operands if isinstance(o.type, TileType)]
    return total

  # --- values carried by control flow ----------------------------------------------------------------------------

  def settle(self, op: Op) -> None:
    """Compute the tiles that blocks use before the blocks: inside, they would be computed in every iteration."""
    for v in tiles_from_outside(op):
      if v not in self.env and self.cost(v) > 2:
        self.materialise(v)

  def write_slots(self, values: Sequence[Value], slots: Sequence[Any]) -> None:
    scalars = [self.scalar(v) if not isinstance(slot, Memory) else None for v, slot in zip(values, slots)]
    bases = {slot.base for slot in slots if isinstance(slot, Memory)}
    for v, slot in zip(values, slots):
      if not isinstance(slot, Memory) or self.env.get(v) is slot:
        continue
      others = bases - {slot.base}
      if self.bases_read(v) & others or not self._is_elementwise_of(v, slot):
        self.materialise(v)
    for n, (v, slot) in enumerate(zip(values, slots)):
      self.move_apart(v, slot, slots[:n])
    for v, slot, scalar in zip(values, slots, scalars):
      if scalar is not None:
        self.b.store(scalar, slot)
      elif self.env.get(v) is not slot:
        self.fill(slot, v)

  def _is_elementwise_of(self, v: Value, slot: Memory) -> bool:
    """Whether computing `v` reads the slot only at the element that is computed."""
    left, seen = [v], {v}
    while left:
      at = left.pop()
      known, op = self.env.get(at), at.owner
      if isinstance(known, Memory) and known is not slot and known.base is slot.base:
        return False
      if known is not None or not isinstance(op, Op):
        continue
      if op.name not in arithmetic.ELEMENTWISE:
        if slot.base in self.bases_read(at):
          return False
        continue
      left += [o for o in op.operands if o not in seen]
      seen.update(op.operands)
    return True
