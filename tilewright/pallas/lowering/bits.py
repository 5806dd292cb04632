"""Rules for bit-level primitives: `reduce_precision`, `nextafter`, and bitcasts of sub-byte elements.

They expand to integer arithmetic in JAX's own operations (see `expand`).
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright.pallas.lowering.expand import expand
from tilewright.pallas.lowering.table import Context, rule
from tilewright.tile.formats import width
from tilewright.tile.ir import Value


def _unsigned(bits: int) -> Any:
  return getattr(jnp, f"uint{bits}")


@rule("bitcast_convert_type")
def _bitcast(ctx: Context, x: Value, *, new_dtype: Any) -> Value:
  source, target = x.tile.dtype, np.dtype(new_dtype)
  if source == target:
    return x
  if width(source) == width(target):
    return ctx.emit("bitcast", x, dtype=target)
  if min(width(source), width(target)) >= 8:
    return ctx.emit("recast", x, dtype=target)
  return expand(ctx, lambda x: _join(x, target) if width(source) < width(target) else _part(x, target), x)[0]


def _join(x: jax.Array, target: np.dtype) -> jax.Array:
  """The last dimension as one wider element, the first in the lowest bits."""
  narrow, wide = width(x.dtype), _unsigned(width(target))
  codes = lax.bitcast_convert_type(x, _unsigned(narrow)).astype(wide)
  places = lax.broadcasted_iota(wide, codes.shape, codes.ndim - 1) * wide(narrow)
  together = lax.reduce_or(codes << places, (codes.ndim - 1,))
  return lax.bitcast_convert_type(together, target)


def _part(x: jax.Array, target: np.dtype) -> jax.Array:
  """Each element as a last dimension of narrower ones."""
  narrow, wide = width(target), _unsigned(width(x.dtype))
  shape = (*x.shape, width(x.dtype) // narrow)
  codes = lax.broadcast_in_dim(lax.bitcast_convert_type(x, wide), shape, tuple(range(x.ndim)))
  places = lax.broadcasted_iota(wide, shape, x.ndim) * wide(narrow)
  return lax.bitcast_convert_type((codes >> places).astype(_unsigned(narrow)), target)


@rule("nextafter")
def _nextafter(ctx: Context, x: Value, y: Value) -> Value:
  shape = ctx.out.shape
  x, y = ctx.broadcast(x, shape), ctx.broadcast(y, shape)
  return ctx.emit("nextafter", x, y) if x.tile.dtype.itemsize >= 4 else expand(ctx, _next_code, x, y)[0]


def _next_code(x: jax.Array, y: jax.Array) -> jax.Array:
  """`nextafter` on bit patterns: those of a float format are ordered like its numbers, so the next number has the next bit pattern."""
  bits = width(x.dtype)
  code, towards = (lax.bitcast_convert_type(v, _unsigned(bits)) for v in (x, y))
  if x.dtype == jnp.float8_e8m0fnu:  # no sign and no zero
    moved = jnp.where(code < towards, code + 1, jnp.where(code > towards, code - 1, code))
    return lax.bitcast_convert_type(jnp.where((x != x) | (y != y), _unsigned(bits)(255), moved), x.dtype)
  sign = _unsigned(bits)(1 << (bits - 1))
  size, other = code & (sign - 1), towards & (sign - 1)
  away = (size < other) & ((code ^ towards) < sign)  # same sign, larger magnitude
  stepped = jnp.where(away, code + 1, code - 1)
  from_zero = (towards & sign) | 1
  if np.dtype(x.dtype).name.endswith("fnuz"):  # the code of -0 is that of NaN
    stepped = jnp.where(stepped == sign, 0, stepped)
  result = jnp.where(size == 0, jnp.where(other == 0, towards, from_zero), jnp.where(code == towards, code, stepped))
  moved = lax.bitcast_convert_type(result.astype(code.dtype), x.dtype)
  return jnp.where((x != x) | (y != y), jnp.asarray(np.nan, x.dtype), moved)


@rule("reduce_precision")
def _reduce_precision(ctx: Context, x: Value, *, exponent_bits: int, mantissa_bits: int) -> Value:
  return expand(ctx, lambda x: _rounded(x, exponent_bits, mantissa_bits), x)[0]


def _rounded(x: jax.Array, exponent_bits: int, mantissa_bits: int) -> jax.Array:
  """Rounded to nearest even; overflow becomes infinity, and underflow, including subnormal results, zero."""
  if x.dtype.itemsize == 1:
    return _rounded(x.astype(np.float32), exponent_bits, mantissa_bits).astype(x.dtype)
  form = jnp.finfo(x.dtype)
  unsigned = _unsigned(form.bits)
  bits = lax.bitcast_convert_type(x, unsigned)
  sign = bits & unsigned(1 << (form.bits - 1))
  size = bits ^ sign
  dropped = form.nmant - mantissa_bits
  if dropped > 0:
    odd = (size >> unsigned(dropped)) & unsigned(1)
    size = (size + odd + unsigned((1 << (dropped - 1)) - 1)) & ~unsigned((1 << dropped) - 1)
  if exponent_bits < form.nexp:
    bias, reach = (1 << (form.nexp - 1)) - 1, (1 << (exponent_bits - 1)) - 1
    exponent = size >> unsigned(form.nmant)
    size = jnp.where(exponent > bias + reach, unsigned(((1 << form.nexp) - 1) << form.nmant), size)
    size = jnp.where(exponent <= bias - reach, unsigned(0), size)
  return jnp.where(x != x, x, lax.bitcast_convert_type(sign | size, x.dtype))
