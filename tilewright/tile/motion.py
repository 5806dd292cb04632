"""Pure ops where they cost least: once instead of twice, and before a loop instead of in it.

A pure op gives the same values wherever its operands are at hand, and cannot fail, so one that stands in a dominating position
serves for all equal ones, and one that uses nothing of a loop can stand before it, even if the loop runs zero times. Nothing
moves out of a `switch`: there an op costs only if its case is chosen.
"""

from __future__ import annotations

from collections.abc import Hashable

from tilewright.tile.ir import Block, Function, Op, Value
from tilewright.tile.ops import OPS
from tilewright.tile.printer import attributes_key


def merge_common(function: Function) -> int:
  """Replace a pure op by an equal one that comes before it in its block or in a block around it. Gives how many went."""
  replaced: dict[Value, Value] = {}
  count = 0

  def visit(block: Block, known: dict[Hashable, Op]) -> None:
    nonlocal count
    kept = []
    for op in block.ops:
      op.operands = [replaced.get(v, v) for v in op.operands]
      if OPS[op.name].is_pure and not op.blocks:
        key = (op.name, tuple(op.operands), attributes_key(op), tuple(v.type for v in op.results))
        if key in known:
          replaced.update(zip(op.results, known[key].results))
          count += 1
          continue
        known[key] = op
      kept.append(op)
      for inner in op.blocks:
        visit(inner, dict(known))
    block.ops = kept

  visit(function.body, {})
  return count


def hoist_invariants(function: Function) -> int:
  """Move pure ops that use nothing of a loop to before it, innermost loops first. Gives how many moved."""
  return _hoist(function.body)


def _hoist(block: Block) -> int:
  count = 0
  ops: list[Op] = []
  for op in block.ops:
    for inner in op.blocks:
      count += _hoist(inner)
    if op.name in ("for", "while"):
      for inner in op.blocks:
        moved = _invariants(inner)
        ops.extend(moved)
        count += len(moved)
    ops.append(op)
  block.ops = ops
  return count


def _invariants(body: Block) -> list[Op]:
  """Take the ops out of a loop's block that depend on nothing inside of it."""
  inside: set[Value] = set(body.params)
  moved: list[Op] = []
  kept: list[Op] = []
  for op in body.ops:
    if OPS[op.name].is_pure and not op.blocks and not any(v in inside for v in op.operands):
      moved.append(op)
    else:
      kept.append(op)
      inside.update(op.results)
  body.ops = kept
  return moved
