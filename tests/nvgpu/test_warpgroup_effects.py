"""What the warpgroups of a block do to shared memory: they wait, and tell the engines what threads wrote, only where that is needed."""

from __future__ import annotations

import functools
import re

import jax
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import BF16, F32, S, natives
from mosaic_programs import TILED, multiplied, persistent_matmul, pipelined_matmul

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.target import nvgpu, simulator

FENCE = "fence.proxy.async.shared::cta;"


def integers(*shape):
  return np.asarray(np.random.default_rng(0).integers(-4, 5, shape), BF16)


def ptx_of(f, *args):
  ((_, native),) = natives(f, *args)
  return nvgpu.compile_ptx(native, "sm_90a")[0]


def loop_of_products(ptx):
  """From the wait for operands to the end of the round."""
  start = ptx.rindex("mbarrier.try_wait", 0, ptx.index("wgmma.mma_async"))
  return ptx[start : ptx.index("mbarrier.arrive", ptx.index("wgmma.wait_group"))]


@pytest.mark.parametrize(
  "program", [multiplied, pipelined_matmul, functools.partial(pipelined_matmul, running=1, max_concurrent_steps=2)]
)
def test_a_loop_over_products_of_what_the_copy_engine_brings_has_no_fences_and_no_barriers(program):
  ptx = ptx_of(program, S((128, 192), BF16), S((192, 64), BF16))
  assert FENCE not in ptx
  assert not re.search(r"bar\.sync|barrier", loop_of_products(ptx).replace("mbarrier", ""))


def test_memory_that_each_warpgroup_has_a_part_of_is_fenced_where_it_is_written():
  """Not where they say that they are done with operands."""
  ptx = ptx_of(persistent_matmul, S((256, 192), BF16), S((192, 128), BF16))
  loop = loop_of_products(ptx)
  assert FENCE not in loop and "bar.sync" not in loop
  stored = ptx.index("cp.async.bulk.tensor.2d.global.shared::cta")
  assert FENCE in ptx[ptx.index("stmatrix") : stored] and "bar.sync" in ptx[ptx.rindex(FENCE, 0, stored) : stored]


def product_of_what_threads_wrote(writer):
  """The left operand is doubled by the threads of one warpgroup, and multiplied by the second."""

  def body(a_ref, b_ref, o_ref, a_block, b_block, ready, written):
    wg = jax.lax.axis_index("wg")

    @pl.when(wg == 0)
    def _():
      plgpu.copy_gmem_to_smem(b_ref, b_block, ready)

    @pl.when(wg == writer)
    def _():
      a_block[...] = a_ref[...] * 2
      plgpu.commit_smem()
      plgpu.barrier_arrive(written)

    @pl.when(wg == 1)
    def _():
      def scoped(acc):
        plgpu.barrier_wait(written)
        plgpu.barrier_wait(ready)
        plgpu.wgmma(acc, a_block, b_block)
        plgpu.wgmma_wait(0)
        o_ref[...] = acc[...]

      pl.run_scoped(scoped, plgpu.ACC((64, 64)))

  block = plgpu.SMEM((64, 64), BF16, transforms=TILED)
  barrier = plgpu.Barrier()
  return plgpu.kernel(
    body, S((64, 64), F32), scratch_types=[block, block, barrier, barrier], num_threads=2, thread_name="wg"
  )


@pytest.mark.parametrize("writer, told_by", [(0, "mbarrier.arrive"), (1, "wgmma.fence")])
def test_what_threads_write_is_fenced_before_the_tensor_cores_read_it(writer, told_by):
  """Before others hear of it, or before the warpgroup's own product."""
  a, b = integers(64, 64), integers(64, 64)
  call = product_of_what_threads_wrote(writer)
  ((_, native),) = natives(call, a, b)
  ptx = nvgpu.compile_ptx(native, "sm_90a")[0]
  before = [part for part in ptx.split(told_by)[:-1] if "st.shared" in part]
  assert any(FENCE in part[part.rindex("st.shared") :] for part in before)
  np.testing.assert_array_equal(run(native, a, b, arch="sm_90a")[0], 2 * a.astype(np.float32) @ b.astype(np.float32))


