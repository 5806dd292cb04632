"""Kernels whose products become wgmma outside of the matmul pipeline, and numbers of which every product and sum is exact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gpu_programs import F32, S

from tilewright import pallas as pl
from tilewright.pallas import nvgpu
from tilewright.pallas import tpu as pltpu


def small_integers(shape: tuple[int, ...], dtype: Any, seed: int) -> jax.Array:
  """Numbers of which every product and sum is exact."""
  low = 0 if np.dtype(dtype) == np.uint8 else -4
  return jnp.asarray(np.random.default_rng(seed).integers(low, 5, shape)).astype(dtype)


def dot(a: Any, b: Any, contract: tuple[int, int] = (1, 0), out: Any = F32) -> Any:
  return jax.lax.dot_general(a, b, ((contract[:1], contract[1:]), ((), ())), preferred_element_type=out)


def of_shapes(m: int, n: int, k: int, contract: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
  return ((m, k), (k, m))[1 - contract[0]], ((k, n), (n, k))[contract[1]]


def summed(a: Any, b: Any, rounds: Callable[[Any], Any], step: int = 16) -> Any:
  """For each instance, products of parts of two matrices along k, added up in a loop of so many rounds."""

  def kernel(a_ref, b_ref, o_ref):
    def one(i, total):
      return total + dot(a_ref[:, pl.ds(i * step, step)], b_ref[:, pl.ds(i * step, step)].T)

    o_ref[...] = jax.lax.fori_loop(0, rounds(pl.program_id(0)), one, jnp.zeros(o_ref.shape, F32))

  whole = pl.BlockSpec(a.shape, lambda i: (0, 0))
  return pl.pallas_call(
    kernel,
    S((2, a.shape[0], b.shape[0]), F32),
    grid=(2,),
    in_specs=[whole, whole],
    out_specs=pl.BlockSpec((None, a.shape[0], b.shape[0]), lambda i: (i, 0, 0)),
    compiler_params=nvgpu.CompilerParams(),
  )(a, b)


def stepwise_attention(q: Any, k: Any, v: Any, block: int = 64) -> Any:
  """Attention with the blocks of keys along the grid, and what is carried in scratch memory."""

  def kernel(q_ref, k_ref, v_ref, o_ref, top, total, out):
    step = pl.program_id(0)

    @pl.when(step == 0)
    def _():
      top[...], total[...], out[...] = (jnp.full(r.shape, x, F32) for r, x in ((top, -1e30), (total, 0), (out, 0)))

    s = dot(q_ref[...], k_ref[...], (1, 1)) * 0.125
    new = jnp.maximum(top[...], s.max(1))
    e, scale = jnp.exp(s - new[:, None]), jnp.exp(top[...] - new)
    top[...], total[...] = new, total[...] * scale + e.sum(1)
    out[...] = out[...] * scale[:, None] + dot(e.astype(q.dtype), v_ref[...])

    @pl.when(step == pl.num_programs(0) - 1)
    def _():
      o_ref[...] = out[...] / total[...][:, None]

  whole, part = pl.BlockSpec(q.shape, lambda i: (0, 0)), pl.BlockSpec((block, q.shape[1]), lambda i: (i, 0))
  rows = pltpu.VMEM((q.shape[0],), F32)
  return pl.pallas_call(
    kernel,
    S(q.shape, F32),
    grid=(k.shape[0] // block,),
    in_specs=[whole, part, part],
    out_specs=whole,
    scratch_shapes=[rows, rows, pltpu.VMEM(q.shape, F32)],
    compiler_params=nvgpu.CompilerParams(dimension_semantics=("arbitrary",)),
  )(q, k, v)
