"""Flash attention, forward: softmax(q kᵀ · scale) v without materialising the matrix of scores.

For each block of queries, the kernel loops over blocks of keys. Per query it keeps the running maximum m of the scores, the sum l of their
exponentials relative to m, and an accumulator of the weighted values; when m grows, the other two are rescaled by exp(old m - new m).

Everything is kept transposed: scores are (keys, queries), so that the data of one query lie in one vector lane. Maxima and sums
then need no cross-lane reductions, and both products read their right operand row by row:

    s = k qᵀ (keys, queries)        p = exp(s - m)        acc += vᵀ p (depth, queries)

Blocks of scores that are fully masked are skipped; that halves the work of causal attention. On a GPU, tensor cores need another
layout: `attention_gpu`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright import pallas as pl
from tilewright.ops import calling, spaces, tiling
from tilewright.ops.calling import Execution
from tilewright.ops.result_shape import reshaped
from tilewright.ops.rowwise import as_rows
from tilewright.runtime.user_line import names_line

# The score of a masked element: finite, so that the difference of two of them is not NaN; and a power of two, so that its products with a
# factor are exact, and their differences zero even if only one of them is rounded (as in a fused multiply-add).
NEVER = -(2.0**100)


@dataclasses.dataclass(frozen=True)
class Plan:
  """The static part of an attention: what is seen, and in which blocks it is computed.

  A query at position p sees the keys from `p - left` to `p + right`; None means without limit.
  """

  execution: Execution
  scale: float
  left: int | None
  right: int | None
  offset: int  # the position of the first query
  block_q: int
  block_k: int
  is_free: bool = False  # whether the backward kernels may choose blocks of their own
  params: tuple[tuple[str, Any], ...] = ()  # of the compiler, for the forward kernel, as tuned
  by_hand: bool = False  # whether the forward kernel is that of `attention_hopper`

  @property
  def forward_how(self) -> Execution:
    return dataclasses.replace(self.execution, params=self.params) if self.params else self.execution

  def sees(self, q: Any, k: Any) -> Any:
    """Whether the query at place `q` sees the key at place `k`; None if all see all."""
    conditions = []
    if self.right is not None:
      conditions.append(k <= q + (self.offset + self.right))
    if self.left is not None:
      conditions.append(k >= q + (self.offset - self.left))
    return functools.reduce(lambda a, b: a & b, conditions) if conditions else None

  def meets(self, i: Any, j: Any) -> Any:
    """Whether any query of block `i` sees any key of block `j`."""
    first_q, last_q = i * self.block_q + self.offset, i * self.block_q + self.block_q - 1 + self.offset
    first_k, last_k = j * self.block_k, j * self.block_k + self.block_k - 1
    condition: Any = True
    if self.right is not None:
      condition = first_k <= last_q + self.right
    if self.left is not None:
      condition = (last_k >= first_q - self.left) & condition
    return condition


@names_line
def attention(
  q: jax.Array,
  k: jax.Array,
  v: jax.Array,
  *,
  causal: bool = False,
  window: int | tuple[int, int] | None = None,
  scale: float | None = None,
  query_offset: int = 0,
  blocks: tuple[int, int] | None = None,
  interpret: bool | None = None,
  native: bool | None = None,
) -> jax.Array:
  """softmax(q kᵀ · scale) v for each head, computed in float32.

  On a GPU, bfloat16 and float16 are multiplied by tensor cores and added up in float32; the weights are rounded to the dtype of `v` before
  they are multiplied with it. float32 is multiplied in float32 everywhere.

  Args:
    q: `(..., heads, queries, depth)` of float32, bfloat16 or float16.
    k: `(..., key_heads, keys, depth)`; `key_heads` divides `heads`, and each head of keys serves as many heads of queries.
    v: `(..., key_heads, keys, value_depth)`.
    causal: whether a query sees only the keys up to its own position.
    window: how many keys before its position (and after it, if a pair is given) a query sees.
    scale: the factor of the scores; by default 1 / sqrt(depth).
    query_offset: the position of the first query among the keys, for queries that continue a longer sequence.
    blocks: how many queries and keys a block has; by default chosen from the lengths.
    interpret: True for the portable lowering on any backend.
    native: whether to compile native code; by default, on the CPU and on NVIDIA GPUs.

  Returns:
    An array of shape `(..., heads, queries, value_depth)`. A query that sees no key gets 0.
  """
  q, k, v = (
    calling.floating("attention", name, x, min_rank=3) for name, x in zip(("q", "k", "v"), (q, k, v), strict=True)
  )
  _check(q, k, v)
  left, right = window if isinstance(window, tuple) else (window, None)
  for name, size in (("left", left), ("right", right)):
    if size is not None and size < 0:
      raise errors.ShapeMismatchError(f"attention: the {name} side of window must not be negative, got {size}.")
  if causal:
    right = 0 if right is None else min(right, 0)
  if scale is None:
    scale = 1.0 / math.sqrt(q.shape[-1]) if q.shape[-1] else 1.0
  if blocks is not None and (len(blocks) != 2 or any(b < 1 for b in blocks)):
    raise errors.ShapeMismatchError(f"attention: blocks must be two positive sizes (queries, keys), got {blocks}.")
  plan = plan_for(q, k, v, float(scale), left, right, int(query_offset), calling.execution(interpret, native), blocks)
  out = _attention(plan, *(as_rows(x, 3) for x in (q, k, v)))
  return reshaped(out, (*q.shape[:-1], v.shape[-1]))


def plan_for(
  q: Any,
  k: Any,
  v: Any,
  scale: float,
  left: int | None,
  right: int | None,
  offset: int,
  execution: Execution,
  blocks: tuple[int, int] | None = None,
) -> Plan:
  """The plan for arrays of these shapes."""
  queries, keys = q.shape[-2], k.shape[-2]
  depth, is_banded = max(q.shape[-1], v.shape[-1]), left is not None or right is not None
  tuned, tuned_how, by_hand = blocks, execution, False
  if blocks is None:
    facts = {"heads": math.prod(q.shape[:-2]), "group": q.shape[-3] // k.shape[-3], "queries": queries, "keys": keys}
    band = {"depth": depth, "dtype": str(q.dtype), "left": left, "right": right}
    tuned, tuned_how, by_hand = spaces.attention_blocks(execution, **facts, **band)
    if by_hand:
      from tilewright.ops import attention_hopper

      if tuned is None or not attention_hopper.is_possible(q, k, v, left, *tuned):
        tuned, by_hand = None, False
  block_q, block_k = tuned or tiling.attention_blocks(
    execution.on_gpu, queries, keys, depth, q.dtype.itemsize, is_banded
  )
  return Plan(
    execution,
    scale,
    left,
    right,
    offset,
    max(1, block_q if execution.on_gpu else min(block_q, queries)),
    max(1, block_k if execution.on_gpu else min(block_k, keys)),
    is_free=blocks is None,
    params=tuned_how.params,
    by_hand=by_hand,
  )


def _check(q: jax.Array, k: jax.Array, v: jax.Array) -> None:
  if not q.dtype == k.dtype == v.dtype:
    raise errors.ShapeMismatchError(
      f"attention: q, k and v must have one dtype, got {q.dtype}, {k.dtype} and {v.dtype}. Convert two of them."
    )
  if k.shape[:-1] != v.shape[:-1]:
    raise errors.ShapeMismatchError(
      f"attention: v must have the shape of k except for its last dimension, got {v.shape} for k of {k.shape}."
    )
  if q.shape[:-3] != k.shape[:-3]:
    raise errors.ShapeMismatchError(
      f"attention: q and k must have the same leading dimensions, got shapes {q.shape} and {k.shape}."
    )
  if q.shape[-1] != k.shape[-1]:
    raise errors.ShapeMismatchError(
      f"attention: q and k must have the same depth, got {q.shape[-1]} and {k.shape[-1]} in their last dimensions."
    )
  if k.shape[-3] == 0 or q.shape[-3] % k.shape[-3]:
    raise errors.ShapeMismatchError(
      f"attention: the {k.shape[-3]} heads of k must divide the {q.shape[-3]} heads of q: shapes {q.shape} and {k.shape}. "
      "Shapes are (..., heads, length, depth)."
    )


# --- what the kernels share --------------------------------------------------------------------------------------


def contract(x: jax.Array, y: jax.Array, x_axis: int, y_axis: int) -> jax.Array:
  numbers = (((x_axis,), (y_axis,)), ((), ()))
  return jax.lax.dot_general(x, y, numbers, precision="highest", preferred_element_type=jnp.float32)


def valid_rows(x: jax.Array, block: Any, rows: int, length: int) -> jax.Array:
  """A block of rows with zeros in place of the poison past the end of the array."""
  if length % rows == 0:
    return x
  place = block * rows + jax.lax.broadcasted_iota(jnp.int32, x.shape, 0)
  return jnp.where(place < length, x, jnp.zeros((), x.dtype))


def masked(plan: Plan, scores: jax.Array, i: Any, j: Any, keys: int, *, keys_axis: int) -> jax.Array:
  """The scores of a block, with those masked that a query does not see or that lie past the last key."""
  ragged = keys % plan.block_k != 0
  if plan.left is None and plan.right is None and not ragged:
    return scores
  k = j * plan.block_k + jax.lax.broadcasted_iota(jnp.int32, scores.shape, keys_axis)
  q = i * plan.block_q + jax.lax.broadcasted_iota(jnp.int32, scores.shape, 1 - keys_axis)
  seen = plan.sees(q, k)
  if ragged:
    seen = (k < keys) if seen is None else seen & (k < keys)
  return jnp.where(seen, scores, NEVER)


# --- forward -----------------------------------------------------------------------------------------------------


def _forward_call(plan: Plan, q: jax.Array, k: jax.Array, v: jax.Array) -> tuple[jax.Array, jax.Array]:
  """The output (heads, queries, depth) and, per query, the logarithm of the sum of exponentials (heads, 1, queries)."""
  group = q.shape[1] // k.shape[1]
  q, k, v = (as_rows(x, 2) for x in (q, k, v))
  (heads, queries, depth), keys, value_depth = q.shape, k.shape[1], v.shape[2]
  block_q, block_k = plan.block_q, plan.block_k
  steps = pl.cdiv(keys, block_k)

  def kernel(
    q_ref: Any, k_ref: Any, v_ref: Any, o_ref: Any, lse_ref: Any, qt_ref: Any, m_ref: Any, l_ref: Any, acc_ref: Any
  ) -> None:
    i, j = pl.program_id(1), pl.program_id(2)

    @pl.when(j == 0)
    def _() -> None:
      qt_ref[...] = q_ref[...].astype(jnp.float32).T * plan.scale
      m_ref[...] = jnp.full(m_ref.shape, NEVER, jnp.float32)
      l_ref[...] = jnp.zeros(l_ref.shape, jnp.float32)
      acc_ref[...] = jnp.zeros(acc_ref.shape, jnp.float32)

    @pl.when(plan.meets(i, j))
    def _() -> None:
      scores = contract(k_ref[...].astype(jnp.float32), qt_ref[...], 1, 0)
      scores = masked(plan, scores, i, j, keys, keys_axis=0)
      old = m_ref[...]
      m = jnp.maximum(old, jnp.max(scores, axis=0, keepdims=True))
      # Until a query has seen a key its weights are exp(0), of scores that do not count; they shrink to 0 with the first that does.
      weights = jnp.exp(scores - m)
      shrink = jnp.exp(old - m)
      l_ref[...] = l_ref[...] * shrink + jnp.sum(weights, axis=0, keepdims=True)
      acc_ref[...] = acc_ref[...] * shrink
      values = valid_rows(v_ref[...], j, block_k, keys).astype(jnp.float32)
      acc_ref[...] += contract(values, weights, 0, 0)
      m_ref[...] = m

    @pl.when(j == steps - 1)
    def _() -> None:
      m, l = m_ref[...], l_ref[...]
      alive = m > 0.5 * NEVER
      o_ref[...] = (acc_ref[...] * jnp.where(alive, 1.0 / l, 0.0)).T.astype(o_ref.dtype)
      lse_ref[...] = jnp.where(alive, m + jnp.log(l), -NEVER)

  of_queries = lambda d: pl.BlockSpec((None, block_q, d), lambda h, i, j: (h, i, 0))
  of_keys = lambda d: pl.BlockSpec((None, block_k, d), lambda h, i, j: (h // group, j, 0))
  f32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
  return pl.pallas_call(
    kernel,
    out_shape=(jax.ShapeDtypeStruct((heads, queries, value_depth), q.dtype), f32(heads, 1, queries)),
    grid=(heads, pl.cdiv(queries, block_q), steps),
    in_specs=[of_queries(depth), of_keys(depth), of_keys(value_depth)],
    out_specs=(of_queries(value_depth), pl.BlockSpec((None, 1, block_q), lambda h, i, j: (h, 0, i))),
    scratch_shapes=[f32(depth, block_q), f32(1, block_q), f32(1, block_q), f32(value_depth, block_q)],
    name="attention",
    **plan.execution.options("parallel", "parallel", "arbitrary"),
  )(q, k, v)


def _is_empty(q: jax.Array, k: jax.Array, v: jax.Array) -> bool:
  return 0 in (*q.shape, *k.shape, *v.shape)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _attention(plan: Plan, q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
  return attention_forward(plan, q, k, v)[0]


def attention_forward(plan: Plan, q: jax.Array, k: jax.Array, v: jax.Array) -> tuple[jax.Array, Any]:
  """The output for arrays (batch, heads, length, depth), and what `attention_backward` needs."""
  if _is_empty(q, k, v):
    return jnp.zeros((*q.shape[:-1], v.shape[-1]), q.dtype), (q, k, v, None, None)
  forward = _forward_call
  if plan.execution.on_gpu:
    from tilewright.ops.attention_gpu import forward
  out, lse = forward(plan, q, k, v)
  out = out.reshape(*q.shape[:-1], v.shape[-1])
  return out, (q, k, v, out, lse)


def attention_backward(plan: Plan, residuals: Any, g: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
  """The derivatives towards q, k and v."""
  if plan.execution.on_gpu:
    from tilewright.ops.attention_backward_gpu import backward
  else:
    from tilewright.ops.attention_backward import backward

  q, k, v, out, lse = residuals
  if lse is None:
    return jnp.zeros_like(q), jnp.zeros_like(k), jnp.zeros_like(v)
  return backward(plan, q, k, v, out, lse, g)


_attention.defvjp(attention_forward, attention_backward)
