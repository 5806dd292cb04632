"""Adding two vectors: the smallest kernel with a grid.

A kernel is a function of *refs*: mutable views of memory. It runs once for each point of a grid, here a grid with one
dimension, and each run is called an instance. The block specs say which part of each array an instance sees:

    pl.BlockSpec((BLOCK,), lambda i: (i,))     instance i sees the elements i * BLOCK ... i * BLOCK + BLOCK - 1

The length need not be a multiple of the block. The last block then hangs over the end: what is read there is poison
(NaN), so that a mistake shows, and what is written there is dropped. Adding element by element, we never mix the two.
"""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl

BLOCK = 256


def add_kernel(x_ref, y_ref, o_ref):
  o_ref[...] = x_ref[...] + y_ref[...]


@jax.jit
def add(x: jax.Array, y: jax.Array) -> jax.Array:
  spec = pl.BlockSpec((BLOCK,), lambda i: (i,))
  return pl.pallas_call(
    add_kernel,
    out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    grid=(pl.cdiv(x.size, BLOCK),),
    in_specs=[spec, spec],
    out_specs=spec,
  )(x, y)


def main() -> int:
  rng = np.random.default_rng(0)
  x, y = (rng.standard_normal(1000).astype(np.float32) for _ in range(2))
  exact = x.astype(np.float64) + y

  # One rounding: the result differs from the exact sum by at most half a unit in the last place, 2**-24 of it.
  error, bound = np.abs(np.asarray(add(jnp.asarray(x), jnp.asarray(y))) - exact), 2.0**-24 * np.abs(exact)
  ok = bool(np.all(error <= bound))
  print(f"vector_add {x.shape}: max error {error.max():.2e}, bound {bound.max():.2e}: {'ok' if ok else 'FAILED'}")
  return 0 if ok else 1


if __name__ == "__main__":
  sys.exit(main())
