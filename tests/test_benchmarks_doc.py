"""docs/generate_benchmarks.py: tables between marks come from a run, and the rest of the document stays."""

from __future__ import annotations

import importlib
import json
import pathlib
import sys

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"
ROW = dict(peer="XLA", peer_time=6.0, ratio=2.0, rounds=5, note="", unit="seconds", processor_ratio=None, goal=1.5)
RUN = {
  "target": "cpu",
  "date": "2031-02-03T04:05:06+00:00",
  "machine": {"cpu": "a processor", "load": 0.25},
  "versions": {"jax": "1.2.3"},
  "rows": [{"name": "ops.a", "ours": 3.0, **ROW}, {"name": "fused b", "ours": 4.0, **ROW}],
}


@pytest.fixture(scope="module")
def generator():
  sys.path.insert(0, str(DOCS))
  return importlib.import_module("generate_benchmarks")


def test_a_table_has_the_rows_its_mark_asks_for(generator):
  before = "above\n<!-- bench cpu: ops. nativ -->\nold\n<!-- end of bench -->\nbelow\n"
  after = generator.rewritten(before, RUN)
  assert after.startswith("above\n<!-- bench cpu: ops. nativ -->\nDate: 2031-02-03. Machine: a processor, load 0.2")
  assert after.endswith("| ops.a | 3 s | XLA | 6 s | 2.00 | - | 1.5 |\n<!-- end of bench -->\nbelow\n")
  assert "old" not in after and "fused b" not in after and "jax 1.2.3" in after
  assert generator.rewritten(after, RUN) == after


def test_tables_of_other_targets_and_other_text_stay(generator):
  before = "| a | b |\n<!-- bench gpu: ops. -->\nold\n<!-- end of bench -->\n"
  assert generator.rewritten(before, RUN) == before


def test_a_table_is_not_emptied(generator):
  with pytest.raises(SystemExit, match="no row for the table of 'nativ'"):
    generator.rewritten("<!-- bench cpu: nativ -->\n<!-- end of bench -->", RUN)


@pytest.mark.parametrize("target", ["cpu", "gpu"])
def test_the_runs_behind_the_charts_are_those_of_the_tables(generator, target):
  """Up to the third digit of ratios: some runs were kept as their tables have them."""
  document = (DOCS / "benchmarks.md").read_text()
  made = generator.rewritten(document, json.loads((DOCS / "runs" / f"{target}.json").read_text()))
  for old, new in zip(document.splitlines(), made.splitlines(), strict=True):
    if old != new:
      *before, ratio, cost, goal = old.split(" | ")
      *before_new, ratio_new, cost_new, goal_new = new.split(" | ")
      assert (before, cost, goal) == (before_new, cost_new, goal_new)
      assert float(ratio_new) == pytest.approx(float(ratio), rel=0.012)


def test_a_chart_has_a_bar_for_each_row_and_a_mark_for_each_goal(generator):
  charts = importlib.import_module("benchmark_charts")
  page = charts.page([RUN])
  assert page.count("<rect") == page.count("<path") == 2 and "ops.a: 2.00 times the speed of XLA" in page
  worst = charts.chart([{**RUN["rows"][0], "ratio": 1e-6, "goal": None}])
  assert worst.count("<rect") == 1 and "<path" not in worst


def test_the_document_has_its_marks(generator):
  marks = [m["words"] for m in generator.TABLE.finditer((DOCS / "benchmarks.md").read_text())]
  assert marks == ["ops. nativ", "fused", "gpu"]
