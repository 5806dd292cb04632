"""Memoised costs of combinations of layouts: a matrix for every price, filled in on demand.

    prices = Prices()
    prices.table(Price(relayout_cost, (16,)), [0, 1], [candidates of x, candidates of y])      a row for each of x

The tables of a system are parts of few matrices: the variables of a kernel have few shapes, and candidates in common. Layouts are numbered
by shape, so that a matrix has a row for each layout of one shape and no other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.layout.constraints import Place, Price


class Prices:
  """Known prices; NaN where a price has not been computed yet."""

  def __init__(self) -> None:
    self._number: dict[Place, int] = {}
    self._next: dict[tuple[int, ...], int] = {}  # by shape
    self._known: dict[tuple[object, ...], np.ndarray] = {}

  def table(self, price: Price, axes: Sequence[int], lists: Sequence[Sequence[Place]]) -> np.ndarray:
    """The cost of each combination from the lists; argument i of the price is from list `axes[i]`."""
    numbers = [np.asarray([self._numbered(place) for place in own], np.intp) for own in lists]
    key = price, *axes, *(own[0].shape for own in lists if own)
    where = tuple(own.reshape([-1 if i == axis else 1 for i in range(len(lists))]) for axis, own in enumerate(numbers))
    known = self._known_for(key, [int(own.max(initial=-1)) + 1 for own in numbers])
    found = known[where]
    missing = np.isnan(found)
    if missing.any():
      for index in zip(*map(np.ndarray.tolist, np.nonzero(missing))):
        found[index] = price(*[lists[axis][index[axis]] for axis in axes])
      known[where] = found
    return found

  def _numbered(self, place: Place) -> int:
    number = self._number.get(place)
    if number is None:
      number = self._number[place] = self._next.get(place.shape, 0)
      self._next[place.shape] = number + 1
    return number

  def _known_for(self, key: tuple[object, ...], sizes: Sequence[int]) -> np.ndarray:
    """The matrix of a price, made larger if need be."""
    known = self._known.get(key)
    if known is not None and all(have >= size for have, size in zip(known.shape, sizes)):
      return known
    have = known.shape if known is not None else (0,) * len(sizes)
    wider = np.full([max(2 * a, size, 16) if a < size else a for a, size in zip(have, sizes)], np.nan)
    if known is not None:
      wider[tuple(slice(a) for a in have)] = known
    self._known[key] = wider
    return wider
