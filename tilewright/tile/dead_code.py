"""Dead-code elimination by observable effects.

The roots are: what a function yields, ops with side effects or on semaphores, and writes to memory that is read. Everything else is
live only if something live uses it. Liveness propagates value by value, through loops and cases, so that these are removed too:

- a carried value that only feeds itself;
- a result of a switch that nothing uses, with its computation in each case;
- an allocation that is written and never read, with its writes.

Parameters of the function outlive it: writes to them are always live.
"""

from __future__ import annotations

from tilewright.tile.ir import Block, Function, Op, Value, walk
from tilewright.tile.ops import OPS, SYNC, WORLD, WRITE, refs_read, refs_written

VIEWS = ("subview", "reshape_ref", "transpose_ref", "bitcast_ref", "cluster_ref")


def base_of(ref: Value) -> Value:
  """The allocation or parameter that a ref is a view of."""
  while isinstance(ref.owner, Op) and ref.owner.name in VIEWS:
    ref = ref.owner.operands[0]
  return ref


def accesses(op: Op) -> tuple[list[Value], list[Value]]:
  """The memory that an op itself reads and writes, without what is nested in it."""
  if OPS[op.name].is_pure or op.blocks:
    return [], []
  return [base_of(ref) for ref in refs_read(op)], [base_of(ref) for ref in refs_written(op)]


def eliminate_dead_code(function: Function) -> int:
  """Remove what cannot be observed, in place. Returns how many ops, carried values and results were removed."""
  liveness = _Liveness(function)
  return _sweep(function.body, liveness)


class _Liveness:
  """The live ops and values of a function."""

  def __init__(self, function: Function):
    self.ops: set[Op] = set()
    self.values: set[Value] = set()
    self.around: dict[Block, Op] = {}
    self.home: dict[Op, Block] = {}
    self.writers: dict[Value, list[Op]] = {}
    self.read: set[Value] = set()
    self.work: list[Op | Value] = []
    self._index(function.body)
    for op in walk(function.body):
      if self._is_root(op, function):
        self.mark(op)
    self._spread()

  def _index(self, block: Block) -> None:
    for op in block.ops:
      self.home[op] = block
      for base in accesses(op)[1]:
        self.writers.setdefault(base, []).append(op)
      for inner in op.blocks:
        self.around[inner] = op
        self._index(inner)

  def _is_root(self, op: Op, function: Function) -> bool:
    if op.name == "yield":
      return self.home[op] is function.body
    effects = OPS[op.name].effects
    if effects & {SYNC, WORLD}:
      return True
    # Memory that this function does not allocate itself outlives it.
    return WRITE in effects and any(not _is_alloc(base) for base in accesses(op)[1])

  def mark(self, item: Op | Value) -> None:
    known = self.ops if isinstance(item, Op) else self.values
    if item not in known:
      known.add(item)  # type: ignore[arg-type]
      self.work.append(item)

  def _spread(self) -> None:
    while self.work:
      item = self.work.pop()
      if isinstance(item, Op):
        self._op(item)
      elif isinstance(item.owner, Block):
        self._param(item, item.owner)
      elif item.owner is not None:
        self._result(item, item.owner)

  def _op(self, op: Op) -> None:
    """What a live op needs."""
    if (around := self.around.get(self.home[op])) is not None:
      self.mark(around)
    match op.name:
      case "for":
        needed = op.operands[:2]
      case "while":
        needed = op.blocks[0].yielded[:1]
      case "yield" if around is not None:
        needed = []  # value by value, as the op around it needs them
      case _:
        needed = op.operands
    for v in needed:
      self.mark(v)
    for base in accesses(op)[0]:
      if base not in self.read:
        self.read.add(base)
        for writer in self.writers.get(base, []):
          self.mark(writer)

  def _result(self, value: Value, op: Op) -> None:
    self.mark(op)
    if op.blocks:
      self._carried(op, op.results.index(value))

  def _param(self, value: Value, block: Block) -> None:
    op = self.around.get(block)
    if op is None:
      return
    self.mark(op)
    position = block.params.index(value) - (1 if op.name == "for" else 0)
    if position >= 0:
      self._carried(op, position)

  def _carried(self, op: Op, position: int) -> None:
    """A result or carried value is live: so are its initial value and what each iteration or case yields for it."""
    if op.name != "switch":
      self.mark(op.operands[position + (2 if op.name == "for" else 0)])
    for block in op.blocks[1 if op.name == "while" else 0 :]:
      self.mark(block.yielded[position])

  def is_carried(self, op: Op, position: int) -> bool:
    """Whether a result, or the carried value behind it, is needed."""
    first = 1 if op.name == "for" else 0
    params = [] if op.name == "switch" else [b.params[first + position] for b in op.blocks]
    return op.results[position] in self.values or any(p in self.values for p in params)


def _is_alloc(base: Value) -> bool:
  return isinstance(base.owner, Op) and base.owner.name == "alloc"


def _sweep(block: Block, live: _Liveness) -> int:
  kept = [op for op in block.ops if op in live.ops or (op.name == "yield" and block in live.around)]
  count = len(block.ops) - len(kept)
  block.ops = kept
  for op in kept:
    for inner in op.blocks:
      count += _sweep(inner, live)
    if op.blocks:
      count += _drop_results(op, live)
  return count


def _drop_results(op: Op, live: _Liveness) -> int:
  """Remove the dead results and carried values of an op."""
  dead = {i for i in range(len(op.results)) if not live.is_carried(op, i)}
  if not dead:
    return 0

  def alive(values: list[Value], first: int) -> list[Value]:
    return values[:first] + [v for i, v in enumerate(values[first:]) if i not in dead]

  op.results = alive(op.results, 0)
  if op.name != "switch":
    op.operands = alive(op.operands, 2 if op.name == "for" else 0)
    for inner in op.blocks:
      inner.params = alive(inner.params, 1 if op.name == "for" else 0)
  for inner in op.blocks[1 if op.name == "while" else 0 :]:
    inner.ops[-1].operands = alive(inner.ops[-1].operands, 0)
  return len(dead)
