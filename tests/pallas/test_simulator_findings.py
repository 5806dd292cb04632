"""What the simulated machine finds wrong with a kernel, and how it says so."""

from __future__ import annotations

import functools
import logging

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.support.simulated_machine import (
  ANY,
  F32,
  HBM,
  SMEM,
  VMEM,
  Params,
  Semantics,
  arange,
  fresh_machine,
  message_of,
  out,
)
from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import dma
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.pallas.tpu import interpret as sim
from tilewright.tile.memory import SemaphoreType

__all__ = ["fresh_machine"]  # a fixture that every test here uses


def test_what_a_library_function_does_has_the_line_that_called_it():
  """`sync_copy` starts and awaits its copy in a body of its own, in which no line is the user's."""

  def count(o_hbm, buffer):
    dma.sync_copy(o_hbm, buffer)
    buffer[...] += 1
    dma.sync_copy(buffer, o_hbm)

  pl.pallas_call(
    count,
    out((8,), jnp.int32),
    grid=(2,),
    out_specs=pl.BlockSpec(memory_space=ANY),
    scratch_shapes=[VMEM((8,), jnp.int32)],
    compiler_params=Semantics("parallel"),
    interpret=Params(detect_races=True, num_cores_or_threads=2),
  )()
  assert sim.interpret_races()
  for race in sim.interpret_races():
    assert str(race).count("test_simulator_findings.py") == 2


# --- memory -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind, expected", [("nan", [np.nan, np.iinfo(np.int32).max]), ("zero", [0, 0])])
def test_memory_starts_uninitialised(kind, expected):
  def kernel(a, b, s, t):
    a[...] = s[...]
    b[...] = t[...]

  shapes = (out((8,)), out((8,), jnp.int32))
  scratch = [VMEM((8,), F32), VMEM((8,), jnp.int32)]
  found = pl.pallas_call(kernel, shapes, scratch_shapes=scratch, interpret=Params(uninitialized_memory=kind))()
  for array, value in zip(found, expected, strict=True):
    np.testing.assert_array_equal(array, np.full(8, value, array.dtype))


def read_at(start, **params):
  def kernel(i, x, o):
    o[...] = x[pl.ds(i[0], 4)]

  specs = [pl.BlockSpec(memory_space=SMEM), pl.BlockSpec()]
  return pl.pallas_call(kernel, out((4,)), in_specs=specs, interpret=Params(**params))(jnp.array([start]), arange(8))


def test_a_read_outside_of_a_buffer_names_line_buffer_shape_and_index():
  message = message_of(lambda: read_at(6))
  assert "OutOfBoundsError" in message
  assert (
    "test_simulator_findings.py:" in message
    and "(8,)" in message
    and "[6:10]" in message
    and "Out-of-bounds read" in message
  )


def test_a_read_outside_of_a_buffer_can_be_poison():
  np.testing.assert_array_equal(read_at(6, out_of_bounds_reads="uninitialized"), [6, 7, np.nan, np.nan])


def test_one_element_outside_can_be_poison():
  def kernel(i, x, o):
    o[...] = jnp.full((2,), x[i[0]])

  specs = [pl.BlockSpec(memory_space=SMEM), pl.BlockSpec()]
  call = pl.pallas_call(kernel, out((2,)), in_specs=specs, interpret=Params(out_of_bounds_reads="uninitialized"))
  np.testing.assert_array_equal(call(jnp.array([8]), arange(8)), [np.nan, np.nan])


def test_padded_bounds_allow_what_a_tile_holds():
  np.testing.assert_array_equal(read_at(6, buffer_bounds="padded"), [6, 7, np.nan, np.nan])
  assert "Out-of-bounds read" in message_of(lambda: read_at(126, buffer_bounds="padded"))


def test_a_write_outside_of_a_buffer_always_raises():
  def kernel(i, o):
    o[i[0]] = jnp.float32(1)

  call = pl.pallas_call(
    kernel, out((8,)), in_specs=[pl.BlockSpec(memory_space=SMEM)], interpret=Params(out_of_bounds_reads="uninitialized")
  )
  assert "Out-of-bounds write" in message_of(lambda: call(jnp.array([8])))


