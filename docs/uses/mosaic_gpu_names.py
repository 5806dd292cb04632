"""Programs for `tilewright.pallas.mosaic_gpu`."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from uses import count, run, same, use


@use("plgpu", "BlockSpec TilingTransform SwizzleTransform Transform SMEM CompilerParams find_swizzle")
def _shared_memory():
  transforms = [plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(plgpu.find_swizzle(64 * 16))]
  assert all(isinstance(t, plgpu.Transform) for t in transforms)
  block = plgpu.BlockSpec((64, 64), lambda i: (i, 0), transforms=transforms)

  def kernel(x_ref, o_ref, kept):
    kept[...] = x_ref[...] + 1
    o_ref[...] = kept[...]

  call = pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct((128, 64), jnp.bfloat16),
    grid=(2,),
    in_specs=[block],
    out_specs=block,
    scratch_shapes=[plgpu.SMEM((64, 64), jnp.bfloat16, transforms=transforms)],
    compiler_params=plgpu.CompilerParams(dimension_semantics=["parallel"]),
  )
  same(call(jnp.ones((128, 64), jnp.bfloat16)), np.full((128, 64), 2))


@use("plgpu", "GMEM MemorySpace")
def _global_memory():
  assert plgpu.GMEM is plgpu.MemorySpace.GMEM
  whole = pl.BlockSpec(memory_space=plgpu.GMEM)
  same(run(lambda x_ref, o_ref: o_ref.__setitem__(0, x_ref[3]), count(), shape=(1,), in_specs=[whole]), [3])


@use("plgpu", "TMEM")
def _tensor_memory():
  plgpu.TMEM((128, 64), jnp.float32)


@use("plgpu", "REGS")
def _registers():
  plgpu.REGS((8,), jnp.float32)


@use("plgpu", "ACC WGMMAAccumulatorRef")
def _accumulators():
  assert isinstance(plgpu.ACC((64, 64)), plgpu.WGMMAAccumulatorRef)

  def kernel(x_ref, o_ref, total):
    total[...] = jnp.dot(x_ref[...], x_ref[...], preferred_element_type=jnp.float32)
    o_ref[...] = total[...]

  ones = jnp.ones((64, 64), jnp.bfloat16)
  same(run(kernel, ones, shape=(64, 64), scratch_shapes=[plgpu.ACC((64, 64))]), np.full((64, 64), 64))


@use("plgpu", "Layout layout_cast load broadcasted_iota")
def _layouts():
  def kernel(x_ref, o_ref):
    rows = plgpu.broadcasted_iota(jnp.float32, (64, 64), 0, layout=plgpu.Layout.WGMMA)
    o_ref[...] = plgpu.layout_cast(plgpu.load(x_ref, layout=plgpu.Layout.WGMMA) + rows, plgpu.Layout.WGMMA)

  same(run(kernel, jnp.ones((64, 64)), shape=(64, 64)), 1 + np.arange(64.0)[:, None] + np.zeros(64))


@use("plgpu", "atomic_add atomic_max atomic_min")
def _atomics():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]
    plgpu.atomic_add(o_ref.at[0], 10)
    plgpu.atomic_max(o_ref.at[1], 5)
    plgpu.atomic_min(o_ref.at[2], 0)

  same(run(kernel, count(dtype=jnp.int32), dtype=jnp.int32), [10, 5, 0, 3, 4, 5, 6, 7])


@use("plgpu", "atomic_and atomic_or atomic_xor")
def _atomics_on_bits():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]
    plgpu.atomic_and(o_ref.at[7], 3)
    plgpu.atomic_or(o_ref.at[1], 6)
    plgpu.atomic_xor(o_ref.at[2], 3)

  same(run(kernel, count(dtype=jnp.int32), dtype=jnp.int32), [0, 7, 1, 3, 4, 5, 6, 3])
