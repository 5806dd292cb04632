"""Contractions: a register-blocked micro-kernel over packed panels of the right operand.

For each panel of NR columns, K rows of the right operand are packed side by side (so that they stream through the cache) and used by
all panels of MR rows of the left operand:

    for n in panels of N:                pack B[:, n : n + NR]
      for m in panels of M:
        acc[MR][NR] = 0                  (or what stands in the destination, to accumulate)
        for k: acc += A[m : m + MR, k] (one element, broadcast) * B[k, n : n + NR] (a few vectors)
        C[m : m + MR, n : n + NR] = acc

MR * NR accumulators, the vectors of one row of B and one broadcast must fit the registers: 14 x 2 vectors of 32 with AVX-512, 6 x 2 of 16
with AVX2. The left operand is read where it is if it is memory of the accumulator's dtype; otherwise it is converted into a buffer first.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.cpu import arithmetic
from tilewright.target.cpu.code import Memory
from tilewright.target.cpu.loops import Index, add, div_rem, for_range, i64, mul
from tilewright.target.llvm import types as ty
from tilewright.tile.ir import Op
from tilewright.tile.types import TileType


class _Dot:
  """The dimensions of a contraction, and how a number along M, N or K becomes indices of the operands."""

  def __init__(self, code: Any, op: Op):
    self.code, self.op = code, op
    self.lhs, self.rhs = op.operands
    assert isinstance(self.lhs.type, TileType) and isinstance(self.rhs.type, TileType)
    (self.lc, self.rc), (self.lb, self.rb) = op.attrs["contract"], op.attrs["batch"]
    ls, rs = self.lhs.type.shape, self.rhs.type.shape
    self.lf = [a for a in range(len(ls)) if a not in (*self.lc, *self.lb)]
    self.rf = [a for a in range(len(rs)) if a not in (*self.rc, *self.rb)]
    self.batch = [ls[a] for a in self.lb]
    self.ms, self.ns, self.ks = [ls[a] for a in self.lf], [rs[a] for a in self.rf], [ls[a] for a in self.lc]
    self.m, self.n, self.k = math.prod(self.ms), math.prod(self.ns), math.prod(self.ks)
    self.dtype = np.dtype(op.attrs["dtype"])
    # Small floats are added up in f32.
    self.accumulator = np.dtype(np.float32) if self.dtype.itemsize < 4 and ty.is_float(self.dtype) else self.dtype

  def spread(self, number: Any, sizes: list[int], step: int = 0) -> list[Index]:
    """A number as indices of several dimensions; lanes go along the last."""
    if len(sizes) == 1:
      return [Index(number, step)]
    indices: list[Index] = []
    for position in reversed(range(len(sizes))):
      number, left = div_rem(self.code.b, number, sizes[position]) if position else (0, number)
      indices.append(Index(left, step if position == len(sizes) - 1 else 0))
    return indices[::-1]

  def place(self, batch: list[Index], free: list[Index], contracted: list[Index], side: str) -> list[Index]:
    b_axes, f_axes, c_axes = (self.lb, self.lf, self.lc) if side == "lhs" else (self.rb, self.rf, self.rc)
    index: list[Any] = [None] * (len(b_axes) + len(f_axes) + len(c_axes))
    for axes, part in ((b_axes, batch), (f_axes, free), (c_axes, contracted)):
      for a, i in zip(axes, part):
        index[a] = i
    return index


def dot(code: Any, op: Op, into: Any = None) -> None:
  """Compute a contraction where it is defined: into a buffer, or added to the view `into`."""
  d = _Dot(code, op)
  result = op.results[0]
  lhs = _in_memory(code, d)
  target = into
  if target is None:
    target = code.allocate(result.tile.shape, d.accumulator)
  panel_columns = 2 * code.host.lanes if d.accumulator.itemsize <= 4 else code.host.lanes
  columns = min(panel_columns, d.n)
  packed = code.allocate([d.k, panel_columns], d.accumulator)

  def each_batch(batch: list[Index]) -> None:
    whole = d.n // columns * columns
    with for_range(code.b, 0, whole, columns) as n, code.scope():
      _panel(code, d, lhs, target, packed, batch, n, columns, accumulate=into is not None)
    if whole < d.n:
      with code.scope():
        _panel(code, d, lhs, target, packed, batch, whole, d.n - whole, accumulate=into is not None)

  _batches(code, d.batch, [], each_batch)
  if into is None:
    code.env[result] = target
    if d.accumulator != d.dtype:
      rounded = code.allocate(result.tile.shape, d.dtype)
      code.fill(rounded, result)
      code.env[result] = rounded
    if not result.tile.shape:
      code.env[result] = code.load(code.env[result], [], 1)


def _batches(code: Any, sizes: list[int], index: list[Index], body: Any) -> None:
  if not sizes:
    body(index)
    return
  with for_range(code.b, 0, sizes[0]) as i, code.scope():
    _batches(code, sizes[1:], [*index, Index(i)], body)


_WORTH_COPYING = 64  # columns: each element of the left operand is then used often enough to pay for a copy


def _in_memory(code: Any, d: _Dot) -> Memory:
  """The left operand as memory of the accumulator's dtype.

  The rows of a panel are read side by side. If they lie a large power of two apart, as in a whole array, they fall into the same set of the
  cache and drive each other out. So a copy, with rows padded to avoid that, is made unless the operand is used too little for it.
  """
  v, dtype = d.lhs, d.accumulator
  known = code.env.get(v)
  memory = known if isinstance(known, Memory) else None
  if known is None and isinstance(v.owner, Op) and v.owner.name == "load":
    memory = code.memory_of(v.owner.operands[0])
  if memory is not None and memory.dtype == dtype and d.n < _WORTH_COPYING:
    return memory
  *outer, inner = v.tile.shape
  padded = -(-inner // 16) * 16 + 16
  buffer = code.allocate([*outer, padded], dtype)
  code.nest(
    v.tile.shape,
    lambda index, lanes: code.store(
      buffer, index, arithmetic.convert(code.b, code.value_at(v, index, lanes), v.tile.dtype, dtype)
    ),
    reads=[v],
  )
  return buffer


def _panel(
  code: Any, d: _Dot, lhs: Any, target: Any, packed: Any, batch: Any, n: Any, columns: int, *, accumulate: bool
) -> None:
  _pack(code, d, packed, batch, n, columns)
  lanes = code.host.lanes if d.accumulator.itemsize <= 4 else code.host.lanes // 2
  vectors = -(-columns // lanes)
  rows = max(1, min(d.m, (code.host.num_registers - 2 - vectors) // vectors // 2 * 2))
  whole = d.m // rows * rows
  if whole:
    with for_range(code.b, 0, whole, rows) as m, code.scope():
      _micro_kernel(code, d, lhs, target, packed, batch, m, rows, n, columns, lanes, vectors, accumulate)
  if whole < d.m:
    with code.scope():
      _micro_kernel(code, d, lhs, target, packed, batch, whole, d.m - whole, n, columns, lanes, vectors, accumulate)


def _pack(code: Any, d: _Dot, packed: Any, batch: Any, n: Any, columns: int) -> None:
  """Copy a panel of the right operand, converted, with its columns side by side; missing columns are zero."""
  b, width = code.b, packed.strides[0]
  lanes = code.host.lanes
  first = 0
  if columns % lanes == 0 and len(d.ns) == len(d.ks) == 1 and d.rc[0] == len(d.rhs.tile.shape) - 1:
    first = d.k // lanes * lanes
    _pack_transposed(code, d, packed, batch, n, columns, first)
  if first == d.k:
    return
  with for_range(b, first, d.k) as k, code.scope():
    contracted = d.spread(k, d.ks)
    at = 0
    while at < columns:
      count = min(lanes, columns - at)
      number = add(b, n, at)
      if len(d.ns) == 1 or count == 1:
        value = code.value_at(
          d.rhs, d.place(batch, d.spread(number, d.ns, 1 if count > 1 else 0), contracted, "rhs"), count
        )
      else:
        value = _columns_one_by_one(code, d, batch, number, contracted, count)
      value = arithmetic.convert(b, value, d.rhs.tile.dtype, d.accumulator)
      code.store(packed, [Index(k), Index(at, 1 if count > 1 else 0)], value)
      at += count
    if at < width and at % lanes:
      missing = min(width, -(-at // lanes) * lanes) - at
      zero = ty.constant(ty.register_type(d.accumulator, missing), 0)
      code.store(packed, [Index(k), Index(at, 1 if missing > 1 else 0)], zero)


def _pack_transposed(code: Any, d: _Dot, packed: Any, batch: Any, n: Any, columns: int, depth: int) -> None:
  """A panel whose rows lie side by side in memory: squares of it are read along them and transposed in registers."""
  b, lanes = code.b, code.host.lanes
  with for_range(b, 0, depth, lanes) as k, code.scope():
    for at in range(0, columns, lanes):
      rows = []
      for c in range(lanes):
        index = d.place(batch, [Index(add(b, n, at + c))], [Index(k, 1)], "rhs")
        value = code.value_at(d.rhs, index, lanes)
        rows.append(arithmetic.convert(b, value, d.rhs.tile.dtype, d.accumulator))
      for r, column in enumerate(_transposed(b, rows)):
        code.store(packed, [Index(add(b, k, r)), Index(at, 1)], column)


def _transposed(b: ir.IRBuilder, rows: list[ir.Value]) -> list[ir.Value]:
  """The transpose of a square of vectors, by swapping ever smaller off-diagonal squares."""
  size = len(rows)
  half = size // 2
  while half:
    low = [i + (size if i & half else 0) - (half if i & half else 0) for i in range(size)]
    high = [i + (half if not i & half else 0) + (size if i & half else 0) for i in range(size)]
    masks = [ir.Constant(ir.VectorType(ty.I32, size), picks) for picks in (low, high)]
    swapped = list(rows)
    for i in range(size):
      if not i & half:
        swapped[i], swapped[i + half] = (b.shuffle_vector(rows[i], rows[i + half], mask) for mask in masks)
    rows, half = swapped, half // 2
  return rows


def _columns_one_by_one(code: Any, d: _Dot, batch: Any, number: Any, contracted: Any, count: int) -> ir.Value:
  """Columns that are spread over several dimensions need not lie a fixed step apart."""
  result = ir.Constant(ty.register_type(d.rhs.tile.dtype, count), ir.Undefined)
  for c in range(count):
    index = d.place(batch, d.spread(add(code.b, number, c), d.ns), contracted, "rhs")
    result = code.b.insert_element(result, code.value_at(d.rhs, index, 1), ty.I32(c))
  return result


def _micro_kernel(
  code: Any,
  d: _Dot,
  lhs: Any,
  target: Any,
  packed: Any,
  batch: Any,
  m: Any,
  rows: int,
  n: Any,
  columns: int,
  lanes: int,
  vectors: int,
  accumulate: bool,
) -> None:
  b = code.b
  register = ty.register_type(d.accumulator, lanes)
  counts = [min(lanes, columns - v * lanes) for v in range(vectors)]
  starts = []
  for r in range(rows):
    row = d.spread(add(b, m, r), d.ms)
    for v in range(vectors):
      starts.append(
        _read_target(code, d, target, batch, row, n, v * lanes, counts[v], register)
        if accumulate
        else ty.constant(register, 0)
      )

  before = b.block
  head, body, done = (b.append_basic_block(name) for name in ("k", "k.body", "k.done"))
  b.branch(head)
  b.position_at_end(head)
  k = b.phi(ty.I64)
  k.add_incoming(i64(0), before)
  sums = []
  for start in starts:
    phi = b.phi(register)
    phi.add_incoming(start, before)
    sums.append(phi)
  b.cbranch(b.icmp_signed("<", k, i64(d.k)), body, done)
  b.position_at_end(body)
  with code.scope():
    contracted = d.spread(k, d.ks)
    element = ty.memory_type(d.accumulator)
    line = [
      b.load(
        b.gep(
          packed.pointer, [i64(add(b, mul(b, k, packed.strides[0]), v * lanes))], inbounds=True, source_etype=element
        ),
        typ=register,
        align=d.accumulator.itemsize,
      )
      for v in range(vectors)
    ]
    following = []
    for r in range(rows):
      index = d.place(batch, d.spread(add(b, m, r), d.ms), contracted, "lhs")
      factor = ty.splat(b, code.load(lhs, index, 1), lanes)
      for v in range(vectors):
        following.append(_multiply_add(b, d.accumulator, factor, line[v], sums[r * vectors + v]))
  latch = b.block
  k.add_incoming(b.add(k, i64(1)), latch)
  for phi, value in zip(sums, following):
    phi.add_incoming(value, latch)
  b.branch(head)
  b.position_at_end(done)
  for r in range(rows):
    row = d.spread(add(b, m, r), d.ms)
    for v in range(vectors):
      _write_target(code, d, target, batch, row, n, v * lanes, counts[v], sums[r * vectors + v])


def _multiply_add(b: ir.IRBuilder, dtype: np.dtype, x: ir.Value, y: ir.Value, z: ir.Value) -> ir.Value:
  if ty.is_float(dtype):
    return ty.intrinsic(b, "fma", [x, y, z])
  return b.add(b.mul(x, y), z)


def _target_index(code: Any, d: _Dot, batch: Any, row: Any, n: Any, offset: int, count: int) -> list[Index]:
  return [*batch, *row, *d.spread(add(code.b, n, offset), d.ns, 1 if count > 1 else 0)]


def _read_target(
  code: Any, d: _Dot, target: Any, batch: Any, row: Any, n: Any, offset: int, count: int, register: ir.Type
) -> ir.Value:
  value = code.load(target, _target_index(code, d, batch, row, n, offset, count), count)
  if count == register.count:
    return value
  zero = ty.constant(register, 0)
  if count == 1:
    return code.b.insert_element(zero, value, ty.I32(0))
  picks = [i if i < count else count for i in range(register.count)]
  short_zero = ty.constant(value.type, 0)
  return code.b.shuffle_vector(value, short_zero, ir.Constant(ir.VectorType(ty.I32, register.count), picks))


def _write_target(
  code: Any, d: _Dot, target: Any, batch: Any, row: Any, n: Any, offset: int, count: int, value: ir.Value
) -> None:
  b = code.b
  index = _target_index(code, d, batch, row, n, offset, count)
  if count == 1:
    value = b.extract_element(value, ty.I32(0))
  elif count < value.type.count:
    picks = ir.Constant(ir.VectorType(ty.I32, count), list(range(count)))
    value = b.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), picks)
  if len(d.ns) > 1 and count > 1:
    for c in range(count):
      place = [*batch, *row, *d.spread(add(b, n, offset + c), d.ns)]
      code.store(target, place, b.extract_element(value, ty.I32(c)))
    return
  code.store(target, index, value)
