"""All-reduces and reduce-scatters of narrow types are executed in a wider one.

    all-reduce(x) in bf16   →   convert(all-reduce(convert(x)) in f32)

Sums of narrow floats lose digits at every step, and back ends may lack the type. Integers are equal bit for bit, because narrowing
wraps. Precondition: the reducer is one of add, multiply, minimum, maximum, and, or, xor.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.all_reduce_reassociate import OPERATIONS
from tilewright.hlo.passes.base import HloPassError, Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges, reducer
from tilewright.hlo.passes.combine_collectives import replace_results
from tilewright.hlo.shape import Shape


@register_pass("all_reduce_promotion")
@dataclass(frozen=True)
class AllReducePromotion(Pass):
  """Executes all-reduces and reduce-scatters of narrow types in a wider type."""

  types: str = "bf16:f32|u16:u32|s16:s32"  # from:to, with | between

  def run(self, module: Module) -> bool:
    wider = dict(part.partition(":")[::2] for part in self.types.split("|"))
    unknown = [name for pair in wider.items() for name in pair if name not in PRIMITIVE_TYPES]
    if unknown:
      raise HloPassError(f"all_reduce_promotion: types={self.types} names {unknown[0]}, which is no element type")
    changed = False
    reducers: dict[tuple[str, str], Computation] = {}
    for computation in list(module.computations):
      for instruction in list(computation.instructions):
        if instruction.opcode not in ("all-reduce", "reduce-scatter") or has_control_edges(instruction):
          continue
        types = {operand.shape.element_type for operand in instruction.operands}
        if len(types) == 1 and types <= wider.keys() and reducer(instruction) in OPERATIONS:
          _promote(instruction, wider[types.pop()], reducers, module)
          changed = True
    if changed:
      module.remove_unreachable_computations()
    return changed


def _promote(
  collective: Instruction, element_type: str, reducers: dict[tuple[str, str], Computation], module: Module
) -> None:
  assert collective.parent is not None
  builder = Builder(collective.parent, before=collective, metadata=collective.metadata)
  operation = reducer(collective)
  assert operation is not None
  key = operation, element_type
  if key not in reducers:
    scalar = Builder(f"{operation}.{element_type}")
    a, b = scalar.parameter(element_type), scalar.parameter(element_type)
    reducers[key] = module.add_computation(scalar.finish(scalar.op(operation, (a, b))))
  results = collective.shape.tuple_shapes if collective.shape.is_tuple else (collective.shape,)
  shapes = [shape.with_element_type(element_type) for shape in results]
  wide = [builder.convert(operand, element_type) for operand in collective.operands]
  new = clone_instruction(collective, wide, Shape.tuple_of(*shapes) if collective.shape.is_tuple else shapes[0])
  new.origin = None
  new.attrs["to_apply"] = reducers[key]
  builder.computation.insert(new, before=collective)
  parts = [builder.element(new, i) for i in range(len(shapes))] if collective.shape.is_tuple else [new]
  replace_results(collective, [builder.op("convert", (part,), shape) for part, shape in zip(parts, results)])
