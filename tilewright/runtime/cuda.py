"""The CUDA driver: PTX to machine code, and machine code to a kernel that can be launched on any device of the process.

It is called through ctypes, so that a kernel depends only on the driver itself, and start-up costs only the time of loading it: importing
`cuda-bindings` takes longer than all other work for a kernel whose code is on disk.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tilewright import errors

# From cuda.h.
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76  # CUdevice_attribute
_PROCESSORS = 16
_DYNAMIC_SHARED_BYTES = 8  # CUfunction_attribute
_INPUT_PTX = 1  # CUjitInputType
_ERROR_LOG, _ERROR_LOG_BYTES = 5, 6  # CUjit_option
_FREE_SHARED_BYTES = 48 * 1024  # what every kernel may use without opting in

_lock = threading.Lock()
_loaded: dict[int, tuple[Any, Any]] = {}  # libraries, with their handles, by the address of these
# Kernels, each with a device that was not in use when it was loaded, and with its handles.
_waiting: list[tuple[Any, int, Any]] = []


@functools.cache
def _driver() -> Any:
  try:
    driver = ctypes.CDLL("libcuda.so.1")
  except OSError as e:
    raise errors.NativeCodeError(
      f"Native GPU kernels need the NVIDIA driver, which could not be loaded ({e}). Use interpret=True for the portable lowering."
    ) from e
  _check(driver, driver.cuInit(0), "starting the driver")
  return driver


def is_here() -> bool:
  """Whether this machine has NVIDIA's driver, and a device."""
  try:
    return bool(capabilities())
  except errors.NativeCodeError:
    return False


def _check(driver: Any, status: int, what: str) -> None:
  if status:
    name, text = ctypes.c_char_p(), ctypes.c_char_p()
    driver.cuGetErrorName(status, ctypes.byref(name))
    driver.cuGetErrorString(status, ctypes.byref(text))
    driver_error = f"{(name.value or b'error').decode()} ({status}: {(text.value or b'unknown').decode()})"
    raise errors.NativeCodeError(f"The CUDA driver returned {driver_error} while {what}.")


def _call(function: str, *args: Any, what: str) -> None:
  driver = _driver()
  _check(driver, getattr(driver, function)(*args), what)


def _number(function: str, *args: Any, what: str) -> int:
  """The integer that a driver function writes to its first argument."""
  found = ctypes.c_int()
  _call(function, ctypes.byref(found), *args, what=what)
  return found.value


@functools.cache
def driver_version() -> int:
  """13000 is CUDA 13.0."""
  return _number("cuDriverGetVersion", what="asking for its version")


@functools.cache
def capabilities() -> tuple[tuple[int, int], ...]:
  """The compute capability of each device, in their order."""
  found = []
  for number in range(_number("cuDeviceGetCount", what="counting devices")):
    major, minor = (
      _number("cuDeviceGetAttribute", name, number, what=f"asking what device {number} is")
      for name in (_CAPABILITY_MAJOR, _CAPABILITY_MINOR)
    )
    found.append((major, minor))
  return tuple(found)


@functools.cache
def function_address(name: str) -> int:
  """The address of a function of the driver, for generated code to call."""
  address = ctypes.cast(getattr(_driver(), name), ctypes.c_void_p).value
  assert address is not None
  return address


def call(function: str, *args: Any, what: str) -> None:
  """Call a function of the driver, or raise its error; `what` describes the operation."""
  _call(function, *args, what=what)


def attribute(name: int, device: int = 0) -> int:
  """A CUdevice_attribute, by its number in cuda.h."""
  return _number("cuDeviceGetAttribute", name, device, what=f"asking what device {device} is")


@functools.cache
def processors() -> int:
  """How many SMs a device has; of several, the one that has the fewest."""
  return min(attribute(_PROCESSORS, device) for device in range(len(capabilities())))


@contextmanager
def context(device: int) -> Iterator[None]:
  """Within, calls are about a device, whose context stays."""
  _keep_context(device)
  with _context(device):
    yield


@contextmanager
def _context(device: int) -> Iterator[None]:
  """Within, calls are about a device: its primary context, which XLA uses too, is current."""
  context = ctypes.c_void_p()
  what = f"taking the context of device {device}"
  _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device, what=what)
  try:
    _call("cuCtxPushCurrent_v2", context, what=what)
    try:
      yield
    finally:
      _call("cuCtxPopCurrent_v2", ctypes.byref(context), what=what)
  finally:
    _call("cuDevicePrimaryCtxRelease_v2", device, what=what)


def assemble(ptx: str, device: int = 0) -> bytes:
  """Machine code of PTX for a device, by the driver."""
  log = ctypes.create_string_buffer(8192)
  options = (ctypes.c_int * 2)(_ERROR_LOG, _ERROR_LOG_BYTES)
  values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
  state, text = ctypes.c_void_p(), ptx.encode() + b"\0"
  with _context(device):
    _call("cuLinkCreate_v2", 2, options, values, ctypes.byref(state), what="preparing to assemble PTX")
    try:
      result, size = ctypes.c_void_p(), ctypes.c_size_t()
      try:
        nothing = (0, None, None)
        _call(
          *("cuLinkAddData_v2", state, _INPUT_PTX, text, ctypes.c_size_t(len(text)), b"kernel", *nothing),
          what="assembling PTX",
        )
        _call("cuLinkComplete", state, ctypes.byref(result), ctypes.byref(size), what="assembling PTX")
      except errors.NativeCodeError as e:
        driver_error = log.value.decode(errors="replace").strip()
        raise errors.NativeCodeError(f"{e} It says: {driver_error}\nTILEWRIGHT_DUMP=dir keeps the PTX.") from e
      assert result.value is not None
      return ctypes.string_at(result.value, size.value)
    finally:
      _call("cuLinkDestroy", state, what="forgetting PTX")


