"""Layouts as text: for each element, the thread and register that hold it.

    print_layout(fragments.wgmma_accumulator(8))

          0      1      2      3    …
    0  T0:0   T0:1   T1:0   T1:1
    1  T4:0   T4:1   T5:0   T5:1

T5:1 is register 1 of thread 5; where several hold copies, the owner is printed, with a star. In shared memory the entries are byte
addresses; in tensor memory `3,16` is row 3 and column 16, and `3,16.1` the second element of that cell.

A tile of one dimension is written in lines of `max_columns`. Longer or larger tables are truncated, and the last line notes it.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence

import numpy as np

from tilewright import errors
from tilewright.layout.layout import LANE, LANES, REGISTER, WARP, Layout
from tilewright.layout.shared import SharedLayout

Coordinates = tuple[int, ...]
MAX_PAGES = 8


# --- tables ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Page:
  """A table of elements: its heading, the labels of its rows and columns, and which element each cell is (or None)."""

  title: str
  rows: tuple[str, ...]
  columns: tuple[str, ...]
  cells: tuple[tuple[Coordinates | None, ...], ...]


def pages(shape: Sequence[int], max_rows: int, max_columns: int) -> tuple[list[Page], bool]:
  """The tables of a tile, and whether that is all of it: the last two dimensions of each, one dimension in lines."""
  if len(shape) < 2:
    size = math.prod(shape)
    wide = min(size, max_columns) or 1
    starts = range(0, max(size, 1), wide)
    kept = starts[:max_rows]
    lines = [tuple(_flat(i, shape) for i in range(s, s + wide)) for s in kept]
    return [Page("", tuple(map(str, kept)), tuple(map(str, range(wide))), tuple(lines))], len(kept) == len(starts)
  *outer, rows, columns = shape
  all_pages = math.prod(outer)
  found = []
  for at in itertools.islice(itertools.product(*map(range, outer)), MAX_PAGES):
    shown = range(min(rows, max_rows)), range(min(columns, max_columns))
    cells = [tuple((*at, row, column) for column in shown[1]) for row in shown[0]]
    title = f"[{', '.join(map(str, at))}]" if at else ""
    found.append(Page(title, tuple(map(str, shown[0])), tuple(map(str, shown[1])), tuple(cells)))
  return found, all_pages <= MAX_PAGES and rows <= max_rows and columns <= max_columns


def _flat(i: int, shape: Sequence[int]) -> Coordinates | None:
  """Element i of a tile of at most one dimension."""
  if not shape:
    return ()
  return (i,) if i < shape[0] else None


# --- places ------------------------------------------------------------------------------------------------------


def holders(of: Layout, wanted: Sequence[Coordinates] | None = None) -> dict[Coordinates, list[dict[str, int]]]:
  """All places of each element, or of some, the owner first."""
  listed = list(itertools.product(*map(range, of.shape))) if wanted is None else list(wanted)
  found: dict[Coordinates, list[dict[str, int]]] = {at: [] for at in listed}
  table = of.table()
  sizes = table.shape[:-1]
  inside = (table < np.asarray(of.shape, np.int64)).all(-1)
  number = np.where(inside, (table * _strides(of.shape)).sum(-1), -1)
  queries = np.asarray([int((np.asarray(at, np.int64) * _strides(of.shape)).sum()) for at in listed], np.int64)
  places = np.flatnonzero(np.isin(number, queries))
  indices = np.unravel_index(places, sizes)
  # The least significant input last: warps, then lanes, then registers, as threads are counted.
  order = np.lexsort(indices)
  by_number = dict(zip(queries.tolist(), listed))
  for held, *index in zip(number.flat[places[order]].tolist(), *(own[order].tolist() for own in indices)):
    found[by_number[held]].append(dict(zip(of.names, index)))
  return found


def _strides(shape: Sequence[int]) -> np.ndarray:
  return np.asarray([math.prod(shape[i + 1 :]) for i in range(len(shape))], np.int64)


def thread_of(place: dict[str, int]) -> int:
  return place.get(WARP, 0) * LANES + place.get(LANE, 0)


def place_name(place: dict[str, int]) -> str:
  """`T5:1` for a thread's register, `3,16` for a cell of tensor memory; otherwise the inputs in order."""
  if LANE in place:
    return f"T{thread_of(place)}:{place.get(REGISTER, 0)}"
  if "row" in place and "column" in place:
    return f"{place['row']},{place['column']}" + (f".{place['cell']}" if place.get("cell") else "")
  return ":".join(str(x) for x in place.values())


# --- text --------------------------------------------------------------------------------------------------------


def layout_text(of: Layout | SharedLayout, max_rows: int = 32, max_columns: int = 32) -> str:
  """The table of a layout; dimensions before the last two are written one after another, and long ones are cut."""
  if not isinstance(of, Layout | SharedLayout):
    raise errors.LayoutError(f"of: expected a layout, got {of!r}")
  shown, is_all = pages(of.shape, max_rows, max_columns)
  wanted = [at for page in shown for row in page.cells for at in row if at is not None]
  if isinstance(of, SharedLayout):
    cell = {at: str(int(of.address(at))) for at in wanted}
  else:
    cell = {at: place_name(own[0]) + "*" * (len(own) > 1) if own else "-" for at, own in holders(of, wanted).items()}
  lines = [str(of)]
  for page in shown:
    if page.title:
      lines.append(page.title)
    body = [["", *page.columns]]
    body += [[name, *("" if at is None else cell[at] for at in row)] for name, row in zip(page.rows, page.cells)]
    widths = [max(len(line[i]) for line in body) for i in range(len(body[0]))]
    lines += ["  ".join(text.rjust(width) for text, width in zip(line, widths)).rstrip() for line in body]
  if not is_all:
    lines.append(f"… of {math.prod(of.shape)} elements")
  return "\n".join(lines)


def print_layout(of: Layout | SharedLayout, max_rows: int = 32, max_columns: int = 32) -> None:
  """Print which thread and register hold each element, or where in shared or tensor memory it lies."""
  print(layout_text(of, max_rows, max_columns))
