"""Matrix products with a fused epilogue: act(x @ y + bias).

The grid iterates over blocks of the result, and along K within each. Partial sums are accumulated in the result itself if it has the
accumulator's dtype, else in scratch memory; bias and activation are applied in the last step along K, while the block is in the cache.
Transposed operands are read in place: only the block specs and the contracted dimension change.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright import pallas as pl
from tilewright.ops import calling, matmul_gpu, spaces, tiling
from tilewright.ops.activations import activation_of, derivative
from tilewright.ops.calling import Execution
from tilewright.ops.result_shape import reshaped
from tilewright.ops.rowwise import as_rows, elementwise
from tilewright.ops.tiling import MatmulBlocks
from tilewright.pallas.call import with_form_for_hopper
from tilewright.runtime import jit
from tilewright.runtime.user_line import names_line

_DTYPES = (*calling.FLOATS, np.dtype(jnp.int8))
JOINED = (np.dtype(jnp.bfloat16), np.dtype(jnp.int8))  # that CPU instructions multiply several at a time


@dataclasses.dataclass(frozen=True)
class Plan:
  """The static part of a matrix product."""

  execution: Execution
  transpose_x: bool = False
  transpose_y: bool = False
  activation: str | None = None
  out_dtype: Any = None
  blocks: MatmulBlocks | None = None
  batch: int = 1  # products of this kind that run side by side
  precision: Any = None


@names_line
def matmul(
  x: jax.Array,
  y: jax.Array,
  bias: jax.Array | None = None,
  *,
  activation: str | None = None,
  transpose_x: bool = False,
  transpose_y: bool = False,
  out_dtype: Any = None,
  blocks: tuple[int, int, int] | None = None,
  precision: Any = None,
  interpret: bool | None = None,
  native: bool | None = None,
) -> jax.Array:
  """activation(x @ y + bias), accumulated in float32 (int8: in int32).

  On NVIDIA GPUs, products of float32 are rounded to tf32 unless `precision` or `jax_default_matmul_precision` says otherwise, as XLA's are.

  Args:
    x: `(..., m, k)`, or `(..., k, m)` with `transpose_x`: float32, bfloat16, float16 or int8.
    y: `(k, n)`, or `(n, k)` with `transpose_y`, of the dtype of `x`; with leading dimensions, they must be those of `x`.
    bias: `(n,)`, added to each row.
    activation: "gelu" (tanh form), "gelu_exact", "silu", "relu" or "tanh".
    transpose_x: whether `x` is given with its last two dimensions transposed.
    transpose_y: the same for `y`.
    out_dtype: of the result; by default that of `x`, or int32 for int8.
    blocks: sizes of the blocks along m, n and k; by default chosen from the shapes and the host's caches.
    precision: of float32 products, as in `jax.lax.dot_general`: "highest" for exact ones, or an algorithm, as "BF16_BF16_F32_X3".
    interpret: True for the portable lowering on any backend.
    native: whether to compile native code; by default, on the CPU and on NVIDIA GPUs.
  """
  x, y = calling.array("matmul", "x", x, min_rank=2), calling.array("matmul", "y", y, min_rank=2)
  _check_operands(x, y, transpose_x, transpose_y)
  integers = x.dtype == jnp.int8
  out_dtype = np.dtype(out_dtype) if out_dtype is not None else np.dtype(jnp.int32) if integers else x.dtype
  if integers and (bias is not None or activation is not None):
    raise errors.ShapeMismatchError("matmul: bias and activation need floats, but x is int8. Apply them to the result.")
  activation_of("matmul", activation)
  n = y.shape[-2 if transpose_y else -1]
  if bias is not None:
    bias = calling.floating("matmul", "bias", bias)
    calling.shaped("matmul", "bias", bias, (n,), "the columns of the result")
  if blocks is not None and (len(blocks) != 3 or any(b < 1 for b in blocks)):
    raise errors.ShapeMismatchError(f"matmul: blocks must be three positive sizes (m, n, k), got {blocks}.")
  chosen = None if blocks is None else MatmulBlocks(*blocks)
  execution = calling.execution(interpret, native)
  plan = Plan(execution, transpose_x, transpose_y, activation, out_dtype, chosen, precision=_precision_of(precision))

  if y.ndim > 2:
    batch = x.shape[:-2]
    one = functools.partial(_matmul, dataclasses.replace(plan, batch=math.prod(batch)))
    flat = jax.vmap(lambda a, b: one(a, b, bias))(as_rows(x, 2), as_rows(y, 2))
    return reshaped(flat, (*batch, *flat.shape[1:]))
  if x.ndim == 2:
    return _matmul(plan, x, y, bias)
  if transpose_x:
    flat = jax.vmap(lambda a: _matmul(plan, a, y, bias))(as_rows(x, 2))
    return reshaped(flat, (*x.shape[:-2], *flat.shape[1:]))
  return reshaped(_matmul(plan, as_rows(x), y, bias), (*x.shape[:-1], n))


def _precision_of(precision: Any) -> Any:
  """What `precision` means where the op is called: JAX's default where it is left out."""
  try:
    traced = jax.make_jaxpr(lambda x: jax.lax.dot(x, x, precision=precision))(jnp.zeros((1, 1), jnp.float32))
  except ValueError as error:
    raise errors.NumberFormatError(
      "matmul: precision must be None, a jax.lax.Precision, a jax.lax.DotAlgorithm, the name of one, or a pair of precisions, "
      f'got {precision!r}. For exact products of float32 write precision="highest".'
    ) from error
  return traced.eqns[0].params["precision"]


