"""<ast.Expr object at 0x7f29f786a380>"""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

from tests.public.public_kernels import our_module
from tilewright.pallas import mosaic_gpu as plgpu

F16, BF16 = jnp.float16, jnp.bfloat16


def module(name: str) -> types.ModuleType:
  """The module of a kernel. It imports JAX's utilities for tests, which need a package that may not be installed, and does not use them."""
  utilities = types.ModuleType("jax._src.test_util")
  with (
    mock.patch.dict(sys.modules, {"jax._src.test_util": utilities}),
    mock.patch("jax._src.test_util", utilities, create=True),
  ):
    found = our_module(f"jax.experimental.pallas.ops.gpu.{name}_mgpu")
  if getattr(found, "cuda_versions", 0) is None:  # it asks for the version of a library that is not here
    found.cuda_versions = types.SimpleNamespace(cuda_runtime_get_version=lambda: 12090 + 1)
  return found


def random(*shape: int, dtype: Any = F16, seed: int = 0) -> jax.Array:
  return jnp.asarray(np.random.default_rng(seed).uniform(-1, 1, shape), dtype)


def exact(x: Any) -> np.ndarray:
  return np.asarray(x).astype(np.float64)


def close(found: Any, wanted: np.ndarray, dtype: Any, factor: float = 1.0) -> None:
  """Within one rounding to the dtype of the result (`factor` of them), as sums in f32 err by far less."""
  np.testing.assert_allclose(
    exact(found), wanted, rtol=0, atol=factor * float(jnp.finfo(dtype).eps) * np.abs(wanted).max()
  )


def interpreted(is_simulated: bool) -> contextlib.AbstractContextManager[None]:
  return plgpu.force_gpu_interpret_mode() if is_simulated else contextlib.nullcontext()


MATMULS: dict[str, tuple[Any, dict[str, Any]]] = {
  "wg along n": (F16, dict(tile_m=64, tile_n=64, epi_tile_m=64, epi_tile_n=32, wg_dimension=1)),
  "wg along m": (BF16, dict(tile_m=64, tile_n=128, epi_tile_m=None, epi_tile_n=None, wg_dimension=0, grid_minor_dim=0)),
  "cluster along m": (BF16, dict(tile_m=64, tile_n=64, wg_dimension=1, cluster_dimension=0)),
  "cluster along n": (F16, dict(tile_m=64, tile_n=64, wg_dimension=0, cluster_dimension=1, grid_tile_width=2)),
}


def check_hopper_matmul(name, has_c):
  m = module("hopper_matmul")
  dtype, options = MATMULS[name]
  named = {k: m.MatmulDimension(v) if "dim" in k else v for k, v in options.items()}
  config = m.TuningConfig(tile_k=64, max_concurrent_steps=2, **named)
  a, b = random(128, 192, dtype=dtype), random(192, 128, dtype=dtype, seed=1)
  c = random(128, 128, dtype=dtype, seed=2) if has_c else None
  wanted = exact(a) @ exact(b)
  found = m.matmul(a, b, c, config)
  close(found, wanted + exact(c) if has_c else wanted, dtype, 1.5)


def check_hopper_mixed_type_matmul(dtype, out_dtype):
  m = module("hopper_mixed_type_matmul")
  config = m.TuningConfig(tile_m=64, tile_n=64, tile_k=64, max_concurrent_steps=2)
  a = jnp.asarray(np.random.default_rng(0).integers(-128, 128, (64, 192)), jnp.int8)
  b = random(192, 128, dtype=dtype)
  found = m.mixed_matmul_kernel(a, b, out_dtype=out_dtype, config=config)
  close(found, exact(a) @ exact(b), out_dtype, 64 if out_dtype == jnp.float32 else 1)


