"""Contractions: a register-blocked micro-kernel over packed panels of both operands.

Panels of MR rows of the left operand are packed first. Then, for each panel of NR columns, the right operand's is packed, so that it
streams through the cache, and used by all panels of rows:

    pack A                               (or read it where it is, if it is used too little for a copy)
    for n in panels of N:                pack B[:, n : n + NR]
      for m in panels of M:
        acc[MR][NR] = 0                  (or what stands in the destination, to accumulate)
        for k: acc += A[m : m + MR, k] (one element, broadcast) * B[k, n : n + NR] (a few vectors)
        C[m : m + MR, n : n + NR] = f(acc)

If B is read row by row, its panel is packed by the first panel of rows on its way: loads and stores then cost little beside the
multiplications, and where there is no second panel nothing is packed at all. `f` is what the kernel computes from the product before it
stores it, if that is elementwise: it is applied while the sums are in the first cache. `hosts` has the sizes of panels, `multipliers` the
instructions.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

from llvmlite import ir

from tilewright.target.cpu import multipliers, packing
from tilewright.target.llvm import arithmetic
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.code import Memory
from tilewright.target.llvm.dots import Dot
from tilewright.target.llvm.loops import Index, add, for_range, i64, mul, shifted
from tilewright.tile.ir import Op, Value

_WORTH_COPYING = 64  # columns: each element of the left operand is then used often enough to pay for a copy
_CLOSE = 256  # elements between neighbouring lines of the left operand that is used where it is
_LINE = 64  # bytes that memory hands over at once
_AHEAD = 32  # steps along K: longer than memory takes to answer


@dataclasses.dataclass(frozen=True)
class Epilogue:
  """What is stored instead of the sums: the value `stored`, computed from the contraction, goes to `memory`."""

  memory: Memory
  stored: Value


class _Dot(Dot):
  """A contraction with the way it is carried out."""

  def __init__(self, code: Any, op: Op):
    super().__init__(code, op)
    self.code, self.op = code, op
    self.lanes = code.host.lanes_of(self.accumulator)
    self.multiplier = (
      multipliers.choose(code.host, self.lhs.tile.dtype, self.rhs.tile.dtype, self.accumulator)
      if len(self.ms) == len(self.ns) == len(self.ks) == 1
      else multipliers.single(self.accumulator)
    )
    self.left = self._side("lhs", self.lhs, self.ms, self.lf, self.lc, self.multiplier.flipped)
    self.right = self._side("rhs", self.rhs, self.ns, self.rf, self.rc, 0)
    # Columns of a transposed operand lie far apart: a wider panel would not be read in longer runs, but from more places at a time.
    vectors = code.host.panel_vectors if self.right.contracted_is_last else code.host.panel_width(self.m)
    self.panel = vectors * self.lanes

  def _side(
    self, name: str, v: Value, free: list[int], free_axes: list[int], contracted_axes: Any, flipped: int
  ) -> packing.Side:
    last = v.tile.rank - 1
    return packing.Side(
      v,
      free,
      self.ks,
      free_is_last=len(free) == 1 and free_axes[0] == last,
      contracted_is_last=len(self.ks) == len(free) == 1 and contracted_axes[0] == last,
      place=lambda batch, f, c: self.place(batch, f, c, name),
      spread=self.spread,
      multiplier=self.multiplier,
      flipped=flipped,
    )

  @property
  def rows(self) -> int:
    """How many rows of sums are in registers at a time."""
    return min(self.m, self.code.host.panel_rows(-(-min(self.panel, self.n) // self.lanes)))


def dot(code: Any, op: Op, into: Memory | None = None, epilogue: Epilogue | None = None) -> None:
  """Compute a contraction where it is defined: into a buffer, added to the view `into`, or through an epilogue."""
  d = _Dot(code, op)
  result = op.results[0]
  target = into
  if epilogue is not None:
    whole = epilogue.stored is result and epilogue.memory.dtype == d.accumulator
    target = epilogue.memory if whole else code.allocate([d.rows, d.panel], d.accumulator)
    epilogue = None if whole else epilogue
  elif target is None:
    target = code.allocate(result.tile.shape, d.accumulator)
  job = _Job(code, d, _left_operand(code, d), target, into is not None, epilogue)
  _batches(code, d.batch, [], job.run)
  if into is not None or code.env.get(result) is not None:
    return
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


# --- the left operand --------------------------------------------------------------------------------------------


class _InPlace:
  """The left operand as it lies in memory."""

  def __init__(self, code: Any, d: _Dot, memory: Memory):
    self.code, self.d, self.memory = code, d, memory

  def prepare(self, batch: list[Index], rows: int) -> None:
    pass

  def unit(self, batch: list[Index], m: Any, r: int, rows: int, k: Any) -> ir.Value:
    d = self.d
    index = d.place(batch, d.spread(add(self.code.b, m, r), d.ms), d.spread(k, d.ks), "lhs")
    return self.code.load(self.memory, index, 1)


class _Packed:
  """The left operand in panels, one after another: each holds, for every unit along K, its rows side by side."""

  def __init__(self, code: Any, d: _Dot):
    self.code, self.d = code, d
    self.memory = code.allocate([d.m * d.left.units + d.lanes], d.multiplier.unit)  # stores may run over the end

  def _panel(self, m: Any, rows: int) -> Memory:
    b, unit = self.code.b, self.memory.dtype
    pointer = b.gep(
      self.memory.pointer,
      [i64(mul(b, m, self.d.left.units))],
      inbounds=True,
      source_etype=ty.memory_type(unit),
    )
    return Memory(pointer, (rows, 1), unit, self.memory.base)

  def prepare(self, batch: list[Index], rows: int) -> None:
    code, d = self.code, self.d
    whole = d.m // rows * rows
    with for_range(code.b, 0, whole, rows) as m, code.scope():
      packing.pack(code, d.left, self._panel(m, rows), batch, m, rows)
    if whole < d.m:
      with code.scope():
        packing.pack(code, d.left, self._panel(whole, d.m - whole), batch, whole, d.m - whole)

  def unit(self, batch: list[Index], m: Any, r: int, rows: int, k: Any) -> ir.Value:
    return self.code.load(self._panel(m, rows), [Index(k), Index(r)], 1)


def _left_operand(code: Any, d: _Dot) -> _InPlace | _Packed:
  """The left operand, packed unless it is used too little for that."""
  known = code.env.get(d.lhs)
  memory = known if isinstance(known, Memory) else None
  if known is None and isinstance(d.lhs.owner, Op) and d.lhs.owner.name == "load":
    memory = code.memory_of(d.lhs.owner.operands[0])
  if memory is None or memory.dtype != d.multiplier.dtype or d.multiplier.group > 1:
    return _Packed(code, d)
  # Lines that lie close together stay in the first cache side by side; far apart, they drive each other out.
  lines = d.lf if d.left.contracted_is_last else d.lc
  close = all(isinstance(memory.strides[a], int) and memory.strides[a] <= _CLOSE for a in lines)
  return _InPlace(code, d, memory) if close or d.n < _WORTH_COPYING else _Packed(code, d)


# --- panels ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Tile:
  """The part of the result that is in registers at a time."""

  batch: list[Index]
  m: Any
  rows: int
  n: Any
  columns: int


class _Job:
  """One contraction being emitted."""

  def __init__(self, code: Any, d: _Dot, left: Any, target: Memory, accumulate: bool, epilogue: Epilogue | None):
    self.code, self.d, self.left, self.target, self.accumulate = code, d, left, target, accumulate
    self.epilogue = epilogue
    self.packed = code.allocate([d.right.units, d.panel], d.multiplier.unit)
    self.starts = code.allocate([d.panel], d.accumulator) if d.multiplier.flipped else None
    # A panel whose elements cost nothing to compute is packed by the micro-kernel. So is one that is used once, whatever its elements
    # cost, if the sums leave registers to compute them in.
    used_once = d.m * code.host.panel_vectors <= code.host.num_registers // 2
    self.packs_on_the_way = (
      d.multiplier.group == 1
      and not d.right.contracted_is_last
      and len(d.ns) == 1
      and (code.cost(d.rhs) <= 2 or used_once)
    )

  def run(self, batch: list[Index]) -> None:
    code, d = self.code, self.d
    columns = min(d.panel, d.n)
    whole = d.n // columns * columns
    self.left.prepare(batch, d.rows)
    with for_range(code.b, 0, whole, columns) as n, code.scope():
      self._panel(batch, n, columns)
    if whole < d.n:
      with code.scope():
        self._panel(batch, whole, d.n - whole)

  def _panel(self, batch: list[Index], n: Any, columns: int) -> None:
    code, d = self.code, self.d
    rows = d.rows
    whole, first = d.m // rows * rows, 0
    if not self.packs_on_the_way:
      packing.pack(code, d.right, self.packed, batch, n, columns)
      self._offset_sums(columns)
    elif whole:
      self._micro_kernel(_Tile(batch, 0, rows, n, columns), read=True, keep=d.m > rows)
      first = rows
    if first < whole:
      with for_range(code.b, first, whole, rows) as m, code.scope():
        self._micro_kernel(_Tile(batch, m, rows, n, columns))
    if whole < d.m:
      with code.scope():
        self._micro_kernel(_Tile(batch, whole, d.m - whole, n, columns), read=self.packs_on_the_way and not whole)

  def _offset_sums(self, columns: int) -> None:
    """What the sums start from if bits of the left operand are flipped: minus what that adds."""
    code, d = self.code, self.d
    if self.starts is None:
      return
    b, register = code.b, ty.register_type(d.accumulator, d.lanes)
    # The flip adds 128 to a signed byte: the unit of four of them, seen as unsigned, is 0x80808080.
    flips = ty.constant(register, int.from_bytes(bytes([d.multiplier.flipped]) * 4, "little"))
    for at in range(0, columns, d.lanes):
      with _sum_loop(b, d.right.units, [ty.constant(register, 0)]) as (k, sums, following), code.scope():
        vector = self._packed_vector(k, at)
        following.append(d.multiplier.multiply_add(b, flips, vector, sums[0]))
      code.store(self.starts, [Index(at, 1)], b.sub(ty.constant(register, 0), sums[0]))

  def _packed_vector(self, k: Any, at: int) -> ir.Value:
    register = ty.register_type(self.d.multiplier.unit, self.d.lanes)
    pointer, _ = self.code.address(self.packed, [Index(k), Index(at, 1)])
    return self.code.b.load(pointer, typ=register, align=self.packed.dtype.itemsize)

  # --- the micro-kernel ------------------------------------------------------------------------------------------

  def _micro_kernel(self, tile: _Tile, *, read: bool = False, keep: bool = False) -> None:
    """Compute one tile. `read` takes the right operand from where it is, and `keep` packs it for the next tiles."""
    code, d, b = self.code, self.d, self.code.b
    vectors = -(-tile.columns // d.lanes)
    starts = [self._start(tile, r, v) for r in range(tile.rows) for v in range(vectors)]
    with _sum_loop(b, d.right.units, starts) as (k, sums, following), code.scope():
      if read:
        self._prefetch(tile, vectors, k)
        line = packing.line(code, d.right, tile.batch, tile.n, tile.columns, k, 1)
        line = [_widened(b, vector, ty.register_type(d.accumulator, d.lanes)) for vector in line]
        for v, vector in enumerate(line if keep else ()):
          code.store(self.packed, [Index(k), Index(v * d.lanes, 1)], vector)
      else:
        line = [self._packed_vector(k, v * d.lanes) for v in range(vectors)]
      for r in range(tile.rows):
        factor = ty.splat(b, self.left.unit(tile.batch, tile.m, r, tile.rows, k), d.lanes)
        for v in range(vectors):
          following.append(d.multiplier.multiply_add(b, factor, line[v], sums[r * vectors + v]))
    for r in range(tile.rows):
      for v in range(vectors):
        self._finish(tile, r, v, sums[r * vectors + v])
    if self.epilogue is not None:
      self._apply(tile, self.epilogue)

  def _prefetch(self, tile: _Tile, vectors: int, k: Any) -> None:
    """Ask for the right operand's row some steps ahead, if there is one: rows lie too far apart for the processor to guess."""
    code, d = self.code, self.d
    memory = _elementwise_source(code, d.rhs)
    if memory is None or d.k <= _AHEAD:
      return
    b, last, later = code.b, i64(d.k - 1), code.b.add(k, i64(_AHEAD))
    ahead = d.spread(b.select(b.icmp_signed("<", later, last), later, last), d.ks)
    for v in range(0, vectors, max(1, _LINE // (d.lanes * memory.dtype.itemsize))):
      place = d.place(tile.batch, d.spread(add(b, tile.n, v * d.lanes), d.ns, 1), ahead, "rhs")
      pointer, _ = code.address(memory, place)
      ty.intrinsic(b, "prefetch", [pointer, ty.I32(0), ty.I32(3), ty.I32(1)], ty.VOID, [ty.PTR])

  def _columns_at(self, tile: _Tile, v: int) -> int:
    return min(self.d.lanes, tile.columns - v * self.d.lanes)

  def _start(self, tile: _Tile, r: int, v: int) -> ir.Value:
    """What a vector of sums starts from."""
    d, code = self.d, self.code
    register = ty.register_type(d.accumulator, d.lanes)
    start = ty.constant(register, 0)
    if self.starts is not None:
      start = code.load(self.starts, [Index(v * d.lanes, 1)], d.lanes)
    if not self.accumulate:
      return start
    count = self._columns_at(tile, v)
    index = self._place(tile, r, v * d.lanes, 1 if count > 1 else 0)
    if len(d.ns) > 1 and count > 1:
      old = ir.Constant(ty.register_type(d.accumulator, count), ir.Undefined)
      for c in range(count):
        one = code.load(self.target, self._place(tile, r, v * d.lanes + c, 0), 1)
        old = code.b.insert_element(old, one, ty.I32(c))
    else:
      old = code.load(self.target, index, count)
    old = _widened(code.b, old, register)
    return code.b.add(start, old) if self.starts is not None else old

  def _place(self, tile: _Tile, r: int, offset: int, step: int) -> list[Index]:
    d, b = self.d, self.code.b
    return [*tile.batch, *d.spread(add(b, tile.m, r), d.ms), *d.spread(add(b, tile.n, offset), d.ns, step)]

  def _finish(self, tile: _Tile, r: int, v: int, sums: ir.Value) -> None:
    """Write a vector of sums to where it belongs, or to the panel that the epilogue reads."""
    d, code, count = self.d, self.code, self._columns_at(tile, v)
    if self.epilogue is not None:
      code.store(self.target, [Index(r), Index(v * d.lanes, 1)], sums)
      return
    value = _narrowed(code.b, sums, count)
    if len(d.ns) > 1 and count > 1:
      for c in range(count):
        one = code.b.extract_element(value, ty.I32(c))
        code.store(self.target, self._place(tile, r, v * d.lanes + c, 0), one)
      return
    code.store(self.target, self._place(tile, r, v * d.lanes, 1 if count > 1 else 0), value)

  def _apply(self, tile: _Tile, epilogue: Epilogue) -> None:
    """Compute what is stored from a panel of sums, while they are in the first cache."""
    code, d, result = self.code, self.d, self.d.op.results[0]
    outer = code.env[result]
    code.env[result] = dataclasses.replace(self.target, origin=(tile.m, tile.n))

    def each(index: list[Index], lanes: int) -> None:
      row, column = shifted(code.b, index[0], tile.m), shifted(code.b, index[1], tile.n)
      place = [row, dataclasses.replace(column, align=index[1].align if tile.columns == d.panel else 1)]
      code.store(epilogue.memory, place, code.value_at(epilogue.stored, place, lanes))

    code.nest([tile.rows, tile.columns], each)
    code.env[result] = outer


@contextlib.contextmanager
def _sum_loop(
  b: ir.IRBuilder, count: int, starts: list[ir.Value]
) -> Iterator[tuple[ir.Value, list[ir.Value], list[ir.Value]]]:
  """A loop that carries sums in registers: gives the index, the sums, and a list for what they become."""
  before = b.block
  head, body, done = (b.append_basic_block(name) for name in ("k", "k.body", "k.done"))
  b.branch(head)
  b.position_at_end(head)
  k = b.phi(ty.I64)
  k.add_incoming(i64(0), before)
  sums = []
  for start in starts:
    phi = b.phi(start.type)
    phi.add_incoming(start, before)
    sums.append(phi)
  b.cbranch(b.icmp_signed("<", k, i64(count)), body, done)
  b.position_at_end(body)
  following: list[ir.Value] = []
  yield k, sums, following
  latch = b.block
  k.add_incoming(b.add(k, i64(1)), latch)
  for phi, value in zip(sums, following, strict=True):
    phi.add_incoming(value, latch)
  b.branch(head)
  b.position_at_end(done)


def _elementwise_source(code: Any, v: Value) -> Memory | None:
  """The memory from which a tile is computed element by element, if there is one of its shape."""
  op = v.owner
  if v in code.env or not isinstance(op, Op):
    return None
  if op.name == "load":
    return code.memory_of(op.operands[0])
  if op.name not in arithmetic.ELEMENTWISE:
    return None
  return next((m for o in op.operands if (m := _elementwise_source(code, o)) is not None), None)


def _widened(b: ir.IRBuilder, value: ir.Value, register: ir.Type) -> ir.Value:
  """A whole vector that begins with the given lanes; the others are zero."""
  count = ty.lanes_of(value)
  if count == register.count:
    return value
  if count == 1:
    return b.insert_element(ty.constant(register, 0), value, ty.I32(0))
  picks = [min(i, count) for i in range(register.count)]
  return b.shuffle_vector(value, ty.constant(value.type, 0), ir.Constant(ir.VectorType(ty.I32, register.count), picks))


def _narrowed(b: ir.IRBuilder, value: ir.Value, count: int) -> ir.Value:
  """The first lanes of a vector."""
  if count == value.type.count:
    return value
  if count == 1:
    return b.extract_element(value, ty.I32(0))
  picks = ir.Constant(ir.VectorType(ty.I32, count), list(range(count)))
  return b.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), picks)
