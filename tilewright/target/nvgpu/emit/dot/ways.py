"""Products in a body: which way each is carried out.

Inference has chosen the instructions (the `kind` of a product), but how much shared memory is left for its operands depends on the tiles
that are kept at that point. Where there is no room, operands are multiplied from memory. The way taken is part of the plan that
`tilewright ptx --show plan` prints.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from tilewright.target.llvm.dots import DeferredContraction, Dot, accumulator_of
from tilewright.target.nvgpu.arch import MMA, WGMMA
from tilewright.target.nvgpu.emit import views
from tilewright.target.nvgpu.emit.code import AHEAD, IN_PLACE, BlockCode
from tilewright.target.nvgpu.emit.dot import fma_dot, mma_sync_dot, packed_dot, skinny_dot, wgmma_dot
from tilewright.target.nvgpu.emit.register_tiles import RegisterRef, Registers
from tilewright.target.nvgpu.emit.views import View
from tilewright.target.nvgpu.passes.layouts.operand_layouts import behind_transposes
from tilewright.target.nvgpu.passes.layouts.system import ELEMENTWISE
from tilewright.tile.ir import Op, Value


@dataclasses.dataclass(frozen=True)
class Way:
  """A way to carry out a product: one of these functions writes its code."""

  name: str  # for people
  hold: Callable[[BlockCode, Op, Value | None], Registers] | None = (
    None  # the result in registers, added to another tile
  )
  write: Callable[[BlockCode, Dot, View, bool], None] | None = None  # to memory, or added to what is there
  sum_up: Callable[[BlockCode, Dot], View] | None = None  # as partial sums, added up when they are read


def way_of(code: BlockCode, op: Op) -> Way:
  """The first way that is possible: by tensor cores, as inference chose, if the operands find room; else as for operands in memory."""
  if op.attrs.get("kind") == MMA and mma_sync_dot.is_possible(code, op):
    return Way("mma.sync, operands in registers", mma_sync_dot.multiply)
  if op.attrs.get("kind") == WGMMA and wgmma_dot.is_possible(code, op):
    return Way("wgmma", wgmma_dot.multiply)
  staged = [v for v in op.operands if behind_transposes(v)[0] in code.in_stages]
  assert not staged, "what lies in stages can only be read by warpgroups, see passes.warpgroup_operands"
  found = _in_memory(code, Dot(code, op))
  layout = None if found is not _SINGLE or op.result.tile.is_scalar else code.layout_of(op.result)
  return found if layout is None or layout.is_padded else _SINGLE_IN_REGISTERS


def _in_memory(code: BlockCode, parts: Dot) -> Way:
  """The way for operands that are in memory."""
  rows = skinny_dot.plan(code, parts)
  if rows is not None:
    return Way(
      "mma.sync with few rows",
      write=lambda code, parts, into, accumulate: skinny_dot.multiply(code, parts, rows, into, accumulate),
      sum_up=lambda code, parts: skinny_dot.product(code, parts, rows),
    )
  warps = packed_dot.plan(code, parts)
  if warps is not None:
    return Way(
      "mma.sync, operands in shared memory",
      write=lambda code, parts, into, accumulate: packed_dot.multiply(code, parts, warps, into, accumulate),
    )
  return _SINGLE


_SINGLE = Way("multiplications of single numbers", write=fma_dot.multiply)
_SINGLE_IN_REGISTERS = Way(_SINGLE.name, fma_dot.in_registers)


# --- code --------------------------------------------------------------------------------------------------------


def dot(code: BlockCode, op: Op) -> None:
  result = op.results[0]
  if not result.tile.size:
    code.env[result] = code.allocate(result.tile.shape, result.tile.dtype)
    return
  is_started = any(user.name == "mma" for user in code.users.get(result, ()))  # by an op of its own
  if is_started or (code.contraction is not None and _is_added_to_a_ref(code, op)):
    code.env[result] = DeferredContraction()
    return
  way = way_of(code, op)
  code.ways[op] = way.name
  if way.hold is not None:
    add, old = mma_sync_dot.added_to(code, op, code.current) or (
      op,
      None,
    )  # an addition that is its only use is part of it
    code.env[add.result] = way.hold(code, op, old)
    code.env.setdefault(result, DeferredContraction())
    return
  if _is_added_to_a_ref(code, op):
    code.env[result] = DeferredContraction()
    return
  parts = Dot(code, op)
  if way.sum_up is not None and skinny_dot.keeps_partial_sums(code, parts) and _is_read_once(code, op):
    code.env[result] = way.sum_up(code, parts)
    return
  assert way.write is not None
  memory = code.allocate(result.tile.shape, result.tile.dtype)
  way.write(code, parts, memory, False)
  code.env[result] = memory
  if result.tile.is_scalar:
    code.sync({memory.base}, set())
    code.env[result] = code.load(memory, [], 1)


def _stage_ahead(code: BlockCode, op: Op, i: int) -> bool:
  """Copy an operand to shared memory before the loop in which it is multiplied."""
  return mma_sync_dot.stage_ahead(code, op, i) or wgmma_dot.stage_ahead(code, op, i)


AHEAD["dot"] = _stage_ahead
IN_PLACE["dot"] = mma_sync_dot.is_read_in_place


def accumulates(code: BlockCode, value: Value, into: View) -> bool:
  """Carry out `ref += dot(…)`, if the value to be stored is that."""
  sum_op = value.owner
  if not isinstance(sum_op, Op) or sum_op.name != "add" or value in code.env:
    return False
  for operand in sum_op.operands:
    if isinstance(code.env.get(operand), DeferredContraction):
      assert isinstance(operand.owner, Op)
      if isinstance(into, RegisterRef):
        assert code.contraction is not None
        code.contraction(into.registers)
        return True
      parts = Dot(code, operand.owner)
      write = _in_memory(code, parts).write
      assert write is not None
      write(code, parts, into, True)
      return True
  return False


def _is_read_once(code: BlockCode, op: Op) -> bool:
  """Whether a result is only used by an elementwise op in the same block, so that each element is read once."""
  users = code.users.get(op.result, [])
  return len(users) == 1 and users[0].name in ELEMENTWISE and users[0] in code.current.ops


def _is_added_to_a_ref(code: BlockCode, op: Op) -> bool:
  """Whether the result is only added to a ref, where it can be accumulated: in memory, or in registers that a pipeline keeps."""
  ref = accumulator_of(code, op, code.current)
  if ref is None:
    return False
  view = views.view_of(code.memory_of(ref))
  return code.contraction is not None if isinstance(view, RegisterRef) else not view.has_edges
