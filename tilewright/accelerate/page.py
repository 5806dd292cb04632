"""What was decided, as one HTML page: the table of each module, and its graph coloured by kernel; a click shows the tiles."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from tilewright.accelerate.report import COLUMNS, RIGHT, Decision, ModuleReport
from tilewright.hlo import Module
from tilewright.viz import hlo_graph

_STYLE = """
:root { color-scheme: light dark; --ink: #14171b; --paper: #fff; --faint: #667085; --line: #d5d9e0; --panel: #f6f7f9; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --paper: #14171b; --faint: #98a2b3; --line: #333a44; --panel: #1b1f25; }
}
body { font: 14px system-ui, sans-serif; margin: 24px; color: var(--ink); background: var(--paper); }
table { border-collapse: collapse; margin: 12px 0; display: block; overflow-x: auto; }
td:nth-child(2), td:last-child { min-width: 180px; } td:nth-child(3) { white-space: nowrap; }
td, th { border: 1px solid var(--line); padding: 4px 8px; text-align: left; font-size: 13px; }
th { background: var(--panel); }
td.number { text-align: right; white-space: nowrap; }
tr.left { color: var(--faint); }
.chip { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: 6px; }
iframe { width: 100%; height: 640px; border: 1px solid var(--line); }
summary { cursor: pointer; margin: 16px 0; }
p { color: var(--faint); }
"""


def page(modules: Sequence[tuple[ModuleReport, Module | None]]) -> str:
  """The page: what was decided about each module, and the module as XLA had it. Those with kernels come first."""
  with_kernels = [_section(report, module) for report, module in modules if report.taken]
  others = [_section(report, None) for report, _ in modules if not report.taken]
  body = "\n".join(with_kernels) or "<p>Nothing became a kernel.</p>"
  if others:
    title = f"{len(others)} other module{'s' * (len(others) > 1)}, in which nothing became a kernel"
    body += f"<details><summary>{title}</summary>{''.join(others)}</details>"
  return (
    f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>tilewright accelerate</title>'
    f"<style>{_STYLE}</style></head><body><h1>tilewright accelerate</h1>{body}</body></html>"
  )


def colour(number: int) -> str:
  """Colours that differ, however many there are."""
  return f"hsl({(number * 137) % 360} 70% 72%)"


def _section(report: ModuleReport, module: Module | None) -> str:
  colours = {d.name: colour(k) for k, d in enumerate(report.taken)}
  head = "".join(f"<th>{html.escape(c)}</th>" for c in COLUMNS)
  rows = "".join(_row(decision, row, colours) for decision, row in report.rows())
  title = f"{report.module} on {report.platform}: {len(report.taken)} of {len(report.decisions)} regions became kernels"
  took = (
    f"Deciding took {report.seconds:.2f} s, {report.compile_seconds:.2f} s of it to compile kernels. Times are XLA's → the kernel's; the "
    "speed-up is the measured one where there is one, else the predicted one."
  )
  section = f"<h2>{html.escape(title)}</h2><p>{took}</p><table><tr>{head}</tr>{rows}</table>"
  if module is None:
    return section
  marks = {member: (colours[d.name], _note(d)) for d in report.taken for member in d.members}
  graph = hlo_graph.render(module, report.module, marks)
  return f'{section}<iframe srcdoc="{html.escape(graph, quote=True)}"></iframe>'


def _row(decision: Decision, row: Sequence[str], colours: Mapping[str, str]) -> str:
  cells = [html.escape(cell) for cell in row]
  if decision.taken:
    cells[0] = f'<span class="chip" style="background:{colours[decision.name]}"></span>{cells[0]}'
  kinds = [' class="number"' if column in RIGHT else "" for column in COLUMNS]
  written = "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, cells))
  kind = "" if decision.taken else ' class="left"'
  return f"<tr{kind}>{written}</tr>"


def _note(decision: Decision) -> str:
  how = f"tile {decision.tile}" if decision.kind == "tiles" else f"{decision.kind}, {decision.tile}"
  return f"kernel {decision.name}: {how}; {len(decision.members)} instructions of XLA"
