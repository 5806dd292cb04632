"""Tensor memory by name: `TMEM` refs, and the products that are added up there.

    plgpu.tcgen05_mma(acc_tmem, a_smem, b_smem, barrier, accumulate=k > 0)
    plgpu.barrier_wait(barrier)
    o_smem[...] = plgpu.async_load_tmem(acc_tmem).astype(jnp.bfloat16)

No target here has code for it, so that such refs are ordinary memory of a block of threads, in registers where that is best, and the
products become mma.sync or wgmma. As elsewhere in this package, everything is done when the call returns.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.pallas import primitives
from tilewright.pallas.mosaic_gpu.copies import check_ends, check_refs
from tilewright.pallas.mosaic_gpu.layouts import SomeLayout, layout_cast
from tilewright.pallas.mosaic_gpu.products import product


def tcgen05_mma(
  acc: Any,
  a: Any,
  b: Any,
  barrier: Any = None,
  *,
  a_scale: Any = None,
  b_scale: Any = None,
  a_sparse_metadata: Any = None,
  accumulate: bool | jax.Array = True,
  collective_axis: str | None = None,
) -> None:
  """Add the product of `a` (m, k) and `b` (k, n), refs, to `acc` (m, n), a ref; without `accumulate`, write it there."""
  check_refs("tcgen05_mma", acc=acc, a=a, b=b)
  for name, given in (
    ("a_scale", a_scale),
    ("b_scale", b_scale),
    ("a_sparse_metadata", a_sparse_metadata),
    ("collective_axis", collective_axis),
  ):
    if given is not None:
      raise errors.UnsupportedFeatureError(
        f"plgpu.tcgen05_mma: {name}: products with scales, of sparse operands, or of two blocks together are not supported. See "
        "tilewright.numerics for block-scaled products."
      )
  own = product("tcgen05_mma", acc, a, b)
  if accumulate is not True:
    old = jnp.where(accumulate, primitives.load(acc), jnp.zeros((), acc.dtype))
  else:
    old = primitives.load(acc)
  primitives.store(acc, None, old + own)


def tcgen05_commit_arrive(barrier: Any, collective_axis: str | None = None) -> None:
  """Let a barrier know when the products so far are done: they are."""
  check_refs("tcgen05_commit_arrive", barrier=barrier)
  _check_alone("tcgen05_commit_arrive", collective_axis)


def _check_alone(what: str, collective_axis: Any) -> None:
  if collective_axis is not None:
    raise errors.UnsupportedFeatureError(
      f"plgpu.{what}: collective_axis: blocks of a cluster that work together are not supported. Leave it out: each block works for itself."
    )


_REDUCTIONS = {
  "max": jnp.max,
  "min": jnp.min,
  "absmax": lambda x, axis: jnp.max(jnp.abs(x), axis),
  "absmin": lambda x, axis: jnp.min(jnp.abs(x), axis),
}


def async_load_tmem(src: Any, *, layout: SomeLayout | None = None, reduce: str | None = None) -> Any:
  """What tensor memory holds, as a tile with a layout. With `reduce` also its largest or smallest along the last dimension."""
  check_refs("async_load_tmem", src=src)
  value = primitives.load(src)
  if layout is not None:
    value = layout_cast(value, layout)
  if reduce is None:
    return value
  if reduce not in _REDUCTIONS:
    raise errors.GridError(f"plgpu.async_load_tmem: reduce: expected one of {', '.join(_REDUCTIONS)}, got {reduce!r}.")
  return value, _REDUCTIONS[reduce](value, -1)


def async_store_tmem(ref: Any, value: Any) -> None:
  """Write a tile to tensor memory."""
  check_refs("async_store_tmem", ref=ref)
  primitives.store(ref, None, value)


def async_copy_smem_to_tmem(smem_ref: Any, tmem_ref: Any, collective_axis: Any = None) -> None:
  """Copy from shared to tensor memory."""
  check_ends("async_copy_smem_to_tmem", smem_ref, tmem_ref)
  _check_alone("async_copy_smem_to_tmem", collective_axis)
  primitives.store(tmem_ref, None, primitives.load(smem_ref))


def commit_tmem() -> None:
  """Make what was written to tensor memory visible to products. It is."""


def wait_load_tmem() -> None:
  """Wait until what was loaded from tensor memory has been read. It has."""
