"""An on-disk cache, shared by all processes of a user: compiled code, and the data that decide which code is compiled.

    cache.put("cpu", name, contents)      kept as DIRECTORY/cpu/NAME, sealed for that kind and name
    cache.get("cpu", name)                contents, or None

A name is the hash of everything the entry depends on (`key`). Entries are code, so `runtime.trust` decides which are trusted. A directory
that another user could have written to is not used: a private temporary one replaces it, for this process. An entry that is not sealed
with the user's key under its own name is reported, removed and rebuilt.

An entry is written to a temporary name and renamed, so that readers never see a partial entry. The cache stays below `limit()` bytes: the
least recently used entries are evicted first. Any number of processes may write, use and remove entries concurrently.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import errno
import functools
import hashlib
import os
import pathlib
import re
import shutil
import stat
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator

from tilewright.errors import TilewrightWarning
from tilewright.runtime import trust
from tilewright.runtime.trust import Distrusted

_LIMIT_MIB = 2048
_ABANDONED = 3600.0  # seconds after which a file that is being written belongs to a process that was killed
_FULL, _LEFT = 1.0, 0.9  # of the limit: when entries are removed, and down to what
_OLD_FOLDER = re.compile(r"[0-9a-f]{2}")  # earlier versions had a folder for each beginning of a name


class CacheWarning(TilewrightWarning):
  """The cache on disk could not be used; the work is done without it."""


def directory() -> pathlib.Path:
  """`TILEWRIGHT_CACHE_DIR`, or `tilewright` in the user's cache directory; without a home, a directory for temporary files."""
  if chosen := os.environ.get("TILEWRIGHT_CACHE_DIR"):
    return pathlib.Path(chosen)
  base = os.environ.get("XDG_CACHE_HOME")
  if base and sys.platform != "darwin":
    return pathlib.Path(base) / "tilewright"
  try:
    home = pathlib.Path.home()
  except RuntimeError:  # users of containers may have none
    return pathlib.Path(tempfile.gettempdir()) / f"tilewright-{os.geteuid()}"
  return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "tilewright"


def limit() -> int:
  """The most bytes that entries may take together: `TILEWRIGHT_CACHE_MIB` MiB, or 2 GiB."""
  chosen = os.environ.get("TILEWRIGHT_CACHE_MIB")
  if not chosen:
    return _LIMIT_MIB << 20
  if not chosen.isdecimal():
    raise ValueError(f"TILEWRIGHT_CACHE_MIB must be a whole number of MiB, got {chosen!r}.")
  return int(chosen) << 20


def key(*parts: str) -> str:
  """The hash of everything that an entry depends on."""
  digest = hashlib.sha256()
  for part in parts:
    digest.update(len(part).to_bytes(8, "little"))
    digest.update(part.encode())
  return digest.hexdigest()


# --- entries -----------------------------------------------------------------------------------------------------


def get(kind: str, name: str) -> bytes | None:
  """The contents of an entry, or None if there is none that can be trusted."""
  try:
    with _opened(kind) as (path, top, folder):
      try:
        sealed = trust.read(folder, name, touch=True)
        return trust.unseal(trust.key(top), kind, name, sealed=sealed)
      except Distrusted as e:
        _warn(f"The cache entry {path / kind / name} {e}. It will be made anew.")
        with contextlib.suppress(OSError):
          os.unlink(name, dir_fd=folder)
  except OSError:
    pass
  return None


def put(kind: str, name: str, contents: bytes) -> None:
  """Store an entry. If that is not possible, warn and continue."""
  try:
    with _opened(kind, create=True) as (path, top, folder):
      trust.write(folder, name, trust.seal(trust.key(top), kind, name, contents=contents))
    _written(path, len(contents))
  except OSError as e:
    _warn(f"Compiled code could not be kept in {directory()}: {e}. Set TILEWRIGHT_CACHE_DIR.")


@contextlib.contextmanager
def _opened(kind: str, *, create: bool = False) -> Iterator[tuple[pathlib.Path, int, int]]:
  """The path of the cache, and descriptors of it and of the folder of a kind."""
  wanted = directory()
  path = _instead.get(wanted, wanted)
  with contextlib.ExitStack() as stack:
    try:
      opened = _enter(stack, path, kind, create)
    except Distrusted as e:
      path = _private(wanted, str(e))
      opened = _enter(stack, path, kind, create)
    except OSError as e:
      if e.errno not in _UNUSABLE:
        raise
      path = _private(wanted, f"cannot be used ({e.strerror})")
      opened = _enter(stack, path, kind, create)
    yield path, *opened


def _enter(stack: contextlib.ExitStack, path: pathlib.Path, kind: str, create: bool) -> tuple[int, int]:
  top = stack.enter_context(trust.directory(path, create=create))
  return top, stack.enter_context(trust.directory(kind, within=top, create=create))


