"""Literals as messages: a shape and the elements, in the field of their type and in the order of the layout.

Booleans and integers of 32 and 64 bits are varints; everything else is the bytes of the array, a byte for each element of less than that:
the s4 value -1 is 0x0f.
"""

from __future__ import annotations

import math

import numpy as np

from tilewright.hlo import proto_wire as wire
from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.hlo.errors import HloProtoError
from tilewright.hlo.literal import Literal
from tilewright.hlo.proto_schema import as_bytes, as_ints
from tilewright.hlo.proto_shapes import decode_shape, encode_shape
from tilewright.hlo.shape import Layout, Shape

_VARINT_FIELDS = {2, 4, 5, 6, 7}


def _to_layout_order(array: np.ndarray, layout: Layout | None) -> np.ndarray:
  if layout is None or layout.is_descending or array.ndim < 2:
    return array.reshape(-1)
  return array.transpose(layout.minor_to_major[::-1]).reshape(-1)


def _from_layout_order(flat: np.ndarray, shape: Shape) -> np.ndarray:
  layout = shape.layout
  if layout is None or layout.is_descending or shape.rank < 2:
    return flat.reshape(shape.dimensions)
  major = layout.minor_to_major[::-1]
  stored = flat.reshape([shape.dimensions[i] for i in major])
  return np.ascontiguousarray(stored.transpose(np.argsort(major)))


def decode_literal(data: bytes) -> Literal:
  shape: Shape | None = None
  parts: list[Literal] = []
  payload: dict[int, list[bytes]] = {}
  dynamic: tuple[int, ...] = ()
  unknown = b""
  known = {row.literal_field for row in PRIMITIVE_TYPES.values() if row.literal_field}
  for field in wire.fields(data):
    number, _, value = field
    if number == 1:
      shape = decode_shape(as_bytes(value))
    elif number == 10:
      parts.append(decode_literal(as_bytes(value)))
    elif number == 34:
      dynamic = as_ints(dynamic, value)
    elif number in known:
      if isinstance(value, int):
        value = wire.varint(value)
      payload.setdefault(number, []).append(value)
    else:
      unknown += wire.put_raw(field)
  if shape is None:
    raise HloProtoError("a literal of the proto has no shape")
  if shape.is_tuple:
    return Literal(shape, None, tuple(parts), dynamic, unknown)
  if not shape.is_array:
    return Literal(shape, None, (), dynamic, unknown)
  row = PRIMITIVE_TYPES[shape.element_type]
  raw = b"".join(payload.get(row.literal_field, ()))
  count = math.prod(shape.dimensions)
  array = _elements(raw, row.name, count)
  if array.size != count:
    raise HloProtoError(f"a literal of shape {shape} has {array.size} elements")
  return Literal(shape, _from_layout_order(array, shape), (), dynamic, unknown)


def _elements(raw: bytes, element_type: str, count: int) -> np.ndarray:
  row = PRIMITIVE_TYPES[element_type]
  dtype = row.dtype
  assert dtype is not None
  if row.literal_field in _VARINT_FIELDS:
    values = wire.unpack_array(raw)
    if row.kind == "signed":
      return values.astype(np.int64).astype(dtype)
    return values.astype(dtype)
  if len(raw) != count * dtype.itemsize:
    raise HloProtoError(f"{count} elements of type {element_type} in {len(raw)} bytes")
  if row.bits < 8 and row.kind == "signed":
    # A byte per element holds the low bits only: spread the sign.
    sign = 1 << (row.bits - 1)
    return ((np.frombuffer(raw, np.int8) ^ sign) - sign).astype(dtype)
  if row.bits < 8 and row.kind == "unsigned":
    return np.frombuffer(raw, np.uint8).astype(dtype)
  return np.frombuffer(raw, dtype)


def encode_literal(literal: Literal) -> bytes:
  shape = literal.shape
  out = wire.put_message(1, encode_shape(shape))
  row = PRIMITIVE_TYPES[shape.element_type]
  elements: dict[int, bytes] = {}
  if shape.is_tuple:
    elements[10] = b"".join(wire.put_message(10, encode_literal(part)) for part in literal.elements)
  elif shape.is_array:
    if literal.value is None:
      raise HloProtoError(f"the elements of a {shape} constant were elided from the text: it has no proto")
    if literal.value.shape != shape.dimensions:
      raise HloProtoError(f"a literal of shape {shape} holds an array of shape {literal.value.shape}")
    flat = _to_layout_order(np.ascontiguousarray(literal.value), shape.layout)
    elements[row.literal_field] = wire.put_bytes(row.literal_field, _element_bytes(flat, row.name))
  elements[34] = wire.put_packed(34, literal.dynamic_sizes)
  return out + b"".join(elements[number] for number in sorted(elements)) + literal.unknown


def _element_bytes(flat: np.ndarray, element_type: str) -> bytes:
  row = PRIMITIVE_TYPES[element_type]
  if row.literal_field in _VARINT_FIELDS:
    return wire.pack_array(flat.astype(np.int64).astype(np.uint64) if row.kind == "signed" else flat.astype(np.uint64))
  if row.bits < 8 and row.kind in ("signed", "unsigned"):
    return (flat.astype(np.int8).view(np.uint8) & ((1 << row.bits) - 1)).tobytes()
  return flat.tobytes()
