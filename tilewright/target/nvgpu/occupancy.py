"""How large blocks of threads are, and how many of them a multiprocessor shall have room for.

choose_threads      of a block: each has a few vectors of the largest block of data
choose_lanes        elements of a vector
resident_blocks     more of them hide the latency of memory, fewer leave more registers for each thread
"""

from __future__ import annotations

import math

import numpy as np

from tilewright.target.nvgpu import choice, products, streams, threads
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.arithmetic import LENGTHY
from tilewright.tile.grid import BlockMapping, Squeezed
from tilewright.tile.ir import users, walk
from tilewright.tile.native import NativeKernel

_SHORT = 40  # ops of a body that gets by with forty registers
# Functions that are faster with sixty-four.
_WIDE = frozenset(("sin", "cos", "tan", "erf", "erfc", "cbrt", "lgamma", "digamma"))
_FEW_BLOCKS = 256  # about two for each multiprocessor


def choose_threads(kernel: NativeKernel, asked: int | None, arch: Arch) -> int:
  """Enough threads that each has a few vectors of the largest block, or one where there are too few blocks to wait for each other, or where
  several arrays pass by once."""
  if asked is not None:
    return asked * threads.WARP
  casts = choice.casts(kernel)
  if casts:
    return casts[0].num_warps * threads.WARP
  rows = [op.result.tile.shape[-2] for op in walk(kernel.body.body) if op.name == "dot" and products.is_for_warps(op)]
  if rows:  # a warp for each sixteen rows of a product, so that those are reduced inside of it
    return threads.WARP * max(4, min(8, 1 << max(1, max(rows) // 16).bit_length() - 1))
  largest = max((math.prod(_kept(m)) for m in kernel.mapping.block_mappings), default=1)
  if _passing(kernel, arch) > 1:
    return max(128, min(1024, largest // choose_lanes(kernel) // threads.WARP * threads.WARP))
  if largest > 512 * 32:
    return 512
  few = None not in kernel.mapping.grid and math.prod(d or 1 for d in kernel.mapping.grid) < _FEW_BLOCKS
  return 256 if largest >= 256 * (choose_lanes(kernel) if few else 32) else 128


def _kept(m: BlockMapping) -> list[int]:
  return [d.block_size for d in m.block_shape if not isinstance(d, Squeezed)]


def choose_lanes(kernel: NativeKernel, num_threads: int = 4 * threads.WARP) -> int:
  """Elements of a vector: sixteen bytes of the widest of the blocks with the longest rows, so that neighbouring threads touch neighbouring
  memory; four where with more of them there would be nothing for some threads to do."""
  mappings = [m for m in kernel.mapping.block_mappings if _kept(m)]
  largest = max(mappings, key=lambda m: math.prod(_kept(m)), default=None)
  if largest is None:
    return 4
  widest = max(np.dtype(m.array_aval.dtype).itemsize for m in mappings if _kept(m)[-1] == _kept(largest)[-1])
  lanes = max(4, min(8, 16 // widest))
  return lanes if math.prod(_kept(largest)) >= lanes * num_threads else 4


def resident_blocks(kernel: NativeKernel, arch: Arch, num_threads: int, parallel: tuple[int, ...]) -> int:
  """How many blocks of threads a multiprocessor shall have room for: of those that take many steps, its share of all there are."""
  wanted = max(1, _resident_threads(kernel, arch, num_threads) // num_threads)
  grid = kernel.mapping.grid
  if len(parallel) == len(grid) or None in grid:
    return wanted
  share = -(-math.prod(grid[d] or 0 for d in parallel) // streams.PROCESSORS)
  return max(1, min(wanted, share))


def _resident_threads(kernel: NativeKernel, arch: Arch, num_threads: int) -> int:
  """How many threads of a multiprocessor shall have registers: more hide the latency of memory, fewer have room for more values.

  1024 leave 64 registers for each, which a kernel with one or two passes over its rows can do with. One that writes little waits for its
  loads only, and wants more of them under way, as does one that has a few values at a time of what passes by. One that holds as many values
  as there would be registers would keep some in memory: the derivative of softmax takes 184 microseconds instead of 228. All this was
  measured on an H200.
  """
  names = [op.name for op in walk(kernel.body.body)]
  if "dot" in names:
    return 1
  if names.count("reduce") > 2 or ("reduce" in names and _held(kernel) >= 64 * num_threads):
    return 768
  if _passing(kernel, arch):
    return -(-1536 // num_threads) * num_threads
  sizes = [math.prod(_kept(m)) for m in kernel.mapping.block_mappings]
  return 1024 if max(sizes[kernel.mapping.num_inputs :], default=0) * 2 > max(sizes, default=0) else 1280


def _passing(kernel: NativeKernel, arch: Arch) -> int:
  """How many arrays pass by once, of which a body has a few values at a time; none if it has more, or needs many registers for them."""
  names = [op.name for op in walk(kernel.body.body)]
  if len(names) > _SHORT or not {"reduce", "transpose", "dot"}.isdisjoint(names):
    return 0
  count = len(streams.streams(kernel, arch))
  return count if LENGTHY.isdisjoint(names) or (count == 1 and _WIDE.isdisjoint(names)) else 0


def _held(kernel: NativeKernel) -> int:
  """How many elements of its inputs a body has at a time, besides what is the same for all instances."""
  moving = (
    math.prod(_kept(m))
    for m, index_map in zip(kernel.mapping.input_mappings, kernel.index_maps)
    if index_map is not None and not set(index_map.params).isdisjoint(users(index_map.body))
  )
  return sum(moving)
