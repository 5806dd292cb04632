"""A serialised HloModuleProto → `Module`.

The proto holds everything the text does except what XLA keeps in the module's config: replica_count, num_partitions,
alias_passthrough_params and the sharding-propagation flags. XLA's hooks put their own config back, so nothing is lost
there. Equal shapes and metadata are decoded once.
"""

from __future__ import annotations

import gc

from tilewright.hlo import proto_fields as table
from tilewright.hlo import proto_wire as wire
from tilewright.hlo.errors import HloError, HloProtoError
from tilewright.hlo.ir import MAIN_THREAD, Computation, Instruction, Module, OriginRecovery
from tilewright.hlo.proto_attributes import finish, read_field
from tilewright.hlo.proto_schema import as_bytes, as_int, as_ints, decode
from tilewright.hlo.proto_shapes import decode_program_shape, decode_shape
from tilewright.hlo.proto_shardings import decode_sharding
from tilewright.hlo.proto_values import decode_map, decode_original, decode_statistics
from tilewright.hlo.shape import Shape
from tilewright.hlo.sharding import Domain, Sharding
from tilewright.hlo.values import (
  BufferDonor,
  DebugAttributes,
  DebugEntry,
  InputOutputAlias,
  OpMetadata,
  OriginalArray,
  StackFrameIndex,
)


