"""Arithmetic before gathering: one all-gather instead of two.

    add(all-gather(x), all-gather(y))   →   all-gather(add(x, y))

Precondition: an elementwise operation of two all-gathers along the same dimension, over the same groups, of operands of one shape,
used by nothing else, without control edges. *Proof.* The operation works on each element alone, and element i of both results
comes from the same element of the same member.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.opcodes import ELEMENTWISE
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges, participants_key
from tilewright.hlo.passes.while_loops import remove_dead


@register_pass("all_gather_optimizer")
@dataclass(frozen=True)
class AllGatherOptimizer(Pass):
  """Gathers the result of an elementwise operation instead of its two operands."""

  def run(self, module: Module) -> bool:
    changed = False
    for computation in module.computations:
      if computation.is_fusion:
        continue
      for instruction in computation.topological_order():
        if instruction.opcode in ELEMENTWISE and len(instruction.operands) == 2 and instruction.parent is computation:
          changed |= _gather_result(instruction)
    return changed


def _gather_result(operation: Instruction) -> bool:
  left, right = operation.operands
  if left is right or not all(_is_gather(side) for side in (left, right)) or has_control_edges(operation):
    return False
  if _key(left) != _key(right) or left.operands[0].shape != right.operands[0].shape:
    return False
  computation, (x,), (y,) = operation.parent, left.operands, right.operands
  assert computation is not None
  part = x.shape.with_element_type(operation.shape.element_type)
  inner = computation.insert(clone_instruction(operation, (x, y), part), before=operation)
  gathered = computation.insert(clone_instruction(left, (inner,), operation.shape), before=operation)
  inner.sharding = inner.origin = gathered.origin = None
  gathered.sharding = operation.sharding
  computation.replace(operation, gathered)
  remove_dead(computation, [left, right])
  return True


def _is_gather(value: Instruction) -> bool:
  alone = value.user_count == 1 and not value.is_root and not has_control_edges(value)
  return value.opcode == "all-gather" and alone and not value.shape.is_tuple and not value.attrs.get("constrain_layout")


def _key(gather: Instruction) -> Hashable:
  others = tuple(sorted(gather.frontend_attributes.items()))
  return participants_key(gather), gather.attrs["dimensions"], gather.backend_config, others
