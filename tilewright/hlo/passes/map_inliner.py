"""Maps become elementwise instructions.

    map(x, y), to_apply=(a, b) → a · b + 1     →     x · y + broadcast(1)

Precondition: the mapped function consists of elementwise instructions, constants and parameters. *Proof.* An elementwise instruction
applies its scalar function to every element, as the map does.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.analysis import topological_order
from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.opcodes import ELEMENTWISE
from tilewright.hlo.passes.base import Pass, register_pass


@register_pass("map_inliner")
@dataclass(frozen=True)
class MapInliner(Pass):
  """Writes maps as elementwise instructions."""

  def run(self, module: Module) -> bool:
    found = [i for i in module.instructions() if i.opcode == "map" and _is_plain(i)]
    for instruction in found:
      _inline(instruction)
    if found:
      module.remove_unreachable_computations()
    return bool(found)


def _is_plain(mapped: Instruction) -> bool:
  inside = mapped.attrs["to_apply"].instructions
  return all(i.opcode in ELEMENTWISE or i.opcode in ("constant", "parameter") for i in inside) and not any(
    i.control_predecessors for i in inside
  )


def _inline(mapped: Instruction) -> None:
  assert mapped.parent is not None
  builder = Builder(mapped.parent, before=mapped, metadata=mapped.metadata)
  function, dimensions = mapped.attrs["to_apply"], mapped.shape.dimensions
  new: dict[Instruction, Instruction] = {}
  for instruction in topological_order(function):
    shape = mapped.shape.with_element_type(instruction.shape.element_type)
    if instruction.opcode == "parameter":
      new[instruction] = mapped.operands[instruction.parameter_number]
      continue
    copy = clone_instruction(instruction, [new[o] for o in instruction.operands])
    if instruction.opcode != "constant":
      copy.shape = shape
    value = builder.computation.insert(copy, before=mapped)
    if instruction.opcode == "constant" and dimensions:
      value = builder.op("broadcast", (value,), shape, dimensions=())
    new[instruction] = value
  mapped.parent.replace(mapped, new[function.root])
