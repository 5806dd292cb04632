"""The rules of the kernel language's primitives for the simulated machine.

Like the portable rules, there is one rule per primitive. Here operands are concrete, memory is shared between threads, and a wait blocks.
`targets` imports this module before the first simulated kernel runs.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tilewright import errors
from tilewright.pallas import debugging, dma, primitives, remote, scoped, semaphores, tpu_sc
from tilewright.pallas.kernel import on_mesh_p
from tilewright.pallas.mosaic_gpu import barriers, clusters, foreign, warps
from tilewright.pallas.mosaic_gpu.tiling import WARPS
from tilewright.pallas.semaphores import DeviceIdType
from tilewright.pallas.tpu.barrier import barrier_key, check_collective_id, get_barrier_semaphore_p
from tilewright.runtime import _jax
from tilewright.target import simulator
from tilewright.target.simulator import Context
from tilewright.tile.memory import TpuMemorySpace

register = simulator.register


# --- position in the grid ----------------------------------------------------------------------------------------


@register(primitives.program_id_p)
def _(ctx: Context, *, axis: int) -> Any:
  return np.int32(ctx.instance.indices[axis])


@register(primitives.num_programs_p)
def _(ctx: Context, *, axis: int) -> Any:
  return np.int32(ctx.instance.sizes[axis])


@register(_jax.axis_index_p)
def _(ctx: Context, *, axis_name: Any) -> Any:
  known = ctx.instance.axis_indices
  if axis_name in known:
    return np.int32(known[axis_name])
  sizes = dict(ctx.instance.mesh_axes)
  number = 0
  for name in axis_name if isinstance(axis_name, tuple) else (axis_name,):
    if name not in known:
      raise errors.GridError(f"{ctx.where}: no axis is called {name!r}; the grid and the devices have {list(known)}.")
    number = number * sizes.get(name, 1) + known[name]
  return np.int32(number)


@register(on_mesh_p)
def _(ctx: Context, core: Any, *args: Any, jaxpr: Any, axes: Any, first: int) -> list[Any]:
  sizes = [size for _, size in axes]
  coordinates = tuple(int(i) for i in np.unravel_index(int(core), sizes))
  names = {name: i for (name, _), i in zip(axes, coordinates)}
  instance = dataclasses.replace(
    ctx.instance,
    indices=coordinates,
    sizes=tuple(sizes),
    axis_indices={**ctx.instance.axis_indices, **names},
    first_core=first,
  )
  return ctx.evaluate(jaxpr, (), [core, *args], instance)


# --- memory ------------------------------------------------------------------------------------------------------


@register(primitives.masked_load_p)
def _(ctx: Context, *flat: Any, tree: Any, cache: str) -> Any:
  view, mask, other = _jax.unflatten(tree, flat)
  value = ctx.read(view, mask)
  if mask is None:
    return value
  fill = simulator.resolve(view)[0].fill if other is None else np.asarray(other)
  return np.where(np.asarray(mask), value, fill).astype(value.dtype)


@register(primitives.masked_swap_p)
def _(ctx: Context, *flat: Any, tree: Any, cache: str) -> Any:
  view, value, mask = _jax.unflatten(tree, flat)
  return ctx.write(view, value, mask)


_ATOMIC: dict[str, np.ufunc] = {
  "add": np.add,
  "max": np.maximum,
  "min": np.minimum,
  "and": np.bitwise_and,
  "or": np.bitwise_or,
  "xor": np.bitwise_xor,
}


@register(primitives.atomic_rmw_p)
def _(ctx: Context, *flat: Any, tree: Any, kind: str) -> Any:
  view, value, mask = _jax.unflatten(tree, flat)
  value = np.asarray(value)
  if kind == "xchg":
    return ctx.update(view, lambda old: value, mask, atomic=True)
  return ctx.core.world.accumulate(ctx.core, view, ctx.where, value, _ATOMIC[kind], mask, atomic=True)


@register(primitives.atomic_cas_p)
def _(ctx: Context, *flat: Any, tree: Any) -> Any:
  view, cmp, val = _jax.unflatten(tree, flat)
  return ctx.update(view, lambda old: np.where(old == np.asarray(cmp), np.asarray(val), old), atomic=True)


@register(scoped.run_scoped_p)
def _(ctx: Context, *consts: Any, jaxpr: Any, collective_axes: Any) -> list[Any]:
  own = {k: v for k, v in ctx.instance.axis_indices.items() if k not in collective_axes}
  refs = []
  visit = ctx.core.visits[ctx.eqn] = ctx.core.visits.get(ctx.eqn, 0) + 1  # each execution allocates new shared memory
  for i, v in enumerate(jaxpr.invars[len(consts) :]):
    in_hbm = v.aval.memory_space is TpuMemorySpace.HBM
    if in_hbm and not collective_axes and not ctx.instance.program.options.allow_hbm_allocation_in_run_scoped:
      raise errors.MemorySpaceError(
        f"{ctx.where}: run_scoped allocates {v.aval} in HBM, which a TPU cannot do. Pass an operand or a scratch buffer in "
        "HBM, or set InterpretParams(allow_hbm_allocation_in_run_scoped=True)."
      )
    # Another CTA of a cluster may have begun the next execution, and arrive at a barrier of that.
    alone = (ctx.core.warp, visit) if _has_clusters(ctx) else ctx.core.warp
    together = (visit, *sorted(own.items(), key=str)) if collective_axes else alone
    place = ("scoped", ctx.eqn, i, together)
    label = f"scoped memory {i} of {ctx.where}"
    refs.append(ctx.allocate(place, v.aval, label, shared=bool(collective_axes) or in_hbm))
  out = ctx.evaluate(jaxpr, (), [*consts, *refs])
  sizes = dict(zip(ctx.kernel.grid_mapping.grid_names or (), ctx.instance.sizes))
  for ref in refs:
    if ref.address.core is not None:
      ctx.core.world.free(ref.address)
    elif collective_axes:
      ctx.core.world.leave(ref.address, math.prod(sizes.get(axis, 1) for axis in collective_axes))
  return out


def _has_clusters(ctx: Context) -> bool:
  return any(math.prod(getattr(mesh, "cluster", ())) > 1 for mesh in ctx.kernel.mesh or ())


@register(scoped.get_global_p)
def _(ctx: Context, *, aval: Any, key: Any) -> Any:
  return ctx.allocate(("global", key), aval, f"the global ref of {ctx.where}", shared=True)


@register(scoped.core_semaphore_p)
def _(ctx: Context, *, aval: Any, key: Any) -> Any:
  return ctx.allocate(("core semaphore", key), aval, f"the semaphore of {ctx.where}", shared=False)


@register(tpu_sc.fetch_and_add_p)
def _(ctx: Context, *flat: Any, tree: Any) -> Any:
  view, value, core = _jax.unflatten(tree, flat)
  found, transforms = simulator.resolve(view)
  there = ctx.core.world.on_device(found, ctx.core.device, _core_number(ctx, core))
  value = np.asarray(value)
  return ctx.update(_jax.state_types.TransformedRef(there, transforms), lambda old: old + value, atomic=True)


# --- debugging and time ------------------------------------------------------------------------------------------


@register(debugging.debug_print_p)
def _(ctx: Context, *args: Any, fmt: str, has_placeholders: bool) -> list[Any]:
  values = [np.asarray(a) for a in args]
  print(fmt.format(*values) if has_placeholders else " ".join([fmt, *map(str, values)]), flush=True)
  return []


@register(debugging.debug_check_p)
def _(ctx: Context, condition: Any, *, message: str) -> list[Any]:
  held = np.asarray(condition, bool)
  if not held.all():
    from tilewright.runtime import printing  # it loads LLVM

    where = f"at {ctx.where}, {ctx.core}"
    raise errors.DebugCheckError(f"debug_check failed: {message} ({where}){printing.first_failing(held)}")
  return []


@register(debugging.delay_p)
def _(ctx: Context, nanos: Any) -> list[Any]:
  time.sleep(max(0, int(nanos)) * 1e-9)
  return []


@register(foreign.inline_mgpu_p)
def _(ctx: Context, *args: Any, out_avals: Any, message: str) -> list[Any]:
  if getattr(ctx.instance.program.options, "inline_mgpu", "error") == "error":
    raise errors.UnsupportedFeatureError(f"{ctx.where}: {message}")
  options = ctx.instance.program.options
  return [np.full(a.shape, simulator.uninitialized_value(a.dtype, options), a.dtype) for a in out_avals]


# --- semaphores --------------------------------------------------------------------------------------------------


def device_number(ctx: Context, device_id: Any, kind: DeviceIdType) -> int:
  """The number of a device in row-major order of the mesh."""
  axes, own = dict(ctx.instance.mesh_axes), ctx.instance.axis_indices
  if device_id is None:
    return ctx.core.device
  if isinstance(device_id, Mapping):
    unknown = [axis for axis in device_id if axis not in axes]
    if unknown:
      raise errors.GridError(f"{ctx.where}: device_id names the mesh axes {unknown}, but the mesh has {list(axes)}.")
    coordinates = [int(device_id.get(a, own[a])) for a in axes]
  else:
    coordinates = [int(i) for i in (device_id if isinstance(device_id, Sequence) else [device_id])]
    if kind is DeviceIdType.LOGICAL:
      (number,) = coordinates
      return number
    if len(coordinates) != len(axes):
      raise errors.GridError(
        f"{ctx.where}: device_id has {len(coordinates)} coordinates but the mesh has the axes {list(axes)}; give one for each, a "
        "dict for some, or use DeviceIdType.LOGICAL."
      )
  for axis, coordinate in zip(axes, coordinates):
    if not 0 <= coordinate < axes[axis]:
      raise errors.GridError(
        f"{ctx.where}: device_id {coordinate} is outside of the mesh axis {axis!r} of size {axes[axis]}."
      )
  return int(np.ravel_multi_index(coordinates, list(axes.values()))) if axes else 0


def _core_number(ctx: Context, core: Any) -> int | None:
  """The number among all cores of a device of a core of this body's mesh."""
  return None if core is None else ctx.instance.first_core + int(core)


