"""Attention as people write it: a function, shapes of its operands, and their dtype."""

from __future__ import annotations

import jax
import jax.numpy as jnp

BATCH, LENGTH, KEYS, HEADS, DEPTH = 2, 24, 40, 4, 16
Q, K = (BATCH, LENGTH, HEADS, DEPTH), (BATCH, KEYS, HEADS, DEPTH)
GROUPED, FEW = (BATCH, LENGTH, 2, 2, DEPTH), (BATCH, LENGTH, 2, DEPTH)
ONE = (BATCH, LENGTH, DEPTH)


def causal(s):
  return jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, jnp.finfo(s.dtype).min)


def heads_inside(q, k, v):
  return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(causal(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4)), v)


def wide_softmax(q, k, v):
  s = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.promote_types(q.dtype, jnp.float32)) / 4
  return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s).astype(q.dtype), v)


def added_mask(q, k, v):
  hidden = 1 - jnp.tril(jnp.ones((LENGTH, LENGTH), q.dtype))
  return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4 - 1e9 * hidden), v)


def grouped(q, k, v):
  return jnp.einsum("bhgqk,bkhd->bqhgd", jax.nn.softmax(causal(jnp.einsum("bqhgd,bkhd->bhgqk", q, k) / 4)), v)


def one_head_of_keys(q, k, v):
  return jnp.einsum("bhqk,bkd->bqhd", jax.nn.softmax(causal(jnp.einsum("bqhd,bkd->bhqk", q, k) / 4)), v)


def keys_first(q, k, v):
  return jnp.einsum("kq,kd->qd", jax.nn.softmax(jnp.einsum("kd,qd->kq", k, q) / 4, 0), v)


def scaled_queries(q, k, v):
  return jax.nn.softmax((q * DEPTH**-0.5) @ k.T) @ v


def later_queries(q, k, v):
  sees = jnp.arange(LENGTH)[:, None] + 7 >= jnp.arange(KEYS)[None]
  s = jnp.where(sees, jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4, -jnp.inf)
  return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s), v)


CASES = {
  "bfloat16, causal": (heads_inside, (Q, Q, Q), "bfloat16"),
  "bfloat16, softmax in float32": (wide_softmax, (Q, K, K), "bfloat16"),
  "a mask that is added": (added_mask, (Q, Q, Q), "float32"),
  "groups of heads share keys": (grouped, (GROUPED, FEW, FEW), "float32"),
  "all heads share keys": (one_head_of_keys, (Q, ONE, ONE), "float32"),
  "scores by keys": (keys_first, ((LENGTH, DEPTH), (KEYS, DEPTH), (KEYS, DEPTH)), "float16"),
  "queries are scaled": (scaled_queries, ((LENGTH, DEPTH), (KEYS, DEPTH), (KEYS, DEPTH)), "float32"),
  "queries begin later": (later_queries, (Q, K, K), "float32"),
  "JAX's own": (jax.nn.dot_product_attention, (Q, FEW, FEW), "float32"),
}
