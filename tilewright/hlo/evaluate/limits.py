"""Limits of an evaluation: memory, steps and time.

A short text can require any amount of them: `f32[100000,100000] broadcast(…)` is 40 GB, `while(true)` does not end, and twenty
computations that each call the next one twice are a million calls. Every evaluation therefore has a budget, shared by its
devices, and ends with an `HloEvaluateError` that names the instruction and the limit to raise:

    hlo.evaluate(module, x, limits=hlo.EvaluateLimits(seconds=3600))

A step is one instruction on one device, or one position of a window. Memory counts live arrays of a mebibyte and more,
and is checked before a result is allocated; views and arguments are not counted.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tilewright.hlo.errors import HloEvaluateError
from tilewright.hlo.ir import Instruction

_LARGE = 1 << 20  # smaller arrays are not tracked
_OPERATIONS_PER_SECOND = 1e11  # more than NumPy does: what cannot end in time by this measure cannot end in time


@dataclass(frozen=True, slots=True)
class EvaluateLimits:
  """Limits of one evaluation, over all its devices."""

  bytes: float = 8 * 2.0**30
  steps: float = 20_000_000
  seconds: float = 300.0


class Budget:
  """How much of the limits is used. `describe` writes an instruction for messages."""

  def __init__(self, limits: EvaluateLimits, describe: Callable[[Instruction], str]) -> None:
    self.limits = limits
    self._describe = describe
    self._steps = 0
    self._bytes = 0
    self._deadline = time.monotonic() + limits.seconds

  def step(self, instruction: Instruction) -> None:
    """One more step."""
    self._steps += 1
    if self._steps > self.limits.steps:
      self._exceeded(instruction, f"more than {self.limits.steps:g} steps", "steps")
    if self._steps & 15 == 0 and time.monotonic() > self._deadline:
      self._exceeded(instruction, f"more than {self.limits.seconds:g} s", "seconds")

  def steps(self, instruction: Instruction, count: float) -> None:
    """Refuses an instruction that takes more steps than there are left, before it starts."""
    if self._steps + count > self.limits.steps:
      self._exceeded(instruction, f"more than {self.limits.steps:g} steps (this one takes {count:.3g})", "steps")

  def operations(self, instruction: Instruction, count: float) -> None:
    """Refuses arithmetic that cannot end in time."""
    if count > _OPERATIONS_PER_SECOND * self.limits.seconds:
      self._exceeded(instruction, f"more than {self.limits.seconds:g} s ({count:.3g} operations)", "seconds")

  def reserve(self, instruction: Instruction, size: float) -> None:
    """Refuses a result that does not fit, before it is made."""
    if size > _LARGE and self._bytes + size > self.limits.bytes:
      self._exceeded(
        instruction,
        f"{(self._bytes + size) / 2**30:.3g} GiB, of {self.limits.bytes / 2**30:.3g} GiB that it may use",
        "bytes",
      )

  def track(self, value: object) -> None:
    """Counts new arrays for as long as they are alive."""
    if isinstance(value, tuple):
      for part in value:
        self.track(part)
    elif isinstance(value, np.ndarray) and value.nbytes >= _LARGE and value.base is None:
      self._bytes += value.nbytes
      weakref.finalize(value, self._release, value.nbytes)

  def _release(self, size: int) -> None:
    self._bytes -= size

  def _exceeded(self, instruction: Instruction, what: str, limit: str) -> None:
    raise HloEvaluateError(
      f"the evaluation needs {what}; pass limits=EvaluateLimits({limit}=…) to allow more\n  at {self._describe(instruction)}"
    )
