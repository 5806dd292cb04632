"""A few of the random programs of `python -m tests.hlo.random_collectives`, in a process with devices of its own."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_passes_inside_xla_do_not_change_random_collective_programs() -> None:
  env = os.environ | {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
  command = [sys.executable, "-m", "tests.hlo.random_collectives", "--count", "6", "--seed", "501"]
  done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=ROOT, timeout=300)
  assert done.returncode == 0 and "6 programs, 0 faults" in done.stdout, done.stdout + done.stderr
