"""Kernels in the style of Mosaic GPU, with copies and products by hand."""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tests.nvgpu.gpu_programs import BF16, F32, S
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu

TILED = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def by_hand(x: Any) -> Any:
  """A block of rows is brought to shared memory, changed there, and brought back."""

  @functools.partial(
    plgpu.kernel,
    out_shape=S(x.shape, x.dtype),
    grid=(x.shape[0] // 32,),
    grid_names=("rows",),
    scratch_shapes=dict(buffer=plgpu.SMEM((32, x.shape[1]), x.dtype), ready=plgpu.Barrier(num_barriers=2)),
  )
  def kernel(x_ref, o_ref, buffer, ready):
    rows = pl.ds(32 * jax.lax.axis_index("rows"), 32)
    plgpu.copy_gmem_to_smem(x_ref.at[rows], buffer, ready.at[1])
    plgpu.barrier_wait(ready.at[1])
    buffer[...] = buffer[...] * 2
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(buffer, o_ref.at[rows])
    plgpu.wait_smem_to_gmem(0)

  return kernel(x)


def matmul(a: Any, b: Any, tile: int = 64) -> Any:
  """The blocks of operands are brought by a loop of steps."""
  (m, k), n = a.shape, b.shape[1]

  def body(a_ref, b_ref, o_ref, out, acc):
    i, j = jax.lax.axis_index("i"), jax.lax.axis_index("j")

    def step(_, a_block, b_block):
      plgpu.wgmma(acc, a_block, b_block)
      plgpu.wgmma_wait(1)

    block = functools.partial(plgpu.BlockSpec, (tile, tile), transforms=TILED, delay_release=1)
    specs = [block(lambda k: (i, k)), block(lambda k: (k, j))]
    plgpu.emit_pipeline(step, grid=(k // tile,), in_specs=specs, max_concurrent_steps=2)(a_ref, b_ref)
    out[...] = plgpu.wgmma_accumulator_load(acc).astype(BF16)
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(out, o_ref.at[pl.ds(i * tile, tile), pl.ds(j * tile, tile)])

  return plgpu.kernel(
    body,
    out_type=S((m, n), BF16),
    grid=(m // tile, n // tile),
    grid_names=("i", "j"),
    scratch_types=dict(out=plgpu.SMEM((tile, tile), BF16, transforms=TILED), acc=plgpu.ACC((tile, tile))),
  )(a, b)


# --- several warpgroups ------------------------------------------------------------------------------------------


def handed_over(x: Any, steps: int = 5) -> Any:
  """One warpgroup brings rows through two buffers, in turn; the other doubles them."""

  @functools.partial(
    plgpu.kernel,
    out_type=S(x.shape, x.dtype),
    grid=(x.shape[0] // (8 * steps),),
    grid_names=("i",),
    num_threads=2,
    thread_name="wg",
    scratch_types=dict(
      buffers=plgpu.SMEM((2, 8, x.shape[1]), x.dtype),
      full=plgpu.Barrier(num_barriers=2),
      empty=plgpu.Barrier(num_barriers=2),
    ),
  )
  def kernel(x_ref, o_ref, buffers, full, empty):
    rows = lambda k: pl.ds((jax.lax.axis_index("i") * steps + k) * 8, 8)

    @pl.when(jax.lax.axis_index("wg") == 0)
    def _():
      @pl.loop(0, steps)
      def _(k):
        slot = jax.lax.rem(k, 2)
        pl.when(k >= 2)(lambda: plgpu.barrier_wait(empty.at[slot]))
        plgpu.copy_gmem_to_smem(x_ref.at[rows(k)], buffers.at[slot], full.at[slot])

    @pl.when(jax.lax.axis_index("wg") == 1)
    def _():
      @pl.loop(0, steps)
      def _(k):
        slot = jax.lax.rem(k, 2)
        plgpu.barrier_wait(full.at[slot])
        o_ref[rows(k)] = buffers[slot] * 2
        plgpu.barrier_arrive(empty.at[slot])

  return kernel(x)


def added_up(x: Any) -> Any:
  """Two warpgroups add up the rows of their own half of what a third brings, by columns too, with memory of their own."""
  steps = x.shape[0] // 16

  def body(x_ref, o_ref, columns_ref, buffer, full, empty):
    wg = jax.lax.axis_index("wg")

    @pl.when(wg == 2)
    def _():
      @pl.loop(0, steps)
      def _(k):
        pl.when(k > 0)(lambda: plgpu.barrier_wait(empty))
        plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(k * 16, 16)], buffer, full)

    @pl.when(wg < 2)
    def _():
      def scoped(total):
        total[...] = jnp.zeros_like(total)

        @pl.loop(0, steps)
        def _(k):
          plgpu.barrier_wait(full)
          part = buffer[pl.ds(8 * wg, 8)]
          plgpu.barrier_arrive(empty)
          o_ref[pl.ds(k * 16 + 8 * wg, 8)] = part.sum(1)
          total[...] = total[...] + part.sum(0)

        columns_ref[wg] = total[...]

      pl.run_scoped(scoped, plgpu.SMEM(x.shape[1:], x.dtype))

  return plgpu.kernel(
    body,
    out_type=[S(x.shape[:1], x.dtype), S((2, x.shape[1]), x.dtype)],
    num_threads=3,
    thread_name="wg",
    scratch_types=[plgpu.SMEM((16, x.shape[1]), x.dtype), plgpu.Barrier(), plgpu.Barrier(num_arrivals=2)],
  )(x)


def multiplied(a: Any, b: Any, tile: int = 64) -> Any:
  """One warpgroup brings the operands of the products of another."""
  (m, depth), n = a.shape, b.shape[1]

  def body(a_ref, b_ref, o_ref, a_block, b_block, full, empty):
    wg, i, j = (jax.lax.axis_index(name) for name in ("wg", "i", "j"))
    own = lambda k: pl.ds(k * tile, tile)

    @pl.when(wg == 0)
    def _():
      @pl.loop(0, depth // tile)
      def _(k):
        pl.when(k > 0)(lambda: plgpu.barrier_wait(empty))
        plgpu.copy_gmem_to_smem(a_ref.at[own(i), own(k)], a_block, full)
        plgpu.copy_gmem_to_smem(b_ref.at[own(k), own(j)], b_block, full)

    @pl.when(wg == 1)
    def _():
      def scoped(acc):
        @pl.loop(0, depth // tile)
        def _(k):
          plgpu.barrier_wait(full)
          plgpu.wgmma(acc, a_block, b_block)
          plgpu.wgmma_wait(0)
          plgpu.barrier_arrive(empty)

        o_ref[own(i), own(j)] = acc[...]

      pl.run_scoped(scoped, plgpu.ACC((tile, tile)))

  block = plgpu.SMEM((tile, tile), BF16, transforms=TILED)
  return plgpu.kernel(
    body,
    out_type=S((m, n), F32),
    grid=(m // tile, n // tile),
    grid_names=("i", "j"),
    num_threads=2,
    thread_name="wg",
    scratch_types=[block, block, plgpu.Barrier(num_arrivals=2), plgpu.Barrier()],
  )(a, b)


def exchanged(x: Any) -> Any:
  """In each round two warpgroups write what the other reads, to memory of a scope that both enter."""

  def body(x_ref, o_ref):
    wg = jax.lax.axis_index("wg")

    @pl.loop(0, 3)
    def _(k):
      def scoped(buffer, ready):
        buffer[wg] = x_ref[k, wg]
        plgpu.barrier_arrive(ready.at[1])
        plgpu.barrier_wait(ready.at[1])
        o_ref[k, wg] = buffer[1 - wg]
        plgpu.barrier_arrive(ready.at[1], predicate=wg == 0)  # one too many: in the next round, the barrier begins anew

      ready = plgpu.Barrier(num_arrivals=2, num_barriers=2)
      pl.run_scoped(scoped, plgpu.SMEM(x.shape[1:], x.dtype), ready, collective_axes="wg")

  return plgpu.kernel(body, out_type=S(x.shape, x.dtype), num_threads=2, thread_name="wg")(x)


def refilled(x: Any, by: int = 0, turns: int = 4) -> Any:
  """Warpgroup 0 reads columns of a buffer, of which all lanes access one bank, and a copy to it follows at once: by the warpgroup itself,
  or by one that it tells of its reads."""

  def body(x_ref, o_ref, buffer, full, read):
    i, wg = jax.lax.axis_index("i"), jax.lax.axis_index("wg")

    def copy(turn):
      plgpu.copy_gmem_to_smem(x_ref.at[i, turn], buffer, full)

    @pl.when(wg == by)
    def _():
      copy(0)

    for turn in range(turns):

      @pl.when(wg == 0)
      def _(turn=turn):
        plgpu.barrier_wait(full)
        columns = plgpu.transpose_ref(buffer, (1, 0))[...]
        if by != 0:
          plgpu.barrier_arrive(read)
        elif turn + 1 < turns:
          copy(turn + 1)
        o_ref[i, turn] = columns + 1

      @pl.when((wg == by) & (by != 0))
      def _(turn=turn):
        plgpu.barrier_wait(read)
        if turn + 1 < turns:
          copy(turn + 1)

  n, _, rows, columns = x.shape
  return plgpu.kernel(
    body,
    out_type=S((n, turns, columns, rows), x.dtype),
    grid=(n,),
    grid_names=("i",),
    num_threads=2,
    thread_name="wg",
    scratch_types=[plgpu.SMEM((rows, columns), x.dtype), plgpu.Barrier(), plgpu.Barrier()],
  )(x)


def pipelined_matmul(
  a: Any, b: Any, tile: int = 64, columns: int = 64, running: int = 0, transforms: Any = TILED, **options: Any
) -> Any:
  """Two warpgroups have half of the rows each of a product whose operands a third one brings; some of them are left `running`."""
  (m, depth), n = a.shape, b.shape[1]

  def body(a_ref, b_ref, o_ref):
    wg, i, j = (jax.lax.axis_index(name) for name in ("wg", "i", "j"))
    rows = pl.ds(wg * tile, tile)

    def scoped(acc):
      def step(_, a_block, b_block, *consumed):
        plgpu.wgmma(acc, a_block.at[rows], b_block)
        plgpu.wgmma_wait(running)
        for barrier in consumed[: 2 * options.get("manual_consumed_barriers", False)]:
          plgpu.barrier_arrive(barrier)
        return ()

      def compute(pipeline):
        pipeline(())
        o_ref[pl.ds((2 * i + wg) * tile, tile), pl.ds(j * columns, columns)] = acc[...]

      plgpu.emit_pipeline_warp_specialized(
        step,
        grid=(depth // tile,),
        in_specs=[
          plgpu.BlockSpec((2 * tile, tile), lambda k: (i, k), transforms=transforms),
          plgpu.BlockSpec((tile, columns), lambda k: (k, j), transforms=transforms, delay_release=running),
        ],
        memory_registers=40,
        wg_axis="wg",
        num_compute_wgs=2,
        compute_context=compute,
        **options,
      )(a_ref, b_ref)

    pl.run_scoped(scoped, plgpu.ACC((tile, columns)))

  return plgpu.kernel(
    body,
    out_type=S((m, n), F32),
    grid=(m // (2 * tile), n // columns),
    grid_names=("i", "j"),
    num_threads=3,
    thread_name="wg",
  )(a, b)


def pipelined_rows(x: Any, scale: Any, transforms: Any = ()) -> Any:
  """The first warpgroup brings blocks of rows, and columns of which the last hang over the end; the others write half of each block."""

  def body(x_ref, scale_ref, o_ref):
    half = jax.lax.axis_index("wg") - 1

    def step(index, x_block, scale_ref, o_block):
      rows = pl.ds(4 * half, 4)
      o_block[rows] = x_block[rows] * scale_ref[index[1]] + x_block[rows].sum()

    blocks = plgpu.BlockSpec((8, 32), lambda i, j: (i, j), transforms=transforms)
    plgpu.emit_pipeline_warp_specialized(
      step,
      grid=(x.shape[0] // 8, -(-x.shape[1] // 32)),
      in_specs=[blocks, plgpu.BlockSpec(memory_space=plgpu.GMEM)],
      out_specs=[blocks],
      memory_registers=40,
      wg_axis="wg",
      num_compute_wgs=2,
      memory_thread_idx=0,
      max_concurrent_steps=3,
    )(x_ref, scale_ref, o_ref)

  return plgpu.kernel(body, out_type=S(x.shape, x.dtype), num_threads=3, thread_name="wg")(x, scale)


def pipelines_in_sequence(x: Any) -> Any:
  """Two pipelines with carries that use the same memory, one after the other; the body says itself when it waits and is done."""

  def body(x_ref, o_ref):
    spec = plgpu.BlockSpec((8, 64), lambda i: (i, 0))

    def pipeline(factor, state):
      def step(_, block, produced, consumed, carry):
        plgpu.barrier_wait(produced)
        sums = block[...].sum(0)
        plgpu.barrier_arrive(consumed)
        return carry + factor * sums

      def compute(run):
        o_ref[state] = run(jnp.zeros(64, F32))

      return plgpu.emit_pipeline_warp_specialized(
        step,
        grid=(x.shape[0] // 8,),
        in_specs=[spec],
        memory_registers=40,
        wg_axis="wg",
        num_compute_wgs=1,
        pipeline_state=plgpu.PipelinePipeline(2 * state),
        manual_produced_barriers=True,
        manual_consumed_barriers=True,
        compute_context=compute,
      )

    def scoped(allocations):
      for state, factor in enumerate((1.0, 3.0)):
        pipeline(factor, state)(x_ref, allocations=allocations)

    pl.run_scoped(scoped, pipeline(1.0, 0).get_allocations(x_ref), collective_axes="wg")

  return plgpu.kernel(body, out_type=S((2, 64), F32), num_threads=2, thread_name="wg")(x)


def carried(x: Any, block: tuple[int, ...], transforms: Any = ()) -> Any:
  """Blocks of an array, one after another, go through shared memory to where they came from: one warpgroup brings them, the other takes
  them back."""
  grid = tuple(-(-n // d) for n, d in zip(x.shape, block))

  def body(x_ref, o_ref, buffers, full, empty):
    wg = jax.lax.axis_index("wg")

    def at(ref, n):
      place = np.unravel_index(n, grid)
      return ref.at[tuple(pl.ds(jnp.int32(i) * d, d) for i, d in zip(place, block))]

    for n in range(math.prod(grid)):
      slot = n % 2

      @pl.when(wg == 0)
      def _(n=n, slot=slot):
        if n >= 2:
          plgpu.barrier_wait(empty.at[slot])
        plgpu.copy_gmem_to_smem(at(x_ref, n), buffers.at[slot], full.at[slot])

      @pl.when(wg == 1)
      def _(n=n, slot=slot):
        plgpu.barrier_wait(full.at[slot])
        plgpu.copy_smem_to_gmem(buffers.at[slot], at(o_ref, n))
        plgpu.wait_smem_to_gmem(0, wait_read_only=True)
        plgpu.barrier_arrive(empty.at[slot])

  barriers = plgpu.Barrier(num_barriers=2)
  return plgpu.kernel(
    body,
    out_type=S(x.shape, x.dtype),
    num_threads=2,
    thread_name="wg",
    scratch_types=[plgpu.SMEM((2, *block), x.dtype, transforms=transforms), barriers, barriers],
  )(x)


def persistent_matmul(a: Any, b: Any, tile: int = 64, columns: int = 64, blocks: int = 2, slots: int = 2) -> Any:
  """Each CTA has several tiles, one after another, in memory that it allocates once: two warpgroups multiply, and write
  through memory of their own, while a third brings what the next tile begins with."""
  (m, depth), n = a.shape, b.shape[1]
  tiles = (m // (2 * tile), n // columns)

  def body(a_ref, b_ref, o_ref, out):
    wg = jax.lax.axis_index("wg")

    def pipeline(i, j, step, compute, state):
      return plgpu.emit_pipeline_warp_specialized(
        step,
        grid=(depth // tile,),
        in_specs=[
          plgpu.BlockSpec((2 * tile, tile), lambda k: (i, k), transforms=TILED, delay_release=1),
          plgpu.BlockSpec((tile, columns), lambda k: (k, j), transforms=TILED, delay_release=1),
        ],
        memory_registers=40,
        wg_axis="wg",
        num_compute_wgs=2,
        max_concurrent_steps=slots,
        compute_context=compute,
        pipeline_state=state,
      )

    def step(_, a_block, b_block, acc):
      plgpu.wgmma(acc, a_block.at[pl.ds(wg * tile, tile)], b_block)
      plgpu.wgmma_wait(1)
      return acc

    def scoped(allocations):
      @plgpu.nd_loop(tiles, collective_axes="sm")
      def _(info):
        i, j = info.index

        def compute(run):
          def multiply(acc):
            value = run(acc)[...].astype(BF16)
            plgpu.wait_smem_to_gmem(0, wait_read_only=True)
            out[wg] = value
            plgpu.commit_smem()
            place = o_ref.at[pl.ds((2 * i + wg) * tile, tile), pl.ds(j * columns, columns)]
            plgpu.copy_smem_to_gmem(out.at[wg], place)

          pl.run_scoped(multiply, plgpu.ACC((tile, columns)))

        states = plgpu.PipelinePipeline
        later = jnp.where(info.local_index == info.num_local_steps - 1, states.STOP, states.STEADY)
        state = jnp.where(info.local_index == 0, states.START, later)
        pipeline(i, j, step, compute, state)(a_ref, b_ref, allocations=allocations)

    nothing = lambda *_: None
    allocations = pipeline(0, 0, nothing, nothing, None).get_allocations(a_ref, b_ref)
    pl.run_scoped(scoped, allocations, collective_axes="wg")
    plgpu.wait_smem_to_gmem(0)

  return plgpu.kernel(
    body,
    out_type=S((m, n), BF16),
    grid=(blocks,),
    grid_names=("sm",),
    num_threads=3,
    thread_name="wg",
    scratch_types=[plgpu.SMEM((2, tile, columns), BF16, transforms=TILED)],
  )(a, b)
