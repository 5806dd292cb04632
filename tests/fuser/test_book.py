"""The chapter on pull and push is true: its code runs, and its drawing is the one that is made now."""

from __future__ import annotations

import pathlib
import re

import pytest

from tilewright import fusing, ops
from tilewright.viz import fusion as drawing

BOOK = pathlib.Path(__file__).resolve().parents[2] / "docs" / "book"
PAGE = BOOK / "pull_and_push.md"


@pytest.fixture(scope="module")
def names():
  """What the code blocks of the page define, run one after another."""
  found: dict = {"__name__": "pull_and_push"}
  for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S):
    exec(compile(block, str(PAGE), "exec"), found)
  return found


def test_the_code_of_the_chapter_runs(names):
  assert "explanation" in names


def test_the_drawing_is_current(names):
  """Regenerate it by writing what this computes to docs/book/pull_and_push.svg."""
  args = [names[a] for a in ("x", "w", "b", "residual")]
  assert (BOOK / "pull_and_push.svg").read_text() == drawing.svg(
    fusing.explain_fusion(names["layer"], *args, kernel=ops.matmul)
  )
