"""The tensor memory accelerator of sm_90: boxes of an array in global memory, copied to shared memory by one thread's request.

An array is described by a tensor map of 128 bytes, which the host fills for each launch (`handler`) and the kernel gets by value.
"""

from __future__ import annotations

import dataclasses

from llvmlite import ir

from tilewright.target.llvm.types import I32, I64, VOID

MAP_BYTES, MAP_ALIGNMENT = 128, 64
SWIZZLE_BYTES = (
  128  # the width of a row of a box: sixteen-byte pieces are exchanged within eight rows, against bank conflicts
)


@dataclasses.dataclass(frozen=True)
class TensorMap:
  """A matrix of 16-bit elements in global memory, and the box that one copy brings: `box` rows of 128 bytes."""

  array: int  # its position among the kernel's arrays
  kind: str  # bf16 or f16
  shape: tuple[int, int]
  box_rows: int

  @property
  def box_columns(self) -> int:
    return SWIZZLE_BYTES // 2

  @property
  def box_bytes(self) -> int:
    return self.box_rows * SWIZZLE_BYTES


def copy(
  b: ir.IRBuilder, tensor_map: ir.Value, to: ir.Value, column: ir.Value, row: ir.Value, barrier: ir.Value
) -> None:
  """Ask for the box whose first element is at (row, column); the barrier counts its bytes."""
  text = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3}], [$4];"
  signature = ir.FunctionType(VOID, [I32, I64, I32, I32, I32])
  asm = ir.InlineAsm(signature, text, "r,l,r,r,r,~{memory}", side_effect=True)
  b.call(asm, [to, b.ptrtoint(tensor_map, I64), column, row, barrier])
