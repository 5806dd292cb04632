"""Primitives that are spelled out in others: bits, special functions, and reductions by any function."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

from tests.cpu.native import on_arrays


def _numbers(dtype, count=2000):
  """Numbers of all magnitudes, normal, with both zeros, infinities and NaN."""
  rng = np.random.default_rng(0)
  x = rng.normal(size=count) * np.exp2(rng.uniform(-13, 13, count))
  return np.concatenate([x, [0.0, -0.0, np.inf, -np.inf, np.nan]]).astype(dtype)


@pytest.mark.usual_xla
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("bits", [(8, 23), (8, 7), (5, 10), (5, 2), (4, 3), (8, 0)], ids=str)
def test_reduced_precision_as_in_xla(dtype, bits):
  f = lambda x: lax.reduce_precision(x, *bits)
  x = _numbers(dtype)
  np.testing.assert_array_equal(on_arrays(f, x).astype(np.float32), np.asarray(jax.jit(f)(x)).astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16], ids=lambda d: np.dtype(d).name)
def test_the_next_number(dtype):
  tiny = float(ml_dtypes.finfo(dtype).smallest_subnormal)  # subnormal numbers are neighbours of others too
  x = np.concatenate([_numbers(dtype), np.array([tiny, -tiny, 5 * tiny, 2 * tiny, -7 * tiny]).astype(dtype)])
  y = np.concatenate([x[::-1], x])
  x = np.concatenate([x, x])
  with np.errstate(all="ignore"):
    want = np.nextafter(x, y)
  np.testing.assert_array_equal(on_arrays(lax.nextafter, x, y).astype(np.float32), want.astype(np.float32))


_BYTE_FLOATS = ["e4m3fn", "e5m2", "e4m3", "e3m4", "e4m3b11fnuz", "e4m3fnuz", "e5m2fnuz", "e8m0fnu"]


@pytest.mark.parametrize("name", _BYTE_FLOATS)
def test_the_next_number_of_all_of_a_byte(name):
  """From each number towards each: the neighbour in the order of the numbers, whatever their codes are."""
  numbers = np.arange(256).astype(np.uint8).view(getattr(ml_dtypes, f"float8_{name}"))
  x, y = (a.ravel() for a in np.meshgrid(numbers, numbers))
  ordered = np.unique(numbers[~np.isnan(numbers.astype(np.float64))].astype(np.float64))
  start, goal = x.astype(np.float64), y.astype(np.float64)
  place = np.searchsorted(ordered, start) + (goal > start).astype(int) - (goal < start)
  moved = ordered[np.minimum(place, ordered.size - 1)]  # NaN has no place
  want = np.where(np.isnan(start) | np.isnan(goal), np.nan, moved)
  np.testing.assert_array_equal(on_arrays(lax.nextafter, x, y).astype(np.float64), want)


def test_cube_roots_of_subnormal_numbers():
  x = np.array([1e-45, -1e-45, 3e-39, -1e-38, 1.17549421e-38, 1.1754944e-38, 0.0, -0.0], np.float32)
  root = on_arrays(lax.cbrt, x)
  np.testing.assert_allclose(root, np.cbrt(x.astype(np.float64)), rtol=2.0**-23)
  np.testing.assert_array_equal(np.signbit(root), np.signbit(x))
  with jax.enable_x64(True):
    x = np.array([5e-324, -1e-310, 2.2e-308, 2.3e-308])
    np.testing.assert_allclose(on_arrays(lax.cbrt, x), np.cbrt(x), rtol=2.0**-51)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_subnormal_remainders(dtype):
  """Of normal numbers: the processor may take subnormal ones for zero, though nothing has to be computed with them."""
  rng, form = np.random.default_rng(0), np.finfo(dtype)
  small, count = float(form.smallest_normal), 2000
  y = (rng.uniform(1, 2, count) * small * np.exp2(rng.integers(0, 30, count))).astype(dtype)
  x = (y.astype(dtype) * rng.uniform(1, 2, count) * np.exp2(rng.integers(0, form.maxexp, count))).astype(dtype)
  x = np.append(x * rng.choice([-1, 1], count).astype(dtype), np.array([small / 2, -small / 4, 3 * small], dtype))
  y = np.append(y, np.array([small, 2 * small, 2 * small], dtype))
  want = np.fmod(x, y)
  assert ((want != 0) & (np.abs(want) < small)).sum() > 50
  with jax.enable_x64(True):
    np.testing.assert_array_equal(on_arrays(lax.rem, x, y), want)
    quotient = lambda x, y: x // y
    np.testing.assert_array_equal(on_arrays(quotient, x, y), jax.jit(quotient)(x, y))


def test_i1e_of_huge_numbers():
  x = np.array([1e38, -3.4e38, 6e37, np.inf, -np.inf, np.nan], np.float32)
  with np.errstate(invalid="ignore"):
    want = np.sign(x) / np.sqrt(2 * np.pi * np.abs(x.astype(np.float64)))
  np.testing.assert_allclose(on_arrays(lax.bessel_i1e, x), want, rtol=4e-7)


_EXTREMES = {
  "max": lambda x, y: [lax.max(x, y), lax.max(y, x), lax.max(x, jnp.zeros_like(x)), lax.max(-jnp.zeros_like(x), x)],
  "min": lambda x, y: [lax.min(x, y), lax.min(y, x), lax.min(x, -jnp.zeros_like(x)), lax.min(jnp.zeros_like(x), x)],
  "clamp": lambda x, y: [lax.clamp(x, y, jnp.ones_like(x)), lax.clamp(-jnp.ones_like(x), x, y)],
  "reduce": lambda x, y: [f(x.reshape(7, -1), axis=a) for f in (jnp.max, jnp.min) for a in (0, 1)],
  "cumulative": lambda x, y: [f(x.reshape(7, -1), axis=a) for f in (lax.cummax, lax.cummin) for a in (0, 1)],
  "place": lambda x, y: [f(x.reshape(7, -1), axis=a) for f in (jnp.argmax, jnp.argmin) for a in (0, 1)],
}


@pytest.mark.usual_xla
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("name", _EXTREMES)
def test_minus_zero_is_less_than_zero(name, dtype):
  zeros = np.array([0.0, -0.0])
  x, y = (a.ravel() for a in np.meshgrid(np.append(zeros, [1.0, -1.0, np.nan]), np.append(zeros, [2.0, -2.0, np.nan])))
  x, y = (np.append(np.resize(zeros[::step], 115), a).astype(dtype) for step, a in ((1, x), (-1, y)))  # 7 rows of 20
  for got, want in zip(on_arrays(_EXTREMES[name], x, y), jax.jit(_EXTREMES[name])(x, y), strict=True):
    got, want = (np.asarray(a).astype(np.float32) for a in (got, want))
    np.testing.assert_array_equal(got, want)
    is_zero = got == 0
    np.testing.assert_array_equal(np.signbit(got[is_zero]), np.signbit(want[is_zero]))


@pytest.mark.parametrize("dtype", ["int4", "uint4", "int8", "uint8", "int16", "int32", "uint32"])
def test_the_upper_half_of_a_product(dtype):
  dtype = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
  info = ml_dtypes.iinfo(dtype)
  rng = np.random.default_rng(0)
  x, y = (np.append(rng.integers(info.min, info.max, 500, endpoint=True), [info.min, info.max]) for _ in range(2))
  got = on_arrays(lax.mulhi, x.astype(dtype), y.astype(dtype))
  np.testing.assert_array_equal(got.astype(np.int64), [int(a) * int(b) >> info.bits for a, b in zip(x, y)])


WIDTHS = [
  *(("uint32", "int8"), ("float32", "uint16"), ("int16", "bfloat16")),
  *(("uint8", "int4"), ("uint16", "float4_e2m1fn"), ("int8", "uint2")),
]


@pytest.mark.parametrize("wide, narrow", WIDTHS)
def test_bitcasts_to_another_width(wide, narrow):
  wide, narrow = (np.dtype(getattr(jnp, d)) for d in (wide, narrow))
  raw = np.random.default_rng(0).integers(0, 256, (3, 5 * wide.itemsize)).astype(np.uint8)
  x = raw.view(wide) if wide != np.float32 else np.arange(15, dtype=np.float32).reshape(3, 5)
  parts = on_arrays(lambda x: lax.bitcast_convert_type(x, narrow), x)
  want = np.asarray(jax.jit(lambda x: lax.bitcast_convert_type(x, narrow))(x))
  assert parts.shape == want.shape
  np.testing.assert_array_equal(parts.view(np.uint8), want.view(np.uint8))
  np.testing.assert_array_equal(on_arrays(lambda x: lax.bitcast_convert_type(x, wide), parts), x)


def test_bitcast_between_formats_of_one_width():
  x = np.arange(16, dtype=np.uint8).astype(ml_dtypes.uint4)
  for dtype in (jnp.int4, jnp.float4_e2m1fn):
    f = lambda x: lax.bitcast_convert_type(lax.bitcast_convert_type(x, dtype), jnp.uint4)
    np.testing.assert_array_equal(on_arrays(f, x).astype(int), x.astype(int))


SPECIAL = {
  "igamma": lax.igamma,
  "igammac": lax.igammac,
  "betainc": lambda a, x: lax.betainc(a, x, lax.full_like(x, 0.375)),
  "bessel_i0e": lambda a, x: lax.bessel_i0e(jnp.where(a > 5, -x, x)),
  "bessel_i1e": lambda a, x: lax.bessel_i1e(jnp.where(a > 5, -x, x)),
  "zeta": lambda a, x: lax.zeta(jnp.maximum(a, 1.125), x),
  "polygamma": lambda a, x: lax.polygamma(jnp.floor(a), x),
  "log2": lambda a, x: lax.log2(x) if hasattr(lax, "log2") else x,
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions(name):
  """In f32 about as close to f64 as XLA gets."""
  f, args = SPECIAL[name], _arguments()
  with jax.enable_x64(True):
    want = np.asarray(jax.jit(f)(*(v.astype(np.float64) for v in args)))
  ours, theirs = (np.asarray(v) for v in (on_arrays(f, *args), jax.jit(f)(*args)))
  error, allowed = (np.abs(v - want) / np.maximum(np.abs(want), 1e-30) for v in (ours, theirs))
  assert error.max() <= max(2 * allowed.max(), 1e-6)


@pytest.mark.parametrize("name", ["bessel_i1e", "zeta"])
def test_special_functions_in_double_precision(name):
  with jax.enable_x64(True):
    args = [v.astype(np.float64) for v in _arguments()]
    np.testing.assert_allclose(on_arrays(SPECIAL[name], *args), jax.jit(SPECIAL[name])(*args), rtol=1e-13)


def _arguments():
  rng = np.random.default_rng(0)
  return [rng.uniform(*bounds, 300).astype(np.float32) for bounds in ((0.1, 10), (0.05, 40))]


def test_zeta_at_its_poles():
  """As in XLA: where q is no positive number, the sum is infinite for even x only, whose terms all have one sign."""
  x = np.asarray([1, 0.5, 2, 2, 2.5, 3, 1.5, 0, 1], np.float32)
  q = np.asarray([3, 3, 0, -2, -1.5, 0, -1, -2, 0], np.float32)
  expected = [np.inf, np.nan, np.inf, np.inf, np.nan, np.nan, np.nan, np.inf, np.inf]
  np.testing.assert_array_equal(on_arrays(lax.zeta, x, q), expected)


def test_the_gradient_of_igamma():
  a, x = np.float32([0.5, 2, 3]), np.float32([0.3, 1, 5])
  np.testing.assert_allclose(on_arrays(lax.igamma_grad_a, a, x), lax.igamma_grad_a(a, x), rtol=1e-5)


def test_reduction_by_any_function():
  """The largest magnitude along two dimensions, with where it stands: two arrays, reduced together."""
  x = np.random.default_rng(0).normal(size=(4, 9, 6)).astype(np.float32)
  places = np.arange(4 * 6, dtype=np.int32).reshape(4, 1, 6) + np.zeros((1, 9, 1), np.int32)

  def further(a, b):
    first = jnp.abs(a[0]) >= jnp.abs(b[0])
    return jnp.where(first, a[0], b[0]), jnp.where(first, a[1], b[1])

  f = lambda x, places: lax.reduce((x, places), (np.float32(0), np.int32(-1)), further, (0, 2))
  got, where = on_arrays(f, x, places)
  flat = np.abs(x).transpose(1, 0, 2).reshape(9, 24)
  np.testing.assert_array_equal(np.abs(got), flat.max(1))
  np.testing.assert_array_equal(where, flat.argmax(1))


@pytest.mark.parametrize("source", [np.float32, np.float64], ids=lambda d: d.__name__)
def test_floats_that_no_integer_holds_saturate(source):
  targets = [np.dtype(t) for t in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")]
  edges = np.asarray([0, *(s * 2.0**n for n in (7, 8, 15, 16, 31, 32, 63, 64) for s in (1, -1))], source)
  up, down = np.nextafter(edges, source(np.inf)), np.nextafter(edges, source(-np.inf))
  x = np.concatenate([edges, up, down, edges - source(0.5), [np.inf, -np.inf, np.nan, -0.75, 1e30]]).astype(source)
  with jax.enable_x64(True):
    found = on_arrays(lambda x: [x.astype(t) for t in targets], x)
  for got, target in zip(found, targets):
    info = np.iinfo(target)
    limited = [0 if np.isnan(v) else min(max(v, float(info.min)), float(info.max)) for v in x.astype(np.float64)]
    want = np.asarray([min(max(int(v), info.min), info.max) for v in limited], target)
    np.testing.assert_array_equal(got, want)
