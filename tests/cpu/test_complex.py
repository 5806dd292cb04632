"""Native kernels on complex numbers: arithmetic, functions, shapes, reductions, contractions, memory and control flow."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.cpu.native import both
from tests.cpu.native import on_arrays as native
from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import cpu

S = jax.ShapeDtypeStruct
EPS = 2.0**-23


def numbers(shape, seed=0, low=-6, high=3, dtype=np.complex64):
  """Complex numbers of many magnitudes."""
  rng = np.random.default_rng(seed)
  parts = (rng.normal(size=shape) * np.exp2(rng.uniform(low, high, shape)) for _ in range(2))
  return (next(parts) + 1j * next(parts)).astype(dtype)


SPECIAL = np.asarray(
  [complex(a, b) for a in (0.0, -0.0, 1.0, -2.0, np.inf, -np.inf) for b in (0.0, -0.0, 1.0, -np.inf)]
)

# Errors in units of the last place of the magnitude, against f64. What each formula does is derived beside it; the bounds leave
# room for the errors of the real functions in it, 1 to 2 units each.
FUNCTIONS = {
  **{lax.exp: (np.exp, 4), lax.log: (np.log, 4), lax.sqrt: (np.sqrt, 3), lax.rsqrt: (lambda z: 1 / np.sqrt(z), 5)},
  **{lax.sin: (np.sin, 4), lax.cos: (np.cos, 4), lax.tan: (np.tan, 6), lax.sinh: (np.sinh, 4), lax.cosh: (np.cosh, 4)},
  **{lax.tanh: (np.tanh, 6), lax.asin: (np.arcsin, 5), lax.acos: (np.arccos, 5), lax.atan: (np.arctan, 5)},
  **{lax.asinh: (np.arcsinh, 5), lax.acosh: (np.arccosh, 5), lax.atanh: (np.arctanh, 5), lax.log1p: (np.log1p, 5)},
  **{lax.expm1: (np.expm1, 5), lax.logistic: (lambda z: 1 / (1 + np.exp(-z)), 8), lax.sign: (lambda z: z / abs(z), 3)},
  lax.abs: (np.abs, 2),
  lax.square: (np.square, 2),
}


@pytest.mark.parametrize("op", FUNCTIONS, ids=lambda f: f.__name__)
def test_functions_are_accurate(op):
  z = numbers(3000)
  f, ulps = FUNCTIONS[op]
  got, want = native(op, z), f(z.astype(np.complex128))
  assert got.dtype == (np.float32 if op is lax.abs else np.complex64)
  error = np.abs(got - want) / np.abs(want) / EPS
  # log is 0 on the unit circle, where only the error against 1 can be bounded
  assert error[np.abs(want) > 0.1 if op is lax.log else slice(None)].max() < ulps


def test_functions_in_double_precision():
  with jax.enable_x64(True):
    z = numbers(500, dtype=np.complex128)
    got = native(lambda z: [jnp.exp(z), jnp.log(z), jnp.sqrt(z), z / jnp.conj(z)], z)
    for g, want in zip(got, (np.exp(z), np.log(z), np.sqrt(z), z / z.conj())):
      assert g.dtype == np.complex128
      np.testing.assert_allclose(g, want, rtol=8 * 2.0**-52)


@pytest.mark.parametrize("op", [lax.exp, lax.log, lax.sqrt, lax.abs, lax.asin, lax.tanh], ids=lambda f: f.__name__)
def test_zeros_and_infinities_go_where_the_c_standard_sends_them(op):
  z = SPECIAL[np.isfinite(SPECIAL.imag)] if op in (lax.exp, lax.tanh) else SPECIAL
  got = native(op, z.astype(np.complex64))
  with np.errstate(all="ignore"):
    want = FUNCTIONS[op][0](z)
  for g, w in ((got.real, want.real), (got.imag, want.imag)):
    np.testing.assert_array_equal(np.isnan(g), np.isnan(w))
    np.testing.assert_allclose(g, w.astype(np.float32), rtol=4 * EPS)


def test_the_logarithm_of_numbers_whose_magnitude_is_beyond_the_format():
  z = np.asarray([3e38 + 3e38j, -3e38 + 2e38j, 3.4e38], np.complex64)
  np.testing.assert_allclose(native(lax.log, z), np.log(z.astype(np.complex128)), rtol=4 * EPS)


def test_the_sign_of_zero_chooses_the_side_of_a_branch_cut():
  z = np.asarray([complex(-2, 0.0), complex(-2, -0.0)], np.complex64)
  log, sqrt = native(lambda z: [jnp.log(z), jnp.sqrt(z)], z)
  assert (np.sign(log.imag) == [1, -1]).all() and (np.sign(sqrt.imag) == [1, -1]).all()


def test_arithmetic():
  x, y = numbers(1000), numbers(1000, seed=1)
  wide = x.astype(np.complex128), y.astype(np.complex128)
  ops = {lax.add: np.add, lax.sub: np.subtract, lax.mul: np.multiply, lax.div: np.divide}
  for got, f in zip(native(lambda x, y: [op(x, y) for op in ops], x, y), ops.values(), strict=True):
    assert (np.abs(got - f(*wide)) <= 4 * EPS * np.maximum(np.abs(f(*wide)), np.abs(x) + np.abs(y))).all()


def test_division_does_not_overflow_where_the_quotient_does_not():
  x = np.asarray([1e30 + 1e30j, 1e-30, 3e38, 1], np.complex64)
  y = np.asarray([1e30 - 1e30j, 1e-30j, 1e38 + 1e38j, 1e-38j], np.complex64)
  got, want = native(lax.div, x, y), x.astype(np.complex128) / y.astype(np.complex128)
  np.testing.assert_allclose(got[:3], want[:3], rtol=4 * EPS)


@pytest.mark.usual_xla
def test_division_by_zero_and_by_infinity_as_in_xla():
  z = SPECIAL.astype(np.complex64)
  x, y = np.repeat(z, z.size), np.tile(z, z.size)
  direct = ~(np.isinf(x.real) & np.isinf(x.imag))  # XLA loses a part of inf + inf i over a finite number
  got, want = native(lax.div, x, y), np.asarray(jax.jit(lax.div)(x, y))
  for g, w in ((got.real, want.real), (got.imag, want.imag)):
    mismatch = (np.isnan(g) != np.isnan(w)) | (np.isinf(g) != np.isinf(w))
    assert not (mismatch & direct & ~np.isnan(w)).any()


def test_powers():
  x, y = numbers(200, low=-2, high=1), numbers(200, seed=1, low=-2, high=1)
  power, cube, inverse, zero = native(lambda x, y: [x**y, x**3, x**-2, (0 * x) ** jnp.abs(y).astype(x.dtype)], x, y)
  x, y = x.astype(np.complex128), y.astype(np.complex128)
  # The error of the logarithm grows with the exponent's magnitude.
  assert (np.abs(power / x**y - 1) < 8 * EPS * (1 + np.abs(y * np.log(x)))).all()
  np.testing.assert_allclose(cube, x**3, rtol=8 * EPS)
  np.testing.assert_allclose(inverse, x**-2, rtol=8 * EPS)
  np.testing.assert_array_equal(zero, 0)


@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_parts_comparison_selection_conversion():
  x = numbers((5, 19))
  y = np.where(np.arange(19) % 3, x, np.conj(x))

  def f(x, y):
    return [
      *(x == y, x != y, jnp.where(x == y, x, -y), jnp.conj(x), x.real, x.imag, lax.complex(x.imag, x.real)),
      *(lax.convert_element_type(x, jnp.float32), x.real.astype(jnp.complex64), x.astype(bool), (x * 0).astype(bool)),
      *(lax.convert_element_type(v, bool) for v in (x, x * 0, x - x.real)),
      *(x + (2 - 1j), lax.broadcasted_iota(jnp.complex64, (5, 19), 1), lax.conj(x.real)),
    ]

  for got, want in zip(native(f, x, y), jax.jit(f)(x, y), strict=True):
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_shapes():
  x = numbers((4, 6))

  def f(x):
    return [
      *(x.T, x.reshape(3, 8), x[::-1, 1::2], jnp.concatenate([x, x * 2], 1), jnp.broadcast_to(x[:, None], (4, 3, 6))),
      *(jnp.pad(x, ((1, 0), (0, 2)), constant_values=1j), lax.dynamic_slice(x, (1, 2), (2, 3))),
      *(lax.dynamic_update_slice(x, x[:2, :2] * 1j, (1, 1)), jnp.stack([x, x], 1), x[1]),
    ]

  for got, want in zip(native(f, x), f(x), strict=True):
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("axis", [0, 1, (0, 1), None, (0, 2)], ids=str)
def test_reductions(axis):
  x = numbers((3, 5, 4), low=-1, high=1)
  total, product = native(lambda x: [jnp.sum(x, axis), jnp.prod(x, axis)], x)
  wide = x.astype(np.complex128)
  count = x.size / max(total.size, 1)
  assert (np.abs(total - wide.sum(axis)) <= count * EPS * np.abs(wide).sum(axis)).all()
  np.testing.assert_allclose(product, wide.prod(axis), rtol=4 * count * EPS)
  np.testing.assert_allclose(native(lambda x: lax.cumsum(x, 1), x), wide.cumsum(1), rtol=0, atol=20 * EPS * 16)


@pytest.mark.parametrize(
  "dimensions, left, right",
  [
    ((((1,), (0,)), ((), ())), (9, 12), (12, 21)),
    ((((0, 1), (1, 0)), ((), ())), (9, 9, 7), (9, 9, 21)),
    ((((1,), (1,)), ((0,), (0,))), (3, 9, 7), (3, 9, 21)),
  ],
)
def test_contractions(dimensions, left, right):
  x, y = numbers(left, high=0), numbers(right, seed=1, high=0)
  dot = lambda x, y: lax.dot_general(x, y, dimensions)
  scale = np.asarray(dot(np.abs(x), np.abs(y)))
  # A part has two terms for each product, and each of at most 2 * 81 additions is rounded once, on both sides.
  assert (np.abs(native(dot, x, y) - np.asarray(jax.jit(dot)(x, y))) <= 2 * 164 * EPS * scale).all()


def test_blocks_edges_scratch_and_accumulation():
  x = numbers((10, 13))

  def kernel(x_ref, o_ref, total):
    @pl.when(pl.program_id(0) == 0)
    def _():
      total[...] = jnp.zeros((13,), jnp.complex64)

    row = pl.program_id(0) * 4 + lax.broadcasted_iota(jnp.int32, (4, 13), 0)
    total[...] += jnp.sum(jnp.where(row < 10, x_ref[...], 0), axis=0)
    o_ref[...] = x_ref[...] * total[...]

  native_, portable = both(
    kernel,
    S(x.shape, x.dtype),
    x,
    grid=(3,),
    in_specs=[pl.BlockSpec((4, 13), lambda i: (i, 0))],
    out_specs=pl.BlockSpec((4, 13), lambda i: (i, 0)),
    scratch_shapes=[pl.MemorySpace.ANY((13,), jnp.complex64)],
  )
  np.testing.assert_allclose(native_[0], portable[0], rtol=1e-4, atol=1e-4)


def test_an_update_in_place_reads_both_parts_before_it_writes_one():
  x = numbers((33,))

  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]
    o_ref[...] = o_ref[...] * o_ref[...]
    o_ref[...] = o_ref[...] * 1j

  got = pl.pallas_call(kernel, S(x.shape, x.dtype), compiler_params=cpu.CompilerParams())(x)
  np.testing.assert_allclose(got, x.astype(np.complex128) ** 2 * 1j, rtol=4 * EPS)


def test_indices_and_control_flow():
  """Horner's rule with a loop over refs, a carried complex tile, and a branch that gives one."""
  coefficients, z = numbers((6,), high=0), numbers((20,), seed=1, high=0)

  def kernel(c_ref, z_ref, o_ref):
    z = z_ref[...]
    value = lax.fori_loop(0, 6, lambda i, acc: acc * z + c_ref[5 - i], jnp.zeros_like(z))
    o_ref[...] = lax.cond(jnp.abs(c_ref[0]) > 1e9, lambda: value, lambda: value + 1)

  got = pl.pallas_call(kernel, S(z.shape, z.dtype), compiler_params=cpu.CompilerParams())(coefficients, z)
  want = np.polyval(coefficients[::-1].astype(np.complex128), z.astype(np.complex128)) + 1
  np.testing.assert_allclose(got, want, rtol=0, atol=64 * EPS * np.abs(coefficients).sum())


