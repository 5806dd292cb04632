"""Asynchronous FFI calls, which do not block a thread of XLA's, with one-line errors.

A kernel that communicates with other devices may block until they arrive. XLA runs all devices of a host on one small thread pool: were
the callback to block there, on a machine with few cores the other devices would find no thread to arrive on. So the call that
XLA makes only starts a Python thread and gives XLA a future; the thread copies the results into place and completes it.

    XLA's thread:  handler → future, thread started → back to other work
    our thread:    kernel on this device … waits … done → results copied → future complete → XLA continues
"""

from __future__ import annotations

import collections
import ctypes
import functools
import itertools
import os
import threading
import traceback
import weakref
from collections.abc import Hashable, Sequence
from typing import Any, Protocol

import jax
import numpy as np

from tilewright.runtime import ffi

TARGET = "tilewright_simulate"

# struct XLA_FFI_CallFrame: the attributes at 120 are 48 bytes long, then comes the future that the handler gives back.
_FRAME_FUTURE = 168
# struct XLA_FFI_Metadata: size 0, version 8, traits 32, and the type of the state that a handler keeps.
_METADATA_STATE_TYPE = 40
_INSTANTIATE, _INTERNAL_ERROR = 0, 13

_Handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)  # called with the GIL; calls to XLA through it go without


class Call(Protocol):
  """What XLA calls: a function of arrays, with the types of its operands and results.

  `place` tells which call of it this is, the same on every device: where in the program, and in which run of the program.
  """

  operand_avals: tuple[Any, ...]
  out_avals: tuple[Any, ...]

  def run(self, place: Hashable, operands: Sequence[np.ndarray]) -> Sequence[np.ndarray]: ...


_calls: weakref.WeakValueDictionary[bytes, Any] = weakref.WeakValueDictionary()
# A program keeps its calls alive, but it may be dropped while a run of it is still under way. So the latest calls are kept besides.
_latest: collections.deque[Any] = collections.deque(maxlen=4096)


def name_call(call: Call) -> np.ndarray:
  """Give a call a name, to be its first operand.

  Names are random, so that a program that JAX finds in its cache on disk never means a call of another process.
  """
  name = os.urandom(16)
  _calls[name] = call
  _latest.append(call)
  return np.frombuffer(name, np.uint32)


# --- XLA's API ---------------------------------------------------------------------------------------------------


def _pointer(address: int) -> int:
  return ctypes.c_void_p.from_address(address).value or 0


def _api_call(api: int, name: str, *fields: int) -> tuple[int, list[int]]:
  """Call a function of XLA's API; returns its result and its fields after the call, some of which it may have set."""
  function = _Handler(_pointer(api + ffi.api_function_offset(name)))
  arguments = (ctypes.c_uint64 * (2 + len(fields)))(8 * (2 + len(fields)), 0, *fields)  # size, extension, fields
  result = function(ctypes.addressof(arguments))
  return result or 0, list(arguments[2:])


def _error(api: int, error: BaseException) -> int:
  message = "".join(traceback.format_exception_only(error)).encode()
  text = ctypes.create_string_buffer(message)
  return _api_call(api, "XLA_FFI_Error_Create", ctypes.addressof(text), _INTERNAL_ERROR)[0]


def _answer_version(frame: int, state_type: int) -> bool:
  """Answer XLA's query for the API version of the handler, if this call is that query."""
  extension = _pointer(frame + ffi.FRAME_EXTENSION)
  if not extension:
    return False
  metadata = _pointer(extension + ffi.METADATA_POINTER)
  major, minor = ffi.api_version()
  ctypes.c_int.from_address(metadata + ffi.VERSION_MAJOR).value = major
  ctypes.c_int.from_address(metadata + ffi.VERSION_MINOR).value = minor
  ctypes.c_int64.from_address(metadata + _METADATA_STATE_TYPE).value = state_type
  return True


# --- places in programs ------------------------------------------------------------------------------------------
#
# XLA instantiates a handler once for each place in a program where it is called, and keeps a pointer for it that we choose: here
# it is just a number. Its type needs a function that frees it; any function that takes a word and does nothing will do.

