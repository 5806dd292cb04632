"""Loops and branches. Carried values live in slots; the code object decides where those are, and how they are read and written.

new_slot(value)              a place for a carried value
write_slots(values, slots)   replace what slots hold, all at once
read_slots(values, slots)    let values be what slots hold
settle(op)                   before blocks that may run several times, or not at all
settle_memory()              where what has been read and written depends on the way taken
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import for_range, i64
from tilewright.tile.ir import Op, Value, walk
from tilewright.tile.types import TileType


def tiles_from_outside(op: Op) -> list[Value]:
  """The tiles that the blocks of an op use and that are defined before it, in order of use."""
  own = {v for inner in op.blocks for o in walk(inner) for v in o.results}
  own |= {v for inner in op.blocks for v in inner.params}
  own |= {v for inner in op.blocks for o in walk(inner) for nested in o.blocks for v in nested.params}
  used = dict.fromkeys(v for inner in op.blocks for o in walk(inner) for v in o.operands)
  return [v for v in used if v not in own and isinstance(v.type, TileType) and not v.type.is_scalar]


def _for(code: Any, op: Op) -> None:
  lower, upper, *carried = op.operands
  (body,) = op.blocks
  code.settle(op)
  slots = [code.new_slot(v) for v in body.params[1:]]
  code.write_slots(carried, slots)
  code.settle_memory()
  dtype = lower.tile.dtype
  with for_range(code.b, code.scalar_index(lower), code.scalar_index(upper)) as i, code.scope():
    code.env[body.params[0]] = code.b.trunc(i, ty.register_type(dtype)) if dtype.itemsize < 8 else i
    code.read_slots(body.params[1:], slots)
    code.inner_block(body, slots)
    code.settle_memory()
  code.read_slots(op.results, slots)


def _while(code: Any, op: Op) -> None:
  condition, body = op.blocks
  code.settle(op)
  slots = [code.new_slot(v) for v in body.params]
  code.write_slots(op.operands, slots)
  code.settle_memory()
  b = code.b
  head, inner, done = (b.append_basic_block(name) for name in ("while", "while.body", "while.done"))
  b.branch(head)
  b.position_at_end(head)
  with code.scope():
    code.read_slots(condition.params, slots)
    code.block(condition)
    again = code.scalar(condition.yielded[0])
    code.settle_memory()
    b.cbranch(again, inner, done)
  b.position_at_end(inner)
  with code.scope():
    code.read_slots(body.params, slots)
    code.inner_block(body, slots)
    code.settle_memory()
  b.branch(head)
  b.position_at_end(done)
  code.read_slots(op.results, slots)


def _switch(code: Any, op: Op) -> None:
  (selector,) = op.operands
  b = code.b
  code.settle(op)
  slots = [code.new_slot(v) for v in op.results]
  index = code.scalar_index(selector)
  code.settle_memory()
  done = b.append_basic_block("switch.done")
  cases = [b.append_basic_block(f"case.{n}") for n in range(len(op.blocks))]
  # An index below the first or above the last case is clamped, as in XLA.
  negative = b.icmp_signed("<", index, i64(0))
  switch = b.switch(b.select(negative, i64(0), index), cases[-1])
  for n, case in enumerate(cases[:-1]):
    switch.add_case(i64(n), case)
  for case, block in zip(cases, op.blocks):
    b.position_at_end(case)
    with code.scope():
      code.inner_block(block, slots)
      code.settle_memory()
    b.branch(done)
  b.position_at_end(done)
  code.read_slots(op.results, slots)


STATEMENTS: dict[str, Callable[[Any, Op], None]] = {"for": _for, "while": _while, "switch": _switch}
