"""Block sizes of the scaled dot: blocks of k hold whole scale blocks, and divide k."""

from __future__ import annotations

import dataclasses
import functools
import os

_DEPTH = 1024  # elements of k at a time where many rows share them: both blocks then stay in L2
_DEPTH_FEW = 8192  # with few rows there is little to share: all of k if possible
_FEW = 64


@dataclasses.dataclass(frozen=True)
class Blocks:
  """Rows of either operand and elements of k that one instance takes at a time; and in how many parts k is summed independently."""

  m: int
  n: int
  k: int
  splits: int = 1


@functools.cache
def num_threads() -> int:
  """How many threads this process may run at once."""
  return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def divisor_below(count: int, most: int) -> int:
  """The largest divisor of `count` that is not above `most`."""
  return max((d for d in range(1, min(count, max(1, most)) + 1) if count % d == 0), default=1)


def dot_blocks(m: int, n: int, k: int, batch: int, unit: int) -> Blocks:
  """Blocks for (m, k) times (k, n), with k a multiple of `unit`.

  Where there are fewer blocks of the result than threads, k is split (split-K): the partial sums are added afterwards.
  """
  units = k // unit
  few = m <= _FEW
  bk = unit * divisor_below(units, (_DEPTH_FEW if few else _DEPTH) // unit)
  # Each block of an operand is decoded once for every block of the other: large ones, as far as they fit L2.
  bm = m if few else _near(m, 512)
  bn = _near(n, 128 if few else 512)
  wanted = 2 * num_threads()
  while batch * -(-m // bm) * -(-n // bn) < wanted and (bn > 64 or bm > 64):
    if bn >= bm and bn > 64:
      bn = _near(n, max(64, bn // 2))
    elif bm > 64 and not few:
      bm = _near(m, max(64, bm // 2))
    else:
      break
  tiles = batch * -(-m // bm) * -(-n // bn)
  splits = 1
  if tiles < num_threads() and k >= 4096:
    splits = divisor_below(units, -(-num_threads() // tiles))
    bk = unit * divisor_below(units // splits, bk // unit)
  return Blocks(bm, bn, bk, splits)


def gpu_blocks(m: int, n: int, k: int, batch: int, unit: int) -> Blocks:
  """Blocks for a GPU, where the dequantised blocks of both operands lie in shared memory."""
  return Blocks(min(m, 32), min(n, 64), unit * divisor_below(k // unit, max(1, 64 // unit)))


def _near(size: int, target: int) -> int:
  """A block near a target: a divisor of the size between half of the target and the target if there is one, best a multiple of 32."""
  if size <= target:
    return size
  fits = [d for d in range(target, target // 2, -1) if size % d == 0]
  return next((d for d in fits if d % 32 == 0), fits[0] if fits else target)
