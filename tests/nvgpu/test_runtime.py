"""From a kernel call to a launch, with a driver that only writes down what it is asked: no GPU is needed."""

from __future__ import annotations

import ctypes
import gc
import re
from concurrent.futures import ThreadPoolExecutor

import fake_driver
import jax
import jax.numpy as jnp
import pytest
import scaled_programs
from fake_driver import FakeDriver
from gpu_programs import matmul

from tests.support.fake_targets import S, targets
from tilewright import errors, ops
from tilewright import pallas as pl
from tilewright.pallas import cpu, mosaic_gpu
from tilewright.pallas import nvgpu as params
from tilewright.pallas import tpu as pltpu
from tilewright.pallas import triton as plgpu
from tilewright.runtime import cuda, ffi
from tilewright.target.nvgpu.host import compiled, lifetime, symbols

F32, BF16 = jnp.float32, jnp.bfloat16


NATIVE = params.CompilerParams()


def add(x, y, grid=(4,), compiler_params=NATIVE, name="add", interpret=False):
  row = pl.BlockSpec((1, 256), lambda *i: (i[0], 0))

  def kernel(x_ref, y_ref, o_ref):
    o_ref[...] = x_ref[...] + y_ref[...]

  return pl.pallas_call(
    *(kernel, S((4, 256), F32)),
    grid=grid,
    in_specs=[row, row],
    out_specs=row,
    compiler_params=compiler_params,
    name=name,
    interpret=interpret,
  )(x, y)


XY = (S((4, 256), F32), S((4, 256), F32))


# --- launching ---------------------------------------------------------------------------------------------------


def test_a_launch_passes_arrays_on_the_stream_of_xla(driver):
  (name,) = targets(add, *XY)
  assert driver.launch(name, [101, 102], [103], 4) is None
  (launched,) = driver.launches
  assert launched.handle == fake_driver.HANDLE and launched.stream == fake_driver.STREAM
  assert launched.grid == (4, 1, 1) and launched.block[1:] == (1, 1)
  assert launched.params == [101, 102, 103, 0], "the arrays, and no scratch memory"


def test_tensor_maps_follow_the_arrays(driver):
  (name,) = targets(lambda a, b: matmul(a, b, (128, 128, 64)), S((256, 256), BF16), S((256, 256), BF16))
  assert driver.launch(name, [0x100, 0x200], [0x300], 4) is None
  assert driver.maps == [0x100, 0x200, 0x300] and driver.launches[0].params == [0x100, 0x200, 0x300, 0]
  assert driver.launches[0].shared_bytes > 48 * 1024


def test_the_copy_engine_exchanges_pieces_of_rows_of_128_bytes_alone(driver):
  """Scales come in rows of sixteen bytes, for four steps."""
  f, args = scaled_programs.mxfp8_matmul(k=1024)
  (name,) = targets(f, *args)
  assert driver.launch(name, [0x100, 0x200, 0x300, 0x400], [0x500], 4) is None
  assert driver.rows == {(128, 3), (16, 0)}


def test_where_warpgroups_exchange_registers_the_driver_loads_ptx(driver, monkeypatch):
  """Its linker would ignore the exchange. In the next process, the same is found on disk."""
  loaded = []
  monkeypatch.setattr(
    cuda, "load", lambda code, name, shared_bytes, devices: loaded.append(code) or driver.load(devices)
  )
  f, args = scaled_programs.mxfp8_matmul()
  (name,) = targets(f, *args)
  (code,) = loaded
  assert not driver.assembled and b"setmaxnreg.inc" in code and code.startswith(b"//") and code.endswith(b"\0")
  driver.new_process(monkeypatch)
  jax.clear_caches()
  assert targets(f, *args) == [name] and loaded == [code, code]


def test_xla_may_record_launches_into_a_command_buffer(driver):
  (name,) = targets(add, *XY)
  assert driver.describe(name) == (*ffi.api_version(), 1)


