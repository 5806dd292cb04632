"""`tilewright doctor` finds what is here, and never fails because something is not."""

from __future__ import annotations

import pathlib
import re
import sys
import tomllib

import pytest

from tilewright.cli import doctor, main
from tilewright.runtime import segments

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_a_healthy_installation_passes(capsys):
  assert main(["doctor"]) == 0
  out = capsys.readouterr().out
  for name in ("tilewright", "Python", "jax", "jaxlib", "numpy", "ml_dtypes", "llvmlite", "LLVM", "CPU features"):
    assert name in out
  for name in ("JAX devices", "GPU", "GPU driver", "NCCL", "ptxas", "kernel cache"):
    assert name in out


def test_extras_that_it_names_exist_and_the_command_names_no_other():
  project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
  source = pathlib.Path(doctor.__file__).read_text()
  named = set(",".join(re.findall(r"tilewright\[([\w,]+)\]", source)).split(","))
  assert named == {"cuda", "nccl", "nvshmem"} and set(project["optional-dependencies"]) == {*named, "docs", "test"}


def test_it_asks_for_what_the_project_asks_for():
  project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
  written = {f"{name}>={low}{f',<{high}' if high else ''}" for name, (low, high) in doctor.REQUIRED.items()}
  assert written == set(project["dependencies"])
  assert project["requires-python"] == ">={}.{}".format(*doctor.MINIMUM_PYTHON)


@pytest.mark.parametrize(
  ("version", "state"),
  [(None, "missing"), ("0.9.1", "too old"), ("0.10.2", "ok"), ("0.11.9rc1", "ok"), ("0.12", "too new")],
)
def test_versions_outside_the_range_are_named(monkeypatch, version, state):
  monkeypatch.setattr(doctor, "installed_version", lambda name: version)
  row = doctor.check_package("jax", "0.10.2", "0.12")
  assert row.state == state
  assert row.is_fatal == (state != "ok")
  assert (row.advice == "pip install 'jax>=0.10.2,<0.12'") == (state != "ok")


def test_a_package_that_does_not_import_is_broken(monkeypatch):
  monkeypatch.setitem(sys.modules, "jax", None)
  row = doctor.check_package("jax", "0.10.2", "0.12")
  assert row.state == "broken"
  assert "--force-reinstall" in row.advice


def test_a_missing_requirement_decides_the_exit_code(monkeypatch, capsys):
  monkeypatch.setattr(doctor, "CHECKS", (lambda: doctor.check_package("no_such_package", "1", None),))
  assert main(["doctor"]) == 1
  assert "Broken: no_such_package" in capsys.readouterr().out


def test_a_missing_option_does_not(monkeypatch):
  monkeypatch.setattr(doctor, "CHECKS", (lambda: doctor.Row("GPU", doctor.MISSING, "-"),))
  assert main(["doctor"]) == 0


def test_a_check_that_fails_is_a_row(monkeypatch):
  def explode():
    raise RuntimeError("boom\nmore")

  monkeypatch.setattr(doctor, "CHECKS", (explode,))
  (row,) = doctor.examine()
  assert (row.name, row.state, row.found) == ("explode", "broken", "RuntimeError: boom")


def test_nothing_works_without_llvmlite_and_the_cpu_is_still_described(monkeypatch):
  monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
  assert doctor.llvm().is_fatal
  assert [row.name for row in doctor.cpu()] == ["CPU", "CPU features"]


def test_a_child_that_dies_or_hangs_is_reported():
  answer, complaint = doctor.run_probe("import os; os.abort()")
  assert answer is None and complaint
  answer, complaint = doctor.run_probe("import time; time.sleep(60)", timeout=0.5)
  assert answer is None and "timed out" in complaint
  assert doctor.run_probe("raise SystemExit('no driver')") == (None, "no driver")
  assert doctor.run_probe("print('noise'); print([1, 2])") == ([1, 2], "")


def test_a_gpu_is_described(monkeypatch):
  monkeypatch.setattr(
    doctor, "run_probe", lambda program: ([13000, [["NVIDIA H200", "sm_90", 141 * 2**30, 1]], []], "")
  )
  rows = list(doctor.gpu())
  assert [(row.name, row.state) for row in rows] == [("GPU driver", "ok"), ("GPU", "ok")]
  assert [row.found for row in rows] == ["supports CUDA 13.0", "NVIDIA H200 (sm_90, 141 GiB)"]


def test_pairs_of_gpus_say_what_reaches_what(monkeypatch):
  gpus = [["NVIDIA L4", "sm_89", 24 * 2**30, 0]] * 3
  pairs = [[0, 1, True], [0, 2, False], [1, 2, True]]
  monkeypatch.setattr(doctor, "run_probe", lambda program: ([13000, gpus, pairs], ""))
  *_, row = doctor.gpu()
  assert row.name == "GPU pairs"
  assert "2 of 3 pairs reach each other's memory" in row.found
  assert "not 0 and 2" in row.found and "multicast: no" in row.found


def test_processes_that_cannot_share_memory_are_told(monkeypatch):
  def create(nbytes, address):
    raise segments.SegmentError("no memory here")

  monkeypatch.setattr(segments, "create", create)
  row = doctor._cpu_processes()
  assert row.state == "missing" and "Gloo" in row.found and "no memory here" in row.found


@pytest.mark.parametrize(
  ("complaint", "state"), [("OSError: libcuda.so.1: cannot open", "missing"), ("cuInit gives error 999", "broken")]
)
def test_a_driver_that_is_absent_and_one_that_fails_are_told_apart(monkeypatch, complaint, state):
  monkeypatch.setattr(doctor, "run_probe", lambda program: (None, complaint))
  driver, gpu = doctor.gpu()
  assert (driver.state, gpu.state) == (state, "missing")
  assert not driver.is_fatal


def test_the_cache_is_counted(monkeypatch, tmp_path):
  monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path / "kernels"))
  assert "empty" in doctor.cache().found
  (tmp_path / "kernels" / "a").mkdir(parents=True)
  (tmp_path / "kernels" / "a" / "b").write_bytes(bytes(3 * 2**20))
  assert "1 files, 3.0 MiB" in doctor.cache().found


@pytest.mark.parametrize(
  ("text", "numbers"),
  [("0.10.2", (0, 10, 2)), ("2.0", (2, 0)), ("0.11.3.dev4+g1", (0, 11, 3)), ("13.0rc1", (13, 0)), ("x", ())],
)
def test_version_tuple(text, numbers):
  assert doctor.version_tuple(text) == numbers
