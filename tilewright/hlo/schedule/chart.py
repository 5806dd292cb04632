"""A timeline as text, for terminals and documents.

    main stream     ██████████░░░░░░████████
    collective 1    ····▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒·

`█` computes, `▒` is in flight, `░` waits: exposed communication. A character shows whatever takes most of its time interval.
"""

from __future__ import annotations

from tilewright.hlo.schedule.limits import KINDS
from tilewright.hlo.schedule.problem import COMPUTE, DONE, START
from tilewright.hlo.schedule.scheduler import ComputationSchedule

COMPUTES, FLIES, WAITS, IDLE = "█", "▒", "░", "·"


def chart(found: ComputationSchedule, width: int = 72, original: bool = False, until: float | None = None) -> str:
  """The lanes of one computation, `width` characters for `until` seconds (all of it if not given)."""
  p, order = (found.original_problem, found.original_order) if original else (found.lowered.problem, found.order)
  timeline = found.original_timeline() if original else found.timeline()
  whole = until or timeline.seconds or 1.0
  rows: dict[str, list[dict[str, float]]] = {"main stream": [{} for _ in range(width)]}

  def fill_row(row: str, mark: str, begin: float, end: float) -> None:
    cells = rows.setdefault(row, [{} for _ in range(width)])
    first, last = begin / whole * width, end / whole * width
    for i in range(max(0, int(first)), min(width, int(last) + 1)):
      part = min(last, i + 1) - max(first, i)
      if part > 0:
        cells[i][mark] = cells[i].get(mark, 0.0) + part

  for v in order:
    begin, end, wait = timeline.begin[v], timeline.end[v], timeline.wait[v]
    if p.role[v] == START:
      fill_row(f"{KINDS[p.kind[v]]} {timeline.lane[v] + 1}", FLIES, begin, end)
    elif p.role[v] == DONE:
      fill_row("main stream", WAITS, begin, begin + wait)
    elif p.role[v] == COMPUTE:
      fill_row("main stream", WAITS, begin, begin + wait)
      fill_row("main stream", WAITS if p.exposed[v] else COMPUTES, begin + wait, end)
  label = max(len(row) for row in rows) + 2
  lines = []
  for row, cells in rows.items():
    text = "".join(_dominant_mark(cell) for cell in cells)
    lines.append(f"{row:<{label}}{text}")
  return "\n".join(lines)


def _dominant_mark(cell: dict[str, float]) -> str:
  mark = max(cell, key=lambda m: cell[m], default=IDLE)
  return mark if sum(cell.values()) >= 0.5 else IDLE
