"""What was decided, as one HTML page: the table of each module, and its graph coloured by kernel; a click shows the tiles."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from tilewright.accelerate.report import COLUMNS, Decision, ModuleReport
from tilewright.hlo import Module
from tilewright.viz import hlo_graph

_STYLE = """
body { font: 14px system-ui, sans-serif; margin: 24px; color: #14171b; }
table { border-collapse: collapse; margin: 12px 0; }
td, th { border: 1px solid #d5d9e0; padding: 4px 8px; text-align: left; font-size: 13px; }
.chip { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: 6px; }
iframe { width: 100%; height: 640px; border: 1px solid #d5d9e0; }
"""


def page(reports: Sequence[ModuleReport], modules: Mapping[str, Module]) -> str:
  """The page. `modules` are as XLA had them, by name."""
  parts = [_section(report, modules.get(report.module)) for report in reports]
  body = "\n".join(parts) or "<p>Nothing was compiled.</p>"
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
  rows = "".join(_row(d, colours) for d in report.decisions)
  title = f"{report.module} on {report.platform}: {len(report.taken)} of {len(report.decisions)} regions became kernels"
  took = f"{report.seconds:.2f} s, {report.compile_seconds:.2f} s of it to compile kernels"
  section = f"<h2>{html.escape(title)}</h2><p>{took}</p><table><tr>{head}</tr>{rows}</table>"
  if module is None:
    return section
  marks = {member: (colours[d.name], _note(d)) for d in report.taken for member in d.members}
  graph = hlo_graph.render(module, report.module, marks)
  return f'{section}<iframe srcdoc="{html.escape(graph, quote=True)}"></iframe>'


def _row(decision: Decision, colours: Mapping[str, str]) -> str:
  cells = [html.escape(cell) for cell in decision.row()]
  if decision.name in colours:
    cells[0] = f'<span class="chip" style="background:{colours[decision.name]}"></span>{cells[0]}'
  return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _note(decision: Decision) -> str:
  how = f"tile {decision.tile}" if decision.kind == "tiles" else f"{decision.kind}, {decision.tile}"
  return f"kernel {decision.name}: {how}; {len(decision.members)} instructions of XLA"
