"""Softmax of each row: a reduction and a broadcast inside one block.

An instance gets several whole rows, so that maximum, exponential and sum all happen on values that are already on chip:
the array is read once and written once. The number of rows need not be a multiple of the block; rows of the last block
that lie outside of the array are poison, each in its own row, and are dropped on the way out.

`block_rows` decides how much an instance does. It is a Python value: another one makes another kernel.
"""

from __future__ import annotations

import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl


def softmax_kernel(x_ref, o_ref):
  x = x_ref[...]
  e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
  o_ref[...] = e / jnp.sum(e, axis=-1, keepdims=True)


@functools.partial(jax.jit, static_argnames="block_rows")
def softmax(x: jax.Array, block_rows: int = 32) -> jax.Array:
  rows, columns = x.shape
  spec = pl.BlockSpec((block_rows, columns), lambda i: (i, 0))
  return pl.pallas_call(
    softmax_kernel,
    out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    grid=(pl.cdiv(rows, block_rows),),
    in_specs=[spec],
    out_specs=spec,
  )(x)


def main() -> int:
  x = np.random.default_rng(0).standard_normal((100, 300)).astype(np.float32)
  shifted = x.astype(np.float64) - x.max(axis=-1, keepdims=True)
  exact = np.exp(shifted) / np.exp(shifted).sum(axis=-1, keepdims=True)

  # In units of u = 2**-24: the subtraction moves the exponent by |x - max| u, which changes exp by that much,
  # relatively; exp itself is good to 4 ulp (8 u); the sum of n such terms, all positive, has their error and n more;
  # the division one.
  n, u = x.shape[-1], 2.0**-24
  spread = np.abs(shifted).max(axis=-1, keepdims=True)
  bound = (2 * (spread + 8) + n + 1) * u * exact
  error = np.abs(np.asarray(softmax(jnp.asarray(x))) - exact)
  ok = bool(np.all(error <= bound))
  print(f"softmax {x.shape}: max error {error.max():.2e}, bound {bound.max():.2e}: {'ok' if ok else 'FAILED'}")
  return 0 if ok else 1


if __name__ == "__main__":
  sys.exit(main())
