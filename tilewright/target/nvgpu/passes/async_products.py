"""Asynchronous products: explicit `wgmma` of the user.

`plgpu.wgmma(acc, a, b)` starts a product. It is complete after an explicit wait (`plgpu.wgmma_wait(n)`: all but the newest n are), and
before the accumulator is read, written or goes out of scope, which waits for the product that it holds and those before it.
"""

from __future__ import annotations

import numpy as np

from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.emit.units.wgmma import ROWS
from tilewright.target.nvgpu.ir import in_flight
from tilewright.target.nvgpu.ir.ops import MMA, MMA_WAIT
from tilewright.target.nvgpu.passes.layouts.dot_kinds import has_tensor_cores, is_matrix
from tilewright.tile.dead_code import base_of
from tilewright.tile.ir import Block, Function, Op, Value, users, walk
from tilewright.tile.types import RefType

_COLUMNS, _DEPTH_BYTES = 8, 32  # of an instruction: n is a multiple of the first, k are so many bytes


def start(function: Function, arch: Arch) -> None:
  """Turn `acc += dot(…)` into products that are started, and put waits where they are needed. In place."""
  used = users(function.body)
  blocks = [function.body, *(inner for op in walk(function.body) for inner in op.blocks)]
  found = [(block, accumulated) for block in blocks if (accumulated := _accumulations(block, used, arch))]
  for block, own in found:
    block.ops = [own.get(op, op) for op in block.ops]
    gone = {part for made in own.values() if made is not None for part in _parts_gone(made, used)}
    block.ops = [op for op in block.ops if op not in gone]
    _overwrite_zeros(block)
  _wait_where_needed(function)


def _accumulations(block: Block, used: dict[Value, list[Op]], arch: Arch) -> dict[Op, Op]:
  """The stores of a block that add a product to an accumulator, and the ops that take their place."""
  found = {}
  for op in block.ops:
    dot = _added_product(op, block, used) if op.name == "store" and op.operands[0].ref.is_accumulator else None
    if dot is not None and is_for_warpgroups(dot, arch):
      found[op] = Op(MMA, [op.operands[0], dot.result], {}, [], [], op.loc)
  return found


def _added_product(store: Op, block: Block, used: dict[Value, list[Op]]) -> Op | None:
  """The product of `store(acc, add(load(acc), dot))`, if nothing else uses any of these, or changes the accumulator in between."""
  add = store.operands[1].owner
  if not isinstance(add, Op) or add.name != "add" or len(used[add.result]) != 1:
    return None
  made = [v.owner for v in add.operands if isinstance(v.owner, Op)]
  load = next((op for op in made if op.name == "load" and op.operands[0] is store.operands[0]), None)
  dot = next((op for op in made if op.name == "dot"), None)
  if load is None or dot is None or any(len(used[op.result]) != 1 or op not in block.ops for op in (load, dot)):
    return None
  between = block.ops[block.ops.index(load) + 1 : block.ops.index(store)]
  inside = [own for op in between for own in (op, *(n for inner in op.blocks for n in walk(inner)))]
  return None if any(store.operands[0] in op.operands for op in inside) else dot


def multiply_bytes(function: Function, arch: Arch) -> None:
  """Let `plgpu.wgmma` multiply floats of eight bits as they are, where tensor cores do: other products are computed with wider ones, and
  so exactly, but these were asked for by name. In place."""
  used = users(function.body)
  gone: set[Op] = set()  # conversions
  blocks = [function.body, *(inner for op in walk(function.body) for inner in op.blocks)]
  for block in blocks:
    for op in block.ops:
      is_sum = op.name == "store" and op.operands[0].ref.is_accumulator
      dot = _added_product(op, block, used) if is_sum else None
      if dot is None or not dot.attrs.get("was_widened"):
        continue
      converted = [v.owner for v in dot.operands if isinstance(v.owner, Op) and v.owner.name == "convert"]
      narrow = Op("dot", [op.operands[0] for op in converted], dot.attrs, [], dot.results, dot.loc)
      if len(converted) == 2 and is_for_warpgroups(narrow, arch):
        dot.operands = narrow.operands
        gone.update(own for own in converted if len(used[own.result]) == 1)
  for block in blocks:
    block.ops = [op for op in block.ops if op not in gone]


