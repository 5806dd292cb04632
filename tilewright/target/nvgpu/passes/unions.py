"""Unions of buffers in shared memory: trees of which the kernel uses one at a time, and which so take turns in the same memory.

    RefUnion(a, [b, c])      a at 0                   as large as the larger of a, and b and c together
                             b at 0, c behind it

What was written through one tree is not read through another. Their accesses conflict all the same: threads still write the one where they
begin to write the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tilewright.target.nvgpu.passes.layouts.hints import InUnion, split_space
from tilewright.tile.ir import Value
from tilewright.tile.types import RefType


def find(refs: Sequence[Value]) -> dict[Value, tuple[Value, int]]:
  """The refs that are in a union, all of which is there: the first of that union, and the number of the tree."""
  found: dict[Value, tuple[Value, int]] = {}
  for own in _runs(refs):
    if len(own) == own[0][1].count and own[0][1].number == 0:
      found |= {ref: (own[0][0], place.tree) for ref, place in own}
  return found


def _runs(refs: Sequence[Value]) -> Iterator[list[tuple[Value, InUnion]]]:
  """Neighbours that are numbered one after the other."""
  own: list[tuple[Value, InUnion]] = []
  for ref in refs:
    place = split_space(ref.type.space)[1] if isinstance(ref.type, RefType) else None
    if own and (place is None or (place.number, place.count) != (own[-1][1].number + 1, own[-1][1].count)):
      yield own
      own = []
    if place is not None:
      own.append((ref, place))
  if own:
    yield own
