"""docs/schedule.md says what its program prints."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_example_prints_what_the_document_says() -> None:
  text = (ROOT / "docs" / "schedule.md").read_text(encoding="utf-8")
  found = re.search(r"as it stands here\. -->\n```python\n(.*?)```.*?```\n(.*?)```", text, re.DOTALL)
  assert found is not None
  program, printed = found.groups()
  assert len(program.splitlines()) <= 20
  done = subprocess.run(
    [sys.executable, "-c", program],
    cwd=ROOT,
    capture_output=True,
    text=True,
    timeout=120,
    env={"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
  )
  assert done.returncode == 0, done.stderr
  assert done.stdout == printed
