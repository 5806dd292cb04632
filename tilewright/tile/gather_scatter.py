"""Reads and writes of windows at positions given by tiles: the ops `gather`, `gather_load`, `scatter`, `scatter_store` and `atomic`.

For each index p of the position tiles (which all have one shape P) there is a window of the array: along axis a it begins at the sum of
the positions given for a (0 if there are none), and has `sizes[a]` elements, `steps[a]` apart. Axes in `dropped` have one
element and are squeezed out. `batch` says which dimensions of the result (for a scatter: of the value) are those of P; the others are the
window's, in order.

    x: 10x4, positions: 3 for axis 0, sizes (1, 4), dropped (0,), batch (0,):    out[p, w] = x[positions[p], w]

`outside` is the out-of-bounds mode:

    clip      each window is moved so that it fits
    window    a window that does not fit is `fill` when read, and dropped when written
    each      an element outside is poison when read, and dropped when written
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

from tilewright.tile.ir import Op, Value
from tilewright.tile.literal import is_integer
from tilewright.tile.ops import READ, REDUCTIONS, WRITE, define, expect, ref_of, tile_of
from tilewright.tile.types import RefType, TileType, Type

OUTSIDE = ("clip", "window", "each")
KINDS = ("set", *REDUCTIONS)
ATOMIC_KINDS = (*KINDS, "cas")
FIRST_POSITION = {"gather": 2, "gather_load": 1, "scatter": 2, "scatter_store": 2, "atomic": 3}


@dataclasses.dataclass(frozen=True)
class Access:
  """The operands and attributes of one of these ops, decoded."""

  shape: tuple[int, ...]  # of the array
  axes: tuple[int, ...]  # which axis each position tile is for
  sizes: tuple[int, ...]
  steps: tuple[int, ...]
  dropped: tuple[int, ...]
  batch: tuple[int, ...]
  outside: str
  positions: tuple[Value, ...]

  @classmethod
  def of(cls, op: Op) -> Access:
    array = op.operands[0].type
    assert isinstance(array, TileType | RefType)
    keys = ("axes", "sizes", "steps", "dropped", "batch")
    fields = {key: tuple(op.attrs[key]) for key in keys}
    positions = tuple(op.operands[FIRST_POSITION[op.name] :])
    return cls(shape=array.shape, outside=op.attrs["outside"], positions=positions, **fields)

  @functools.cached_property
  def position_shape(self) -> tuple[int, ...]:
    return self.positions[0].tile.shape if self.positions else ()

  @functools.cached_property
  def kept(self) -> tuple[int, ...]:
    """The axes of the array that a window shows."""
    return tuple(a for a in range(len(self.shape)) if a not in self.dropped)

  @functools.cached_property
  def window(self) -> tuple[int, ...]:
    return tuple(self.sizes[a] for a in self.kept)

  @functools.cached_property
  def result_shape(self) -> tuple[int, ...]:
    return merge(self.position_shape, self.window, self.batch)

  def span(self, axis: int) -> int:
    """How many elements of an axis a window reaches over."""
    return (self.sizes[axis] - 1) * self.steps[axis] + 1

  def fits(self, axis: int) -> bool:
    """Whether a window that begins at 0 lies inside along this axis."""
    return self.span(axis) <= self.shape[axis]


def merge(of_positions: Sequence, of_window: Sequence, batch: Sequence[int]) -> tuple:
  """Merge per-dimension data of the positions and of the window into the order of the result's dimensions."""
  positions, window = iter(of_positions), iter(of_window)
  rank = len(of_positions) + len(of_window)
  return tuple(next(positions) if d in batch else next(window) for d in range(rank))


def part(of_result: Sequence, batch: Sequence[int]) -> tuple[list, list]:
  """The inverse of `merge`: the data of the positions' dimensions, and that of the window's."""
  return [x for d, x in enumerate(of_result) if d in batch], [x for d, x in enumerate(of_result) if d not in batch]


