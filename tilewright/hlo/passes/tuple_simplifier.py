"""Tuple simplification: an element taken from a tuple is replaced by the element itself.

  get-tuple-element(tuple(a, b, …), i)                        →  the i-th operand
  tuple(get-tuple-element(t, 0), …, get-tuple-element(t, n-1)) →  t, where that is all of t

Precondition: neither has control edges, shapes agree, and no sharding is lost. Proof: tuples are values without an identity;
the two sides are equal by definition. With `exclude_entry`, the entry's root tuple keeps its form (XLA's donation rules look
at it). Loops are left alone: their state must be one tuple.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass


@register_pass("tuple_simplifier")
@dataclass(frozen=True)
class TupleSimplifier(Pass):
  """Forwards tuple elements to their users, and removes tuples that only rebuild another."""

  exclude_entry: bool = False

  def run(self, module: Module) -> bool:
    changed = False
    for computation in module.computations:
      for instruction in computation.topological_order():
        if self.exclude_entry and computation.is_entry and instruction.is_root:
          continue
        new = simplified(instruction)
        if new is not None:
          instruction.replace_all_uses_with(new)
          if instruction.is_dead:
            computation.remove(instruction)
          changed = True
    return changed


def simplified(instruction: Instruction) -> Instruction | None:
  """The replacement of this element or tuple, or None."""
  if has_control_edges(instruction) or instruction.sharding is not None:
    return None
  if instruction.opcode == "get-tuple-element":
    (source,) = instruction.operands
    if source.opcode != "tuple":
      return None
    element = source.operands[instruction.attrs["index"]]
    return element if element.shape == instruction.shape else None
  if instruction.opcode == "tuple" and instruction.operands:
    first = instruction.operands[0]
    if first.opcode != "get-tuple-element":
      return None
    whole = first.operands[0]
    if whole.shape != instruction.shape or (whole.opcode == "parameter" and instruction.is_root):
      return None
    for i, operand in enumerate(instruction.operands):
      if operand.opcode != "get-tuple-element" or operand.operands[0] is not whole or operand.attrs["index"] != i:
        return None
      if has_control_edges(operand):
        return None
    return whole
  return None


def has_control_edges(instruction: Instruction) -> bool:
  return bool(instruction.control_predecessors or instruction.control_successors)
