"""Flash attention, forward, for Hopper GPUs (sm_90a), written by hand: warpgroups of different roles, products beside softmax.

A CTA takes a block of queries of one head, 64 for each consumer warpgroup. The producer copies the queries, and blocks of keys and values,
by TMA. The algorithm is that of `attention_gpu`; what differs is when things happen. A consumer starts the scores of the next block before
the weighted values of this one, and computes the next weights while tensor cores work on the latter:

    tensor cores     s₁ = q k₁ᵀ    o += p₀ v₀    s₂ = q k₂ᵀ    o += p₁ v₁
    other units      p₀ ……………      p₁ = softmax(s₁) ………        p₂ = softmax(s₂)

Consumers alternate in starting products, so that the softmax of one runs beside the products of another. Blocks of keys are taken from the
last one that is seen to the first: those that need a mask come first, and the loop over the others has none.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import pallas as pl
from tilewright.ops.attention import NEVER, Plan
from tilewright.ops.attention_gpu import LOG2E, in_steps, to_base_2
from tilewright.ops.rowwise import as_rows
from tilewright.pallas import mosaic_gpu as plgpu

ROWS = 64  # queries of a consumer
_SWIZZLE, _WIDE = 128, 64  # bytes, and halves, of a row of a tile in shared memory
_ROW = 8  # halves, of which rows in global memory are multiples
_DEEPEST = 128  # with more, the accumulators of a consumer exceed its registers
_SHARED, _BARRIERS = 232_448, 1024  # bytes of a CTA, and those of its barriers
_CACHED = 24 << 20  # bytes of keys and values that stay in L2


@dataclasses.dataclass(frozen=True)
class Tiles:
  """The blocks of a CTA: `consumers` times 64 queries, and `block_k` keys at a time in a ring of `stages`."""

  consumers: int
  block_k: int
  stages: int = 2
  takes_turns: bool = True

  @property
  def block_q(self) -> int:
    return ROWS * self.consumers

  def shared_bytes(self, depth: int, value_depth: int) -> int:
    of_queries = self.block_q * (_whole(depth) + _whole(value_depth))
    return 2 * (of_queries + self.stages * self.block_k * (_whole(depth) + _whole(value_depth))) + _BARRIERS

  @property
  def registers(self) -> tuple[int, int]:
    """Of a thread of the producer, and of a consumer: 512 in all for one thread of each warpgroup."""
    return {1: (40, 240), 2: (24, 240), 3: (32, 160)}[self.consumers]


def tiles_of(plan: Plan) -> Tiles:
  return Tiles(plan.block_q // ROWS, plan.block_k)


def is_possible(q: Any, k: Any, v: Any, left: int | None, block_q: int, block_k: int) -> bool:
  """Whether the kernel computes attention of such arrays in such blocks: halves, in rows that TMA copies, seen from the first key on."""
  depths = (q.shape[-1], v.shape[-1])
  if left is not None or q.dtype.itemsize != 2 or any(d % _ROW or d > _DEEPEST for d in depths) or block_q % ROWS:
    return False
  tiles = Tiles(block_q // ROWS, block_k)
  return 1 <= tiles.consumers <= 3 and block_k % _ROW == 0 and tiles.shared_bytes(*depths) <= _SHARED


def _whole(depth: int) -> int:
  """Elements of a row in shared memory."""
  return -(-depth // _WIDE) * _WIDE


def forward(
  plan: Plan, q: jax.Array, k: jax.Array, v: jax.Array, tiles: Tiles | None = None
) -> tuple[jax.Array, jax.Array]:
  """The output (heads, queries, depth) and, per query, the logarithm to base 2 of the sum of exponentials (heads, queries)."""
  tiles = tiles_of(plan) if tiles is None else tiles
  group = q.shape[1] // k.shape[1]
  q, k, v = (as_rows(x, 2) for x in (q, k, v))
  (heads, queries, depth), keys, value_depth = q.shape, k.shape[1], v.shape[2]
  block_q, block_k, stages, consumers = tiles.block_q, tiles.block_k, tiles.stages, tiles.consumers
  blocks = pl.cdiv(queries, block_q)
  (factor, _), base = in_steps(plan.scale), to_base_2(plan)
  own = _Seen(plan, tiles, keys)
  together = _heads_together(heads, group * _CACHED // max(1, keys * (depth + value_depth) * k.dtype.itemsize))

  def place(number: Any) -> tuple[Any, Any]:
    """Block and head of a CTA: heads whose keys fit L2 together, and of these the longest rows first."""
    part = number // (together * blocks)
    inside = number - part * together * blocks
    count = jnp.minimum(together, heads - part * together)
    block, head = inside // count, part * together + inside % count
    return (block if plan.right is None else blocks - 1 - block), head

  def body(q_ref: Any, k_ref: Any, v_ref: Any, o_ref: Any, lse_ref: Any, **memory: Any) -> None:
    wg = lax.axis_index("wg")
    i, head = place(lax.axis_index("cta"))
    last = own.last(i)
    count = last + 1
    q_smem, k_smem, v_smem = memory["q_smem"], memory["k_smem"], memory["v_smem"]
    q_full, k_full, v_full = memory["q_full"], memory["k_full"], memory["v_full"]
    k_empty, v_empty, turn = memory["k_empty"], memory["v_empty"], memory["turn"]
    slot_of = lambda step: lax.rem(step, jnp.int32(stages))

    @pl.when(wg == consumers)
    def _() -> None:
      plgpu.set_max_registers(tiles.registers[0], action="decrease")
      for consumer in range(consumers):
        part = q_ref.at[head, pl.ds(i * block_q + consumer * ROWS, ROWS), pl.ds(0, _whole(depth))]
        plgpu.copy_gmem_to_smem(part, q_smem.at[consumer], q_full.at[consumer])

      @pl.loop(0, count)
      def _(step: Any) -> None:
        slot, rows = slot_of(step), pl.ds((last - step) * block_k, block_k)
        for ref, smem, full, empty in ((k_ref, k_smem, k_full, k_empty), (v_ref, v_smem, v_full, v_empty)):
          pl.when(step >= stages)(functools.partial(plgpu.barrier_wait, empty.at[slot]))
          part = ref.at[lax.div(head, jnp.int32(group)), rows, pl.ds(0, smem.shape[-1])]
          plgpu.copy_gmem_to_smem(part, smem.at[slot], full.at[slot])

    @pl.when(wg != consumers)
    def _() -> None:
      plgpu.set_max_registers(tiles.registers[1], action="increase")
      first_q = i * block_q + wg * ROWS

      def await_turn() -> None:
        if tiles.takes_turns and consumers > 1:
          plgpu.barrier_wait(turn.at[wg])

      def end_turn() -> None:
        if tiles.takes_turns and consumers > 1:
          plgpu.barrier_arrive(turn.at[lax.rem(wg + 1, jnp.int32(consumers))])

      def start_scores(acc: Any, step: Any) -> None:
        slot = slot_of(step)
        plgpu.barrier_wait(k_full.at[slot])
        plgpu.wgmma(acc, q_smem.at[wg], plgpu.transpose_ref(k_smem.at[slot], (1, 0)))

      def start_values(acc: Any, weights: Any, step: Any) -> None:
        slot = slot_of(step)
        plgpu.barrier_wait(v_full.at[slot])
        plgpu.wgmma(acc, weights, v_smem.at[slot])

      def softmax(scores: Any, step: Any, m: Any, l: Any, is_masked: bool) -> tuple[Any, Any, Any, Any]:
        scores = scores if factor == 1.0 else scores * factor
        if is_masked:
          scores = own.masked(scores, first_q, (last - step) * block_k)
        new = jnp.maximum(m, jnp.max(scores, axis=1))
        # Until a query has seen a key its weights are exp(0), of scores that do not count; they shrink to 0 with the first that does.
        weights = jnp.exp2(scores * base - (new * base)[:, None])
        shrink = jnp.exp2((m - new) * base)
        return new, l * shrink + jnp.sum(weights, axis=1), weights.astype(v.dtype), shrink

      def attend(out: Any) -> None:
        pl.when(wg == consumers - 1)(end_turn)  # the first one begins
        plgpu.barrier_wait(q_full.at[wg])

        def first(acc: Any) -> Any:
          await_turn()
          start_scores(acc, jnp.int32(0))
          end_turn()
          plgpu.wgmma_wait(0)
          plgpu.barrier_arrive(k_empty.at[0])
          return acc[...]

        m, l = jnp.full((ROWS,), NEVER, jnp.float32), jnp.zeros((ROWS,), jnp.float32)
        scores = pl.run_scoped(first, plgpu.ACC((ROWS, block_k), jnp.float32))
        m, l, weights, _ = softmax(scores, jnp.int32(0), m, l, own.is_masked)

        def step_of(is_masked: bool) -> Callable[[Any, Any], Any]:
          def step(n: Any, carry: Any) -> Any:
            m, l, weights = carry

            def scored(acc: Any) -> Any:
              await_turn()
              start_scores(acc, n)
              start_values(out, weights, n - 1)
              end_turn()
              plgpu.wgmma_wait(1)
              plgpu.barrier_arrive(k_empty.at[slot_of(n)])
              return softmax(acc[...], n, m, l, is_masked)

            m, l, weights, shrink = pl.run_scoped(scored, plgpu.ACC((ROWS, block_k), jnp.float32))
            plgpu.wgmma_wait(0)
            plgpu.barrier_arrive(v_empty.at[slot_of(n - 1)])
            out[...] = out[...] * shrink[:, None]
            return m, l, weights

          return step

        masked = own.masked_blocks(i, last)
        carry: Any = (m, l, weights)
        if own.may_mask_again:
          carry = lax.fori_loop(1, masked, step_of(True), carry)
        m, l, weights = lax.fori_loop(masked, count, step_of(False), carry)
        start_values(out, weights, last)
        plgpu.wgmma_wait(0)
        alive = m > 0.5 * NEVER
        o_smem = memory["o_smem"].at[wg]
        o_smem[...] = (out[...] * jnp.where(alive, 1.0 / l, 0.0)[:, None]).astype(q.dtype)
        plgpu.commit_smem()
        rows = pl.ds(first_q, ROWS)
        plgpu.copy_smem_to_gmem(o_smem, o_ref.at[head, rows, pl.ds(0, o_smem.shape[-1])])
        lse_ref[head, rows] = jnp.where(alive, m * base + jnp.log(l) * LOG2E, -NEVER)
        plgpu.wait_smem_to_gmem(0)

      pl.run_scoped(attend, plgpu.ACC((ROWS, _whole(value_depth)), jnp.float32))

  def block(*shape: int) -> Any:
    transforms = (plgpu.TilingTransform((shape[-2], _WIDE)), plgpu.SwizzleTransform(_SWIZZLE))
    return plgpu.SMEM(shape, q.dtype, transforms=transforms)

  ring, each = (plgpu.Barrier(num_barriers=n) for n in (stages, consumers))
  released = plgpu.Barrier(num_arrivals=consumers, num_barriers=stages)
  return plgpu.kernel(
    body,
    out_type=(
      jax.ShapeDtypeStruct((heads, queries, value_depth), q.dtype),
      jax.ShapeDtypeStruct((heads, queries), jnp.float32),
    ),
    grid=(blocks * heads,),
    grid_names=("cta",),
    num_threads=consumers + 1,
    thread_name="wg",
    kernel_name="attention_hopper",
    scratch_types=dict(
      q_smem=block(consumers, ROWS, _whole(depth)),
      o_smem=block(consumers, ROWS, _whole(value_depth)),
      k_smem=block(stages, block_k, _whole(depth)),
      v_smem=block(stages, block_k, _whole(value_depth)),
      q_full=each,
      k_full=ring,
      v_full=ring,
      k_empty=released,
      v_empty=released,
      turn=each,
    ),
  )(q, k, v)


def _heads_together(heads: int, most: int) -> int:
  return max(1, min(heads, most))


@dataclasses.dataclass(frozen=True)
class _Seen:
  """Which blocks of keys a block of queries sees, from the first one on; all of them, or those up to its own position (`plan.right`)."""

  plan: Plan
  tiles: Tiles
  keys: int

  @property
  def blocks(self) -> int:
    return pl.cdiv(self.keys, self.tiles.block_k)

  @property
  def is_ragged(self) -> bool:
    return self.keys % self.tiles.block_k != 0

  @property
  def is_masked(self) -> bool:
    """Whether the last block that is seen may need a mask."""
    return self.plan.right is not None or self.is_ragged

  @property
  def may_mask_again(self) -> bool:
    """Whether blocks before it may need one too."""
    return self.plan.right is not None

  @property
  def _ahead(self) -> int:
    assert self.plan.right is not None
    return self.plan.offset + self.plan.right

  def last(self, i: Any) -> Any:
    """The last block that block `i` of queries sees, at least the first."""
    if self.plan.right is None:
      return jnp.int32(self.blocks - 1)
    seen = (i + 1) * self.tiles.block_q - 1 + self._ahead
    return jnp.clip(lax.div(jnp.maximum(seen, 0), jnp.int32(self.tiles.block_k)), 0, self.blocks - 1)

  def masked_blocks(self, i: Any, last: Any) -> Any:
    """How many blocks, from the last one backwards, need a mask, and at least one."""
    if self.plan.right is None:
      return jnp.int32(1)
    # All queries see a block if the first one sees its last key.
    whole = lax.div(jnp.maximum(i * self.tiles.block_q + self._ahead + 1, 0), jnp.int32(self.tiles.block_k))
    if self.is_ragged:
      whole = jnp.minimum(whole, self.blocks - 1)
    return jnp.clip(last + 1 - whole, 1, last + 1)

  def masked(self, scores: jax.Array, first_q: Any, first_k: Any) -> jax.Array:
    key = first_k + lax.broadcasted_iota(jnp.int32, scores.shape, 1)
    seen: Any = key < self.keys if self.is_ragged else True
    if self.plan.right is not None:
      seen = (key - lax.broadcasted_iota(jnp.int32, scores.shape, 0) <= first_q + self._ahead) & seen
    return jnp.where(seen, scores, NEVER)
