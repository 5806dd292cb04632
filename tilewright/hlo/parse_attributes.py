"""Which function reads the value of which attribute: `dimensions={0,1}` are ints, `to_apply=%add` is a computation.

`READERS` has a row for each kind of value (`attributes.ATTRIBUTE_KINDS` maps attributes to kinds), `COMMON` one for each
attribute that every instruction may have and that has its own field. Values that do not depend on the rest of the program are read
by `parse_values` and `parse_sharding`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tilewright.hlo.ir import Computation, Instruction, take_name
from tilewright.hlo.literal import Literal
from tilewright.hlo.parse_sharding import read_groups, read_sharding
from tilewright.hlo.parse_values import (
  read_accuracy,
  read_block_scaling,
  read_bools,
  read_dim_labels,
  read_frontend_attributes,
  read_int_lists,
  read_origin,
  read_output_aliases,
  read_padding,
  read_pairs,
  read_slices,
  read_sparsity,
  read_statistics,
  read_window,
)
from tilewright.hlo.shape import Shape
from tilewright.hlo.sharding import Domain, Sharding

if TYPE_CHECKING:
  from tilewright.hlo.parser import Parser

Scope = dict[str, Instruction]  # the instructions of a computation, so far


def _sharding(parser: Parser, instruction: Instruction, scope: Scope) -> None:
  instruction.sharding = read_sharding(parser.cursor)


def _frontend(parser: Parser, instruction: Instruction, scope: Scope) -> None:
  instruction.frontend_attributes = read_frontend_attributes(parser.cursor)


def _backend_config(parser: Parser, instruction: Instruction, scope: Scope) -> None:
  cursor = parser.cursor
  instruction.backend_config = cursor.braces("a backend config") if cursor.at("{") else cursor.string()


def _origin(parser: Parser, instruction: Instruction, scope: Scope) -> None:
  instruction.origin = read_origin(parser.cursor)


def _statistics(parser: Parser, instruction: Instruction, scope: Scope) -> None:
  instruction.statistics = read_statistics(parser.cursor)


def _control_predecessors(parser: Parser, instruction: Instruction, scope: Scope) -> None:
  cursor = parser.cursor
  cursor.expect("{", "before control predecessors")
  first = True
  while not cursor.accept("}"):
    if not first:
      cursor.expect(",")
    first = False
    start = cursor.pos
    name = cursor.name("an instruction")
    if name not in scope:
      cursor.error(f"there is no instruction %{name} before this", start)
    instruction.add_control_predecessor(scope[name])


def _computation(parser: Parser) -> Computation:
  cursor = parser.cursor
  if cursor.at("{"):
    return parser.body(take_name("_", parser.computation_names))
  start = cursor.pos
  name = cursor.name("the name of a computation")
  computation = parser.computations.get(name)
  if computation is None:
    cursor.error(f"there is no computation %{name} before this", start)
  return computation


def _computations(parser: Parser) -> tuple[Computation, ...]:
  cursor = parser.cursor
  cursor.expect("{", "before a list of computations")
  found: list[Computation] = []
  while not cursor.accept("}"):
    if found:
      cursor.expect(",")
    found.append(_computation(parser))
  return tuple(found)


def _words(parser: Parser) -> tuple[str, ...]:
  cursor = parser.cursor
  cursor.expect("{")
  words: list[str] = []
  while not cursor.accept("}"):
    if words:
      cursor.expect(",")
    words.append(cursor.word())
  return tuple(words)


def _shape_list(parser: Parser) -> tuple[Shape, ...]:
  cursor = parser.cursor
  cursor.expect("{", "before a list of shapes")
  shapes: list[Shape] = []
  while not cursor.accept("}"):
    if shapes:
      cursor.expect(",")
    shapes.append(parser.shapes.shape())
  return tuple(shapes)


def _literal_value(parser: Parser) -> Literal:
  return parser.literals.literal(parser.shapes.shape())


def _ints_or_lists(parser: Parser) -> tuple[int, ...] | tuple[tuple[int, ...], ...]:
  cursor = parser.cursor
  start = cursor.pos
  if cursor.accept("{") and cursor.at("{"):
    cursor.pos = start
    return read_int_lists(cursor)
  cursor.pos = start
  return cursor.ints()


def _domain(parser: Parser) -> Domain:
  cursor = parser.cursor
  cursor.expect("{")
  kind = ""
  sides: dict[str, Sharding] = {}
  first = True
  while not cursor.accept("}"):
    if not first:
      cursor.expect(",")
    first = False
    key = cursor.word("kind, entry or exit")
    cursor.expect("=")
    if key == "kind":
      kind = cursor.string()
    elif key in ("entry", "exit"):
      sides[key] = read_sharding(cursor)
    else:
      cursor.error(f"`{key}` is not part of a domain", cursor.pos - len(key))
  if len(sides) != 2:
    cursor.error("a domain has an entry and an exit")
  return Domain(kind, sides["entry"], sides["exit"])


COMMON: dict[str, Callable[[Parser, Instruction, Scope], None]] = {
  "sharding": _sharding,
  "frontend_attributes": _frontend,
  "backend_config": _backend_config,
  "origin": _origin,
  "statistics": _statistics,
  "control-predecessors": _control_predecessors,
}

READERS: dict[str, Callable[[Parser], Any]] = {
  "int": lambda p: p.cursor.integer(),
  "float": lambda p: p.cursor.number(),
  "bool": lambda p: p.cursor.boolean(),
  "string": lambda p: p.cursor.string(),
  "ints": _ints_or_lists,
  "bools": lambda p: read_bools(p.cursor),
  "word": lambda p: p.cursor.word(),
  "words": _words,
  "computation": _computation,
  "computations": _computations,
  "shape": lambda p: p.shapes.shape(),
  "shapes": _shape_list,
  "window": lambda p: read_window(p.cursor),
  "dim_labels": lambda p: read_dim_labels(p.cursor),
  "sparsity": lambda p: read_sparsity(p.cursor),
  "block_scaling": lambda p: read_block_scaling(p.cursor),
  "padding": lambda p: read_padding(p.cursor),
  "slices": lambda p: read_slices(p.cursor),
  "groups": lambda p: read_groups(p.cursor),
  "pairs": lambda p: read_pairs(p.cursor),
  "aliases": lambda p: read_output_aliases(p.cursor),
  "accuracy": lambda p: read_accuracy(p.cursor),
  "domain": _domain,
  "literal": _literal_value,
}
