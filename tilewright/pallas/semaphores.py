"""Semaphores: counters that instances, cores and devices signal and wait on."""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas import effects
from tilewright.pallas.debugging import fail_unless
from tilewright.pallas.primitives import Primitive, ReadEffect, WriteEffect, flatten_ref, int32_scalar
from tilewright.pallas.trace_context import GridMarker, core_axes, mesh_axes
from tilewright.runtime import _jax
from tilewright.runtime.named_axes import named_axes
from tilewright.target import xla
from tilewright.tile.grid import source_line
from tilewright.tile.memory import dma_semaphore, is_semaphore


class DeviceIdType(enum.Enum):
  """How a device is identified: by its mesh coordinates, or by its index in row-major order of the mesh."""

  MESH = "mesh"
  LOGICAL = "logical"


def semaphore_view(sem: Any, what: str) -> Any:
  """One semaphore, as a view."""
  return view_of_one(sem, what, is_semaphore, "semaphore", "pltpu.SemaphoreType")


def view_of_one(ref: Any, what: str, is_one: Callable[[Any], bool], noun: str, made_by: str) -> Any:
  """A view of one counter of some kind, which its dtype identifies."""
  view = flatten_ref(ref, None, what)
  if not is_one(view.dtype):
    raise errors.RefTypeError(f"{what}: expected a {noun}, got a ref of {view.dtype}. Allocate one with {made_by}.")
  if math.prod(view.shape) != 1:
    raise errors.ShapeMismatchError(
      f"{what}: Cannot {_VERBS.get(what, 'use')} a non-()-shaped {noun}: {tuple(view.shape)}. Pick one with {noun}.at[i]."
    )
  return view


_VERBS = {"pl.semaphore_signal": "signal on", "pl.semaphore_wait": "wait on"}


def counter_view(sem: Any, what: str) -> Any:
  """One semaphore that a kernel may signal and wait for. Those of copies count bytes, which only copies know."""
  view = semaphore_view(sem, what)
  if jnp.issubdtype(view.dtype, dma_semaphore):
    raise errors.RefTypeError(
      f"{what}: Must {what.rpartition('_')[2]} semaphores of the following types: REGULAR, BARRIER. Got {view.dtype}. A copy "
      "signals its own semaphore, and the copy's wait() waits for it; allocate another one with pltpu.SemaphoreType.REGULAR."
    )
  return view


def int32(x: Any, what: str, name: str) -> Any:
  x = jnp.asarray(x)
  if x.shape != () or not jnp.issubdtype(x.dtype, jnp.integer):
    raise errors.ShapeMismatchError(f"{what}: {name} must be an integer scalar, got {x.dtype}{list(x.shape)}.")
  return x.astype(jnp.int32)


@dataclasses.dataclass(frozen=True)
class Target:
  """The destination of a signal or a copy: a device (None: this one) and the index of a core of its mesh (None: this one)."""

  device: Any = None
  core: Any = None


def target_of(device_id: Any, what: str) -> Target:
  """The target of a `device_id`. The axes of a dict are device axes, axes of the kernel's core mesh, or tuples of several axes."""
  if device_id is None:
    return Target()
  if isinstance(device_id, tuple | list):
    return Target(tuple(int32(i, what, "device_id") for i in device_id))
  if not isinstance(device_id, Mapping):
    return Target(int32(device_id, what, "device_id"))
  coordinates: dict[Any, Any] = {}
  for axes, number in device_id.items():
    number = int32(number, what, f"device_id[{axes!r}]")
    first, *others = axes if isinstance(axes, tuple) else (axes,)
    for axis in reversed(others):
      coordinates[axis] = lax.rem(number, jnp.int32(_size(axis, what)))
      number = lax.div(number, jnp.int32(_size(axis, what)))
    coordinates[first] = number
  own = core_axes()
  devices = {axis: i for axis, i in coordinates.items() if axis not in own}
  return Target(devices or None, _core_number(own, coordinates) if own.keys() & coordinates.keys() else None)


def _size(axis: Any, what: str) -> int:
  try:
    return int(lax.axis_size(axis))
  except NameError:
    raise errors.GridError(
      f"{what}: device_id names the axis {axis!r}; known are the axes {list(mesh_axes())} of devices and {list(core_axes())} of cores."
    ) from None


