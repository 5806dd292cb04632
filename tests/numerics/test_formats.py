"""Every bit pattern of every format, and every number at which rounding changes, against the definition in fractions."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import exact
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from tilewright import errors
from tilewright.numerics import FORMATS, convert, decode, encode, format_of, packing

SMALL = [name for name, d in exact.DEFINITIONS.items() if d.width <= 8]
decode_jit = jax.jit(decode, static_argnums=1)
encode_jit = jax.jit(encode, static_argnums=1, static_argnames=("rounding", "saturate"))


def patterns(name):
  f = FORMATS[name]
  return np.arange(1 << f.width).astype(f.bits_dtype)


@functools.cache
def grid(name):
  return exact.Grid(name)


def assert_is(got, want):
  """The same number, or both NaN; the sign of zero is looked at elsewhere."""
  if isinstance(want, Fraction):
    assert math.isfinite(got) and Fraction(float(got)) == want, (got, want)
  else:
    assert got == want or (math.isnan(got) and math.isnan(want)), (got, want)


@pytest.mark.parametrize("name", exact.DEFINITIONS)
def test_every_pattern_stands_for_its_definition(name):
  got = np.asarray(decode_jit(patterns(name), name))
  for bits, value in enumerate(got):
    assert_is(value, exact.value(exact.DEFINITIONS[name], bits))


@pytest.mark.parametrize("name", exact.DEFINITIONS)
def test_every_pattern_survives_a_round_trip(name):
  bits = patterns(name)
  values = decode_jit(bits, name)
  back = np.asarray(encode_jit(values, name))
  numbers = ~np.isnan(np.asarray(values))
  np.testing.assert_array_equal(back[numbers], bits[numbers])
  assert np.isnan(np.asarray(decode_jit(back, name))[~numbers]).all()


@pytest.mark.parametrize("name", SMALL)
def test_rounding_is_right_at_every_number_where_it_changes(name):
  x = exact.decision_points(name)
  nearest = np.asarray(decode_jit(encode_jit(x, name), name))
  chopped = np.asarray(decode_jit(encode_jit(x, name, rounding="toward_zero", saturate=True), name))
  g = grid(name)
  for point, near, chop in zip(x, nearest, chopped):
    q = exact.fraction(point)
    assert_is(near, g.nearest(q))
    if g.values[0] <= q <= g.values[-1]:
      low, high = g.neighbours(q)
      assert_is(chop, low if q >= 0 else (q if low == q else high))


@pytest.mark.parametrize("name", ["f4e2m1fn", "f6e3m2fn", "f8e4m3fn", "f8e5m2", "f8e4m3fnuz", "int4"])
def test_float64s_are_rounded_once(name):
  """A number 2^-40 beside a tie is one more that a float32 in between would lose."""
  values = np.array([float(v) for v in grid(name).values])
  ties = (values[1:] + values[:-1]) / 2
  x = np.concatenate([ties[ties != 0] * (1 + 2.0**-40), ties[ties != 0] * (1 - 2.0**-40), [1e300, -1e-300]])
  with jax.enable_x64(True):
    got = np.asarray(decode(encode(jnp.asarray(x), name, saturate=True), name))
  for point, near in zip(x, got):
    assert_is(near, grid(name).nearest(Fraction(min(max(point, values[0]), values[-1]))))


@pytest.mark.parametrize("name", ["f8e4m3fn", "int4"])
def test_float64s_of_numpy_are_rounded_once_though_jax_holds_none(name):
  """Just beyond a tie, by less than a float32 could say."""
  beyond = np.array([2.5 + 1e-12, 2.5 - 1e-12, 0.5 + 2.0**-10 + 1e-15, -2.5 - 1e-12])
  want = [float(grid(name).nearest(Fraction(x))) for x in beyond]
  assert convert.round_to(beyond, name).tolist() == want
  assert float(convert.round_to(float(beyond[0]), name)) == want[0]


@pytest.mark.parametrize("rounding", ["nearest_even", "toward_zero"])
def test_numbers_beyond_every_float32_are_beyond_the_largest(rounding):
  with jax.enable_x64(True):
    for convert, x in ((encode, np.array([1e300, -1e300])), (encode_jit, jnp.array([1e300, -1e300]))):
      assert convert(x, "f8e8m0fnu", rounding=rounding).tolist() == [0xFF, 0xFF]
      assert convert(x, "bf16", rounding=rounding).tolist() == [0x7F80, 0xFF80]


@pytest.mark.parametrize("name", ["bf16", "f16"])
def test_wide_formats_round_as_numpy_does(name):
  rng = np.random.default_rng(0)
  x = rng.integers(0, 1 << 32, 100_000, dtype=np.uint64).astype(np.uint32).view(np.float32)
  x = x[~np.isnan(x)]
  with np.errstate(over="ignore"):
    want = x.astype(FORMATS[name].dtype).view(np.uint16)
  np.testing.assert_array_equal(np.asarray(encode_jit(x, name)), want)


@pytest.mark.parametrize("name", SMALL)
def test_saturation_gives_the_largest_number(name):
  f = FORMATS[name]
  x = np.array([np.inf, 3e38, f.max * 1.01 if f.max < 1e38 else f.max], np.float32)
  up = np.asarray(decode_jit(encode_jit(x, name, saturate=True), name))
  np.testing.assert_array_equal(up, np.float32(f.max))
  if f.signed:
    down = np.asarray(decode_jit(encode_jit(-x, name, saturate=True), name))
    np.testing.assert_array_equal(down[:2], np.float32(f.min))


@pytest.mark.parametrize("name", SMALL)
def test_nan_stays_nan_where_there_is_one(name):
  f = FORMATS[name]
  for saturate in (False, True):
    got = decode(encode(jnp.float32(np.nan), name, saturate=saturate), name)
    assert bool(jnp.isnan(got)) == f.has_nan
    assert f.has_nan or float(got) == 0


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("place", ["around zero", "at the top"])
def test_stochastic_rounding_takes_a_neighbour_with_the_probability_that_keeps_the_mean(name, place):
  f, values = FORMATS[name], grid(name).values
  first = len(values) // 2 if place == "around zero" else len(values) - 2
  low, high = float(values[first]), float(values[first + 1])
  count, share = 40_000, 0.3
  x = jnp.full((count,), low + share * (high - low), jnp.float32)
  random_bits = jax.random.bits(jax.random.key(3), (count,))
  got = np.asarray(decode(encode(x, f, rounding="stochastic", random_bits=random_bits), f))
  assert set(np.unique(got)) == {np.float32(low), np.float32(high)}
  # Five standard deviations of the mean of `count` coins.
  assert abs(np.mean(got == np.float32(high)) - share) < 5 * math.sqrt(share * (1 - share) / count)


@pytest.mark.parametrize("name", SMALL)
def test_stochastic_rounding_leaves_representable_numbers_alone(name):
  values = np.array([v for v in np.asarray(decode_jit(patterns(name), name)) if np.isfinite(v)], np.float32)
  random_bits = jnp.full(values.shape, 0xFFFFFFFF, jnp.uint32)
  got = decode(encode(values, name, rounding="stochastic", random_bits=random_bits), name)
  np.testing.assert_array_equal(np.asarray(got), values)


def test_facts_about_formats_agree_with_their_patterns():
  for name in exact.DEFINITIONS:
    f = FORMATS[name]
    finite = grid(name).values
    assert (Fraction(f.max), Fraction(f.min)) == (finite[-1], finite[0])
    assert Fraction(f.min_subnormal) == min(v for v in finite if v > 0)
    assert f.has_zero == (0 in finite)


def test_formats_are_found_by_name_and_dtype():
  assert format_of(jnp.float8_e4m3fn) is format_of("f8e4m3fn") is FORMATS["f8e4m3fn"]
  assert format_of(ml_dtypes.float6_e3m2fn) is FORMATS["f6e3m2fn"]
  with pytest.raises(errors.NumberFormatError, match=r"format must be a number format.*got 'f9'"):
    format_of("f9")


def test_mistakes_are_named():
  x = jnp.ones(3)
  with pytest.raises(errors.NumberFormatError, match="rounding must be one of"):
    encode(x, "f8e5m2", rounding="up")
  with pytest.raises(errors.NumberFormatError, match="needs random_bits"):
    encode(x, "f8e5m2", rounding="stochastic")
  with pytest.raises(errors.NumberFormatError, match="must be an array of floats, got int32"):
    convert.encode(jnp.arange(3), "f8e5m2")
  with pytest.raises(errors.NumberFormatError, match=r"decode: bits must be an array of integers.*got float8_e5m2"):
    decode(x.astype(jnp.float8_e5m2), "f8e5m2")
  with pytest.raises(errors.ShapeMismatchError, match="5 elements of 4 bits"):
    packing.pack(jnp.zeros(5, jnp.uint8), 4)
  with pytest.raises(errors.NumberFormatError, match="pack: bits must be an array of integers"):
    packing.pack(x, 4)
  for change in (packing.pack, packing.unpack):
    with pytest.raises(
      errors.NumberFormatError, match="width must be 2, 4, 6, 8, 16 or 32 bits of an element, got 'a'"
    ):
      change(jnp.zeros(4, jnp.uint8), "a")
    with pytest.raises(errors.ShapeMismatchError, match="axis must be one integer between -1 and 0"):
      change(jnp.zeros(4, jnp.uint8), 4, axis=1)
  with pytest.raises(errors.ShapeMismatchError, match="6-bit elements come in 3 bytes at a time"):
    packing.unpack(jnp.zeros(4, jnp.uint8), 6)


@pytest.mark.parametrize("width", [2, 4, 6])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_packing_keeps_every_bit_and_wastes_none(width, axis):
  rng = np.random.default_rng(1)
  bits = jnp.asarray(rng.integers(0, 1 << width, (8, 12, 16)), jnp.uint8)
  packed = packing.pack(bits, width, axis)
  assert packed.size * 8 == bits.size * width
  np.testing.assert_array_equal(packing.unpack(packed, width, axis), bits)


@pytest.mark.parametrize("width", [2, 4, 6])
def test_packed_bits_are_in_little_endian_order(width):
  rng = np.random.default_rng(2)
  bits = rng.integers(0, 1 << width, 24)
  number = sum(int(b) << (i * width) for i, b in enumerate(bits))
  packed = np.asarray(packing.pack(jnp.asarray(bits, jnp.uint8), width))
  assert int.from_bytes(packed.tobytes(), "little") == number
