"""Copies into shared memory that arrive at a barrier, and the waits for them.

A wait that a pipeline emits comes before its body, and is for memory that the body reads somewhere. It is sunk (`wait_late`) to the first
use of that memory:

    await full_k {is_lazy}        mma %s, dot(q, k)
    await full_v {is_lazy}   →    …
    mma %s, dot(q, k)             await full_v
    mma %o, dot(p, v)             mma %o, dot(p, v)

Waits that the user wrote stay where they are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from tilewright.target.nvgpu.passes.layouts.hints import is_in_shared
from tilewright.tile.dead_code import VIEWS, base_of
from tilewright.tile.ir import Block, Op, Value, walk
from tilewright.tile.ops import OPS
from tilewright.tile.types import RefType


@dataclasses.dataclass(frozen=True)
class Copy:
  """A copy into shared memory that arrives at a barrier."""

  store: Op
  arrival: Op

  @property
  def buffer(self) -> Value:
    return base_of(self.store.operands[0])

  @property
  def barrier(self) -> Value:
    return self.arrival.operands[0]


def blocks_of(block: Block) -> Iterator[Block]:
  yield block
  for op in walk(block):
    yield from op.blocks


def copies_of(block: Block) -> Iterator[Copy]:
  """The copies of a block: a store of what was loaded, and an arrival with nothing but index arithmetic in between."""
  store: Op | None = None
  for op in block.ops:
    if op.name == "arrive" and op.attrs["of_copy"] and store is not None:
      yield Copy(store, op)
    if op.name == "store" and is_in_shared(base_of(op.operands[0]).ref):
      store = op
    elif not OPS[op.name].is_pure and op.name not in VIEWS:
      store = None


def guarded(body: Block) -> Mapping[Value, set[Value]]:
  """The buffers that are filled behind a wait at each barrier."""
  found: dict[Value, set[Value]] = {}
  for block in blocks_of(body):
    waits: list[Value] = []
    is_open = True  # whether the next wait goes with those before it
    copies = {copy.store: copy for copy in copies_of(block)}
    for op in block.ops:
      own = [inner for inner in with_nested(op) if inner.name == "await"]
      if own:
        waits = [*(waits if is_open else []), *(inner.operands[0] for inner in own)]
        is_open = True
      if op in copies:
        is_open = False
        for barrier in waits:
          found.setdefault(barrier, set()).add(copies[op].buffer)
  return found


def with_nested(op: Op) -> list[Op]:
  return [op, *(nested for inner in op.blocks for nested in walk(inner))]


def wait_late(body: Block) -> None:
  """Move the waits of pipelines behind what does not look at the buffers they are for. In place."""
  filled: dict[Value, set[Value]] = {}
  for block in blocks_of(body):
    for copy in copies_of(block):
      filled.setdefault(copy.barrier, set()).add(copy.buffer)
  freed = guarded(body)
  for block in blocks_of(body):
    for wait in [op for op in block.ops if op.name == "await" and op.attrs.pop("is_lazy", False)]:
      _move(block, wait, filled.get(wait.operands[0], set()), freed)


def _move(block: Block, wait: Op, buffers: set[Value], freed: Mapping[Value, set[Value]]) -> None:
  """Before the first op behind a wait that reads, writes or frees one of some buffers, uses the same barriers, or ends the block."""
  place = block.ops.index(wait)
  rest = block.ops[place + 1 :]
  stop = next((n for n, op in enumerate(rest) if _needs(op, wait, buffers, freed)), 0) if buffers else 0
  block.ops[place:] = [*rest[:stop], wait, *rest[stop:]]


def _needs(op: Op, wait: Op, buffers: set[Value], freed: Mapping[Value, set[Value]]) -> bool:
  if op.name == "yield":
    return True
  for own in with_nested(op):
    if wait.operands[0] in own.operands or own.name == "meet":
      return True
    if own.name == "arrive" and freed.get(own.operands[0], set()) & buffers:
      return True
    if own.name not in VIEWS and any(base_of(v) in buffers for v in own.operands if isinstance(v.type, RefType)):
      return True
  return False