def test_what_a_mask_hides_may_lie_outside():
  def kernel(i, x, o):
    at = lax.broadcasted_iota(jnp.int32, (8,), 0) + i[0]
    o[...] = pl.load(x, (at,), mask=at < 8, other=-1.0)

  specs = [pl.BlockSpec(memory_space=SMEM), pl.BlockSpec()]
  call = pl.pallas_call(kernel, out((8,)), in_specs=specs, interpret=Params())
  np.testing.assert_array_equal(call(jnp.array([5]), arange(8)), [5, 6, 7, -1, -1, -1, -1, -1])


def block_at(number, **params):
  def kernel(x, o):
    o[...] = x[...]

  call = pl.pallas_call(
    kernel, out((8,)), grid=(1,), in_specs=[pl.BlockSpec((8,), lambda i: (i + number,))], interpret=Params(**params)
  )
  return call(arange(12))


def test_a_block_beyond_the_array_raises_but_one_over_its_edge_does_not():
  np.testing.assert_array_equal(block_at(1), [8, 9, 10, 11, *[np.nan] * 4])
  message = message_of(lambda: block_at(2))
  assert "OutOfBoundsError" in message and "grid point (0,)" in message and "(12,)" in message
  np.testing.assert_array_equal(block_at(2, out_of_bounds_reads="uninitialized"), [np.nan] * 8)


def test_run_scoped_in_hbm_needs_permission():
  def kernel(o):
    def body(buffer):
      buffer[...] = jnp.ones(8)
      o[...] = buffer[...]

    pl.run_scoped(body, HBM((8,), F32))

  call = lambda **params: pl.pallas_call(kernel, out((8,)), interpret=Params(**params))()
  assert "allow_hbm_allocation_in_run_scoped" in message_of(call)
  np.testing.assert_array_equal(call(allow_hbm_allocation_in_run_scoped=True), np.ones(8))


def test_floating_point_work_can_be_left_out():
  def kernel(x, y, z):
    y[...] = jnp.exp(x[...]) * 2
    z[...] = (x[...] > 3).astype(jnp.int32) + 1

  y, z = pl.pallas_call(kernel, (out((8,)), out((8,), jnp.int32)), interpret=Params(skip_floating_point_ops=True))(
    arange(8)
  )
  np.testing.assert_array_equal(y, np.full(8, np.inf))
  np.testing.assert_array_equal(z, np.full(8, 2))


# --- copies and semaphores ----------------------------------------------------------------------------------------


def copy_without_waiting(mode):
  def kernel(x, o, buffer, sem):
    copy = dma.async_copy(x, buffer, sem)
    o[0] = buffer[...]
    copy.wait()
    o[1] = buffer[...]

  specs = {"in_specs": [pl.BlockSpec(memory_space=ANY)], "scratch_shapes": [VMEM((8,), F32), SemaphoreType.DMA(())]}
  return pl.pallas_call(kernel, out((2, 8)), interpret=Params(dma_execution_mode=mode), **specs)(arange(8))


def test_a_copy_happens_when_it_is_waited_for_or_at_once():
  np.testing.assert_array_equal(copy_without_waiting("on_wait"), [np.full(8, np.nan), np.arange(8)])
  np.testing.assert_array_equal(copy_without_waiting("eager"), [np.arange(8), np.arange(8)])


def test_a_wait_that_cannot_end_is_reported_with_line_semaphore_and_count():
  def kernel(o, sem):
    pl.semaphore_signal(sem.at[1], 2)
    pl.semaphore_wait(sem.at[1], 3)
    o[0] = jnp.float32(0)

  call = pl.pallas_call(kernel, out((1,)), scratch_shapes=[SemaphoreType.REGULAR((2,))], interpret=Params())
  message = message_of(call)
  assert "DeadlockError" in message and "scratch 0[1]" in message and "is 2, needs 3" in message
  assert isinstance(sim.interpret_error(), errors.DeadlockError)
  assert "test_simulator_findings.py:" in message


def test_waiting_for_a_copy_that_never_started_is_a_deadlock():
  def kernel(x, o, sem):
    dma.make_async_copy(x, o, sem).wait()

  spec = pl.BlockSpec(memory_space=ANY)
  call = pl.pallas_call(
    kernel, out((8,)), in_specs=[spec], out_specs=spec, scratch_shapes=[SemaphoreType.DMA(())], interpret=Params()
  )
  assert "start the copy before waiting" in message_of(lambda: call(arange(8)))


