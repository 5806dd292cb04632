"""Loops that poll: `while` loops that read semaphores until another device or core has signalled them.

    while read_semaphore(s) < 1: n += 1                   WAIT: ends only when a semaphore changes
    while read_semaphore(s) < 1 and n < 1000: n += 1      COUNTED: may also end by itself

In a WAIT loop the condition follows from semaphores and from values that no trip changes, and a trip has no effects. A COUNTED loop may
signal and wait as well. A loop that stores tiles of more than one element works rather than waits, and is neither.
"""

from __future__ import annotations

from tilewright.tile.ir import Block, Op, Value, walk
from tilewright.tile.ops import CONTROL, OPS, READ, refs_written
from tilewright.tile.types import RefType

WAIT, COUNTED = "wait", "counted"


def kind_of(loop: Op) -> str | None:
  """WAIT, COUNTED, or None for a loop that does not poll."""
  inside = [op for block in loop.blocks for op in walk(block)]
  if not any(op.name == "read_semaphore" for op in inside) or any(_is_work(op) for op in inside):
    return None
  return WAIT if not any(_changes_something(op) for op in inside) and _is_a_wait(loop) else COUNTED


def _is_work(op: Op) -> bool:
  written = [] if op.name in ("signal", "wait") else refs_written(op)
  return any(isinstance(v.type, RefType) and v.type.size > 1 for v in written)


def _changes_something(op: Op) -> bool:
  return bool(OPS[op.name].effects - {CONTROL, READ}) and op.name != "read_semaphore"


def _is_a_wait(loop: Op) -> bool:
  """Whether nothing but semaphores decides when a loop ends."""
  condition, body = loop.blocks
  unchanged = {k for k, (v, param) in enumerate(zip(body.yielded, body.params)) if v is param}
  decisive = _carried_by(condition, condition.yielded)
  if decisive is None:
    return False
  handed_on = _carried_by(body, [body.yielded[k] for k in decisive - unchanged])
  return handed_on is not None and handed_on <= unchanged


def _carried_by(block: Block, values: list[Value]) -> set[int] | None:
  """The numbers of the block's parameters that values depend on; None where memory is read."""
  inside = set(walk(block))
  seen: set[Value] = set()
  todo = list(values)
  while todo:
    value = todo.pop()
    if value in seen:
      continue
    seen.add(value)
    op = value.owner
    if isinstance(op, Op) and op in inside:
      parts = [op, *(o for b in op.blocks for o in walk(b))]
      if any(READ in OPS[o.name].effects for o in parts):
        return None
      todo += [v for o in parts for v in o.operands]
  return {k for k, param in enumerate(block.params) if param in seen}


__all__ = ["COUNTED", "WAIT", "kind_of"]
