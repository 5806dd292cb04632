"""What kernels do on a GPU besides computing: semaphores, copies, printing, checks, sleeping, poison. Their code runs on the CPU here."""

from __future__ import annotations

import ctypes

import emulated
import fake_driver
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gpu_programs import F32, double_buffered, natives

from tests.support.fake_targets import S, targets
from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import nvgpu as nvgpu_params
from tilewright.pallas import targets as pallas_targets
from tilewright.pallas import tpu as pltpu
from tilewright.target import nvgpu
from tilewright.target.nvgpu.arch import ARCHS
from tilewright.target.nvgpu.host import device_log

X = S((8, 128), F32)


@pytest.fixture
def on_gpu(monkeypatch):
  """Kernels become the code of a GPU, which runs on the CPU."""
  monkeypatch.setitem(pallas_targets.NATIVE, "cpu", emulated.run)


@pytest.fixture
def driver(monkeypatch, tmp_path):
  monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path))
  return fake_driver.FakeDriver(monkeypatch)


def in_one_block(body, **options):
  return lambda *args: pl.pallas_call(body, S(args[0].shape, args[0].dtype), **options)(*args)


def ptx(f, *args, arch="sm_90a"):
  ((_, native),) = natives(f, *args)
  return nvgpu.compile_ptx(native, arch)


def copying(x):
  return pl.pallas_call(
    double_buffered,
    S(x.shape, x.dtype),
    in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
    scratch_shapes=[pltpu.VMEM((2, *x.shape[1:]), x.dtype), pltpu.SemaphoreType.DMA((2,))],
  )(x)


def failing(limit):
  def kernel(x_ref, o_ref):
    pl.debug_check(x_ref[...] < limit, "too large")
    o_ref[...] = x_ref[...]

  spec = pl.BlockSpec((1, 128), lambda i: (i, 0))
  return lambda x: pl.pallas_call(kernel, S(x.shape, x.dtype), grid=x.shape[:1], in_specs=[spec], out_specs=spec)(x)


def test_copies_with_semaphores(on_gpu):
  x = jnp.arange(4 * 8 * 16, dtype=F32).reshape(4, 8, 16)
  np.testing.assert_array_equal(copying(x), 2 * np.asarray(x))


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_semaphores_of_static_numbers_are_registers_and_their_waits_are_proven(arch):
  text, launch = ptx(copying, S((4, 8, 16), F32), arch=arch)
  assert ".local" not in text and launch.report is None and launch.workspace_bytes == 0


def test_a_wait_that_never_ends_is_an_error(on_gpu):
  def kernel(o_ref, semaphore):
    pl.semaphore_signal(semaphore, 1)
    pl.semaphore_wait(semaphore, 2)
    o_ref[...] = jnp.zeros_like(o_ref)

  with pytest.raises(jax.errors.JaxRuntimeError, match=r"DeadlockError: The wait at .*test_gpu_effects.py:\d+"):
    jax.block_until_ready(pl.pallas_call(kernel, X, scratch_shapes=[pltpu.SemaphoreType.REGULAR])())


def test_prints_are_those_of_python_in_order(on_gpu, capfd):
  def kernel(x_ref, o_ref):
    pl.debug_print("row {} is {}", pl.program_id(0), x_ref[0, :3])
    o_ref[...] = x_ref[...]

  spec = pl.BlockSpec((1, 4), lambda i: (i, 0))
  x = jnp.arange(12, dtype=jnp.bfloat16).reshape(3, 4)
  jax.block_until_ready(pl.pallas_call(kernel, S(x.shape, x.dtype), grid=(3,), in_specs=[spec], out_specs=spec)(x))
  assert capfd.readouterr().out == "row 0 is [0 1 2]\nrow 1 is [4 5 6]\nrow 2 is [8 9 10]\n"


