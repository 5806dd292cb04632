"""Layouts as text: for each element, who holds it.

    print_layout(wgmma_accumulator(8))

          0      1      2      3    …
    0  T0:0   T0:1   T1:0   T1:1
    1  T4:0   T4:1   T5:0   T5:1

T5:1 is register 1 of thread 5; the owner stands there where several hold copies, with a star. In shared memory the entries are byte
addresses, in tensor memory cells.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from tilewright.layout.shared import SharedLayout
from tilewright.layout.value import LANE, LANES, REGISTER, WARP, Layout


def holders(of: Layout) -> dict[tuple[int, ...], list[dict[str, int]]]:
  """All places of each element."""
  table = of.table()
  found: dict[tuple[int, ...], list[dict[str, int]]] = {at: [] for at in itertools.product(*map(range, of.shape))}
  order = sorted(np.ndindex(*table.shape[:-1]), key=lambda place: tuple(reversed(place)))
  for place in order:
    at = tuple(int(x) for x in table[place])
    if at in found:
      found[at].append(dict(zip(of.names, place)))
  return found


def thread_of(place: dict[str, int]) -> int:
  return place.get(WARP, 0) * LANES + place.get(LANE, 0)


def place_name(place: dict[str, int]) -> str:
  """`T5:1` for a thread's register; otherwise the inputs in order."""
  if LANE in place:
    return f"T{thread_of(place)}:{place.get(REGISTER, 0)}"
  return ":".join(str(x) for x in place.values())


def layout_text(of: Layout | SharedLayout, max_rows: int = 32, max_columns: int = 32) -> str:
  """The table of a layout; dimensions before the last two are written one after another, and long ones are cut."""
  shape = of.shape
  if isinstance(of, SharedLayout):
    cell = {at: str(int(of.address(at))) for at in itertools.product(*map(range, shape))}
  else:
    cell = {at: place_name(own[0]) + "*" * (len(own) > 1) if own else "-" for at, own in holders(of).items()}
  rows, columns = (1, 1, *shape)[-2:]
  lines = [str(of)]
  for outer in itertools.product(*map(range, shape[:-2])):
    if outer:
      lines.append(f"[{', '.join(map(str, outer))}]")
    body = [["", *map(str, range(min(columns, max_columns)))]]
    for row in range(min(rows, max_rows)):
      at = lambda column: (*outer, row, column)[-len(shape) :] if shape else ()
      body.append([str(row), *(cell[at(column)] for column in range(min(columns, max_columns)))])
    widths = [max(len(line[i]) for line in body) for i in range(len(body[0]))]
    lines += ["  ".join(text.rjust(width) for text, width in zip(line, widths)) for line in body]
  if rows > max_rows or columns > max_columns:
    lines.append(f"… of {math.prod(shape)} elements")
  return "\n".join(lines)


def print_layout(of: Layout | SharedLayout, max_rows: int = 32, max_columns: int = 32) -> None:
  """Print which thread and register hold each element, or where in shared memory it lies."""
  print(layout_text(of, max_rows, max_columns))
