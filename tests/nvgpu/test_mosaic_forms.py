"""Forms of plgpu programs: layouts by keyword, views of accumulators and of tiled memory, mixed kinds of fp8, barriers that are asked."""

from __future__ import annotations

import emulated
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import BF16, F32, S, natives
from mosaic_programs import TILED

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.pallas import targets
from tilewright.target import nvgpu
from tilewright.target.nvgpu.host import device_log

Layout = plgpu.Layout
X = np.arange(4096, dtype=np.float32).reshape(64, 64)
SMALL = np.asarray(X % 7 - 3, BF16)
PRODUCT = SMALL.astype(np.float32) @ SMALL.astype(np.float32)


def check(body, wanted, *args, scratch=(), on_gpu=True, **options):
  """A kernel gives what is wanted on the CPU and, as code for a GPU, on the model of one."""
  kernel = plgpu.kernel(body, out_type=S(wanted.shape, wanted.dtype), scratch_types=list(scratch), **options)
  found = [jax.jit(kernel)(*args)]
  if on_gpu:
    ((_, native),) = natives(kernel, *args)
    found += run(native, *args, arch="sm_90a")
  for own in found:
    np.testing.assert_array_equal(own, wanted)


@pytest.mark.parametrize(
  "layout",
  [Layout.WG_STRIDED(shape=(64, 64), vec_size=2), Layout.WG_SPLAT(shape=(64, 64)), Layout.WGMMA_TRANSPOSED],
  ids=str,
)
def test_casts_to_layouts(layout):
  check(lambda x_ref, o_ref: o_ref.__setitem__(..., plgpu.layout_cast(2 * x_ref[...], layout)), 2 * X, X)


@pytest.mark.parametrize("layout", [Layout.TMA_INDICES, Layout.TMA_INDICES_4], ids=str)
def test_rows_are_copied_by_indices_in_a_layout_for_them(layout):
  def body(x_ref, rows_ref, o_ref, buffer, ready):
    plgpu.copy_gmem_to_smem(x_ref.at[plgpu.load(rows_ref, layout=layout)], buffer, ready)
    plgpu.barrier_wait(ready)
    o_ref[...] = buffer[...]

  rows = np.arange(64, dtype=np.int32)[::-1].copy()
  check(body, X[rows], X, rows, scratch=[plgpu.SMEM((64, 64), F32), plgpu.Barrier()])


@pytest.mark.parametrize("layout", [Layout.WGMMA, Layout.WG_STRIDED((64, 64), vec_size=2)], ids=str)
def test_a_buffer_that_a_copy_fills_is_read_in_a_layout(layout):
  def body(x_ref, o_ref, buffer, ready):
    plgpu.copy_gmem_to_smem(x_ref, buffer, ready)
    plgpu.barrier_wait(ready)
    o_ref[...] = 2 * plgpu.load(buffer, (), layout=layout)

  check(body, 2 * X, X, scratch=[plgpu.SMEM((64, 64), F32), plgpu.Barrier()])


ACCUMULATORS = {
  "sliced": (lambda acc: acc[8:40, 32:64], PRODUCT[8:40, 32:]),
  "a view of a view": (lambda acc: acc.at[:, 16:48].at[32:][...], PRODUCT[32:, 16:48]),
  "transposed": (lambda acc: plgpu.transpose_ref(acc, (1, 0))[...], PRODUCT.T),
  "flipped": (lambda acc: acc[...][::-1] + jnp.flip(acc[...], 1), PRODUCT[::-1] + PRODUCT[:, ::-1]),
}


@pytest.mark.parametrize("name", ACCUMULATORS)
def test_parts_of_accumulators_are_read(name):
  read, wanted = ACCUMULATORS[name]

  def body(x_ref, o_ref, acc):
    plgpu.wgmma(acc, x_ref, x_ref)
    o_ref[...] = read(acc)

  check(body, wanted, SMALL, scratch=[plgpu.ACC((64, 64))])


