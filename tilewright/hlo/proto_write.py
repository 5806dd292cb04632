"""`Module` → a serialised HloModuleProto.

Fields come in the order of their numbers, as XLA writes them, with the fields XLA always writes (empty metadata,
precision and so on); what was unknown on reading comes last in its message. Instructions without a usable id get a
fresh one: XLA wants the computation's id in the upper and a local number in the lower 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilewright.hlo import proto_fields as table
from tilewright.hlo import proto_wire as wire
from tilewright.hlo.analysis import computation_order, topological_order
from tilewright.hlo.errors import HloError, HloProtoError
from tilewright.hlo.groups import IotaGroups, ListGroups, ReplicaGroups
from tilewright.hlo.ir import CALLED_ATTRS, MAIN_THREAD, Computation, Instruction, Module
from tilewright.hlo.proto_literals import encode_literal
from tilewright.hlo.proto_schema import encode
from tilewright.hlo.proto_shapes import encode_program_shape, encode_shape
from tilewright.hlo.proto_shardings import encode_iota_groups, encode_list_groups, encode_mesh_groups, encode_sharding
from tilewright.hlo.proto_values import encode_accuracy, encode_map, encode_original, encode_statistics
from tilewright.hlo.shape import ProgramShape, Shape
from tilewright.hlo.values import OpMetadata

Parts = dict[int, bytes]


def assign_ids(module: Module) -> None:
  """Gives every computation and instruction an id that is unique and has XLA's form; keeps those that have one."""
  taken: set[int] = set()
  fresh = 0
  for computation in module.computations:
    if computation.id < 0 or computation.id in taken or computation.id >= 1 << 31:
      while fresh in taken or any(c.id == fresh for c in module.computations):
        fresh += 1
      computation.id = fresh
    taken.add(computation.id)
  for computation in module.computations:
    upper = computation.id << 32
    local: set[int] = set()
    waiting: list[Instruction] = []
    for instruction in computation.instructions:
      if instruction.id >= 0 and instruction.id >> 32 == computation.id and instruction.id not in local:
        local.add(instruction.id)
      else:
        waiting.append(instruction)
    number = 0
    for instruction in waiting:
      while upper | number in local:
        number += 1
      instruction.id = upper | number
      local.add(instruction.id)


def _merge_unknown(unknown: bytes, out: Parts) -> None:
  """Puts fields without a name back in their places."""
  for field in wire.fields(unknown):
    out[field[0]] = out.get(field[0], b"") + wire.put_raw(field)


