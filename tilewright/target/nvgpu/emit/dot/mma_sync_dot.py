"""Matrix products whose operands and result are in registers, as fragments of `mma.sync` in the layouts that inference chose.

An operand that is held as fragments, or converted to them by shuffles, is multiplied from registers: in attention, the probabilities are
the accumulator of one product and the left operand of the next, and never leave their registers. Any other operand is copied to shared
memory once, unless it is there already, as prefetched blocks are; `ldmatrix` loads its fragments as they are needed, so that only a few
are in registers at a time.

    A  (m, k)   register = element + 8 (k fragment + K m fragment)         the order of `options.mma_options`
    B  (k, n)   register = element + 4 (n fragment + N k fragment)
    C  (m, n)   register = element + 4 (n fragment + N m fragment)

For `old + dot(a, b)`, where the product has no other use, the accumulators are initialised with `old`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from tilewright.layout.access import VECTOR, accesses
from tilewright.layout.algebra import transposed, without_register_copies
from tilewright.layout.layout import Layout
from tilewright.layout.plan import Plan, relayout
from tilewright.layout.shared import AnyShared, SharedLayout, StridedShared
from tilewright.layout.through_shared_memory import Trip
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.types import F32, I32
from tilewright.target.nvgpu.arch import MMA
from tilewright.target.nvgpu.arch.tensor_cores import KINDS
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.cta_memory import BlockDevice
from tilewright.target.nvgpu.emit.ops.relayout import Loader, store
from tilewright.target.nvgpu.emit.register_tiles import Registers
from tilewright.target.nvgpu.emit.units import mma_sync
from tilewright.target.nvgpu.emit.views import View
from tilewright.target.nvgpu.passes.warpgroup_operands import MAX_COPY_BYTES
from tilewright.tile.ir import Block, Op, Value

Words = Callable[[int], ir.Value]  # the 32 bits that begin with a register


@dataclasses.dataclass(frozen=True, eq=False)
class Staged:
  """A copy of a tile in shared memory, from which fragments are loaded."""

  plan: Plan
  trip: Trip
  buffer: View

  @property
  def base(self) -> Any:
    return self.buffer.base


def is_possible(code: BlockCode, op: Op) -> bool:
  """Whether there is room for the operands of a product of this kind."""
  moved = [v for i, v in enumerate(op.operands) if in_place(code, op, i) is None]
  if any(held_bytes(code, v) > MAX_COPY_BYTES for v in moved):
    return False
  room = sum(math.prod(v.tile.shape) * v.tile.dtype.itemsize + 128 for v in moved)
  return code.given.used + code.given.promised + code.room_for(2 * room) <= code.arch.shared_bytes


def own_layout(code: BlockCode, value: Value) -> Layout:
  """The layout of an operand before its copy: the one in which it is held, or loaded to be copied elsewhere."""
  known = code.env.get(value)
  if isinstance(known, Registers):
    return known.layout
  assert code.inferred is not None
  return code.inferred.layouts[value]


def held_bytes(code: BlockCode, value: Value) -> int:
  return own_layout(code, value).num_registers * value.tile.dtype.itemsize


def _wanted(code: BlockCode, op: Op, i: int) -> Layout:
  """The fragments of an operand; not all of them are in registers at a time."""
  assert code.inferred is not None
  found = code.inferred.inferred_operand_layout(op, i)
  assert isinstance(found, Layout)
  return found


def multiply(code: BlockCode, op: Op, old: Value | None) -> Registers:
  """`old + dot(…)`, held in the layout of the result."""
  b, dtype = code.b, op.result.tile.dtype
  kinds = KINDS[op.operands[0].tile.dtype]
  depth, kind = kinds.depth, kinds.accumulator
  layout = code.layout_of(op.result)
  assert layout is not None
  values = [ty.constant(F32 if kind == "f32" else I32, 0)] * layout.num_registers
  if old is not None:  # before the operands take buffers
    values = old_accumulators(code, layout, dtype, old)
  operands: list[Any] = []
  for i in range(2):
    operands.append(_operand(code, op, i))
    code.busy += [part.buffer for part in operands[i:] if isinstance(part, Staged)]
  code.sync({part.base for part in operands if isinstance(part, Staged)}, set())
  left, right = (_words(code, part) for part in operands)
  depths, down = sizes(op)[0][1] // depth, len({offset[0] // 16 for offset in layout.register_offsets})
  across = layout.num_registers // (4 * down)
  word = depth // 8  # elements in a register of 32 bits
  for at in range(depths):
    for ni in range(across):
      two = [right(word * (i + 2 * (ni + across * at))) for i in range(2)]
      for mi in range(down):
        four = [left(word * (i + 4 * (at + depths * mi))) for i in range(4)]
        own = slice(4 * (ni + across * mi), 4 * (ni + across * mi) + 4)
        values[own] = mma_sync.multiply(b, kinds.name, values[own], four, two, is_pure=True)
  code.busy.clear()
  return accumulator_registers(code, layout, dtype, values)


def old_accumulators(code: BlockCode, layout: Layout, dtype: Any, old: Value) -> list[ir.Value]:
  """The registers of a tile to which a product is added."""
  accumulators = code.new_registers(layout, dtype)
  code.fill(accumulators, old)
  return unpacked(code.b, accumulators)


def accumulator_registers(code: BlockCode, layout: Layout, dtype: Any, values: Sequence[ir.Value]) -> Registers:
  """The registers of a layout as a tile."""
  result = code.new_registers(layout, dtype)
  put(code.b, result, values)
  return result


def put(b: ir.IRBuilder, tile: Registers, values: Sequence[ir.Value]) -> None:
  """Let registers of a tile have values: the reverse of `unpacked`."""
  for step, group in enumerate(tile.held.groups):
    parts = [values[r] for r in group]
    tile.set(b, step, ty.joined(b, parts))


def sizes(op: Op) -> tuple[tuple[int, int], int]:
  (lc, rc) = op.attrs["contract"]
  left, right = (v.tile.shape for v in op.operands)
  return (left[1 - lc[0]], left[lc[0]]), right[1 - rc[0]]


def unpacked(b: ir.IRBuilder, tile: Registers) -> list[ir.Value]:
  """The registers of a tile one by one."""
  found: list[Any] = [None] * tile.layout.num_registers
  for step, group in enumerate(tile.held.groups):
    vector = tile.vector(b, step)
    for i, register in enumerate(group):
      found[register] = vector if len(group) == 1 else b.extract_element(vector, I32(i))
  return found


# --- operands ----------------------------------------------------------------------------------------------------


def _operand(code: BlockCode, op: Op, i: int) -> Any:
  """An operand ready to be multiplied: words in registers, or a copy in shared memory."""
  value, wanted = op.operands[i], _wanted(code, op, i)
  for copy in code.copies.get(value, ()):
    if isinstance(copy, Staged) and copy.plan.target == wanted:
      return copy
  here = in_place(code, op, i)
  if here is not None:
    return here
  plan = relayout(
    own_layout(code, value), wanted, 8 * value.tile.dtype.itemsize, code.arch.has_stmatrix, piecewise=True
  )
  if not plan.shared_bytes:
    return code.words_of(value, wanted)
  buffer = code.trip_buffer(plan.shared_bytes)
  assert buffer is not None
  return stage(code, value, plan, buffer)


def in_place(code: BlockCode, op: Op, i: int) -> Staged | None:
  """An operand that is read from a block in shared memory, perhaps transposed, if its fragments can be loaded from there."""
  value = op.operands[i]
  axes, source = tuple(range(value.tile.rank)), value
  while isinstance(source.owner, Op) and source.owner.name == "transpose" and source not in code.env:
    axes = tuple(source.owner.attrs["permutation"][a] for a in axes)
    source = source.owner.operands[0]
  load = source.owner
  if source in code.env or not isinstance(load, Op) or load.name != "load":
    return None
  view = code.env.get(load.operands[0])
  if not isinstance(view, View) or not view.is_staged or view.has_edges:
    return None
  wanted, bits = _wanted(code, op, i), 8 * value.tile.dtype.itemsize
  shared: AnyShared = StridedShared(value.tile.shape, tuple(view.strides[a] for a in axes), bits)
  if view.tiled is not None:
    shared = SharedLayout(transposed(view.tiled.elements, axes), bits, view.tiled.swizzle)
  ways = accesses(without_register_copies(wanted), shared)
  way = next((a for a in ways if a.kind != VECTOR), None)
  return None if way is None else Staged(Plan(wanted, wanted, bits, (), 0), Trip(shared, way, way), view)


def is_read_in_place(code: BlockCode, op: Op, i: int) -> bool:
  """Whether a product reads an operand from the block that it is loaded from."""
  if op.attrs.get("kind") != MMA:
    return False
  return in_place(code, op, i) is not None and is_possible(code, op)


def stage(code: BlockCode, value: Value, plan: Plan, buffer: View) -> Staged:
  """Copy a tile to shared memory, laid out for the loads of a plan."""
  (trip,) = plan.steps
  assert isinstance(trip, Trip)
  registers = code.elements_of(value, plan.source)
  store(plan.source, trip.shared, trip.store, registers, plan.bits, BlockDevice(code, buffer))
  return Staged(plan, trip, buffer)


def stage_ahead(code: BlockCode, op: Op, i: int) -> bool:
  """Copy an operand to shared memory before the loop in which it is multiplied."""
  if op.attrs.get("kind") != MMA:
    return False
  value, wanted = op.operands[i], _wanted(code, op, i)
  if any(isinstance(c, Staged) and c.plan.target == wanted for c in code.copies.get(value, ())):
    return True
  plan = relayout(
    own_layout(code, value), wanted, 8 * value.tile.dtype.itemsize, code.arch.has_stmatrix, piecewise=True
  )
  if not plan.shared_bytes:
    return False
  buffer = code.own_buffer(plan.shared_bytes)
  if buffer is not None:
    code.copies.setdefault(value, []).append(stage(code, value, plan, buffer))
  return buffer is not None


def _words(code: BlockCode, operand: Any) -> Words:
  if isinstance(operand, Staged):
    return Loader(operand.plan, operand.trip, BlockDevice(code, operand.buffer)).word
  return lambda register: operand[register]


def added_to(code: BlockCode, op: Op, block: Block) -> tuple[Op, Value] | None:
  """The addition that is the only use of a product, and its other operand, if that is computed before the product."""
  users = code.users.get(op.result, [])
  if len(users) != 1 or users[0].name != "add" or users[0] not in block.ops or op.result.tile.dtype.itemsize < 4:
    return None
  others = [v for v in users[0].operands if v is not op.result]
  if len(others) != 1:
    return None
  later = block.ops[block.ops.index(op) + 1 :]
  return None if isinstance(others[0].owner, Op) and others[0].owner in later else (users[0], others[0])
