"""Semaphores that all CTAs of a hand-written kernel share (`pl.get_global`): the CTAs run at the same time, and wait for each other."""

from __future__ import annotations

import functools
import re

import jax
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import F32, S, natives
from grid_programs import CASES, after_all, in_clusters

from tests.support.fake_targets import targets
from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.runtime import ptxas
from tilewright.target import nvgpu

every_case = pytest.mark.parametrize("name", CASES)


def native_of(program, *args):
  ((_, native),) = natives(program, *args)
  return native


@every_case
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_ctas_wait_for_each_other_on_a_gpu(name, arch):
  program, args, wanted = CASES[name]
  np.testing.assert_array_equal(run(native_of(program, *args), *args, arch=arch)[0], wanted)


@every_case
def test_the_simulated_machine_gives_the_same(name):
  program, args, wanted = CASES[name]
  with plgpu.force_gpu_interpret_mode():
    np.testing.assert_array_equal(jax.jit(program)(*args), wanted)


def test_a_kernel_that_prints_does_not_run_one_cta_after_another():
  def body(x_ref, o_ref):
    arrived = pl.get_global(plgpu.SemaphoreType.REGULAR)
    pl.debug_print("here")
    pl.semaphore_signal(arrived)
    pl.semaphore_wait(arrived, 3, decrement=False)
    o_ref[jax.lax.axis_index("i")] = x_ref[...]

  program = lambda x: plgpu.kernel(body, S((3, 64), F32), grid=(3,), grid_names=("i",))(x)
  x = np.ones(64, np.float32)
  np.testing.assert_array_equal(run(native_of(program, x), x, arch="sm_90a")[0], np.ones((3, 64)))


@pytest.mark.skipif(ptxas.find() is None, reason=f"there is no ptxas here: {ptxas.ADVICE}")
@pytest.mark.parametrize(
  "program, args", [*((c.program, c.args) for c in CASES.values()), (in_clusters, (S((3, 2, 64), F32),))]
)
def test_what_was_written_is_visible_behind_a_wait(program, args):
  """LLVM leaves the ordering of atomic updates out, so that a fence stands before each, and the polling load acquires."""
  ptx, _ = nvgpu.compile_ptx(native_of(program, *args), "sm_90a")
  code = re.sub(r"(?m)^\s*(?://|\.loc).*\n", "", ptx)
  updates = re.findall(r"(.*)\n\s*(?:atom|red)\S*\.add", code)
  assert updates and all("fence.acq_rel.gpu" in before for before in updates)
  assert "ld.acquire" in ptx
  ptxas.resources(ptx, "sm_90a")


@pytest.mark.parametrize("program, x, cluster", [(after_all, (5, 64), 1), (in_clusters, (3, 2, 64), 2)])
def test_a_launch_asks_for_all_ctas_at_the_same_time(driver, program, x, cluster):
  _, launch = nvgpu.compile_ptx(native_of(program, S(x, F32)), "sm_90a")
  workspace = np.full(launch.workspace_bytes, 0xAB, np.uint8)
  start = launch.log_bytes
  driver.while_running = lambda values: None
  (name,) = targets(program, S(x, F32))
  assert driver.launch(name, [0x100], [0x200, 0x300, workspace.ctypes.data], 3) is None
  (launched,) = driver.launches
  assert (
    launched.is_cooperative and launched.cluster == (cluster, 1, 1) and launched.grid == (int(np.prod(x[:-1])), 1, 1)
  )
  assert not workspace[start : start + launch.grid_bytes].any() and launch.grid_bytes


def test_a_batch_is_refused():
  x = S((2, 5, 64), F32)
  with pytest.raises(errors.NativeCodeError, match=r"share semaphores .*Call it in jax\.lax\.map"):
    native_of(jax.vmap(functools.partial(after_all, rounds=1)), x)