class ProtoWriter:
  def __init__(self) -> None:
    self.shapes: dict[Shape, bytes] = {}
    self.metadata: dict[OpMetadata, bytes] = {}

  def module(self, module: Module) -> bytes:
    assign_ids(module)
    layout = module.entry_layout
    if layout is None:
      parameters = tuple(p.shape for p in module.entry.parameters)
      layout = ProgramShape(parameters, module.entry.root.shape, tuple(f"p{i}" for i in range(len(parameters))))
    elif not layout.parameter_names:
      names = tuple(f"p{i}" for i in range(len(layout.parameters)))
      layout = ProgramShape(layout.parameters, layout.result, names, layout.unknown)
    out: Parts = {
      1: wire.put_string(1, module.name),
      2: wire.put_string(2, module.entry.name),
      3: b"".join(wire.put_message(3, self._computation(c)) for c in computation_order(module)),
      4: wire.put_message(4, encode_program_shape(layout)),
      5: wire.put_int(5, max(module.id, 0)),
      6: wire.put_int(6, module.entry.id),
      8: wire.put_message(8, _aliases(module)),
      14: b"".join(wire.put_message(14, encode_sharding(s)) for s in module.spmd_parameter_shardings),
      18: wire.put_message(18, b"".join(wire.put_message(1, encode(donor)) for donor in module.buffer_donor)),
      19: wire.put_message(19, encode_map(module.frontend_attributes)),
    }
    if module.is_scheduled:
      out[7] = wire.put_message(7, _schedule(module))
    if module.spmd_output_sharding is not None:
      out[12] = wire.put_message(12, encode_sharding(module.spmd_output_sharding))
    if module.stack_frames or module.stack_frames.unknown:
      out[17] = wire.put_message(17, encode(module.stack_frames))
    if module.origin_recovery_table:
      out[20] = wire.put_message(20, self._recovery_table(module))
    for entry in module.debug_attributes:
      inner = wire.put_message(1, encode(entry.array)) if entry.array is not None else b""
      inner += b"".join(wire.put_message(2, encode(item)) for item in entry.attributes) + entry.unknown
      out[24] = out.get(24, b"") + wire.put_message(24, inner)
    _merge_unknown(module.unknown, out)
    return b"".join(out[number] for number in sorted(out))

  def _recovery_table(self, module: Module) -> bytes:
    rows: list[bytes] = []
    for entry in module.origin_recovery_table:
      row = wire.put_message(1, encode(entry.old)) if entry.old is not None else b""
      row += wire.put_message(2, encode(entry.new)) if entry.new is not None else b""
      row += wire.put_message(3, ProtoWriter().module(entry.module)) if entry.module is not None else b""
      rows.append(wire.put_message(1, row + entry.unknown))
    return b"".join(rows)

  def _computation(self, computation: Computation) -> bytes:
    instructions = topological_order(computation)
    thread = computation.execution_thread
    shape = computation.program_shape
    return (
      wire.put_string(1, computation.name)
      + b"".join(wire.put_message(2, self._instruction(i)) for i in instructions)
      + wire.put_message(4, encode_program_shape(shape))
      + wire.put_int(5, computation.id)
      + wire.put_int(6, computation.root.id)
      + wire.put_int(7, int(computation.is_fusion))
      + wire.put_string(8, "" if thread == MAIN_THREAD else thread)
      + computation.unknown
    )

  def _shape(self, shape: Shape) -> bytes:
    known = self.shapes.get(shape)
    if known is None:
      known = self.shapes[shape] = encode_shape(shape)
    return known

  def _instruction(self, instruction: Instruction) -> bytes:
    attrs = instruction.attrs
    out: Parts = {
      1: wire.put_string(1, instruction.name),
      2: wire.put_string(2, instruction.opcode),
      3: wire.put_message(3, self._shape(instruction.shape)),
      35: wire.put_int(35, instruction.id),
      36: wire.put_packed(36, tuple([o.id for o in instruction.operands])),
      37: wire.put_packed(37, tuple([p.id for p in instruction.control_predecessors])),
      68: wire.put_message(68, encode_map(instruction.frontend_attributes)),
    }
    metadata = instruction.metadata
    if metadata is None:
      out[7] = wire.put_message(7, b"")
    else:
      known = self.metadata.get(metadata)
      if known is None:
        known = self.metadata[metadata] = wire.put_message(7, encode(metadata))
      out[7] = known
    statistics = instruction.statistics
    out[82] = wire.put_message(82, encode_statistics(statistics) if statistics is not None else b"")
    if instruction.backend_config:
      out[43] = wire.put_string(43, instruction.backend_config)
    if instruction.sharding is not None:
      out[40] = wire.put_message(40, encode_sharding(instruction.sharding))
    if instruction.origin is not None:
      out[88] = wire.put_message(88, encode_original(instruction.origin))
    called = instruction.called_computations
    if called:
      out[38] = wire.put_packed(38, tuple(c.id for c in called))
    if attrs:
      _write_attrs(instruction, out)
    if instruction.opcode in _ALWAYS:
      _ALWAYS[instruction.opcode](instruction, out)
    if instruction.unknown:
      _merge_unknown(instruction.unknown, out)
    return b"".join([out[number] for number in sorted(out)])


# Attributes.

_INTS = {name: number for number, name in table.INT_ATTRS.items()} | {"parameter_number": 9}
_BOOLS = {name: number for number, name in table.BOOL_ATTRS.items()}
_STRINGS = {name: number for number, name in table.STRING_ATTRS.items()}
_LISTS = {name: number for number, name in table.LIST_ATTRS.items()} | {"dimensions": 14, "dynamic_slice_sizes": 20}
_ENUMS = {name: (number, words) for number, (name, words) in table.ENUM_ATTRS.items()}
_GATHER = {name: number for number, name in table.GATHER_DIMS.items()}
_SCATTER = {name: number for number, name in table.SCATTER_DIMS.items()}
_DOT = {name: number for number, name in table.DOT_DIMS.items()}

# Written together with others, or elsewhere, or (mode) nowhere, as in XLA.
_TOGETHER = (
  frozenset(_GATHER)
  | frozenset(_SCATTER)
  | frozenset(_DOT)
  | {
    "index_vector_dim",
    "mode",
    "lhs_ragged_dims",
    "rhs_group_dims",
    "operand_precision",
    "left_side",
    "lower",
    "unit_diagonal",
    "transpose_a",
    "direction",
    "type",
    "order",
    *CALLED_ATTRS,
  }
)


