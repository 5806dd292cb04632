"""Cases of products: along the grid, in a body, of groups of rows, of attention, of small numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any
from unittest import mock

import contractions
import jax
import jax.numpy as jnp
import numpy as np
import warpgroup_programs
from cases import CASES, F32, I32, Answer, case, exact, normal, numbers, softmax_of
from gpu_programs import S, in_one_block

from tilewright import numerics, ops
from tilewright.numerics import gpu_dot
from tilewright.pallas import nvgpu
from tilewright.target.nvgpu import arch as architectures
from tilewright.target.nvgpu.passes import matmul_plans

# --- products ------------------------------------------------------------------------------------------------------


def product(orientation: str, shape: tuple[int, int, int], blocks: tuple[int, int, int], **options: Any) -> Answer:
  m, n, k = shape
  a, b = numbers(m, k), numbers(k, n, seed=1)
  given = [np.ascontiguousarray(x.T) if c == "t" else x for x, c in zip((a, b), orientation)]
  got = jax.jit(contractions.contraction(orientation, blocks, dtype=F32, **options))(*given)
  return got, exact(a) @ exact(b), 0


@case
def matmul_along_the_grid() -> Answer:
  return product("nn", (256, 256, 448), (128, 128, 64))


@case
def matmul_over_edges() -> Answer:
  return product("nt", (200, 136, 256), (128, 128, 64))


@case
def matmul_in_bf16() -> Answer:
  a, b = normal(256, 256), normal(256, 256, seed=1)
  return jax.jit(ops.matmul)(a, b), exact(a) @ exact(b), 0.5


@case
def matmul_in_f32() -> Answer:
  a, b = numbers(70, 100, dtype=F32), numbers(100, 90, dtype=F32, seed=1)
  return jax.jit(ops.matmul)(a, b), exact(a) @ exact(b), 0


@case
def matmul_by_warps() -> Answer:
  """The code for sm_80: `mma.sync` on operands that `cp.async` brings."""
  with mock.patch.object(
    architectures, "families", lambda *_: ((architectures.Family((0,), architectures.named("sm_80")),), {})
  ):
    return product("nn", (128, 128, 320), (64, 64, 32))


def from_boxes(make: Callable[..., Answer], *args: Any) -> Answer:
  """As after sm_90a: `mma.sync` on operands that TMA brings."""
  own, rates = architectures.families, {name: {architectures.MMA: 1024} for name in architectures.ARCHS}

  def without_wgmma(*devices: Any) -> Any:
    families, without = own(*devices)
    return tuple(dataclasses.replace(f, arch=dataclasses.replace(f.arch, has_wgmma=False)) for f in families), without

  with mock.patch.object(architectures, "families", without_wgmma), mock.patch.dict(architectures._RATES, rates):
    return make(*args)


@case
def matmul_from_boxes() -> Answer:
  """Each stage is used several times."""
  return from_boxes(product, "nn", (128, 128, 1280), (64, 64, 64))


@case
def matmul_from_boxes_over_edges() -> Answer:
  """Of 32 and of 64 bytes."""
  return from_boxes(product, "tt", (72, 50, 144), (32, 64, 16))


@case
def products_of_a_batch() -> Answer:
  a, b = numbers(3, 70, 64), numbers(3, 64, 40, seed=1)
  return jax.jit(jax.vmap(ops.matmul))(a, b), exact(a) @ exact(b), 2.0


@case
def products_of_bytes() -> Answer:
  """By `mma.sync` of eight-bit integers."""
  a, b = numbers(64, 96, dtype=np.int8), numbers(96, 32, dtype=np.int8, seed=1)
  call = in_one_block(lambda a, b: [warpgroup_programs.dot(a, b, out=I32)], S((64, 32), I32))
  return jax.jit(call)(a, b)[0], exact(a) @ exact(b), 0


@case
def a_gated_mlp_and_its_derivative() -> Answer:
  """Two products of one left operand, side by side, and what is computed of both."""
  x, gate, up, down = (normal(128, 128, seed=i) / 8 for i in range(4))
  f = lambda *a: (ops.swiglu_mlp(*a), jax.grad(lambda *a: ops.swiglu_mlp(*a).astype(F32).sum(), (0, 1, 2, 3))(*a))
  with mock.patch.object(
    matmul_plans, "_store_maps", lambda *_: ()
  ):  # so that `initcheck` sees what other kernels read then
    got, slopes = jax.jit(f)(x, gate, up, down)
  a, b = exact(x) @ exact(gate), exact(x) @ exact(up)
  hidden = a / (1 + np.exp(-a)) * b
  np.testing.assert_allclose(exact(slopes[3]), hidden.sum(0)[:, None] + np.zeros(128), atol=0.25)
  return got, hidden @ exact(down), 0.05


@case
def matmul_in_clusters() -> Answer:
  params = nvgpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary"), cluster=(2, 2, 1))
  return product("nn", (256, 256, 448), (128, 128, 64), params=params)


@case
def matmul_of_converted_operands() -> Answer:
  """The left operand of the warpgroups' products comes from registers."""
  a, b = numbers(128, 640, dtype=F32), numbers(640, 128, seed=1)
  call = contractions.contraction("nn", (128, 128, 64), dtype=F32, prologues=(lambda x: x.astype(jnp.bfloat16), None))
  return jax.jit(call)(a, b), exact(a) @ exact(b), 0


