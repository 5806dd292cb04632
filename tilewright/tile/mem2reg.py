"""Promotion of memory that is written once to a value (mem2reg).

`run_state` passes every value that its body closes over as a ref. Such memory is allocated, written once as a whole, and then only read:

    ref = alloc                       x
    store(ref, x)             →       …
    y = load(ref)                     y = x

The store dominates all loads, so each load yields the stored value. Memory in a named space (`smem`, `acc`) is not promoted.
"""

from __future__ import annotations

from tilewright.tile.ir import Block, Function, Op, Value, users, walk

_SPACE = "scratch"  # memory without a named space


def promote(function: Function) -> int:
  """Replace loads of memory that is written once by the stored value, in place. Returns how many."""
  used = users(function.body)
  replaced: dict[Value, Value] = {}
  for block in _blocks(function.body):
    for op in block.ops:
      if op.name == "alloc" and op.attrs["space"] == _SPACE:
        store, loads = _written_once(op, block, used.get(op.result, []))
        if store is not None:
          replaced.update((load.result, store.operands[1]) for load in loads)
  if replaced:
    for op in walk(function.body):
      op.operands = [_final(replaced, v) for v in op.operands]
  return len(replaced)


def _blocks(block: Block) -> list[Block]:
  return [block, *(inner for op in walk(block) for inner in op.blocks)]


def _written_once(alloc: Op, block: Block, uses: list[Op]) -> tuple[Op | None, list[Op]]:
  """The store to an allocation and the loads of it, if it is in the same block and before all of them."""
  stores = [op for op in uses if op.name == "store" and op.operands[0] is alloc.result]
  loads = [op for op in uses if op.name == "load"]
  if len(stores) != 1 or not loads or len(uses) != 1 + len(loads) or stores[0] not in block.ops:
    return None, []
  before = block.ops[: block.ops.index(stores[0])]
  early = {op for own in before for op in (own, *(nested for inner in own.blocks for nested in walk(inner)))}
  return (None, []) if early.intersection(loads) else (stores[0], loads)


def _final(replaced: dict[Value, Value], value: Value) -> Value:
  while value in replaced:
    value = replaced[value]
  return value
