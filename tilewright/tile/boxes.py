"""Static subviews of a ref as boxes: the box of a view, whether boxes cover the ref, whether two boxes are disjoint.

subview %ref[0, 8] of 4x8      ((0, 4), (8, 16))       along each dimension, from where to where
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.tile.ir import Op, Value

Box = tuple[tuple[int, int], ...]


def unconverted(v: Value) -> Value:
  """The integer before conversions that preserve every index value (300 does not survive a conversion to int8)."""
  while isinstance(v.owner, Op) and v.owner.name == "convert":
    before = v.owner.operands[0]
    if v.tile.dtype.itemsize < min(4, before.tile.dtype.itemsize):
      break
    v = before
  return v


def number(v: Value) -> int | None:
  """The integer that a scalar is known to be."""
  op = unconverted(v).owner
  if not isinstance(op, Op) or op.name != "constant" or np.ndim(op.attrs["value"]):
    return None
  return int(op.attrs["value"])


def box_of(view: Value, ref: Value) -> Box | None:
  """The part of a ref that a view covers, if it is a box at a static offset."""
  op = view.owner
  if not isinstance(op, Op) or op.name != "subview" or op.operands[0] is not ref:
    return None
  starts = [number(v) for v in op.operands[1:]]
  if any(start is None for start in starts) or any(step != 1 for step in op.attrs["steps"]):
    return None
  return tuple((start or 0, (start or 0) + size) for start, size in zip(starts, op.attrs["sizes"], strict=True))


def cover(boxes: Sequence[Box], shape: Sequence[int]) -> bool:
  """Whether boxes together cover a shape: the edges of the boxes cut it into cells, and each cell must be in some box."""
  cuts = [sorted({0, size, *(edge for box in boxes for edge in box[d])}) for d, size in enumerate(shape)]
  cells = np.zeros([len(c) - 1 for c in cuts], bool)
  for box in boxes:
    cells[tuple(slice(cuts[d].index(start), cuts[d].index(stop)) for d, (start, stop) in enumerate(box))] = True
  return bool(cells.all())


def are_apart(view: Value, other: Value) -> bool:
  """Whether two views are boxes of one ref that share no element: along some dimension one ends before the other begins."""
  op = view.owner
  if not isinstance(op, Op) or op.name != "subview":
    return False
  a, b = (box_of(v, op.operands[0]) for v in (view, other))
  if a is None or b is None:
    return False
  return any(stop <= low or high <= start for (start, stop), (low, high) in zip(a, b))
