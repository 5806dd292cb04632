"""What is asked of the CUDA driver to assemble and load code, and what becomes of its errors; the driver here is a list of calls."""

from __future__ import annotations

import ctypes

import pytest

from tilewright import errors
from tilewright.runtime import cuda

NUM_DEVICES = 2


class Recording:
  """A driver of two devices, the first of them in use; `failing` gives the status of functions that fail."""

  def __init__(self, num_devices: int = NUM_DEVICES, in_use: bool = True, **failing: int):
    self.calls: list[tuple] = []
    self.num_devices, self.in_use = num_devices, in_use
    self.failing = failing
    self.code = ctypes.create_string_buffer(b"machine code", 12)

  def __getattr__(self, name: str):
    def call(*args):
      self.calls.append((name, *(a.value if hasattr(a, "value") else a for a in args)))
      match name:
        case "cuDeviceGetCount":
          args[0]._obj.value = self.num_devices
        case "cuDeviceGetAttribute":
          args[0]._obj.value = 9 if args[1] == 75 else 0
        case "cuDevicePrimaryCtxGetState":
          args[2]._obj.value = int(self.in_use and args[0] == 0)
        case "cuLibraryGetKernel":
          args[0]._obj.value = 77
        case "cuKernelGetFunction":
          args[0]._obj.value = 88
        case "cuLinkCreate_v2" if "cuLinkAddData_v2" in self.failing:
          ctypes.memmove(args[2][0], b"line 3: no such register", 24)
        case "cuLinkComplete":
          args[1]._obj.value, args[2]._obj.value = ctypes.addressof(self.code), 12
        case "cuGetErrorName":
          args[1]._obj.value = b"CUDA_ERROR_SOMETHING"
        case "cuGetErrorString":
          args[1]._obj.value = b"something is wrong"
      return self.failing.get(name, 0)

    return call

  def named(self, name: str) -> list[tuple]:
    return [call[1:] for call in self.calls if call[0] == name]


@pytest.fixture
def driver(monkeypatch):
  def forget() -> None:
    cuda.capabilities.cache_clear()
    cuda._keep_context.cache_clear()

  def make(**options: int) -> Recording:
    made = Recording(**options)
    monkeypatch.setattr(cuda, "_driver", lambda: made)
    forget()
    return made

  yield make
  forget()


def test_a_kernel_is_one_handle_for_all_devices(driver):
  made = driver()
  assert cuda.capabilities() == ((9, 0),) * NUM_DEVICES
  assert cuda.load(b"code", "kernel", 1000) == 77
  assert len(made.named("cuLibraryLoadData")) == 1 and not made.named("cuKernelSetAttribute")


def test_a_kernel_of_the_only_device_is_a_function_of_a_context_that_stays(driver):
  made = driver(num_devices=1)
  assert cuda.load(b"code", "kernel", 0) == cuda.load(b"code", "another", 0) == 88
  assert len(made.named("cuDevicePrimaryCtxRetain")) == len(made.named("cuDevicePrimaryCtxRelease_v2")) + 1


def test_a_kernel_of_a_device_that_is_not_in_use_yet_belongs_to_no_context(driver):
  made = driver(num_devices=1, in_use=False)
  assert cuda.load(b"code", "kernel", 0) == 77
  assert not made.named("cuDevicePrimaryCtxRetain")


def test_much_shared_memory_is_asked_for_on_every_device(driver):
  made = driver()
  cuda.load(b"code", "kernel", 100_000)
  assert made.named("cuKernelSetAttribute") == [(8, 100_000, 77, device) for device in range(NUM_DEVICES)]


def test_code_is_brought_onto_devices_in_use_before_any_launch(driver):
  made = driver()
  cuda.load(b"code", "kernel", 0)
  assert len(made.named("cuKernelGetFunction")) == len(made.named("cuFuncLoad")) == 1
  for take, give in (
    ("cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2"),
    ("cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"),
  ):
    assert len(made.named(take)) == len(made.named(give)) == 1


def test_ptx_becomes_machine_code(driver):
  made = driver()
  assert cuda.assemble(".version 8.0") == b"machine code"
  assert len(made.named("cuLinkDestroy")) == len(made.named("cuCtxPopCurrent_v2")) == 1


def test_ptx_that_is_refused_is_an_error_with_the_assembler_s_words(driver):
  made = driver(cuLinkAddData_v2=218)
  with pytest.raises(
    errors.NativeCodeError, match=r"CUDA_ERROR_SOMETHING \(218: something is wrong\).*line 3: no such register"
  ):
    cuda.assemble("nonsense")
  assert len(made.named("cuLinkDestroy")) == len(made.named("cuCtxPopCurrent_v2")) == 1


def test_a_device_without_room_is_an_error_that_says_for_what(driver):
  driver(cuKernelSetAttribute=1)
  with pytest.raises(errors.NativeCodeError, match="100000 bytes of shared memory on device 0"):
    cuda.load(b"code", "kernel", 100_000)
