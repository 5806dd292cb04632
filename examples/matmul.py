"""A matrix product with the loop over k in the grid.

The grid has three dimensions, (m / BM, n / BN, k / BK), and the last one runs fastest. The block of the output does not
depend on the third index: instances (i, j, 0), (i, j, 1), ... *revisit* the same block of `o`, so it can collect the
partial products. The first of them clears it.

    for i:                                   x: block (i, l)
      for j:                                 y: block (l, j)
        for l: o[i, j] += x[i, l] @ y[l, j]  o: block (i, j), the same for every l

Accumulating in the output is possible because it is float32. With a narrower output, collect in a float32 scratch
buffer and convert at the last l: `matmul_bf16` below does that, with an activation applied before the result is
rounded.
"""

from __future__ import annotations

import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

BM, BN, BK = 64, 64, 32


def matmul_kernel(x_ref, y_ref, o_ref):
  @pl.when(pl.program_id(2) == 0)
  def _():
    o_ref[...] = jnp.zeros_like(o_ref)

  o_ref[...] += jnp.dot(x_ref[...], y_ref[...], precision="highest")


def matmul_scratch_kernel(x_ref, y_ref, o_ref, acc_ref, *, activation):
  @pl.when(pl.program_id(2) == 0)
  def _():
    acc_ref[...] = jnp.zeros_like(acc_ref)

  acc_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

  @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
  def _():
    o_ref[...] = activation(acc_ref[...]).astype(o_ref.dtype)


def grid_and_specs(x: jax.Array, y: jax.Array) -> dict:
  (m, k), (_, n) = x.shape, y.shape
  if m % BM or n % BN or k % BK:
    raise ValueError(f"This example takes shapes that are multiples of {BM}, {BN}, {BK}, got {x.shape} and {y.shape}.")
  return dict(
    grid=(m // BM, n // BN, k // BK),
    in_specs=[pl.BlockSpec((BM, BK), lambda i, j, l: (i, l)), pl.BlockSpec((BK, BN), lambda i, j, l: (l, j))],
    out_specs=pl.BlockSpec((BM, BN), lambda i, j, l: (i, j)),
  )


@jax.jit
def matmul(x: jax.Array, y: jax.Array) -> jax.Array:
  out = jax.ShapeDtypeStruct((x.shape[0], y.shape[1]), jnp.float32)
  return pl.pallas_call(matmul_kernel, out_shape=out, **grid_and_specs(x, y))(x, y)


@jax.jit
def matmul_bf16(x: jax.Array, y: jax.Array) -> jax.Array:
  out = jax.ShapeDtypeStruct((x.shape[0], y.shape[1]), jnp.bfloat16)
  kernel = functools.partial(matmul_scratch_kernel, activation=jax.nn.relu)
  scratch = [pltpu.VMEM((BM, BN), jnp.float32)]
  return pl.pallas_call(kernel, out_shape=out, scratch_shapes=scratch, **grid_and_specs(x, y))(x, y)


def check(name: str, got: jax.Array, exact: np.ndarray, bound: np.ndarray) -> bool:
  error = np.abs(np.asarray(got, np.float64) - exact)
  ok = bool(np.all(error <= bound))
  print(f"{name} {got.shape}: max error {error.max():.2e}, bound {bound.max():.2e}: {'ok' if ok else 'FAILED'}")
  return ok


def main() -> int:
  rng = np.random.default_rng(0)
  m, k, n = 192, 128, 256
  x = jnp.asarray(rng.standard_normal((m, k)), jnp.float32)
  y = jnp.asarray(rng.standard_normal((k, n)), jnp.float32)

  # A sum of k products in float32, in any order, is off by at most k u / (1 - k u) of the sum of their magnitudes,
  # where u = 2**-24 is the largest relative error of one rounding (Higham, Accuracy and Stability, section 3.1).
  u = 2.0**-24
  gamma = k * u / (1 - k * u)
  x64, y64 = np.asarray(x, np.float64), np.asarray(y, np.float64)
  ok = check("matmul", matmul(x, y), x64 @ y64, gamma * (np.abs(x64) @ np.abs(y64)))

  # In bfloat16 the inputs are what they are; relu does not enlarge an error; the result is rounded once more, to 8
  # bits.
  xb, yb = x.astype(jnp.bfloat16), y.astype(jnp.bfloat16)
  x64, y64 = np.asarray(xb, np.float64), np.asarray(yb, np.float64)
  exact, inner = np.maximum(x64 @ y64, 0), gamma * (np.abs(x64) @ np.abs(y64))
  ok &= check("matmul_bf16", matmul_bf16(xb, yb), exact, inner + 2.0**-8 * (np.abs(exact) + inner))
  return 0 if ok else 1


if __name__ == "__main__":
  sys.exit(main())
