"""What blocks of threads of a cluster do together.

    @plgpu.kernel(…, grid=(8,), grid_names=("i",), cluster=(2,), cluster_names=("c",))

They are blocks like others here: each copies what it needs for itself, and none sees the shared memory of another. So copies for several of
them become copies of each, work is never taken from blocks that have not begun, and what must cross from block to block is an error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas import primitives
from tilewright.pallas.mosaic_gpu.barriers import barrier_arrive
from tilewright.pallas.mosaic_gpu.memory import SMEM

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
  axes = (collective_axes,) if isinstance(collective_axes, str) else tuple(collective_axes)
  if axes and lax.axis_size(axes) > 1:
    raise errors.UnsupportedFeatureError(
      f"plgpu.try_cluster_cancel: collective_axes: one request for all along {axes} is not supported. Use "
      "plgpu.dynamic_scheduling_loop, or let one of them ask: pl.when(jax.lax.axis_index(…) == 0)."
    )
  primitives.store(result_ref, None, jnp.zeros((_RESULT_BYTES,), jnp.int8))
  barrier_arrive(barrier)


def query_cluster_cancel(result_ref: Any, grid_names: Sequence[Any]) -> tuple[tuple[jax.Array, ...], jax.Array]:
  """The indices of the cluster that was taken, and whether one was: never, so that each block does its own work."""
  _check_result("query_cluster_cancel", result_ref)
  return tuple(jnp.int32(0) for _ in grid_names), jnp.bool_(False)


# --- memory of other blocks --------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClusterBarrier:
  """A barrier of the blocks of a cluster. It can be described, and is refused where memory for it is asked for."""

  collective_axes: tuple[str | tuple[str, ...], ...]
  num_barriers: int | Sequence[int] = ()
  num_arrivals: int = 1
  orders_tensor_core: bool = False
  leader_tracked: bool = False

  def get_array_aval(self) -> Any:
    return self.get_ref_aval()

  def get_ref_aval(self) -> Any:
    raise errors.UnsupportedFeatureError(
      f"ClusterBarrier: the blocks of a cluster, along {self.collective_axes}, cannot wait for each other here. What one needs of another "
      "belongs into one block, or into another kernel."
    )


def cluster_ref(ref: Any, block_id: dict[Any, Any]) -> Any:
  """The memory of another block: an error."""
  raise errors.UnsupportedFeatureError(
    "plgpu.cluster_ref: a block of threads cannot reach the shared memory of another one here. Write to global memory, and read it in "
    "another kernel."
  )


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
  """Write to the memory of another block: an error."""
  raise errors.UnsupportedFeatureError(
    "plgpu.async_store_smem: a block of threads cannot reach the shared memory of another one here. Write to global memory, and read it in "
    "another kernel, or add up there with plgpu.atomic_add."
  )
