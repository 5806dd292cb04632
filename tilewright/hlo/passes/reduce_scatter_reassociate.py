"""Reassociation of reduce-scatters: reduce-scatter(x) + reduce-scatter(y) → reduce-scatter(x + y).

Precondition and proof are those of `all_reduce_reassociate.py`: the same operation reduces and combines, over the same groups and along
the same dimension; each device's part of the combined array is what it combined before. Floats are equal up to the order of additions.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.all_reduce_reassociate import OPERATIONS
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges, participants_key, reducer
from tilewright.hlo.passes.while_loops import remove_dead


@register_pass("reduce_scatter_reassociate")
@dataclass(frozen=True)
class ReduceScatterReassociate(Pass):
  """Combines the operands of two reduce-scatters instead of their results."""

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
    left, right = combined.operands
    if left is right or has_control_edges(combined) or not (_is_plain(left) and _is_plain(right)):
      return False
    if (
      _key(left) != _key(right) or reducer(left) != combined.opcode or left.operands[0].shape != right.operands[0].shape
    ):
      return False
    if self.exact and combined.shape.kind in ("float", "complex") and combined.opcode in ("add", "multiply"):
      return False
    computation, (x,), (y,) = combined.parent, left.operands, right.operands
    assert computation is not None
    total = computation.insert(clone_instruction(combined, (x, y), x.shape), before=combined)
    scattered = computation.insert(clone_instruction(left, (total,), combined.shape), before=combined)
    total.sharding = total.origin = scattered.origin = None
    scattered.sharding = combined.sharding
    computation.replace(combined, scattered)
    remove_dead(computation, [left, right])
    return True


def _is_plain(value: Instruction) -> bool:
  alone = value.user_count == 1 and not value.is_root and not has_control_edges(value)
  plain = value.opcode == "reduce-scatter" and len(value.operands) == 1 and not value.shape.is_tuple
  return plain and alone and not value.attrs.get("constrain_layout")


def _key(scatter: Instruction) -> Hashable:
  others = tuple(sorted(scatter.frontend_attributes.items()))
  return participants_key(scatter), reducer(scatter), scatter.attrs["dimensions"], scatter.backend_config, others
