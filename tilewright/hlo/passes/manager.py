"""The pass manager: runs passes in order, to a fixed point, with timing, dumps and differences.

    report = run_passes(module, ["call_inliner", "cse", "dce", my_pass], fixed_point=True)
    print(report)           # one line per pass: changed or not, seconds, instructions before and after
    print(report.diff())    # what changed, as a text difference, pass by pass (keep_text=True)

A pass that raises leaves the module as it was: `on_error="raise"` then raises `PassFailed` (with the pass and the cause),
`on_error="skip"` records it in the report and continues. `verify=True` checks the module after every pass that changed it;
`strict=True` (for tests) also checks that a pass which reports no change made none. A violation counts as a failure of that pass.

With `TILEWRIGHT_DUMP=dir` the text before the first pass and after each one that changed something is written to
`dir/hlo/<module>.<n>/`, with the report beside it.
"""

from __future__ import annotations

import difflib
import itertools
import os
import pathlib
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tilewright.hlo.errors import HloError
from tilewright.hlo.ir import Module
from tilewright.hlo.passes.base import Pass, PassLike, as_pass
from tilewright.hlo.passes.snapshot import Snapshot

MAX_ROUNDS = 25  # a fixed point that takes longer is two passes undoing each other


class PassFailed(HloError, RuntimeError):
  """A pass raised. The module is as it was before that pass; `__cause__` is the original exception."""

  def __init__(self, name: str, module: str, cause: BaseException) -> None:
    self.pass_name = name
    super().__init__(
      f"pass {name} failed on module {module}, which is as it was before: {type(cause).__name__}: {cause}"
    )


@dataclass(frozen=True, slots=True)
class PassRun:
  """One run of one pass."""

  name: str
  round: int
  changed: bool
  seconds: float
  instructions_before: int
  instructions_after: int
  error: BaseException | None = None
  before: str | None = None  # text, where it was kept and the pass changed something
  after: str | None = None

  def diff(self, context: int = 2) -> str:
    """The lines that changed, in unified form; empty if nothing did."""
    if self.before is None or self.after is None:
      return ""
    names = (f"before {self.name}", f"after {self.name}")
    lines = difflib.unified_diff(self.before.splitlines(), self.after.splitlines(), *names, lineterm="", n=context)
    return "\n".join(lines)

  def __str__(self) -> str:
    what = f"failed: {self.error}" if self.error is not None else "changed" if self.changed else "-"
    counts = (
      f"{self.instructions_before} → {self.instructions_after}" if self.changed else f"{self.instructions_before}"
    )
    return f"{self.round:>2}  {self.name:<28} {what:<8} {self.seconds * 1e3:9.2f} ms  {counts}"


@dataclass(slots=True)
class Report:
  """The result of `run_passes`."""

  module: str
  runs: list[PassRun] = field(default_factory=list)

  @property
  def changed(self) -> bool:
    return any(run.changed for run in self.runs)

  @property
  def failures(self) -> list[PassRun]:
    return [run for run in self.runs if run.error is not None]

  @property
  def seconds(self) -> float:
    return sum(run.seconds for run in self.runs)

  def diff(self, context: int = 2) -> str:
    """The difference each pass made, one after another (needs keep_text=True)."""
    return "\n".join(filter(None, (run.diff(context) for run in self.runs)))

  def __str__(self) -> str:
    head = f"module {self.module}: {len(self.runs)} runs, {self.seconds * 1e3:.2f} ms"
    return "\n".join([head, *map(str, self.runs)])


