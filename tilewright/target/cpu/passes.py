"""Materialisation and fusion: which tiles of a block get a buffer, and which of them are computed in one pass.

A tile is computed where its elements are needed, by a loop nest around the whole expression (`target.llvm.code`). A tile with several
uses is computed once if all of them are reached by the same pass at the same element, however long the expression is:

    a = x * 3; b = a * a; c = b + a; store o, c        one pass, no buffer: `a` and `b` are registers
    a = ...;   store o, a + 1; store p, a * 2          two passes read `a`: it gets a buffer

A *sink* of a tile is a pass that needs its elements. Going backwards over the block, sinks spread from stores and from ops that need a
whole tile to the operands of elementwise ops. A tile that is expensive, has several uses and several sinks is kept. Tiles that are kept
for the same sinks are computed by one pass, and that pass is the sink of what only they need.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence

from tilewright.target.llvm import arithmetic, operand_indices
from tilewright.tile.ir import Block, Op, Value
from tilewright.tile.types import TileType

_CHEAP_MOVES = frozenset({"broadcast", "slice", "layout_cast"})  # others may turn vector loads into gathers

_WORTH_KEEPING_SMALL = 3  # more than a load costs


@dataclasses.dataclass(frozen=True, eq=False)
class BufferPass:
  """A pass that fills buffers, all of one shape."""

  shape: tuple[int, ...]


Sink = (
  Op | tuple[Op, int] | BufferPass
)  # a store, an op that needs a whole tile as some operand, or a pass that keeps tiles


def passes_of(block: Block, users: Mapping[Value, Sequence[Op]], worth_keeping: int) -> dict[Value, BufferPass]:
  """The tiles of a block that get a buffer, each with the pass that fills it."""
  here, costs = set(block.ops), _costs(block, worth_keeping)
  sinks: dict[Value, frozenset[Sink]] = {}
  kept: dict[Value, BufferPass] = {}
  fillings: dict[tuple[tuple[int, ...], frozenset[Sink]], BufferPass] = {}

  def sinks_of_use(user: Op, at: int) -> Iterable[Sink]:
    if user in here and user.name == "store" and at == 1:
      return (user,)
    if user in here and user.name in arithmetic.ELEMENTWISE and user.results[0] in sinks:
      (result,) = user.results
      return (kept[result],) if result in kept else sinks[result]
    return ((user, at),)

  for op in reversed(block.ops):
    for v in op.results:
      if not isinstance(v.type, TileType) or v.type.is_scalar:
        continue
      uses = [(user, i) for user in dict.fromkeys(users.get(v, ())) for i, o in enumerate(user.operands) if o is v]
      reached: frozenset[Sink] = frozenset(sink for user, i in uses for sink in sinks_of_use(user, i))
      sinks[v] = reached
      enough = worth_keeping if not any(_enlarges(user) for user, _ in uses) else _WORTH_KEEPING_SMALL
      if len(reached) > 1 and costs[v] >= enough and op.name not in operand_indices.MOVES:
        # A pass of this shape that needs the tile anyway keeps it on the way.
        joined = [s for s in reached if isinstance(s, BufferPass) and s.shape == v.type.shape]
        new = fillings.setdefault((v.type.shape, reached), BufferPass(v.type.shape))
        kept[v] = joined[0] if len(joined) == 1 else new
  return kept


def _enlarges(op: Op) -> bool:
  """Whether an op asks for elements of its operand again and again, so that keeping the operand is cheap in comparison."""
  return op.name == "broadcast" and math.prod(op.results[0].tile.shape) > math.prod(op.operands[0].tile.shape)


def _costs(block: Block, enough: int) -> dict[Value, int]:
  """What an element of each tile costs where nothing is kept, up to `enough`."""
  costs: dict[Value, int] = {}
  for op in block.ops:
    operands = sum(costs.get(o, 1) for o in op.operands if isinstance(o.type, TileType))
    if op.name in arithmetic.ELEMENTWISE:
      cost = arithmetic.cost(op.name) + operands
    elif op.name in operand_indices.MOVES:
      cost = operands + (1 if op.name in _CHEAP_MOVES else arithmetic.cost(op.name))
    else:
      cost = 1  # memory, or a source
    costs.update(dict.fromkeys(op.results, min(enough, cost)))
  return costs
