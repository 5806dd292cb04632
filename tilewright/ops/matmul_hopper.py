"""Matrix products for Hopper GPUs (sm_90a), written by hand: persistent CTAs with warpgroups of different roles.

One warpgroup, the producer, copies blocks of both operands by TMA into a ring of stages; two consumers multiply them by wgmma. A CTA
computes one tile of the result after another, and the producer goes on to the next one while the consumers store theirs:

    producer     tile 0: block 0, 1, 2, …    tile 1: block 0, 1, …
    consumers    wait, multiply, release …    store tile 0 by TMA, in chunks      multiply …

Tiles are taken in panels, so that CTAs that run at the same time share rows and columns in L2. TMA reads zeros beyond an edge,
and what it stores beyond an edge is dropped, so sizes need not be multiples of anything; but rows must be multiples of 16 bytes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright import pallas as pl
from tilewright.ops.tiling import MatmulBlocks
from tilewright.pallas import mosaic_gpu as plgpu

_SWIZZLE = 128  # bytes of a row of a block in shared memory
_SHARED, _BARRIERS = 232_448, 1024  # bytes of a CTA, and those of its barriers
_PRODUCER = 2  # the number of the warpgroup


@dataclasses.dataclass(frozen=True)
class Tiles:
  """What a CTA computes at a time, and how."""

  m: int
  n: int
  k: int  # of a stage
  stages: int
  across: bool = False  # whether the consumers divide the columns of a tile, instead of its rows
  panel: int = 8  # rows of tiles that are taken together
  ctas: int = 132  # SMs of an H100 or H200

  @property
  def of_consumer(self) -> tuple[int, int]:
    return (self.m, self.n // 2) if self.across else (self.m // 2, self.n)


def tiles_of(blocks: MatmulBlocks, itemsize: int) -> Tiles:
  """Tiles of a size, with as many stages as there is room for."""
  chunks = 2 * 2 * blocks.m // 2 * _SWIZZLE
  stage = (blocks.m + blocks.n) * _SWIZZLE
  return Tiles(blocks.m, blocks.n, _SWIZZLE // itemsize, (_SHARED - chunks - _BARRIERS) // stage)


def product(
  tiles: Tiles,
  x: jax.Array,
  y: jax.Array,
  bias: jax.Array | None,
  factor: jax.Array | None,
  finish: Callable[[jax.Array, jax.Array | None, jax.Array | None], jax.Array],
  out_dtype: Any,
  transposed: tuple[bool, bool] = (False, False),
  sizes: tuple[int, int, int] | None = None,
) -> jax.Array:
  """finish(x @ y, bias, factor), of matrices that are each perhaps given `transposed`.

  The `sizes` (m, n, k) are those of the arrays, or smaller where these have zeros past the end of k.
  """
  out_dtype = np.dtype(out_dtype)
  (m, k), n = (x.shape[::-1] if transposed[0] else x.shape), y.shape[0 if transposed[1] else 1]
  m, n, k = (m, n, k) if sizes is None else sizes
  bm, bn, bk = tiles.m, tiles.n, tiles.k
  rows, columns = tiles.of_consumer
  steps = pl.cdiv(k, bk)
  grid = (pl.cdiv(m, bm), pl.cdiv(n, bn))
  chunk = _SWIZZLE // out_dtype.itemsize
  # What lies beyond m and n only comes to results that are dropped; beyond k, zeros are needed.
  beyond = plgpu.OOBFillMode.UNDEFINED if k % bk == 0 else plgpu.OOBFillMode.ZEROS
  more = [z for z in (bias, factor) if z is not None]

  def place(number: Any) -> tuple[Any, Any]:
    return plgpu.planar_snake(number, grid, 0, tiles.panel)

  def body(*refs: Any, x_smem: Any, y_smem: Any, out: Any, full: Any, empty: Any) -> None:
    x_ref, y_ref, *others, o_ref = refs
    bias_ref = others[0] if bias is not None else None
    factor_ref = others[-1] if factor is not None else None
    wg = lax.axis_index("wg")

    def slot_of(info: Any, step: Any) -> tuple[Any, Any]:
      number = info.local_index * steps + step
      return number, lax.rem(number, jnp.int32(tiles.stages))

    @pl.when(wg == _PRODUCER)
    def _() -> None:
      plgpu.set_max_registers(40, action="decrease")

      @plgpu.nd_loop((grid[0] * grid[1],), collective_axes="sm")
      def _(info: Any) -> None:
        i, j = place(info.index[0])
        of_m, of_n = pl.ds(i * bm, bm), pl.ds(j * bn, bn)

        @pl.loop(0, steps)
        def _(step: Any) -> None:
          number, slot = slot_of(info, step)
          of_k = pl.ds(step * bk, bk)
          pl.when(number >= tiles.stages)(lambda: plgpu.barrier_wait(empty.at[slot]))
          x_part = x_ref.at[of_k, of_m] if transposed[0] else x_ref.at[of_m, of_k]
          y_part = y_ref.at[of_n, of_k] if transposed[1] else y_ref.at[of_k, of_n]
          plgpu.copy_gmem_to_smem(x_part, x_smem.at[slot], full.at[slot], oob_mode=beyond)
          plgpu.copy_gmem_to_smem(y_part, y_smem.at[slot], full.at[slot], oob_mode=beyond)

    @pl.when(wg != _PRODUCER)
    def _() -> None:
      plgpu.set_max_registers(232, action="increase")
      down, across = (0, wg) if tiles.across else (wg, 0)
      own_m, own_n = pl.ds(down * rows, rows), pl.ds(across * columns, columns)

      def operands(slot: Any) -> tuple[Any, Any]:
        if transposed[0]:
          a = plgpu.transpose_ref(x_smem.at[slot, :, own_m], (1, 0))
        else:
          a = x_smem.at[slot, own_m]
        if transposed[1]:
          return a, plgpu.transpose_ref(y_smem.at[slot, own_n], (1, 0))
        return a, y_smem.at[slot, :, own_n]

      @plgpu.nd_loop((grid[0] * grid[1],), collective_axes="sm")
      def _(info: Any) -> None:
        i, j = place(info.index[0])

        def multiply(acc: Any) -> Any:
          @pl.loop(0, steps)
          def _(step: Any) -> None:
            _, slot = slot_of(info, step)
            plgpu.barrier_wait(full.at[slot])
            plgpu.wgmma(acc, *operands(slot))
            plgpu.wgmma_wait(1)
            before = slot_of(info, step - 1)[1]
            pl.when(step > 0)(lambda: plgpu.barrier_arrive(empty.at[before]))

          plgpu.wgmma_wait(0)
          plgpu.barrier_arrive(empty.at[slot_of(info, steps - 1)[1]])
          return acc[...]

        total = pl.run_scoped(multiply, plgpu.ACC((rows, columns), jnp.float32))
        chunks = columns // chunk
        for number in range(chunks):
          part = total[:, number * chunk : (number + 1) * chunk]
          at = j * bn + across * columns + number * chunk
          window = pl.ds(i * bm + down * rows, rows), pl.ds(at, chunk)
          shift = None if bias_ref is None else bias_ref[window[1]]
          scale = None if factor_ref is None else factor_ref[window]
          turn = number % 2 if chunks % 2 == 0 else lax.rem(info.local_index * chunks + number, jnp.int32(2))
          buffer = out.at[wg, turn]
          plgpu.wait_smem_to_gmem(1, wait_read_only=True)
          buffer[...] = finish(part, shift, scale).astype(out_dtype)
          plgpu.commit_smem()
          plgpu.copy_smem_to_gmem(buffer, o_ref.at[window])

      plgpu.wait_smem_to_gmem(0)

  def block(*shape: int, dtype: Any) -> Any:
    wide = _SWIZZLE // dtype.itemsize
    transforms = (plgpu.TilingTransform((shape[-2], wide)), plgpu.SwizzleTransform(_SWIZZLE))
    return plgpu.SMEM(shape, dtype, transforms=transforms)

  return plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((m, n), out_dtype),
    grid=(min(tiles.ctas, grid[0] * grid[1]),),
    grid_names=("sm",),
    num_threads=3,
    thread_name="wg",
    kernel_name="matmul_hopper",
    scratch_types=dict(
      x_smem=block(tiles.stages, *((bk, bm) if transposed[0] else (bm, bk)), dtype=x.dtype),
      y_smem=block(tiles.stages, *((bn, bk) if transposed[1] else (bk, bn)), dtype=y.dtype),
      out=block(2, 2, rows, chunk, dtype=out_dtype),
      full=plgpu.Barrier(num_arrivals=2, num_barriers=tiles.stages),
      empty=plgpu.Barrier(num_arrivals=2, num_barriers=tiles.stages),
    ),
  )(x, y, *more)