def _groups(groups: ReplicaGroups) -> Parts:
  if isinstance(groups, ListGroups):
    return {87: wire.put_message(87, encode_list_groups(groups))}
  if isinstance(groups, IotaGroups):
    return {92: wire.put_message(92, encode_iota_groups(groups))}
  return {93: wire.put_message(93, encode_mesh_groups(groups))}


def _write_attrs(instruction: Instruction, out: Parts) -> None:
  opcode = instruction.opcode
  for name, value in instruction.attrs.items():
    if name in _TOGETHER:
      continue
    if name == "slice_sizes" and value and isinstance(value[0], tuple):
      out[20] = wire.put_packed(20, tuple(size for sizes in value for size in sizes))
    elif name in _INTS:
      out[_INTS[name]] = wire.put_int(_INTS[name], value)
    elif name in _LISTS:
      out[_LISTS[name]] = wire.put_packed(_LISTS[name], value)
    elif name in _BOOLS:
      out[_BOOLS[name]] = wire.put_int(_BOOLS[name], int(value))
    elif name in _STRINGS:
      out[_STRINGS[name]] = wire.put_string(_STRINGS[name], value)
    elif name == "algorithm" and opcode != "rng-bit-generator":
      continue  # part of the precision config
    elif name in _ENUMS:
      number, words = _ENUMS[name]
      if value not in words:
        raise HloProtoError(f"%{instruction.name}: `{value}` is not a value of {name}")
      out[number] = wire.put_int(number, words.index(value))
    elif name == "replica_groups":
      out.update(_groups(value))
    else:
      _write_special(instruction, name, value, out)


def _write_special(instruction: Instruction, name: str, value: Any, out: Parts) -> None:
  match name:
    case "literal":
      out[8] = wire.put_message(8, encode_literal(value))
    case "window":
      out[15] = wire.put_message(15, encode(value))
    case "dim_labels":
      out[16] = wire.put_message(16, encode(value))
    case "sparsity_config":
      out[98] = wire.put_message(98, encode(value))
    case "block_scaling_config":
      out[101] = wire.put_message(101, encode(value))
    case "slice":
      out[17] = b"".join(wire.put_message(17, encode(dim)) for dim in value)
    case "padding":
      out[21] = wire.put_message(21, b"".join(wire.put_message(1, encode(dim)) for dim in value))
    case "epsilon":
      out[24] = wire.put_float(24, value)
    case "outfeed_shape":
      out[29] = wire.put_message(29, encode_shape(value))
    case "source_target_pairs":
      pairs = [wire.put_int(1, source) + wire.put_int(2, target) for source, target in value]
      out[52] = b"".join(wire.put_message(52, pair) for pair in pairs)
    case "domain":
      out[54] = wire.put_message(54, encode_sharding(value.exit))
      out[55] = wire.put_message(55, encode_sharding(value.entry))
    case "constrain_layout":
      out[56] = wire.put_int(56, int(value))
    case "operand_layout_constraints":
      out[56] = wire.put_int(56, 1)
      out[57] = b"".join(wire.put_message(57, encode_shape(shape)) for shape in value)
    case "parameter_replication":
      out[61] = wire.put_message(61, wire.put_packed(1, tuple(map(int, value))))
    case "output_to_operand_aliasing":
      out[74] = b"".join(wire.put_message(74, encode(alias)) for alias in value)
    case "cross_program_prefetch_index":
      out[80] = wire.varint(80 << 3) + wire.varint(value)  # a oneof: written even if it is zero
    case "result_accuracy":
      out[91] = wire.put_message(91, encode_accuracy(value))
    case "is_associative":
      out[96] = wire.put_int(96, 1 if value else 2)
    case "has_dynamic_root":
      out[100] = wire.put_int(100, int(value))
    case "iota_dimension":
      out[14] = wire.put_packed(14, (value,))
    case "inferred_dimension":
      out[14] = wire.put_packed(14, (value,))
    case _:
      raise HloProtoError(f"%{instruction.name}: the attribute {name} has no field in the proto")


def _packed_dims(attrs: dict[str, Any], rows: dict[str, int]) -> dict[int, bytes]:
  return {number: wire.put_packed(number, attrs.get(name, ())) for name, number in rows.items()}


def _joined(parts: Parts) -> bytes:
  return b"".join(parts[number] for number in sorted(parts))


def _precision(instruction: Instruction, out: Parts) -> None:
  attrs = instruction.attrs
  count = len(instruction.operands) if instruction.opcode == "custom-call" else 2
  words = attrs.get("operand_precision", ("default",) * count)
  algorithm = attrs.get("algorithm", "")
  if algorithm not in table.ALGORITHMS or not set(words) <= set(table.PRECISIONS):
    raise HloProtoError(f"%{instruction.name}: unknown precision {words} or algorithm `{algorithm}`")
  inner = wire.put_packed(1, tuple(table.PRECISIONS.index(word) for word in words))
  out[51] = wire.put_message(51, inner + wire.put_int(2, table.ALGORITHMS.index(algorithm)))


