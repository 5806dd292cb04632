"""Backward propagation of layouts: the layout of an op's operand, from that of the result, in a pass over the result.

    elementwise   the result's own; that of a cast, too
    broadcast     without the dimensions that are new
    transpose     with its dimensions in the other order
    reshape       with the same elements in another shape, if no digit carries
    slice         one register digit more along each dimension that was cut, if the part is a whole one

None where elements come from other threads, as from the array of a gather: such an operand is read from memory. These are the images that
inference works with (`tilewright.layout.constraints`), so that a kernel whose layouts were inferred finds everything where it is, or moves
little.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from tilewright import errors
from tilewright.layout.algebra import reshaped, restricted, transposed, unsliced, without_register_copies
from tilewright.layout.layout import Layout
from tilewright.target.llvm import operand_indices
from tilewright.tile.ir import Op, Value, walk
from tilewright.tile.ops import BINARY, COMPARE, UNARY
from tilewright.tile.types import TileType

Rule = Callable[[Op, Layout], Layout | None]


def operand_layout(op: Op, i: int, layout: Layout | None) -> Layout | None:
  """The layout in which a pass over the result of `op` in `layout` asks for operand i; None if it asks for any element."""
  if layout is None:
    return None
  if op.name == "gather" and i == 0:
    return None
  if op.name not in operand_indices.MOVES:
    return layout if op.operands[i].tile.shape == layout.shape else None
  rule = _RULES.get(op.name)
  if rule is None or i:
    return None
  try:
    found = rule(op, layout)
  except errors.LayoutError:
    return None
  return None if found is None else without_register_copies(found)


def _broadcast(op: Op, layout: Layout) -> Layout:
  return _restricted(layout, op.operands[0].tile.shape, tuple(op.attrs["dims"]))


def _transpose(op: Op, layout: Layout) -> Layout:
  permutation = op.attrs["permutation"]
  return _transposed(layout, tuple(permutation.index(a) for a in range(len(permutation))))


def _reshape(op: Op, layout: Layout) -> Layout | None:
  old, new = op.operands[0].tile.shape, layout.shape
  # An index is renumbered by adding and dividing: its origin is lost unless only dimensions of one come or go.
  return _reshaped(layout, old) if [d for d in old if d > 1] == [d for d in new if d > 1] else None


def _slice(op: Op, layout: Layout) -> Layout | None:
  whole = op.operands[0].tile.shape
  if any(step != 1 for step in op.attrs["strides"]):
    return None
  if any(start % size for start, size in zip(op.attrs["starts"], layout.shape)):
    return None
  return unsliced(layout, whole)


_RULES: dict[str, Rule] = {
  "layout_cast": lambda op, layout: layout,
  "broadcast": _broadcast,
  "transpose": _transpose,
  "reshape": _reshape,
  "slice": _slice,
}
_transposed, _reshaped, _restricted = (functools.lru_cache(maxsize=4096)(f) for f in (transposed, reshaped, restricted))


def behind_transposes(value: Value) -> tuple[Value, tuple[int, ...]]:
  """The value that is transposed to this one, and by which permutation."""
  permutation = tuple(range(value.tile.rank))
  while isinstance(value.owner, Op) and value.owner.name == "transpose":
    own = tuple(value.owner.attrs["permutation"])
    permutation = tuple(own[p] for p in permutation)
    value = value.owner.operands[0]
  return value, permutation


# Ops that take and give tiles of one shape as threads hold them, and those that have none or carry them.
_ELEMENT_BY_ELEMENT = frozenset(
  {
    *(*UNARY, *BINARY, *COMPARE, "is_finite", "integer_pow", "select", "convert"),
    *("load", "store", "yield", "constant", "iota", "program_id", "num_programs", "for", "while", "switch", "warps"),
    *("broadcast", "subview"),
  }
)


def uses_held_layout(v: Value, op: Op) -> bool:
  """Whether the blocks of an op take a tile as its threads hold it: with others of its shape, element by element."""
  for own in (o for inner in op.blocks for o in walk(inner)):
    tiles = [x.tile for x in (*own.operands, *own.results) if isinstance(x.type, TileType) and not x.tile.is_scalar]
    if own.name not in _ELEMENT_BY_ELEMENT or any(tile.shape != v.tile.shape for tile in tiles):
      return False
  return True