def attention(q: Any, k: Any, v: Any, *, causal: bool) -> Any:
  """In the dtype of the operands."""
  k, v = (jnp.repeat(x, q.shape[2] // x.shape[2], 2) for x in (k, v))
  scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
  if causal:
    scores = jnp.where(jnp.tri(*scores.shape[2:], dtype=bool), scores, -jnp.inf)
  return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def in_float64(f: Callable[..., Any], *args: Any) -> Any:
  with jax.enable_x64(True):
    return jax.tree.map(np.asarray, f(*(jnp.asarray(exact(x)) for x in args)))


def check_attention(causal, kv_heads, is_simulated):
  m = module("attention")
  config = m.TuningConfig(block_q=64, block_kv=64, max_concurrent_steps=2, causal=causal)
  q, k, v = random(1, 128, 2, 64), random(1, 192, kv_heads, 64, seed=1), random(1, 192, kv_heads, 64, seed=2)
  with interpreted(is_simulated):
    found, (lse,) = m.attention(q, k, v, config, True)
  close(found, in_float64(lambda *xs: attention(*xs, causal=causal), q, k, v), F16, 2)
  assert lse.shape == (1, 2, 128)


def check_attention_with_the_pipeline_emitter():
  m = module("attention")
  config = m.TuningConfig(block_q=64, block_kv=64, max_concurrent_steps=2)
  q, k, v = random(1, 128, 2, 64), random(1, 192, 1, 64, seed=1), random(1, 192, 1, 64, seed=2)
  found = m.attention_with_pipeline_emitter(q, k, v, config)
  close(found, in_float64(lambda *xs: attention(*xs, causal=False), q, k, v), F16, 2)


def check_derivatives_of_attention():
  """Probabilities and their derivatives are rounded to f16 before they are multiplied."""
  m = module("attention")
  blocks = dict(block_q_dkv=64, block_kv_dkv=64, block_q_dq=64, block_kv_dq=64)
  config = m.TuningConfig(block_q=64, block_kv=64, max_concurrent_steps=2, **blocks)
  q, k, v = (random(1, 128, 1, 64, seed=i) for i in range(3))
  do = random(1, 128, 1, 64, seed=3)
  found = jax.vjp(lambda *xs: m.attention(*xs, config), q, k, v)[1](do)
  reference = lambda *xs: jax.vjp(lambda *ys: attention(*ys, causal=False), *xs[:3])[1](xs[3])
  for ours, wanted in zip(found, in_float64(reference, q, k, v, do)):
    close(ours, wanted, F16, 8)


SIZES = (40, 0, 88)  # of groups, none of them a multiple of a block


def groups() -> Iterator[tuple[int, slice]]:
  ends = np.cumsum(SIZES)
  return ((g, slice(end - size, end)) for g, (end, size) in enumerate(zip(ends, SIZES)))


def check_ragged_dot(dtype, transpose_rhs):
  m = module("ragged_dot")
  lhs, rhs = random(128, 128, dtype=dtype), random(3, 128, 64, dtype=dtype, seed=1)
  found = m.ragged_dot(
    lhs,
    jnp.swapaxes(rhs, 1, 2) if transpose_rhs else rhs,
    group_sizes=jnp.asarray(SIZES, jnp.int32),
    block_m=64,
    block_n=64,
    block_k=64,
    max_concurrent_steps=2,
    grid_block_n=1,
    transpose_rhs=transpose_rhs,
  )
  close(found, np.concatenate([exact(lhs)[rows] @ exact(rhs)[g] for g, rows in groups()]), dtype)


def check_transposed_ragged_dot(is_simulated):
  """A group's blocks are cut from a view that begins with it and hangs over the end of the array."""
  m = module("transposed_ragged_dot")
  lhs, rhs = random(128, 64), random(128, 64, seed=1)
  sizes = dict(block_m=64, block_n=64, block_k=64, max_concurrent_steps=2, grid_block_n=1)
  with interpreted(is_simulated):
    found = m.transposed_ragged_dot(lhs, rhs, group_sizes=jnp.asarray(SIZES, jnp.int32), **sizes)
  close(found, np.stack([exact(lhs)[rows].T @ exact(rhs)[rows] for _, rows in groups()]), F16)
