"""Native code by what it is made of: in this process, else on disk, else made now.

    code = Kept("cpu", load)        `load(name, bytes)` gives whatever stands for code that XLA can call
    code.find(name)                 that, if this process or the disk has the code
    code.make(name, build)          that, of `build()`, which is kept for the next process

A name is the hash of everything the code depends on (`runtime.cache.key`). Many threads and many processes may ask at once: within a
process the same code is loaded once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from tilewright.runtime import cache

Loaded = TypeVar("Loaded")


class Kept(Generic[Loaded]):
  """The code of one target. `kind` is its folder in the cache on disk."""

  def __init__(self, kind: str, load: Callable[[str, bytes], Loaded]):
    self._kind, self._load = kind, load
    self._lock = threading.Lock()
    self._loaded: dict[str, Loaded] = {}

  def find(self, name: str) -> Loaded | None:
    with self._lock:
      if name in self._loaded:
        return self._loaded[name]
      code = cache.get(self._kind, name)
      return None if code is None else self._add(name, code)

  def make(self, name: str, build: Callable[[], bytes]) -> Loaded:
    found = self.find(name)
    if found is not None:
      return found
    code = build()
    cache.put(self._kind, name, code)
    with self._lock:
      return self._loaded[name] if name in self._loaded else self._add(name, code)

  def _add(self, name: str, code: bytes) -> Loaded:
    loaded = self._loaded[name] = self._load(name, code)
    return loaded