def _check_operands(x: jax.Array, y: jax.Array, transpose_x: bool, transpose_y: bool) -> None:
  for name, z in (("x", x), ("y", y)):
    if z.dtype not in _DTYPES:
      raise errors.ShapeMismatchError(f"matmul: {name} must be float32, bfloat16, float16 or int8, got {z.dtype}.")
  if x.dtype != y.dtype:
    raise errors.ShapeMismatchError(
      f"matmul: x and y must have one dtype, got {x.dtype} and {y.dtype}. Convert one of them."
    )
  if y.ndim > 2 and x.shape[:-2] != y.shape[:-2]:
    raise errors.ShapeMismatchError(
      f"matmul: the leading dimensions of y must be those of x, or none, got shapes {x.shape} and {y.shape}."
    )
  k, other = x.shape[-2 if transpose_x else -1], y.shape[-1 if transpose_y else -2]
  if k != other:
    hint = " Is an operand transposed? Then pass transpose_x or transpose_y." if k in y.shape[-2:] else ""
    raise errors.ShapeMismatchError(
      f"matmul: x has {k} elements along the contracted dimension and y has {other}: shapes {x.shape} and {y.shape}.{hint}"
    )


# --- the kernel --------------------------------------------------------------------------------------------------


def _sizes(plan: Plan, x: jax.Array, y: jax.Array) -> tuple[int, int, int]:
  m, k = x.shape[::-1] if plan.transpose_x else x.shape
  return m, y.shape[0 if plan.transpose_y else 1], k


def _chosen_blocks(plan: Plan, m: int, n: int, k: int, dtype: np.dtype) -> MatmulBlocks:
  """The default blocks. Short ones pay off in native code on the CPU, where a step along K costs almost nothing."""
  if plan.execution.on_gpu:
    return tiling.gpu_matmul_blocks(m, n, k, dtype.itemsize)
  few = None
  if not plan.transpose_y and not plan.execution.interpret and calling.platform() == "cpu":
    few = tiling.few_rows_blocks(m, n, k, dtype.itemsize)
  joined = dtype in JOINED
  return few or tiling.matmul_blocks(
    m, n, k, on_the_way=not plan.transpose_y and not joined, in_tiles=joined and jit.tile_registers_permitted()
  )


