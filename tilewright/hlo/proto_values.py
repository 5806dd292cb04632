"""Messages that take more than a table: shapes, literals, shardings, replica groups, origins."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np

from tilewright.hlo import proto_wire as wire
from tilewright.hlo.dtypes import BY_ENUM, PRIMITIVE_TYPES
from tilewright.hlo.errors import HloProtoError
from tilewright.hlo.groups import AxisRef, Iota, IotaGroups, ListGroups, Mesh, MeshGroups
from tilewright.hlo.literal import Literal
from tilewright.hlo.proto_schema import as_bytes, as_int, as_ints, decode, encode
from tilewright.hlo.shape import Layout, ProgramShape, Shape, SplitConfig
from tilewright.hlo.sharding import DimSharding, NamedSharding, Sharding
from tilewright.hlo.values import OpMetadata, Original, OriginalArray, ResultAccuracy, Statistics

LEVELS = ("D", "C", "S", "H")
SHARDING_TYPES = ("replicated", "maximal", "tuple", "devices", "manual", "unknown", "unreduced")
REDUCTIONS = ("sum", "max", "min")


def _type_name(enum: int) -> str:
  row = BY_ENUM.get(enum)
  if row is None:
    raise HloProtoError(f"element type {enum} of the proto is not known")
  return row.name


# Shapes.


def decode_shape(data: bytes) -> Shape:
  element_type = 0
  dims: tuple[int, ...] = ()
  dynamic: tuple[int, ...] = ()
  parts: list[Shape] = []
  layout: Layout | None = None
  unknown = b""
  for field in wire.fields(data):
    number, _, value = field
    if number == 2:
      element_type = as_int(value)
    elif number == 3:
      dims = as_ints(dims, value)
    elif number == 4:
      parts.append(decode_shape(as_bytes(value)))
    elif number == 5:
      layout = decode_layout(as_bytes(value))
    elif number == 6:
      dynamic = as_ints(dynamic, value)
    else:
      unknown += wire.put_raw(field)
  flags = tuple(map(bool, dynamic)) if any(dynamic) else ()
  return Shape(_type_name(element_type), dims, layout, flags, tuple(parts), unknown)


def encode_shape(shape: Shape) -> bytes:
  flags = tuple(map(int, shape.dynamic)) or (0,) * len(shape.dimensions)
  return (
    wire.put_int(2, PRIMITIVE_TYPES[shape.element_type].enum)
    + wire.put_packed(3, shape.dimensions)
    + b"".join(wire.put_message(4, encode_shape(part)) for part in shape.tuple_shapes)
    + (wire.put_message(5, encode_layout(shape.layout)) if shape.layout is not None else b"")
    + wire.put_packed(6, flags)
    + shape.unknown
  )


def decode_layout(data: bytes) -> Layout:
  lists: dict[int, tuple[int, ...]] = {1: (), 9: (), 13: (), 14: ()}
  numbers = {7: 0, 8: 0, 11: 0, 12: 0, 15: 0, 16: 0}
  tiles: list[tuple[int, ...]] = []
  splits: list[SplitConfig] = []
  physical: Shape | None = None
  unknown = b""
  for field in wire.fields(data):
    number, _, value = field
    if number in lists:
      lists[number] = as_ints(lists[number], value)
    elif number in numbers:
      numbers[number] = as_int(value)
    elif number == 6:
      tile: tuple[int, ...] = ()
      for n, _, v in wire.fields(as_bytes(value)):
        tile = as_ints(tile, v) if n == 1 else tile
      tiles.append(tile)
    elif number == 17:
      dimension, indices = 0, ()
      for n, _, v in wire.fields(as_bytes(value)):
        if n == 1:
          dimension = as_int(v)
        elif n == 2:
          indices = as_ints(indices, v)  # type: ignore[assignment]
      splits.append(SplitConfig(dimension, indices))
    elif number == 10:
      physical = decode_shape(as_bytes(value))
    else:
      unknown += wire.put_raw(field)
  return Layout(
    lists[1],
    tuple(LEVELS[i] for i in lists[9]),
    tuple(map(bool, lists[13])),
    tuple(map(bool, lists[14])),
    tuple(tiles),
    numbers[16],
    _type_name(numbers[11]) if numbers[11] else "",
    _type_name(numbers[12]) if numbers[12] else "",
    numbers[7],
    numbers[8],
    tuple(splits),
    physical,
    numbers[15],
    unknown,
  )


def encode_layout(layout: Layout) -> bytes:
  def enum(name: str) -> int:
    return PRIMITIVE_TYPES[name].enum if name else 0

  return (
    wire.put_packed(1, layout.minor_to_major)
    + b"".join(wire.put_message(6, wire.put_packed(1, tile)) for tile in layout.tiles)
    + wire.put_int(7, layout.element_size_in_bits)
    + wire.put_int(8, layout.memory_space)
    + wire.put_packed(9, tuple(LEVELS.index(level) for level in layout.dim_level_types))
    + (wire.put_message(10, encode_shape(layout.physical_shape)) if layout.physical_shape is not None else b"")
    + wire.put_int(11, enum(layout.index_type))
    + wire.put_int(12, enum(layout.pointer_type))
    + wire.put_packed(13, tuple(map(int, layout.dim_unique)))
    + wire.put_packed(14, tuple(map(int, layout.dim_ordered)))
    + wire.put_int(15, layout.dynamic_shape_metadata_prefix_bytes)
    + wire.put_int(16, layout.tail_padding_alignment)
    + b"".join(
      wire.put_message(17, wire.put_int(1, split.dimension) + wire.put_packed(2, split.indices))
      for split in layout.split_configs
    )
    + layout.unknown
  )


def decode_program_shape(data: bytes) -> ProgramShape:
  parameters: list[Shape] = []
  names: list[str] = []
  result = Shape("tuple")
  unknown = b""
  for field in wire.fields(data):
    number, _, value = field
    if number == 1:
      parameters.append(decode_shape(as_bytes(value)))
    elif number == 2:
      result = decode_shape(as_bytes(value))
    elif number == 3:
      names.append(wire.text(value))
    else:
      unknown += wire.put_raw(field)
  return ProgramShape(tuple(parameters), result, tuple(names), unknown)


def encode_program_shape(shape: ProgramShape) -> bytes:
  return (
    b"".join(wire.put_message(1, encode_shape(parameter)) for parameter in shape.parameters)
    + wire.put_message(2, encode_shape(shape.result))
    + b"".join(wire.put_message(3, name.encode("utf-8", "surrogateescape")) for name in shape.parameter_names)
    + shape.unknown
  )


# Literals. Elements are stored in the order of the layout.

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


# Meshes, groups and shardings.


def decode_mesh(data: bytes) -> Mesh:
  axes: list[tuple[str, int]] = []
  ids: tuple[int, ...] = ()
  iota: Iota | None = None
  unknown = b""
  for field in wire.fields(data):
    number, _, value = field
    if number == 1:
      parts = {n: v for n, _, v in wire.fields(as_bytes(value))}
      axes.append((wire.text(parts.get(1, b"")), as_int(parts.get(2, 0))))
    elif number == 2:
      ids = as_ints(ids, value)
    elif number == 3:
      iota = _decode_iota(as_bytes(value), 1, 2)
    else:
      unknown += wire.put_raw(field)
  return Mesh(tuple(axes), iota or ids or None, unknown)


def encode_mesh(mesh: Mesh) -> bytes:
  out = b"".join(wire.put_message(1, wire.put_string(1, name) + wire.put_int(2, size)) for name, size in mesh.axes)
  if isinstance(mesh.device_ids, Iota):
    iota = wire.put_packed(1, mesh.device_ids.reshape_dims) + wire.put_packed(2, _perm(mesh.device_ids))
    out += wire.put_message(3, iota)
  elif mesh.device_ids is not None:
    out += wire.put_packed(2, mesh.device_ids)
  return out + mesh.unknown


def _decode_iota(data: bytes, dims_field: int, perm_field: int) -> Iota:
  dims: tuple[int, ...] = ()
  perm: tuple[int, ...] = ()
  for number, _, value in wire.fields(data):
    if number == dims_field:
      dims = as_ints(dims, value)
    elif number == perm_field:
      perm = as_ints(perm, value)
  return _iota(dims, perm)


def _iota(dims: tuple[int, ...], perm: tuple[int, ...]) -> Iota:
  """XLA writes the identity out, the text leaves it out, and so do we."""
  return Iota(dims, () if perm == tuple(range(len(dims))) else perm)


def decode_list_groups(data: bytes) -> ListGroups:
  groups: list[tuple[int, ...]] = []
  unknown = b""
  for field in wire.fields(data):
    if field[0] == 1:
      groups.append(decode_group(as_bytes(field[2])))
    else:
      unknown += wire.put_raw(field)
  return ListGroups(tuple(groups), unknown)


def decode_group(data: bytes) -> tuple[int, ...]:
  ids: tuple[int, ...] = ()
  for number, _, value in wire.fields(data):
    if number == 1:
      ids = as_ints(ids, value)
  return ids


def encode_list_groups(groups: ListGroups) -> bytes:
  return b"".join(wire.put_message(1, wire.put_packed(1, group)) for group in groups.replica_groups) + groups.unknown


def decode_iota_groups(data: bytes) -> IotaGroups:
  numbers = {1: 0, 2: 0}
  unknown = b""
  for field in wire.fields(data):
    if field[0] in numbers:
      numbers[field[0]] = as_int(field[2])
    elif field[0] not in (3, 4):
      unknown += wire.put_raw(field)
  return IotaGroups(numbers[1], numbers[2], _decode_iota(data, 3, 4), unknown)


def encode_iota_groups(groups: IotaGroups) -> bytes:
  return (
    wire.put_int(1, groups.num_groups)
    + wire.put_int(2, groups.group_size)
    + wire.put_packed(3, groups.iota.reshape_dims)
    + wire.put_packed(4, _perm(groups.iota))
    + groups.unknown
  )


def decode_mesh_groups(data: bytes) -> MeshGroups:
  mesh = Mesh()
  axes: list[AxisRef] = []
  unknown = b""
  for field in wire.fields(data):
    if field[0] == 1:
      mesh = decode_mesh(as_bytes(field[2]))
    elif field[0] == 2:
      axes.append(decode(AxisRef, as_bytes(field[2])))
    else:
      unknown += wire.put_raw(field)
  return MeshGroups(mesh, tuple(axes), unknown)


def encode_mesh_groups(groups: MeshGroups) -> bytes:
  axes = b"".join(wire.put_message(2, encode(axis)) for axis in groups.axes)
  return wire.put_message(1, encode_mesh(groups.mesh)) + axes + groups.unknown


def decode_named(data: bytes) -> NamedSharding:
  mesh = Mesh()
  dims: list[DimSharding] = []
  axes: dict[int, list[AxisRef]] = {4: [], 5: [], 7: []}
  metadata: list[OpMetadata] = []
  reduction = 0
  unknown = b""
  for field in wire.fields(data):
    number, _, value = field
    if number == 2:
      mesh = decode_mesh(as_bytes(value))
    elif number == 3:
      dims.append(decode(DimSharding, as_bytes(value)))
    elif number in axes:
      axes[number].append(decode(AxisRef, as_bytes(value)))
    elif number == 6:
      metadata.append(decode(OpMetadata, as_bytes(value)))
    elif number == 8:
      reduction = as_int(value)
    else:
      unknown += wire.put_raw(field)
  return NamedSharding(
    mesh,
    tuple(dims),
    tuple(axes[4]),
    tuple(axes[5]),
    REDUCTIONS[reduction],
    tuple(axes[7]),
    tuple(metadata),
    unknown,
  )


def encode_named(named: NamedSharding) -> bytes:
  def axes(number: int, refs: tuple[AxisRef, ...]) -> bytes:
    return b"".join(wire.put_message(number, encode(ref)) for ref in refs)

  return (
    wire.put_message(2, encode_mesh(named.mesh))
    + b"".join(wire.put_message(3, encode(dim)) for dim in named.dims)
    + axes(4, named.replicated_axes)
    + axes(5, named.unreduced_axes)
    + b"".join(wire.put_message(6, encode(metadata)) for metadata in named.metadata)
    + axes(7, named.manual_axes)
    + wire.put_int(8, REDUCTIONS.index(named.reduction_op))
    + named.unknown
  )


def decode_sharding(data: bytes) -> Sharding:
  numbers = {1: 0, 6: 0, 11: 0, 12: 0, 13: 0}
  lists: dict[int, tuple[int, ...]] = {3: (), 4: (), 8: (), 9: (), 10: ()}
  elements: list[Sharding] = []
  metadata: list[OpMetadata] = []
  tile_shape: Shape | None = None
  named: NamedSharding | None = None
  unknown = b""
  for field in wire.fields(data):
    number, _, value = field
    if number in numbers:
      numbers[number] = as_int(value)
    elif number in lists:
      lists[number] = as_ints(lists[number], value)
    elif number == 5:
      elements.append(decode_sharding(as_bytes(value)))
    elif number == 7:
      metadata.append(decode(OpMetadata, as_bytes(value)))
    elif number == 2:
      tile_shape = decode_shape(as_bytes(value))
    elif number == 14:
      named = decode_named(as_bytes(value))
    else:
      unknown += wire.put_raw(field)
  return Sharding(
    "named" if named is not None else SHARDING_TYPES[numbers[1]],
    lists[3],
    _iota(lists[9], lists[10]) if lists[9] else lists[4],
    bool(numbers[6]),
    tuple(SHARDING_TYPES[i] for i in lists[8]),
    tuple(elements),
    (("as", "like")[numbers[13]], numbers[12]) if numbers[11] else None,
    named,
    tuple(metadata),
    tile_shape,
    unknown,
  )


def encode_sharding(sharding: Sharding) -> bytes:
  devices, group = sharding.devices, sharding.shard_group
  kind = 0 if sharding.named is not None else SHARDING_TYPES.index(sharding.kind)
  return (
    wire.put_int(1, kind)
    + (wire.put_message(2, encode_shape(sharding.tile_shape)) if sharding.tile_shape is not None else b"")
    + wire.put_packed(3, sharding.tile_dims)
    + wire.put_packed(4, () if isinstance(devices, Iota) else devices)
    + b"".join(wire.put_message(5, encode_sharding(element)) for element in sharding.elements)
    + wire.put_int(6, int(sharding.replicate_on_last_tile_dim))
    + b"".join(wire.put_message(7, encode(metadata)) for metadata in sharding.metadata)
    + wire.put_packed(8, tuple(SHARDING_TYPES.index(name) for name in sharding.last_tile_dims))
    + (wire.put_packed(9, devices.reshape_dims) if isinstance(devices, Iota) else b"")
    + (wire.put_packed(10, _perm(devices)) if isinstance(devices, Iota) else b"")
    + (wire.put_int(11, 1) + wire.put_int(12, group[1]) + wire.put_int(13, int(group[0] == "like")) if group else b"")
    + (wire.put_message(14, encode_named(sharding.named)) if sharding.named is not None else b"")
    + sharding.unknown
  )


def _perm(iota: Iota) -> tuple[int, ...]:
  """XLA writes the identity out."""
  return iota.transpose_perm or tuple(range(len(iota.reshape_dims)))


# Small ones.


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
