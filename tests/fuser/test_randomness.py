"""PRNG keys and random bits in blocks: each block draws from a key of its own, whatever the generator."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tilewright import pallas as pl
from tilewright.pallas import fuser

KEY = jax.random.key(3)
SPEC = pl.BlockSpec((4, 3), lambda i, j: (i, j))
POINT = (1, 2)


def in_block(f, key=KEY, spec=SPEC):
  block_fn, (key_spec,), _ = fuser.pull_block_spec(f, spec, grid_len=2)(key)
  assert key_spec.block_shape is None
  return block_fn(POINT, (), key)


def folded(key, *numbers):
  for n in numbers:
    key = jax.random.fold_in(key, n)
  return key


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg"])
@pytest.mark.parametrize("dtype", [jnp.uint8, jnp.uint16, jnp.uint32])
def test_a_block_draws_from_the_key_with_its_indices_folded_in(impl, dtype):
  key = jax.random.key(5, impl=impl)
  got = in_block(lambda k: jax.random.bits(k, (8, 12), dtype), key)
  np.testing.assert_array_equal(got, jax.random.bits(folded(key, *POINT), (4, 3), dtype))


def test_the_indices_are_those_of_the_array_that_is_drawn():
  got = in_block(lambda k: jax.random.uniform(k, (12, 8)).T + 1)
  np.testing.assert_array_equal(got, jax.random.uniform(folded(KEY, 2, 1), (3, 4)).T + 1)


# A function of a key to keys of which one draws.
DERIVED = {
  "fold_in": lambda k: jax.random.fold_in(k, 7),
  "split": lambda k: jax.random.split(k)[1],
  "split of several dimensions": lambda k: jax.random.split(k, (2, 3))[1, 2],
  "split and fold_in": lambda k: jax.random.fold_in(jax.random.split(k, 3)[0], 2),
  "one of stacked": lambda k: jnp.stack([k, jax.random.fold_in(k, 1)])[1],
  "fold_in of all": lambda k: jax.vmap(jax.random.fold_in)(jax.random.split(k, 4), jnp.arange(4))[3],
  "wrapped": lambda k: jax.random.wrap_key_data(jax.random.key_data(k) + jnp.uint32(1), impl=k.dtype._impl.name),
}


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg"])
@pytest.mark.parametrize("name", DERIVED)
def test_keys_are_derived_in_the_kernel(name, impl):
  f, key = DERIVED[name], jax.random.key(11, impl=impl)
  got = in_block(lambda k: jax.random.bits(f(k), (8, 12)), key)
  np.testing.assert_array_equal(got, jax.random.bits(folded(f(key), *POINT), (4, 3)))


def test_keys_may_be_results():
  keys = lambda k: jax.random.split(k, (8, 12))
  got = in_block(keys)
  np.testing.assert_array_equal(jax.random.key_data(got), jax.random.key_data(keys(KEY)[4:8, 6:9]))
  data = in_block(lambda k: jax.random.key_data(jax.random.split(k, 8)), spec=pl.BlockSpec((4, 1), lambda i, j: (i, 1)))
  np.testing.assert_array_equal(data, jax.random.key_data(jax.random.split(KEY, 8))[4:, 1:])


def test_two_draws_from_keys_of_one_split():
  f = lambda k: jax.random.randint(k, (8, 12), 0, 100)
  block = in_block(f)
  assert block.shape == (4, 3) and block.dtype == jnp.int32 and (block >= 0).all() and (block < 100).all()


@pytest.mark.parametrize("native", [False, True])
def test_random_bits_in_a_kernel(native):
  from tilewright.pallas import cpu

  f = lambda k: jax.random.bits(jax.random.fold_in(k, 1), (8, 12))
  block_fn, (key_spec,), _ = fuser.pull_block_spec(f, SPEC, grid_len=2)(KEY)

  def kernel(key_ref, o_ref):
    o_ref[...] = block_fn((pl.program_id(0), pl.program_id(1)), (), key_ref[...])

  options = {"compiler_params": cpu.CompilerParams()} if native else {"interpret": True}
  out_shape = jax.ShapeDtypeStruct((8, 12), jnp.uint32)
  got = pl.pallas_call(kernel, out_shape=out_shape, grid=(2, 4), in_specs=[key_spec], out_specs=SPEC, **options)(KEY)
  want = jax.random.bits(folded(KEY, 1, *POINT), (4, 3))
  np.testing.assert_array_equal(got[4:8, 6:9], want)