class ProtoReader:
  def __init__(self) -> None:
    self.shapes: dict[bytes, Shape] = {}
    self.metadata: dict[bytes, OpMetadata] = {}
    self.calls: list[tuple[Instruction, tuple[int, ...]]] = []

  def module(self, data: bytes) -> Module:
    module = Module("", counts_known=False)
    by_id: dict[int, Computation] = {}
    entry_id, entry_name, sequences = 0, "", dict[int, tuple[int, ...]]()
    for field in wire.fields(data):
      number, _, value = field
      if number == 1:
        module.name = wire.text(value)
      elif number == 2:
        entry_name = wire.text(value)
      elif number == 3:
        computation = self._computation(as_bytes(value))
        computation.parent = module
        module.computations.append(computation)
        if computation.id in by_id:
          raise HloProtoError(f"two computations of the proto have the id {computation.id}")
        by_id[computation.id] = computation
      elif number == 4:
        module.entry_layout = decode_program_shape(as_bytes(value))
      elif number == 5:
        module.id = as_int(value)
      elif number == 6:
        entry_id = as_int(value)
      elif number == 7:
        module.is_scheduled = True
        sequences = _sequences(as_bytes(value))
      elif number == 8:
        module.input_output_alias = _aliases(as_bytes(value))
      elif number == 12:
        module.spmd_output_sharding = decode_sharding(as_bytes(value))
      elif number == 14:
        module.spmd_parameter_shardings += (decode_sharding(as_bytes(value)),)
      elif number == 17:
        module.stack_frames = decode(StackFrameIndex, as_bytes(value))
      elif number == 18:
        module.buffer_donor = tuple(
          decode(BufferDonor, as_bytes(v)) for n, _, v in wire.fields(as_bytes(value)) if n == 1
        )
      elif number == 19:
        module.frontend_attributes = decode_map(as_bytes(value))
      elif number == 20:
        module.origin_recovery_table = _recovery_table(as_bytes(value))
      elif number == 24:
        module.debug_attributes += (_debug_entry(as_bytes(value)),)
      else:
        module.unknown += wire.put_raw(field)
    if not module.computations:
      raise HloProtoError("the proto has no computations: these bytes are not an HloModuleProto")
    if entry_id not in by_id:
      raise HloProtoError(f"the entry computation {entry_name or entry_id} is not in the proto")
    module.entry = by_id[entry_id]
    for instruction, ids in self.calls:
      _set_calls(instruction, ids, by_id)
    for computation_id, order in sequences.items():
      _reorder(by_id, computation_id, order)
    return module

  def _computation(self, data: bytes) -> Computation:
    computation = Computation("", id=0)
    root_id = 0
    by_id: dict[int, Instruction] = {}
    edges: list[tuple[Instruction, tuple[int, ...], tuple[int, ...]]] = []
    for field in wire.fields(data):
      number, _, value = field
      if number == 1:
        computation.name = wire.text(value)
      elif number == 2:
        instruction, operands, predecessors = self._instruction(as_bytes(value))
        instruction.parent = computation
        computation.instructions.append(instruction)
        if instruction.id in by_id:
          raise HloProtoError(f"two instructions of %{computation.name} have the id {instruction.id}")
        by_id[instruction.id] = instruction
        if operands or predecessors:
          edges.append((instruction, operands, predecessors))
      elif number == 5:
        computation.id = as_int(value)
      elif number == 6:
        root_id = as_int(value)
      elif number == 7:
        computation.is_fusion = bool(as_int(value))
      elif number == 8:
        computation.execution_thread = wire.text(value) or MAIN_THREAD
      elif number != 4:  # the program shape repeats what the instructions say
        computation.unknown += wire.put_raw(field)
    try:
      for instruction, operands, predecessors in edges:
        instruction.operands = tuple([by_id[i] for i in operands])
        for operand in instruction.operands:
          operand._users[instruction] = None
        for i in predecessors:
          instruction.add_control_predecessor(by_id[i])
      computation.root = by_id[root_id]
    except KeyError as error:
      raise HloProtoError(f"computation %{computation.name} has no instruction with the id {error}") from None
    for instruction in computation.instructions:
      finish(instruction)
    return computation

  def _instruction(self, data: bytes) -> tuple[Instruction, tuple[int, ...], tuple[int, ...]]:
    instruction = Instruction("", "", None, id=0)  # type: ignore[arg-type]
    attrs = instruction.attrs
    operands: tuple[int, ...] = ()
    predecessors: tuple[int, ...] = ()
    called: tuple[int, ...] = ()
    domain: dict[int, Sharding] = {}
    for field in wire.fields(data):
      number, _, value = field
      if number == 1:
        instruction.name = wire.text(value)
      elif number == 2:
        instruction.opcode = wire.text(value)
      elif number == 3:
        raw = as_bytes(value)
        shape = self.shapes.get(raw)
        if shape is None:
          shape = self.shapes[raw] = decode_shape(raw)
        instruction.shape = shape
      elif number == 7:
        raw = as_bytes(value)
        if raw:
          metadata = self.metadata.get(raw)
          if metadata is None:
            metadata = self.metadata[raw] = decode(OpMetadata, raw)
          instruction.metadata = metadata
      elif number == 35:
        instruction.id = as_int(value)
      elif number == 36:
        operands = as_ints(operands, value)
      elif number == 37:
        predecessors = as_ints(predecessors, value)
      elif number == 38:
        called = as_ints(called, value)
      elif number == 68:
        instruction.frontend_attributes = decode_map(as_bytes(value))
      elif number == 82:
        if value:
          instruction.statistics = decode_statistics(as_bytes(value))
      elif number == 43:
        instruction.backend_config = wire.text(value)
      elif number == 40:
        instruction.sharding = decode_sharding(as_bytes(value))
      elif number == 88:
        instruction.origin = decode_original(as_bytes(value))
      elif number in (54, 55):
        domain[number] = decode_sharding(as_bytes(value))
      elif not read_field(attrs, number, value):
        instruction.unknown += wire.put_raw(field)
    if domain:
      # The text's entry is the proto's exit, as seen from the other side of the domain.
      empty = Sharding("replicated")
      attrs["domain"] = Domain("sharding", domain.get(55, empty), domain.get(54, empty))
    if instruction.shape is None:
      raise HloProtoError(f"instruction %{instruction.name} of the proto has no shape")
    if called:
      self.calls.append((instruction, called))
    return instruction, operands, predecessors


def _set_calls(instruction: Instruction, ids: tuple[int, ...], by_id: dict[int, Computation]) -> None:
  try:
    called = tuple(by_id[i] for i in ids)
  except KeyError as error:
    raise HloProtoError(f"%{instruction.name} calls computation {error}, which is not in the proto") from None
  attrs, opcode = instruction.attrs, instruction.opcode
  if opcode in table.TO_APPLY and len(called) == 1:
    attrs["to_apply"] = called[0]
  elif opcode == "fusion" or opcode.startswith("async-"):
    attrs["calls"] = called[0]
  elif opcode == "while" and len(called) == 2:
    attrs["body"], attrs["condition"] = called
  elif opcode == "select-and-scatter" and len(called) == 2:
    attrs["select"], attrs["scatter"] = called
  elif opcode == "conditional":
    if len(called) == 2 and instruction.operands and instruction.operands[0].shape.element_type == "pred":
      attrs["true_computation"], attrs["false_computation"] = called
    else:
      attrs["branch_computations"] = called
  else:
    attrs["called_computations"] = called