def test_products_are_added_to_parts_of_accumulators():
  def body(x_ref, o_ref, acc):
    for half in range(2):
      columns = pl.ds(32 * half, 32)
      plgpu.wgmma(acc.at[:, columns], x_ref, x_ref.at[:, columns])
    o_ref[...] = acc[...]

  check(body, PRODUCT, SMALL, scratch=[plgpu.ACC((64, 64))])


def test_a_part_of_an_accumulator_that_is_computed_is_refused_on_gpus():
  def body(i_ref, o_ref, acc):
    o_ref[...] = acc[pl.ds(i_ref[0], 8)]

  kernel = plgpu.kernel(body, out_type=S((8, 64), F32), scratch_types=[plgpu.ACC((64, 64))])
  ((_, native),) = natives(kernel, np.zeros(1, np.int32))
  with pytest.raises(errors.LayoutError, match="takes a part of it"):
    run(native, np.zeros(1, np.int32), arch="sm_90a")


def test_one_index_of_a_tiled_ref():
  def body(x_ref, o_ref, buffer):
    buffer[1] = x_ref[...]
    o_ref[...] = (buffer.at[1].at[3][...] + buffer[1, 3] + buffer.at[1, 3][...]).astype(F32)

  check(body, 3 * SMALL[3].astype(np.float32), SMALL, scratch=[plgpu.SMEM((2, 64, 64), BF16, transforms=TILED)])


@pytest.mark.parametrize("view, wanted", [
  (lambda ref: ref.reshape((2, 32, 64)).at[1], SMALL[32:]),
  (lambda ref: plgpu.transform_ref(ref, TILED).at[3, 0], SMALL[24:32]),
  (lambda ref: plgpu.transform_ref(ref, plgpu.TransposeTransform((1, 0))), SMALL.T),
], ids=["reshaped", "tiled", "transposed"])  # fmt: skip
def test_views_of_tiled_refs(view, wanted):
  def body(x_ref, o_ref, buffer):
    buffer[...] = x_ref[...]
    o_ref[...] = view(buffer)[...]

  check(body, wanted, SMALL, scratch=[plgpu.SMEM((64, 64), BF16, transforms=TILED)], on_gpu=False)


def test_products_of_two_kinds_of_fp8():
  a, b = (SMALL.astype(dtype) for dtype in (jnp.float8_e4m3fn, jnp.float8_e5m2))

  def body(a_ref, b_ref, o_ref, acc):
    plgpu.wgmma(acc, a_ref, plgpu.transpose_ref(b_ref, (1, 0)))
    o_ref[...] = acc[...]

  check(body, a.astype(np.float32) @ b.astype(np.float32).T, a, b, scratch=[plgpu.ACC((64, 64))])


EVERYWHERE = pytest.mark.parametrize(
  "interpret", [False, True, plgpu.InterpretGPUParams(), "gpu"], ids=["native", "portable", "simulated", "gpu"]
)


@EVERYWHERE
def test_a_barrier_can_be_asked_whether_its_phase_has_ended(interpret, monkeypatch):
  def body(o_ref, barrier):
    plgpu.barrier_arrive(barrier)
    o_ref[0] = plgpu.barrier_test(barrier).astype(jnp.int32)
    plgpu.barrier_arrive(barrier)
    o_ref[1] = plgpu.barrier_test(barrier).astype(jnp.int32)
    plgpu.barrier_wait(barrier)
    o_ref[2] = plgpu.barrier_test(barrier).astype(jnp.int32)

  if interpret == "gpu":
    on_gpu_model(monkeypatch)
  kernel = plgpu.kernel(
    body,
    out_type=S((3,), jnp.int32),
    scratch_types=[plgpu.Barrier(num_arrivals=2)],
    interpret=None if interpret == "gpu" else interpret,
  )
  np.testing.assert_array_equal(kernel(), [0, 1, 0])


