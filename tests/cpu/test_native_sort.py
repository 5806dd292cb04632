"""Sorting in native kernels: as NumPy's stable sort, with XLA's order of zeros and NaNs."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

from tests.cpu.native import computes_the_same

DTYPES = ("float32", "bfloat16", "float16", "int8", "uint16", "int32", "uint32", "bool")
SIZES = (1, 2, 15, 16, 17, 100, 256, 257, 700)  # on both sides of where the method changes
examples = lambda n: settings(max_examples=n, deadline=None, database=None, derandomize=True)


def numbers(shape, dtype, seed=0, spread=1000):
  """Numbers of which many are equal if the spread is small."""
  return jnp.asarray(np.random.default_rng(seed).integers(-spread, spread, shape)).astype(dtype)


@given(st.sampled_from(SIZES), st.integers(0, 1), st.sampled_from(DTYPES), st.sampled_from([2, 1000]))
@examples(16)
def test_sort(size, axis, dtype, spread):
  shape = (size, 3) if axis == 0 else (3, size)
  x = numbers(shape, dtype, spread=spread)
  computes_the_same(lambda x: (lax.sort(x, dimension=axis), jnp.argsort(x, axis=axis)), x)


@pytest.mark.parametrize("size", [40, 400])
@pytest.mark.parametrize("keys", [1, 2, 3])
def test_several_keys_and_operands(size, keys):
  operands = (numbers((2, size), "int8", 1, 3), numbers((2, size), "float32", 2, 3), numbers((2, size), "int32", 3))
  computes_the_same(lambda *xs: lax.sort(xs, num_keys=keys), *operands)


@pytest.mark.parametrize("size", [9, 900])
def test_zeros_are_equal_and_nans_come_last(size):
  special = [1.0, np.copysign(np.nan, -1), np.nan, -0.0, 0.0, np.inf, -np.inf, 0.0, -0.0]
  x = jnp.array(np.resize(np.array(special, np.float32), (1, size)))
  computes_the_same(lambda x: (jnp.argsort(x), jnp.argsort(x, descending=True)), x)


@pytest.mark.parametrize("size", [9, 900])
def test_top_k_takes_the_total_order(size):
  """There 0 is greater than -0, and NaN greater than all; of equal elements, the first ones are taken."""
  special = [1.0, np.copysign(np.nan, -1), np.nan, -0.0, 0.0, np.inf, -np.inf, 0.0, -0.0]
  x = jnp.array(np.resize(np.array(special, np.float32), (2, size)))
  computes_the_same(lambda x: lax.top_k(x, 9), x)


@pytest.mark.parametrize("dtype", ["int8", "uint32", "bfloat16"])
@pytest.mark.parametrize("size, k", [(300, 5), (37, 9), (100, 60)])  # by one pass, or by sorting
def test_top_k(dtype, size, k):
  computes_the_same(lambda x: lax.top_k(x, k), numbers((4, size), dtype))


def test_complex_numbers_are_sorted_by_their_real_parts_first():
  x = lax.complex(numbers((2, 30), "float32", 1, 3), numbers((2, 30), "float32", 2, 3))
  computes_the_same(lambda x: (jnp.real(jnp.sort(x)), jnp.imag(jnp.sort(x)), jnp.argsort(x)), x)


def test_programs_that_sort():
  x = numbers((5, 60), "float32")
  computes_the_same(lambda x: jnp.median(x, axis=1), x)
  computes_the_same(lambda x: jnp.searchsorted(jnp.sort(x[0]), x[1]), x)
  computes_the_same(
    lambda x: (lax.approx_max_k(x, 3), lax.approx_min_k(x, 3)), numbers((2, 50), "float32", spread=10**6)
  )
