"""Which grid dimensions may run at the same time.

A dimension is parallel if there is a proof: each of its indices writes its own block of every output, and nothing is carried from one
instance to the next in scratch memory or in an array that the kernel sees as a whole. It is also parallel if the user declares it
"parallel", unless its indices visit the same block of some output (`revisits`): an output that serves as per-core memory keeps the order.
An input that the body writes to (one aliased to an output, of which the call has a copy) carries its contents like an output. "concurrent"
dimensions are those of a programming model in which instances share all memory. A dimension of size one is always parallel. In a kernel
whose instances interact or print (`in_order`), no other dimension is.

Dimension d separates an output's blocks if one entry of its index map is the index d itself and its block dimension counts whole
blocks (or single elements): then different d mean disjoint blocks. If every instance sees an output as a whole, the body must access
disjoint parts of it (`disjoint_instances`): `o_ref[pl.program_id(0)] = …`.

Scratch memory carries nothing across d if every run of the dimensions after d writes it before reading it (`@pl.when(k == 0)` of a
contraction along k), and all dimensions before d are parallel too. A kernel with a recurrence along its last dimension, which separates
outputs as well, is parallel along the dimensions before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.tile.boxes import unconverted
from tilewright.tile.dead_code import accesses
from tilewright.tile.disjoint_instances import Parts
from tilewright.tile.grid import Blocked, BlockMapping, Squeezed
from tilewright.tile.ir import Function, walk
from tilewright.tile.native import NativeKernel, index_entries
from tilewright.tile.revisits import tells_blocks_apart
from tilewright.tile.types import RefType
from tilewright.tile.uninitialized import scratch_to_poison


def parallel_dims(kernel: NativeKernel) -> list[int]:
  """The dimensions whose indices may run concurrently and independently; the dimension of warpgroups is not among them."""
  found = _parallel_dims(kernel)
  return [d for d in found if kernel.warpgroups == 1 or d != len(kernel.mapping.grid) - 1]


def _parallel_dims(kernel: NativeKernel) -> list[int]:
  grid = kernel.mapping.grid
  if kernel.in_order:
    return [d for d in range(len(grid)) if grid[d] == 1]
  semantics = kernel.dimension_semantics
  is_declared = [semantics is not None and d < len(semantics) for d in range(len(grid))]
  given: list[int] = []
  for d in range(len(grid)):
    if grid[d] == 1 or (semantics is not None and is_declared[d] and _holds(kernel, semantics[d], d, given)):
      given.append(d)
  proven: list[int] = []
  for d in range(len(grid)):
    if d not in given and not is_declared[d] and _has_disjoint_outputs(kernel, d, [*given, *proven]):
      proven.append(d)  # perhaps because those before it are
  if kernel.scratch:
    first = next((d for d in range(len(grid)) if d not in given and d not in proven), len(grid))
    proven = [d for d in proven if d < first]
    while proven and not _rewrites_scratch(kernel, [*given, *proven]):
      proven.pop()
  return sorted([*given, *proven])


def _holds(kernel: NativeKernel, semantics: str, dim: int, parallel: Sequence[int]) -> bool:
  """Whether instances along a dimension may run concurrently, given the semantics that the user declared."""
  if semantics != "parallel":
    return semantics == "concurrent"
  mapping = kernel.mapping
  for position in _written(kernel):
    m, index_map = mapping.block_mappings[position], kernel.index_maps[position]
    if index_map is None:
      if not m.in_place and not _touches_parts(kernel, position, dim, parallel):
        return False
    elif not has_distinct_blocks(m, index_map, dim) and not tells_blocks_apart(
      m.block_shape, index_entries(m, index_map), index_map, mapping.grid, dim
    ):
      return False
  return True


def _written(kernel: NativeKernel) -> list[int]:
  """The positions of the operands that carry something from one instance to the next: outputs, and inputs that the body writes to."""
  mapping = kernel.mapping
  changed = {base for op in walk(kernel.body.body) for base in accesses(op)[1]}
  inputs = kernel.body.params[mapping.num_prefetch : mapping.num_prefetch + mapping.num_inputs]
  shared = {
    into - mapping.num_prefetch for into, out in kernel.input_output_aliases if is_one_memory(kernel, into, out)
  }
  outputs = range(mapping.num_inputs, len(mapping.block_mappings))
  return [*(k for k, param in enumerate(inputs) if param in changed and k not in shared), *outputs]


def is_one_memory(kernel: NativeKernel, into: int, out: int) -> bool:
  """Whether an aliased output is the memory of the input itself, rather than a copy that starts with its contents."""
  mapping, source = kernel.mapping, into - kernel.mapping.num_prefetch
  return source >= 0 and mapping.input_mappings[source].in_place and mapping.output_mappings[out].in_place


def _rewrites_scratch(kernel: NativeKernel, parallel: list[int]) -> bool:
  """Whether each point of some dimensions writes all scratch memory before it reads it."""
  if any(not isinstance(kind, RefType) for kind in kernel.scratch) or any(v is not None for v in kernel.scratch_values):
    return False
  return not scratch_to_poison(kernel, parallel)


def _has_disjoint_outputs(kernel: NativeKernel, dim: int, parallel: Sequence[int]) -> bool:
  """Whether no two instances along a dimension, at the same indices along the parallel ones, access the same part of an output."""
  mapping = kernel.mapping
  if not mapping.num_outputs:
    return False
  for position in _written(kernel):
    index_map = kernel.index_maps[position]
    if index_map is None:
      if not _touches_parts(kernel, position, dim, parallel):
        return False
    elif not has_distinct_blocks(mapping.block_mappings[position], index_map, dim):
      return False
  return True


def has_distinct_blocks(m: BlockMapping, index_map: Function, dim: int) -> bool:
  """Whether different indices along a grid dimension mean different blocks."""
  entries = zip(m.block_shape, index_entries(m, index_map))
  index = index_map.params[dim]
  return any(isinstance(kind, Blocked | Squeezed) and unconverted(entry[0]) is index for kind, entry in entries)


def _touches_parts(kernel: NativeKernel, position: int, dim: int, parallel: Sequence[int]) -> bool:
  """Whether instances along a dimension access disjoint parts of an operand, though each sees it as a whole."""
  mapping = kernel.mapping
  if dim < mapping.num_vmapped:
    return False
  out = position - mapping.num_inputs
  aliased = [into for into, o in kernel.input_output_aliases if o == out and is_one_memory(kernel, into, o)]
  parts = Parts(kernel.body, mapping.grid[mapping.num_vmapped :])
  others = [d - mapping.num_vmapped for d in parallel]
  refs = [kernel.body.params[i] for i in (mapping.num_prefetch + position, *aliased)]
  return parts.are_apart(refs, dim - mapping.num_vmapped, others)
