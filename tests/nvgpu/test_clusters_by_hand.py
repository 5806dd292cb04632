"""Hand-written kernels whose CTAs cooperate in clusters: what they compute, on the CPU; their code; and mistakes."""

from __future__ import annotations

import functools
import inspect
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from cluster_programs import CASES, along_c, exchanged, kernel, meet, specialized, summed_together
from gpu_programs import F32, S, natives
from jax import lax

from tests.support.fake_targets import targets
from tests.support.mosaic_gpu_kernels import BF16, close, exact, module, random
from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.runtime import ptxas
from tilewright.target import nvgpu
from tilewright.target.llvm.prepared import prepared
from tilewright.target.nvgpu.arch import ARCHS
from tilewright.target.nvgpu.passes import lowering

every_case = pytest.mark.parametrize("name", CASES)


def native_of(program, *args):
  ((_, native),) = natives(program, *args)
  return native


def check(found, name):
  np.testing.assert_array_equal(np.asarray(found).astype(np.float32), np.asarray(CASES[name].wanted, np.float32))


# --- what they compute -------------------------------------------------------------------------------------------


@every_case
def test_the_ctas_of_a_cluster_cooperate_on_a_gpu(name):
  program, args, _ = CASES[name]
  check(run(native_of(program, *args), *args, arch="sm_90a")[0], name)


@every_case
def test_the_simulated_machine_gives_the_same(name):
  program, args, _ = CASES[name]
  with plgpu.force_gpu_interpret_mode():
    check(jax.jit(program)(*args), name)


@pytest.mark.parametrize("name", ["pipelined", "specialized", "at the edge"])
def test_where_there_are_no_clusters_ctas_copy_for_themselves(name):
  program, args, _ = CASES[name]
  check(jax.jit(program)(*args), name)
  native = native_of(program, *args)
  check(run(native, *args, arch="sm_80")[0], name)
  ptx, launch = nvgpu.compile_ptx(native, "sm_120a")
  assert launch.cluster == 1 and "cluster" not in re.sub("shared::cluster", "", ptx).partition(".entry")[2].replace(
    "fence.mbarrier_init.release.cluster", ""
  )


def test_a_batch_of_clusters_begins_anew_each_time():
  x = np.stack([CASES["exchanged"].args[0] + n for n in range(3)])
  native = native_of(jax.vmap(functools.partial(exchanged, rounds=1)), x)
  np.testing.assert_array_equal(run(native, x, arch="sm_90a")[0], x + x[:, :, ::-1])


def test_what_only_one_warpgroup_has_is_not_shared_with_other_ctas():
  """Each of two warpgroups has a pipeline of its own: its CTA brings all of its blocks."""
  x = np.asarray(np.random.default_rng(0).integers(-4, 5, (64, 64)), np.float32)

  def body(x_ref, o_ref):
    c, wg = lax.axis_index("c"), lax.axis_index("wg")

    def step(n, block, total):
      return total + block[...]

    spec = plgpu.BlockSpec((8, 64), lambda n: (2 * n + wg, 0), collective_axes=("c",))
    pipeline = plgpu.emit_pipeline(
      step, grid=(4,), in_specs=[spec], max_concurrent_steps=2, init_carry=jnp.zeros((8, 64), F32)
    )
    o_ref[c, wg] = pipeline(x_ref)

  program = lambda x: kernel(body, S((2, 2, 8, 64), F32), grid=1, num_threads=2, thread_name="wg")(x)
  wanted = np.broadcast_to(x.reshape(4, 2, 8, 64).sum(0), (2, 2, 8, 64))
  np.testing.assert_array_equal(run(native_of(program, x), x, arch="sm_90a")[0], wanted)


def test_ctas_that_print_cooperate_too():
  def body(x_ref, o_ref, own, both):
    c = lax.axis_index("c")
    own[...] = x_ref[c]
    pl.debug_print("{}", c)
    meet(both)
    o_ref[c] = plgpu.cluster_ref(own, {"c": 1 - c})[...]

  x = np.arange(128, dtype=np.float32).reshape(2, 64)
  program = lambda x: kernel(body, S((2, 64), F32), plgpu.SMEM((64,), F32), along_c(), grid=1)(x)
  np.testing.assert_array_equal(run(native_of(program, x), x, arch="sm_90a")[0], x[::-1])


