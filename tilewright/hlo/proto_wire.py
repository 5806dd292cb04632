"""The protobuf wire format, as much of it as HLO needs: varints, fixed-width numbers, length-prefixed bytes, packed lists.

A message is a list of (field number, wire type, value). Large packed integer lists (the elements of constants) are
decoded and encoded with numpy, a few operations per byte position instead of a loop per element.
"""

from __future__ import annotations

import struct

import numpy as np

from tilewright.hlo.errors import HloProtoError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

Field = tuple[int, int, "int | bytes"]


def read_varint(data: bytes, pos: int) -> tuple[int, int]:
  """The unsigned value at `pos` and the position after it."""
  result = shift = 0
  while True:
    if pos >= len(data) or shift > 63:
      raise HloProtoError("a varint of the proto is truncated or too long")
    byte = data[pos]
    pos += 1
    result |= (byte & 0x7F) << shift
    if byte < 0x80:
      return result & 0xFFFFFFFFFFFFFFFF, pos
    shift += 7


def fields(data: bytes) -> list[Field]:
  """Every field of a message, in order. Length-prefixed values are bytes, all others are unsigned integers or raw
  bytes.
  """
  found: list[Field] = []
  pos, size = 0, len(data)
  while pos < size:
    key = data[pos]
    pos += 1
    if key >= 0x80:
      key, pos = read_varint(data, pos - 1)
    number, wire = key >> 3, key & 7
    value: int | bytes
    if wire == VARINT:
      if pos < size and data[pos] < 0x80:
        value = data[pos]
        pos += 1
      else:
        value, pos = read_varint(data, pos)
    elif wire == BYTES:
      if pos < size and data[pos] < 0x80:
        length = data[pos]
        pos += 1
      else:
        length, pos = read_varint(data, pos)
      value = data[pos : pos + length]
      pos += length
      if pos > size:
        raise HloProtoError("a field of the proto reaches beyond its message")
    elif wire in (FIXED32, FIXED64):
      width = 4 if wire == FIXED32 else 8
      value = data[pos : pos + width]
      pos += width
      if pos > size:
        raise HloProtoError("a field of the proto reaches beyond its message")
    else:
      raise HloProtoError(f"wire type {wire} of field {number} does not occur in HLO protos")
    if number == 0:
      raise HloProtoError("field number 0 does not exist: these bytes are not a proto")
    found.append((number, wire, value))
  return found


def signed(value: int) -> int:
  return value - (1 << 64) if value >= 1 << 63 else value


def unpack_signed(data: bytes) -> tuple[int, ...]:
  """A packed list of int64 or int32."""
  if not any(byte >= 0x80 for byte in data):
    return tuple(data)
  values: list[int] = []
  pos = 0
  while pos < len(data):
    value, pos = read_varint(data, pos)
    values.append(signed(value))
  return tuple(values)


def unpack_array(data: bytes) -> np.ndarray:
  """A packed list of varints as uint64, vectorised."""
  raw = np.frombuffer(data, np.uint8)
  if raw.size == 0:
    return np.zeros(0, np.uint64)
  if not (raw & 0x80).any():
    return raw.astype(np.uint64)
  ends = np.flatnonzero(raw < 0x80)
  if ends.size == 0 or ends[-1] != raw.size - 1:
    raise HloProtoError("a packed list of the proto is truncated")
  starts = np.concatenate([[0], ends[:-1] + 1])
  lengths = ends - starts + 1
  if lengths.max() > 10:
    raise HloProtoError("a varint of the proto is too long")
  values = np.zeros(ends.size, np.uint64)
  for i in range(int(lengths.max())):
    has = lengths > i
    values[has] |= (raw[starts[has] + i] & 0x7F).astype(np.uint64) << np.uint64(7 * i)
  return values


def varint(value: int) -> bytes:
  value &= 0xFFFFFFFFFFFFFFFF
  if value < 0x80:
    return bytes((value,))
  out = bytearray()
  while value >= 0x80:
    out.append(value & 0x7F | 0x80)
    value >>= 7
  out.append(value)
  return bytes(out)


def pack_array(values: np.ndarray) -> bytes:
  """uint64 values as a packed list of varints, vectorised."""
  values = np.ascontiguousarray(values, np.uint64).reshape(-1)
  if values.size == 0:
    return b""
  if int(values.max()) < 0x80:
    return values.astype(np.uint8).tobytes()
  lengths = np.ones(values.size, np.int64)
  for i in range(1, 10):
    lengths += (values >> np.uint64(7 * i)) != 0
  ends = np.cumsum(lengths)
  starts = ends - lengths
  out = np.zeros(int(ends[-1]), np.uint8)
  for i in range(int(lengths.max())):
    has = lengths > i
    byte = ((values[has] >> np.uint64(7 * i)) & np.uint64(0x7F)).astype(np.uint8)
    out[starts[has] + i] = byte | np.where(lengths[has] > i + 1, 0x80, 0).astype(np.uint8)
  return out.tobytes()


# Writers of single fields. Each gives b"" for the default value, as proto3 does.


def put_int(number: int, value: int) -> bytes:
  return varint(number << 3) + varint(value) if value else b""


def put_bytes(number: int, value: bytes) -> bytes:
  return put_message(number, value) if value else b""


def put_message(number: int, value: bytes) -> bytes:
  """A message is written even if it is empty: being there is part of its meaning."""
  return varint(number << 3 | BYTES) + varint(len(value)) + value


def put_string(number: int, value: str) -> bytes:
  return put_message(number, value.encode("utf-8", "surrogateescape")) if value else b""


def put_packed(number: int, values: tuple[int, ...]) -> bytes:
  return put_message(number, b"".join(map(varint, values))) if values else b""


def put_float(number: int, value: float) -> bytes:
  return varint(number << 3 | FIXED32) + struct.pack("<f", value) if value else b""


def put_double(number: int, value: float) -> bytes:
  return varint(number << 3 | FIXED64) + struct.pack("<d", value) if value else b""


def put_raw(field: Field) -> bytes:
  """A field exactly as it was read."""
  number, wire, value = field
  key = varint(number << 3 | wire)
  if isinstance(value, int):
    return key + varint(value)
  return key + (varint(len(value)) if wire == BYTES else b"") + value


def text(value: int | bytes) -> str:
  if not isinstance(value, bytes):
    raise HloProtoError("a string field of the proto holds a number")
  return value.decode("utf-8", "surrogateescape")
