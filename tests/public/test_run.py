"""`tilewright run`: a program for JAX's Pallas as it stands, on our kernels, and compared with JAX's."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import numpy as np
import pytest

from tilewright.cli import main, recording, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
import jax, jax.numpy as jnp
from jax.experimental import pallas as pl

def exp_kernel(x_ref, o_ref):
  o_ref[...] = jnp.exp(x_ref[...])

@jax.jit
def f(x):
  return jax.vmap(pl.pallas_call(exp_kernel, jax.ShapeDtypeStruct((8,), x.dtype)))(x)

y = f(jnp.linspace(0, 1, 16).reshape(2, 8))
print(pl.BlockSpec.__module__, *sys.argv[1:], jax.devices()[0].device_kind)
"""


def run_program(tmp_path, *options):
  path = tmp_path / "program.py"
  path.write_text(PROGRAM)
  command = [sys.executable, "-m", "tilewright", "run", *options, str(path), "--own", "x"]
  return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_a_program_runs_unchanged_and_is_compared_with_the_original(tmp_path):
  done = run_program(tmp_path, "--check", "--as", "v6e")
  assert done.returncode == 0, done.stderr
  assert "tilewright.pallas.specs --own x TPU v6 lite" in done.stdout
  assert done.stdout.count("same") == 2 and "exp_kernel (0)" in done.stdout


@pytest.mark.parametrize(
  "source, code, said",
  [("import sys; sys.exit(7)", 7, ""), ("exit('no')", 1, "no\n"), ("def f():\n  1 / 0\nf()", 1, "ZeroDivisionError")],
)
def test_the_program_ends_as_it_would_alone(source, code, said, tmp_path, monkeypatch, capsys):
  path = tmp_path / "program.py"
  path.write_text(source)
  monkeypatch.setattr(sys, "argv", [])
  monkeypatch.setattr(sys, "path", ["", *sys.path])
  assert run.execute([str(path)], is_module=False)[0] == code
  errors = capsys.readouterr().err
  assert said in errors
  if "Traceback" in errors:
    assert "program.py" in errors.splitlines()[1]


@pytest.mark.parametrize("argv", [[], ["nothing_there.py"], ["--interpret", "--target", "cpu", __file__]])
def test_a_wrong_command_line_says_so(argv, capsys):
  assert main(["run", *argv]) == 2
  assert "tilewright run:" in capsys.readouterr().err


def array(*values, dtype=np.float32):
  return np.array(values, dtype)


@pytest.mark.parametrize(
  "ours, theirs, agrees",
  [
    (array(1, 2), array(1, 2 + 1e-6), True),
    (array(1, 2), array(1, 2.01), False),
    (array(1, np.nan), array(1, np.nan), True),
    (array(1, np.nan), array(1, 0), False),
    (array(1, 0), array(1, np.nan), False),
    (array(np.inf, 1), array(np.inf, 1), True),
    (array(np.inf, 1), array(1e30, 1), False),
    (array(1, 2, dtype=np.int32), array(1, 2, dtype=np.int32), True),
    (array(1, 2, dtype=np.int32), array(1, 3, dtype=np.int32), False),
    (array(1, 2), array(1, 2, dtype=np.float64), False),
    (array(), array(), True),
  ],
)
def test_what_counts_as_the_same(ours, theirs, agrees):
  assert recording.compare([ours], [theirs], 2e-5).agrees == agrees


def test_runs_of_several_devices_are_the_same_in_any_order():
  a, b, c = [array(1)], [array(2)], [array(3)]
  assert recording.compare_runs([a, b], [b, a], 1e-6).agrees
  assert not recording.compare_runs([a, b], [b, c], 1e-6).agrees
  assert not recording.compare_runs([a], [a, a], 1e-6).agrees


def test_a_difference_is_reported(capsys):
  ours, theirs = recording.Recording(), recording.Recording()
  for side, value in ((ours, 1), (theirs, 2)):
    side.add_results(side.add_call("same_kernel"), array(5))
    side.add_results(side.add_call("other_kernel"), array(value))
  assert not recording.report(ours, theirs, None)
  assert [line.split()[-2] for line in capsys.readouterr().out.splitlines() if "kernel (" in line] == [
    "same",
    "DIFFERENT",
  ]
