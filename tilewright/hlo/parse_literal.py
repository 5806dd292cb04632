"""Reading literals: `{ {1, 2}, {3, 4} }`, `(1, {2, 3})`, `inf`, `nan(0x7)`, `(1.5, -2)` for complex numbers.

The shape is known before the elements, so the nesting must follow it. Innermost rows of plain numbers are split and
converted at once; only rows with words, parentheses or comments are read element by element.
"""

from __future__ import annotations

import re

import numpy as np

from tilewright.hlo.cursor import NUMBER, Cursor
from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.hlo.float_bits import FORMATS, WITHOUT_NAN, bits_dtype, default_nan_bits, nan_bits
from tilewright.hlo.literal import Literal
from tilewright.hlo.shape import UNBOUNDED, Layout, Shape

ROW = re.compile(r"\{([-+0-9.eE,\s]*+)\}", re.ASCII)
PLAIN_NUMBER = re.compile(r"[-+]?(?:\d++\.?\d*+|\.\d++)(?:[eE][-+]?\d++)?+", re.ASCII)
PLAIN_INTEGER = re.compile(r"[-+]?\d{1,20}", re.ASCII)
NAN = re.compile(r"(-?)nan(?:\(0x([0-9a-fA-F]{1,16})\))?+(?![\w.])", re.ASCII)
INF = re.compile(r"(-?)inf(?:inity)?+(?![\w.])", re.ASCII)
ELIDED = re.compile(r"\{\s*+\.\.\.\s*+\}")

Element = int | float | complex | bool


class _NanBits:
  """A NaN whose bits must be set after conversion."""

  __slots__ = ("bits",)

  def __init__(self, bits: int) -> None:
    self.bits = bits


def _plain(shape: Shape) -> Shape:
  """A literal has an order of elements, but no tiles, memory space or packed element size."""
  order = shape.layout.minor_to_major if shape.layout is not None else ()
  return shape if shape.layout == Layout(order) else shape.with_layout(Layout(order))


