"""Run the chapters of docs/book and write what their programs print beneath them.

    python docs/generate_book.py [CHAPTER ...]        # runs, and rewrites what differs
    python docs/generate_book.py --measure [CHAPTER]  # the measured figures too

A chapter is one program: its `python` blocks run in order, in one namespace. A block may be followed by what it prints:

    ```text
    printed by every run; a test compares it
    ```

    ```text measured
    figures of the machine of the last `--measure`; not compared
    ```

Blocks marked `python measured` run only with `--measure`. Pictures are written by the programs themselves, to `FIGURES`; a chapter that
links to `figures/CHAPTER.svg` has a chart of its measured figures there (`book_charts`).
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import os
import pathlib
import re
import sys
import tempfile
from collections.abc import Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import book_charts

from tilewright.pallas import tpu as pltpu

BOOK = pathlib.Path(__file__).resolve().parent / "book"
FIGURES = BOOK / "figures"
FENCED = re.compile(
  r"^```(python(?: measured)?)\n(.*?)^```\n(?:\n```(text(?: measured)?)\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE
)


@dataclasses.dataclass(frozen=True)
class Block:
  """A program of a chapter with the line it begins at, and the span of the text that it prints, if the chapter shows it."""

  line: int
  code: str
  measured: bool
  output: tuple[int, int] | None


def chapters() -> list[pathlib.Path]:
  return sorted(p for p in BOOK.glob("*.md") if "```python" in p.read_text())


def blocks(text: str) -> Iterator[Block]:
  for found in FENCED.finditer(text):
    line = text.count("\n", 0, found.start(2))
    measured = found[1].endswith("measured") or (found[3] or "").endswith("measured")
    yield Block(line, found[2], measured, found.span(4) if found[3] else None)


@contextlib.contextmanager
def _workplace() -> Iterator[None]:
  """A temporary working directory, and the environment as before: a chapter may write files and set variables."""
  before, variables = os.getcwd(), dict(os.environ)
  with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    try:
      yield
    finally:
      os.chdir(before)
      os.environ.clear()
      os.environ.update(variables)


def run(chapter: pathlib.Path, figures: pathlib.Path, measure: bool = False) -> str:
  """The chapter's text with what its programs print now; its pictures go to `figures`."""
  text = chapter.read_text()
  pltpu.reset_tpu_interpret_mode_state()  # races that an earlier run found
  names: dict = {"__name__": chapter.stem, "FIGURES": figures}
  printed: list[tuple[tuple[int, int], str]] = []
  with _workplace():
    for block in blocks(text):
      if block.measured and not measure:
        continue
      out = io.StringIO()
      # Leading newlines make line numbers of messages and dumps those of the page.
      code = compile("\n" * block.line + block.code, chapter.name, "exec", dont_inherit=True)
      with contextlib.redirect_stdout(out):
        exec(code, names)
      if block.output:
        printed.append((block.output, "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())))
      elif out.getvalue():
        raise SystemExit(f"{chapter.name}:{block.line}: the program prints, and no text block follows it.")
  for (start, stop), output in reversed(printed):
    text = text[:start] + output + text[stop:]
  if f"(figures/{chapter.stem}.svg)" in text:
    shown = [text[slice(*block.output)] for block in blocks(text) if block.measured and block.output]
    (figures / f"{chapter.stem}.svg").write_text(book_charts.ladder("".join(shown)))
  return text


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("chapter", nargs="*", help="file names or their beginnings; all by default")
  parser.add_argument("--measure", action="store_true", help="run the measurements too, and write their figures")
  asked = parser.parse_args()
  FIGURES.mkdir(exist_ok=True)
  for chapter in chapters():
    if asked.chapter and not any(chapter.name.startswith(c) for c in asked.chapter):
      continue
    new = run(chapter, FIGURES, asked.measure)
    changed = new != chapter.read_text()
    chapter.write_text(new)
    if changed:  # longer output moves the lines that programs below name
      chapter.write_text(run(chapter, FIGURES))
    print(f"{chapter.name}: {'rewritten' if changed else 'as it was'}", file=sys.stderr)


if __name__ == "__main__":
  main()
