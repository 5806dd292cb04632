"""Which devices a kernel communicates between, from the device numbers in its body: only those need to run it together.

    mesh (stage=2, x=4), device_id={"x": (axis_index("x") + 1) % 4}    →    parties (0, 1, 2, 3) and (4, 5, 6, 7)

For each device the body is followed with sets of integers: its own position is one number, the index of a loop those between its bounds,
what is loaded from memory is unknown. An unknown coordinate of a device id is still one of its axis, because a check before the
access says so. Devices that one accesses belong to its party, and so do those that access them. If the number of some device is unknown, or
may be one of too many, all devices are one party.

A set may have too many numbers, never too few: a number chosen by a condition is either unless the condition has one value, and what a
loop carries is followed until no number is new. All accesses of the body count, also those in branches that this device does not run: who
waits in vain for a device that another branch addresses is then told what that one does.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from tilewright.tile.folding import fold
from tilewright.tile.ir import Block, Op, Value, walk
from tilewright.tile.literal import is_integer
from tilewright.tile.native import NativeKernel
from tilewright.tile.ops import OPS
from tilewright.tile.types import TileType

MOST_DEVICES = (
  64  # MLIR writes longer lists in another form, in which calls could not be numbered (`target.cpu.call_numbers`)
)
_MOST_NUMBERS = 256  # of one value
_DEVICE_OPERAND = {"remote": 1, "lock_device": 0, "unlock_device": 0}

Numbers = frozenset[int] | None  # None: unknown


def parties(kernel: NativeKernel) -> tuple[int, ...]:
  """For each device the smallest number in its party; empty where all devices are one, or there are too many."""
  sizes = [size for _, size in kernel.mesh]
  count = int(np.prod(sizes, dtype=int))
  if not 1 < count <= MOST_DEVICES:
    return ()
  first = list(range(count))
  for me, position in enumerate(itertools.product(*map(range, sizes))):
    others = _OneDevice(kernel, position).accessed()
    if others is None:
      return ()
    for other in (o for o in others if 0 <= o < count):
      low, high = sorted((first[me], first[other]))
      first = [low if f == high else f for f in first]
  return tuple(first) if len(set(first)) > 1 else ()


class _OneDevice:
  """The body of a kernel on the device at a position of the mesh."""

  def __init__(self, kernel: NativeKernel, position: Sequence[int]):
    self.kernel = kernel
    self.own = {kernel.body.params[param]: place for (param, _), place in zip(kernel.mesh, position, strict=True)}
    self.known: dict[Value, Numbers] = {}
    self.around: dict[Block, Op] = {b: op for op in walk(kernel.body.body) for b in op.blocks}
    self.block_of: dict[Op, Block] = {}
    for block in (kernel.body.body, *self.around):
      self.block_of |= dict.fromkeys(block.ops, block)

  def accessed(self) -> Numbers:
    return self._in(self.kernel.body.body)

  def _in(self, block: Block) -> Numbers:
    """The devices that ops of a block access."""
    found: set[int] = set()
    for op in block.ops:
      if op.name in _DEVICE_OPERAND:
        numbers = self.of(op.operands[_DEVICE_OPERAND[op.name]])
        if numbers is None:
          return None
        found |= numbers
      for inner in op.blocks:
        below = self._in(inner)
        if below is None:
          return None
        found |= below
    return frozenset(found)

  def _run_by(self, op: Op) -> list[Block]:
    """The blocks that an op may run."""
    if not OPS[op.name].is_choice:
      return op.blocks
    chosen = self.of(op.operands[0])
    if chosen is None:
      return op.blocks
    last = len(op.blocks) - 1
    return [op.blocks[k] for k in sorted({min(max(int(c), 0), last) for c in chosen})]

  # --- values ------------------------------------------------------------------------------------------------------

  def of(self, value: Value) -> Numbers:
    """The integers that a scalar may be."""
    if value not in self.known:
      self.known[value] = None  # a value that depends on itself is the business of `_carried`
      found = self._scalar(value)
      self.known[value] = found if found is None or len(found) <= _MOST_NUMBERS else None
    return self.known[value]

  def _scalar(self, value: Value) -> Numbers:
    ty, owner = value.type, value.owner
    if not isinstance(ty, TileType) or not ty.is_scalar or not (is_integer(ty.dtype) or ty.dtype == np.bool_):
      return None
    found = self._parameter(value, owner) if isinstance(owner, Block) else self._result(value, owner)
    return self._checked(value) if found is None else found

  def _result(self, value: Value, op: Op | None) -> Numbers:
    if op is None:
      return None
    match op.name:
      case "constant":
        return frozenset({int(np.asarray(op.attrs["value"]).reshape(()))})
      case "load":
        place = self.own.get(op.operands[0]) if len(op.operands) == 1 else None
        return None if place is None else frozenset({place})
      case "program_id" | "num_programs":
        grid = self.kernel.mapping.grid
        size = grid[op.attrs["axis"]] if op.attrs["axis"] < len(grid) else None
        if not isinstance(size, int) or size > _MOST_NUMBERS:
          return None
        return frozenset(range(size)) if op.name == "program_id" else frozenset({size})
      case "for" | "while":
        return self._carried(op, op.results.index(value))
    if OPS[op.name].is_choice:
      return self._union(b.yielded[op.results.index(value)] for b in self._run_by(op))
    return self._folded(op) if len(op.results) == 1 and not op.blocks and OPS[op.name].is_pure else None

  def _union(self, values: Iterable[Value]) -> Numbers:
    found: set[int] = set()
    for value in values:
      numbers = self.of(value)
      if numbers is None:
        return None
      found |= numbers
    return frozenset(found)

  def _folded(self, op: Op) -> Numbers:
    """An elementwise op on all combinations."""
    sets = [self.of(v) for v in op.operands]
    if op.name == "select" and sets[0] is not None and len(sets[0]) == 1:
      return sets[1] if next(iter(sets[0])) else sets[2]
    known = [s for s in sets if s is not None]
    if not known or len(known) < len(sets) or np.prod([len(s) for s in known]) > _MOST_NUMBERS**2:
      return None
    found: set[int] = set()
    dtypes = [v.tile.dtype for v in op.operands]
    for combination in itertools.product(*known):
      result = fold(op.name, [np.asarray(c).astype(t) for c, t in zip(combination, dtypes)], op.attrs)
      if result is None:
        return None
      found.add(int(result))
    return frozenset(found)

  def _parameter(self, value: Value, block: Block) -> Numbers:
    op = self.around.get(block)
    if op is None or op.name not in ("for", "while"):
      return None
    number = block.params.index(value)
    if op.name == "while":
      return self._carried(op, number)
    return self._index(op) if number == 0 else self._carried(op, number - 1)

  def _index(self, op: Op) -> Numbers:
    lower, upper = (self.of(v) for v in op.operands[:2])
    if not lower or not upper or max(upper) - min(lower) > _MOST_NUMBERS:
      return None
    return frozenset(range(min(lower), max(upper)))

  def _carried(self, op: Op, number: int) -> Numbers:
    """What a loop carries: a start and equal steps of a counted loop; otherwise all that the body makes of it, if that comes to an end."""
    first = 2 if op.name == "for" else 0
    start = self.of(op.operands[first + number])
    body = op.blocks[-1]
    param, after = body.params[number + (1 if op.name == "for" else 0)], body.yielded[number]
    if start is None:
      return None
    steps = self._steps(op, param, after)
    if steps is not None:
      return frozenset(s + k for s in start for k in steps)
    params = [b.params[number] for b in op.blocks] if op.name == "while" else [param]
    found, before = start, dict(self.known)
    while True:
      self.known = {**before, **dict.fromkeys(params, found)}
      more = self.of(after)
      if more is None or len(found | more) > _MOST_NUMBERS:
        self.known = before
        return None
      if more <= found:
        self.known = before
        return found
      found |= more

  def _steps(self, op: Op, param: Value, after: Value) -> list[int] | None:
    """What is added to a carried value by the beginning of each trip, and by the end of the last."""
    added = after.owner
    indices = self._index(op) if op.name == "for" else None
    if indices is None or not isinstance(added, Op) or added.name != "add" or param not in added.operands:
      return None
    (other,) = [v for v in added.operands if v is not param] or [param]
    step = self.of(other) if other is not param else None
    if step is None or len(step) != 1:
      return None
    return [k * next(iter(step)) for k in range(len(indices) + 1)]

  def _checked(self, value: Value) -> Numbers:
    """Those that pass the checks of device ids: `0 <= value` and `value < size`, in the blocks around all that uses the value so."""
    low, high = None, None
    for op in self.block_of:
      if op.name != "check" or op.operands[0].owner is None:
        continue
      test = op.operands[0].owner
      if not isinstance(test, Op) or test.name not in ("ge", "lt") or test.operands[0] is not value:
        continue
      limit = self.of(test.operands[1])
      if limit is None or len(limit) != 1 or not self._is_in_block_of(op, value):
        continue
      if test.name == "ge":
        low = next(iter(limit))
      else:
        high = next(iter(limit))
    if low is None or high is None or high - low > _MOST_NUMBERS:
      return None
    return frozenset(range(low, high))

  def _is_in_block_of(self, check: Op, value: Value) -> bool:
    """Whether a check runs whenever its value exists, so that no use escapes it."""
    owner = self.block_of.get(value.owner) if isinstance(value.owner, Op) else value.owner
    return self.block_of[check] is owner


__all__ = ["MOST_DEVICES", "parties"]
