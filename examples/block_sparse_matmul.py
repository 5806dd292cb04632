"""A product with a block-sparse matrix: scalars that decide which blocks are fetched.

The left matrix has only some of its blocks. They are stored one after another, sorted by row, with two lists of
integers:

    blocks   (count, B, B)   the blocks that are there
    rows     (count,)        the block row of each
    columns  (count,)        the block column of each

The grid has a point for each stored block, nothing for the others. Which block of the dense matrix belongs to it is not
known before the call, so the lists are *prefetched scalars*: `PrefetchScalarGridSpec` makes them known before the
kernel starts, and index maps get them after the grid indices. They come first among the refs of the kernel, too.

    dense    block (columns[s], j)
    output   block (rows[s], j)

Steps with the same row revisit one output block, which collects them; because the blocks are sorted, a row is finished
when the next one starts. Every row needs at least one block: an output block nobody visits is never written (it stays
poison).
"""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

B, BN = 32, 64  # size of the stored blocks, columns of the dense matrix for each instance


def sparse_matmul_kernel(rows_ref, columns_ref, blocks_ref, dense_ref, o_ref):
  step = pl.program_id(1)
  first_of_row = jnp.logical_or(step == 0, rows_ref[step] != rows_ref[jnp.maximum(step - 1, 0)])

  @pl.when(first_of_row)
  def _():
    o_ref[...] = jnp.zeros_like(o_ref)

  o_ref[...] += jnp.dot(blocks_ref[...], dense_ref[...], precision="highest")


@jax.jit
def sparse_matmul(rows: jax.Array, columns: jax.Array, blocks: jax.Array, dense: jax.Array) -> jax.Array:
  """Multiply a square block-sparse matrix with a dense one of the same number of rows."""
  grid_spec = pltpu.PrefetchScalarGridSpec(
    num_scalar_prefetch=2,
    grid=(dense.shape[1] // BN, blocks.shape[0]),
    in_specs=[
      pl.BlockSpec((None, B, B), lambda j, s, rows, columns: (s, 0, 0)),
      pl.BlockSpec((B, BN), lambda j, s, rows, columns: (columns[s], j)),
    ],
    out_specs=pl.BlockSpec((B, BN), lambda j, s, rows, columns: (rows[s], j)),
  )
  out = jax.ShapeDtypeStruct(dense.shape, dense.dtype)
  return pl.pallas_call(sparse_matmul_kernel, out_shape=out, grid_spec=grid_spec)(rows, columns, blocks, dense)


def main() -> int:
  rng = np.random.default_rng(0)
  block_rows, n = 8, 128
  here = rng.random((block_rows, block_rows)) < 0.3
  np.fill_diagonal(here, True)  # every row has a block
  rows, columns = (a.astype(np.int32) for a in np.nonzero(here))  # sorted by row
  blocks = rng.standard_normal((len(rows), B, B)).astype(np.float32)
  dense = rng.standard_normal((block_rows * B, n)).astype(np.float32)

  matrix = np.zeros((block_rows, B, block_rows, B))
  matrix[rows, :, columns, :] = blocks
  matrix = matrix.reshape(block_rows * B, block_rows * B)

  # A sum of k products in float32, in any order, is off by at most k u / (1 - k u) of the sum of their magnitudes.
  # Zeros that are not multiplied bring no error, so k is what the fullest row has.
  k, u = B * int(here.sum(axis=1).max()), 2.0**-24
  bound = k * u / (1 - k * u) * (np.abs(matrix) @ np.abs(dense.astype(np.float64)))
  error = np.abs(np.asarray(sparse_matmul(rows, columns, blocks, dense)) - matrix @ dense)
  ok = bool(np.all(error <= bound))
  print(
    f"block_sparse_matmul {matrix.shape} with {len(rows)} of {here.size} blocks: max error {error.max():.2e}, "
    f"bound {bound.max():.2e}: {'ok' if ok else 'FAILED'}"
  )
  return 0 if ok else 1


if __name__ == "__main__":
  sys.exit(main())
