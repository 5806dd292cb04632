"""Cooperation of the CTAs (thread blocks) of a cluster.

    @plgpu.kernel(…, grid=(8,), grid_names=("i",), cluster=(2,), cluster_names=("c",))

On GPUs with clusters (sm_90 and later) the CTAs of a cluster run at the same time: they access each other's shared memory (`cluster_ref`,
`async_store_smem`), meet at barriers (`ClusterBarrier`), and bring each other what they copy together (`collective_axes`). Elsewhere native
code runs them as ordinary CTAs, each of which copies for itself; kernels whose CTAs access each other run on the simulated machine, for
interpret=True too. `try_cluster_cancel` never takes work from CTAs that have not started.
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
from tilewright.pallas.trace_context import core_axes

# --- work stealing -----------------------------------------------------------------------------------------------

_RESULT_BYTES = 16


def TryClusterCancelResult(num_buffers: int | None = None) -> Any:
  """Memory for the result of `try_cluster_cancel`, or for `num_buffers` of them."""
  return SMEM((_RESULT_BYTES,) if num_buffers is None else (num_buffers, _RESULT_BYTES), jnp.int8)


def _check_result(what: str, ref: Any) -> None:
  if not (primitives.is_ref(ref) and tuple(ref.shape) == (_RESULT_BYTES,) and ref.dtype == jnp.int8):
    raise errors.RefTypeError(f"plgpu.{what}: result_ref: expected a ref of TryClusterCancelResult(), got {ref!r}.")


def try_cluster_cancel(result_ref: Any, barrier: Any, *, collective_axes: Any = ()) -> None:
  """Request the work of a cluster that has not started, and arrive at a barrier. It always fails, as all clusters start."""
  _check_result("try_cluster_cancel", result_ref)
  primitives.store(result_ref, None, jnp.zeros((_RESULT_BYTES,), jnp.int8))
  barrier_arrive(barrier)


def query_cluster_cancel(result_ref: Any, grid_names: Sequence[Any]) -> tuple[tuple[jax.Array, ...], jax.Array]:
  """The indices of the cancelled cluster, and whether one was cancelled: never, so each CTA does its own work."""
  _check_result("query_cluster_cancel", result_ref)
  return tuple(jnp.int32(0) for _ in grid_names), jnp.bool_(False)


# --- memory of other CTAs ----------------------------------------------------------------------------------------

cluster_ref_p = Primitive("cluster_ref")
primitives.declare_ref_result(cluster_ref_p)
primitives.not_differentiable(cluster_ref_p)


@cluster_ref_p.def_effectful_abstract_eval
def _(ref: Any, *block: Any, axes: tuple[Any, ...]) -> Any:
  return ref, {ReadEffect(0), WriteEffect(0)}


def cluster_ref(ref: Any, block_id: dict[Any, Any]) -> Any:
  """The memory of the same name in another CTA of the cluster: `plgpu.cluster_ref(x_smem, {"c": 1})`.

  `block_id` has the other CTA's coordinates along some axes; along the others they are this CTA's. Barriers order the accesses of the two.
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
  """A barrier, or an array of them, of the CTAs of a cluster along some axes: an arrival is at the barrier of each of these CTAs.

  With `leader_tracked`, an arrival is only at the barrier of the first CTA, which alone can wait then. A phase ends with `num_arrivals`
  from each CTA. `orders_tensor_core` has no effect: tensor-memory products are synchronous here.
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
  """Store an array to the shared memory of another CTA of the cluster, and arrive at its barrier on completion.

  Args:
    src: the value.
    ref: the destination: memory of this name in the other CTA.
    barrier: the barrier of this name in the other CTA.
    cluster_idx, cluster_dim: the other CTA's index along an axis of the cluster, and that axis.
    optimized: has no effect here.
    atomic: "add", "max", "min", "and", "or" or "xor" the value into the destination, instead of overwriting it.
  """
  if atomic not in (None, *_ATOMIC):
    raise errors.KernelTypeError(f"plgpu.async_store_smem: atomic: expected None or one of {_ATOMIC}, got {atomic!r}.")
  there = {cluster_dim: cluster_idx}
  put = primitives.store if atomic is None else getattr(primitives, f"atomic_{atomic}")
  put(cluster_ref(ref, there), None, src)
  barrier_arrive(cluster_ref(barrier, there))


_ATOMIC = ("add", "max", "min", "and", "or", "xor")
