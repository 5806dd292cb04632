"""Operands of warpgroups' products that are loaded unchanged from global memory: copied straight to where the tensor cores read them.

    o_ref[...] = jnp.dot(x_ref[...], y_ref[...])       both blocks are copied, then multiplied

In a loop the copies are pipelined, in stages, as `passes.loop_stages` says.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from llvmlite import ir

from tilewright.layout.shared import SharedLayout
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import for_range, i64, if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.pipeline.rounds import Rounds
from tilewright.target.nvgpu.emit.symbolic import Number, value_of
from tilewright.target.nvgpu.emit.units import cp_async, shared_memory
from tilewright.target.nvgpu.emit.units.wgmma import Matrix
from tilewright.target.nvgpu.emit.views import View
from tilewright.target.nvgpu.passes.loop_stages import Operand
from tilewright.tile.ir import Op

_PIECE = 16  # bytes of one copy


@dataclasses.dataclass(frozen=True, eq=False)
class Placed:
  """A copy of a tile in shared memory, laid out for wgmma."""

  shared: SharedLayout
  buffer: View
  is_on_its_way: bool = False  # copies in flight, not waited for yet
  matrix: Matrix | None = None  # as wgmma sees it, where it is a part of a buffer

  @property
  def base(self) -> Any:
    return self.buffer.base

  def address(self, b: ir.IRBuilder) -> ir.Value:
    return shared_memory.address(b, self.buffer.pointer)


def copy(code: BlockCode, view: View, shared: SharedLayout, to: ir.Value) -> None:
  """Start the copies of a tile to an address of shared memory (i32), neighbouring threads next to each other."""
  b, width = code.b, _PIECE // view.dtype.itemsize
  rows, columns = shared.shape
  across = columns // width
  total = rows * across
  for step in range(-(-total // code.num_threads)):
    first = step * code.num_threads
    number = Number(b, b.add(code.thread, I32(first)), first + code.num_threads)
    row, column = number // across, number % across * width
    place = b.add(to, value_of(b, shared.address((row, column))))
    offset = b.add(b.mul(b.zext(value_of(b, row), ty.I64), i64(view.strides[0])), b.zext(value_of(b, column), ty.I64))
    pointer = b.gep(view.pointer, [offset], source_etype=ty.memory_type(view.dtype))
    if first + code.num_threads > total:
      with if_then(b, b.icmp_unsigned("<", number.value, I32(total))):
        cp_async.copy(b, place, pointer, _PIECE)
    else:
      cp_async.copy(b, place, pointer, _PIECE)


# --- loops -------------------------------------------------------------------------------------------------------


def run_loop(code: BlockCode, op: Op) -> bool:
  """Emit a `for` with its products' operands copied ahead, if there are any."""
  loop = code.loops.get(op)
  if loop is None:
    return False
  operands, stages = loop.operands, loop.stages
  b, (lower, upper, *carried), (body,) = code.b, op.operands, op.blocks
  code.settle(op)
  slots = [code.new_slot(v) for v in body.params[1:]]
  code.write_slots(carried, slots)
  code.given.promise(-loop.nbytes - loop.align)
  buffer = code.own_buffer(loop.nbytes, loop.align)
  assert buffer is not None, "see passes.loop_stages"
  code.settle_memory()
  start, end = code.scalar_index(lower), code.scalar_index(upper)
  first, last = i64(start), i64(end)

  def number(i: ir.Value) -> ir.Value:
    dtype = lower.tile.dtype
    return b.trunc(i, ty.register_type(dtype)) if dtype.itemsize < 8 else i

  def places(i: ir.Value) -> list[View]:
    """Where the operands of a round lie."""
    stage = b.urem(b.trunc(b.sub(i, first), I32), I32(stages))
    at = b.gep(buffer.pointer, [b.zext(b.mul(stage, I32(loop.stage_bytes)), ty.I64)], source_etype=ty.I8)
    found = []
    for operand in operands:
      found.append(dataclasses.replace(buffer, pointer=at))
      at = b.gep(at, [i64(operand.source.shared.nbytes)], source_etype=ty.I8)
    return found

  def fetch(i: ir.Value) -> None:
    before = dict(code.env)
    with code.span("load", "start the copies of a round"), code.scope():
      code.env[body.params[0]] = number(i)
      for operand, place in zip(operands, places(i)):
        view = _view(code, operand)
        copy(code, view, operand.source.shared, Placed(operand.source.shared, place).address(b))
    code.env = before

  rounds = Rounds(b, stages, last, fetch, code.barrier, is_fenced=True)
  code.has_stages = True
  rounds.begin(first)
  with for_range(b, start, end) as i, code.scope():
    with code.span("wait", "the operands of a round"):
      rounds.enter(i)
    code.env[body.params[0]] = number(i)
    for operand, place in zip(operands, places(i)):
      loaded, shared = operand.source.load.result, operand.source.shared
      code.in_stages.add(loaded)
      code.copies[loaded] = [Placed(shared, place)]
    code.read_slots(body.params[1:], slots)
    code.inner_block(body, slots)
    code.settle_memory()
  for operand in operands:
    del code.copies[operand.source.load.result]
  cp_async.wait(b, 0)
  code.has_stages = False
  code.read_slots(op.results, slots)
  return True


def _view(code: BlockCode, operand: Operand) -> Any:
  """What is loaded, at the present number of the round. Nothing but views and index arithmetic is emitted."""
  for op in operand.ops:
    if op.name in code.statements:
      code.statements[op.name](code, op)
    else:
      code.env[op.result] = code.value_at(op.result, [], 1)
  return code.memory_of(operand.source.load.operands[0])
