"""Flash attention, backward: two kernels that recompute the scores, block by block.

With p the weights and g the derivative of the output:

    dp = g vᵀ        ds = p * (dp - delta)        delta = sum(g * out), one number per query
    dq = ds k        dk = dsᵀ q                   dv = pᵀ g

The first kernel holds a block of queries, loops over the keys and accumulates dq. The second holds a block of keys, loops over the queries
of all heads that share it, and accumulates dk and dv. As in the forward kernel, the held block lies along vector lanes, and accumulators
are kept transposed.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from tilewright import pallas as pl
from tilewright.ops.attention import Plan, contract, masked, valid_rows
from tilewright.ops.result_shape import reshaped
from tilewright.ops.rowwise import as_rows, by_rows


def backward(
  plan: Plan, q: jax.Array, k: jax.Array, v: jax.Array, out: jax.Array, lse: jax.Array, g: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
  """The derivatives towards q, k and v, all of shape (batch, heads, length, depth)."""
  shapes = (q.shape, k.shape, v.shape)
  group = q.shape[1] // k.shape[1]
  q, k, v, out, g = (as_rows(x, 2) for x in (q, k, v, out, g))
  delta = _delta(plan, out, g)
  dq = _queries(plan, group, q, k, v, lse, delta, g)
  dk, dv = _keys(plan, group, q, k, v, lse, delta, g)
  return reshaped(dq, shapes[0]), reshaped(dk, shapes[1]), reshaped(dv, shapes[2])


def _delta(plan: Plan, out: jax.Array, g: jax.Array) -> jax.Array:
  """sum(g * out) for each query: (heads, 1, queries)."""
  heads, queries, _ = out.shape

  def body(o: jax.Array, g: jax.Array) -> jax.Array:
    return jnp.sum(o.astype(jnp.float32) * g.astype(jnp.float32), axis=-1, keepdims=True)

  one = jax.ShapeDtypeStruct((heads * queries,), jnp.float32)
  flat = [as_rows(x) for x in (out, g)]
  return by_rows(body, plan.execution, "attention_delta", flat, [], [one])[0].reshape(heads, 1, queries)


def _f32(*shape: int) -> jax.ShapeDtypeStruct:
  return jax.ShapeDtypeStruct(shape, jnp.float32)


def _queries(
  plan: Plan,
  group: int,
  q: jax.Array,
  k: jax.Array,
  v: jax.Array,
  lse: jax.Array,
  delta: jax.Array,
  g: jax.Array,
) -> jax.Array:
  (heads, queries, depth), keys, value_depth = q.shape, k.shape[1], v.shape[2]
  block_q, block_k = plan.block_q, plan.block_k
  steps = pl.cdiv(keys, block_k)

  def kernel(
    q_ref: Any,
    k_ref: Any,
    v_ref: Any,
    lse_ref: Any,
    delta_ref: Any,
    g_ref: Any,
    o_ref: Any,
    qt_ref: Any,
    gt_ref: Any,
    acc: Any,
  ) -> None:
    i, j = pl.program_id(1), pl.program_id(2)

    @pl.when(j == 0)
    def _() -> None:
      qt_ref[...] = q_ref[...].astype(jnp.float32).T * plan.scale
      gt_ref[...] = g_ref[...].astype(jnp.float32).T
      acc[...] = jnp.zeros(acc.shape, jnp.float32)

    @pl.when(plan.meets(i, j))
    def _() -> None:
      rows = valid_rows(k_ref[...], j, block_k, keys).astype(jnp.float32)
      values = valid_rows(v_ref[...], j, block_k, keys).astype(jnp.float32)
      scores = masked(plan, contract(rows, qt_ref[...], 1, 0), i, j, keys, keys_axis=0)
      weights = jnp.exp(scores - lse_ref[...])
      slopes = weights * (contract(values, gt_ref[...], 1, 0) - delta_ref[...])
      acc[...] += contract(rows, slopes, 0, 0)

    @pl.when(j == steps - 1)
    def _() -> None:
      o_ref[...] = (acc[...] * plan.scale).T.astype(o_ref.dtype)

  of_queries = lambda d: pl.BlockSpec((None, block_q, d), lambda h, i, j: (h, i, 0))
  of_keys = lambda d: pl.BlockSpec((None, block_k, d), lambda h, i, j: (h // group, j, 0))
  per_query = pl.BlockSpec((None, 1, block_q), lambda h, i, j: (h, 0, i))
  return pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct(q.shape, q.dtype),
    grid=(heads, pl.cdiv(queries, block_q), steps),
    in_specs=[of_queries(depth), of_keys(depth), of_keys(value_depth), per_query, per_query, of_queries(value_depth)],
    out_specs=of_queries(depth),
    scratch_shapes=[_f32(depth, block_q), _f32(value_depth, block_q), _f32(depth, block_q)],
    name="attention_dq",
    **plan.execution.options("parallel", "parallel", "arbitrary"),
  )(q, k, v, lse, delta, g)


def _keys(
  plan: Plan,
  group: int,
  q: jax.Array,
  k: jax.Array,
  v: jax.Array,
  lse: jax.Array,
  delta: jax.Array,
  g: jax.Array,
) -> tuple[jax.Array, jax.Array]:
  (heads, queries, depth), keys, value_depth = q.shape, k.shape[1], v.shape[2]
  block_q, block_k = plan.block_q, plan.block_k
  blocks = pl.cdiv(queries, block_q)
  steps = group * blocks

  def kernel(
    q_ref: Any,
    k_ref: Any,
    v_ref: Any,
    lse_ref: Any,
    delta_ref: Any,
    g_ref: Any,
    dk_ref: Any,
    dv_ref: Any,
    kt_ref: Any,
    vt_ref: Any,
    dk_acc: Any,
    dv_acc: Any,
  ) -> None:
    j, step = pl.program_id(1), pl.program_id(2)
    i = step % blocks

    @pl.when(step == 0)
    def _() -> None:
      kt_ref[...] = k_ref[...].astype(jnp.float32).T * plan.scale
      vt_ref[...] = v_ref[...].astype(jnp.float32).T
      dk_acc[...] = jnp.zeros(dk_acc.shape, jnp.float32)
      dv_acc[...] = jnp.zeros(dv_acc.shape, jnp.float32)

    @pl.when(plan.meets(i, j))
    def _() -> None:
      rows = valid_rows(q_ref[...], i, block_q, queries).astype(jnp.float32)
      slopes_of_out = valid_rows(g_ref[...], i, block_q, queries).astype(jnp.float32)
      lse, delta = (valid_rows(ref[...].T, i, block_q, queries) for ref in (lse_ref, delta_ref))
      scores = masked(plan, contract(rows, kt_ref[...], 1, 0), i, j, keys, keys_axis=1)
      weights = jnp.exp(scores - lse)
      # A query past the end has no weight, and neither has a key there: its column is poison and is never written.
      weights = valid_rows(weights, i, block_q, queries)
      dv_acc[...] += contract(slopes_of_out, weights, 0, 0)
      slopes = weights * (contract(slopes_of_out, vt_ref[...], 1, 0) - delta)
      dk_acc[...] += contract(rows, slopes, 0, 0)

    @pl.when(step == steps - 1)
    def _() -> None:
      dk_ref[...] = (dk_acc[...] * plan.scale).T.astype(dk_ref.dtype)
      dv_ref[...] = dv_acc[...].T.astype(dv_ref.dtype)

  def of_queries(d: int) -> pl.BlockSpec:
    return pl.BlockSpec((None, block_q, d), lambda h, j, s: (h * group + s // blocks, s % blocks, 0))

  of_keys = lambda d: pl.BlockSpec((None, block_k, d), lambda h, j, s: (h, j, 0))
  per_query = pl.BlockSpec((None, 1, block_q), lambda h, j, s: (h * group + s // blocks, 0, s % blocks))
  return pl.pallas_call(
    kernel,
    out_shape=(jax.ShapeDtypeStruct(k.shape, k.dtype), jax.ShapeDtypeStruct(v.shape, v.dtype)),
    grid=(heads // group, pl.cdiv(keys, block_k), steps),
    in_specs=[of_queries(depth), of_keys(depth), of_keys(value_depth), per_query, per_query, of_queries(value_depth)],
    out_specs=(of_keys(depth), of_keys(value_depth)),
    scratch_shapes=[
      _f32(depth, block_k),
      _f32(value_depth, block_k),
      _f32(depth, block_k),
      _f32(value_depth, block_k),
    ],
    name="attention_dkv",
    **plan.execution.options("parallel", "parallel", "arbitrary"),
  )(q, k, v, lse, delta, g)
