"""Which thread of a block works on which elements of a tile.

A tile is cut into vectors of `lanes` neighbours along its last long dimension. Vectors are numbered row by row, and vector c belongs to
thread c % T, as that thread's step c // T: neighbouring threads touch neighbouring memory in every step. Where vectors have no power of two
that divides the dimension they shrink, down to single elements.

    shape (2, 64), 8 lanes, 8 threads: thread 3 has elements (0, 24..31) in step 0 and (1, 24..31) in step 1.
"""

from __future__ import annotations

import dataclasses
import math

from llvmlite import ir

from tilewright.target.llvm.loops import ZERO, Index
from tilewright.target.llvm.types import I32, I64

_MOST_REGISTERS = 64  # 32-bit registers a thread may spend on one value


@dataclasses.dataclass(frozen=True)
class Distribution:
  """The vectors of a shape, dealt out to the threads of a block."""

  shape: tuple[int, ...]
  lanes: int
  threads: int

  @property
  def axis(self) -> int | None:
    """The dimension along which vectors lie."""
    return max((a for a, d in enumerate(self.shape) if d > 1), default=None)

  @property
  def counts(self) -> tuple[int, ...]:
    """How many vectors there are along each dimension."""
    return tuple(d // self.lanes if a == self.axis else d for a, d in enumerate(self.shape))

  @property
  def vectors(self) -> int:
    return math.prod(self.counts)

  @property
  def steps(self) -> int:
    return -(-self.vectors // self.threads)

  @property
  def is_even(self) -> bool:
    """Whether every thread has a vector in every step."""
    return self.vectors % self.threads == 0

  @property
  def fits_registers(self) -> bool:
    return self.steps * self.lanes <= _MOST_REGISTERS

  def index(self, b: ir.IRBuilder, thread: ir.Value, step: int | ir.Value) -> list[Index]:
    """The elements of a thread in a step: the i-th lane is i further along the axis."""
    if isinstance(step, int):
      parts = _unravel(b, thread, self.threads, self.threads * step, self.counts)
    else:
      number = b.add(thread, b.mul(step, I32(self.threads)))
      parts = _unravel(b, number, self.threads * self.steps, 0, self.counts)
    found = []
    for a, part in enumerate(parts):
      wide = self.lanes if a == self.axis else 1
      if isinstance(part, int):
        found.append(Index(part * wide, 1 if wide > 1 else 0, wide) if part * wide or wide > 1 else ZERO)
      else:
        base = b.zext(b.mul(part, I32(wide)) if wide > 1 else part, I64)
        found.append(Index(base, 1 if wide > 1 else 0, wide))
    return found


def distribute(shape: tuple[int, ...], lanes: int, threads: int) -> Distribution:
  inner = max((d for d in shape if d > 1), default=1) if not shape else next((d for d in reversed(shape) if d > 1), 1)
  return Distribution(tuple(shape), math.gcd(inner, lanes), threads)


def _unravel(
  b: ir.IRBuilder, dynamic: ir.Value, bound: int, static: int, sizes: tuple[int, ...]
) -> list[int | ir.Value]:
  """`dynamic + static`, where 0 <= dynamic < bound, as an index of each dimension, keeping what is known without arithmetic."""
  found: list[int | ir.Value] = []
  number: ir.Value | None = dynamic if bound > 1 else None
  for position, size in reversed(list(enumerate(sizes))):
    if position == 0:
      size = max(size, bound + static)  # nothing is left over: what lies outside is masked by the caller
    if size == 1:
      found.append(0)
      continue
    if number is None:
      found.append(static % size)
      static //= size
      continue
    inside = static % size
    if inside + bound <= size:
      found.append(b.add(number, I32(inside)) if inside else number)
      number, static = None, static // size
    elif inside == 0 and bound % size == 0:
      found.append(b.urem(number, I32(size)))
      number, bound, static = b.udiv(number, I32(size)), bound // size, static // size
    else:
      whole = b.add(number, I32(static)) if static else number
      found.append(b.urem(whole, I32(size)))
      number, bound, static = b.udiv(whole, I32(size)), -(-(bound + static) // size), 0
  return found[::-1]
