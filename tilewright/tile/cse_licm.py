"""Common-subexpression elimination and loop-invariant code motion for pure ops.

A pure op computes the same values wherever its operands are available, and cannot fail. So an op that dominates equal ones replaces
them, and a loop-invariant op is hoisted out of the loop, even if the loop runs zero times. Nothing is hoisted out of a `switch`:
there an op costs only if its case is taken.
"""

from __future__ import annotations

from collections.abc import Hashable

from tilewright.tile.ir import Block, Function, Op, Value
from tilewright.tile.ops import OPS
from tilewright.tile.printer import attributes_key


def merge_common(function: Function) -> int:
  """Replace each pure op by an equal one before it in its block or in an enclosing block. Returns how many were removed."""
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
  """Hoist loop-invariant pure ops, innermost loops first. Returns how many were moved."""
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
  """Remove the loop-invariant ops from a loop's body and return them."""
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