def load(code: bytes, name: str, shared_bytes: int, devices: Sequence[int]) -> Any:
  """The handles of a kernel, in machine code or in PTX that ends with a zero, by the number of the device: an array that stays where it is.

  On a device that is in use, the handle is a function of its context. On another, it is a context-independent kernel, for which the driver
  looks up the function at each launch; that is slow, and is replaced by a function when there is one (`load_onto_devices_in_use`).
  Devices that are not among `devices`, as they do not run the code, have none.
  """
  library, kernel = ctypes.c_void_p(), ctypes.c_void_p()
  nothing = (None, None, 0)
  _call("cuLibraryLoadData", ctypes.byref(library), code, *nothing, *nothing, what="loading a kernel")
  _call("cuLibraryGetKernel", ctypes.byref(kernel), library, name.encode(), what="looking for a kernel in its code")
  handles = (ctypes.c_uint64 * len(capabilities()))()
  for device in devices:
    if shared_bytes > _FREE_SHARED_BYTES:
      what = f"asking for {shared_bytes} bytes of shared memory on device {device}"
      _call("cuKernelSetAttribute", _DYNAMIC_SHARED_BYTES, shared_bytes, kernel, device, what=what)
    handles[device] = kernel.value or 0
  if len(handles) == 1:
    _keep_context(0)  # XLA will use it too, if anything is launched at all
  with _lock:
    _loaded[ctypes.addressof(handles)] = (library, handles)
    _waiting.extend((kernel, device, handles) for device in devices)
  load_onto_devices_in_use()
  return handles


def unload(handles: Any) -> bool:
  """Unload a kernel that is no longer launched from all devices; False if the driver refuses, as during graph capture."""
  with _lock:
    library, _ = _loaded[ctypes.addressof(handles)]
    driver = _driver()
    for device in range(len(handles)):
      if handles[device] and _is_in_use(device):
        with _context(device):
          if driver.cuCtxSynchronize():  # what was launched may still run
            return False
    if driver.cuLibraryUnload(library):
      return False
    _waiting[:] = [waiting for waiting in _waiting if waiting[2] is not handles]
    del _loaded[ctypes.addressof(handles)]
    return True


def load_onto_devices_in_use() -> None:
  """Load kernels onto devices that are in use by now. The driver would do so at the first launch, when XLA may be capturing a graph."""
  if not _waiting:
    return
  with _lock:
    in_use = {device for device in {device for _, device, _ in _waiting} if _is_in_use(device)}
    for waiting in [own for own in _waiting if own[1] in in_use]:
      kernel, device, handles = waiting
      handles[device] = _function(kernel, device)
      _waiting.remove(waiting)


def _is_in_use(device: int) -> bool:
  flags, active = ctypes.c_uint(), ctypes.c_int()
  what = f"asking whether device {device} is in use"
  _call("cuDevicePrimaryCtxGetState", device, ctypes.byref(flags), ctypes.byref(active), what=what)
  return bool(active.value)


def _function(kernel: ctypes.c_void_p, device: int) -> int:
  """The function of a kernel on a device, which is there from now on."""
  what = f"loading a kernel onto device {device}"
  _keep_context(device)
  with _context(device):
    function = ctypes.c_void_p()
    _call("cuKernelGetFunction", ctypes.byref(function), kernel, what=what)
    if hasattr(_driver(), "cuFuncLoad"):  # from CUDA 12.4 on
      _call("cuFuncLoad", function, what=what)
  assert function.value is not None
  return function.value


@functools.cache
def _keep_context(device: int) -> None:
  """A device's context lives as long as the process, even if XLA is done with it: functions belong to it."""
  context = ctypes.c_void_p()
  _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device, what=f"keeping the context of device {device}")


# --- events ------------------------------------------------------------------------------------------------------


def event(device: int = 0) -> ctypes.c_void_p:
  """A timing event, of a device's context."""
  made = ctypes.c_void_p()
  _keep_context(device)
  with _context(device):
    _call("cuEventCreate", ctypes.byref(made), 0, what="making an event")
  return made


def record(made: ctypes.c_void_p, stream: int) -> None:
  """Record an event on a stream."""
  _call("cuEventRecord", made, ctypes.c_void_p(stream), what="recording an event")


def seconds_between(first: ctypes.c_void_p, last: ctypes.c_void_p) -> float:
  """Wait for the second event; the device's time between the two."""
  milliseconds = ctypes.c_float()
  _call("cuEventSynchronize", last, what="waiting for an event")
  _call("cuEventElapsedTime", ctypes.byref(milliseconds), first, last, what="asking for the time between events")
  return milliseconds.value * 1e-3
