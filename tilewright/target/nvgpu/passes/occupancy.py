"""Occupancy: the number of threads of a CTA, and the number of CTAs resident on an SM.

choose_threads      of a block: each has a few vectors of the largest block of data
choose_lanes        elements of a vector
resident_blocks     more of them hide the latency of memory, fewer leave more registers for each thread
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.emit.units import threads
from tilewright.target.nvgpu.passes import l2_hints
from tilewright.target.nvgpu.passes.elementwise_chains import LENGTHY
from tilewright.target.nvgpu.passes.layouts import choice
from tilewright.target.nvgpu.passes.layouts.dot_kinds import is_for_warps
from tilewright.tile.grid import BlockMapping, Squeezed
from tilewright.tile.ir import Op, Value, users, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.types import TileType

_SHORT = 40  # ops of a body that gets by with forty registers
# Functions that are faster with sixty-four.
_WIDE = frozenset(("sin", "cos", "tan", "erf", "erfc", "cbrt", "lgamma", "digamma"))
_SHARED = 1 / 8  # of an input that is the same for all instances, what takes registers while others are reduced
_FEW_BLOCKS = 256  # about two for each SM
_BESIDES = 40  # registers that a thread needs besides those of a tile


def choose_threads(kernel: NativeKernel, requested: int | None, arch: Arch) -> int:
  """Enough threads that each has a few vectors of the largest block, or one where there are too few blocks to wait for each other, or where
  several arrays pass by once."""
  if requested is not None:
    return requested * threads.WARP
  casts = choice.casts(kernel)
  if casts:
    return casts[0].num_warps * threads.WARP
  rows = [op.result.tile.shape[-2] for op in walk(kernel.body.body) if op.name == "dot" and is_for_warps(op)]
  if rows:  # a warp for each sixteen rows of a product, so that those are reduced inside of it
    return threads.WARP * max(4, min(8, 1 << max(1, max(rows) // 16).bit_length() - 1))
  largest = max((math.prod(_kept_dims(m)) for m in kernel.mapping.block_mappings), default=1)
  if _passing(kernel, arch) > 1:
    return max(128, min(1024, largest // choose_lanes(kernel) // threads.WARP * threads.WARP))
  if largest > 512 * 32:
    return 512
  few = None not in kernel.mapping.grid and math.prod(d or 1 for d in kernel.mapping.grid) < _FEW_BLOCKS
  return 256 if largest >= 256 * (choose_lanes(kernel) if few else 32) else 128


def _kept_dims(m: BlockMapping) -> list[int]:
  return [d.block_size for d in m.block_shape if not isinstance(d, Squeezed)]


def choose_lanes(kernel: NativeKernel, num_threads: int = 4 * threads.WARP) -> int:
  """Elements of a vector: sixteen bytes of the widest of the blocks with the longest rows, so that neighbouring threads touch neighbouring
  memory; four where with more of them there would be nothing for some threads to do."""
  mappings = [m for m in kernel.mapping.block_mappings if _kept_dims(m)]
  largest = max(mappings, key=lambda m: math.prod(_kept_dims(m)), default=None)
  if largest is None:
    return 4
  widest = max(np.dtype(m.array_aval.dtype).itemsize for m in mappings if _kept_dims(m)[-1] == _kept_dims(largest)[-1])
  lanes = max(4, min(8, 16 // widest))
  return lanes if math.prod(_kept_dims(largest)) >= lanes * num_threads else 4


def resident_blocks(kernel: NativeKernel, arch: Arch, num_threads: int, parallel: tuple[int, ...]) -> int:
  """How many CTAs an SM shall have room for: of those that take many steps, its share of all there are."""
  wanted = _resident_threads(kernel, arch, num_threads)
  if choice.casts(kernel):  # tiles are held as the user says, not passed over
    wanted = min(wanted, threads.REGISTERS // (_largest_tile(kernel) // num_threads + _BESIDES))
  wanted = max(1, wanted // num_threads)
  grid = kernel.mapping.grid
  if len(parallel) == len(grid) or None in grid:
    return wanted
  share = -(-math.prod(grid[d] or 0 for d in parallel) // l2_hints.PROCESSORS)
  return max(1, min(wanted, share))


def _largest_tile(kernel: NativeKernel) -> int:
  """How many registers of 32 bits all threads need to hold it."""
  tiles = (v.tile for op in walk(kernel.body.body) for v in op.results if isinstance(v.type, TileType))
  return max((math.prod(t.shape) * max(1, t.dtype.itemsize) // 4 for t in tiles), default=0)


def _resident_threads(kernel: NativeKernel, arch: Arch, num_threads: int) -> int:
  """How many threads of an SM shall have registers: more hide the latency of memory, fewer have room for more values.

  1024 threads leave 64 registers for each, enough for a kernel with one or two passes over its rows. A kernel that writes little only
  waits for its loads, so more threads keep more loads in flight; the same holds for one that has a few streamed values at a time. A kernel
  that holds as many values as there would be registers would spill, so it gets fewer threads: 768 or 512.
  docs/benchmarks.md ("Choices of the GPU target") has the measurements.
  """
  names = [op.name for op in walk(kernel.body.body)]
  if "dot" in names:
    return 1
  sizes = [math.prod(_kept_dims(m)) for m in kernel.mapping.block_mappings]
  writes_much = max(sizes[kernel.mapping.num_inputs :], default=0) * 2 > max(sizes, default=0)
  if "reduce" in names and writes_much:
    filled = _filled(kernel) / num_threads
    if filled >= (56 if num_threads <= 256 else 62):  # of larger blocks only one would be left, which has to pay
      return 512 if filled >= 80 else 768
  if names.count("reduce") > 2 or ("reduce" in names and _held(kernel) >= 64 * num_threads):
    return 768
  if _passing(kernel, arch):
    return -(-1536 // num_threads) * num_threads
  return 1024 if writes_much else 1280


def _passing(kernel: NativeKernel, arch: Arch) -> int:
  """How many arrays pass by once, of which a body has a few values at a time; none if it has more, or needs many registers for them."""
  names = [op.name for op in walk(kernel.body.body)]
  if len(names) > _SHORT or not {"reduce", "transpose", "dot"}.isdisjoint(names):
    return 0
  count = sum(block.count == 1 for _, block in l2_hints.streams(kernel, arch))
  return count if LENGTHY.isdisjoint(names) or (count == 1 and _WIDE.isdisjoint(names)) else 0


def _held(kernel: NativeKernel) -> int:
  """How many elements of its inputs a body has at a time, besides what is the same for all instances."""
  inputs = zip(kernel.mapping.input_mappings, kernel.index_maps)
  return sum(math.prod(_kept_dims(m)) for m, index_map in inputs if _moves(index_map))


def _filled(kernel: NativeKernel) -> float:
  """How many registers of 32 bits all threads fill, about, before they have what reductions give: with what those read, and a little with
  inputs that are the same for all instances, which are there for what follows."""
  mapping = kernel.mapping
  waiting = [o for op in walk(kernel.body.body) if op.name == "reduce" for o in op.operands]
  read: set[Value] = set()
  while waiting:
    v = waiting.pop()
    if v not in read:
      read.add(v)
      waiting += v.owner.operands if isinstance(v.owner, Op) else []
  total = 0.0
  refs = kernel.body.params[mapping.num_prefetch :]
  for m, index_map, ref in zip(mapping.input_mappings, kernel.index_maps, refs):
    share = float(ref in read) if _moves(index_map) else _SHARED
    total += share * math.prod(_kept_dims(m))
  return total


def _moves(index_map: Any) -> bool:
  """Whether the block of an input is another one for other instances."""
  return index_map is not None and not set(index_map.params).isdisjoint(users(index_map.body))
