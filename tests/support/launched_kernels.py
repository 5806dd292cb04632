"""Small kernels that are launched in many ways."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.pallas import nvgpu

S = jax.ShapeDtypeStruct
F32 = jnp.float32


def affine(x, scale=0.5, shift=1.0):
  """`x * scale + shift`, exact for small integers and their halves; one kernel."""
  row = pl.BlockSpec((1, x.shape[1]), lambda i: (i, 0))

  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * scale + shift

  return pl.pallas_call(
    *(kernel, S(x.shape, x.dtype)),
    grid=(x.shape[0],),
    in_specs=[row],
    out_specs=row,
    compiler_params=nvgpu.CompilerParams(),
  )(x)


def plain(x, count, scale=0.5, shift=1.0):
  x = np.asarray(x)
  for _ in range(count):
    x = x * np.float32(scale) + np.float32(shift)
  return x


def whole(*shape, seed=0):
  return jnp.asarray(np.random.default_rng(seed).integers(-9, 9, shape), F32)


def transposed_sums(x):
  """A tile that goes through more shared memory than a kernel has without asking."""

  def kernel(x_ref, o_ref):
    o_ref[...] = jnp.cumsum(x_ref[...], axis=0) - x_ref[...].T

  return pl.pallas_call(kernel, S(x.shape, x.dtype), compiler_params=nvgpu.CompilerParams())(x)
