"""Listings: text of IR and assembly as lines, each with its location in the user's source.

The tile IR has it after each op (`// softmax.py:24:6 (softmax_kernel)`), assembly in `.loc` directives before its instructions:

    .file 1 "/home/me" "softmax.py"
    .loc 1 24 6                        the following instructions come from softmax.py, line 24, column 6
    vmulps %zmm1, %zmm2, %zmm2

Directives that only serve debuggers are omitted from the listing.
"""

from __future__ import annotations

import ast
import dataclasses
import os
import pathlib
import re
from collections.abc import Iterable, Sequence

from tilewright.target.llvm import locations

Place = tuple[str, int, int]  # file, line, column

_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)(?:\s+(\d+))?")
_LABEL = re.compile(r"\s*[\w.$@]+:")
_FOR_DEBUGGERS = re.compile(r"\s*(\.loc|\.file|\.cfi_\w+|[.$]L(tmp|func_|__tmp|__func)\S*:|//|#|\$?\.?L?__?debug)")
_ENTRY = re.compile(r"\s*(?:\.visible|\.weak|\.extern)?\s*\.(?:entry|func)\b")
_AROUND = 2  # lines shown around one that is not in a function


@dataclasses.dataclass(frozen=True)
class Line:
  """One line of a listing; `number` where it is a line of a file."""

  text: str
  place: Place | None = None
  number: int | None = None


@dataclasses.dataclass(frozen=True)
class Listing:
  """What one pane shows."""

  title: str
  lines: tuple[Line, ...]
  note: str = ""


def of_tile(title: str, text: str, note: str = "") -> Listing:
  """The tile IR; locations go from the ends of its lines into the links."""
  lines = []
  for line in text.rstrip().splitlines():
    code, mark, comment = line.partition("  // ")
    lines.append(Line(code, locations.parse(comment) if mark else None))
  return Listing(title, tuple(lines), note)


def of_ptx(ptx: str) -> Listing:
  """The functions of PTX."""
  kept, depth, inside = [], 0, False
  for line in _assembly(ptx):
    inside = inside or bool(_ENTRY.match(line.text))
    if inside and line.text.strip():
      kept.append(line)
    depth += line.text.count("{") - line.text.count("}")
    if inside and depth == 0 and line.text.strip() == "}":
      inside = False
  return Listing("PTX", tuple(kept))


def of_processor(assembly: str) -> Listing:
  """The functions of assembly for a processor."""
  lines = [line for line in _assembly(assembly) if _LABEL.match(line.text) or line.text[:1].isspace()]
  lines = [line for line in lines if (line.text.strip() and not line.text.strip().startswith(".")) or ":" in line.text]
  return Listing("Assembly", tuple(line for line in lines if not line.text.lstrip().startswith(".L__")))


def plain(assembly: str) -> str:
  """Assembly without its location directives, as if none had been recorded."""
  return "".join(line for line in assembly.splitlines(True) if not re.match(r"\s*\.(loc|file)\s", line))


def _assembly(text: str) -> Iterable[Line]:
  files = {m[1]: os.path.join(m[2], m[3]) if m[3] else m[2] for m in map(_FILE.match, text.splitlines()) if m}
  place: Place | None = None
  is_code = True
  for line in text.splitlines():
    if (found := _LOC.match(line)) is not None:
      number, row, column = found[1], int(found[2]), int(found[3] or 0)
      place = (files[number], row, column) if row and number in files else None
      continue
    if re.match(r"\s*\.section", line):
      is_code = bool(re.search(r"\.l?text\b", line))
      continue
    if not is_code or _FOR_DEBUGGERS.match(line):
      continue
    yield Line(line.replace("\t", "  ").rstrip(), None if _LABEL.match(line) else place)


def sources(listings: Sequence[Listing]) -> Iterable[Listing]:
  """The user's files that listings come from: the functions with such lines, and a few lines around others."""
  wanted: dict[str, set[int]] = {}
  for place in (line.place for listing in listings for line in listing.lines):
    if place is not None:
      wanted.setdefault(place[0], set()).add(place[1])
  for path, numbers in wanted.items():
    try:
      text = pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
      continue
    rows = text.splitlines()
    shown = _shown(text, numbers)
    lines, last = [], 0
    for n in sorted(n for n in shown if 0 < n <= len(rows)):
      if last and n > last + 1:
        lines.append(Line("⋮"))
      lines.append(Line(rows[n - 1], (path, n, 0), n))
      last = n
    yield Listing(os.path.basename(path), tuple(lines), path)


def _shown(text: str, numbers: set[int]) -> set[int]:
  around = lambda some: {n + k for n in some for k in range(-_AROUND, _AROUND + 1)}
  try:
    tree = ast.parse(text)
  except SyntaxError:
    return around(numbers)
  shown: set[int] = set()
  for node in ast.walk(tree):
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
      first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
      rows = range(first, node.end_lineno + 1)
      if any(n in rows for n in numbers):
        shown |= set(rows)
  return shown | around(numbers - shown)