_UNUSABLE = (errno.EACCES, errno.EPERM, errno.EROFS)
_lock = threading.RLock()
_instead: dict[pathlib.Path, pathlib.Path] = {}  # untrusted directories, and their replacements


def _private(wanted: pathlib.Path, why: str) -> pathlib.Path:
  """A temporary directory for this process in the place of one that cannot be trusted or used."""
  with _lock:
    if wanted not in _instead:
      _warn(
        f"The cache directory {wanted} {why}. What it holds may be another user's code and is not used; compiled code is not kept "
        "beyond this process. Make it a directory that only you can write to (chmod 700), or set TILEWRIGHT_CACHE_DIR."
      )
      made = pathlib.Path(tempfile.mkdtemp(prefix="tilewright-"))
      atexit.register(_remove, made, os.getpid())
      _instead[wanted] = made
    return _instead[wanted]


def _remove(folder: pathlib.Path, owner: int) -> None:
  if os.getpid() == owner:  # a process that was forked from it leaves it alone
    shutil.rmtree(folder, ignore_errors=True)


def _warn(message: str) -> None:
  warnings.warn(message, CacheWarning, stacklevel=3)


# --- keeping it small --------------------------------------------------------------------------------------------

_since: dict[pathlib.Path, int] = {}  # bytes that this process has written since it last looked at all entries


def _written(path: pathlib.Path, nbytes: int) -> None:
  """Look at all entries when this process writes for the first time, and whenever it has written a good part of the limit since."""
  with _lock:
    known = _since.get(path)
    _since[path] = (known or 0) + nbytes + 4096
    if known is not None and _since[path] < limit() // 16:
      return
    _since[path] = 0
  _trim(path, limit())


def _trim(path: pathlib.Path, max_bytes: int) -> None:
  """Remove files that killed processes and earlier versions left, then the least recently used entries beyond `max_bytes` in all."""
  with contextlib.suppress(OSError, Distrusted), trust.directory(path) as top:
    found = []
    for kind, folder in _kinds(top):
      with folder as opened:
        found += [(kind, own) for own in _entries(opened)]
    total = sum(own.nbytes for _, own in found)
    if total <= max_bytes * _FULL:
      return
    for kind, own in sorted(found, key=lambda each: each[1].used):
      with contextlib.suppress(OSError, Distrusted), trust.directory(kind, within=top) as opened:
        os.unlink(own.name, dir_fd=opened)
      total -= own.nbytes
      if total <= max_bytes * _LEFT:
        return


@dataclasses.dataclass(frozen=True)
class _Entry:
  name: str
  nbytes: int  # on disk
  used: float  # when it was last read or written


def _kinds(top: int) -> Iterator[tuple[str, contextlib.AbstractContextManager[int]]]:
  with os.scandir(top) as each:
    names = [own.name for own in each if own.is_dir(follow_symlinks=False)]
  for name in names:
    yield name, trust.directory(name, within=top)


def _entries(folder: int) -> list[_Entry]:
  """What a folder holds, less what should not be there, which is removed."""
  found = []
  with os.scandir(folder) as each:
    for own in each:
      with contextlib.suppress(OSError):
        seen = own.stat(follow_symlinks=False)
        if own.name.startswith(trust.TEMPORARY):
          if time.time() - seen.st_mtime > _ABANDONED:
            os.unlink(own.name, dir_fd=folder)
        elif stat.S_ISDIR(seen.st_mode):
          if _OLD_FOLDER.fullmatch(own.name):
            shutil.rmtree(own.name, dir_fd=folder)
        else:
          found.append(_Entry(own.name, seen.st_blocks * 512, seen.st_mtime))
  return found


# --- for people --------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Info:
  """What the cache holds: entries and bytes by kind; `refused` says why the directory is not used."""

  directory: pathlib.Path
  limit: int
  kinds: dict[str, tuple[int, int]]
  refused: str | None = None

  @property
  def entries(self) -> int:
    return sum(count for count, _ in self.kinds.values())

  @property
  def nbytes(self) -> int:
    return sum(nbytes for _, nbytes in self.kinds.values())


def info() -> Info:
  """What the cache holds now."""
  path = directory()
  about = functools.partial(Info, path, limit())
  kinds: dict[str, tuple[int, int]] = {}
  try:
    with trust.directory(path) as top:
      if not os.access(path, os.W_OK):
        return about({}, "cannot be written")
      for kind, folder in _kinds(top):
        with folder as opened:
          found = _entries(opened)
          kinds[kind] = (len(found), sum(own.nbytes for own in found))
  except FileNotFoundError:
    pass
  except (Distrusted, OSError) as e:
    return about({}, str(e))
  return about(kinds)


def clear() -> Info:
  """Remove all entries; returns what the cache held."""
  before = info()
  if before.refused is None and before.kinds:
    with trust.directory(before.directory) as top:
      for kind in before.kinds:
        shutil.rmtree(kind, ignore_errors=True, dir_fd=top)
  return before