def _core_number(axes: Mapping[Any, int], coordinates: Mapping[Any, Any]) -> Any:
  """The index of a core in row-major order of its mesh; along axes without a coordinate it has this core's coordinates."""
  number: Any = jnp.int32(0)
  for axis, size in axes.items():
    number = number * size + (coordinates[axis] if axis in coordinates else lax.axis_index(axis))
  return number


# --- signal ------------------------------------------------------------------------------------------------------

semaphore_signal_p = Primitive("semaphore_signal")
semaphore_signal_p.multiple_results = True


@semaphore_signal_p.def_effectful_abstract_eval
def _(*flat: Any, tree: Any, device_id_type: DeviceIdType) -> Any:
  _, _, device_id, _ = _jax.unflatten(tree, flat)
  remote = set() if device_id is None else {effects.comms_effect}
  return [], {ReadEffect(0), WriteEffect(0), effects.semaphore_effect} | remote


def semaphore_signal(
  sem_or_view: Any,
  inc: int | jax.Array = 1,
  *,
  device_id: Any = None,
  device_id_type: DeviceIdType = DeviceIdType.MESH,
  core_index: int | jax.Array | None = None,
) -> None:
  """Add `inc` to a semaphore, here or on another device.

  Args:
    sem_or_view: one semaphore. For another device, the semaphore of this name there.
    inc: the increment.
    device_id: the target device; None means this one. A tuple with a coordinate for each mesh axis, a dict for some of them (the
      others are this device's own), or one int. In a dict, an axis of the kernel's own mesh names one of its cores, and a tuple of axes has
      one number for all of them.
    device_id_type: how `device_id` is interpreted.
    core_index: the core of the device, if it has several.
  """
  what = "pl.semaphore_signal"
  view = counter_view(sem_or_view, what)
  target = target_of(device_id, what)
  core = target.core if core_index is None else int32(core_index, what, "core_index")
  flat, tree = _jax.flatten((view, int32(inc, what, "inc"), target.device, core))
  semaphore_signal_p.bind(*flat, tree=tree, device_id_type=device_id_type)


def restore_count(sem: Any, count: Any) -> None:
  """Give a semaphore of any kind, which is at zero, the count it had in an earlier call."""
  flat, tree = _jax.flatten((semaphore_view(sem, "a semaphore operand"), count, None, None))
  semaphore_signal_p.bind(*flat, tree=tree, device_id_type=DeviceIdType.MESH)


@xla.register(semaphore_signal_p)
def _(ctx: xla.Context, *flat: Any, tree: Any, device_id_type: DeviceIdType) -> list[Any]:
  view, inc, device_id, core = _jax.unflatten(tree, flat)
  check_own_core(ctx, core)
  if device_id is not None:
    axes = device_axes()
    target = logical_device_id(device_id, device_id_type, axes)
    targets, incs = (lax.all_gather(x, tuple(axes)).reshape(-1) for x in (target, inc))
    inc = jnp.sum(jnp.where(targets == own_device_id(axes), incs, 0))
  count = view.ref.read(view.transforms)
  view.ref.write(view.transforms, count + inc)
  return []


def check_own_core(ctx: xla.Context, core: Any) -> None:
  """Fail unless `core` is this core: the portable lowering runs one core, or cores that do not communicate."""
  if core is not None:
    message = f"The {ctx.eqn.primitive} at {source_line(ctx.eqn)} is for another core, but the kernel runs on one."
    fail_unless(core == _own_core(ctx.instance), errors.GridError, message)


def _own_core(instance: xla.Instance) -> Any:
  """The number of the core an instance runs on: its place in the mesh, or 0 where there is only one."""
  number: Any = jnp.int32(0)
  if instance.kernel is None or instance.kernel.mesh is None:
    return number
  for index, size in zip(instance.indices, instance.sizes):
    number = number * size + index
  return number


# --- wait --------------------------------------------------------------------------------------------------------

semaphore_wait_p = Primitive("semaphore_wait")
semaphore_wait_p.multiple_results = True


