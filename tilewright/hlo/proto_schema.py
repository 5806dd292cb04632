"""Field numbers of hlo.proto and xla_data.proto, and one codec for every message that maps field by field to a value class.

A row is (field number, attribute, kind). Kinds: int, uint, bool, str, ints (packed), float, double, strs, or a value
class (a message), or a one-element list of it (a repeated message). What has no row is kept in `unknown`, byte for
byte. Messages that need more than a table are in `proto_shapes`, `proto_literals`, `proto_shardings` and `proto_values`.
"""

from __future__ import annotations

import struct
from typing import Any

from tilewright.hlo import proto_wire as wire
from tilewright.hlo.errors import HloProtoError
from tilewright.hlo.groups import AxisRef
from tilewright.hlo.sharding import DimSharding
from tilewright.hlo.values import (
  BlockScaling,
  BufferDonor,
  ConvDims,
  DebugAttributes,
  FileLocation,
  OpMetadata,
  OriginalArray,
  OutputAlias,
  PaddingDim,
  SliceDim,
  Sparsity,
  StackFrame,
  StackFrameIndex,
  TensorScale,
  TensorSparsity,
  Window,
  WindowDim,
)

Row = tuple[int, str, Any]

SCHEMAS: dict[type, tuple[Row, ...]] = {
  WindowDim: (
    (1, "size", "int"),
    (2, "stride", "int"),
    (3, "padding_low", "int"),
    (4, "padding_high", "int"),
    (5, "window_dilation", "int"),
    (6, "base_dilation", "int"),
    (7, "reversal", "bool"),
  ),
  Window: ((1, "dimensions", [WindowDim]),),
  ConvDims: (
    (3, "kernel_input_feature", "int"),
    (4, "kernel_output_feature", "int"),
    (6, "kernel_spatial", "ints"),
    (7, "input_batch", "int"),
    (8, "input_feature", "int"),
    (9, "output_batch", "int"),
    (10, "output_feature", "int"),
    (11, "input_spatial", "ints"),
    (12, "output_spatial", "ints"),
  ),
  TensorSparsity: (
    (1, "non_zero", "int"),
    (2, "block_size", "int"),
    (3, "dimension", "int"),
    (4, "stride", "int"),
    (5, "index", "int"),
  ),
  Sparsity: ((1, "lhs", TensorSparsity), (2, "rhs", TensorSparsity)),
  TensorScale: ((1, "index", "int"),),
  BlockScaling: ((1, "lhs", TensorScale), (2, "rhs", TensorScale)),
  PaddingDim: ((1, "low", "int"), (2, "high", "int"), (3, "interior", "int")),
  SliceDim: ((1, "start", "int"), (2, "limit", "int"), (3, "stride", "int")),
  OpMetadata: (
    (1, "op_type", "str"),
    (2, "op_name", "str"),
    (3, "source_file", "str"),
    (4, "source_line", "int"),
    (5, "profile_type", "ints"),
    (8, "size_of_generated_code_in_bytes", "int"),
    (9, "size_of_memory_working_set_in_bytes", "int"),
    (12, "deduplicated_name", "str"),
    (15, "stack_frame_id", "int"),
    (16, "scheduling_name", "str"),
    (17, "source_end_line", "int"),
    (18, "source_column", "int"),
    (19, "source_end_column", "int"),
  ),
  OutputAlias: ((1, "output_index", "ints"), (2, "operand", "int"), (3, "operand_index", "ints")),
  BufferDonor: ((1, "parameter", "int"), (2, "parameter_index", "ints")),
  OriginalArray: ((1, "instruction_name", "str"), (2, "shape_index", "ints")),
  FileLocation: (
    (1, "file_name_id", "int"),
    (2, "function_name_id", "int"),
    (3, "line", "int"),
    (4, "column", "int"),
    (5, "end_line", "int"),
    (6, "end_column", "int"),
  ),
  StackFrame: ((1, "file_location_id", "int"), (2, "parent_frame_id", "int")),
  StackFrameIndex: (
    (1, "file_names", "strs"),
    (2, "function_names", "strs"),
    (3, "file_locations", [FileLocation]),
    (4, "stack_frames", [StackFrame]),
  ),
  AxisRef: ((1, "axis", "int"), (2, "sub_axis", "pair")),
  DimSharding: ((1, "axes", [AxisRef]), (2, "is_closed", "bool")),
  DebugAttributes: (
    (1, "log_mode", ("NONE", "DEFAULT", "FUSION_DEBUGGER", "NO_FUSION", "GUARANTEED")),
    (2, "callback_id", "int"),
    (3, "op_id", "int"),
    (4, "partitioned", "bool"),
    (5, "operands_sharding", "str"),
    (6, "x64_config", "bytes"),
  ),
}

