"""A content-addressed cache of native code: in this process, else on disk, else compiled now.

    code = CodeCache("cpu", link)        `link(name, bytes)` loads code into memory
    code.find(name)                 it, if this process or the disk has the code
    code.make(name, build)          it, of `build()`, which is kept for the next process

A name is the hash of everything the code depends on (`runtime.cache.key`). Many threads and many processes may ask at once: within a
process the same code is linked once.

An exception may come at any moment, as a KeyboardInterrupt does. So what was linked is noted before XLA is told of it (`register`, which
may be repeated for the same code, and for nothing else of that name), and what is freed is forgotten before.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from tilewright.runtime import cache, linking

Linked = TypeVar("Linked")
_FIRST_SWEEP = 128


class CodeCache(Generic[Linked]):
  """The code of one target. `kind` is its folder in the cache on disk.

  `register` tells XLA of code that was linked. `use` makes what the caller gets (never None), while nothing can free the code. Where code
  can be freed, `free` does so if nothing uses it, and says whether that is so; all are asked whenever there are twice as many as last time.
  """

  def __init__(
    self,
    kind: str,
    link: Callable[[str, bytes], Linked],
    register: Callable[[Linked], None] = lambda _: None,
    use: Callable[[Linked], Any] = lambda linked: linked,
    free: Callable[[Linked], bool] | None = None,
  ):
    self._kind, self._link, self._register, self._use, self._free = kind, link, register, use, free
    self._lock = threading.Lock()
    self._linked: dict[str, Linked] = {}
    self._ready: set[str] = set()  # those that XLA knows
    self._next_sweep = _FIRST_SWEEP

  def find(self, name: str) -> Any | None:
    """What `use` gives for code that this process or the disk has, else None."""
    with self._lock:
      if name not in self._linked:
        code = cache.get(self._kind, name)
        if code is None:
          return None
        try:
          self._add(name, code)
        except linking.BadObjectError as e:
          warnings.warn(f"{e} It was found in the cache and is made anew.", cache.CacheWarning, stacklevel=2)
          return None
      return self._get(name)

  def make(self, name: str, build: Callable[[], bytes]) -> Any:
    found = self.find(name)
    if found is not None:
      return found
    code = build()
    cache.put(self._kind, name, code)
    with self._lock:
      if name not in self._linked:
        self._add(name, code)
      return self._get(name)

  def full_name(self, beginning: str) -> str:
    """The name of linked code that begins so; empty if there is none, or more than one."""
    with self._lock:
      found = [name for name in self._linked if name.startswith(beginning)]
    return found[0] if len(found) == 1 else ""

  def _add(self, name: str, code: bytes) -> None:
    if self._free is not None and len(self._linked) >= self._next_sweep:
      self._sweep(self._free)
    self._linked[name] = self._link(name, code)

  def _get(self, name: str) -> Any:
    linked = self._linked[name]
    if name not in self._ready:
      self._register(linked)
      self._ready.add(name)
    return self._use(linked)

  def _sweep(self, free: Callable[[Linked], bool]) -> None:
    for name in list(self._linked):
      linked = self._linked.pop(name)
      self._ready.discard(name)
      if not free(linked):
        self._linked[name] = linked
    self._next_sweep = max(_FIRST_SWEEP, 2 * len(self._linked))
