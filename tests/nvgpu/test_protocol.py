"""What warpgroups say to each other, run before code is made: programs that race or wait for ever are errors with both lines."""

from __future__ import annotations

import functools
import inspect

import jax
import numpy as np
import pytest
from gpu_programs import BF16, F32, S, natives
from hypothesis import given, settings
from hypothesis import strategies as st
from mosaic_programs import TILED, persistent_matmul

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.target.llvm.prepared import prepared
from tilewright.target.nvgpu.arch import ARCHS
from tilewright.target.nvgpu.passes import lowering


def lower(program, *args, arch="sm_90a"):
  ((_, native),) = natives(program, *args)
  lowering.lower(prepared(native), ARCHS[arch], until="roles")


def line_of(f, text):
  lines, first = inspect.getsourcelines(f)
  return f"test_protocol.py:{first + next(n for n, line in enumerate(lines) if text in line)}:"


def ring(slots, steps, *, freed=None, filled=None, unreleased=None, empties=1, fulls=1):
  """Blocks of an array through a ring: the first warpgroup brings them, the second writes them elsewhere. The producer waits for a slot
  in the steps `freed`, the consumer for its block in the steps `filled`; it does not give back the slots of `unreleased` steps."""
  freed = range(slots, steps) if freed is None else freed
  filled = range(steps) if filled is None else filled

  def program(x):
    def body(x_ref, o_ref, blocks, full, empty):
      for n in range(steps):
        slot = n % slots

        @pl.when(jax.lax.axis_index("wg") == 0)
        def _(n=n, slot=slot):
          if n in freed:
            plgpu.barrier_wait(empty.at[slot])
          plgpu.copy_gmem_to_smem(x_ref.at[n], blocks.at[slot], full.at[slot])

        @pl.when(jax.lax.axis_index("wg") == 1)
        def _(n=n, slot=slot):
          if n in filled:
            plgpu.barrier_wait(full.at[slot])
          o_ref[n] = blocks[slot] * 2
          if n != unreleased:
            plgpu.barrier_arrive(empty.at[slot])

    scratch = [
      plgpu.SMEM((slots, 8, 128), F32),
      plgpu.Barrier(num_barriers=slots, num_arrivals=fulls),
      plgpu.Barrier(num_barriers=slots, num_arrivals=empties),
    ]
    return plgpu.kernel(body, S((steps, 8, 128), F32), scratch_types=scratch, num_threads=2, thread_name="wg")(x)

  return functools.partial(lower, program, S((steps, 8, 128), F32))


rings = st.tuples(st.integers(1, 3), st.integers(1, 6))


@settings(max_examples=8, deadline=None)
@given(rings, st.sampled_from(["sm_80", "sm_90a", "sm_100a"]))
def test_a_ring_whose_waits_are_complete_is_right(sizes, arch):
  ring(*sizes)(arch=arch)


@settings(max_examples=8, deadline=None)
@given(rings, st.data())
def test_a_slot_is_not_filled_before_its_reader_has_given_it_back(sizes, data):
  slots, steps = sizes[0], sizes[0] + sizes[1]
  left_out = data.draw(st.integers(slots, steps - 1))
  with pytest.raises(errors.RaceError) as e:
    ring(slots, steps, freed=set(range(slots, steps)) - {left_out})()
  assert line_of(ring, "copy_gmem_to_smem") in str(e.value)


@settings(max_examples=8, deadline=None)
@given(rings, st.data())
def test_a_block_is_not_read_before_its_copy_has_been_waited_for(sizes, data):
  slots, steps = sizes
  left_out = data.draw(st.integers(0, steps - 1))
  with pytest.raises(errors.RaceError) as e:
    ring(slots, steps, filled=set(range(steps)) - {left_out})()
  assert line_of(ring, "copy_gmem_to_smem") in str(e.value) or line_of(ring, "barrier_wait(full") in str(e.value)


@settings(max_examples=6, deadline=None)
@given(rings, st.data())
def test_a_slot_that_is_not_given_back_is_waited_for_in_vain(sizes, data):
  slots, steps = sizes[0], sizes[0] + sizes[1]
  left_out = data.draw(st.integers(0, steps - slots - 1))
  with pytest.raises(errors.DeadlockError) as e:
    ring(slots, steps, unreleased=left_out)()
  assert line_of(ring, "barrier_wait(") in str(e.value)


@pytest.mark.parametrize("counts", [dict(fulls=2), dict(empties=2)])
def test_arrivals_that_nobody_makes_are_waited_for_in_vain(counts):
  with pytest.raises(errors.DeadlockError, match="num_arrivals"):
    ring(2, 6, **counts)()


