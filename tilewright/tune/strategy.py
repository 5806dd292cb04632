"""The search strategy: which candidate to try next. Nothing here measures: `ask` returns candidates, `tell` takes their times.

    strategy = Strategy(space, candidates, seed=0, first=[default], predicted=None, trials=50)
    while batch := strategy.ask(4):
      for n in batch: strategy.tell(n, measure(candidates[n]))      # seconds, or None where it failed
    strategy.best

A space that is small, or no larger than the number of trials, is tried as a whole, in the order of predicted times. Of others the default
comes first, then those that the cost model likes and some at random; after that, in turns, candidates of which a model fitted to the
times so far expects the largest improvement, and neighbours of the best. A failure counts as a slow candidate, so that the model learns
to stay away. The search is deterministic given the seed and the times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tilewright.tune.space import Config, Space
from tilewright.tune.surrogate import Model, expected_improvement

SMALL = 48  # candidates that are all tried, whatever the budget
_LIKED = 4  # of the first candidates that the cost model chooses
_RARE = 4  # one candidate of so many is a neighbour of the best
_FAILED = math.log(4.0)  # how much slower than the slowest a failure counts
_CONSIDERED = 4000  # candidates the model is asked about


class Strategy:
  """The state of a search."""

  def __init__(
    self,
    space: Space,
    candidates: Sequence[Config],
    *,
    seed: int = 0,
    first: Sequence[int] = (),
    predicted: np.ndarray | None = None,
    trials: int | None = None,
  ) -> None:
    self.space, self.candidates, self.seed = space, candidates, seed
    self.predicted = predicted
    self.features = space.features(candidates)
    if predicted is not None:
      self.features = np.column_stack([self.features, np.log(np.maximum(predicted, 1e-12))])
    self.rng = np.random.default_rng(seed)
    self.times: dict[int, float | None] = {}
    self.proposed: set[int] = set()
    self.is_exhaustive = len(candidates) <= max(SMALL, trials or 0)
    self._places = {space.key(c): n for n, c in enumerate(candidates)}
    self._queue = list(dict.fromkeys([*first, *(self._everything() if self.is_exhaustive else self._start(trials))]))

  def _everything(self) -> list[int]:
    order = np.arange(len(self.candidates)) if self.predicted is None else np.argsort(self.predicted, kind="stable")
    return [int(n) for n in order]

  def _start(self, trials: int | None) -> list[int]:
    """What is tried before there is anything to learn from: a fifth of the trials, between six and sixteen."""
    count = 10 if trials is None else max(6, min(16, trials // 5))
    liked = [] if self.predicted is None else [int(n) for n in np.argsort(self.predicted, kind="stable")[:_LIKED]]
    return [*liked, *self._spread(count - len(liked))]

  def _spread(self, count: int) -> list[int]:
    """Random candidates, each the farthest of a few from those before it."""
    scale = np.maximum(np.ptp(self.features, axis=0), 1e-9) if len(self.features) else 1.0
    points = self.features / scale
    chosen: list[int] = []
    for _ in range(count):
      some = self.rng.integers(len(points), size=8)
      if not chosen:
        chosen.append(int(some[0]))
        continue
      far = np.min(np.abs(points[some][:, None] - points[chosen][None]).sum(-1), axis=1)
      chosen.append(int(some[int(np.argmax(far))]))
    return chosen

  @property
  def best(self) -> int | None:
    """The fastest candidate so far."""
    known = [(t, n) for n, t in self.times.items() if t is not None]
    return min(known)[1] if known else None

  @property
  def is_done(self) -> bool:
    return len(self.proposed) == len(self.candidates)

  def tell(self, candidate: int, seconds: float | None) -> None:
    self.proposed.add(candidate)
    self.times[candidate] = seconds

  def ask(self, count: int) -> list[int]:
    """The next candidates, at most so many; none when all were tried."""
    found: list[int] = []
    while len(found) < count and len(self.proposed) < len(self.candidates):
      self._queue = [n for n in self._queue if n not in self.proposed]
      if self._queue:
        some = [self._queue.pop(0)]
      elif found:
        break  # what comes next depends on the times of these
      else:
        some = self._chosen(count)
      found += some
      self.proposed.update(some)
    return found

  def _chosen(self, count: int) -> list[int]:
    """The candidates that the model expects most of, and now and then a neighbour of the best."""
    rest = np.array([n for n in range(len(self.candidates)) if n not in self.proposed])
    if len(rest) > _CONSIDERED:
      near = [n for n in self._neighbours() if n not in self.proposed]
      rest = np.unique(np.concatenate([self.rng.choice(rest, _CONSIDERED, replace=False), np.array(near, np.int64)]))
    if self.best is None:
      return [int(n) for n in self.rng.permutation(rest)[:count]]
    known = list(self.times)
    good = [t for t in self.times.values() if t is not None]
    worst = math.log(max(good))
    y = np.array([worst + _FAILED if (t := self.times[n]) is None else math.log(t) for n in known])
    model = Model(self.features[known], y, self.seed + len(known))
    mean, spread = model.predict(self.features[rest])
    order = rest[np.argsort(-expected_improvement(mean, spread, math.log(min(good))), kind="stable")]
    expected = {int(n): m for n, m in zip(rest, mean)}
    near = sorted((n for n in self._neighbours() if n in expected), key=lambda n: expected[n])
    found: list[int] = []
    for turn in range(len(known), len(known) + count):
      source = near if turn % _RARE == 0 and any(n not in found for n in near) else order
      own = next((int(n) for n in source if int(n) not in found), None)
      if own is not None:
        found.append(own)
    return found

  def _neighbours(self) -> list[int]:
    if self.best is None:
      return []
    near = (self.space.key(c) for c in self.space.neighbours(self.candidates[self.best]))
    return [self._places[key] for key in near if key in self._places]
