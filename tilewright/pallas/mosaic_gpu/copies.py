"""Copies between global and shared memory, and what waits for them.

    plgpu.copy_gmem_to_smem(x_ref.at[rows], x_smem, barrier)
    plgpu.barrier_wait(barrier)

In a block of one warpgroup a copy is done when the call returns, as far as the kernel can see. Among several, one to shared memory with a
barrier is on its way when the call returns (on GPUs: by `cp.async`, if it can go in pieces of at least four bytes), and arrives at the
barrier when it is done. All other copies are done at once, so that waiting for the last `n` of them has nothing to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas import primitives
from tilewright.pallas.control import when
from tilewright.pallas.mosaic_gpu import atomics
from tilewright.pallas.mosaic_gpu.barriers import arrive_with_copy, check_barrier
from tilewright.pallas.mosaic_gpu.partition import share
from tilewright.pallas.mosaic_gpu.specs import OOBFillMode
from tilewright.runtime import _jax


def check_refs(what: str, **refs: Any) -> None:
  """Arguments that must be refs, or views of them."""
  for name, ref in refs.items():
    if not primitives.is_ref(ref):
      raise errors.RefTypeError(f"plgpu.{what}: {name}: expected a ref or a view of one, got {ref!r}.")


def check_ends(what: str, src: Any, dst: Any) -> None:
  """The two ends of a copy are refs of one shape and dtype."""
  check_refs(what, src=src, dst=dst)
  if tuple(src.shape) != tuple(dst.shape) or src.dtype != dst.dtype:
    raise errors.ShapeMismatchError(
      f"plgpu.{what}: src and dst must be alike, got {src.dtype}{list(src.shape)} and {dst.dtype}{list(dst.shape)}."
    )


def copy_gmem_to_smem(
  src: Any,
  dst: Any,
  barrier: Any = None,
  *,
  collective_axes: Any = None,
  leader_tracked: Any = None,
  oob_mode: OOBFillMode | None = None,
  predicate: jax.Array | None = None,
) -> None:
  """Copy what `src` holds to `dst`, and arrive at a `barrier`; if a `predicate` is given, only where it is true.

  With `collective_axes`, each block of a cluster copies for itself, its part if `leader_tracked` says so (`CopyPartition`). Where `src`
  hangs over the end of its array, `dst` is zero, unless `oob_mode` says otherwise.
  """
  check_refs("copy_gmem_to_smem", src=src, dst=dst)
  src = share("copy_gmem_to_smem", src, collective_axes, leader_tracked)
  check_ends("copy_gmem_to_smem", src, dst)
  if barrier is not None:
    check_barrier("copy_gmem_to_smem", barrier)
  read = zero_filled if oob_mode in (None, OOBFillMode.ZEROS) else primitives.load

  def copy() -> None:
    primitives.store(dst, None, read(src))
    if barrier is not None:
      arrive_with_copy(barrier)

  _when(predicate, copy)


def zero_filled(view: Any) -> jax.Array:
  """What a ref or a part of one holds, with zeros beyond the end of the array."""
  value = primitives.load(view)
  transforms: Sequence[Any] = view.transforms if isinstance(view, primitives.TransformedRef) else ()
  indexer = transforms[0] if len(transforms) == 1 else None
  if not isinstance(indexer, _jax.indexing.NDIndexer) or indexer.int_indexer_shape:
    return value
  slices = [(own, size) for own, size in zip(indexer.indices, indexer.shape) if isinstance(own, _jax.Slice)]
  for axis, (own, size) in enumerate(slices):
    if size % (own.size * own.stride) == 0:  # the array consists of such parts
      continue
    place = own.start + own.stride * lax.broadcasted_iota(jnp.int32, value.shape, axis)
    value = jnp.where(place < size, value, jnp.zeros((), value.dtype))
  return value


_REDUCTIONS = {kind: getattr(atomics, f"atomic_{kind}") for kind in ("add", "max", "min", "and", "or", "xor")}


def copy_smem_to_gmem(
  src: Any, dst: Any, predicate: jax.Array | None = None, *, commit_group: bool = True, reduction_op: str | None = None
) -> None:
  """Copy what `src` holds to `dst`, or combine it with what stands there; if a `predicate` is given, only where it is true."""
  check_ends("copy_smem_to_gmem", src, dst)
  if reduction_op is not None and reduction_op not in _REDUCTIONS:
    raise errors.UnsupportedFeatureError(
      f"plgpu.copy_smem_to_gmem: reduction_op: expected None or one of {', '.join(_REDUCTIONS)}, got {reduction_op!r}."
    )
  write = _REDUCTIONS[reduction_op] if reduction_op else lambda ref, val: primitives.store(ref, None, val)
  _when(predicate, lambda: write(dst, primitives.load(src)))


def _when(predicate: Any, action: Any) -> None:
  if predicate is None:
    action()
  else:
    when(predicate)(action)


def async_prefetch(
  ref: Any, *, collective_axes: Any = None, leader_tracked: Any = None, predicate: jax.Array | None = None
) -> None:
  """Say that a part of global memory will be read soon. It changes nothing."""
  check_refs("async_prefetch", ref=ref)


# --- waiting for copies ------------------------------------------------------------------------------------------


def wait_gmem_to_smem(n: int) -> None:
  """Wait until at most `n` copies to shared memory are under way: none is."""
  _check_count("wait_gmem_to_smem", n)


def wait_smem_to_gmem(n: int, wait_read_only: bool = False) -> None:
  """Wait until at most `n` copies to global memory are under way: none is."""
  _check_count("wait_smem_to_gmem", n)


def _check_count(what: str, n: int) -> None:
  if isinstance(n, int) and n < 0:
    raise errors.GridError(f"plgpu.{what}: n: expected 0 or more, got {n}.")


def commit_smem() -> None:
  """Make what was written to shared memory visible to copies and products. It is."""


def commit_smem_to_gmem_group() -> None:
  """Make a group of the copies to global memory so far. There is nothing to do."""


def set_max_registers(n: int, *, action: str) -> None:
  """Change the registers of a warpgroup. The compiler decides that by itself."""
  if action not in ("increase", "decrease"):
    raise errors.GridError(f"plgpu.set_max_registers: action: expected 'increase' or 'decrease', got {action!r}.")


def griddepcontrol_launch_dependents() -> None:
  """Let the kernel that comes next begin. Kernels run one after another here."""


def griddepcontrol_wait() -> None:
  """Wait for the kernels before this one. They are done when it begins."""