def test_a_semaphore_counts_and_can_be_read():
  def kernel(o, sem):
    pl.semaphore_signal(sem, 5)
    o[0] = pl.semaphore_read(sem)
    pl.semaphore_wait(sem, 2, decrement=False)
    o[1] = pl.semaphore_read(sem)
    pl.semaphore_wait(sem, 5)
    o[2] = pl.semaphore_read(sem)

  spec = pl.BlockSpec(memory_space=SMEM)
  call = pl.pallas_call(
    kernel, out((3,), jnp.int32), out_specs=spec, scratch_shapes=[SemaphoreType.REGULAR], interpret=Params()
  )
  np.testing.assert_array_equal(call(), [5, 5, 0])


# --- races --------------------------------------------------------------------------------------------------------


def test_two_cores_that_write_the_same_block_race(caplog):
  def kernel(o):
    o[...] = jnp.full((8,), pl.program_id(0), F32)

  call = pl.pallas_call(
    kernel,
    out((8,)),
    grid=(2,),
    out_specs=pl.BlockSpec((8,), lambda i: (0,)),
    compiler_params=Semantics("parallel"),
    interpret=Params(num_cores_or_threads=2, detect_races=True),
  )
  with caplog.at_level(logging.WARNING, logger="tilewright.simulator"):
    jax.block_until_ready(call())
  (race,) = sim.interpret_races()
  assert race.elements == 8 and "core 0" in str(race) and "core 1" in str(race)
  assert str(race) in caplog.text


def test_cores_that_write_different_elements_do_not_race():
  def kernel(o):
    o[pl.program_id(0)] = jnp.float32(1)

  call = pl.pallas_call(
    kernel,
    out((4,)),
    grid=(4,),
    out_specs=pl.BlockSpec(memory_space=ANY),
    compiler_params=Semantics("parallel"),
    interpret=Params(num_cores_or_threads=2, detect_races=True),
  )
  np.testing.assert_array_equal(call(), np.ones(4))
  assert sim.interpret_races() == ()


@pytest.mark.parametrize("mode", ["eager", "on_wait"])
@pytest.mark.parametrize("waits_first", [False, True])
def test_reading_what_a_copy_writes_before_waiting_is_a_race(mode, waits_first):
  def kernel(x, o, buffer, sem):
    copy = dma.async_copy(x, buffer, sem)
    if waits_first:
      copy.wait()
    o[...] = buffer[...]
    if not waits_first:
      copy.wait()

  call = pl.pallas_call(
    kernel,
    out((8,)),
    in_specs=[pl.BlockSpec(memory_space=ANY)],
    scratch_shapes=[VMEM((8,), F32), SemaphoreType.DMA(())],
    interpret=Params(detect_races=True, dma_execution_mode=mode),
  )
  jax.block_until_ready(call(arange(8)))
  races = sim.interpret_races()
  assert len(races) == (0 if waits_first else 1)
  for race in races:
    lines = {race.first.where, race.second.where}
    assert len(lines) == 2 and all("test_simulator_findings.py:" in line for line in lines)
    assert "scratch 0" in race.buffer


def test_changing_what_a_copy_reads_before_waiting_is_a_race():
  def kernel(x, o, buffer, sem):
    buffer[...] = x[...]
    copy = dma.async_copy(buffer, o, sem)
    buffer[...] = x[...] + 1
    copy.wait()

  call = pl.pallas_call(
    kernel,
    out((8,)),
    out_specs=pl.BlockSpec(memory_space=ANY),
    scratch_shapes=[VMEM((8,), F32), SemaphoreType.DMA(())],
    interpret=Params(detect_races=True),
  )
  jax.block_until_ready(call(arange(8)))
  (race,) = sim.interpret_races()
  assert {race.first.action, race.second.action} == {"read", "write"} and race.elements == 8


def test_an_atomic_update_of_one_number_without_dimensions():
  def kernel(_, o):
    pl.atomic_max(o, (), 1.0 + pl.program_id(0))

  call = pl.pallas_call(kernel, out(()), grid=(6,), input_output_aliases={0: 0}, interpret=Params())
  np.testing.assert_array_equal(call(jnp.zeros(())), 6)


def test_parallel_dimensions_of_a_gpu_kernel_may_stand_behind_others():
  def kernel(o):
    o[...] = jnp.full(o.shape, 10 * pl.program_id(0) + pl.program_id(1), jnp.float32)

  call = pl.pallas_call(
    kernel,
    out((2, 3, 8)),
    grid=(2, 3),
    out_specs=pl.BlockSpec((None, None, 8), lambda i, j: (i, j, 0)),
    compiler_params=plgpu.CompilerParams(dimension_semantics=("sequential", "parallel")),
    interpret=plgpu.InterpretGPUParams(),
  )
  np.testing.assert_array_equal(call()[..., 0], [[0, 1, 2], [10, 11, 12]])


