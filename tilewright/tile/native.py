"""A kernel as a native target takes it: its body and its index maps in the tile IR."""

from __future__ import annotations

import dataclasses

from tilewright.tile.formats import width
from tilewright.tile.grid import BlockMapping, BoundedSlice, GridMapping
from tilewright.tile.ir import Function, Value, copied, users
from tilewright.tile.types import Type


@dataclasses.dataclass(frozen=True)
class NativeKernel:
  """The body takes a ref for each prefetched scalar, input block, output block and scratch buffer. An index map takes the grid indices,
  then the prefetched refs, and yields for each dimension of its array a scalar, a start and a size for a bounded slice, or a tile of
  element numbers for an indirect dimension; it is None for an operand that is not blocked. `scratch_values` are the initial contents of
  scratch buffers, where those are not poison or zero.

  With several `warpgroups`, the last grid dimension counts them: the instances along it run concurrently, as one thread block (CTA), and
  share all scratch memory except accumulators. They may also be cores of a mesh (`are_cores`), which synchronise through semaphores.

  A kernel that accesses other devices has a `mesh`: for each device axis, the parameter that holds this device's position, and the size.
  The devices may belong to several processes (`across_processes`).

  With `writes_all`, every element of every output is written, perhaps by another device, and no output is filled with poison.

  Where the CTAs of a `cluster` access each other's shared memory, it has their number along each of its dimensions: the last ones of the
  grid, but for that of the warpgroups.

  All CTAs of a launch share the scratch semaphores with the numbers `grid_semaphores`, and so run at the same time.

  With `in_order`, instances run sequentially, whatever else is known of the grid. A call with `has_side_effects` is
  never merged with an equal one; unless it `is_removable`, it runs even if its outputs are unused."""

  name: str
  body: Function
  index_maps: tuple[Function | None, ...]
  mapping: GridMapping
  input_output_aliases: tuple[tuple[int, int], ...]
  scratch: tuple[Type, ...]  # of refs and semaphores
  dimension_semantics: tuple[str, ...] | None = None
  in_order: bool = False
  has_side_effects: bool = False
  is_removable: bool = False
  scratch_values: tuple[tuple[int, ...] | None, ...] = ()
  warpgroups: int = 1
  are_cores: bool = False
  mesh: tuple[tuple[int, int], ...] = ()
  across_processes: bool = False
  writes_all: bool = False
  cluster: tuple[int, ...] = ()
  grid_semaphores: tuple[int, ...] = ()

  def is_packed(self, number: int) -> bool:
    """Whether an input or output keeps XLA's packed form: sub-byte elements, of which each instance gets its own block.

    An array that all instances see as a whole, or that is aliased, has one byte per element instead."""
    mapping = self.mapping.block_mappings[number]
    if width(mapping.array_aval.dtype) >= 8 or self.index_maps[number] is None:
      return False
    prefetch, inputs = self.mapping.num_prefetch, self.mapping.num_inputs
    return all(number not in (i - prefetch, inputs + o) for i, o in self.input_output_aliases)


def copied_kernel(kernel: NativeKernel) -> NativeKernel:
  """A copy of a kernel with new ops: passes may change it without affecting the original."""
  maps = tuple(None if f is None else copied(f) for f in kernel.index_maps)
  return dataclasses.replace(kernel, body=copied(kernel.body), index_maps=maps)


def moving_dims(kernel: NativeKernel, position: int) -> set[int]:
  """The grid dimensions along which the block of an input or output may change: those whose index its index map uses, and those with which
  vmap selects among the batched prefetched operands that it reads."""
  index_map, mapping = kernel.index_maps[position], kernel.mapping
  if index_map is None:
    return set()
  used = {*users(index_map.body), *index_map.body.yielded}
  rank = len(mapping.grid)
  selecting = zip(index_map.params[rank:], mapping.prefetch_vmapped)
  found = {d for param, dims in selecting if param in used for d in dims}
  return found | {d for d in range(rank) if index_map.params[d] in used}


def index_entries(m: BlockMapping, index_map: Function) -> list[tuple[Value, ...]]:
  """What an index map yields for each dimension."""
  left = iter(index_map.body.yielded)
  return [(next(left), next(left)) if isinstance(dim, BoundedSlice) else (next(left),) for dim in m.block_shape]
