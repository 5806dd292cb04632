"""L2 eviction policies and prefetches for streamed arrays, which a kernel reads only once.

A memory-bound kernel reads arrays much larger than L2, and writes about as much. Every line that is read evicts another one, and a dirty
line is then written back to memory. Lines read with `evict_last` evict dirty lines instead of each other, so that memory is written in
longer runs:

    read with evict_last     input lines stay, dirty output lines leave L2 first, in long runs
    prefetch                 where one array is read: blocks of later instances, a quarter of as many as run at a time. Data prefetched
                             earlier is evicted before its use. Where small blocks of others go with it (the tables of a rotary
                             embedding), those are prefetched instead
    release (`release_lines`) `evict_last` lines would stay in L2 and leave later kernels less room. So the last instances reset lines
                             to normal priority: their own, and those of instances a little before. All others have been evicted by then.
                             A released line no longer helps, so few lines are released, and late

Blocks of several pieces, rows of a part of the columns, are read with `evict_last` too and released piece by piece, but not prefetched.
Consecutive instances write adjacent memory (`write_order`), also in a transpose. Where little is written there is nothing to gain.

docs/benchmarks.md ("Choices of the GPU target") has the measurements.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.passes.block_accesses import is_only_loaded
from tilewright.tile.grid import Blocked, BlockMapping, Squeezed
from tilewright.tile.ir import users, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.parallel import parallel_dims
from tilewright.tile.ranges import always_inside

LINE = 128  # bytes
_LARGE = 128 << 20  # bytes: more than L2 holds
_LAST = 4 << 20  # bytes that the instances read that let go
TURNS = 3  # blocks that each of them lets go of: together more than the cache holds of lines that are kept longest
_AHEAD = 6 << 20  # bytes
_SMALL = 1 << 10  # bytes of a block
_AWAY = 1 << 20  # bytes of an array that is not in the cache already
PROCESSORS = 132  # of an H200
_PTX = 74  # the version that knows policies


# --- which inputs ------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class BlockSegments:
  """A block as memory has it: pieces of whole lines, so many bytes from one to the next."""

  count: int
  nbytes: int  # of one
  pitch: int


def is_stream(kernel: NativeKernel, position: int, arch: Arch) -> bool:
  """Whether an input is large, read once and never written, in blocks of whole lines, by a kernel that writes half as much or more."""
  mapping = kernel.mapping
  if position >= mapping.num_inputs or mapping.num_prefetch or None in mapping.grid:
    return False
  m = mapping.block_mappings[position]
  large = _nbytes(m) >= _LARGE and 2 * sum(_nbytes(o) for o in mapping.output_mappings) >= _nbytes(m)
  index_map = kernel.index_maps[position]
  if not large or index_map is None or pieces(m) is None or arch.ptx < _PTX:
    return False
  if position in {into for into, _ in kernel.input_output_aliases} or len(parallel_dims(kernel)) < len(mapping.grid):
    return False
  if not all(always_inside(mapping.grid, m, index_map)):
    return False
  blocks = math.prod(m.array_aval.shape) // math.prod(m.block_sizes)
  return num_instances(kernel) <= blocks and is_only_loaded(kernel, kernel.body.params[position])


def streams(kernel: NativeKernel, arch: Arch) -> list[tuple[int, BlockSegments]]:
  """The streamed inputs, with the pieces of a block of each."""
  found = ((n, pieces(m)) for n, m in enumerate(kernel.mapping.input_mappings) if is_stream(kernel, n, arch))
  return [(n, own) for n, own in found if own is not None]


def streamed(kernel: NativeKernel, position: int) -> BlockSegments:
  """The pieces of a block of a streamed input."""
  found = pieces(kernel.mapping.block_mappings[position])
  assert found is not None
  return found


def write_order(kernel: NativeKernel, parallel: tuple[int, ...]) -> tuple[int, ...]:
  """The parallel dimensions of a grid, that along which neighbours write neighbouring memory last, if large outputs tell.

  Where there are products, what is read twice matters more.
  """
  mapping = kernel.mapping
  if any(op.name == "dot" for op in walk(kernel.body.body)):
    return parallel
  fastest = {
    _along_rows(kernel, mapping.num_inputs + n) for n, m in enumerate(mapping.output_mappings) if _nbytes(m) >= _LARGE
  }
  if len(fastest) != 1 or not fastest <= {*parallel}:
    return parallel
  (last,) = fastest
  return (*(d for d in parallel if d != last), *(d for d in parallel if d == last))


def _along_rows(kernel: NativeKernel, position: int) -> int | None:
  """The grid dimension along which blocks follow each other in the rows of an array, if that is all it does to the columns."""
  m, index_map = kernel.mapping.block_mappings[position], kernel.index_maps[position]
  if index_map is None or not m.block_shape or not isinstance(m.block_shape[-1], Blocked):
    return None
  column = index_map.body.yielded[-1]
  return next((d for d in range(len(kernel.mapping.grid)) if index_map.params[d] is column), None)


@dataclasses.dataclass(frozen=True)
class PrefetchedBlock:
  """A block of an input that is prefetched, by one instance for all that read it."""

  position: int
  nbytes: int
  period: int  # instances in a row that see the same block
  quarters: int  # how far ahead, in quarters of what runs at a time


def prefetched_blocks(kernel: NativeKernel, arch: Arch, resident: int) -> list[PrefetchedBlock]:
  """The prefetches of each instance where there is one stream and an SM runs so many CTAs: the small inputs beside the
  stream; where there are none, the stream, if as much is written and not too much is in flight."""
  found = streams(kernel, arch)
  if len(found) != 1 or not arch.has_tma:
    return []
  if beside := _side_arrays(kernel, arch):
    return beside
  ((position, block),) = found
  written = sum(_nbytes(o) for o in kernel.mapping.output_mappings)
  if block.count > 1 or written < _nbytes(kernel.mapping.block_mappings[position]):
    return []
  if resident * PROCESSORS * block.nbytes > 2 * _AHEAD:
    return []
  return [PrefetchedBlock(position, block.nbytes, period=1, quarters=1)]


def _side_arrays(kernel: NativeKernel, arch: Arch) -> list[PrefetchedBlock]:
  """Inputs in small blocks that move on along the grid. All instances that see one wait for it, if it has to come from memory."""
  return [
    PrefetchedBlock(position, block.nbytes, period, quarters=6)
    for position, m in enumerate(kernel.mapping.input_mappings)
    if (block := pieces(m)) is not None
    and block.count == 1
    and block.nbytes <= _SMALL
    and _nbytes(m) >= _AWAY
    and not is_stream(kernel, position, arch)
    and (period := _period(kernel, position)) is not None
  ]


def _period(kernel: NativeKernel, position: int) -> int | None:
  """How many instances in a row see the same block of an input, if that moves on along the grid and always lies inside of its array."""
  grid, index_map = kernel.mapping.grid, kernel.index_maps[position]
  if index_map is None or not all(always_inside(grid, kernel.mapping.block_mappings[position], index_map)):
    return None
  used = users(index_map.body)
  moving = [d for d, index in enumerate(index_map.params[: len(grid)]) if index in used]
  return math.prod(size or 0 for size in grid[moving[-1] + 1 :]) if moving else None


def pieces(m: BlockMapping) -> BlockSegments | None:
  """What a block is in memory, if it is pieces of whole lines at equal distances."""
  if not all(isinstance(d, Blocked | Squeezed) for d in m.block_shape):
    return None
  sizes, shape = m.block_sizes, tuple(m.array_aval.shape)
  size = np.dtype(m.array_aval.dtype).itemsize
  # From here on nothing lies between.
  whole = next((d for d in range(len(sizes)) if sizes[d + 1 :] == shape[d + 1 :]), 0)
  apart = [d for d in range(whole) if sizes[d] > 1]
  nbytes = math.prod(sizes[whole:]) * size
  pitch = math.prod(shape[apart[0] + 1 :]) * size if apart else nbytes
  if len(apart) > 1 or nbytes % LINE or pitch % LINE:
    return None
  return BlockSegments(math.prod(sizes[:whole]), nbytes, pitch)


def num_instances(kernel: NativeKernel) -> int:
  return math.prod(size or 0 for size in kernel.mapping.grid)


def num_last(kernel: NativeKernel, nbytes: int) -> int:
  """How many of the last instances let go of blocks, where one has so many bytes."""
  return min(-(-_LAST // nbytes), num_instances(kernel) // TURNS)


def _nbytes(m: BlockMapping) -> int:
  return math.prod(m.array_aval.shape) * np.dtype(m.array_aval.dtype).itemsize
