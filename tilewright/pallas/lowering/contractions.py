"""Rules for contractions, and their numerical precision.

`precision` of `lax.dot_general` decides how float32 operands may be rounded before multiplication; accumulators are always float32.

    None, DEFAULT, HIGH, TF32_TF32_F32    on GPUs to tf32, where tensor cores multiply, as XLA does; on CPUs not at all
    HIGHEST, F32_F32_F32                  not at all
    BF16_BF16_F32, F16_F16_F32            to that dtype, everywhere
    BF16_BF16_F32_X3, _X6, _X9            operands are split into sums of two or three bf16; 3, 6 or 9 partial products are added
    TF32_TF32_F32_X3                      the same with two tf32, on GPUs; on CPUs not at all

A `dot` op of float32 has the attribute `tf32` if its operands may be rounded to tf32; kernels for CPUs never set it.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright import errors
from tilewright.pallas.lowering.expand import expand
from tilewright.pallas.lowering.table import Context, rule
from tilewright.tile.ir import Value

_PRESETS = lax.DotAlgorithmPreset
# The dtype operands are rounded to, the number of parts, and the bound on i + j of the products of parts (i, j) that are added.
_ROUNDED: dict[Any, tuple[Any, int, int]] = {
  _PRESETS.F16_F16_F16: (jnp.float16, 1, 0),
  _PRESETS.F16_F16_F32: (jnp.float16, 1, 0),
  _PRESETS.BF16_BF16_BF16: (jnp.bfloat16, 1, 0),
  _PRESETS.BF16_BF16_F32: (jnp.bfloat16, 1, 0),
  _PRESETS.BF16_BF16_F32_X3: (jnp.bfloat16, 2, 1),
  _PRESETS.BF16_BF16_F32_X6: (jnp.bfloat16, 3, 2),
  _PRESETS.BF16_BF16_F32_X9: (jnp.bfloat16, 3, 4),
}
_EXACT = (_PRESETS.F32_F32_F32, _PRESETS.F64_F64_F64)
_TF32_BITS = 13  # mantissa bits that float32 has and tf32 lacks


def _summed_in(operands: tuple[np.dtype, ...], result: np.dtype) -> np.dtype:
  """The accumulator dtype of a contraction: the result's, unless it would lose part of the operands (fractions, imaginary parts, 53 bits),
  or it is bool, of which two are true together."""
  real = np.dtype(np.float64 if any(d in (np.float64, np.complex128) for d in (*operands, result)) else np.float32)
  if any(d.kind == "c" for d in operands):
    return np.result_type(real, np.complex64)
  whole = result == np.bool_ or jnp.issubdtype(result, jnp.integer)
  if any(jnp.issubdtype(d, jnp.floating) for d in operands):
    return real if whole or result.kind == "c" or real == np.float64 else result
  if result == np.bool_:
    return np.dtype(np.int32)
  return real if result.kind == "c" else result


@rule("dot_general")
def _dot_general(
  ctx: Context, lhs: Value, rhs: Value, *, dimension_numbers: Any, precision: Any = None, **_: Any
) -> Value:
  result = np.dtype(ctx.out.dtype)
  preset = _preset(ctx, precision)
  if preset in _ROUNDED and _is_wider(preset, lhs, rhs):
    return expand(ctx, lambda x, y: _of_rounded(x, y, dimension_numbers, preset).astype(result), lhs, rhs)[0]
  is_single = lhs.tile.dtype == rhs.tile.dtype == np.float32
  if preset == _PRESETS.TF32_TF32_F32_X3 and is_single and ctx.builder.for_gpu:
    return expand(ctx, lambda x, y: _of_two_tf32(x, y, dimension_numbers).astype(result), lhs, rhs)[0]
  contract, batch = dimension_numbers
  dtype = _summed_in((lhs.tile.dtype, rhs.tile.dtype), result)
  may_round = ctx.builder.for_gpu and is_single and dtype == np.float32 and _may_be_tf32(preset, precision)
  attrs: dict[str, Any] = {"tf32": True} if may_round else {}
  contracted, batched = tuple(map(tuple, contract)), tuple(map(tuple, batch))
  sums = ctx.emit("dot", lhs, rhs, contract=contracted, batch=batched, dtype=dtype, **attrs)
  return sums if dtype == result else ctx.emit("convert", sums, dtype=result)


def _preset(ctx: Context, precision: Any) -> Any:
  """The requested dot algorithm, if `precision` is one."""
  if isinstance(precision, lax.DotAlgorithm):
    found = next((p for p, own in _ALGORITHMS.items() if _fields(own) == _fields(precision)), None)
    if found is None:
      raise errors.UnsupportedFeatureError(
        f"{ctx.where}: precision={precision} is none of the algorithms that kernels have: "
        f"{', '.join(p.name for p in _PRESETS)}. Pass one of these of lax.DotAlgorithmPreset, or a lax.Precision."
      )
    return found
  return precision if isinstance(precision, _PRESETS) and precision != _PRESETS.DEFAULT else None


def _fields(algorithm: Any) -> tuple[Any, ...]:
  types = (algorithm.lhs_precision_type, algorithm.rhs_precision_type, algorithm.accumulation_type)
  counts = (algorithm.lhs_component_count, algorithm.rhs_component_count, algorithm.num_primitive_operations)
  return (*(np.dtype(t).name for t in types), *counts)


def _algorithm(operand: Any, total: Any, parts: int = 1, products: int = 1) -> Any:
  return lax.DotAlgorithm(operand, operand, total, parts, parts, products)


_ALGORITHMS: dict[Any, Any] = {
  _PRESETS.F16_F16_F16: _algorithm(jnp.float16, jnp.float16),
  _PRESETS.F16_F16_F32: _algorithm(jnp.float16, jnp.float32),
  _PRESETS.BF16_BF16_BF16: _algorithm(jnp.bfloat16, jnp.bfloat16),
  _PRESETS.BF16_BF16_F32: _algorithm(jnp.bfloat16, jnp.float32),
  _PRESETS.BF16_BF16_F32_X3: _algorithm(jnp.bfloat16, jnp.float32, 2, 3),
  _PRESETS.BF16_BF16_F32_X6: _algorithm(jnp.bfloat16, jnp.float32, 3, 6),
  _PRESETS.BF16_BF16_F32_X9: _algorithm(jnp.bfloat16, jnp.float32, 3, 9),
  _PRESETS.F32_F32_F32: _algorithm(jnp.float32, jnp.float32),
  _PRESETS.F64_F64_F64: _algorithm(jnp.float64, jnp.float64),
}


def _may_be_tf32(preset: Any, precision: Any) -> bool:
  if preset is not None:
    return preset not in _EXACT
  given = precision if isinstance(precision, tuple) else (precision,)
  return lax.Precision.HIGHEST not in given


def _is_wider(preset: Any, *operands: Value) -> bool:
  """Whether an operand has bits that an algorithm rounds away."""
  own = np.dtype(_ROUNDED[preset][0])
  return any(v.tile.dtype in (np.float32, np.float64) or v.tile.dtype.itemsize == 2 != own for v in operands) and all(
    jnp.issubdtype(v.tile.dtype, jnp.floating) for v in operands
  )


def _of_rounded(x: jax.Array, y: jax.Array, numbers: Any, preset: Any) -> jax.Array:
  """The sum of the products of the operands' narrow parts, the smallest products first."""
  dtype, count, most = _ROUNDED[preset]
  left, right = (_parts(z.astype(jnp.float32), dtype, count) for z in (x, y))
  pairs = sorted(((i, j) for i in range(count) for j in range(count) if 0 < i + j <= most), key=sum, reverse=True)
  return _added_up(left, right, pairs, numbers, None)


