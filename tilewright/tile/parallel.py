"""Which grid dimensions may run at the same time.

A dimension is parallel if the user says so, or if it is proven: each of its indices writes its own block of every output, and nothing is
carried from one instance to the next in scratch memory or in an array that the kernel sees as a whole. A dimension of size one always is.
In a kernel whose instances act on one another or print (`in_order`), no other one is.

An output's blocks are told apart by dimension d if one entry of its index map is the index d itself and its block dimension counts whole
blocks (or single elements): then different d mean different, disjoint blocks.

Nothing is carried in scratch memory that every run of the dimensions behind d writes before it reads (`@pl.when(k == 0)` of a contraction
along k), if all dimensions before d are parallel too.
"""

from __future__ import annotations

from tilewright.tile.grid import Blocked, Squeezed
from tilewright.tile.initial import scratch_to_poison
from tilewright.tile.ir import Op, Value
from tilewright.tile.native import NativeKernel, index_entries
from tilewright.tile.types import RefType


def parallel_dims(kernel: NativeKernel) -> list[int]:
  """The dimensions whose indices may run at the same time, apart from each other; that of warpgroups is none of them."""
  found = _parallel_dims(kernel)
  return [d for d in found if kernel.warpgroups == 1 or d != len(kernel.mapping.grid) - 1]


def _parallel_dims(kernel: NativeKernel) -> list[int]:
  grid = kernel.mapping.grid
  if kernel.in_order:
    return [d for d in range(len(grid)) if grid[d] == 1]
  said = kernel.dimension_semantics
  is_said = [said is not None and d < len(said) for d in range(len(grid))]
  given = [d for d in range(len(grid)) if grid[d] == 1 or (is_said[d] and said is not None and said[d] == "parallel")]
  proven = [d for d in range(len(grid)) if d not in given and not is_said[d] and _tells_outputs_apart(kernel, d)]
  if kernel.scratch:
    first = next((d for d in range(len(grid)) if d not in given and d not in proven), len(grid))
    proven = [d for d in proven if d < first]
    if not proven or not _begins_anew(kernel, [*given, *proven]):
      proven = []
  return sorted([*given, *proven])


def _begins_anew(kernel: NativeKernel, parallel: list[int]) -> bool:
  """Whether each point of some dimensions writes all scratch memory before it reads it."""
  if any(not isinstance(kind, RefType) for kind in kernel.scratch) or any(v is not None for v in kernel.scratch_values):
    return False
  return not scratch_to_poison(kernel, parallel)


def _tells_outputs_apart(kernel: NativeKernel, dim: int) -> bool:
  mapping = kernel.mapping
  if not mapping.num_outputs:
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
