"""Random block specs of generated kernels: which elements a block has, and what lies outside of the array."""

from __future__ import annotations

import dataclasses
import math
import random
from typing import Any

import numpy as np

from tilewright import pallas as pl

SMALL = [1, 2, 3, 4, 5, 7, 8, 9, 16, 17]
LARGE = [1, 3, 8, 31, 32, 33, 64, 65, 127, 128, 130]


@dataclasses.dataclass(frozen=True)
class Window:
  """A block spec: dimension d of the array is cut into blocks of `block[d]` and walked by grid axis `axes[d]` (None: one block).

  A block of None is a squeezed dimension. `table` says that the number of the first grid axis goes through the prefetched permutation.
  `steps` has, for a dimension of elements (`pl.Element`), how far blocks are apart and how many elements lie before the array; `bounded`
  are the dimensions of bounded slices.
  """

  array: tuple[int, ...]
  block: tuple[int | None, ...]
  axes: tuple[int | None, ...]
  table: bool = False
  steps: tuple[tuple[int, int] | None, ...] = ()
  bounded: tuple[int, ...] = ()
  computed: tuple[tuple[int, int, int] | None, ...] = ()  # of a dimension: block (a · number + b) mod n

  @property
  def shape(self) -> tuple[int, ...]:
    return tuple(b for b in self.block if b is not None)

  @property
  def has_edge(self) -> bool:
    cut = any(n % (b or 1) for n, b in zip(self.array, self.block))
    return cut or bool(self.bounded) or any(step is not None for step in self.steps)

  def numbers(self, ids, table=None):
    """The numbers of blocks along the dimensions."""
    numbers = [0 if a is None else ids[a] for a in self.axes]
    if self.table:
      first = self.axes.index(0)
      numbers[first] = table[numbers[first]]
    for d, rule in enumerate(self.computed):
      if rule is not None:
        factor, offset, count = rule
        numbers[d] = (numbers[d] * factor + offset) % count
    return numbers

  def place(self, d: int, number):
    """The first element of a block along a dimension, and how many count."""
    size, step = self.block[d] or 1, self.steps[d] if self.steps else None
    start = number * size if step is None else number * step[0] - step[1]
    return start, (number * 5 + 3) % size + 1 if d in self.bounded else size

  def _index(self, ids, table=None):
    found = []
    for d, number in enumerate(self.numbers(ids, table)):
      start, count = self.place(d, number)
      step = self.steps[d] if self.steps else None
      found.append(pl.ds(start, count) if d in self.bounded else start + step[1] if step is not None else number)
    return tuple(found)

  def spec(self, rank: int) -> pl.BlockSpec:
    block: list[Any] = list(self.block)
    for d, size in enumerate(self.block):
      if d in self.bounded:
        block[d] = pl.BoundedSlice(size)
      elif self.steps and self.steps[d] is not None:
        block[d] = pl.Element(size, (self.steps[d][1], size))
    return pl.BlockSpec(block, lambda *a: self._index(a[:rank], a[rank] if self.table else None))

  def elements(self, ids, table) -> tuple[np.ndarray, ...]:
    """Index arrays of the block's elements."""
    places = [self.place(d, number)[0] for d, number in enumerate(self.numbers(ids, table))]
    return np.ix_(*(start + np.arange(b or 1) for start, b in zip(places, self.block)))

  def read(self, array: np.ndarray, ids, table) -> np.ndarray:
    """What lies beyond the edges is anything."""
    at = tuple(np.clip(x, 0, n - 1) for x, n in zip(self.elements(ids, table), self.array))
    return array[at].reshape(self.shape)

  def inside(self, ids, table) -> np.ndarray:
    at, numbers = self.elements(ids, table), self.numbers(ids, table)
    mask = np.ones([b or 1 for b in self.block], bool)
    for d, (x, n) in enumerate(zip(at, self.array)):
      start, count = self.place(d, numbers[d])
      mask &= (x >= 0) & (x < n) & (x < start + count)
    return mask

  def write(self, array: np.ndarray, value: np.ndarray, ids, table) -> None:
    mask = self.inside(ids, table)
    at = np.broadcast_arrays(*self.elements(ids, table))
    array[tuple(x[mask] for x in at)] = value.reshape(mask.shape)[mask]


def random_window(rng: random.Random, grid: tuple[int, ...], table, sizes: list[int], most: int) -> Window:
  array, block, axes = [], [], []
  free = list(range(len(grid)))
  rng.shuffle(free)
  for _ in range(rng.choice([1, 2, 2, 2, 3])):
    axis = free.pop() if free and rng.random() < 0.7 else None
    size = rng.choice(sizes)
    if math.prod([b or 1 for b in block]) * size > most * 2 // 3:
      size = 1
    if axis is not None and block and rng.random() < 0.15:
      array.append(grid[axis])
      block.append(None)
    elif axis is not None:
      cut = rng.randrange(size) if grid[axis] > 1 and rng.random() < 0.5 else 0
      array.append(size * grid[axis] - cut)
      block.append(size)
    else:
      array.append(size)
      block.append(size)
    axes.append(axis)
  through = table is not None and 0 in axes and rng.random() < 0.7
  computed: list[Any] = [None] * len(axes)
  for d, axis in enumerate(axes):
    if axis is not None and rng.random() < 0.2:
      computed[d] = rng.randrange(4), rng.randrange(4), grid[axis]
  found = Window(tuple(array), tuple(block), tuple(axes), through, computed=tuple(computed))
  return _uneven(rng, found, grid) if rng.random() < 0.2 else found


def _uneven(rng: random.Random, w: Window, grid: tuple[int, ...]) -> Window:
  """With dimensions of elements, whose blocks may overlap or have gaps between them, or of bounded slices."""
  array, steps, bounded = list(w.array), [None] * len(w.array), []
  for d, (size, axis) in enumerate(zip(w.block, w.axes)):
    kind = rng.choice(["blocked", "element", "element", "bounded"])
    if size is not None and kind == "bounded":
      bounded.append(d)
    elif size is not None and kind == "element":
      step, before = rng.randint(1, size + 1), rng.choice([0, 0, 1, size - 1])
      last = ((grid[axis] if axis is not None else 1) - 1) * step - before + size
      array[d], steps[d] = max(1, last - rng.choice([0, 0, 1, size // 2])), (step, before)
  return dataclasses.replace(w, array=tuple(array), steps=tuple(steps), bounded=tuple(bounded))