def _dot(instruction: Instruction, out: Parts) -> None:
  out[30] = wire.put_message(30, _joined(_packed_dims(instruction.attrs, _DOT)))
  _precision(instruction, out)


def _ragged_dot(instruction: Instruction, out: Parts) -> None:
  attrs = instruction.attrs
  inner = wire.put_message(1, _joined(_packed_dims(attrs, _DOT)))
  inner += wire.put_packed(2, attrs.get("lhs_ragged_dims", ())) + wire.put_packed(3, attrs.get("rhs_group_dims", ()))
  out[90] = wire.put_message(90, inner)
  _precision(instruction, out)


def _group_counts(instruction: Instruction, out: Parts) -> None:
  out.setdefault(50, wire.put_int(50, 1))
  out.setdefault(58, wire.put_int(58, 1))
  _precision(instruction, out)
  if instruction.opcode == "custom-call":
    out.setdefault(77, wire.put_int(77, 1))


def _gather(instruction: Instruction, out: Parts) -> None:
  parts = _packed_dims(instruction.attrs, _GATHER)
  parts[4] = wire.put_int(4, instruction.attrs.get("index_vector_dim", 0))
  out[33] = wire.put_message(33, _joined(parts))


def _scatter(instruction: Instruction, out: Parts) -> None:
  parts = _packed_dims(instruction.attrs, _SCATTER)
  parts[4] = wire.put_int(4, instruction.attrs.get("index_vector_dim", 0))
  out[48] = wire.put_message(48, _joined(parts))


def _triangular_solve(instruction: Instruction, out: Parts) -> None:
  attrs = instruction.attrs
  inner = b"".join(
    wire.put_int(number, int(attrs.get(name, False)))
    for number, name in ((1, "left_side"), (2, "lower"), (3, "unit_diagonal"))
  )
  transpose = table.TRANSPOSES.index(attrs.get("transpose_a", "NO_TRANSPOSE"))
  out[59] = wire.put_message(59, inner + wire.put_int(4, transpose))


def _cholesky(instruction: Instruction, out: Parts) -> None:
  out[62] = wire.put_message(62, wire.put_int(1, int(instruction.attrs.get("lower", False))))


def _compare(instruction: Instruction, out: Parts) -> None:
  attrs = instruction.attrs
  default = table.default_comparison(instruction.operands[0].shape.kind)
  order = attrs.get("order")
  kind = attrs.get("type") or ("TOTALORDER" if order == "TOTAL" and default == "FLOAT" else default)
  out[63] = wire.put_string(63, attrs.get("direction", ""))
  out[72] = wire.put_string(72, kind)
  if order is not None:
    out[102] = wire.put_string(102, order)


_ALWAYS: dict[str, Callable[[Instruction, Parts], None]] = {
  "dot": _dot,
  "scaled-dot": _dot,
  "ragged-dot": _ragged_dot,
  "convolution": _group_counts,
  "custom-call": _group_counts,
  "gather": _gather,
  "scatter": _scatter,
  "triangular-solve": _triangular_solve,
  "cholesky": _cholesky,
  "compare": _compare,
}


def _aliases(module: Module) -> bytes:
  rows: list[bytes] = []
  for alias in module.input_output_alias:
    row = wire.put_packed(1, alias.output_index) + wire.put_int(2, alias.parameter)
    row += wire.put_packed(3, alias.parameter_index) + wire.put_int(4, table.ALIAS_KINDS.index(alias.kind))
    rows.append(wire.put_message(1, row + alias.unknown))
  return b"".join(rows)


def _schedule(module: Module) -> bytes:
  entries: list[bytes] = []
  for computation in module.computations:
    if computation.is_fusion:
      continue
    order = wire.put_packed(1, tuple(i.id for i in topological_order(computation)))
    entries.append(wire.put_int(1, computation.id) + wire.put_message(2, order))
  return b"".join(wire.put_message(1, entry) for entry in entries)


def module_to_proto(module: Module) -> bytes:
  try:
    return ProtoWriter().module(module)
  except HloError:
    raise
  except Exception as error:  # a module that breaks the rules of HLO
    raise HloProtoError(
      f"module {module.name} cannot be written as a proto ({type(error).__name__}: {error})"
    ) from error
