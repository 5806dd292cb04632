"""A kernel over its grid, on the cores of one device.

Before a point of the grid, its blocks are copied from the arrays into memory of the core, unless they are still there from the
previous point; output blocks are written back when the core moves on to another block, and at the end. Dimensions that the user
declared parallel come first in the grid. Their points are visited in a random order (so that a kernel that depends on the order
is detected) and distributed to the cores in equal contiguous ranges. On a mesh every point is a core of its own.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np

from tilewright import errors
from tilewright.runtime import _jax
from tilewright.target.simulator import indexing
from tilewright.target.simulator.evaluate import Instance, Program, evaluate
from tilewright.target.simulator.machine import Core, World
from tilewright.target.simulator.memory import Address, Buffer, Part
from tilewright.tile.grid import Blocked, BlockMapping, BoundedSlice, Element, Indirect, Kernel, Squeezed
from tilewright.tile.memory import SHARED_SPACES, TpuMemorySpace
from tilewright.tile.types import ACCUMULATOR


def num_cores(kernel: Kernel) -> int:
  """How many cores of each device take part."""
  if kernel.mesh is not None:
    return math.prod(int(d) for d in kernel.grid_mapping.grid[kernel.grid_mapping.num_vmapped :])
  return int(kernel.interpret.num_cores_or_threads)


# --- which core visits which points ------------------------------------------------------------------------------


def _num_parallel(kernel: Kernel, rank: int) -> int:
  """How many of the grid's dimensions, from the first, are parallel. Those behind others are visited in order."""
  semantics = getattr(kernel.compiler_params, "dimension_semantics", None)
  if not semantics:
    return 0
  names = [str(getattr(s, "value", s)).lower() for s in semantics]
  flags = [name.endswith("parallel") for name in names]
  flags = flags[kernel.grid_mapping.num_vmapped :]  # vmap puts its own first
  if len(flags) != rank:
    raise errors.GridError(
      f"dimension_semantics: expected one entry for each of the {rank} grid dimensions, got {names}."
    )
  count = flags.index(False) if False in flags else len(flags)
  if any(flags[count:]) and not getattr(kernel.compiler_params, "parallel_dims_anywhere", False):
    raise errors.GridError(
      f"dimension_semantics: parallel dimensions must come first in the grid, got {names}. Reorder the grid."
    )
  return count


def elements_of(kernel: Kernel, grid: Sequence[int]) -> list[tuple[int, ...]]:
  """The indices along the dimensions that vmap added."""
  return list(itertools.product(*map(range, grid[: kernel.grid_mapping.num_vmapped])))


