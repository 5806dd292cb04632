"""Which grid dimensions may run at the same time.

A dimension is parallel if it is proven: each of its indices writes its own block of every output, and nothing is carried from one instance
to the next in scratch memory or in an array that the kernel sees as a whole. It is too if the user says "parallel", unless its indices
visit the same block of some output (`revisits`): an output that serves as memory of a core keeps the order. "concurrent" dimensions are
those of a programming model in which instances share all memory. A dimension of size one is always parallel. In a kernel whose
instances act on one another or print (`in_order`), no other one is.

An output's blocks are told apart by dimension d if one entry of its index map is the index d itself and its block dimension counts whole
blocks (or single elements): then different d mean different, disjoint blocks. Of an output that every instance sees as a whole, the body
must touch parts that are apart (`apart`): `o_ref[pl.program_id(0)] = …`.

Nothing is carried in scratch memory that every run of the dimensions behind d writes before it reads (`@pl.when(k == 0)` of a contraction
along k), if all dimensions before d are parallel too. A recurrence along the last dimension, which tells outputs apart as well, is
parallel along those before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.tile.apart import Parts
from tilewright.tile.grid import Blocked, BlockMapping, Squeezed
from tilewright.tile.initial import scratch_to_poison
from tilewright.tile.ir import Function, Op, Value
from tilewright.tile.native import NativeKernel, index_entries
from tilewright.tile.revisits import tells_blocks_apart
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
  given: list[int] = []
  for d in range(len(grid)):
    if grid[d] == 1 or (said is not None and is_said[d] and _holds(kernel, said[d], d, given)):
      given.append(d)
  proven: list[int] = []
  for d in range(len(grid)):
    if d not in given and not is_said[d] and _tells_outputs_apart(kernel, d, [*given, *proven]):
      proven.append(d)  # perhaps because those before it are
  if kernel.scratch:
    first = next((d for d in range(len(grid)) if d not in given and d not in proven), len(grid))
    proven = [d for d in proven if d < first]
    while proven and not _begins_anew(kernel, [*given, *proven]):
      proven.pop()
  return sorted([*given, *proven])


def _holds(kernel: NativeKernel, said: str, dim: int, parallel: Sequence[int]) -> bool:
  """Whether instances along a dimension may run at the same time, given what the user says of it."""
  if said != "parallel":
    return said == "concurrent"
  mapping = kernel.mapping
  for number, index_map in enumerate(kernel.index_maps[mapping.num_inputs :]):
    m = mapping.output_mappings[number]
    if index_map is None:
      if not m.in_place and not _touches_parts(kernel, number, dim, parallel):
        return False
    elif not _tells_blocks_apart(m, index_map, dim) and not tells_blocks_apart(
      m.block_shape, index_entries(m, index_map), index_map, mapping.grid, dim
    ):
      return False
  return True


def _begins_anew(kernel: NativeKernel, parallel: list[int]) -> bool:
  """Whether each point of some dimensions writes all scratch memory before it reads it."""
  if any(not isinstance(kind, RefType) for kind in kernel.scratch) or any(v is not None for v in kernel.scratch_values):
    return False
  return not scratch_to_poison(kernel, parallel)


def _tells_outputs_apart(kernel: NativeKernel, dim: int, parallel: Sequence[int]) -> bool:
  """Whether no two instances along a dimension, at the same indices along those that are parallel, touch the same part of an output."""
  mapping = kernel.mapping
  if not mapping.num_outputs:
    return False
  for number, index_map in enumerate(kernel.index_maps[mapping.num_inputs :]):
    if index_map is None:
      if not _touches_parts(kernel, number, dim, parallel):
        return False
    elif not _tells_blocks_apart(mapping.output_mappings[number], index_map, dim):
      return False
  return True


def _tells_blocks_apart(m: BlockMapping, index_map: Function, dim: int) -> bool:
  entries = zip(m.block_shape, index_entries(m, index_map))
  index = index_map.params[dim]
  return any(isinstance(kind, Blocked | Squeezed) and _is(entry[0], index) for kind, entry in entries)


def _touches_parts(kernel: NativeKernel, number: int, dim: int, parallel: Sequence[int]) -> bool:
  """Whether instances along a dimension touch parts of an output that are apart, though each sees it as a whole."""
  mapping = kernel.mapping
  if dim < mapping.num_vmapped:
    return False
  own = mapping.num_prefetch + mapping.num_inputs + number
  same = [own, *(into for into, out in kernel.input_output_aliases if out == number)]
  parts = Parts(kernel.body, mapping.grid[mapping.num_vmapped :])
  others = [d - mapping.num_vmapped for d in parallel]
  return parts.are_apart([kernel.body.params[i] for i in same], dim - mapping.num_vmapped, others)


def _is(v: Value, index: Value) -> bool:
  """Whether a value is an index as it is, up to conversions between integers."""
  while isinstance(v.owner, Op) and v.owner.name == "convert":
    v = v.owner.operands[0]
  return v is index
