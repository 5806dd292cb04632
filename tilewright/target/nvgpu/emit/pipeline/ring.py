"""A ring of stages: the index of the next stage, and the parity to wait for on its barrier.

    Turns(b, 3)        stage   0 1 2 0 1 2 0 …
                       parity  0 0 0 1 1 1 0 …

Counting from use to use avoids a division, which would be on the critical path: nothing else is computed between two barriers.
"""

from __future__ import annotations

import dataclasses

from llvmlite import ir

from tilewright.target.llvm.types import I32


@dataclasses.dataclass(frozen=True)
class StageUse:
  """One use of a stage. Both are i32."""

  stage: ir.Value
  parity: ir.Value


def nth(b: ir.IRBuilder, number: ir.Value, stages: int) -> StageUse:
  """The n-th use of a ring of stages."""
  return StageUse(b.urem(number, I32(stages)), b.and_(b.udiv(number, I32(stages)), I32(1)))


class StageUses:
  """The uses of a ring of stages, one after the other, from the `first` on. What is counted lives in registers.

  Where it `repeats`, code that is run again begins with the stage that it began with before: then stages are numbers.
  """

  def __init__(self, b: ir.IRBuilder, stages: int, first: int = 0, repeats: bool = False):
    self.b, self.stages = b, stages
    self.known = first % stages if repeats else None
    with b.goto_entry_block():
      self.stage, self.parity = b.alloca(I32), b.alloca(I32)
    b.store(I32(first % stages), self.stage)
    b.store(I32(first // stages % 2), self.parity)

  def now(self) -> StageUse:
    stage = I32(self.known) if self.known is not None else self.b.load(self.stage, typ=I32)
    return StageUse(stage, self.b.load(self.parity, typ=I32))

  def advance(self, by: int = 1) -> None:
    """Advance by a number of uses, at most the number of stages."""
    b, now = self.b, self.now()
    if self.known is not None:
      is_over, self.known = divmod(self.known + by, self.stages)
      b.store(b.xor(now.parity, I32(is_over)), self.parity)
      return
    further = b.add(now.stage, I32(by))
    is_again = b.icmp_unsigned(">=", further, I32(self.stages))
    b.store(b.select(is_again, b.sub(further, I32(self.stages)), further), self.stage)
    b.store(b.xor(now.parity, b.zext(is_again, I32)), self.parity)

  def take(self) -> StageUse:
    """The use that is next; the one after it is next then."""
    now = self.now()
    self.advance()
    return now
