"""Small messages that take more than a row of a table: frontend attributes, origins, statistics, accuracy.

Each has a pair of functions, `decode_…(bytes)` and `encode_…(value)`, and one is the inverse of the other. Larger ones are in
`proto_shapes`, `proto_literals` and `proto_shardings`.
"""

from __future__ import annotations

import struct
from typing import Any

from tilewright.hlo import proto_wire as wire
from tilewright.hlo.proto_schema import as_bytes, as_int, as_ints, decode, encode
from tilewright.hlo.values import Original, OriginalArray, ResultAccuracy, Statistics


def decode_map(data: bytes) -> dict[str, str]:
  """FrontendAttributes."""
  found: dict[str, str] = {}
  for number, _, value in wire.fields(data):
    if number == 1:
      entry = {n: v for n, _, v in wire.fields(as_bytes(value))}
      found[wire.text(entry.get(1, b""))] = wire.text(entry.get(2, b""))
  return found


def encode_map(attributes: dict[str, str]) -> bytes:
  entries = [
    wire.put_message(1, k.encode("utf-8", "surrogateescape"))
    + wire.put_message(2, v.encode("utf-8", "surrogateescape"))
    for k, v in attributes.items()
  ]
  return b"".join(wire.put_message(1, entry) for entry in entries)


def decode_original(data: bytes) -> Original:
  elements: list[tuple[tuple[int, ...], OriginalArray | None]] = []
  synthetic = False
  hierarchy: str | None = None
  unknown = b""
  for field in wire.fields(data):
    number, _, value = field
    if number == 1:
      index: tuple[int, ...] = ()
      array: OriginalArray | None = None
      for n, _, v in wire.fields(as_bytes(value)):
        if n == 1:
          index = as_ints(index, v)
        elif n == 2:
          array = decode(OriginalArray, as_bytes(v))
      elements.append((index, array))
    elif number == 2:
      synthetic = bool(as_int(value))
    elif number == 3:
      hierarchy = wire.text(value)
    else:
      unknown += wire.put_raw(field)
  return Original(tuple(elements), synthetic, hierarchy, unknown)


def encode_original(original: Original) -> bytes:
  out = b""
  for index, array in original.elements:
    inner = wire.put_packed(1, index) + (wire.put_message(2, encode(array)) if array is not None else b"")
    out += wire.put_message(1, inner)
  out += wire.put_int(2, int(original.is_synthetic_call))
  if original.call_hierarchy is not None:
    out += wire.put_message(3, original.call_hierarchy.encode("utf-8", "surrogateescape"))
  return out + original.unknown


def decode_statistics(data: bytes) -> Statistics:
  index = 0
  values: list[tuple[str, float]] = []
  unknown = b""
  for field in wire.fields(data):
    if field[0] == 1:
      index = as_int(field[2])
    elif field[0] == 2:
      entry: dict[int, Any] = {n: v for n, _, v in wire.fields(as_bytes(field[2]))}
      number = struct.unpack("<d", entry[2])[0] if 2 in entry else 0.0
      values.append((wire.text(entry.get(1, b"")), number))
    else:
      unknown += wire.put_raw(field)
  return Statistics(index, tuple(values), unknown)


def encode_statistics(statistics: Statistics) -> bytes:
  values = [wire.put_string(1, name) + wire.put_double(2, value) for name, value in statistics.values]
  entries = b"".join(wire.put_message(2, value) for value in values)
  return wire.put_int(1, statistics.visualizing_index) + entries + statistics.unknown


def decode_accuracy(data: bytes) -> ResultAccuracy:
  mode = 0
  tolerance: tuple[float, float, int] | None = None
  unknown = b""
  for field in wire.fields(data):
    if field[0] == 1:
      mode = as_int(field[2])
    elif field[0] == 2:
      entry: dict[int, Any] = {n: v for n, _, v in wire.fields(as_bytes(field[2]))}
      atol, rtol = (struct.unpack("<d", entry[n])[0] if n in entry else 0.0 for n in (1, 2))
      tolerance = (atol, rtol, as_int(entry.get(3, 0)))
    else:
      unknown += wire.put_raw(field)
  return ResultAccuracy(("default", "highest")[mode], tolerance, unknown)


def encode_accuracy(accuracy: ResultAccuracy) -> bytes:
  if accuracy.tolerance is not None:
    atol, rtol, ulps = accuracy.tolerance
    inner = wire.put_double(1, atol) + wire.put_double(2, rtol) + wire.put_int(3, ulps)
    return wire.put_message(2, inner) + accuracy.unknown
  # A member of a oneof is written even where it is zero.
  mode = int(accuracy.mode == "highest")
  return wire.varint(1 << 3) + wire.varint(mode) + accuracy.unknown
