"""Data-flow analysis: which products may be in flight at each op.

A warpgroup's products finish in the order in which they are started. So a state maps each product that may be in flight to a lower bound
on the number of products started after it. `mma_wait {pending=n}` ends all products for which that is n or more:

    mma %x, …          {x: 0}
    mma %y, …          {x: 1, y: 0}
    mma_wait {1}       {y: 0}

Where control flow joins, a product is in flight if it may be on either side, and has the smaller number. A loop is iterated to a fixed
point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from tilewright.target.nvgpu.ir.ops import MMA, MMA_WAIT
from tilewright.target.nvgpu.passes.layouts.hints import is_in_shared
from tilewright.target.nvgpu.passes.layouts.operand_layouts import behind_transposes
from tilewright.tile.dead_code import base_of
from tilewright.tile.ir import Block, Op, Value
from tilewright.tile.ops import OPS
from tilewright.tile.types import RefType

State = Mapping[Op, int]  # products → how many have been started after each, at least
_MAX_PENDING = 16  # larger numbers are not told apart
WAITS = (MMA_WAIT, "await_products")


def accumulator(product: Op) -> Value:
  """The accumulator of an `mma`."""
  return base_of(product.operands[0])


def operands(product: Op) -> Iterator[Value]:
  """The views of shared memory that a product reads."""
  dot = product.operands[1].owner
  for value in dot.operands if isinstance(dot, Op) else ():
    load = behind_transposes(value)[0].owner
    if isinstance(load, Op) and load.name == "load" and is_in_shared(base_of(load.operands[0]).ref):
      yield load.operands[0]


def after_wait(state: State, pending: int) -> State:
  return {product: newer for product, newer in state.items() if newer < pending}


def pending_for(state: State, accumulators: Sequence[Value]) -> int | None:
  """How many products may go on when those of some accumulators must be done; None if none of these runs."""
  return min((newer for product, newer in state.items() if accumulator(product) in accumulators), default=None)


def touched(op: Op) -> list[Value]:
  """The accumulators that an op reads or writes in the usual way, which takes that their products are done."""
  if op.name in (MMA, *WAITS):
    return []
  refs = [base_of(v) for v in op.operands if isinstance(v.type, RefType)]
  return [ref for ref in refs if ref.ref.is_accumulator]


def ending(block: Block) -> list[Value]:
  """The accumulators that are gone at the end of a block."""
  return [op.result for op in block.ops if op.name == "alloc" and op.result.ref.is_accumulator]


Visit = Callable[[Block, int, State], None]


def follow(block: Block, visit: Visit, state: State | None = None) -> State:
  """Call `visit(block, number of an op, state in front of it)` for all ops; the state at the end. What needs a product waits for it."""
  state = {} if state is None else state
  for number, op in enumerate(block.ops):
    visit(block, number, state)
    if (pending := pending_for(state, _needed(block, op, number))) is not None:
      state = after_wait(state, pending)
    if op.name == MMA:
      state = {**{other: min(newer + 1, _MAX_PENDING) for other, newer in state.items()}, op: 0}
    elif op.name in WAITS:
      state = after_wait(state, op.attrs["pending"])
    elif OPS[op.name].is_choice:
      state = _joined([follow(inner, visit, state) for inner in op.blocks])
    elif op.blocks:  # loops
      state = _around(op.blocks, visit, state)
  return state


def _needed(block: Block, op: Op, number: int) -> list[Value]:
  own = touched(op)
  return [*own, *ending(block)] if number == len(block.ops) - 1 else own


def _around(blocks: Sequence[Block], visit: Visit, state: State) -> State:
  """The blocks of a loop, one after the other, any number of times."""
  while True:
    after = state
    for inner in blocks:
      after = follow(inner, lambda *_: None, after)
    joined = _joined([state, after])
    if joined == state:
      break
    state = joined
  after = state
  for inner in blocks:
    after = follow(inner, visit, after)
  return _joined([state, after])


def _joined(states: Sequence[State]) -> State:
  found: dict[Op, int] = {}
  for state in states:
    for product, newer in state.items():
      found[product] = min(newer, found.get(product, newer))
  return found
