"""Elementwise ops, shapes and conversions compiled natively give what the portable lowering gives."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.cpu.native import agrees, computes_the_same

S = jax.ShapeDtypeStruct
SHAPE = (5, 37)  # two whole vectors and a tail


def _values(dtype, shape=SHAPE, seed=0):
  rng = np.random.default_rng(seed)
  if jnp.issubdtype(dtype, jnp.floating):
    x = rng.normal(size=shape) * 3
    x.flat[:5] = [0.0, -0.0, np.inf, -np.inf, np.nan]  # XLA's threads flush denormals, so those are left out
    return jnp.asarray(x).astype(dtype)
  if dtype == jnp.bool_:
    return jnp.asarray(rng.integers(0, 2, shape), bool)
  info = jnp.iinfo(dtype)
  x = rng.integers(max(info.min, -1000), min(info.max, 1000), shape)
  x.flat[:3] = [info.min, info.max, 0]
  return jnp.asarray(x.astype(np.int64) if info.bits < 64 else x).astype(dtype)


FLOATS = [jnp.float32, jnp.bfloat16, jnp.float16]
INTS = [jnp.int8, jnp.uint8, jnp.int16, jnp.int32, jnp.uint32]
EXACT_UNARY = [lax.neg, lax.abs, lax.sign, lax.floor, lax.ceil, lax.is_finite, lax.sqrt]


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.__name__)
@pytest.mark.parametrize("op", EXACT_UNARY, ids=lambda f: f.__name__)
def test_exact_functions_of_floats(op, dtype):
  x = _values(dtype)
  out = S(SHAPE, jnp.bool_ if op is lax.is_finite else dtype)

  def kernel(x_ref, o_ref):
    o_ref[...] = op(x_ref[...])

  agrees(kernel, out, x)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS], ids=lambda d: d.__name__)
@pytest.mark.parametrize("op", [lax.add, lax.sub, lax.mul, lax.max, lax.min, lax.div], ids=lambda f: f.__name__)
def test_arithmetic(op, dtype):
  x, y = _values(dtype), _values(dtype, seed=1)

  def kernel(x_ref, y_ref, o_ref):
    o_ref[...] = op(x_ref[...], y_ref[...])

  agrees(kernel, S(SHAPE, dtype), x, y)


@pytest.mark.parametrize("dtype", INTS, ids=lambda d: d.__name__)
@pytest.mark.parametrize(
  "op",
  [
    lax.rem,
    lax.bitwise_and,
    lax.bitwise_or,
    lax.bitwise_xor,
    lax.shift_left,
    lax.shift_right_logical,
    lax.shift_right_arithmetic,
  ],
  ids=lambda f: f.__name__,
)
def test_integer_ops_at_their_edges(op, dtype):
  """Division by zero, the smallest by -1, and shifts by more than the width are defined as in XLA."""
  x, y = _values(dtype), _values(dtype, seed=1)
  if op.__name__.startswith("shift"):
    y = jnp.abs(y) % 12 if dtype != jnp.int8 else jnp.abs(y // 16)

  def kernel(x_ref, y_ref, o_ref):
    o_ref[...] = op(x_ref[...], y_ref[...])

  agrees(kernel, S(SHAPE, dtype), x, y)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS], ids=lambda d: d.__name__)
@pytest.mark.parametrize("op", [lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge], ids=lambda f: f.__name__)
def test_comparisons_and_selection(op, dtype):
  x, y = _values(dtype), _values(dtype, seed=1)

  def kernel(x_ref, y_ref, o_ref):
    o_ref[...] = jnp.where(op(x_ref[...], y_ref[...]), x_ref[...], y_ref[...])

  agrees(kernel, S(SHAPE, dtype), x, y)


@pytest.mark.parametrize("target", [*FLOATS, *INTS, jnp.bool_], ids=lambda d: d.__name__)
@pytest.mark.parametrize("source", [*FLOATS, *INTS, jnp.bool_], ids=lambda d: d.__name__)
def test_conversions(source, target):
  x = _values(source)

  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...].astype(target)

  agrees(kernel, S(SHAPE, target), x)


@pytest.mark.parametrize(
  "f, out",
  [
    (lambda x: x.T, (37, 5)),
    (lambda x: x.reshape(37, 5), (37, 5)),
    (lambda x: x.reshape(185), (185,)),
    (lambda x: lax.reshape(x, (37, 5), dimensions=(1, 0)), (37, 5)),
    (lambda x: x[:, ::-1], (5, 37)),
    (lambda x: x[1:4, 3:30:4], (3, 7)),
    (lambda x: jnp.concatenate([x, x * 2], 0), (10, 37)),
    (lambda x: jnp.concatenate([x, x * 2, x], 1), (5, 111)),
    (lambda x: jnp.pad(x, ((1, 2), (3, 0)), constant_values=7), (8, 40)),
    (lambda x: lax.pad(x, jnp.float32(1), ((0, -1, 1), (-2, 4, 0))), (8, 39)),
    (lambda x: jnp.broadcast_to(x[:, None, :], (5, 4, 37)), (5, 4, 37)),
    (lambda x: x + jnp.arange(37.0) + lax.broadcasted_iota(jnp.float32, (5, 37), 0), (5, 37)),
    (lambda x: x.reshape(5, 37, 1).transpose(2, 1, 0), (1, 37, 5)),
    (lambda x: lax.dynamic_slice(x, (1, 30), (2, 16)), (2, 16)),
    (lambda x: lax.dynamic_update_slice(x, x[:2, :5] + 1, (4, 10)), (5, 37)),
    (lambda x: jnp.tile(x, (2, 3)), (10, 111)),
    (lambda x: jnp.stack([x, x + 1], axis=1), (5, 2, 37)),
  ],
)
def test_shapes(f, out):
  x = _values(jnp.float32)

  def kernel(x_ref, o_ref):
    o_ref[...] = f(x_ref[...])

  agrees(kernel, S(out, jnp.float32), x)


@pytest.mark.parametrize("op", [jnp.sum, jnp.max, jnp.min, jnp.prod], ids=lambda f: f.__name__)
@pytest.mark.parametrize("axis", [0, 1, 2, (0, 1), (1, 2), (0, 2), None], ids=str)
def test_reductions(op, axis):
  x = jnp.asarray(np.random.default_rng(0).normal(size=(3, 5, 70)), jnp.float32)
  out = jax.eval_shape(lambda x: op(x, axis=axis), x)

  def kernel(x_ref, o_ref):
    o_ref[...] = op(x_ref[...], axis=axis)

  # Sums in another order differ by at most one rounding per addition, of which there are as many as elements.
  agrees(
    kernel, S(out.shape, out.dtype), x, ulps=0 if op in (jnp.max, jnp.min) else x.size / max(1, np.prod(out.shape))
  )


def test_what_has_no_elements():
  def f(x, y):  # (3, 0) and (0, 4)
    any_of = lambda v: lax.reduce(v, 1.0, lambda a, b: a * b + 1, (1,))
    window = lambda v: lax.reduce_window(v, 0.0, lax.add, (1, 2), (1, 1), "VALID")
    products = x @ y, y.T @ x.T, y @ jnp.ones((4, 2))
    return x.sum(), y.prod(1), y.max(0, initial=-1.0), any_of(x), products, jnp.sort(x), window(y[:, :1]), jnp.pad(y, 1)

  computes_the_same(f, jnp.zeros((3, 0)), jnp.zeros((0, 4)))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("op", [jnp.argmax, jnp.argmin], ids=lambda f: f.__name__)
def test_positions_of_extremes_with_ties_and_nan(op, axis):
  x = jnp.asarray([[1.0, 3.0, 3.0, -2.0, -2.0], [np.nan, 1.0, 9.0, np.nan, 0.0]] * 3, jnp.float32)
  out = jax.eval_shape(lambda x: op(x, axis=axis), x)

  def kernel(x_ref, o_ref):
    o_ref[...] = op(x_ref[...], axis=axis)

  agrees(kernel, S(out.shape, out.dtype), x)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("op", [lax.cumsum, lax.cummax, lax.cummin, lax.cumprod], ids=lambda f: f.__name__)
def test_running_totals(op, axis, reverse):
  x = jnp.asarray(np.random.default_rng(0).integers(1, 3, size=(4, 19)), jnp.float32)

  def kernel(x_ref, o_ref):
    o_ref[...] = op(x_ref[...], axis=axis, reverse=reverse)

  agrees(kernel, S(x.shape, x.dtype), x)  # small integers: every order of adding gives the same


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16], ids=["bf16", "f16"])
def test_halves_are_rounded_after_each_operation(dtype):
  """As if each were computed alone: also where the sum of a product would be finite without its rounding."""
  x, y, z = (jnp.asarray(np.random.default_rng(i).standard_normal((4, 300)), dtype) for i in range(3))
  x = x.at[0, :3].set(jnp.finfo(dtype).max)

  def kernel(x_ref, y_ref, z_ref, o_ref, finite_ref):
    o_ref[...] = x_ref[...] * y_ref[...] + z_ref[...]
    finite_ref[...] = jnp.isfinite(x_ref[...] * 2).astype(jnp.int32)

  agrees(kernel, [S((4, 300), dtype), S((4, 300), jnp.int32)], x, y, z)
