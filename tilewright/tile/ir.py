"""The tile IR: functions of blocks of ops over values.

An op has a name (a row of the table in `ops`), operands, attributes, blocks for structured control flow, and the line of the user's
program it comes from. A value is defined once, by an op or as a parameter of a block. Building an op infers and checks its result
types, so that a function is well formed by construction:

    b = Builder(function.body)
    x = b.emit("load", [ref])
    y = b.emit("add", [x, x])
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from tilewright import errors
from tilewright.tile.types import RefType, TileType, Type


@dataclasses.dataclass(eq=False)
class Value:
  """The result of an op or a parameter of a block."""

  type: Type
  owner: Op | Block | None = None

  @property
  def tile(self) -> TileType:
    """The type, which must be a tile's."""
    assert isinstance(self.type, TileType), self.type
    return self.type

  @property
  def ref(self) -> RefType:
    """The type, which must be a ref's."""
    assert isinstance(self.type, RefType), self.type
    return self.type

  def __repr__(self) -> str:
    return f"Value({self.type})"


@dataclasses.dataclass(eq=False)
class Op:
  """One operation."""

  name: str
  operands: list[Value]
  attrs: dict[str, Any]
  blocks: list[Block]
  results: list[Value]
  loc: str = ""

  @property
  def result(self) -> Value:
    (value,) = self.results
    return value


@dataclasses.dataclass(eq=False)
class Block:
  """A list of ops with parameters; the last op of a nested block is `yield`."""

  params: list[Value]
  ops: list[Op]

  @classmethod
  def of(cls, types: Sequence[Type]) -> Block:
    block = cls([], [])
    block.params = [Value(t, block) for t in types]
    return block

  @property
  def yielded(self) -> list[Value]:
    """The values that the block yields to its parent op."""
    if not self.ops or self.ops[-1].name != "yield":
      return []
    return self.ops[-1].operands


@dataclasses.dataclass(eq=False)
class Function:
  """A kernel body: its parameters are refs, and the grid indices are read with `program_id`."""

  name: str
  body: Block

  @property
  def params(self) -> list[Value]:
    return self.body.params

  def __str__(self) -> str:
    from tilewright.tile.printer import to_text

    return to_text(self)


class Builder:
  """Appends ops to a block. `loc` is given to each op."""

  def __init__(self, block: Block):
    self.block = block
    self.loc = ""

  def emit_all(
    self, name: str, operands: Sequence[Value] = (), blocks: Sequence[Block] = (), **attrs: Any
  ) -> list[Value]:
    """Append an op and give its results."""
    from tilewright.tile.ops import OPS

    definition = OPS.get(name)
    if definition is None:
      raise errors.TileError(f"there is no tile op {name!r}")
    op = Op(name, list(operands), attrs, list(blocks), [], self.loc)
    try:
      types = definition.infer(op)
    except errors.TileError as e:
      raise errors.TileError(f"{name}({', '.join(str(v.type) for v in operands)}) at {self.loc or '?'}: {e}") from None
    op.results = [Value(t, op) for t in types]
    self.block.ops.append(op)
    return op.results

  def emit(self, name: str, operands: Sequence[Value] = (), blocks: Sequence[Block] = (), **attrs: Any) -> Value:
    (result,) = self.emit_all(name, operands, blocks, **attrs)
    return result

  @contextlib.contextmanager
  def into(self, block: Block) -> Iterator[Block]:
    """Within this context, append to another block."""
    outer, self.block = self.block, block
    try:
      yield block
    finally:
      self.block = outer

  @contextlib.contextmanager
  def at(self, loc: str) -> Iterator[None]:
    outer, self.loc = self.loc, loc
    try:
      yield
    finally:
      self.loc = outer


def walk(block: Block) -> Iterator[Op]:
  """Every op of a block, nested ones after the op that holds them."""
  for op in block.ops:
    yield op
    for inner in op.blocks:
      yield from walk(inner)


def users(block: Block) -> dict[Value, list[Op]]:
  """Which ops use each value, in order; an op that uses a value twice is listed twice."""
  found: dict[Value, list[Op]] = {}
  for op in walk(block):
    for operand in op.operands:
      found.setdefault(operand, []).append(op)
  return found


def copied(function: Function) -> Function:
  """A copy of a function with new ops: passes may change it without affecting the original."""
  values: dict[Value, Value] = {}

  def copy(block: Block) -> Block:
    made = Block.of([p.type for p in block.params])
    values.update(zip(block.params, made.params))
    for op in block.ops:
      own = Op(op.name, [values[v] for v in op.operands], dict(op.attrs), [copy(b) for b in op.blocks], [], op.loc)
      own.results = [Value(v.type, own) for v in op.results]
      values.update(zip(op.results, own.results))
      made.ops.append(own)
    return made

  return Function(function.name, copy(function.body))
