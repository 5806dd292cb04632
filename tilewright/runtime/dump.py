"""`TILEWRIGHT_DUMP=dir` writes every stage of every kernel to a file with a readable name: `softmax_kernel-3f2a91/2-tile.txt`.

Where dumps are written, and with `TILEWRIGHT_VERIFY=1`, the tile IR is verified after each stage too.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import re
from collections.abc import Callable


def directory() -> pathlib.Path | None:
  """The directory of dumps, or None if dumps are disabled."""
  chosen = os.environ.get("TILEWRIGHT_DUMP")
  return pathlib.Path(chosen) if chosen else None


def wants_checks() -> bool:
  """Whether the tile IR is to be verified after each stage."""
  return directory() is not None or os.environ.get("TILEWRIGHT_VERIFY", "") not in ("", "0")


class Dump:
  """The dumps of one kernel. Its folder is named after the kernel and its first stage, so that runs can be compared."""

  def __init__(self, name: str, identity: str):
    root = directory()
    self.folder: pathlib.Path | None = None
    if root is not None:
      digest = hashlib.sha256(identity.encode()).hexdigest()[:6]
      self.folder = root / f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', name)}-{digest}"
      self.folder.mkdir(parents=True, exist_ok=True)
    self.count = 0

  def stage(self, name: str, text: Callable[[], str]) -> None:
    """Write a stage; its text is produced only if dumps are enabled."""
    if self.folder is None:
      return
    self.count += 1
    (self.folder / f"{self.count}-{name}").write_text(text())
