"""`grouped_matmul` with quantised weights: a mixture of experts whose experts stay packed in memory.

The list of tiles of `grouped_matmul` pairs blocks of rows with experts; the expert's block is dequantised on its way into
the dot, as in `tilewright.numerics.scaled_dot`.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright import pallas as pl
from tilewright.numerics import QArray, extremes
from tilewright.numerics.gpu_dot import k_last
from tilewright.numerics.hitype import unboxed
from tilewright.numerics.operands import Operand, Side, in_planes, matrices, pad_k, read_planes, scratch, specs
from tilewright.numerics.swizzle import plain_scales
from tilewright.ops import calling, scaled_grouped_gpu, tiling
from tilewright.ops.grouped_matmul import own_rows, tiles_of
from tilewright.pallas import tpu
from tilewright.runtime.user_line import names_line


def _along_an_axis(weights: Any) -> Any:
  """Weights with one scale for all, as if that were along the axis that is contracted."""
  if not isinstance(weights, QArray) or weights.axis is not None or weights.ndim != 3:
    return weights
  axis = -1 if weights.format.width < 8 else -2
  return dataclasses.replace(weights, axis=axis, size=weights.shape[axis])


@names_line
def scaled_grouped_matmul(
  x: jax.Array,
  weights: Any,
  group_sizes: jax.Array,
  *,
  interpret: bool | None = None,
  native: bool | None = None,
) -> jax.Array:
  """For each group of rows of `x`, its product with the group's own quantised matrix.

  Args:
    x: `(m, k)` of float32, bfloat16 or float16; the rows of group 0 come first, then those of group 1, and so on.
    weights: a QArray `(groups, k, n)` scaled along axis 1, or `(groups, n, k)` scaled along axis 2, boxed or not; a global scale may be
      one for all or one for each group, and scales may be prepared. With one scale for the array it is `(groups, k, n)`, or
      `(groups, n, k)` of elements below 8 bits, which share bytes along the last axis.
    group_sizes: integers `(groups,)`: how many rows each group has. Rows that are left over give 0.
    interpret: True for the portable lowering on any backend.
    native: whether to compile native code; by default, on the CPU and on NVIDIA GPUs.

  Returns:
    An array of shape `(m, n)` and the dtype of `x`, accumulated in float32.
  """
  x = calling.floating("scaled_grouped_matmul", "x", x)
  group_sizes = calling.array("scaled_grouped_matmul", "group_sizes", group_sizes)
  weights = _along_an_axis(plain_scales(unboxed(weights)))
  if not isinstance(weights, QArray) or weights.ndim != 3 or weights.axis not in (-1, -2):
    raise errors.ShapeMismatchError(
      "scaled_grouped_matmul: weights must be a QArray of three dimensions scaled along axis 1 or 2, got "
      f"{weights if isinstance(weights, QArray) else type(weights).__name__}. Use grouped_matmul for plain arrays."
    )
  k = weights.shape[weights.axis]
  if x.ndim != 2 or x.shape[1] != k:
    raise errors.ShapeMismatchError(
      f"scaled_grouped_matmul: x must have shape (m, {k}) for weights {weights.shape}, got {x.shape}."
    )
  calling.shaped("scaled_grouped_matmul", "group_sizes", group_sizes, weights.shape[:1], "one size for each group")
  if not jnp.issubdtype(group_sizes.dtype, jnp.integer):
    raise errors.ShapeMismatchError(f"scaled_grouped_matmul: group_sizes must be integers, got {group_sizes.dtype}.")
  (m, _), num_groups, n = x.shape, weights.shape[0], weights.shape[-1 if weights.axis == -2 else -2]
  if 0 in (m, k, n, num_groups):
    return jnp.zeros((m, n), x.dtype)
  if native is None and not interpret and calling.platform() in ("gpu", "cuda"):
    native = True
  execution = calling.execution(interpret, native)
  arrays, side, _ = matrices(weights, weights.axis % 3, (0,), "weights")
  packed = Operand(side, arrays, weights.padded_size)
  rows = pad_k(Operand(Side(m, 1, True), (x[None],), k), packed.k)
  whole = jnp.ones((), jnp.float32) if weights.global_scale is None else weights.global_scale
  whole = jnp.broadcast_to(whole.reshape(-1, 1), (num_groups, 1))
  if execution.on_gpu and scaled_grouped_gpu.applies(rows, packed):
    return scaled_grouped_gpu.grouped(rows, k_last(packed), whole, group_sizes.astype(jnp.int32))
  plain = in_planes(rows, side.planes)
  block_m, block_n = tiling.divisor_near(m, 128), tiling.divisor_near(n, 256, 32)
  blocks, groups, starts = tiles_of(group_sizes.astype(jnp.int32), m, block_m)
  count, contract = side.planes, (((1,), (1 if side.k_last else 0,)), ((), ()))

  def kernel(blocks_ref: Any, groups_ref: Any, starts_ref: Any, x_ref: Any, w_ref: Any, s_ref: Any, *rest: Any) -> None:
    whole_ref, o_ref, *factors = rest
    t = pl.program_id(1)
    is_first = (t == 0) | (blocks_ref[jnp.maximum(t - 1, 0)] != blocks_ref[t])

    @pl.when(is_first)
    def _() -> None:
      o_ref[...] = jnp.zeros(o_ref.shape, o_ref.dtype)

    @pl.when(groups_ref[t] < num_groups)
    def _() -> None:
      def store(product: Any) -> None:
        scaled = product * whole_ref[0]
        own = own_rows(block_m, scaled.shape, t, blocks_ref, groups_ref, starts_ref)
        o_ref[...] = jnp.where(own, scaled.astype(o_ref.dtype), o_ref[...])

      def product() -> Any:
        left = read_planes(plain.side, [x_ref], [], count)
        right = read_planes(side, [w_ref, s_ref], factors, count)
        found = [jax.lax.dot_general(p, q, contract, preferred_element_type=jnp.float32) for p, q in zip(left, right)]
        return sum(found[1:], found[0])

      sides, refs = (plain.side, side), ([x_ref], [w_ref, s_ref])
      if execution.on_gpu or not extremes.has_powers(side, arrays):
        store(product())
        return
      is_extreme = extremes.are_extreme(sides, refs)
      pl.when(jnp.logical_not(is_extreme))(lambda: store(product()))
      shape = (block_m, block_n)
      pl.when(is_extreme)(lambda: store(extremes.total(sides, refs, shape, packed.k, count, contract)))

  group_of = lambda g, t: jnp.minimum(g[t], num_groups - 1)
  columns = arrays[1].shape[2 if side.k_last else 1]
  weight_specs = specs(side, block_n, packed.k, count, columns, lambda j, t, b, g, s: (group_of(g, t), j, 0))
  return pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
    grid_spec=tpu.PrefetchScalarGridSpec(
      num_scalar_prefetch=3,
      grid=(pl.cdiv(n, block_n), blocks.shape[0]),
      in_specs=[
        *specs(plain.side, block_m, packed.k, count, 1, lambda j, t, b, g, s: (0, b[t], 0)),
        *weight_specs,
        pl.BlockSpec((None, 1), lambda j, t, b, g, s: (group_of(g, t), 0)),
      ],
      out_specs=pl.BlockSpec((block_m, block_n), lambda j, t, b, g, s: (b[t], j)),
      scratch_shapes=scratch(side, arrays[1], weight_specs[1].block_shape[1:], count),
    ),
    name="scaled_grouped_matmul",
    **execution.options("parallel", "arbitrary"),
  )(blocks, groups, starts, *plain.arrays, *arrays, whole)
