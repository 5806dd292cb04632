"""Matrix products of a warpgroup (128 threads) from shared memory: `wgmma.mma_async` of sm_90a.

One instruction multiplies 64 x K by K x N, where K are 32 bytes. `layout.fragments.wgmma_accumulator` says where the threads hold the
accumulator; the left operand may be held by them too (`layout.fragments.wgmma_lhs`).

Operands in memory lie in rows of 128 bytes with a 128-byte swizzle (or 64 or 32). Where k runs along the rows, eight rows are 1024 bytes
apart, and a step along k is 32 bytes. Where k runs down the rows, a step of 16 is sixteen rows, and the next 64 columns lie `leading` bytes
further; that is for elements of 16 bits only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from llvmlite import ir

from tilewright.layout.build import repeated
from tilewright.layout.fragments import wgmma_accumulator
from tilewright.layout.layout import Layout
from tilewright.target.llvm.types import F32, I32, I64
from tilewright.target.nvgpu.arch.tensor_cores import HALVES, NAMED
from tilewright.target.nvgpu.emit.units.inline_ptx import effect, parts

ROWS, DEPTH = 64, 16  # of an instruction on halves
DEPTH_BYTES = 32  # of any
_SWIZZLES = {128: 1 << 62, 64: -2 << 62, 32: -1 << 62}  # modes 1, 2 and 3 in the upper two bits


@dataclasses.dataclass(frozen=True)
class WgmmaDistribution:
  """How an accumulator is divided among `groups` warpgroups: one below the other."""

  shape: tuple[int, int]
  groups: int

  @property
  def columns(self) -> int:
    """Fragments of a warp, side by side."""
    return self.shape[1] // 8

  @property
  def layout(self) -> Layout:
    return repeated(wgmma_accumulator(self.shape[1]), self.shape, (self.groups, 1), repeat_first=True)


@dataclasses.dataclass(frozen=True)
class Matrix:
  """The layout of an operand in shared memory: rows of `swizzle` bytes, along k or along the other dimension, and columns of such rows."""

  swizzle: int
  k_is_last: bool
  itemsize: int
  eight_rows: int  # bytes from eight rows to the next
  column: int  # bytes from a column to the next

  @property
  def wide(self) -> int:
    """Elements of a row."""
    return self.swizzle // self.itemsize

  def offset(self, free: int, k: int) -> int:
    """Bytes from the start to what one instruction reads."""
    down, along = (free, k) if self.k_is_last else (k, free)
    column, inner = divmod(along, self.wide)
    return column * self.column + down // 8 * self.eight_rows + down % 8 * self.swizzle + inner * self.itemsize

  def descriptor(self, b: ir.IRBuilder, address: ir.Value) -> ir.Value:
    """Of an operand that starts at an address."""
    return descriptor(b, address, 16 if self.k_is_last else self.column, self.swizzle, self.eight_rows)


def descriptor(
  b: ir.IRBuilder, address: ir.Value, leading: int, swizzle: int = 128, eight_rows: int | None = None
) -> ir.Value:
  """The matrix descriptor of an operand that starts at an address of shared memory (i32), with rows of `swizzle` bytes.

  Groups of eight rows follow each other, unless they are `eight_rows` bytes apart. A place `n` bytes further on has the descriptor that
  is larger by `n >> 4`.
  """
  start = b.zext(b.and_(b.lshr(address, I32(4)), I32(0x3FFF)), I64)
  stride = ((8 * swizzle if eight_rows is None else eight_rows) >> 4) << 32
  return b.or_(start, I64(_SWIZZLES[swizzle] | stride | ((leading >> 4) << 16)))


def fence(b: ir.IRBuilder, values: Sequence[ir.Value] = ()) -> list[ir.Value]:
  """Before the first product: makes ordinary register writes visible to `wgmma`. Products must use the returned values."""
  return _through(b, "wgmma.fence.sync.aligned;", list(values))


def commit(b: ir.IRBuilder) -> None:
  effect(b, "wgmma.commit_group.sync.aligned;")


def _through(b: ir.IRBuilder, text: str, values: list[ir.Value], args: Sequence[ir.Value] = ()) -> list[ir.Value]:
  """An instruction that has values in and out, so that neither LLVM nor ptxas moves what is done to them across it."""
  if not values:
    effect(b, text)
    return []
  letters = ["f" if v.type == F32 else "r" for v in values]
  constraints = [f"={letter}" for letter in letters] + [str(i) for i in range(len(values))]
  constraints += ["l" if a.type == I64 else "r" for a in args] + ["~{memory}"]
  result = ir.LiteralStructType([v.type for v in values])
  signature = ir.FunctionType(result, [*(v.type for v in values), *(a.type for a in args)])
  out = b.call(ir.InlineAsm(signature, text, ",".join(constraints), side_effect=True), [*values, *args])
  return parts(b, out)


def multiply(
  b: ir.IRBuilder,
  kind: str,
  columns: int,
  accumulators: list[ir.Value],
  left: ir.Value | Sequence[ir.Value],
  right: ir.Value,
  transposed: tuple[bool, bool] = (False, False),
  adds: bool = True,
) -> list[ir.Value]:
  """Add one product to the accumulators, or overwrite them. `left` is a descriptor or the four words of a thread, `right` a descriptor.

  `transposed`: whether each operand is transposed, that is, k runs down its rows in memory.
  """
  count, words = len(accumulators), not isinstance(left, ir.Value)
  args: list[ir.Value] = [*left, right] if words else [left, right]
  registers = ", ".join(f"${i}" for i in range(count))
  first, last = 2 * count, 2 * count + len(args) - 1
  operand = "{" + ", ".join(f"${i}" for i in range(first, last)) + "}" if words else f"${first}"
  total, depth = NAMED[kind].accumulator, NAMED[kind].depth
  flags = [int(adds)]
  if total == "f32":
    flags += [1, 1]  # neither operand is negated
  if kind in HALVES.values():
    flags += [int(t) for t in (transposed[1:] if words else transposed)]
  text = (
    f"wgmma.mma_async.sync.aligned.m64n{columns}k{depth}.{total}.{kind}.{kind} {{{registers}}}, {operand}, ${last}, "
    f"{', '.join(map(str, flags))};"
  )
  return _through(b, text, accumulators, args)


def wait(b: ir.IRBuilder, accumulators: list[ir.Value], pending: int = 0) -> list[ir.Value]:
  """Wait until all committed products are done, except for the last `pending` groups."""
  return _through(b, f"wgmma.wait_group.sync.aligned {pending};", accumulators)