def _target(ctx: Context, sem: Any, device: int | None = None, core: int | None = None) -> tuple[Any, int]:
  """One semaphore, here or on another device: the array it is in, and its number there."""
  found, transforms = simulator.resolve(sem)
  if device is not None:
    found = ctx.core.world.on_device(found, device, core)
  return found, found.position(transforms, ctx.where)


@register(semaphores.semaphore_signal_p)
def _(ctx: Context, *flat: Any, tree: Any, device_id_type: DeviceIdType) -> list[Any]:
  view, inc, device_id, core = _jax.unflatten(tree, flat)
  device = device_number(ctx, device_id, device_id_type)
  ctx.core.world.signal(ctx.core, *_target(ctx, view, device, _core_number(ctx, core)), int(inc))
  return []


@register(semaphores.semaphore_wait_p)
def _(ctx: Context, *flat: Any, tree: Any, decrement: bool) -> list[Any]:
  view, value = _jax.unflatten(tree, flat)
  ctx.core.world.wait(ctx.core, *_target(ctx, view), int(value), ctx.where, decrement=decrement)
  return []


@register(barriers.barrier_arrive_p)
def _(
  ctx: Context, *flat: Any, tree: Any, of_copy: bool, leader_axes: tuple[Any, ...], along: tuple[Any, ...]
) -> list[Any]:
  found, position = _target(ctx, _jax.unflatten(tree, flat))
  if leader_axes:
    found.leader_axes[position] = leader_axes
  ctx.core.world.signal(ctx.core, found, position, 1)
  return []


