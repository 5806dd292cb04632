"""Scales by the documented rules, elements rounded once, and what happens to blocks without finite numbers."""

from __future__ import annotations

import math

import exact
import exact_numbers as oracle
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright import errors
from tilewright.numerics import FORMATS, RECIPES, dequantize, encode, quantize, round_to, unpack
from tilewright.numerics.scaling import corrected

MX = [name for name in RECIPES if name.startswith("mx")]


def normal(*shape, seed=0):
  return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float32)


@pytest.mark.parametrize("name", MX)
def test_mx_scales_follow_the_ocp_rule(name):
  x = normal(4, 96) * jnp.exp2(jnp.arange(-60.0, 36.0))
  q = quantize(x, name)
  amax = np.max(np.abs(np.asarray(x).reshape(4, 3, 32)), axis=-1)
  want = np.exp2(np.floor(np.log2(amax.astype(np.float64))) - q.format.max_exponent)
  np.testing.assert_array_equal(oracle.scale_values(q.scales), want)


@pytest.mark.parametrize("name", MX)
def test_the_ceil_rule_takes_the_smallest_power_of_two_without_saturation(name):
  x = normal(8, 64, seed=1)
  q = quantize(x, name, rule="ceil")
  amax = np.max(np.abs(np.asarray(x, np.float64).reshape(8, 2, 32)), axis=-1)
  scales = oracle.scale_values(q.scales)
  assert (amax <= q.format.max * scales).all() and (amax > q.format.max * scales / 2).all()


def test_nvfp4_follows_its_recipe():
  x = normal(8, 64, seed=2) * 37
  q = quantize(x, "nvfp4")
  biggest = np.float32(np.max(np.abs(x)))
  assert float(q.global_scale) == biggest / np.float32(448 * 6)
  amax = np.max(np.abs(np.asarray(x).reshape(8, 4, 16)), axis=-1)
  want = round_to(amax / np.asarray(q.global_scale) / np.float32(6), "f8e4m3fn", saturate=True)
  np.testing.assert_array_equal(oracle.scale_values(q.scales), want)
  assert oracle.scale_values(q.scales).max() == 448


@pytest.mark.parametrize("name, axis", [*((name, 1) for name in (*RECIPES, "int4", "f8e5m2")), ("nvfp4", 0)])
def test_elements_are_rounded_once(name, axis):
  x = normal(50, 70, seed=3)
  q = quantize(x, name, axis=axis, interpret=True)
  scales = oracle.scale_values(q.scales) * (1 if q.global_scale is None else float(q.global_scale))
  scales = np.repeat(scales, q.padded_size // scales.shape[axis], axis=axis)
  exactly = np.asarray(x, np.float64) / np.take(scales, np.arange(q.size), axis=axis)
  got = oracle.dequantised(q) / (
    np.take(scales, np.arange(q.size), axis=axis) / (1 if q.global_scale is None else float(q.global_scale))
  )
  grid = exact.Grid(q.format.name)
  values = np.array([float(v) for v in grid.values])
  # No representable number is nearer, up to the rounding of the division in float32.
  nearest = values[np.argmin(np.abs(exactly[..., None] - values), axis=-1)]
  slack = np.abs(exactly) * 2 * oracle.UNIT
  assert (np.abs(got - exactly) <= np.abs(nearest - exactly) + slack * 1.01).all()


@pytest.mark.parametrize("name, axis", [("mxfp8", 0), ("mxfp8", 1), ("int8", 1), ("nvfp4", 0)])
def test_native_code_gives_the_same_bits(name, axis):
  x = normal(70, 100, seed=4)
  x = x.at[3].set(0).at[5, 7].set(jnp.nan).at[9, 70].set(jnp.inf)
  ours, portable = (jax.jit(lambda x: quantize(x, name, axis=axis, interpret=i))(x) for i in (None, True))
  for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(portable), strict=True):
    np.testing.assert_array_equal(oracle.raw(a), oracle.raw(b))