def call(plan: Plan, x: jax.Array, y: jax.Array, bias: jax.Array | None, factor: jax.Array | None = None) -> jax.Array:
  """activation(x @ y + bias) * factor, where `factor` has the shape of the result."""
  m, n, k = _sizes(plan, x, y)
  if 0 in (m, n):
    return jnp.zeros((m, n), plan.out_dtype)
  if k == 0:
    x, y = (jnp.zeros([d or 1 for d in z.shape], z.dtype) for z in (x, y))
    k = 1
  blocks, execution = plan.blocks, plan.execution
  if blocks is None:
    transposed = (plan.transpose_x, plan.transpose_y)
    tuned, execution = spaces.matmul_blocks(execution, plan.batch, m, n, k, y.dtype, transposed, plan.precision)
    if execution.on_gpu and (cut := matmul_gpu.cut(plan, x, y)) is not None:
      cut = dataclasses.replace(cut, product=tuned or cut.product)
      return matmul_gpu.call(dataclasses.replace(plan, execution=execution), cut, x, y, bias, factor)
    blocks = tuned.blocks if tuned is not None else _chosen_blocks(plan, m, n, k, y.dtype)
  plan = dataclasses.replace(plan, execution=execution)
  bm, bn, bk = min(blocks.m, m), min(blocks.n, n), min(blocks.k, k)
  return blocked(plan, x, y, bias, factor, (m, n, k), MatmulBlocks(bm, bn, bk))


def finished(plan: Plan, total: jax.Array, bias: jax.Array | None, factor: jax.Array | None) -> jax.Array:
  """The epilogue, applied to the accumulator."""
  activation = activation_of("matmul", plan.activation)
  if bias is not None:
    total = total + bias.astype(total.dtype)
  if activation is not None:
    total = activation(total)
  if factor is not None:
    total = total * factor.astype(total.dtype)
  return total.astype(plan.out_dtype)


def blocked(
  plan: Plan,
  x: jax.Array,
  y: jax.Array,
  bias: jax.Array | None,
  factor: jax.Array | None,
  sizes: tuple[int, int, int],
  blocks: MatmulBlocks,
  splits: int = 1,
  on_hopper: Callable[..., jax.Array] | None = None,
) -> jax.Array:
  """The kernel, for a product of sizes (m, n, k); the arrays may have more, if that is zero along k.

  With `splits` (split-K), the result is `(splits, m, n)` partial sums over that many parts of K, without an epilogue.
  """
  m, n, k = sizes
  bm, bn, bk = blocks.m, blocks.n, blocks.k
  accumulator = jnp.float32 if x.dtype != jnp.int8 else jnp.int32
  out_dtype = np.dtype(plan.out_dtype if splits == 1 else accumulator)
  steps = -(-pl.cdiv(k, bk) // splits)
  in_place = out_dtype == np.dtype(accumulator)
  contract = (((0 if plan.transpose_x else 1,), (1 if plan.transpose_y else 0,)), ((), ()))
  along_k = [z.shape[axes[0]] for z, axes in zip((x, y), contract[0])]

  def block_of_k(*ids: Any) -> Any:
    """The block along K of a point of the grid, of which the last dimension goes along K."""
    return ids[-1] if splits == 1 else ids[0] * steps + ids[-1]

  def within(z: jax.Array, side: int) -> jax.Array:
    """The last block along K with zeros past the end, where there is poison."""
    if along_k[side] % bk == 0 and steps * splits * bk <= along_k[side]:
      return z
    ids = [pl.program_id(d) for d in range(3 if splits == 1 else 4)]
    place = block_of_k(*ids) * bk + jax.lax.broadcasted_iota(jnp.int32, z.shape, contract[0][side][0])
    return jnp.where(place < along_k[side], z, jnp.zeros((), z.dtype))

  def kernel(*refs: Any) -> None:
    x_ref, y_ref, *rest = refs
    bias_ref = rest.pop(0) if bias is not None else None
    factor_ref = rest.pop(0) if factor is not None else None
    o_ref, acc_ref = rest[0], rest[-1]
    step = pl.program_id(2 if splits == 1 else 3)

    def finish(total: jax.Array) -> jax.Array:
      if splits > 1:
        return total
      more = [None if ref is None else ref[...] for ref in (bias_ref, factor_ref)]
      return finished(plan, total, more[0], more[1])

    product = jax.lax.dot_general(
      within(x_ref[...], 0),
      within(y_ref[...], 1),
      contract,
      precision=plan.precision,
      preferred_element_type=accumulator,
    )
    if steps == 1:
      o_ref[...] = finish(product)
      return

    @pl.when(step == 0)
    def _() -> None:
      acc_ref[...] = jnp.zeros(acc_ref.shape, acc_ref.dtype)

    acc_ref[...] += product
    if bias is not None or plan.activation is not None or factor is not None or not in_place:

      @pl.when(step == steps - 1)
      def _() -> None:
        o_ref[...] = finish(acc_ref[...])

  def spec(shape: tuple[int, int], place: Callable[[Any, Any, Any], tuple[Any, Any]]) -> pl.BlockSpec:
    return pl.BlockSpec(shape, lambda *ids: place(ids[-3], ids[-2], block_of_k(*ids)))

  x_spec = spec((bk, bm), lambda i, j, l: (l, i)) if plan.transpose_x else spec((bm, bk), lambda i, j, l: (i, l))
  y_spec = spec((bn, bk), lambda i, j, l: (j, l)) if plan.transpose_y else spec((bk, bn), lambda i, j, l: (l, j))
  biases = [] if bias is None else [bias[None, :]]
  factors = [] if factor is None else [factor]
  of_result = spec((bm, bn), lambda i, j, l: (i, j))
  of_parts = pl.BlockSpec((None, bm, bn), lambda s, i, j, l: (s, i, j))
  front, parallel = ((), ()) if splits == 1 else ((splits,), ("parallel",))
  call = pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct((*front, m, n), out_dtype),
    grid=(*front, pl.cdiv(m, bm), pl.cdiv(n, bn), steps),
    in_specs=[
      *(x_spec, y_spec),
      *[spec((1, bn), lambda i, j, l: (0, j))] * len(biases),
      *[of_result] * len(factors),
    ],
    out_specs=of_result if splits == 1 else of_parts,
    scratch_shapes=[] if in_place or steps == 1 else [jax.ShapeDtypeStruct((bm, bn), accumulator)],
    name="matmul",
    **plan.execution.options(*parallel, "parallel", "parallel", "arbitrary"),
  )
  with with_form_for_hopper(on_hopper):
    return call(x, y, *biases, *factors)


