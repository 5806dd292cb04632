"""A contraction being emitted: parts of K, blocks of strips, panels, and the micro-kernel that multiplies one strip by one panel.

`Job` is for accumulators that are vectors along a row of the result; see `contraction` for the loops. Its subclasses there have other
micro-kernels.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any, TypeAlias

from llvmlite import ir

from tilewright.target.cpu import amx, panel_packing, skinny_dot
from tilewright.target.cpu.left_operand import InPlace, Packed, Part
from tilewright.target.llvm import arithmetic
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index, add, for_range, i64, if_then, mul, shifted, sub
from tilewright.target.llvm.memory import Memory
from tilewright.tile.ir import Op, Value

_LINE = 64  # bytes of a cache line
_AHEAD = 32  # prefetch distance in steps along K: longer than the latency of memory


@dataclasses.dataclass(frozen=True)
class Epilogue:
  """What is stored instead of the accumulators: the value `stored`, computed from them, goes to `memory`, where the `mask` holds."""

  memory: Memory
  stored: Value
  mask: Value | None = None


@dataclasses.dataclass(frozen=True)
class _PanelPrefetch:
  """What is prefetched of the next panel: at step k along K, row `start + k * pace / 2**16`, from column `n` on."""

  memory: Memory
  n: Any
  start: Any
  pace: Any


@dataclasses.dataclass(frozen=True)
class Tile:
  """The part of the result whose accumulators are in registers at a time."""

  part: Part
  m: Any
  rows: int
  n: Any
  columns: int
  ahead: _PanelPrefetch | None = None


Left: TypeAlias = InPlace | Packed | amx.TiledRows | skinny_dot.Rows


class Job:
  """One contraction being emitted. `accumulators` holds partial sums over parts of K, unless each is complete when it leaves registers."""

  def __init__(
    self,
    code: Any,
    d: Any,
    left: Left,
    accumulators: Memory | None,
    accumulate: bool,
    epilogue: Epilogue | None,
  ):
    self.code, self.d, self.left, self.accumulators, self.accumulate = code, d, left, accumulators, accumulate
    self.epilogue = epilogue
    self.finished = code.allocate([d.cut.strips.height, d.panel], d.accumulator) if epilogue is not None else None
    # Panels are kept if further blocks of strips will use them.
    self.panels = -(-d.n // d.panel) if left.blocks > 1 else 1
    self.packed = code.allocate(
      [self.panels, self._units(d.right.part(0, d.cut.depths[0])), d.panel], d.multiplier.unit
    )
    self.starts = code.allocate([self.panels, d.panel], d.accumulator) if d.multiplier.flipped else None
    # A panel whose elements cost nothing to compute is packed by the micro-kernel. So is one that is used once, whatever its elements
    # cost, if the accumulators leave registers to compute them in.
    used_once = d.m * code.host.panel_vectors <= code.host.num_registers // 2
    self.packs_on_the_way = (
      d.multiplier.group == 1
      and not d.right.contracted_is_last
      and len(d.ns) == 1
      and (code.cost(d.rhs) <= 2 or used_once)
    )

  def _units(self, side: panel_packing.Side) -> int:
    """How many units along K a packed panel has room for."""
    return side.units

  def run(self, batch: list[Index]) -> None:
    code, d = self.code, self.d
    *equal, last = d.cut.depths
    if self.epilogue is None and equal and last == equal[0]:  # one piece of code for all parts
      with for_range(code.b, 0, len(d.cut.depths)) as l, code.scope():
        is_first = code.b.icmp_signed("==", l, i64(0))
        self._part(batch, mul(code.b, l, last), last, is_first=is_first, is_last=True)
      return
    if len(equal) == 1:
      with code.scope():
        self._part(batch, 0, equal[0], is_first=True)
    elif equal:
      with for_range(code.b, 0, len(equal)) as l, code.scope():
        self._part(batch, mul(code.b, l, equal[0]), equal[0], is_first=code.b.icmp_signed("==", l, i64(0)))
    with code.scope():
      self._part(batch, sum(equal), last, is_first=not equal, is_last=True)

  def _part(self, batch: list[Index], start: Any, depth: int, is_first: Any, is_last: bool = False) -> None:
    """All strips and panels along a part of K."""
    code, d, b = self.code, self.d, self.code.b
    part = Part(batch, d.left.part(start, depth), d.right.part(start, depth), is_first, is_last)
    count, step = d.cut.strips.count, d.cut.at_a_time
    if self.left.blocks == 1:
      self._block(part, 0, count, meets_first=True)
      return
    with for_range(b, 0, count, step) as first, code.scope():
      stop = b.add(first, i64(step))
      stop = b.select(b.icmp_signed("<", stop, i64(count)), stop, i64(count))
      self._block(part, first, stop, meets_first=b.icmp_signed("==", first, i64(0)))

  def _block(self, part: Part, start: Any, stop: Any, meets_first: Any) -> None:
    """All panels for a range of strips."""
    code, d = self.code, self.d
    self.left.prepare(part, start, stop)
    columns = min(d.panel, d.n)
    whole = d.n // columns * columns
    with for_range(code.b, 0, whole, columns) as n, code.scope():
      self._panel(part, n, columns, start, stop, meets_first)
    if whole < d.n:
      with code.scope():
        self._panel(part, whole, d.n - whole, start, stop, meets_first)

  def _panel(self, part: Part, n: Any, columns: int, start: Any, stop: Any, meets_first: Any) -> None:
    code, d, b = self.code, self.d, self.code.b
    with where(b, meets_first), code.scope():
      if self.packs_on_the_way:
        self._micro_kernel(Tile(part, 0, d.cut.strips.height, n, columns), read=True, keep=d.cut.strips.count > 1)
      else:
        self._pack(part, n, columns)
    if self.packs_on_the_way:
      start = 1 if meets_first is True else b.select(meets_first, i64(1), start)

    def multiply(m: Any, rows: int) -> None:
      with code.scope():
        self._micro_kernel(Tile(part, m, rows, n, columns, self._ahead(part, m, rows, n, meets_first)))

    d.cut.strips.each(b, start, stop, multiply)

  def _pack(self, part: Part, n: Any, columns: int) -> None:
    panel_packing.pack(self.code, part.right, self._packed_panel(n), part.batch, n, columns)
    self._offset_sums(part, n, columns)

  def _ahead(self, part: Part, m: Any, rows: int, n: Any, meets_first: Any) -> _PanelPrefetch | None:
    """The strips that use panels first divide the rows of the next panel among them, and prefetch it while they are multiplied.

    Later strips prefetch its first row again and again, which costs nothing.
    """
    code, d, b, right = self.code, self.d, self.code.b, part.right
    memory = _elementwise_source(code, d.rhs)
    if memory is None or right.contracted_is_last or len(d.ns) > 1:
      return None
    if d.k * d.n * memory.dtype.itemsize <= code.host.l2_bytes // 2:
      return None
    first = d.cut.strips.height if self.packs_on_the_way else 0  # rows of the strip that reads a panel itself
    others = min(d.m, d.cut.at_a_time * d.cut.strips.height) - first
    start = b.udiv(b.mul(i64(sub(b, m, first)), i64(right.depth)), i64(others))
    pace = i64((rows * right.depth << 16) // (others * right.units))
    if meets_first is not True:
      start, pace = (b.select(meets_first, value, i64(0)) for value in (start, pace))
    following = b.add(i64(n), i64(d.panel))
    return _PanelPrefetch(memory, b.select(b.icmp_signed("<", following, i64(d.n)), following, i64(n)), start, pace)

  def _packed_panel(self, n: Any) -> Memory:
    """Where a panel of the right operand is packed."""
    if self.panels == 1:
      return dataclasses.replace(self.packed, strides=self.packed.strides[1:])
    b, unit = self.code.b, ty.memory_type(self.packed.dtype)
    offset = i64(mul(b, n, self.packed.strides[0] // self.d.panel))
    pointer = b.gep(self.packed.pointer, [offset], inbounds=True, source_etype=unit)
    return Memory(pointer, self.packed.strides[1:], self.packed.dtype, self.packed.base)

  def _offset_sums(self, part: Part, n: Any, columns: int) -> None:
    """The initial accumulators if bits of the left operand are flipped: minus what the flip adds."""
    code, d = self.code, self.d
    if self.starts is None:
      return
    b, register = code.b, ty.register_type(d.accumulator, d.lanes)
    # The flip adds 128 to a signed byte: the unit of four of them, seen as unsigned, is 0x80808080.
    flips = ty.constant(register, int.from_bytes(bytes([d.multiplier.flipped]) * 4, "little"))
    for at in range(0, columns, d.lanes):
      with accumulation(b, part.right.units, [ty.constant(register, 0)]) as (k, accumulators, following), code.scope():
        vector = self._packed_vector(n, k, at)
        following.append(d.multiplier.multiply_add(b, flips, vector, accumulators[0]))
      code.store(self.starts, self._start_index(n, at), b.sub(ty.constant(register, 0), accumulators[0]))

  def _start_index(self, n: Any, at: int) -> list[Index]:
    if self.panels == 1:
      return [Index(0), Index(at, 1)]
    return [Index(0), Index(add(self.code.b, n, at), 1)]

  def _packed_vector(self, n: Any, k: Any, at: int) -> ir.Value:
    register = ty.register_type(self.d.multiplier.unit, self.d.lanes)
    pointer, _ = self.code.address(self._packed_panel(n), [Index(k), Index(at, 1)])
    return self.code.b.load(pointer, typ=register, align=self.packed.dtype.itemsize)

  def _micro_kernel(self, tile: Tile, read: bool = False, keep: bool = False) -> None:
    """Multiply a strip by a panel. With `read`, the panel is read from the operand; with `keep`, it is packed for the next strips."""
    code, d, b, part = self.code, self.d, self.code.b, tile.part
    assert isinstance(self.left, InPlace | Packed)
    vectors = -(-tile.columns // d.lanes)
    if not self._starts_afresh(part):
      with where(b, self._has_earlier(part)):
        self._prefetch_sums(tile, vectors)
    starts = [self._start(tile, v) for r in range(tile.rows) for v in range(vectors)]
    with accumulation(b, part.right.units, starts) as (k, accumulators, following), code.scope():
      if read:
        self._prefetch_below(tile, k)
        line = panel_packing.line(code, part.right, part.batch, tile.n, tile.columns, k, 1)
        line = [panel_packing.widened(b, vector, ty.register_type(d.accumulator, d.lanes)) for vector in line]
        for v, vector in enumerate(line if keep else ()):
          code.store(self._packed_panel(tile.n), [Index(k), Index(v * d.lanes, 1)], vector)
      else:
        line = [self._packed_vector(tile.n, k, v * d.lanes) for v in range(vectors)]
        if tile.ahead is not None:
          self._prefetch_ahead(tile, tile.ahead, k)
      for r in range(tile.rows):
        factor = ty.splat(b, self.left.unit(part, tile.m, r, tile.rows, k), d.lanes)
        for v in range(vectors):
          following.append(d.multiplier.multiply_add(b, factor, line[v], accumulators[r * vectors + v]))
    for with_earlier, when in self._store_variants(part):
      with where(b, when), code.scope():
        for r in range(tile.rows):
          for v in range(vectors):
            self._finish(tile, r, v, accumulators[r * vectors + v], with_earlier)
    if self.epilogue is not None and part.is_last:
      self._apply(tile, self.epilogue)

  def _prefetch_below(self, tile: Tile, k: Any) -> None:
    """Prefetch the right operand's row some steps ahead, if there is one: rows lie too far apart for the hardware prefetcher."""
    b, right = self.code.b, tile.part.right
    memory = _elementwise_source(self.code, self.d.rhs)
    if memory is None or right.depth <= _AHEAD:
      return
    last, later = i64(right.depth - 1), b.add(k, i64(_AHEAD))
    self._prefetch_row(tile, memory, tile.n, b.select(b.icmp_signed("<", later, last), later, last))

  def _prefetch_ahead(self, tile: Tile, ahead: _PanelPrefetch, k: Any) -> None:
    """Prefetch a row of the next panel, and the place where it will be packed."""
    b = self.code.b
    row = b.add(ahead.start, b.lshr(b.mul(k, ahead.pace), i64(16)))
    self._prefetch_row(tile, ahead.memory, ahead.n, row)
    if self.panels > 1 and self.packs_on_the_way:
      panel = self._packed_panel(ahead.n)
      for at in range(0, tile.columns, max(1, _LINE // panel.dtype.itemsize)):
        self._prefetch(panel, [Index(row), Index(at, 1)])

  def _prefetch_row(self, tile: Tile, memory: Memory, n: Any, number: Any) -> None:
    """Prefetch as much of a row of the right operand as a tile has."""
    d, b = self.d, self.code.b
    columns = list(range(0, tile.columns, max(1, _LINE // memory.dtype.itemsize)))
    if tile.columns > 1 and not _in_whole_lines(memory):
      columns.append(tile.columns - 1)  # rows that begin inside of a line reach into one more
    for column in columns:
      free = d.spread(add(b, n, column), d.ns, 1)
      self._prefetch(memory, d.place(tile.part.batch, free, tile.part.right.contracted_at(b, number), "rhs"))

  def _prefetch_sums(self, tile: Tile, vectors: int) -> None:
    """Prefetch the earlier partial sums, so that they are in cache when the new ones are complete."""
    if len(self.d.ns) > 1:
      return
    assert self.accumulators is not None
    for r in range(tile.rows):
      for v in range(0, vectors, max(1, _LINE // (self.d.lanes * self.accumulators.dtype.itemsize))):
        self._prefetch(self.accumulators, self._place(tile, r, v * self.d.lanes, 1))

  def _prefetch(self, memory: Memory, place: list[Index]) -> None:
    pointer, _ = self.code.address(memory, place)
    ty.intrinsic(self.code.b, "prefetch", [pointer, ty.I32(0), ty.I32(3), ty.I32(1)], ty.VOID, [ty.PTR])

  def _columns_at(self, tile: Tile, v: int) -> int:
    return min(self.d.lanes, tile.columns - v * self.d.lanes)

  def _start(self, tile: Tile, v: int) -> ir.Value:
    """The initial value of a vector of accumulators."""
    if self.starts is not None:
      return self.code.load(self.starts, self._start_index(tile.n, v * self.d.lanes), self.d.lanes)
    return ty.constant(ty.register_type(self.d.accumulator, self.d.lanes), 0)

  def _starts_afresh(self, part: Part) -> bool:
    """Whether there are statically no earlier partial sums to add to."""
    return part.is_first is True and not self.accumulate

  def _has_earlier(self, part: Part) -> Any:
    """Whether there are earlier partial sums to add to: True, or an i1."""
    if self.accumulate or part.is_first is False:
      return True
    return self.code.b.not_(part.is_first)

  def _store_variants(self, part: Part) -> list[tuple[bool, Any]]:
    """Pairs of (whether to add to earlier partial sums, under which condition): one, or two of which one is taken."""
    if self._starts_afresh(part):
      return [(False, True)]
    has_earlier = self._has_earlier(part)
    return [(True, True)] if has_earlier is True else [(False, part.is_first), (True, has_earlier)]

  def _place(self, tile: Tile, r: Any, offset: int, step: int) -> list[Index]:
    d, b = self.d, self.code.b
    return [*tile.part.batch, *d.spread(add(b, tile.m, r), d.ms), *d.spread(add(b, tile.n, offset), d.ns, step)]

  def _finish(self, tile: Tile, r: Any, v: int, accumulators: ir.Value, with_earlier: bool) -> None:
    """Store a vector of accumulators, added to earlier ones or not, to the result, or to the panel that the epilogue reads."""
    d, code, count = self.d, self.code, self._columns_at(tile, v)
    if with_earlier:
      accumulators = self._with_earlier(tile, r, v, accumulators)
    if self.finished is not None and tile.part.is_last:
      code.store(self.finished, [Index(r), Index(v * d.lanes, 1)], accumulators)
      return
    if count < d.lanes and len(d.ns) == 1 and self.accumulators is not None and self.accumulators.strides[-1] == 1:
      # Not the first lanes of the accumulators: LLVM would compute those apart, from operands that it keeps over the loop instead.
      first = ir.Constant(ir.VectorType(ty.I1, d.lanes), [int(lane < count) for lane in range(d.lanes)])
      code.store_masked(self.accumulators, self._place(tile, r, v * d.lanes, 1), first, accumulators)
      return
    value = _narrowed(code.b, accumulators, count)
    if len(d.ns) > 1 and count > 1:
      for c in range(count):
        one = code.b.extract_element(value, ty.I32(c))
        code.store(self.accumulators, self._place(tile, r, v * d.lanes + c, 0), one)
      return
    code.store(self.accumulators, self._place(tile, r, v * d.lanes, 1 if count > 1 else 0), value)

  def _with_earlier(self, tile: Tile, r: Any, v: int, accumulators: ir.Value) -> ir.Value:
    d, code, count = self.d, self.code, self._columns_at(tile, v)
    if len(d.ns) > 1 and count > 1:
      old = ir.Constant(ty.register_type(d.accumulator, count), ir.Undefined)
      for c in range(count):
        one = code.load(self.accumulators, self._place(tile, r, v * d.lanes + c, 0), 1)
        old = code.b.insert_element(old, one, ty.I32(c))
    else:
      old = code.load(self.accumulators, self._place(tile, r, v * d.lanes, 1 if count > 1 else 0), count)
    old = panel_packing.widened(code.b, old, accumulators.type)
    return code.b.fadd(old, accumulators) if ty.is_float(d.accumulator) else code.b.add(old, accumulators)

  def _apply(self, tile: Tile, epilogue: Epilogue) -> None:
    """Compute what is stored from a panel of accumulators, while they are in L1."""
    code, d, result = self.code, self.d, self.d.op.results[0]
    outer = code.env[result]
    assert self.finished is not None
    code.env[result] = dataclasses.replace(self.finished, origin=(tile.m, tile.n))

    def each(index: list[Index], lanes: int) -> None:
      row, column = shifted(code.b, index[0], tile.m), shifted(code.b, index[1], tile.n)
      place = [row, dataclasses.replace(column, align=index[1].align if tile.columns == d.panel else 1)]
      value = code.value_at(epilogue.stored, place, lanes)
      if epilogue.mask is None:
        code.store(epilogue.memory, place, value)
      else:
        code.store_masked(epilogue.memory, place, code.value_at(epilogue.mask, place, lanes), value)

    code.nest([tile.rows, tile.columns], each)
    code.env[result] = outer


@contextlib.contextmanager
def where(b: ir.IRBuilder, condition: Any) -> Iterator[None]:
  """The with-body is emitted under a condition, which may be known statically."""
  if condition is True:
    yield
    return
  with if_then(b, condition):
    yield


@contextlib.contextmanager
def accumulation(
  b: ir.IRBuilder, count: int, starts: list[ir.Value]
) -> Iterator[tuple[ir.Value, list[ir.Value], list[ir.Value]]]:
  """A loop that carries accumulators in registers: yields the index, the accumulators, and a list to put their new values in."""
  before = b.block
  head, body, done = (b.append_basic_block(name) for name in ("k", "k.body", "k.done"))
  b.branch(head)
  b.position_at_end(head)
  k = b.phi(ty.I64)
  k.add_incoming(i64(0), before)
  accumulators = []
  for start in starts:
    phi = b.phi(start.type)
    phi.add_incoming(start, before)
    accumulators.append(phi)
  b.cbranch(b.icmp_signed("<", k, i64(count)), body, done)
  b.position_at_end(body)
  following: list[ir.Value] = []
  yield k, accumulators, following
  latch = b.block
  k.add_incoming(b.add(k, i64(1)), latch)
  for phi, value in zip(accumulators, following, strict=True):
    phi.add_incoming(value, latch)
  b.branch(head)
  b.position_at_end(done)


def _in_whole_lines(memory: Memory) -> bool:
  """Whether the rows of an array span as few cache lines as possible."""
  return all(isinstance(s, int) and s * memory.dtype.itemsize % _LINE == 0 for s in memory.strides[:-1])


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


def _narrowed(b: ir.IRBuilder, value: ir.Value, count: int) -> ir.Value:
  """The first lanes of a vector."""
  if count == value.type.count:
    return value
  if count == 1:
    return b.extract_element(value, ty.I32(0))
  picks = ir.Constant(ir.VectorType(ty.I32, count), list(range(count)))
  return b.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), picks)