@case
def product_of_registers() -> Answer:
  a, b = numbers(64, 96), numbers(96, 64, seed=1)
  call = in_one_block(lambda a, b: [warpgroup_programs.dot(a * 2, b)], S((64, 64), F32))
  return jax.jit(call)(a, b)[0], 2 * exact(a) @ exact(b), 0


@case
def products_of_a_loop() -> Answer:
  a, b = numbers(64, 80), numbers(64, 80, seed=1)
  got = jax.jit(lambda a, b: warpgroup_programs.summed(a, b, lambda i: 4 * i + 1))(a, b)
  return got, np.stack([exact(a)[:, :n] @ exact(b)[:, :n].T for n in (16, 80)]), 0


@case
def groups_of_rows() -> Answer:
  sizes = np.asarray([100, 0, 37, 55], I32)
  x, w = numbers(192, 128), numbers(4, 128, 136, seed=1)
  group = np.repeat(np.arange(4), sizes)
  got, slope = jax.jit(
    lambda x, w: (
      ops.grouped_matmul(x, w, sizes),
      jax.grad(lambda w: ops.grouped_matmul(x, w, sizes).astype(F32).sum())(w),
    )
  )(x, w)
  assert np.isfinite(exact(slope)).all()
  return got, np.einsum("rk,rkn->rn", exact(x), exact(w)[group]), 2.0


@case
def groups_of_rows_and_packed_weights() -> Answer:
  sizes = np.asarray([40, 0, 56], I32)
  x, w = numbers(96, 128), jax.jit(lambda w: numerics.quantize(w, "mxfp8", axis=1))(numbers(3, 128, 64, dtype=F32))
  got = jax.jit(lambda x, w: ops.scaled_grouped_matmul(x, w, sizes))(x, w)
  group = np.repeat(np.arange(3), sizes)
  return got, np.einsum("rk,rkn->rn", exact(x), exact(jax.jit(numerics.dequantize)(w))[group]), 2.0


# --- attention -----------------------------------------------------------------------------------------------------


@case
def attention_and_its_derivative() -> Answer:
  q, k, v = (normal(2, 320, 64, seed=i) for i in range(3))

  def f(q, k, v):
    return ops.attention(q, k, v, causal=True)

  got, slopes = jax.jit(lambda *a: (f(*a), jax.grad(lambda *a: f(*a).astype(F32).sum(), (0, 1, 2))(*a)))(q, k, v)
  s = np.where(np.tri(320, dtype=bool), np.einsum("hqd,hkd->hqk", exact(q), exact(k)) / 8, -np.inf)
  p = softmax_of(s)
  np.testing.assert_allclose(exact(slopes[2]), p.sum(1)[..., None] + np.zeros(64), atol=0.25)
  assert all(np.isfinite(exact(x)).all() for x in slopes)
  return got, p @ exact(v), 0.05


