"""Quantised products and conversions on an NVIDIA GPU, against float64 and against the CPU."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from tilewright import numerics
from tilewright import pallas as pl
from tilewright.pallas import nvgpu

pytestmark = pytest.mark.gpu
ROWS = (((1,), (1,)), ((), ()))


def _normal(*shape, dtype=jnp.float32, seed=0):
  return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), dtype)


def _exact(x):
  """An operand in float64, dequantised on the CPU."""
  if not isinstance(x, numerics.QArray):
    return np.asarray(x, np.float64)
  with jax.default_device(jax.devices("cpu")[0]):
    return np.asarray(numerics.dequantize(jax.tree.map(lambda a: jnp.asarray(np.asarray(a)), x)), np.float64)


def _holds(got, a, b, dtype=jnp.float32):
  """Within (k + 8) roundings of the sum of magnitudes, and one of the result."""
  exact_a, exact_b = _exact(a), _exact(b)
  wanted = exact_a @ exact_b.T
  bound = (exact_a.shape[1] + 8) * 2.0**-24 * (np.abs(exact_a) @ np.abs(exact_b).T)
  bound += float(jnp.finfo(dtype).eps) * np.abs(wanted)
  assert got.shape == wanted.shape and got.dtype == dtype
  assert (np.abs(np.asarray(got, np.float64) - wanted) <= bound).all()


@pytest.mark.parametrize("m, n, k", [(1, 256, 1024), (3, 77, 1000), (8, 512, 4096), (16, 64, 256), (32, 96, 512)])
@pytest.mark.parametrize("recipe", ["nvfp4", "mxfp4", "mxfp8", "mxfp8_e5m2", "mxint8"])
@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float32, jnp.float16], ids=["bf16", "f32", "f16"])
def test_a_few_rows_times_packed_weights(recipe, m, n, k, dtype):
  x, w = _normal(m, k, dtype=dtype), numerics.quantize(_normal(n, k, seed=1), recipe)
  _holds(jax.jit(lambda x, w: numerics.scaled_dot(x, w, ROWS))(x, w), x, w)


@pytest.mark.parametrize("recipe, block", [("nvfp4", None), ("mxfp4", None), ("int4", 64)])
@pytest.mark.parametrize("n, k", [(4352, 512), (4352, 8192), (96, 1024)])
def test_every_number_of_a_few_rows_times_packed_weights(recipe, block, n, k):
  """Rows of weights enough for all SMs, and too few."""
  x, w = _normal(16, k, dtype=jnp.bfloat16), numerics.quantize(_normal(n, k, seed=1), recipe, block=block)
  for got in jax.jit(lambda x, w: [numerics.scaled_dot(x[:m], w, ROWS) for m in range(1, 17)])(x, w):
    _holds(got, x[: len(got)], w)


@pytest.mark.parametrize("axis", [0, 1])
def test_weights_in_either_order_and_on_either_side(axis):
  x, plain = _normal(4, 512, dtype=jnp.bfloat16), _normal(512, 256, seed=1)
  w = numerics.quantize(plain if axis == 0 else plain.T, "nvfp4", axis=axis)
  numbers = (((1,), (axis,)), ((), ()))
  exact = _exact(w).T if axis == 0 else _exact(w)
  got = numerics.scaled_dot(x, w, numbers)
  _holds(got, x, exact)
  swapped = numerics.scaled_dot(w, x, (((axis,), (1,)), ((), ())))
  np.testing.assert_array_equal(np.asarray(swapped), np.asarray(got).T)


@pytest.mark.parametrize("m, n, k", [(128, 128, 256), (256, 384, 512), (100, 77, 200), (64, 1000, 320)])
@pytest.mark.parametrize(
  "recipes", [("mxfp8", "mxfp8"), ("nvfp4", "nvfp4"), ("mxfp8", "mxfp8_e5m2"), ("mxfp4", "mxfp4")]
)
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16], ids=["f32", "bf16"])
def test_both_sides_scaled(recipes, m, n, k, dtype):
  a, b = (numerics.quantize(_normal(r, k, seed=s), f) for s, (r, f) in enumerate(zip((m, n), recipes)))
  dot = jax.jit(lambda a, b: numerics.scaled_dot(a, b, ROWS, preferred_element_type=dtype))
  _holds(dot(a, b), a, b, dtype)


@pytest.mark.parametrize("recipe, k", [("mxfp8", k) for k in (512, 640, 1024, 1536, 2560)] + [("nvfp4", 1024)])
def test_more_blocks_than_multiprocessors(recipe, k):
  """CTAs take several points of the grid; scales of MXFP8 come for four steps at a time, which are one to five times as many,
  or are copied by threads; rows are left over."""
  a, b = (numerics.quantize(_normal(rows, k, seed=rows), recipe) for rows in (2100, 2304))
  _holds(jax.jit(lambda a, b: numerics.scaled_dot(a, b, ROWS))(a, b), a, b)


@pytest.mark.parametrize("recipe, block", [("int4", 64), ("int8", None), ("mxfp6_e2m3", None)])
def test_other_formats_are_dequantised_in_the_kernel(recipe, block):
  x, w = _normal(5, 384), numerics.quantize(_normal(96, 384, seed=1), recipe, block=block)
  _holds(jax.jit(lambda x, w: numerics.scaled_dot(x, w, ROWS))(x, w), x, w)


def test_many_rows_of_floats_times_packed_weights():
  x, w = _normal(130, 512), numerics.quantize(_normal(160, 512, seed=1), "nvfp4")
  _holds(jax.jit(lambda x, w: numerics.scaled_dot(x, w, ROWS))(x, w), x, w)


def test_batches_have_their_own_weights_and_global_scales():
  x = _normal(3, 4, 256, dtype=jnp.bfloat16)
  w = jax.vmap(lambda y: numerics.quantize(y, "nvfp4"))(_normal(3, 64, 256, seed=1))
  got = jax.vmap(lambda x, w: numerics.scaled_dot(x, w, ROWS))(x, w)
  for i in range(3):
    _holds(got[i], x[i], jax.tree.map(lambda a: a[i], w))


def test_a_nan_scale_reaches_its_own_column_only():
  w = numerics.quantize(_normal(64, 256, seed=1).at[5, 20].set(jnp.nan), "nvfp4")
  got = np.asarray(numerics.scaled_dot(_normal(2, 256, dtype=jnp.bfloat16), w, ROWS))
  assert np.isnan(got[:, 5]).all() and np.isfinite(np.delete(got, 5, 1)).all()


# --- conversions -------------------------------------------------------------------------------------------------


def _converted(x, dtype):
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...].astype(o_ref.dtype)

  shape = jax.ShapeDtypeStruct(x.shape, dtype)
  return np.asarray(pl.pallas_call(kernel, shape, compiler_params=nvgpu.CompilerParams())(x))


SMALL = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3", "float8_e8m0fnu", "float8_e4m3fnuz"]


@pytest.mark.parametrize("name", SMALL)
def test_every_code_is_decoded_as_ml_dtypes_does(name):
  codes = np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, name))
  for dtype in (np.float32, ml_dtypes.bfloat16):
    np.testing.assert_array_equal(_converted(jnp.asarray(codes), dtype).astype(np.float32), codes.astype(np.float32))


@pytest.mark.parametrize("name", SMALL)
def test_every_boundary_is_rounded_as_ml_dtypes_does(name):
  """Every number of the format, every midpoint, and their neighbours among the float32s."""
  dtype = getattr(ml_dtypes, name)
  numbers = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
  finite = np.unique(numbers[np.isfinite(numbers)])
  middles = ((finite[1:].astype(np.float64) + finite[:-1]) / 2).astype(np.float32)
  beyond = np.float32([464, 480, 61440, 65536, 1e30, np.inf, np.nan])
  some = np.concatenate([finite, middles, beyond, -beyond])
  some = np.concatenate([some, np.nextafter(some, np.float32(np.inf)), np.nextafter(some, np.float32(-np.inf))])
  some = some[(np.abs(some) >= 2.0**-126) | (some == 0) | np.isnan(some)]
  some = np.resize(some, -(-some.size // 128) * 128)
  wanted = some.astype(dtype)
  got = _converted(jnp.asarray(some), dtype)
  both_nan = np.isnan(got.astype(np.float32)) & np.isnan(wanted.astype(np.float32))
  same = (got.view(np.uint8) == wanted.view(np.uint8)) | both_nan
  assert same.all(), (some[~same][:5], got[~same][:5], wanted[~same][:5])
