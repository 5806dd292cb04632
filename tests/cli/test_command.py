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
