"""Copies of instructions, computations and modules. Frozen values and literals are shared, edges are rebuilt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tilewright.hlo.analysis import computation_order, topological_order
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.shape import Shape


def clone_instruction(
  instruction: Instruction,
  operands: Iterable[Instruction] | None = None,
  shape: Shape | None = None,
  name: str | None = None,
) -> Instruction:
  """A copy without a parent or control edges; other operands or another shape if given. Called computations are
  shared.
  """
  return Instruction(
    name or instruction.name,
    instruction.opcode,
    shape or instruction.shape,
    instruction.operands if operands is None else tuple(operands),
    dict(instruction.attrs),
    instruction.metadata,
    instruction.sharding,
    dict(instruction.frontend_attributes),
    instruction.backend_config,
    instruction.origin,
    instruction.statistics,
    unknown=instruction.unknown,
  )


def copy_body(
  source: Computation, mapping: Mapping[Instruction, Instruction] | None = None
) -> tuple[list[Instruction], dict[Instruction, Instruction]]:
  """Copies of the instructions of `source` that `mapping` does not replace, in order, and old → new for all of them.

  Control edges between copied instructions are copied too. Inlining is: map the parameters to the call's operands,
  insert the copies, and let `new[source.root]` replace the call.
  """
  new: dict[Instruction, Instruction] = dict(mapping or {})
  copies: list[Instruction] = []
  for instruction in topological_order(source):
    if instruction in new:
      continue
    copy = clone_instruction(instruction, [new[operand] for operand in instruction.operands])
    for predecessor in instruction.control_predecessors:
      copy.add_control_predecessor(new[predecessor])
    new[instruction] = copy
    copies.append(copy)
  return copies, new


def clone_computation(
  source: Computation, name: str | None = None, mapping: Mapping[Instruction, Instruction] | None = None
) -> Computation:
  """A copy without a parent; give it to `Module.add_computation`. Called computations are shared."""
  copies, new = copy_body(source, mapping)
  computation = Computation(
    name or source.name,
    copies,
    new[source.root],
    execution_thread=source.execution_thread,
    is_fusion=source.is_fusion,
    unknown=source.unknown,
  )
  for instruction in copies:
    instruction.parent = computation
  return computation


def own_fusions(copies: Iterable[Instruction], module: Module) -> None:
  """Gives each fusion among copies a computation of its own: XLA refuses a module in which two fusions share one."""
  for copy in copies:
    if copy.opcode == "fusion":
      (fused,) = copy.called_computations
      copy.replace_called_computation(fused, module.add_computation(clone_computation(fused)))


def clone_module(source: Module, name: str | None = None) -> Module:
  """A deep copy: same names, ids and order."""
  module = Module(name or source.name)
  for attribute in (
    "is_scheduled",
    "entry_layout",
    "input_output_alias",
    "buffer_donor",
    "alias_passthrough_params",
    "replica_count",
    "num_partitions",
    "counts_known",
    "allow_spmd_sharding_propagation_to_parameters",
    "allow_spmd_sharding_propagation_to_output",
    "stack_frames",
    "origin_recovery_table",
    "debug_attributes",
    "id",
    "spmd_output_sharding",
    "spmd_parameter_shardings",
    "unknown",
  ):
    setattr(module, attribute, getattr(source, attribute))
  module.frontend_attributes = dict(source.frontend_attributes)
  new: dict[Computation, Computation] = {}
  for computation in computation_order(source):
    copy = clone_computation(computation)
    copy.parent, copy.id = module, computation.id
    for before, after in zip(topological_order(computation), copy.instructions):
      after.id = before.id
      for key, value in after.attrs.items():
        after.attrs[key] = _mapped(value, new)
    new[computation] = copy
  module.computations = [new[c] for c in source.computations]
  module.entry = new[source.entry]
  return module


def _mapped(value: Any, new: dict[Computation, Computation]) -> Any:
  if isinstance(value, Computation):
    return new[value]
  if isinstance(value, tuple) and value and isinstance(value[0], Computation):
    return tuple(new[c] for c in value)
  return value
