"""`Module` → HLO text.

What is written here, `hlo.parse` and XLA's own parser read back to the same program. Layouts, metadata and large
constants are written in full; attributes come in the order they are stored. Shapes, metadata and other shared values
are spelled once and looked up afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tilewright.hlo.analysis import topological_order
from tilewright.hlo.attributes import ATTRIBUTE_KINDS
from tilewright.hlo.ir import MAIN_THREAD, Computation, Instruction, Module
from tilewright.hlo.print_literal import literal_text
from tilewright.hlo.print_shape import logical_text, program_shape_text, shape_text
from tilewright.hlo.print_sharding import groups_text, sharding_text
from tilewright.hlo.print_values import (
  accuracy_text,
  block_scaling_text,
  buffer_donor_text,
  dim_labels_text,
  float_text,
  input_output_alias_text,
  ints_text,
  metadata_text,
  origin_text,
  original_array_text,
  output_aliases_text,
  padding_text,
  pairs_text,
  quoted,
  slices_text,
  sparsity_text,
  statistics_text,
  window_text,
)
from tilewright.hlo.shape import ProgramShape, Shape
from tilewright.hlo.sharding import Domain
from tilewright.hlo.values import OpMetadata


def _bools_text(values: tuple[bool, ...]) -> str:
  return "{" + ",".join("true" if value else "false" for value in values) + "}"


def _ints_or_lists(values: tuple[Any, ...]) -> str:
  return pairs_text(values) if values and isinstance(values[0], tuple) else ints_text(values)


def _computations_text(computations: tuple[Computation, ...]) -> str:
  return "{" + ", ".join("%" + computation.name for computation in computations) + "}"


def _domain_text(domain: Domain) -> str:
  entry, exit_ = sharding_text(domain.entry), sharding_text(domain.exit)
  return f"{{kind={quoted(domain.kind)}, entry={entry}, exit={exit_}}}"


_WRITERS: dict[str, Callable[[Any], str]] = {
  "int": str,
  "float": float_text,
  "bool": lambda value: "true" if value else "false",
  "string": quoted,
  "ints": _ints_or_lists,
  "bools": _bools_text,
  "word": str,
  "words": lambda words: "{" + ",".join(words) + "}",
  "computation": lambda computation: "%" + computation.name,
  "computations": _computations_text,
  "shape": shape_text,
  "shapes": lambda shapes: "{" + ", ".join(map(shape_text, shapes)) + "}",
  "window": window_text,
  "dim_labels": dim_labels_text,
  "sparsity": sparsity_text,
  "block_scaling": block_scaling_text,
  "padding": padding_text,
  "slices": slices_text,
  "groups": groups_text,
  "pairs": pairs_text,
  "aliases": output_aliases_text,
  "accuracy": accuracy_text,
  "domain": _domain_text,
  "literal": lambda literal: f"{shape_text(literal.shape)} {literal_text(literal)}",
}


def backend_config_text(config: str) -> str:
  """A JSON object is written unquoted, anything else in quotes."""
  if config.startswith("{") and config.endswith("}"):
    try:
      json.loads(config)
      return config
    except (ValueError, RecursionError):
      pass
  return quoted(config)


def frontend_attributes_text(attributes: dict[str, str]) -> str:
  parts = [f"{key}={_frontend_value(value)}" for key, value in attributes.items()]
  return "{" + ",".join(parts) + "}"


def _frontend_value(value: str) -> str:
  """Balanced braces may be left unquoted; their quotes and spaces are then kept."""
  if not value.startswith("{"):
    return quoted(value)
  from tilewright.hlo.cursor import Cursor
  from tilewright.hlo.errors import HloParseError

  try:
    return value if Cursor(value).braces("") == value and value.isascii() else quoted(value)
  except HloParseError:
    return quoted(value)


class Printer:
  def __init__(self) -> None:
    self.shapes: dict[int, tuple[Shape, str]] = {}  # by identity: hashing a large tuple costs more than spelling it
    self.metadata: dict[int, tuple[OpMetadata, str]] = {}

  def shape(self, shape: Shape) -> str:
    known = self.shapes.get(id(shape))
    if known is None or known[0] is not shape:
      known = self.shapes[id(shape)] = (shape, shape_text(shape))
    return known[1]

  def _metadata(self, metadata: OpMetadata) -> str:
    known = self.metadata.get(id(metadata))
    if known is None or known[0] is not metadata:
      known = self.metadata[id(metadata)] = (metadata, metadata_text(metadata))
    return known[1]

  def instruction(self, instruction: Instruction) -> str:
    opcode, attrs = instruction.opcode, instruction.attrs
    if opcode == "constant":
      inside = literal_text(attrs["literal"])
    elif opcode == "parameter":
      inside = str(attrs["parameter_number"])
    else:
      operands = instruction.operands
      if len(operands) <= 5:
        inside = ", ".join(["%" + operand.name for operand in operands])
      else:
        inside = ", ".join(
          [(f"/*index={i}*/%" if i and i % 5 == 0 else "%") + operand.name for i, operand in enumerate(operands)]
        )
    text = f"%{instruction.name} = {self.shape(instruction.shape)} {opcode}({inside})"
    for name, value in attrs.items():
      if name == "parameter_number" or (name == "literal" and opcode == "constant"):
        continue
      if name == "is_stable" and opcode == "topk" and value:
        continue  # the default, which jax 0.10 has no word for
      text += f", {name}={_WRITERS[ATTRIBUTE_KINDS[name]](value)}"
    if instruction.sharding is not None:
      text += f", sharding={sharding_text(instruction.sharding)}"
    if instruction.frontend_attributes:
      text += f", frontend_attributes={frontend_attributes_text(instruction.frontend_attributes)}"
    if instruction._control_predecessors:
      names = ", ".join("%" + predecessor.name for predecessor in instruction._control_predecessors)
      text += f", control-predecessors={{{names}}}"
    if instruction.metadata is not None:
      metadata = self._metadata(instruction.metadata)
      if metadata != "{}":
        text += f", metadata={metadata}"
    if instruction.backend_config:
      text += f", backend_config={backend_config_text(instruction.backend_config)}"
    if instruction.statistics is not None and instruction.statistics.values:
      text += f", statistics={statistics_text(instruction.statistics)}"
    if instruction.origin is not None:
      text += f", origin={origin_text(instruction.origin)}"
    return text

  def computation(self, computation: Computation, out: list[str]) -> None:
    parameters = ", ".join(f"{p.name}: {logical_text(p.shape)}" for p in computation.parameters)
    entry = "ENTRY " if computation.is_entry else ""
    out.append(f"{entry}%{computation.name} ({parameters}) -> {logical_text(computation.root.shape)} {{\n")
    root, write = computation.root, self.instruction
    for instruction in topological_order(computation):
      out.append(("  ROOT " if instruction is root else "  ") + write(instruction) + "\n")
    thread = computation.execution_thread
    out.append("}\n\n" if thread == MAIN_THREAD else f"}}, execution_thread={quoted(thread)}\n\n")

  def module(self, module: Module) -> str:
    from tilewright.hlo.analysis import computation_order

    out = [self._header(module), "\n\n"]
    self._tables(module, out)
    for computation in computation_order(module):
      self.computation(computation, out)
    return "".join(out)

  def _header(self, module: Module) -> str:
    parts = [f"HloModule {module.name}"]
    if module.is_scheduled:
      parts.append("is_scheduled=true")
    if module.input_output_alias:
      parts.append(f"input_output_alias={input_output_alias_text(module.input_output_alias)}")
    if module.buffer_donor:
      parts.append(f"buffer_donor={buffer_donor_text(module.buffer_donor)}")
    if module.alias_passthrough_params:
      parts.append("alias_passthrough_params=true")
    shape = module.entry_layout or ProgramShape(
      tuple(p.shape for p in module.entry.parameters), module.entry.root.shape
    )
    parts.append(f"entry_computation_layout={{{program_shape_text(shape)}}}")
    if module.allow_spmd_sharding_propagation_to_parameters:
      flags = _bools_text(module.allow_spmd_sharding_propagation_to_parameters)
      parts.append(f"allow_spmd_sharding_propagation_to_parameters={flags}")
    if module.allow_spmd_sharding_propagation_to_output:
      flags = _bools_text(module.allow_spmd_sharding_propagation_to_output)
      parts.append(f"allow_spmd_sharding_propagation_to_output={flags}")
    if module.replica_count != 1:
      parts.append(f"replica_count={module.replica_count}")
    if module.num_partitions != 1:
      parts.append(f"num_partitions={module.num_partitions}")
    if module.frontend_attributes:
      parts.append(f"frontend_attributes={frontend_attributes_text(module.frontend_attributes)}")
    if module.origin_recovery_table:
      parts.append(self._recovery_table(module))
    if module.debug_attributes:
      parts.append(self._debug_attributes(module))
    return ", ".join(parts)

  def _recovery_table(self, module: Module) -> str:
    rows: list[str] = []
    for entry in module.origin_recovery_table:
      row = f"\n  {original_array_text(entry.old)} : {original_array_text(entry.new)}"
      inside = "" if entry.module is None else "\n" + module_text(entry.module).strip() + "\n  "
      inside = inside.replace("\\", "\\\\").replace('"', '\\"')
      rows.append(f'{row},\n  "{inside}"')
    return f"origin_recovery_table={{{''.join(rows)}\n}}"

  def _debug_attributes(self, module: Module) -> str:
    rows: list[str] = []
    for entry in module.debug_attributes:
      found: list[str] = []
      for item in entry.attributes:
        fields = [f"log_mode={item.log_mode}"]
        if item.callback_id:
          fields.append(f"callback_id={item.callback_id}")
        if item.op_id:
          fields.append(f"op_id={item.op_id}")
        if item.partitioned:
          fields.append("partitioned=true")
        if item.operands_sharding:
          fields.append(f"operands_sharding={quoted(item.operands_sharding)}")
        found.append("{" + ",".join(fields) + "}")
      rows.append(f"\n  {original_array_text(entry.array)}: ({', '.join(found)})")
    return f"debug_attributes={{{','.join(rows)}\n}}"

  def _tables(self, module: Module, out: list[str]) -> None:
    index = module.stack_frames
    if not index:
      return
    for title, names in (("FileNames", index.file_names), ("FunctionNames", index.function_names)):
      out.append(title + "\n")
      out.extend(f"{i} {quoted(name)}\n" for i, name in enumerate(names, 1))
      out.append("\n")
    out.append("FileLocations\n")
    for i, at in enumerate(index.file_locations, 1):
      out.append(
        f"{i} {{file_name_id={at.file_name_id} function_name_id={at.function_name_id} line={at.line} "
        f"end_line={at.end_line} column={at.column} end_column={at.end_column}}}\n"
      )
    out.append("\nStackFrames\n")
    for i, frame in enumerate(index.stack_frames, 1):
      out.append(f"{i} {{file_location_id={frame.file_location_id} parent_frame_id={frame.parent_frame_id + 1}}}\n")
    out.append("\n\n")


def module_text(module: Module) -> str:
  return Printer().module(module)


def computation_text(computation: Computation) -> str:
  out: list[str] = []
  Printer().computation(computation, out)
  return "".join(out)


def instruction_text(instruction: Instruction) -> str:
  return Printer().instruction(instruction)
