"""A cache on disk for compiled code, shared by all processes of a user.

An entry is a file named after the hash of everything it depends on. It is written to a temporary name first and then
renamed, so that no one ever sees half of it; it begins with the hash of its contents, so that a damaged entry is
noticed, reported, and ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import sys
import tempfile
import warnings

from tilewright.errors import TilewrightWarning

_MAGIC = b"tilewright 1\n"


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
    return pathlib.Path(tempfile.gettempdir()) / f"tilewright-{os.getuid()}"
  return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "tilewright"


def key(*parts: str) -> str:
  """The hash of everything that an entry depends on."""
  digest = hashlib.sha256()
  for part in parts:
    digest.update(len(part).to_bytes(8, "little"))
    digest.update(part.encode())
  return digest.hexdigest()


def _path(kind: str, name: str) -> pathlib.Path:
  return directory() / kind / name[:2] / name


def get(kind: str, name: str) -> bytes | None:
  """The contents of an entry, or None if there is none that can be trusted."""
  path = _path(kind, name)
  try:
    raw = path.read_bytes()
  except OSError:
    return None
  head = len(_MAGIC) + 32
  contents = raw[head:]
  if raw[: len(_MAGIC)] != _MAGIC or raw[len(_MAGIC) : head] != hashlib.sha256(contents).digest():
    warnings.warn(f"The cache entry {path} is damaged and will be made anew.", CacheWarning, stacklevel=2)
    with contextlib.suppress(OSError):
      path.unlink()
    return None
  return contents


def put(kind: str, name: str, contents: bytes) -> None:
  """Keep an entry. If that is not possible, warn and go on."""
  path = _path(kind, name)
  try:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
      with os.fdopen(handle, "wb") as file:
        file.write(_MAGIC + hashlib.sha256(contents).digest() + contents)
      os.replace(temporary, path)
    except BaseException:
      with contextlib.suppress(OSError):
        os.unlink(temporary)
      raise
  except OSError as e:
    warnings.warn(
      f"Compiled code could not be kept in {directory()}: {e}. Set TILEWRIGHT_CACHE_DIR.", CacheWarning, stacklevel=2
    )
