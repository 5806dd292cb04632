"""Conversions, exhaustively: every code of every small float, against a definition written from the formats themselves."""

from __future__ import annotations

import bisect
import itertools
import math
from dataclasses import dataclass
from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest
from against_jax import check
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright import hlo
from tilewright.hlo.evaluate import numbers


@dataclass(frozen=True)
class Format:
  exponent: int
  mantissa: int
  bias: int
  overflow: str  # infinity, nan or saturate: what a value too large becomes
  specials: str  # ieee: top exponent is inf/nan; fn: all ones is nan; fnuz: negative zero is nan; none
  signed: bool = True


FORMATS = {
  "f8e5m2": Format(5, 2, 15, "infinity", "ieee"),
  "f8e4m3": Format(4, 3, 7, "infinity", "ieee"),
  "f8e3m4": Format(3, 4, 3, "infinity", "ieee"),
  "f8e4m3fn": Format(4, 3, 7, "nan", "fn"),
  "f8e4m3b11fnuz": Format(4, 3, 11, "nan", "fnuz"),
  "f8e4m3fnuz": Format(4, 3, 8, "nan", "fnuz"),
  "f8e5m2fnuz": Format(5, 2, 16, "nan", "fnuz"),
  "f4e2m1fn": Format(2, 1, 1, "saturate", "none"),
  "f6e2m3fn": Format(2, 3, 1, "saturate", "none"),
  "f6e3m2fn": Format(3, 2, 3, "saturate", "none"),
}


def decode(fmt: Format, code: int) -> float:
  """The value of a code, from the definition of the format."""
  width = 1 + fmt.exponent + fmt.mantissa
  sign = -1.0 if code >> (width - 1) else 1.0
  exponent = (code >> fmt.mantissa) & ((1 << fmt.exponent) - 1)
  fraction = code & ((1 << fmt.mantissa) - 1)
  top = (1 << fmt.exponent) - 1
  if fmt.specials == "ieee" and exponent == top:
    return sign * math.inf if fraction == 0 else math.nan
  if fmt.specials == "fn" and exponent == top and fraction == (1 << fmt.mantissa) - 1:
    return math.nan
  if fmt.specials == "fnuz" and code == 1 << (width - 1):
    return math.nan
  if exponent == 0:
    return sign * math.ldexp(fraction, 1 - fmt.bias - fmt.mantissa)
  return sign * math.ldexp((1 << fmt.mantissa) + fraction, exponent - fmt.bias - fmt.mantissa)


def encode(fmt: Format, x: float) -> float:
  """The value that x rounds to: the nearest one, a tie to the even code; past the last one, as the format says."""
  if math.isnan(x):
    return math.nan if fmt.specials != "none" else 0.0
  half = [decode(fmt, code) for code in range(1 << (fmt.exponent + fmt.mantissa))]
  ladder = [v for v in half if math.isfinite(v)]
  step = ladder[-1] - ladder[-2]
  size = abs(x)
  beyond = ladder[-1] + step  # what would come next
  if size >= ladder[-1] + step / 2 and not (size == ladder[-1] + step / 2 and (len(ladder) - 1) % 2 == 0):
    found = {"infinity": math.inf, "nan": math.nan, "saturate": ladder[-1]}[fmt.overflow]
  else:
    ladder.append(beyond)
    i = bisect.bisect_left(ladder, size)
    if ladder[i] == size:
      found = size
    else:
      low, high = size - ladder[i - 1], ladder[i] - size
      found = ladder[i - 1] if low < high or (low == high and (i - 1) % 2 == 0) else ladder[i]
  return math.copysign(found, x)


def convert(x: np.ndarray, source: str, target: str) -> np.ndarray:
  shape = f"[{x.size}]"
  text = f"HloModule m\nENTRY e {{\n  x = {source}{shape} parameter(0)\n  ROOT y = {target}{shape} convert(x)\n}}"
  return hlo.evaluate(hlo.parse(text), x)


def codes(name: str) -> np.ndarray:
  row = hlo.PRIMITIVE_TYPES[name]
  return np.arange(1 << row.bits, dtype=np.uint8).view(row.dtype)


