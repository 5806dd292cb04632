"""Plans: what the compiler decided for a kernel, as data.

A `Pipeline` says how the operands of a product along the grid come to shared memory, and what multiplies them. The compiler makes one by
its tables; a user gives one, or parts of one, with `nvgpu.CompilerParams(pipeline=…)`; the tuner chooses among several of these:

    Pipeline(stages=3, product="mma.sync")           three stages, products by warps; everything else as the compiler likes

A `Plan` says everything that was decided, for people: `tilewright ptx --show plan` prints it.

    pipeline of products by wgmma, 128 x 128 x 64
      1 warpgroup: copy (40 registers), 2 warpgroups: multiply (232 registers)
      args[0]: 7 stages of 16,384 bytes by TMA
      args[1]: 7 stages of 16,384 bytes by TMA
      the grid's last two parallel dimensions are taken in groups of rows, for L2
      outputs are put together in the stages and stored by TMA
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from tilewright.tile.pipeline import Pipeline

# A plan for a problem (`matmul_plans.Problem`), or None.
Planner = Callable[[Any], Any]
_PLANNERS: contextvars.ContextVar[tuple[Planner, ...]] = contextvars.ContextVar("planners", default=())


@contextlib.contextmanager
def planning(planner: Planner) -> Iterator[None]:
  """Let another planner come before those of the compiler: for tests and experiments. What is compiled meanwhile is not found by key."""
  token = _PLANNERS.set((planner, *_PLANNERS.get()))
  try:
    yield
  finally:
    _PLANNERS.reset(token)


def planners() -> tuple[Planner, ...]:
  """The planners that come before those of the compiler."""
  return _PLANNERS.get()


@dataclasses.dataclass(frozen=True)
class Role:
  """The work of some warps of a CTA."""

  work: str
  warps: int
  registers: int | None = None  # of a thread, where warpgroups exchange them

  def __str__(self) -> str:
    groups, rest = divmod(self.warps, 4)
    count, unit = (self.warps, "warp") if rest or groups == 0 else (groups, "warpgroup")
    own = "" if self.registers is None else f" ({self.registers} registers)"
    return f"{count} {unit}{'' if count == 1 else 's'}: {self.work}{own}"


@dataclasses.dataclass(frozen=True)
class Staged:
  """What is brought to shared memory ahead of its use, or stays there."""

  name: str
  engine: str
  stages: int
  nbytes: int  # of one stage

  def __str__(self) -> str:
    stages = "one block" if self.stages == 1 else f"{self.stages} stages"
    return f"{self.name}: {stages} of {self.nbytes:,} bytes by {self.engine}"


@dataclasses.dataclass(frozen=True)
class Plan:
  """What was decided for a kernel."""

  form: str  # what kind of code
  roles: tuple[Role, ...]
  staged: tuple[Staged, ...] = ()
  pipeline: Pipeline | None = None  # of a product along the grid
  notes: tuple[str, ...] = ()  # order of CTAs, clusters, layouts

  def lines(self) -> list[str]:
    return [self.form, ", ".join(map(str, self.roles)), *map(str, self.staged), *self.notes]

  def __str__(self) -> str:
    return "\n  ".join(self.lines())
