"""Programs for `tilewright.pallas.tpu`: operations on tiles, random numbers, facts about chips."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from tilewright.pallas import tpu as pltpu
from uses import count, run, same, use

# --- operations on tiles -----------------------------------------------------------------------------------------


@use("pltpu", "roll einshape bitcast reciprocal")
def _tiles():
  x = count(16).reshape(2, 8)
  same(pltpu.roll(x, 3, 1), np.roll(np.asarray(x), 3, 1))
  same(pltpu.einshape("a(bc)->bac", x, b=2), np.asarray(x).reshape(2, 2, 4).transpose(1, 0, 2))
  wide = jnp.array([[0x00020001, 0x00040003]], jnp.uint32)
  same(pltpu.bitcast(wide, jnp.uint16), [[1, 3], [2, 4]])  # along the second to last dimension, low bits first
  same(pltpu.reciprocal(jnp.array([2.0, 4.0])), [0.5, 0.25])


@use("pltpu", "pack_elementwise unpack_elementwise")
def _packing():
  low, high = count(8, jnp.int32), -count(8, jnp.int32)
  packed = pltpu.pack_elementwise([low, high], packed_dtype=jnp.int16)
  for index, part in enumerate((low, high)):
    same(pltpu.unpack_elementwise(packed, index=index, packed_dtype=jnp.int16, unpacked_dtype=jnp.int32), part)


@use("pltpu", "stochastic_round")
def _rounding():
  x = jnp.array([1.0, 1.0 + 2.0**-9], jnp.float32)  # exact in bfloat16, and a quarter of the way to its neighbour
  down, up = (
    pltpu.stochastic_round(x, jnp.full(2, bits, jnp.uint32), target_dtype=jnp.bfloat16) for bits in (0, 0xFFFF)
  )
  same(down.astype(jnp.float32), [1, 1])
  same(up.astype(jnp.float32), [1, 1 + 2.0**-7])


@use("pltpu", "conv")
def _convolution():
  def kernel(x_ref, w_ref, o_ref):
    o_ref[...] = pltpu.conv(x_ref[...], w_ref[...], dimension_numbers=("NHWC", "HWIO", "NHWC"), padding="VALID")

  same(run(kernel, jnp.ones((1, 4, 4, 2)), jnp.ones((3, 3, 2, 1)), shape=(1, 2, 2, 1)), np.full((1, 2, 2, 1), 18))


@use("pltpu", "touch")
def _touch():
  def kernel(x_ref, o_ref):
    pltpu.touch(x_ref)
    o_ref[...] = x_ref[...]

  same(run(kernel, count()), count())


@use("pltpu", "load store annotate trace_value")
def _access():
  def kernel(x_ref, o_ref):
    mask = jax.lax.iota(jnp.int32, 8) < 5
    pltpu.trace_value("first", x_ref[0])
    o_ref[...] = jnp.zeros(8)
    pltpu.store(o_ref, pltpu.load(pltpu.annotate(x_ref, no_bank_conflict=True)) + 1, mask=mask)

  same(run(kernel, count()), [1, 2, 3, 4, 5, 0, 0, 0])


# --- random numbers ----------------------------------------------------------------------------------------------


@use("pltpu", "prng_seed prng_random_bits")
def _random_bits():
  def kernel(o_ref):
    pltpu.prng_seed(7)
    o_ref[0] = pltpu.prng_random_bits((8, 128))
    o_ref[1] = pltpu.prng_random_bits((8, 128))

  first, again = (np.asarray(run(kernel, shape=(2, 8, 128), dtype=jnp.int32)) for _ in range(2))
  same(first, again)
  assert len(np.unique(first)) > 2000  # of 2048 draws from 2**32


@use("pltpu", "stateful_bits stateful_uniform stateful_normal stateful_bernoulli")
def _samplers():
  def kernel(o_ref):
    pltpu.prng_seed(7)
    o_ref[0] = pltpu.stateful_bits((8, 128)).astype(jnp.float32)
    o_ref[1] = pltpu.stateful_uniform((8, 128), minval=2.0, maxval=3.0)
    o_ref[2] = pltpu.stateful_normal((8, 128))
    o_ref[3] = pltpu.stateful_bernoulli(0.25, shape=(8, 128)).astype(jnp.float32)

  bits, uniform, normal, bernoulli = np.asarray(run(kernel, shape=(4, 8, 128)), np.float64)
  assert len(np.unique(bits)) > 1000
  assert uniform.min() >= 2 and uniform.max() < 3
  # Means of 1024 draws, within six standard deviations.
  for draws, mean, deviation in ((uniform, 2.5, 12**-0.5), (normal, 0, 1), (bernoulli, 0.25, 0.1875**0.5)):
    assert abs(draws.mean() - mean) < 6 * deviation / 32


@use("pltpu", "sample_block to_pallas_key")
def _blocks_of_samples():
  def sample(block, index):
    return pltpu.sample_block(
      jax.random.uniform,
      jax.random.key(0),
      block_size=block,
      tile_size=(8, 128),
      total_size=(32, 128),
      block_index=index,
    )

  coarse = sample((16, 128), (1, 0))
  fine = jnp.concatenate([sample((8, 128), (i, 0)) for i in (2, 3)])
  same(coarse, fine)
  assert jnp.issubdtype(pltpu.to_pallas_key(jax.random.key(0)).dtype, jax.dtypes.prng_key)


# --- facts -------------------------------------------------------------------------------------------------------


@use("pltpu", "TpuInfo ChipVersion get_tpu_info_for_chip is_tpu_device")
def _chips():
  for chip in pltpu.ChipVersion:
    info = pltpu.get_tpu_info_for_chip(chip, 1)
    assert isinstance(info, pltpu.TpuInfo) and info.num_lanes == 128
  assert pltpu.is_tpu_device() == (jax.default_backend() == "tpu")


@use("pltpu", "get_tpu_info")
def _this_chip():
  if pltpu.is_tpu_device():
    assert isinstance(pltpu.get_tpu_info(), pltpu.TpuInfo)
  else:
    try:
      pltpu.get_tpu_info()
    except Exception as error:
      assert "not a TPU" in str(error)
    else:
      raise AssertionError("there is no TPU here to describe")


@use("pltpu", "LoweringException PipelineStep ACC")
def _types():
  assert issubclass(pltpu.LoweringException, Exception)
  step = pltpu.PipelineStep(index=(1, 2), local_index=jnp.int32(5))
  assert step.index == (1, 2)
  assert pltpu.ACC(0) == pltpu.ACC(0) != pltpu.ACC(1)
