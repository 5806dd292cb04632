"""Hand-written kernels whose CTAs all wait for each other at semaphores that they share, each with its arguments and what it must give."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.nvgpu.cluster_programs import F32, Case, S, along_c, integers, meet
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu


def after_all(x: Any, rounds: int = 2, **options: Any) -> Any:
  """In each round, every CTA writes a row, and after all have, reads that of the next one."""

  def body(x_ref: Any, o_ref: Any, between: Any) -> None:
    i, count = lax.axis_index("i"), lax.axis_size("i")
    arrived = pl.get_global(plgpu.SemaphoreType.REGULAR)
    row = x_ref[i]
    for n in range(rounds):
      between[n, i] = row
      pl.semaphore_signal(arrived)
      pl.semaphore_wait(arrived, (n + 1) * count, decrement=False)
      row = row + between[n, lax.rem(i + 1, count)]
    o_ref[i] = row

  grid, columns = x.shape
  out = S(x.shape, x.dtype), S((rounds, grid, columns), x.dtype)
  return plgpu.kernel(body, out_type=out, grid=(grid,), grid_names=("i",), **options)(x)[0]


def rolled(x: np.ndarray, rounds: int = 2) -> np.ndarray:
  for _ in range(rounds):
    x = x + np.roll(x, -1, 0)
  return x


def split(a: Any, b: Any) -> Any:
  """A product whose k is split among CTAs: each writes its part, and the last to come adds them up."""
  (m, k), n = a.shape, b.shape[1]
  parts = k // 64

  def body(a_ref: Any, b_ref: Any, o_ref: Any, sums: Any, left: Any, right: Any, full: Any) -> None:
    i, wg = lax.axis_index("i"), lax.axis_index("wg")
    done = pl.get_global(plgpu.SemaphoreType.REGULAR((2,)))
    rows = pl.ds(64 * wg, 64)

    @pl.when(wg == 0)
    def _() -> None:
      plgpu.copy_gmem_to_smem(a_ref.at[:, pl.ds(64 * i, 64)], left, full)
      plgpu.copy_gmem_to_smem(b_ref.at[pl.ds(64 * i, 64)], right, full)

    plgpu.barrier_wait(full)
    sums[i, rows, :] = jnp.dot(left[rows, :], right[...], preferred_element_type=F32)
    pl.semaphore_signal(done.at[wg])

    @pl.when(i == 0)
    def _() -> None:
      pl.semaphore_wait(done.at[wg], parts)
      o_ref[rows, :] = sum(sums[n, rows, :] for n in range(parts))

  return plgpu.kernel(
    body,
    out_type=(S((m, n), F32), S((parts, m, n), F32)),
    scratch_types=[
      plgpu.SMEM((m, 64), a.dtype),
      plgpu.SMEM((64, n), b.dtype),
      plgpu.Barrier(num_arrivals=2),
    ],
    grid=(parts,),
    grid_names=("i",),
    num_threads=2,
    thread_name="wg",
  )(a, b)[0]


_x = integers(5, 64)
_a, _b = integers(128, 192, dtype=jnp.bfloat16), integers(192, 64, dtype=jnp.bfloat16, seed=1)

CASES: dict[str, Case] = {
  "after all": Case(after_all, (_x,), rolled(_x)),
  "split": Case(split, (_a, _b), _a.astype(np.float32) @ _b.astype(np.float32)),
}


def in_clusters(x: Any) -> Any:
  """Clusters that exchange among themselves, then with all others."""

  def body(x_ref: Any, o_ref: Any, between: Any, own: Any, both: Any) -> None:
    g, c = lax.axis_index("g"), lax.axis_index("c")
    arrived = pl.get_global(plgpu.SemaphoreType.REGULAR)
    own[...] = x_ref[g, c]
    meet(both)
    between[g, c] = own[...] + plgpu.cluster_ref(own, {"c": 1 - c})[...]
    pl.semaphore_signal(arrived)
    pl.semaphore_wait(arrived, x.shape[0] * 2, decrement=False)
    o_ref[g, c] = between[lax.rem(g + 1, x.shape[0]), c]

  out = S(x.shape, x.dtype), S(x.shape, x.dtype)
  return plgpu.kernel(
    body,
    out_type=out,
    scratch_types=[plgpu.SMEM(x.shape[2:], x.dtype), along_c()],
    grid=(x.shape[0],),
    grid_names=("g",),
    cluster=(2,),
    cluster_names=("c",),
  )(x)[0]