def _checked(op: Op) -> Access:
  access = Access.of(op)
  rank, positions = len(access.shape), access.positions
  expect(access.outside in OUTSIDE, f"outside must be one of {', '.join(OUTSIDE)}, got {access.outside!r}")
  expect(len(access.sizes) == len(access.steps) == rank, f"one size and step for each of {rank} dimensions")
  expect(len(access.axes) == len(positions), "one axis for each position tile")
  expect(all(0 <= a < rank for a in (*access.axes, *access.dropped)), f"an axis is outside of a rank of {rank}")
  expect(all(access.sizes[a] == 1 for a in access.dropped), "a dropped axis has one element")
  expect(all(s > 0 for s in access.steps), "steps must be positive")
  for i, v in enumerate(positions):
    ty = tile_of(op, FIRST_POSITION[op.name] + i)
    expect(is_integer(ty.dtype), f"positions must be integers, got {ty}")
    expect(ty.shape == access.position_shape, f"positions have different shapes: {access.position_shape} and {v.type}")
  total = len(access.position_shape) + len(access.window)
  expect(list(access.batch) == sorted(set(access.batch)), f"batch {access.batch} must increase")
  expect(len(access.batch) == len(access.position_shape), f"batch must name {len(access.position_shape)} dimensions")
  expect(all(0 <= d < total for d in access.batch), f"batch {access.batch} is outside of a rank of {total}")
  return access


def _gather(op: Op) -> list[Type]:
  """`gather(x, fill, position, …)`"""
  source, fill = tile_of(op, 0), tile_of(op, 1)
  expect(fill.is_scalar and fill.dtype == source.dtype, "the fill must be a scalar of the same dtype")
  expect(op.attrs["outside"] != "each", "a tile is gathered by windows: outside is clip or window")
  return [source.with_shape(_checked(op).result_shape)]


def _gather_load(op: Op) -> list[Type]:
  """`gather_load(ref, position, …)`"""
  return [TileType(_checked(op).result_shape, ref_of(op).dtype)]


def _check_value(op: Op, dtype: object) -> None:
  value = tile_of(op, 1)
  expect(op.attrs["kind"] in KINDS, f"kind must be one of {', '.join(KINDS)}, got {op.attrs['kind']!r}")
  shape = _checked(op).result_shape
  expect(value.dtype == dtype and value.shape == shape, f"the value must be {dtype} of shape {shape}, got {value}")


def _scatter(op: Op) -> list[Type]:
  """`scatter(x, value, position, …)`: x with the value combined into it, by `kind`, in the order of the positions."""
  source = tile_of(op, 0)
  _check_value(op, source.dtype)
  return [source]


def _scatter_store(op: Op) -> list[Type]:
  """`scatter_store(ref, value, position, …)`"""
  _check_value(op, ref_of(op).dtype)
  return []


def _atomic(op: Op) -> list[Type]:
  """`atomic(ref, value, mask, position, …)`: atomically combine each element of the value with memory by `kind` where the mask holds.

  Returns the old contents. For `cas`, the expected contents take the place of the mask operand.
  """
  ref, value, other = ref_of(op), tile_of(op, 1), tile_of(op, 2)
  kind, shape = op.attrs["kind"], _checked(op).result_shape
  expect(kind in ATOMIC_KINDS, f"kind must be one of {', '.join(ATOMIC_KINDS)}, got {kind!r}")
  wanted = TileType(shape, ref.dtype)
  expect(value == wanted, f"the value must be {wanted}, got {value}")
  expect(other == (wanted if kind == "cas" else wanted.with_dtype(bool)), f"the third operand does not fit: {other}")
  return [wanted]


define("gather", _gather, doc="windows of a tile at given positions")
define("gather_load", _gather_load, READ, doc="windows of a ref at given positions", reads=(0,), writes=())
define("scatter", _scatter, doc="a tile with windows at given positions replaced, or combined by `kind`")
define(
  "scatter_store",
  _scatter_store,
  READ,
  WRITE,
  doc="write windows of a ref at given positions, or combine by `kind`",
  reads=(),
  writes=(0,),
)
define(
  "atomic",
  _atomic,
  READ,
  WRITE,
  doc="combine with memory, element by element, whatever other instances do; the old value",
  reads=(0,),
  writes=(0,),
)