@register(warps.side_by_side_p)
def _(ctx: Context, *args: Any, bodies: Sequence[Any]) -> list[Any]:
  def run(body: Any, core: Any) -> None:
    ctx.evaluate(body, (), args, dataclasses.replace(ctx.instance, core=core))

  simulator.run_side_by_side(ctx.core, [functools.partial(run, body) for body in bodies])
  return []


@register(barriers.barrier_wait_p)
def _(ctx: Context, *flat: Any, tree: Any, arrivals: int, is_lazy: bool) -> list[Any]:
  """All arrivals are counted; the n-th wait of a core waits for the arrivals of n phases."""
  found, position = _target(ctx, _jax.unflatten(tree, flat))
  phase = found.phases[ctx.core.agent, position, ctx.core.warp] = _next_phase(ctx.core, found, position)
  wait = lambda barrier: ctx.core.world.wait(ctx.core, barrier, position, phase * arrivals, ctx.where, decrement=False)
  wait(found)
  axes = found.leader_axes.get(position, ())
  if axes and not any(ctx.instance.axis_indices[axis] for axis in axes):
    sizes = dict(zip(ctx.kernel.grid_mapping.grid_names or (), ctx.instance.sizes))
    for place in itertools.product(*(range(sizes[axis]) for axis in axes)):
      wait(_in_block(ctx, found, dict(zip(axes, place))))
  return []


def _next_phase(core: Any, found: Any, position: int) -> int:
  """The first phase a core has not waited for. A warpgroup's waits count for its warps, and the warps' waits for it when they finish."""
  warps = (None, core.warp) if core.warp is not None else (None, *range(WARPS))
  return 1 + max(found.phases.get((core.agent, position, warp), 0) for warp in warps)