def _parts(x: jax.Array, dtype: Any, count: int) -> list[jax.Array]:
  """Numbers of a narrow dtype whose sum is approximately x: each is the rounded remainder."""
  found = []
  for n in range(count):
    found.append(x.astype(dtype))
    if n < count - 1:
      x = x - found[-1].astype(jnp.float32)
  return found


def _of_two_tf32(x: jax.Array, y: jax.Array, numbers: Any) -> jax.Array:
  """The products of the upper parts, and of each with the lower part of the other: tensor cores drop the lower bits of both."""

  def split(z: jax.Array) -> list[jax.Array]:
    bits = lax.bitcast_convert_type(z, jnp.uint32) & np.uint32(0xFFFFFFFF << _TF32_BITS & 0xFFFFFFFF)
    upper = lax.bitcast_convert_type(bits, jnp.float32)
    return [upper, z - upper]

  return _added_up(split(x), split(y), [(0, 1), (1, 0)], numbers, _PRESETS.TF32_TF32_F32)


def _added_up(left: Any, right: Any, pairs: Any, numbers: Any, precision: Any) -> jax.Array:
  multiply = lambda i, j: lax.dot_general(
    left[i], right[j], numbers, precision=precision, preferred_element_type=jnp.float32
  )
  whole = multiply(0, 0)
  if not pairs:
    return whole
  (i, j), *others = pairs
  small = multiply(i, j)
  for i, j in others:
    small = small + multiply(i, j)
  # The remainder of an infinity is NaN; the product of the upper parts alone is right.
  return whole + jnp.where(small == small, small, jnp.zeros_like(small))
