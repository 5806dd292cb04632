"""Timing by the clock of an NVIDIA GPU: CUDA events, recorded on XLA's own stream.

    clock = DeviceClock()
    clock.start(); for _ in range(100): result = program(x)
    seconds = clock.stop()

XLA runs the programs of a device in order on one stream. So programs that only record an event, before and after some
others, measure the device time between them: the host's launch and synchronisation overheads are not included.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tilewright.runtime import cuda, ffi

_STREAM_GET_BYTES = 32  # struct XLA_FFI_Stream_Get_Args: size, extension, context, stream
_Handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


def _read(address: int, offset: int) -> int:
  return ctypes.c_uint64.from_address(address + offset).value


def _answer_version(extension: int) -> None:
  metadata = _read(extension, ffi.METADATA_POINTER)
  for offset, number in zip((ffi.VERSION_MAJOR, ffi.VERSION_MINOR), ffi.api_version()):
    ctypes.c_int32.from_address(metadata + offset).value = number


def _stream(frame: int) -> int:
  """The stream on which XLA runs a call."""
  api, context = _read(frame, ffi.FRAME_API), _read(frame, ffi.FRAME_CONTEXT)
  request = (ctypes.c_uint64 * 4)(_STREAM_GET_BYTES, 0, context, 0)
  _Handler(_read(api, ffi.api_function_offset("XLA_FFI_Stream_Get")))(ctypes.addressof(request))
  return request[3]


class DeviceClock:
  """Two events of the first device, and the programs that record them."""

  def __init__(self) -> None:
    self._events = [cuda.event() for _ in range(2)]
    self._handlers: list[Any] = []  # as long as XLA may call them
    self._programs = [self._recording(n) for n in range(2)]
    for program in self._programs:
      jax.block_until_ready(program())

  def _recording(self, number: int) -> Callable[[], Any]:
    def handle(frame: int) -> None:
      extension = _read(frame, ffi.FRAME_EXTENSION)
      if extension:
        _answer_version(extension)
      else:
        cuda.record(self._events[number], _stream(frame))

    handler = _Handler(handle)
    self._handlers.append(handler)
    name = f"tilewright_event_{id(self):x}_{number}"
    address = ctypes.cast(handler, ctypes.c_void_p).value
    assert address is not None
    ffi.register(name, address, "CUDA")
    record = jax.ffi.ffi_call(name, jax.ShapeDtypeStruct((1,), jnp.int32), has_side_effect=True)
    return jax.jit(lambda: record())

  def start(self) -> None:
    self._first = self._programs[0]()

  def stop(self) -> float:
    """Seconds of the device since `start`, when all work enqueued so far is done."""
    jax.block_until_ready(self._programs[1]())
    return cuda.seconds_between(*self._events)


@functools.cache
def device_clock() -> DeviceClock:
  return DeviceClock()
