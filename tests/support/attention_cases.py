"""Cases of attention, and attention in float64."""

from __future__ import annotations

import jax.numpy as jnp


def attention64(q, k, v, *, causal=False, window=None, query_offset=0, scale=None):
  group = q.shape[-3] // k.shape[-3]
  k, v = (jnp.repeat(x, group, -3) for x in (k, v))
  scores = jnp.einsum("...qd,...kd->...qk", q, k) * (q.shape[-1] ** -0.5 if scale is None else scale)
  place_q = jnp.arange(q.shape[-2])[:, None] + query_offset
  place_k = jnp.arange(k.shape[-2])[None, :]
  left, right = window if isinstance(window, tuple) else (window, None)
  seen = jnp.ones(scores.shape[-2:], bool)
  if causal:
    seen &= place_k <= place_q
  if left is not None:
    seen &= place_k >= place_q - left
  if right is not None:
    seen &= place_k <= place_q + right
  most = jnp.max(jnp.where(seen, scores, -1e300), -1, keepdims=True)
  weights = jnp.where(seen, jnp.exp(jnp.where(seen, scores - most, 0.0)), 0.0)
  total = jnp.sum(weights, -1, keepdims=True)
  return jnp.einsum("...qk,...kd->...qd", weights / jnp.where(total > 0, total, 1.0), v)


# heads, key heads, queries, keys, options
CASES = {
  "whole blocks": (2, 2, 64, 32, {}),
  "odd lengths, grouped heads": (4, 2, 37, 53, {}),
  "causal": (2, 2, 53, 53, {"causal": True}),
  "causal, with a window, one head of keys": (3, 1, 70, 70, {"causal": True, "window": 9}),
  "queries that continue a sequence": (2, 2, 20, 70, {"causal": True, "query_offset": 50}),
  "a window on both sides": (1, 1, 50, 50, {"window": (3, 5)}),
  "queries that see nothing": (1, 1, 40, 8, {"window": (2, 2)}),
  "one query": (2, 1, 1, 33, {"scale": 0.5}),
}