@pytest.mark.parametrize("name", FORMATS)
def test_every_code_decodes_to_its_definition(name: str) -> None:
  want = np.array([decode(FORMATS[name], code) for code in range(codes(name).size)], np.float32)
  np.testing.assert_array_equal(convert(codes(name), name, "f32"), want)


@pytest.mark.parametrize("source", ["f32", "f64", "f16", "bf16"])
@pytest.mark.parametrize("name", FORMATS)
def test_rounding_around_every_code(name: str, source: str) -> None:
  fmt = FORMATS[name]
  values = sorted({v for v in (decode(fmt, c) for c in range(codes(name).size)) if math.isfinite(v)})
  middles = [(a + b) / 2 for a, b in itertools.pairwise(values)]
  edges = [values[-1] * f for f in (1.01, 1.06, 1.125, 1.25, 2.0, 100.0)] + [0.0, math.inf, -math.inf, math.nan]
  dtype = hlo.PRIMITIVE_TYPES[source].dtype
  with np.errstate(over="ignore"):
    points = np.array(values + middles + edges + [-e for e in edges], np.float64).astype(dtype)
  wide = points.astype(np.float64)
  around = np.concatenate([wide, wide * (1 + 2.0**-7), wide * (1 - 2.0**-7)]).astype(dtype)
  got = convert(around, source, name).astype(np.float32)
  want = np.array([encode(fmt, float(v)) for v in around.astype(np.float64)], np.float32)
  np.testing.assert_array_equal(np.where(want == 0, 0, got), np.where(want == 0, 0, want))


def test_e8m0_has_powers_of_two_only() -> None:
  values = convert(codes("f8e8m0fnu"), "f8e8m0fnu", "f64")
  np.testing.assert_array_equal(values[:-1], np.ldexp(1.0, np.arange(255) - 127))
  assert np.isnan(values[-1])
  exact = values[:-1]
  inside = np.concatenate([exact, exact[1:-1] * 1.25, exact[1:-1] * 1.49, exact[1:-1] * 1.51, exact[1:-1] * 1.75])
  want = np.exp2(np.where(inside / np.exp2(np.floor(np.log2(inside))) < 1.5, 0, 1) + np.floor(np.log2(inside)))
  np.testing.assert_array_equal(convert(inside, "f64", "f8e8m0fnu").astype(np.float64), want)
  nowhere = np.array([-1.0, 0.0, math.inf, math.nan, 2.0**128])
  assert np.isnan(convert(nowhere, "f64", "f8e8m0fnu").astype(np.float64)).all()


@pytest.mark.parametrize("name", [*FORMATS, "f8e8m0fnu", "s4", "u4", "s2", "u2"])
def test_conversions_to_and_from_everything_equal_xla(name: str) -> None:
  """Through XLA's CPU code: each small type to the usual ones, and back from f32."""
  small = codes(name) if hlo.PRIMITIVE_TYPES[name].kind == "float" else np.arange(-8, 16).astype(np.int8)
  dtype = hlo.PRIMITIVE_TYPES[name].dtype
  small = small.astype(np.float32).astype(dtype) if small.dtype == np.int8 else small
  try:
    jax.jit(lambda x: x.astype(np.float32))(small)
  except Exception:
    pytest.skip(f"this jax has no {name} on CPU")
  targets: list[Any] = [np.float32, np.float16, ml_dtypes.bfloat16]
  # XLA's CPU code (jaxlib 0.10.2) turns the largest f4e2m1fn, 6, into the largest integer: it tests the saturation bound
  # after rounding it to f4. The value of the code is 6.
  targets += [] if name == "f4e2m1fn" else [np.int32]
  check(lambda x: [x.astype(t) for t in targets], small, ulps=0)
  if hlo.PRIMITIVE_TYPES[name].kind == "float":
    points = np.concatenate([small.astype(np.float32) * f for f in (1.0, 1.03, 0.97, 1.5)]).astype(np.float32)
    finite = points[np.isfinite(points) & ((points == 0) | (np.abs(points) > 1e-37))]
    check(lambda x: x.astype(dtype).astype(np.float32), finite, ulps=0, stages=["before"])


