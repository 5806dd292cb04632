"""Tables and times as the commands print them."""

from __future__ import annotations

import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.cli.table import duration, print_table, progress


@pytest.mark.parametrize(
  ("seconds", "text"), [(2.5, "2.5 s"), (0.0042, "4.2 ms"), (1.5e-5, "15 µs"), (3e-8, "30 ns"), (1e-3, "1 ms")]
)
def test_a_duration_has_a_unit_that_suits_it(seconds, text):
  assert duration(seconds) == text


@given(st.floats(1e-9, 900))
def test_a_duration_keeps_three_digits(seconds):
  number, unit = duration(seconds).split()
  value = float(number) * {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}[unit]
  assert abs(value - seconds) <= 5.001e-3 * seconds


def test_every_cell_is_printed(capsys, monkeypatch):
  monkeypatch.setenv("COLUMNS", "200")
  print_table("title", ["a", "b"], [["one", "[two]"], ["x" * 60, "y" * 90]])
  out = capsys.readouterr().out
  assert all(cell in out for cell in ("title", "one", "[two]", "x" * 60, "y" * 90))


def test_a_piped_table_is_as_wide_as_columns_says(capsys, monkeypatch):
  """Cells are folded, and nothing of them is lost."""
  monkeypatch.setenv("COLUMNS", "50")
  words = [f"word{n:02}" for n in range(30)]
  print_table("title", ["what", "found"], [["a", " ".join(words)]])
  out = capsys.readouterr().out
  assert max(map(len, out.splitlines())) <= 50
  assert all(word in out.replace("\n", "") for word in words)


def test_a_piped_table_is_as_wide_as_the_terminal_of_the_other_streams(capsys, monkeypatch):
  monkeypatch.delenv("COLUMNS", raising=False)

  def size(fd=1):
    if fd != sys.__stderr__.fileno():
      raise OSError("no terminal")
    return os.terminal_size((60, 20))

  monkeypatch.setattr(os, "get_terminal_size", size)
  print_table("title", ["a"], [["x " * 100]])
  assert max(map(len, capsys.readouterr().out.splitlines())) <= 60


def test_a_table_needs_no_rich(capsys, monkeypatch):
  monkeypatch.setitem(sys.modules, "rich.console", None)
  print_table("title", ["a", "b"], [["one", "two"], ["three", "four"]])
  assert capsys.readouterr().out.splitlines() == ["title", "a      b", "one    two", "three  four"]
  with progress(1) as begin:
    begin("step")
  assert capsys.readouterr().err == "[1/1] step\n"


def test_steps_are_lines_where_there_is_no_terminal(capsys):
  with progress(2) as begin:
    begin("one")
    begin("two")
  assert capsys.readouterr().err == "[1/2] one\n[2/2] two\n"
