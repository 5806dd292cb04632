"""Memory and semaphores of several devices, where there is something to say about them for GPUs."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
from jax import lax

from tilewright import errors
from tilewright.pallas import semaphores
from tilewright.pallas.semaphores import DeviceIdType

_INSTEAD = (
  "a kernel cannot read or write the memory of another GPU here. Send with pltpu.make_async_remote_copy, which runs with interpret=True, "
  "or leave it to jax.lax.psum and the like between kernels."
)


@dataclasses.dataclass(frozen=True)
class PeerMemRef:
  """Which device a ref is on. It can be described; `remote_ref` says why nothing can be done with it."""

  device_id: Any
  device_id_type: DeviceIdType


def remote_ref(ref: Any, device_id: Any, device_id_type: DeviceIdType = DeviceIdType.MESH) -> Any:
  """The ref of the same name on another device: an error."""
  raise errors.UnsupportedFeatureError(f"plgpu.remote_ref: {_INSTEAD}")


def multicast_ref(ref: Any, collective_axes: Any) -> Any:
  """The refs of the same name on all devices along some axes: an error."""
  raise errors.UnsupportedFeatureError(f"plgpu.multicast_ref: {_INSTEAD}")


def multimem_load_reduce(ref: Any, *, collective_axes: Any, reduction_op: str) -> jax.Array:
  """What the refs of all devices hold, combined: an error."""
  raise errors.UnsupportedFeatureError(f"plgpu.multimem_load_reduce: {_INSTEAD}")


def multimem_store(source: jax.Array, ref: Any, collective_axes: Any) -> None:
  """Write to the refs of all devices: an error."""
  raise errors.UnsupportedFeatureError(f"plgpu.multimem_store: {_INSTEAD}")


def semaphore_signal_multicast(semaphore: Any, value: int | jax.Array = 1, *, collective_axes: Any) -> None:
  """Add to a semaphore on every device along the axes of the mesh, all of which must be given."""
  axes = collective_axes if isinstance(collective_axes, tuple) else (collective_axes,)
  here = semaphores.device_axes()
  if set(axes) != set(here):
    raise errors.GridError(
      f"plgpu.semaphore_signal_multicast: collective_axes: expected all axes of the mesh, {tuple(here)}, got {axes}."
    )
  for number in range(lax.axis_size(tuple(here))):
    semaphores.semaphore_signal(semaphore, value, device_id=number, device_id_type=DeviceIdType.LOGICAL)
