"""Rows of `tilewright bench cpu` for fused programs: the same function, fused into a library kernel and compiled by
XLA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import ops
from tilewright.cli.bench import OURS, Call, Case
from tilewright.fusing import fuse_into

GROUP = 64  # rows of a quantised matrix that share a scale


def mlp(x: jax.Array, w: jax.Array, b: jax.Array, gate: jax.Array) -> jax.Array:
  """A norm before a matrix product, and what a layer does after it."""
  normalised = x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)
  return jax.nn.gelu(normalised @ w + b) * gate


def dequantise(w: jax.Array, scales: jax.Array) -> jax.Array:
  groups = w.astype(jnp.float32).reshape(-1, GROUP, w.shape[1])
  return (groups * scales[:, None]).reshape(w.shape)


def times_int4(x: jax.Array, w: jax.Array, scales: jax.Array) -> jax.Array:
  """Weights as an array of int4."""
  return x @ dequantise(w, scales)


def times_packed_int4(x: jax.Array, packed: jax.Array, scales: jax.Array) -> jax.Array:
  """Weights of four bits in bytes: a byte holds rows k and k + K / 2."""
  low, high = (packed << 4).astype(jnp.int8) >> 4, packed.astype(jnp.int8) >> 4
  return x @ dequantise(jnp.concatenate([low, high], 0), scales)


def mlp_arrays(m: int, k: int, n: int) -> list[jax.Array]:
  draw = np.random.default_rng(0).normal
  return [jnp.asarray(draw(size=s), jnp.float32) for s in ((m, k), (k, n), (n,), (m, n))]


def int4_arrays(m: int, k: int, n: int, packed: bool) -> list[jax.Array]:
  random = np.random.default_rng(0)
  x, scales = (jnp.asarray(random.normal(size=s), jnp.float32) for s in ((m, k), (k // GROUP, n)))
  if packed:
    return [x, jnp.asarray(random.integers(0, 256, (k // 2, n)), jnp.uint8), scales]
  return [x, jnp.asarray(random.integers(-8, 8, (k, n)), jnp.int4), scales]


def _running(f: Callable[..., Any], args: list[jax.Array]) -> Call:
  compiled = jax.jit(f)
  return lambda: jax.block_until_ready(compiled(*args))


def _row(name: str, f: Callable[..., Any], arrays: Callable[[], list[jax.Array]], goal: float) -> Case:
  fused = fuse_into(ops.matmul)(f)
  contenders = {OURS: lambda: _running(fused, arrays()), "XLA": lambda: _running(f, arrays())}
  return Case(f"fused {name}", contenders, goals={"XLA": goal})


CASES: tuple[Case, ...] = (
  _row("mlp f32 512x2048x2048", mlp, lambda: mlp_arrays(512, 2048, 2048), 1.2),
  _row("int4 weights f32 8x4096x4096", times_int4, lambda: int4_arrays(8, 4096, 4096, False), 2),
  _row("packed int4 weights f32 8x4096x4096", times_packed_int4, lambda: int4_arrays(8, 4096, 4096, True), 2),
)