@EVERYWHERE
def test_a_warpgroup_asks_again_and_again_until_another_has_arrived(interpret, monkeypatch):
  """What the other wrote before is there then; the second phase is another one."""

  def body(o_ref, value, barriers):
    @pl.when(jax.lax.axis_index("wg") == 0)
    def _():
      for phase in range(2):
        jax.lax.while_loop(lambda done: ~done, lambda _: plgpu.barrier_test(barriers.at[0]), False)
        plgpu.barrier_wait(barriers.at[0])
        o_ref[phase] = value[0]
        plgpu.barrier_arrive(barriers.at[1])

    @pl.when(jax.lax.axis_index("wg") == 1)
    def _():
      for phase in range(2):
        value[0] = 10 + phase
        plgpu.barrier_arrive(barriers.at[0])
        plgpu.barrier_wait(barriers.at[1])

  kernel = plgpu.kernel(
    body,
    out_type=S((2,), jnp.int32),
    scratch_types=[plgpu.SMEM((1,), jnp.int32), plgpu.Barrier(num_barriers=2)],
    num_threads=2,
    thread_name="wg",
    interpret=None if interpret == "gpu" else interpret,
  )
  if interpret == "gpu":
    on_gpu_model(monkeypatch)
  np.testing.assert_array_equal(kernel(), [10, 11])


