"""Heuristics for block sizes, from the shapes of the arrays and the caches of the host.

A kernel that reads each block several times needs it to stay in a cache between the passes; a contraction needs blocks that are large, so
that little is packed twice, and that keep all threads busy. A block size that divides its dimension is preferred over one that
extends past the edge: a block at an edge is copied and masked.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import os
import pathlib
from collections.abc import Iterator

_HOST = pathlib.Path("/sys/devices/system/cpu/cpu0/cache")
_FEW_ROWS = 16  # of a product's left operand: with more, its time is that of the multiplications
_FEW_COLUMNS = 12  # of its right operand: little is packed then
_STREAMS = 16  # rows of memory that are read concurrently, as hardware prefetch streams (Zen 4 is slower with 32)
_DEEP = 1536  # elements along K that a contraction takes at a time, about
_LANES = 16  # of the widest vectors
_PACKING = 10  # multiplications that take as long as to pack an element (Zen 4: 7 to 13, by dtype and by whether it is transposed)
_ON_THE_WAY = 1.5  # the same for an element that the first strip of rows packs while it multiplies (Zen 4: 0.8 to 1.6)
_COPYING = 32  # the same for copying one of a block that extends past an edge
_MIN_ROWS = 64  # of a block: fewer reuse the packed right operand too little
_TILES = 5  # how much longer packing takes beside multiplications in AMX's tile registers
_DELAY = (
  1 / 30
)  # of a block, for each further thread: how late the last of them is at the end (16 threads: half a block)
_GPU_BLOCKS = 256  # CTAs that a device runs concurrently, about
_GPU_PART = 2048  # elements: 128 threads with two vectors of eight each, where nothing is reduced
_GPU_PIECES = 1024  # the same with two vectors of four: the float32 arrays beside them are loaded in vectors of four
_GPU_BLOCK = 4096  # elements: 128 threads with four vectors of eight each
_GPU_PAIR = 2048  # the same, of two rows: 256 threads with a vector of eight each
_GPU_PROCESSORS = 96  # SMs that should have a block of a matrix product; more or fewer change only the speed
# An H200, for estimates: SMs; of one SM in a cycle multiply-adds of halves, bytes from L2 and from memory; cycles of a CTA before and after
# its products, and of one more kernel.
_SMS, _MACS, _L2_BYTES, _HBM_BYTES, _BEGIN, _LAUNCH = 132, 2048, 64.0, 17.0, 8000, 4000
_ROW_BYTES = 128  # of a step along K: what a TMA box has
_SPLITS = (1, 2, 3, 4, 6, 8, 12, 16)
# Blocks of a CTA, and which part of the tensor cores' speed it reaches with them: by warpgroups, and by warps (mma.sync).
_GROUP_TILES = {(128, 256): 0.85, (128, 128): 0.75, (64, 256): 0.6, (64, 128): 0.45, (64, 64): 0.3}
_UNKNOWN_TILE = 0.4  # the same, for blocks without a measurement
_NARROW_READS = {64: 0.72, 128: 0.92}  # of memory's speed, by columns of a block: rows of 128 bytes lie in many pages
_WARP_TILES = {(128, 128): 0.35, (64, 128): 0.3, (64, 64): 0.25}
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclasses.dataclass(frozen=True)
class Caches:
  """Bytes of data cache that one core can count on, by level."""

  l1: int = 32 << 10
  l2: int = 512 << 10
  l3: int = 8 << 20


@functools.cache
def host_caches() -> Caches:
  """This host's caches; conservative sizes where the system does not report them."""
  found: dict[str, int] = {}
  for index in sorted(_HOST.glob("index*")):
    try:
      level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
      if kind in ("Data", "Unified"):
        found[f"l{level}"] = int(size[:-1]) * _UNITS[size[-1]] if size[-1] in _UNITS else int(size)
    except (OSError, ValueError):
      continue
  return Caches(**{name: size for name, size in found.items() if name in ("l1", "l2", "l3")})