# --- pipelines one after another -----------------------------------------------------------------------------------


@pytest.mark.parametrize("slots, blocks", [(2, 1), (4, 2)])
def test_pipelines_one_after_another_go_on_in_the_same_slots(slots, blocks):
  """Three steps each: the slots come out even in neither of these, and some CTAs have one tile only."""
  a, b = integers(256, 192), integers(192, 64)
  program = functools.partial(persistent_matmul, slots=slots, blocks=blocks)
  wanted = (a.astype(np.float32) @ b.astype(np.float32)).astype(BF16)
  ((_, native),) = natives(program, a, b)
  for found in (jax.jit(program)(a, b), run(native, a, b, arch="sm_90a")[0]):
    np.testing.assert_array_equal(found, wanted)


def test_pipelines_one_after_another_do_not_race_on_the_simulated_machine():
  a, b = integers(256, 192), integers(192, 64)
  simulator.reset()
  with plgpu.force_gpu_interpret_mode(plgpu.InterpretGPUParams(detect_races=True)):
    found = jax.jit(functools.partial(persistent_matmul, blocks=1))(a, b)
    np.testing.assert_array_equal(found, (a.astype(np.float32) @ b.astype(np.float32)).astype(BF16))
  assert not simulator.races


def test_the_memory_warpgroup_does_not_wait_between_pipelines():
  """All warpgroups meet before the tiles, not between them."""
  ptx = ptx_of(persistent_matmul, S((256, 192), BF16), S((192, 128), BF16))
  assert ptx.rindex("bar.sync \t0;") < ptx.index("cp.async.bulk.tensor")


# --- refs that loops carry -----------------------------------------------------------------------------------------


def summed(x, body, init):
  """Rows added up by a loop that carries a ref, and perhaps more."""

  def kernel(x_ref, o_ref, total):
    total[...] = jax.numpy.zeros_like(total)
    spec = plgpu.BlockSpec((8, 64), lambda i: (i, 0))
    loop = plgpu.emit_pipeline(body, grid=(x.shape[0] // 8,), in_specs=[spec], init_carry=init(total))
    o_ref[...] = jax.tree.leaves(loop(x_ref))[0][...]

  return plgpu.kernel(kernel, S((64,), F32), scratch_types=[plgpu.SMEM((64,), F32)])(x)


def test_a_ref_may_be_carried_beside_values():
  x = np.arange(16 * 64, dtype=np.float32).reshape(16, 64)

  def body(_, block, carry):
    total, factor = carry
    total[...] += factor * block[...].sum(0)
    return total, factor + 1

  found = jax.jit(functools.partial(summed, body=body, init=lambda total: (total, 1.0)))(x)
  np.testing.assert_array_equal(found, x[:8].sum(0) + 2 * x[8:].sum(0))


def test_a_carried_ref_must_be_given_on():
  with pytest.raises(errors.KernelReturnError, match=r"plgpu\.emit_pipeline: .*refs in the carry"):
    jax.eval_shape(
      functools.partial(summed, body=lambda _, block, total: None, init=lambda total: total), S((16, 64), F32)
    )


def test_barriers_begin_once_where_their_scope_is_entered_once():
  """All of them before the body, with one fence; those of a scope in a loop begin anew in each round."""
  ptx = ptx_of(pipelined_matmul, S((128, 192), BF16), S((192, 64), BF16))
  assert ptx.count("fence.mbarrier_init") == 1 and "mbarrier.inval" not in ptx


# --- where shared memory is full -----------------------------------------------------------------------------------


def test_what_has_no_room_to_be_laid_out_anew_is_stored_as_it_is_held():
  """The slots of operands take nearly all of shared memory: sums go to the output from where they are, not through global memory."""
  program = functools.partial(pipelined_matmul, columns=256, max_concurrent_steps=4)
  ((_, native),) = natives(program, S((128, 256), BF16), S((256, 256), BF16))
  ptx, launch = nvgpu.compile_ptx(native, "sm_90a")
  assert launch.scratch_bytes == 0 and "ld.global" not in ptx