def test_a_launch_that_fails_is_an_error_with_the_kernel_and_the_driver_s_words(driver):
  (name,) = targets(lambda x, y: add(x, y, name="my_kernel"), *XY)
  driver.status = 701
  assert driver.launch(name, [101, 102], [103], 4) == fake_driver.ERROR
  (message,) = driver.errors
  assert re.fullmatch(
    r"The GPU kernel 'my_kernel' could not be launched as 4 blocks of \d+ threads with \d+ bytes of shared memory: "
    r"CUDA_ERROR_701 \(it is 100% broken\)\.",
    message,
  )


def test_a_tensor_map_that_fails_is_an_error_before_anything_is_launched(driver):
  (name,) = targets(lambda a, b: matmul(a, b, (128, 128, 64)), S((256, 256), BF16), S((256, 256), BF16))
  driver.map_status = 1
  assert driver.launch(name, [0x100, 0x200], [0x300], 4) == fake_driver.ERROR
  assert "operand 0 has no tensor map: CUDA_ERROR_1 (" in driver.errors[0] and not driver.launches


def test_without_a_stream_nothing_is_launched(driver):
  (name,) = targets(add, *XY)
  driver.has_stream = False
  assert driver.launch(name, [101, 102], [103], 4) == fake_driver.NO_STREAM and not driver.launches


def test_a_grid_of_no_points_is_not_launched(driver):
  (name,) = targets(lambda x, y: add(x, y, (0,)), *XY)
  assert driver.launch(name, [101, 102], [103], 4) is None and not driver.launches


# --- several devices ---------------------------------------------------------------------------------------------


@pytest.fixture
def machine(driver, monkeypatch):
  """A driver of devices of these compute capabilities."""
  return lambda *capabilities: FakeDriver(monkeypatch, capabilities)


def test_a_launch_is_of_the_kernel_on_the_device_of_xla_s_stream(machine):
  driver = machine((9, 0), (9, 0), (9, 0))
  (name,) = targets(lambda a, b: matmul(a, b, (128, 128, 64)), S((256, 256), BF16), S((256, 256), BF16))
  assert driver.loaded == [(0, 1, 2)] and len(driver.assembled) == 1
  for device in (2, 0, 1, 2):
    place = 0x1000 * (1 + device)
    assert driver.launch(name, [place, place + 0x100], [place + 0x200], 4, device) is None
    launched = driver.launches[-1]
    assert (launched.handle, launched.stream) == (fake_driver.HANDLE + device, fake_driver.STREAM + device)
    assert driver.maps[-3:] == [place, place + 0x100, place + 0x200] == launched.params[:3]


def test_launches_from_many_threads_go_each_to_their_device(machine):
  driver = machine((9, 0), (9, 0))
  (name,) = targets(add, *XY)

  def work(number):
    for _ in range(50):
      assert driver.launch(name, [101 + number, 102], [103], 4, number) is None

  with ThreadPoolExecutor(4) as pool:
    list(pool.map(work, [0, 1, 0, 1]))
  seen = {(own.handle, own.stream, own.params[0]) for own in driver.launches}
  assert seen == {(fake_driver.HANDLE + d, fake_driver.STREAM + d, 101 + d) for d in range(2)}
  assert len(driver.launches) == 200


def test_devices_of_different_architectures_have_code_of_their_own(machine):
  """Which is launched as that architecture wants it: with tensor maps on one, without on the other."""
  driver = machine((9, 0), (8, 9), (8, 0))
  (name,) = targets(lambda a, b: matmul(a, b, (128, 128, 64)), S((256, 256), BF16), S((256, 256), BF16))
  assert driver.loaded == [(0,), (2, 1)]
  assert [re.search(r"\.target (\w+)", ptx)[1] for ptx in driver.assembled] == ["sm_90a", "sm_80"]
  assert targets(lambda a, b: matmul(a, b, (128, 128, 64)), S((256, 256), BF16), S((256, 256), BF16)) == [name]
  assert len(driver.assembled) == 2, "it is found again"
  for device in range(3):
    driver.maps.clear()
    assert driver.launch(name, [0x100, 0x200], [0x300], 4, device) is None
    launched = driver.launches[-1]
    assert launched.handle == fake_driver.HANDLE + 0x100 * (device > 0) + device
    assert launched.stream == fake_driver.STREAM + device and len(driver.maps) == (3 if device == 0 else 0)
  assert driver.describe(name) == (*ffi.api_version(), 1)


