"""Kernels whose warpgroups share memory and wait for each other: on the CPU, as code for a GPU, and on the simulated machine."""

from __future__ import annotations

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import BF16, F32, S, natives
from hypothesis import given, settings
from hypothesis import strategies as st
from mosaic_programs import (
  TILED,
  added_up,
  exchanged,
  handed_over,
  multiplied,
  pipelined_matmul,
  pipelined_rows,
  pipelines_in_sequence,
  refilled,
)

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.pallas import triton as plt
from tilewright.target import nvgpu, simulator
from tilewright.target.llvm.prepared import prepared
from tilewright.tile.ir import walk


def integers(*shape, dtype=np.float32):
  """Small ones, of which sums are exact."""
  return np.asarray(np.random.default_rng(0).integers(-4, 5, shape), dtype)


def products(a, b):
  return a.astype(np.float32) @ b.astype(np.float32)


def scaled_blocks(x, scale):
  """Blocks of 4 x 32, each times its column's scale, plus its sum."""
  blocks = np.pad(x, ((0, 0), (0, 24))).reshape(4, 4, 3, 32)
  found = blocks * scale[:, None] + blocks.sum((1, 3), keepdims=True)
  return [found.reshape(16, 96)[:, :72]]


PROGRAMS = {
  handed_over: ([integers(80, 64)], lambda x: [2 * x]),
  added_up: ([integers(48, 64)], lambda x: [x.sum(1), x.reshape(3, 2, 8, 64).sum((0, 2))]),
  multiplied: ([integers(64, 192, dtype=BF16), integers(192, 128, dtype=BF16)], lambda a, b: [products(a, b)]),
  exchanged: ([integers(3, 2, 64)], lambda x: [x[:, ::-1]]),
  pipelined_matmul: ([integers(128, 192, dtype=BF16), integers(192, 64, dtype=BF16)], lambda a, b: [products(a, b)]),
  pipelined_rows: ([integers(16, 72), np.arange(1, 4, dtype=np.float32)], scaled_blocks),
  pipelines_in_sequence: ([integers(40, 64)], lambda x: [np.stack([x.sum(0), 3 * x.sum(0)])]),
  refilled: ([integers(2, 4, 64, 64, dtype=np.int32)], lambda x: [x.transpose(0, 1, 3, 2) + 1]),
  functools.partial(refilled, by=1): (
    [integers(2, 4, 64, 64, dtype=np.int32)],
    lambda x: [x.transpose(0, 1, 3, 2) + 1],
  ),
}
every_program = pytest.mark.parametrize(
  "program", PROGRAMS, ids=lambda f: getattr(f, "__name__", "refilled by another")
)


def check(found, program):
  args, wanted = PROGRAMS[program]
  for one, other in zip(jax.tree.leaves(found), wanted(*args), strict=True):
    np.testing.assert_array_equal(one, other)


@every_program
def test_warpgroups_wait_for_each_other_on_the_cpu(program):
  check(jax.jit(program)(*PROGRAMS[program][0]), program)


@every_program
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_warpgroups_wait_for_each_other_on_a_gpu(program, arch):
  args = PROGRAMS[program][0]
  ((_, native),) = natives(program, *args)
  check(run(native, *args, arch=arch), program)


def test_a_store_writes_nothing_that_another_warpgroup_writes():
  """A slice of a slice is one slice: to read the first and write it back would undo what others wrote to it meanwhile."""

  @functools.partial(
    plgpu.kernel, out_type=S((64, 256), F32), grid=(2,), grid_names=("i",), num_threads=3, thread_name="wg"
  )
  def kernel(x_ref, o_ref):
    i, wg = jax.lax.axis_index("i"), jax.lax.axis_index("wg")

    @pl.when(wg < 2)
    def _():
      rows, columns = x_ref[i], pl.ds(64 * wg, 64)
      o_ref.at[:, pl.ds(i * 128, 128)].at[:, columns].at[pl.ds(rows, 16)][...] = jnp.full((16, 64), rows + wg, F32)

  x = np.array([16, 32], np.int32)
  ((_, native),) = natives(kernel, x)
  ops = {op.name: op for op in walk(prepared(native).body.body)}
  assert "dynamic_update_slice" not in ops and ops["window_store"].attrs["sizes"] == (16, 64)
  (found,) = run(native, x, arch="sm_90a")
  for i, row in enumerate(x):
    for wg in range(2):
      assert (found[row : row + 16, 128 * i + 64 * wg :][:, :64] == row + wg).all()


@pytest.mark.parametrize("transforms", [(plgpu.TransposeTransform((1, 0)),), (plgpu.TilingTransform((4, 32)),)])
def test_each_slot_of_a_pipeline_lies_as_the_transforms_of_its_block_say(transforms):
  args, wanted = PROGRAMS[pipelined_rows]
  call = functools.partial(pipelined_rows, transforms=transforms)
  ((_, native),) = natives(call, *args)
  for found in (jax.jit(call)(*args), run(native, *args, arch="sm_90a")[0]):
    np.testing.assert_array_equal(found, wanted(*args)[0])


