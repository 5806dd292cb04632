"""Tensor memory: `TMEM` refs, and the tcgen05 products that accumulate there.

    plgpu.tcgen05_mma(acc_tmem, a_smem, b_smem, barrier, accumulate=k > 0)
    plgpu.barrier_wait(barrier)
    o_smem[...] = plgpu.async_load_tmem(acc_tmem).astype(jnp.bfloat16)

No target here generates code for tensor memory. Such refs are ordinary memory of a CTA, in registers where that is best, and the products
become mma.sync or wgmma. Everything is done when the call returns.

With `collective_axis`, one CTA of a cluster of two multiplies for both. Each CTA has half of the rows of `acc` and `a`, and half of the
columns of `b`:

    acc of block 0   +=   a of block 0   @   b of block 0 | b of block 1
    acc of block 1   +=   a of block 1   @

It accesses the other CTA's memory (`cluster_ref`), so such kernels run only on the simulated machine.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.pallas import primitives
from tilewright.pallas.mosaic_gpu.barriers import arrive_in_cluster, barrier_arrive, check_barrier
from tilewright.pallas.mosaic_gpu.clusters import cluster_ref
from tilewright.pallas.mosaic_gpu.copies import check_ends, check_refs, space_of
from tilewright.pallas.mosaic_gpu.layouts import SomeLayout, layout_cast
from tilewright.pallas.mosaic_gpu.memory import SMEM
from tilewright.pallas.mosaic_gpu.products import product
from tilewright.pallas.scoped import run_scoped
from tilewright.pallas.trace_context import core_axes


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
  """Add the product of `a` (m, k) and `b` (k, n), refs, to `acc` (m, n), a ref; without `accumulate`, write it there.

  With scales, `a_scale` (m, k / s) and `b_scale` (n, k / s), each s elements along k are multiplied by theirs first. Then it arrives at a
  `barrier`, if there is one. With `collective_axis`, this block multiplies for the two of a cluster along that axis, whose `b` has
  n / 2 columns each, and it arrives at the barriers of both.
  """
  check_refs("tcgen05_mma", acc=acc, a=a, b=b)
  _check_in_tensor_memory("tcgen05_mma: Accumulator must be a TMEM Ref", acc)
  if barrier is not None:
    check_barrier("tcgen05_mma", barrier)
  if a_sparse_metadata is not None:
    raise errors.UnsupportedFeatureError(f"plgpu.tcgen05_mma: a_sparse_metadata: {_SPARSE}")
  if (a_scale is None) != (b_scale is None):
    raise errors.ShapeMismatchError("plgpu.tcgen05_mma: a_scale and b_scale must both be present or absent.")
  if collective_axis is not None:
    _multiply_for_both(acc, a, b, a_scale, accumulate, collective_axis)
  elif a_scale is None:
    _add(acc, product("tcgen05_mma", acc, a, b), accumulate)
  else:
    _add(acc, _product_with_scales(acc, a, b, a_scale, b_scale), accumulate)
  if barrier is not None:
    tcgen05_commit_arrive(barrier, collective_axis)


def _check_in_tensor_memory(message: str, ref: Any) -> None:
  if (space := space_of(ref)) != "tmem":
    raise errors.MemorySpaceError(f"plgpu.{message}, got a ref in {space.upper()}. Allocate one with plgpu.TMEM.")


def _add(acc: Any, new: jax.Array, accumulate: bool | jax.Array) -> None:
  if accumulate is not False:
    old = primitives.load(acc)
    new += old if accumulate is True else jnp.where(accumulate, old, jnp.zeros((), acc.dtype))
  primitives.store(acc, None, new)


def _multiply_for_both(acc: Any, a: Any, b: Any, a_scale: Any, accumulate: bool | jax.Array, axis: Any) -> None:
  """The products of the two blocks of a cluster along an axis."""
  if a_scale is not None:
    raise errors.UnsupportedFeatureError(
      "plgpu.tcgen05_mma: collective_axis together with a_scale and b_scale is not supported. Let each block multiply for itself."
    )
  blocks = _blocks("tcgen05_mma", axis)
  right = jnp.concatenate([primitives.load(cluster_ref(b, {axis: block})) for block in blocks], axis=1)
  for block in blocks:
    own = cluster_ref(acc, {axis: block})
    _add(own, product("tcgen05_mma", own, cluster_ref(a, {axis: block}), right), accumulate)


def _blocks(what: str, axis: Any) -> range:
  """The blocks of a cluster along an axis: two."""
  size = core_axes().get(axis)
  if size != 2:
    found = f"there is no axis {axis!r} among {list(core_axes())}" if size is None else f"{axis!r} has size {size}"
    raise errors.GridError(f"plgpu.{what}: collective_axis: expected an axis of the cluster of size 2, but {found}.")
  return range(size)


def _product_with_scales(acc: Any, a: Any, b: Any, a_scale: Any, b_scale: Any) -> jax.Array:
  """`a @ b`, of elements times their scales, which lie in shared memory in between."""

  def scoped(left: Any, right: Any) -> jax.Array:
    left[...] = _scaled("a", a, a_scale, 1)
    right[...] = _scaled("b", b, b_scale, 0)
    return product("tcgen05_mma", acc, left, right)

  return run_scoped(scoped, SMEM(a.shape, jnp.bfloat16), SMEM(b.shape, jnp.bfloat16))


def _scaled(name: str, operand: Any, scale: Any, k_axis: int) -> jax.Array:
  """The elements of an operand times their scales, in bfloat16: exact, as elements have at most 4 bits and scales 4."""
  check_refs("tcgen05_mma", **{name: operand, f"{name}_scale": scale})
  values, scales = primitives.load(operand), primitives.load(scale).astype(jnp.bfloat16)
  rows, k = values.shape[1 - k_axis], values.shape[k_axis]
  if scales.ndim != 2 or scales.shape[0] != rows or k % scales.shape[1]:
    raise errors.ShapeMismatchError(
      f"plgpu.tcgen05_mma: {name}_scale: expected {rows} rows of scales that divide the {k} elements along k, got {tuple(scales.shape)}."
    )
  blocks, size = scales.shape[1], k // scales.shape[1]
  scales = jnp.expand_dims(scales if k_axis == 1 else scales.T, k_axis + 1)
  spread = jnp.broadcast_to(scales, (rows, blocks, size) if k_axis == 1 else (blocks, size, rows))
  return values.astype(jnp.bfloat16) * spread.reshape(values.shape)


_SCALE_ROWS, _SCALE_LANES, _SCALES = 128, 32, 4  # a block of scales, and how tensor memory takes it: 32 lanes of 4 x 4


def async_copy_scales_to_tmem(smem_ref: Any, tmem_ref: Any, collective_axis: Any = None) -> None:
  """Copy scales (m, n) to tensor memory, from shared memory in which they lie as tensor cores take them.

  There they have the shape (m / 128, n / 4, 32, 16): lane r of a block has row 32 w + r in its elements 4 w to 4 w + 3.
  """
  check_refs("async_copy_scales_to_tmem", smem_ref=smem_ref, tmem_ref=tmem_ref)
  if collective_axis is not None:
    for block in _blocks("async_copy_scales_to_tmem", collective_axis):
      own = {collective_axis: block}
      async_copy_scales_to_tmem(cluster_ref(smem_ref, own), cluster_ref(tmem_ref, own))
    return
  (m, n), parts = tmem_ref.shape, _SCALE_ROWS // _SCALE_LANES
  wanted = (-(-m // _SCALE_ROWS), n // _SCALES, _SCALE_LANES, parts * _SCALES)
  if tuple(smem_ref.shape) != wanted or n % _SCALES or smem_ref.dtype != tmem_ref.dtype:
    raise errors.ShapeMismatchError(
      f"plgpu.async_copy_scales_to_tmem: smem_ref: expected {tmem_ref.dtype}{list(wanted)} for scales of shape {tuple(tmem_ref.shape)}, "
      f"got {smem_ref.dtype}{list(smem_ref.shape)}."
    )
  blocks = primitives.load(smem_ref).reshape(*wanted[:2], _SCALE_LANES, parts, _SCALES)
  scales = blocks.transpose(0, 3, 2, 1, 4).reshape(wanted[0] * _SCALE_ROWS, n)
  primitives.store(tmem_ref, None, scales[:m])


_SPARSE = "operands of which half are zeros are not supported here. Write the zeros out, and multiply as usual."


def async_copy_sparse_metadata_to_tmem(smem_ref: Any, tmem_ref: Any, collective_axis: Any = None) -> None:
  """Copy what says where a sparse operand is not zero: an error."""
  raise errors.UnsupportedFeatureError(f"plgpu.async_copy_sparse_metadata_to_tmem: {_SPARSE}")


def format_tcgen05_sparse_metadata(meta: Any, operand_dtype: Any) -> jax.Array:
  """What says where a sparse operand is not zero, as tensor cores take it: an error."""
  raise errors.UnsupportedFeatureError(f"plgpu.format_tcgen05_sparse_metadata: {_SPARSE}")


def tcgen05_commit_arrive(barrier: Any, collective_axis: str | None = None) -> None:
  """Arrive at a barrier when the products so far are done: now. With `collective_axis`, at those of both blocks along that axis."""
  if collective_axis is None:
    barrier_arrive(barrier)
  else:
    _blocks("tcgen05_commit_arrive", collective_axis)
    arrive_in_cluster("tcgen05_commit_arrive", barrier, (collective_axis,))


_REDUCTIONS = {
  "max": jnp.max,
  "min": jnp.min,
  "absmax": lambda x, axis: jnp.max(jnp.abs(x), axis),
  "absmin": lambda x, axis: jnp.min(jnp.abs(x), axis),
}


def async_load_tmem(src: Any, *, layout: SomeLayout | None = None, reduce: str | None = None) -> Any:
  """What tensor memory holds, as a tile with a layout. With `reduce` also its largest or smallest along the last dimension."""
  check_refs("async_load_tmem", src=src)
  _check_in_tensor_memory("async_load_tmem: Async load only supports TMEM refs", src)
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
  _check_in_tensor_memory("async_store_tmem: Async store only supports TMEM refs", ref)
  primitives.store(ref, None, value)


def async_copy_smem_to_tmem(smem_ref: Any, tmem_ref: Any, collective_axis: Any = None) -> None:
  """Copy from shared to tensor memory."""
  check_ends("async_copy_smem_to_tmem", smem_ref, tmem_ref)
  if collective_axis is None:
    primitives.store(tmem_ref, None, primitives.load(smem_ref))
    return
  for block in _blocks("async_copy_smem_to_tmem", collective_axis):
    own = {collective_axis: block}
    primitives.store(cluster_ref(tmem_ref, own), None, primitives.load(cluster_ref(smem_ref, own)))


def commit_tmem() -> None:
  """Make what was written to tensor memory visible to products. It is."""


def wait_load_tmem() -> None:
  """Wait until what was loaded from tensor memory has been read. It has."""
