"""Every elementwise opcode, on the values where definitions differ, against XLA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from against_jax import assert_close, check
from jax import lax

from tilewright import hlo

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


def integer_pairs(dtype: Any) -> tuple[np.ndarray, np.ndarray]:
  info = np.iinfo(dtype)
  edges = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 5, 7, 8, 31, 33, 63, 64]
  edges += [-1, -2, -3, -7] if info.min < 0 else []
  values = np.array([v for v in edges if info.min <= v <= info.max], dtype)
  left, right = np.meshgrid(values, values)
  return left.reshape(-1), right.reshape(-1)


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda t: np.dtype(t).name)
def test_integer_arithmetic_is_exact_at_the_edges(dtype: Any) -> None:
  def program(x: jax.Array, y: jax.Array) -> dict[str, jax.Array]:
    binary = [lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min, lax.bitwise_and, lax.bitwise_or]
    binary += [lax.bitwise_xor, lax.shift_left, lax.shift_right_logical, lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge]
    results = {f.__name__: f(x, y) for f in binary}
    results |= {f.__name__: f(x) for f in (lax.sign, lax.clz, lax.population_count, lax.bitwise_not)}
    if np.issubdtype(dtype, np.signedinteger):
      results |= {"neg": lax.neg(x), "abs": lax.abs(x), "sra": lax.shift_right_arithmetic(x, y)}
    results["clamp"] = lax.clamp(np.array(1, dtype), x, y)
    results["select"] = lax.select(x < y, x, y)
    return results

  with jax.enable_x64(True):
    check(program, *integer_pairs(dtype))


def test_division_and_shifts_are_defined_where_c_is_not() -> None:
  text = """HloModule m
  ENTRY e {
    x = s32[4] parameter(0)
    y = s32[4] parameter(1)
    quotient = s32[4] divide(x, y)
    rest = s32[4] remainder(x, y)
    left = s32[4] shift-left(x, y)
    right = s32[4] shift-right-arithmetic(x, y)
    power = s32[4] power(x, y)
    high = s32[4] mulhi(x, x)
    ROOT t = (s32[4], s32[4], s32[4], s32[4], s32[4], s32[4]) tuple(quotient, rest, left, right, power, high)
  }"""
  lowest = -(2**31)
  x, y = np.array([7, lowest, -8, -1], np.int32), np.array([0, -1, 40, -3], np.int32)
  quotient, rest, left, right, power, high = hlo.evaluate(hlo.parse(text), x, y)
  assert quotient.tolist() == [-1, lowest, 0, 0]
  assert rest.tolist() == [7, 0, -8, -1]
  assert left.tolist() == [7, 0, 0, 0]
  assert right.tolist() == [7, -1, -1, -1]
  assert power.tolist() == [1, 0, 0, -1]
  assert high.tolist() == [0, 2**30, 0, 0]


def float_values(dtype: Any, count: int = 200) -> np.ndarray:
  special = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    1e-3,
    np.inf,
    -np.inf,
    np.nan,
    0.49999997,
    3.0,
    10.0,
    -7.0,
  ]
  random = np.random.default_rng(0).normal(size=count) * 3
  return np.concatenate([special, random]).astype(dtype)


# Reach of XLA's own approximations in units of the last place; the value itself where an argument is reduced (sin).
UNARY: dict[str, tuple[Callable, float]] = {
  "abs": (lax.abs, 0),
  "acos": (lax.acos, 8),
  "acosh": (lax.acosh, 8),
  "asin": (lax.asin, 8),
  "asinh": (lax.asinh, 8),
  "atan": (lax.atan, 8),
  "atanh": (lax.atanh, 64),  # XLA's float64 log1p is up to 64 units off (20,000 points in ±0.99); ours 0.5
  "cbrt": (lax.cbrt, 4),
  "ceil": (lax.ceil, 0),
  "cos": (lax.cos, 8),
  "cosh": (lax.cosh, 8),
  "erf": (lax.erf, 8),
  "exp": (lax.exp, 8),
  "expm1": (lax.expm1, 8),
  "floor": (lax.floor, 0),
  "is_finite": (lax.is_finite, 0),
  "log": (lax.log, 8),
  "log1p": (lax.log1p, 64),
  "logistic": (lax.logistic, 8),
  "neg": (lax.neg, 0),
  "round_away": (lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), 0),
  "round_even": (lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), 0),
  "rsqrt": (lax.rsqrt, 4),
  "sign": (lax.sign, 0),
  "sin": (lax.sin, 8),
  "sinh": (lax.sinh, 8),
  "sqrt": (lax.sqrt, 1),
  "tan": (lax.tan, 16),
  "tanh": (lax.tanh, 8),
}


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda t: np.dtype(t).name)
def test_float_functions(dtype: Any) -> None:
  with jax.enable_x64(True):
    x = float_values(dtype)
    lowered = jax.jit(lambda x: [f(x) for f, _ in UNARY.values()]).lower(x)
    module = hlo.parse(lowered.compiler_ir("hlo").as_hlo_text(print_large_constants=True))
    want = lowered.compile()(x)
  for (name, (_, ulps)), g, w in zip(UNARY.items(), hlo.evaluate(module, x), want):
    assert_close(g, np.asarray(w), ulps, what=name, scale=1.0 if ulps else 0.0)


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda t: np.dtype(t).name)
def test_float_binary_operations_and_orders(dtype: Any) -> None:
  values = float_values(dtype, 10)
  x, y = (v.reshape(-1) for v in np.meshgrid(values, values))

  def program(x: jax.Array, y: jax.Array) -> list[jax.Array]:
    arithmetic = [lax.add, lax.sub, lax.mul, lax.div, lax.max, lax.min, lax.rem]
    orders = [lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge]
    return [f(x, y) for f in arithmetic + orders] + [lax.clamp(x, y, x), lax.select(x < y, x, y)]

  with jax.enable_x64(True):
    check(program, x, y, ulps=1, stages=["before"])
    check(lambda x, y: [lax.pow(x, y), lax.atan2(x, y)], x, y, ulps=16, stages=["before"])


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128], ids=lambda t: np.dtype(t).name)
def test_complex_functions(dtype: Any) -> None:
  rng = np.random.default_rng(1)
  x, y = (rng.normal(size=50) + 1j * rng.normal(size=50) for _ in range(2))

  def program(x: jax.Array, y: jax.Array) -> list[jax.Array]:
    unary = [lax.exp, lax.log, lax.sin, lax.cos, lax.tan, lax.tanh, lax.sqrt, lax.rsqrt, lax.expm1, lax.log1p, lax.sign]
    unary += [lax.abs, lax.real, lax.imag, lax.conj, lax.neg, lax.logistic, lax.is_finite]
    binary = [lax.add, lax.sub, lax.mul, lax.div, lax.pow, lax.eq, lax.ne]
    unary = [f for f in unary if f is not lax.is_finite]
    return [f(x) for f in unary] + [f(x, y) for f in binary] + [lax.complex(x.real, y.imag)]

  with jax.enable_x64(True):
    check(program, x.astype(dtype), y.astype(dtype), ulps=32, scale=1.0)


@pytest.mark.parametrize("spelling", ["type=TOTALORDER", "order=TOTAL"])
def test_total_order_puts_zeros_and_nans_in_their_places(spelling: str) -> None:
  text = """HloModule m
  ENTRY e {
    x = f32[7] parameter(0)
    y = f32[7] parameter(1)
    ROOT c = pred[7] compare(x, y), direction=LT, SPELLING
  }""".replace("SPELLING", spelling)
  order = np.array([-np.nan, -np.inf, -1.0, -0.0, 0.0, np.inf, np.nan], np.float32)
  module = hlo.parse(text)
  assert hlo.evaluate(module, order[:-1].repeat(2)[:7], order[1:].repeat(2)[:7]).all()
  assert not hlo.evaluate(module, order, order).any()


@pytest.mark.parametrize("bits", [(8, 7), (5, 10), (5, 2), (4, 3), (8, 3), (2, 1), (8, 23), (6, 9)])
@pytest.mark.parametrize("dtype", FLOATS[1:], ids=lambda t: np.dtype(t).name)
def test_reduce_precision(dtype: Any, bits: tuple[int, int]) -> None:
  x = np.concatenate([float_values(dtype), (float_values(np.float64) * 1e4).astype(dtype)])
  with jax.enable_x64(True):
    check(lambda x: lax.reduce_precision(x, *bits), x, ulps=0, stages=["before"])


def test_scalar_programs_keep_their_types() -> None:
  check(lambda n, x: (n + 1, x * 2, n > 3, x.astype(jnp.bfloat16)), np.int32(3), np.float32(1.5))
