"""Programs of several processes: a module that is run once for each, and what each printed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence


def run(
  module: str, count: int, *flags: str, environment: Mapping[str, str], killed: int = -1, timeout: float = 120
) -> list[str]:
  """The output of `python -m MODULE --port P --processes COUNT --kill KILLED --number I` for each I, all at the same time."""
  with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
  command: Sequence[str] = [sys.executable, "-m", module, "--port", str(port), "--processes", str(count), *flags]
  children = [
    subprocess.Popen(
      [*command, "--kill", str(killed), "--number", str(i)],
      env=os.environ | environment,
      text=True,
      stdout=subprocess.PIPE,
      stderr=subprocess.STDOUT,
    )
    for i in range(count)
  ]
  try:
    return [child.communicate(timeout=timeout)[0] for child in children]
  finally:
    for each in children:
      each.kill()
