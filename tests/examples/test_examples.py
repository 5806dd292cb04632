"""Every example runs as a program and finds itself right; nothing in it is more than a user can write."""

from __future__ import annotations

import ast
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_the_examples_are_there():
  names = {path.stem for path in EXAMPLES}
  assert names >= {
    "vector_add",
    "matmul",
    "softmax",
    "layer_norm",
    "flash_attention",
    "block_sparse_matmul",
    "double_buffered_copy",
  }


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_runs_and_checks_itself(path):
  """Where it has kernels of its own, they become PTX too: see `every_kernel`."""
  watch = ["-m", "tests.nvgpu.every_kernel"] if "pallas" in path.read_text() else []
  env = os.environ | {"PYTHONPATH": str(ROOT)}
  command = [sys.executable, *watch, str(path)]
  done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=ROOT, timeout=300)
  assert done.returncode == 0, done.stdout + done.stderr
  assert done.stdout.strip().endswith(": ok")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_teaches_and_uses_public_modules_only(path):
  tree = ast.parse(path.read_text())
  assert len((ast.get_docstring(tree) or "").split()) >= 60
  modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
  assert {m for m in modules if m.startswith("tilewright")} <= {"tilewright", "tilewright.pallas"}