def test_a_print_that_python_cannot_format_keeps_no_other_and_no_error_from_being_told(on_gpu, capfd):
  def kernel(x_ref, o_ref):
    jax.debug.print("{:d}", x_ref[0])
    jax.debug.print("{:.1f}", x_ref[1])
    pl.debug_check(x_ref[...], "not zero")  # a number is a condition
    o_ref[...] = x_ref[...]

  with pl.enable_debug_checks(True), pytest.raises(jax.errors.JaxRuntimeError, match=r"not zero.*element is \[0\]"):
    jax.block_until_ready(pl.pallas_call(kernel, S((4,), F32))(jnp.arange(4, dtype=F32)))
  told = capfd.readouterr()
  assert "1.0\n" in told.out and "Unknown format code 'd'" in told.err


def test_a_check_that_fails_names_itself_its_element_and_its_instance(on_gpu):
  x = jnp.arange(8 * 128, dtype=F32).reshape(8, 128)
  with pl.enable_debug_checks(True):
    np.testing.assert_array_equal(failing(1024)(x), x)
    with pytest.raises(
      jax.errors.JaxRuntimeError, match=r"too large \(at .*test_gpu_effects.py:\d+.*instance \([34567]\)"
    ):
      jax.block_until_ready(failing(400)(x))


def test_sleeping_looks_at_the_clock_of_the_device():
  def kernel(x_ref, o_ref):
    pl.delay(3000)
    o_ref[...] = x_ref[...]

  text, _ = ptx(in_one_block(kernel), X)
  assert "%globaltimer" in text and "nanosleep.u32" in text


@pytest.mark.parametrize("arch", ARCHS)
def test_effects_compile_for_every_architecture(arch):
  def kernel(x_ref, o_ref, semaphore):
    pl.semaphore_signal(semaphore.at[pl.program_id(0)], 1)
    pl.semaphore_wait(semaphore.at[pl.program_id(0)], 1)
    pl.delay(10)
    pl.debug_print("{}", x_ref[...])
    o_ref[...] = x_ref[...]

  text, launch = ptx(in_one_block(kernel, grid=(2,), scratch_shapes=[pltpu.SemaphoreType.REGULAR((2,))]), X, arch=arch)
  assert f".target {arch}" in text and launch.report is not None


# --- what the launcher does about it -------------------------------------------------------------------------------


def on_cuda(body, **options):
  return in_one_block(body, compiler_params=nvgpu_params.CompilerParams(), **options)


def test_a_launcher_waits_and_prints_what_its_kernel_said(driver, capfd):
  def kernel(x_ref, o_ref):
    pl.debug_print("saw {}", x_ref[0, 0])
    o_ref[...] = x_ref[...]

  (name,) = targets(on_cuda(kernel), X)
  log = np.full(device_log.HEADER_BYTES + device_log.RECORDS_BYTES, 0xAB, np.uint8)

  def run(params):
    words = (ctypes.c_uint32 * 16).from_address(params[2])
    assert not any(words), "the header is cleared"
    words[device_log.USED] = 32
    record = params[2] + device_log.HEADER_BYTES
    ctypes.c_uint32.from_address(record).value = 0
    ctypes.c_float.from_address(record + device_log.ALIGNED).value = 2.5

  driver.while_running = run
  assert driver.launch(name, [101], [102, log.ctypes.data], 3) is None
  assert driver.waits == [fake_driver.STREAM] and capfd.readouterr().out == "saw 2.5\n"
  assert driver.describe(name)[2] == 0, "a launcher that waits is not for command buffers"


def test_a_launcher_returns_the_message_of_the_check_that_failed(driver):
  def kernel(x_ref, o_ref):
    pl.debug_check(x_ref[0, 0] > 0, "100% wrong")
    o_ref[...] = x_ref[...]

  with pl.enable_debug_checks(True):
    (name,) = targets(on_cuda(kernel), X)
  log = np.zeros(device_log.HEADER_BYTES, np.uint8)

  def run(params):
    words = (ctypes.c_uint32 * 16).from_address(params[2])
    words[device_log.FAILED] = 1

  driver.while_running = run
  assert driver.launch(name, [101], [102, log.ctypes.data], 3) == fake_driver.ERROR
  assert "debug_check failed: 100% wrong (at " in driver.errors[0]


