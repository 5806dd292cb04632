"""The records of a search: its trials, and the result."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tilewright.tune.keys import Key
from tilewright.tune.timing import BUSY

OK, FAILED, PRUNED = "ok", "failed", "pruned"


@dataclasses.dataclass(frozen=True)
class Trial:
  """One candidate: its time, with the interval it lies in, or why it was thrown out."""

  number: int
  config: Mapping[str, Any]  # as JSON
  status: str
  seconds: float | None = None
  low: float | None = None
  high: float | None = None
  ratio: float | None = None  # to the incumbent, measured side by side
  samples: int = 0
  noise: float = 0.0
  phase: str = ""  # where it failed: compiling, running, checking
  reason: str = ""
  elapsed: float = 0.0  # since the search began

  def to_json(self) -> dict[str, Any]:
    return {k: v for k, v in dataclasses.asdict(self).items() if v not in (None, "")}


@dataclasses.dataclass(frozen=True)
class Result(Mapping[str, Any]):
  """The best configuration, as a mapping that can be given on: `matmul(x, y, **best)`. The rest says how it was found."""

  config: Mapping[str, Any]
  seconds: float
  default: Mapping[str, Any]
  default_seconds: float | None
  trials: tuple[Trial, ...]
  key: Key
  num_candidates: int
  elapsed: float
  seed: int
  finalists: tuple[Trial, ...] = ()  # measured again at the end, the default first
  is_exhaustive: bool = False
  is_interrupted: bool = False
  noise: float = 0.0
  busy: float = (
    0.0  # share of the time at the end for which threads of the most disturbed finalist waited for a processor
  )

  def __getitem__(self, name: str) -> Any:
    return self.config[name]

  def __iter__(self) -> Iterator[str]:
    return iter(self.config)

  def __len__(self) -> int:
    return len(self.config)

  def __repr__(self) -> str:
    return f"Result({dict(self.config)}, {self.summary()})"

  @property
  def gain(self) -> float | None:
    """The default's time divided by the best one's."""
    return None if self.default_seconds is None else self.default_seconds / self.seconds

  @property
  def failures(self) -> tuple[Trial, ...]:
    return tuple(t for t in self.trials if t.status != OK)

  @property
  def doubts(self) -> tuple[str, ...]:
    """Reasons to doubt the result; stored with the entry."""
    busy = f"others used the CPU: threads waited {100 * self.busy:.0f}% of the time, so the default stays"
    return (*([busy] if self.busy > BUSY else []), *(["interrupted"] if self.is_interrupted else []))

  def summary(self) -> str:
    gain = "" if self.gain is None else f", {self.gain:.3f} times as fast as the default"
    parts = [
      f"{self.seconds * 1e6:.4g} µs{gain}; {len(self.trials)} of {self.num_candidates} candidates in {self.elapsed:.1f} s"
    ]
    if self.failures:
      parts.append(f"{len(self.failures)} thrown out")
    if self.noise > 0.1:
      parts.append(f"the machine is noisy: samples scatter by {100 * self.noise:.0f}%, and measurements were repeated")
    return "; ".join([*parts, *self.doubts])

  def head(self) -> dict[str, Any]:
    """The first line of a log."""
    own = {"candidates": self.num_candidates, "seed": self.seed, "default": dict(self.default)}
    return dataclasses.asdict(self.key) | own

  def to_json(self) -> dict[str, Any]:
    found = {
      "config": dict(self.config),
      "seconds": self.seconds,
      "default_seconds": self.default_seconds,
      "gain": self.gain,
    }
    how = {
      "elapsed": self.elapsed,
      "exhaustive": self.is_exhaustive,
      "interrupted": self.is_interrupted,
      "noise": self.noise,
      "busy": self.busy,
    }
    finalists = {"finalists": [t.to_json() for t in self.finalists]}
    return self.head() | found | how | finalists


def line(record: Mapping[str, Any]) -> str:
  return json.dumps(record, ensure_ascii=False, default=str) + "\n"
