"""The charts of the book: bars of the rates that a chapter shows as measured.

A chapter that links to `figures/CHAPTER.svg` gets a bar for each measured line that ends in a rate:

    2 tensor cores              378 µs   363.6 TFLOP/s
"""

from __future__ import annotations

import html
import re

_RATE = re.compile(r"^(?P<name>\S.*?)\s{2,}(?:.*\s)?(?P<rate>[\d.]+) (?P<unit>[GT]FLOP/s)$", re.MULTILINE)
_NAME, _WIDTH, _NUMBER, _ROW = 190, 560, 104, 22
_STYLE = (
  "text{font:12px system-ui,sans-serif;fill:#1b1f24}.ours{fill:#4f83cc}.peer{fill:#98a2b3}"
  "@media(prefers-color-scheme:dark){text{fill:#e6e8eb}.ours{fill:#6d9be0}.peer{fill:#667085}}"
)
_PEERS = ("XLA",)


def ladder(measured: str) -> str:
  """Bars of the measured lines, the longest as long as there is room."""
  rows = [(m["name"], float(m["rate"]), m["unit"]) for m in _RATE.finditer(measured)]
  if not rows:
    raise ValueError("no line of the measured text ends in a rate such as '12.3 TFLOP/s'.")
  most = max(rate for _, rate, _ in rows)
  parts = []
  for n, (name, rate, unit) in enumerate(rows):
    y, wide = 4 + n * _ROW, max((_WIDTH - _NAME - _NUMBER) * rate / most, 1)
    kind = "peer" if name.startswith(_PEERS) else "ours"
    parts.append(
      f'<text x="{_NAME - 8}" y="{y + 14}" text-anchor="end">{html.escape(name)}</text>'
      f'<rect class="{kind}" x="{_NAME}" y="{y}" width="{wide:.1f}" height="{_ROW - 4}" rx="2"/>'
      f'<text x="{_NAME + wide + 6:.1f}" y="{y + 14}">{rate:g} {unit}</text>'
    )
  height = 8 + len(rows) * _ROW
  return (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}">'
    f"<style>{_STYLE}</style>{''.join(parts)}</svg>\n"
  )
