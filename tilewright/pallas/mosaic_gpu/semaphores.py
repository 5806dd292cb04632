"""Semaphores, with the arguments that Mosaic GPU has for them. Every signal reaches all of the machine, whatever `memory_scope` says."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax

from tilewright import errors
from tilewright.pallas import semaphores
from tilewright.tile.memory import SemaphoreType

__all__ = ["SemaphoreSignal", "SemaphoreType", "semaphore_signal", "semaphore_signal_parallel", "semaphore_wait"]

_SCOPES = ("sys", "gpu")


def _check_scope(what: str, memory_scope: str) -> None:
  if memory_scope not in _SCOPES:
    raise errors.MemorySpaceError(f"plgpu.{what}: memory_scope: expected 'sys' or 'gpu', got {memory_scope!r}.")


def semaphore_signal(
  semaphore: Any, inc: int | jax.Array = 1, *, device_id: Any = None, memory_scope: str = "sys"
) -> None:
  """Add to a semaphore: see `pl.semaphore_signal`."""
  _check_scope("semaphore_signal", memory_scope)
  semaphores.semaphore_signal(semaphore, inc, device_id=device_id)


def semaphore_wait(
  semaphore: Any, value: int | jax.Array = 1, *, decrement: bool = True, memory_scope: str = "sys"
) -> None:
  """Wait for a semaphore: see `pl.semaphore_wait`."""
  _check_scope("semaphore_wait", memory_scope)
  semaphores.semaphore_wait(semaphore, value, decrement=decrement)


@dataclasses.dataclass(frozen=True)
class SemaphoreSignal:
  """A signal for `semaphore_signal_parallel`."""

  ref: Any
  device_id: Any = dataclasses.field(kw_only=True)
  inc: int | jax.Array = dataclasses.field(kw_only=True, default=1)


def semaphore_signal_parallel(*signals: SemaphoreSignal) -> None:
  """Send several signals, in any order."""
  for signal in signals:
    semaphores.semaphore_signal(signal.ref, signal.inc, device_id=signal.device_id)
