"""The fields of a serialised HloInstructionProto → attributes of an `Instruction`: by tables (`proto_fields`), and one by one.

read_field(attrs, 24, bytes of a float)      attrs["epsilon"]
finish(instruction)                          once its operands are known
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from tilewright.hlo import proto_fields as table
from tilewright.hlo import proto_wire as wire
from tilewright.hlo.groups import ListGroups
from tilewright.hlo.ir import Instruction
from tilewright.hlo.proto_literals import decode_literal
from tilewright.hlo.proto_schema import as_bytes, as_int, as_ints, decode
from tilewright.hlo.proto_shapes import decode_shape
from tilewright.hlo.proto_shardings import decode_group, decode_iota_groups, decode_list_groups, decode_mesh_groups
from tilewright.hlo.proto_values import decode_accuracy
from tilewright.hlo.values import OutputAlias, PaddingDim, SliceDim

# Fields with a value of their own class: number → (attribute, decoder).
_DECODED: dict[int, tuple[str, Callable[[bytes], Any]]] = {
  8: ("literal", decode_literal),
  29: ("outfeed_shape", decode_shape),
  87: ("replica_groups", decode_list_groups),
  92: ("replica_groups", decode_iota_groups),
  93: ("replica_groups", decode_mesh_groups),
  91: ("result_accuracy", decode_accuracy),
}


def read_field(attrs: dict[str, Any], number: int, value: int | bytes) -> bool:
  """Add what a field says to the attributes; False if nothing is known of it."""
  return _simple(attrs, number, value) or _grouped(attrs, number, value)


def _simple(attrs: dict[str, Any], number: int, value: int | bytes) -> bool:
  """One field, one attribute."""
  if number in table.INT_ATTRS:
    attrs[table.INT_ATTRS[number]] = as_int(value)
  elif number in table.BOOL_ATTRS:
    if as_int(value):
      attrs[table.BOOL_ATTRS[number]] = True
  elif number in table.STRING_ATTRS:
    attrs[table.STRING_ATTRS[number]] = wire.text(value)
  elif number in table.LIST_ATTRS:
    name = table.LIST_ATTRS[number]
    attrs[name] = as_ints(attrs.get(name, ()), value)
  elif number in table.ENUM_ATTRS:
    name, words = table.ENUM_ATTRS[number]
    if not 0 <= as_int(value) < len(words):
      return False
    attrs[name] = words[as_int(value)]
  elif number in table.MESSAGE_ATTRS:
    name, cls = table.MESSAGE_ATTRS[number]
    attrs[name] = decode(cls, as_bytes(value))
  elif number in table.CONFIG_ATTRS and value:
    name, cls = table.CONFIG_ATTRS[number]
    attrs[name] = decode(cls, as_bytes(value))
  elif number in _DECODED:
    name, decoder = _DECODED[number]
    attrs[name] = decoder(as_bytes(value))
  elif number == 9:
    attrs["parameter_number"] = as_int(value)
  elif number == 14:
    attrs["dimensions"] = as_ints(attrs.get("dimensions", ()), value)
  elif number == 20:
    attrs["dynamic_slice_sizes"] = as_ints(attrs.get("dynamic_slice_sizes", ()), value)
  elif number == 24:
    attrs["epsilon"] = struct.unpack("<f", as_bytes(value))[0]
  elif number == 56:
    attrs["constrain_layout"] = bool(as_int(value))
  elif number == 72:
    attrs["type"] = wire.text(value)
  elif number == 102:
    attrs["order"] = wire.text(value)
  elif number == 80:
    attrs["cross_program_prefetch_index"] = as_int(value)
  elif number == 96:
    attrs["is_associative"] = as_int(value) == 1
  elif number == 100:
    attrs["has_dynamic_root"] = bool(as_int(value))
  else:
    return False
  return True


def _grouped(attrs: dict[str, Any], number: int, value: int | bytes) -> bool:
  """Repeated messages, and messages that hold several attributes. A message with a field without a name stays whole."""
  if number == 17:
    attrs["slice"] = (*attrs.get("slice", ()), decode(SliceDim, as_bytes(value)))
  elif number == 21:
    parts = wire.fields(as_bytes(value))
    attrs["padding"] = tuple(decode(PaddingDim, as_bytes(v)) for n, _, v in parts if n == 1)
  elif number == 30:
    return _dims(attrs, value, table.DOT_DIMS)
  elif number == 90:
    for n, _, v in wire.fields(as_bytes(value)):
      if n == 1:
        _dims(attrs, v, table.DOT_DIMS)
      elif n in (2, 3):
        name = ("lhs_ragged_dims", "rhs_group_dims")[n - 2]
        attrs[name] = as_ints(attrs.get(name, ()), v)
  elif number in (33, 48):
    rows = table.GATHER_DIMS if number == 33 else table.SCATTER_DIMS
    for name in rows.values():
      if name not in table.OPTIONAL_DIMS:
        attrs[name] = ()
    attrs["index_vector_dim"] = 0
    return _dims(attrs, value, rows)
  elif number == 49:
    before = attrs.get("replica_groups")
    groups = before.replica_groups if isinstance(before, ListGroups) else ()
    attrs["replica_groups"] = ListGroups((*groups, decode_group(as_bytes(value))))
  elif number == 51:
    precision: tuple[int, ...] = ()
    for n, _, v in wire.fields(as_bytes(value)):
      if n == 1:
        precision = as_ints(precision, v)
      elif n == 2 and as_int(v):
        attrs["algorithm"] = table.ALGORITHMS[as_int(v)]
    if any(precision):
      attrs["operand_precision"] = tuple(table.PRECISIONS[i] for i in precision)
  elif number == 52:
    pair = {n: as_int(v) for n, _, v in wire.fields(as_bytes(value))}
    attrs["source_target_pairs"] = (*attrs.get("source_target_pairs", ()), (pair.get(1, 0), pair.get(2, 0)))
  elif number == 57:
    shapes = attrs.get("operand_layout_constraints", ())
    attrs["operand_layout_constraints"] = (*shapes, decode_shape(as_bytes(value)))
  elif number == 59:
    options = {n: as_int(v) for n, _, v in wire.fields(as_bytes(value))}
    for n, name in ((1, "left_side"), (2, "lower"), (3, "unit_diagonal")):
      if options.get(n):
        attrs[name] = True
    attrs["transpose_a"] = table.TRANSPOSES[options.get(4, 0)]
  elif number == 61:
    flags: tuple[int, ...] = ()
    for n, _, v in wire.fields(as_bytes(value)):
      flags = as_ints(flags, v) if n == 1 else flags
    attrs["parameter_replication"] = tuple(map(bool, flags))
  elif number == 62:
    attrs["lower"] = any(n == 1 and as_int(v) for n, _, v in wire.fields(as_bytes(value)))
  elif number == 74:
    attrs["output_to_operand_aliasing"] = (
      *attrs.get("output_to_operand_aliasing", ()),
      decode(OutputAlias, as_bytes(value)),
    )
  else:
    return False
  return True


def _dims(attrs: dict[str, Any], value: int | bytes, rows: dict[int, str]) -> bool:
  for n, _, v in wire.fields(as_bytes(value)):
    if n in rows:
      attrs[rows[n]] = as_ints(attrs.get(rows[n], ()), v)
    elif n == 4:
      attrs["index_vector_dim"] = as_int(v)
    else:
      return False
  return True


def finish(instruction: Instruction) -> None:
  """What only the opcode and the operands can tell: attributes left out because they are zero, and shared fields."""
  attrs, opcode = instruction.attrs, instruction.opcode
  required = table.REQUIRED.get(opcode)
  if required:
    for name, value in required.items():
      attrs.setdefault(name, value)
  if opcode == "iota":
    attrs["iota_dimension"] = (attrs.pop("dimensions", ()) or (0,))[0]
  elif opcode in ("reshape", "dynamic-reshape"):
    dims = attrs.pop("dimensions", ())
    if dims and dims[0] >= 0:
      attrs["inferred_dimension"] = dims[0]
  elif opcode == "compare":
    _finish_compare(instruction)
  elif opcode in ("collective-permute", "collective-permute-start"):
    sizes = attrs.pop("dynamic_slice_sizes", ())
    if sizes:
      rank = max(instruction.operands[0].shape.rank, 1)
      attrs["slice_sizes"] = tuple(sizes[i : i + rank] for i in range(0, len(sizes), rank))
  if opcode in table.HAS_GROUP_COUNTS:
    for name in ("feature_group_count", "batch_group_count"):
      if attrs.get(name) == 1:
        del attrs[name]
  if opcode == "custom-call":
    if attrs.pop("constrain_layout", False):
      attrs.setdefault("operand_layout_constraints", ())
    if attrs.get("api_version") == "API_VERSION_ORIGINAL":
      del attrs["api_version"]


def _finish_compare(instruction: Instruction) -> None:
  attrs = instruction.attrs
  kind = instruction.operands[0].shape.kind if instruction.operands else "other"
  order = attrs.pop("order", None)
  if attrs.get("type") == table.default_comparison(kind):
    del attrs["type"]
    if order is not None:
      instruction.unknown += wire.put_string(102, order)  # it follows from the type, but jax 0.10 does not write it
  elif order is not None and attrs.get("type") == "TOTALORDER":
    attrs["order"] = order
    del attrs["type"]
