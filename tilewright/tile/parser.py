"""Reading the text that `printer.to_text` writes.

The parser matches compiled patterns at the current position; there is no token stream. It checks names and scopes while
it reads, so that an error points at the exact position, and takes types as they are written: `verify.verify` checks them.

    2:8: there is no tile op 'addd'
      %1 = addd %0, %0 : f32
           ^
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import numpy as np

from tilewright import errors
from tilewright.tile.ir import Block, Function, Op, Value
from tilewright.tile.literal import ELEMENT, HEX, element, from_bytes
from tilewright.tile.ops import OPS
from tilewright.tile.types import RefType, SemaphoreArrayType, TileType, Type, dense_strides, dtype_named

T = TypeVar("T")

_SPACE = re.compile(r"[ \t]*+")
_BLANK = re.compile(r"(?:[ \t\r\n]++|//[^\n]*+)*+")
_LINE_END = re.compile(r"[ \t]*+(?://[ \t]?([^\n]*+))?\r?(?:\n|\Z)")
_NAME = re.compile(r"[A-Za-z_][\w.-]*+", re.ASCII)
_STRING = re.compile(r'"(?:[^"\\\n]++|\\.)*+"')
_VALUE = re.compile(r"%[\w.-]++", re.ASCII)
_INTEGER = re.compile(r"-?\d++", re.ASCII)
_DIMENSIONS = re.compile(r"((?:\d++x)*+)([a-z_]\w*+)", re.ASCII)
_FLOAT = re.compile(r"-?(?:inf|nan)\b|nan:0x[0-9a-f]++|-?\d++(?:\.\d*+(?:e[-+]?\d++)?|e[-+]?\d++)", re.ASCII)
_WORDS: dict[str, Any] = {"true": True, "false": False, "none": None}


def parse(text: str) -> Function:
  """The function that a text describes. Errors give line and column."""
  return _Parser(text).function()


class _Parser:
  """A text, a position in it, and the values in scope."""

  def __init__(self, text: str):
    self.text = text
    self.pos = 0
    self.scopes: list[dict[str, Value]] = []

  # --- the text ----------------------------------------------------------------------------------------------------

  def fail(self, message: str, at: int | None = None) -> NoReturn:
    at = self.pos if at is None else at
    start = self.text.rfind("\n", 0, at) + 1
    line = self.text[start:].split("\n", 1)[0].rstrip("\r")
    number, column = self.text.count("\n", 0, at) + 1, at - start + 1
    raise errors.TileError(f"{number}:{column}: {message}\n{line}\n{' ' * (column - 1)}^")

  def skip(self, pattern: re.Pattern[str] = _SPACE) -> None:
    match = pattern.match(self.text, self.pos)
    assert match is not None
    self.pos = match.end()

  def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
    self.skip()
    match = pattern.match(self.text, self.pos)
    if match is not None:
      self.pos = match.end()
    return match

  def need(self, pattern: re.Pattern[str], what: str) -> str:
    match = self.take(pattern)
    if match is None:
      found = self.text[self.pos : self.pos + 1]
      self.fail(f"expected {what}, found {'the end of the line' if found in ('', chr(10), chr(13)) else repr(found)}")
    return match[0]

  def sees(self, symbol: str) -> bool:
    self.skip()
    return self.text.startswith(symbol, self.pos)

  def accept(self, symbol: str) -> bool:
    if self.sees(symbol):
      self.pos += len(symbol)
      return True
    return False

  def expect(self, symbol: str) -> None:
    if not self.accept(symbol):
      self.need(re.compile(re.escape(symbol)), repr(symbol))

  def separated(self, item: Callable[[], T], close: str) -> list[T]:
    """Items between commas, up to and with a closing symbol."""
    items: list[T] = []
    while not self.accept(close):
      if items:
        self.expect(",")
      items.append(item())
    return items

  def line_end(self) -> str:
    """The end of a line; returns the text of its comment."""
    match = _LINE_END.match(self.text, self.pos)
    if match is None:
      self.skip()
      self.fail("expected the end of the line")
    start, self.pos = match.start(1), match.end()
    comment = (match[1] or "").strip()
    return self.unquote(comment, start) if comment.startswith('"') else comment

  def unquote(self, quoted: str, at: int) -> str:
    try:
      value = json.loads(quoted)
    except json.JSONDecodeError as e:
      self.fail(f"not a string: {e.msg}", at)
    return str(value)

  # --- functions and blocks ----------------------------------------------------------------------------------------

  def function(self) -> Function:
    self.skip(_BLANK)
    self.expect("func")
    self.expect("@")
    if self.sees('"'):
      at = self.pos
      name = self.unquote(self.need(_STRING, "a name"), at)
    else:
      name = self.need(_NAME, "a name")
    body, _ = self.block()
    self.line_end()
    self.skip(_BLANK)
    if self.pos != len(self.text):
      self.fail("expected the end of the text after the function")
    return Function(name, body)

  def block(self) -> tuple[Block, str]:
    """Parameters, then ops in braces, one on a line; and the comment after the opening brace."""
    self.expect("(")
    block = Block([], [])
    self.scopes.append({})
    block.params = self.separated(lambda: self.parameter(block), ")")
    self.expect("{")
    comment = self.line_end()
    while True:
      self.skip(_BLANK)
      if self.accept("}"):
        break
      if self.pos == len(self.text):
        self.fail("expected '}' before the end of the text")
      block.ops.append(self.op())
    self.scopes.pop()
    return block, comment

  def parameter(self, block: Block) -> Value:
    self.skip()
    at = self.pos
    name = self.need(_VALUE, "a value such as %0")
    self.expect(":")
    value = Value(self.type(), block)
    self.define(name, value, at)
    return value

  def define(self, name: str, value: Value, at: int) -> None:
    if any(name in scope for scope in self.scopes):
      self.fail(f"{name} is defined already", at)
    self.scopes[-1][name] = value

  def use(self) -> Value:
    self.skip()
    at = self.pos
    name = self.need(_VALUE, "a value such as %0")
    for scope in reversed(self.scopes):
      if name in scope:
        return scope[name]
    self.fail(f"{name} is not defined here", at)

  # --- ops ---------------------------------------------------------------------------------------------------------

  def op(self) -> Op:
    names: list[tuple[str, int]] = []
    if self.sees("%"):
      while not names or self.accept(","):
        self.skip()
        at = self.pos
        names.append((self.need(_VALUE, "a value such as %0"), at))
      self.expect("=")
    self.skip()
    start = self.pos
    op = Op(self.need(_NAME, "the name of an op"), [], {}, [], [])
    if op.name not in OPS:
      self.fail(f"there is no tile op {op.name!r}", start)
    if op.name == "constant" and not self.sees("{"):
      types = [self.constant(op)]
    else:
      if self.sees("%"):
        op.operands.append(self.use())
        while self.accept(","):
          op.operands.append(self.use())
      if self.accept("{"):
        self.attributes(op)
      types = self.types() if self.accept(":") else []
    op.results = [Value(t, op) for t in types]
    self.blocks(op)
    if len(types) != len(names):
      self.fail(f"{op.name} has {len(types)} result types for {len(names)} results", start)
    # Blocks are read before the results are defined, as no block can see the results of the op around it.
    for (name, at), value in zip(names, op.results):
      self.define(name, value, at)
    return op

  def blocks(self, op: Op) -> None:
    if not self.sees("("):
      op.loc = self.line_end()
      return
    while self.sees("("):
      block, comment = self.block()
      op.loc = op.loc or comment
      op.blocks.append(block)
    self.line_end()

  def attributes(self, op: Op) -> None:
    def attribute() -> None:
      self.skip()
      at = self.pos
      key = self.need(_NAME, "the name of an attribute")
      if key in op.attrs:
        self.fail(f"the attribute {key} is given twice", at)
      self.expect("=")
      op.attrs[key] = self.attribute()

    self.separated(attribute, "}")

  def attribute(self) -> Any:
    """An attribute's value; lists come back as tuples."""
    if self.accept("["):
      return tuple(self.separated(self.attribute, "]"))
    if self.accept("dense<"):
      return self.dense()
    self.skip()
    at = self.pos
    if self.sees('"'):
      return self.unquote(self.need(_STRING, "a string"), at)
    if (match := self.take(_FLOAT)) is not None:
      return element(match[0], np.dtype(np.float64)).item()
    if (match := self.take(_INTEGER)) is not None:
      return int(match[0])
    word = self.need(_NAME, "a value of an attribute")
    return _WORDS[word] if word in _WORDS else self.dtype(word, at)

  # --- types -------------------------------------------------------------------------------------------------------

  def types(self) -> list[Type]:
    found = [self.type()]
    while self.accept(","):
      found.append(self.type())
    return found

  def type(self) -> Type:
    if self.accept("ref<"):
      tile = self.tile()
      self.expect(",")
      space = self.need(_NAME, "a memory space")
      strides = dense_strides(tile.shape)
      if self.accept(","):
        self.expect("strides")
        self.expect("=")
        self.expect("[")
        strides = tuple(self.separated(lambda: int(self.need(_INTEGER, "a stride")), "]"))
      self.expect(">")
      return RefType(tile.shape, tile.dtype, space, strides)
    if self.accept("semaphore<"):
      shape, kind, _ = self.dimensions()
      counts = {"arrivals": 0, "ctas": 1}
      for name in counts:
        if not self.accept(","):
          break
        self.expect(name)
        self.expect("=")
        counts[name] = int(self.need(_INTEGER, f"a number of {name}"))
      self.expect(">")
      return SemaphoreArrayType(shape, kind, **counts)
    return self.tile()

  def tile(self) -> TileType:
    shape, name, at = self.dimensions()
    return TileType(shape, self.dtype(name, at))

  def dimensions(self) -> tuple[tuple[int, ...], str, int]:
    """Sizes separated by `x`, a last word, and the position of that word."""
    match = self.take(_DIMENSIONS)
    if match is None:
      self.fail("expected a type such as 4x8xf32")
    return tuple(int(d) for d in match[1].split("x")[:-1]), match[2], match.start(2)

  def dtype(self, name: str, at: int) -> np.dtype:
    try:
      return dtype_named(name)
    except ValueError as e:
      self.fail(str(e), at)

  # --- constants ---------------------------------------------------------------------------------------------------

  def constant(self, op: Op) -> Type:
    """Elements, then the type, which says how to read them."""
    start = self.pos
    self.literal(None)
    self.expect(":")
    tile = self.tile()
    end, self.pos = self.pos, start
    op.attrs = {"dtype": tile.dtype, "value": self.literal(tile)}
    self.pos = end
    return tile

  def dense(self) -> np.ndarray:
    tile = self.tile()
    self.expect(":")
    value = self.literal(tile)
    self.expect(">")
    return value

  def literal(self, tile: TileType | None) -> np.ndarray:
    """An element, a list of them, or bytes. Without a type it is only skipped."""
    self.skip()
    at = self.pos
    if (match := self.take(HEX)) is not None:
      if tile is None:
        return np.zeros(())
      if len(match[1]) != 2 * tile.nbytes:
        self.fail(f"{tile} has {tile.nbytes} bytes, {len(match[1]) / 2:g} are given", at)
      return from_bytes(bytes.fromhex(match[1]), tile.shape, tile.dtype)
    if not self.accept("["):
      value = self.element(tile)
      return value if tile is None else np.full(tile.shape, value, tile.dtype)
    elements = self.separated(lambda: self.element(tile), "]")
    if tile is None:
      return np.zeros(())
    if len(elements) != tile.size:
      self.fail(f"{tile} has {tile.size} elements, {len(elements)} are given", at)
    array = np.zeros(tile.size, tile.dtype)
    for i, value in enumerate(elements):
      array[i] = value[()]
    return array.reshape(tile.shape)

  def element(self, tile: TileType | None) -> np.ndarray:
    self.skip()
    at = self.pos
    if self.accept("("):  # a complex number
      part = None if tile is None else TileType((), np.dtype(f"f{max(tile.dtype.itemsize // 2, 4)}"))
      real = self.element(part)
      self.expect(",")
      imaginary = self.element(part)
      self.expect(")")
      if tile is None:
        return np.zeros(())
      if tile.dtype.kind != "c":
        self.fail(f"a complex number is not a {tile.dtype}", at)
      return np.stack([real, imaginary]).view(tile.dtype).reshape(())
    text = self.need(ELEMENT, "a number, true or false")
    if tile is None:
      return np.zeros(())
    if tile.dtype.kind == "c":
      self.fail("a complex number is written as (real, imaginary)", at)
    try:
      return element(text, tile.dtype)
    except ValueError as e:
      self.fail(str(e), at)
