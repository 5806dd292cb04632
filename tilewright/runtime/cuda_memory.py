"""Memory of GPUs that other GPUs and processes map, by the CUDA driver: allocations, IPC handles, peer access, mapped host memory."""

from __future__ import annotations

import ctypes
import functools

from tilewright import errors
from tilewright.runtime import cuda

# From cuda.h.
_LAZY_PEER_ACCESS = 1  # CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
_PORTABLE, _DEVICE_MAP = 1, 2  # CU_MEMHOSTALLOC_*
_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING
_ALREADY_ENABLED = "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"


class _Handle(ctypes.Structure):
  """CUipcMemHandle, which is passed by value."""

  _fields_ = [("bytes", ctypes.c_ubyte * 64)]


class Cuda:
  """The driver of `target.nvgpu.host.peer_memory` for real devices."""

  def allocate(self, device: int, nbytes: int) -> int:
    found = ctypes.c_uint64()
    what = f"allocating {nbytes:,} bytes of symmetric memory on device {device}"
    with cuda.context(device):
      cuda.call("cuMemAlloc_v2", ctypes.byref(found), ctypes.c_size_t(nbytes), what=what)
      stream = _stream(device)
      cuda.call("cuMemsetD8Async", found, ctypes.c_ubyte(0), ctypes.c_size_t(nbytes), stream, what=what)
      cuda.call("cuStreamSynchronize", stream, what=what)
    return found.value

  def offer(self, device: int, address: int) -> str:
    handle = _Handle()
    with cuda.context(device):
      what = f"exporting symmetric memory of device {device}"
      cuda.call("cuIpcGetMemHandle", ctypes.byref(handle), ctypes.c_uint64(address), what=what)
    return bytes(handle).hex()

  def open(self, device: int, offer: str) -> int:
    found, handle = ctypes.c_uint64(), _Handle.from_buffer_copy(bytes.fromhex(offer))
    what = f"mapping another process's memory on device {device}"
    with cuda.context(device):
      cuda.call("cuIpcOpenMemHandle_v2", ctypes.byref(found), handle, _LAZY_PEER_ACCESS, what=what)
    return found.value

  def reach(self, device: int, other: int) -> None:
    able, theirs = ctypes.c_int(), ctypes.c_void_p()
    what = f"letting device {device} access device {other}"
    cuda.call("cuDeviceCanAccessPeer", ctypes.byref(able), device, other, what=what)
    if not able.value:
      raise errors.NativeCodeError(
        f"Device {device} cannot access the memory of device {other} (cuDeviceCanAccessPeer)."
      )
    with cuda.context(other):
      cuda.call("cuCtxGetCurrent", ctypes.byref(theirs), what=what)
    with cuda.context(device):
      try:
        cuda.call("cuCtxEnablePeerAccess", theirs, 0, what=what)
      except errors.NativeCodeError as e:
        if _ALREADY_ENABLED not in str(e):  # XLA may have done so
          raise

  def write(self, device: int, address: int, data: bytes) -> None:
    what = f"writing to symmetric memory of device {device}"
    with cuda.context(device):
      stream = _stream(device)
      cuda.call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(address), data, ctypes.c_size_t(len(data)), stream, what=what)
      cuda.call("cuStreamSynchronize", stream, what=what)

  def host_word(self, device: int) -> tuple[int, int]:
    host, seen = ctypes.c_void_p(), ctypes.c_uint64()
    what = f"mapping host memory for device {device}"
    with cuda.context(device):
      size = ctypes.c_size_t(64)
      cuda.call("cuMemHostAlloc", ctypes.byref(host), size, _PORTABLE | _DEVICE_MAP, what=what)
      assert host.value is not None
      ctypes.memset(host.value, 0, 64)
      cuda.call("cuMemHostGetDevicePointer_v2", ctypes.byref(seen), host, 0, what=what)
    return host.value, seen.value


@functools.cache
def _stream(device: int) -> ctypes.c_void_p:
  """A stream that does not wait for others, in the device's context, which is current."""
  made = ctypes.c_void_p()
  cuda.call("cuStreamCreate", ctypes.byref(made), _NON_BLOCKING, what=f"making a stream on device {device}")
  return made


__all__ = ["Cuda"]