def test_extremes_go_by_the_real_part_then_the_imaginary_one():
  z = np.asarray([complex(a, b) for a in (1, -2, 0) for b in (3, -1, 2)], np.complex64).reshape(3, 3)
  f = lambda z: [lax.max(z, z[::-1]), lax.min(z, z.T), jnp.max(z), jnp.min(z, 0), jnp.max(z, 1)]
  for got, want in zip(native(f, z), jax.jit(f)(z), strict=True):
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("size", [1, 2, 7, 16])
def test_running_products_and_extremes(size, reverse):
  z = numbers((size, 3), low=-1, high=1)
  f = lambda z: [op(z, axis=0, reverse=reverse) for op in (lax.cumprod, lax.cummax, lax.cummin)]
  (product, *extremes), (_, *wanted) = native(f, z), jax.jit(f)(z)
  line = slice(None, None, -1 if reverse else 1)
  np.testing.assert_allclose(product, z[line].astype(np.complex128).cumprod(0)[line], rtol=4 * size * EPS)
  for got, want in zip(extremes, wanted, strict=True):
    np.testing.assert_array_equal(got, want)


def test_what_cannot_be_compiled_is_refused_with_its_line():
  with pytest.raises(errors.NativeCodeError, match=r"'arg_reduce'.*complex.*test_complex.py:\d+.*interpret=True"):
    native(lambda x: jnp.argmax(x, axis=0), numbers(4))