@pytest.mark.parametrize("program", [handed_over, added_up, exchanged], ids=lambda f: f.__name__)
def test_warpgroups_do_not_race_on_the_simulated_machine(program):
  simulator.reset()
  with plgpu.force_gpu_interpret_mode(plgpu.InterpretGPUParams(detect_races=True)):
    check(jax.jit(program)(*PROGRAMS[program][0]), program)
  assert not simulator.races


def test_a_warpgroup_that_does_not_wait_is_found_out_by_the_simulated_machine():
  def body(x_ref, o_ref, buffer, ready):
    @pl.when(jax.lax.axis_index("wg") == 0)
    def _():
      plgpu.copy_gmem_to_smem(x_ref, buffer, ready)

    @pl.when(jax.lax.axis_index("wg") == 1)
    def _():
      o_ref[...] = buffer[...]

  simulator.reset()
  call = kernel(body, plgpu.SMEM((8,), F32), plgpu.Barrier(), interpret=plgpu.InterpretGPUParams(detect_races=True))
  jax.block_until_ready(jax.jit(call)(np.arange(8.0, dtype=np.float32)))
  assert any("scratch 0" in str(race) for race in simulator.races)
  simulator.reset()


def test_warpgroups_that_are_interpreted_run_side_by_side():
  def body(x_ref, o_ref, buffer, ready):
    @pl.when(jax.lax.axis_index("wg") == 1)
    def _():
      plgpu.copy_gmem_to_smem(x_ref, buffer, ready)

    @pl.when(jax.lax.axis_index("wg") == 0)
    def _():
      plgpu.barrier_wait(ready)
      o_ref[...] = buffer[...]

  call = kernel(body, plgpu.SMEM((8,), F32), plgpu.Barrier(), interpret=True)
  np.testing.assert_array_equal(jax.jit(call)(np.arange(8.0, dtype=np.float32)), np.arange(8))


@pytest.mark.parametrize("program", [multiplied, pipelined_matmul], ids=lambda f: f.__name__)
def test_products_read_what_another_warpgroup_brought_where_it_is(program):
  """TMA brings it there, and no element passes through registers, not of parts of a buffer either."""
  ((_, native),) = natives(program, *PROGRAMS[program][0])
  ptx, _ = nvgpu.compile_ptx(native, "sm_90a")
  products = re.findall(r"wgmma\.mma_async[^{]*\{[^}]*\}, (.)", ptx)
  # No words in registers
  assert "cp.async.bulk.tensor.2d.shared::cluster" in ptx and products and set(products) == {"%"}
  assert not any(move in ptx for move in ("cp.async.c", "ldmatrix", "stmatrix", "ld.global"))


@pytest.mark.parametrize(
  "columns, running, transforms", [(128, 0, TILED), (64, 1, TILED), (64, 1, ()), (64, 1, TILED[:1])]
)
def test_operands_may_be_several_tiles_wide_and_products_left_running(columns, running, transforms):
  """While one runs, the next begins; what it reads is given back a step later, and the last one is waited for after the loop. Operands that
  are copied for the product (they do not lie swizzled) are overwritten in the next round, so that such a product is waited for at once."""
  a, b = integers(128, 192, dtype=BF16), integers(192, 128, dtype=BF16)
  options = dict(columns=columns, running=running, transforms=transforms, max_concurrent_steps=2)
  program = functools.partial(pipelined_matmul, **options)
  ((_, native),) = natives(program, a, b)
  ptx, _ = nvgpu.compile_ptx(native, "sm_90a")
  waits = re.findall(r"wgmma\.wait_group\.sync\.aligned (\d);", ptx)
  is_swizzled = transforms in (TILED, ())  # where nothing is said, as products read it
  assert waits == ["1", "0"] if running and is_swizzled else waits[0] == "0"
  for found in (jax.jit(program)(a, b), run(native, a, b, arch="sm_90a")[0]):
    np.testing.assert_array_equal(found, products(a, b))


def test_blocks_that_are_given_back_late_need_more_slots():
  program = functools.partial(pipelined_matmul, running=2, max_concurrent_steps=2)
  with pytest.raises(errors.TilewrightError, match="max_concurrent_steps must be greater than delay_release, 2, got 2"):
    jax.eval_shape(program, S((128, 192), BF16), S((192, 64), BF16))


