"""A drawing of a layout: one cell for each element, coloured by its holder.

    svg(fragments.wgmma_accumulator(16), by="thread")    a drawing
    html(fragments.wgmma_accumulator(16))                a page with one for each way of colouring; hovering shows all holders

Tiles in registers are coloured by thread, register, lane or warp; tensor memory by row or column; shared memory by bank, or by line of 128
bytes. A tile that is too large is drawn in part, and the drawing reports it. Nothing is loaded from the network.
"""

from __future__ import annotations

import colorsys
import html as escape
import math

from tilewright import errors
from tilewright.layout.layout import LANE, WARP, Layout
from tilewright.layout.shared import BANK_BYTES, BANKS, WORD, SharedLayout
from tilewright.layout.text import Coordinates, holders, pages, place_name, thread_of

_WIDTH, _HEIGHT, _MARGIN, _GAP = 46, 20, 36, 12  # pixels; cells are wider than _WIDTH where a label is
_CHARACTER = 6.1  # pixels of a character of the font
_COLUMNS_OF_A_LINE = 32  # of a tile of one dimension
THREAD, REGISTER, BANK, LINE = "thread", "register", "bank", "line"
MAX_ROWS = MAX_COLUMNS = 128


def ways(of: Layout | SharedLayout) -> tuple[str, ...]:
  """The attributes a layout can be coloured by, the most informative first."""
  if not isinstance(of, Layout | SharedLayout):
    raise errors.LayoutError(f"of: expected a layout, got {of!r}")
  if isinstance(of, SharedLayout):
    return (BANK, LINE)
  if LANE in of.names:
    return (THREAD, REGISTER, *(name for name in (LANE, WARP) if name in of.names))
  return tuple(name for name in of.names if of.size(name) > 1) or of.names


def svg(
  of: Layout | SharedLayout, by: str | None = None, max_rows: int = MAX_ROWS, max_columns: int = MAX_COLUMNS
) -> str:
  """The drawing. `by` is one of `ways`: "thread" or "register" for tiles in registers, "bank" for shared memory, …"""
  by = by or ways(of)[0]
  if by not in ways(of):
    raise errors.LayoutError(f"by: a layout of this kind is coloured by {', '.join(ways(of))}; got {by!r}")
  shown, is_all = pages(of.shape, max_rows, min(max_columns, _COLUMNS_OF_A_LINE) if len(of.shape) < 2 else max_columns)
  wanted = [at for page in shown for row in page.cells for at in row if at is not None]
  cells = _cells(of, by, wanted)
  wide = max(_WIDTH, math.ceil(_CHARACTER * max((len(label) for label, *_ in cells.values()), default=0)) + 6)
  parts = []
  top, right = 0, 0
  for page in shown:
    if page.title:
      parts.append(_text(2, top + 12, page.title, "start"))
    parts += [_text(_MARGIN + (c + 0.5) * wide, top + _MARGIN - 6, name) for c, name in enumerate(page.columns)]
    for r, (name, row) in enumerate(zip(page.rows, page.cells)):
      y = top + _MARGIN + r * _HEIGHT
      parts.append(_text(_MARGIN - 4, y + 14, name, "end"))
      for c, at in enumerate(row):
        if at is not None:
          parts.append(_cell(_MARGIN + c * wide, y, wide, *cells[at]))
    top += _MARGIN + len(page.rows) * _HEIGHT + _GAP
    right = max(right, _MARGIN + len(page.columns) * wide + _GAP)
  if not is_all:
    parts.append(_text(_MARGIN, top + 12, f"the first {len(wanted)} of {math.prod(of.shape)} elements", "start"))
    top += 2 * _GAP
  style = "font: 10px ui-monospace, monospace"
  return (
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{right}" height="{top}" style="{style}">{"".join(parts)}</svg>'
  )


def html(of: Layout | SharedLayout, title: str = "layout") -> str:
  """A page with the drawings of a layout."""
  drawings = "".join(f"<h2>by {way}</h2>{svg(of, way)}" for way in ways(of)[:2])
  name = escape.escape(title)
  return (
    f'<!doctype html><html><head><meta charset="utf-8"><title>{name}</title>'
    "<style>body { font-family: system-ui, sans-serif; margin: 2em } h2 { font-size: 1em }</style></head>"
    f"<body><h1>{name}</h1><p><code>{escape.escape(str(of))}</code></p>{drawings}</body></html>"
  )


Cell = tuple[str, int, int, str]  # the label, the number of the colour and how many there are, and what hovering shows


def _cells(of: Layout | SharedLayout, by: str, wanted: list[Coordinates]) -> dict[Coordinates, Cell]:
  if isinstance(of, SharedLayout):
    found: dict[Coordinates, Cell] = {}
    for at in wanted:
      address = int(of.address(at))
      bank, line = address // WORD % BANKS, address // BANK_BYTES
      group = (bank, BANKS) if by == BANK else (line, -(-of.nbytes // BANK_BYTES))
      found[at] = (str(address), *group, f"{at}: address {address}, bank {bank}, line {line}")
    return found
  count = of.size(LANE) * of.size(WARP) if by == THREAD else of.size(by)
  result: dict[Coordinates, Cell] = {}
  for at, own in holders(of, wanted).items():
    if not own:
      result[at] = ("", -1, 1, f"{at}: held by nobody")
      continue
    group_number = thread_of(own[0]) if by == THREAD else own[0].get(by, 0)
    names = ", ".join(map(place_name, own[:16])) + (f" and {len(own) - 16} more" if len(own) > 16 else "")
    result[at] = (place_name(own[0]) + "*" * (len(own) > 1), group_number, count, f"{at}: {names}")
  return result


def _cell(x: float, y: float, wide: int, label: str, group: int, groups: int, title: str) -> str:
  return (
    f'<g><title>{escape.escape(title)}</title><rect x="{x}" y="{y}" width="{wide}" height="{_HEIGHT}" '
    f'fill="{_colour(group, groups)}" stroke="#fff"/>{_text(x + wide / 2, y + 14, label)}</g>'
  )


def _colour(number: int, count: int) -> str:
  """Colours that differ from their neighbours' and stay light enough for black text."""
  if number < 0:
    return "#eee"
  hue = (number * 0.618034) % 1.0
  light = 0.72 + 0.16 * ((number * 5) % max(count, 1)) / max(count, 1)
  red, green, blue = (round(255 * c) for c in colorsys.hls_to_rgb(hue, light, 0.75))
  return f"#{red:02x}{green:02x}{blue:02x}"


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
  return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape.escape(text)}</text>'
