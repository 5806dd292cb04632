"""`tilewright tune`: searching from the command line, the page, and looking after tables."""

from __future__ import annotations

import json

import pytest

from tilewright.cli import main
from tilewright.tune import keys, space, table, trials, tuned

PROGRAM = """
import jax, jax.numpy as jnp
import tilewright as tw

@tw.tune(kind=tw.choice("mul", "add", "bad"), heuristic={"kind": "mul"})
def double(x, *, kind, factor=2):
  if kind == "bad":
    raise ValueError("<this> is no candidate")
  return x * factor if kind == "mul" else x + x * (factor - 1)

if __name__ == "__main__":
  jax.jit(lambda x: double(x) + double(x[:8]).sum())(jnp.ones(16))
"""


@pytest.fixture(autouse=True)
def own_table(tmp_path, monkeypatch):
  monkeypatch.setenv("TILEWRIGHT_TUNING_TABLE", str(tmp_path / "tables" / "tuning.jsonl"))


@pytest.fixture
def program(tmp_path):
  file = tmp_path / "program.py"
  file.write_text(PROGRAM)
  return str(file)


def test_a_program_is_checked_tuned_and_reported(program, tmp_path, capsys):
  page, log = tmp_path / "page.html", tmp_path / "log.jsonl"
  assert main(["tune", "check", program]) == 1
  said = capsys.readouterr().out
  assert "2 entries are missing" in said and "x=f32[16]" in said and f"{program}:double 'f32[8]'" in said
  assert main(["tune", program, "--budget", "3 trials", "--html", str(page), "--log", str(log)]) == 0
  assert main(["tune", "check", program]) == 0
  assert {e.key.arguments for e in table.read().entries} == {"x=f32[16] factor=2", "x=f32[8] factor=2"}
  text = page.read_text()
  for part in ("Trials over time", "Parameters", "beside the default", "&lt;this&gt; is no candidate", "<svg"):
    assert part in text
  lines = [json.loads(line) for line in log.read_text().splitlines()]
  assert [line["status"] for line in lines if "status" in line].count("failed") == 2


def test_types_and_settings_say_what_to_tune(program):
  assert main(["tune", f"{program}:double", "f32[32]", "--set", "factor=3", "--budget", "1 trials"]) == 0
  assert [e.key.arguments for e in table.read().entries] == ["x=f32[32] factor=3"]


def test_tables_are_listed_merged_exported_and_imported(tmp_path, capsys):
  key = table.Key("kernel", "c" * 24, "x=f32[64]", "device", "", "versions")
  table.append(table.Entry(key, {"n": 1}, 2e-3, 4e-3, date="2026-01-31"))
  out, faster = str(tmp_path / "out.jsonl"), str(tmp_path / "faster.jsonl")
  assert main(["tune", "export", out]) == 0
  table.write_file(faster, [table.Entry(key, {"n": 2}, 1e-3)])
  assert main(["tune", "merge", out, faster, "--out", str(tmp_path / "both.jsonl")]) == 0
  assert [e.config for e in table.read_file(tmp_path / "both.jsonl").entries] == [{"n": 2}]
  assert main(["tune", "merge", faster]) == 0
  assert [e.config for e in table.read().entries] == [{"n": 2}]
  assert main(["tune", "import", out]) == 0
  assert [e.config for e in table.read().entries] == [{"n": 1}]
  capsys.readouterr()
  assert main(["tune", "list"]) == 0
  assert "x=f32[64]" in (said := capsys.readouterr().out) and "2.000" in said
  assert main(["tune", "check"]) == 0
  with open(table.path(), "a") as file:
    file.write('{"kernel": "cut in ha')
  assert main(["tune", "check"]) == 1


@pytest.mark.parametrize("what", [["nowhere.py:f", "f32[2]"], ["math:sin", "f32[2"], ["export"], ["merge"]])
def test_what_cannot_be_read_is_said(what, capsys):
  assert main(["tune", *what]) in (1, 2)
  assert "tilewright tune:" in capsys.readouterr().err


@pytest.mark.parametrize(
  "wrong, says",
  [
    (["f32[2]", "f32[2]"], "too many positional arguments. It takes (x"),
    (["f32[2]", "--set", "size=3"], "unexpected keyword argument 'size'"),
    (["f32[2]", "--budget", "soon"], "budget: expected a time"),
  ],
)
def test_arguments_are_checked_before_the_search(program, wrong, says, capsys):
  assert main(["tune", f"{program}:double", *wrong]) == 1
  assert says in capsys.readouterr().err


def test_a_result_of_a_busy_machine_is_kept_with_the_doubt(tmp_path, capsys):
  key = keys.Key("k", "0" * 32, "x=f32[64]", "this CPU", "", "")
  own = space.Space.of({"n": space.choice(1, 2)})
  found = trials.Result({"n": 1}, 1e-3, {"n": 1}, 1e-3, (), key, 2, 1.0, 0, busy=0.5)
  assert "threads waited 50% of the time" in found.summary()
  tuned.remember(own, found)
  assert main(["tune", "list"]) == 0
  assert "others used" in capsys.readouterr().out
