"""Replica groups, the participants of a collective, in their three spellings.

`{{0,1},{2,3}}` lists the groups. `[2,4]<=[4,2]T(1,0)` means: number the devices 0…7, shape them [4,2], transpose by
(1,0), and split the result into 2 groups of 4. `mesh["x"=2,"y"=4] {"y"}` names mesh axes: devices that differ only
along those axes form a group. `groups()` returns the explicit list for each of them.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Iota:
  """`[dims]<=[reshape_dims]T(transpose_perm)`: device numbers as a reshaped and transposed iota."""

  reshape_dims: tuple[int, ...]
  transpose_perm: tuple[int, ...] = ()

  def array(self) -> np.ndarray:
    values = np.arange(math.prod(self.reshape_dims), dtype=np.int64).reshape(self.reshape_dims)
    return values.transpose(self.transpose_perm) if self.transpose_perm else values


@dataclass(frozen=True, slots=True)
class Mesh:
  """`mesh["x"=4,"y"=2], device_ids=(…)`: named axes over devices. No axes and one device id:
  `maximal_mesh[device_id=0]`.
  """

  axes: tuple[tuple[str, int], ...] = ()
  device_ids: tuple[int, ...] | Iota | None = None  # None: 0, 1, 2, …
  unknown: bytes = b""

  def devices(self) -> np.ndarray:
    sizes = tuple(size for _, size in self.axes)
    if self.device_ids is None:
      return np.arange(math.prod(sizes), dtype=np.int64).reshape(sizes)
    if isinstance(self.device_ids, Iota):
      return self.device_ids.array().reshape(sizes)
    return np.array(self.device_ids, dtype=np.int64).reshape(sizes)


@dataclass(frozen=True, slots=True)
class AxisRef:
  """`"x"`, or `"x":(pre_size)size` for the part of an axis that has `pre_size` elements before it and `size` in it."""

  axis: int  # position in the mesh's axes
  sub_axis: tuple[int, int] | None = None  # (pre_size, size)
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class ListGroups:
  replica_groups: Groups = ()
  unknown: bytes = b""

  def groups(self) -> Groups:
    return self.replica_groups


@dataclass(frozen=True, slots=True)
class IotaGroups:
  num_groups: int
  group_size: int
  iota: Iota
  unknown: bytes = b""

  def groups(self) -> Groups:
    table = self.iota.array().reshape(self.num_groups, self.group_size)
    return tuple(tuple(int(d) for d in row) for row in table)


@dataclass(frozen=True, slots=True)
class MeshGroups:
  mesh: Mesh
  axes: tuple[AxisRef, ...]
  unknown: bytes = b""

  def groups(self) -> Groups:
    """Split every axis at the boundaries of its sub-axes, move the named parts last, and read off the rows."""
    devices = self.mesh.devices()
    cuts: list[tuple[int, int, int]] = []  # (axis, pre_size, size) in order
    for axis, (_, full) in enumerate(self.mesh.axes):
      borders = {1, full}
      for ref in self.axes:
        if ref.axis == axis and ref.sub_axis is not None:
          borders |= {ref.sub_axis[0], ref.sub_axis[0] * ref.sub_axis[1]}
      steps = sorted(borders)
      cuts += [(axis, low, high // low) for low, high in itertools.pairwise(steps)]
      if full == 1:
        cuts.append((axis, 1, 1))
    named: list[int] = []
    for ref in self.axes:
      pre, size = ref.sub_axis or (1, self.mesh.axes[ref.axis][1])
      named += [
        i for i, (axis, low, part) in enumerate(cuts) if axis == ref.axis and low >= pre and low * part <= pre * size
      ]
    others = [i for i in range(len(cuts)) if i not in named]
    size = math.prod(cuts[i][2] for i in named)
    table = devices.reshape([part for _, _, part in cuts]).transpose(others + named).reshape(-1, size)
    return tuple(tuple(int(d) for d in row) for row in table)


ReplicaGroups = ListGroups | IotaGroups | MeshGroups