@case
def attention_of_a_window() -> Answer:
  """Heads of keys that several heads of queries share, of float16, and queries that continue a longer sequence."""
  q, k, v = (
    normal(heads, rows, 64, dtype=np.float16, seed=i) for i, (heads, rows) in enumerate([(4, 70), (2, 150), (2, 150)])
  )
  got = jax.jit(lambda *a: ops.attention(*a, causal=True, window=50, query_offset=80))(q, k, v)
  behind = 80 + np.arange(70)[:, None] - np.arange(150)
  seen = (behind >= 0) & (behind <= 50)
  k, v = (np.repeat(exact(x), 2, 0) for x in (k, v))
  return got, softmax_of(np.where(seen, exact(q) @ k.swapaxes(1, 2) / 8, -np.inf)) @ v, 0.02


@case
def attention_by_warps() -> Answer:
  """The code for sm_80."""
  with mock.patch.object(
    architectures, "families", lambda *_: ((architectures.Family((0,), architectures.named("sm_80")),), {})
  ):
    return attention_and_its_derivative()


@case
def attention_along_the_grid() -> Answer:
  q, k, v = (normal(rows, 64, seed=i) for i, rows in enumerate((64, 256, 256)))
  p = softmax_of(exact(q) @ exact(k).T / 8)
  return jax.jit(warpgroup_programs.stepwise_attention)(q, k, v), p @ exact(v), 0.05


@case
def attention_along_the_grid_from_boxes() -> Answer:
  return from_boxes(attention_along_the_grid)


# --- scaled products -----------------------------------------------------------------------------------------------


def scaled(recipe: str, rows: int, both: bool, k: int = 256) -> Answer:
  a, b = normal(rows, k), normal(256, k, seed=1)
  quantise = jax.jit(lambda x: numerics.quantize(x, recipe))
  left, right = quantise(a) if both else a, quantise(b)
  got = jax.jit(lambda a, b: numerics.scaled_dot(a, b, (((1,), (1,)), ((), ()))))(left, right)
  x, y = (exact(jax.jit(numerics.dequantize)(z)) if isinstance(z, numerics.QArray) else exact(z) for z in (left, right))
  return got, x @ y.T, 1e-2


def scaled_one_after_the_other(recipe: str) -> Answer:
  """As of large arrays: CTAs take several points of the grid, and stages of shared memory are used many times."""
  with mock.patch.object(gpu_dot, "_NUM_SMS", 1), mock.patch.object(matmul_plans, "_NUM_SMS", 2):
    return scaled(recipe, 512, both=True, k=1024)


def few_rows_in_rounds(rows: int) -> Answer:
  """As of many rows of weights: two CTAs for an SM, and several rounds of each warp."""
  with mock.patch.object(gpu_dot, "few_blocks", lambda *_: (32, 1)):
    return scaled("nvfp4", rows, both=False, k=8192)


for _rows in (8, 13):
  CASES[f"nvfp4_weights_times_{_rows}_rows_in_rounds"] = lambda rows=_rows: few_rows_in_rounds(rows)
for _recipe in ("mxfp8", "nvfp4"):
  CASES[f"{_recipe}_by_{_recipe}"] = lambda r=_recipe: scaled(r, 128, both=True, k=640 if r == "mxfp8" else 768)
  CASES[f"{_recipe}_one_after_the_other"] = lambda r=_recipe: scaled_one_after_the_other(r)
  CASES[f"{_recipe}_weights"] = lambda r=_recipe: scaled(r, 8, both=False)
  CASES[f"{_recipe}_weights_of_many_rows"] = lambda r=_recipe: scaled(r, 128, both=False, k=1024)


@case
def packed_weights_with_k_first() -> Answer:
  x = numbers(3, 512)
  w = jax.jit(lambda w: numerics.quantize(w, "nvfp4", axis=0))(normal(512, 64, dtype=F32, seed=1))
  return jax.jit(ops.scaled_dot)(x, w), exact(x) @ exact(jax.jit(numerics.dequantize)(w)), 2.0
