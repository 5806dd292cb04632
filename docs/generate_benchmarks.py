"""Rewrite the tables of docs/benchmarks.md from one run of the benchmark, and nothing else of it. The run goes to docs/runs, for charts.

    tilewright bench cpu --filter ops. --filter nativ --filter fused --seconds 2 --json rows.json
    python docs/generate_benchmarks.py rows.json

    tilewright bench gpu --filter gpu --json rows.json         on a machine with a GPU
    python docs/generate_benchmarks.py rows.json

A table stands between two marks, the first of which says which rows it has: those whose name contains one of the words.

    <!-- bench cpu: ops. nativ -->
    ...
    <!-- end of bench -->
"""

from __future__ import annotations

import json
import pathlib
import re
import sys
from typing import Any

from tilewright.cli.bench import COLUMNS, Row, table_row, write_atomically

DOCUMENT = pathlib.Path(__file__).resolve().parent / "benchmarks.md"
RUNS = DOCUMENT.with_name("runs")
TABLE = re.compile(
  r"(?P<begin><!-- bench (?P<target>\w+): (?P<words>.+?) -->\n).*?(?P<end><!-- end of bench -->)", re.S
)


def rows_of(run: dict[str, Any]) -> list[Row]:
  return [Row(**{name: value for name, value in row.items() if name != "ratio"}) for row in run["rows"]]


def conditions(run: dict[str, Any]) -> str:
  """When, where and with what a run was made."""
  machine, versions = run["machine"], ", ".join(f"{name} {version}" for name, version in run["versions"].items())
  device = f"{machine['device']}, " if run["target"] == "gpu" else ""
  return (
    f"Date: {run['date'][:10]}. Machine: {device}{machine['cpu']}, load {machine['load']:.1f} when the run began.\n"
    f"Versions: {versions}. Medians.\n"
  )


def table(rows: list[Row]) -> str:
  lines = [COLUMNS, ["---"] * len(COLUMNS), *(table_row(row) for row in rows)]
  return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def rewritten(document: str, run: dict[str, Any]) -> str:
  """The document with its tables for the run's target made anew."""
  rows = rows_of(run)

  def replace(match: re.Match[str]) -> str:
    if match["target"] != run["target"]:
      return match[0]
    chosen = [row for row in rows if any(word in row.name for word in match["words"].split())]
    if not chosen:
      raise SystemExit(f"The run has no row for the table of {match['words']!r}. Run the benchmark with its rows too.")
    return f"{match['begin']}{conditions(run)}\n{table(chosen)}{match['end']}"

  return TABLE.sub(replace, document)


if __name__ == "__main__":
  made = json.loads(pathlib.Path(sys.argv[1]).read_text())
  write_atomically(DOCUMENT, rewritten(DOCUMENT.read_text(), made))
  write_atomically(RUNS / f"{made['target']}.json", json.dumps(made, indent=1) + "\n")
