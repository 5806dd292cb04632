"""Processes that share memory: who they are, what they tell each other before, and who has ended.

texts = meeting.exchange("tilewright/memory/0-1", (0, 1), "pid", "4711")     the text of each, by the store of jax.distributed
meeting.watch({1: 4712}, lambda number, pid: ...)                            called, on a thread, when a process ends
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax

from tilewright import errors
from tilewright.runtime import _jax

Exchange = Callable[[str, str], list[str]]  # a name for the step and this process's text, to the texts of all


class NotSharedError(errors.UnsupportedFeatureError):
  """Devices whose memory cannot be shared."""


def timeout() -> float:
  """How long a device is waited for, in seconds."""
  return float(os.environ.get("TILEWRIGHT_TIMEOUT", "40"))


def devices_of_program(program: Any) -> tuple[Any, ...] | None:
  """The devices that run a program, given JAX's context of its module; None if they are not known."""
  context = getattr(program, "axis_context", None)
  mesh = getattr(context, "mesh", None)
  if isinstance(mesh, jax.sharding.Mesh):
    return tuple(mesh.devices.flat)
  return getattr(context, "device_assignment", None)


def exchange(prefix: str, processes: Iterable[int], step: str, mine: str) -> list[str]:
  """What each of some processes says at a step; all of them call it."""
  client, own = _jax.distributed.global_state.client, jax.process_index()
  client.key_value_set(f"{prefix}/{step}/{own}", mine)
  found = []
  for p in processes:
    try:
      found.append(client.blocking_key_value_get(f"{prefix}/{step}/{p}", int(1000 * timeout())))
    except Exception as e:
      raise errors.DeadlockError(
        f"Process {p} has not come within {timeout():.0f} s to a program that process {own} lowers for both. Let all processes run the "
        "same programs in the same order."
      ) from e
  return found


def watch(pids: Mapping[int, int], ended: Callable[[int, int], None]) -> None:
  """Call a function with the number of a process and its pid when it ends; the OS says so at once (pidfd)."""
  poll, names = select.poll(), {}
  for number, pid in pids.items():
    try:
      descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
      ended(number, pid)
      continue
    poll.register(descriptor, select.POLLIN)
    names[descriptor] = number, pid
  threading.Thread(target=_sleep, args=(poll, names, ended), name="tilewright processes", daemon=True).start()


def _sleep(poll: Any, names: dict[int, tuple[int, int]], ended: Callable[[int, int], None]) -> None:
  while names:
    for descriptor, _ in poll.poll():
      poll.unregister(descriptor)
      os.close(descriptor)
      ended(*names.pop(descriptor))


__all__ = ["Exchange", "NotSharedError", "devices_of_program", "exchange", "timeout", "watch"]
