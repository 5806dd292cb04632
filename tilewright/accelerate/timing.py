"""Which of two programs is faster, on a machine that may be doing other things.

The two take turns, in batches. A batch compares the shortest times: what disturbs a program makes it longer, never shorter. The answer
counts when two batches in a row saw nearly the same shortest times, the shortest of all, and give the same answer:

    batch 1   XLA 80 us, ours 71 us   1.13 times as fast
    batch 2   XLA 79 us, ours 52 us   1.52 times as fast    ours was disturbed in batch 1
    batch 3   XLA 79 us, ours 53 us   1.49 times as fast    twice the same: faster

If batches disagree until time is up, processor time decides, which waiting for other processes does not add to; it says "faster" only by a
larger margin, as XLA may use fewer threads. Otherwise the answer is no.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

MARGIN, MARGIN_PROCESSOR = 1.03, 1.1  # what the second program must be faster by
_TURNS, _MOST_TURNS, _BATCH_SECONDS = 5, 40, 0.03  # of a batch
_MOST_BATCHES, _SECONDS = 8, 1.0  # after which no batch is begun
_SAME = 1.1  # times that differ by less were not disturbed


@dataclass(frozen=True)
class Sample:
  """Seconds of one call: by the clock, and of all threads of this process (None where that says nothing)."""

  wall: float
  processor: float | None = None


@dataclass(frozen=True)
class Comparison:
  """The shortest times of both, the speed-ups that batches found, and the answer."""

  theirs: float
  ours: float
  speedups: tuple[float, ...]
  is_faster: bool
  agrees: bool = True  # whether batches said the same in the end
  processor_speedup: float | None = None  # where that decided

  def text(self) -> str:
    """What was seen, for the report."""
    seen = f"{min(self.speedups):.2f} to {max(self.speedups):.2f} times as fast in {len(self.speedups)} batches"
    if self.processor_speedup is not None:
      return f"{seen}, {self.processor_speedup:.2f} by processor time"
    return seen if self.agrees else f"{seen}, which disagree"

  def to_json(self) -> dict[str, Any]:
    return asdict(self)

  @staticmethod
  def from_json(fields: dict[str, Any]) -> Comparison:
    return Comparison(**{**fields, "speedups": tuple(fields["speedups"])})


def compare(
  theirs: Callable[[], Sample], ours: Callable[[], Sample], clock: Callable[[], float] = time.perf_counter
) -> Comparison:
  """Whether `ours` is faster than `theirs`; each call of one gives one sample."""
  begun = clock()
  found: tuple[list[Sample], list[Sample]] = ([], [])
  shortest: list[tuple[float, float]] = []  # of each batch
  while True:
    batch = _batch((theirs, ours), clock)
    for all_samples, new in zip(found, batch):
      all_samples += new
    shortest.append((_shortest(batch[0]), _shortest(batch[1])))
    best = _shortest(found[0]), _shortest(found[1])
    speedups = tuple(a / b for a, b in shortest)
    is_faster = best[0] / best[1] >= MARGIN
    last = shortest[-2:]
    is_settled = len(last) == 2 and all(a <= b * _SAME for times in last for a, b in zip(times, best))
    if is_settled and all((s >= MARGIN) == is_faster for s in speedups[-2:]):
      return Comparison(*best, speedups, is_faster)
    if len(shortest) >= _MOST_BATCHES or (len(shortest) > 2 and clock() - begun > _SECONDS):
      return _by_processor_time(found, best, speedups)


def _batch(programs: Sequence[Callable[[], Sample]], clock: Callable[[], float]) -> tuple[list[Sample], list[Sample]]:
  found: tuple[list[Sample], list[Sample]] = ([], [])
  begun = clock()
  for turn in range(_MOST_TURNS):
    if turn >= _TURNS and clock() - begun > _BATCH_SECONDS:
      break
    for which in (0, 1) if turn % 2 == 0 else (1, 0):  # neither is always the one that finds the caches of the other
      found[which].append(programs[which]())
  return found


def _by_processor_time(
  found: tuple[list[Sample], list[Sample]], best: tuple[float, float], speedups: tuple[float, ...]
) -> Comparison:
  spent = [[s.processor for s in samples if s.processor] for samples in found]
  if not all(spent):
    return Comparison(*best, speedups, is_faster=False, agrees=False)
  ratio = min(spent[0]) / min(spent[1])
  return Comparison(*best, speedups, ratio >= MARGIN_PROCESSOR, agrees=False, processor_speedup=ratio)


def _shortest(samples: Sequence[Sample]) -> float:
  return max(min(s.wall for s in samples), 1e-9)
