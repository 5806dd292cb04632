"""What blocks of threads of a cluster do together.

    @plgpu.kernel(…, grid=(8,), grid_names=("i",), cluster=(2,), cluster_names=("c",))

Native code runs them as blocks like others: each copies what it needs for itself, and none sees the shared memory of another. So copies
for several of them become copies of each, and work is never taken from blocks that have not begun. Kernels whose blocks reach for each
other (`cluster_ref`, `ClusterBarrier`, `async_store_smem`) run on the simulated machine, for interpret=True too.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.pallas import primitives, semaphores
from tilewright.pallas.mosaic_gpu.barriers import Barrier, arrives_at_all, barrier_arrive
from tilewright.pallas.mosaic_gpu.memory import SMEM
from tilewright.pallas.primitives import Primitive, ReadEffect, WriteEffect
from tilewright.pallas.tracing import core_axes

# --- taking the work of other blocks -----------------------------------------------------------------------------

_RESULT_BYTES = 16


def TryClusterCancelResult(num_buffers: int | None = None) -> Any:
  """Memory for what `try_cluster_cancel` finds, or for so many of them."""
  return SMEM((_RESULT_BYTES,) if num_buffers is None else (num_buffers, _RESULT_BYTES), jnp.int8)


def _check_result(what: str, ref: Any) -> None:
  if not (primitives.is_ref(ref) and tuple(ref.shape) == (_RESULT_BYTES,) and ref.dtype == jnp.int8):
    raise errors.RefTypeError(f"plgpu.{what}: result_ref: expected a ref of TryClusterCancelResult(), got {ref!r}.")


def try_cluster_cancel(result_ref: Any, barrier: Any, *, collective_axes: Any = ()) -> None:
  """Ask for the work of a cluster that has not begun, and arrive at a barrier: there is none to be had, as all of them begin."""
  _check_result("try_cluster_cancel", result_ref)
  primitives.store(result_ref, None, jnp.zeros((_RESULT_BYTES,), jnp.int8))
  barrier_arrive(barrier)


def query_cluster_cancel(result_ref: Any, grid_names: Sequence[Any]) -> tuple[tuple[jax.Array, ...], jax.Array]:
  """The indices of the cluster that was taken, and whether one was: never, so that each block does its own work."""
  _check_result("query_cluster_cancel", result_ref)
  return tuple(jnp.int32(0) for _ in grid_names), jnp.bool_(False)


# --- memory of other blocks --------------------------------------------------------------------------------------

cluster_ref_p = Primitive("cluster_ref")
primitives.gives_ref(cluster_ref_p)
primitives.not_differentiable(cluster_ref_p)


@cluster_ref_p.def_effectful_abstract_eval
def _(ref: Any, *block: Any, axes: tuple[Any, ...]) -> Any:
  return ref, {ReadEffect(0), WriteEffect(0)}


def cluster_ref(ref: Any, block_id: dict[Any, Any]) -> Any:
  """The memory of the same name of another block of the cluster: `plgpu.cluster_ref(x_smem, {"c": 1})`.

  `block_id` says where it is along some axes; along the others it is where this one is. Barriers order what the two do.
  """
  what = "plgpu.cluster_ref"
  view = primitives.flatten_ref(ref, None, what)
  axes = core_axes()
  unknown = [axis for axis in block_id if axis not in axes] if isinstance(block_id, dict) else [block_id]
  if unknown or not block_id:
    raise errors.GridError(
      f"{what}: block_id: expected a dict of indices along axes of {list(axes)}, got {block_id!r}."
    )
  indices = [semaphores.int32(index, what, f"block_id[{axis!r}]") for axis, index in block_id.items()]
  found = cluster_ref_p.bind(view.ref, *indices, axes=tuple(block_id))
  return primitives.TransformedRef(found, view.transforms) if view.transforms else found


@arrives_at_all
def _(barrier: Any, axes: tuple[Any, ...]) -> list[Any]:
  """The barriers of this name of all blocks along some axes."""
  sizes = core_axes()
  places = itertools.product(*(range(sizes[axis]) for axis in axes))
  return [cluster_ref(barrier, dict(zip(axes, place))) for place in places]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClusterBarrier:
  """A barrier, or an array of them, of the blocks of a cluster along some axes: who arrives, arrives at the barrier of each of them.

  With `leader_tracked`, only at that of the first of them, which alone can wait then. A phase ends with `num_arrivals` from each block.
  `orders_tensor_core` means nothing: products are done when their calls return.
  """

  collective_axes: tuple[str | tuple[str, ...], ...]
  num_barriers: int | Sequence[int] = ()
  num_arrivals: int = 1
  orders_tensor_core: bool = False
  leader_tracked: bool = False

  def get_array_aval(self) -> Any:
    return self._memory().get_array_aval()

  def get_ref_aval(self) -> Any:
    return self._memory().get_ref_aval()

  def _memory(self) -> Any:
    given = (self.collective_axes,) if isinstance(self.collective_axes, str) else self.collective_axes
    axes = tuple(name for axis in given for name in ((axis,) if isinstance(axis, str) else axis))
    barrier = Barrier(num_arrivals=self.num_arrivals, num_barriers=self.num_barriers)
    return barrier.memory(axes, of_leader=self.leader_tracked)


def async_store_smem(
  src: jax.Array,
  ref: Any,
  barrier: Any,
  *,
  cluster_idx: jax.Array,
  cluster_dim: Any,
  optimized: bool = True,
  atomic: str | None = None,
) -> None:
  """Write an array to the memory of another block of the cluster, and arrive at its barrier: it is there then.

  Args:
    src: what to write.
    ref: where: memory of this name, of the other block.
    barrier: of this name, of the other block.
    cluster_idx, cluster_dim: the other block: its index along an axis of the cluster.
    optimized: means nothing here.
    atomic: "add", "max", "min", "and", "or" or "xor" what is there, instead of replacing it.
  """
  if atomic not in (None, *_ATOMIC):
    raise errors.KernelTypeError(f"plgpu.async_store_smem: atomic: expected None or one of {_ATOMIC}, got {atomic!r}.")
  there = {cluster_dim: cluster_idx}
  put = primitives.store if atomic is None else getattr(primitives, f"atomic_{atomic}")
  put(cluster_ref(ref, there), None, src)
  barrier_arrive(cluster_ref(barrier, there))


_ATOMIC = ("add", "max", "min", "and", "or", "xor")
