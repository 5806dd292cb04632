"""Trust in files that are executed, or that decide what is executed.

    with trust.directory(path, create=True) as folder:      # a descriptor; Distrusted if another user could have put files there
      secret = trust.key(folder)                             # 32 bytes that only this user can read, made on first use
      trust.write(folder, "name", trust.seal(secret, "name", contents=code))
      trust.unseal(secret, "name", sealed=trust.read(folder, "name"))      # the code, or Distrusted

A directory is trusted if it is a directory and not a link, belongs to this user, and is writable by this user alone. A file is read only if
it is a regular file of such a directory with the same owner and mode, and of a sane size; it is opened without following links and without
waiting, so that a FIFO or a device neither blocks nor has an effect. Its contents are trusted if the HMAC is valid, which covers the names
under which they are requested: an entry that was copied to another name is refused like a forged one.

Everything goes through descriptors (`dir_fd`): what was checked is what is used, even if a path is renamed in between.
"""

from __future__ import annotations

import contextlib
import errno
import hmac
import os
import pathlib
import secrets
import stat
from collections.abc import Iterator

LARGEST = 1 << 28  # bytes of a file that is read at all
TEMPORARY = ".new-"  # the prefix of the names of files that are being written
_MAGIC = b"tilewright 2\n"
_KEY, _KEY_BYTES, _MAC_BYTES = "key", 32, 32
_NOT_FOLLOWED = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)


class Distrusted(Exception):
  """A file or directory that another user could have written, or that is not what it should be. The text says why."""


def _check(found: os.stat_result, *, private: bool = False) -> None:
  if found.st_uid != os.geteuid():
    raise Distrusted(f"belongs to the user {found.st_uid}, not to {os.geteuid()}")
  forbidden = 0o077 if private else 0o022
  if found.st_mode & forbidden:
    raise Distrusted(
      f"has the mode {stat.S_IMODE(found.st_mode):04o}, which lets other users {'in' if private else 'write'}"
    )


@contextlib.contextmanager
def directory(path: str | pathlib.Path, *, within: int | None = None, create: bool = False) -> Iterator[int]:
  """A descriptor of a directory that only this user can write to. One that is created is for this user alone."""
  if create:
    if within is None:
      pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
      os.mkdir(path, 0o700, dir_fd=within)
  try:
    opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=within)
  except OSError as e:
    if e.errno in _NOT_FOLLOWED:
      raise Distrusted("is a link, or no directory") from e
    raise
  try:
    _check(os.fstat(opened))
    yield opened
  finally:
    os.close(opened)


def read(folder: int, name: str, *, private: bool = False, touch: bool = False) -> bytes:
  """The contents of a file in a trusted directory. With `touch` its time becomes now."""
  try:
    opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
  except OSError as e:
    if e.errno in (*_NOT_FOLLOWED, errno.ENXIO):
      raise Distrusted("is no regular file") from e
    raise
  with os.fdopen(opened, "rb", buffering=0) as file:
    found = os.fstat(opened)
    if not stat.S_ISREG(found.st_mode):
      raise Distrusted("is no regular file")
    _check(found, private=private)
    if found.st_size > LARGEST:
      raise Distrusted(f"has {found.st_size} bytes, more than any entry ({LARGEST})")
    if touch:
      with contextlib.suppress(OSError):
        os.utime(opened)
    return file.read(found.st_size)


def write(folder: int, name: str, contents: bytes) -> None:
  """Put a file, as a whole, in the place of what has the name. Only this user can read it."""
  temporary = f"{TEMPORARY}{secrets.token_hex(8)}"
  try:
    _write_new(folder, temporary, contents)
    os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
  except BaseException:
    with contextlib.suppress(OSError):
      os.unlink(temporary, dir_fd=folder)
    raise


def _write_new(folder: int, name: str, contents: bytes) -> None:
  flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
  with os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb") as file:
    file.write(contents)


def key(folder: int) -> bytes:
  """The secret of a directory. It is made by whoever comes first; one that others could read is replaced, and seals with it are void."""
  for _ in range(2):
    try:
      found = read(folder, _KEY, private=True)
      if len(found) == _KEY_BYTES:
        return found
      raise Distrusted(f"has {len(found)} bytes, not {_KEY_BYTES}")
    except FileNotFoundError:
      _make_key(folder)
    except Distrusted:
      write(folder, _KEY, secrets.token_bytes(_KEY_BYTES))
  return read(folder, _KEY, private=True)


def _make_key(folder: int) -> None:
  """Of many processes that do this at once, all see the key of one: a link to a whole file is made, or fails because there is one."""
  temporary = f"{TEMPORARY}{secrets.token_hex(8)}"
  try:
    _write_new(folder, temporary, secrets.token_bytes(_KEY_BYTES))
    with contextlib.suppress(FileExistsError):
      os.link(temporary, _KEY, src_dir_fd=folder, dst_dir_fd=folder)
  finally:
    with contextlib.suppress(OSError):
      os.unlink(temporary, dir_fd=folder)


def _mac(secret: bytes, names: tuple[str, ...], contents: bytes) -> bytes:
  payload = b"".join(len(name.encode()).to_bytes(8, "little") + name.encode() for name in names)
  return hmac.digest(secret, len(names).to_bytes(8, "little") + payload + contents, "sha256")


def seal(secret: bytes, *names: str, contents: bytes) -> bytes:
  """What to write so that `unseal` believes it under the same names."""
  return _MAGIC + _mac(secret, names, contents) + contents


def unseal(secret: bytes, *names: str, sealed: bytes) -> bytes:
  head = len(_MAGIC) + _MAC_BYTES
  contents = sealed[head:]
  if sealed[: len(_MAGIC)] != _MAGIC or not hmac.compare_digest(
    sealed[len(_MAGIC) : head], _mac(secret, names, contents)
  ):
    raise Distrusted("is damaged, or was not written by this user under this name")
  return contents
