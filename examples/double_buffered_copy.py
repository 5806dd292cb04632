"""Double buffering by hand: copies that run while the previous block is worked on.

The arrays stay where they are (`memory_space=pl.ANY`); the kernel moves blocks itself, through two buffers in each
direction. A copy is described by `make_async_copy(source, destination, semaphore)`, begun by `.start()` and awaited by
`.wait()`; the semaphore counts the bytes that have arrived. The order of events, for blocks 0, 1, 2, ... :

    start in[0]
    for i:  start in[i + 1]          into the buffer that is not being read
            wait  in[i]
            wait  out[i - 2]         whose buffer we are about to fill again
            buffer[i] -> 2 * x + 1
            start out[i]
    wait the last two

While block i is computed, block i + 1 is on its way in and block i - 1 on its way out. A block spec with the default
pipeline does all this on its own; write it by hand when the order of copies is not that of the grid.
"""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

ROWS = 8  # rows of a block


def scale_kernel(x_hbm, o_hbm, in_buffer, out_buffer, in_sem, out_sem):
  blocks = x_hbm.shape[0] // ROWS

  def copy_in(i):
    return pltpu.make_async_copy(x_hbm.at[pl.ds(i * ROWS, ROWS)], in_buffer.at[i % 2], in_sem.at[i % 2])

  def copy_out(i):
    return pltpu.make_async_copy(out_buffer.at[i % 2], o_hbm.at[pl.ds(i * ROWS, ROWS)], out_sem.at[i % 2])

  copy_in(0).start()

  @pl.loop(0, blocks)
  def _(i):
    @pl.when(i + 1 < blocks)
    def _():
      copy_in(i + 1).start()

    copy_in(i).wait()

    @pl.when(i >= 2)
    def _():
      copy_out(i - 2).wait()

    out_buffer[i % 2] = 2 * in_buffer[i % 2] + 1
    copy_out(i).start()

  for i in range(max(0, blocks - 2), blocks):
    copy_out(i).wait()


@jax.jit
def scale(x: jax.Array) -> jax.Array:
  buffers = pltpu.VMEM((2, ROWS, x.shape[1]), x.dtype)
  return pl.pallas_call(
    scale_kernel,
    out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
    out_specs=pl.BlockSpec(memory_space=pl.ANY),
    scratch_shapes=[buffers, buffers, pltpu.SemaphoreType.DMA((2,)), pltpu.SemaphoreType.DMA((2,))],
  )(x)


def main() -> int:
  x = np.random.default_rng(0).standard_normal((64, 128)).astype(np.float32)
  exact = 2 * x.astype(np.float64) + 1

  # Doubling is exact and the addition rounds once: at most 2**-24 of the result.
  error, bound = np.abs(np.asarray(scale(jnp.asarray(x))) - exact), 2.0**-24 * np.abs(exact)
  ok = bool(np.all(error <= bound))
  print(
    f"double_buffered_copy {x.shape}: max error {error.max():.2e}, bound {bound.max():.2e}: {'ok' if ok else 'FAILED'}"
  )
  return 0 if ok else 1


if __name__ == "__main__":
  sys.exit(main())
