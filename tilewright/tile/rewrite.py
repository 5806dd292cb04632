"""Rewriting a function by tables of rules, to a fixed point.

A rule is a small function of an op: it returns the values that replace the op's results, `op.results` itself if it changed
something around the op, or None if it does not apply. Rules are keyed by op name, so only the rules for an op are tried on it;
new ops are inserted in front of the one that is replaced:

    @rule("neg")
    def neg_of_neg(rw, op):
      inner = rw.made_by(op.operands[0], "neg")
      return None if inner is None else [inner.operands[0]]

A worklist revisits the users of every change. Only pure ops and structured control flow are replaced; dead memory ops are removed by
`dead_code`. `simplify` runs all passes that make a function smaller without changing its meaning.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from tilewright import errors
from tilewright.tile.ir import Block, Function, Op, Value
from tilewright.tile.literal import canonical
from tilewright.tile.ops import OPS
from tilewright.tile.ranges import Bounds
from tilewright.tile.types import TileType

Rule: TypeAlias = Callable[["Rewriter", Op], Sequence[Value] | None]
Rules: TypeAlias = Mapping[str, Sequence[Rule]]

_PATIENCE = 64  # rewrites per op, far beyond what rules that make progress need


class Rewriter:
  """A function being rewritten. Insertions and removals are recorded, and applied at the end: each costs O(1)."""

  def __init__(self, function: Function, grid: Sequence[int | None] = ()):
    self.function = function
    self.users: dict[Value, dict[Op, None]] = {}
    self.before: dict[Op, list[Op]] = {}  # the ops inserted in front of an op
    self.removed: set[Op] = set()
    self.around: dict[Block, Op] = {}
    self.blocks: dict[Op, Block] = {}  # the block that contains an op
    self.bounds = Bounds(self.around, grid, self.blocks)
    self.work: deque[Op] = deque()
    self.queued: set[Op] = set()
    self.current: Op | None = None
    self._watch(function.body)

  # --- what rules ask ----------------------------------------------------------------------------------------------

  def made_by(self, value: Value, *names: str) -> Op | None:
    """The op that makes a value, if it has one of these names."""
    op = value.owner
    return op if isinstance(op, Op) and op.name in names else None

  def splat(self, value: Value) -> np.ndarray | None:
    """The one element that a tile repeats, if it is known."""
    while (op := self.made_by(value, "broadcast", "reshape", "transpose", "slice", "reverse")) is not None:
      value = op.operands[0]
    constant = self.made_by(value, "constant")
    if constant is None:
      return None
    array = canonical(constant.attrs["value"], np.dtype(constant.attrs["dtype"]))
    flat = array.reshape(-1)
    if flat.size == 0 or (flat.size > 1 and flat.tobytes() != flat[:1].tobytes() * flat.size):
      return None
    return np.asarray(flat[0])

  # --- what rules do -----------------------------------------------------------------------------------------------

  def emit(self, name: str, operands: Sequence[Value], **attrs: Any) -> Value:
    """A new op in front of the one being rewritten, at its line."""
    (result,) = self.emit_all(name, operands, **attrs)
    return result

  def emit_all(self, name: str, operands: Sequence[Value], **attrs: Any) -> list[Value]:
    assert self.current is not None
    op = Op(name, list(operands), attrs, [], [], self.current.loc)
    op.results = [Value(ty, op) for ty in OPS[name].infer(op)]
    self.before.setdefault(self.current, []).append(op)
    self._watch_op(op, self.blocks[self.current])
    return op.results

  def constant(self, value: np.ndarray, ty: TileType) -> Value:
    """A tile of which every element is the same."""
    scalar = self.emit("constant", [], value=canonical(value, ty.dtype), dtype=ty.dtype)
    return scalar if ty.is_scalar else self.emit("broadcast", [scalar], shape=ty.shape, dims=())

  def replace(self, old: Value, new: Value) -> None:
    """Let every user of a value use another one."""
    for user in self.users.pop(old, {}):
      user.operands = [new if v is old else v for v in user.operands]
      self.users.setdefault(new, {})[user] = None
      self._enqueue(user)

  def inline(self, block: Block, arguments: Sequence[Value]) -> list[Value]:
    """Inline the ops of a block in front of its parent op; returns the values that the block yields."""
    assert self.current is not None
    for param, argument in zip(block.params, arguments):
      self.replace(param, argument)
    # Ops inserted in front of one of these are kept when the lists are merged.
    self.before.setdefault(self.current, []).extend(block.ops[:-1])
    for op in block.ops[:-1]:
      self.blocks[op] = self.blocks[self.current]
    terminator = block.ops[-1]
    self.before.setdefault(self.current, []).extend(self.before.pop(terminator, []))
    self.removed.add(terminator)  # and nothing it used: that lives on
    block.ops = []
    return list(terminator.operands)

  # --- the work ----------------------------------------------------------------------------------------------------

  def run(self, rules: Rules) -> int:
    """Apply rules until none applies. Returns the number of rewrites."""
    count, limit = 0, _PATIENCE * (len(self.queued) + 16)
    while self.work:
      op = self.work.popleft()
      self.queued.discard(op)
      if op in self.removed:
        continue
      for rule in rules.get(op.name, ()):
        self.current = op
        values = rule(self, op)
        if values is None:
          continue
        count += 1
        if count > limit:
          raise errors.TileError(f"the rewrite rule {rule.__name__} for {op.name} at {op.loc or '?'} makes no progress")
        if values is op.results:
          self._enqueue(op)
        else:
          self._replace_op(op, values)
        break
    self._rebuild(self.function.body)
    return count

  def _replace_op(self, op: Op, values: Sequence[Value]) -> None:
    assert [v.type for v in values] == [r.type for r in op.results], f"{op.name} at {op.loc} changes its type"
    for result, value in zip(op.results, values):
      self.replace(result, value)
    self._forget(op)

  def _forget(self, op: Op) -> None:
    """Remove an op, and the pure ops that only it used. Uses a stack, as chains of ops may be long."""
    stack = [op]
    while stack:
      gone = stack.pop()
      self.removed.add(gone)
      stack.extend(nested for inner in gone.blocks for nested in inner.ops if nested not in self.removed)
      for v in gone.operands:
        self.users.get(v, {}).pop(gone, None)
        source = v.owner
        if isinstance(source, Block):
          self._enqueue_around(source)
        elif source is not None and source not in self.removed and self._is_unused(source):
          stack.append(source)

  def _is_unused(self, op: Op) -> bool:
    return OPS[op.name].is_pure and not any(self.users.get(r) for r in op.results)

  def _enqueue_around(self, block: Block) -> None:
    if (op := self.around.get(block)) is not None and op not in self.removed:
      self._enqueue(op)

  def _watch(self, block: Block, around: Op | None = None) -> None:
    if around is not None:
      self.around[block] = around
    for op in block.ops:
      self._watch_op(op, block)

  def _watch_op(self, op: Op, block: Block) -> None:
    self.blocks[op] = block
    for v in op.operands:
      self.users.setdefault(v, {})[op] = None
    self._enqueue(op)
    for inner in op.blocks:
      self._watch(inner, op)

  def _enqueue(self, op: Op) -> None:
    if op not in self.queued and op not in self.removed:
      self.queued.add(op)
      self.work.append(op)

  def _rebuild(self, block: Block) -> None:
    """Apply the recorded insertions and removals."""
    ops: list[Op] = []

    def place(op: Op) -> None:
      for new in self.before.get(op, ()):
        place(new)
      if op not in self.removed:
        ops.append(op)
        for inner in op.blocks:
          self._rebuild(inner)

    for op in block.ops:
      place(op)
    block.ops = ops


def rewrite(function: Function, rules: Rules | None = None, grid: Sequence[int | None] = ()) -> int:
  """Apply rules (by default all of `rules.RULES`) to a fixed point, in place. Returns the number of rewrites.

  `grid` gives the sizes of the dimensions that `program_id` counts, where they are known.
  """
  if rules is None:
    from tilewright.tile.rules import RULES

    rules = RULES
  return Rewriter(function, grid).run(rules)


def simplify(function: Function, grid: Sequence[int | None] = ()) -> Function:
  """Rules, common subexpressions, loop-invariant ops, memory written once and dead code, until nothing changes. In place."""
  from tilewright.tile.cse_licm import hoist_invariants, merge_common
  from tilewright.tile.dead_code import eliminate_dead_code
  from tilewright.tile.mem2reg import promote

  while True:
    changes = rewrite(function, grid=grid) + hoist_invariants(function) + merge_common(function)
    changes += promote(function) + eliminate_dead_code(function)
    if not changes:
      return function
