"""Python's search for garbage, put off while objects are made that soon go all together.

    with garbage.postponed():
      text = str(module)      # an IR of many thousand small objects that point to each other, and none of them is used afterwards

Otherwise the IR of a kernel grows old while it is made, and old objects are what full searches wait for: those go through the whole heap of
the process, JAX's included, and took a twelfth of the time of compiling.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def postponed() -> Iterator[None]:
  """No search begins inside, unless another thread asks for it. Where none would begin anyway, that stays so."""
  was_enabled = gc.isenabled()
  gc.disable()
  try:
    yield
  finally:
    if was_enabled:
      gc.enable()
