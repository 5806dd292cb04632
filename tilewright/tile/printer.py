"""The tile IR as text: one op per line, the same text for the same function.

    func @scale(%0: ref<8x128xf32, any>, %1: ref<8x128xf32, any>) {
      %2 = load %0 : 8x128xf32  // scale.py:4
      %3 = constant 2.0 : f32
      %4 = broadcast %3 {dims=[], shape=[8, 128]} : 8x128xf32
      %5 = mul %2, %4 : 8x128xf32  // scale.py:4
      store %1, %5  // scale.py:4
    }

Values are numbered in the order in which they appear in the text, attributes are sorted by name, and the line of the user's
program follows `//`. The blocks of an op follow its type, each with its parameters:

    %7 = for %5, %6, %2 : f32 (%8: s32, %9: f32) {
      %10 = add %9, %9 : f32
      yield %10
    }

`parser.parse` reads back everything that is printed. A function that is not well formed prints too, for the error message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tilewright import errors
from tilewright.tile.ir import Block, Function, Op, Value
from tilewright.tile.literal import element_text, literal_text
from tilewright.tile.types import TileType, dtype_name

Note = Callable[[Op], str]
NAME = re.compile(r"[A-Za-z_][\w.-]*+", re.ASCII)


def to_text(function: Function, *, locations: bool = True, note: Note = lambda op: "") -> str:
  """The text of a function; without `locations`, ops are printed without their lines in the user's program. A `note` follows each op, for
  people: text with notes is not read back."""
  return "\n".join(_Printer(locations, note).function(function)) + "\n"


def op_text(op: Op) -> str:
  """One op alone, as an error message shows it: operands by type, no blocks, no line."""
  operands = ", ".join(str(v.type) for v in op.operands)
  return f"{op.name}({operands})" + (f" {{{_attributes(op)}}}" if _attributes(op) else "")


class _Printer:
  """Gives out numbers."""

  def __init__(self, locations: bool = True, note: Note = lambda op: "") -> None:
    self.numbers: dict[Value, int] = {}
    self.locations, self.note = locations, note

  def function(self, function: Function) -> Iterator[str]:
    name = function.name if NAME.fullmatch(function.name) else json.dumps(function.name)
    yield f"func @{name}{self._open(function.body)}"
    yield from self._ops(function.body, "  ")
    yield "}"

  def _open(self, block: Block) -> str:
    return "(" + ", ".join(f"{self._define(p)}: {p.type}" for p in block.params) + ") {"

  def _ops(self, block: Block, indent: str) -> Iterator[str]:
    for op in block.ops:
      line = indent + self._head(op)
      where = self.note(op) + (f"  // {location_text(op.loc)}" if op.loc and self.locations else "")
      for i, inner in enumerate(op.blocks):
        yield f"{line if i == 0 else indent + '}'} {self._open(inner)}{where if i == 0 else ''}"
        yield from self._ops(inner, indent + "  ")
      yield indent + "}" if op.blocks else line + where

  def _head(self, op: Op) -> str:
    """Everything of an op but its blocks and its line."""
    operands = ", ".join(self._use(v) for v in op.operands)
    results = ", ".join(self._define(v) for v in op.results)
    attributes = _attributes(op)
    parts = [f"{results} =" if results else "", op.name, operands, f"{{{attributes}}}" if attributes else ""]
    if _is_plain_constant(op):
      dtype = np.dtype(op.attrs["dtype"])
      parts = [f"{results} =", op.name, literal_text(op.attrs["value"], dtype)]
    if op.results:
      parts.append(": " + ", ".join(str(v.type) for v in op.results))
    return " ".join(p for p in parts if p)

  def _define(self, v: Value) -> str:
    self.numbers[v] = len(self.numbers)
    return f"%{self.numbers[v]}"

  def _use(self, v: Value) -> str:
    return f"%{self.numbers[v]}" if v in self.numbers else f"%undefined<{v.type}>"


def _is_plain_constant(op: Op) -> bool:
  """Whether the type and the elements describe a constant completely."""
  if op.name != "constant" or set(op.attrs) != {"value", "dtype"} or op.operands or len(op.results) != 1:
    return False
  dtype = np.dtype(op.attrs["dtype"])
  return op.results[0].type == TileType(tuple(np.shape(op.attrs["value"])), dtype)


# --- attributes --------------------------------------------------------------------------------------------------


def _attributes(op: Op) -> str:
  return ", ".join(f"{key}={attribute_text(op.attrs[key], key, op)}" for key in sorted(op.attrs))


def attribute_text(value: Any, key: str = "", op: Op | None = None) -> str:
  """An attribute's value. Every sequence is a list here, and comes back as a tuple."""
  match value:
    case None:
      return "none"
    case bool() | np.bool_():
      return "true" if value else "false"
    case int() | np.integer():
      return str(int(value))
    case float() if not isinstance(value, np.generic):
      return element_text(np.float64(value), np.dtype(np.float64))
    case str():
      return json.dumps(value)
    case np.dtype():
      return dtype_name(value)
    case type() if issubclass(value, np.generic):
      return dtype_name(np.dtype(value))
    case tuple() | list():
      return "[" + ", ".join(attribute_text(v, key, op) for v in value) + "]"
    case np.ndarray() | np.generic():
      return f"dense<{TileType(value.shape, value.dtype)}: {literal_text(value, value.dtype)}>"
  of = f" of {op.name} at {op.loc or '?'}" if op is not None else ""
  raise errors.TileError(f"the attribute {key}{of} is a {type(value).__name__}, which has no text: {value!r}")


def attributes_key(op: Op) -> tuple[str, ...]:
  """A hashable form of the attributes: equal exactly where the attributes mean the same."""
  if _is_plain_constant(op):
    return (literal_text(op.attrs["value"], np.dtype(op.attrs["dtype"])),)
  return tuple(f"{key}={attribute_text(op.attrs[key], key, op)}" for key in sorted(op.attrs))


def location_text(loc: str) -> str:
  """A location as it is, unless it would not read back: then in quotes."""
  plain = loc.isprintable() and loc == loc.strip() and not loc.startswith('"')
  return loc if plain else json.dumps(loc)
