"""A surrogate model of measured times: a quadratic trend, and its residuals in an ensemble of extremely randomised regression trees.

The trend (ridge regression on features, their squares and products) extrapolates beyond the points tried; trees cannot. A
tree (Geurts, Ernst and Wehenkel, 2006) splits on a random feature at a random place, the best of a few tries by variance, down to a few
points: together they learn the cliffs (a tile that spills) that a trend cannot have. The mean over the trees is added to the trend, and
their spread is the uncertainty.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

_TREES = 16
_LEAF = 2  # points that are not split any more
_PENALTY = 2.0  # of the squares of weights, in points


@dataclasses.dataclass
class _Tree:
  """Nodes in arrays; a leaf has no feature."""

  feature: list[int]
  place: list[float]
  left: list[int]
  right: list[int]
  value: list[float]

  def predict(self, x: np.ndarray) -> np.ndarray:
    feature, place = np.array(self.feature), np.array(self.place)
    left, right, value = np.array(self.left), np.array(self.right), np.array(self.value)
    at = np.zeros(len(x), np.int64)
    rows = np.arange(len(x))
    while (inner := feature[at] >= 0).any():
      goes_left = x[rows, np.maximum(feature[at], 0)] <= place[at]
      at = np.where(inner, np.where(goes_left, left[at], right[at]), at)
    return value[at]


def _grow(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> _Tree:
  tree = _Tree([], [], [], [], [])
  tries = max(1, math.ceil(x.shape[1] ** 0.5) + 1)

  def node(rows: np.ndarray) -> int:
    number = len(tree.feature)
    for own in (tree.feature, tree.left, tree.right):
      own.append(-1)
    tree.place.append(0.0)
    tree.value.append(float(y[rows].mean()))
    varying = np.flatnonzero(np.ptp(x[rows], axis=0) > 0) if len(rows) > _LEAF else np.zeros(0, np.int64)
    if not len(varying) or np.ptp(y[rows]) == 0:
      return number
    best = None
    for feature in rng.permutation(varying)[:tries]:
      column = x[rows, feature]
      place = rng.uniform(column.min(), column.max())
      goes_left = column <= place
      if goes_left.all():
        continue
      cost = sum(float(((part - part.mean()) ** 2).sum()) for part in (y[rows[goes_left]], y[rows[~goes_left]]))
      if best is None or cost < best[0]:
        best = (cost, int(feature), float(place), goes_left)
    if best is not None:
      _, tree.feature[number], tree.place[number], goes_left = best
      tree.left[number] = node(rows[goes_left])
      tree.right[number] = node(rows[~goes_left])
    return number

  node(np.arange(len(x)))
  return tree


class Trend:
  """Ridge regression on standardised features, their squares and their products."""

  def __init__(self, x: np.ndarray, y: np.ndarray) -> None:
    self.centre, self.scale = x.mean(0), np.maximum(x.std(0), 1e-9)
    self.level = float(y.mean())
    terms = self._terms(x)
    penalty = _PENALTY * np.eye(terms.shape[1])
    self.weights = np.linalg.solve(terms.T @ terms + penalty, terms.T @ (y - self.level))

  def _terms(self, x: np.ndarray) -> np.ndarray:
    z = np.clip((x - self.centre) / self.scale, -3, 3)
    i, j = np.triu_indices(z.shape[1])
    return np.concatenate([z, 0.5 * z[:, i] * z[:, j]], 1)

  def predict(self, x: np.ndarray) -> np.ndarray:
    return self.level + self._terms(x) @ self.weights


class Model:
  """The trend and the trees, fitted to points; the same for the same seed."""

  def __init__(self, x: np.ndarray, y: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    self.trend = Trend(x, y)
    rest = y - self.trend.predict(x)
    self.trees = [_grow(x, rest, rng) for _ in range(_TREES)]

  def predict(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and spread for each point."""
    each = np.stack([tree.predict(x) for tree in self.trees])
    return self.trend.predict(x) + each.mean(0), each.std(0)


def expected_improvement(mean: np.ndarray, spread: np.ndarray, best: float) -> np.ndarray:
  """By how much a point is expected to be below the best, for a normal distribution."""
  spread = np.maximum(spread, 1e-9)
  z = (best - mean) / spread
  below = 0.5 * (1 + np.vectorize(math.erf)(z / math.sqrt(2)))
  return spread * (z * below + np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi))
