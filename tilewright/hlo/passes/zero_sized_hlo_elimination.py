"""Arrays without elements become constants: nothing has to be computed for them.

Precondition: a static array with a dimension of size 0, no effects, no control edges; not a parameter, no end of a pair,
and not a collective, which the other devices may wait in. *Proof.* There is one array of that shape.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.literal import Literal
from tilewright.hlo.opcodes import DONES
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges
from tilewright.hlo.passes.effects import Effects
from tilewright.hlo.passes.while_loops import remove_dead


@register_pass("zero_sized_hlo_elimination")
@dataclass(frozen=True)
class ZeroSizedHloElimination(Pass):
  """Replaces what computes arrays without elements by constants."""

  def run(self, module: Module) -> bool:
    changed, effects = False, Effects()
    for computation in module.computations:
      for instruction in list(computation.instructions):
        if instruction.parent is computation and _is_wanted(instruction, effects):
          shape = instruction.shape
          operands = instruction.operands
          model = Instruction(
            "constant", "constant", shape, (), {"literal": Literal(shape, np.zeros(shape.dimensions, shape.dtype))}
          )
          constant = computation.insert(clone_instruction(model), before=instruction)
          computation.replace(instruction, constant)
          remove_dead(computation, operands)
          changed = True
    return changed


def _is_wanted(instruction: Instruction, effects: Effects) -> bool:
  shape = instruction.shape
  if instruction.opcode in DONES or instruction.opcode in ("constant", "parameter"):
    return False
  if not shape.is_array or shape.is_dynamic or shape.num_elements:
    return False
  talks = "replica_groups" in instruction.attrs or "source_target_pairs" in instruction.attrs
  return not talks and not effects.of(instruction) and not has_control_edges(instruction)