@pytest.mark.parametrize("kind", ["multiply", "min", "max"])
def test_scatters_that_combine(kind):
  x, rows, updates = numbers((5, 3)), np.asarray([3, 0, 7, 3], np.int32), numbers((4, 3))  # one outside, one twice
  f = lambda x, i, u: getattr(x.at[i], kind)(u, mode="drop")
  np.testing.assert_allclose(native(f, x, rows, updates), jax.jit(f)(x, rows, updates), rtol=8 * EPS)


def test_gathers_and_scatters():
  x = numbers((7, 5))
  rows = np.asarray([3, 0, 6, 3], np.int32)

  def kernel(x_ref, i_ref, taken_ref, added_ref, read_ref):
    taken_ref[...] = jnp.take(x_ref[...], i_ref[...], axis=0)
    added_ref[...] = x_ref[...].at[i_ref[...]].add(1j)
    read_ref[...] = x_ref[i_ref[...], :]

  shapes = [S((4, 5), x.dtype), S(x.shape, x.dtype), S((4, 5), x.dtype)]
  taken, added, read = pl.pallas_call(kernel, shapes, compiler_params=cpu.CompilerParams())(x, rows)
  np.testing.assert_array_equal(taken, x[rows])
  np.testing.assert_array_equal(read, x[rows])
  np.testing.assert_array_equal(added, x + 1j * np.bincount(rows, minlength=7)[:, None].astype(np.float32))
