"""Collective copies of a cluster: which part each CTA gets.

    plgpu.copy_gmem_to_smem(x_ref, x_smem, barrier, collective_axes="c", leader_tracked=plgpu.CopyPartition.PARTITIONED(0))

Each CTA copies its own part, which arrives at its own barrier. The first CTA of the cluster tracks the copies of all: on the simulated
machine, where CTAs can access each other's memory, its wait ends when all have arrived.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from jax import lax

from tilewright import errors
from tilewright.runtime._jax import ds


@dataclasses.dataclass(frozen=True)
class _Partitioned:
  """Each block gets its share along an axis."""

  axis: int


@dataclasses.dataclass(frozen=True)
class _Replicated:
  """Each block gets all of it."""


class CopyPartition:
  """What each block of a cluster gets of a copy: its share along an axis, `CopyPartition.PARTITIONED(0)`, or everything, `REPLICATED`."""

  PARTITIONED = _Partitioned
  REPLICATED = _Replicated()


def axes_of(collective_axes: Any) -> tuple[Any, ...]:
  """The axes that an argument names: one, several, or none."""
  if collective_axes is None:
    return ()
  given = collective_axes if isinstance(collective_axes, tuple | list) else (collective_axes,)
  return tuple(name for axis in given for name in (axis if isinstance(axis, tuple | list) else (axis,)))


def share(what: str, src: Any, collective_axes: Any, leader_tracked: Any) -> Any:
  """The part of `src` that this block of a cluster copies."""
  match leader_tracked:
    case None | _Replicated():
      return src
    case _Partitioned(axis):
      axes = axes_of(collective_axes)
      if not axes:
        raise errors.GridError(
          f"plgpu.{what}: `collective_axes` must be specified when `leader_tracked` is set, got none."
        )
      count = lax.axis_size(axes)
      if src.shape[axis] % count:
        raise errors.ShapeMismatchError(
          f"plgpu.{what}: leader_tracked: dimension {axis} of src, of shape {tuple(src.shape)}, does not divide among {count} blocks."
        )
      size = src.shape[axis] // count
      return src.at[(*[slice(None)] * axis, ds(lax.axis_index(axes) * size, size))]
  raise errors.GridError(
    f"plgpu.{what}: leader_tracked: expected CopyPartition.PARTITIONED(axis) or CopyPartition.REPLICATED, got {leader_tracked!r}."
  )
