"""Refs to the memory of other devices: the other device's counterpart of a local ref.

    theirs = remote_ref(x_ref, (right,))      # the x_ref of the device to the right
    o_ref[...] = theirs[...]

All devices run the same kernel, so a ref names memory on each of them. Reads and writes through a remote ref are not ordered with accesses
of the other device; semaphores order them. In the portable lowering every access is a collective of all devices.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas import effects, semaphores
from tilewright.pallas.primitives import (
  Primitive,
  ReadEffect,
  TransformedRef,
  declare_ref_result,
  flatten_ref,
  not_differentiable,
)
from tilewright.pallas.semaphores import DeviceIdType
from tilewright.runtime import _jax
from tilewright.target import xla
from tilewright.target.xla import refs

remote_ref_p = Primitive("remote_ref")
declare_ref_result(remote_ref_p)
not_differentiable(remote_ref_p)


@remote_ref_p.def_effectful_abstract_eval
def _(ref: Any, *flat: Any, tree: Any, device_id_type: DeviceIdType) -> Any:
  return ref, {ReadEffect(0), effects.comms_effect}


def remote_ref(ref: Any, device_id: Any, device_id_type: DeviceIdType = DeviceIdType.MESH) -> Any:
  """The ref of the same name on another device.

  Args:
    ref: a ref of the kernel: an operand or scratch memory, or a view of one.
    device_id: the other device, as for `pl.semaphore_signal`.
    device_id_type: how `device_id` is interpreted.
  """
  what = "remote_ref"
  view = flatten_ref(ref, None, what)
  target = semaphores.target_of(device_id, what)
  if target.core is not None:
    raise errors.GridError(f"{what}: device_id names a core; the memory of another core is written by copies.")
  if target.device is None or view.multiref:
    raise errors.GridError(f"{what}: expected a device_id and one ref, got {device_id!r}.")
  flat, tree = _jax.flatten(target.device)
  found = remote_ref_p.bind(view.ref, *flat, tree=tree, device_id_type=device_id_type)
  return TransformedRef(found, view.transforms) if view.transforms else found


@dataclasses.dataclass
class RemoteCell(xla.Cell):
  """A ref of another device in the portable lowering: reads and writes gather from all devices, and each keeps what is addressed to it."""

  own: xla.Cell
  device: Any

  def read(self, transforms: Sequence[Any] = ()) -> Any:
    axes = semaphores.device_axes()
    everyone = lax.all_gather(self.own.read(()), tuple(axes))
    return refs.read(everyone[self.device], transforms)

  def write(self, transforms: Sequence[Any], new: Any) -> Any:
    axes = semaphores.device_axes()
    old, whole = refs.write(self.read(), transforms, new)
    mine = jnp.ones_like(self.own.value, jnp.bool_)
    marked = refs.write(jnp.zeros_like(mine), transforms, jnp.ones(jnp.shape(old), jnp.bool_))[1]
    me = semaphores.own_device_id(axes)
    targets, values, marks = (lax.all_gather(x, tuple(axes)) for x in (self.device, whole, marked))
    for sender in range(math.prod(axes.values())):
      for_me = jnp.logical_and(targets[sender] == me, marks[sender])
      self.own.value = jnp.where(for_me, values[sender], self.own.value)
    return old


@xla.register(remote_ref_p)
def _(ctx: xla.Context, ref: Any, *flat: Any, tree: Any, device_id_type: DeviceIdType) -> Any:
  axes = semaphores.device_axes()
  device = semaphores.logical_device_id(_jax.unflatten(tree, flat), device_id_type, axes)
  return RemoteCell(None, ref.aval, ref, jnp.asarray(device, jnp.int32))


def devices_along(collective_axes: Any, what: str) -> list[dict[Any, Any]]:
  """The coordinates of every device along some axes of the mesh, with this one's along the others."""
  axes = collective_axes if isinstance(collective_axes, tuple) else (collective_axes,)
  mesh = semaphores.device_axes()
  unknown = [axis for axis in axes if axis not in mesh]
  if unknown or not axes:
    raise errors.GridError(f"{what}: collective_axes: expected axes of the mesh {tuple(mesh)}, got {axes}.")
  found: list[dict[Any, Any]] = [{}]
  for axis in axes:
    found = [{**device, axis: jnp.int32(i)} for device in found for i in range(mesh[axis])]
  return found