@pytest.mark.parametrize("name", ["int8", "nvfp4"])
def test_numbers_just_above_the_smallest_normal_one_are_not_lost(name):
  """Scales would be subnormal, which XLA flushes to zero."""
  x = normal(4, 64) * 2.0**-121
  lost = np.abs(np.asarray(dequantize(quantize(x, name)) - x)) * 2.0**121
  assert lost.max() <= 2.0**-3 * np.abs(np.asarray(x)).max() * 2.0**121


@pytest.mark.parametrize("interpret", [True, None], ids=["portable", "native"])
@pytest.mark.parametrize("axis", [0, 1])
def test_scales_in_the_middle_between_two_are_rounded_to_even(axis, interpret):
  """The sixth of 6.375 lies in the middle between 1 and 1.125; times a rounded reciprocal it is above the middle."""
  amax = np.arange(1, 129, dtype=np.float32) * 6 / 16  # what bfloat16s can be
  x = np.zeros((128, 16), np.float32)
  x[:, 3] = amax
  q = jax.jit(lambda x: quantize(x, "nvfp4", axis=axis, global_scale=0.375, interpret=interpret))(x if axis else x.T)
  want = encode(amax / np.float32(0.375) / np.float32(6), "f8e4m3fn", saturate=True)
  np.testing.assert_array_equal(oracle.raw(q.scales).reshape(-1), want)


@pytest.mark.parametrize("interpret", [None, True])
@pytest.mark.parametrize("options", [{}, {"rounding": "toward_zero"}, {"axis": 0}, {"axis": None}])
def test_elements_and_scales_are_divided_by_the_global_scale_first(options, interpret):
  """In two divisions, each rounded. By the product of both divisors, one element in a thousand is another."""
  x = normal(256, 256, seed=8).astype(jnp.bfloat16)
  q = jax.jit(lambda x: quantize(x, "nvfp4", interpret=interpret, **options))(x)
  values = np.asarray(x.astype(jnp.float32)) / np.float32(q.global_scale)
  axis = options.get("axis", -1)
  parts = values.reshape(1, -1) if axis is None else np.moveaxis(values, axis, -1).reshape(-1, 16)
  scales = np.asarray(round_to(np.abs(parts).max(1) / np.float32(6), "f8e4m3fn", saturate=True))
  rounding = options.get("rounding", "nearest_even")
  want = np.asarray(encode(parts / scales[:, None], "f4e2m1fn", rounding=rounding))
  got = np.asarray(unpack(q.data, 4, -1 if axis is None else axis))
  got = got.reshape(1, -1) if axis is None else np.moveaxis(got, axis, -1).reshape(-1, 16)
  np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("off", [-2, -1, 0, 1, 2])
def test_quotients_that_are_nearly_right_are_made_right(off):
  """XLA's divisions on GPUs are up to two units in the last place off. All but those close to the middle of two float32s are corrected."""
  rng = np.random.default_rng(9)
  scale = np.asarray(jnp.asarray(rng.uniform(0.01, 448, 20000), jnp.float8_e4m3fn).astype(jnp.float32))
  ties = scale * rng.choice([0.25, 0.75, 1.25, 2.5, 3.5, 5], scale.shape).astype(np.float32)
  for x in (ties, -ties, rng.standard_normal(scale.shape).astype(np.float32)):
    want = x / scale
    near = (want.view(np.int32) + off).view(np.float32)
    got = np.asarray(jax.jit(corrected)(near, x, scale))
    is_exact = want.astype(np.float64) * scale == x
    np.testing.assert_array_equal(got[is_exact], want[is_exact])
    assert np.mean(got != want) < 2.0**-10 and (np.abs(got.view(np.int32) - want.view(np.int32)) <= 1).all()
  special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], np.float32)
  got = np.asarray(corrected(special / np.float32(3), special, np.float32(3)))
  np.testing.assert_array_equal(got.view(np.uint32), (special / np.float32(3)).view(np.uint32))


def test_elements_are_divided_by_their_scale():
  """And not multiplied by a rounded reciprocal: towards zero, one in a hundred is another number then."""
  x = normal(256, 32, seed=8)
  q = quantize(x, "f8e5m2", rounding="toward_zero", interpret=True)
  ratio = jnp.asarray(np.asarray(x) / np.asarray(q.scales))
  np.testing.assert_array_equal(oracle.raw(q.data), np.asarray(encode(ratio, "f8e5m2", rounding="toward_zero")))


