"""What is asked of the CUDA driver to assemble and load code, and what becomes of its errors; the driver here is a list of calls."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import pytest

from tilewright import errors
from tilewright.runtime import cuda

NUM_DEVICES = 2
_CONTEXT = 500  # of device 0


class Recording:
  """A driver of two devices, the first of them in use; `failing` gives the status of functions that fail."""

  def __init__(self, num_devices: int = NUM_DEVICES, in_use: Sequence[int] = (0,), **failing: int):
    self.calls: list[tuple] = []
    self.num_devices, self.in_use = num_devices, {*in_use}
    self.current: list[int] = []  # the devices whose contexts were pushed
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
          args[2]._obj.value = int(args[0] in self.in_use)
        case "cuDevicePrimaryCtxRetain":
          args[0]._obj.value = _CONTEXT + args[1]
          self.in_use.add(args[1])
        case "cuCtxPushCurrent_v2":
          self.current.append(args[0].value - _CONTEXT)
        case "cuCtxPopCurrent_v2":
          self.current.pop()
        case "cuLibraryGetKernel":
          args[0]._obj.value = 77
        case "cuKernelGetFunction":
          args[0]._obj.value = 88 + self.current[-1]
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
    cuda._waiting.clear()

  def make(**options: int) -> Recording:
    made = Recording(**options)
    monkeypatch.setattr(cuda, "_driver", lambda: made)
    forget()
    return made

  yield make
  forget()


BOTH = range(NUM_DEVICES)


def test_a_kernel_has_a_handle_for_each_device(driver):
  """A function of the context of a device in use, and one of no context where that is not there yet."""
  made = driver()
  assert cuda.capabilities() == ((9, 0),) * NUM_DEVICES
  assert [*cuda.load(b"code", "kernel", 1000, BOTH)] == [88, 77]
  assert len(made.named("cuLibraryLoadData")) == 1 and not made.named("cuKernelSetAttribute")
  driver(in_use=BOTH)
  assert [*cuda.load(b"code", "kernel", 0, BOTH)] == [88, 89]


def test_a_device_that_comes_into_use_later_gets_the_kernels_that_are_there(driver):
  """At once, not when they are launched: XLA may be recording a graph then, while nothing may be loaded."""
  made = driver()
  first, second = cuda.load(b"code", "kernel", 0, BOTH), cuda.load(b"code", "another", 0, BOTH)
  cuda.load_onto_devices_in_use()
  assert [*first] == [*second] == [88, 77]
  made.in_use.add(1)
  cuda.load_onto_devices_in_use()
  assert [*first] == [*second] == [88, 89] and len(made.named("cuFuncLoad")) == 4
  made.calls.clear()
  cuda.load_onto_devices_in_use()
  assert not made.calls, "nothing is left to do"


def test_a_kernel_is_loaded_onto_devices_that_run_its_code_alone(driver):
  made = driver(in_use=BOTH)
  assert [*cuda.load(b"code", "kernel", 100_000, (1,))] == [0, 89]
  assert made.named("cuKernelSetAttribute") == [(8, 100_000, 77, 1)] and len(made.named("cuFuncLoad")) == 1


@pytest.mark.parametrize("in_use", [(), (0,)])
def test_a_kernel_of_the_only_device_is_a_function_of_a_context_that_stays(driver, in_use):
  """Even if XLA does not use the device yet: whatever is launched is launched there."""
  made = driver(num_devices=1, in_use=in_use)
  assert [*cuda.load(b"code", "kernel", 0, (0,))] == [*cuda.load(b"code", "another", 0, (0,))] == [88]
  assert len(made.named("cuDevicePrimaryCtxRetain")) == len(made.named("cuDevicePrimaryCtxRelease_v2")) + 1


def test_devices_that_are_not_in_use_stay_so(driver):
  made = driver(in_use=())
  assert [*cuda.load(b"code", "kernel", 0, BOTH)] == [77, 77]
  assert not made.named("cuDevicePrimaryCtxRetain")


def test_much_shared_memory_is_asked_for_on_every_device(driver):
  made = driver()
  cuda.load(b"code", "kernel", 100_000, BOTH)
  assert made.named("cuKernelSetAttribute") == [(8, 100_000, 77, device) for device in range(NUM_DEVICES)]


def test_contexts_are_left_as_they_were(driver):
  made = driver()
  cuda.load(b"code", "kernel", 0, BOTH)
  assert len(made.named("cuKernelGetFunction")) == len(made.named("cuFuncLoad")) == 1
  assert len(made.named("cuCtxPushCurrent_v2")) == len(made.named("cuCtxPopCurrent_v2")) == 1 and not made.current


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
    cuda.load(b"code", "kernel", 100_000, BOTH)
