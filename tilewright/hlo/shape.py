"""Shapes and layouts, as values.

A `Shape` is an array (`f32[4,8]{1,0}`), a tuple of shapes, `token[]`, `opaque[]` or a buffer `b(shape)`. A dimension
may be dynamic: `f32[<=8]` holds at most 8 elements, `f32[?]` any number. A `Layout` lists the dimensions from the
fastest varying to the slowest (`minor_to_major`), and says how the array is tiled and where it lives. Both are
frozen, hashable and freely shared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tilewright.hlo.dtypes import PRIMITIVE_TYPES, element_type_of

UNBOUNDED = -(2**63)  # the size of a `?` dimension, as XLA stores it
COMBINE = -(2**63)  # the `*` in a tile such as T(*,128): this dimension is combined with the next more minor one

ShapeIndex = tuple[int, ...]  # a path into nested tuples: () is the whole, (1, 0) is element 0 of element 1


@dataclass(frozen=True, slots=True)
class SplitConfig:
  """`SC(dim:i,j)`: the array is split across memories at these indices of `dimension`."""

  dimension: int
  indices: tuple[int, ...]
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class Layout:
  """`{minor_to_major:D(..)T(..)L(..)#(..)*(..)E(..)S(..)SC(..)P(..)M(..)}`."""

  minor_to_major: tuple[int, ...] = ()
  dim_level_types: tuple[str, ...] = ()  # D: one of D, C, S, H per dimension; empty means all dense
  dim_unique: tuple[bool, ...] = ()
  dim_ordered: tuple[bool, ...] = ()
  tiles: tuple[tuple[int, ...], ...] = ()  # T
  tail_padding_alignment: int = 1  # L, in elements
  index_type: str = ""  # #
  pointer_type: str = ""  # *
  element_size_in_bits: int = 0  # E, 0 means the natural size
  memory_space: int = 0  # S
  split_configs: tuple[SplitConfig, ...] = ()  # SC
  physical_shape: Shape | None = None  # P
  dynamic_shape_metadata_prefix_bytes: int = 0  # M
  unknown: bytes = b""

  @staticmethod
  def descending(rank: int) -> Layout:
    """The row-major layout, `{rank-1, …, 1, 0}`."""
    return _DESCENDING[rank] if rank < len(_DESCENDING) else Layout(tuple(range(rank - 1, -1, -1)))

  @property
  def is_descending(self) -> bool:
    return self.minor_to_major == tuple(range(len(self.minor_to_major) - 1, -1, -1))


@dataclass(frozen=True, slots=True)
class Shape:
  """The type of a value. `dynamic` is empty when every dimension is static."""

  element_type: str
  dimensions: tuple[int, ...] = ()
  layout: Layout | None = None
  dynamic: tuple[bool, ...] = ()
  tuple_shapes: tuple[Shape, ...] = ()  # of a tuple; of a buffer, the one shape it holds
  unknown: bytes = b""

  @staticmethod
  def array(element_type: str | np.typing.DTypeLike, dimensions: tuple[int, ...] = (), layout: bool = True) -> Shape:
    """An array shape from an HLO element type or a numpy dtype; row-major unless `layout=False`."""
    known = isinstance(element_type, str) and element_type in PRIMITIVE_TYPES
    name = str(element_type) if known else element_type_of(element_type)
    dimensions = tuple(int(d) for d in dimensions)
    return Shape(name, dimensions, Layout.descending(len(dimensions)) if layout else None)

  @staticmethod
  def tuple_of(*shapes: Shape) -> Shape:
    return Shape("tuple", tuple_shapes=shapes)

  @staticmethod
  def token() -> Shape:
    return Shape("token")

  @property
  def is_tuple(self) -> bool:
    return self.element_type == "tuple"

  @property
  def is_token(self) -> bool:
    return self.element_type == "token"

  @property
  def is_buffer(self) -> bool:
    return self.element_type == "buffer"

  @property
  def is_array(self) -> bool:
    return PRIMITIVE_TYPES[self.element_type].bits > 0

  @property
  def is_scalar(self) -> bool:
    return not self.dimensions and self.is_array

  @property
  def is_dynamic(self) -> bool:
    return any(self.dynamic) or any(s.is_dynamic for s in self.tuple_shapes)

  @property
  def rank(self) -> int:
    return len(self.dimensions)

  @property
  def dtype(self) -> np.dtype:
    """The numpy type of the elements; an error for what has none."""
    dtype = PRIMITIVE_TYPES[self.element_type].dtype
    if dtype is None:
      raise TypeError(f"a {self.element_type} shape has no numpy dtype")
    return dtype

  @property
  def kind(self) -> str:
    """pred, signed, unsigned, float, complex or other."""
    return PRIMITIVE_TYPES[self.element_type].kind

  @property
  def num_elements(self) -> int:
    """Elements of an array (the bound, where a dimension is dynamic); 0 elements for token and opaque."""
    return math.prod(self.dimensions) if self.is_array else 0

  @property
  def byte_size(self) -> int:
    """Bytes of the data, sub-byte types packed as the layout says, summed over a tuple; pointers are not counted."""
    if self.tuple_shapes:
      return sum(s.byte_size for s in self.tuple_shapes)
    bits = PRIMITIVE_TYPES[self.element_type].bits
    if self.layout is not None and self.layout.element_size_in_bits:
      bits = self.layout.element_size_in_bits
    elif bits < 8:
      bits = 8 if bits else 0
    return (self.num_elements * bits + 7) // 8

  def is_dynamic_dimension(self, i: int) -> bool:
    return bool(self.dynamic) and self.dynamic[i]

  def at(self, index: ShapeIndex) -> Shape:
    """The shape at a path into nested tuples."""
    shape = self
    for i in index:
      shape = shape.tuple_shapes[i]
    return shape

  def leaves(self, prefix: ShapeIndex = ()) -> Iterator[tuple[ShapeIndex, Shape]]:
    """Every non-tuple part with its path, in order."""
    if not self.is_tuple:
      yield prefix, self
      return
    for i, part in enumerate(self.tuple_shapes):
      yield from part.leaves((*prefix, i))

  def with_dimensions(self, dimensions: tuple[int, ...]) -> Shape:
    """The same element type, other dimensions, row-major, static."""
    return Shape(self.element_type, dimensions, Layout.descending(len(dimensions)))

  def with_element_type(self, element_type: str) -> Shape:
    """Other elements in the same order, each of its natural size."""
    layout = self.layout
    if layout is not None and layout.element_size_in_bits and element_type != self.element_type:
      layout = replace(layout, element_size_in_bits=0)
    return replace(self, element_type=element_type, layout=layout)

  def with_layout(self, layout: Layout | None) -> Shape:
    return replace(self, layout=layout)

  def without_layout(self) -> Shape:
    """The logical shape: no layout anywhere."""
    parts = tuple(s.without_layout() for s in self.tuple_shapes)
    return (
      self if self.layout is None and parts == self.tuple_shapes else replace(self, layout=None, tuple_shapes=parts)
    )

  def same_logical(self, other: Shape) -> bool:
    """Equal up to layout."""
    return self is other or self.without_layout() == other.without_layout()

  def compatible(self, other: Shape) -> bool:
    """Equal up to layout and to which dimensions are dynamic."""
    return (
      self.element_type == other.element_type
      and self.dimensions == other.dimensions
      and len(self.tuple_shapes) == len(other.tuple_shapes)
      and all(a.compatible(b) for a, b in zip(self.tuple_shapes, other.tuple_shapes))
    )

  def __str__(self) -> str:
    from tilewright.hlo.print_shape import shape_text

    return shape_text(self)


@dataclass(frozen=True, slots=True)
class ProgramShape:
  """`(p0, p1)->result`. Parameter names appear in protos and in computation headers only."""

  parameters: tuple[Shape, ...]
  result: Shape
  parameter_names: tuple[str, ...] = ()
  unknown: bytes = b""


_DESCENDING: tuple[Layout, ...] = tuple(Layout(tuple(range(rank - 1, -1, -1))) for rank in range(9))
