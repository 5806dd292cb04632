"""`scaled_dot`: dot_general with block scales on either side or both, accumulated in float32.

    y = scaled_dot(x, quantize(w, "nvfp4", axis=0))                    # weights only: x @ w
    y = scaled_dot(quantize(x, "mxfp8"), quantize(w, "mxfp8", axis=0)) # both sides

Defined as the dot of the dequantised operands. The kernel dequantises blocks on their way into the dot: it reads packed data
from memory and writes only the result. The product of the global scales is applied in the epilogue. Where elements times scales are
outside float32's range, though their products are inside, blocks are summed one by one (`extremes`; not on GPUs).
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright import pallas as pl
from tilewright.numerics import arguments, extremes, gpu_dot
from tilewright.numerics.arguments import DimensionNumbers
from tilewright.numerics.blocks import Blocks, dot_blocks, gpu_blocks
from tilewright.numerics.contracted import as_one
from tilewright.numerics.hitype import unboxed
from tilewright.numerics.launch import Execution, execution
from tilewright.numerics.linear import linear
from tilewright.numerics.operands import (
  Operand,
  Side,
  common_planes,
  exact_in_bfloat16,
  in_planes,
  matrices,
  pad_k,
  read_planes,
  scratch,
  specs,
)
from tilewright.numerics.qarray import QArray
from tilewright.numerics.swizzle import plain_scales
from tilewright.runtime import _jax


@dataclasses.dataclass(frozen=True)
class Plan:
  """The static part of a scaled dot."""

  lhs: Side
  rhs: Side
  k: int
  planes: int
  out_dtype: np.dtype
  blocks: Blocks
  execution: Execution


def scaled_dot(
  a: Any,
  b: Any,
  dimension_numbers: DimensionNumbers | None = None,
  *,
  preferred_element_type: Any = jnp.float32,
  global_scale: Any = None,
  interpret: bool | None = None,
) -> jax.Array:
  """The dot of two operands of which one or both are quantised.

  Args:
    a: a `QArray`, boxed or not, or an array of floats.
    b: the same.
    dimension_numbers: as for `jax.lax.dot_general`; the dimension along which a `QArray` is scaled is among those that are contracted. By
      default the last of `a` with the scaled axis of `b` (the last but one if `b` is not quantised), and no batch dimensions.
    preferred_element_type: the dtype of the result.
    global_scale: a further float32 that multiplies the result.
    interpret: True for the portable lowering on any backend.

  Differentiable towards an operand that is not quantised; towards a quantised one it is an error: see `scaled_dot_general`.
  """
  a, b = (_without_derivatives(_floats(name, unboxed(x))) for name, x in (("a", a), ("b", b)))
  numbers = dimension_numbers or _default_numbers(a, b)
  wanted = jnp.float32 if preferred_element_type is None else preferred_element_type
  out_dtype = arguments.dtype("scaled_dot: preferred_element_type", wanted)
  if not jnp.issubdtype(out_dtype, jnp.floating):
    raise errors.NumberFormatError(f"scaled_dot: preferred_element_type must be a float, got {out_dtype}.")
  if global_scale is not None:
    global_scale = arguments.array("scaled_dot: global_scale", global_scale).astype(jnp.float32)
    if global_scale.size != 1:
      raise errors.ShapeMismatchError(f"scaled_dot: global_scale must be one number, got shape {global_scale.shape}.")
  leaves, tree = jax.tree.flatten((a, b, global_scale))
  return _compiled(
    _normalised(a, b, numbers), out_dtype, execution(interpret), *jax.tree.unflatten(tree, _jax.vary_together(leaves))
  )


def _floats(name: str, x: Any) -> Any:
  """A quantised array, or one of floats; integers are converted to float32."""
  if isinstance(x, QArray):
    return x
  x = arguments.array(f"scaled_dot: {name}", x)
  if jnp.issubdtype(x.dtype, jnp.integer) or x.dtype == jnp.bool_:
    return x.astype(jnp.float32)
  if not jnp.issubdtype(x.dtype, jnp.floating) or x.dtype == jnp.float64:
    raise errors.NumberFormatError(
      f"scaled_dot: {name} must be a QArray or an array of floats up to float32, got {x.dtype}."
    )
  return x


def _default_numbers(a: Any, b: Any) -> DimensionNumbers:
  contracted = b.axis % b.ndim if isinstance(b, QArray) and b.axis is not None else max(0, b.ndim - 2)
  if isinstance(b, QArray) and a.shape and a.shape[-1] != b.shape[contracted]:
    raise errors.ShapeMismatchError(
      f"scaled_dot: the last dimension of a {tuple(a.shape)} and the scaled axis of b {b.shape}, which is {contracted}, must have the same "
      "size. Quantise b along the dimension that is contracted (axis of quantize), or give dimension_numbers."
    )
  return (((len(a.shape) - 1,), (contracted,)), ((), ()))


def _normalised(a: Any, b: Any, given: Any) -> DimensionNumbers:
  numbers = arguments.dimension_numbers("scaled_dot", given, ("a", "b"), (tuple(a.shape), tuple(b.shape)))
  (lc, _), _ = numbers
  if not lc:
    raise errors.ShapeMismatchError("scaled_dot: dimension_numbers must contract at least one dimension, got none.")
  return numbers


_FLOAT32 = np.dtype(np.float32)

# --- derivatives -------------------------------------------------------------------------------------------------


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1, 2))
def _scaled_dot(
  numbers: DimensionNumbers, out_dtype: Any, execution: Execution, a: Any, b: Any, global_scale: Any
) -> jax.Array:
  return contract(numbers, out_dtype, execution, a, b, global_scale)


@jax.custom_jvp
def _constant(x: jax.Array) -> jax.Array:
  """A member of a quantised array, of which no derivative is taken.

  The rules of the dot itself are no place to refuse one: JAX keeps what it has begun there, and each later derivative of such a dot fails.
  """
  return x


@_constant.defjvp
def _refused(primals: Any, tangents: Any) -> Any:
  raise errors.NumberFormatError(
    "scaled_dot: a quantised array has no derivative. Differentiate with respect to the array it was made from, with "
    "scaled_dot_general, or keep the QArray out of the differentiated arguments."
  )


def _without_derivatives(x: Any) -> Any:
  """An operand whose members, if it is quantised, refuse derivatives. Only values that JAX traces can have derivatives."""
  if not isinstance(x, QArray):
    return x
  return jax.tree.map(lambda leaf: _constant(leaf) if isinstance(leaf, _jax.core.Tracer) else leaf, x)


@functools.partial(_scaled_dot.defjvp, symbolic_zeros=True)
def _derivative(numbers: Any, out_dtype: Any, execution: Execution, primals: Any, tangents: Any) -> Any:
  """Of each operand that is not quantised, and of the global scale. Quantised operands are kept as they are for the reverse pass."""
  (a, b, global_scale), (da, db, dscale) = primals, tangents
  (lc, rc), (lb, rb) = numbers
  like_a, like_b = (None if isinstance(x, QArray) else jax.ShapeDtypeStruct(x.shape, x.dtype) for x in (a, b))

  def scaled(g: Any, scale: Any) -> jax.Array:
    dtype = jnp.bfloat16 if g.dtype == jnp.bfloat16 else jnp.float32
    return (g if scale is None else g.astype(jnp.float32) * scale.reshape(())).astype(dtype)

  def of_scale(kept: Any, change: Any) -> jax.Array:
    return (_scaled_dot(numbers, _FLOAT32, execution, *kept, None) * change.reshape(())).astype(out_dtype)

  def towards_scale(kept: Any, g: Any) -> jax.Array:
    unscaled = _scaled_dot(numbers, _FLOAT32, execution, *kept, None)
    return jnp.sum(unscaled * g.astype(jnp.float32)).astype(jnp.float32).reshape(shape)

  out = _scaled_dot(numbers, out_dtype, execution, a, b, global_scale)
  parts = []
  if like_a is not None and not _is_zero(da):
    forward = lambda kept, da: _scaled_dot(numbers, out_dtype, execution, da, *kept)
    back = lambda kept, g: _derivative_of_operand(scaled(g, kept[1]), kept[0], rc, rb, like_a, lc, lb, False)
    parts.append(linear(forward, back, (b, global_scale), da))
  if like_b is not None and not _is_zero(db):
    forward = lambda kept, db: _scaled_dot(numbers, out_dtype, execution, kept[0], db, kept[1])
    back = lambda kept, g: _derivative_of_operand(scaled(g, kept[1]), kept[0], lc, lb, like_b, rc, rb, True)
    parts.append(linear(forward, back, (a, global_scale), db))
  if global_scale is not None and not _is_zero(dscale):
    shape = global_scale.shape
    parts.append(linear(of_scale, towards_scale, (a, b), dscale))
  return out, sum(parts[1:], parts[0]) if parts else jnp.zeros_like(out)


def _is_zero(tangent: Any) -> bool:
  return isinstance(tangent, jax.custom_derivatives.SymbolicZero)


def _derivative_of_operand(
  g: Any,
  other: Any,
  oc: tuple[int, ...],
  ob: tuple[int, ...],
  x: Any,
  xc: tuple[int, ...],
  xb: tuple[int, ...],
  is_rhs: bool,
) -> jax.Array:
  """g · other, summed over the other's free dimensions: the derivative towards `x`."""
  value = other.dequantize(g.dtype) if isinstance(other, QArray) else other
  num_batch = len(ob)
  other_free = [d for d in range(value.ndim) if d not in oc and d not in ob]
  own_free = [d for d in range(x.ndim) if d not in xc and d not in xb]
  first = num_batch if is_rhs else num_batch + len(own_free)
  contracted = tuple(range(first, first + len(other_free)))
  out = jax.lax.dot_general(
    g.astype(value.dtype),
    value,
    ((contracted, tuple(other_free)), (tuple(range(num_batch)), ob)),
    preferred_element_type=jnp.float32,
  )
  # The result has batch, own free dimensions, and the contracted ones as the other has them in order: put them where x has them.
  order = [*xb, *own_free, *(xc[i] for i in np.argsort(oc))]
  return jnp.transpose(out, [order.index(d) for d in range(x.ndim)]).astype(x.dtype)