def test_the_public_matmul_shares_its_operands(monkeypatch):
  m = module("hopper_matmul")
  monkeypatch.setattr(m, "get_num_sms", lambda: 2)
  a, b = random(256, 192, dtype=BF16), random(192, 256, dtype=BF16, seed=1)
  for cluster in m.MatmulDimension:
    options = {"tile_m": 64, "tile_n": 64, "tile_k": 64, "max_concurrent_steps": 2}
    config = m.TuningConfig(**options, cluster_dimension=cluster)
    native = native_of(lambda a, b, config=config: m.matmul(a, b, None, config), a, b)
    assert "multicast" in nvgpu.compile_ptx(native, "sm_90a")[0]
    close(run(native, a, b, arch="sm_90a")[0], exact(a) @ exact(b), BF16, 1.5)


# --- their code --------------------------------------------------------------------------------------------------


@pytest.mark.skipif(ptxas.find() is None, reason=f"there is no ptxas here: {ptxas.ADVICE}")
@every_case
def test_ptxas_assembles_it(name):
  program, args, _ = CASES[name]
  ptx, launch = nvgpu.compile_ptx(native_of(program, *args), "sm_90a")
  assert launch.cluster > 1
  assert ptxas.resources(ptx, "sm_90a").spilled_bytes == 0


@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
def test_what_ctas_share_is_brought_once(arch):
  """Each copy of the right operand is a multicast; a consumer tells both CTAs, without a fence of the whole device."""
  ptx, _ = nvgpu.compile_ptx(native_of(specialized, *CASES["specialized"].args), arch)
  copies = re.findall(r"cp\.async\.bulk\.tensor\S*", ptx)
  assert sum("multicast" in copy for copy in copies) == len(copies) // 2 > 0
  assert "mapa.shared::cluster" in ptx and "release.cluster.shared" not in ptx


def test_a_plan_names_clusters_and_what_they_share():
  _, launch = nvgpu.compile_ptx(native_of(specialized, *CASES["specialized"].args), "sm_90a")
  notes = str(launch.plan)
  assert "clusters of 2 CTAs\n" in notes and notes.count(": TMA, multicast") == 1 and notes.count(": TMA") == 2


def test_what_threads_write_is_released_to_the_cluster():
  ptx, _ = nvgpu.compile_ptx(native_of(exchanged, *CASES["exchanged"].args), "sm_90a")
  assert set(re.findall(r"mbarrier\.arrive\S*", ptx)) == {"mbarrier.arrive.release.cluster.shared::cluster.b64"}
  assert set(re.findall(r"mbarrier\.try_wait\S*", ptx)) == {"mbarrier.try_wait.parity.acquire.cluster.shared.b64"}


def test_a_launch_says_which_ctas_run_together(driver):
  (name,) = targets(summed_together, S((32, 128), F32))
  assert driver.launch(name, [0x100], [0x200], 3) is None
  (launched,) = driver.launches
  assert launched.grid == (8, 1, 1) and launched.cluster == (4, 1, 1)


def test_ctas_that_do_not_cooperate_are_launched_alone(driver):
  def body(x_ref, o_ref):
    o_ref[lax.axis_index("g"), lax.axis_index("c")] = 2 * x_ref[lax.axis_index("g"), lax.axis_index("c")]

  (name,) = targets(lambda x: kernel(body, S(x.shape, x.dtype))(x), S((3, 2, 64), F32))
  assert driver.launch(name, [0x100], [0x200], 3) is None
  assert driver.launches[0].cluster == (1, 1, 1)


# --- mistakes ----------------------------------------------------------------------------------------------------


def lower(program, *args, arch="sm_90a"):
  lowering.lower(prepared(native_of(program, *args)), ARCHS[arch], until="roles")


def line_of(f, text):
  lines, first = inspect.getsourcelines(f)
  return f"test_clusters_by_hand.py:{first + next(n for n, line in enumerate(lines) if text in line)}"


