"""Postponing Python's garbage collection while short-lived objects are allocated.

    with garbage.postponed():
      text = str(module)      # an IR of many thousand small objects that point to each other, and none of them is used afterwards

Otherwise the IR of a kernel is promoted to the old generation while it is built, which triggers full collections: those traverse the
whole heap of the process, JAX's included, and took a twelfth of the compile time.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def postponed() -> Iterator[None]:
  """No collection starts inside, unless another thread requests it. Collection that is already disabled stays disabled."""
  was_enabled = gc.isenabled()
  gc.disable()
  try:
    yield
  finally:
    if was_enabled:
      gc.enable()
