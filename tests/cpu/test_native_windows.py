"""Sliding windows in native kernels: reductions, their derivatives, convolutions. On small integers all orders of adding agree."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.cpu.native import computes_the_same
from tilewright import pallas as pl
from tilewright.pallas.nvgpu.inspection import native_kernels
from tilewright.tile.printer import to_text

IMAGES = jnp.asarray(np.random.default_rng(0).integers(-9, 9, (2, 7, 9, 3)), jnp.float32)
LAYOUT = ("NHWC", "HWIO", "NHWC")
WINDOW = {"window_dimensions": (1, 3, 2, 1), "window_strides": (1, 2, 1, 1)}


def kernel_of(*shape):
  return jnp.asarray(np.random.default_rng(1).integers(-3, 3, shape), jnp.float32)


def pooled(x, start=-jnp.inf, by=lax.max, padding="SAME", **more):
  return lax.reduce_window(x, start, by, padding=padding, **WINDOW, **more)


REDUCTIONS = {
  "sum": lambda x: pooled(x, 0.0, lax.add),
  "max": lambda x: pooled(x, padding="VALID"),
  "min of a dilated window": lambda x: pooled(x, jnp.inf, lax.min, window_dilation=(1, 2, 3, 1)),
  "a function": lambda x: pooled(x, 1.0, lambda a, b: a * b * 0.5),
  "a long window": lambda x: lax.reduce_window(x.reshape(-1)[:80], 0.0, lax.add, (80,), (1,), [(79, 0)]),
  "derivative": lambda x: jax.grad(lambda x: (pooled(x) * 3).sum())(x),
  "forward derivative": lambda x: jax.jvp(pooled, (x,), (x * 2,))[1],
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
  computes_the_same(REDUCTIONS[name], IMAGES)


CONVOLUTIONS = {
  "same": ((3, 2, 3, 4), {"window_strides": (1, 2), "padding": "SAME"}),
  "dilated": (
    (3, 2, 3, 4),
    {"window_strides": (2, 1), "padding": [(1, 0), (2, -1)], "lhs_dilation": (2, 1), "rhs_dilation": (1, 2)},
  ),
  "groups of features": ((3, 2, 1, 6), {"window_strides": (1, 1), "padding": "VALID", "feature_group_count": 3}),
  "groups of the batch": ((3, 2, 3, 4), {"window_strides": (1, 1), "padding": "SAME", "batch_group_count": 2}),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name):
  shape, how = CONVOLUTIONS[name]
  computes_the_same(
    lambda x, w: lax.conv_general_dilated(x, w, dimension_numbers=LAYOUT, **how), IMAGES, kernel_of(*shape)
  )


def test_ragged_dot():
  sizes = jnp.array([3, 0, 7], jnp.int32)
  computes_the_same(lambda x, w, n: lax.ragged_dot(x, w, n), kernel_of(10, 6), kernel_of(3, 6, 5), sizes)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("reverse", [False, True])
def test_cumulative_operations(axis, reverse):
  x = IMAGES[0]
  computes_the_same(lambda x: [f(x, axis, reverse) for f in (lax.cumsum, lax.cummax, lax.cummin)], x)
  computes_the_same(lambda x: lax.cumprod(jnp.sign(x), axis, reverse), x)
  # Each step rounds a sum of exponentials and a logarithm; there are nine at most.
  computes_the_same(lambda x: lax.cumlogsumexp(x / 9, axis, reverse), x, ulps=32)


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16, jnp.float8_e4m3fn])
def test_long_sums_of_exponentials_are_rounded_at_the_end(dtype):
  x = jnp.asarray(np.random.default_rng(2).uniform(6, 8, 512), dtype)

  def kernel(x_ref, o_ref):
    o_ref[...] = lax.cumlogsumexp(x_ref[...])

  got = np.asarray(pl.pallas_call(kernel, jax.ShapeDtypeStruct(x.shape, dtype))(x), np.float64)
  wanted = np.logaddexp.accumulate(np.asarray(x, np.float64))
  # 512 steps of a few roundings in float32 of numbers below 16, then half a unit of the result.
  steps = 512 * 4 * 16 * 2.0**-24
  assert (np.abs(got - wanted) <= steps + float(jnp.finfo(dtype).eps) / 2 * wanted).all()


def test_a_window_beyond_element_two_to_the_31_is_counted_in_64_bits():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[(1 << 31) + 8 : (1 << 31) + 16]

  anywhere = pl.BlockSpec(memory_space=pl.ANY)
  call = pl.pallas_call(kernel, jax.ShapeDtypeStruct((8,), jnp.int8), in_specs=[anywhere])
  ((_, native),) = native_kernels(call, jax.ShapeDtypeStruct(((1 << 31) + 64,), jnp.int8))
  assert "constant 2147483656 : s64" in to_text(native.body)