@register(barriers.barrier_test_p)
def _(ctx: Context, *flat: Any, tree: Any, arrivals: int) -> Any:
  found, position = _target(ctx, _jax.unflatten(tree, flat))
  world = ctx.core.world
  with world.changed:
    world.stop_if_failed()  # a core may poll in a loop
    phase = _next_phase(ctx.core, found, position)
    return np.bool_(found.counts.flat[position] >= phase * arrivals)


@register(semaphores.semaphore_read_p)
def _(ctx: Context, *flat: Any, tree: Any) -> Any:
  found, position = _target(ctx, _jax.unflatten(tree, flat))
  with ctx.core.world.changed:
    return np.int32(found.counts.flat[position])


@register(get_barrier_semaphore_p)
def _(ctx: Context, *, tag: Any) -> Any:
  check_collective_id(ctx.kernel, tag, ctx.eqn)
  identity = tag if tag is not None else getattr(ctx.kernel.compiler_params, "collective_id", None)
  return simulator.persistent(ctx.core, barrier_key(identity), ctx.eqn.outvars[0].aval, f"barrier semaphore {identity}")


@register(remote.remote_ref_p)
def _(ctx: Context, ref: Any, *flat: Any, tree: Any, device_id_type: DeviceIdType) -> Any:
  device = device_number(ctx, _jax.unflatten(tree, flat), device_id_type)
  return ctx.core.world.on_device(ref, device)


@register(clusters.cluster_ref_p)
def _(ctx: Context, ref: Any, *block: Any, axes: tuple[Any, ...]) -> Any:
  """The same memory in the CTA with these coordinates along `axes`, and this CTA's along the others."""
  return _in_block(ctx, ref, dict(zip(axes, map(int, block))))


def _in_block(ctx: Context, ref: Any, there: Mapping[Any, int]) -> Any:
  """The same memory in the CTA with these coordinates, and this CTA's along the other axes."""
  groups = ctx.kernel.warpgroups
  names = ctx.kernel.grid_mapping.grid_names or ()
  sizes = dict(zip(names, ctx.instance.sizes))
  if groups > 1:
    sizes.pop(names[-1])
  for axis, index in there.items():
    if not 0 <= index < sizes[axis]:
      raise errors.GridError(f"{ctx.where}: block_id: there is no block {index} along {axis!r} of size {sizes[axis]}.")
  number = 0
  for axis, size in sizes.items():
    number = number * size + there.get(axis, int(ctx.instance.axis_indices[axis]))
  own = ref.address
  if own.core is not None:
    return ctx.core.world.on_device(ref, own.device, number * groups + ctx.core.index % groups)
  match own.key:
    case ("scratch", int(), int()):
      key = (*own.key[:2], number)
    case ("scoped", _, _, (visit, *places)) if {axis for axis, _ in places}.issuperset(there):
      key = (*own.key[:3], (visit, *((axis, there.get(axis, index)) for axis, index in places)))
    case _:
      raise errors.UnsupportedFeatureError(
        f"{ctx.where}: the kernel accesses another block's {ref.label}, which several blocks share. Name scratch memory of the "
        "kernel."
      )
  address = dataclasses.replace(own, key=key)
  return ctx.core.world.allocate(address, ref.aval, ref.label)


# --- copies ------------------------------------------------------------------------------------------------------


@register(dma.dma_start_p)
def _(ctx: Context, *flat: Any, tree: Any, device_id_type: Any, priority: int, add: bool) -> list[Any]:
  src, dst, dst_sem, src_sem, device_id, core = _jax.unflatten(tree, flat)
  device, core = device_number(ctx, device_id, device_id_type), _core_number(ctx, core)
  found, transforms = simulator.resolve(dst)
  world = ctx.core.world
  left = None if src_sem is None else _target(ctx, src_sem)
  arrived = _target(ctx, dst_sem, device, core)
  world.start_copy(ctx.core, src, (world.on_device(found, device, core), transforms), left, arrived, ctx.where, add=add)
  return []


@register(dma.dma_wait_p)
def _(ctx: Context, *flat: Any, tree: Any) -> list[Any]:
  moved, sem = _jax.unflatten(tree, flat)
  ctx.core.world.wait(ctx.core, *_target(ctx, sem), simulator.size_in_bytes(moved), ctx.where)
  return []