def test_a_device_without_code_keeps_no_other_from_it(machine):
  driver = machine((7, 5), (8, 0))
  (name,) = targets(add, *XY)
  assert driver.launch(name, [101, 102], [103], 4, device=1) is None
  assert driver.launches[0].handle == fake_driver.HANDLE + 1
  assert driver.launch(name, [101, 102], [103], 4, device=0) == fake_driver.ERROR and len(driver.launches) == 1
  assert "no code of this kernel for device 0" in driver.errors[0] and "compute capability 7.5" in driver.errors[0]


def test_a_kernel_too_large_for_one_of_the_devices_runs_on_the_other(machine):
  def kernel(x_ref, o_ref, scratch):
    scratch[...] = x_ref[...]
    o_ref[...] = scratch[...] + 1

  x = S((128, 256), F32)
  f = pl.pallas_call(
    kernel, x, scratch_shapes=[mosaic_gpu.SMEM(x.shape, F32, transforms=[mosaic_gpu.SwizzleTransform(128)])]
  )
  driver = machine((9, 0), (8, 9))
  (name,) = targets(f, x)
  assert driver.launch(name, [1], [2], 3, device=0) is None
  assert driver.launch(name, [1], [2], 3, device=1) == fake_driver.ERROR
  assert "scratch buffer 0" in driver.errors[0] and "exceeds available shared memory" in driver.errors[0]
  machine((8, 6), (12, 0))
  with pytest.raises(errors.ResourceExhaustedError, match="scratch buffer 0"):
    targets(f, x)


def test_a_kernel_that_says_something_is_heard_on_each_of_the_devices(machine):
  """Each call has a log of its own, which one device's launcher waits for on that device's stream. Such a call is not recorded."""

  def kernel(x_ref, o_ref):
    pl.debug_print("x is {}", x_ref[0])
    o_ref[...] = x_ref[...]

  driver = machine((9, 0), (8, 0))
  (name,) = targets(pl.pallas_call(kernel, S((4,), F32)), S((4,), F32))
  assert driver.describe(name) == (*ffi.api_version(), 0)
  logs = [ctypes.create_string_buffer(1 << 21) for _ in range(2)]
  for device, log in enumerate(logs):
    assert driver.launch(name, [1], [2, ctypes.addressof(log)], 3, device) is None
    assert driver.waits[-1] == fake_driver.STREAM + device


# --- the cache on disk -------------------------------------------------------------------------------------------


def refuse(*_):
  raise AssertionError("code was generated again")


def collect() -> None:
  """Unload all kernels that nothing uses."""
  jax.clear_caches()
  gc.collect()
  compiled._code_cache._sweep(lifetime.Resident.free)


def test_a_kernel_is_unloaded_with_the_last_program_that_may_launch_it(driver):
  lowered = jax.jit(add).trace(*XY).lower(lowering_platforms=("cuda",))
  (name,) = set(re.findall(r"tilewright_cuda_\w+", lowered.as_text()))
  collect()
  assert not driver.unloaded, "a lowering may be compiled"
  state, other = driver.build(name), driver.build(name)
  del lowered
  collect()
  assert not driver.unloaded, "there are two programs"
  release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lifetime._launchers[name].address(symbols.RELEASE))
  release(state)
  collect()
  assert not driver.unloaded and driver.launch(name, [101, 102], [103], 4) is None
  release(other)
  collect()
  assert driver.unloaded == [fake_driver.HANDLE]
  with pytest.raises(RuntimeError, match=r"not on the GPU any more.*Lower the function again"):
    driver.build(name)
  assert targets(add, *XY) == [name] and len(driver.assembled) == 1, "it is loaded again, under its old name"
  assert driver.launch(name, [101, 102], [103], 4) is None
  assert driver.launches[-1].handle == fake_driver.HANDLE + 0x100