def test_a_warpgroup_waits_for_its_own_threads_only():
  """All threads of the block meet once, before the body."""
  ((_, native),) = natives(multiplied, *PROGRAMS[multiplied][0])
  ptx, launch = nvgpu.compile_ptx(native, "sm_90a")
  assert launch.num_threads == 256 and "wgmma.mma_async" in ptx
  assert ptx.count("bar.sync \t0;") == 1 and "bar.sync \t5, 128;" in ptx


def test_a_copy_is_issued_when_the_reads_of_what_it_replaces_are_done():
  """A barrier does not wait for loads in flight, and TMA does not wait behind them; a proxy fence before the barrier does."""
  args, _ = PROGRAMS[refilled]
  ((_, native),) = natives(refilled, *args)
  ptx, _ = nvgpu.compile_ptx(native, "sm_90a")
  kinds = [
    ("ld.shared.b32", "r"),
    ("fence.proxy.async.shared::cta", "f"),
    ("bar.sync", "b"),
    ("cp.async.bulk.tensor", "c"),
  ]
  order = "".join(kind for line in ptx.splitlines() for word, kind in kinds if line.strip().startswith(word))
  assert re.fullmatch(r"b*c(b?r+fb+c){3}b?r+b*", order), order


def test_what_was_read_before_a_barrier_stays_what_it_was():
  """Though it is used after it, when the other warpgroup has written to where it lay."""

  def body(x_ref, o_ref, buffer, read, written):
    @pl.when(jax.lax.axis_index("wg") == 0)
    def _():
      buffer[...] = x_ref[...]
      before = buffer[...]
      plgpu.barrier_arrive(read)
      plgpu.barrier_wait(written)
      o_ref[...] = before + buffer[...]

    @pl.when(jax.lax.axis_index("wg") == 1)
    def _():
      plgpu.barrier_wait(read)
      buffer[...] = 10 * buffer[...]
      plgpu.barrier_arrive(written)

  x = np.arange(8, dtype=np.float32)
  call = kernel(body, plgpu.SMEM((8,), F32), plgpu.Barrier(), plgpu.Barrier())
  ((_, native),) = natives(call, x)
  for found in (jax.jit(call)(x), run(native, x, arch="sm_90a")[0]):
    np.testing.assert_array_equal(found, 11 * x)


def test_a_masked_store_to_shared_memory_leaves_alone_what_the_other_warpgroup_writes():
  """It reads nothing that it would write back."""

  def body(x_ref, o_ref, buffer, ready):
    wg = jax.lax.axis_index("wg")
    plt.store(buffer, x_ref[...] + wg.astype(F32), mask=jnp.arange(128) % 2 == wg)
    plgpu.barrier_arrive(ready)
    plgpu.barrier_wait(ready)
    o_ref[pl.ds(64 * wg, 64)] = buffer[pl.ds(64 * wg, 64)]

  x = np.arange(128, dtype=np.float32)
  call = plgpu.kernel(
    body,
    out_type=S((128,), F32),
    scratch_types=[plgpu.SMEM((128,), F32), plgpu.Barrier(num_arrivals=2)],
    num_threads=2,
    thread_name="wg",
  )
  ((_, native),) = natives(call, x)
  ptx, _ = nvgpu.compile_ptx(native, "sm_90a")
  assert "ld.shared" not in ptx[: ptx.index("mbarrier.arrive")]
  for found in (jax.jit(call)(x), run(native, x, arch="sm_90a")[0]):
    np.testing.assert_array_equal(found, x + np.arange(128) % 2)


@settings(max_examples=6, deadline=None)
@given(st.integers(2, 5), st.integers(1, 7), st.integers(1, 3))
def test_a_chain_of_warpgroups_hands_on_everything_in_order(num_threads, steps, slots):
  """Each adds its number to what comes from the one before it, through so many slots, and the last one writes it down."""

  def body(x_ref, o_ref, buffers, full, empty):
    wg = jax.lax.axis_index("wg")

    @pl.loop(0, steps)
    def _(k):
      slot = jax.lax.rem(k, slots)

      def give(value):
        pl.when(k >= slots)(lambda: plgpu.barrier_wait(empty.at[wg, slot]))
        buffers[wg, slot] = value
        plgpu.barrier_arrive(full.at[wg, slot])

      def take():
        plgpu.barrier_wait(full.at[wg - 1, slot])
        value = buffers[wg - 1, slot]
        plgpu.barrier_arrive(empty.at[wg - 1, slot])
        return value + wg.astype(F32)

      pl.when(wg == 0)(lambda: give(x_ref[k]))
      pl.when((wg > 0) & (wg < num_threads - 1))(lambda: give(take()))
      pl.when(wg == num_threads - 1)(lambda: o_ref.__setitem__(k, take()))

  barriers = plgpu.Barrier(num_barriers=(num_threads, slots))
  call = plgpu.kernel(
    body,
    out_type=S((steps, 16), F32),
    scratch_types=[plgpu.SMEM((num_threads, slots, 16), F32), barriers, barriers],
    num_threads=num_threads,
    thread_name="wg",
  )
  x = integers(steps, 16)
  np.testing.assert_array_equal(jax.jit(call)(x), x + sum(range(num_threads)))


