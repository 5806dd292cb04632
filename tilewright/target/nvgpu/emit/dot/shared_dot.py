"""Contractions by a CTA: both operands lie in shared memory.

bf16 and f16 go to the tensor cores, warp by warp, with `mma.sync.m16n8k16`. A warp owns a rectangle of the result; its lanes hold of each
16 x 8 part the elements (g, 2q), (g, 2q + 1), (g + 8, 2q), (g + 8, 2q + 1), where g = lane / 4 and q = lane % 4 (PTX ISA, matrix fragments
for mma.m16n8k16). Everything else is multiplied and added by each thread for its own elements of the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import arithmetic
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.dots import DeferredContraction, Dot, accumulator_of
from tilewright.target.llvm.loops import Index, add, for_range, i64, lane, mul
from tilewright.target.llvm.types import F32, I32, I64
from tilewright.target.nvgpu.arch import MMA, WGMMA
from tilewright.target.nvgpu.arch.tensor_cores import HALVES
from tilewright.target.nvgpu.emit import views
from tilewright.target.nvgpu.emit.code import AHEAD, IN_PLACE, BlockCode
from tilewright.target.nvgpu.emit.distribution import distribute
from tilewright.target.nvgpu.emit.dot import mma_sync_dot, skinny_dot, wgmma_dot
from tilewright.target.nvgpu.emit.dot.skinny_dot_stages import is_computable
from tilewright.target.nvgpu.emit.register_tiles import RegisterRef, Registers
from tilewright.target.nvgpu.emit.units.threads import WARP
from tilewright.target.nvgpu.emit.views import View
from tilewright.target.nvgpu.passes.layouts.operand_layouts import behind_transposes
from tilewright.target.nvgpu.passes.layouts.system import ELEMENTWISE
from tilewright.tile.ir import Op, Value

_M, _N, _K = 16, 8, 16  # of one mma
_MAX_ACCUMULATORS = 128  # registers of a thread
_TOGETHER = 4  # elements along k that a thread loads at a time


def dot(code: BlockCode, op: Op) -> None:
  result = op.results[0]
  if not result.tile.size:
    code.env[result] = code.allocate(result.tile.shape, result.tile.dtype)
    return
  if any(user.name == "mma" for user in code.users.get(result, ())):  # which starts it
    code.env[result] = DeferredContraction()
    return
  if code.contraction is not None and _is_added_to_a_ref(code, op):
    code.env[result] = DeferredContraction()
    return
  if op.attrs.get("kind") == MMA and mma_sync_dot.is_possible(code, op):
    code.ways[op] = "mma.sync, operands in registers"
    _hold(code, op, mma_sync_dot.multiply)
    return
  if op.attrs.get("kind") == WGMMA and wgmma_dot.is_possible(code, op):
    code.ways[op] = "wgmma"
    _hold(code, op, wgmma_dot.multiply)
    return
  staged = [v for v in op.operands if behind_transposes(v)[0] in code.in_stages]
  assert not staged, "what lies in stages can only be read by warpgroups, see passes.warpgroup_operands"
  parts = Dot(code, op)
  way = _way(code, parts)
  code.ways[op] = {None: "multiplications of single numbers", "rows": "mma.sync with few rows"}.get(
    None if way is None else way[0], "mma.sync, operands in shared memory"
  )
  layout = None if result.tile.is_scalar or way is not None else code.layout_of(result)
  if layout is not None and not layout.is_padded:
    _hold(code, op, _in_registers)
    return
  if _is_added_to_a_ref(code, op):
    code.env[result] = DeferredContraction()
    return
  if way is not None and way[0] == "rows" and skinny_dot.keeps_partial_sums(code, parts) and _is_read_once(code, op):
    code.env[result] = skinny_dot.product(code, parts, way[1])
    return
  memory = code.allocate(result.tile.shape, result.tile.dtype)
  _multiply(code, op, memory, accumulate=False)
  code.env[result] = memory
  if result.tile.is_scalar:
    code.sync({memory.base}, set())
    code.env[result] = code.load(memory, [], 1)


def _hold(code: BlockCode, op: Op, multiply: Callable[[BlockCode, Op, Value | None], Registers]) -> None:
  """A product that is held in registers; an addition that is its only use is fused with it."""
  add, old = mma_sync_dot.added_to(code, op, code.current) or (op, None)
  code.env[add.result] = multiply(code, op, old)
  code.env.setdefault(op.result, DeferredContraction())


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
      _multiply(code, operand.owner, into, accumulate=True)
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


def _way(code: BlockCode, parts: Dot) -> tuple[Any, ...] | None:
  """How tensor cores multiply operands that are in memory: the plan for few rows, or that of the warps; None if they cannot."""
  skinny = skinny_dot.plan(code, parts)
  if skinny is not None:
    return "rows", skinny
  left, right = parts.lhs.tile.dtype, parts.rhs.tile.dtype
  if parts.m % _M or parts.n % _N or parts.k % _K or left != right or left not in HALVES:
    return None
  plan = _plan(code, parts.m, parts.n)
  return ("warps", plan) if plan is not None and parts.accumulator == np.float32 else None


def _multiply(code: BlockCode, op: Op, into: View, *, accumulate: bool) -> None:
  parts = Dot(code, op)
  match _way(code, parts):
    case ("rows", plan):
      skinny_dot.multiply(code, parts, plan, into, accumulate)
    case ("warps", plan):
      _with_tensor_cores(code, parts, plan, into, accumulate)
    case _:
      _with_threads(code, parts, into, accumulate)


def _places(parts: Dot, batch: Any, m: Any, n: Any, step: int = 0) -> list[Index]:
  return [*parts.spread(batch, parts.batch), *parts.spread(m, parts.ms), *parts.spread(n, parts.ns, step)]


def _with_threads(code: BlockCode, parts: Dot, into: View, accumulate: bool) -> None:
  b = code.b
  sides = [code.in_memory(v) for v in (parts.lhs, parts.rhs)]
  code.sync({s.base for s in sides}, {into.base})
  dtype = parts.accumulator
  shape = tuple([*parts.batch, *parts.ms, *parts.ns])
  free = len(parts.batch), len(parts.batch) + len(parts.ms)

  def each(index: list[Index], lanes: int, step: Any) -> None:
    register = ty.register_type(dtype, lanes)
    with b.goto_entry_block():
      slot = b.alloca(register)
    b.store(ty.constant(register, 0), slot)
    batch, rows, columns = index[: free[0]], index[free[0] : free[1]], index[free[1] :]
    with for_range(b, 0, parts.k) as k, code.scope():
      inner = parts.spread(k, parts.ks)
      x = code.load(sides[0], parts.place(batch, rows, inner, "lhs"), _width(rows + batch, lanes))
      y = code.load(sides[1], parts.place(batch, columns, inner, "rhs"), _width(columns + batch, lanes))
      x, y = (
        ty.splat(b, v, lanes) if ty.lanes_of(v) < lanes else v
        for v in (
          arithmetic.convert(b, x, parts.lhs.tile.dtype, dtype),
          arithmetic.convert(b, y, parts.rhs.tile.dtype, dtype),
        )
      )
      total = b.load(slot, typ=register)
      if ty.is_float(dtype):
        total = ty.intrinsic(b, "fma", [x, y, total])
      else:
        total = b.add(total, b.mul(x, y))
      b.store(total, slot)
    total = arithmetic.convert(b, b.load(slot, typ=register), dtype, parts.dtype)
    if accumulate:
      old = code.load(into, index, lanes)
      total = b.fadd(old, total) if ty.is_float(parts.dtype) else b.add(old, total)
    code.store(into, index, total)

  code.each_step(code.distribution(shape), each)


def _in_registers(code: BlockCode, op: Op, old: Value | None) -> Registers:
  """Each thread multiplies and adds for the elements it holds, all of them for a few k at a time: what it loads serves many."""
  b, parts = code.b, Dot(code, op)
  layout = code.layout_of(op.result)
  assert layout is not None
  result = code.new_registers(layout, parts.dtype)
  held, dtype = result.held, parts.accumulator
  sides = [code.in_memory(v) for v in (parts.lhs, parts.rhs)]
  if old is not None:
    code.fill(result, old)
  code.sync({s.base for s in sides}, set())
  register = ty.register_type(dtype, held.lanes)
  with b.goto_entry_block():
    slots = [b.alloca(register) for _ in range(held.steps)]
  for slot in slots:
    b.store(ty.constant(register, 0), slot)
  depth = math.gcd(parts.ks[-1], _TOGETHER) if parts.ks else 1
  first, second = len(parts.batch), len(parts.batch) + len(parts.ms)
  with for_range(b, 0, parts.k, depth) as k, code.scope():
    inner = parts.spread(k, parts.ks, 1 if depth > 1 else 0)
    known: dict[Any, list[ir.Value]] = {}

    def loaded(side: int, batch: list[Index], free: list[Index]) -> list[ir.Value]:
      """The operand's elements for each of a few k: single numbers, or vectors along the result's."""
      key = side, tuple((*i.place, i.step) for i in (*batch, *free))
      if key not in known:
        name, value = ("lhs", parts.lhs) if side == 0 else ("rhs", parts.rhs)
        if _width([*batch, *free], held.lanes) > 1:
          rows = [[lane(b, i, n) for i in inner] for n in range(depth)]
          found = [code.load(sides[side], parts.place(batch, free, row, name), held.lanes) for row in rows]
        else:
          whole = code.load(sides[side], parts.place(batch, free, inner, name), depth)
          found = [whole if depth == 1 else b.extract_element(whole, I32(n)) for n in range(depth)]
        known[key] = [arithmetic.convert(b, v, value.tile.dtype, dtype) for v in found]
      return known[key]

    for step, slot in enumerate(slots):
      index = code.index_of(held, step)
      batch, rows, columns = index[:first], index[first:second], index[second:]
      total = b.load(slot, typ=register)
      for x, y in zip(loaded(0, batch, rows), loaded(1, batch, columns)):
        x, y = (ty.splat(b, v, held.lanes) if ty.lanes_of(v) < held.lanes else v for v in (x, y))
        total = ty.intrinsic(b, "fma", [x, y, total]) if ty.is_float(dtype) else b.add(total, b.mul(x, y))
      b.store(total, slot)
  for step, slot in enumerate(slots):
    total = arithmetic.convert(b, b.load(slot, typ=register), dtype, parts.dtype)
    if old is not None:
      before = result.vector(b, step)
      total = b.fadd(before, total) if ty.is_float(parts.dtype) else b.add(before, total)
    result.set(b, step, total)
  return result


def _width(index: list[Index], lanes: int) -> int:
  return lanes if any(i.step for i in index) else 1


# --- tensor cores ------------------------------------------------------------------------------------------------


def _plan(code: BlockCode, m: int, n: int) -> tuple[int, int] | None:
  """How many warps lie along each side of the result; None if no way leaves enough registers."""
  warps = code.num_threads // WARP
  best = None
  for down in (w for w in range(1, warps + 1) if warps % w == 0):
    across = warps // down
    if m % (_M * down) or n % (_N * across):
      continue
    rows, columns = m // (_M * down), n // (_N * across)
    if rows * columns * 4 <= _MAX_ACCUMULATORS:
      traffic = rows * _M + columns * _N  # elements of the operands a warp reads for each k
      best = min(best, (traffic, down, across)) if best else (traffic, down, across)
  return best[1:] if best else None


def _packed(code: BlockCode, parts: Dot, side: str, batch: ir.Value | int) -> View:
  """An operand in shared memory with k innermost, rows a little apart so that eight of them lie in different banks."""
  value = parts.lhs if side == "lhs" else parts.rhs
  sizes = parts.ms if side == "lhs" else parts.ns
  rows = math.prod(sizes)
  stride = parts.k + 8
  memory = code.allocate((rows, stride), value.tile.dtype)
  packed = View(memory.pointer, (stride, 1), memory.dtype, memory.base, align=8)
  source = code.in_memory(value) if not is_computable(code, value) else None
  code.sync(code.bases_read(value), {packed.base})
  # The operand is read along its own last dimension, so that neighbouring threads read neighbours.
  last_is_k = (parts.lc if side == "lhs" else parts.rc)[-1:] == (value.tile.rank - 1,)
  order = (rows, parts.k) if last_is_k else (parts.k, rows)

  def each(index: list[Index], lanes: int, step: Any) -> None:
    row, k = index if last_is_k else index[::-1]
    free = parts.spread(row.base, sizes, row.step)
    inner = parts.spread(k.base, parts.ks, k.step)
    place = parts.place(parts.spread(batch, parts.batch), free, inner, side)
    element = code.value_at(value, place, lanes) if source is None else code.load(source, place, lanes)
    code.store(packed, [row, k], element)

  whole = sizes[-1:] if not last_is_k else parts.ks[-1:]
  d = distribute(order, code.lanes, code.num_threads)
  if whole and whole[0] % d.lanes:
    d = distribute(order, 1, code.num_threads)
  code.each_step(d, each)
  return packed


def _with_tensor_cores(code: BlockCode, parts: Dot, plan: tuple[int, int], into: View, accumulate: bool) -> None:
  b = code.b
  kind = HALVES[parts.lhs.tile.dtype]
  down, across = plan
  rows, columns = parts.m // (_M * down), parts.n // (_N * across)
  warp, lane = b.udiv(code.thread, I32(WARP)), b.urem(code.thread, I32(WARP))
  g, q = (b.zext(v, I64) for v in (b.udiv(lane, I32(4)), b.urem(lane, I32(4))))
  first_row = b.mul(b.zext(b.udiv(warp, I32(across)), I64), i64(rows * _M))
  first_column = b.mul(b.zext(b.urem(warp, I32(across)), I64), i64(columns * _N))
  count = math.prod(parts.batch)
  for batch in range(count):
    left, right = (_packed(code, parts, side, batch) for side in ("lhs", "rhs"))
    with b.goto_entry_block():
      slots = [[[b.alloca(F32) for _ in range(4)] for _ in range(columns)] for _ in range(rows)]
    for slot in (s for row in slots for part in row for s in part):
      b.store(ty.constant(F32, 0), slot)
    code.sync({left.base, right.base}, set())
    with for_range(b, 0, parts.k, _K) as k, code.scope():
      at = b.add(k, b.mul(q, i64(2)))
      lefts = [
        [_pair(b, left, add(b, first_row, add(b, g, r * _M + 8 * (i % 2))), add(b, at, 8 * (i // 2))) for i in range(4)]
        for r in range(rows)
      ]
      for c in range(columns):
        column = add(b, first_column, add(b, g, c * _N))
        pair = [_pair(b, right, column, add(b, at, 8 * i)) for i in range(2)]
        for r in range(rows):
          skinny_dot.add_product(b, kind, slots[r][c], lefts[r], pair)
    code.sync(set(), {into.base})
    for r in range(rows):
      for c in range(columns):
        for i, slot in enumerate(slots[r][c]):
          m = add(b, first_row, add(b, g, r * _M + 8 * (i // 2)))
          n = add(b, first_column, add(b, mul(b, q, 2), c * _N + i % 2))
          place = _places(parts, batch, m, n)
          total = b.load(slot, typ=F32)
          if accumulate:
            total = b.fadd(code.load(into, place, 1), total)
          code.store(into, place, total)


def _pair(b: ir.IRBuilder, packed: View, row: Any, k: Any) -> ir.Value:
  """Two neighbours along k, as one register."""
  offset = b.add(b.mul(i64(row), i64(packed.strides[0])), i64(k))
  return b.load(b.gep(packed.pointer, [offset], source_etype=ty.I16), typ=I32, align=4)
