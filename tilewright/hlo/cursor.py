"""Reading text from left to right: the primitives of the HLO parser.

There is no token stream. The parser matches what it expects at the current position with compiled patterns, so that a
whole name, number, integer list or shape costs one call into `re`. Every pattern is possessive or free of overlapping
alternatives: no input makes them backtrack, and parsing stays linear in the text.
"""

from __future__ import annotations

import re
from typing import NoReturn

from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.hlo.errors import HloParseError

SPACE = re.compile(r"(?:[ \t\r\n\f\v]++|//[^\n]*+|/\*(?s:.*?)\*/)*+")
SKIPPED = " \t\r\n\f\v/"  # what spaces and comments begin with
NAME = re.compile(r"%?([A-Za-z_][\w.-]*+)", re.ASCII)
WORD = re.compile(r"[A-Za-z_][\w.-]*+", re.ASCII)
INTEGER = re.compile(r"-?\d++(?![\w.])", re.ASCII)
NUMBER = re.compile(r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?+", re.ASCII)
STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"' + r"|'[^'\\]*+(?:\\.[^'\\]*+)*+'", re.DOTALL)
INTS = re.compile(r"\{([-0-9, ]*+)\}")
RAW_STEP = re.compile(r'[^{}"]*+')
ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)

# Words that XLA's lexer does not read as names unless `%` precedes them.
RESERVED = frozenset(PRIMITIVE_TYPES) - {"buffer", "tuple"} | {
  "inf",
  "nan",
  "true",
  "false",
  "ROOT",
  "ENTRY",
  "HloModule",
}

_SIMPLE = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


def _unescape_one(match: re.Match[bytes]) -> bytes:
  code = match[1]
  if code[:1] == b"x" and len(code) > 1:
    return bytes([int(code[1:], 16)])
  if code[:1].isdigit() and code[0] < 0x38:
    return bytes([int(code, 8) & 255])
  return _SIMPLE.get(code, code)


def unescape(body: str) -> str:
  """The value of a quoted string's inside. Bytes that are not UTF-8 survive as surrogates."""
  if "\\" not in body:
    return body
  return ESCAPE.sub(_unescape_one, body.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


class Cursor:
  """A text and a position in it."""

  __slots__ = ("pos", "text")

  def __init__(self, text: str) -> None:
    self.text = text
    self.pos = 0

  def error(self, message: str, pos: int | None = None) -> NoReturn:
    """Raises HloParseError at `pos`, or at the next thing that is not a space."""
    if pos is None:
      found = SPACE.match(self.text, self.pos)
      pos = found.end() if found else self.pos
    pos = min(pos, len(self.text))
    start = self.text.rfind("\n", 0, pos) + 1
    end = self.text.find("\n", pos)
    line = self.text[start : end if end >= 0 else len(self.text)]
    raise HloParseError(message, self.text.count("\n", 0, pos) + 1, pos - start + 1, line)

  def found(self) -> str:
    """The text at the current position, for error messages."""
    self.skip()
    if self.pos >= len(self.text):
      return "the end of the text"
    word = WORD.match(self.text, self.pos) or NUMBER.match(self.text, self.pos)
    return f"`{word[0][:60]}`" if word and word[0] else f"`{self.text[self.pos]}`"

  def skip(self) -> None:
    """Moves over spaces and comments."""
    if self.text[self.pos : self.pos + 1] in SKIPPED:  # (the end of the text is, too)
      match = SPACE.match(self.text, self.pos)
      if match:
        self.pos = match.end()

  def peek(self) -> str:
    """The next character that is not space, "" at the end."""
    self.skip()
    return self.text[self.pos : self.pos + 1]

  def at(self, literal: str) -> bool:
    self.skip()
    return self.text.startswith(literal, self.pos)

  def accept(self, literal: str) -> bool:
    text, pos = self.text, self.pos
    if text[pos : pos + 1] in SKIPPED:
      self.skip()
      pos = self.pos
    if text.startswith(literal, pos):
      self.pos = pos + len(literal)
      return True
    return False

  def expect(self, literal: str, where: str = "") -> None:
    if not self.accept(literal):
      self.error(f"expected `{literal}`{' ' + where if where else ''}, found {self.found()}")

  def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
    if self.text[self.pos : self.pos + 1] in SKIPPED:
      self.skip()
    match = pattern.match(self.text, self.pos)
    if match:
      self.pos = match.end()
    return match

  def accept_word(self, word: str) -> bool:
    """Moves over exactly this word."""
    self.skip()
    match = WORD.match(self.text, self.pos)
    if match and match[0] == word:
      self.pos = match.end()
      return True
    return False

  def word(self, what: str = "a word") -> str:
    match = self.match(WORD)
    if not match:
      self.error(f"expected {what}, found {self.found()}")
    return match[0]

  def name(self, what: str = "a name") -> str:
    """A name with or without `%`; without it, not a reserved word. A `:` directly after it is part of XLA's token."""
    start = self.pos
    match = self.match(NAME)
    if not match:
      self.error(f"expected {what}, found {self.found()}")
    name = match[1]
    if name in RESERVED and match[0][0] != "%":
      self.error(f"expected {what}, found `{name}`, which is a reserved word (write %{name})", start)
    if self.text.startswith(":", self.pos):
      self.pos += 1
    return name

  def integer(self, what: str = "an integer") -> int:
    """An integer that fits 64 bits."""
    match = self.match(INTEGER)
    if not match:
      self.error(f"expected {what}, found {self.found()}")
    return self.to_int(match[0], match.start())

  def to_int(self, digits: str, pos: int) -> int:
    if len(digits) > 40:
      self.error("this integer does not fit 64 bits", pos)
    value = int(digits)
    if not -(2**63) <= value < 2**64:
      self.error(f"the integer {digits} does not fit 64 bits", pos)
    return value

  def number(self) -> float:
    match = self.match(NUMBER)
    if match:
      return float(match[0])
    for word, value in (("inf", float("inf")), ("-inf", float("-inf")), ("nan", float("nan"))):
      if self.accept(word):
        return value
    self.error(f"expected a number, found {self.found()}")

  def boolean(self) -> bool:
    if self.accept_word("true"):
      return True
    if self.accept_word("false"):
      return False
    match = self.match(INTEGER)
    if match and match[0] in ("0", "1"):
      return match[0] == "1"
    self.error(f"expected true or false, found {self.found()}")

  def string(self) -> str:
    match = self.match(STRING)
    if not match:
      if self.peek() in ('"', "'"):
        self.error("this string has no end")
      self.error(f"expected a string, found {self.found()}")
    return unescape(match[0][1:-1])

  def ints(self) -> tuple[int, ...]:
    """`{0,1,2}`."""
    match = self.match(INTS)
    if match:
      body = match[1].strip()
      if not body:
        return ()
      start = match.start(1)
      parts = [part.strip() for part in body.split(",")]
      if all(part.isdigit() and len(part) < 19 for part in parts):
        return tuple(map(int, parts))
      for part in parts:
        if not INTEGER.fullmatch(part):
          self.error("expected integers between commas", start)
      return tuple(self.to_int(part, start) for part in parts)
    self.expect("{", "before a list of integers")
    values: list[int] = []
    while not self.accept("}"):
      if values:
        self.expect(",")
      values.append(self.integer())
    return tuple(values)

  def braces(self, what: str) -> str:
    """The text of a balanced `{…}`, braces included; quotes protect what is inside them."""
    self.skip()
    start = self.pos
    text, pos, depth = self.text, start, 0
    size = len(text)
    if not text.startswith("{", pos):
      self.error(f"expected `{{` before {what}, found {self.found()}")
    while pos < size:
      step = RAW_STEP.match(text, pos)
      pos = step.end() if step else pos
      if pos >= size:
        break
      char = text[pos]
      if char == '"':
        quoted = STRING.match(text, pos)
        if not quoted:
          self.error("this string has no end", pos)
        pos = quoted.end()
        continue
      depth += 1 if char == "{" else -1
      pos += 1
      if depth == 0:
        self.pos = pos
        return text[start:pos]
    self.error(f"the braces of {what} are not closed", start)
