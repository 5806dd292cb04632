"""Rules for the warpgroups of a CTA: barriers and shared memory.

The last dimension of a mesh with `num_threads` is the warpgroups. They share the kernel's scratch memory and memory of
`run_scoped(…, collective_axes=…)`, which becomes additional scratch memory; all warpgroups synchronise at the entry of such a scope.

A single warpgroup waits only for its own copies. On targets other than GPUs copies are synchronous, and barriers are counters that detect
waits that cannot end.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from tilewright import errors
from tilewright.pallas.cores import communicates
from tilewright.pallas.effects import CommsEffect
from tilewright.pallas.lowering import clusters, cores
from tilewright.pallas.lowering.effects import semaphore_index, signal
from tilewright.pallas.lowering.memory import allocate, leaves, memory_type
from tilewright.pallas.lowering.table import Context, lower_jaxpr, rule
from tilewright.pallas.scoped import check_alone
from tilewright.tile.grid import Kernel
from tilewright.tile.ir import Value
from tilewright.tile.types import RefType

_MAX_WARPGROUPS_ON_GPU = 8  # warpgroups of 128 threads: a CTA has at most 1024


def check_shared(kernel: Kernel, global_refs: Collection[Any] = (), *, for_gpu: bool = False) -> None:
  """Reject memory that warpgroups cannot share, and more warpgroups than a CTA can have."""
  if for_gpu and kernel.warpgroups > _MAX_WARPGROUPS_ON_GPU:
    raise errors.GridError(
      f"The kernel '{kernel.name}': num_threads: a CTA has at most {_MAX_WARPGROUPS_ON_GPU} warpgroups on a GPU, got "
      f"{kernel.warpgroups}. Use fewer, or interpret=plgpu.InterpretGPUParams()."
    )
  if global_refs:
    raise errors.UnsupportedFeatureError(
      f"The kernel '{kernel.name}': several warpgroups (num_threads={kernel.warpgroups}) have no memory that outlives an instance, such as "
      "that of pl.get_global or of random number generators with a state. Pass it as an operand."
    )


def _are_several(ctx: Context) -> bool:
  return ctx.builder.kernel is not None and ctx.builder.kernel.warpgroups > 1


def _is_asynchronous(ctx: Context) -> bool:
  """Whether copies and matrix products are asynchronous, or other warpgroups run concurrently."""
  return ctx.builder.for_gpu or _are_several(ctx)


@rule("run_scoped")
def _run_scoped(ctx: Context, *consts: Value, jaxpr: Any, collective_axes: Any) -> list[Value]:
  kernel = ctx.builder.kernel
  names = (kernel.grid_mapping.grid_names or ()) if kernel is not None else ()
  sizes = dict(zip(names, kernel.grid_mapping.grid)) if kernel is not None else {}
  avals = [v.aval for v in jaxpr.invars[len(consts) :]]
  shared = [axis for axis in collective_axes if sizes.get(axis) != 1]
  if ctx.builder.cores is not None and shared and set(shared) == {name for name, size in sizes.items() if size != 1}:
    refs = _allocate_shared(ctx, avals)
  elif ctx.builder.cores is not None and not shared and communicates(jaxpr):
    refs = cores.allocate(ctx, avals)
  elif ctx.builder.mesh and any(isinstance(e, CommsEffect) for e in jaxpr.effects):
    refs = _allocate_for_devices(ctx, avals)
  elif (shared == [names[-1]]) if _are_several(ctx) else (not shared and _cooperates(ctx, jaxpr)):
    refs = _allocate_shared(ctx, avals)
  else:
    check_alone(collective_axes, sizes, ctx.builder.loc)
    refs = [allocate(ctx, aval) for aval in avals]
  return lower_jaxpr(ctx.builder, jaxpr, (), [*consts, *refs])


def _cooperates(ctx: Context, jaxpr: Any) -> bool:
  """Whether other CTAs of a cluster access what the only warpgroup allocates: it lies where theirs does."""
  return clusters.is_used(ctx) and clusters.cooperates(jaxpr)


def _allocate_for_devices(ctx: Context, avals: Sequence[Any]) -> list[Value]:
  """Scoped memory that other devices access, possibly before this device enters the scope: it is hoisted to the kernel. Semaphores are
  reset to zero at the end of the scope."""
  body = ctx.builder.body
  assert body is not None
  refs = [Value(memory_type(aval), body) for aval in avals]
  body.params.extend(refs)
  return refs


def _allocate_shared(ctx: Context, avals: Sequence[Any]) -> list[Value]:
  """Memory of a scope that all warpgroups enter together."""
  kernel, body = ctx.builder.kernel, ctx.builder.body
  assert kernel is not None and body is not None
  kinds = [clusters.barrier_type(kernel, aval, memory_type(aval), for_gpu=ctx.builder.for_gpu) for aval in avals]
  refs = [Value(kind, body) for kind in kinds]
  body.params.extend(refs)
  ctx.builder.emit_all("meet", [v for v in refs if not isinstance(v.type, RefType)])
  return refs


@rule("core_semaphore")
def _core_semaphore(ctx: Context, *, aval: Any, key: Any) -> Value:
  return cores.allocate(ctx, [aval])[0]


@rule("barrier_arrive")
def _arrive(
  ctx: Context, *flat: Value, tree: Any, of_copy: bool, leader_axes: tuple[Any, ...], along: tuple[Any, ...]
) -> list[Value]:
  view = leaves(tree, flat)
  if _is_asynchronous(ctx):
    barrier, index = semaphore_index(ctx, view, checked=not ctx.builder.for_gpu)
    if leader_axes and clusters.is_used(ctx) and clusters.dims_along(ctx, leader_axes, "copy_gmem_to_smem"):
      raise errors.UnsupportedFeatureError(
        f"The copy at {ctx.where} is tracked by the first CTA of a cluster (leader_tracked), which native code cannot do yet. Leave "
        "leader_tracked out, let each CTA wait for its own copy, and meet at a ClusterBarrier; or pass interpret=True."
      )
    dims = clusters.dims_along(ctx, along, "copy_gmem_to_smem") if ctx.builder.for_gpu and along else ()
    attrs: dict[str, Any] = {"along": dims} if dims else {}
    ctx.builder.emit_all("arrive", [barrier, *index], of_copy=of_copy, **attrs)
  else:
    signal(ctx, view, ctx.constant(1, np.int32))
  return []


@rule("commit_copies")
def _commit_copies(ctx: Context, *, group: bool) -> list[Value]:
  return _gpu_only(ctx, "commit_copies", group=group)


@rule("await_copies")
def _await_copies(ctx: Context, *, pending: int, read_only: bool) -> list[Value]:
  return _gpu_only(ctx, "await_copies", pending=pending, read_only=read_only)


@rule("await_products")
def _await_products(ctx: Context, *, pending: int) -> list[Value]:
  return _gpu_only(ctx, "await_products", pending=pending)


@rule("set_max_registers")
def _set_max_registers(ctx: Context, *, count: int, increase: bool) -> list[Value]:
  return _gpu_only(ctx, "set_registers", count=count, increase=increase) if _are_several(ctx) else []


def _gpu_only(ctx: Context, name: str, **attrs: Any) -> list[Value]:
  """An op that only has a meaning on a GPU."""
  if ctx.builder.for_gpu:
    ctx.builder.emit_all(name, [], **attrs)
  return []


@rule("inline_mgpu")
def _inline_mgpu(ctx: Context, *args: Value, out_avals: Any, message: str) -> list[Value]:
  raise errors.UnsupportedFeatureError(f"{ctx.where}: {message}")


@rule("side_by_side")
def _side_by_side(ctx: Context, *operands: Value, bodies: Any) -> list[Value]:
  raise errors.UnsupportedFeatureError(
    f"The warps of a warpgroup wait for each other (plgpu.warp_map or plgpu.WarpMesh, at {ctx.where}), but native code runs them "
    "one after another. Pass "
    "interpret=True, or use warpgroups, which run side by side: plgpu.kernel(num_threads=…), plgpu.emit_pipeline_warp_specialized."
  )


@rule("barrier_wait")
def _wait(ctx: Context, *flat: Value, tree: Any, arrivals: int, is_lazy: bool) -> list[Value]:
  view = leaves(tree, flat)
  barrier, index = semaphore_index(ctx, view, checked=not ctx.builder.for_gpu)
  if _is_asynchronous(ctx):
    attrs: dict[str, Any] = {"is_lazy": True} if is_lazy and ctx.builder.for_gpu else {}
    ctx.builder.emit_all("await", [barrier, *index], message=ctx.where, **attrs)
    return []
  message = (
    f"DeadlockError: The barrier_wait at {ctx.where} can never end: there have been too few arrivals by then, and the block has only one "
    "warpgroup. Arrive at the barrier, or give it to a copy, as often as it says (num_arrivals)."
  )
  count = ctx.constant(arrivals, np.int32)
  ctx.builder.emit_all("wait", [barrier, count, *index], decrement=True, message=message)
  return []


@rule("barrier_test")
def _test(ctx: Context, *flat: Value, tree: Any, arrivals: int) -> Value:
  barrier, index = semaphore_index(ctx, leaves(tree, flat))
  return ctx.emit("ge", ctx.emit("read_semaphore", barrier, *index), ctx.constant(arrivals, np.int32))