def points_of(
  kernel: Kernel, grid: Sequence[int], core: int, elements: Sequence[tuple[int, ...]] | None = None
) -> Iterator[tuple[int, ...]]:
  """The points that a core visits, in order, in all elements of a batch or in some."""
  elements = elements_of(kernel, grid) if elements is None else elements
  own = tuple(grid[kernel.grid_mapping.num_vmapped :])
  if kernel.mesh is not None:
    place = tuple(int(i) for i in np.unravel_index(core, own)) if own else ()
    yield from ((*batch, *place) for batch in elements)
    return
  count = _num_parallel(kernel, len(own))
  random = np.random.default_rng(kernel.interpret.random_seed or 0)
  orders = [random.permutation(size).tolist() for size in own[:count]]
  parallel = list(itertools.product(*orders))
  if count:
    stretch = -(-len(parallel) // kernel.interpret.num_cores_or_threads)
    parallel = parallel[core * stretch : (core + 1) * stretch]
  elif core > 0:
    parallel = []  # nothing may run beside anything else: the first core does it all
  for batch in elements:
    for outer in parallel:
      for inner in itertools.product(*map(range, own[count:])):
        yield (*batch, *outer, *inner)


# --- blocks ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class BlockLocation:
  """Where a block lies in its array: the elements of each dimension, and the shape of the whole block."""

  parts: tuple[indexing.Part, ...]
  sizes: tuple[int, ...]

  def same_as(self, other: BlockLocation | None) -> bool:
    return other is not None and all(
      np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b
      for a, b in zip(self.parts, other.parts, strict=True)
    )


def _bounds_of(entry: Any, size: int) -> range:
  if isinstance(entry, _jax.indexing.Slice):
    return range(int(entry.start), int(entry.start) + min(int(entry.size), size))
  if isinstance(entry, slice):
    start = int(entry.start or 0)
    return range(start, start + size if entry.stop is None else min(int(entry.stop), start + size))
  raise errors.IndexMapError(f"A BoundedSlice dimension needs pl.ds(start, size) from its index map, got {entry}.")


def block_location(
  mapping: BlockMapping, indices: Sequence[int], prefetched: Sequence[Buffer], instance: Instance
) -> BlockLocation:
  """Evaluate an index map; see `tilewright.tile.grid` for what each kind of dimension means."""
  jaxpr, consts = _jax.open_jaxpr(mapping.index_map)
  leaves = evaluate(jaxpr, consts, [*(np.int32(i) for i in indices), *prefetched], instance)
  entries = jax.tree.unflatten(mapping.index_tree, leaves)
  parts: list[indexing.Part] = []
  for dim, entry in zip(mapping.block_shape, entries):
    match dim:
      case Blocked(size):
        parts.append(range(int(entry) * size, (int(entry) + 1) * size))
      case Element(size, (low, _)):
        parts.append(range(int(entry) - low, int(entry) - low + size))
      case Squeezed():
        parts.append(range(int(entry), int(entry) + 1))
      case BoundedSlice(size):
        parts.append(_bounds_of(entry, size))
      case Indirect():
        parts.append(np.asarray(entry.array if isinstance(entry, Buffer) else entry).astype(np.int64))
  return BlockLocation(tuple(parts), mapping.block_sizes)


def _check_place(mapping: BlockMapping, place: BlockLocation, instance: Instance, *, is_output: bool) -> None:
  """A block may extend past the edge of its array, but no block begins beyond it."""
  if instance.program.options.out_of_bounds_reads != "raise" and not is_output:
    return
  for axis, (kind, part, dim) in enumerate(zip(mapping.block_shape, place.parts, mapping.array_aval.shape)):
    low, high = kind.padding if isinstance(kind, Element) else (0, 0)
    if isinstance(part, range):
      outside = len(part) > 0 and (part.start < -low or part.start >= int(dim) + high)
    else:
      outside = bool(part.size) and (int(part.min()) < 0 or int(part.max()) >= int(dim))
    if outside:
      raise errors.OutOfBoundsError(
        f"The block of {mapping.origin} at grid point {instance.indices} ({instance.core}) is outside of the array of shape "
        f"{tuple(mapping.array_aval.shape)}: its index map returns {part} of dimension {axis}. Make the grid smaller or clamp "
        "the index map."
      )


class Operands:
  """The operands of one device: whole arrays in memory that its cores share."""

  def __init__(self, program: Program, world: World, device: int, prefetched: Sequence[Any], inputs: Sequence[Any]):
    kernel, mapping = program.kernel, program.kernel.grid_mapping
    aliases = {out: into for into, out in kernel.input_output_aliases}
    every = (*prefetched, *inputs)
    self.prefetched = list(prefetched)
    self.outputs: list[Buffer] = []
    for i, m in enumerate(mapping.output_mappings):
      address = Address(device, None, ("output", i))
      initial = np.array(every[aliases[i]]) if i in aliases else None
      self.outputs.append(world.allocate(address, m.array_aval, m.origin, initial))
    sharing = {into - len(prefetched): out for out, into in aliases.items()}
    self.inputs: list[Buffer] = []
    for i, (m, x) in enumerate(zip(mapping.input_mappings, inputs)):
      out = sharing.get(i)
      if out is not None and m.in_place and mapping.output_mappings[out].in_place:
        self.inputs.append(self.outputs[out])  # the same memory under two names
      else:
        self.inputs.append(world.allocate(Address(device, None, ("input", i)), m.array_aval, m.origin, np.array(x)))


class CoreRun:
  """One core at work on its points of the grid."""

  def __init__(self, program: Program, core: Core, operands: Operands, grid: Sequence[int], device_axes: Sequence[Any]):
    self.program = program
    self.core = core
    self.world = core.world
    self.operands = operands
    self.grid = tuple(grid)
    self.mapping = program.kernel.grid_mapping
    self.mesh_axes = tuple((name, size) for name, size, _ in device_axes)
    self.device_indices = {name: index for name, _, index in device_axes}
    avals = [v.aval for v in program.kernel.jaxpr.invars]
    first_block = self.mapping.num_prefetch
    first_scratch = first_block + len(self.mapping.block_mappings)
    self.scalars = [
      self._own(("prefetch", i), aval, f"prefetched scalar {i}") for i, aval in enumerate(avals[:first_block])
    ]
    arrays = [*operands.inputs, *operands.outputs]
    self.arrays = arrays
    self.blocks = [
      array if m.is_whole_array or m.in_place else self._own(("block", i), aval, f"the block of {m.origin}")
      for i, (m, array, aval) in enumerate(zip(self.mapping.block_mappings, arrays, avals[first_block:]))
    ]
    self.scratch = [self._scratch(i, aval) for i, aval in enumerate(avals[first_scratch:])]
    self.places: list[BlockLocation | None] = [None] * len(self.blocks)

  def _own(self, key: Any, aval: Any, label: str) -> Any:
    space = getattr(aval, "memory_space", None)
    shared = space in SHARED_SPACES
    subcores = getattr((self.program.kernel.mesh or (None,))[0], "num_subcores", None)
    if space is TpuMemorySpace.VMEM_SHARED and subcores:  # those of one SparseCore share it
      key = (key, self.core.index // subcores)
    return self.world.allocate(Address(self.core.device, None if shared else self.core.index, key), aval, label)

  def _scratch(self, number: int, aval: Any) -> Any:
    """Scratch memory of a core; the warpgroups of a block share theirs, but for accumulators."""
    groups = self.program.kernel.warpgroups
    if groups == 1 or getattr(aval.memory_space, "tile_space", None) == ACCUMULATOR:
      return self._own(("scratch", number), aval, f"scratch {number}")
    address = Address(self.core.device, None, ("scratch", number, self.core.index // groups))
    return self.world.allocate(address, aval, f"scratch {number}")

  def run(self, elements: Sequence[tuple[int, ...]]) -> None:
    """All points of some elements of a batch."""
    for point in points_of(self.program.kernel, self.grid, self.core.index, elements):
      own = point[self.mapping.num_vmapped :]
      if self.program.options.grid_point_recorder is not None:
        self.program.options.grid_point_recorder(tuple(np.int32(i) for i in own), np.int32(self.core.index))
      self._visit(point)
    for i in range(self.mapping.num_inputs, len(self.blocks)):
      self._write_back(i)

  def _visit(self, point: tuple[int, ...]) -> None:
    vmapped = self.mapping.num_vmapped
    names = dict(zip(self.mapping.grid_names or (), point[vmapped:]))
    instance = Instance(
      self.core, self.program, point[vmapped:], self.grid[vmapped:], {**self.device_indices, **names}, self.mesh_axes
    )
    for i, (cell, array) in enumerate(zip(self.scalars, self.operands.prefetched)):
      dims = self.mapping.prefetch_vmapped[i] if self.mapping.prefetch_vmapped else ()
      cell.array = np.array(array[tuple(point[d] for d in dims)])
    for i, m in enumerate(self.mapping.block_mappings):
      if m.is_whole_array:
        continue
      if m.in_place:
        self.blocks[i] = self._part(i, m, block_location(m, point, self.scalars, instance))
      else:
        self._move(i, m, block_location(m, point, self.scalars, instance), instance)
    evaluate(self.program.kernel.jaxpr, (), [*self.scalars, *self.blocks, *self.scratch], instance)

  def _part(self, i: int, mapping: BlockMapping, place: BlockLocation) -> Any:
    """An element of a batched array that the kernel sees in place: the memory of the array itself, for all cores."""
    address = self.arrays[i].address
    at = tuple(int(p[0]) if d in mapping.squeezed_dims else None for d, p in enumerate(place.parts))
    return self.world.allocate(
      dataclasses.replace(address, key=Part(address.key, at)), mapping.block_aval, mapping.origin
    )

  def _move(self, i: int, mapping: BlockMapping, place: BlockLocation, instance: Instance) -> None:
    """Copy the block at `place` into this core's memory, unless it is there."""
    if place.same_as(self.places[i]):
      return
    is_output = i >= self.mapping.num_inputs
    _check_place(mapping, place, instance, is_output=is_output)
    if is_output:
      self._write_back(i)
    self.places[i] = place
    array, block = self.arrays[i], self.blocks[i]
    where = f"the fetch of {mapping.origin} for grid point {instance.indices}"
    if is_output and self.world.clocks is not None:
      found = np.array(indexing.take(array.array, place.parts, array.fill))  # not a fetch that a machine would do
    else:
      found = self.world.fetch(self.core, array, place.parts, where)
    whole = np.full((*place.sizes, *found.shape[len(place.sizes) :]), array.fill, found.dtype)
    whole[tuple(slice(0, d) for d in found.shape)] = found
    whole = np.squeeze(whole, mapping.squeezed_dims)
    parts = [range(d) for d in block.shape]
    self.world.deposit(self.core, block, parts, whole, where)

  def _write_back(self, i: int) -> None:
    place, mapping = self.places[i], self.mapping.block_mappings[i]
    if place is None:
      return
    where = f"the write-back of {mapping.origin}"
    parts = [range(d) for d in self.blocks[i].shape]
    block = np.expand_dims(self.world.fetch(self.core, self.blocks[i], parts, where), mapping.squeezed_dims)
    counted = block[tuple(slice(0, len(p)) for p in place.parts)]
    self.world.deposit(self.core, self.arrays[i], place.parts, counted, where)
    self.places[i] = None