def test_atomic_updates_do_not_race_with_each_other():
  def kernel(_, o):
    pl.atomic_add(o, (0,), jnp.float32(1))

  spec = pl.BlockSpec(memory_space=ANY)
  call = pl.pallas_call(
    kernel,
    out((1,)),
    grid=(6,),
    in_specs=[spec],
    out_specs=spec,
    input_output_aliases={0: 0},
    compiler_params=Semantics("parallel"),
    interpret=Params(num_cores_or_threads=2, detect_races=True),
  )
  np.testing.assert_array_equal(call(jnp.zeros(1)), [6])
  assert sim.interpret_races() == ()


def test_what_a_kernel_leaves_on_its_semaphores_is_reported(caplog):
  def kernel(x, o, sem):
    dma.async_copy(x, o, sem.at[1])

  spec = pl.BlockSpec(memory_space=ANY)
  call = pl.pallas_call(
    kernel, out((8,)), in_specs=[spec], out_specs=spec, scratch_shapes=[SemaphoreType.DMA((2,))], interpret=Params()
  )
  with caplog.at_level(logging.WARNING, logger="tilewright.simulator"):
    jax.block_until_ready(call(arange(8)))
  assert "leaves a copy that no one waited for on scratch 0[1]" in caplog.text


# --- errors -------------------------------------------------------------------------------------------------------


def test_after_an_error_and_a_reset_the_next_kernel_works():
  message_of(lambda: read_at(100))
  assert isinstance(sim.interpret_error(), errors.OutOfBoundsError)
  sim.reset_tpu_interpret_mode_state()
  assert sim.interpret_error() is None
  np.testing.assert_array_equal(read_at(2), [2, 3, 4, 5])


def test_a_failed_debug_check_carries_its_message():
  def kernel(x, o):
    pl.debug_check(jnp.all(x[...] > -1), "must not be negative")
    pl.debug_check(x[...] < 5, "must be small")
    o[...] = x[...]

  with pl.enable_debug_checks(True):
    call = functools.partial(pl.pallas_call(kernel, out((8,)), interpret=Params()), arange(8))
    assert "must be small" in message_of(call) and "The first element is [5]." in message_of(call)
    call = functools.partial(pl.pallas_call(kernel, out((8,)), interpret=Params()), arange(8) - 2)
    assert "must not be negative" in message_of(call)


def test_debug_print_prints_concrete_values(capsys):
  def kernel(x, o):
    pl.debug_print("at {}: {}", pl.program_id(0), x[0])
    o[...] = x[...]

  jax.block_until_ready(pl.pallas_call(kernel, out((8,)), grid=(2,), interpret=Params())(arange(8)))
  assert capsys.readouterr().out.splitlines() == ["at 0: 0.0", "at 1: 0.0"]


def test_callbacks_of_jax_work_inside_of_kernels(capfd):
  table = np.arange(8, dtype=np.float32) * 10

  def kernel(x, o):
    jax.debug.print("x is {}", x[3])
    o[...] = jax.pure_callback(lambda v: np.asarray(v) + table, jax.ShapeDtypeStruct((8,), F32), x[...])

  found = pl.pallas_call(kernel, out((8,)), interpret=Params())(arange(8))
  np.testing.assert_array_equal(found, np.arange(8) * 11)
  jax.effects_barrier()
  assert "x is 3.0" in capfd.readouterr().out


def test_parameters_are_checked():
  with pytest.raises(errors.KernelTypeError, match="dma_execution_mode"):
    Params(dma_execution_mode="lazy")
  with pytest.raises(errors.KernelTypeError, match="num_cores_or_threads"):
    Params(num_cores_or_threads=0)
  assert Params(num_cores_or_threads=2).get_vector_clock_size(4) == 16
  with pytest.raises(errors.KernelTypeError, match="vector_clock_size"):
    Params(vector_clock_size=4).get_vector_clock_size(4)


# --- how errors and races reach the user --------------------------------------------------------------------------


def write_at(place, interpret):
  def kernel(i, o):
    o[i[0]] = jnp.float32(1)

  specs = [pl.BlockSpec(memory_space=SMEM)]
  return pl.pallas_call(kernel, out((8,)), in_specs=specs, interpret=interpret)(jnp.array([place]))