# --- programs that cannot go on ----------------------------------------------------------------------------------


def kernel(body, *scratch, num_threads=2, interpret=None):
  """Of several warpgroups, with an output of eight numbers."""
  return plgpu.kernel(
    body,
    out_type=S((8,), F32),
    scratch_types=scratch,
    num_threads=num_threads,
    thread_name="wg",
    interpret=interpret,
  )


def cross(o_ref, one, two):
  """Each waits for the other first."""
  mine, theirs = (one, two), (two, one)
  for wg in range(2):

    @pl.when(jax.lax.axis_index("wg") == wg)
    def _(wg=wg):
      plgpu.barrier_wait(mine[wg])
      plgpu.barrier_arrive(theirs[wg])


def forgotten(o_ref, ready):
  """Of two arrivals there is one."""
  pl.when(jax.lax.axis_index("wg") == 0)(lambda: plgpu.barrier_arrive(ready))
  pl.when(jax.lax.axis_index("wg") == 1)(lambda: plgpu.barrier_wait(ready))


def late(o_ref, ready):
  """Two phases end before the first wait."""

  @pl.when(jax.lax.axis_index("wg") == 0)
  def _():
    plgpu.barrier_arrive(ready)
    plgpu.barrier_arrive(ready)

  pl.when(jax.lax.axis_index("wg") == 1)(lambda: plgpu.barrier_wait(ready))


@pytest.mark.parametrize(
  "body, scratch, message",
  [
    (
      cross,
      [plgpu.Barrier(), plgpu.Barrier()],
      r"(?s)warpgroup 0 waits at .*by_hand\.py.*warpgroup 1 waits at .*by_hand\.py",
    ),
    (forgotten, [plgpu.Barrier(num_arrivals=2)], r"(?s)warpgroup 0 is done.*warpgroup 1 waits at .*by_hand\.py"),
    (late, [plgpu.Barrier()], r"by_hand\.py.* comes too late: two phases"),
  ],
  ids=lambda x: getattr(x, "__name__", None),
)
def test_a_deadlock_says_who_waits_where(body, scratch, message):
  with pytest.raises(jax.errors.JaxRuntimeError, match=message):
    jax.block_until_ready(jax.jit(kernel(body, *scratch))())


@pytest.mark.parametrize("num_threads", [1, None])
def test_one_warpgroup_cannot_wait_for_itself(num_threads):
  body = lambda o_ref, ready: plgpu.barrier_wait(ready)
  call = plgpu.kernel(
    body, S((8,), F32), scratch_types=[plgpu.Barrier()], num_threads=num_threads, thread_name=num_threads and "wg"
  )
  with pytest.raises(jax.errors.JaxRuntimeError, match=r"barrier_wait at .*by_hand\.py.* can never end"):
    jax.block_until_ready(jax.jit(call)())


def test_a_check_that_fails_ends_the_others_too():
  def body(o_ref, ready):
    @pl.when(jax.lax.axis_index("wg") == 0)
    def _():
      pl.debug_check(o_ref.shape[0] == 9, "nine")
      plgpu.barrier_arrive(ready)

    pl.when(jax.lax.axis_index("wg") == 1)(lambda: plgpu.barrier_wait(ready))

  with pl.enable_debug_checks(True), pytest.raises(jax.errors.JaxRuntimeError, match="nine"):
    jax.block_until_ready(jax.jit(kernel(body, plgpu.Barrier()))())


@pytest.mark.parametrize(
  "make, message",
  [
    (lambda: plgpu.kernel(num_threads=2, thread_name="wg", compiler_params=plgpu.CompilerParams(num_warps=8)), "four"),
    (
      lambda: jax.jit(kernel(lambda o: o.__setitem__(..., pl.get_global(plgpu.SMEM((8,), F32))[...]))).lower(),
      "outlives an instance",
    ),
    (lambda: plgpu.Mesh(num_threads=0, thread_name="wg"), "1 or more warpgroups"),
    (
      lambda: natives(plgpu.kernel(lambda o: None, S((8,), F32), num_threads=9, thread_name="wg")),
      "at most 8 warpgroups",
    ),
    (lambda: jax.jit(kernel(lambda o, b: plgpu.barrier_wait(b), plgpu.Barrier(num_barriers=2))).lower(), "barrier.at"),
    (
      lambda: jax.jit(kernel(lambda o, s: plgpu.barrier_wait(s), plgpu.SMEM((), F32))).lower(),
      "barrier must be a SMEM reference",
    ),
  ],
)
def test_mistakes_are_named(make, message):
  with pytest.raises(errors.TilewrightError, match=message):
    make()
