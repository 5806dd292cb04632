"""Who takes part in a collective: axes of the mesh and groups along them, as tables over the numbers of the devices.

A mesh (a=2, b=3) has the devices 0 to 5 in row-major order. Along `b` there are the groups (0, 1, 2) and (3, 4, 5); along `a` they are
(0, 3), (1, 4) and (2, 5). `axis_index_groups` splits those further, by positions along the axes:

    axis_name="b", axis_index_groups=[[0, 2], [1]]     (0, 2), (1), (3, 5), (4)

Groups may differ in size and may be empty. A position that is in none is a group of its own. What depends on the size of a group has the
size of the largest; members that a smaller one lacks send zeros and receive nothing.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tilewright import errors
from tilewright.tile import device_parties

_MOST_PARTIES = device_parties.MOST_DEVICES

Groups = tuple[tuple[int, ...], ...]


def axes_of(axis_name: Any) -> tuple[Any, ...]:
  return tuple(axis_name) if isinstance(axis_name, tuple | list) else (axis_name,)


def checked_groups(groups: Sequence[Sequence[int]] | None, size: int, what: str) -> Groups | None:
  """The groups along an axis of some size, without empty ones; positions that are in none come last, alone."""
  if groups is None:
    return None
  found = tuple(tuple(int(i) for i in group) for group in groups if len(group))
  named = [i for group in found for i in group]
  wrong = sorted({i for i in named if not 0 <= i < size})
  if wrong:
    raise errors.GridError(f"{what}: axis_index_groups names {wrong}; the axis has the indices 0 to {size - 1}.")
  twice = sorted({i for i in named if named.count(i) > 1})
  if twice:
    raise errors.GridError(f"{what}: axis_index_groups names {twice} more than once; an index belongs to one group.")
  alone = tuple((i,) for i in range(size) if i not in named)
  return (*found, *alone)


@dataclasses.dataclass(frozen=True)
class Table:
  """For each device of a mesh the numbers of the members of its group (-1 beyond), how many there are, and which one it is."""

  members: tuple[tuple[int, ...], ...]
  sizes: tuple[int, ...]
  ranks: tuple[int, ...]

  @property
  def width(self) -> int:
    return len(self.members[0])

  @property
  def is_even(self) -> bool:
    return len(set(self.sizes)) == 1

  @property
  def parties(self) -> tuple[int, ...]:
    """For each device a number that its group has and no other; empty where there is one group. Lists of more devices are not kept: then
    all devices meet."""
    return parties(min(m for m in row if m >= 0) for row in self.members)

  def array(self) -> np.ndarray:
    """One row of int32 for each device: its members, the size, the rank."""
    return np.array([[*m, s, r] for m, s, r in zip(self.members, self.sizes, self.ranks)], np.int32)


def parties(numbers: Iterable[int]) -> tuple[int, ...]:
  """A number for each device, equal where devices meet; empty where all do, or where the list is too long to be kept."""
  found = tuple(numbers)
  return found if len(set(found)) > 1 and len(found) <= _MOST_PARTIES else ()


def connected(pairs: Iterable[tuple[int, int]], devices: int) -> tuple[int, ...]:
  """For each device the smallest number among those that it is connected with, directly or through others."""
  first = list(range(devices))
  for one, other in pairs:
    low, high = sorted((first[one], first[other]))
    first = [low if f == high else f for f in first]
  return tuple(first)


@functools.lru_cache(maxsize=256)
def table(mesh: tuple[tuple[Any, int], ...], axes: tuple[Any, ...], groups: Groups | None) -> Table:
  """The table of a mesh, given as names and sizes of its axes."""
  names, sizes = [name for name, _ in mesh], [size for _, size in mesh]
  numbers = np.arange(int(np.prod(sizes))).reshape(sizes)
  along = [names.index(axis) for axis in axes]
  rest = [d for d in range(len(names)) if d not in along]
  rows = numbers.transpose(*rest, *along).reshape(-1, int(np.prod([sizes[d] for d in along])))
  parts = groups if groups is not None else (tuple(range(rows.shape[1])),)
  found = {int(row[i]): tuple(int(row[j]) for j in part) for row in rows for part in parts for i in part}
  width = max(len(part) for part in parts)
  order = range(numbers.size)
  return Table(
    tuple((*found[d], *(-1 for _ in range(width - len(found[d])))) for d in order),
    tuple(len(found[d]) for d in order),
    tuple(found[d].index(d) for d in order),
  )
