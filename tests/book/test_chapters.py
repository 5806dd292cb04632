"""The book is true: its programs run, print what it shows, and draw its pictures."""

from __future__ import annotations

import importlib.util
import itertools
import pathlib
import re
import sys
from unittest import mock

import pytest

from tilewright import hlo
from tilewright.pallas.lowering import RULES

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
spec = importlib.util.spec_from_file_location("generate_book", DOCS / "generate_book.py")
book = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(book)


@pytest.fixture(autouse=True)
def tables():
  """The chapter on extending the compiler adds rows: they go when it ends."""
  with mock.patch.dict(RULES), mock.patch.dict(hlo.PASSES):
    yield


@pytest.mark.usual_xla  # chapters show what users get
@pytest.mark.parametrize("chapter", book.chapters(), ids=lambda p: p.stem)
def test_a_chapter_prints_what_it_shows(chapter, tmp_path):
  assert book.run(chapter, tmp_path) == chapter.read_text()
  for drawn in tmp_path.iterdir():
    assert drawn.read_text() == (book.FIGURES / drawn.name).read_text(), drawn.name


def test_a_program_that_prints_something_else_is_noticed(tmp_path):
  page = tmp_path / "page.md"
  page.write_text("```python\nprint(6 * 7)\n```\n\n```text\n41\n```\n")
  assert book.run(page, tmp_path) == "```python\nprint(6 * 7)\n```\n\n```text\n42\n```\n"


def test_measurements_run_only_when_they_are_asked_for(tmp_path):
  page = tmp_path / "page.md"
  page.write_text("```python measured\nprint('fast')\n```\n\n```text measured\nslow\n```\n")
  assert "slow" in book.run(page, tmp_path)
  assert "fast" in book.run(page, tmp_path, measure=True).split("```text")[1]


def test_measured_rates_are_drawn(tmp_path):
  page = tmp_path / "page.md"
  measured = "one              0.6 GFLOP/s\nXLA (cuBLAS)      186 \u00b5s    1.2 GFLOP/s\nNo rate: 12 CTAs\n"
  page.write_text(f"![](figures/page.svg)\n\n```python measured\n1\n```\n\n```text measured\n{measured}```\n")
  book.run(page, tmp_path)
  drawn = (tmp_path / "page.svg").read_text()
  assert drawn.count("<rect") == 2 and ">0.6 GFLOP/s<" in drawn and ">XLA (cuBLAS)<" in drawn
  page.write_text(page.read_text().replace("GFLOP/s", "seconds"))
  with pytest.raises(ValueError, match="ends in a rate"):
    book.run(page, tmp_path)


def test_each_chapter_leads_to_the_next():
  order = re.findall(r"^\d+\. \[[^\]]+\]\((\w+\.md)\)", (book.BOOK / "README.md").read_text(), re.M)
  assert sorted(order) == sorted(p.name for p in book.chapters()) and len(order) == 13
  for number, (chapter, following) in enumerate(itertools.pairwise(order), 1):
    text = (book.BOOK / chapter).read_text()
    assert re.search(rf"^Next: \[[^\]]+\]\({re.escape(following)}\)\.", text, re.M), (
      f"{chapter} ends without a link to {following}"
    )
    assert re.match(rf"# {number}\. ", text), f"{chapter} is chapter {number}"
