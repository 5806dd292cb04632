"""Loops that poll semaphores: others make progress while they do, and one that can never end is an error.

Where kernels run side by side a poll yields, and after a while asks whether others can still signal (`remote_ops`, `warpgroups`). Where
everything runs in one thread, nothing can change a semaphore during a loop that only waits (`tile.polling.WAIT`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.target.cpu import effects
from tilewright.target.llvm import control
from tilewright.target.llvm.loops import i64
from tilewright.target.llvm.types import I64
from tilewright.tile import polling
from tilewright.tile.ir import Op

_ENOUGH = 1000  # trips: more than it takes until a condition has seen what a semaphore has


class AloneInItsThread:
  """Polling where no other code runs until the loop ends."""

  def begin(self, code: Any, kind: str) -> Any:
    if kind != polling.WAIT:
      return None
    count = code.allocate((1,), np.int64).pointer
    code.b.store(i64(0), count)
    return count

  def poll(self, code: Any, count: Any, kind: str, op: Op) -> None:
    if count is None:
      return
    trips = code.b.add(code.b.load(count, typ=I64), i64(1))
    code.b.store(trips, count)
    effects.fail_unless(
      code,
      code.b.icmp_signed("<", trips, i64(_ENOUGH)),
      f"DeadlockError: The loop that reads a semaphore at {op.loc} can never end: it waits for a count, and nothing else of this kernel "
      "runs until it ends. Signal before the loop, or let devices or cores signal each other.",
    )

  def end(self, code: Any, state: Any) -> None:
    pass


def loop(code: Any, op: Op) -> None:
  """A `while` loop."""
  kind = polling.kind_of(op)
  if kind is None:
    control.STATEMENTS["while"](code, op)
    return
  code.polls.append((code.polling.begin(code, kind), kind))
  control.STATEMENTS["while"](code, op)
  state, _ = code.polls.pop()
  code.polling.end(code, state)


def read(code: Any, op: Op) -> None:
  """`read_semaphore`, before the semaphore is read."""
  if code.polls:
    state, kind = code.polls[-1]
    code.polling.poll(code, state, kind, op)


__all__ = ["AloneInItsThread", "loop", "read"]