def ring(frees, fulls=1):
  """Two CTAs take blocks through two slots together; `frees` says that a slot may be filled again."""

  def body(x_ref, o_ref, blocks, full, free):
    for n in range(4):
      if n >= 2:
        frees(free.at[n % 2])
      plgpu.copy_gmem_to_smem(x_ref.at[n], blocks.at[n % 2], full.at[n % 2], collective_axes="c")
      plgpu.barrier_wait(full.at[n % 2])
      o_ref[lax.axis_index("c"), n] = blocks[n % 2]

  scratch = plgpu.SMEM((2, 8, 64), F32), plgpu.Barrier(num_barriers=2, num_arrivals=fulls), along_c(num_barriers=2)
  lower(lambda x: kernel(body, S((2, 4, 8, 64), F32), *scratch, grid=1)(x), S((4, 8, 64), F32))


def test_a_slot_is_filled_again_when_all_ctas_are_done_with_it():
  ring(meet)


def test_a_slot_that_another_cta_still_reads_is_not_filled():
  with pytest.raises(errors.RaceError, match="overwrites a part of shared memory") as raised:
    ring(lambda free: None)
  assert line_of(ring, "copy_gmem_to_smem") in str(raised.value) and line_of(ring, "o_ref[") in str(raised.value)


def test_a_phase_that_lacks_an_arrival_never_ends():
  with pytest.raises(errors.DeadlockError, match="can never end"):
    ring(meet, fulls=2)


def test_one_cta_that_does_not_copy_its_part_lets_the_others_wait_for_ever():
  def body(x_ref, o_ref, block, full):
    @pl.when(lax.axis_index("c") == 0)
    def _():
      plgpu.copy_gmem_to_smem(x_ref, block, full, collective_axes="c")
      plgpu.barrier_wait(full)
      o_ref[...] = block[...]

  scratch = plgpu.SMEM((8, 64), F32), plgpu.Barrier()
  with pytest.raises(errors.DeadlockError, match="can never end"):
    lower(lambda x: kernel(body, S((8, 64), F32), *scratch, grid=1)(x), S((8, 64), F32))


def reading(order):
  """A CTA reads what the other one writes."""

  def body(x_ref, o_ref, own, both):
    c = lax.axis_index("c")
    own[...] = x_ref[c]
    order(both)
    o_ref[c] = plgpu.cluster_ref(own, {"c": 1 - c})[...]

  lower(lambda x: kernel(body, S((2, 64), F32), plgpu.SMEM((64,), F32), along_c(), grid=1)(x), S((2, 64), F32))


def test_memory_of_another_cta_is_read_after_it_was_written():
  reading(meet)
  with pytest.raises(errors.RaceError, match=r"a part of shared memory that the (read|write) at") as raised:
    reading(lambda both: None)
  assert line_of(reading, "cluster_ref(") in str(raised.value)


MISTAKES = {
  "architecture": (lambda: lower(exchanged, *CASES["exchanged"].args, arch="sm_80"), "sm_80 cannot do: clusters need"),
  "size": (lambda: lower(exchanged, S((1, 16, 64), F32)), "at most 8 CTAs that access each other's memory, got 16"),
  "axis": (
    lambda: lower(
      lambda x: kernel(
        lambda x, o, own: o.__setitem__(..., plgpu.cluster_ref(own, {"g": 0})[...]), S((4,), F32), plgpu.SMEM((4,), F32)
      )(x),
      S((4,), F32),
    ),
    "'g' is no axis of the cluster",
  ),
  "no axis": (
    lambda: lower(
      lambda x: kernel(
        lambda x, o, own, full: plgpu.copy_gmem_to_smem(x, own, full, collective_axes="z"),
        S((4,), F32),
        plgpu.SMEM((4,), F32),
        plgpu.Barrier(),
      )(x),
      S((4,), F32),
    ),
    "collective_axes: there is no axis 'z' among",
  ),
  "wait": (
    lambda: lower(
      lambda x: kernel(
        lambda x, o, both: plgpu.barrier_wait(plgpu.cluster_ref(both, {"c": 0})), S((4,), F32), along_c()
      )(x),
      S((4,), F32),
    ),
    "wait only at its own",
  ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(mistake):
  make, message = MISTAKES[mistake]
  with pytest.raises(errors.TilewrightError, match=message):
    make()
