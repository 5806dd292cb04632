"""A CUDA driver and an XLA that only write down what they are asked: enough to compile for a GPU, and to call a launcher, without one.

driver = FakeDriver(monkeypatch, capabilities=[(9, 0)])
jax.jit(f).trace(x).lower(lowering_platforms=("cuda",))         compiles f's kernels, and registers their launchers here
driver.launch(name, operands, results)                          calls one as XLA would; driver.launches says what it did

With several `capabilities` there are as many devices, each with a stream and with handles of its own: `driver.launch(…, device=1)`.
"""

from __future__ import annotations

import ctypes
import dataclasses
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from tilewright.runtime import cuda, ffi
from tilewright.target.nvgpu.host import compiled, lifetime

I, P = ctypes.c_int, ctypes.c_void_p
_LAUNCH = ctypes.CFUNCTYPE(I, P, *[I] * 7, P, P, P)
_LAUNCH_EX = ctypes.CFUNCTYPE(I, P, P, P, P)
_LAUNCH_TOGETHER = ctypes.CFUNCTYPE(I, P, *[I] * 7, P, P)
_COPY_ON_DEVICE = ctypes.CFUNCTYPE(I, P, P, ctypes.c_size_t, P)
_ENCODE = ctypes.CFUNCTYPE(I, P, I, I, P, P, P, P, P, I, I, I, I)
_FILL = ctypes.CFUNCTYPE(I, P, ctypes.c_uint, ctypes.c_size_t, P)
_COPY_ASYNC = ctypes.CFUNCTYPE(I, P, P, ctypes.c_size_t, P)
_COPY = ctypes.CFUNCTYPE(I, P, P, ctypes.c_size_t)
_WAIT = ctypes.CFUNCTYPE(I, P)
_ERROR_TEXT = ctypes.CFUNCTYPE(I, I, ctypes.POINTER(ctypes.c_char_p))
API = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.POINTER(ctypes.c_uint64))
HANDLE, STREAM, ERROR, NO_STREAM = 0x7000, 0x8000, 0x9001, 0x9002  # handles and streams: of the first device


@dataclasses.dataclass(frozen=True)
class Launched:
  handle: int
  grid: tuple[int, ...]
  block: tuple[int, ...]
  shared_bytes: int
  stream: int
  params: list[int]  # the values that the parameters point to
  cluster: tuple[int, ...] = (1, 1, 1)
  is_cooperative: bool = False


