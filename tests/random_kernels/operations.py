"""The operations of random programs, each as JAX and as the oracle compute it.

A rule of `JAX` takes arrays, one of `ORACLE` takes `Number`s; both get the attributes of the instruction.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from .numbers import Number, exact, is_float, is_inexact, rounded, summed, wrapped


def _int_result(f):
  def rule(a: Number, *rest: Number, **attributes) -> Number:
    with np.errstate(all="ignore"):
      result = f(a.value, *(r.value for r in rest), **attributes)
    return Number(wrapped(result, a.dtype), np.zeros(np.shape(result)), a.dtype)

  return rule


def _by_kind(on_integers, on_floats):
  """One rule for integers and bools, one for floats."""
  integer = _int_result(on_integers)
  return lambda a, *rest, **attributes: (on_floats if is_inexact(a.dtype) else integer)(a, *rest, **attributes)


def _float(value, error, roundings=1):
  def rule(*args: Number, **attributes) -> Number:
    values, errors = [a.value for a in args], [a.error for a in args]
    return rounded(value(*values, **attributes), error(*values, *errors, **attributes), args[0].dtype, roundings)

  return rule


def _pick(f):
  return lambda a, b: Number(f(a.value, b.value), np.maximum(a.error, b.error), a.dtype)


def _complex(a: Number, b: Number) -> Number:
  return Number(a.value + 1j * b.value, a.error + b.error, "complex64")


def _part(f):
  return lambda a: Number(f(a.value), a.error, "float32")


def _on_values(f, dtype):
  """Of values without error."""
  return lambda a: exact(f(a.value), dtype)


def _tame(a: Number) -> Number:
  return a.moved(lambda v: np.clip(np.nan_to_num(v, nan=0.0), -4, 4))


def _convert_jax(x, to):
  return x.astype(to)


def _convert(a: Number, to: str) -> Number:
  if is_float(to):
    return rounded(a.value.astype(np.float64), a.error, to)
  if to == "bool":
    return exact(a.value != 0, to)
  value = a.value.astype(np.int64) if is_float(a.dtype) else a.value
  return exact(value, to)


def _compare(f):
  return lambda a, b: exact(f(a.value, b.value), "bool")


def _select(p: Number, a: Number, b: Number) -> Number:
  return Number(np.where(p.value, a.value, b.value), np.where(p.value, a.error, b.error), a.dtype)


def _quotient(a: Number, b: Number) -> Number:
  one = rounded(np.abs(b.value) + 1, b.error, a.dtype)
  below = np.maximum(one.value - one.error, 0.5)
  error = a.error / below + np.abs(a.value) * one.error / (below * one.value)
  return rounded(a.value / one.value, error, a.dtype, 4)


def _sqrt(a: Number) -> Number:
  one = rounded(np.abs(a.value) + 1, a.error, a.dtype)
  return rounded(np.sqrt(one.value), one.error, a.dtype, 4)


def _exp(a: Number) -> Number:
  low = np.minimum(a.value, 1)
  return rounded(np.exp(low), a.error * np.exp(np.minimum(low + a.error, 1)), a.dtype, 8)


def _sum(a: Number, axis: int) -> Number:
  if is_inexact(a.dtype):
    return summed(a.value, a.error, axis, a.dtype)
  return exact(a.value.sum(axis, dtype=_adder(a)), a.dtype)


def _adder(a: Number):
  return a.value.dtype if a.value.dtype.kind == "u" else np.dtype(np.int64)


def _cumsum(a: Number, axis: int) -> Number:
  if not is_float(a.dtype):
    return exact(np.cumsum(a.value, axis, dtype=_adder(a)), a.dtype)
  parts = [_sum(a.moved(lambda v: np.take(v, range(i + 1), axis)), axis) for i in range(a.shape[axis])]
  return Number(np.stack([p.value for p in parts], axis), np.stack([p.error for p in parts], axis), a.dtype)


def _dot(a: Number, b: Number, to: str) -> Number:
  if not is_float(a.dtype):
    return exact(a.value.astype(np.int64) @ b.value.astype(np.int64), to)
  x, y, ex, ey = a.value[:, :, None], b.value[None], a.error[:, :, None], b.error[None]
  terms = x * y
  error = np.abs(x) * ey + np.abs(y) * ex + ex * ey
  return summed(terms, error, 1, to)


def _extreme(name):
  return lambda a, axis: Number(getattr(a.value, name)(axis), a.error.max(axis), a.dtype)


def _gather(a: Number, i: Number, axis: int) -> Number:
  at = i.value.astype(np.int32) % a.shape[axis]
  return a.moved(lambda v: np.take(v, at, axis))


def _dynamic_slice(a: Number, start: Number, axis: int, size: int) -> Number:
  at = int(start.value.astype(np.int32))
  at = min(max(at + a.shape[axis] if at < 0 else at, 0), a.shape[axis] - size)  # negative starts count from the end
  return a.moved(lambda v: np.take(v, range(at, at + size), axis))


def _shift_right(a, by):
  """JAX's `>>` takes the highest bit of a uint4 for a sign."""
  shift = lax.shift_right_logical if jnp.issubdtype(a.dtype, jnp.unsignedinteger) else lax.shift_right_arithmetic
  return shift(a, jnp.full(a.shape, by, a.dtype))


