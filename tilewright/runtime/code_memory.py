"""An allocator for machine code: pages of a few large mappings, written once, then only read and executed, and freed.

    address = code_memory.place(lambda address: bytes, nbytes)      # contents may depend on where they will be
    code_memory.free(address, nbytes)

A system bounds how many mappings a process may have (65,530 on Linux unless configured). A piece of code takes whole pages of a region, and
all pages of a region that are not being written have the same protection, so that a region is one mapping however many pieces it holds.
No page is ever writable and executable at once. Freed pages are returned to the system and are zero when they are reused.

No allocation is owned by a Python object: when the interpreter exits, threads of XLA may still run code.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import mmap
import os
import platform
import struct
import threading
from collections.abc import Callable
from typing import Any

from tilewright import errors

_PAGE = mmap.PAGESIZE
_REGION = 4 << 20  # bytes of a region, unless a piece of code is larger
_READ, _WRITE, _EXECUTE = 1, 2, 4  # from sys/mman.h
_DONTNEED = 4
_FAILED = ctypes.c_void_p(-1).value
_lock = threading.RLock()


@functools.cache
def _libc() -> Any:
  libc = ctypes.CDLL(None, use_errno=True)
  libc.mprotect.argtypes = libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
  libc.mmap.restype = ctypes.c_void_p
  libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
  libc.calloc.restype, libc.calloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t, ctypes.c_size_t]
  libc.free.argtypes = [ctypes.c_void_p]
  return libc


def _refused() -> errors.NativeCodeError:
  reason = os.strerror(ctypes.get_errno())
  return errors.NativeCodeError(
    f"The system refuses memory for machine code ({reason}). Security policies may forbid it, as they would other just-in-time compilers; "
    "use interpret=True for the portable lowering."
  )


def _protect(address: int, nbytes: int, how: int) -> None:
  if _libc().mprotect(address, nbytes, how):
    raise _refused()


def zeros(nbytes: int) -> int:
  """The address of memory that code writes to, from the heap: aligned to sixteen bytes, until `free_zeros`."""
  address = _libc().calloc(1, max(1, nbytes))
  if not address:
    raise MemoryError(f"There are no {nbytes} bytes for the variables of compiled code.")
  return address


def free_zeros(address: int) -> None:
  _libc().free(address)


@dataclasses.dataclass(eq=False)
class _Region:
  """Pages of one mapping. `free` has the runs of pages that nothing uses, in order: the first, and the one after the last."""

  base: int
  pages: int
  free: list[tuple[int, int]]

  @classmethod
  def of(cls, nbytes: int) -> _Region:
    base = _libc().mmap(None, nbytes, _READ | _WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if base == _FAILED:
      raise _refused()
    # A page that was written makes the kernel's record of anonymous pages; parts of the mapping share it, and can be joined again.
    ctypes.c_uint8.from_address(base).value = 0
    _protect(base, nbytes, _READ | _EXECUTE)
    return cls(base, nbytes // _PAGE, [(0, nbytes // _PAGE)])

  def take(self, pages: int) -> int | None:
    for i, (first, end) in enumerate(self.free):
      if end - first >= pages:
        self.free[i : i + 1] = [(first + pages, end)] if end - first > pages else []
        return self.base + first * _PAGE
    return None

  def give(self, address: int, pages: int) -> None:
    first = (address - self.base) // _PAGE
    joined: list[tuple[int, int]] = []
    for run in sorted([*self.free, (first, first + pages)]):
      if joined and joined[-1][1] == run[0]:
        joined[-1] = (joined[-1][0], run[1])
      else:
        joined.append(run)
    self.free = joined


_regions: list[_Region] = []


def _pages(nbytes: int) -> int:
  return max(1, -(-nbytes // _PAGE))


def place(contents: Callable[[int], bytes], nbytes: int) -> int:
  """The address of so many bytes of code, which are what `contents` gives for that address."""
  pages = _pages(nbytes)
  with _lock:
    address = _take(pages)
    try:
      made = contents(address)
      assert len(made) <= nbytes
      _protect(address, pages * _PAGE, _READ | _WRITE)
      ctypes.memmove(address, made, len(made))
      _protect(address, pages * _PAGE, _READ | _EXECUTE)
      _synchronise(address, len(made))
    except BaseException:
      free(address, nbytes)
      raise
    return address


# AArch64 fetches instructions through a cache that does not see stores. This is `clear(start, end)`: each line of data goes to where both
# caches meet (dc cvau), then each line of instructions is dropped (ic ivau); ctr_el0 has the sizes of the lines.
_CLEAR = (
  *(
    0xD53B0023,
    0x53104C64,
    0x52800085,
    0x1AC420A4,
    0x12000C63,
    0x1AC320A3,
  ),  # x4, x3: bytes of a line of data, of instructions
  *(0xD1000485, 0x8A250006, 0xD50B7B26, 0x8B0400C6, 0xEB0100DF, 0x54FFFFA3, 0xD5033B9F),
  *(0xD1000465, 0x8A250006, 0xD50B7526, 0x8B0300C6, 0xEB0100DF, 0x54FFFFA3, 0xD5033B9F),
  *(0xD5033FDF, 0xD65F03C0),
)


@functools.cache
def _clear() -> Any:
  """The function that does it, on a page of its own: Linux synchronises a page that has never been executable when it becomes so."""
  libc = _libc()
  page = libc.mmap(None, _PAGE, _READ | _WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
  if page == _FAILED:
    raise _refused()
  ctypes.memmove(page, struct.pack(f"<{len(_CLEAR)}I", *_CLEAR), 4 * len(_CLEAR))
  _protect(page, _PAGE, _READ | _EXECUTE)
  return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(page)


def _synchronise(address: int, nbytes: int) -> None:
  """Synchronise the instruction caches with what was written."""
  if platform.machine() == "aarch64":
    _clear()(address, address + nbytes)


def _take(pages: int) -> int:
  for region in _regions:
    address = region.take(pages)
    if address is not None:
      return address
  _regions.append(_Region.of(max(_REGION, pages * _PAGE)))
  address = _regions[-1].take(pages)
  assert address is not None
  return address


def free(address: int, nbytes: int) -> None:
  """Free what `place` returned. Nothing may run there any more."""
  pages = _pages(nbytes)
  with _lock:
    (region,) = (own for own in _regions if own.base <= address < own.base + own.pages * _PAGE)
    _protect(address, pages * _PAGE, _READ | _EXECUTE)
    _libc().madvise(address, pages * _PAGE, _DONTNEED)
    region.give(address, pages)
