"""Charts of bench runs: bars of ratios, from the JSON that `tilewright bench --json FILE` writes.

    python docs/benchmark_charts.py docs/runs/cpu.json      # the page, on standard output

`docs/runs/` has the runs whose tables are in benchmarks.md; `docs/generate_benchmarks.py` puts them there.
"""

from __future__ import annotations

import html
import json
import math
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

RUNS = pathlib.Path(__file__).resolve().parent / "runs"
_NAME, _WIDTH, _ROW = 330, 780, 19
_LOW, _HIGH = 0.1, 100.0  # ratios that the axis has; bars beyond it end at its edge, with their number
_TICKS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0)


def page(runs: Sequence[dict[str, Any]]) -> str:
  """The page of the charts."""
  parts = [
    "# Charts of the benchmarks\n\nA bar is the peer's time divided by ours, on a logarithmic axis: to the right of the line at 1, "
    "Tilewright is faster. A mark is the goal, where there is one. The charts are made from the JSON of bench runs; "
    "[the benchmarks](benchmarks.md) have the same rows as tables, with what falls short and why.\n"
  ]
  for run in runs:
    machine, versions = run["machine"], run["versions"]
    where = ", ".join(filter(None, (machine.get("device") if run["target"] == "gpu" else None, machine["cpu"])))
    parts.append(
      f"## tilewright bench {run['target']}\n\n{run['date'][:10]}, {where}; "
      f"{', '.join(f'{name} {version}' for name, version in versions.items())}.\n"
    )
    peers = list(dict.fromkeys(row["peer"] for row in run["rows"] if row["ratio"] is not None))
    for peer in peers:
      rows = [row for row in run["rows"] if row["peer"] == peer and row["ratio"] is not None]
      parts.append(f"### Against {peer}\n\n```{{raw}} html\n{chart(rows)}\n```\n")
  return "\n".join(parts)


def chart(rows: Sequence[dict[str, Any]]) -> str:
  """Bars of rows with a ratio each."""
  x = lambda ratio: (
    _NAME + (_WIDTH - _NAME - 50) * math.log(min(max(ratio, _LOW), _HIGH) / _LOW) / math.log(_HIGH / _LOW)
  )
  height = len(rows) * _ROW + 26
  parts = []
  for tick in _TICKS:
    colour = "currentColor" if tick == 1 else "#8884"
    parts.append(f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="0" y2="{height - 20}" stroke="{colour}"/>')
    parts.append(_text(x(tick), height - 6, f"{tick:g}", "middle"))
  for n, row in enumerate(rows):
    ratio, y = row["ratio"], n * _ROW + 3
    left, right = sorted((x(1.0), x(ratio)))
    fill = "#2f9e6e" if ratio >= 1 else "#d2793c"
    title = html.escape(f"{row['name']}: {ratio:.2f} times the speed of {row['peer']}")
    parts.append(
      f"<g><title>{title}</title>{_text(_NAME - 8, y + 11, row['name'], 'end')}"
      f'<rect x="{left:.1f}" y="{y}" width="{max(right - left, 1):.1f}" '
      f'height="{_ROW - 6}" fill="{fill}"/>{_text(right + 5, y + 11, f"{ratio:.2f}", "start")}</g>'
    )
    if row["goal"] is not None:
      parts.append(f'<path d="M{x(row["goal"]):.1f} {y - 2} v{_ROW - 2}" stroke="#3b7ddd" stroke-width="2.5"/>')
  return (
    f'<div style="overflow-x:auto"><svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img" '
    f'style="max-width:none;font:11px system-ui,sans-serif;fill:currentColor">{"".join(parts)}</svg></div>'
  )


def _text(x: float, y: float, text: str, anchor: str) -> str:
  return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(text)}</text>'


def load(paths: Sequence[pathlib.Path]) -> list[dict[str, Any]]:
  return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


if __name__ == "__main__":
  print(page(load([pathlib.Path(name) for name in sys.argv[1:]] or sorted(RUNS.glob("*.json")))))