def _gather_jax(x, i, axis):
  return jnp.take(x, jnp.mod(i.astype(jnp.int32), x.shape[axis]), axis=axis, mode="clip")


def _along(a: Number, i: Number, axis: int) -> Number:
  at = i.value.astype(np.int32) % a.shape[axis]
  return a.moved(lambda v: np.take_along_axis(v, at, axis))


def _along_jax(x, i, axis):
  return jnp.take_along_axis(x, jnp.mod(i.astype(jnp.int32), x.shape[axis]), axis=axis, mode="clip")


def _slices(starts, stops, steps):
  return tuple(slice(*s) for s in zip(starts, stops, steps))


def _shift_left(v, by):
  return np.left_shift(v, np.asarray(by, v.dtype))


def _product_error(x, y, ex, ey):
  return np.abs(x) * ey + np.abs(y) * ex + ex * ey


def _constant(shape, value, dtype):
  return jnp.full(shape, value, dtype)


JAX = {
  "constant": _constant,
  "iota": lambda dtype, shape, axis: lax.broadcasted_iota(dtype, shape, axis),
  "add": lambda a, b: a + b,
  "sub": lambda a, b: a - b,
  "mul": lambda a, b: a * b,
  "max": jnp.maximum,
  "min": jnp.minimum,
  "and": lambda a, b: a & b,
  "or": lambda a, b: a | b,
  "xor": lambda a, b: a ^ b,
  "not": lambda a: ~a,
  "neg": lambda a: -a,
  "abs": jnp.abs,
  "sign": jnp.sign,
  "shift_left": lambda a, by: lax.shift_left(a, jnp.full(a.shape, by, a.dtype)),
  "shift_right": _shift_right,
  "mod": lambda a, by: a % jnp.asarray(by, a.dtype),
  "floor_divide": lambda a, by: a // jnp.asarray(by, a.dtype),
  "rem": lambda a, by: lax.rem(a, jnp.full(a.shape, by, a.dtype)),
  "mask": lambda a, by: a & jnp.asarray(by, a.dtype),
  "clip": lambda a, low, high: jnp.clip(a, jnp.asarray(low, a.dtype), jnp.asarray(high, a.dtype)),
  "tanh": jnp.tanh,
  "exp": lambda a: jnp.exp(jnp.minimum(a, jnp.asarray(1, a.dtype))),
  "sqrt": lambda a: jnp.sqrt(jnp.abs(a) + jnp.asarray(1, a.dtype)),
  "quotient": lambda a, b: a / (jnp.abs(b) + jnp.asarray(1, a.dtype)),
  "convert": _convert_jax,
  "lt": lambda a, b: a < b,
  "le": lambda a, b: a <= b,
  "eq": lambda a, b: a == b,
  "ne": lambda a, b: a != b,
  "select": jnp.where,
  "sum": lambda a, axis: jnp.sum(a, axis, dtype=a.dtype),
  "reduce_max": jnp.max,
  "reduce_min": jnp.min,
  "any": jnp.any,
  "all": jnp.all,
  "argmax": lambda a, axis: jnp.argmax(a, axis).astype(jnp.int32),
  "argmin": lambda a, axis: jnp.argmin(a, axis).astype(jnp.int32),
  "cumsum": lambda a, axis: lax.cumsum(a, axis),
  "sort": lambda a, axis: lax.sort(a, dimension=axis),
  "dot": lambda a, b, to: jnp.dot(a, b, preferred_element_type=to, precision="highest"),
  "reshape": lambda a, shape: a.reshape(shape),
  "transpose": lambda a, axes: jnp.transpose(a, axes),
  "broadcast": lambda a, shape, axes: lax.broadcast_in_dim(a, shape, axes),
  "slice": lambda a, starts, stops, steps: a[_slices(starts, stops, steps)],
  "dynamic_slice": lambda a, i, axis, size: lax.dynamic_slice_in_dim(a, i.astype(jnp.int32), size, axis),
  "concatenate": lambda *a, axis: jnp.concatenate(a, axis),
  "reverse": lambda a, axis: jnp.flip(a, axis),
  "roll": lambda a, by, axis: jnp.roll(a, by, axis),
  "pad": lambda a, pads: jnp.pad(a, pads),
  "gather": _gather_jax,
  "along": _along_jax,
  "complex": lax.complex,
  "real": jnp.real,
  "imag": jnp.imag,
  "conj": jnp.conj,
  "is_nan": lambda a: jnp.isnan(a),
  "is_finite": lambda a: jnp.isfinite(a),
  "sign_bit": lambda a: jnp.signbit(jnp.where(jnp.isnan(a), jnp.ones_like(a), a)),
  "tame": lambda a: jnp.clip(
    jnp.where(jnp.isnan(a), jnp.zeros_like(a), a), jnp.asarray(-4, a.dtype), jnp.asarray(4, a.dtype)
  ),
}