def _parts_gone(product: Op, used: dict[Value, list[Op]]) -> list[Op]:
  """The sum of a product and the load of what it was added to."""
  (add,) = used[product.operands[1]]
  return [add, *(v.owner for v in add.operands if isinstance(v.owner, Op) and v.owner.name == "load")]


def _overwrite_zeros(block: Block) -> None:
  """Where an accumulator is set to zero just for a product of the same block, the product overwrites it: the zeros are not needed then."""
  zeroed: set[Value] = set()  # accumulators that nothing has touched since they were set to zero
  for op in block.ops:
    whole = op.operands[0] if op.operands and base_of(op.operands[0]) is op.operands[0] else None
    if op.name == "store" and whole is not None and whole.ref.is_accumulator and _is_zero(op.operands[1]):
      zeroed.add(whole)
      continue
    if op.name == MMA and whole in zeroed:
      op.attrs["overwrites"] = True
    every = [op, *(inner for own in op.blocks for inner in walk(own))]
    zeroed.difference_update(base_of(v) for used in every for v in used.operands if isinstance(v.type, RefType))


def _is_zero(value: Value) -> bool:
  while isinstance(op := value.owner, Op) and op.name == "broadcast":
    value = op.operands[0]
  return isinstance(op, Op) and op.name == "constant" and not np.any(op.attrs["value"])


def is_for_warpgroups(dot: Op, arch: Arch) -> bool:
  """Whether a warpgroup's tensor cores multiply matrices of these shapes and dtypes."""
  if not is_matrix(dot) or not has_tensor_cores(arch, dot) or dot.result.tile.dtype.itemsize != 4:
    return False
  m, n = dot.result.tile.shape
  k = dot.operands[0].tile.shape[dot.attrs["contract"][0][0]]
  return m % ROWS == 0 and n % _COLUMNS == 0 and k * dot.operands[0].tile.dtype.itemsize % _DEPTH_BYTES == 0


def _wait_where_needed(function: Function) -> None:
  """Waits in front of what needs a product's result, with all accumulators that may be in flight there; the user's waits likewise."""
  waits: dict[Op, Op | None] = {}  # in front of ops; None: the user's wait, for nothing
  ends: dict[Block, Op] = {}

  def visit(block: Block, number: int, state: in_flight.State) -> None:
    op = block.ops[number]
    if op.name in in_flight.WAITS:
      waits[op] = _wait(state, op.attrs["pending"], op) if state else None
      return
    pending = in_flight.pending_for(state, in_flight.touched(op))
    if pending is not None:
      waits[op] = _wait(state, pending, op)
      state = in_flight.after_wait(state, pending)
    is_end = number == len(block.ops) - 1
    if is_end and (pending := in_flight.pending_for(state, in_flight.ending(block))) is not None:
      ends[block] = _wait(state, pending, op)

  left = in_flight.follow(function.body, visit)
  for block in [function.body, *(inner for op in walk(function.body) for inner in op.blocks)]:
    ops: list[Op] = []
    for op in block.ops:
      wait = waits.get(op)
      ops += [] if wait is None else [wait]
      if op.name not in in_flight.WAITS:
        ops += [ends[block], op] if op is block.ops[-1] and block in ends else [op]
    block.ops = ops
  if left:
    function.body.ops.append(_wait(left, 0, function.body.ops[-1]))


def _wait(state: in_flight.State, pending: int, op: Op) -> Op:
  running = dict.fromkeys(in_flight.accumulator(product) for product in state)
  return Op(MMA_WAIT, list(running), {"pending": pending}, [], [], op.loc)
