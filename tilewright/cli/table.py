"""Tables and progress on the terminal, with rich where it is installed and as plain text where it is not."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Callable, Iterator, Sequence

_COLOURS = {"ok": "green", "FAILED": "bold red", "missing": "yellow", "broken": "bold red", "too old": "bold red"}
_WIDE = 200  # columns if the output is not a terminal: nothing is cut or folded


def print_table(
  title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()
) -> None:
  """Print rows under a header; the columns named in `right` are aligned to the right."""
  try:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text
  except ImportError:
    _print_plain(title, columns, rows)
    return
  table = Table(title=title, title_justify="left", title_style="bold", header_style="bold")
  for column in columns:
    table.add_column(column, justify="right" if column in right else "left", overflow="fold")
  for row in rows:
    table.add_row(*(Text(cell, style=_COLOURS.get(cell, "")) for cell in row))
  Console(width=_width()).print(table)


def _width() -> int | None:
  """The width of a table: None leaves it to the terminal. Output piped through `less` or `tee` still ends in the terminal of the other
  streams, and COLUMNS overrides it in any case."""
  if sys.stdout.isatty():
    return None
  with contextlib.suppress(ValueError):
    return max(1, int(os.environ.get("COLUMNS", "")))
  for stream in (sys.__stderr__, sys.__stdin__):
    with contextlib.suppress(AttributeError, OSError, ValueError):
      return os.get_terminal_size(stream.fileno()).columns or _WIDE  # type: ignore[union-attr]
  return _WIDE


def _print_plain(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
  widths = [max(len(cell) for cell in cells) for cells in zip(columns, *rows)]
  print(title)
  for row in (columns, *rows):
    print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


@contextlib.contextmanager
def progress(total: int) -> Iterator[Callable[[str], None]]:
  """A progress bar on the terminal's error stream, lines where that is none; call what it gives with the name of each step as it begins."""
  try:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
  except ImportError:
    yield _counting(total)
    return
  console = Console(stderr=True)
  if not console.is_terminal:
    yield _counting(total)
    return
  bar = Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=console, transient=True)
  with bar:
    task = bar.add_task("", total=total)
    begun = False

    def begin(name: str) -> None:
      nonlocal begun
      bar.update(task, description=name, advance=1 if begun else 0)
      begun = True

    yield begin


def _counting(total: int) -> Callable[[str], None]:
  steps = itertools.count(1)
  return lambda name: print(f"[{next(steps)}/{total}] {name}", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
  """A time with three digits and a unit that suits it."""
  for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
    if seconds >= scale:
      return f"{seconds / scale:.3g} {unit}"
  return f"{seconds / 1e-9:.3g} ns"
