"""Accumulators may take the registers of the warpgroups that multiply, which `set_max_registers` says."""

from __future__ import annotations

import functools

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
from tilewright.target.llvm.prepared import prepared
from tilewright.target.nvgpu import compile_ptx

M, N, K = 128, 192, 64  # of which an accumulator takes 192 registers of each thread of a warpgroup
A, B = (
  np.asarray(np.random.default_rng(n).integers(-4, 5, shape), BF16) for n, shape in enumerate(((2 * M, K), (K, N)))
)


def matmul(a, b, *, groups=2, registers=None):
  """The last warpgroup copies, each of the others multiplies rows of its own."""
  multiply = groups - 1

  @functools.partial(
    plgpu.kernel,
    out_type=S((multiply * M, N), F32),
    num_threads=groups,
    thread_name="wg",
    scratch_types=dict(
      a_smem=plgpu.SMEM((multiply * M, K), BF16, transforms=TILED),
      b_smem=plgpu.SMEM((K, N), BF16, transforms=TILED),
      full=plgpu.Barrier(num_arrivals=2),
    ),
  )
  def kernel(a_ref, b_ref, o_ref, a_smem, b_smem, full):
    wg = jax.lax.axis_index("wg")

    @pl.when(wg == multiply)
    def _():
      if registers:
        plgpu.set_max_registers(registers[0], action="decrease")
      plgpu.copy_gmem_to_smem(a_ref, a_smem, full)
      plgpu.copy_gmem_to_smem(b_ref, b_smem, full)

    @pl.when(wg < multiply)
    def _():
      if registers:
        plgpu.set_max_registers(registers[1], action="increase")

      def scope(acc):
        plgpu.barrier_wait(full)
        plgpu.wgmma(acc, a_smem.at[pl.ds(wg * M, M)], b_smem)
        o_ref[pl.ds(wg * M, M)] = acc[...]

      pl.run_scoped(scope, plgpu.ACC((M, N)))

  return kernel(a[: multiply * M], b)


@pytest.mark.parametrize(("groups", "registers"), [(2, None), (3, (40, 232))])
def test_an_accumulator_takes_the_registers_that_its_warpgroup_has(groups, registers):
  program = functools.partial(matmul, groups=groups, registers=registers)
  ((_, native),) = natives(program, A, B)
  (found,) = run(native, A[: (groups - 1) * M], B, arch="sm_90a")
  np.testing.assert_array_equal(found, A[: (groups - 1) * M].astype(np.float32) @ B.astype(np.float32))
  ((_, native),) = natives(program, A, B)
  ptx, launch = compile_ptx(prepared(native), "sm_90a")
  assert "wgmma.mma_async" in ptx and launch.scratch_bytes == 0


@pytest.mark.parametrize(("groups", "registers"), [(3, None), (4, (40, 160))])
def test_more_than_that_is_refused_with_a_way_out(groups, registers):
  ((_, native),) = natives(functools.partial(matmul, groups=groups, registers=registers), jnp.tile(A, (2, 1)), B)
  with pytest.raises(errors.ResourceExhaustedError, match=r"takes 192 of each thread.*set_max_registers"):
    compile_ptx(prepared(native), "sm_90a")
