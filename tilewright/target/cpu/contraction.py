"""Contractions: a register-blocked micro-kernel over packed panels of both operands.

Several strips of MR rows of the left operand are packed at a time. Each panel of NR columns of the right operand is then multiplied with
all of them; a panel is packed at its first use:

    for l in parts of K:
      for rows in blocks of strips:      pack A[rows, l]      (or read it in place, if it is reused too little to be worth a copy)
        for n in panels of N:            pack B[l, n : n + NR], by the first block of strips
          for m in strips of rows:
            acc[MR][NR] = 0
            for k in l: acc += A[m : m + MR, k] (one element, broadcast) * B[k, n : n + NR] (a few vectors)
            C[m : m + MR, n : n + NR] = f(acc + partial sums of earlier parts)

If B is read row by row, the micro-kernel of the first strip packs its panel as it goes: loads and stores then cost little beside the
multiplications, and with only one strip nothing is packed at all. `f` is the fused epilogue: the elementwise ops between the product and
its store. It is applied while the accumulators are in L1. `cache_blocking` chooses the sizes of strips, blocks and parts, `hosts` those of
panels, `multiply_instructions` the instructions.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from tilewright.target.cpu import amx, cache_blocking, matrix_units, multiply_instructions, panel_packing, skinny_dot
from tilewright.target.cpu.contraction_job import Epilogue, Job, Tile, accumulation, where
from tilewright.target.cpu.left_operand import Packed, Part, left_operand
from tilewright.target.llvm import combining
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.dots import Dot
from tilewright.target.llvm.loops import Index, add, for_range, mul
from tilewright.target.llvm.memory import Memory
from tilewright.tile.ir import Op, Value


class _Dot(Dot):
  """A contraction and the strategy chosen for it."""

  def __init__(self, code: Any, op: Op):
    super().__init__(code, op)
    self.code, self.op = code, op
    self.lanes = code.host.lanes_of(self.accumulator)
    self.has_few_columns = False
    self.multiplier = multiply_instructions.single(self.accumulator)
    if len(self.ms) == len(self.ns) == len(self.ks) == 1:
      is_along_rows = self.lc[0] == self.lhs.tile.rank - 1
      self.has_few_columns = skinny_dot.applies(self.lanes, self.n, self.k, is_along_rows)
      dtypes = (self.lhs.tile.dtype, self.rhs.tile.dtype, self.accumulator)
      self.multiplier = multiply_instructions.choose(code.host, *dtypes, rows=1 if self.has_few_columns else self.m)
      self.has_few_columns &= not self.multiplier.flipped
    self.left = self._side("lhs", self.lhs, self.ms, self.lf, self.lc, self.multiplier.flipped)
    self.right = self._side("rhs", self.rhs, self.ns, self.rf, self.rc, 0)
    # Columns of a transposed operand lie far apart: a wider panel would not be read in longer runs, but from more addresses at a time.
    vectors = code.host.panel_vectors if self.right.contracted_is_last else code.host.panel_width(self.m)
    self.panel = vectors * self.lanes
    most_rows, units = code.host.panel_rows(-(-min(self.panel, self.n) // self.lanes)), 1
    if self.multiplier.tile is not None:
      self.panel, most_rows, units = amx.ROWS, amx.ROWS, amx.SIDE
    elif self.has_few_columns:
      self.panel = units = self.lanes
      most_rows = skinny_dot.rows_at_a_time(code.host.num_registers, self.n)
    self.cut = cache_blocking.cut(
      code.host,
      rows=self.m,
      most_rows=most_rows,
      depth=self.k,
      group=units * self.multiplier.group,  # what is multiplied at a time along K
      panel_bytes=units * self.panel * self.multiplier.unit.itemsize,
      unit_bytes=units * self.multiplier.unit.itemsize,
    )

  def _side(
    self, name: str, v: Value, free: list[int], free_axes: list[int], contracted_axes: Any, flipped: int
  ) -> panel_packing.Side:
    last = v.tile.rank - 1
    return panel_packing.Side(
      v,
      free,
      self.ks,
      free_is_last=len(free) == 1 and free_axes[0] == last,
      contracted_is_last=len(self.ks) == len(free) == 1 and contracted_axes[0] == last,
      place=lambda batch, f, c: self.place(batch, f, c, name),
      spread=self.spread,
      multiplier=self.multiplier,
      depth=self.k,
      flipped=flipped,
    )


def dot(code: Any, op: Op, into: Memory | None = None, epilogue: Epilogue | None = None) -> None:
  """Compute a contraction at its definition: into a buffer, accumulated into the view `into`, or through an epilogue."""
  with code.marked(op):
    _dot(code, op, into, epilogue)


def _dot(code: Any, op: Op, into: Memory | None, epilogue: Epilogue | None) -> None:
  d = _Dot(code, op)
  result = op.results[0]
  accumulators = into
  if epilogue is not None and epilogue.memory.dtype == d.accumulator and not _needs_old(code, epilogue):
    accumulators = epilogue.memory
    epilogue = None if epilogue.stored is result else epilogue
  elif accumulators is None and (epilogue is None or len(d.cut.depths) > 1):
    accumulators = code.allocate(result.tile.shape, d.accumulator)
  how = (accumulators, into is not None, epilogue)
  if d.multiplier.tile is not None:
    amx.configure(code.b)
    _batches(code, d.batch, [], _TileJob(code, d, amx.TiledRows(code, d), *how).run)
    amx.release(code.b)
  elif d.multiplier.is_matrix:
    _batches(code, d.batch, [], _MatrixJob(code, d, left_operand(code, d), *how).run)
  elif d.has_few_columns:
    _batches(code, d.batch, [], _FewColumns(code, d, skinny_dot.Rows(), *how).run)
  else:
    _batches(code, d.batch, [], Job(code, d, left_operand(code, d), *how).run)
  if into is not None or code.env.get(result) is not None:
    return
  code.env[result] = accumulators
  if d.accumulator != d.dtype:
    rounded = code.allocate(result.tile.shape, d.dtype)
    code.fill(rounded, result)
    code.env[result] = rounded
  if not result.tile.shape:
    code.env[result] = code.load(code.env[result], [], 1)


def _needs_old(code: Any, epilogue: Epilogue) -> bool:
  """Whether the store reads its destination or leaves part of it unwritten: the destination then cannot hold partial sums meanwhile."""
  return epilogue.mask is not None or epilogue.memory.base in code.bases_read(epilogue.stored)


def _batches(code: Any, sizes: list[int], index: list[Index], body: Any) -> None:
  if not sizes:
    body(index)
    return
  with for_range(code.b, 0, sizes[0]) as i, code.scope():
    _batches(code, sizes[1:], [*index, Index(i)], body)


# --- other micro-kernels ------------------------------------------------------------------------------------------


class _TileJob(Job):
  """A contraction whose accumulators are in AMX's tile registers. They pass through memory on their way out."""

  def __init__(self, code: Any, d: _Dot, *arguments: Any):
    super().__init__(code, d, *arguments)
    self.tile = code.allocate([amx.ROWS, amx.ROWS], d.accumulator)

  def _units(self, side: panel_packing.Side) -> int:
    return amx.padded(side.units)

  def _pack(self, part: Part, n: Any, columns: int) -> None:
    super()._pack(part, n, columns)
    amx.zero_beyond(self.code, self._packed_panel(n), part.right, self.d.panel)

  def _micro_kernel(self, tile: Tile, read: bool = False, keep: bool = False) -> None:
    code, d, b, part = self.code, self.d, self.code.b, tile.part
    assert d.multiplier.tile is not None and isinstance(self.left, amx.TiledRows)
    units = amx.padded(part.right.units)
    left, right = self.left.strip(tile.m, tile.rows), self._packed_panel(tile.n)
    amx.multiply(b, d.multiplier.tile, left, right, units, tile.rows, tile.columns, self.tile)
    for with_earlier, when in self._store_variants(part):
      with where(b, when), for_range(b, 0, tile.rows) as r, code.scope():
        for v in range(-(-tile.columns // d.lanes)):
          self._finish(tile, r, v, code.load(self.tile, [Index(r), Index(v * d.lanes, 1)], d.lanes), with_earlier)
    if self.epilogue is not None and part.is_last:
      self._apply(tile, self.epilogue)


class _MatrixJob(Job):
  """A contraction whose accumulators are two rows by two columns in each 128 bits: see `matrix_units`."""

  def _micro_kernel(self, tile: Tile, read: bool = False, keep: bool = False) -> None:
    code, d, b, part = self.code, self.d, self.code.b, tile.part
    assert isinstance(self.left, Packed)
    vectors, pairs = -(-tile.columns // d.lanes), -(-tile.rows // 2)
    zero = ty.constant(ty.register_type(d.accumulator, d.lanes), 0)
    with (
      accumulation(b, part.right.units, [zero] * (pairs * vectors * 2)) as (k, accumulators, following),
      code.scope(),
    ):
      columns = [self._columns(tile.n, k, half) for half in range(2 * vectors)]
      for p in range(pairs):
        two = matrix_units.rows_of(b, self.left.two_rows(part, tile.m, 2 * p, tile.rows, k), d.lanes)
        for h, column in enumerate(columns):
          following.append(d.multiplier.multiply_add(b, two, column, accumulators[p * 2 * vectors + h]))
    found = [matrix_units.apart(b, *accumulators[at : at + 2]) for at in range(0, len(accumulators), 2)]
    for with_earlier, when in self._store_variants(part):
      with where(b, when), code.scope():
        for r in range(tile.rows):
          for v in range(vectors):
            self._finish(tile, r, v, found[r // 2 * vectors + v][r % 2], with_earlier)
    if self.epilogue is not None and part.is_last:
      self._apply(tile, self.epilogue)

  def _columns(self, n: Any, k: Any, half: int) -> ir.Value:
    """The units of half a vector's columns."""
    count = self.d.lanes // 2
    return self.code.load(self._packed_panel(n), [Index(k), Index(half * count, 1)], count)


class _FewColumns(Job):
  """A contraction whose accumulators are vectors along K: see `skinny_dot`."""

  def __init__(self, code: Any, d: _Dot, *arguments: Any):
    super().__init__(code, d, *arguments)
    self.packs_on_the_way = False
    units = -(-d.right.part(0, d.cut.depths[0]).units // d.lanes) * d.lanes
    self.columns = code.allocate([d.n, units], d.multiplier.unit)

  def _units(self, side: panel_packing.Side) -> int:
    return 0  # there are no panels

  def _pack(self, part: Part, n: Any, columns: int) -> None:
    skinny_dot.pack(self.code, part.right, self.columns, part.batch, columns)

  def _micro_kernel(self, tile: Tile, read: bool = False, keep: bool = False) -> None:
    code, d, b, part = self.code, self.d, self.code.b, tile.part
    at_a_time = d.lanes * d.multiplier.group
    whole, left = divmod(part.left.depth, at_a_time)
    zero = ty.constant(ty.register_type(d.accumulator, d.lanes), 0)

    def step(k: Any, depth: int, accumulators: list[ir.Value]) -> list[ir.Value]:
      at = mul(b, k, at_a_time)
      rows = [
        skinny_dot.along(code, part.left, part.batch, add(b, tile.m, r), at, depth, d.lanes) for r in range(tile.rows)
      ]
      found = []
      for c in range(d.n):
        column = code.load(self.columns, [Index(c), Index(mul(b, k, d.lanes), 1)], d.lanes)
        found += [
          d.multiplier.multiply_add(b, row, column, accumulators[c * tile.rows + r]) for r, row in enumerate(rows)
        ]
      return found

    with accumulation(b, whole, [zero] * (tile.rows * d.n)) as (k, accumulators, following), code.scope():
      following += step(k, at_a_time, accumulators)
    if left:
      accumulators = step(whole, left, accumulators)
    for r in range(tile.rows):
      total = zero
      for c in range(d.n):
        one = combining.horizontal(b, "sum", d.accumulator, accumulators[c * tile.rows + r])
        total = b.insert_element(total, one, ty.I32(c))
      for with_earlier, when in self._store_variants(part):
        with where(b, when), code.scope():
          self._finish(tile, r, 0, total, with_earlier)
    if self.epilogue is not None and part.is_last:
      self._apply(tile, self.epilogue)
