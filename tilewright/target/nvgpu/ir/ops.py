"""The ops of the GPU level that the tile IR does not have."""

from __future__ import annotations

from tilewright.tile.ir import Op
from tilewright.tile.ops import READ, SYNC, WRITE, define, expect, ref_of, tile_of
from tilewright.tile.types import Type

MMA, MMA_WAIT = "mma", "mma_wait"


def _mma(op: Op) -> list[Type]:
  acc, product = ref_of(op), tile_of(op, 1)
  expect(acc.is_accumulator, f"operand 0 must be an accumulator, got {acc}")
  expect(acc.tile == product, f"cannot add {product} to {acc}")
  return []


def _mma_wait(op: Op) -> list[Type]:
  for i in range(len(op.operands)):
    expect(ref_of(op, i).is_accumulator, f"operand {i} must be an accumulator, got {op.operands[i].type}")
  return []


define(
  MMA,
  _mma,
  READ,
  WRITE,
  SYNC,
  doc="`mma(acc, dot)`: start to add a product, which nothing else uses, to an accumulator",
)
define(
  MMA_WAIT,
  _mma_wait,
  READ,
  WRITE,
  SYNC,
  doc="`mma_wait(acc…)`: until at most the newest `pending` products of this warpgroup run; the accumulators are all that may be in flight",
)
