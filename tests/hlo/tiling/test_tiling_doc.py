"""docs/tiling.md says what its program prints."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[3]


def test_the_worked_example_prints_what_the_document_says() -> None:
  text = (ROOT / "docs" / "tiling.md").read_text(encoding="utf-8")
  found = re.search(r"as it stands here. -->\n```python\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)
  assert found is not None
  printed = io.StringIO()
  with contextlib.redirect_stdout(printed):
    exec(found[1], {})
  assert printed.getvalue() == found[2]
