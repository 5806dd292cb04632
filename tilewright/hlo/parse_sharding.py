"""Reading shardings, meshes and replica groups (see `sharding.py` and `groups.py` for what they mean)."""

from __future__ import annotations

import re

from tilewright.hlo.cursor import Cursor
from tilewright.hlo.groups import AxisRef, Iota, IotaGroups, ListGroups, Mesh, MeshGroups, ReplicaGroups
from tilewright.hlo.parse_values import read_metadata
from tilewright.hlo.sharding import DimSharding, NamedSharding, Sharding
from tilewright.hlo.values import OpMetadata

BRACKETED = re.compile(r"\[((?:[0-9, ]|/\*(?s:.*?)\*/)*+)\]")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
DEVICES = re.compile(r"[0-9][0-9, ]*+")
KINDS = ("replicated", "manual", "unknown", "unreduced")
SUBGROUPS = ("replicated", "manual", "unreduced", "maximal")


def bracketed_ints(cursor: Cursor) -> tuple[int, ...]:
  """`[2,4]`."""
  match = cursor.match(BRACKETED)
  if not match:
    cursor.error(f"expected a list such as [2,4], found {cursor.found()}")
  listed = COMMENT.sub("", match[1]) if "/" in match[1] else match[1]
  parts = [part.strip() for part in listed.split(",")] if listed.strip() else []
  if not all(part.isdigit() for part in parts):
    cursor.error("expected integers between commas", match.start())
  return tuple(cursor.to_int(part, match.start()) for part in parts)


def paren_ints(cursor: Cursor) -> tuple[int, ...]:
  """The rest of `(0,1)` after the opening parenthesis."""
  values: list[int] = []
  while not cursor.accept(")"):
    if values:
      cursor.expect(",")
    values.append(cursor.integer())
  return tuple(values)


def iota_tail(cursor: Cursor) -> Iota:
  """`[4,2]T(1,0)`."""
  start = cursor.pos
  dims = bracketed_ints(cursor)
  perm = paren_ints(cursor) if cursor.accept("T(") else ()
  if perm and sorted(perm) != list(range(len(dims))):
    cursor.error(f"T({','.join(map(str, perm))}) is not a permutation of {len(dims)} dimensions", start)
  return Iota(dims, perm)


def _product(values: tuple[int, ...]) -> int:
  result = 1
  for value in values:
    result *= value
  return result


def read_mesh(cursor: Cursor) -> Mesh:
  """`mesh["x"=4,"y"=2]`, with or without `, device_ids=(…)`, or `maximal_mesh[device_id=0]`."""
  start = cursor.pos
  if cursor.accept("maximal_mesh["):
    if not cursor.accept_word("device_id"):
      cursor.error("expected device_id= in a maximal mesh")
    cursor.expect("=")
    device = cursor.integer()
    cursor.expect("]")
    return Mesh((), (device,))
  cursor.expect("mesh[", "or `maximal_mesh[`")
  axes: list[tuple[str, int]] = []
  while not cursor.accept("]"):
    if axes:
      cursor.expect(",")
    name = cursor.string()
    cursor.expect("=", "after the name of a mesh axis")
    size = cursor.integer()
    if size < 1 or name in dict(axes):
      cursor.error(f"mesh axis {name!r} must have a size of at least 1 and a name of its own")
    axes.append((name, size))
  sizes = tuple(size for _, size in axes)
  devices: tuple[int, ...] | Iota | None = None
  after = cursor.pos
  if cursor.accept(",") and cursor.accept_word("device_ids"):
    cursor.expect("=")
    cursor.expect("(", "for device_ids")
    if cursor.at("["):
      iota = iota_tail(cursor)
      cursor.expect(")")
      count = _product(iota.reshape_dims)
      # `([8])` is what no device_ids means too.
      devices = iota if iota.transpose_perm or len(iota.reshape_dims) > 1 else None
    else:
      devices = paren_ints(cursor)
      count = len(devices)
    if count != _product(sizes):
      cursor.error(f"the mesh has {_product(sizes)} places for {count} devices", start)
  else:
    cursor.pos = after
  return Mesh(tuple(axes), devices)


