"""Matrix products of a warpgroup (128 threads) from shared memory: `wgmma.mma_async` of sm_90a.

One instruction multiplies 64 x 16 by 16 x N. Where the threads hold the sum is `layout.fragments.wgmma_accumulator`.

Operands lie in rows of 128 bytes with a 128-byte swizzle. Where k runs along the rows, eight rows are 1024 bytes apart, and a step of 16
along k is 32 bytes. Where k runs down the rows, a step of 16 is sixteen rows, and the next 64 columns lie `leading` bytes further.
"""

from __future__ import annotations

import dataclasses

from llvmlite import ir

from tilewright.layout.build import repeated
from tilewright.layout.fragments import wgmma_accumulator
from tilewright.layout.value import Layout
from tilewright.target.llvm.types import F32, I32, I64, VOID

GROUP = 128  # threads
ROWS, DEPTH = 64, 16
_SWIZZLE_128 = 1 << 62
_EIGHT_ROWS = (1024 >> 4) << 32  # stride between groups of eight rows


@dataclasses.dataclass(frozen=True)
class WgmmaDistribution:
  """How `groups` warpgroups lie on a sum: one below the other."""

  shape: tuple[int, int]
  groups: int

  @property
  def columns(self) -> int:
    """Fragments of a warp, side by side."""
    return self.shape[1] // 8

  @property
  def layout(self) -> Layout:
    return repeated(wgmma_accumulator(self.shape[1]), self.shape, (self.groups, 1), repeat_first=True)


def descriptor(b: ir.IRBuilder, address: ir.Value, leading: int) -> ir.Value:
  """What an instruction needs to know of an operand that starts at an address of shared memory (i32)."""
  start = b.zext(b.and_(b.lshr(address, I32(4)), I32(0x3FFF)), I64)
  return b.or_(start, I64(_SWIZZLE_128 | _EIGHT_ROWS | ((leading >> 4) << 16)))


def _void(b: ir.IRBuilder, text: str) -> None:
  b.call(ir.InlineAsm(ir.FunctionType(VOID, []), text, "~{memory}", side_effect=True), [])


def fence(b: ir.IRBuilder) -> None:
  """Before the first product: registers that were written in the usual way are ready."""
  _void(b, "wgmma.fence.sync.aligned;")


def commit(b: ir.IRBuilder) -> None:
  _void(b, "wgmma.commit_group.sync.aligned;")


def _with_sums(
  b: ir.IRBuilder, text: str, sums: list[ir.Value], args: list[ir.Value], extra: list[str]
) -> list[ir.Value]:
  """An instruction that has the sums in and out, so that neither LLVM nor ptxas moves them while they are in flight."""
  count = len(sums)
  constraints = ["=f"] * count + [str(i) for i in range(count)] + extra + ["~{memory}"]
  result = ir.LiteralStructType([F32] * count)
  signature = ir.FunctionType(result, [F32] * count + [a.type for a in args])
  out = b.call(ir.InlineAsm(signature, text, ",".join(constraints), side_effect=True), [*sums, *args])
  return [b.extract_value(out, i) for i in range(count)]


def multiply(
  b: ir.IRBuilder,
  kind: str,
  columns: int,
  sums: list[ir.Value],
  left: ir.Value,
  right: ir.Value,
  turned: tuple[bool, bool],
) -> list[ir.Value]:
  """Add one product to the sums. `turned`: whether k runs down the rows of each operand."""
  count = len(sums)
  registers = ", ".join(f"${i}" for i in range(count))
  text = (
    f"wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.{kind}.{kind} {{{registers}}}, ${2 * count}, ${2 * count + 1}, "
    f"1, 1, 1, {int(turned[0])}, {int(turned[1])};"
  )
  return _with_sums(b, text, sums, [left, right], ["l", "l"])


def wait(b: ir.IRBuilder, sums: list[ir.Value], pending: int = 0) -> list[ir.Value]:
  """Until all products that were committed are done, but for the last few groups."""
  return _with_sums(b, f"wgmma.wait_group.sync.aligned {pending};", sums, [], [])