# --- derivatives -------------------------------------------------------------------------------------------------


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _matmul(plan: Plan, x: jax.Array, y: jax.Array, bias: jax.Array | None) -> jax.Array:
  return call(plan, x, y, bias)


def _forward(plan: Plan, x: jax.Array, y: jax.Array, bias: jax.Array | None) -> tuple[jax.Array, Any]:
  if plan.activation is None:
    return call(plan, x, y, bias), (x, y, bias, None)
  # The activation's slope needs what it was applied to.
  before = call(dataclasses.replace(plan, activation=None, out_dtype=np.dtype(jnp.float32)), x, y, bias)
  activation = activation_of("matmul", plan.activation)
  assert activation is not None
  (after,) = elementwise(activation, plan.execution, plan.activation, before)
  return after.astype(plan.out_dtype), (x, y, bias, before)


def _backward(plan: Plan, residuals: Any, g: jax.Array) -> tuple[Any, Any, Any]:
  x, y, bias, before = residuals
  if before is not None:
    activation = activation_of("matmul", plan.activation)
    assert activation is not None
    slope = functools.partial(derivative, activation)
    (g,) = elementwise(slope, plan.execution, f"{plan.activation}_backward", before, g.astype(jnp.float32))
  dbias = None if bias is None else jnp.sum(g.astype(jnp.float32), axis=0).astype(bias.dtype)
  g = g.astype(x.dtype)

  def product(a: jax.Array, b: jax.Array, transpose_a: bool, transpose_b: bool, dtype: Any) -> jax.Array:
    own = Plan(plan.execution, transpose_a, transpose_b, None, np.dtype(dtype), None, plan.batch, plan.precision)
    return call(own, a, b, None)

  if plan.transpose_x:
    dx = product(y, g, plan.transpose_y, True, x.dtype)
  else:
    dx = product(g, y, False, not plan.transpose_y, x.dtype)
  if plan.transpose_y:
    dy = product(g, x, True, plan.transpose_x, y.dtype)
  else:
    dy = product(x, g, not plan.transpose_x, False, y.dtype)
  return dx, dy, dbias


_matmul.defvjp(_forward, _backward)
