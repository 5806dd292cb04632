"""Kernels in the style of Mosaic GPU, with copies and products by hand."""

from __future__ import annotations

import functools
from typing import Any

import jax
from gpu_programs import BF16, S

from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu

TILED = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def by_hand(x: Any) -> Any:
  """A block of rows is brought to shared memory, changed there, and brought back."""

  @functools.partial(
    plgpu.kernel,
    out_shape=S(x.shape, x.dtype),
    grid=(x.shape[0] // 32,),
    grid_names=("rows",),
    scratch_shapes=dict(buffer=plgpu.SMEM((32, x.shape[1]), x.dtype), ready=plgpu.Barrier(num_barriers=2)),
  )
  def kernel(x_ref, o_ref, buffer, ready):
    rows = pl.ds(32 * jax.lax.axis_index("rows"), 32)
    plgpu.copy_gmem_to_smem(x_ref.at[rows], buffer, ready.at[1])
    plgpu.barrier_wait(ready.at[1])
    buffer[...] = buffer[...] * 2
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(buffer, o_ref.at[rows])
    plgpu.wait_smem_to_gmem(0)

  return kernel(x)


def matmul(a: Any, b: Any, tile: int = 64) -> Any:
  """The blocks of operands are brought by a loop of steps."""
  (m, k), n = a.shape, b.shape[1]

  def body(a_ref, b_ref, o_ref, out, acc):
    i, j = jax.lax.axis_index("i"), jax.lax.axis_index("j")

    def step(_, a_block, b_block):
      plgpu.wgmma(acc, a_block, b_block)
      plgpu.wgmma_wait(1)

    block = functools.partial(plgpu.BlockSpec, (tile, tile), transforms=TILED, delay_release=1)
    specs = [block(lambda k: (i, k)), block(lambda k: (k, j))]
    plgpu.emit_pipeline(step, grid=(k // tile,), in_specs=specs, max_concurrent_steps=2)(a_ref, b_ref)
    out[...] = plgpu.wgmma_accumulator_load(acc).astype(BF16)
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(out, o_ref.at[pl.ds(i * tile, tile), pl.ds(j * tile, tile)])

  return plgpu.kernel(
    body,
    out_type=S((m, n), BF16),
    grid=(m // tile, n // tile),
    grid_names=("i", "j"),
    scratch_types=dict(out=plgpu.SMEM((tile, tile), BF16, transforms=TILED), acc=plgpu.ACC((tile, tile))),
  )(a, b)
