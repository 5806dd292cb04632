"""Products of eight-bit numbers on tensor cores, and of nothing, against exact integers: the threads run on the CPU, see `block_on_cpu`."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import F32, S, natives

from tilewright import pallas as pl


def product(a, b, contract, out, arch="sm_80", num_warps=1):
  """The product of two arrays in one block, as GPU code."""

  def kernel(a_ref, b_ref, o_ref):
    dims = ((contract[:1], contract[1:]), ((), ()))
    o_ref[...] = jax.lax.dot_general(a_ref[...], b_ref[...], dims, preferred_element_type=o_ref.dtype)

  ((_, native),) = natives(lambda a, b: pl.pallas_call(kernel, out)(a, b), a, b)
  (got,) = run(native, a, b, arch=arch, num_warps=num_warps)
  return np.asarray(got, np.float64)


def small_integers(dtype, *shape):
  low = 0 if np.dtype(dtype) == np.uint8 else -8
  return jnp.asarray(np.random.default_rng(0).integers(low, 9, shape)).astype(dtype)


@pytest.mark.parametrize("contract", [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("dtype", [jnp.int8, jnp.uint8, jnp.float8_e4m3fn], ids=["s8", "u8", "e4m3"])
def test_operands_of_eight_bits_in_all_orientations(contract, dtype):
  a = small_integers(dtype, 32, 32)
  b = small_integers(dtype, 32, 32)[::-1]
  kind = F32 if dtype is jnp.float8_e4m3fn else jnp.int32
  got = product(a, b, contract, S((32, 32), kind), arch="sm_89")
  np.testing.assert_array_equal(
    got, np.tensordot(np.asarray(a, np.float64), np.asarray(b, np.float64), (contract[:1], contract[1:]))
  )


@pytest.mark.parametrize("m, n, k", [(4, 5, 0), (4, 0, 3), (0, 5, 3)])
def test_a_product_along_a_dimension_without_elements_is_zero(m, n, k):
  got = product(jnp.ones((m, k)), jnp.ones((k, n)), (1, 0), S((m, n), F32))
  np.testing.assert_array_equal(got, np.zeros((m, n)))
