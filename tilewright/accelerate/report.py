"""The report about a module: the decisions as data, as a table and as text."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

COLUMNS = ("fusion", "ops", "tile", "predicted", "measured", "speed-up", "why not")
_LONG = 50e-6  # seconds
RIGHT = ("predicted", "measured", "speed-up")


@dataclasses.dataclass(frozen=True)
class Decision:
  """One region: what it is, whether it became a kernel, and why not.

  `predicted` and `measured` are the seconds of XLA's instructions and of the kernel; measured ones, the shortest that were seen, are None
  unless they were asked for.
  """

  name: str
  members: tuple[str, ...]  # the names of XLA's instructions
  ops: tuple[str, ...]
  kind: str  # "tiles", or the name of a library kernel
  tile: str
  predicted: tuple[float, float] | None
  measured: tuple[float, float] | None = None
  why_not: str = ""
  seen: str = ""  # how far the measurements agreed

  @property
  def taken(self) -> bool:
    return not self.why_not

  @property
  def speedup(self) -> float | None:
    """Measured where it was, else predicted."""
    times = self.measured or self.predicted
    return None if times is None or not times[1] else times[0] / times[1]

  def row(self) -> tuple[str, ...]:
    speedup = self.speedup
    return (
      self.name,
      summary(self.ops),
      self.tile,
      _times(self.predicted),
      f"{_times(self.measured)} ({self.seen})" if self.seen else _times(self.measured),
      "" if speedup is None else f"{speedup:.2f}x",
      self.why_not,
    )


@dataclasses.dataclass(frozen=True)
class ModuleReport:
  """What was decided about one module of XLA, and how long that took."""

  module: str
  platform: str
  decisions: tuple[Decision, ...]
  seconds: float  # finding and compiling
  compile_seconds: float  # of kernels alone
  from_disk: bool = False
  note: str = ""  # what this costs apart from time

  @property
  def taken(self) -> tuple[Decision, ...]:
    return tuple(d for d in self.decisions if d.taken)

  @property
  def is_telling(self) -> bool:
    """Whether something became a kernel, or something that takes long did not."""
    return any(d.taken or d.kind != "tiles" or (d.predicted or (0.0,))[0] > _LONG for d in self.decisions)

  def title(self) -> str:
    return (
      f"{self.module} ({self.platform}): {len(self.taken)} of {len(self.decisions)} regions became kernels, in "
      f"{self.seconds:.2f} s, {self.compile_seconds:.2f} s of it to compile them"
    )

  def rows(self) -> list[tuple[Decision, tuple[str, ...]]]:
    """The rows of a table: kernels first, then what was left. Regions of the same ops that were left for the same reason are one row."""
    left: dict[tuple[str, str], list[Decision]] = {}
    for d in self.decisions:
      if not d.taken:
        left.setdefault((summary(d.ops), d.why_not), []).append(d)
    found = [(d, d.row()) for d in self.taken]
    for alike in left.values():
      first = alike[0]
      name = first.name if len(alike) == 1 else f"{first.name} and {len(alike) - 1} more"
      found.append((first, (name, *first.row()[1:])))
    return found

  def text(self) -> str:
    notes = [f"  {self.note}"] if self.note else []
    return "\n".join([self.title(), *_aligned([COLUMNS, *(row for _, row in self.rows())]), *notes])

  def to_json(self) -> str:
    return json.dumps(dataclasses.asdict(self))

  @staticmethod
  def from_json(text: str) -> ModuleReport:
    fields = json.loads(text)
    decisions = tuple(Decision(**{k: _tuples(v) for k, v in d.items()}) for d in fields.pop("decisions"))
    return ModuleReport(decisions=decisions, **fields)


def _tuples(value: Any) -> Any:
  return tuple(value) if isinstance(value, list) else value


def summary(ops: Sequence[str], max_ops: int = 6) -> str:
  """The kinds of ops, the most telling first: `reduce x2, exponential, multiply x3, …`."""
  counts: dict[str, int] = {}
  for op in ops:
    counts[op] = counts.get(op, 0) + 1
  order = sorted(counts, key=lambda op: (_RANK.get(op, 1), list(counts).index(op)))
  shown = [op if counts[op] == 1 else f"{op} x{counts[op]}" for op in order[:max_ops]]
  return ", ".join([*shown, "…"] if len(order) > max_ops else shown)


_RANK = {"dot": 0, "reduce": 0, "exponential": 0, "tanh": 0, "log": 0, "broadcast": 3, "constant": 4, "reshape": 4}


def _times(times: tuple[float, float] | None) -> str:
  return "" if times is None else f"{_seconds(times[0])} → {_seconds(times[1])}"


def _seconds(value: float) -> str:
  if value < 1e-3:
    return f"{value * 1e6:.0f} µs"
  return f"{value * 1e3:.2f} ms" if value < 1.0 else f"{value:.2f} s"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
  widths = [max(len(cell) for cell in column) for column in zip(*rows)]
  return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