def call(
  address: int, api: Mapping[str, Any], operands: Sequence[int], results: Sequence[int], attribute: Sequence[int] = ()
) -> int | None:
  """Call the handler at an address as XLA would, on the addresses of arrays; `api` has functions by name, and the call an attribute, some
  numbers. Gives the error."""
  functions = (ctypes.c_uint64 * 64)()
  for name, function in api.items():
    functions[ffi.api_function_offset(name) // 8] = ctypes.cast(function, P).value or 0
  lists = []
  alive = []
  for addresses in (operands, results):
    buffers = [(ctypes.c_uint64 * 6)(48, 0, 0, address, 0, 0) for address in addresses]
    alive += buffers
    lists.append((ctypes.c_uint64 * max(1, len(buffers)))(*map(ctypes.addressof, buffers)))
  frame = (ctypes.c_uint64 * 32)()
  numbers = (ctypes.c_uint64 * max(1, len(attribute)))(*attribute)
  array = (ctypes.c_uint64 * 3)(0, len(attribute), ctypes.addressof(numbers))
  attributes = (ctypes.c_uint64 * 1)(ctypes.addressof(array))
  frame[ffi.FRAME_ATTRS // 8] = ctypes.addressof(attributes)
  frame[2] = ctypes.addressof(functions)
  frame[ffi.FRAME_ARGS // 8], frame[ffi.FRAME_RETS // 8] = map(ctypes.addressof, lists)
  return ctypes.CFUNCTYPE(P, P)(address)(ctypes.addressof(frame))


class FakeDriver:
  def __init__(self, monkeypatch: pytest.MonkeyPatch, capabilities: Sequence[tuple[int, int]] = ((9, 0),)):
    self.assembled: list[str] = []
    self.launches: list[Launched] = []
    self.maps: list[int] = []
    self.rows: set[tuple[int, int]] = set()  # of the maps' boxes: their bytes, and how they are swizzled
    self.registered: dict[str, int] = {}
    self.instantiates: dict[str, int] = {}
    self.unloaded: list[int] = []
    self.status = 0  # of a launch
    self.map_status = 0
    self.wait_status = 0
    self.waits: list[int] = []
    self.while_running: Callable[[list[int]], None] = lambda params: None  # what a kernel does, to its parameters
    self.num_params = 0
    self.errors: list[str] = []
    self.has_stream = True
    self.loaded: list[tuple[int, ...]] = []  # the devices onto which each kernel was loaded
    self.version = 13000
    self._handles: list[Any] = []
    self._functions = {
      "cuLaunchKernel": _LAUNCH(self._launch),
      "cuLaunchKernelEx": _LAUNCH_EX(self._launch_ex),
      "cuLaunchCooperativeKernel": _LAUNCH_TOGETHER(self._launch_together),
      "cuMemcpyDtoDAsync_v2": _COPY_ON_DEVICE(lambda to, source, size, _: ctypes.memmove(to, source, size) and 0),
      "cuTensorMapEncodeTiled": _ENCODE(self._encode),
      "cuGetErrorName": _ERROR_TEXT(lambda status, out: self._say(out, b"CUDA_ERROR_%d" % status)),
      "cuGetErrorString": _ERROR_TEXT(lambda status, out: self._say(out, b"it is 100% broken")),
      "cuMemsetD32Async": _FILL(self._fill),
      "cuMemcpyDtoHAsync_v2": _COPY_ASYNC(lambda to, source, size, _: ctypes.memmove(to, source, size) and 0),
      "cuMemcpyDtoH_v2": _COPY(lambda to, source, size: ctypes.memmove(to, source, size) and 0),
      "cuStreamSynchronize": _WAIT(lambda stream: self.waits.append(stream) or self.wait_status),
    }
    self.here = threading.local()  # `device`, on which XLA wants the work of this thread
    self._api = {
      "XLA_FFI_Stream_Get": API(self._stream_get),
      "XLA_FFI_Error_Create": API(self._error_create),
      "XLA_FFI_DeviceOrdinal_Get": API(self._device_get),
    }
    self._really = ffi.register, ffi.register_state
    patch = monkeypatch.setattr
    patch(cuda, "capabilities", lambda: tuple(capabilities))
    patch(cuda, "driver_version", lambda: self.version)
    patch(cuda, "assemble", self._assemble)
    patch(cuda, "load", lambda code, name, shared_bytes, devices: self.load(devices))
    patch(cuda, "function_address", lambda name: ctypes.cast(self._functions[name], P).value)
    patch(cuda, "unload", self.unload)
    patch(ffi, "register", self._register)
    patch(ffi, "register_state", lambda *args: None if args[-1] == "CUDA" else self._really[1](*args))
    self.new_process(monkeypatch)

  def new_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what this process has loaded, but not what is on disk."""
    monkeypatch.setattr(compiled, "_code_cache", compiled._new_code_cache())
    monkeypatch.setattr(lifetime, "_launchers", {})

  def _register(self, name: str, address: Any, platform: str) -> None:
    if platform != "CUDA":  # a program may hold kernels for the CPU as well
      self._really[0](name, address, platform)
      return
    stages = address if isinstance(address, Mapping) else {"execute": address}
    self.registered[name], self.instantiates[name] = stages["execute"], stages.get("instantiate", 0)

  def unload(self, handles: Any) -> bool:
    self.unloaded.append(handles[0])
    return True

  def load(self, devices: Sequence[int]) -> Any:
    """Handles that tell kernels and devices apart, which the process keeps."""
    self.loaded.append(tuple(devices))
    handles = (ctypes.c_uint64 * len(cuda.capabilities()))()
    for device in devices:
      handles[device] = HANDLE + 0x100 * (len(self.loaded) - 1) + device
    self._handles.append(handles)
    return handles

  def _assemble(self, ptx: str, device: int) -> bytes:
    self.assembled.append(ptx)
    return b"machine code\n"

  def _say(self, out: Any, text: bytes) -> int:
    out[0] = text
    return 0

  def _launch(self, handle: int, *rest: int) -> int:
    *sizes, shared_bytes, stream, params, _ = rest
    slots = (ctypes.c_void_p * self.num_params).from_address(params)
    values = [ctypes.c_uint64.from_address(slot).value for slot in slots]
    self.launches.append(Launched(handle, tuple(sizes[:3]), tuple(sizes[3:]), shared_bytes, stream, values))
    self.while_running(values)
    return self.status

  def _launch_together(self, handle: int, *rest: int) -> int:
    status = self._launch(handle, *rest, 0)
    self.launches[-1] = dataclasses.replace(self.launches[-1], is_cooperative=True)
    return status

  def _launch_ex(self, config: int, handle: int, params: int, extra: int) -> int:
    """`config` points to a CUlaunchConfig with attributes: the shape of a cluster, and perhaps that all CTAs run together."""
    sizes = (ctypes.c_uint32 * 7).from_address(config)
    stream, attributes, count = (ctypes.c_uint64 * 3).from_address(config + 32)
    given = {}
    for n in range(count & 0xFFFFFFFF):
      number, _, *value = (ctypes.c_uint32 * 5).from_address(attributes + 72 * n)
      given[number] = value
    assert set(given) <= {2, 4}
    self._launch(handle, *sizes, stream, params, extra)
    is_cooperative = bool(given.get(2, [0])[0])
    self.launches[-1] = dataclasses.replace(self.launches[-1], cluster=tuple(given[4]), is_cooperative=is_cooperative)
    return self.status

  def _fill(self, place: int, value: int, count: int, stream: int) -> int:
    (ctypes.c_uint32 * count).from_address(place)[:] = [value] * count
    return 0

  def _encode(self, place: int, kind: int, rank: int, data: int, *others: int) -> int:
    assert place % 64 == 0
    _, _, box, _, _, swizzle, *_ = others
    self.maps.append(data)
    self.rows.add((2 * ctypes.c_uint32.from_address(box).value, swizzle))
    return self.map_status

  def _stream_get(self, args: Any) -> int:
    if not self.has_stream:
      return NO_STREAM
    args[3] = STREAM + self.here.device
    return 0

  def _device_get(self, args: Any) -> int:
    ctypes.c_int32.from_address(ctypes.addressof(args.contents) + 24).value = self.here.device
    return 0

  def _error_create(self, args: Any) -> int:
    self.errors.append(ctypes.string_at(args[2]).decode())
    return ERROR

  def describe(self, name: str) -> tuple[int, int, int]:
    """What a handler says of itself: the version of the API, and its traits."""
    metadata = (ctypes.c_uint32 * 12)()
    extension = (ctypes.c_uint64 * 4)(32, 0, 0, ctypes.addressof(metadata))
    frame = (ctypes.c_uint64 * 20)()
    frame[1] = ctypes.addressof(extension)
    assert self._handler(name)(ctypes.addressof(frame)) is None
    return metadata[6], metadata[7], metadata[8]

  def launch(
    self,
    name: str,
    operands: Sequence[int],
    results: Sequence[int],
    num_params: int,
    device: int = 0,
    attribute: Sequence[int] = (),
  ) -> int | None:
    """Call a handler on the addresses of arrays; gives the error."""
    self.num_params, self.here.device = num_params, device
    return call(self.registered[name], self._api, operands, results, attribute)

  def build(self, name: str) -> int:
    """Build a program that calls a handler, as XLA would; gives its state."""
    states: list[int] = []

    def set_state(args: Any) -> int:
      states.append(args[5])
      return 0

    error = call(self.instantiates[name], {**self._api, "XLA_FFI_State_Set": API(set_state)}, [], [])
    if error is not None:
      raise RuntimeError(self.errors[-1])
    return states[0]

  def _handler(self, name: str) -> Any:
    return ctypes.CFUNCTYPE(P, P)(self.registered[name])
