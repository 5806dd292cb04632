"""The steps of a relayout inside of warps, as data, with what each does to the registers.

    Rename     the registers in another order, or some of them: free
    Choose     a thread keeps one of several registers, by a digit of its lane or warp
    Exchange   a register digit and a lane bit change places: half of the registers go through one butterfly shuffle
    Gather     a lane bit becomes a register digit: each thread gets its partner's registers too
    Permute    the bits of the lane in another order: every register through one indexed shuffle

A thread's registers are counted in elements. Shuffles move 32 bits, so elements that go the same way are packed.
"""

from __future__ import annotations

import dataclasses

SELECT, SHUFFLE = 1, 4  # cost in quarter cycles of an SM: 4 selects or one shuffle of a warp a cycle


@dataclasses.dataclass(frozen=True)
class Rename:
  """New register r is old register `source[r]`."""

  source: tuple[int, ...]

  def cost(self, bits: int) -> int:
    return 0


@dataclasses.dataclass(frozen=True)
class Choose:
  """New register r is old register `choices[r][d]`, where d is the digit `index // place % size` of the lane or warp."""

  input: str
  place: int
  choices: tuple[tuple[int, ...], ...]

  def cost(self, bits: int) -> int:
    return SELECT * sum(len(c) - 1 for c in self.choices)


@dataclasses.dataclass(frozen=True)
class Exchange:
  """With b the lane's bit `mask`: a thread sends `high` if b is 0 and `low` if it is 1, to the lane with the other b, and receives into
  the same register. `t = b ? low : high; t = shfl.bfly(t, mask); low = b ? t : low; high = b ? high : t`."""

  mask: int
  pairs: tuple[tuple[int, int], ...]  # (low, high)

  def cost(self, bits: int) -> int:
    return SHUFFLE * shuffles(len(self.pairs), bits) + 3 * SELECT * len(self.pairs)


@dataclasses.dataclass(frozen=True)
class Gather:
  """New register r is old register `source[r][0]` of the lane whose bit `mask` is `source[r][1]`, the others as in this lane.

  `t = shfl.bfly(old, mask)`, then each new register is `old` or `t` by the lane's own bit.
  """

  mask: int
  source: tuple[tuple[int, int], ...]

  def cost(self, bits: int) -> int:
    return SHUFFLE * shuffles(len(self.source) // 2, bits) + SELECT * len(self.source)


@dataclasses.dataclass(frozen=True)
class Permute:
  """Every register comes from lane `source[lane]`: bits moved, `(from, to)` for each bit of the source lane."""

  source: tuple[int, ...]
  registers: int

  def cost(self, bits: int) -> int:
    return SHUFFLE * shuffles(self.registers, bits)


Step = Rename | Choose | Exchange | Gather | Permute


def shuffles(elements: int, bits: int) -> int:
  """Shuffles of 32 bits for that many elements."""
  return -(-elements * bits // 32)
