"""Progress lines on stderr for long work, so that it does not look like a hang."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator

PATIENCE = 5.0  # seconds until the first line; the next ones come after twice the time each


@contextlib.contextmanager
def announced(what: str) -> Iterator[None]:
  """Say on stderr what is under way once it has taken a while, and again at growing intervals."""
  began, done = time.monotonic(), threading.Event()

  def say() -> None:
    wait = PATIENCE
    while not done.wait(wait):
      elapsed = time.monotonic() - began
      print(f"tilewright: {what} ({elapsed:.0f} s so far)", file=sys.stderr, flush=True)
      wait = elapsed

  watcher = threading.Thread(target=say, name="tilewright-progress", daemon=True)
  watcher.start()
  try:
    yield
  finally:
    done.set()
    watcher.join()
