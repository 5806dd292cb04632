"""`scaled_grouped_matmul` on an NVIDIA GPU: all tiles in parallel, elements decoded in registers.

A block of rows may span several groups, so each tile has its own block in the result of the kernel, and a gather selects for every row
the block of its group. With few rows for each group, a tile takes all of k: its weights are read once, as in a decoding step. With
many, k is the last dimension of the grid.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.numerics import words
from tilewright.numerics.gpu_dot import FEW, Order, data_width, order_of, parts_of, scale_block
from tilewright.numerics.operands import Operand, pad_k
from tilewright.ops.grouped_matmul import tiles_of
from tilewright.pallas import nvgpu, tpu

_DEPTH = 128


def applies(plain: Operand, packed: Operand) -> bool:
  return order_of(plain, packed) is not None


def grouped(plain: Operand, packed: Operand, whole: jax.Array, sizes: jax.Array) -> jax.Array:
  """(m, n) from rows (1, m, k), packed matrices (groups, n, k), and a factor for each group, (groups, 1)."""
  order = order_of(plain, packed)
  assert order is not None
  unit = int(np.lcm(_DEPTH, order.block))
  k = -(-packed.k // unit) * unit
  plain, packed = pad_k(plain, k), pad_k(packed, k)
  x = jnp.concatenate(parts_of(plain.arrays[0]), axis=0)  # (parts, m, k)
  m, num_groups = x.shape[1], packed.side.batch
  few = FEW // x.shape[0] // 8 * 8
  block = few if m <= 2 * few * num_groups else 128
  tiles = tiles_of(sizes, m, block)
  if block == few:
    out = _of_few_rows(x, packed, whole, tiles, block, order)
  else:
    out = _of_blocks(x, packed, whole, tiles, block, order)
  blocks, groups, starts = tiles
  row = jnp.arange(m, dtype=jnp.int32)
  group = jnp.searchsorted(starts[1:], row, side="right", method="compare_all").astype(jnp.int32)
  own = (blocks[None, :] == (row // block)[:, None]) & (groups[None, :] == group[:, None])
  found = out[jnp.argmax(own, axis=1), row % block]
  return jnp.where((group < num_groups)[:, None], found, 0).astype(plain.arrays[0].dtype)


def _factor(order: Order, packed: Operand) -> np.float32:
  return np.float32(words.epilogue_factor(order.format, packed.arrays[1].dtype))


def _scale_spec(packed: Operand, rows: int, k: int, order: Order, place: Any) -> Any:
  _, own_rows, own_columns = packed.arrays[1].shape
  each = packed.arrays[1].shape[0] > 1

  def at(*grid: Any) -> Any:
    g, j, l = place(*grid)
    return (g if each else 0), (j if own_rows > 1 else 0), (l if own_columns > 1 else 0)

  return pl.BlockSpec((None, *scale_block(packed.arrays, rows, k, order.block)), at)


def _of_few_rows(x: Any, packed: Operand, whole: Any, tiles: Any, block: int, order: Order) -> jax.Array:
  parts, _, k = x.shape
  n, num_groups, f = packed.side.rows, packed.side.batch, order.format
  bn = 32

  def kernel(
    b_ref: Any, g_ref: Any, t_ref: Any, x_ref: Any, w_ref: Any, s_ref: Any, whole_ref: Any, o_ref: Any
  ) -> None:
    p = words.arranged(x_ref[...].reshape(parts * block, k), f, order.block)
    q = words.decoded(w_ref[...], s_ref[...], f, order.block)
    axes = tuple(range(1, p.ndim))
    total = jax.lax.dot_general(p, q, ((axes, axes), ((), ())), preferred_element_type=jnp.float32)
    if parts > 1:
      total = jnp.sum(total.reshape(parts, block, bn), axis=0)
    o_ref[...] = total * (whole_ref[0] * _factor(order, packed))

  of = lambda g, t: jnp.minimum(g[t], num_groups - 1)
  place = lambda t, j, b, g, s: (of(g, t), j, 0)
  return pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct((tiles[0].shape[0], block, n), jnp.float32),
    grid_spec=tpu.PrefetchScalarGridSpec(
      num_scalar_prefetch=3,
      grid=(tiles[0].shape[0], pl.cdiv(n, bn)),
      in_specs=[
        pl.BlockSpec((parts, block, k), lambda t, j, b, g, s: (0, b[t], 0)),
        pl.BlockSpec((None, bn, data_width(f, k)), place),
        _scale_spec(packed, bn, k, order, place),
        pl.BlockSpec((None, 1), lambda t, j, b, g, s: (of(g, t), 0)),
      ],
      out_specs=pl.BlockSpec((None, block, bn), lambda t, j, b, g, s: (t, 0, j)),
    ),
    name="scaled_grouped_matmul",
    compiler_params=nvgpu.CompilerParams(dimension_semantics=("parallel", "parallel"), num_warps=8),
  )(*tiles, x, *packed.arrays, whole)


def _of_blocks(x: Any, packed: Operand, whole: Any, tiles: Any, block: int, order: Order) -> jax.Array:
  parts, m, k = x.shape
  n, num_groups, f = packed.side.rows, packed.side.batch, order.format
  bn, bk = 128, int(np.lcm(_DEPTH, order.block))
  x = words.arranged(x.reshape(parts * m, k), f, order.block).reshape(parts, m, k)

  def kernel(b_ref: Any, g_ref: Any, t_ref: Any, *refs: Any) -> None:
    *x_refs, w_ref, s_ref, whole_ref, o_ref, acc_ref = refs

    @pl.when(pl.program_id(2) == 0)
    def _() -> None:
      acc_ref[...] = jnp.zeros(acc_ref.shape, acc_ref.dtype)

    q = words.decoded(w_ref[...], s_ref[...], f, order.block).reshape(bn, bk)
    for x_ref in x_refs:
      acc_ref[...] += jax.lax.dot_general(x_ref[...], q, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)

    @pl.when(pl.program_id(2) == k // bk - 1)
    def _() -> None:
      o_ref[...] = acc_ref[...] * (whole_ref[0] * _factor(order, packed))

  of = lambda g, t: jnp.minimum(g[t], num_groups - 1)
  place = lambda t, j, l, b, g, s: (of(g, t), j, l)
  return pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct((tiles[0].shape[0], block, n), jnp.float32),
    grid_spec=tpu.PrefetchScalarGridSpec(
      num_scalar_prefetch=3,
      grid=(tiles[0].shape[0], pl.cdiv(n, bn), k // bk),
      in_specs=[
        *[pl.BlockSpec((block, bk), lambda t, j, l, b, g, s: (b[t], l))] * parts,
        pl.BlockSpec((None, bn, data_width(f, bk)), place),
        _scale_spec(packed, bn, bk, order, place),
        pl.BlockSpec((None, 1), lambda t, j, l, b, g, s: (of(g, t), 0)),
      ],
      out_specs=pl.BlockSpec((None, block, bn), lambda t, j, l, b, g, s: (t, 0, j)),
      scratch_shapes=[jax.ShapeDtypeStruct((block, bn), jnp.float32)],
    ),
    name="scaled_grouped_matmul",
    compiler_params=nvgpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")),
  )(*tiles, *x, *packed.arrays, whole)