def test_a_kernel_that_the_driver_does_not_unload_stays(driver, monkeypatch):
  (name,) = targets(add, *XY)
  monkeypatch.setattr(cuda, "unload", lambda handles: False)
  collect()
  driver.build(name)
  assert driver.launch(name, [101, 102], [103], 4) is None and driver.launches[-1].handle == fake_driver.HANDLE


def test_a_second_process_generates_no_code(driver, monkeypatch):
  first = targets(add, *XY)
  driver.new_process(monkeypatch)
  driver.registered.clear()
  monkeypatch.setattr(compiled, "prepared", refuse)
  assert targets(add, *XY) == first and len(driver.assembled) == 1
  driver.launch(first[0], [101, 102], [103], 4)
  assert driver.launches[0].params == [101, 102, 103, 0]


def test_memory_to_work_in_is_known_without_generating_code(driver, monkeypatch):
  """What does not fit shared memory lies in global memory, which XLA gives as one more result."""

  def kernel(x_ref, o_ref):
    y = jnp.cumsum(x_ref[...], axis=0)
    o_ref[...] = y - y.T

  f = lambda x: pl.pallas_call(kernel, S((512, 512), F32), compiler_params=params.CompilerParams())(x)
  text = lambda: jax.jit(lambda x: f(x)).trace(S((512, 512), F32)).lower(lowering_platforms=("cuda",)).as_text()
  first = text()
  assert re.search(r"tensor<\d+xui8>", first)
  driver.new_process(monkeypatch)
  monkeypatch.setattr(compiled, "prepared", refuse)
  assert text() == first


def test_the_same_kernel_is_compiled_once_per_process(driver):
  once, again = targets(lambda x, y: add(add(x, y), y), *XY)
  assert once == again == targets(add, *XY)[0] and len(driver.assembled) == 1


def test_whatever_the_code_depends_on_is_part_of_its_name(driver, monkeypatch):
  names = [targets(add, *XY), targets(lambda x, y: add(x, y, compiler_params=params.CompilerParams(num_warps=2)), *XY)]
  driver.version = 12080
  names.append(targets(add, *XY))
  FakeDriver(monkeypatch, [(8, 0)])
  names.append(targets(add, *XY))
  assert len({*map(tuple, names)}) == 4


def test_where_dumps_are_wanted_they_are_written_though_code_is_on_disk(driver, monkeypatch, tmp_path):
  targets(add, *XY)
  monkeypatch.setenv("TILEWRIGHT_DUMP", str(tmp_path / "dump"))
  targets(add, *XY)
  written = {p.name.partition("-")[2] for p in (tmp_path / "dump").rglob("*") if p.is_file()}
  assert written >= {"tile.txt", "gpu-grid.txt", "layouts.txt", "llvm.ll", "ptx", "plan.txt"}


# --- which kernels -----------------------------------------------------------------------------------------------


def test_ptx_is_as_new_as_driver_and_llvm_allow(driver):
  targets(add, *XY)
  assert ".version 9.0" in driver.assembled[0] and ".target sm_90a" in driver.assembled[0]


def test_native_is_the_default_on_the_gpu_and_interpret_is_the_way_out(driver):
  x, y = XY
  for own in (None, plgpu.CompilerParams(), pltpu.CompilerParams(dimension_semantics=("parallel",))):
    assert len(targets(lambda x, y: add(x, y, compiler_params=own), x, y)) == 1
  assert targets(lambda x, y: add(x, y, compiler_params=None, interpret=True), x, y) == []
  assert targets(lambda x, y: add(x, y, interpret=True), x, y) == []
  assert len(targets(ops.softmax, S((64, 256), F32))) == 1
  assert targets(lambda x: ops.softmax(x, interpret=True), S((64, 256), F32)) == []


def test_several_platforms_and_exports_take_the_portable_lowering(driver):
  f = lambda x, y: ops.softmax(add(x, y, compiler_params=None))
  text = jax.jit(f).trace(*XY).lower(lowering_platforms=("cpu", "cuda")).as_text()
  exported = jax.export.export(jax.jit(f), platforms=["cuda"])(*XY).mlir_module()
  assert "tilewright" not in text + exported and not driver.registered