def divisor_near(size: int, target: int, multiple: int = 1) -> int:
  """A block size for a dimension: about `target`, a divisor of `size` if there is one not far below or above.

  Among the divisors between half and one and a half times the target, a multiple of `multiple` is preferred, then the nearest.
  """
  if size <= target:
    return max(1, size)
  near = [d for d in _divisors(size) if max(1, target // 2) <= d <= target + target // 2]
  if not near:
    return target
  return min(near, key=lambda d: (d % multiple != 0, abs(d - target)))


@functools.lru_cache(maxsize=1024)
def _divisors(size: int) -> list[int]:
  small = [d for d in range(1, math.isqrt(size) + 1) if size % d == 0]
  return sorted({*small, *(size // d for d in small)})


def rows_per_block(num_rows: int, row_bytes: int, passes: int = 2) -> int:
  """How many rows of a matrix one instance takes: as many as fit L1 together with what is computed from them."""
  budget = host_caches().l1 // max(1, passes)
  return divisor_near(num_rows, max(1, budget // max(1, row_bytes)))


def rows_per_gpu_block(num_rows: int, row_elements: int, is_sharing: bool = False) -> int:
  """Rows for one CTA: a power of two, such that each thread has a few vectors, and there are CTAs for all SMs.

  Where all CTAs share an array, few rows go in pairs that give each of 256 threads a vector: all CTAs load that array at once, and half as
  many CTAs contend less.
  """
  rows = 1
  padded = 1 << max(0, row_elements - 1).bit_length()  # as threads hold a row
  most = (
    _GPU_BLOCK if row_elements % 8 == 0 else _GPU_BLOCK // 2
  )  # without whole vectors, each element has an address of its own
  while 2 * rows * padded <= most and num_rows >= 2 * rows * _GPU_BLOCKS:
    rows *= 2
  if is_sharing and rows == 1 and num_rows >= _GPU_BLOCKS and 2 * row_elements <= _GPU_PAIR:
    return 2
  return rows


def row_groups(on_gpu: bool) -> int:
  """The number of groups of rows for sums over rows: enough for all processors, and few partial sums to add at the end."""
  return _GPU_BLOCKS if on_gpu else 16


def elements_per_gpu_block(size: int) -> int:
  """How many elements of an elementwise kernel one CTA takes."""
  return min(size, _GPU_PART)


def part_of_gpu_row(count: int, size: int) -> int:
  """How many of `count` pieces of a row, each of `size` elements, one CTA takes: all CTAs have the same number."""
  return max(n for n in range(1, count + 1) if count % n == 0 and (n == 1 or n * size <= _GPU_PIECES))


def scan_blocks(on_gpu: bool, rows: int, width: int) -> tuple[int, int]:
  """Rows and columns of a block of running totals: on a GPU a warp takes rows of 1024 elements at most, in whole parts for its lanes."""
  if not on_gpu:
    return divisor_near(rows, 16), divisor_near(width, 256, 16)
  return min(4, rows), min(1024, -(-width // 128) * 128)


def elements_per_block(size: int, itemsize: int) -> int:
  """How many elements one instance of an elementwise kernel takes: enough to be worth a call, few enough to share the work."""
  return min(size, max(4096, host_caches().l1 // itemsize))


@dataclasses.dataclass(frozen=True)
class MatmulBlocks:
  """The block of a contraction: rows of the left operand, columns of the right one, and how much of K at a time."""

  m: int
  n: int
  k: int


@functools.lru_cache(maxsize=1024)
def matmul_blocks(m: int, n: int, k: int, on_the_way: bool = True, in_tiles: bool = False) -> MatmulBlocks:
  """Blocks of a contraction on the CPU: those that take all threads together the least time, by the estimate below.

  A block has all of K: the code of a contraction tiles K, and the rows of a block, for its caches. So blocks only distribute the work
  over threads. Each packs all that it reads, which favours large ones; the last one of a thread may finish late, which favours small
  ones. `on_the_way` is whether the right operand is packed while it is multiplied: rows of it are contiguous, and it has four bytes
  per element, or is converted to that. `in_tiles` is whether it is multiplied in AMX's tile registers.
  """
  packing = _PACKING * (_TILES if in_tiles else 1)
  return min(_shares(m, n, k), key=lambda blocks: _time(m, n, blocks, packing, _ON_THE_WAY if on_the_way else packing))


def _shares(m: int, n: int, k: int) -> Iterator[MatmulBlocks]:
  """Ways to cut a product into equal blocks, one or a few for each thread, whose packed right operands all fit L3."""
  threads = num_threads()
  fits = max(256, host_caches().l3 // (2 * threads) // (4 * min(k, _DEEP) or 1))
  min_rows = _MIN_ROWS if n > _FEW_COLUMNS else 2 * _FEW_ROWS
  for parts_m in range(1, min(8 * threads, max(1, m // min_rows)) + 1):
    block_m = divisor_near(m, -(-m // parts_m), 2)
    for turns in range(1, 9 if block_m >= min(m, min_rows) else 1):
      parts_n = max(-(-turns * threads // parts_m), -(-n // fits))
      parts_n = min(parts_n, max(1, n // 128))
      yield MatmulBlocks(block_m, divisor_near(n, -(-n // parts_n), 32), max(1, k))


def _time(m: int, n: int, blocks: MatmulBlocks, packing_left: float, packing_right: float) -> float:
  """How long all threads take for a product, in multiplications along M and N. Its size along K is the same for all blocks."""
  multiplied = blocks.m * -(-blocks.n // _LANES) * _LANES
  packed = packing_left * blocks.m + packing_right * blocks.n
  copied = (blocks.m if m % blocks.m else 0) + (blocks.n if n % blocks.n else 0)  # blocks that extend past an edge
  turns = -(-(-(-m // blocks.m) * -(-n // blocks.n)) // num_threads())
  late = min(1 / 2, _DELAY * (num_threads() - 1))
  return (turns + late) * (multiplied + packed + _COPYING * copied)


def gpu_matmul_blocks(m: int, n: int, k: int, itemsize: int) -> MatmulBlocks:
  """Blocks of a contraction on a GPU: of two-byte floats as large as accumulators fit registers, as long as there are some for most SMs.

  Others are multiplied without tensor cores, and go through shared memory in smaller blocks.
  """
  if itemsize != 2:
    return MatmulBlocks(64, 64, 32)
  for block_m, block_n in ((128, 256), (128, 128), (64, 128), (64, 64)):
    if -(-m // block_m) * -(-n // block_n) >= _GPU_PROCESSORS:
      break
  return MatmulBlocks(block_m, block_n, 64)


@dataclasses.dataclass(frozen=True)
class GpuProduct:
  """The tiling of a matrix product on a GPU: the block of one CTA, and the number of parts of K (split-K)."""

  blocks: MatmulBlocks
  splits: int = 1
  by_hand: bool = False  # by the persistent kernel of `matmul_hopper`


@functools.lru_cache(maxsize=4096)
def gpu_product(m: int, n: int, k: int, itemsize: int, batch: int = 1, by_warps: bool = False) -> GpuProduct:
  """The fastest tiling of a product for tensor cores, by the estimate below; `by_warps` where warpgroups cannot multiply it."""
  blocks = _WARP_TILES if by_warps else _GROUP_TILES
  depth = max(_ROW_BYTES // itemsize, 32)
  return min(
    (
      GpuProduct(MatmulBlocks(*tile, depth), splits)
      for tile in blocks
      for splits in _SPLITS
      if splits == 1 or splits * 4 * depth <= k
    ),
    key=lambda own: _gpu_cycles(m, n, k, itemsize, batch, own, blocks[own.blocks.m, own.blocks.n]),
  )


def _gpu_cycles(m: int, n: int, k: int, itemsize: int, batch: int, own: GpuProduct, efficiency: float) -> float:
  """How long a product takes, in cycles of an SM: what its CTAs multiply or read through L2, wave after wave, or what memory gives."""
  block, splits = own.blocks, own.splits
  tiles = batch * -(-m // block.m) * -(-n // block.n)
  steps = math.ceil(math.ceil(k / block.k) / splits)
  waves = -(-tiles * splits // _SMS)
  bytes_per_step = (block.m + block.n) * block.k * itemsize
  multiplied = block.m * block.n * block.k * itemsize / (2 * _MACS * efficiency)
  computed = waves * (steps * max(multiplied, bytes_per_step / _L2_BYTES) + _BEGIN)
  busy = min(1.0, tiles * splits / _SMS)
  speed = _HBM_BYTES * _SMS * busy * _NARROW_READS.get(block.n, 1.0)
  read = batch * (m * k + k * n) * itemsize / speed + _BEGIN
  added = 0.0 if splits == 1 else _LAUNCH + (splits + 1) * 4 * batch * m * n / (_HBM_BYTES * _SMS)
  return max(computed, read) + added


def gpu_cycles(m: int, n: int, k: int, itemsize: int, batch: int, own: GpuProduct) -> float:
  """The estimate for a product by warpgroups with a given tiling, also one that the heuristic does not consider."""
  known = _GROUP_TILES.get((own.blocks.m, own.blocks.n), _UNKNOWN_TILE)
  return _gpu_cycles(m, n, k, itemsize, batch, own, known)


def gpu_weight_slope_blocks(itemsize: int) -> tuple[int, int, int]:
  """Of the derivative of a grouped product towards its matrices on a GPU: how many rows pass by at a time, and a block of the matrix."""
  return (64, 128, 128) if itemsize == 2 else (32, 64, 64)


def attention_blocks(
  on_gpu: bool, queries: int, keys: int, depth: int, itemsize: int, is_banded: bool
) -> tuple[int, int]:
  """How many queries and keys a block of attention has; `is_banded` says whether some queries do not see some keys.

  On a GPU, a warp takes sixteen queries: what it holds of the scores and of the output must fit its registers. Blocks are multiples of
  the tensor cores' shapes, and may extend past the end. The choice is from measurements on an H200.
  """
  if not on_gpu:
    return divisor_near(queries, 128, 32), divisor_near(keys, 128, 16)
  most = (64, 32) if itemsize != 2 else (128, 64) if depth <= 64 or is_banded else (64, 64)
  return min(most[0], -(-queries // 16) * 16), min(most[1], -(-keys // 16) * 16)


@dataclasses.dataclass(frozen=True)
class BackwardBlocks:
  """Lengths of the blocks that a backward kernel of attention holds, and of those that it loops over."""

  held: int
  passing: int


def attention_backward_blocks(depth: int, itemsize: int) -> tuple[BackwardBlocks, BackwardBlocks]:
  """For attention's two backward kernels on a GPU: that of the queries, with one accumulator, and that of the keys, with two."""
  if itemsize != 2:
    return BackwardBlocks(32, 32), BackwardBlocks(32, 32)
  return BackwardBlocks(128, 64), BackwardBlocks(128, 64 if depth <= 64 else 32)


def few_rows_blocks(m: int, n: int, k: int, itemsize: int) -> MatmulBlocks | None:
  """Blocks of a contraction with few rows on the left, which is bound by reading the right operand from memory.

  A block holds long pieces of a few rows of it: as many as the processor prefetches concurrently. The partial sums in the result stay in
  the cache meanwhile. None where there are more rows to compute with, where the right operand stays in the cache from call to call, or
  where K has no such divisor.
  """
  caches = host_caches()
  if m > _FEW_ROWS or n * k * itemsize <= caches.l3 // 2:
    return None
  block_k = divisor_near(k, max(_STREAMS, 2 * m))
  block_n = divisor_near(n, max(512, min(-(-n // num_threads()), caches.l2 // (64 * m))), 32)
  return MatmulBlocks(m, block_n, block_k) if k % block_k == 0 else None


@functools.cache
def num_threads() -> int:
  """How many threads this process may run at once."""
  return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
