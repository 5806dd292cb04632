"""Matrix products of warpgroups (`wgmma`, sm_90a) anywhere in a body, in the layouts that inference chose.

The right operand is in shared memory, swizzled. So does the left one, unless its elements are held by the threads that multiply them: in
attention the probabilities are the accumulator of one product and the left operand of the next, and stay in registers.

    s = q k^T     q and k in shared memory, s in registers
    p = exp(s)    in registers
    o += p v      p in registers, v in shared memory, o in registers

A warpgroup has neighbouring rows of the accumulator, in fragments of 64 rows and up to 256 columns each:

    C  (m, n)   register = element + width / 2 (fragment across + A fragment down)      `options.wgmma_variants`
    A  (m, k)   register = element + 4 words (k fragment + K fragment down)             `options.wgmma_left_registers`
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from tilewright import errors
from tilewright.layout.access import best_access
from tilewright.layout.layout import LANES, Layout
from tilewright.layout.options import Warpgroups, wgmma_variants
from tilewright.layout.shared import SharedLayout
from tilewright.target.llvm.types import F32, I32, I64
from tilewright.target.nvgpu.arch import WGMMA
from tilewright.target.nvgpu.arch.tensor_cores import KINDS
from tilewright.target.nvgpu.emit import views
from tilewright.target.nvgpu.emit.by_hand import warpgroup_barriers
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.cta_memory import BlockDevice
from tilewright.target.nvgpu.emit.dot import mma_sync_dot, wgmma_in_place, wgmma_operands
from tilewright.target.nvgpu.emit.dot.wgmma_operands import Placed
from tilewright.target.nvgpu.emit.ops.relayout import store
from tilewright.target.nvgpu.emit.register_tiles import RegisterRef, Registers
from tilewright.target.nvgpu.emit.units import cp_async, tma, wgmma
from tilewright.target.nvgpu.emit.units.threads import GROUP
from tilewright.target.nvgpu.emit.units.wgmma import ROWS, Matrix
from tilewright.target.nvgpu.emit.views import SwizzledView, View
from tilewright.target.nvgpu.passes.warpgroup_operands import MAX_COPY_BYTES, source_of
from tilewright.tile.ir import Op, Value


def as_matrix(shared: SharedLayout, contracted: int) -> Matrix | None:
  """A layout of shared memory as wgmma sees it, if it can. Dimension `contracted` is k."""
  return wgmma_in_place.matrix_of(
    wgmma_in_place.digits_of(shared), shared.shape, shared.bits, shared.swizzle, contracted
  )


def is_possible(code: BlockCode, op: Op) -> bool:
  """Whether there is room for the operands of a product of this kind."""
  assert code.inferred is not None
  room = 0
  for i, value in enumerate(op.operands):
    wanted = code.inferred.inferred_operand_layout(op, i)
    if isinstance(wanted, SharedLayout) and _known(code, value, wanted) is None and _in_place(code, op, i) is None:
      room += wanted.nbytes + wanted.swizzle.span
      if _copied_view(code, value, wanted) is None and mma_sync_dot.held_bytes(code, value) > MAX_COPY_BYTES:
        return False
  return code.room_for(room) <= code.free_bytes


def multiply(code: BlockCode, op: Op, old: Value | None) -> Registers:
  """`old + dot(…)`, held in the layout of the result, when it is done."""
  dtype, layout = op.result.tile.dtype, code.layout_of(op.result)
  assert layout is not None
  values = (
    None if old is None else mma_sync_dot.old_accumulators(code, layout, dtype, old)
  )  # before the operands take buffers
  return mma_sync_dot.accumulator_registers(code, layout, dtype, wgmma.wait(code.b, _start(code, op, layout, values)))


def start(code: BlockCode, op: Op) -> None:
  """`mma(acc, dot)`: start to add a product to an accumulator. Until it is waited for, nothing touches the accumulator's registers."""
  acc, product = code.memory_of(op.operands[0]), op.operands[1].owner
  assert isinstance(acc, RegisterRef) and isinstance(product, Op)
  own = acc.registers
  assert product.attrs.get("kind") == WGMMA, "see passes.async_products"
  if not is_possible(code, product):
    raise errors.ResourceExhaustedError(
      f"{op.loc or '?'}: the operands of this wgmma exceed available shared memory. Keep them in SMEM with a TilingTransform and a "
      "SwizzleTransform that tensor cores can read, or make them smaller."
    )
  # A copy of an operand that was made only for this product is soon overwritten, by the next one that needs room.
  stays = all(_stays(code, product, i) for i in range(2))
  code.ways[product] = "wgmma"
  old = None if op.attrs.get("overwrites") else mma_sync_dot.unpacked(code.b, own)
  values = _start(code, product, own.layout, old)
  mma_sync_dot.put(code.b, own, values if stays else wgmma.wait(code.b, values))


