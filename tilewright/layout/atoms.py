"""A common refinement of two layouts of a tile into atoms, which a relayout moves one by one.

An atom is a prime factor of a dimension: (axis 1, step 8, size 2) tells columns 0-7 from columns 8-15. Both layouts are written as slots
(register, lane and warp digits of prime size), each of which holds an atom or, where there is replication, nothing. A relayout moves atoms
from slots to slots. Atoms that lie outside of the tile are padding.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from tilewright.layout.layout import LANE, REGISTER, WARP, Layout


class Atom(NamedTuple):
  """One prime factor of a dimension of the tile."""

  axis: int
  step: int
  size: int


@dataclasses.dataclass(frozen=True)
class Slots:
  """The atoms in the digits of each input, least significant first. None is replication; each entry has its size beside it."""

  register: tuple[tuple[Atom | None, int], ...]
  lane: tuple[tuple[Atom | None, int], ...]
  warp: tuple[tuple[Atom | None, int], ...]

  def atoms(self, *names: str) -> list[Atom]:
    return [atom for name in names for atom, _ in getattr(self, name) if atom is not None]

  @functools.cached_property
  def different(self) -> frozenset[Atom] | None:
    """All atoms; None if one of them is there twice."""
    found = self.atoms(REGISTER, LANE, WARP)
    return frozenset(found) if len(set(found)) == len(found) else None

  @functools.cached_property
  def in_lanes(self) -> frozenset[Atom]:
    return frozenset(self.atoms(LANE))

  @functools.cached_property
  def registers(self) -> int:
    """Registers of a thread, copies left out."""
    return math.prod(size for atom, size in self.register if atom is not None)

  @functools.cached_property
  def free_lanes(self) -> int:
    """Digits of the lane in which lanes hold copies."""
    return sum(atom is None for atom, _ in self.lane)


def common_slots(a: Layout, b: Layout) -> tuple[Slots, Slots] | None:
  """Both layouts in common atoms, or None if their digits cut the tile at places that do not fit together."""
  fine = _common_steps(_cuts(a), _cuts(b))
  if fine is None:
    return None
  first, second = _slots(a, fine), _slots(b, fine)
  if first.different is None or first.different != second.different:
    return None  # one of them is padded where the other is not, or holds an element at two steps
  return first, second


# Memoised: the data of one layout are needed again with each of the others.


Cuts: TypeAlias = tuple[frozenset[int], ...]
Steps: TypeAlias = tuple[tuple[int, ...], ...]


@functools.lru_cache(maxsize=16384)
def _cuts(layout: Layout) -> Cuts | None:
  """Where the digits of a layout cut each dimension; None if a digit moves along two."""
  cuts: list[set[int]] = [{1} for _ in layout.shape]
  for term in layout.terms:
    axes = [axis for axis, move in enumerate(term.moves) if move]
    if len(axes) > 1:
      return None
    for axis in axes:
      cuts[axis] |= {term.moves[axis], term.moves[axis] * term.size}
  return tuple(frozenset(own) for own in cuts)


@functools.lru_cache(maxsize=16384)
def _common_steps(own: Cuts | None, other: Cuts | None) -> Steps | None:
  """The steps along each dimension in which two layouts can be written; None if there are none."""
  if own is None or other is None:
    return None
  chains = [_refined(x | y) for x, y in zip(own, other)]
  fine = tuple(chain for chain in chains if chain is not None)
  return fine if len(fine) == len(chains) else None


@functools.lru_cache(maxsize=16384)
def _slots(layout: Layout, fine: Steps) -> Slots:
  """A layout in atoms, given the steps between them along each dimension."""
  return Slots(
    **{
      name: tuple(s for d in layout.digits(name) for s in _split(d.size, d.moves, fine))
      for name in (REGISTER, LANE, WARP)
    }
  )


@functools.lru_cache(maxsize=4096)
def _refined(cuts: frozenset[int]) -> tuple[int, ...] | None:
  """The cuts and those between them, in steps of which each is a prime times the one before; None if they do not divide each other."""
  chain = sorted(cuts)
  if any(high % low for low, high in itertools.pairwise(chain)):
    return None
  fine = [1]
  for high in chain[1:]:
    for prime in prime_factors(high // fine[-1]):
      fine.append(fine[-1] * prime)
  return tuple(fine)


def _split(size: int, moves: tuple[int, ...], fine: Sequence[Sequence[int]]) -> list[tuple[Atom | None, int]]:
  axis = next((axis for axis, move in enumerate(moves) if move), None)
  if axis is None:
    return [(None, prime) for prime in prime_factors(size)]
  steps = [s for s in fine[axis] if moves[axis] <= s <= moves[axis] * size]
  return [(Atom(axis, low, high // low), high // low) for low, high in itertools.pairwise(steps)]


def prime_factors(n: int) -> list[int]:
  found, prime = [], 2
  while n > 1:
    while n % prime == 0:
      found.append(prime)
      n //= prime
    prime += 1
  return found
