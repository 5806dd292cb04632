"""docs/build_site.py: links lead to pages or stop the build, docstrings become Markdown, every document has its place."""

from __future__ import annotations

import importlib
import pathlib
import sys

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"


@pytest.fixture(scope="module")
def site():
  sys.path.insert(0, str(DOCS))
  return importlib.import_module("build_site")


@pytest.fixture(scope="module")
def reference(site):
  return importlib.import_module("reference")


@pytest.mark.parametrize(
  ("source", "page", "text", "wanted"),
  [
    ("README.md", "index.md", "[a](docs/hlo.md)", "[a](hlo.md)"),
    ("README.md", "index.md", "![a](docs/images/explain_softmax.png)", "![a](images/explain_softmax.png)"),
    ("README.md", "index.md", "[a](examples)", "a (`examples`)"),
    ("README.md", "index.md", "[a](CONTRIBUTING.md)", "[a](contributing.md)"),
    ("docs/book/layouts.md", "book/layouts.md", "[a](../hlo.md#passes)", "[a](../hlo.md#passes)"),
    ("docs/book/layouts.md", "book/layouts.md", "[`tile/ops.py`](../../tilewright/tile/ops.py)", "`tile/ops.py`"),
    ("docs/hlo.md", "hlo.md", "[a](https://docs.jax.dev) [b](#here)", "[a](https://docs.jax.dev) [b](#here)"),
    ("docs/hlo.md", "hlo.md", "```python\nx[0](nowhere.md)\n```", "```python\nx[0](nowhere.md)\n```"),
  ],
)
def test_links_lead_to_pages_and_files_without_one_are_named(site, source, page, text, wanted):
  assert site.relinked(text, DOCS.parent / source, pathlib.PurePosixPath(page)) == wanted


def test_a_link_that_leads_nowhere_stops_the_build(site):
  with pytest.raises(site.BrokenLink, match=r"docs/hlo.md: the link \[a\]\(nowhere.md\) leads nowhere"):
    site.relinked("[a](nowhere.md)", DOCS / "hlo.md", pathlib.PurePosixPath("hlo.md"))


def test_every_document_has_its_place(site):
  listed = {page for pages in site.PARTS.values() for page in pages}
  made = {"contributing", "changelog", "charts", "reference/index"}
  assert {path.stem for path in DOCS.glob("*.md")} | made | {"book/README"} == listed
  chapters = (DOCS / "book" / "README.md").read_text()
  missing = [
    path.name for path in (DOCS / "book").glob("*.md") if path.name != "README.md" and f"({path.name})" not in chapters
  ]
  assert not missing


def test_docstrings_become_markdown(reference):
  text = "First, `*a*` and *b*.\n\n    code *c*\n\nArgs:\n  x: an array,\n    of *any* shape.\n  y: another.\n\nEnd."
  page = reference.markdown(text)
  assert "`*a*` and \\*b\\*." in page
  assert "````\n    code *c*" in page
  assert "- `x`: an array, of \\*any\\* shape.\n- `y`: another." in page
  assert page.count("````") == 2


def test_signatures_are_shown_without_what_only_python_can_read(reference):
  def f(self, a, *, b=(1, 2), c="x", d=None, **rest): ...

  assert reference.signature(f, skip_self=True) == "(a, *, b=…, c='x', d=None, **rest)"


def test_the_reference_has_the_names_that_people_import(reference):
  page = reference.page("tilewright.ops")
  assert "{py:function} tilewright.ops.softmax(" in page and "Library kernels" in page
  names = set(reference.public_names(importlib.import_module("tilewright.pallas")))
  assert {"BlockSpec", "pallas_call", "program_id", "when"} <= names and not any(n.startswith("_") for n in names)
