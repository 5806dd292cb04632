"""Writing shardings, meshes and replica groups."""

from __future__ import annotations

from tilewright.hlo.groups import AxisRef, Iota, IotaGroups, ListGroups, Mesh, ReplicaGroups
from tilewright.hlo.print_values import metadata_text, quoted
from tilewright.hlo.sharding import NamedSharding, Sharding
from tilewright.hlo.values import OpMetadata


def _ints(values: tuple[int, ...]) -> str:
  return ",".join(map(str, values))


def iota_text(iota: Iota) -> str:
  moved = iota.transpose_perm and iota.transpose_perm != tuple(range(len(iota.reshape_dims)))
  return f"[{_ints(iota.reshape_dims)}]" + (f"T({_ints(iota.transpose_perm)})" if moved else "")


def mesh_text(mesh: Mesh) -> str:
  if not mesh.axes and isinstance(mesh.device_ids, tuple) and len(mesh.device_ids) == 1:
    return f"maximal_mesh[device_id={mesh.device_ids[0]}]"
  text = f"mesh[{','.join(f'{quoted(name)}={size}' for name, size in mesh.axes)}]"
  if mesh.device_ids is None:
    return text
  devices = iota_text(mesh.device_ids) if isinstance(mesh.device_ids, Iota) else _ints(mesh.device_ids)
  return f"{text}, device_ids=({devices})"


def axis_text(ref: AxisRef, mesh: Mesh) -> str:
  name = quoted(mesh.axes[ref.axis][0])
  return name if ref.sub_axis is None else f"{name}:({ref.sub_axis[0]}){ref.sub_axis[1]}"


def axes_text(axes: tuple[AxisRef, ...], mesh: Mesh) -> str:
  return f"{{{','.join(axis_text(ref, mesh) for ref in axes)}}}"


def groups_text(groups: ReplicaGroups) -> str:
  if isinstance(groups, ListGroups):
    return f"{{{','.join(f'{{{_ints(group)}}}' for group in groups.replica_groups)}}}"
  if isinstance(groups, IotaGroups):
    return f"[{groups.num_groups},{groups.group_size}]<={iota_text(groups.iota)}"
  return f"{mesh_text(groups.mesh)} {axes_text(groups.axes, groups.mesh)}"


def _metadata(metadata: tuple[OpMetadata, ...]) -> str:
  if len(metadata) == 1:
    return f"metadata={metadata_text(metadata[0])}"
  return f"metadata={{{', '.join(map(metadata_text, metadata))}}}"


def sharding_text(sharding: Sharding) -> str:
  """`{…}`."""
  if sharding.kind == "tuple":
    return f"{{{', '.join(map(sharding_text, sharding.elements))}}}"
  if sharding.named is not None:
    return f"{{{named_text(sharding.named)}}}"
  if sharding.kind == "maximal":
    assert isinstance(sharding.devices, tuple)
    text = f"maximal device={sharding.devices[0]}"
  elif sharding.kind == "devices":
    devices = sharding.devices
    text = f"devices=[{_ints(sharding.tile_dims)}]"
    text += f"<={iota_text(devices)}" if isinstance(devices, Iota) else _ints(devices)
    if sharding.replicate_on_last_tile_dim:
      text += " last_tile_dim_replicate"
    if sharding.last_tile_dims:
      text += f" last_tile_dims={{{', '.join(sharding.last_tile_dims)}}}"
  else:
    text = sharding.kind
  if sharding.shard_group is not None:
    text += f" shard_{sharding.shard_group[0]} {sharding.shard_group[1]}"
  if sharding.metadata:
    text += " " + _metadata(sharding.metadata)
  return f"{{{text}}}"


def named_text(named: NamedSharding) -> str:
  mesh = named.mesh
  parts = [mesh_text(mesh)]
  whole = tuple(AxisRef(i) for i in range(len(mesh.axes)))
  if named.dims:
    dims: list[str] = []
    for dim in named.dims:
      inside = [axis_text(ref, mesh) for ref in dim.axes] + ([] if dim.is_closed else ["?"])
      dims.append(f"{{{', '.join(inside)}}}")
    parts.append(f"[{', '.join(dims)}]")
  for word, axes in (
    ("replicated", named.replicated_axes),
    ("unreduced", named.unreduced_axes),
    ("manual", named.manual_axes),
  ):
    if axes == whole and axes and not named.dims and word != "replicated":
      parts.append(word)
    elif axes:
      parts.append(f"{word}={axes_text(axes, mesh)}")
  maximal = not mesh.axes and mesh.device_ids is not None
  if len(parts) == 1 and not maximal:
    parts.append("replicated")
  if named.metadata:
    parts.append(f"metadata={{{', '.join(map(metadata_text, named.metadata))}}}")
  return ", ".join(parts)