def test_a_program_may_hold_a_kernel_for_each_platform(driver):
  def f(x, y):
    kernels = {"cuda": params.CompilerParams(), "cpu": cpu.CompilerParams()}
    branches = {name: lambda x, y, own=own: add(x, y, compiler_params=own) for name, own in kernels.items()}
    return jax.lax.platform_dependent(x, y, **branches)

  assert len(targets(f, *XY)) == 1
  assert "tilewright_cpu" in jax.jit(f).trace(*XY).lower().as_text()


def test_what_cannot_be_compiled_is_an_error_with_primitive_line_and_way_on(driver):
  def kernel(x_ref, o_ref):
    o_ref[...] = jax.pure_callback(lambda x: x, S((3,), F32), x_ref[...])

  with pytest.raises(errors.NativeCodeError, match=r"'pure_callback' at .*test_runtime.py:\d+.*interpret=True"):
    targets(pl.pallas_call(kernel, S((3,), F32)), S((3,), F32))


def test_num_warps_of_a_kernel_written_for_triton_is_taken(driver):
  (name,) = targets(lambda x, y: add(x, y, compiler_params=plgpu.CompilerParams(num_warps=2)), *XY)
  driver.launch(name, [1, 2], [3], 4)
  assert driver.launches[0].block == (64, 1, 1)


def test_a_kernel_asked_for_a_gpu_where_there_is_none_says_what_is_missing(monkeypatch):
  monkeypatch.setattr("ctypes.CDLL", lambda name: (_ for _ in ()).throw(OSError(f"{name}: not found")))
  with pytest.raises(errors.NativeCodeError, match=r"NVIDIA driver.*libcuda\.so\.1: not found.*interpret=True"):
    targets(add, *XY)


# --- outputs -----------------------------------------------------------------------------------------------------


def test_outputs_that_may_stay_unwritten_begin_as_poison(driver, monkeypatch):
  """XLA fills them, and the kernel writes into that; one that is surely written costs nothing."""

  def kernel(x_ref, o_ref, p_ref):
    o_ref[...] = x_ref[...] * 2
    p_ref[0, :] = x_ref[0, :]

  def f(x):
    return pl.pallas_call(kernel, [S((4, 256), F32), S((8, 256), F32)], compiler_params=NATIVE)(x)

  text = lambda: jax.jit(lambda x: f(x)).trace(XY[0]).lower(lowering_platforms=("cuda",)).as_text()
  first = text()
  assert re.search(r"output_operand_aliases = \[.*output_tuple_indices = \[1\].*operand_index = 1,", first), first
  assert first.count("output_operand_alias<") == 1 and "0x7FC00000" in first
  (name,) = set(re.findall(r"tilewright_cuda_\w+", first))
  driver.launch(name, [1, 3], [2, 3], 4)
  assert driver.launches[0].params == [1, 2, 3, 0]
  driver.new_process(monkeypatch)
  assert text() == first


def test_outputs_that_are_written_at_computed_places_are_left_as_they_are(driver):
  """Of a kernel of several warpgroups, which may write all of them in an order of its own. One that is written at fixed places is filled,
  and so is any of other kernels."""

  def kernel(x_ref, o_ref, p_ref):
    i = jax.lax.axis_index("i")
    o_ref[pl.ds(2 * i, 2)] = x_ref[pl.ds(2 * i, 2)]
    p_ref[0] = x_ref[0]

  def text(**threads):
    call = mosaic_gpu.kernel(kernel, [S((4, 256), F32), S((8, 256), F32)], grid=(2,), grid_names=("i",), **threads)
    return jax.jit(call).trace(XY[0]).lower(lowering_platforms=("cuda",)).as_text()

  several = text(num_threads=2, thread_name="wg")
  assert re.search(r"output_operand_aliases = \[.*output_tuple_indices = \[1\]", several), several
  assert several.count("output_operand_alias<") == 1 and text().count("output_operand_alias<") == 2
