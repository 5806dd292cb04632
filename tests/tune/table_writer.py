"""A process that appends to the table and reads it, at the same time as others."""

from __future__ import annotations

import socket
import warnings

from tilewright.tune import processes, table
from tilewright.tune.keys import Key


def serve(sock: socket.socket) -> None:
  warnings.simplefilter("error")
  while True:
    who = processes.receive(sock)["who"]
    problems = 0
    for n in range(20):
      key = Key("kernel", f"{n % 5:024x}", f"x=f32[{n},{who}]", "device", "", "versions")
      table.append(table.Entry(key, {"n": n, "who": who, "padding": "x" * 3000}, 1e-3))
      problems += len(table.read().problems)
      table.matching(key.content)  # which would warn of a line that cannot be read
    processes.send(sock, {"problems": problems})
