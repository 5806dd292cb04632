"""Cache blocking of a contraction: sizes for which data is still in cache when it is reused, and registers are full.

    strips(1000, 14)           72 strips of rows: 64 of 14 and 8 of 13, and none of 6 that would leave registers idle
    cut(host, ...)             how many strips of A are packed at a time, and into how many parts K falls

A packed strip of A is multiplied with all panels of B, and a panel of B with all packed strips. The strips packed at a time may fill two
thirds of the L2; a panel of B takes its share beside them, and the rest is for C, which streams through. The longer the parts of K, the
less often C is read back and written again, so K is split only where a panel would be too large, and then into equal parts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from llvmlite import ir

from tilewright.target.cpu.hosts import Host
from tilewright.target.llvm.loops import add, for_range, i64, mul

_PANEL_SHARE = Fraction(1, 5)  # of L2 that a panel of B may take
_STRIPS_SHARE = Fraction(2, 3)  # and the strips of A that are packed at a time


@dataclasses.dataclass(frozen=True)
class Strips:
  """Rows cut into strips of two heights that differ by one: `tall` ones of `height` rows, then `short` ones."""

  height: int
  tall: int
  short: int = 0

  @property
  def count(self) -> int:
    return self.tall + self.short

  def first_row(self, b: ir.IRBuilder, number: Any) -> Any:
    """The row a strip begins with."""
    if not self.short:
      return mul(b, number, self.height)
    if isinstance(number, int):
      return number * self.height - max(0, number - self.tall)
    beyond = b.icmp_signed(">", number, i64(self.tall))
    lower = b.select(beyond, b.sub(number, i64(self.tall)), i64(0))
    return b.sub(b.mul(number, i64(self.height)), lower)

  def number(self, b: ir.IRBuilder, row: Any, rows: int) -> Any:
    """The strip of so many rows that begins with a row."""
    if isinstance(row, int):
      return row // rows if rows == self.height else (row - self.tall) // rows
    return b.udiv(row if rows == self.height else b.sub(row, i64(self.tall)), i64(rows))

  def each(self, b: ir.IRBuilder, start: Any, stop: Any, visit: Callable[[Any, int], None]) -> None:
    """Emit `visit(first row, height)` for a range of strips."""
    tall_stop, short_start = _smaller(b, stop, self.tall), _larger(b, start, self.tall)
    _loop(b, start, tall_stop, lambda t: visit(mul(b, t, self.height), self.height))
    if self.short:
      _loop(b, short_start, stop, lambda t: visit(add(b, mul(b, t, self.height - 1), self.tall), self.height - 1))


def strips(rows: int, max_rows: int) -> Strips:
  """As few strips of at most `max_rows` rows as possible, of about equal height: the last one fills registers as well as the others."""
  count = -(-rows // max_rows)
  low, taller = divmod(rows, count)
  return Strips(low + 1, taller, count - taller) if taller else Strips(low, count)


@dataclasses.dataclass(frozen=True)
class Cut:
  """The strips of A, how many of them are packed at a time, and the parts of K in elements: all but the last are equal."""

  strips: Strips
  at_a_time: int
  depths: tuple[int, ...]

  @property
  def blocks(self) -> int:
    """How often strips are packed."""
    return -(-self.strips.count // self.at_a_time)


def cut(host: Host, rows: int, most_rows: int, depth: int, group: int, panel_bytes: int, unit_bytes: int) -> Cut:
  """How to cut a contraction of so many rows, and of `depth` elements along K that are multiplied in units of `group`."""
  found = strips(rows, most_rows)
  if found.count == 1:  # nothing is used twice
    return Cut(found, 1, (depth,))
  units = -(-depth // group)
  min_blocks = -(-units // max(1, int(host.l2_bytes * _PANEL_SHARE) // panel_bytes))
  parts = next(
    (n for n in range(min_blocks, 2 * min_blocks) if depth % (n * group) == 0), min_blocks
  )  # equal ones share their code
  part = -(-units // parts)
  at_a_time = max(1, int(host.l2_bytes * _STRIPS_SHARE) // (found.height * part * unit_bytes))
  blocks = -(-found.count // at_a_time)
  whole = (depth - 1) // (part * group)
  depths = (part * group,) * whole + (depth - whole * part * group,)
  return Cut(found, -(-found.count // blocks), depths)


def _loop(b: ir.IRBuilder, start: Any, stop: Any, body: Callable[[Any], None]) -> None:
  """A loop, or only its body, or nothing, where it is known to run once or not at all."""
  known = isinstance(start, int) and isinstance(stop, int)
  if known and start >= stop:
    return
  if known and start + 1 == stop:
    body(start)
    return
  with for_range(b, start, stop) as i:
    body(i)


def _smaller(b: ir.IRBuilder, x: Any, y: int) -> Any:
  return min(x, y) if isinstance(x, int) else b.select(b.icmp_signed("<", x, i64(y)), x, i64(y))


def _larger(b: ir.IRBuilder, x: Any, y: int) -> Any:
  return max(x, y) if isinstance(x, int) else b.select(b.icmp_signed(">", x, i64(y)), x, i64(y))
