"""Reading shapes: `f32[4,8]{1,0:T(8,128)}`, `(s32[], f32[<=8])`, `token[]`, `b(f32[4])`.

Programs repeat a few shapes thousands of times, so whole spellings are cached: a known one costs a dictionary
look-up. Only spellings that the two patterns below do not match take the slow path.
"""

from __future__ import annotations

import re

from tilewright.hlo.cursor import SPACE, Cursor
from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.hlo.shape import COMBINE, UNBOUNDED, Layout, ProgramShape, Shape, SplitConfig

# An array whose layout has no braces inside. The look-ahead rejects a layout it cannot match.
ARRAY = re.compile(r"[a-z]\w*+\[[^\[\]{}()/]*+\](?: *+\{[\d:][^{}/]*+\})?+(?!\s*+\{[\d:])", re.ASCII)
FLAT_TUPLE = re.compile(r"\([^()]++\)")
ELEMENT = re.compile(r"([a-z]\w*+)\[", re.ASCII)
DIMENSION = re.compile(r"\s*+(<=\s*+)?(\d++|\?)\s*+")

# Spellings of shapes, shared by all texts of the process: shapes are immutable. A thread may read an entry that another has just
# evicted; both then parse it again.
_KNOWN: dict[str, Shape] = {}
_MAX_CACHED_SHAPES = 50_000
_LEVELS = frozenset("DCSH")