class LiteralReader:
  def __init__(self, cursor: Cursor) -> None:
    self.cursor = cursor

  def literal(self, shape: Shape) -> Literal:
    """The elements of a literal of this shape."""
    cursor = self.cursor
    start = cursor.pos
    if shape.is_tuple:
      if cursor.match(ELIDED):  # XLA elides whole tuples too
        return Literal(shape, None, tuple(Literal(_plain(part)) for part in shape.tuple_shapes))
      cursor.expect("(", "before the elements of a tuple literal")
      parts: list[Literal] = []
      for i, part in enumerate(shape.tuple_shapes):
        if i:
          cursor.expect(",", "between the elements of a tuple literal")
        self._repeated_shape(part)
        parts.append(self.literal(part))
      cursor.expect(")", "after the elements of a tuple literal")
      return Literal(shape, None, tuple(parts))
    if not shape.is_array:
      cursor.error(f"a {shape.element_type} has no literal", start)
    if UNBOUNDED in shape.dimensions:
      cursor.error("a literal cannot have an unbounded dimension", start)
    if cursor.match(ELIDED):
      return Literal(_plain(shape))
    self._repeated_shape(shape)
    elements: list[Element | _NanBits] = []
    if shape.rank and not cursor.at("{") and shape.num_elements:
      self._flat(shape, elements)
    else:
      self._nested(shape, 0, elements)
    return Literal(_plain(shape), self._convert(shape, elements, start))

  def _repeated_shape(self, shape: Shape) -> None:
    """Older text repeats the shape before the elements: `f32[2] {1, 2}`."""
    cursor = self.cursor
    cursor.skip()
    if cursor.text.startswith(shape.element_type + "[", cursor.pos):
      cursor.pos = cursor.text.find("]", cursor.pos) + 1

  def _flat(self, shape: Shape, out: list[Element | _NanBits]) -> None:
    """Numbers without braces: every element in row-major order, or the first alone, after which XLA fills with zeros."""
    cursor, count = self.cursor, shape.num_elements
    out.append(self._element(shape.element_type))
    if count > 1 and not cursor.at(","):
      filler: Element = {"float": 0.0, "complex": 0j, "pred": False}.get(shape.kind, 0)
      out += [filler] * (count - 1)
      return
    for _ in range(count - 1):
      cursor.expect(",", f"between the {count} elements of a literal without braces")
      out.append(self._element(shape.element_type))

  def _nested(self, shape: Shape, depth: int, out: list[Element | _NanBits]) -> None:
    cursor = self.cursor
    if depth == shape.rank:
      out.append(self._element(shape.element_type))
      return
    size = shape.dimensions[depth]
    if depth == shape.rank - 1:
      match = cursor.match(ROW)
      if match:
        self._row(shape, match, size, out)
        return
    cursor.expect("{", f"before the {size} entries of dimension {depth}")
    count = 0
    while not cursor.accept("}"):
      if count:
        cursor.expect(",", "between elements")
      if count == size:
        cursor.error(f"too many entries: dimension {depth} of {shape} has {size}")
      self._nested(shape, depth + 1, out)
      count += 1
    if count != size:
      cursor.error(f"{count} entries where dimension {depth} of {shape} has {size}", cursor.pos - 1)

  def _row(self, shape: Shape, match: re.Match[str], size: int, out: list[Element | _NanBits]) -> None:
    cursor = self.cursor
    body = match[1]
    parts = [part.strip() for part in body.split(",")] if body.strip() else []
    if len(parts) != size:
      cursor.error(f"{len(parts)} elements where {shape} has {size} in a row", match.start())
    kind = shape.kind
    pattern = PLAIN_INTEGER if kind in ("signed", "unsigned", "pred") else PLAIN_NUMBER
    full = pattern.fullmatch
    for part in parts:
      if not full(part):
        cursor.error(f"`{part[:40]}` is not a value of type {shape.element_type}", match.start())
    out.extend(map(int, parts) if pattern is PLAIN_INTEGER else map(float, parts))

  def _element(self, element_type: str) -> Element | _NanBits:
    cursor = self.cursor
    kind = PRIMITIVE_TYPES[element_type].kind
    if kind == "complex":
      if not cursor.accept("("):
        return complex(self._real("f64"), 0.0)
      real = self._real("f64")
      cursor.expect(",", "between the parts of a complex number")
      imaginary = self._real("f64")
      cursor.expect(")", "after a complex number")
      return complex(real, imaginary)
    if kind == "float":
      match = cursor.match(NAN)
      if match:
        return self._nan(element_type, match)
      return self._real(element_type)
    if cursor.accept_word("true"):
      return True
    if cursor.accept_word("false"):
      return False
    match = cursor.match(PLAIN_INTEGER)
    if (
      not match or cursor.text[cursor.pos : cursor.pos + 1].isalnum() or cursor.text[cursor.pos : cursor.pos + 1] == "."
    ):
      cursor.error(f"expected a value of type {element_type}, found {cursor.found()}")
    return int(match[0])

  def _real(self, element_type: str) -> float:
    cursor = self.cursor
    match = cursor.match(NUMBER)
    if match:
      return float(match[0])
    match = cursor.match(INF)
    if match:
      return float("-inf") if match[1] else float("inf")
    match = cursor.match(NAN)
    if match:
      return float("nan")
    cursor.error(f"expected a value of type {element_type}, found {cursor.found()}")

  def _nan(self, element_type: str, match: re.Match[str]) -> _NanBits:
    cursor = self.cursor
    negative = match[1] == "-"
    if element_type in WITHOUT_NAN:
      cursor.error(f"{element_type} has no nan", match.start())
    if match[2] is None:
      return _NanBits(default_nan_bits(element_type, negative))
    fmt = FORMATS[element_type]
    payload = int(match[2], 16)
    if not fmt.has_payload:
      cursor.error(f"a nan of {element_type} has no payload", match.start())
    if not 0 < payload < 1 << fmt.mantissa_bits:
      cursor.error(f"a nan payload of {element_type} has {fmt.mantissa_bits} bits and is not zero", match.start())
    return _NanBits(nan_bits(element_type, payload, negative))

  def _convert(self, shape: Shape, elements: list[Element | _NanBits], start: int) -> np.ndarray:
    cursor = self.cursor
    element_type, kind = shape.element_type, shape.kind
    dtype, bits = shape.dtype, PRIMITIVE_TYPES[shape.element_type].bits
    nans = [(i, e.bits) for i, e in enumerate(elements) if type(e) is _NanBits] if kind == "float" else []
    for i, _ in nans:
      elements[i] = 1.0  # a value every format has (e8m0 has no zero)
    if kind in ("signed", "unsigned"):
      low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind == "signed" else (0, (1 << bits) - 1)
      whole = [e for e in elements if isinstance(e, int)]
      if whole and (min(whole) < low or max(whole) > high):
        cursor.error(f"a value is out of the range of {element_type} ({low} to {high})", start)
      wide = np.array(elements, np.uint64 if kind == "unsigned" else np.int64)
      array = wide.astype(dtype)
    elif kind == "pred":
      array = np.array([bool(e) for e in elements], np.bool_)
    elif kind == "complex":
      array = np.array(elements, np.complex128).astype(dtype)
    else:
      wide = np.array(elements, np.float64)
      with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        array = wide.astype(dtype)
        back = array.astype(np.float64)
      if np.any(np.isfinite(wide) & ~np.isfinite(back)) or self._saturated(element_type, wide):
        cursor.error(f"a value is out of the range of {element_type}", start)
      if nans:
        view = array.view(bits_dtype(element_type))
        for i, pattern in nans:
          view[i] = pattern
    return array.reshape(shape.dimensions)

  @staticmethod
  def _saturated(element_type: str, wide: np.ndarray) -> bool:
    """Formats without an infinity clamp or lose what they cannot hold instead of showing it."""
    fmt = FORMATS.get(element_type)
    if fmt is not None and fmt.has_payload:
      return False
    import ml_dtypes

    limit = float(ml_dtypes.finfo(PRIMITIVE_TYPES[element_type].dtype).max)
    infinite = bool(np.any(np.isinf(wide)))
    return infinite or bool(np.any(np.abs(wide) > limit))
