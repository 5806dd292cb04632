"""Shared-memory segments that several processes of one user on one host map at the same address.

    mine = segments.create(nbytes, address)              # in one process; mine.offer is text for the others
    theirs = segments.join(offer)                        # in each of the others
    mine.close()                                         # everybody has it: its file goes, and the memory with the last process

The file is a memfd: it has no name in any directory, so that a killed process leaves nothing behind. Others open it through the
process that created it (/proc/PID/fd), and trust it only if it belongs to this user, is accessible to this user alone, has the announced
size, and begins with the announced token: a process with that PID in another namespace, or another user's, is refused.

Pages are allocated when they are first touched; a segment may be much larger than the part that is used.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import functools
import json
import os
import secrets
import stat
import sys
from typing import Any

_TOKEN_BYTES = 16
_PROT, _SHARED, _NORESERVE, _FIXED_NOREPLACE = 3, 0x01, 0x4000, 0x100000  # of Linux's sys/mman.h
_PAGE = 4096


class SegmentError(Exception):
  """Memory that cannot be shared; the text says why."""


class AddressTaken(SegmentError):
  """The address is in use in this process."""


@dataclasses.dataclass(eq=False)
class Segment:
  """A mapping that lasts as long as the process. The first page holds the token, and is reserved for it."""

  address: int
  nbytes: int
  descriptor: int = -1
  token: str = ""

  @property
  def start(self) -> int:
    """Where its memory begins."""
    return self.address + _PAGE

  @property
  def offer(self) -> str:
    """What others need to map it."""
    proposal = {
      "pid": os.getpid(),
      "fd": self.descriptor,
      "bytes": self.nbytes,
      "at": self.address,
      "token": self.token,
    }
    return json.dumps(proposal)

  def close(self) -> None:
    """No more processes can map it."""
    if self.descriptor >= 0:
      os.close(self.descriptor)
      self.descriptor = -1

  def unmap(self) -> None:
    _libc().munmap(self.address, self.nbytes)
    self.close()


@functools.cache
def _libc() -> Any:
  libc = ctypes.CDLL(None, use_errno=True)
  libc.mmap.restype = ctypes.c_void_p
  libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
  libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
  return libc


def _map(descriptor: int, nbytes: int, address: int) -> None:
  flags = _SHARED | _NORESERVE | _FIXED_NOREPLACE
  found = _libc().mmap(address, nbytes, _PROT, flags, descriptor, 0)
  if found == ctypes.c_void_p(-1).value:
    raise AddressTaken(f"{nbytes:,} bytes cannot be mapped at {address:#x}: {os.strerror(ctypes.get_errno())}")
  if found != address:  # a kernel that does not know the flag
    _libc().munmap(found, nbytes)
    raise AddressTaken(f"the address {address:#x} is in use")


def create(nbytes: int, address: int) -> Segment:
  """Memory of so many bytes at an address (both multiples of a page), zero at first."""
  if sys.platform != "linux":
    raise SegmentError(f"processes share memory on Linux only, not on {sys.platform}")
  descriptor = os.memfd_create("tilewright", os.MFD_CLOEXEC)
  try:
    os.fchmod(descriptor, 0o600)
    os.ftruncate(descriptor, nbytes)
    _map(descriptor, nbytes, address)
  except BaseException:
    os.close(descriptor)
    raise
  token = secrets.token_hex(_TOKEN_BYTES)
  ctypes.memmove(address, token.encode(), len(token))
  return Segment(address, nbytes, descriptor, token)


def join(offer: str) -> Segment:
  """Map what another process offers."""
  proposal = json.loads(offer)
  pid, number, nbytes, address = (int(proposal[k]) for k in ("pid", "fd", "bytes", "at"))
  try:
    descriptor = os.open(f"/proc/{pid}/fd/{number}", os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
  except OSError as e:
    raise SegmentError(f"the memory of process {pid} cannot be opened here ({e.strerror}); is it on this host?") from e
  try:
    _check(os.fstat(descriptor), nbytes)
    _check_token(descriptor, str(proposal["token"]))
    _map(descriptor, nbytes, address)
  finally:
    with contextlib.suppress(OSError):
      os.close(descriptor)
  return Segment(address, nbytes)


def _check(found: os.stat_result, nbytes: int) -> None:
  if not stat.S_ISREG(found.st_mode):
    raise SegmentError("what is offered is no memory")
  if found.st_uid != os.geteuid():
    raise SegmentError(f"it belongs to the user {found.st_uid}, not to {os.geteuid()}")
  if stat.S_IMODE(found.st_mode) != 0o600 or found.st_nlink != 0:
    raise SegmentError("other users or programs can reach it")
  if found.st_size != nbytes:
    raise SegmentError(f"it has {found.st_size:,} bytes, not {nbytes:,}")


def _check_token(descriptor: int, token: str) -> None:
  if not secrets.compare_digest(os.pread(descriptor, 2 * _TOKEN_BYTES, 0), token.encode()):
    raise SegmentError("it is not the memory that was offered: the process is in another namespace or on another host")


__all__ = ["AddressTaken", "Segment", "SegmentError", "create", "join"]