def read_axis(cursor: Cursor, mesh: Mesh) -> AxisRef:
  """`"x"` or `"x":(2)4`."""
  start = cursor.pos
  name = cursor.string()
  names = [axis for axis, _ in mesh.axes]
  if name not in names:
    cursor.error(f"the mesh has no axis {name!r}", start)
  index = names.index(name)
  size = mesh.axes[index][1]
  if not cursor.accept(":"):
    return AxisRef(index)
  cursor.expect("(", "before the pre-size of a sub-axis")
  pre = cursor.integer()
  cursor.expect(")")
  part = cursor.integer("the size of a sub-axis")
  if pre < 1 or part < 2 or size % (pre * part):
    cursor.error(f"({pre}){part} is not a part of axis {name!r} of size {size}", start)
  return AxisRef(index, (pre, part))


def read_axes(cursor: Cursor, mesh: Mesh) -> tuple[AxisRef, ...]:
  """`{"x", "y":(1)2}`."""
  cursor.expect("{", "before mesh axes")
  axes: list[AxisRef] = []
  while not cursor.accept("}"):
    if axes:
      cursor.expect(",")
    axes.append(read_axis(cursor, mesh))
  return tuple(axes)


def read_groups(cursor: Cursor) -> ReplicaGroups:
  """replica_groups in its three spellings."""
  start = cursor.pos
  if cursor.at("["):
    dims = bracketed_ints(cursor)
    cursor.expect("<=", "after the shape of the groups")
    iota = iota_tail(cursor)
    if len(dims) != 2 or _product(dims) != _product(iota.reshape_dims):
      cursor.error("groups [n,size] must be cut from as many devices", start)
    return IotaGroups(dims[0], dims[1], iota)
  if cursor.at("mesh[") or cursor.at("maximal_mesh["):
    mesh = read_mesh(cursor)
    return MeshGroups(mesh, read_axes(cursor, mesh))
  cursor.expect("{", "before replica groups")
  groups: list[tuple[int, ...]] = []
  while not cursor.accept("}"):
    if groups:
      cursor.expect(",")
    groups.append(cursor.ints())
  return ListGroups(tuple(groups))


def read_sharding(cursor: Cursor, depth: int = 0) -> Sharding:
  """`{…}`: one sharding, or a list of them for a tuple."""
  start = cursor.pos
  cursor.expect("{", "before a sharding")
  if cursor.accept("}"):
    if depth:
      cursor.error("an empty sharding", start)
    return Sharding("tuple")
  if cursor.at("{"):
    if depth:
      cursor.error("a tuple sharding lists the leaves and does not nest", start)
    elements: list[Sharding] = []
    while not cursor.accept("}"):
      if elements:
        cursor.expect(",")
      elements.append(read_sharding(cursor, depth + 1))
    return Sharding("tuple", elements=tuple(elements))
  if cursor.at("mesh[") or cursor.at("maximal_mesh["):
    return Sharding("named", named=_named(cursor))
  return _positional(cursor)


def _metadata_list(cursor: Cursor) -> tuple[OpMetadata, ...]:
  """`metadata={…}` or `metadata={{…}, {…}}`."""
  cursor.expect("=")
  start = cursor.pos
  cursor.expect("{")
  if not cursor.at("{"):
    cursor.pos = start
    return (read_metadata(cursor),)
  found: list[OpMetadata] = []
  while not cursor.accept("}"):
    if found:
      cursor.expect(",", "between metadata")
    found.append(read_metadata(cursor))
  return tuple(found)


