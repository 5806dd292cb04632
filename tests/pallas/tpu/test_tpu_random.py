"""Random bits in kernels: what a seed fixes, and what it does not."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend import random as jex_random

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu
from tilewright.pallas.tpu import random as tpu_random

S = jax.ShapeDtypeStruct


def run(kernel: Any, out: Any, *args: Any, **kwargs: Any) -> Any:
  specs = [pl.BlockSpec(memory_space=pltpu.SMEM)] * len(args)
  return pl.pallas_call(kernel, out, in_specs=specs, **kwargs)(*args)


def bits(*seeds: Any, draws: int = 1) -> np.ndarray:
  def kernel(o: Any) -> None:
    pltpu.prng_seed(*seeds)
    for i in range(draws):
      o[i] = pltpu.prng_random_bits((8, 16))

  return np.asarray(run(kernel, S((draws, 8, 16), jnp.int32)))


def test_a_seed_fixes_the_bits_and_each_draw_gives_new_ones() -> None:
  first = bits(7, draws=3)
  np.testing.assert_array_equal(first, bits(7, draws=3))
  assert len(np.unique(first)) > 0.99 * first.size
  for other in (bits(8), bits(7, 0), bits(0, 7), bits(7, 1)):
    assert (other[0] != first[0]).mean() > 0.99


def test_the_state_goes_on_from_one_instance_to_the_next() -> None:
  def kernel(o: Any) -> None:
    pl.when(pl.program_id(0) == 0)(lambda: pltpu.prng_seed(3))

    def draw(i: Any, _: Any) -> None:
      o[0, i] = pltpu.prng_random_bits((4,))

    jax.lax.fori_loop(0, 2, draw, None)

  out = pl.pallas_call(
    kernel, S((3, 2, 4), jnp.int32), grid=(3,), out_specs=pl.BlockSpec((1, 2, 4), lambda i: (i, 0, 0))
  )()
  assert len(np.unique(out)) == 24

  def straight(o: Any) -> None:
    pltpu.prng_seed(3)
    for i in range(6):
      o[i] = pltpu.prng_random_bits((4,))

  np.testing.assert_array_equal(run(straight, S((6, 4), jnp.int32)), out.reshape(6, 4))


def test_the_hash_is_threefry() -> None:
  key, pairs = np.array([3, 2**31 + 5], np.uint32), np.arange(8, dtype=np.uint32)
  ours = jnp.concatenate(tpu_random._hash((key[0], key[1]), pairs[:4], pairs[4:]))
  np.testing.assert_array_equal(ours, jex_random.threefry_2x32(key, pairs))


def test_bits_are_uniform() -> None:
  sample = bits(1, draws=8).view(np.uint32).astype(np.float64).ravel() / 2**32
  # Mean and variance of n uniform numbers: standard deviations sqrt(1/12n) and sqrt(1/180n).
  assert abs(sample.mean() - 0.5) < 5 * (1 / (12 * sample.size)) ** 0.5
  assert abs(sample.var() - 1 / 12) < 5 * (1 / (180 * sample.size)) ** 0.5


def test_a_pallas_key_is_a_seed_and_a_key() -> None:
  key = pltpu.to_pallas_key(jax.random.key(5))
  assert pltpu.to_pallas_key(key) is key
  assert jax.random.key_data(key).shape == (1, 2)

  def kernel(k: Any, o: Any, p: Any) -> None:
    pltpu.prng_seed(k[...])
    o[...] = pltpu.prng_random_bits((4, 8))
    p[...] = jax.random.uniform(jax.random.fold_in(k[...], 2), (4, 8))

  drawn, uniform = run(kernel, (S((4, 8), jnp.int32), S((4, 8), jnp.float32)), key)
  np.testing.assert_array_equal(np.asarray(drawn).view(np.uint32), jax.random.bits(key, (4, 8), jnp.uint32))
  np.testing.assert_array_equal(uniform, jax.random.uniform(jax.random.fold_in(key, 2), (4, 8)))


def test_keys_of_jax_work_in_the_key_memory_space() -> None:
  key = jax.random.key(5)

  def kernel(k: Any, o: Any) -> None:
    o[...] = jax.random.uniform(k[...], (4, 8))

  call = pl.pallas_call(kernel, S((4, 8), jnp.float32), in_specs=[pl.BlockSpec(memory_space=pltpu.KEY)])
  np.testing.assert_array_equal(call(key), jax.random.uniform(key, (4, 8)))


def test_keys_split_seed_and_batch() -> None:
  key = jax.random.key(1, impl=tpu_random.key_impl)
  first, second = jax.random.split(key)
  streams = [np.asarray(jax.random.bits(k, (64,))) for k in (key, first, second, jax.random.fold_in(key, 0))]
  assert len(np.unique(np.concatenate(streams))) == 256
  batch = pltpu.to_pallas_key(jax.random.split(jax.random.key(0), 3))
  assert batch.shape == (3,)
  np.testing.assert_array_equal(
    jax.vmap(lambda k: jax.random.bits(k, (4,)))(batch), np.stack([jax.random.bits(batch[i], (4,)) for i in range(3)])
  )


def test_stateful_samplers_have_their_distributions() -> None:
  def kernel(u: Any, n: Any, b: Any, w: Any) -> None:
    pltpu.prng_seed(11)
    u[...] = pltpu.stateful_uniform(shape=(32, 32), minval=2.0, maxval=4.0)
    n[...] = pltpu.stateful_normal((32, 32))
    b[...] = pltpu.stateful_bernoulli(0.25, (32, 32)).astype(jnp.int32)
    w[...] = pltpu.stateful_bits((32, 32), dtype=jnp.uint32)

  shapes = [S((32, 32), d) for d in (jnp.float32, jnp.float32, jnp.int32, jnp.uint32)]
  uniform, normal, bernoulli, words = (np.asarray(x, np.float64) for x in run(kernel, shapes))
  root = 32.0  # the square root of the number of samples
  assert uniform.min() >= 2 and uniform.max() < 4
  assert abs(uniform.mean() - 3) < 5 * (4 / 12) ** 0.5 / root
  assert abs(normal.mean()) < 5 / root
  assert abs(normal.var() - 1) < 5 * 2**0.5 / root
  assert abs(bernoulli.mean() - 0.25) < 5 * (0.25 * 0.75) ** 0.5 / root
  assert abs(words.mean() / 2**32 - 0.5) < 5 * (1 / 12) ** 0.5 / root


def test_seeds_must_be_scalars() -> None:
  def kernel(o: Any) -> None:
    pltpu.prng_seed(jnp.arange(3))
    o[...] = pltpu.prng_random_bits((4,))

  with pytest.raises(errors.ShapeMismatchError, match="integer scalars or a key"):
    run(kernel, S((4,), jnp.int32))
  with pytest.raises(errors.OutsideKernelError, match="inside a kernel"):
    pltpu.prng_seed(1)


@pytest.mark.parametrize("make_key", [lambda: jax.random.key(9), lambda: pltpu.to_pallas_key(jax.random.key(9))])
def test_sample_block_does_not_depend_on_the_block_shape(make_key: Any) -> None:
  total, tile = (8, 16), (4, 8)

  def whole(block: tuple[int, int]) -> Any:
    def kernel(key: Any, o: Any) -> None:
      o[...] = pltpu.sample_block(jax.random.bits, key[...], block, tile, total)

    return pl.pallas_call(
      kernel,
      S(total, jnp.uint32),
      grid=(total[0] // block[0], total[1] // block[1]),
      in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM)],
      out_specs=pl.BlockSpec(block, lambda i, j: (i, j)),
    )(make_key())

  reference = np.asarray(whole((8, 16)))
  assert len(np.unique(reference)) == reference.size
  for block in ((4, 8), (4, 16)):
    np.testing.assert_array_equal(whole(block), reference)


def test_sample_block_checks_its_shapes() -> None:
  key = jax.random.key(0)
  with pytest.raises(errors.ShapeMismatchError, match="must divide"):
    pltpu.sample_block(jax.random.normal, key, (8, 8), (3, 8), (16, 16), (0, 0))
  with pytest.raises(errors.ShapeMismatchError, match="same rank"):
    pltpu.sample_block(jax.random.normal, key, (8, 8), (8,), (16, 16), (0, 0))