def run_passes(
  module: Module,
  passes: Sequence[PassLike],
  *,
  fixed_point: bool = False,
  verify: bool = False,
  strict: bool = False,
  on_error: Literal["raise", "skip"] = "raise",
  keep_text: bool = False,
  dump: str | os.PathLike[str] | None = None,
) -> Report:
  """Runs passes over a module, which they change in place.

  Args:
    module: what they run over.
    passes: functions on modules, `Pass`es, or names of registered ones.
    fixed_point: run all of them again and again, until a whole round changes nothing.
    verify: check after each pass that changed something that the module is legal.
    strict: the same, and a pass that changes the module but reports no change has failed.
    on_error: how to treat a pass that raises: "raise", or "skip" it. Either way the module is as it was before that pass.
    keep_text: keep the text before and after each change, for `Report.diff`.
    dump: a folder for the text of each stage.

  Raises:
    PassFailed: where a pass raised, and `on_error` is "raise".
  """
  report = Report(module.name)
  folder = _dump_folder(module, dump)
  runner = _Runner(module, report, verify, strict, on_error == "raise", keep_text or folder is not None)
  todo = [as_pass(item) for item in passes]
  if folder is not None:
    _write(folder / "00.input.hlo", module.to_text())
  try:
    for number in range(1, MAX_ROUNDS + 1):
      changed = [runner.run(item, number) for item in todo]
      if not fixed_point or not any(changed):
        break
    else:
      names = ", ".join(item.name for item, c in zip(todo, changed) if c)
      raise HloError(
        f"no fixed point on module {module.name} after {MAX_ROUNDS} rounds: {names} still change it. Passes that undo each "
        "other cannot run to a fixed point together."
      )
  finally:
    if folder is not None:
      _dump(folder, report)
  return report


class _Runner:
  def __init__(self, module: Module, report: Report, verify: bool, strict: bool, raises: bool, keep_text: bool) -> None:
    self.module = module
    self.report = report
    self.verify = verify
    self.strict = strict
    self.raises = raises
    self.keep_text = keep_text
    self._snapshot: Snapshot | None = None
    self._text: str | None = None

  def run(self, item: Pass, number: int) -> bool:
    # A pass that changed nothing leaves the last snapshot and text good.
    if self._snapshot is None:
      self._snapshot = Snapshot(self.module)
    if self._text is None and (self.keep_text or self.strict):
      self._text = self.module.to_text()
    before, text = self.module.instruction_count, self._text
    start = time.perf_counter()
    changed, error = False, None
    try:
      changed = bool(item.run(self.module))
      seconds = time.perf_counter() - start
      after_text = self.module.to_text() if self.strict or (changed and self.keep_text) else None
      self._check(changed, text, after_text)
    except Exception as caught:
      seconds = time.perf_counter() - start
      self._snapshot.restore()
      changed, error, after_text = False, caught, None
    kept = (text, after_text) if changed and self.keep_text else (None, None)
    run = PassRun(item.name, number, changed, seconds, before, self.module.instruction_count, error, *kept)
    self.report.runs.append(run)
    if changed:
      self._snapshot, self._text = None, after_text
    if error is not None and self.raises:
      raise PassFailed(item.name, self.module.name, error) from error
    return changed

  def _check(self, changed: bool, before: str | None, after: str | None) -> None:
    if self.strict and not changed and before != after:
      raise HloError("it returned False, but the module has changed")
    if changed and (self.verify or self.strict):
      from tilewright.hlo.verify import verify

      verify(self.module)


_counter = itertools.count()


def _dump_folder(module: Module, dump: str | os.PathLike[str] | None) -> pathlib.Path | None:
  top = dump if dump is not None else os.environ.get("TILEWRIGHT_DUMP") or None
  if top is None:
    return None
  name = re.sub(r"[^\w.-]", "_", module.name)[:80]
  while True:
    folder = pathlib.Path(top) / "hlo" / f"{name}.{next(_counter)}"
    try:
      folder.mkdir(parents=True)
      return folder
    except FileExistsError:
      continue


def _dump(folder: pathlib.Path, report: Report) -> None:
  for number, run in enumerate(_changes(report), start=1):
    _write(folder / f"{number:02}.{run.name}.hlo", run.after or "")
    _write(folder / f"{number:02}.{run.name}.diff", run.diff())
  _write(folder / "report.txt", str(report))


def _changes(report: Report) -> Iterator[PassRun]:
  return (run for run in report.runs if run.changed)


def _write(path: pathlib.Path, text: str) -> None:
  path.write_text(text + "\n", encoding="utf-8")
