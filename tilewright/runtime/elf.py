"""A reader and relocator of ELF objects, as LLVM emits them for x86-64 and AArch64.

    image = elf.Image(object_code)
    code, data = image.bytes_at(code_address, data_address, external)     # relocated
    image.names_at(code_address, data_address)                            # {"point": address, ...}

LLVM's large code model refers to code and data by 64-bit addresses, so relocation writes those. An image has two blocks: writable sections,
and all others. AArch64 calls reach 128 MiB only, and addresses of external symbols are read from a table (GOT): the
code block ends with a stub for each external function that is called, and with that table.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Mapping

from tilewright import errors

# From the System V ABI.
_HEADER, _SECTION, _SYMBOL, _RELOCATION = (
  struct.Struct(form) for form in ("<16sHHIQQQIHHHHHH", "<IIQQQQIIQQ", "<IBBHQQ", "<QQq")
)
_IDENTITY = b"\x7fELF\x02\x01\x01"  # 64 bits, little endian, version 1
_RELOCATABLE = 1
_SYMTAB, _RELA, _NOBITS = 2, 4, 8
_UNWIND = 0x70000001  # tables for exceptions, which compiled code neither throws nor passes on
_WRITABLE, _ALLOCATED, _TLS = 1, 2, 0x400
_UNDEFINED, _RESERVED, _ABSOLUTE = 0, 0xFF00, 0xFFF1
_LOCAL = 0
MAX_ALIGN = 4096
_MAX_ZERO_FILL = 1 << 28
X86_64, AARCH64 = 62, 183

External = Callable[[str], int]


class BadObjectError(errors.NativeCodeError):
  """Object code that cannot be linked here."""


# --- relocations -------------------------------------------------------------------------------------------------

Apply = Callable[[bytearray, int, int, int], None]  # block, offset in it, address of that place, value


def _number(form: str, relative: bool = False) -> Apply:
  def apply(block: bytearray, offset: int, place: int, value: int) -> None:
    value -= place if relative else 0
    if form == "<q":
      value = (value + (1 << 63)) % (1 << 64) - (1 << 63)
    struct.pack_into(form, block, offset, value)

  return apply


def _bits(block: bytearray, offset: int, value: int, width: int, shift: int) -> None:
  """Put a field into an instruction of 32 bits."""
  (instruction,) = struct.unpack_from("<I", block, offset)
  mask = ((1 << width) - 1) << shift
  struct.pack_into("<I", block, offset, instruction & ~mask | value << shift & mask)


def _move_wide(part: int) -> Apply:
  """movz and movk: sixteen bits of an address."""
  return lambda block, offset, _, value: _bits(block, offset, value >> 16 * part & 0xFFFF, 16, 5)


def _branch(block: bytearray, offset: int, place: int, value: int) -> None:
  distance = value - place
  if not -(1 << 27) <= distance < 1 << 27 or distance % 4:
    raise struct.error("a branch is too long")
  _bits(block, offset, distance >> 2, 26, 0)


def _page(block: bytearray, offset: int, place: int, value: int) -> None:
  """adrp: how many pages of 4 KiB away."""
  pages = (value >> 12) - (place >> 12)
  if not -(1 << 20) <= pages < 1 << 20:
    raise struct.error("an address is too far away")
  _bits(block, offset, pages & 3, 2, 29)
  _bits(block, offset, pages >> 2, 19, 5)


def _load_in_page(block: bytearray, offset: int, _: int, value: int) -> None:
  """ldr of 64 bits: where in its page."""
  _bits(block, offset, (value & 0xFFF) >> 3, 12, 10)


@dataclasses.dataclass(frozen=True)
class _Machine:
  """How to relocate, by type. `stubs` and `table` are the types that may need a stub, or a word of the table, instead of the symbol."""

  apply: Mapping[int, Apply]
  stubs: frozenset[int] = frozenset()
  table: frozenset[int] = frozenset()


_MACHINES = {
  X86_64: _Machine(
    {
      1: _number("<q"),
      2: _number("<i", relative=True),
      4: _number("<i", relative=True),
      10: _number("<I"),
      11: _number("<i"),
      24: _number("<q", relative=True),
    }
  ),
  AARCH64: _Machine(
    {
      257: _number("<q"),
      260: _number("<q", relative=True),
      261: _number("<i", relative=True),
      **{263 + kind: _move_wide(kind // 2) for kind in range(7)},
      282: _branch,
      283: _branch,
      311: _page,
      312: _load_in_page,
    },
    stubs=frozenset({282, 283}),
    table=frozenset({311, 312}),
  ),
}
_STUB = struct.pack("<II", 0x58000050, 0xD61F0200)  # ldr x16, [pc, #8]; br x16; then the address
_STUB_BYTES = 16


# --- images ------------------------------------------------------------------------------------------------------


class Image:
  """The sections of an object, in two blocks of so many bytes: `code_bytes` and `data_bytes`."""

  def __init__(self, raw: bytes):
    try:
      self._read(bytes(raw))
      self._arrange()
    except (struct.error, IndexError, ValueError, OverflowError) as e:
      raise BadObjectError(f"Compiled code is no object that can be linked: {e}.") from e

  def _read(self, raw: bytes) -> None:
    self._raw = raw
    head = _HEADER.unpack_from(raw)
    if not head[0].startswith(_IDENTITY) or head[1] != _RELOCATABLE or head[2] not in _MACHINES:
      raise BadObjectError("Compiled code is not an ELF object for x86-64 or AArch64.")
    self.machine = head[2]
    self._rules = _MACHINES[head[2]]
    self._sections = [_SECTION.unpack_from(raw, head[6] + _SECTION.size * i) for i in range(head[12])]
    for _, kind, flags, _, offset, size, *_, align, _ in self._sections:
      is_inside = size <= _MAX_ZERO_FILL if kind == _NOBITS else offset + size <= len(raw)
      if not is_inside or align > MAX_ALIGN or (flags & _ALLOCATED and flags & _TLS):
        raise BadObjectError("Compiled code has a section that cannot be linked.")
    self._symbols: list[tuple[str, int, int, bool]] = []
    for section in self._sections:
      if section[1] == _SYMTAB:
        strings = self._sections[section[6]][4]
        for i in range(section[5] // _SYMBOL.size):
          name, info, _, where, value, _ = _SYMBOL.unpack_from(raw, section[4] + _SYMBOL.size * i)
          end = raw.index(b"\0", strings + name)
          self._symbols.append((raw[strings + name : end].decode(), where, value, info >> 4 != _LOCAL))

  def _arrange(self) -> None:
    """Where each section is: its offset in one of the two blocks; then stubs and the table."""
    self._offsets: dict[int, int] = {}
    sizes = {True: 0, False: 0}
    for number, section in enumerate(self._sections):
      if bool(section[2] & _ALLOCATED) and section[1] != _UNWIND:
        is_data, align = self._is_data(number), max(1, section[8])
        self._offsets[number] = -(-sizes[is_data] // align) * align
        sizes[is_data] = self._offsets[number] + section[5]
    self._stubs: dict[int, int] = {}  # by symbol
    self._words: dict[int, int] = {}
    at = -(-sizes[False] // 8) * 8
    for _, _, kind, number, _ in self._relocations():
      if kind in self._rules.stubs and self._symbols[number][1] == _UNDEFINED and number not in self._stubs:
        self._stubs[number], at = at, at + _STUB_BYTES
      if kind in self._rules.table and number not in self._words:
        self._words[number], at = at, at + 8
    self.code_bytes = at if self._stubs or self._words else sizes[False]
    self.data_bytes = sizes[True]

  def _is_data(self, section: int) -> bool:
    return bool(self._sections[section][2] & _WRITABLE)

  def _relocations(self) -> list[tuple[int, int, int, int, int]]:
    """Of sections that are loaded: the section, the place in it, the type, the symbol, the addend."""
    found = []
    for section in self._sections:
      if section[1] == _RELA and section[7] in self._offsets:
        for i in range(section[5] // _RELOCATION.size):
          place, info, addend = _RELOCATION.unpack_from(self._raw, section[4] + _RELOCATION.size * i)
          kind = info & 0xFFFFFFFF
          if kind not in self._rules.apply:
            raise BadObjectError(f"Compiled code has a relocation of the type {kind}, which is not known here.")
          found.append((section[7], place, kind, info >> 32, addend))
    return found

  def names_at(self, code: int, data: int) -> dict[str, int]:
    """The addresses of the global symbols."""
    bases = {False: code, True: data}
    return {
      name: bases[self._is_data(section)] + self._offsets[section] + value
      for name, section, value, is_global in self._symbols
      if is_global and section in self._offsets
    }

  def bytes_at(self, code: int, data: int, external: External) -> tuple[bytes, bytes]:
    """Both blocks, relocated for these addresses. `external` resolves undefined symbols."""
    try:
      return self._relocated({False: code, True: data}, external)
    except (struct.error, IndexError, ValueError, OverflowError) as e:
      raise BadObjectError(f"Compiled code cannot be linked: {e}.") from e

  def _relocated(self, bases: Mapping[bool, int], external: External) -> tuple[bytes, bytes]:
    blocks = {False: bytearray(self.code_bytes), True: bytearray(self.data_bytes)}
    for number, offset in self._offsets.items():
      _, kind, _, _, start, size, *_ = self._sections[number]
      if kind != _NOBITS:
        blocks[self._is_data(number)][offset : offset + size] = self._raw[start : start + size]
    for symbol, offset in self._stubs.items():
      blocks[False][offset : offset + 8] = _STUB
      struct.pack_into("<Q", blocks[False], offset + 8, self._symbol(symbol, bases, external))
    for symbol, offset in self._words.items():
      struct.pack_into("<Q", blocks[False], offset, self._symbol(symbol, bases, external))
    for section, place, kind, symbol, addend in self._relocations():
      if kind in self._rules.table:
        value = bases[False] + self._words[symbol]
      elif kind in self._rules.stubs and symbol in self._stubs:
        value = bases[False] + self._stubs[symbol]
      else:
        value = self._symbol(symbol, bases, external) + addend
      is_data, offset = self._is_data(section), self._offsets[section] + place
      self._rules.apply[kind](blocks[is_data], offset, bases[is_data] + offset, value)
    return bytes(blocks[False]), bytes(blocks[True])

  def _symbol(self, number: int, bases: Mapping[bool, int], external: External) -> int:
    name, section, value, _ = self._symbols[number]
    if section == _UNDEFINED:
      return external(name)
    if section == _ABSOLUTE:
      return value
    if section >= _RESERVED or section not in self._offsets:
      raise BadObjectError(f"Compiled code refers to {name or 'a section'}, which is not in memory.")
    return bases[self._is_data(section)] + self._offsets[section] + value
