"""The tensor memory accelerator of sm_90: boxes of an array in global memory, copied to shared memory by one thread's request.

An array is described by a tensor map of 128 bytes, which the host fills for each launch (`handler`) and the kernel gets by value.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from llvmlite import ir

from tilewright.target.llvm.types import I16, I64
from tilewright.target.nvgpu.emit.units.inline_ptx import effect

MAP_BYTES, MAP_ALIGNMENT = 128, 64
MAX_DIMS, MAX_BOX_ROWS = 5, 256  # of an array, of a box along one dimension
# The width of a row of a box: sixteen-byte pieces are swizzled within eight rows, against bank conflicts.
SWIZZLE_BYTES = 128


# By the name of a kind of element: its number in cuda.h (CUtensorMapDataType), and its bytes. Copies of bits have those of its size.
KINDS: dict[str, tuple[int, int]] = {
  "u8": (0, 1),
  "u16": (1, 2),
  "u32": (2, 4),
  "u64": (4, 8),
  "f16": (6, 2),
  "bf16": (9, 2),
  "tf32": (11, 4),  # float32, rounded on the way
  "e4m3": (0, 1),
  "e5m2": (0, 1),
}


@dataclasses.dataclass(frozen=True)
class TensorMap:
  """An array in global memory, and the box of one copy: `box` along its outer dimensions, and so many columns.

  Rows of 128 bytes are swizzled, others lie as they are, unless `swizzle` says how many bytes the rows have that are."""

  array: int  # its position among the kernel's arrays
  kind: str
  shape: tuple[int, ...]
  box: tuple[int, ...]
  row: int  # along which dimension rows of the box lie
  box_columns: int = SWIZZLE_BYTES // 2
  strides: tuple[int, ...] = ()  # bytes, of the outer dimensions; none: they lie one in the other
  swizzle: int | None = None

  @property
  def itemsize(self) -> int:
    return KINDS[self.kind][1]

  @property
  def swizzle_bytes(self) -> int:
    """The bytes of a swizzled row; 0 without swizzle."""
    if self.swizzle is not None:
      return self.swizzle
    return SWIZZLE_BYTES if self.itemsize * self.box_columns == SWIZZLE_BYTES else 0

  @property
  def is_swizzled(self) -> bool:
    return self.swizzle_bytes > 0

  @property
  def outer_strides(self) -> tuple[int, ...]:
    """Bytes between neighbours along each dimension but the last."""
    return self.strides or tuple(self.itemsize * math.prod(self.shape[d + 1 :]) for d in range(len(self.shape) - 1))

  @property
  def box_bytes(self) -> int:
    return math.prod(self.box) * self.itemsize * self.box_columns


def most_rows(rows: int) -> int:
  """Of a box: so many that boxes make up all rows, in which the swizzle of the first is that of all."""
  return max(n for n in range(8, MAX_BOX_ROWS + 1, 8) if rows % n == 0)


def copy(
  b: ir.IRBuilder,
  tensor_map: ir.Value,
  to: ir.Value,
  start: Sequence[ir.Value],
  barrier: ir.Value,
  blocks: ir.Value | None = None,
  is_own: bool = False,
) -> None:
  """Issue the copy of the box that starts at an element; the barrier counts its bytes. Out-of-bounds elements arrive as zero.

  With `blocks`, a mask of ranks in the cluster (i32), the box arrives in the shared memory of each of them, and at their barriers. With
  `is_own`, which the architecture must support, the copy is marked as for this CTA alone.
  """
  rank = len(start)
  places = ", ".join(f"${2 + i}" for i in range(rank))
  text = (
    f"cp.async.bulk.tensor.{rank}d.shared::{'cta' if is_own else 'cluster'}.global.mbarrier::complete_tx::bytes"
    f"{'' if blocks is None else '.multicast::cluster'} [$0], [$1, {{{places}}}], [${2 + rank}]"
    f"{'' if blocks is None else f', ${3 + rank}'};"
  )
  args = [to, b.ptrtoint(tensor_map, I64), *reversed(start), barrier]
  effect(b, text, args if blocks is None else [*args, b.trunc(blocks, I16)])


def store(b: ir.IRBuilder, tensor_map: ir.Value, source: ir.Value, start: Sequence[ir.Value]) -> None:
  """Issue the store of a box to the array, from an element on. Out-of-bounds elements are dropped."""
  rank = len(start)
  places = ", ".join(f"${2 + i}" for i in range(rank))
  text = f"cp.async.bulk.tensor.{rank}d.global.shared::cta.bulk_group [$1, {{{places}}}], [$0];"
  effect(b, text, [source, b.ptrtoint(tensor_map, I64), *reversed(start)])


def commit_stores(b: ir.IRBuilder) -> None:
  """Commit the stores that this thread has issued since the last commit as a group."""
  effect(b, "cp.async.bulk.commit_group;")


def wait_groups(b: ir.IRBuilder, pending: int, *, read_only: bool) -> None:
  """Wait until at most `pending` groups of this thread's stores are in flight; `read_only`: shared memory has been read for the others."""
  effect(b, f"cp.async.bulk.wait_group{'.read' if read_only else ''} {pending};")


def wait_stores(b: ir.IRBuilder) -> None:
  """Wait until shared memory has been read for all stores that this thread issued."""
  effect(b, "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;")


def fence_writes_of_cluster(b: ir.IRBuilder) -> None:
  """The same for writes to the shared memory of any CTA of the cluster, and from other CTAs."""
  effect(b, "fence.proxy.async;")


def fence_writes(b: ir.IRBuilder) -> ir.Instruction:
  """Proxy fence: this thread's accesses to shared memory, writes above all, happen before those of tensor cores and TMA that are issued
  after synchronisation with this thread."""
  return effect(b, "fence.proxy.async.shared::cta;")
