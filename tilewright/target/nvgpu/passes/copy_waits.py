"""The waits for copies into shared memory that arrive at a barrier.

A wait that a pipeline emits comes before its body, and is for memory that the body reads somewhere. It is sunk (`wait_late`) to the first
use of that memory:

    await full_k {is_lazy}        mma %s, dot(q, k)
    await full_v {is_lazy}   →    …
    mma %s, dot(q, k)             await full_v
    mma %o, dot(p, v)             mma %o, dot(p, v)

Waits that the user wrote stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilewright.target.nvgpu.ir.ops import COPY_ASYNC, barrier_of
from tilewright.tile.dead_code import VIEWS, base_of
from tilewright.tile.ir import Block, Op, Value, walk
from tilewright.tile.types import RefType


def _blocks(body: Block) -> Iterator[Block]:
  yield body
  for op in walk(body):
    yield from op.blocks


def guarded(body: Block) -> Mapping[Value, set[Value]]:
  """The buffers that are filled behind a wait at each barrier."""
  found: dict[Value, set[Value]] = {}
  for block in _blocks(body):
    waits: list[Value] = []
    is_open = True  # whether the next wait goes with those before it
    for op in block.ops:
      own = [inner for inner in with_nested(op) if inner.name == "await"]
      if own:
        waits = [*(waits if is_open else []), *(inner.operands[0] for inner in own)]
        is_open = True
      if op.name == COPY_ASYNC:
        is_open = False
        for barrier in waits:
          found.setdefault(barrier, set()).add(base_of(op.operands[0]))
  return found


def with_nested(op: Op) -> list[Op]:
  return [op, *(nested for inner in op.blocks for nested in walk(inner))]


def wait_late(body: Block) -> None:
  """Move the waits of pipelines behind what does not look at the buffers they are for. In place."""
  filled: dict[Value, set[Value]] = {}
  for op in walk(body):
    if op.name == COPY_ASYNC:
      filled.setdefault(barrier_of(op)[0], set()).add(base_of(op.operands[0]))
  freed = guarded(body)
  for block in _blocks(body):
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
    if own.name == "arrive" and freed.get(base_of(own.operands[0]), set()) & buffers:
      return True
    if own.name not in VIEWS and any(base_of(v) in buffers for v in own.operands if isinstance(v.type, RefType)):
      return True
  return False
