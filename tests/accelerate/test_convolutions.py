"""Depthwise convolutions become the library's kernel, with any window that XLA knows; others are left to XLA, with reasons."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import tilewright

RNG = np.random.default_rng(0)


pytestmark = pytest.mark.usefixtures("all_regions_are_worth_it", "on_the_cpu")


def convolution(x, w, **options):
  spatial = "HW"[: x.ndim - 2]
  numbers = (f"N{spatial}C", f"{spatial}IO", f"N{spatial}C")
  return lax.conv_general_dilated(
    x, w, **options, dimension_numbers=numbers, feature_group_count=x.shape[-1], precision="highest"
  )


CASES = {
  "same": ((2, 9, 7, 5), (3, 3), {"window_strides": (1, 1), "padding": "SAME"}),
  "strides": ((1, 17, 13, 16), (3, 2), {"window_strides": (2, 3), "padding": ((0, 2), (1, 0))}),
  "dilation": ((1, 12, 12, 8), (5, 3), {"window_strides": (1, 2), "padding": ((4, 4), (2, 2)), "rhs_dilation": (2, 2)}),
  "one dimension, causal": ((3, 21, 20), (4,), {"window_strides": (1,), "padding": ((3, 0),)}),
}


def in_float64(f, *args):
  with jax.enable_x64(True):
    return np.asarray(jax.jit(f)(*(np.asarray(a, np.float64) for a in args)))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", CASES)
def test_depthwise_convolutions_become_library_kernels(name, dtype):
  shape, taps, options = CASES[name]
  x = RNG.normal(size=shape).astype(jnp.dtype(dtype))
  w = RNG.normal(size=(*taps, 1, shape[-1])).astype(jnp.dtype(dtype))
  f = lambda x, w: convolution(x, w, **options)
  with tilewright.accelerate() as acceleration:
    ours = jax.jit(f)(x, w)
  assert any(d.kind == "convolution" for r in acceleration.reports for d in r.taken) or dtype != "float32", (
    acceleration.explain()
  )
  exact = in_float64(f, x, w)
  size = in_float64(lambda x, w: f(jnp.abs(x), jnp.abs(w)), x, w)
  eps = float(jnp.finfo(dtype).eps)
  allowed = (np.prod(taps) + 2) * np.finfo(np.float32).eps * size + eps * np.abs(exact)
  assert (np.abs(np.asarray(ours, np.float64) - exact) <= allowed).all()


def test_the_derivative_towards_the_image_becomes_a_kernel_too():
  x, w = RNG.normal(size=(1, 10, 12, 8)).astype(np.float32), RNG.normal(size=(3, 3, 1, 8)).astype(np.float32)
  weights = RNG.normal(size=x.shape)
  f = lambda x, w: convolution(x, w, window_strides=(1, 1), padding="SAME")
  slope = jax.grad(lambda x, w: (f(x, w) * weights.astype(x.dtype)).sum())
  with tilewright.accelerate() as acceleration:
    ours = jax.jit(lambda x, w: slope(x, w))(x, w)
  assert any(d.kind == "convolution" for r in acceleration.reports for d in r.taken), acceleration.explain()
  exact = in_float64(slope, x, w)
  assert np.abs(ours - exact).max() <= 32 * np.finfo(np.float32).eps * np.abs(exact).max()


def test_other_convolutions_in_groups_are_left_to_xla():
  x, w = RNG.normal(size=(1, 6, 6, 4)).astype(np.float32), RNG.normal(size=(3, 3, 1, 8)).astype(np.float32)
  f = lambda x, w: convolution(x, w, window_strides=(1, 1), padding="SAME")  # two results of each channel
  with tilewright.accelerate() as acceleration:
    ours = jax.jit(f)(x, w)
  assert not any(d.kind == "convolution" for r in acceleration.reports for d in r.taken)
  np.testing.assert_allclose(ours, f(x, w), rtol=1e-5, atol=1e-5)


def test_a_block_of_convolutions_needs_no_more_memory_than_before():
  x = RNG.normal(size=(1, 24, 24, 16)).astype(np.float32)
  depth, point = RNG.normal(size=(3, 3, 1, 16)).astype(np.float32), RNG.normal(size=(1, 1, 16, 32)).astype(np.float32)

  def f(x, depth, point):
    h = jax.nn.silu(convolution(x, depth, window_strides=(1, 1), padding="SAME") + 1)
    numbers = ("NHWC", "HWIO", "NHWC")
    return jax.nn.silu(lax.conv_general_dilated(h, point, (1, 1), "SAME", dimension_numbers=numbers) + 1)

  plain = jax.jit(lambda *a: f(*a)).lower(x, depth, point).compile()
  with tilewright.accelerate():
    ours = jax.jit(lambda *a: f(*a)).lower(x, depth, point).compile()
  np.testing.assert_allclose(ours(x, depth, point), plain(x, depth, point), rtol=1e-4, atol=1e-4)
  sizes = [c.memory_analysis().temp_size_in_bytes for c in (ours, plain)]
  assert sizes[0] <= 1.02 * sizes[1]
