"""How a value is spread over devices: the `sharding={…}` of an instruction.

{replicated}   {maximal device=0}   {manual}   {unknown}   {unreduced}
{devices=[2,2]0,1,2,3}   {devices=[2,1,2]<=[4] last_tile_dim_replicate}
    {devices=[1,2,2]<=[4] last_tile_dims={manual,replicated}}
{{replicated}, {devices=[2]<=[2]}}            one per leaf of a tuple
{mesh["x"=2,"y"=2], [{"x"}, {}]}              axes of a named mesh per dimension
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.groups import AxisRef, Iota, Mesh
from tilewright.hlo.shape import Shape
from tilewright.hlo.values import OpMetadata


@dataclass(frozen=True, slots=True)
class DimSharding:
  """The mesh axes one dimension is split over. An open dimension (`?`) may be split further by propagation."""

  axes: tuple[AxisRef, ...] = ()
  is_closed: bool = True
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class NamedSharding:
  mesh: Mesh
  dims: tuple[DimSharding, ...] = ()
  replicated_axes: tuple[AxisRef, ...] = ()
  unreduced_axes: tuple[AxisRef, ...] = ()
  reduction_op: str = "sum"  # of the unreduced axes: sum, max, min
  manual_axes: tuple[AxisRef, ...] = ()
  metadata: tuple[OpMetadata, ...] = ()
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class Sharding:
  """`kind` is one of replicated, maximal, tuple, devices, manual, unknown, unreduced, named.

  `devices`: an explicit list of device numbers or an `Iota`, of shape `tile_dims`; the dimensions of `tile_dims`
  beyond the array's rank are described by `last_tile_dims` (subgroup kinds) or by `replicate_on_last_tile_dim`.
  """

  kind: str
  tile_dims: tuple[int, ...] = ()
  devices: tuple[int, ...] | Iota = ()  # for maximal: the one device
  replicate_on_last_tile_dim: bool = False
  last_tile_dims: tuple[str, ...] = ()
  elements: tuple[Sharding, ...] = ()  # of a tuple
  shard_group: tuple[str, int] | None = None  # ("as" or "like", group id)
  named: NamedSharding | None = None
  metadata: tuple[OpMetadata, ...] = ()
  tile_shape: Shape | None = None  # legacy proto field, kept as found
  unknown: bytes = b""

  @staticmethod
  def replicated() -> Sharding:
    return Sharding("replicated")

  @staticmethod
  def manual() -> Sharding:
    return Sharding("manual")

  def __str__(self) -> str:
    from tilewright.hlo.print_sharding import sharding_text

    return sharding_text(self)


@dataclass(frozen=True, slots=True)
class Domain:
  """`domain={kind="sharding", entry={…}, exit={…}}` of the domain instruction."""

  kind: str
  entry: Sharding
  exit: Sharding
