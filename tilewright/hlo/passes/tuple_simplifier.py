"""Tuple simplification: an element taken from a tuple is replaced by the element itself.

  get-tuple-element(tuple(a, b, …), i)                        →  the i-th operand
  tuple(get-tuple-element(t, 0), …, get-tuple-element(t, n-1)) →  t, where that is all of t

Precondition: neither has control edges, shapes agree, and no sharding is lost. Proof: tuples are values without an identity;
the two sides are equal by definition. With `exclude_entry` the entry is left as it is (XLA's donation rules look at its tuples). A
parameter stands for its elements at the entry's root only: the state of a loop must be one tuple.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass


@register_pass("tuple_simplifier")
@dataclass(frozen=True)
class TupleSimplifier(Pass):
  """Forwards tuple elements to their users, and removes tuples that only rebuild another."""

  exclude_entry: bool = False  # as XLA's exclude_entry_computation

  def run(self, module: Module) -> bool:
    changed = False
    for computation in module.computations:
      if self.exclude_entry and computation.is_entry:
        continue
      for instruction in computation.topological_order():
        new = simplified(instruction) if instruction.parent is computation else None
        if new is not None:
          instruction.replace_all_uses_with(new)
          _remove_unused(computation, instruction)
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
    inner = instruction.parent is not None and not instruction.parent.is_entry
    if whole.shape != instruction.shape or (whole.opcode == "parameter" and instruction.is_root and inner):
      return None
    for i, operand in enumerate(instruction.operands):
      if operand.opcode != "get-tuple-element" or operand.operands[0] is not whole or operand.attrs["index"] != i:
        return None
      if has_control_edges(operand):
        return None
    return whole
  return None


def _remove_unused(computation: Computation, instruction: Instruction) -> None:
  """Removes what was replaced, and the tuples and elements that only it used."""
  operands = instruction.operands
  if instruction.parent is computation and instruction.is_dead:
    computation.remove(instruction)
    for operand in operands:
      if operand.opcode in ("tuple", "get-tuple-element"):
        _remove_unused(computation, operand)


def has_control_edges(instruction: Instruction) -> bool:
  return bool(instruction.control_predecessors or instruction.control_successors)
