"""Vectors: how many contiguous elements along a dimension each thread holds, and in which registers.

strided((1024,), num_warps=4, vector=8): width 8, registers (0 … 7)
the C fragment of mma.sync m16n8 along its columns: width 2, registers (0, 1) and (2, 3)
"""

from __future__ import annotations

import math

from tilewright import errors
from tilewright.layout.layout import REGISTER, Layout, Term


def vector_width(of: Layout, axis: int = -1) -> int:
  """The most neighbours along a dimension that every thread holds together, aligned to their number."""
  axis = _dimension(of, axis)
  if not of.rank:
    return 1
  chain = _chain(of, axis)
  width = math.prod(term.size for term in chain)
  width = math.gcd(width, of.shape[axis])  # a vector lies inside of the tile or outside
  for term in of.terms:
    if term not in chain:
      width = math.gcd(width, term.moves[axis])
  return width


def vectors(of: Layout, axis: int = -1, width: int | None = None) -> tuple[tuple[int, ...], ...]:
  """The registers of each vector, in order along the dimension. `width` must divide `vector_width`, which is the default."""
  axis, most = _dimension(of, axis), vector_width(of, axis)
  width = most if width is None else width
  if width < 1 or most % width:
    raise errors.LayoutError(f"width: expected a divisor of {most}, which threads of {of} hold together, got {width}")
  groups: dict[tuple[tuple[int, ...], int], dict[int, int]] = {}
  copies: dict[tuple[int, ...], int] = {}
  for register, at in enumerate(of.register_offsets):
    copy = copies[at] = copies.get(at, -1) + 1  # registers that hold the same element go to different vectors
    along = at[axis] if at else 0
    first = tuple(x - along % width if i == axis else x for i, x in enumerate(at))
    groups.setdefault((first, copy), {})[along % width] = register
  return tuple(tuple(group[i] for i in range(width)) for group in groups.values())


def _dimension(of: Layout, axis: int) -> int:
  if of.rank and axis not in range(-of.rank, of.rank):
    raise errors.LayoutError(f"axis: {of} has no dimension {axis}")
  return axis % max(of.rank, 1)


def _chain(of: Layout, axis: int) -> list[Term]:
  """Register digits that walk along a dimension alone, one after another from a step of one."""
  chain: list[Term] = []
  reached = 1
  while True:
    found = [
      t
      for t in of.terms_of(REGISTER)
      if t.moves[axis] == reached and not any(m for i, m in enumerate(t.moves) if i != axis)
    ]
    if not found:
      return chain
    chain.append(found[0])
    reached *= found[0].size
