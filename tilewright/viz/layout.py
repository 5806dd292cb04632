"""A layout as a picture: one cell for each element, coloured by the thread or by the register that holds it.

    svg(wgmma_accumulator(16), by="thread")       a drawing
    html(wgmma_accumulator(16))                   a page with both drawings; hovering shows all holders of an element

Shared memory is coloured by bank. Nothing is loaded from anywhere.
"""

from __future__ import annotations

import colorsys
import html as escape
import itertools

from tilewright import errors
from tilewright.layout.shared import BANKS, WORD, SharedLayout
from tilewright.layout.text import holders, place_name, thread_of
from tilewright.layout.value import Layout

_WIDTH, _HEIGHT, _MARGIN, _GAP = 46, 20, 30, 12  # pixels
_MOST_CELLS = 16384
THREAD, REGISTER, BANK = "thread", "register", "bank"


def svg(of: Layout | SharedLayout, by: str | None = None) -> str:
  """The drawing. `by` is "thread" or "register" (for shared memory "bank")."""
  by = by or (BANK if isinstance(of, SharedLayout) else THREAD)
  if by not in ((BANK,) if isinstance(of, SharedLayout) else (THREAD, REGISTER)):
    raise errors.LayoutError(f"a layout of this kind is not coloured by {by!r}")
  cells = _cells(of, by)
  if len(cells) > _MOST_CELLS:
    raise errors.LayoutError(f"a picture of {len(cells)} elements is too large; draw a part of at most {_MOST_CELLS}")
  rows, columns = (1, 1, *of.shape)[-2:]
  pages = list(itertools.product(*map(range, of.shape[:-2])))
  height = _MARGIN + rows * _HEIGHT + _GAP
  parts = []
  for number, outer in enumerate(pages):
    top = number * height
    if outer:
      parts.append(_text(2, top + 12, f"[{', '.join(map(str, outer))}]", "start"))
    parts += [_text(_MARGIN + (c + 0.5) * _WIDTH, top + _MARGIN - 6, str(c)) for c in range(columns)]
    for row in range(rows):
      y = top + _MARGIN + row * _HEIGHT
      parts.append(_text(_MARGIN - 4, y + 14, str(row), "end"))
      for column in range(columns):
        label, group, groups, title = cells[(*outer, row, column)[-len(of.shape) :] if of.shape else ()]
        x = _MARGIN + column * _WIDTH
        parts.append(
          f'<g><title>{escape.escape(title)}</title><rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" '
          f'fill="{_colour(group, groups)}" stroke="#fff"/>{_text(x + _WIDTH / 2, y + 14, label)}</g>'
        )
  size = f'width="{_MARGIN + columns * _WIDTH + _GAP}" height="{height * len(pages)}"'
  style = "font: 10px ui-monospace, monospace"
  return f'<svg xmlns="http://www.w3.org/2000/svg" {size} style="{style}">{"".join(parts)}</svg>'


def html(of: Layout | SharedLayout, title: str = "layout") -> str:
  """A page with the drawings of a layout."""
  ways = (BANK,) if isinstance(of, SharedLayout) else (THREAD, REGISTER)
  drawings = "".join(f"<h2>by {way}</h2>{svg(of, way)}" for way in ways)
  name = escape.escape(title)
  return (
    f'<!doctype html><html><head><meta charset="utf-8"><title>{name}</title>'
    "<style>body { font-family: system-ui, sans-serif; margin: 2em } h2 { font-size: 1em }</style></head>"
    f"<body><h1>{name}</h1><p><code>{escape.escape(str(of))}</code></p>{drawings}</body></html>"
  )


def _cells(of: Layout | SharedLayout, by: str) -> dict[tuple[int, ...], tuple[str, int, int, str]]:
  """For each element its label, the number of its colour and how many colours there are, and what hovering shows."""
  if isinstance(of, SharedLayout):
    found = {}
    for at in itertools.product(*map(range, of.shape)):
      address = int(of.address(at))
      bank = address // WORD % BANKS
      found[at] = (str(address), bank, BANKS, f"{at}: address {address}, bank {bank}")
    return found
  threads = of.size("lane") * of.size("warp")
  result = {}
  for at, own in holders(of).items():
    if not own:
      result[at] = ("", -1, 1, f"{at}: held by nobody")
      continue
    group, groups = (
      (thread_of(own[0]), threads) if by == THREAD else (own[0].get("register", 0), max(of.num_registers, 1))
    )
    names = ", ".join(map(place_name, own[:16])) + (f" and {len(own) - 16} more" if len(own) > 16 else "")
    result[at] = (place_name(own[0]) + "*" * (len(own) > 1), group, groups, f"{at}: {names}")
  return result


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
