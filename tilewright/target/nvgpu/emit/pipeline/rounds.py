"""Rounds whose data are copied to stages of shared memory ahead of time, by threads that also use them.

    rounds.begin(0)                  with three stages: rounds 0 and 1 are asked for
    for step in …:
      rounds.enter(step)             waits for what was asked for this round; asks for step + 2, in the stage of step - 1
      …                              reads its stage

The threads wait for each other in between: what each of them copied is there for all, and no one reads the stage that is filled next.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from tilewright.target.llvm.loops import i64, if_then
from tilewright.target.nvgpu.emit.units import cp_async, tma


@dataclasses.dataclass(frozen=True)
class Rounds:
  """`fetch(round, …)` starts the copies of a round before `end`; all threads pass `barrier()`."""

  b: ir.IRBuilder
  stages: int
  end: Any  # an int, or an i64
  fetch: Callable[..., None]
  barrier: Callable[[], None]
  is_copied: bool = True  # by cp.async: the copies of a round are a group
  is_fenced: bool = False  # for tensor cores that read what threads copied
  arrive: Callable[[ir.Value], None] = lambda step: None  # waits for other copies of a round

  def begin(self, first: Any, *more: Any) -> None:
    """Ask for the first rounds; `more` is for the very first."""
    for ahead in range(self.stages - 1):
      self.request(first + ahead if isinstance(first, int) else self.b.add(first, i64(ahead)), *(() if ahead else more))

  def request(self, number: Any, *more: Any, is_last: bool = True) -> None:
    """Start the copies of a round, if there is one; `is_last` if no more of them follow."""
    if not isinstance(number, int) or not isinstance(self.end, int):
      with if_then(self.b, self.b.icmp_signed("<", number, i64(self.end))):
        self.fetch(number, *more)
    elif number < self.end:
      self.fetch(i64(number), *more)
    if self.is_copied and is_last:
      cp_async.commit(self.b)

  def wait(self, step: ir.Value) -> None:
    """Until the data of a round are there, and those that are to be replaced are no longer read."""
    self.arrive(step)
    if self.is_copied:
      cp_async.wait(self.b, self.stages - 2)
    if self.is_fenced:
      tma.fence_writes(self.b)
    self.barrier()

  def later(self, step: ir.Value) -> ir.Value:
    """The round that is asked for in a round."""
    return self.b.add(step, i64(self.stages - 1))

  def enter(self, step: ir.Value) -> None:
    self.wait(step)
    self.request(self.later(step))
