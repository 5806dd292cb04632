"""Object code to functions that can be called, without LLVM.

    linking.define("tilewright_print", address)       # for code that is linked from now on
    code = linking.link(object_code)
    code.address("handler")

LLVM emits an ELF object for x86-64 in its large code model: code and data refer to each other by 64-bit addresses, so that linking is to
copy sections into memory and to write those addresses. A process that finds its code on disk thereby needs no LLVM, and what is linked can
be freed. On other systems LLVM's own linker does it.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import struct
import sys
from typing import Any, Protocol

from tilewright import errors
from tilewright.runtime import code_memory

_defined: dict[str, int] = {}
_linked: set[Any] = set()  # code lives until it is freed, whoever has forgotten it
_LIBRARIES = (
  None,
  "libm.so.6",
  "libgcc_s.so.1",
)  # where functions are looked for that nothing defines: this process first


class Linked(Protocol):
  """Code in memory. It stays until it is freed."""

  def address(self, name: str) -> int:
    """Of a function or a variable that other code may see."""
    ...

  def free(self) -> None:
    """Give the memory back. Nothing may run there any more."""
    ...


class BadObjectError(errors.NativeCodeError):
  """Not object code that can be linked here."""


def define(name: str, address: int) -> None:
  """Let code that is linked from now on find an address by a name."""
  _defined[name] = address


def link(code: bytes) -> Linked:
  """Object code, as `jit.object_code` gives it, in memory."""
  made: Linked = _ElfCode(bytes(code)) if has_linker() else _EngineCode(bytes(code))
  _linked.add(made)
  return made


def has_linker() -> bool:
  """Whether code is linked without LLVM here."""
  return sys.platform == "linux" and platform.machine() == "x86_64"


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
  raise BadObjectError(f"Compiled code needs the function {name}, which is in no library of this process.")


# --- ELF ---------------------------------------------------------------------------------------------------------

# From the System V ABI, and its supplement for x86-64.
_HEADER, _SECTION, _SYMBOL, _RELOCATION = (
  struct.Struct(form) for form in ("<16sHHIQQQIHHHHHH", "<IIQQQQIIQQ", "<IBBHQQ", "<QQq")
)
_IDENTITY = b"\x7fELF\x02\x01\x01"  # 64 bits, little endian, version 1
_RELOCATABLE, _X86_64 = 1, 62
_SYMTAB, _RELA, _NOBITS = 2, 4, 8
_UNWIND = 0x70000001  # tables for exceptions, which compiled code neither throws nor passes on
_WRITABLE, _ALLOCATED, _TLS = 1, 2, 0x400
_UNDEFINED, _RESERVED, _ABSOLUTE = 0, 0xFF00, 0xFFF1
_LOCAL = 0
# How to relocate, by type: the format of what is written, and whether it is relative to its own place.
_MAX_ALIGN, _MOST_ZEROS = 4096, 1 << 28
_RELOCATIONS = {
  1: ("<q", False),
  2: ("<i", True),
  4: ("<i", True),
  24: ("<q", True),
  10: ("<I", False),
  11: ("<i", False),
}


class _ElfCode:
  """An object whose sections lie in memory: those that are written to on the heap, the others as code."""

  def __init__(self, raw: bytes):
    self._heap = 0
    try:
      self._read(raw)
      self._place()
    except BaseException as e:
      code_memory.free_zeros(self._heap)
      if isinstance(e, (struct.error, IndexError, ValueError, OverflowError)):
        raise BadObjectError(f"Compiled code is no object that can be linked: {e}.") from e
      raise

  def _place(self) -> None:
    # Where each section is: its offset in one of two blocks.
    self._offsets: dict[int, int] = {}
    self._sizes = {True: 0, False: 0}
    for number, section in enumerate(self._sections):
      if self._is_loaded(section):
        is_data = bool(section[2] & _WRITABLE)
        align = max(1, section[8])
        self._offsets[number] = -(-self._sizes[is_data] // align) * align
        self._sizes[is_data] = self._offsets[number] + section[5]
    self._heap = code_memory.zeros(self._sizes[True] + _MAX_ALIGN) if self._sizes[True] else 0
    self._data = -(-self._heap // _MAX_ALIGN) * _MAX_ALIGN
    self._code, self._code_bytes = 0, max(1, self._sizes[False])
    self._code = code_memory.place(self._contents, self._code_bytes)
    self._names = {
      name: self._base(section) + value
      for name, section, value, is_global in self._symbols
      if is_global and section in self._offsets
    }
    del self._raw, self._sections, self._symbols

  def address(self, name: str) -> int:
    if name not in self._names:
      raise BadObjectError(f"Compiled code has nothing called {name}.")
    return self._names[name]

  def free(self) -> None:
    if self in _linked:
      _linked.remove(self)
      code_memory.free(self._code, self._code_bytes)
      code_memory.free_zeros(self._heap)

  def _read(self, raw: bytes) -> None:
    self._raw = raw
    head = _HEADER.unpack_from(raw)
    if not head[0].startswith(_IDENTITY) or (head[1], head[2]) != (_RELOCATABLE, _X86_64):
      raise BadObjectError("Compiled code is not an ELF object for x86-64.")
    self._sections = [_SECTION.unpack_from(raw, head[6] + _SECTION.size * i) for i in range(head[12])]
    for _, kind, flags, _, offset, size, *_, align, _ in self._sections:
      is_inside = size <= _MOST_ZEROS if kind == _NOBITS else offset + size <= len(raw)
      if not is_inside or align > _MAX_ALIGN or (flags & _ALLOCATED and flags & _TLS):
        raise BadObjectError("Compiled code has a section that cannot be linked.")
    self._symbols: list[tuple[str, int, int, bool]] = []
    for section in self._sections:
      if section[1] == _SYMTAB:
        strings = self._sections[section[6]][4]
        for i in range(section[5] // _SYMBOL.size):
          name, info, _, where, value, _ = _SYMBOL.unpack_from(raw, section[4] + _SYMBOL.size * i)
          end = raw.index(b"\0", strings + name)
          self._symbols.append((raw[strings + name : end].decode(), where, value, info >> 4 != _LOCAL))

  @staticmethod
  def _is_loaded(section: tuple[int, ...]) -> bool:
    return bool(section[2] & _ALLOCATED) and section[1] != _UNWIND

  def _base(self, section: int) -> int:
    is_data = self._sections[section][2] & _WRITABLE
    return (self._data if is_data else self._code) + self._offsets[section]

  def _contents(self, code: int) -> bytes:
    """The bytes of all sections that are not written to, if they begin at an address; those of the others are put in place."""
    self._code = code
    blocks = {False: bytearray(self._sizes[False]), True: bytearray(self._sizes[True])}
    for number, offset in self._offsets.items():
      _, kind, flags, _, start, size, *_ = self._sections[number]
      if kind != _NOBITS:
        blocks[bool(flags & _WRITABLE)][offset : offset + size] = self._raw[start : start + size]
    for section in self._sections:
      if section[1] == _RELA and section[7] in self._offsets:
        is_data = bool(self._sections[section[7]][2] & _WRITABLE)
        self._relocate(section, blocks[is_data], self._offsets[section[7]], self._base(section[7]))
    ctypes.memmove(self._data, bytes(blocks[True]), len(blocks[True]))
    return bytes(blocks[False])

  def _relocate(self, section: tuple[int, ...], block: bytearray, offset: int, base: int) -> None:
    for i in range(section[5] // _RELOCATION.size):
      place, info, addend = _RELOCATION.unpack_from(self._raw, section[4] + _RELOCATION.size * i)
      if info & 0xFFFFFFFF not in _RELOCATIONS:
        raise BadObjectError(
          f"Compiled code has a relocation of the type {info & 0xFFFFFFFF}, which is not known here."
        )
      form, is_relative = _RELOCATIONS[info & 0xFFFFFFFF]
      value = self._symbol(info >> 32) + addend - (base + place if is_relative else 0)
      if form == "<q":
        value = (value + (1 << 63)) % (1 << 64) - (1 << 63)
      try:
        struct.pack_into(form, block, offset + place, value)
      except struct.error as e:
        raise BadObjectError("Compiled code refers to something too far away.") from e

  def _symbol(self, number: int) -> int:
    name, section, value, _ = self._symbols[number]
    if section == _UNDEFINED:
      return _external(name)
    if section == _ABSOLUTE:
      return value
    if section >= _RESERVED or section not in self._offsets:
      raise BadObjectError(f"Compiled code refers to {name or 'a section'}, which is not in memory.")
    return self._base(section) + value


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
      raise BadObjectError(f"Compiled code has nothing called {name}.")
    return found

  def free(self) -> None:
    if self in _linked:
      _linked.remove(self)
      self._engine.close()