class ShapeReader:
  """Reads shapes at a cursor, and caches them."""

  def __init__(self, cursor: Cursor) -> None:
    self.cursor = cursor
    if len(_KNOWN) > _MAX_CACHED_SHAPES:
      _KNOWN.clear()
    self.known = _KNOWN

  def try_shape(self) -> Shape | None:
    """A shape if one starts here (after spaces), else None and the position unchanged."""
    cursor = self.cursor
    cursor.skip()
    text, pos = cursor.text, cursor.pos
    match = ARRAY.match(text, pos) or FLAT_TUPLE.match(text, pos)
    if match:
      shape = self.known.get(match[0])
      if shape is not None:
        cursor.pos = match.end()
        return shape
    start = text[pos : pos + 1]
    if start == "(" or text.startswith("b(", pos):
      shape = self._compound()
    else:
      element = ELEMENT.match(text, pos)
      if not element or element[1] not in PRIMITIVE_TYPES:
        return None
      cursor.pos = element.end()
      shape = self._array(element[1], pos)
    if cursor.pos - pos < 512:
      self.known[text[pos : cursor.pos]] = shape
    return shape

  def shape(self) -> Shape:
    shape = self.try_shape()
    if shape is None:
      self.cursor.error(f"expected a shape, found {self.cursor.found()}")
    return shape

  def program_shape(self) -> ProgramShape:
    """`(p0, p1)->result`, as in entry_computation_layout."""
    cursor = self.cursor
    cursor.expect("(", "before the parameter shapes")
    parameters: list[Shape] = []
    while not cursor.accept(")"):
      if parameters:
        cursor.expect(",")
      parameters.append(self.shape())
    cursor.expect("->")
    return ProgramShape(tuple(parameters), self.shape())

  def _compound(self) -> Shape:
    cursor = self.cursor
    if cursor.accept("b("):
      inner = self.shape()
      cursor.expect(")", "after the shape of a buffer")
      return Shape("buffer", tuple_shapes=(inner,))
    cursor.expect("(")
    parts: list[Shape] = []
    while not cursor.accept(")"):
      if parts:
        cursor.expect(",", "between the shapes of a tuple")
      parts.append(self.shape())
    return Shape("tuple", tuple_shapes=tuple(parts))

  def _array(self, element_type: str, start: int) -> Shape:
    cursor = self.cursor
    dimensions: list[int] = []
    dynamic: list[bool] = []
    while not cursor.accept("]"):
      if dimensions:
        cursor.expect(",", "between dimensions")
      match = cursor.match(DIMENSION)
      if not match:
        cursor.error(f"expected a dimension, found {cursor.found()}")
      if match[2] == "?":
        if match[1]:
          cursor.error("a dimension is `?` or `<=N`, not both", match.start())
        dimensions.append(UNBOUNDED)
      else:
        dimensions.append(cursor.to_int(match[2], match.start(2)))
      if dimensions[-1] >= 2**63:
        cursor.error("a dimension must fit 63 bits", match.start())
      dynamic.append(bool(match[1]) or match[2] == "?")
    if not PRIMITIVE_TYPES[element_type].bits:
      if element_type not in ("token", "opaque"):
        cursor.error(f"`{element_type}` is not an element type", start)
      if dimensions:
        cursor.error(f"{element_type}[] takes no dimensions", start)
      if element_type == "opaque" or element_type == "token":
        return Shape(element_type)
    layout: Layout | None = None
    text = cursor.text
    spaces = SPACE.match(text, cursor.pos)
    pos = spaces.end() if spaces else cursor.pos
    if text.startswith("{", pos) and (text[pos + 1 : pos + 2].isdigit() or text[pos + 1 : pos + 2] == ":"):
      layout = self.layout()
      if len(layout.minor_to_major) != len(dimensions):
        cursor.error(f"the layout orders {len(layout.minor_to_major)} dimensions of {len(dimensions)}", pos)
      if sorted(layout.minor_to_major) != list(range(len(dimensions))):
        cursor.error(f"the layout {{{','.join(map(str, layout.minor_to_major))}}} is not a permutation", pos)
    else:
      # Text without a layout means row-major, as XLA's parser takes it.
      layout = Layout.descending(len(dimensions))
    return Shape(element_type, tuple(dimensions), layout, tuple(dynamic) if any(dynamic) else ())

  def layout(self) -> Layout:
    """`{1,0:D(..)T(..)…}`; the suffixes come in this order, each at most once."""
    cursor = self.cursor
    cursor.expect("{")
    order: list[int] = []
    while not cursor.at(":") and not cursor.at("}"):
      if order:
        cursor.expect(",")
      order.append(cursor.integer())
    if not cursor.accept(":"):
      cursor.expect("}", "after a layout")
      return Layout.descending(len(order)) if order == list(range(len(order) - 1, -1, -1)) else Layout(tuple(order))
    levels: tuple[str, ...] = ()
    unique: tuple[bool, ...] = ()
    ordered: tuple[bool, ...] = ()
    if cursor.accept("D("):
      levels, unique, ordered = self._levels()
    tiles = self._tiles() if cursor.accept("T(") else ()
    tail = self._number_in_parens() if cursor.accept("L(") else 1
    index_type = self._type_in_parens() if cursor.accept("#(") else ""
    pointer_type = self._type_in_parens() if cursor.accept("*(") else ""
    element_size = self._number_in_parens() if cursor.accept("E(") else 0
    memory_space = self._number_in_parens() if cursor.accept("S(") else 0
    splits = self._splits() if cursor.accept("SC(") else ()
    physical: Shape | None = None
    if cursor.accept("P("):
      physical = self.shape()
      cursor.expect(")")
    prefix = self._number_in_parens() if cursor.accept("M(") else 0
    cursor.expect("}", "after a layout (its parts come in the order D T L # * E S SC P M)")
    return Layout(
      tuple(order),
      levels,
      unique,
      ordered,
      tiles,
      tail,
      index_type,
      pointer_type,
      element_size,
      memory_space,
      splits,
      physical,
      prefix,
    )

  def _number_in_parens(self) -> int:
    value = self.cursor.integer()
    self.cursor.expect(")")
    return value

  def _type_in_parens(self) -> str:
    name = self.cursor.word("an element type")
    if name not in PRIMITIVE_TYPES:
      self.cursor.error(f"`{name}` is not an element type", self.cursor.pos - len(name))
    self.cursor.expect(")")
    return name

  def _levels(self) -> tuple[tuple[str, ...], tuple[bool, ...], tuple[bool, ...]]:
    """`D(D,C+,S~)`: dense, compressed, singleton, loose compressed (H); `+` not unique, `~` not ordered."""
    cursor = self.cursor
    levels: list[str] = []
    unique: list[bool] = []
    ordered: list[bool] = []
    while not cursor.accept(")"):
      if levels:
        cursor.expect(",")
      level = cursor.peek()
      if level not in _LEVELS:
        cursor.error(f"expected a dimension level (D, C, S or H), found {cursor.found()}")
      cursor.pos += 1
      levels.append(level)
      unique.append(not cursor.accept("+"))
      ordered.append(not cursor.accept("~"))
    return (
      tuple(levels),
      () if all(unique) else tuple(unique),
      () if all(ordered) else tuple(ordered),
    )

  def _tiles(self) -> tuple[tuple[int, ...], ...]:
    cursor = self.cursor
    tiles: list[tuple[int, ...]] = []
    while True:
      tile: list[int] = []
      while not cursor.accept(")"):
        if tile:
          cursor.expect(",")
        tile.append(COMBINE if cursor.accept("*") else cursor.integer())
      tiles.append(tuple(tile))
      if not cursor.accept("("):
        return tuple(tiles)

  def _splits(self) -> tuple[SplitConfig, ...]:
    cursor = self.cursor
    splits: list[SplitConfig] = []
    while True:
      dimension = cursor.integer()
      cursor.expect(":")
      indices = [cursor.integer()]
      while cursor.accept(","):
        indices.append(cursor.integer())
      cursor.expect(")")
      splits.append(SplitConfig(dimension, tuple(indices)))
      if not cursor.accept("("):
        return tuple(splits)