def _sequences(data: bytes) -> dict[int, tuple[int, ...]]:
  found: dict[int, tuple[int, ...]] = {}
  for number, _, value in wire.fields(data):
    if number != 1:
      continue
    entry = {n: v for n, _, v in wire.fields(as_bytes(value))}
    order: tuple[int, ...] = ()
    for n, _, v in wire.fields(as_bytes(entry.get(2, b""))):
      order = as_ints(order, v) if n == 1 else order
    found[as_int(entry.get(1, 0))] = order
  return found


def _reorder(by_id: dict[int, Computation], computation_id: int, order: tuple[int, ...]) -> None:
  computation = by_id.get(computation_id)
  if computation is None:
    raise HloProtoError(f"the schedule orders computation {computation_id}, which is not in the proto")
  # Ids are unique in the module; older protos schedule by the local half of the id.
  place = {instruction_id: i for i, instruction_id in enumerate(order)}
  local = {i & 0xFFFFFFFF: n for i, n in place.items()}

  def key(instruction: Instruction) -> int:
    found = place.get(instruction.id, local.get(instruction.id & 0xFFFFFFFF))
    if found is None:
      raise HloProtoError(f"the schedule of %{computation.name} leaves out %{instruction.name}")
    return found

  computation.instructions.sort(key=key)


def _aliases(data: bytes) -> tuple[InputOutputAlias, ...]:
  found: list[InputOutputAlias] = []
  for number, _, value in wire.fields(data):
    if number != 1:
      continue
    output: tuple[int, ...] = ()
    index: tuple[int, ...] = ()
    parameter, kind, unknown = 0, 0, b""
    for field in wire.fields(as_bytes(value)):
      n, _, v = field
      if n == 1:
        output = as_ints(output, v)
      elif n == 2:
        parameter = as_int(v)
      elif n == 3:
        index = as_ints(index, v)
      elif n == 4:
        kind = as_int(v)
      else:
        unknown += wire.put_raw(field)
    found.append(InputOutputAlias(output, parameter, index, table.ALIAS_KINDS[kind], unknown))
  return tuple(found)


def _recovery_table(data: bytes) -> tuple[OriginRecovery, ...]:
  found: list[OriginRecovery] = []
  for number, _, value in wire.fields(data):
    if number != 1:
      continue
    arrays: dict[int, OriginalArray] = {}
    module: Module | None = None
    unknown = b""
    for field in wire.fields(as_bytes(value)):
      n, _, v = field
      if n in (1, 2):
        arrays[n] = decode(OriginalArray, as_bytes(v))
      elif n == 3:
        module = ProtoReader().module(as_bytes(v))
      else:
        unknown += wire.put_raw(field)
    found.append(OriginRecovery(arrays.get(1), arrays.get(2), module, unknown))
  return tuple(found)


def _debug_entry(data: bytes) -> DebugEntry:
  array: OriginalArray | None = None
  found: list[DebugAttributes] = []
  unknown = b""
  for field in wire.fields(data):
    if field[0] == 1:
      array = decode(OriginalArray, as_bytes(field[2]))
    elif field[0] == 2:
      found.append(decode(DebugAttributes, as_bytes(field[2])))
    else:
      unknown += wire.put_raw(field)
  return DebugEntry(array, tuple(found), unknown)


def from_proto(data: bytes) -> Module:
  """Reads a serialised HloModuleProto, as XLA's hooks hand it over. `HloProtoError` if it is not one."""
  collecting = gc.isenabled()  # see parser.parse
  gc.disable()
  try:
    return ProtoReader().module(data)
  except HloError:
    raise
  except Exception as error:  # bytes that a rule of this package did not expect
    raise HloProtoError(f"these bytes are not an HloModuleProto ({type(error).__name__}: {error})") from None
  finally:
    if collecting:
      gc.enable()
