"""What the command says about mistakes: what was wrong, and what to write instead."""

from __future__ import annotations

import pytest

from tilewright.cli import main

PROGRAM = """
import jax

def double(x):
  return 2 * x

def add(x, y):
  return x + y
"""


def said(argv, capsys) -> str:
  with pytest.raises(SystemExit) as ended:
    raise SystemExit(main(argv))
  assert ended.value.code == 2
  err = capsys.readouterr().err
  assert "Traceback" not in err
  return err


@pytest.fixture
def program(tmp_path):
  path = tmp_path / "program.py"
  path.write_text(PROGRAM)
  return str(path)


@pytest.mark.parametrize("command", ["ptx", "explain"])
def test_types_that_are_missing_are_asked_for(command, program, capsys):
  message = said([command, f"{program}:add", "f32[8,128]"], capsys)
  assert "add(x, y)" in message and "'y'" in message and "TYPE for each array" in message


@pytest.mark.parametrize("command", ["ptx", "explain"])
def test_a_function_that_is_not_there_is_answered_with_those_that_are(command, program, capsys):
  message = said([command, f"{program}:dubble", "f32[8]"], capsys)
  assert "no 'dubble'; it has double, add" in message


@pytest.mark.parametrize("command", ["hlo", "schedule"])
def test_a_file_that_is_not_there_is_named(command, tmp_path, capsys):
  assert "there is no file" in said([command, str(tmp_path / "missing.hlo")], capsys)


@pytest.mark.parametrize("command", ["hlo", "schedule"])
def test_a_file_of_something_else_is_named_with_what_can_be_read(command, tmp_path, capsys):
  path = tmp_path / "garbage.hlo"
  path.write_text("garbage\n")
  message = said([command, str(path)], capsys)
  assert "garbage.hlo is neither HLO text" in message and "StableHLO" in message


def test_rows_of_the_benchmark_that_do_not_exist_are_answered_with_how_to_list_them(capsys):
  message = said(["bench", "cpu", "--filter", "zzzz"], capsys)
  assert "'zzzz'" in message and "tilewright bench cpu --list" in message and len(message) < 200
