"""Random bits in native kernels are those of the portable lowering, which are those of JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.cpu.native import agrees, computes_the_same
from tilewright import pallas as pl
from tilewright.pallas import cpu
from tilewright.pallas import tpu as pltpu

S = jax.ShapeDtypeStruct
WORDS = {impl: jax.random.key_data(jax.random.key(42, impl=impl)) for impl in ("threefry2x32", "rbg", "unsafe_rbg")}

PROGRAMS = {
  "bits": lambda k: jax.random.bits(k, (37, 5)),
  "bytes": lambda k: jax.random.bits(k, (37, 5), "uint8"),
  "uniform": lambda k: jax.random.uniform(k, (3, 40)),
  "integers": lambda k: jax.random.randint(k, (50,), 0, 77),
  "split": lambda k: jax.random.key_data(jax.random.split(k, 3)),
  "fold in": lambda k: jax.random.key_data(jax.random.fold_in(k, 3)),
  "many keys": lambda k: jax.vmap(lambda k: jax.random.uniform(k, (7,)))(jax.random.split(k, 3)),
}


@pytest.mark.parametrize(
  "impl, name",
  [*(("threefry2x32", name) for name in PROGRAMS), ("rbg", "bits"), ("rbg", "split"), ("unsafe_rbg", "bytes")],
)
def test_functions_of_keys(impl, name):
  computes_the_same(lambda words: PROGRAMS[name](jax.random.wrap_key_data(words, impl=impl)), WORDS[impl])


def test_programs():
  words = WORDS["threefry2x32"]
  key = lambda words: jax.random.wrap_key_data(words)
  computes_the_same(lambda words: jax.random.normal(key(words), (100,)), words, ulps=8)
  computes_the_same(lambda words: jax.random.permutation(key(words), 50), words)
  computes_the_same(lambda words: jax.random.gamma(key(words), 0.7, (6,)), words, ulps=32)
  computes_the_same(lambda seed: jax.random.bits(jax.random.key(seed), (8,)), jnp.int32(7))


def test_keys_are_carried_through_loops():
  def walk(words):
    def step(i, carry):
      key, total = carry
      key, own = jax.random.split(key)
      return key, total + jax.random.uniform(own, (9,))

    return lax.fori_loop(0, 5, step, (jax.random.wrap_key_data(words), jnp.zeros(9)))[1]

  computes_the_same(walk, WORDS["threefry2x32"])


@pytest.mark.parametrize("algorithm", [lax.RandomAlgorithm.RNG_THREE_FRY, lax.RandomAlgorithm.RNG_PHILOX])
@pytest.mark.parametrize("shape", [(5, 7), (4, 3), ()])
def test_the_bit_generator_of_xla(algorithm, shape):
  state = jnp.array([1, 2, 0xFFFFFFFE, 0xFFFFFFFF], jnp.uint32)  # the counter runs over
  computes_the_same(lambda s: lax.rng_bit_generator(s, shape, algorithm=algorithm), state)


def test_blocks_of_keys():
  keys = jax.random.split(jax.random.key(0), 6)

  def kernel(k_ref, o_ref, next_ref):
    o_ref[...] = jax.vmap(lambda k: jax.random.bits(k, (16,)))(k_ref[...])
    next_ref[0] = jax.random.fold_in(k_ref[1], 1)
    next_ref[1] = k_ref[0]

  def run(**how):
    return pl.pallas_call(
      kernel,
      [S((6, 16), jnp.uint32), S((6,), keys.dtype)],
      grid=(3,),
      in_specs=[pl.BlockSpec((2,), lambda i: i)],
      out_specs=[pl.BlockSpec((2, 16), lambda i: (i, 0)), pl.BlockSpec((2,), lambda i: i)],
      **how,
    )(keys)

  native, portable = run(compiler_params=cpu.CompilerParams()), run(interpret=True)
  np.testing.assert_array_equal(native[0], portable[0])
  np.testing.assert_array_equal(*(jax.random.key_data(out[1]) for out in (native, portable)))


def test_the_hidden_state_goes_on_from_instance_to_instance():
  def kernel(o_ref):
    @pl.when(pl.program_id(0) == 2)
    def _():
      pltpu.prng_seed(7, pl.program_id(0))

    o_ref[...] = pltpu.prng_random_bits((1, 40)) ^ pltpu.prng_random_bits((1, 40))

  agrees(kernel, S((4, 40), jnp.int32), grid=(4,), out_specs=pl.BlockSpec((1, 40), lambda i: (i, 0)))


def test_stateful_samplers():
  def kernel(o_ref):
    pltpu.prng_seed(3)
    o_ref[...] = pltpu.stateful_uniform((4, 40)) + pltpu.stateful_bernoulli(shape=(4, 40))

  agrees(kernel, S((4, 40), jnp.float32))