def two_copies(arrivals):
  """Two copies arrive at one barrier, for which a product of both waits once."""

  def program(a, b):
    def body(a_ref, b_ref, o_ref, a_block, b_block, full):
      @pl.when(jax.lax.axis_index("wg") == 0)
      def _():
        plgpu.copy_gmem_to_smem(a_ref, a_block, full)
        plgpu.copy_gmem_to_smem(b_ref, b_block, full)

      @pl.when(jax.lax.axis_index("wg") == 1)
      def _():
        def scoped(acc):
          plgpu.barrier_wait(full)
          plgpu.wgmma(acc, a_block, b_block)
          o_ref[...] = acc[...]

        pl.run_scoped(scoped, plgpu.ACC((64, 64)))

    block = plgpu.SMEM((64, 64), BF16, transforms=TILED)
    scratch = [block, block, plgpu.Barrier(num_arrivals=arrivals)]
    return plgpu.kernel(body, S((64, 64), F32), scratch_types=scratch, num_threads=2, thread_name="wg")(a, b)

  return functools.partial(lower, program, S((64, 64), BF16), S((64, 64), BF16))


def test_a_barrier_counts_all_copies_that_arrive_at_it():
  two_copies(2)()
  with pytest.raises(errors.RaceError) as e:  # the phase ends with the first copy
    two_copies(1)()
  assert line_of(two_copies, "wgmma(") in str(e.value) or line_of(two_copies, "barrier_wait") in str(e.value)
  with pytest.raises(errors.DeadlockError):
    two_copies(3)()


def test_memory_that_a_copy_reads_is_not_overwritten_before_the_copy_is_waited_for():
  def program(waits):
    def call(x):
      def body(x_ref, o_ref, block):
        @pl.when(jax.lax.axis_index("wg") == 0)
        def _():
          for n in range(2):
            block[...] = x_ref[n] * 2
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(block, o_ref.at[n])
            if waits:
              plgpu.wait_smem_to_gmem(0, wait_read_only=True)

      scratch = [plgpu.SMEM((8, 128), F32)]
      return plgpu.kernel(body, S((2, 8, 128), F32), scratch_types=scratch, num_threads=2, thread_name="wg")(x)

    return functools.partial(lower, call, S((2, 8, 128), F32))

  program(True)()
  with pytest.raises(errors.RaceError, match="wait_smem_to_gmem") as e:
    program(False)()
  assert line_of(program, "copy_smem_to_gmem") in str(e.value) and line_of(program, "block[...] =") in str(e.value)


def test_a_barrier_does_not_end_two_phases_at_a_wait():
  """Whoever waits sees only whether a phase is even or odd."""

  def program(x):
    def body(x_ref, o_ref, told):
      @pl.when(jax.lax.axis_index("wg") == 0)
      def _():
        plgpu.barrier_arrive(told)
        plgpu.barrier_arrive(told)

      @pl.when(jax.lax.axis_index("wg") == 1)
      def _():
        plgpu.barrier_wait(told)
        o_ref[...] = x_ref[...]
        plgpu.barrier_wait(told)

    return plgpu.kernel(body, S((8, 128), F32), scratch_types=[plgpu.Barrier()], num_threads=2, thread_name="wg")(x)

  with pytest.raises(errors.RaceError, match="may end the next phase") as e:
    lower(program, S((8, 128), F32))
  assert line_of(program, "barrier_arrive") in str(e.value) or line_of(program, "barrier_wait") in str(e.value)


def test_parts_race_only_where_they_overlap():
  def program(apart):
    def call(x):
      def body(x_ref, o_ref, block):
        wg = jax.lax.axis_index("wg")
        part = pl.ds(apart * wg, 4)
        block[part] = x_ref[part] * 2
        o_ref[part] = block[part] + 1

      scratch = [plgpu.SMEM((8, 128), F32)]
      return plgpu.kernel(body, S((8, 128), F32), scratch_types=scratch, num_threads=2, thread_name="wg")(x)

    return functools.partial(lower, call, S((8, 128), F32))

  program(4)()
  with pytest.raises(errors.RaceError):
    program(3)()


def test_a_pipeline_that_delays_its_releases_waits_for_its_last_products():
  """The slots of the last steps are released when no product reads them any more."""
  lower(persistent_matmul, S((256, 192), BF16), S((192, 128), BF16))


def test_a_loop_of_unknown_length_is_left_alone():
  def program(n, x):
    def body(n_ref, x_ref, o_ref, told):
      @pl.when(jax.lax.axis_index("wg") == 0)
      def _():
        pl.loop(0, n_ref[0])(lambda _: plgpu.barrier_arrive(told))

      @pl.when(jax.lax.axis_index("wg") == 1)
      def _():
        plgpu.barrier_wait(told)
        o_ref[...] = x_ref[...]

    return plgpu.kernel(body, S((8, 128), F32), scratch_types=[plgpu.Barrier()], num_threads=2, thread_name="wg")(n, x)

  lower(program, S((1,), np.int32), S((8, 128), F32))
