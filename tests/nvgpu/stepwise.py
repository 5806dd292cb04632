"""Kernels that take the steps of a grid dimension one after the other, and carry something from step to step."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from tilewright import pallas as pl
from tilewright.pallas import nvgpu
from tilewright.pallas import tpu as pltpu

S = jax.ShapeDtypeStruct
F32 = jnp.float32
_SEMANTICS = nvgpu.CompilerParams(dimension_semantics=("parallel", "arbitrary"))


def column_sums(x: Any, rows: int = 16, columns: int = 128) -> Any:
  """Added up in the output, blocks of rows one after the other."""

  def kernel(x_ref: Any, o_ref: Any) -> None:
    @pl.when(pl.program_id(1) == 0)
    def _() -> None:
      o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += x_ref[...].astype(F32).sum(0, keepdims=True)

  r, c = x.shape
  return pl.pallas_call(
    kernel,
    S((1, c), F32),
    grid=(pl.cdiv(c, columns), pl.cdiv(r, rows)),
    in_specs=[pl.BlockSpec((rows, columns), lambda j, i: (i, j))],
    out_specs=pl.BlockSpec((1, columns), lambda j, i: (0, j)),
    compiler_params=_SEMANTICS,
  )(x)


def log_sum_exp(x: Any, rows: int = 8, columns: int = 64) -> Any:
  """Of each row, over blocks of columns: the largest so far and the sum so far are in scratch memory."""
  r, c = x.shape

  def kernel(x_ref: Any, o_ref: Any, top: Any, total: Any) -> None:
    step = pl.program_id(1)

    @pl.when(step == 0)
    def _() -> None:
      top[...] = jnp.full_like(top, -1e30)
      total[...] = jnp.zeros_like(total)

    place = step * columns + jax.lax.broadcasted_iota(jnp.int32, x_ref.shape, 1)
    x = jnp.where(place < c, x_ref[...].astype(F32), -1e30)
    new = jnp.maximum(top[...], x.max(1, keepdims=True))
    total[...] = total[...] * jnp.exp(top[...] - new) + jnp.exp(x - new).sum(1, keepdims=True)
    top[...] = new

    @pl.when(step == pl.num_programs(1) - 1)
    def _() -> None:
      o_ref[...] = top[...] + jnp.log(total[...])

  return pl.pallas_call(
    kernel,
    S((r, 1), F32),
    grid=(pl.cdiv(r, rows), pl.cdiv(c, columns)),
    in_specs=[pl.BlockSpec((rows, columns), lambda i, j: (i, j))],
    out_specs=pl.BlockSpec((rows, 1), lambda i, j: (i, 0)),
    scratch_shapes=[pltpu.VMEM((rows, 1), F32)] * 2,
    compiler_params=_SEMANTICS,
  )(x)
