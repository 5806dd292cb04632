"""What the library's kernels compute as GPU code, on the CPU (`block_on_cpu`): blocks that arrive ahead of time and are multiplied where
they are, by mma.sync and by wgmma.
"""

from __future__ import annotations

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import natives

from tilewright import ops
from tilewright.ops import attention_backward_gpu, attention_gpu, calling
from tilewright.ops.attention import NEVER, Plan
from tilewright.target import nvgpu

BF16 = jnp.bfloat16
KEYS, QUERIES, DEPTH = 256, 256, 32
PLAN = Plan(calling.Execution(False, True, True), DEPTH**-0.5, None, 0, KEYS - QUERIES, 64, 64)
archs = pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a"])


def normal(seed, *shape):
  return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), BF16)


def exactly(q, k, v):
  """Causal attention of the last queries of a sequence, and the logarithms to base 2 of its sums."""
  s = q @ k.T * DEPTH**-0.5
  s = np.where(np.arange(KEYS) <= np.arange(QUERIES)[:, None] + KEYS - QUERIES, s, NEVER)
  e = np.exp(s - s.max(1, keepdims=True))
  return e / e.sum(1, keepdims=True), np.log2(e.sum(1)) + s.max(1) * np.log2(np.e)


def run_on(arch, f, *args):
  ((_, native),) = natives(f, *args)
  text = nvgpu.compile_ptx(native, arch, 4)[0]
  assert ("wgmma.mma_async" if arch == "sm_90a" else "mma.sync") in text
  assert ("cp.async.cg" if arch == "sm_80" else "cp.async.bulk.tensor") in text
  return run(native, *args, arch=arch, num_warps=4)


def close(found, expected, size):
  """Weights and results are rounded to bfloat16: two roundings."""
  assert np.abs(np.asarray(found, np.float64) - expected).max() <= 2 * 2.0**-9 * size


@archs
def test_attention(arch):
  q, k, v = normal(0, 1, 1, QUERIES, DEPTH), normal(1, 1, 1, KEYS, DEPTH), normal(2, 1, 1, KEYS, DEPTH)
  out, lse = run_on(arch, functools.partial(attention_gpu.forward, PLAN), q, k, v)
  exact = [np.asarray(x[0, 0], np.float64) for x in (q, k, v)]
  weights, sums = exactly(*exact)
  close(out[0], weights @ exact[2], np.abs(exact[2]).max())
  np.testing.assert_allclose(lse[0], sums, atol=2.0**-18 * np.abs(sums).max())


@archs
def test_queries_that_see_none_of_the_first_keys_they_meet(arch):
  """A window begins after the first block of keys for some queries of a block, and not for others."""
  plan = dataclasses.replace(PLAN, left=40, scale=0.125)
  q, k, v = (normal(n, 1, 1, 128, DEPTH) for n in range(3))
  ((_, native),) = natives(functools.partial(attention_gpu.forward, plan), q, k, v)
  out, _ = run(native, q, k, v, arch=arch, num_warps=4)
  q, k, v = (np.asarray(x[0, 0], np.float64) for x in (q, k, v))
  behind = np.arange(128)[:, None] - np.arange(128)
  e = np.where((behind >= 0) & (behind <= 40), np.exp(q @ k.T * plan.scale), 0)
  close(out[0], e / e.sum(1, keepdims=True) @ v, np.abs(v).max())


@archs
@pytest.mark.parametrize("of", ["queries", "keys"])
def test_derivatives_of_attention(arch, of):
  q, k, v, g = (normal(n, 1, rows, DEPTH) for n, rows in enumerate((QUERIES, KEYS, KEYS, QUERIES)))
  exact = [np.asarray(x[0], np.float64) for x in (q, k, v, g)]
  weights, lse = exactly(*exact[:3])
  delta = (exact[3] * (weights @ exact[2])).sum(1)
  slopes = weights * (exact[3] @ exact[2].T - delta[:, None])
  rows = [jnp.asarray(x, jnp.float32)[None] for x in (lse, delta)]
  kernel = attention_backward_gpu._queries if of == "queries" else attention_backward_gpu._keys
  found = run_on(arch, functools.partial(kernel, PLAN, 1), q, k, v, *rows, g)
  if of == "queries":
    expected = [slopes @ exact[1] * PLAN.scale]
    sizes = [(np.abs(slopes) @ np.abs(exact[1])).max() * PLAN.scale]
  else:
    expected = [slopes.T @ exact[0] * PLAN.scale, weights.T @ exact[3]]
    sizes = [(np.abs(slopes).T @ np.abs(exact[0])).max() * PLAN.scale, (weights.T @ np.abs(exact[3])).max()]
  for d, e, size in zip(found, expected, sizes):
    close(d[0], e, size)


@archs
def test_groups_of_rows_that_begin_anywhere(arch):
  x, w, sizes = normal(0, 150, 128), normal(1, 2, 128, 64), jnp.array([77, 60], jnp.int32)
  f = lambda x, w, s: ops.grouped_matmul(x, w, s, native=True)
  ((_, native),) = natives(f, x, w, sizes)
  with jax.default_device("cpu"):
    prefetched = [np.asarray(t) for t in _tiles(sizes, native)]
  (found,) = run(native, *prefetched, x, w, arch=arch, num_warps=None if arch == "sm_90a" else 4)
  a, b = (np.asarray(z, np.float64) for z in (x, w))
  expected = np.concatenate([a[:77] @ b[0], a[77:137] @ b[1], np.zeros((13, 64))])
  close(found, expected, np.abs(expected).max())


def _tiles(sizes, native):
  from tilewright.ops.grouped_matmul_gpu import tiles_of_groups

  return tiles_of_groups(sizes, 150, native.mapping.input_mappings[0].block_sizes[0])
