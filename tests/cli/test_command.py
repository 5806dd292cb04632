"""The command line: what is there, and what it says to a mistake."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

import tilewright
from tilewright.cli import main

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_version(capsys):
  with pytest.raises(SystemExit) as stop:
    main(["--version"])
  assert stop.value.code == 0
  assert capsys.readouterr().out == f"tilewright {tilewright.__version__}\n"


@pytest.mark.parametrize("argv", [[], ["dance"], ["bench"], ["bench", "tpu"], ["bench", "cpu", "--seconds", "0"]])
def test_a_wrong_command_line_is_a_usage_error(argv, capsys):
  with pytest.raises(SystemExit) as stop:
    main(argv)
  assert stop.value.code == 2
  assert "usage: tilewright" in capsys.readouterr().err


def test_an_unknown_command_is_answered_with_the_known_ones(capsys):
  with pytest.raises(SystemExit):
    main(["dance"])
  message = capsys.readouterr().err
  assert all(name in message for name in ("dance", "doctor", "demo", "bench"))


def test_the_package_runs_as_a_module():
  done = subprocess.run([sys.executable, "-m", "tilewright", "--version"], cwd=ROOT, capture_output=True, text=True)
  assert done.returncode == 0
  assert done.stdout.strip() == f"tilewright {tilewright.__version__}"


def test_a_reader_that_stops_reading_is_no_error():
  command = f"{sys.executable} -m tilewright bench cpu --list | true; exit ${{PIPESTATUS[0]}}"
  done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True)
  assert done.stderr == ""


def test_the_version_is_that_of_the_project():
  import tomllib

  project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
  assert project["version"] == tilewright.__version__


def test_types_of_arguments_have_the_names_of_hlo_or_of_numpy():
  from tilewright.cli.ptx import parse_type

  for text in ("bf16[16, 128]", "bfloat16[16,128]"):
    assert (parse_type(text).shape, parse_type(text).dtype.name) == ((16, 128), "bfloat16")
  for text, name in (
    ("f32[]", "float32"),
    ("i32[4]", "int32"),
    ("bool[4]", "bool"),
    ("float8_e4m3fn[2]", "float8_e4m3fn"),
  ):
    assert parse_type(text).dtype.name == name
  with pytest.raises(ValueError, match="float12"):
    parse_type("float12[3]")


def test_modules_of_the_current_folder_are_found(tmp_path, monkeypatch):
  from tilewright.cli.hlo import load_function

  (tmp_path / "kernels_of_mine.py").write_text("def f(x): return x")
  monkeypatch.chdir(tmp_path)
  monkeypatch.setattr(sys, "path", [p for p in sys.path if p not in ("", str(tmp_path))])
  assert load_function("kernels_of_mine:f")(3) == 3
