"""XLA's foreign-function interface, as offsets into its C structs.

The header `xla/ffi/api/c_api.h` ships with jaxlib; the API's version and the order of its functions are read from there. Handlers are
written as LLVM IR with these offsets, compiled, and registered by address.
"""

from __future__ import annotations

import ctypes
import functools
import pathlib
import re
from collections.abc import Mapping
from typing import Any

import jax

# struct XLA_FFI_CallFrame: size 0, extension 8, api 16, ctx 24, stage 32, args 40, rets 80. Both lists have their pointer at +32.
FRAME_EXTENSION, FRAME_API, FRAME_CONTEXT = 8, 16, 24
FRAME_ARGS, FRAME_RETS = 40 + 32, 80 + 32
# The attributes begin at 120: their number at +16, the types at +24, the names at +32, the values at +40.
FRAME_NUM_ATTRS, FRAME_ATTR_TYPES, FRAME_ATTRS = 120 + 16, 120 + 24, 120 + 40
# Behind them (48 bytes) is the place for a future, by which a handler says that it is not done when it returns.
FRAME_FUTURE = 120 + 48
# struct XLA_FFI_Buffer: size 0, extension 8, dtype 16, data 24.
BUFFER_DATA = 24
# A call that carries the metadata extension asks for the version: the metadata's pointer at +24, in it the version's major and minor.
METADATA_POINTER, VERSION_MAJOR, VERSION_MINOR = 24, 24, 28
# struct XLA_FFI_Error_Create_Args: size 0, extension 8, message 16, code 24 (an int). The code is that of an internal error.
ERROR_CREATE_SIZE, ERROR_INTERNAL = 28, 13


@functools.cache
def _header() -> str:
  return (pathlib.Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h").read_text()


@functools.cache
def api_version() -> tuple[int, int]:
  numbers = re.findall(r"#define XLA_FFI_API_(?:MAJOR|MINOR) (\d+)", _header())
  return int(numbers[0]), int(numbers[1])


@functools.cache
def api_function_offset(name: str) -> int:
  """Where in struct XLA_FFI_Api the pointer to a function is: after size, extension, version (24 bytes) and the internal API."""
  names = re.findall(r"_XLA_FFI_API_STRUCT_FIELD\((XLA_FFI_\w+)\);", _header())
  return 48 + 8 * names.index(name)


def _capsule(address: int) -> Any:
  make = ctypes.pythonapi.PyCapsule_New
  make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
  return make(address, None, None)


def register(name: str, address: int | Mapping[str, int], platform: str) -> None:
  """Let XLA call a handler under a name: at an address, or at one for each stage. The same may be registered again, and nothing else."""
  stages = (
    {stage: _capsule(own) for stage, own in address.items()} if isinstance(address, Mapping) else _capsule(address)
  )
  jax.ffi.register_ffi_target(name, stages, platform=platform)


_state_infos: dict[str, Any] = {}


def register_state(name: str, type_id: int, deleter: int, platform: str) -> None:
  """Let handlers have a state of a type, which XLA numbers at `type_id` and deletes by calling a function."""
  info = _state_infos.setdefault(
    name, (ctypes.c_uint64 * 3)(24, 0, deleter)
  )  # struct XLA_FFI_TypeInfo: size, extension, deleter
  parts = {"type_id": _capsule(type_id), "type_info": _capsule(ctypes.addressof(info))}
  jax.ffi.register_ffi_type(name, parts, platform=platform)
