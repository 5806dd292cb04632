"""Operands of warpgroups' products that are loaded unchanged from global memory: copied straight to where the tensor cores read them.

    o_ref[...] = jnp.dot(x_ref[...], y_ref[...])       both blocks are copied, then multiplied

In a loop the copies are pipelined: while a round is computed from its stage, the operands of the rounds after it arrive in the others.

    for i in range(n):                                 stages  0  1  2      round 0 computes from stage 0, while 1 and 2 arrive
      k = k_ref[pl.ds(i * 64, 64), :]                          3  1  2      round 1 computes from stage 1, and issues round 3
      s = dot(q, k.T)

What a round reads depends on its number alone, and nothing in the kernel writes it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection
from typing import Any

from llvmlite import ir

from tilewright.layout.shared import SharedLayout
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import for_range, i64, if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit import views
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.dot import mma_sync_dot
from tilewright.target.nvgpu.emit.pipeline.rounds import Rounds
from tilewright.target.nvgpu.emit.symbolic import Number, value_of
from tilewright.target.nvgpu.emit.units import cp_async, shared_memory
from tilewright.target.nvgpu.emit.units.wgmma import Matrix
from tilewright.target.nvgpu.emit.views import View
from tilewright.target.nvgpu.passes.warpgroup_operands import Source, fits, room_of_others, shared_layout_for_products
from tilewright.tile.dead_code import VIEWS
from tilewright.tile.ir import Block, Op, Value
from tilewright.tile.ops import OPS

_PIECE = 16  # bytes of one copy
_MAX_STAGES = 3
# Stages take at most this part of shared memory, so that several CTAs fit; two stages may take more.
_SHARE = 3


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


def is_copied(code: BlockCode, view: Any) -> bool:
  """Whether a view's rows can be copied in pieces: it is in global memory, in bounds of its array, and never written."""
  if not isinstance(view, View) or not view.in_global or view.has_edges or view.strides[-1] != 1:
    return False
  if not all(isinstance(stride, int) for stride in view.strides):
    return False
  aligned = math.gcd(view.align, *view.strides[:-1]) * view.dtype.itemsize % _PIECE == 0
  return aligned and code.is_constant(view.base)


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


@dataclasses.dataclass(frozen=True)
class _Operand:
  """An operand of some products of a loop, which stages hold."""

  source: Source
  ops: tuple[Op, ...]  # of the body: what gives the view that is loaded


def run_loop(code: BlockCode, op: Op) -> bool:
  """Emit a `for` with its products' operands copied ahead, if there are any."""
  operands = [] if code.inferred is None or code.has_stages else _operands(code, op)
  stages, nbytes = _stages(code, operands)
  if not stages:
    return False
  b, (lower, upper, *carried), (body,) = code.b, op.operands, op.blocks
  code.settle(op)
  slots = [code.new_slot(v) for v in body.params[1:]]
  code.write_slots(carried, slots)
  buffer = code.own_buffer(stages * nbytes, max(_span(o) for o in operands))
  assert buffer is not None
  code.settle_memory()
  start, end = code.scalar_index(lower), code.scalar_index(upper)
  first, last = i64(start), i64(end)

  def number(i: ir.Value) -> ir.Value:
    dtype = lower.tile.dtype
    return b.trunc(i, ty.register_type(dtype)) if dtype.itemsize < 8 else i

  def places(i: ir.Value) -> list[View]:
    """Where the operands of a round lie."""
    stage = b.urem(b.trunc(b.sub(i, first), I32), I32(stages))
    at = b.gep(buffer.pointer, [b.zext(b.mul(stage, I32(nbytes)), ty.I64)], source_etype=ty.I8)
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


def _span(operand: _Operand) -> int:
  return operand.source.shared.swizzle.span


def _stages(code: BlockCode, operands: list[_Operand]) -> tuple[int, int]:
  """How many stages there are, and the bytes of one; no stages where there is nothing to copy, or no room."""
  nbytes = sum(o.source.shared.nbytes for o in operands)
  span = max((_span(o) for o in operands), default=1)
  nbytes = -(-nbytes // span) * span
  if not operands:
    return 0, 0
  stages = max(2, min(_MAX_STAGES, code.arch.shared_bytes // _SHARE // nbytes))
  loads = {o.source.load.result for o in operands}
  return (stages, nbytes) if _leaves_room(code, loads, stages * nbytes + span) else (0, 0)


def _leaves_room(code: BlockCode, staged: Collection[Value], nbytes: int) -> bool:
  """Whether, beside `nbytes` for stages of some loads, every other operand of warpgroups' products finds room."""
  assert code.inferred is not None
  others = room_of_others(code.inferred, staged, lambda v: mma_sync_dot.held_bytes(code, v))
  return others is not None and fits(code.arch, code.given.used + code.room_for(nbytes + others))


def _operands(code: BlockCode, op: Op) -> list[_Operand]:
  """The operands of a loop's products that can be copied ahead."""
  assert code.inferred is not None
  (body,) = op.blocks
  operands = []
  for load in (o for o in body.ops if o.name == "load" and _is_for_dots(code, o.result, body)):
    shared, ops = shared_layout_for_products(code.inferred, code.users, load.result), _slice(code, load, body)
    if shared is not None and ops is not None:
      operand = _Operand(Source(load, shared), ops)
      if _can_copy(code, operand, body):
        operands.append(operand)
  operands.sort(key=lambda o: -_span(o))
  return operands


def _is_for_dots(code: BlockCode, value: Value, body: Block) -> bool:
  """Whether products of the body are all that uses a value."""
  users = code.users.get(value, [])
  return bool(users) and all(
    user in body.ops and (user.name == "dot" or (user.name == "transpose" and _is_for_dots(code, user.result, body)))
    for user in users
  )


def _slice(code: BlockCode, load: Op, body: Block) -> tuple[Op, ...] | None:
  """The ops of the body that give the view that is loaded, if they depend on the number of the round alone."""
  needed: set[Op] = set()
  pending = [load.operands[0]]
  while pending:
    value = pending.pop()
    if value in body.params[1:]:
      return None
    owner = value.owner
    if not isinstance(owner, Op) or owner not in body.ops or owner in needed:
      continue
    if not (owner.name in VIEWS or (OPS[owner.name].is_pure and owner.result.tile.is_scalar)):
      return None
    needed.add(owner)
    pending += owner.operands
  return tuple(op for op in body.ops if op in needed)


def _view(code: BlockCode, operand: _Operand) -> Any:
  """What is loaded, at the present number of the round. Nothing but views and index arithmetic is emitted."""
  for op in operand.ops:
    if op.name in code.statements:
      code.statements[op.name](code, op)
    else:
      code.env[op.result] = code.value_at(op.result, [], 1)
  return code.memory_of(operand.source.load.operands[0])


def _can_copy(code: BlockCode, operand: _Operand, body: Block) -> bool:
  """Whether the view is one that can be copied: as it would be in some round. What that emits is not used."""
  before, kept = dict(code.env), code.b
  number = ty.register_type(body.params[0].tile.dtype)
  function = ir.Function(ir.Module(), ir.FunctionType(ty.VOID, [number]), "unused")
  code.b = ir.IRBuilder(function.append_basic_block())
  try:
    with code.scope():
      code.env[body.params[0]] = function.args[0]
      return is_copied(code, views.view_of(_view(code, operand)))
  finally:
    code.env, code.b = before, kept