def _unary(f):
  return _by_kind(f, lambda a: Number(f(a.value), a.error, a.dtype))


ORACLE = {
  "constant": lambda shape, value, dtype: exact(np.full(shape, value), dtype),
  "iota": lambda dtype, shape, axis: exact(np.broadcast_to(_axis_iota(shape, axis), shape), dtype),
  "add": _by_kind(lambda a, b: a + b, _float(lambda a, b: a + b, lambda a, b, ea, eb: ea + eb)),
  "sub": _by_kind(lambda a, b: a - b, _float(lambda a, b: a - b, lambda a, b, ea, eb: ea + eb)),
  "mul": _by_kind(lambda a, b: a * b, _float(lambda a, b: a * b, _product_error)),
  "max": _pick(np.maximum),
  "min": _pick(np.minimum),
  "and": _int_result(np.bitwise_and),
  "or": _int_result(np.bitwise_or),
  "xor": _int_result(np.bitwise_xor),
  "not": _int_result(np.invert),
  "neg": _unary(lambda a: -a),
  "abs": _unary(np.abs),
  "sign": _unary(np.sign),
  "shift_left": _int_result(_shift_left),
  "shift_right": _int_result(lambda a, by: a >> np.asarray(by, a.dtype)),
  "mod": _int_result(lambda a, by: np.mod(a, np.asarray(by, a.dtype))),
  "floor_divide": _int_result(lambda a, by: a // np.asarray(by, a.dtype)),
  "rem": _int_result(lambda a, by: np.fmod(a, np.asarray(by, a.dtype))),
  "mask": _int_result(lambda a, by: a & np.asarray(by, a.dtype)),
  "clip": lambda a, low, high: Number(np.clip(a.value, low, high).astype(a.value.dtype), a.error, a.dtype),
  "tanh": _float(np.tanh, lambda a, ea: ea, 8),
  "exp": _exp,
  "sqrt": _sqrt,
  "quotient": _quotient,
  "convert": _convert,
  "lt": _compare(np.less),
  "le": _compare(np.less_equal),
  "eq": _compare(np.equal),
  "ne": _compare(np.not_equal),
  "select": _select,
  "sum": _sum,
  "reduce_max": _extreme("max"),
  "reduce_min": _extreme("min"),
  "any": lambda a, axis: exact(a.value.any(axis), "bool"),
  "all": lambda a, axis: exact(a.value.all(axis), "bool"),
  "argmax": lambda a, axis: exact(a.value.argmax(axis), "int32"),
  "argmin": lambda a, axis: exact(a.value.argmin(axis), "int32"),
  "cumsum": _cumsum,
  "sort": lambda a, axis: a.moved(lambda v: np.sort(v, axis)),  # only of values without error
  "dot": _dot,
  "reshape": lambda a, shape: a.moved(lambda v: v.reshape(shape)),
  "transpose": lambda a, axes: a.moved(lambda v: v.transpose(axes)),
  "broadcast": lambda a, shape, axes: a.moved(lambda v: _broadcast(v, shape, axes)),
  "slice": lambda a, starts, stops, steps: a.moved(lambda v: v[_slices(starts, stops, steps)]),
  "dynamic_slice": _dynamic_slice,
  "concatenate": lambda *a, axis: Number(
    np.concatenate([x.value for x in a], axis), np.concatenate([x.error for x in a], axis), a[0].dtype
  ),
  "reverse": lambda a, axis: a.moved(lambda v: np.flip(v, axis)),
  "roll": lambda a, by, axis: a.moved(lambda v: np.roll(v, by, axis)),
  "pad": lambda a, pads: a.moved(lambda v: np.pad(v, pads)),
  "gather": _gather,
  "along": _along,
  "complex": _complex,
  "real": _part(np.real),
  "imag": _part(np.imag),
  "conj": lambda a: a.moved(np.conj),
  "is_nan": _on_values(np.isnan, "bool"),
  "is_finite": _on_values(np.isfinite, "bool"),
  "sign_bit": _on_values(lambda v: np.signbit(np.where(np.isnan(v), 1.0, v)), "bool"),
  "tame": _tame,
}


def _axis_iota(shape, axis):
  return np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])


def _broadcast(v, shape, axes):
  wide = [1] * len(shape)
  for axis, size in zip(axes, v.shape):
    wide[axis] = size
  return np.broadcast_to(v.reshape(wide), shape)


assert JAX.keys() == ORACLE.keys()
