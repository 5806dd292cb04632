"""Progress of a search on the terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from tilewright.tune.trials import Trial

Report = Callable[[Trial, Trial | None], None]


@contextlib.contextmanager
def reporter(task: Any, wanted: bool | None) -> Iterator[Report | None]:
  """The callback that a search calls for each trial: a progress bar on stderr with the best time so far."""
  if wanted is False:
    yield None
    return
  try:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
  except ImportError:
    yield None
    return
  console = Console(stderr=True)
  if wanted is None and not console.is_terminal:
    yield None
    return
  total = min(len(task.candidates), task.budget.trials or len(task.candidates))
  columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
  with Progress(*columns, console=console, transient=True) as bar:
    shown = bar.add_task(f"tuning {task.key.kernel}", total=total)
    failed = 0

    def report(trial: Trial, best: Trial | None) -> None:
      nonlocal failed
      failed += trial.seconds is None
      fastest = "" if best is None or best.seconds is None else f": {best.seconds * 1e6:.4g} µs"
      thrown = f", {failed} thrown out" if failed else ""
      bar.update(shown, advance=1, description=f"tuning {task.key.kernel}{fastest}{thrown}")

    yield report
