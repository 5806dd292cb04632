"""The README and the guide show programs and commands that work as they stand there, and documents name what exists."""

from __future__ import annotations

import importlib
import logging
import math
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(language: str, document: str = "README.md") -> list[str]:
  return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / document).read_text(), re.DOTALL | re.MULTILINE)


def lines(program: str) -> list[str]:
  return [line for line in program.splitlines() if line.strip()]


def printed(program: str) -> str:
  env = os.environ | {"PYTHONPATH": str(ROOT)}
  done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env, timeout=120)
  assert done.returncode == 0, done.stderr
  return done.stdout


def test_the_kernel_prints_what_is_shown():
  kernel, _ = blocks("python")
  output, _ = blocks("text")
  assert len(lines(kernel)) <= 15
  assert printed(kernel) == output


def test_the_plain_program_becomes_a_kernel_as_shown():
  """Without `measure`: which of the two is faster is not for a test on a busy machine."""
  _, plain = blocks("python")
  _, output = blocks("text")
  asked = "tilewright.accelerate(measure=True, explain=True)"
  assert asked in plain
  out = printed(plain.replace(asked, "tilewright.accelerate(explain=True)"))
  said = "jit_head (cpu): 1 of 1 regions became kernels"
  assert out.startswith(said) and output.startswith(said)
  for column in ("fusion", "ops", "tile", "predicted", "measured", "speed-up"):
    assert column in out.splitlines()[1] and column in output.splitlines()[1]


def test_a_kernel_of_jax_runs_on_ours_as_shown():
  program, _, _ = blocks("python", "docs/guide.md")
  assert float(printed(program)) == 8  # the sum of eight ones


def test_the_layer_is_fused_as_shown():
  _, layer, _ = blocks("python", "docs/guide.md")
  z = (1 + 1e-6) ** -0.5  # every element of the product: 256 equal terms of z / 256, each sum rounded
  gelu = z / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))
  assert abs(float(printed(layer)) - gelu) < 8192 * 2.0**-24  # the mean of as many numbers, and gelu's slope is about 1


def test_the_pass_changes_a_compiled_program_as_shown():
  _, _, user_pass = blocks("python", "docs/guide.md")
  assert len(lines(user_pass)) <= 20
  error = float(printed(user_pass).split(":")[1])
  assert 1e-3 < error < 0.024  # XLA's own tanh would be far closer


def test_there_are_two_commands():
  demo, tests = (block.strip() for block in blocks("sh"))
  assert demo == "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/tilewright demo"
  assert tests == "python3 -m venv .venv && .venv/bin/pip install -e '.[test]' && .venv/bin/python -m pytest -n 2"


def test_ci_is_executable():
  assert os.access(ROOT / ".ci" / "run", os.X_OK)


documents = pytest.mark.parametrize(
  "document",
  ["README.md", "CONTRIBUTING.md", *(str(p.relative_to(ROOT)) for p in sorted((ROOT / "docs").rglob("*.md")))],
)


@documents
def test_links_lead_somewhere(document):
  path = ROOT / document
  links = re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text())
  assert not [link for link in links if not (path.parent / link).exists()]


def is_there(dotted: str) -> bool:
  """Whether a dotted name is that of a module, of something in one, or of a logger."""
  module, _, name = dotted.rpartition(".")
  try:
    importlib.import_module(dotted)
    return True
  except ImportError:
    in_module = bool(module) and is_there(module) and hasattr(importlib.import_module(module), name)
    return in_module or dotted in logging.root.manager.loggerDict


@documents
def test_what_it_names_is_there(document):
  named = re.findall(r"`(tilewright(?:\.\w+)+)[^`]*`", (ROOT / document).read_text())
  assert not [name for name in dict.fromkeys(named) if not is_there(name)]


def test_what_is_not_there_is_noticed():
  assert is_there("tilewright.pallas.tpu") and is_there("tilewright.ops.matmul")
  assert not is_there("tilewright.ops.matmull") and not is_there("tilewright.nothing.at_all")
