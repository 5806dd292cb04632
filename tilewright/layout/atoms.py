"""Two layouts of a tile in common pieces: what moves between them, piece by piece.

An atom is a prime factor of a dimension: (axis 1, step 8, size 2) tells columns 0-7 from columns 8-15. Both layouts are written as slots
(register, lane and warp digits of prime size), each of which holds an atom or, where there is replication, nothing. A relayout moves atoms
from slots to slots. Atoms that lie outside of the tile are padding.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import NamedTuple

from tilewright.layout.value import LANE, REGISTER, WARP, Layout


class Atom(NamedTuple):
  """One prime factor of a dimension of the tile."""

  axis: int
  step: int
  size: int


@dataclasses.dataclass(frozen=True)
class Slots:
  """The atoms in the digits of each input, least significant first. None is replication; sizes stand beside."""

  register: tuple[tuple[Atom | None, int], ...]
  lane: tuple[tuple[Atom | None, int], ...]
  warp: tuple[tuple[Atom | None, int], ...]

  def atoms(self, *names: str) -> list[Atom]:
    return [atom for name in names for atom, _ in getattr(self, name) if atom is not None]


def common_slots(a: Layout, b: Layout) -> tuple[Slots, Slots] | None:
  """Both layouts in common atoms, or None if their digits cut the tile at places that do not fit together."""
  cuts: list[set[int]] = [{1} for _ in a.shape]
  for term in (*a.terms, *b.terms):
    axes = [axis for axis, move in enumerate(term.moves) if move]
    if len(axes) > 1:
      return None
    for axis in axes:
      cuts[axis] |= {term.moves[axis], term.moves[axis] * term.size}
  chains = [sorted(own) for own in cuts]
  if any(high % low for chain in chains for low, high in itertools.pairwise(chain)):
    return None
  fine = [_refined(chain) for chain in chains]
  result = []
  for layout in (a, b):
    slots = {
      name: tuple(s for d in layout.digits(name) for s in _split(d.size, d.moves, fine))
      for name in (REGISTER, LANE, WARP)
    }
    result.append(Slots(**slots))
  first, second = result
  known = set(first.atoms(REGISTER, LANE, WARP))
  if known != set(second.atoms(REGISTER, LANE, WARP)) or any(len(set(x)) < len(x) for x in map(_all, result)):
    return None  # one of them is padded where the other is not, or holds an element at two steps
  return first, second


def _all(slots: Slots) -> list[Atom]:
  return slots.atoms(REGISTER, LANE, WARP)


def _refined(chain: list[int]) -> list[int]:
  """A chain of steps in which each is a prime times the one before."""
  fine = [1]
  for high in chain[1:]:
    for prime in prime_factors(high // fine[-1]):
      fine.append(fine[-1] * prime)
  return fine


def _split(size: int, moves: tuple[int, ...], fine: list[list[int]]) -> list[tuple[Atom | None, int]]:
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
