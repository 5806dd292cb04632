"""Which grid dimensions may run at the same time.

A dimension is parallel if the user says so, or if it is proven: each of its indices writes its own block of every output, and nothing is
carried from one instance to the next in scratch memory or in an array that the kernel sees as a whole. A dimension of size one always is.
In a kernel whose instances act on one another or print (`in_order`), no other one is.

An output's blocks are told apart by dimension d if one entry of its index map is the index d itself and its block dimension counts whole
blocks (or single elements): then different d mean different, disjoint blocks.
"""

from __future__ import annotations

from tilewright.tile.grid import Blocked, Squeezed
from tilewright.tile.ir import Op, Value
from tilewright.tile.native import NativeKernel, index_entries


def parallel_dims(kernel: NativeKernel) -> list[int]:
  grid = kernel.mapping.grid
  if kernel.in_order:
    return [d for d in range(len(grid)) if grid[d] == 1]
  said = kernel.dimension_semantics
  return [
    d
    for d in range(len(grid))
    if grid[d] == 1 or (said[d] == "parallel" if said is not None and d < len(said) else _proven(kernel, d))
  ]


def _proven(kernel: NativeKernel, dim: int) -> bool:
  mapping = kernel.mapping
  if kernel.scratch or not mapping.num_outputs:
    return False
  for m, index_map in zip(mapping.output_mappings, kernel.index_maps[mapping.num_inputs :]):
    if index_map is None:
      return False
    index = index_map.params[dim]
    entries = zip(m.block_shape, index_entries(m, index_map))
    if not any(isinstance(kind, Blocked | Squeezed) and _is(entry[0], index) for kind, entry in entries):
      return False
  return True


def _is(v: Value, index: Value) -> bool:
  """Whether a value is an index as it is, up to conversions between integers."""
  while isinstance(v.owner, Op) and v.owner.name == "convert":
    v = v.owner.operands[0]
  return v is index