@pytest.mark.parametrize("name", ["mxfp8", "mxfp4", "nvfp4", "int8"])
def test_blocks_that_are_not_finite_read_as_nan_and_zeros_as_zeros(name):
  x = normal(4, 64, seed=5).at[0].set(0).at[1, 40].set(jnp.nan).at[2, 3].set(-jnp.inf)
  q = quantize(x, name, block=32 if name == "int8" else None, global_scale=None, interpret=True)
  value = np.asarray(dequantize(q))
  assert (value[0] == 0).all()
  assert np.isnan(value[1, 32:48]).all() and np.isfinite(value[1, :32]).all()
  assert np.isnan(value[2, :16]).all() and np.isfinite(value[2, 32:]).all()


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_groups_of_integers_use_their_whole_range(axis):
  x = normal(64, 64, seed=6)
  q = quantize(x, "int4", axis=axis, block=None if axis is None else 16)
  bits = oracle.dequantised(q) / (
    oracle.scale_values(q.scales) if axis is None else np.repeat(oracle.scale_values(q.scales), 16, axis=axis)
  )
  assert np.isclose(np.max(np.abs(bits)), 7)
  scale = np.max(oracle.scale_values(q.scales))
  assert np.max(np.abs(np.asarray(dequantize(q)) - np.asarray(x))) <= scale * (0.5 + 1e-6)


@settings(max_examples=5, deadline=None)
@given(
  shape=st.lists(st.integers(1, 9), min_size=1, max_size=3),
  axis=st.integers(0, 2),
  name=st.sampled_from(["mxfp8", "nvfp4", "mxfp6_e3m2", "int4"]),
)
def test_any_shape_and_axis_comes_back(shape, axis, name):
  axis %= len(shape)
  x = normal(*shape, seed=7)
  q = quantize(x, name, axis=axis, interpret=True)
  assert q.shape == x.shape == dequantize(q).shape
  assert float(jnp.max(jnp.abs(dequantize(q) - x))) <= float(jnp.max(jnp.abs(x))) / 4 + 1e-6


def test_stochastic_rounding_keeps_the_mean():
  x = jnp.broadcast_to(jnp.concatenate([jnp.array([6.0]), jnp.full((15,), 1.2)]), (4096, 16))
  q = quantize(x, "nvfp4", global_scale=None, rounding="stochastic", key=jax.random.key(0))
  value = np.asarray(dequantize(q))[:, 1:]
  assert set(np.unique(value)) == {1.0, 1.5}
  # Five standard deviations of the mean of values 0.5 apart.
  assert abs(value.mean() - 1.2) < 5 * 0.25 / math.sqrt(value.size)


@pytest.mark.parametrize(
  "format, options, message",
  [
    ("fp8", {}, r"format must be a recipe \(mxfp8"),
    ("int4", {"block": 3}, r"block for int4 must be a positive multiple of 2.*got 3"),
    ("mxfp8", {"block": 0}, r"block for f8e4m3fn must be a positive integer; got 0"),
    ("mxfp8", {"block": 2.5}, r"must be a positive integer; got 2.5"),
    ("mxfp8", {"block": 32, "axis": None}, r"axis=None is one scale for the whole array and takes no block, got 32"),
    ("mxfp8", {"rule": "divide"}, r"rule for f8e8m0fnu scales must be floor or ceil"),
    ("mxfp8", {"rounding": "stochastic"}, r"needs key"),
    ("nvfp4", {"global_scale": "none"}, r"global_scale must be a number, True, None or"),
    ("nvfp4", {"global_scale": object()}, r"global_scale must be a number, True, None or"),
    ("bf16", {}, r"format must be signed and have at most 8 bits, got bf16"),
    ("f8e8m0fnu", {}, r"format must be signed"),
  ],
)
def test_mistakes_are_named(format, options, message):
  with pytest.raises(errors.NumberFormatError, match=message):
    quantize(jnp.ones((4, 64)), format, **options)


