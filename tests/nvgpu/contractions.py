"""Kernels with a contraction along the last dimension of the grid, in the forms that get a pipeline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import pallas as pl
from tilewright.pallas import nvgpu
from tilewright.pallas import tpu as pltpu

S = jax.ShapeDtypeStruct
F32 = jnp.float32
ORIENTATIONS = ("nn", "nt", "tn", "tt")
Epilogue = Callable[..., Any]


def contraction(
  orientation: str = "nn",
  blocks: tuple[int, int, int] = (128, 128, 64),
  *,
  epilogue: Epilogue = lambda total: total,
  dtype: Any = None,
  prologues: tuple[Any, Any] = (None, None),
  num_warps: int | None = None,
  params: nvgpu.CompilerParams | None = None,
) -> Callable[..., Any]:
  """`call(a, b, *extras)`: the product of a (m, k) and b (k, n), each stored transposed where the orientation has a t.

  Arrays may have a batch dimension before. `extras` are (m, n), or (n,) for a bias; the epilogue is given their blocks.
  """
  bm, bn, bk = blocks
  left_turned, right_turned = (c == "t" for c in orientation)
  contract = (((0 if left_turned else 1),), ((1 if right_turned else 0),))

  def call(a: Any, b: Any, *extras: Any) -> Any:
    batch = a.shape[:-2]
    m, k = a.shape[-2:][:: -1 if left_turned else 1]
    n = b.shape[-2:][0 if right_turned else 1]
    axis = len(batch) + 2

    def kernel(a_ref: Any, b_ref: Any, *refs: Any) -> None:
      *others, o_ref, total = refs

      @pl.when(pl.program_id(axis) == 0)
      def _() -> None:
        total[...] = jnp.zeros_like(total)

      x, y = (f(r[...]) if f else r[...] for f, r in zip(prologues, (a_ref, b_ref)))
      total[...] += jax.lax.dot_general(x, y, (contract, ((), ())), preferred_element_type=F32)

      @pl.when(pl.program_id(axis) == pl.num_programs(axis) - 1)
      def _() -> None:
        o_ref[...] = epilogue(total[...], *(r[...] for r in others)).astype(o_ref.dtype)

    def spec(shape: tuple[int, int], index: Callable[..., Any]) -> Any:
      none = (None,) * len(batch)
      return pl.BlockSpec((*none, *shape), lambda *g: (*g[: len(batch)], *index(*g[len(batch) :])))

    of_a = spec((bk, bm), lambda i, j, s: (s, i)) if left_turned else spec((bm, bk), lambda i, j, s: (i, s))
    of_b = spec((bn, bk), lambda i, j, s: (j, s)) if right_turned else spec((bk, bn), lambda i, j, s: (s, j))
    of_extras = [
      spec((bm, bn), lambda i, j, s: (i, j)) if x.ndim > 1 else pl.BlockSpec((bn,), lambda *g: (g[len(batch) + 1],))
      for x in extras
    ]
    return pl.pallas_call(
      kernel,
      S((*batch, m, n), dtype or a.dtype),
      grid=(*batch, pl.cdiv(m, bm), pl.cdiv(n, bn), pl.cdiv(k, bk)),
      in_specs=[of_a, of_b, *of_extras],
      out_specs=spec((bm, bn), lambda i, j, s: (i, j)),
      scratch_shapes=[pltpu.VMEM((bm, bn), F32)],
      compiler_params=params
      or nvgpu.CompilerParams(dimension_semantics=("parallel",) * axis + ("arbitrary",), num_warps=num_warps),
    )(a, b, *extras)

  return call


def block_scaled(
  blocks: tuple[int, int, int] = (128, 128, 128), block: int = 32, dtype: Any = jnp.bfloat16
) -> Callable[..., Any]:
  """`call(a, a_scales, b, b_scales)`: a (m, k) times b (n, k), both of eight-bit floats, each `block` of which share a scale."""
  bm, bn, bk = blocks

  def decoded(x: Any, scales: Any) -> Any:
    wide = jax.lax.broadcast_in_dim(scales.astype(jnp.bfloat16), (x.shape[0], bk // block, block), (0, 1))
    return x.astype(jnp.bfloat16) * wide.reshape(x.shape)

  def kernel(a_ref: Any, s_ref: Any, b_ref: Any, t_ref: Any, o_ref: Any, total: Any) -> None:
    @pl.when(pl.program_id(2) == 0)
    def _() -> None:
      total[...] = jnp.zeros_like(total)

    x, y = decoded(a_ref[...], s_ref[...]), decoded(b_ref[...], t_ref[...])
    total[...] += jax.lax.dot_general(x, y, (((1,), (1,)), ((), ())), preferred_element_type=F32)

    @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
    def _() -> None:
      o_ref[...] = total[...].astype(o_ref.dtype)

  def call(a: Any, a_scales: Any, b: Any, b_scales: Any) -> Any:
    (m, k), n = a.shape, b.shape[0]
    left = [pl.BlockSpec((bm, width), lambda i, j, s: (i, s)) for width in (bk, bk // block)]
    right = [pl.BlockSpec((bn, width), lambda i, j, s: (j, s)) for width in (bk, bk // block)]
    return pl.pallas_call(
      kernel,
      S((m, n), dtype),
      grid=(m // bm, n // bn, k // bk),
      in_specs=[*left, *right],
      out_specs=pl.BlockSpec((bm, bn), lambda i, j, s: (i, j)),
      scratch_shapes=[pltpu.VMEM((bm, bn), F32)],
      compiler_params=nvgpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")),
    )(a, a_scales, b, b_scales)

  return call