_compiled = jax.jit(_scaled_dot, static_argnums=(0, 1, 2), inline=True)


# --- the kernel --------------------------------------------------------------------------------------------------


def contract(
  numbers: DimensionNumbers, out_dtype: Any, execution: Execution, a: Any, b: Any, global_scale: Any = None
) -> jax.Array:
  """The dot itself, without a rule for derivatives."""
  a, b, ((lc, rc), (lb, rb)) = as_one(plain_scales(a), plain_scales(b), numbers)
  batch = tuple(a.shape[d] for d in lb)
  left, ms = _operand(a, lc[0], lb, "a")
  right, ns = _operand(b, rc[0], rb, "b")
  shape = (*batch, *ms, *ns)
  k = a.shape[lc[0]]
  if 0 in shape or k == 0:
    return jnp.zeros(shape, out_dtype)
  left, right, count = common_planes(left, right)
  lside, rside = left.side, right.side
  unit = math.lcm(count, lside.block or 1, rside.block or 1)
  padded = -(-k // unit) * unit
  plain = [pad_k(operand, padded) for operand in (left, right)]
  operands = [in_planes(operand, count) for operand in plain]
  scales = _epilogue_scales(a, b, ((lc, rc), (lb, rb)), global_scale, execution)
  if execution.target == "gpu" and gpu_dot.applies(plain[0], plain[1]):
    return gpu_dot.contract(plain[0], plain[1], scales, np.dtype(out_dtype), execution).reshape(shape)
  blocks = (gpu_blocks if execution.target == "gpu" else dot_blocks)(lside.rows, rside.rows, padded, lside.batch, unit)
  plan = Plan(lside, rside, padded, count, np.dtype(out_dtype), blocks, execution)
  out = _call(plan, operands[0].arrays, operands[1].arrays, scales)
  return out.reshape(shape)


def _operand(x: Any, axis: int, batch: tuple[int, ...], name: str) -> tuple[Operand, tuple[int, ...]]:
  """One side as a stack of matrices. A QArray is padded along the axis on which its elements share bytes and scales."""
  arrays, side, sizes = matrices(x, axis, batch, name)
  is_padded = isinstance(x, QArray) and axis == x.pack_axis % x.ndim
  return Operand(
    side, arrays if isinstance(arrays, tuple) else (arrays,), x.padded_size if is_padded else x.shape[axis]
  ), sizes


def _epilogue_scales(a: Any, b: Any, numbers: DimensionNumbers, extra: Any, execution: Execution) -> list[jax.Array]:
  """What results are multiplied by, as arrays (batch or 1, m or 1, n or 1).

  On GPUs all that is one number for a matrix is in one of them. Elsewhere the product of several may be beyond float32's range.
  """
  (lc, rc), (lb, rb) = numbers
  found = [] if extra is None else [jnp.asarray(extra, jnp.float32).reshape(1, 1, 1)]
  for q, (contract,), batch, axis in ((a, lc, lb, 2), (b, rc, rb, 1)):
    if isinstance(q, QArray) and q.global_scale is not None:
      found.append(jnp.expand_dims(_by_matrix_and_row(q, contract, batch), axis))
  common = [scale for scale in found if scale.shape[1:] == (1, 1)]
  others = [scale for scale in found if scale.shape[1:] != (1, 1)]
  if len(common) > 1:
    common = [functools.reduce(jnp.multiply, common)] if execution.target == "gpu" else extremes.factors_of(common)
  return [*common, *others]


def _by_matrix_and_row(q: QArray, contract: int, batch: tuple[int, ...]) -> jax.Array:
  """A global scale as (batch or 1, rows or 1)."""
  whole = jnp.asarray(q.global_scale, jnp.float32)
  scale = whole.reshape(*whole.shape, *(1,) * (q.ndim - whole.ndim))
  free = [d for d in range(q.ndim) if d not in batch and d != contract]
  for dims in (batch, free):
    if any(d < whole.ndim for d in dims):
      scale = jnp.broadcast_to(scale, [q.shape[d] if d in dims else n for d, n in enumerate(scale.shape)])
  ordered = jnp.transpose(scale, [*batch, *free, contract])
  return ordered.reshape(math.prod(ordered.shape[: len(batch)]), math.prod(ordered.shape[len(batch) :]))


def _product(dims: Any) -> Any:
  return lambda p, q: jax.lax.dot_general(p, q, dims, preferred_element_type=jnp.float32)


def _row_times_rows(p: Any, q: Any) -> Any:
  return jnp.sum(p * q, axis=1)[None, :]


def _scale_spec(scale: Any, bm: int, bn: int) -> Any:
  """Of a scale for all, for each matrix, or for each of its rows or columns."""
  by_batch, by_row, by_column = (n > 1 for n in scale.shape)
  block = (None, bm if by_row else 1, bn if by_column else 1)
  return pl.BlockSpec(block, lambda b, s, i, j, l: (b if by_batch else 0, i if by_row else 0, j if by_column else 0))


def _call(plan: Plan, left: tuple[Any, ...], right: tuple[Any, ...], scales: list[Any]) -> jax.Array:
  """One kernel: (batch, m, n) from stacks of matrices."""
  m, n, batch = plan.lhs.rows, plan.rhs.rows, max(plan.lhs.batch, plan.rhs.batch)
  blocks = plan.blocks
  bm, bn, bk, splits = blocks.m, blocks.n, blocks.k, blocks.splits
  steps = plan.k // bk // splits
  dtype = plan.out_dtype if splits == 1 else np.dtype(jnp.float32)
  in_place = dtype == np.dtype(jnp.float32)
  dims = (((1,), (1 if plan.rhs.k_last else 0,)), ((), ()))
  if not plan.lhs.k_last:
    dims = (((0,), dims[0][1]), ((), ()))
  num_left, num_right = len(left), len(right)
  # One row against rows: vectors go along k, and nothing has to be transposed.
  is_row = plan.execution.target == "cpu" and m == 1 and plan.lhs.k_last and plan.rhs.k_last
  # Where it is exact, the processor's bfloat16 dot-product instructions are used, which accumulate in float32.
  exact = not is_row and exact_in_bfloat16(plan.lhs, left[-1]) and exact_in_bfloat16(plan.rhs, right[-1])
  operand_dtype = jnp.bfloat16 if exact else jnp.float32
  applied = scales if splits == 1 else []
  # The kernels for GPUs have no second way to sum.
  may_be_extreme = plan.execution.target != "gpu" and any(
    extremes.has_powers(side, arrays) for side, arrays in ((plan.lhs, left), (plan.rhs, right))
  )

  def kernel(*refs: Any) -> None:
    inputs, (o_ref, *rest) = refs[: num_left + num_right + len(applied)], refs[num_left + num_right + len(applied) :]
    left_factors, right_factors = (
      rest[: len(scratch_left)],
      rest[len(scratch_left) : len(scratch_left) + len(scratch_right)],
    )
    acc_ref = o_ref if in_place else rest[-1]
    operand_refs = (inputs[:num_left], inputs[num_left : num_left + num_right])

    def finish(total: Any) -> Any:
      for ref in inputs[num_left + num_right :]:
        total = total * (ref[0, 0] if ref.shape == (1, 1) else ref[...])
      return total.astype(o_ref.dtype)

    def products() -> list[Any]:
      sides = zip((plan.lhs, plan.rhs), operand_refs, (left_factors, right_factors))
      x, y = (read_planes(side, refs, factors, plan.planes, operand_dtype) for side, refs, factors in sides)
      product = _row_times_rows if is_row else _product(dims)
      return [product(p, q) for p, q in zip(x, y)]

    def exact_products() -> list[Any]:
      return [extremes.total((plan.lhs, plan.rhs), operand_refs, (bm, bn), bk, plan.planes, dims)]

    def add(found: list[Any]) -> None:
      if steps == 1:
        o_ref[...] = finish(functools.reduce(jnp.add, found))
        return
      for product in found:
        acc_ref[...] += product

    if steps > 1:

      @pl.when(pl.program_id(4) == 0)
      def _() -> None:
        acc_ref[...] = jnp.zeros(acc_ref.shape, acc_ref.dtype)

    if may_be_extreme:
      is_extreme = extremes.are_extreme((plan.lhs, plan.rhs), operand_refs)
      pl.when(jnp.logical_not(is_extreme))(lambda: add(products()))
      pl.when(is_extreme)(lambda: add(exact_products()))
    else:
      add(products())
    if steps > 1 and (applied or not in_place):

      @pl.when(pl.program_id(4) == steps - 1)
      def _() -> None:
        o_ref[...] = finish(acc_ref[...])

  def columns(arrays: tuple[Any, ...], side: Side) -> int:
    return 1 if len(arrays) == 1 else arrays[1].shape[2 if side.k_last else 1]

  place_left = lambda b, s, i, j, l: (b, i, s * steps + l)
  place_right = lambda b, s, i, j, l: (b, j, s * steps + l)
  scale_specs = [_scale_spec(scale, bm, bn) for scale in applied]
  specs_left = specs(plan.lhs, bm, bk, plan.planes, columns(left, plan.lhs), place_left)
  specs_right = specs(plan.rhs, bn, bk, plan.planes, columns(right, plan.rhs), place_right)
  scratch_left, scratch_right = (
    scratch(side, arrays[-1], own[-1].block_shape[1:], plan.planes)
    for side, arrays, own in ((plan.lhs, left, specs_left), (plan.rhs, right, specs_right))
  )
  out = pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct((splits, batch, m, n), dtype),
    grid=(batch, splits, pl.cdiv(m, bm), pl.cdiv(n, bn), steps),
    in_specs=[
      *specs_left,
      *specs_right,
      *scale_specs,
    ],
    out_specs=pl.BlockSpec((None, None, bm, bn), lambda b, s, i, j, l: (s, b, i, j)),
    scratch_shapes=[
      *scratch_left,
      *scratch_right,
      *([] if in_place or steps == 1 else [jax.ShapeDtypeStruct((bm, bn), jnp.float32)]),
    ],
    name="scaled_dot",
    **plan.execution.options("parallel", "parallel", "parallel", "parallel", "arbitrary"),
  )(*left, *right, *applied)
  if splits == 1:
    return out[0]
  return functools.reduce(jnp.multiply, scales, jnp.sum(out, axis=0)).astype(plan.out_dtype)
