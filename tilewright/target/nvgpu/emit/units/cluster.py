"""Clusters of sm_90: CTAs that run at the same time and access each other's shared memory.

`Cluster(2, 1)` is two CTAs one below the other on a matrix of results. They need the same columns of the right operand, so each issues the
copy of half of them, and TMA multicasts it into the shared memory of both (`tma.copy` with a mask):

    rank   left operand         right operand
    0      its own rows         upper half, for both
    1      its own rows         lower half, for both

A stage may be written again when all blocks that get it are done with it, so barriers count the arrivals of all of them.
"""

from __future__ import annotations

import dataclasses

from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.types import I32, I64
from tilewright.target.nvgpu.emit.units.inline_ptx import effect, value

MAX_CLUSTER_BLOCKS = 8  # of a cluster, on every device that has them


@dataclasses.dataclass(frozen=True)
class Cluster:
  """`down` x `across` blocks of a matrix of results; the rank of the block in row r and column c is r * across + c."""

  down: int = 1
  across: int = 1

  @property
  def size(self) -> int:
    return self.down * self.across

  @property
  def sharers(self) -> tuple[int, int]:
    """How many blocks need the same part of the left operand, and of the right one."""
    return self.across, self.down

  @property
  def peers(self) -> int:
    """The blocks, with itself, that share an operand with a block."""
    return self.down + self.across - 1

  def ranks(self, b: ir.IRBuilder, rank: ir.Value) -> list[ir.Value]:
    """The ranks of those blocks: the row, then the rest of the column."""
    row, column = self.place(b, rank)
    first = b.mul(row, I32(self.across))
    found = [b.add(first, I32(c)) for c in range(self.across)]
    for step in range(1, self.down):
      other = b.urem(b.add(row, I32(step)), I32(self.down))
      found.append(b.add(b.mul(other, I32(self.across)), column))
    return found

  def place(self, b: ir.IRBuilder, rank: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The row and the column of a block."""
    return b.udiv(rank, I32(self.across)), b.urem(rank, I32(self.across))

  def masks(self, b: ir.IRBuilder, rank: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The multicast masks of a CTA's copies of the left operand, and of the right one: bit r is rank r."""
    row, column = self.place(b, rank)
    whole_row, whole_column = (1 << self.across) - 1, sum(1 << r * self.across for r in range(self.down))
    return b.shl(I32(whole_row), b.mul(row, I32(self.across))), b.shl(I32(whole_column), column)


ALONE = Cluster()


def barrier(b: ir.IRBuilder) -> None:
  """Barrier of all threads of the cluster; writes before it are visible to all of them after it."""
  effect(b, "barrier.cluster.arrive.release; barrier.cluster.wait.acquire;")


def arrive(b: ir.IRBuilder, address: ir.Value, rank: ir.Value, count: int = 1, *, hands_over: bool = False) -> None:
  """Arrive, in the name of so many threads, at the barrier that lies at an address in another block's shared memory as it does in this
  one's.

  With `hands_over`, those who wait there see what this thread has written."""
  # Otherwise not `.release.cluster`, for which ptxas puts a fence of the whole device before it: what a thread waits for has been read
  # then.
  kind, times = ".release.cluster" if hands_over else "", f", {count}" if count > 1 else ""
  text = (
    f"{{ .reg .b32 R; mapa.shared::cluster.u32 R, $0, $1; mbarrier.arrive{kind}.shared::cluster.b64 _, [R]{times}; }}"
  )
  effect(b, text, [address, rank])


def there(b: ir.IRBuilder, pointer: ir.Value, rank: ir.Value) -> ir.Value:
  """What a pointer to this block's shared memory is in that of another block: a pointer to any memory."""
  return b.inttoptr(value(b, "mapa.u64 $0, $1, $2;", [b.ptrtoint(pointer, I64), rank], I64), ty.PTR)
