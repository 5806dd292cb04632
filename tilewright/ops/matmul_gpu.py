"""Tiling of matrix products on an NVIDIA GPU, and preprocessing of their operands.

Tensor cores are fed by copies of whole blocks, which need row pitches in multiples of sixteen bytes; blocks may extend past the edges.
So an operand with other rows is padded first, which is one pass over it, as XLA does. Operands of 32 bits are multiplied by warpgroups
(wgmma) only where K is the contiguous dimension of both: others are transposed first if there is enough work to pay for it.

Where there are too few blocks of the result for the device, K is split too (split-K), and the partial sums, in float32, are added at the
end, always in the same order.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright.ops import matmul_hopper, tiling
from tilewright.ops.tiling import GpuProduct

if TYPE_CHECKING:
  from tilewright.ops.matmul import Plan

_ROW = 16  # bytes
_WORTH_A_PASS = (
  512  # rows or columns that each element is multiplied with: from this many on, a pass over an operand is a small part
)


@dataclasses.dataclass(frozen=True)
class Cut:
  """How a product is computed: its blocks, and which operands are transposed first."""

  product: GpuProduct
  turns_x: bool = False
  turns_y: bool = False


@dataclasses.dataclass(frozen=True)
class ByHand:
  """A product by the kernel of `matmul_hopper`, of operands as `matmul.blocked` gives them to its kernel."""

  plan: Plan
  tiles: matmul_hopper.Tiles
  sizes: tuple[int, int, int]
  has_bias: bool
  has_factor: bool

  def __call__(self, x: jax.Array, y: jax.Array, *others: jax.Array) -> jax.Array:
    from tilewright.ops.matmul import finished

    plan = self.plan
    bias = others[0][0] if self.has_bias else None
    factor = others[-1] if self.has_factor else None
    finish, transposed = functools.partial(finished, plan), (plan.transpose_x, plan.transpose_y)
    return matmul_hopper.product(self.tiles, x, y, bias, factor, finish, plan.out_dtype, transposed, self.sizes)


def may_be_tf32(plan: Plan) -> bool:
  """Whether float32 operands may be rounded to tf32, and no other algorithm is requested."""
  given = plan.precision if isinstance(plan.precision, tuple) else (plan.precision,)
  exact = (lax.Precision.HIGHEST,)
  presets = (lax.DotAlgorithmPreset.DEFAULT, lax.DotAlgorithmPreset.TF32_TF32_F32)
  return not any(p in exact or (isinstance(p, lax.DotAlgorithmPreset) and p not in presets) for p in given)


def cut(plan: Plan, x: jax.Array, y: jax.Array) -> Cut | None:
  """How to cut a product that tensor cores multiply; None for others."""
  m, k = x.shape[::-1] if plan.transpose_x else x.shape
  n = y.shape[0 if plan.transpose_y else 1]
  if x.dtype.itemsize == 2:
    return Cut(tiling.gpu_product(m, n, k, 2, plan.batch))
  if x.dtype != np.float32 or not may_be_tf32(plan):
    return None
  turns_x, turns_y = plan.transpose_x, not plan.transpose_y
  pays = (not turns_x or n >= _WORTH_A_PASS) and (not turns_y or m >= _WORTH_A_PASS)
  if not pays:
    return Cut(tiling.gpu_product(m, n, k, 4, plan.batch, by_warps=True))
  return Cut(tiling.gpu_product(m, n, k, 4, plan.batch), turns_x, turns_y)


def call(
  plan: Plan, cut: Cut, x: jax.Array, y: jax.Array, bias: jax.Array | None, factor: jax.Array | None
) -> jax.Array:
  from tilewright.ops.matmul import blocked, finished

  m, k = x.shape[::-1] if plan.transpose_x else x.shape
  n = y.shape[0 if plan.transpose_y else 1]
  if cut.turns_x:
    x = x.T
  if cut.turns_y:
    y = y.T
  plan = dataclasses.replace(
    plan, transpose_x=plan.transpose_x != cut.turns_x, transpose_y=plan.transpose_y != cut.turns_y
  )
  x, y = in_whole_rows(x), in_whole_rows(y)
  product = cut.product
  if product.splits == 1:
    tiles = matmul_hopper.tiles_of(product.blocks, x.dtype.itemsize) if product.by_hand else None
    by_hand = None if tiles is None else ByHand(plan, tiles, (m, n, k), bias is not None, factor is not None)
    return blocked(plan, x, y, bias, factor, (m, n, k), product.blocks, on_hopper=by_hand)
  parts = blocked(plan, x, y, None, None, (m, n, k), product.blocks, product.splits)
  return finished(plan, jnp.sum(parts, axis=0), bias, factor)


def in_whole_rows(x: jax.Array) -> jax.Array:
  """A matrix with zeros at the end of its rows, so that they are whole multiples of sixteen bytes."""
  width = _ROW // x.dtype.itemsize
  missing = -x.shape[1] % width
  return x if missing == 0 else jnp.pad(x, ((0, 0), (0, missing)))