def _positional(cursor: Cursor) -> Sharding:
  start = cursor.pos
  kind = ""
  tile_dims: tuple[int, ...] = ()
  devices: tuple[int, ...] | Iota = ()
  replicate_last = False
  last_dims: tuple[str, ...] = ()
  group: tuple[str, int] | None = None
  metadata: tuple[OpMetadata, ...] = ()
  while not cursor.accept("}"):
    if cursor.accept(","):
      continue
    word = cursor.word("a sharding")
    if word in KINDS or word == "maximal":
      kind = word
    elif word == "device":
      cursor.expect("=")
      devices = (cursor.integer(),)
      kind = "maximal"
    elif word == "devices":
      cursor.expect("=")
      kind = word
      tile_dims, devices = _tile_assignment(cursor)
    elif word == "last_tile_dim_replicate":
      replicate_last = True
    elif word == "last_tile_dims":
      cursor.expect("=")
      cursor.expect("{")
      names: list[str] = []
      while not cursor.accept("}"):
        if names:
          cursor.expect(",")
        names.append(cursor.word("the kind of a subgroup"))
        if names[-1] not in SUBGROUPS:
          cursor.error(f"`{names[-1]}` is not the kind of a subgroup", cursor.pos - len(names[-1]))
      last_dims = tuple(names)
    elif word in ("shard_as", "shard_like"):
      group = (word.removeprefix("shard_"), cursor.integer("the id of a shard group"))
    elif word == "metadata":
      metadata = _metadata_list(cursor)
    else:
      cursor.error(f"`{word}` is not part of a sharding", cursor.pos - len(word))
  if not kind:
    cursor.error("this sharding says neither devices=[…] nor what else it is", start)
  if kind == "maximal" and (isinstance(devices, Iota) or len(devices) != 1):
    cursor.error("a maximal sharding names one device", start)
  if len(last_dims) + int(replicate_last) > len(tile_dims):
    cursor.error("more subgroup dimensions than tile dimensions", start)
  return Sharding(kind, tile_dims, devices, replicate_last, last_dims, (), group, None, metadata)


def _tile_assignment(cursor: Cursor) -> tuple[tuple[int, ...], tuple[int, ...] | Iota]:
  start = cursor.pos
  dims = bracketed_ints(cursor)
  devices: tuple[int, ...] | Iota
  if cursor.accept("<="):
    devices = iota_tail(cursor)
    count = _product(devices.reshape_dims)
  else:
    match = cursor.match(DEVICES)
    if not match:
      cursor.error(f"expected device numbers, found {cursor.found()}")
    listed = match[0]
    while listed.rstrip().endswith(",") and (match := cursor.match(DEVICES)):  # after a comment
      listed += match[0]
    parts = [part.strip() for part in listed.rstrip(" ,").split(",")]
    if not all(part.isdigit() for part in parts):
      cursor.error("expected device numbers between commas", start)
    devices = tuple(cursor.to_int(part, start) for part in parts)
    count = len(devices)
  if count != _product(dims):
    cursor.error(f"tiles {list(dims)} need {_product(dims)} devices, not {count}", start)
  return dims, devices


def _named(cursor: Cursor) -> NamedSharding:
  """`mesh[…], [{"x"}, {?}], replicated={…}, unreduced={…}, manual={…}, metadata=…`, or one word for the whole mesh."""
  mesh = read_mesh(cursor)
  dims: tuple[DimSharding, ...] = ()
  axes: dict[str, tuple[AxisRef, ...]] = {"replicated": (), "unreduced": (), "manual": ()}
  metadata: tuple[OpMetadata, ...] = ()
  whole = tuple(AxisRef(i) for i in range(len(mesh.axes)))
  if cursor.at("["):  # XLA takes the comma before the dimensions for granted
    dims = _dim_shardings(cursor, mesh)
  while not cursor.accept("}"):
    cursor.expect(",", "in a named sharding")
    if cursor.at("["):
      dims = _dim_shardings(cursor, mesh)
      continue
    word = cursor.word("replicated, unreduced, manual or metadata")
    if word == "metadata":
      metadata = _metadata_list(cursor)
    elif word not in axes:
      cursor.error(f"`{word}` is not part of a named sharding", cursor.pos - len(word))
    elif cursor.accept("="):
      axes[word] = read_axes(cursor, mesh)
    elif word != "replicated":
      # Without axes, `manual` and `unreduced` mean all of them, and `replicated` means that nothing is split.
      axes[word] = whole
  return NamedSharding(mesh, dims, axes["replicated"], axes["unreduced"], "sum", axes["manual"], metadata)


def _dim_shardings(cursor: Cursor, mesh: Mesh) -> tuple[DimSharding, ...]:
  cursor.expect("[")
  dims: list[DimSharding] = []
  while not cursor.accept("]"):
    if dims:
      cursor.expect(",")
    cursor.expect("{", "before the axes of a dimension")
    axes: list[AxisRef] = []
    closed = True
    while not cursor.accept("}"):
      if axes or not closed:
        cursor.expect(",")
      if cursor.accept("?"):
        closed = False
      else:
        axes.append(read_axis(cursor, mesh))
    dims.append(DimSharding(tuple(axes), closed))
  return tuple(dims)
