"""What a user may say of the pipeline of a matrix product along the grid: see `Pipeline`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tilewright import errors

WGMMA, MMA_SYNC = "wgmma", "mma.sync"
TMA, CP_ASYNC, THREADS, REGISTERS = "TMA", "cp.async", "threads", "registers"
_PRODUCTS = (WGMMA, MMA_SYNC)
# Copies of an operand: TMA; all threads by cp.async; threads that load or compute it and store it to shared memory; or it is computed in
# the registers of those who multiply.
_ENGINES = (TMA, CP_ASYNC, THREADS, REGISTERS)
_MAX_STAGES = 32


@dataclasses.dataclass(frozen=True)
class Pipeline:
  """How the operands of a product come and what multiplies them. None leaves a decision to the compiler.

  - `stages`: how many parts of both operands have a place in shared memory.
  - `engines`: what copies the left and the right operand: "TMA", "cp.async", "threads" (by way of registers), "registers" (the left one is
    computed by those who multiply).
  - `product`: "wgmma" or "mma.sync".
  """

  stages: int | None = None
  engines: Sequence[str | None] = (None, None)
  product: str | None = None

  def __post_init__(self) -> None:
    object.__setattr__(self, "engines", tuple(self.engines))
    if self.stages is not None and (not isinstance(self.stages, int) or not 2 <= self.stages <= _MAX_STAGES):
      raise errors.GridError(f"pipeline: stages: expected a number from 2 to {_MAX_STAGES}, got {self.stages!r}.")
    if len(self.engines) != 2 or any(engine not in (None, *_ENGINES) for engine in self.engines):
      raise errors.GridError(
        f"pipeline: engines: expected one for each operand, of {', '.join(_ENGINES)}, got {self.engines!r}."
      )
    if self.product not in (None, *_PRODUCTS):
      raise errors.GridError(f"pipeline: product: expected {' or '.join(_PRODUCTS)}, got {self.product!r}.")

  def allows(self, other: Pipeline) -> bool:
    """Whether another one has what this one says."""
    mine, others = (self.stages, self.product, *self.engines), (other.stages, other.product, *other.engines)
    return all(own is None or own == found for own, found in zip(mine, others, strict=True))

  def __str__(self) -> str:
    engines = ", ".join(engine or "any engine" for engine in self.engines)
    stages = "any number of" if self.stages is None else str(self.stages)
    return f"{self.product or 'any product'} of operands by {engines}, {stages} stages"
