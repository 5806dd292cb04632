"""All-reduces of several arrays as all-reduces of one: the operands are laid out one after another.

    (a, b) = all-reduce(x, y)   →   r = all-reduce(concatenate(flat x, flat y))   a = slice of r, shaped back; b likewise

Precondition: operands of one element type, no control edges, no constrained layout. *Proof.* The reduction works on each element alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges
from tilewright.hlo.passes.combine_collectives import replace_results


@register_pass("all_reduce_contiguous")
@dataclass(frozen=True)
class AllReduceContiguous(Pass):
  """Concatenates the operands of all-reduces."""

  def run(self, module: Module) -> bool:
    changed = False
    for computation in module.computations:
      for instruction in list(computation.instructions):
        if instruction.opcode == "all-reduce" and not computation.is_fusion and _is_wanted(instruction):
          _join(instruction)
          changed = True
    return changed


def _is_wanted(reduction: Instruction) -> bool:
  shapes = [operand.shape for operand in reduction.operands]
  plain = not has_control_edges(reduction) and not reduction.attrs.get("constrain_layout")
  return (
    plain and len(shapes) > 1 and len({s.element_type for s in shapes}) == 1 and not any(s.is_dynamic for s in shapes)
  )


def _join(reduction: Instruction) -> None:
  assert reduction.parent is not None
  builder = Builder(reduction.parent, before=reduction, metadata=reduction.metadata)
  flat = [builder.reshape(operand, (operand.shape.num_elements,)) for operand in reduction.operands]
  whole = flat[0].shape.with_dimensions((sum(f.shape.num_elements for f in flat),))
  joined = builder.op("concatenate", flat, whole, dimensions=(0,))
  new = clone_instruction(reduction, (joined,), whole)
  new.sharding = new.origin = None
  builder.computation.insert(new, before=reduction)
  results: list[Instruction] = []
  start = 0
  for operand, part in zip(reduction.operands, flat):
    end = start + part.shape.num_elements
    results.append(builder.op("reshape", (builder.slice(new, (start, end)),), operand.shape))
    start = end
  replace_results(reduction, results)