_place_type = ctypes.c_int64(0)
_place_info = (ctypes.c_uint64 * 3)(24, 0, ctypes.cast(ctypes.CDLL(None).labs, ctypes.c_void_p).value or 0)
_place_numbers = itertools.count(1)


@_Handler
def _instantiate(frame: int) -> int | None:
  if _answer_version(frame, _place_type.value):
    return None
  context = _pointer(frame + ffi.FRAME_CONTEXT)
  place = next(_place_numbers)
  api = _pointer(frame + ffi.FRAME_API)
  return _api_call(api, "XLA_FFI_State_Set", context, _INSTANTIATE, ctypes.addressof(_place_type), place)[0]


def _place(api: int, frame: int) -> Hashable:
  context = _pointer(frame + ffi.FRAME_CONTEXT)
  _, fields = _api_call(api, "XLA_FFI_State_Get", context, _INSTANTIATE, ctypes.addressof(_place_type), 0)
  _, run = _api_call(api, "XLA_FFI_RunId_Get", context, 0)
  return fields[3], run[1]


# --- the call ----------------------------------------------------------------------------------------------------


def _data(list_of_buffers: int, count: int) -> list[int]:
  return [_pointer(_pointer(list_of_buffers + 8 * i) + ffi.BUFFER_DATA) for i in range(count)]


def _array(address: int, aval: Any) -> np.ndarray:
  size = int(np.prod(aval.shape, dtype=np.int64)) * np.dtype(aval.dtype).itemsize
  if size == 0:
    return np.zeros(aval.shape, aval.dtype)
  return np.frombuffer((ctypes.c_char * size).from_address(address), aval.dtype).reshape(aval.shape)


@_Handler
def _execute(frame: int) -> int | None:
  if _answer_version(frame, 0):
    return None
  api = _pointer(frame + ffi.FRAME_API)
  try:
    inputs, outputs = _pointer(frame + ffi.FRAME_ARGS), _pointer(frame + ffi.FRAME_RETS)
    (named,) = _data(inputs, 1)
    call = _calls[ctypes.string_at(named, 16)]
    operands = [_array(x, aval) for x, aval in zip(_data(inputs, len(call.operand_avals)), call.operand_avals)]
    results = [_array(y, aval) for y, aval in zip(_data(outputs, len(call.out_avals)), call.out_avals)]
    place = _place(api, frame)
    _, (future,) = _api_call(api, "XLA_FFI_Future_Create", 0)
    work = threading.Thread(target=_work, args=(api, future, call, place, operands, results), name=TARGET, daemon=True)
    work.start()
    ctypes.c_void_p.from_address(frame + _FRAME_FUTURE).value = future
    return None
  except BaseException as error:  # nothing may pass through XLA's frames
    return _error(api, error)


def _work(
  api: int, future: int, call: Call, place: Hashable, operands: list[np.ndarray], results: list[np.ndarray]
) -> None:
  try:
    for result, value in zip(results, call.run(place, operands), strict=True):
      np.copyto(result, value, casting="no")
  except BaseException as error:
    _api_call(api, "XLA_FFI_Future_SetError", future, _error(api, error))
  else:
    _api_call(api, "XLA_FFI_Future_SetAvailable", future)


@functools.cache
def register() -> str:
  """Make the handlers known to XLA; returns the name of the custom call."""
  make = ctypes.pythonapi.PyCapsule_New
  make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
  at = lambda address: make(address, None, None)
  types = {"type_id": at(ctypes.addressof(_place_type)), "type_info": at(ctypes.addressof(_place_info))}
  jax.ffi.register_ffi_type("tilewright_place", types, platform="cpu")
  stages = {"instantiate": at(_address(_instantiate)), "execute": at(_address(_execute))}
  jax.ffi.register_ffi_target(TARGET, stages, platform="cpu")
  return TARGET


def _address(handler: Any) -> int:
  return ctypes.cast(handler, ctypes.c_void_p).value or 0