@pytest.mark.parametrize("axis, shape", [(1, (3,)), (1, (4, 64)), (0, (4,)), (None, (4,))])
def test_a_global_scale_for_what_is_no_leading_index_is_named(axis, shape):
  with pytest.raises(errors.ShapeMismatchError, match=r"global_scale must be one number.*got shape"):
    quantize(jnp.ones((4, 64)), "mxfp8", axis=axis, global_scale=np.ones(shape))


@pytest.mark.parametrize("name, axis", [("mxfp8", 0), ("mxfp4", 1)])
def test_a_global_scale_divides_before_mx_scales_are_chosen(name, axis):
  """A power of two moves nothing but exponents: the elements stay, the scales are that much larger."""
  x = normal(32, 64)
  plain, divided = quantize(x, name, axis=axis), quantize(x, name, axis=axis, global_scale=0.25)
  np.testing.assert_array_equal(dequantize(divided), dequantize(plain))
  assert (divided.scales.astype(jnp.float32) == 4 * plain.scales.astype(jnp.float32)).all()


def test_what_is_no_array_of_floats_is_named():
  with pytest.raises(errors.NumberFormatError, match=r"x must be an array, got QArray"):
    quantize(quantize(jnp.ones((4, 64)), "mxfp8"), "mxfp8")
  with pytest.raises(errors.NumberFormatError, match=r"x must be float32"):
    quantize(jnp.ones((4, 64), jnp.int32), "mxfp8")
  with pytest.raises(errors.ShapeMismatchError, match=r"at least one dimension"):
    quantize(jnp.float32(3), "int8", axis=None)
  with pytest.raises(errors.NumberFormatError, match=r"q must be a QArray"):
    dequantize(jnp.ones(4))
  with pytest.raises(errors.NumberFormatError, match=r"dequantize: dtype must be a dtype, got 'f99'"):
    dequantize(quantize(jnp.ones(4), "int8"), "f99")
  with pytest.raises(errors.NumberFormatError, match=r"key must be a key, .* got 3"):
    quantize(jnp.ones(4), "int8", rounding="stochastic", key=3)
  with pytest.raises(errors.NumberFormatError, match=r"block for int8 must be a positive integer; got True"):
    quantize(jnp.ones(4), "int8", block=True)


def test_a_format_may_be_given_as_a_dtype():
  assert FORMATS["f8e4m3fn"] is quantize(jnp.ones((4, 64)), jnp.float8_e4m3fn).format


def test_a_global_scale_may_be_asked_for_or_declined():
  x = normal(4, 64)
  for none in (None, False):
    assert quantize(x, "nvfp4", global_scale=none).global_scale is None
  asked, recipe = quantize(x, "nvfp4", global_scale=True), quantize(x, "nvfp4")
  assert asked.global_scale == recipe.global_scale


def test_a_global_scale_may_be_an_array_of_one_number():
  """As the configs of `jax.nn` have it."""
  x = normal(64, 4)
  assert quantize(x, "nvfp4", axis=0, global_scale=jnp.full((1,), 0.5)) == quantize(
    x, "nvfp4", axis=0, global_scale=0.5
  )


@pytest.mark.parametrize("scale_format", ["f8e8m0fnu", "f32", "bf16", "f16"])
def test_a_global_scale_that_is_asked_for_leaves_scales_in_range(scale_format):
  x = 1000 * normal(4, 64)
  q = quantize(x, "int8", 32, scale_format=scale_format, global_scale=True)
  assert np.linalg.norm(dequantize(q) - x) <= 2.0**-5 * np.linalg.norm(x)


def test_stochastic_rounding_where_jax_holds_wide_integers():
  x = normal(4, 64)
  with jax.enable_x64(True):
    wide = quantize(x, "mxfp4", rounding="stochastic", key=jax.random.key(0))
  assert wide == quantize(x, "mxfp4", rounding="stochastic", key=jax.random.key(0))


def test_nothing_of_finite_numbers_is_a_nan_on_the_way():
  with jax.debug_nans(True):
    for name in ("nvfp4", "mxfp8", "int8"):
      x = normal(4, 64)
      back = dequantize(quantize(x, name, interpret=True))
      assert np.isfinite(np.asarray(back)).all() and (np.sign(back) * np.sign(x) >= 0).all()