# --- blocks that hang over an edge ---------------------------------------------------------------------------------


@pytest.mark.parametrize("look", ["tile", "ref", "reshaped", "sliced", "window"])
def test_a_block_that_hangs_over_may_be_looked_at_in_any_way(on_gpu, look):
  """Rows 4 to 7 of an array of 6 rows: the last two are not there, and are neither read nor written."""

  def kernel(n_ref, x_ref, o_ref):
    numbers = n_ref[...]
    if look == "tile":
      o_ref[...] = x_ref[...][numbers]
    elif look == "ref":
      o_ref[numbers] = x_ref[numbers] * 1
    elif look == "reshaped":
      o_ref[...] = x_ref.reshape(8, 64)[...].reshape(4, 128)
    elif look == "sliced":
      o_ref[...] = x_ref[...][:, 1:][numbers].sum() * 0 + x_ref[...]
    else:
      start = numbers[0]
      o_ref[pl.ds(start, 4)] = x_ref[pl.ds(start, 4)]

  x = jnp.arange(6 * 128, dtype=F32).reshape(6, 128)
  spec = pl.BlockSpec((4, 128), lambda i: (i, 0))
  numbers = pl.BlockSpec((4,), lambda i: (0,))
  got = pl.pallas_call(kernel, S(x.shape, F32), grid=(2,), in_specs=[numbers, spec], out_specs=spec)(
    jnp.arange(4, dtype=jnp.int32), x
  )
  wanted = np.asarray(x)
  if look == "sliced":  # what is not there is poison, and so is a sum with it
    np.testing.assert_array_equal(got[:4], wanted[:4])
    assert np.isnan(np.asarray(got[4:])).all()
  else:
    np.testing.assert_array_equal(got, wanted)


# --- memory that does not fit --------------------------------------------------------------------------------------


def with_scratch(grid, *shape):
  """A kernel with a buffer for each instance."""

  def kernel(x_ref, o_ref, buffer):
    buffer[...] = jnp.full(shape, x_ref[0, 0])
    o_ref[...] = jnp.full((8, 128), buffer[0, 0] + 1)

  spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
  params = pltpu.CompilerParams(dimension_semantics=("parallel",))
  return lambda x: pl.pallas_call(
    kernel,
    S(x.shape, x.dtype),
    grid=(grid,),
    in_specs=[spec],
    out_specs=spec,
    scratch_shapes=[pltpu.VMEM(shape, F32)],
    compiler_params=params,
  )(x)


def test_what_does_not_fit_shared_memory_lies_in_global_memory_of_each_block():
  _, launch = ptx(with_scratch(4, 512, 512), S((32, 128), F32), arch="sm_80")
  assert launch.scratch_bytes == 2**20 and launch.workspace_bytes == 4 * 2**20


def test_a_dynamic_grid_has_memory_for_the_blocks_that_are_launched(on_gpu):
  x = jnp.arange(16 * 128, dtype=F32).reshape(16, 128)
  got = jax.jit(lambda n, x: with_scratch(n, 256, 256)(x))(2, x)
  np.testing.assert_array_equal(got, np.repeat(np.asarray(x)[::8, :1] + 1, 8, 0) * np.ones((1, 128)))


def test_memory_that_does_not_fit_at_all_is_an_error_that_names_the_buffers():
  with pytest.raises(
    errors.ResourceExhaustedError,
    match=r"'kernel' exceeds available shared memory, 166912 bytes on sm_80, .* 8192 CTAs .* Its buffers: .*4194304 bytes",
  ):
    ptx(with_scratch(8192, 1024, 1024), S((8 * 8192, 128), F32), arch="sm_80")
