"""The state of emitting a function for the CPU: `target.llvm.code` with what is known of the processor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from tilewright.target.cpu.hosts import Host
from tilewright.target.llvm import structure
from tilewright.target.llvm.code import Code, Statements
from tilewright.target.llvm.control import tiles_from_outside
from tilewright.target.llvm.memory import Memory
from tilewright.tile.ir import Op, Value


class HostCode(Code):
  """One thread runs it; loops go over whole tiles, and a tile that is kept has a buffer."""

  target = "CPU"

  def __init__(self, b: ir.IRBuilder, host: Host, arena: ir.Value, statements: Statements):
    super().__init__(b, host.lanes, arena, statements)
    self.host = host

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
    for v, slot, scalar in zip(values, slots, scalars):
      if scalar is not None:
        self.b.store(scalar, slot)
      elif self.env.get(v) is not slot:
        self.fill(slot, v)

  def _is_elementwise_of(self, v: Value, slot: Memory) -> bool:
    """Whether computing `v` reads the slot only at the element that is computed."""
    known = self.env.get(v)
    if known is not None:
      return not isinstance(known, Memory) or known is slot or known.base is not slot.base
    op = v.owner
    if not isinstance(op, Op):
      return True
    if op.name in ("load", "window_load") or op.name in structure.MOVES or op.name in structure.SOURCES:
      return slot.base not in self.bases_read(v)
    return all(self._is_elementwise_of(o, slot) for o in op.operands)
