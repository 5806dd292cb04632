"""Rules for the CTAs of a cluster, in code for GPUs: memory and barriers of another CTA, and copies that all make together.

    mesh (grid 4, cluster 2 x 2, 3 warpgroups)        the grid of the kernel is 4 x 2 x 2 x 3; the cluster's dimensions are 1 and 2
    cluster_ref(x, {"column": 1})                     cluster_ref %x, %rank       rank = own row * 2 + 1

Where the CTAs of a cluster do not access each other's memory, they are CTAs like others.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright import errors
from tilewright.pallas.lowering.effects import as_int32
from tilewright.pallas.lowering.table import Context, rule
from tilewright.target.xla.evaluate import subjaxprs
from tilewright.tile.grid import GridMapping, Kernel
from tilewright.tile.ir import Block, Value
from tilewright.tile.memory import BlockBarrier, is_semaphore
from tilewright.tile.types import RefType, SemaphoreArrayType


@dataclasses.dataclass(frozen=True)
class ClusterAxis:
  """An axis of a cluster: a dimension of the kernel's grid, and how many CTAs there are along it."""

  dim: int
  size: int


def axes_of(kernel: Kernel | None) -> dict[Any, ClusterAxis]:
  """The axes of a kernel's clusters, by name; the last ones of its mesh, but for that of the warpgroups."""
  for mesh in (kernel.mesh or ()) if kernel is not None else ():
    sizes = tuple(getattr(mesh, "cluster", ()))
    if math.prod(sizes) > 1:
      first = len(mesh.grid)
      return {name: ClusterAxis(first + n, size) for n, (name, size) in enumerate(zip(mesh.cluster_names, sizes))}
  return {}


def cooperates(jaxpr: Any) -> bool:
  """Whether an equation, or one nested in it, concerns other CTAs of a cluster: their memory, or copies that they make together."""
  return any(
    eqn.primitive.name == "cluster_ref"
    or (eqn.primitive.name == "barrier_arrive" and bool(eqn.params["along"]))
    or any(cooperates(inner) for inner in subjaxprs(eqn))
    for eqn in jaxpr.eqns
  )


def is_used(ctx: Context) -> bool:
  """Whether this is code for a GPU whose CTAs cooperate in clusters."""
  kernel = ctx.builder.kernel
  return ctx.builder.for_gpu and kernel is not None and bool(axes_of(kernel)) and cooperates(kernel.jaxpr)


def shares_semaphores(kernel: Kernel, avals: Sequence[Any]) -> bool:
  """Whether the refs that outlive the instances of a kernel (`pl.get_global`) are semaphores that its CTAs share."""
  of_ctas = any(hasattr(mesh, "num_threads") for mesh in kernel.mesh or ())
  return of_ctas and bool(avals) and all(is_semaphore(aval.dtype) for aval in avals)


def check_together(kernel: Kernel, *, needs_order: bool, are_of_grid: bool) -> None:
  """CTAs that wait for each other cannot run one after another."""
  if needs_order:
    raise errors.NativeCodeError(
      f"The kernel '{kernel.name}' has an atomic update for which GPUs have no instruction, so that its CTAs would run one after another; "
      "but they wait for each other. Use int32 or float32, or pass interpret=True."
    )
  if are_of_grid and kernel.grid_mapping.num_vmapped:
    raise errors.NativeCodeError(
      f"The kernel '{kernel.name}': its CTAs share semaphores (pl.get_global), of which a batch (jax.vmap) would have to have some for "
      "each element. Call it in jax.lax.map, or pass interpret=True."
    )


def concurrent(mapping: GridMapping, semantics: Sequence[Any] | None) -> tuple[Any, ...]:
  """What is said of the dimensions of a grid whose CTAs wait for each other: they are there at the same time, whatever they write. Those of
  a batch stay as they are, one cluster after another."""
  of_batch = mapping.num_vmapped
  return (*(semantics or ("arbitrary",) * of_batch)[:of_batch], *("concurrent",) * (len(mapping.grid) - of_batch))


def barrier_type(
  kernel: Kernel | None, aval: Any, ty: RefType | SemaphoreArrayType, *, for_gpu: bool
) -> RefType | SemaphoreArrayType:
  """The type of scratch memory: at barriers of a cluster, several CTAs arrive."""
  kind = getattr(aval, "dtype", None)
  if not for_gpu or not isinstance(kind, BlockBarrier) or not kind.axes or not isinstance(ty, SemaphoreArrayType):
    return ty
  return dataclasses.replace(ty, ctas=math.prod(axis.size for axis in _named(kernel, kind.axes, "ClusterBarrier")))


def dims_along(ctx: Context, axes: Sequence[Any], what: str) -> tuple[int, ...]:
  """The dimensions of the grid that some axes of the cluster are, without those along which there is one CTA."""
  return tuple(axis.dim for axis in _named(ctx.builder.kernel, axes, f"{what} at {ctx.where}") if axis.size > 1)


def _named(kernel: Kernel | None, axes: Sequence[Any], what: str) -> list[ClusterAxis]:
  known = axes_of(kernel)
  unknown = [axis for axis in axes if axis not in known]
  names = dict.fromkeys(kernel.grid_mapping.grid_names or ()) if kernel is not None else {}
  sizes = dict(zip(names, kernel.grid_mapping.grid)) if kernel is not None else {}
  if unknown := [axis for axis in unknown if sizes.get(axis) != 1]:
    raise errors.GridError(
      f"{what}: collective_axes: {unknown[0]!r} is no axis of the cluster, whose CTAs alone cooperate; it has {list(known)}. Name the axis "
      "in cluster_names of plgpu.kernel."
    )
  return [known[axis] for axis in axes if axis in known]


@rule("cluster_ref")
def _cluster_ref(ctx: Context, ref: Value, *indices: Value, axes: tuple[Any, ...]) -> Value:
  if not ctx.builder.for_gpu:
    raise errors.UnsupportedFeatureError(
      f"The blocks of a cluster access each other's shared memory along {axes} at {ctx.where} (ClusterBarrier, cluster_ref, "
      "async_store_smem), which native code for CPUs cannot do. Pass interpret=True, or make the blocks independent and combine their "
      "results in a second kernel."
    )
  _named(ctx.builder.kernel, axes, f"cluster_ref at {ctx.where}")
  if not isinstance(ref.owner, Block):
    raise errors.UnsupportedFeatureError(
      f"The memory of another CTA at {ctx.where} must be scratch memory of the kernel, or of a pl.run_scoped that all warpgroups enter "
      "together (collective_axes). Allocate it in scratch_types."
    )
  given = dict(zip(axes, indices))
  rank: Value = ctx.constant(0, np.int32)
  for name, axis in axes_of(ctx.builder.kernel).items():
    size = ctx.constant(axis.size, np.int32)
    place = as_int32(ctx, given[name]) if name in given else ctx.emit("program_id", axis=axis.dim)
    rank = ctx.emit("add", ctx.emit("mul", rank, size), place)
  return ctx.emit("cluster_ref", ref, rank, where=ctx.where)