@pytest.mark.parametrize("target", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64, np.bool_])
def test_float_to_integer_saturates_and_nan_is_zero(target: Any) -> None:
  edges = [0.0, -0.0, 0.9, -0.9, 1.5, -1.5, 127.9, 128.0, -128.9, -129.0, 255.0, 256.0, 1e5, -1e5, 2.0**31, -(2.0**31)]
  edges += [2.0**31 - 1, 2.0**32, 2.0**63, -(2.0**63), 2.0**64, 1e30, -1e30, math.inf, -math.inf, math.nan]
  with jax.enable_x64(True):
    for dtype in (np.float32, np.float64):
      check(lambda x: x.astype(target), np.array(edges, dtype), stages=["before"])


def test_integer_conversions_wrap() -> None:
  x = np.array([0, 1, -1, 127, 128, 255, 256, -129, 2**31 - 1, -(2**31), 2**40 + 3], np.int64)
  targets = [np.int8, np.uint8, np.int16, np.uint32, np.int32, np.float32, np.float64, ml_dtypes.bfloat16, np.bool_]
  with jax.enable_x64(True):
    check(lambda x: [x.astype(t) for t in targets], x, ulps=0)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=20), st.integers(0, 2**32 - 1))
def test_stochastic_rounding_stays_between_its_neighbours(values: list[float], word: int) -> None:
  x = np.array(values, np.float32)
  random = np.full(x.shape, word, np.uint32)
  rounded = numbers.stochastic_convert(x, random, np.dtype(np.int32)).astype(np.float64)
  assert (np.floor(x) <= rounded).all() and (rounded <= np.ceil(x)).all()
  small = numbers.stochastic_convert(x, random, np.dtype(ml_dtypes.bfloat16)).astype(np.float64)
  assert (np.abs(small - x) <= np.abs(x) * 2.0**-7 + 1e-40).all()


def test_stochastic_rounding_is_right_on_average() -> None:
  random = np.linspace(0, 2**32 - 1, 4096).astype(np.uint32)
  up = numbers.stochastic_convert(np.full(4096, 2.25, np.float32), random, np.dtype(np.int8))
  assert abs(up.astype(np.float64).mean() - 2.25) < 2e-3
  near = numbers.stochastic_convert(np.full(4096, 1 + 2.0**-10, np.float32), random, np.dtype(ml_dtypes.bfloat16))
  assert abs(near.astype(np.float64).mean() - (1 + 2.0**-10)) < 1e-4


@pytest.mark.parametrize("types", [("u32", "u8"), ("u64", "u16"), ("f32", "s16"), ("u8", "u4"), ("s8", "s2")])
def test_bitcast_convert_there_and_back(types: tuple[str, str]) -> None:
  wide, narrow = types
  parts = hlo.PRIMITIVE_TYPES[wide].bits // hlo.PRIMITIVE_TYPES[narrow].bits
  text = f"""HloModule m
  ENTRY e {{
    x = {wide}[5] parameter(0)
    y = {narrow}[5,{parts}] bitcast-convert(x)
    z = {wide}[5] bitcast-convert(y)
    ROOT t = ({narrow}[5,{parts}], {wide}[5]) tuple(y, z)
  }}"""
  x = np.random.default_rng(0).integers(0, 256, 5 * 8).astype(np.uint8).view(hlo.PRIMITIVE_TYPES[wide].dtype)[:5]
  y, z = hlo.evaluate(hlo.parse(text), x)
  np.testing.assert_array_equal(z, x)
  low = y[:, 0].astype(np.int64) & ((1 << hlo.PRIMITIVE_TYPES[narrow].bits) - 1)
  bits = x.view(f"u{x.dtype.itemsize}").astype(np.int64) & ((1 << hlo.PRIMITIVE_TYPES[narrow].bits) - 1)
  np.testing.assert_array_equal(low, bits)


def test_an_algorithm_of_random_bits_that_does_not_exist_is_an_error() -> None:
  text = (
    "ENTRY e { s = u64[2] constant({1,2})\n ROOT r = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_threefry }"
  )
  with pytest.raises(hlo.HloEvaluateError, match="rng_three_fry"):
    hlo.evaluate(hlo.parse(text))