@semaphore_wait_p.def_effectful_abstract_eval
def _(*flat: Any, tree: Any, decrement: bool) -> Any:
  return [], {ReadEffect(0), WriteEffect(0), effects.semaphore_effect}


def semaphore_wait(sem_or_view: Any, value: int | jax.Array = 1, *, decrement: bool = True) -> None:
  """Wait until `sem_or_view`, one semaphore, has reached `value`; then subtract `value`, unless `decrement` is false.

  A wait that can never end is a `DeadlockError`.
  """
  view = counter_view(sem_or_view, "pl.semaphore_wait")
  flat, tree = _jax.flatten((view, int32(value, "pl.semaphore_wait", "value")))
  semaphore_wait_p.bind(*flat, tree=tree, decrement=bool(decrement))


@xla.register(semaphore_wait_p)
def _(ctx: xla.Context, *flat: Any, tree: Any, decrement: bool) -> list[Any]:
  view, value = _jax.unflatten(tree, flat)
  take(view, value, ctx, decrement=decrement)
  return []


def take(view: Any, value: Any, ctx: xla.Context, *, decrement: bool = True) -> None:
  """Subtract `value` from a semaphore. Instances run sequentially, so a count that has not been reached by now never will be."""
  count = view.ref.read(view.transforms)
  message = (
    f"The wait at {source_line(ctx.eqn)} can never end: nothing has signalled the semaphore often enough by then. Start the copy, or "
    "signal, before the wait. The portable lowering runs instances and cores one after another; where they must run side by side, use "
    "interpret=pltpu.InterpretParams()."
  )
  fail_unless(jnp.all(count >= value), errors.DeadlockError, message)
  if decrement:
    view.ref.write(view.transforms, count - value)


# --- read --------------------------------------------------------------------------------------------------------

semaphore_read_p = Primitive("semaphore_read")
semaphore_read_p.def_effectful_abstract_eval(
  lambda *flat, tree: (int32_scalar(), {ReadEffect(0), effects.semaphore_effect})
)


def semaphore_read(sem_or_view: Any) -> jax.Array:
  """The value of a semaphore, as an int32 scalar."""
  view = semaphore_view(sem_or_view, "pl.semaphore_read")
  flat, tree = _jax.flatten(view)
  return semaphore_read_p.bind(*flat, tree=tree)


@xla.register(semaphore_read_p)
def _(ctx: xla.Context, *flat: Any, tree: Any) -> Any:
  view = _jax.unflatten(tree, flat)
  return view.ref.read(view.transforms).reshape(())


# --- devices -----------------------------------------------------------------------------------------------------


def device_axes() -> dict[Any, int]:
  """The mesh axes of the surrounding shard_map, in mesh order."""
  axes = {n: s for n, s in named_axes().items() if not isinstance(n, GridMarker)}
  if not axes:
    raise errors.OutsideKernelError("A kernel that accesses other devices must be called inside jax.shard_map.")
  return axes


def own_device_id(axes: Mapping[Any, int]) -> Any:
  return logical_device_id({}, DeviceIdType.MESH, axes)


def logical_device_id(device_id: Any, kind: DeviceIdType, axes: Mapping[Any, int]) -> Any:
  """The number of a device in row-major order of the mesh."""
  if kind is DeviceIdType.LOGICAL:
    if isinstance(device_id, tuple):
      (device_id,) = device_id
    return device_id
  if isinstance(device_id, Mapping):
    unknown = [axis for axis in device_id if axis not in axes]
    if unknown:
      raise errors.GridError(f"device_id names the mesh axes {unknown}, but the mesh has {list(axes)}.")
    coordinates = [device_id[a] if a in device_id else lax.axis_index(a) for a in axes]
  else:
    coordinates = list(device_id) if isinstance(device_id, tuple) else [device_id]
    if len(coordinates) != len(axes):
      raise errors.GridError(
        f"device_id has {len(coordinates)} coordinates but the mesh has the axes {list(axes)}; give one for each, a dict for "
        "some, or use DeviceIdType.LOGICAL."
      )
  number: Any = jnp.int32(0)
  for coordinate, size in zip(coordinates, axes.values()):
    number = number * size + coordinate
  return number
