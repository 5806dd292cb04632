"""`jax.vmap(kernel)(xs)[i]` is `kernel(xs[i])`, also of kernels that leave counts or states behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.pallas import tpu as pltpu

OUT = jax.ShapeDtypeStruct((4, 8), jnp.int32)
ROW = pl.BlockSpec((1, 8), lambda i: (i, 0))
WHOLE = pl.BlockSpec(memory_space=pl.ANY)
XS = jnp.arange(96, dtype=jnp.int32).reshape(3, 4, 8)


def count_in_scratch(x, **options):
  def kernel(x, o, sem):
    pl.semaphore_signal(sem, 2)
    o[...] = x[...] + pl.semaphore_read(sem)

  return pl.pallas_call(
    kernel,
    OUT,
    grid=(4,),
    in_specs=[ROW],
    out_specs=ROW,
    scratch_shapes=[pltpu.SemaphoreType.REGULAR],
    **options,
  )(x)


def count_without_grid(x, **options):
  def kernel(x, o, sems):
    pl.semaphore_signal(sems.at[1], 2)
    o[...] = x[...] + pl.semaphore_read(sems.at[1])

  return pl.pallas_call(kernel, OUT, scratch_shapes=[pltpu.SemaphoreType.REGULAR((2,))], **options)(x)


def count_along_declared_dimensions(x, **options):
  def kernel(x, o, sem):
    pl.semaphore_signal(sem, 2)
    o[...] = x[...] + pl.semaphore_read(sem)

  row = pl.BlockSpec((1, 8), lambda h, i: (i, 0))
  return pl.pallas_call(
    kernel,
    OUT,
    grid=(1, 4),
    in_specs=[row],
    out_specs=row,
    scratch_shapes=[pltpu.SemaphoreType.REGULAR],
    compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary")),
    **options,
  )(x)


def count_in_a_pipeline(x, **options):
  def outer(x, o, sem):
    def kernel(x, o):
      pl.semaphore_signal(sem, 2)
      o[...] = x[...] + pl.semaphore_read(sem)

    pltpu.emit_pipeline(kernel, grid=(4,), in_specs=[ROW], out_specs=[ROW])(x, o)

  return pl.pallas_call(
    outer, OUT, in_specs=[WHOLE], out_specs=WHOLE, scratch_shapes=[pltpu.SemaphoreType.REGULAR], **options
  )(x)


def count_that_outlives_instances(x, **options):
  def kernel(x, o):
    sem = pl.get_global(pltpu.SemaphoreType.REGULAR)
    pl.semaphore_signal(sem, 2)
    o[...] = x[...] + pl.semaphore_read(sem)

  return pl.pallas_call(kernel, OUT, grid=(4,), in_specs=[ROW], out_specs=ROW, **options)(x)


def generator_without_seed(x, **options):
  def kernel(x, o):
    o[...] = x[...] ^ pltpu.prng_random_bits((1, 8)).astype(jnp.int32)

  return pl.pallas_call(kernel, OUT, grid=(4,), in_specs=[ROW], out_specs=ROW, **options)(x)


def prefetched_state(x, **options):
  def kernel(state, x, o):
    state[0] = state[0] + 1
    o[...] = x[...] + state[0]

  row = pl.BlockSpec((1, 8), lambda i, state: (i, 0))
  grid_spec = pltpu.PrefetchScalarGridSpec(1, (4,), [row], row)
  return pl.pallas_call(kernel, OUT, grid_spec=grid_spec, **options)(jnp.asarray([5]), x)


SEMAPHORE = pl.BlockSpec(memory_space=pltpu.SEMAPHORE)
RESULTS = (OUT, pltpu.SemaphoreType.REGULAR(()))


def _start(x, o, sem):
  pl.semaphore_signal(sem, 3)
  o[...] = x[...] + pl.semaphore_read(sem)


def _done(x, sem, o):
  o[...] = x[...] + pl.semaphore_read(sem)
  pl.semaphore_wait(sem, 2)


def semaphore_of_another_kernel(x, **options):
  y, sem = pl.pallas_call(_start, RESULTS, out_specs=(pl.BlockSpec(), SEMAPHORE), **options)(x)
  return pl.pallas_call(_done, OUT, in_specs=[pl.BlockSpec(), SEMAPHORE], **options)(y, sem)


def semaphore_that_all_elements_take(x, **options):
  zeros = jnp.zeros(OUT.shape, OUT.dtype)
  y, sem = pl.pallas_call(_start, RESULTS, out_specs=(pl.BlockSpec(), SEMAPHORE), **options)(zeros)
  return pl.pallas_call(_done, OUT, in_specs=[pl.BlockSpec(), SEMAPHORE], **options)(x + y, sem)


def cores_that_signal_each_other(x, **options):
  def kernel(x, o, sem):
    core = jax.lax.axis_index("core")
    pl.semaphore_signal(sem, 3, device_id={"core": 1 - core})
    pl.semaphore_wait(sem, 1)

    def with_block(block):
      pltpu.sync_copy(x.at[pl.ds(core * 2, 2)], block)
      block[...] += pl.semaphore_read(sem)
      pltpu.sync_copy(block, o.at[pl.ds(core * 2, 2)])

    pl.run_scoped(with_block, pltpu.VMEM((2, 8), jnp.int32))

  mesh = pltpu.TensorCoreMesh(axis_name="core", num_cores=2)
  return pl.kernel(kernel, out_type=OUT, mesh=mesh, scratch_types=[pltpu.SemaphoreType.REGULAR], **options)(x)


def warpgroups_of_several_blocks(x, **options):
  def kernel(x, o, block, barrier):
    group, at = jax.lax.axis_index("group"), pl.ds(jax.lax.axis_index("block") * 2, 2)

    @pl.when(group == 0)
    def _():
      block[...] = x[at] + 1
      plgpu.barrier_arrive(barrier)

    @pl.when(group == 1)
    def _():
      plgpu.barrier_wait(barrier)
      o[at] = block[...] * 2

  return plgpu.kernel(
    kernel,
    out_shape=OUT,
    grid=(2,),
    grid_names=("block",),
    num_threads=2,
    thread_name="group",
    scratch_shapes=[plgpu.SMEM((2, 8), jnp.int32), plgpu.Barrier()],
    **options,
  )(x)


def two_names_of_one_array(x, **options):
  def kernel(x, o, block):
    def step(i, _):
      pltpu.sync_copy(x.at[pl.ds(i, 1)], block)
      block[...] += 1
      pltpu.sync_copy(block, o.at[pl.ds((i + 1) % 4, 1)])
      return 0

    jax.lax.fori_loop(0, 4, step, 0)

  return pl.pallas_call(
    kernel,
    OUT,
    in_specs=[WHOLE],
    out_specs=WHOLE,
    input_output_aliases={0: 0},
    scratch_shapes=[pltpu.VMEM((1, 8), jnp.int32)],
    **options,
  )(x)


PROGRAMS: list[Callable[..., Any]] = [
  count_in_scratch,
  count_without_grid,
  count_along_declared_dimensions,
  count_in_a_pipeline,
  count_that_outlives_instances,
  generator_without_seed,
  prefetched_state,
  semaphore_of_another_kernel,
  semaphore_that_all_elements_take,
  cores_that_signal_each_other,
  warpgroups_of_several_blocks,
  two_names_of_one_array,
]


def _simulated(program):
  of_gpu = program is warpgroups_of_several_blocks
  return plgpu.InterpretGPUParams() if of_gpu else pltpu.InterpretParams()


@pytest.mark.parametrize("how", ["native", "portable", "simulated"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_each_element_of_a_batch_is_a_call(program, how):
  options = {"native": {}, "portable": {"interpret": True}, "simulated": {"interpret": _simulated(program)}}[how]
  run = jax.jit(lambda x: program(x, **options))
  if program is cores_that_signal_each_other and how == "native" and jax.default_backend() == "gpu":
    with pytest.raises(errors.NativeCodeError, match=r"cores of kernel 'kernel' signal each other.*interpret=True"):
      run(XS[0])
    return
  each = np.stack([run(x) for x in XS])
  np.testing.assert_array_equal(jax.jit(jax.vmap(run))(XS), each)
  twice = jax.jit(jax.vmap(jax.vmap(run)))(XS[:2, None])
  np.testing.assert_array_equal(twice[:, 0], each[:2])


def test_no_element_of_a_batch_finds_memory_of_another_with_cores_at_work_at_once():
  """Each of two simulated cores writes its own rows of an array that both see as a whole."""

  def kernel(x, o, block):
    at = pl.ds(pl.program_id(0) * 2, 2)
    pltpu.sync_copy(x.at[at], block)
    block[...] += 1
    pltpu.sync_copy(block, o.at[at])

  call = pl.pallas_call(
    kernel,
    OUT,
    grid=(2,),
    in_specs=[WHOLE],
    out_specs=WHOLE,
    scratch_shapes=[pltpu.VMEM((2, 8), jnp.int32)],
    compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
    interpret=pltpu.InterpretParams(num_cores_or_threads=2, detect_races=True),
  )
  np.testing.assert_array_equal(jax.vmap(call)(XS), XS + 1)
  assert pltpu.interpret_races() == ()
