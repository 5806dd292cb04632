"""The linker: object code to callable functions, without LLVM.

    linking.define("tilewright_print", address)       # for code that is linked from now on
    code = linking.link(object_code)
    code.address("handler")

On Linux objects are ELF, and `elf` relocates them. So a process that finds its code on disk needs no LLVM, and linked code can be
freed. On other systems LLVM's own linker is used.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import sys
from typing import Any, Protocol

from tilewright.runtime import code_memory, elf
from tilewright.runtime.elf import BadObjectError as BadObjectError

_defined: dict[str, int] = {}
_linked: set[Any] = set()  # code lives until it is freed, even if it is no longer referenced
_LIBRARIES = (
  None,
  "libm.so.6",
  "libgcc_s.so.1",
)  # where undefined functions are resolved: this process first


class Linked(Protocol):
  """Code in memory. It stays until it is freed."""

  def address(self, name: str) -> int:
    """The address of a global function or variable."""
    ...

  def free(self) -> None:
    """Free the memory. Nothing may run there any more."""
    ...


def define(name: str, address: int) -> None:
  """Define a symbol for code that is linked from now on."""
  _defined[name] = address


def link(code: bytes) -> Linked:
  """Object code, as `jit.object_code` gives it, in memory."""
  made: Linked = _ElfCode(bytes(code)) if has_linker() else _EngineCode(bytes(code))
  _linked.add(made)
  return made


def has_linker() -> bool:
  """Whether code is linked without LLVM here."""
  return sys.platform == "linux" and platform.machine() in _MACHINES


@functools.cache
def _library(name: str | None) -> Any:
  return ctypes.CDLL(name)


def _external(name: str) -> int:
  if name in _defined:
    return _defined[name]
  for library in _LIBRARIES:
    try:
      function = getattr(_library(library), name)
    except (OSError, AttributeError):
      continue
    address = ctypes.cast(function, ctypes.c_void_p).value
    if address:
      return address
  raise BadObjectError(f"Compiled code needs the function {name}, which no library of this process defines.")


# --- our linker --------------------------------------------------------------------------------------------------

_MACHINES = {"x86_64": elf.X86_64, "aarch64": elf.AARCH64}  # by what Python calls this one


class _ElfCode:
  """An object in memory: what is written to on the heap, the rest as code."""

  def __init__(self, raw: bytes):
    image = elf.Image(raw)
    if image.machine != _MACHINES[platform.machine()]:
      raise BadObjectError("Compiled code is for another processor.")
    self._heap = code_memory.zeros(image.data_bytes + elf.MAX_ALIGN) if image.data_bytes else 0
    data = -(-self._heap // elf.MAX_ALIGN) * elf.MAX_ALIGN

    def contents(code: int) -> bytes:
      relocated, variables = image.bytes_at(code, data, _external)
      ctypes.memmove(data, variables, len(variables))
      return relocated

    self._code_bytes = max(1, image.code_bytes)
    try:
      self._code = code_memory.place(contents, self._code_bytes)
    except BaseException:
      code_memory.free_zeros(self._heap)
      raise
    self._names = image.names_at(self._code, data)

  def address(self, name: str) -> int:
    if name not in self._names:
      raise BadObjectError(f"Compiled code defines no symbol {name}.")
    return self._names[name]

  def free(self) -> None:
    if self in _linked:
      _linked.remove(self)
      code_memory.free(self._code, self._code_bytes)
      code_memory.free_zeros(self._heap)


# --- LLVM's linker -----------------------------------------------------------------------------------------------


class _EngineCode:
  """An object that LLVM has linked. An engine owns its target machine, so that each has one of its own."""

  def __init__(self, raw: bytes):
    import llvmlite.binding as llvm

    from tilewright.runtime import jit

    with jit.lock:
      for name, address in _defined.items():
        llvm.add_symbol(name, address)
      self._engine: Any = llvm.create_mcjit_compiler(llvm.parse_assembly(""), jit.new_host_machine())
      self._engine.add_object_file(llvm.ObjectFileRef.from_data(raw))
      self._engine.finalize_object()

  def address(self, name: str) -> int:
    found = self._engine.get_function_address(name) or self._engine.get_global_value_address(name)
    if not found:
      raise BadObjectError(f"Compiled code defines no symbol {name}.")
    return found

  def free(self) -> None:
    if self in _linked:
      _linked.remove(self)
      self._engine.close()
