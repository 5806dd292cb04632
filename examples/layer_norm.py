"""Layer normalisation: operands that every instance shares.

An instance normalises a block of rows: mean and variance of each, then scale and shift. The parameters `gamma` and
`beta` are the same for every instance: their index map ignores the grid, so each instance sees the one block they have.

The variance is the mean of the squared distances from the mean, not the difference of two large sums: that form loses
everything when the mean is large, and on chip the second look at `x` is free.
"""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl

BLOCK_ROWS, EPS = 16, 1e-5


def layer_norm_kernel(x_ref, gamma_ref, beta_ref, o_ref):
  x = x_ref[...]
  centred = x - jnp.mean(x, axis=-1, keepdims=True)
  variance = jnp.mean(centred * centred, axis=-1, keepdims=True)
  o_ref[...] = centred * jax.lax.rsqrt(variance + EPS) * gamma_ref[...] + beta_ref[...]


@jax.jit
def layer_norm(x: jax.Array, gamma: jax.Array, beta: jax.Array) -> jax.Array:
  rows, columns = x.shape
  row_block = pl.BlockSpec((BLOCK_ROWS, columns), lambda i: (i, 0))
  parameter = pl.BlockSpec((columns,), lambda i: (0,))
  return pl.pallas_call(
    layer_norm_kernel,
    out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    grid=(pl.cdiv(rows, BLOCK_ROWS),),
    in_specs=[row_block, parameter, parameter],
    out_specs=row_block,
  )(x, gamma, beta)


def reference(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> np.ndarray:
  centred = x - x.mean(axis=-1, keepdims=True)
  return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPS) * gamma + beta


def error_bound(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> np.ndarray:
  """How far float32 may be from `reference`, to first order, following the program operation by operation."""
  n, u = x.shape[-1], 2.0**-24
  centred = x - x.mean(axis=-1, keepdims=True)
  variance = (centred**2).mean(axis=-1, keepdims=True)
  of_mean = n * u * np.abs(x).mean(axis=-1, keepdims=True)  # n - 1 additions and a division
  of_centred = of_mean + u * np.abs(centred)
  of_variance = (n + 1) * u * variance + 2 * (np.abs(centred) * of_centred).mean(axis=-1, keepdims=True)
  rstd = 1 / np.sqrt(variance + EPS)
  of_rstd = rstd * (of_variance / (2 * (variance + EPS)) + 5 * u)  # adding EPS; rsqrt good to 2 ulp (4 u)
  result = np.abs(centred * rstd * gamma)
  of_result = (of_centred * rstd + np.abs(centred) * of_rstd) * np.abs(gamma) + 2 * u * result
  return 1.01 * (of_result + u * (result + np.abs(beta)))  # one percent for the terms of second order


def main() -> int:
  rng = np.random.default_rng(0)
  x = rng.standard_normal((50, 200)).astype(np.float32)
  gamma, beta = (rng.standard_normal(200).astype(np.float32) for _ in range(2))
  wide = [a.astype(np.float64) for a in (x, gamma, beta)]
  error, bound = np.abs(np.asarray(layer_norm(x, gamma, beta)) - reference(*wide)), error_bound(*wide)
  ok = bool(np.all(error <= bound))
  print(f"layer_norm {x.shape}: max error {error.max():.2e}, bound {bound.max():.2e}: {'ok' if ok else 'FAILED'}")
  return 0 if ok else 1


if __name__ == "__main__":
  sys.exit(main())
