"""The CUDA driver: PTX to machine code, and machine code to a kernel that can be launched on any device of the process.

Needs `cuda-bindings` (the extra `cuda`) and a driver. Machine code is kept on disk (`cache`), keyed by the PTX and the driver's version.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from typing import Any

from tilewright import __version__, errors
from tilewright.runtime import cache

_lock = threading.Lock()
_libraries: list[Any] = []  # loaded code lives as long as the process: XLA keeps handles to it


@functools.cache
def _driver() -> Any:
  try:
    from cuda.bindings import driver
  except ImportError as e:
    raise errors.NativeCodeError(
      "Native GPU kernels need the package cuda-bindings: pip install 'tilewright[cuda]'. Or use interpret=True."
    ) from e
  _check(driver.cuInit(0))
  return driver


def _check(result: Any, what: str = "") -> Any:
  """The results of a driver call; an error code becomes an exception."""
  code, *rest = result
  if int(code) != 0:
    raise errors.NativeCodeError(f"CUDA driver: {code.name}{f' while {what}' if what else ''}.")
  return rest[0] if len(rest) == 1 else tuple(rest)


@functools.cache
def driver_version() -> int:
  """13000 is CUDA 13.0."""
  return int(_check(_driver().cuDriverGetVersion()))


@functools.cache
def capability(device: int = 0) -> tuple[int, int]:
  cu = _driver()
  attribute = cu.CUdevice_attribute
  names = (
    attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
    attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
  )
  major, minor = (int(_check(cu.cuDeviceGetAttribute(name, device))) for name in names)
  return major, minor


@functools.cache
def function_address(name: str) -> int:
  """The address of a function of the driver, for generated code to call."""
  library = ctypes.CDLL("libcuda.so.1")
  address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
  assert address is not None
  return address


def assemble(ptx: str, arch: str) -> bytes:
  """Machine code for PTX, by the driver."""
  entry = cache.key(ptx, arch, __version__, str(driver_version()))
  known = cache.get("cuda", entry)
  if known is not None:
    return known
  cu = _driver()
  context = _check(cu.cuDevicePrimaryCtxRetain(0))
  _check(cu.cuCtxPushCurrent(context))
  try:
    state = _check(cu.cuLinkCreate(0, [], []))
    text = ptx.encode() + b"\0"
    kind = cu.CUjitInputType.CU_JIT_INPUT_PTX
    _check(
      cu.cuLinkAddData(state, kind, text, len(text), b"kernel", 0, [], []),
      "assembling PTX; TILEWRIGHT_DUMP=dir keeps it",
    )
    address, size = _check(cu.cuLinkComplete(state))
    code = ctypes.string_at(int(address), int(size))
    _check(cu.cuLinkDestroy(state))
  finally:
    cu.cuCtxPopCurrent()
  cache.put("cuda", entry, code)
  return code


def load(code: bytes, name: str, shared_bytes: int) -> int:
  """A handle of a kernel in machine code, for all devices."""
  cu = _driver()
  with _lock:
    library = _check(cu.cuLibraryLoadData(code, [], [], 0, [], [], 0), "loading a kernel")
    _libraries.append((library, code))
    kernel = _check(cu.cuLibraryGetKernel(library, name.encode()))
    if shared_bytes > 48 * 1024:  # more must be asked for
      attribute = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
      for device in range(int(_check(cu.cuDeviceGetCount()))):
        _check(
          cu.cuKernelSetAttribute(attribute, shared_bytes, kernel, device),
          f"asking for {shared_bytes} bytes of shared memory",
        )
  return int(kernel)