@pytest.mark.parametrize("params", [Params(), plgpu.InterpretGPUParams()], ids=["tpu", "gpu"])
@pytest.mark.skipif(jax.default_backend() != "cpu", reason="on GPUs XLA has an error of its own")
def test_what_stops_a_kernel_keeps_its_type_and_its_message_comes_first(params):
  for caught in (errors.OutOfBoundsError, jax.errors.JaxRuntimeError):
    with pytest.raises(caught, match=r"^Out-of-bounds write of outputs"):
      write_at(8, params)
  with pytest.raises(jax.errors.JaxRuntimeError) as caught:
    jax.block_until_ready(jax.jit(lambda: write_at(8, params))())
  assert "Out-of-bounds write" in str(caught.value).splitlines()[0]
  assert "Traceback" not in str(caught.value)
  with pytest.raises(errors.OutOfBoundsError, match=r"^Out-of-bounds write"), plgpu.force_gpu_interpret_mode():
    jax.block_until_ready(jax.jit(lambda: write_at(8, False))())
  plgpu.reset_gpu_interpret_mode_state()
  assert plgpu.interpret_error() is None


def test_a_view_may_hang_over_the_edge_if_what_is_read_of_it_does_not():
  def kernel(i, x, o):
    o[...] = x.at[pl.ds(i[0], 8)].at[pl.ds(0, 2)][...]

  call = pl.pallas_call(
    kernel, out((2,)), in_specs=[pl.BlockSpec(memory_space=SMEM), pl.BlockSpec()], interpret=Params()
  )
  np.testing.assert_array_equal(call(jnp.array([6]), arange(8)), [6, 7])
  assert "Out-of-bounds read" in message_of(lambda: call(jnp.array([7]), arange(8)))


def on_warpgroups(body, count, **options):
  """A kernel of `count` warpgroups that have a row each of a scratch buffer and of the output."""
  scratch = [plgpu.SMEM((count, 8), F32), plgpu.Barrier(num_arrivals=count)]
  return plgpu.kernel(
    body,
    out_type=out((count, 8)),
    num_threads=count,
    thread_name="wg",
    scratch_types=scratch,
    interpret=plgpu.InterpretGPUParams(**options),
  )()


def test_the_interpreter_of_gpus_has_no_limits_of_hardware():
  def body(o_ref, rows, ready):
    wg = jax.lax.axis_index("wg")
    rows[wg] = jnp.full((8,), wg, F32)
    plgpu.barrier_arrive(ready)
    plgpu.barrier_wait(ready)
    o_ref[wg] = rows[jax.lax.rem(wg + 1, 12)]

  np.testing.assert_array_equal(on_warpgroups(body, 12)[:, 0], np.roll(np.arange(12), -1))


@pytest.mark.parametrize("waits", [False, True])
def test_the_interpreter_of_gpus_finds_races(waits):
  def body(o_ref, rows, ready):
    wg = jax.lax.axis_index("wg")
    rows[wg] = jnp.full((8,), wg, F32)
    if waits:
      plgpu.barrier_arrive(ready)
      plgpu.barrier_wait(ready)
    o_ref[wg] = rows[1 - wg]

  plgpu.reset_gpu_interpret_mode_state()
  jax.block_until_ready(on_warpgroups(body, 2, detect_races=True))
  assert bool(plgpu.interpret_races()) is not waits
  plgpu.reset_gpu_interpret_mode_state()
  assert not plgpu.interpret_races()


def test_blocks_of_a_cluster_share_what_they_allocate_together():
  def body(o_ref):
    c = jax.lax.axis_index("c")

    def scoped(rows, ready):
      rows[c] = jnp.full((8,), c, F32)
      plgpu.barrier_arrive(ready)
      plgpu.barrier_wait(ready)
      o_ref[jax.lax.axis_index("i"), c] = rows[1 - c]

    memory = plgpu.SMEM((2, 8), F32), plgpu.Barrier(num_arrivals=2)
    pl.run_scoped(scoped, *memory, collective_axes="c")

  kernel = functools.partial(plgpu.kernel, body, out_type=out((3, 2, 8)), grid=(3,), grid_names=("i",))
  for interpret in (True, plgpu.InterpretGPUParams()):
    found = kernel(cluster=(2,), cluster_names=("c",), interpret=interpret)()
    np.testing.assert_array_equal(found[..., 0], [[1, 0]] * 3)
