"""Flash attention on NVIDIA GPUs: the algorithm of `attention`, laid out for tensor cores.

A thread block (CTA) takes a block of queries; blocks of keys and values are prefetched into shared memory. Scores are (queries, keys): a
row is held by four lanes, so that its maximum takes two shuffles, and the weights, rounded to the dtype of the values, are the left
operand of the second product directly from registers. Products of bfloat16 and float16 are exact and accumulated in float32; those of
float32 are computed in float32, without tensor cores.

Exponentials are powers of two, 2^(s · c - m · c) with c = scale · log2(e): so m is the maximum of the unscaled products, and the exponent
is one fused multiply-add. The logarithms that the backward kernels get are to base 2.

A block of queries sees a contiguous range of blocks of keys. The grid has as many steps as the longest such range, and steps past
the end of a range do nothing. Blocks that need no mask run without one: with causal attention only blocks along the diagonal are masked.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.ops.attention import NEVER, Plan, contract, masked, valid_rows
from tilewright.ops.rowwise import as_rows
from tilewright.pallas.call import with_form_for_hopper

LOG2E = math.log2(math.e)
_SCALES = (1e-6, 1e6)  # within which NEVER neither overflows nor comes near a score


@dataclasses.dataclass(frozen=True)
class Band:
  """Which of `count` blocks of `other` positions each block of `own` positions meets: those from `own - before` to `own + after`."""

  own: int
  other: int
  count: int
  before: int | None
  after: int | None

  def range(self, i: Any) -> tuple[Any, Any]:
    """The first and the last block; where there is none, the last comes before the first."""
    first, last = 0, self.count - 1
    if self.before is not None:
      first = _least(over(_maximum(i * self.own - self.before, 0), self.other), self.count)
    if self.after is not None:
      beyond = over(_maximum(i * self.own + self.own + self.after, 0) + self.other - 1, self.other)
      last = _least(beyond, self.count) - 1
    return first, last

  def at(self, i: Any, step: Any) -> Any:
    """The block of a step: steps past the last one revisit the last block."""
    first, last = self.range(i)
    return step if self.is_whole else jnp.maximum(jnp.minimum(first + step, last), 0)

  @property
  def is_whole(self) -> bool:
    """Whether every block meets every other block."""
    return self.before is None and self.after is None

  def steps(self, blocks: int) -> int:
    """The largest number of blocks that one of `blocks` blocks meets; at least one."""
    return max(1, *(int(last) - int(first) + 1 for first, last in map(self.range, range(blocks))))


# For Python numbers and traced ones. The target derives bounds of these, and so which blocks lie inside their arrays.
def _least(x: Any, y: int) -> Any:
  return min(x, y) if isinstance(x, int) else jnp.minimum(x, y)


def _maximum(x: Any, y: int) -> Any:
  return max(x, y) if isinstance(x, int) else jnp.maximum(x, y)


def over(x: Any, y: int) -> Any:
  """Of a number that is not negative."""
  return x // y if isinstance(x, int) else jax.lax.div(x, jnp.asarray(y, x.dtype)) if y > 1 else x


def keys_of(plan: Plan, keys: int) -> Band:
  """The blocks of keys that a block of queries meets."""
  before = None if plan.left is None else plan.left - plan.offset
  after = None if plan.right is None else plan.right + plan.offset
  return Band(plan.block_q, plan.block_k, pl.cdiv(keys, plan.block_k), before, after)


def queries_of(plan: Plan, queries: int) -> Band:
  """The blocks of queries that a block of keys meets."""
  before = None if plan.right is None else plan.right + plan.offset
  after = None if plan.left is None else plan.left - plan.offset
  return Band(plan.block_k, plan.block_q, pl.cdiv(queries, plan.block_q), before, after)


def is_unmasked(plan: Plan, i: Any, j: Any, keys: int) -> Any:
  """Whether every query of block `i` sees every key of block `j`; True if that is so for all blocks."""
  first_q, last_q = i * plan.block_q + plan.offset, i * plan.block_q + plan.block_q - 1 + plan.offset
  first_k, last_k = j * plan.block_k, j * plan.block_k + plan.block_k - 1
  found: Any = True
  if plan.right is not None:
    found = last_k <= first_q + plan.right
  if plan.left is not None:
    found = (first_k >= last_q - plan.left) & found
  if keys % plan.block_k:
    found = (last_k < keys) & found
  return found


def each_kind(
  plan: Plan, meets: Any, i: Any, j: Any, keys: int, step: Callable[[Callable[[jax.Array, int], jax.Array]], None]
) -> None:
  """Run a step where blocks meet, with a function that masks scores where that is needed: `mask(scores, keys_axis)`."""
  unmasked = is_unmasked(plan, i, j, keys)
  run = lambda condition: pl.when(condition) if condition is not True else lambda f: f()
  run(meets if unmasked is True else meets & unmasked)(lambda: step(lambda scores, keys_axis: scores))
  if unmasked is not True:
    mask = lambda scores, keys_axis: masked(plan, scores, i, j, keys, keys_axis=keys_axis)
    run(meets & jnp.logical_not(unmasked))(lambda: step(mask))


def in_steps(scale: float) -> tuple[float, float]:
  """A factor of the scores, and one of the exponents: the second is positive, and is the whole scale where that is possible."""
  return (1.0, scale) if _SCALES[0] < scale < _SCALES[1] else (scale, 1.0)


def scores_of(plan: Plan, x: jax.Array, y: jax.Array) -> jax.Array:
  """Products of rows, times the first factor."""
  scores, (factor, _) = contract(x, y, 1, 1), in_steps(plan.scale)
  return scores if factor == 1.0 else scores * np.float32(factor)


def to_base_2(plan: Plan) -> np.float32:
  """The factor of the scores that makes the weights powers of two."""
  return np.float32(in_steps(plan.scale)[1] * LOG2E)


@dataclasses.dataclass(frozen=True)
class QueryGrid:
  """The grid of a kernel that holds a block of queries and loops over the keys that it meets: (blocks, heads, steps)."""

  plan: Plan
  queries: int
  keys: int
  group: int  # heads of queries that share a head of keys

  @property
  def blocks(self) -> int:
    return pl.cdiv(self.queries, self.plan.block_q)

  @property
  def band(self) -> Band:
    return keys_of(self.plan, self.keys)

  @property
  def steps(self) -> int:
    return self.band.steps(self.blocks)

  def block(self, n: Any) -> Any:
    """In causal attention the last queries have the most work: they are scheduled first."""
    return n if self.plan.right is None else self.blocks - 1 - n

  def of_queries(self, depth: int) -> pl.BlockSpec:
    return pl.BlockSpec((None, self.plan.block_q, depth), lambda n, h, s: (h, self.block(n), 0))

  def of_keys(self, depth: int) -> pl.BlockSpec:
    passing = lambda n, h, s: (over(h, self.group), self.band.at(self.block(n), s), 0)
    return pl.BlockSpec((None, self.plan.block_k, depth), passing)

  def per_query(self) -> pl.BlockSpec:
    return pl.BlockSpec((None, self.plan.block_q), lambda n, h, s: (h, self.block(n)))


def forward(plan: Plan, q: jax.Array, k: jax.Array, v: jax.Array) -> tuple[jax.Array, jax.Array]:
  """The output (heads, queries, depth) and, per query, the logarithm to base 2 of the sum of exponentials (heads, queries)."""
  group = q.shape[1] // k.shape[1]
  q, k, v = (as_rows(x, 2) for x in (q, k, v))
  (heads, queries, depth), keys, value_depth = q.shape, k.shape[1], v.shape[2]
  block_q, block_k = plan.block_q, plan.block_k
  grid = QueryGrid(plan, queries, keys, group)
  band, steps, factor = grid.band, grid.steps, to_base_2(plan)

  def kernel(
    q_ref: Any, k_ref: Any, v_ref: Any, o_ref: Any, lse_ref: Any, m_ref: Any, l_ref: Any, acc_ref: Any
  ) -> None:
    i, s = grid.block(pl.program_id(0)), pl.program_id(2)
    first, last = band.range(i)
    j = first + s

    @pl.when(s == 0)
    def _() -> None:
      m_ref[...] = jnp.full(m_ref.shape, NEVER, jnp.float32)
      l_ref[...] = jnp.zeros(l_ref.shape, jnp.float32)
      acc_ref[...] = jnp.zeros(acc_ref.shape, jnp.float32)

    def step(mask: Callable[[jax.Array, int], jax.Array]) -> None:
      scores = mask(scores_of(plan, q_ref[...], k_ref[...]), 1)
      old = m_ref[...]
      m = jnp.maximum(old, jnp.max(scores, axis=1, keepdims=True))
      # Until a query has seen a key its weights are exp(0), of scores that do not count; they shrink to 0 with the first that does.
      weights, shrink = jnp.exp2(scores * factor - m * factor), jnp.exp2((old - m) * factor)
      l_ref[...] = l_ref[...] * shrink + jnp.sum(weights, axis=1, keepdims=True)
      values = valid_rows(v_ref[...], j, block_k, keys)
      acc_ref[...] = acc_ref[...] * shrink + contract(weights.astype(values.dtype), values, 1, 0)
      m_ref[...] = m

    each_kind(plan, True if band.is_whole else j <= last, i, j, keys, step)

    @pl.when(s == steps - 1)
    def _() -> None:
      m, l = m_ref[...], l_ref[...]
      alive = m > 0.5 * NEVER
      o_ref[...] = (acc_ref[...] * jnp.where(alive, 1.0 / l, 0.0)).astype(o_ref.dtype)
      lse_ref[...] = jnp.where(alive, m * factor + jnp.log(l) * LOG2E, -NEVER)[:, 0]

  f32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
  call = pl.pallas_call(
    kernel,
    out_shape=(jax.ShapeDtypeStruct((heads, queries, value_depth), q.dtype), f32(heads, queries)),
    grid=(grid.blocks, heads, steps),
    in_specs=[grid.of_queries(depth), grid.of_keys(depth), grid.of_keys(value_depth)],
    out_specs=(grid.of_queries(value_depth), grid.per_query()),
    scratch_shapes=[f32(block_q, 1), f32(block_q, 1), f32(block_q, value_depth)],
    name="attention",
    **plan.forward_how.options("parallel", "parallel", "arbitrary"),
  )
  with with_form_for_hopper(ByHand(plan) if plan.by_hand else None):
    return call(q, k, v)


@dataclasses.dataclass(frozen=True)
class ByHand:
  """Attention by the kernel of `attention_hopper`, of operands as `forward` gives them to its kernel."""

  plan: Plan

  def __call__(self, q: jax.Array, k: jax.Array, v: jax.Array) -> tuple[jax.Array, jax.Array]:
    from tilewright.ops import attention_hopper

    return attention_hopper.forward(self.plan, q[None], k[None], v[None])
