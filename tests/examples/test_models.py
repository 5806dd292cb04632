"""The models compile for devices that are not there, and our order with passes exposes less communication than XLA's."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_no_model_exposes_more_communication_and_most_expose_less():
  env = os.environ | {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
  command = [sys.executable, "-m", "examples.models.compare", "--size", "0.06"]
  done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=ROOT, timeout=300)
  assert done.returncode == 0, done.stdout + done.stderr
  rows = re.findall(r"^(\w+) +([\d.]+) µs +([\d.]+) µs", done.stdout, re.MULTILINE)
  assert len(rows) == 5 and all(float(ours) <= float(xla) for _, xla, ours in rows)
  assert int(re.findall(r"geometric mean .*: (\d+)%", done.stdout)[0]) <= 85
