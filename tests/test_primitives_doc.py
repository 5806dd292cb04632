"""docs/primitives.md tells the truth: every primitive of this release of JAX is there, with its present state."""

from __future__ import annotations

import importlib
import json
import pathlib
import subprocess
import sys

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"
REGENERATE = "Regenerate docs/primitives.md with: python docs/generate_primitives.py"


@pytest.fixture(scope="module")
def generator():
  sys.path.insert(0, str(DOCS))
  return importlib.import_module("generate_primitives")


def test_the_document_is_current(generator):
  assert (DOCS / "primitives.md").read_text() == generator.document(generator.record()), REGENERATE


def test_every_primitive_is_there(generator):
  """In a process of its own, as other tests load modules of JAX that bring more primitives."""
  command = [sys.executable, str(DOCS / "generate_primitives.py"), "--names"]
  found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
  recorded = generator.record()
  for release, names in found.items():
    assert recorded.get(release) == names, f"{release}: {REGENERATE}"


def test_common_primitives_are_native(generator):
  common = "add mul exp dot_general reduce_sum broadcast_in_dim select_n while scan cond get swap iota program_id"
  assert [n for n in common.split() if generator.state(n) != generator.NATIVE] == []
