"""Multi-device memory and semaphores under Mosaic GPU's names.

NVLink multicast operations (`multimem`) are done device by device, in order of the device indices, so that floating-point sums are
deterministic and equal on all devices.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.pallas import remote, semaphores
from tilewright.pallas.primitives import flatten_ref
from tilewright.pallas.semaphores import DeviceIdType


@dataclasses.dataclass(frozen=True)
class PeerMemRef:
  """Which device a ref is on."""

  device_id: Any
  device_id_type: DeviceIdType


def remote_ref(ref: Any, device_id: Any, device_id_type: DeviceIdType = DeviceIdType.MESH) -> Any:
  """The ref of the same name on another device: see `tilewright.pallas.remote`."""
  return remote.remote_ref(ref, device_id, device_id_type)


@dataclasses.dataclass(frozen=True)
class MulticastRef:
  """The refs of one name on several devices. What is stored to it is stored to all of them."""

  ref: Any
  collective_axes: Any

  @property
  def shape(self) -> tuple[int, ...]:
    return tuple(self.ref.shape)

  @property
  def dtype(self) -> Any:
    return self.ref.dtype

  @property
  def at(self) -> _MulticastIndexer:
    return _MulticastIndexer(self)

  def __setitem__(self, index: Any, value: Any) -> None:
    for device in remote.devices_along(self.collective_axes, "plgpu.multicast_ref"):
      remote.remote_ref(self.ref, device)[index] = value

  def __getitem__(self, index: Any) -> Any:
    raise errors.RefTypeError(
      "A ref made by plgpu.multicast_ref is on several devices and can only be stored to; read with plgpu.multimem_load_reduce."
    )


@dataclasses.dataclass(frozen=True)
class _MulticastIndexer:
  whole: MulticastRef

  def __getitem__(self, index: Any) -> MulticastRef:
    return MulticastRef(self.whole.ref.at[index], self.whole.collective_axes)


def multicast_ref(ref: Any, collective_axes: Any) -> MulticastRef:
  """The refs of the same name on all devices along some axes, for stores."""
  flatten_ref(ref, None, "plgpu.multicast_ref")
  remote.devices_along(collective_axes, "plgpu.multicast_ref")
  return MulticastRef(ref, collective_axes)


_REDUCTIONS: dict[str, Callable[[Any, Any], Any]] = {
  "add": jnp.add,
  "max": jnp.maximum,
  "min": jnp.minimum,
  "and": jnp.bitwise_and,
  "or": jnp.bitwise_or,
  "xor": jnp.bitwise_xor,
}


def multimem_load_reduce(ref: Any, *, collective_axes: Any, reduction_op: str) -> jax.Array:
  """What the refs of all devices along some axes hold, combined. Sums of 16-bit floats are taken in float32.

  Args:
    ref: a ref, or a view of one.
    collective_axes: an axis of the mesh of devices, or a tuple of axes.
    reduction_op: "add", "max", "min", "and", "or" or "xor".
  """
  what = "plgpu.multimem_load_reduce"
  if reduction_op not in _REDUCTIONS:
    raise errors.RefTypeError(f"{what}: reduction_op: expected one of {sorted(_REDUCTIONS)}, got {reduction_op!r}.")
  dtype = flatten_ref(ref, None, what).dtype
  is_small_float = jnp.issubdtype(dtype, jnp.floating) and jnp.dtype(dtype).itemsize < 4
  if reduction_op in ("and", "or", "xor") and not (jnp.issubdtype(dtype, jnp.integer) or dtype == jnp.bool_):
    raise errors.RefTypeError(f"{what}: reduction_op {reduction_op!r} is for integers, got a ref of {dtype}.")
  wide = jnp.float32 if is_small_float else dtype
  total: Any = None
  for device in remote.devices_along(collective_axes, what):
    part = remote.remote_ref(ref, device)[...].astype(wide)
    total = part if total is None else _REDUCTIONS[reduction_op](total, part)
  return total.astype(dtype)


def multimem_store(source: jax.Array, ref: Any, collective_axes: Any) -> None:
  """Write to the refs of all devices along some axes."""
  multicast_ref(ref, collective_axes)[...] = source


def semaphore_signal_multicast(semaphore: Any, value: int | jax.Array = 1, *, collective_axes: Any) -> None:
  """Add to a semaphore on every device along some axes of the mesh."""
  for device in remote.devices_along(collective_axes, "plgpu.semaphore_signal_multicast"):
    semaphores.semaphore_signal(semaphore, value, device_id=device)
