"""Flash attention on NVIDIA GPUs, backward: the two kernels of `attention_backward`, laid out for tensor cores as the forward one is.

The first holds a block of queries and accumulates dq, with scores (queries, keys). The second holds a block of keys and accumulates dk and
dv, with scores (keys, queries): so the weights p and their derivatives ds are left operands, in registers, of the products with g and q.
Both are rounded to the dtype of the inputs before they are multiplied.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.ops import tiling
from tilewright.ops.attention import Plan, contract, valid_rows
from tilewright.ops.attention_gpu import QueryGrid, each_kind, over, queries_of, scores_of, to_base_2
from tilewright.ops.rowwise import as_rows, by_rows

Mask = Callable[[jax.Array, int], jax.Array]


def backward(
  plan: Plan, q: jax.Array, k: jax.Array, v: jax.Array, out: jax.Array, lse: jax.Array, g: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
  """The derivatives towards q, k and v, all of shape (batch, heads, length, depth)."""
  shapes = (q.shape, k.shape, v.shape)
  group = q.shape[1] // k.shape[1]
  q, k, v, out, g = (as_rows(x, 2) for x in (q, k, v, out, g))
  delta = _delta(plan, out, g)
  for_queries = for_keys = plan
  if plan.is_free:
    of_queries, of_keys = tiling.attention_backward_blocks(max(q.shape[2], v.shape[2]), q.dtype.itemsize)
    for_queries = dataclasses.replace(plan, block_q=of_queries.held, block_k=of_queries.passing)
    for_keys = dataclasses.replace(plan, block_q=of_keys.passing, block_k=of_keys.held)
  dq = _queries(for_queries, group, q, k, v, lse, delta, g)
  dk, dv = _keys(for_keys, group, q, k, v, lse, delta, g)
  return dq.reshape(shapes[0]), dk.reshape(shapes[1]), dv.reshape(shapes[2])


def _delta(plan: Plan, out: jax.Array, g: jax.Array) -> jax.Array:
  """sum(g * out) for each query: (heads, queries)."""

  def body(o: jax.Array, g: jax.Array) -> jax.Array:
    return jnp.sum(o.astype(jnp.float32) * g.astype(jnp.float32), axis=-1, keepdims=True)

  heads, queries, _ = out.shape
  one = jax.ShapeDtypeStruct((heads * queries,), jnp.float32)
  return by_rows(body, plan.execution, "attention_delta", [as_rows(x) for x in (out, g)], [], [one])[0].reshape(
    heads, queries
  )


def _f32(*shape: int) -> jax.ShapeDtypeStruct:
  return jax.ShapeDtypeStruct(shape, jnp.float32)


def _queries(plan: Plan, group: int, q: Any, k: Any, v: Any, lse: Any, delta: Any, g: Any) -> jax.Array:
  (heads, queries, depth), keys, value_depth = q.shape, k.shape[1], v.shape[2]
  block_q, block_k = plan.block_q, plan.block_k
  grid = QueryGrid(plan, queries, keys, group)
  band, steps, factor = grid.band, grid.steps, to_base_2(plan)

  def kernel(
    q_ref: Any, k_ref: Any, v_ref: Any, lse_ref: Any, delta_ref: Any, g_ref: Any, o_ref: Any, acc_ref: Any
  ) -> None:
    i, s = grid.block(pl.program_id(0)), pl.program_id(2)
    first, last = band.range(i)
    j = first + s

    @pl.when(s == 0)
    def _() -> None:
      acc_ref[...] = jnp.zeros(acc_ref.shape, jnp.float32)

    def step(mask: Mask) -> None:
      scores = mask(scores_of(plan, q_ref[...], k_ref[...]), 1)
      weights = jnp.exp2(scores * factor - lse_ref[...][:, None])
      values = valid_rows(v_ref[...], j, block_k, keys)
      slopes = weights * (contract(g_ref[...], values, 1, 1) - delta_ref[...][:, None])
      rows = valid_rows(k_ref[...], j, block_k, keys)
      acc_ref[...] += contract(slopes.astype(rows.dtype), rows, 1, 0)

    each_kind(plan, True if band.is_whole else j <= last, i, j, keys, step)

    @pl.when(s == steps - 1)
    def _() -> None:
      o_ref[...] = (acc_ref[...] * np.float32(plan.scale)).astype(o_ref.dtype)

  of_queries, of_keys, per_query = grid.of_queries, grid.of_keys, grid.per_query()
  return pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct(q.shape, q.dtype),
    grid=(grid.blocks, heads, steps),
    in_specs=[of_queries(depth), of_keys(depth), of_keys(value_depth), per_query, per_query, of_queries(value_depth)],
    out_specs=of_queries(depth),
    scratch_shapes=[_f32(block_q, depth)],
    name="attention_dq",
    **plan.execution.options("parallel", "parallel", "arbitrary"),
  )(q, k, v, lse, delta, g)


def _keys(plan: Plan, group: int, q: Any, k: Any, v: Any, lse: Any, delta: Any, g: Any) -> tuple[jax.Array, jax.Array]:
  (heads, queries, depth), keys, value_depth = q.shape, k.shape[1], v.shape[2]
  block_q, block_k = plan.block_q, plan.block_k
  band = queries_of(plan, queries)
  steps = band.steps(pl.cdiv(keys, block_k))
  factor = to_base_2(plan)

  def kernel(
    q_ref: Any,
    k_ref: Any,
    v_ref: Any,
    lse_ref: Any,
    delta_ref: Any,
    g_ref: Any,
    dk_ref: Any,
    dv_ref: Any,
    dk_acc: Any,
    dv_acc: Any,
  ) -> None:
    j, s = pl.program_id(0), pl.program_id(2)
    first, last = band.range(j)
    i = first + jax.lax.rem(s, steps)

    @pl.when(s == 0)
    def _() -> None:
      dk_acc[...] = jnp.zeros(dk_acc.shape, jnp.float32)
      dv_acc[...] = jnp.zeros(dv_acc.shape, jnp.float32)

    def step(mask: Mask) -> None:
      scores = mask(scores_of(plan, k_ref[...], q_ref[...]), 0)
      # A query past the end has no weight, and neither has a key there: its row is poison and is never written.
      weights = jnp.exp2(scores * factor - lse_ref[...])
      slopes_of_out = valid_rows(g_ref[...], i, block_q, queries)
      slopes = weights * (contract(v_ref[...], slopes_of_out, 1, 1) - delta_ref[...])
      if queries % block_q:
        inside = i * block_q + jax.lax.broadcasted_iota(jnp.int32, weights.shape, 1) < queries
        weights, slopes = jnp.where(inside, weights, 0.0), jnp.where(inside, slopes, 0.0)
      dv_acc[...] += contract(weights.astype(slopes_of_out.dtype), slopes_of_out, 1, 0)
      rows = valid_rows(q_ref[...], i, block_q, queries)
      dk_acc[...] += contract(slopes.astype(rows.dtype), rows, 1, 0)

    each_kind(plan, True if band.is_whole else i <= last, i, j, keys, step)

    @pl.when(s == group * steps - 1)
    def _() -> None:
      dk_ref[...] = (dk_acc[...] * np.float32(plan.scale)).astype(dk_ref.dtype)
      dv_ref[...] = dv_acc[...].astype(dv_ref.dtype)

  head = lambda h, s: h * group + over(s, steps)
  query_block = lambda j, s: band.at(j, jax.lax.rem(s, steps) if group > 1 else s)
  of_queries = lambda d: pl.BlockSpec((None, block_q, d), lambda j, h, s: (head(h, s), query_block(j, s), 0))
  of_keys = lambda d: pl.BlockSpec((None, block_k, d), lambda j, h, s: (h, j, 0))
  per_query = pl.BlockSpec((None, 1, block_q), lambda j, h, s: (head(h, s), 0, query_block(j, s)))
  return pl.pallas_call(
    kernel,
    out_shape=(jax.ShapeDtypeStruct(k.shape, k.dtype), jax.ShapeDtypeStruct(v.shape, v.dtype)),
    grid=(pl.cdiv(keys, block_k), heads // group, group * steps),
    in_specs=[of_queries(depth), of_keys(depth), of_keys(value_depth), per_query, per_query, of_queries(value_depth)],
    out_specs=(of_keys(depth), of_keys(value_depth)),
    scratch_shapes=[_f32(block_k, depth), _f32(block_k, value_depth)],
    name="attention_dkv",
    **plan.execution.options("parallel", "parallel", "arbitrary"),
  )(q, k, v, lse[:, None], delta[:, None], g)