_ZERO: dict[str, Any] = {
  "int": 0,
  "bool": False,
  "str": "",
  "ints": (),
  "strs": (),
  "float": 0.0,
  "double": 0.0,
  "pair": None,
  "bytes": b"",
}


def _blank(kind: Any) -> Any:
  if isinstance(kind, str):
    return _ZERO[kind]
  return () if isinstance(kind, list) else kind[0] if isinstance(kind, tuple) else None


_BLANKS: dict[type, dict[str, Any]] = {cls: {a: _blank(k) for _, a, k in rows} for cls, rows in SCHEMAS.items()}
_BY_NUMBER: dict[type, dict[int, tuple[str, Any]]] = {
  cls: {number: (attribute, kind) for number, attribute, kind in rows} for cls, rows in SCHEMAS.items()
}


def as_bytes(value: int | bytes) -> bytes:
  if not isinstance(value, bytes):
    raise HloProtoError("a message field of the proto holds a number")
  return value


def as_int(value: int | bytes) -> int:
  if not isinstance(value, int):
    raise HloProtoError("an integer field of the proto holds bytes")
  return wire.signed(value)


def as_ints(before: tuple[int, ...], value: int | bytes) -> tuple[int, ...]:
  """One more piece of a repeated integer: packed, or a single one."""
  return before + (wire.unpack_signed(value) if isinstance(value, bytes) else (wire.signed(value),))


def decode(cls: Any, data: bytes) -> Any:
  """A value of class `cls` from its message."""
  rows = _BY_NUMBER[cls]
  values = dict(_BLANKS[cls])
  unknown = b""
  for field in wire.fields(data):
    number, _, value = field
    row = rows.get(number)
    if row is None:
      unknown += wire.put_raw(field)
      continue
    attribute, kind = row
    if kind == "int":
      values[attribute] = as_int(value)
    elif kind == "str":
      values[attribute] = wire.text(value)
    elif kind == "ints":
      values[attribute] = as_ints(values[attribute], value)
    elif kind == "bool":
      values[attribute] = bool(as_int(value))
    elif kind == "strs":
      values[attribute] = (*values[attribute], wire.text(value))
    elif kind == "bytes":
      values[attribute] = as_bytes(value)
    elif kind == "double":
      values[attribute] = struct.unpack("<d", as_bytes(value))[0]
    elif kind == "pair":
      parts = {n: as_int(v) for n, _, v in wire.fields(as_bytes(value))}
      values[attribute] = (parts.get(1, 0), parts.get(2, 0))
    elif isinstance(kind, list):
      values[attribute] = (*values[attribute], decode(kind[0], as_bytes(value)))
    elif isinstance(kind, tuple):
      index = as_int(value)
      if not 0 <= index < len(kind):
        raise HloProtoError(f"{index} is not a known value of {attribute}")
      values[attribute] = kind[index]
    else:
      values[attribute] = decode(kind, as_bytes(value))
  return cls(**values, unknown=unknown)


def encode(value: Any) -> bytes:
  """The message of a value whose class has a schema, in order of field numbers."""
  out: list[bytes] = []
  for number, attribute, kind in SCHEMAS[type(value)]:
    part = getattr(value, attribute)
    if kind == "int" or kind == "bool":
      if part:
        out.append(wire.put_int(number, part))
    elif kind == "str":
      if part:
        out.append(wire.put_string(number, part))
    elif kind == "ints":
      if part:
        out.append(wire.put_packed(number, part))
    elif kind == "strs":
      out += [wire.put_message(number, item.encode("utf-8", "surrogateescape")) for item in part]
    elif kind == "bytes":
      out.append(wire.put_bytes(number, part))
    elif kind == "double":
      out.append(wire.put_double(number, part))
    elif kind == "pair":
      if part is not None:
        out.append(wire.put_message(number, wire.put_int(1, part[0]) + wire.put_int(2, part[1])))
    elif isinstance(kind, list):
      out += [wire.put_message(number, encode(item)) for item in part]
    elif isinstance(kind, tuple):
      out.append(wire.put_int(number, kind.index(part)))
    elif part is not None:
      out.append(wire.put_message(number, encode(part)))
  out.append(value.unknown)
  return b"".join(out)
