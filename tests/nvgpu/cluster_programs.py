"""Hand-written kernels whose CTAs cooperate in clusters, each with its arguments and what it must give, exactly."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.nvgpu.mosaic_programs import TILED
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu

BF16, F32, I32 = jnp.bfloat16, jnp.float32, jnp.int32
S = jax.ShapeDtypeStruct


class Case(NamedTuple):
  program: Callable[..., Any]
  args: tuple[Any, ...]
  wanted: np.ndarray


def integers(*shape: int, dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
  """Small ones, of which products and sums are exact."""
  return np.asarray(np.random.default_rng(seed).integers(-4, 5, shape), dtype)


def products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
  return a.astype(np.float32) @ b.astype(np.float32)


def meet(barrier: Any) -> None:
  plgpu.barrier_arrive(barrier)
  plgpu.barrier_wait(barrier)


def kernel(body: Any, out: Any, *scratch: Any, size: int = 2, grid: int = 3, **options: Any) -> Any:
  """A kernel of `grid` clusters of `size` CTAs along "c"."""
  given = {"grid": (grid,), "grid_names": ("g",), "cluster": (size,), "cluster_names": ("c",), **options}
  return plgpu.kernel(body, out_type=out, scratch_types=scratch, **given)


def along_c(**options: Any) -> Any:
  return plgpu.ClusterBarrier(collective_axes=("c",), **options)


# --- memory of other CTAs ----------------------------------------------------------------------------------------


def exchanged(x: Any, rounds: int = 3, transforms: Any = ()) -> Any:
  """In each round, a CTA adds what its neighbour holds to its own."""

  def body(x_ref: Any, o_ref: Any, own: Any, both: Any) -> None:
    g, c = lax.axis_index("g"), lax.axis_index("c")
    own[...] = x_ref[g, c]
    for _ in range(rounds):
      meet(both)
      total = own[...] + plgpu.cluster_ref(own, {"c": lax.rem(c + 1, lax.axis_size("c"))})[...]
      meet(both)
      own[...] = total
    o_ref[g, c] = own[...]

  grid, size, *block = x.shape
  memory = plgpu.SMEM(tuple(block), x.dtype, transforms=transforms)
  return kernel(body, S(x.shape, x.dtype), memory, along_c(), size=size, grid=grid)(x)


def after_rounds(x: np.ndarray, rounds: int = 3) -> np.ndarray:
  for _ in range(rounds):
    x = x + np.roll(x, -1, 1)
  return x


def handed_over(x: Any) -> Any:
  """One warpgroup of each CTA writes, and the other reads what those of both wrote."""

  def body(x_ref: Any, o_ref: Any, own: Any, both: Any) -> None:
    g, c = lax.axis_index("g"), lax.axis_index("c")

    @pl.when(lax.axis_index("w") == 0)
    def _() -> None:
      own[...] = x_ref[g, c]
      plgpu.barrier_arrive(both)

    @pl.when(lax.axis_index("w") == 1)
    def _() -> None:
      plgpu.barrier_wait(both)
      o_ref[g, c] = own[...] - plgpu.cluster_ref(own, {"c": 1 - c})[...]

  memory = plgpu.SMEM(x.shape[2:], x.dtype)
  return kernel(body, S(x.shape, x.dtype), memory, along_c(), num_threads=2, thread_name="w")(x)


def stored_there(x: Any, atomic: str | None = None) -> Any:
  def body(x_ref: Any, o_ref: Any, own: Any, arrived: Any, both: Any) -> None:
    g, c = lax.axis_index("g"), lax.axis_index("c")
    own[...] = jnp.full(x.shape[2:], 100, x.dtype)
    meet(both)
    plgpu.async_store_smem(x_ref[g, c], own, arrived, cluster_idx=1 - c, cluster_dim="c", atomic=atomic)
    plgpu.barrier_wait(arrived)
    o_ref[g, c] = own[...]

  return kernel(body, S(x.shape, x.dtype), plgpu.SMEM(x.shape[2:], x.dtype), plgpu.Barrier(), along_c())(x)


def counted_by_the_first(x: Any) -> Any:
  """The first CTA alone waits, and adds up what all wrote."""

  def body(x_ref: Any, o_ref: Any, own: Any, counted: Any, read: Any) -> None:
    g, c = lax.axis_index("g"), lax.axis_index("c")
    own[...] = x_ref[g, c]
    plgpu.barrier_arrive(counted)

    @pl.when(c == 0)
    def _() -> None:
      plgpu.barrier_wait(counted)
      o_ref[g] = sum(plgpu.cluster_ref(own, {"c": n})[...] for n in range(x.shape[1]))

    meet(read)

  grid, size, *block = x.shape
  scratch = plgpu.SMEM(tuple(block), x.dtype), along_c(leader_tracked=True), along_c()
  return kernel(body, S((grid, *block), x.dtype), *scratch, size=size, grid=grid)(x)


def multiplied_from_there(a: Any, b: Any) -> Any:
  """A CTA multiplies what the other one has written to its memory, in the layout of tensor cores."""

  def body(a_ref: Any, b_ref: Any, o_ref: Any, left: Any, right: Any, arrived: Any, both: Any) -> None:
    g, c = lax.axis_index("g"), lax.axis_index("c")
    meet(both)
    plgpu.async_store_smem(a_ref[g, c], left, arrived, cluster_idx=1 - c, cluster_dim="c")
    right[...] = b_ref[g, c]
    plgpu.commit_smem()
    plgpu.barrier_wait(arrived)

    def scope(acc: Any) -> Any:
      plgpu.wgmma(acc, left, right)
      plgpu.wgmma_wait(0)
      return acc[...]

    o_ref[g, c] = pl.run_scoped(scope, plgpu.ACC((64, 64)))

  tile = plgpu.SMEM((64, 64), BF16, transforms=TILED)
  return kernel(body, S((*a.shape[:2], 64, 64), F32), tile, tile, plgpu.Barrier(), along_c(), grid=a.shape[0])(a, b)


def along_one_axis(x: Any) -> Any:
  """Of 2 x 2 CTAs, those of a column meet at one of two barriers, and those of a row at a third."""

  def body(x_ref: Any, o_ref: Any, own: Any, columns: Any, row: Any) -> None:
    g, i, j = (lax.axis_index(name) for name in ("g", "i", "j"))
    own[...] = x_ref[g, i, j]
    meet(columns.at[1])
    above = plgpu.cluster_ref(own, {"i": 1 - i})[...]
    meet(columns.at[0])
    own[...] = own[...] + 10 * above
    meet(row)
    o_ref[g, i, j] = own[...] + plgpu.cluster_ref(own, {"j": 1 - j})[...]

  return plgpu.kernel(
    body,
    out_type=S(x.shape, x.dtype),
    scratch_types=[
      plgpu.SMEM(x.shape[3:], x.dtype),
      plgpu.ClusterBarrier(collective_axes=("i",), num_barriers=2),
      plgpu.ClusterBarrier(collective_axes=("j",)),
    ],
    grid=x.shape[:1],
    grid_names=("g",),
    cluster=(2, 2),
    cluster_names=("i", "j"),
  )(x)


def plus_neighbours(x: np.ndarray) -> np.ndarray:
  x = x + 10 * x[:, ::-1]
  return x + x[:, :, ::-1]


def each_from_all(x: Any) -> Any:
  """A loop over the other CTAs, by two warpgroups that arrive both."""
  size = x.shape[1]

  def body(x_ref: Any, o_ref: Any, own: Any, all_of_them: Any) -> None:
    g, c, wg = (lax.axis_index(name) for name in ("g", "c", "wg"))
    own[wg] = x_ref[g, c, wg]
    meet(all_of_them)

    def step(n: Any, total: Any) -> Any:
      there = plgpu.cluster_ref(own, {"c": lax.rem(c + n, size)})
      return total + there[1 - wg] * (n + 1).astype(F32)

    o_ref[g, c, wg] = lax.fori_loop(0, size, step, jnp.zeros(x.shape[3:], F32))

  memory = plgpu.SMEM(x.shape[2:], x.dtype)
  both = along_c(num_arrivals=2)
  threads = {"num_threads": 2, "thread_name": "wg"}
  return kernel(body, S(x.shape, x.dtype), memory, both, size=size, grid=x.shape[0], **threads)(x)


def weighted(x: np.ndarray) -> np.ndarray:
  return sum((n + 1) * np.roll(x[:, :, ::-1], -n, 1) for n in range(x.shape[1]))


def scoped_in_a_loop(x: Any) -> Any:
  """Memory and barriers of a scope that is entered three times; a copy to the other CTA arrives at its barrier."""

  def body(x_ref: Any, o_ref: Any) -> None:
    g, c = lax.axis_index("g"), lax.axis_index("c")

    def scope(own: Any, arrived: Any, both: Any) -> None:
      meet(both)
      there = {"c": 1 - c}
      plgpu.copy_gmem_to_smem(x_ref.at[g, c], plgpu.cluster_ref(own, there), plgpu.cluster_ref(arrived, there))
      plgpu.barrier_wait(arrived)
      o_ref[g, c] = o_ref[g, c] + own[...]
      meet(both)

    o_ref[g, c] = jnp.zeros(x.shape[2:], x.dtype)
    memory = plgpu.SMEM(x.shape[2:], x.dtype), plgpu.Barrier(), along_c()
    lax.fori_loop(0, 3, lambda n, _: pl.run_scoped(scope, *memory), None)

  return kernel(body, S(x.shape, x.dtype))(x)


# --- copies that CTAs make together ------------------------------------------------------------------------------


def summed_together(x: Any, size: int = 4, slots: int = 2, rows: int = 8) -> Any:
  """All CTAs of a cluster take the same blocks through a ring, which they refill when all are done with a slot; each adds up its own
  power of what it sees."""
  steps, columns = x.shape[0] // rows, x.shape[1]

  def body(x_ref: Any, o_ref: Any, blocks: Any, full: Any, free: Any) -> None:
    g, c = lax.axis_index("g"), lax.axis_index("c")

    def copy(n: Any) -> None:
      slot = lax.rem(n, slots)
      part = x_ref.at[pl.ds(n * rows, rows), pl.ds(g * 64, 64)]
      plgpu.copy_gmem_to_smem(part, blocks.at[slot], full.at[slot], collective_axes="c")

    for n in range(slots):
      copy(jnp.int32(n))

    def step(n: Any, total: Any) -> Any:
      slot = lax.rem(n, slots)
      plgpu.barrier_wait(full.at[slot])
      block = blocks[slot]
      meet(free.at[slot])
      pl.when(n + slots < steps)(lambda: copy(n + slots))
      return total + block * (c + 1).astype(F32)

    total = lax.fori_loop(0, steps, step, jnp.zeros((rows, 64), F32))
    o_ref[c, :, pl.ds(g * 64, 64)] = total

  scratch = (
    plgpu.SMEM((slots, rows, 64), F32),
    plgpu.Barrier(num_barriers=slots),
    along_c(num_barriers=slots),
  )
  return kernel(body, S((size, rows, columns), F32), *scratch, size=size, grid=columns // 64)(x)


def powers(x: np.ndarray, size: int = 4, rows: int = 8) -> np.ndarray:
  total = x.reshape(-1, rows, x.shape[1]).sum(0)
  return np.stack([total * (c + 1) for c in range(size)])


def pipelined(a: Any, b: Any, delay: int = 0) -> Any:
  """A product by 2 x 2 CTAs: those of a row share the left operand, those of a column the right one."""
  (m, k), n, t = a.shape, b.shape[1], 64

  def body(a_ref: Any, b_ref: Any, o_ref: Any, acc: Any) -> None:
    i, j = (lax.axis_index(g) * 2 + lax.axis_index(c) for g, c in (("gi", "ci"), ("gj", "cj")))

    def step(_: Any, a_block: Any, b_block: Any) -> None:
      plgpu.wgmma(acc, a_block, b_block)
      plgpu.wgmma_wait(delay)

    block = functools.partial(plgpu.BlockSpec, (t, t), transforms=TILED, delay_release=delay)
    specs = [block(lambda k: (i, k), collective_axes=("cj",)), block(lambda k: (k, j), collective_axes=("ci",))]
    plgpu.emit_pipeline(step, grid=(k // t,), in_specs=specs, max_concurrent_steps=2 + delay)(a_ref, b_ref)
    o_ref[pl.ds(i * t, t), pl.ds(j * t, t)] = acc[...]

  return plgpu.kernel(
    body,
    out_type=S((m, n), F32),
    grid=(m // (2 * t), n // (2 * t)),
    grid_names=("gi", "gj"),
    cluster=(2, 2),
    cluster_names=("ci", "cj"),
    scratch_types=[plgpu.ACC((t, t))],
  )(a, b)


def specialized(a: Any, b: Any, size: int = 2, along_both: bool = False) -> Any:
  """A persistent product: a warpgroup copies for two that multiply. CTAs below each other share the right operand."""
  (m, k), n, t = a.shape, b.shape[1], 64
  tiles = (m // (2 * t * size), n // t)

  def body(a_ref: Any, b_ref: Any, o_ref: Any) -> None:
    c, wg = lax.axis_index("c"), lax.axis_index("wg")

    @plgpu.nd_loop(tiles, collective_axes="g")
    def _(info: Any) -> None:
      i, j = info.index
      i = i * size + c

      def context(pipeline: Any) -> None:
        def scope(acc: Any) -> None:
          pipeline(acc)
          o_ref[pl.ds(i * 2 * t + wg * t, t), pl.ds(j * t, t)] = acc[...]

        pl.run_scoped(scope, plgpu.ACC((t, t)))

      def step(_: Any, a_block: Any, b_block: Any, acc: Any) -> Any:
        plgpu.wgmma(acc, a_block.at[pl.ds(wg * t, t)], b_block)
        plgpu.wgmma_wait(0)
        return acc

      plgpu.emit_pipeline_warp_specialized(
        step,
        grid=(k // t,),
        in_specs=[
          plgpu.BlockSpec((2 * t, t), lambda k: (i, k), transforms=TILED),
          plgpu.BlockSpec((t, t), lambda k: (k, j), transforms=TILED, collective_axes=("c",)),
        ],
        max_concurrent_steps=2,
        memory_registers=40,
        wg_axis="wg",
        num_compute_wgs=2,
        compute_context=context,
      )(a_ref, b_ref)

  return kernel(body, S((m, n), F32), size=size, grid=2, num_threads=3, thread_name="wg")(a, b)


def at_the_edge(x: Any) -> Any:
  """Three rows divide among no two CTAs, and hang over the end of the array."""

  def body(x_ref: Any, o_ref: Any, block: Any, full: Any) -> None:
    g, c = lax.axis_index("g"), lax.axis_index("c")
    plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(3 * g, 3)], block, full, collective_axes="c")
    plgpu.barrier_wait(full)
    o_ref[g, c] = block[...] + c.astype(F32)

  grid = -(-x.shape[0] // 3)
  scratch = plgpu.SMEM((3, x.shape[1]), F32), plgpu.Barrier()
  return kernel(body, S((grid, 2, 3, x.shape[1]), F32), *scratch, grid=grid)(x)


def with_edge(x: np.ndarray) -> np.ndarray:
  rows = np.pad(x, ((0, -x.shape[0] % 3), (0, 0))).reshape(-1, 1, 3, x.shape[1])
  return rows + np.arange(2, dtype=np.float32)[:, None, None]


_x, _four = integers(3, 2, 64), integers(2, 4, 8, 64)
_square, _pairs = integers(2, 2, 2, 64), integers(1, 4, 2, 64)
_tiles = integers(3, 2, 64, 64, dtype=BF16)
_left, _right = integers(3, 2, 64, 64, dtype=BF16), integers(3, 2, 64, 64, dtype=BF16, seed=1)
_a, _b = integers(256, 192, dtype=BF16), integers(192, 256, dtype=BF16, seed=1)
_rows = integers(40, 128)

CASES: dict[str, Case] = {
  "exchanged": Case(exchanged, (_x,), after_rounds(_x)),
  "exchanged among four": Case(exchanged, (_four,), after_rounds(_four)),
  "exchanged in tiles": Case(
    functools.partial(exchanged, rounds=2, transforms=TILED), (_tiles,), after_rounds(_tiles.astype(np.float32), 2)
  ),
  "handed over": Case(handed_over, (_x,), _x - _x[:, ::-1]),
  "stored there": Case(stored_there, (_x,), _x[:, ::-1]),
  "added there": Case(functools.partial(stored_there, atomic="add"), (_x,), _x[:, ::-1] + 100),
  "the greater there": Case(
    functools.partial(stored_there, atomic="max"), (100 + _x.astype(np.int32),), np.maximum(100 + _x[:, ::-1], 100)
  ),
  "counted by the first": Case(counted_by_the_first, (_four,), _four.sum(1)),
  "along one axis": Case(along_one_axis, (_square,), plus_neighbours(_square)),
  "each from all": Case(each_from_all, (_pairs,), weighted(_pairs)),
  "scoped in a loop": Case(scoped_in_a_loop, (_x,), 3 * _x[:, ::-1]),
  "multiplied from there": Case(multiplied_from_there, (_left, _right), products(_left[:, ::-1], _right)),
  "summed together": Case(summed_together, (_rows,), powers(_rows)),
  "pipelined": Case(pipelined, (_a, _b), products(_a, _b)),
  "pipelined, released later": Case(functools.partial(pipelined, delay=1), (_a, _b), products(_a, _b)),
  "specialized": Case(specialized, (_a, _b), products(_a, _b)),
  "at the edge": Case(at_the_edge, (integers(7, 64),), with_edge(integers(7, 64))),
}