def wait(code: BlockCode, op: Op) -> None:
  """`mma_wait(acc…)`: accumulators in flight are operands and results of the wait, so that no use of them is moved across it."""
  found = [acc.registers for ref in op.operands if isinstance(acc := code.memory_of(ref), RegisterRef)]
  values = [mma_sync_dot.unpacked(code.b, own) for own in found]
  done = iter(wgmma.wait(code.b, [v for own in values for v in own], op.attrs["pending"]))
  for own, before in zip(found, values):
    mma_sync_dot.put(code.b, own, [next(done) for _ in before])


def _start(code: BlockCode, op: Op, layout: Layout, old: list[ir.Value] | None) -> list[ir.Value]:
  """Start a product, which is added to old values or initialises the accumulator; returns the registers that will hold it when done."""
  b = code.b
  kinds = KINDS[op.operands[0].tile.dtype]
  depth, kind, total = kinds.depth, kinds.name, kinds.accumulator
  way = _way(code, layout, total)
  (m, k), n = mma_sync_dot.sizes(op)
  fragments = m // (ROWS * way.down), n // (way.width * way.across)
  nothing = ir.Constant(F32 if total == "f32" else I32, ir.Undefined)
  values: list[Any] = [nothing] * layout.num_registers if old is None else old
  operands: list[Any] = []
  for i in range(2):
    operands.append(_operand(code, op, i))
    code.busy += [part.buffer for part in operands[i:] if isinstance(part, Placed)]
  _arrived(code, operands)
  in_memory = [i for i, part in enumerate(operands) if isinstance(part, Placed) and part.buffer.tiled is not None]
  if in_memory:
    warpgroup_barriers.fence_operands(code, [wgmma_in_place.load_of(op.operands[i]) for i in in_memory])
  code.sync({part.base for part in operands if isinstance(part, Placed)}, set())

  group = b.udiv(code.thread, I32(GROUP))
  down, across = b.udiv(group, I32(way.across)), b.urem(group, I32(way.across))
  left, right = (_Reader(code, op, i, part) for i, part in enumerate(operands))
  left.begin(down if way.down > 1 else None, m // way.down)
  right.begin(across if way.across > 1 else None, n // way.across)
  fenced = wgmma.fence(b, [*(values if old is not None else []), *left.words])
  if old is not None:
    values, fenced = fenced[: len(values)], fenced[len(values) :]
  left.words = fenced
  count = way.width // 2
  for row in range(fragments[0]):
    for column in range(fragments[1]):
      own = slice(count * (column + fragments[1] * row), count * (column + fragments[1] * row + 1))
      for at in range(0, k, depth):
        x, y = left.at(row, ROWS * row, at), right.at(column, way.width * column, at)
        adds = old is not None or at > 0
        values[own] = wgmma.multiply(b, kind, way.width, values[own], x, y, (left.transposed, right.transposed), adds)
  wgmma.commit(b)
  code.busy.clear()
  return values


def _way(code: BlockCode, layout: Layout, total: str) -> Warpgroups:
  """How an accumulator is divided among warpgroups."""
  ways = wgmma_variants(layout.shape, code.num_threads // LANES, total == "s32")
  return next(way for way in ways if way.accumulator == layout)


class _Reader:
  """What the instructions take of an operand: four words of a thread, or a descriptor of memory."""

  def __init__(self, code: BlockCode, op: Op, i: int, operand: Any):
    self.b, self.depth = code.b, KINDS[op.operands[i].tile.dtype].depth
    self.depths = mma_sync_dot.sizes(op)[0][1] // self.depth
    self.words: list[ir.Value] = []
    self.matrix = None
    self.transposed = False
    if isinstance(operand, Placed):
      self.matrix = operand.matrix or as_matrix(operand.shared, op.attrs["contract"][i][0])
      assert self.matrix is not None, f"{operand.shared} is no operand of wgmma"
      self.transposed = not self.matrix.k_is_last
      self.address = operand.address(code.b)
    else:
      self.words = [operand[r] for r in sorted(operand)]  # four for each fragment, in order

  def begin(self, group: ir.Value | None, size: int) -> None:
    """A warpgroup begins `size` further than the one before it."""
    if self.matrix is None:
      return
    matrix, start = self.matrix, self.address
    if group is not None:
      start = self.b.add(start, self.b.mul(group, I32(matrix.offset(size, 0))))
    self.start = matrix.descriptor(self.b, start)

  def at(self, fragment: int, free: int, k: int) -> Any:
    """The operand of an instruction: a fragment of the warpgroup, which begins at `free`, from `k` on."""
    if self.matrix is None:
      first = 4 * (k // self.depth + self.depths * fragment)
      return self.words[first : first + 4]
    return self.b.add(self.start, I64(self.matrix.offset(free, k) >> 4))


# --- operands ----------------------------------------------------------------------------------------------------


def _operand(code: BlockCode, op: Op, i: int) -> Any:
  """An operand ready to be multiplied: words in registers, or a copy in shared memory."""
  assert code.inferred is not None
  value, wanted = op.operands[i], code.inferred.inferred_operand_layout(op, i)
  placed = _in_place(code, op, i)
  if placed is not None:
    return placed
  if isinstance(wanted, Layout):
    return code.words_of(value, wanted)
  known = _known(code, value, wanted)
  if known is not None:
    return known
  buffer = code.trip_buffer(wanted.nbytes, wanted.swizzle.span)
  assert buffer is not None, "see is_possible"
  return _place(code, value, wanted, buffer)


def _stays(code: BlockCode, op: Op, i: int) -> bool:
  """Whether an operand is read where it lies in shared memory, or from registers, rather than from a copy made for this product."""
  assert code.inferred is not None
  wanted = code.inferred.inferred_operand_layout(op, i)
  if _in_place(code, op, i) is not None or isinstance(wanted, Layout):
    return True
  return _known(code, op.operands[i], wanted) is not None


def _in_place(code: BlockCode, op: Op, i: int) -> Placed | None:
  """An operand in memory that the user laid out, if wgmma can read it there: of bytes, only rows along k."""
  placed = wgmma_in_place.find(code, op.operands[i], op.attrs["contract"][i][0])
  matrix = None if placed is None else placed.matrix
  return placed if matrix is not None and (matrix.itemsize == 2 or matrix.k_is_last) else None


def _known(code: BlockCode, value: Value, wanted: SharedLayout) -> Placed | None:
  """An operand, or the tile it is the transpose of, that is already in shared memory in the required layout."""
  copies = code.copies.get(value, ())
  found = next((copy for copy in copies if isinstance(copy, Placed) and copy.shared == wanted), None)
  source = source_of(value, wanted) if found is None else None
  if source is None:
    return found
  view = code.env.get(source.load.operands[0])
  if isinstance(view, SwizzledView) and view.layout == source.shared:
    return Placed(wanted, view)
  staged = code.copies.get(source.load.result, ())
  same = next((copy for copy in staged if isinstance(copy, Placed) and copy.shared == source.shared), None)
  return None if same is None else Placed(wanted, same.buffer)


def _place(code: BlockCode, value: Value, shared: SharedLayout, buffer: View) -> Placed:
  """Copy a tile to shared memory and make it visible to the tensor cores: by copies that are then in flight, or from registers."""
  view, placed = _copied_view(code, value, shared), Placed(shared, buffer)
  if view is not None:
    source = source_of(value, shared)
    assert source is not None
    code.sync(set(), {buffer.base})
    wgmma_operands.copy(code, view, source.shared, placed.address(code.b))
    return dataclasses.replace(placed, is_on_its_way=True)
  layout = mma_sync_dot.own_layout(code, value)
  way = best_access(layout, shared, code.arch.has_stmatrix, owners_only=True)
  store(layout, shared, way, code.elements_of(value, layout), shared.bits, BlockDevice(code, buffer))
  tma.fence_writes(code.b)
  return placed


def _copied_view(code: BlockCode, value: Value, wanted: SharedLayout) -> View | None:
  """The memory from which an operand is copied, if it is only loaded, and nothing else is being copied."""
  if code.has_stages or isinstance(code.env.get(value), Registers):
    return None
  source = source_of(value, wanted)
  if source is None or source.load.result in code.env:
    return None
  return views.view_of(code.memory_of(source.load.operands[0])) if source.load in code.direct else None


def _arrived(code: BlockCode, operands: Sequence[Any]) -> None:
  """Wait until the operands that this thread copies have arrived."""
  if any(isinstance(part, Placed) and part.is_on_its_way for part in operands):
    cp_async.commit(code.b)
    cp_async.wait(code.b, 0)
    tma.fence_writes(code.b)


def stage_ahead(code: BlockCode, op: Op, i: int) -> bool:
  """Copy an operand to shared memory before the loop in which it is multiplied."""
  if op.attrs.get("kind") != WGMMA:
    return False
  assert code.inferred is not None
  value, wanted = op.operands[i], code.inferred.inferred_operand_layout(op, i)
  if not isinstance(wanted, SharedLayout):
    return False
  if _known(code, value, wanted) is None:
    buffer = code.own_buffer(wanted.nbytes, wanted.swizzle.span)
    if buffer is None:
      return False
    placed = _place(code, value, wanted, buffer)
    _arrived(code, [placed])
    code.copies.setdefault(value, []).append(Placed(wanted, buffer))
  return True