def test_semaphores_of_blocks_of_threads_and_of_warpgroups():
  """One that the warpgroups of a block share, and one of the whole kernel."""

  def body(o_ref, own):
    everyone = pl.get_global(plgpu.SemaphoreType.REGULAR)
    i, wg = jax.lax.axis_index("i"), jax.lax.axis_index("wg")
    pl.semaphore_signal(own, 1)
    pl.semaphore_wait(own, 2, decrement=False)
    o_ref[i, wg] = i + 1
    pl.semaphore_signal(everyone, 1)
    pl.semaphore_wait(everyone, 6, decrement=False)
    o_ref[i, wg] = o_ref[i, wg] + o_ref[jax.lax.rem(i + 1, 3), 1 - wg] % 10 * 10

  options = dict(grid=(3,), grid_names=("i",), num_threads=2, thread_name="wg", interpret=True)
  found = plgpu.kernel(body, out_type=S((3, 2), jnp.int32), scratch_types=[plgpu.SemaphoreType.REGULAR], **options)()
  np.testing.assert_array_equal(found % 10, [[1, 1], [2, 2], [3, 3]])
  np.testing.assert_array_equal(found // 10, [[2, 2], [3, 3], [1, 1]])


def on_gpu_model(monkeypatch, arch="sm_90a"):
  """Kernels become the code of a GPU with warpgroups, which runs on the CPU."""
  monkeypatch.setitem(targets.NATIVE, "cpu", emulated.run)
  monkeypatch.setattr(emulated, "arch", arch)


def both_ways(body):
  """A kernel of two warpgroups that share semaphores, which wait for each other again and again."""
  options = dict(num_threads=2, thread_name="wg", grid=(2,), grid_names=("i",))
  memory = [plgpu.SMEM((2, 128), jnp.int32), plgpu.SemaphoreType.REGULAR((2,))]
  return plgpu.kernel(body, out_type=S((2, 2, 128), jnp.int32), scratch_types=memory, **options)


def exchanged(o_ref, buffer, turns):
  """Each adds what the other wrote in the round before."""
  i, wg = jax.lax.axis_index("i"), jax.lax.axis_index("wg")
  buffer[wg] = jnp.full((128,), 1 + wg, jnp.int32)

  def step(n, total):
    pl.semaphore_signal(turns.at[1 - wg], 2)
    pl.semaphore_wait(turns.at[wg], 2)
    total = total + buffer[1 - wg]
    pl.semaphore_signal(turns.at[1 - wg])
    pl.semaphore_wait(turns.at[wg])
    buffer[wg] = total
    return total

  o_ref[i, wg] = jax.lax.fori_loop(0, 3, step, jnp.zeros((128,), jnp.int32)) + pl.semaphore_read(turns.at[wg])


EXCHANGED = np.broadcast_to(np.asarray([2 + 1 + 3, 1 + 2 + 3])[None, :, None], (2, 2, 128))


def test_warpgroups_share_semaphores(monkeypatch):
  kernel = both_ways(exchanged)
  np.testing.assert_array_equal(jax.jit(kernel)(), EXCHANGED)
  on_gpu_model(monkeypatch)
  np.testing.assert_array_equal(jax.jit(lambda: kernel())(), EXCHANGED)


def test_warpgroups_share_semaphores_of_a_scope(monkeypatch):
  """They are at zero each time that the warpgroups enter it, though they were left at one."""

  def body(o_ref):
    wg = jax.lax.axis_index("wg")

    def scope(semaphore):
      pl.semaphore_signal(semaphore)
      pl.semaphore_wait(semaphore, 2, decrement=False)
      o_ref[wg] = o_ref[wg] + pl.semaphore_read(semaphore)

    o_ref[wg] = 0
    jax.lax.fori_loop(0, 3, lambda _, c: pl.run_scoped(scope, plgpu.SemaphoreType.REGULAR, collective_axes="wg"), None)

  kernel = plgpu.kernel(body, out_type=S((2,), jnp.int32), num_threads=2, thread_name="wg")
  np.testing.assert_array_equal(jax.jit(kernel)(), [6, 6])
  on_gpu_model(monkeypatch)
  np.testing.assert_array_equal(jax.jit(lambda: kernel())(), [6, 6])


def test_of_two_waits_for_one_signal_each_takes_its_own(monkeypatch):
  def body(o_ref, semaphore):
    wg = jax.lax.axis_index("wg")

    @pl.when(wg == 0)
    def _():
      pl.semaphore_signal(semaphore, 5)

    @pl.when(wg > 0)
    def _():
      pl.semaphore_wait(semaphore, 2)
      pl.semaphore_signal(semaphore, 1)

    pl.semaphore_wait(semaphore, 3, decrement=False)
    o_ref[wg] = 1

  kernel = plgpu.kernel(
    body, out_type=S((3,), jnp.int32), scratch_types=[plgpu.SemaphoreType.REGULAR], num_threads=3, thread_name="wg"
  )
  np.testing.assert_array_equal(jax.jit(kernel)(), [1, 1, 1])
  on_gpu_model(monkeypatch)
  np.testing.assert_array_equal(jax.jit(lambda: kernel())(), [1, 1, 1])


def test_warpgroups_print_on_gpus(monkeypatch, capfd):
  def body(x_ref, o_ref, ready):
    wg = jax.lax.axis_index("wg")
    pl.debug_print("{} has {}", wg, x_ref[wg, :3])
    plgpu.barrier_arrive(ready)
    plgpu.barrier_wait(ready)

    @pl.when(wg == 1)
    def _():
      pl.debug_print("all have printed")

    o_ref[wg] = x_ref[wg]

  kernel = plgpu.kernel(
    body,
    out_type=S((2, 128), F32),
    scratch_types=[plgpu.Barrier(num_arrivals=2)],
    num_threads=2,
    thread_name="wg",
  )
  on_gpu_model(monkeypatch)
  x = np.arange(256, dtype=np.float32).reshape(2, 128)
  np.testing.assert_array_equal(jax.jit(kernel)(x), x)
  first, second, last = capfd.readouterr().out.splitlines()
  assert {first, second} == {"0 has [0. 1. 2.]", "1 has [128. 129. 130.]"} and last == "all have printed"


def test_what_does_not_fit_the_log_is_left_out_and_the_rest_is_whole(monkeypatch, capfd):
  monkeypatch.setattr(device_log, "RECORDS_BYTES", 100)  # room for three records of 32 bytes

  def body(o_ref):
    wg = jax.lax.axis_index("wg")
    for _ in range(2):
      pl.debug_print("{}", wg)
    o_ref[wg] = wg

  kernel = plgpu.kernel(body, out_type=S((2,), jnp.int32), num_threads=2, thread_name="wg")
  on_gpu_model(monkeypatch)
  np.testing.assert_array_equal(jax.jit(kernel)(), [0, 1])
  *told, left_out = capfd.readouterr().out.splitlines()
  assert len(told) == 3 and set(told) <= {"0", "1"} and "1 more" in left_out


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a"])
def test_what_warpgroups_share_becomes_code_for_every_architecture(arch):
  ((_, native),) = natives(both_ways(exchanged))
  text, _ = nvgpu.compile_ptx(native, arch)
  assert "atom" in text and "nanosleep" in text
