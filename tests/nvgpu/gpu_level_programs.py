"""Kernels whose passes are looked at one by one: written by hand, and plain ones of each form."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tests.nvgpu import cluster_programs, gpu_programs, mosaic_programs
from tilewright import ops
from tilewright import pallas as pl
from tilewright.pallas import nvgpu

BF16, F32, S = jnp.bfloat16, jnp.float32, gpu_programs.S
_a, _b, _x = S((128, 192), BF16), S((192, 64), BF16), S((64, 128), F32)
_square = S((128, 128), BF16)


def column_sums(x):
  """Sums carried along the grid: blocks come ahead of time, and the output stays."""

  def body(x_ref, o_ref):
    @pl.when(pl.program_id(0) == 0)
    def _():
      o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += x_ref[...].sum(0, keepdims=True)

  blocks = [pl.BlockSpec((16, x.shape[1]), lambda i: (i, 0))]
  out = pl.BlockSpec((1, x.shape[1]), lambda i: (0, 0))
  shape = S((1, x.shape[1]), x.dtype)
  params = nvgpu.CompilerParams(dimension_semantics=("arbitrary",))
  return pl.pallas_call(body, shape, grid=(x.shape[0] // 16,), in_specs=blocks, out_specs=out, compiler_params=params)(
    x
  )


def best_in_front(x):
  """Blocks that hang over the edge, of which the body reads back what it wrote: they are copied."""

  def body(x_ref, o_ref):
    o_ref[...] = x_ref[...]
    o_ref[:1] = o_ref[...].max(0, keepdims=True)

  block = pl.BlockSpec((16, x.shape[1]), lambda i: (i, 0))
  return pl.pallas_call(body, S(x.shape, x.dtype), grid=(-(-x.shape[0] // 16),), in_specs=[block], out_specs=block)(x)


HAND_WRITTEN: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
  "handed_over": (mosaic_programs.handed_over, (S((40, 128), F32),)),
  "added_up": (mosaic_programs.added_up, (_x,)),
  "multiplied": (mosaic_programs.multiplied, (_a, _b)),
  "exchanged": (mosaic_programs.exchanged, (S((2, 128), F32),)),
  "pipelined_matmul": (mosaic_programs.pipelined_matmul, (_a, _b)),
  "pipelined_matmul_running": (
    functools.partial(mosaic_programs.pipelined_matmul, running=1, max_concurrent_steps=2),
    (_a, _b),
  ),
  "pipelined_matmul_row_by_row": (functools.partial(mosaic_programs.pipelined_matmul, transforms=()), (_a, _b)),
  "pipelines_in_sequence": (mosaic_programs.pipelines_in_sequence, (_x,)),
  "carried": (functools.partial(mosaic_programs.carried, block=(8, 64)), (S((16, 64), BF16),)),
  "carried_swizzled": (
    functools.partial(mosaic_programs.carried, block=(8, 64), transforms=mosaic_programs.TILED),
    (S((16, 64), BF16),),
  ),
  "in_clusters": (functools.partial(cluster_programs.summed_together, size=2), (S((32, 64), F32),)),
  "persistent_matmul": (mosaic_programs.persistent_matmul, (S((256, 192), BF16), _b)),
}


PLAIN: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
  "softmax": (gpu_programs.by_rows(gpu_programs.softmax), (S((8192, 8192), BF16),)),
  "gelu_gate": (gpu_programs.by_rows(gpu_programs.gelu_gate), (S((16, 1024), BF16),) * 2),
  "softmax_in_large_blocks": (gpu_programs.by_rows(gpu_programs.softmax, rows=64), (S((256, 4096), F32),)),
  "lgamma": (gpu_programs.by_rows(jax.lax.lgamma), (S((16, 1024), F32),)),
  "column_sums": (column_sums, (S((128, 256), F32),)),
  "best_in_front": (best_in_front, (S((40, 128), F32),)),
  "product": (gpu_programs.in_one_block(jnp.dot, S((64, 64), BF16)), (S((64, 64), BF16),) * 2),
  "long_product": (gpu_programs.in_one_block(jnp.dot, S((64, 64), BF16)), (S((64, 4096), BF16), S((4096, 64), BF16))),
  "product_along_the_grid": (functools.partial(gpu_programs.matmul, blocks=(64, 64, 64)), (_square, _square)),
  "attention": (functools.partial(ops.attention, native=True, blocks=(64, 64)), (S((1, 256, 64), BF16),) * 3),
}
KERNELS = {**HAND_WRITTEN, **PLAIN}
