"""Meshes, replica groups and shardings as messages (see `groups` and `sharding` for what they mean).

Devices in order, perhaps reshaped and transposed, are an iota: `[2,4]<=[8]` takes two short lists. XLA writes the identity permutation
out, the text leaves it out, and so do we in memory.
"""

from __future__ import annotations

from tilewright.hlo import proto_wire as wire
from tilewright.hlo.groups import AxisRef, Iota, IotaGroups, ListGroups, Mesh, MeshGroups
from tilewright.hlo.proto_schema import as_bytes, as_int, as_ints, decode, encode
from tilewright.hlo.proto_shapes import decode_shape, encode_shape
from tilewright.hlo.shape import Shape
from tilewright.hlo.sharding import DimSharding, NamedSharding, Sharding
from tilewright.hlo.values import OpMetadata

SHARDING_TYPES = ("replicated", "maximal", "tuple", "devices", "manual", "unknown", "unreduced")
REDUCTIONS = ("sum", "max", "min")


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
