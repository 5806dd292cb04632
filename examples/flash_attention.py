"""Attention without the matrix of scores: online softmax with a loop over the keys.

For one block of queries, the keys and values come by in blocks. Three things are kept between the blocks, for each
query:

    m    the largest score so far
    l    the sum of exp(score - m)
    acc  the sum of exp(score - m) * value

A new block may bring a larger maximum; what was summed up to then is multiplied by exp(old m - new m) to match. At the
end acc / l is the softmax-weighted mean of the values, and no score was ever written to memory.

The loop over key blocks is the last dimension of the grid. The state lives in scratch buffers, which keep their
contents from one instance to the next, and heads are a grid dimension whose index is squeezed away (None in the block
shape). With `causal`, query i sees keys up to i: blocks that are wholly in the future are skipped, and the block on the
diagonal is masked.
"""

from __future__ import annotations

import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

BLOCK_Q, BLOCK_K = 64, 64
MASKED = -1e30  # finite, so that no difference of two masked scores is NaN; exp of it is 0


def attention_kernel(q_ref, k_ref, v_ref, o_ref, m_ref, l_ref, acc_ref, *, scale, causal):
  query_block, key_block = pl.program_id(1), pl.program_id(2)

  @pl.when(key_block == 0)
  def _():
    m_ref[...] = jnp.full_like(m_ref, MASKED)
    l_ref[...] = jnp.zeros_like(l_ref)
    acc_ref[...] = jnp.zeros_like(acc_ref)

  in_the_past = key_block * BLOCK_K < (query_block + 1) * BLOCK_Q

  @pl.when(in_the_past if causal else True)
  def _():
    scores = jnp.dot(q_ref[...], k_ref[...].T, precision="highest") * scale
    if causal:
      query = query_block * BLOCK_Q + jax.lax.broadcasted_iota(jnp.int32, scores.shape, 0)
      key = key_block * BLOCK_K + jax.lax.broadcasted_iota(jnp.int32, scores.shape, 1)
      scores = jnp.where(key <= query, scores, MASKED)
    m = jnp.maximum(m_ref[...], jnp.max(scores, axis=-1, keepdims=True))
    weights = jnp.exp(scores - m)
    shrink = jnp.exp(m_ref[...] - m)
    m_ref[...] = m
    l_ref[...] = l_ref[...] * shrink + jnp.sum(weights, axis=-1, keepdims=True)
    acc_ref[...] = acc_ref[...] * shrink + jnp.dot(weights, v_ref[...], precision="highest")

  @pl.when(key_block == pl.num_programs(2) - 1)
  def _():
    o_ref[...] = acc_ref[...] / l_ref[...]


@functools.partial(jax.jit, static_argnames="causal")
def attention(q: jax.Array, k: jax.Array, v: jax.Array, causal: bool = False) -> jax.Array:
  """Attention for arrays of shape (heads, length, depth)."""
  heads, length, depth = q.shape
  if length % BLOCK_Q or k.shape[1] % BLOCK_K:
    raise ValueError(f"This example takes lengths that are multiples of {BLOCK_Q} and {BLOCK_K}.")
  of_queries = pl.BlockSpec((None, BLOCK_Q, depth), lambda head, i, j: (head, i, 0))
  of_keys = pl.BlockSpec((None, BLOCK_K, depth), lambda head, i, j: (head, j, 0))
  return pl.pallas_call(
    functools.partial(attention_kernel, scale=depth**-0.5, causal=causal),
    out_shape=jax.ShapeDtypeStruct(q.shape, q.dtype),
    grid=(heads, length // BLOCK_Q, k.shape[1] // BLOCK_K),
    in_specs=[of_queries, of_keys, of_keys],
    out_specs=of_queries,
    scratch_shapes=[
      pltpu.VMEM((BLOCK_Q, 1), jnp.float32),
      pltpu.VMEM((BLOCK_Q, 1), jnp.float32),
      pltpu.VMEM((BLOCK_Q, depth), jnp.float32),
    ],
  )(q, k, v)


def reference_and_bound(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> tuple[np.ndarray, np.ndarray]:
  """The result in float64, and how far float32 may be from it, to first order."""
  length, depth, keys = q.shape[1], q.shape[2], k.shape[1]
  u = 2.0**-24
  scores = np.einsum("hqd,hkd->hqk", q, k) * depth**-0.5
  # A score is a sum of `depth` products, scaled by a rounded number: depth + 2 roundings of the sum of magnitudes.
  of_scores = (depth + 2) * u * np.einsum("hqd,hkd->hqk", np.abs(q), np.abs(k)) * depth**-0.5
  if causal:
    future = np.arange(keys) > np.arange(length)[:, None]
    scores, of_scores = np.where(future, -np.inf, scores), np.where(future, 0, of_scores)
  weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
  weights /= weights.sum(axis=-1, keepdims=True)
  # Relative error of a weight: that of its score and of the difference from the maximum, exp (4 ulp = 8 u), and one
  # product with such an exponential for each block of keys. Numerator and denominator each have it, with a sum over the
  # keys.
  spread = 2 * np.abs(np.where(np.isfinite(scores), scores, 0)).max()
  blocks = keys // BLOCK_K
  relative = 2 * (of_scores.max(axis=-1, keepdims=True) + (blocks + 1) * (spread + 9) * u + keys * u) + u
  return weights @ v, 1.01 * relative * (weights @ np.abs(v))  # one percent for the terms of second order


def main() -> int:
  rng = np.random.default_rng(0)
  q, k, v = (rng.standard_normal((2, 256, 32)).astype(np.float32) for _ in range(3))
  wide = [a.astype(np.float64) for a in (q, k, v)]
  passed = True
  for causal in (False, True):
    exact, bound = reference_and_bound(*wide, causal)
    error = np.abs(np.asarray(attention(q, k, v, causal=causal)) - exact)
    ok = bool(np.all(error <= bound))
    passed &= ok
    name = "flash_attention (causal)" if causal else "flash_attention"
    print(f"{name} {q.shape}: max error {error.max():.2e}, bound {bound.max():.2e}: {'ok' if ok else 'FAILED'}")
  return 0 if passed else 1


if __name__ == "__main__":
  sys.exit(main())
