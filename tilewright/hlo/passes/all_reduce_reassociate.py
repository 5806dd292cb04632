"""Reassociation: combined results of two all-reduces become one all-reduce: all-reduce(x) + all-reduce(y) → all-reduce(x + y).

Precondition: both reduce by that same operation (add, multiply, minimum, maximum, and, or, xor) over the same groups with the same
options, the combination is their only user, and there are no control edges. Both may be located below the same chain of formatting that
commutes with the operation: reshape, transpose, slice, broadcast, dynamic-slice at the same place, pad with a value that the operation
keeps (0 for sums), and, with `converts`, conversion to a wider float. *Proof.* The operation is associative and commutative, so
reducing over devices and combining may be exchanged; formatting moves elements only. Floats are equal up to the order of additions
(`exact=true` refuses those; minimum and maximum are exact). Combinations of several all-reduces are merged one after another, inner
ones first.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges, participants_key, reducer
from tilewright.hlo.passes.while_loops import remove_dead, trace

OPERATIONS = frozenset({"add", "multiply", "minimum", "maximum", "and", "or", "xor"})
_FORMATTING = frozenset({"reshape", "transpose", "slice", "broadcast", "reverse", "bitcast", "copy", "dynamic-slice"})


@register_pass("all_reduce_reassociate")
@dataclass(frozen=True)
class AllReduceReassociate(Pass):
  """Combines the operands of two all-reduces instead of their results."""

  converts: bool = False  # also results converted to a wider float; they are added in it
  exact: bool = False  # not where floats would be added in another order

  def run(self, module: Module) -> bool:
    changed = False
    for computation in module.computations:
      if computation.is_fusion:
        continue
      for instruction in computation.topological_order():
        if instruction.opcode in OPERATIONS and instruction.parent is computation:
          changed |= self._reassociate(instruction)
    return changed

  def _reassociate(self, combined: Instruction) -> bool:
    if len(combined.operands) != 2 or combined.operands[0] is combined.operands[1] or has_control_edges(combined):
      return False
    chains = [self._chain(operand, combined.opcode) for operand in combined.operands]
    first, second = chains
    if first is None or second is None or len(first) != len(second):
      return False
    if [_step(i) for i in first] != [_step(i) for i in second]:
      return False
    left, right = first[-1], second[-1]
    if left is right or _key(left) != _key(right) or left.operands[0].shape != right.operands[0].shape:
      return False
    inexact = combined.shape.kind in ("float", "complex") and combined.opcode in ("add", "multiply")
    if self.exact and inexact:
      return False
    computation = combined.parent
    assert computation is not None
    # Where results were converted, operands are combined in the wider type too: as the program specified.
    widened = combined.shape.element_type != left.shape.element_type
    if widened and any(step.opcode == "pad" for step in first):
      return False  # its value has the narrow type
    operands = [left.operands[0], right.operands[0]]
    attrs_of = left
    if widened:
      operands = [self._converted(o, combined.shape.element_type, combined) for o in operands]
      attrs_of = clone_instruction(left, (), left.shape.with_element_type(combined.shape.element_type))
      attrs_of.attrs["to_apply"] = _retyped(left, combined.shape.element_type)
    shape = operands[0].shape
    total = clone_instruction(combined, operands, shape)
    total.sharding = total.origin = None
    value = computation.insert(total, before=combined)
    reduction = clone_instruction(attrs_of, (value,), shape)
    reduction.sharding = reduction.origin = None
    value = computation.insert(reduction, before=combined)
    for step in reversed(first[:-1]):
      if step.opcode != "convert":
        inputs = (value, *step.operands[1:])
        copy = clone_instruction(step, inputs, step.shape.with_element_type(combined.shape.element_type))
        value = computation.insert(copy, before=combined)
    ends = combined.operands
    computation.replace(combined, value)
    remove_dead(computation, ends)
    return True

  def _chain(self, value: Instruction, operation: str) -> list[Instruction] | None:
    """The instructions between a value and its all-reduce, which is the last one."""
    chain: list[Instruction] = []
    while True:
      if value.user_count != 1 or value.is_root or has_control_edges(value) or value.sharding is not None:
        return None
      chain.append(value)
      if value.opcode == "all-reduce":
        plain = len(value.operands) == 1 and reducer(value) == operation and not value.attrs.get("constrain_layout")
        return chain if plain and value.shape == value.operands[0].shape else None
      converted = value.opcode == "convert" and self.converts and _widens(value)
      if value.opcode in _FORMATTING or converted or (value.opcode == "pad" and _keeps(value.operands[1], operation)):
        value = value.operands[0]
      else:
        return None

  def _converted(self, value: Instruction, element_type: str, before: Instruction) -> Instruction:
    assert before.parent is not None
    made = Instruction("convert", "convert", value.shape.with_element_type(element_type), (value,), {}, value.metadata)
    return before.parent.insert(made, before=before)


def _widens(convert: Instruction) -> bool:
  before, after = convert.operands[0].shape, convert.shape
  bits = [PRIMITIVE_TYPES[s.element_type].bits for s in (before, after)]
  return before.kind == after.kind == "float" and bits[0] <= bits[1]


def _keeps(value: Instruction, operation: str) -> bool:
  """Whether the operation applied to a value and itself gives the value."""
  if operation in ("minimum", "maximum", "and", "or"):
    return True
  array = trace(value).constant
  wanted = 1 if operation == "multiply" else 0
  return (
    array is not None and array.size == 1 and array.reshape(()) == wanted and not np.signbit(array.astype(np.float64))
  )


def _step(instruction: Instruction) -> Hashable:
  attrs = {k: v for k, v in instruction.attrs.items() if instruction.opcode != "all-reduce"}
  others = instruction.operands[1:]
  return instruction.opcode, instruction.shape, others, tuple(sorted((k, repr(v)) for k, v in attrs.items()))


def _key(reduction: Instruction) -> Hashable:
  return participants_key(reduction), reducer(reduction), tuple(sorted(reduction.frontend_attributes.items()))


def _retyped(reduction: Instruction, element_type: str) -> object:
  """The reducer for another element type."""
  from tilewright.hlo.builder import Builder

  old = reduction.attrs["to_apply"]
  assert old.parent is not None
  builder = Builder(f"{old.name}.{element_type}")
  a, b = builder.parameter(element_type), builder.parameter(element_type)
  return old.parent.add_computation(builder.finish(builder.op(old.root.opcode, (a, b))))
