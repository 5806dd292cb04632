"""A kernel over its grid, as one loop of JAX operations.

Each step cuts the instance's blocks out of the arrays, runs the body on them, and puts the output blocks back:

    for step in range(points):            # the last grid dimension is the fastest
      indices = unravel(step)
      blocks  = [read_block(x, index_map(indices)) for x in (*inputs, *outputs)]
      body(*prefetched, *blocks, *scratch)
      outputs = [write_block(y, index_map(indices), block)]

A block is read and written like any other index (see `refs`): its out-of-bounds part is poison when read and dropped when written. An
operand without an index map is not split into blocks: the body gets the array. Where a written block may extend past the edge, the loop
carries the block too (`PreviousBlock`), and a step with the same block as the previous one gets it unchanged: a kernel may keep state
outside of the array, as in the VMEM of a TPU.

What a body writes to an input is kept in a copy of the array that belongs to the call: later steps see it, the caller does not. If input
and output are aliased in place (`pl.ANY`, `plgpu.GMEM`), they are one memory.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from itertools import compress
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.runtime import _jax
from tilewright.target.xla import refs
from tilewright.target.xla.evaluate import Cell, GlobalRef, Instance, evaluate, find_globals
from tilewright.tile.grid import Blocked, BlockMapping, BoundedSlice, Element, GridMapping, Indirect, Kernel, Squeezed
from tilewright.tile.memory import is_semaphore

Slice = _jax.indexing.Slice
NDIndexer = _jax.indexing.NDIndexer


@dataclasses.dataclass(frozen=True)
class BlockIndex:
  """Where a block lies: an indexer for the (virtually padded) array, and which of its elements count."""

  indexer: Any
  squeezed: tuple[int, ...]
  valid: tuple[tuple[int, Any], ...]  # (dimension, number of elements that count) for bounded slices


class PreviousBlock(NamedTuple):
  """The block of the previous step: its location, and its final contents. `place` is [1, …], or zeros before the first step."""

  place: Any
  value: Any


def run(kernel: Kernel, *operands: Any, finite: bool = False) -> list[Any]:
  """Run a kernel on dynamic grid bounds, prefetched scalars and inputs; returns its outputs.

  With `finite`, what lies beyond an edge is not poison but other elements of the array, and memory starts as zeros. Reverse derivatives are
  taken so: a result that is dropped has a cotangent of zero, and zero times NaN would reach what all blocks share, such as weights.
  """
  mapping = kernel.grid_mapping
  bounds, rest = operands[: mapping.num_dynamic_bounds], operands[mapping.num_dynamic_bounds :]
  prefetched, inputs = rest[: mapping.num_prefetch], rest[mapping.num_prefetch :]
  grid = mapping.with_bounds([jnp.asarray(b, jnp.int32) for b in bounds])
  aliases = {out: into for into, out in kernel.input_output_aliases}
  first_value = refs.zeros if finite else refs.poison
  outputs = tuple(
    _initial_output(kernel, i, aliases, prefetched, inputs, first_value) for i in range(mapping.num_outputs)
  )
  scratch = tuple(first_value(v.aval.shape, v.aval.dtype) for v in kernel.jaxpr.invars[_first_scratch(mapping) :])
  global_refs = find_globals(kernel.jaxpr)
  global_values = tuple(ref.initial() for ref in global_refs.values())

  written = _written_inputs(kernel)
  kept = {} if _is_one_step(grid) else _initial_kept(kernel, written, first_value)

  def step(indices: tuple[Any, ...], state: Any) -> Any:
    changed, rest = state
    seen = [changed[written.index(i)] if i in written else x for i, x in enumerate(inputs)]
    return _step(kernel, grid, indices, prefetched, seen, written, aliases, global_refs, rest, finite)

  _, (found, *_) = _loop(grid, step, (tuple(inputs[i] for i in written), (outputs, scratch, global_values, kept)))
  return list(found)


def _written_inputs(kernel: Kernel) -> list[int]:
  """The numbers of the inputs that the body writes to."""
  mapping = kernel.grid_mapping
  of_inputs = kernel.jaxpr.invars[mapping.num_prefetch : mapping.num_prefetch + mapping.num_inputs]
  effects = (_jax.state_types.WriteEffect, _jax.state_types.AccumEffect)
  written = {e.input for e in kernel.jaxpr.effects if isinstance(e, effects)}
  return [i for i, v in enumerate(of_inputs) if v in written]


def _first_scratch(mapping: GridMapping) -> int:
  return mapping.num_prefetch + mapping.num_inputs + mapping.num_outputs


def _initial_output(
  kernel: Kernel, i: int, aliases: dict[int, int], prefetched: Sequence[Any], inputs: Sequence[Any], first_value: Any
) -> Any:
  if i in aliases:
    return (*prefetched, *inputs)[aliases[i]]
  aval = kernel.grid_mapping.output_mappings[i].array_aval
  return first_value(aval.shape, aval.dtype)


def _initial_kept(kernel: Kernel, written: Sequence[int], first_value: Any) -> dict[int, PreviousBlock]:
  """A block for each operand, by number, that is written and may hang over the edge of its array."""
  mapping = kernel.grid_mapping
  outputs = range(mapping.num_inputs, len(mapping.block_mappings))
  found = {}
  for k in (*written, *outputs):
    m, aval = mapping.block_mappings[k], kernel.jaxpr.invars[mapping.num_prefetch + k].aval
    if m.keeps_overhang:
      length = 1 + sum(d.block_size if isinstance(d, Indirect) else 2 for d in m.block_shape)
      found[k] = PreviousBlock(jnp.zeros((length,), jnp.int32), first_value(aval.shape, aval.dtype))
  return found


def _place_numbers(place: BlockIndex) -> Any:
  """What tells the places of an operand's blocks apart."""
  counts = dict(place.valid)
  parts: list[Any] = [1]
  for axis, part in enumerate(place.indexer.indices):
    parts += [part.start, counts.get(axis, 0)] if isinstance(part, Slice) else [part]
  return jnp.concatenate([jnp.ravel(jnp.asarray(part, jnp.int32)) for part in parts])


def _is_one_step(grid: Sequence[Any]) -> bool:
  return all(isinstance(b, int) and b == 1 for b in grid)


def _loop(grid: Sequence[Any], step: Any, state: Any) -> Any:
  if _is_one_step(grid):
    return step(tuple(jnp.int32(0) for _ in grid), state)
  if any(isinstance(b, int) and b == 0 for b in grid):
    return state  # not even traced: there may be no element to read
  sizes = [jnp.asarray(_jax.core.dimension_as_value(b), jnp.int32) for b in grid]
  points = sizes[0]
  for size in sizes[1:]:
    points = points * size
  if all(isinstance(b, int) for b in grid):
    points = math.prod(grid)  # a static bound lets JAX differentiate and XLA unroll the loop
    if points > jnp.iinfo(jnp.int32).max:
      return _nest(grid, step, state)

  def body(at: Any, state: Any) -> Any:
    indices = []
    left = jnp.asarray(at, jnp.int32)
    for size in reversed(sizes):
      indices.append(lax.rem(left, size))
      left = lax.div(left, size)
    return step(tuple(reversed(indices)), state)

  return lax.fori_loop(0, points, body, state)


def _nest(grid: Sequence[int], step: Any, state: Any, outer: tuple[Any, ...] = ()) -> Any:
  """A loop for each dimension, where the number of points does not fit an int32."""
  if len(outer) == len(grid):
    return step(outer, state)
  return lax.fori_loop(
    0, grid[len(outer)], lambda i, s: _nest(grid, step, s, (*outer, jnp.asarray(i, jnp.int32))), state
  )


def _step(
  kernel: Kernel,
  grid: Sequence[Any],
  indices: tuple[Any, ...],
  prefetched: Sequence[Any],
  inputs: Sequence[Any],
  written: Sequence[int],
  aliases: dict[int, int],
  global_refs: dict[Any, GlobalRef],
  state: Any,
  finite: bool,
) -> Any:
  """One step: gives the inputs that are `written`, then the next state."""
  mapping = kernel.grid_mapping
  outputs, scratch, global_values, kept = state
  num_vmapped = mapping.num_vmapped
  if num_vmapped:
    scratch, global_values = _restarted(kernel, indices[num_vmapped:], scratch, global_refs, global_values)
  names = dict(zip(mapping.grid_names or (), indices[num_vmapped:]))
  globals_ = {key: Cell(value, ref.aval) for (key, ref), value in zip(global_refs.items(), global_values)}
  instance = Instance(indices[num_vmapped:], tuple(grid[num_vmapped:]), names, kernel, globals_, finite)

  avals = [v.aval for v in kernel.jaxpr.invars]
  scalar_cells = [
    Cell(_own_prefetch(x, dims, indices), aval)
    for x, dims, aval in zip(prefetched, mapping.prefetch_vmapped or ((),) * len(prefetched), avals)
  ]
  places = [block_index(m, indices, scalar_cells, instance) for m in mapping.block_mappings]
  now = {k: _place_numbers(place) for k in kept if (place := places[k]) is not None}

  def block_of(k: int, array: Any) -> Any:
    block = read_block(mapping.block_mappings[k], places[k], array, finite=finite)
    return lax.select((now[k] == kept[k].place).all(), kept[k].value, block) if k in kept else block

  out_blocks = [block_of(k, y) for k, y in enumerate(outputs, len(inputs))]
  out_cells = [Cell(b, a) for b, a in zip(out_blocks, avals[len(prefetched) + len(inputs) :])]
  in_cells = []
  sharing = {into - len(prefetched): out for out, into in aliases.items()}
  for i, (m, x) in enumerate(zip(mapping.input_mappings, inputs)):
    out = sharing.get(i)
    if out is not None and m.in_place and mapping.output_mappings[out].in_place:
      in_cells.append(out_cells[out])  # the same memory under two names
    else:
      in_cells.append(Cell(block_of(i, x), avals[len(prefetched) + i]))
  scratch_cells = [Cell(value, aval) for value, aval in zip(scratch, avals[_first_scratch(mapping) :])]

  # Without a loop around it, an output may be the array that an aliased input is, and other inputs too (see `self_updates`).
  is_aliased = [_is_one_step(grid) and k in aliases for k in range(len(outputs))]
  for k in compress(range(len(outputs)), is_aliased):
    like = [c for c in in_cells if (c.aval.shape, c.aval.dtype) == (out_cells[k].aval.shape, out_cells[k].aval.dtype)]
    out_cells[k].contents.add(identity for c in like for identity in c.contents.identities)

  evaluate(kernel.jaxpr, (), [*scalar_cells, *in_cells, *out_cells, *scratch_cells], instance)

  outputs = tuple(
    write_block(m, place, y, cell.value, moved=shared)
    for m, place, y, cell, shared in zip(
      mapping.output_mappings, places[len(inputs) :], outputs, out_cells, is_aliased, strict=True
    )
  )
  changed = tuple(write_block(mapping.input_mappings[i], places[i], inputs[i], in_cells[i].value) for i in written)
  kept = {k: PreviousBlock(now[k], [*in_cells, *out_cells][k].value) for k in kept}
  return changed, (outputs, tuple(c.value for c in scratch_cells), tuple(c.value for c in globals_.values()), kept)


def _restarted(
  kernel: Kernel, own_indices: Sequence[Any], scratch: Any, global_refs: dict[Any, GlobalRef], global_values: Any
) -> tuple[Any, Any]:
  """Scratch memory, and refs that outlive an instance: at the first instance of an element of a batch (vmap), semaphores are at zero again,
  and what outlives an instance has its first value."""
  is_first: Any = True
  for i in own_indices:
    is_first = jnp.logical_and(is_first, i == 0)
  anew = lambda first, value: lax.select(jnp.broadcast_to(is_first, value.shape), first, value)
  avals = [v.aval for v in kernel.jaxpr.invars[_first_scratch(kernel.grid_mapping) :]]
  counts = [is_semaphore(a.dtype) for a in avals]
  scratch = tuple(anew(jnp.zeros_like(x), x) if flag else x for x, flag in zip(scratch, counts, strict=True))
  return scratch, tuple(anew(ref.initial(), x) for ref, x in zip(global_refs.values(), global_values))


def _own_prefetch(x: Any, vmapped_dims: Sequence[int], indices: Sequence[Any]) -> Any:
  """The part of a batched prefetched operand that belongs to this element of the batch."""
  for dim in vmapped_dims:
    x = lax.dynamic_index_in_dim(x, indices[dim], 0, keepdims=False)
  return x


# --- blocks ------------------------------------------------------------------------------------------------------


def block_index(
  mapping: BlockMapping, indices: Sequence[Any], prefetched: Sequence[Cell], instance: Instance
) -> BlockIndex | None:
  """Evaluate an index map; None for an operand that is not cut."""
  if mapping.is_whole_array:
    return None
  jaxpr, consts = _jax.open_jaxpr(mapping.index_map)
  # An index map may read the prefetched scalars but its writes, if any, must not be seen.
  leaves = evaluate(jaxpr, consts, [*indices, *(Cell(c.value, c.aval) for c in prefetched)], instance)
  entries = jax.tree.unflatten(mapping.index_tree, leaves)
  parts: list[Any] = []
  valid: list[tuple[int, Any]] = []
  gather_shape: tuple[int, ...] = ()
  for axis, (dim, entry) in enumerate(zip(mapping.block_shape, entries)):
    refs.check_counts(mapping.array_aval.shape[axis], f"Dimension {axis} of {mapping.origin}")
    match dim:
      case Blocked(size):
        parts.append(Slice(entry * size, size))
      case Element(size, (low, _)):
        parts.append(Slice(entry - low, size))
      case Squeezed():
        parts.append(Slice(entry, 1))
      case BoundedSlice(size):
        start, count = _bounds_of(entry, size)
        parts.append(Slice(start, size))
        valid.append((axis, count))
      case Indirect(size):
        index = entry.value if isinstance(entry, Cell) else entry
        gather_shape = (size,)
        parts.append(jnp.asarray(index, jnp.int32))
  shape = mapping.array_aval.shape
  parts = [_static_if_only_choice(p, d) for p, d in zip(parts, shape)]
  return BlockIndex(NDIndexer(tuple(parts), shape, gather_shape), mapping.squeezed_dims, tuple(valid))


def _bounds_of(entry: Any, size: int) -> tuple[Any, Any]:
  if isinstance(entry, Slice):
    return entry.start, entry.size
  if isinstance(entry, slice):
    start = entry.start or 0
    return start, (size if entry.stop is None else entry.stop - start)
  raise errors.IndexMapError(f"A BoundedSlice dimension needs pl.ds(start, size) from its index map, got {entry}.")


def _static_if_only_choice(part: Any, dim: Any) -> Any:
  """Turn a concrete start into an int, so that a block known to lie inside costs no bounds check."""
  if isinstance(part, Slice) and not isinstance(part.start, int):
    value = _jax.core.to_concrete_value(part.start)
    if value is not None:
      return Slice(int(value), part.size, part.stride)
  return part


def _count_mask(shape: Sequence[Any], valid: Sequence[tuple[int, Any]]) -> Any:
  mask: Any = True
  for axis, count in valid:
    mask = mask & (lax.broadcasted_iota(jnp.int32, tuple(shape), axis) < count)
  return mask


def _may_be_made_finite(mapping: BlockMapping) -> bool:
  aval = mapping.array_aval
  cut = not any(isinstance(dim, Indirect) for dim in mapping.block_shape)
  return mapping.keeps_overhang and cut and jnp.issubdtype(aval.dtype, jnp.inexact) and 0 not in aval.shape


def _is_inside(place: BlockIndex, shape: Sequence[Any]) -> Any:
  """Which elements of a block lie in its array."""
  inside: Any = True
  for axis, (part, dim) in enumerate(zip(place.indexer.indices, place.indexer.shape)):
    at = lax.broadcasted_iota(jnp.int32, tuple(shape), axis) + part.start
    inside = inside & (at >= 0) & (at < dim)
  return inside


def read_block(mapping: BlockMapping, place: BlockIndex | None, array: Any, *, finite: bool = False) -> Any:
  if place is None:
    return array
  block = refs.read(array, [place.indexer])
  if finite and _may_be_made_finite(mapping):
    inside = _count_mask(block.shape, place.valid) & _is_inside(place, block.shape)
    block = jnp.where(inside, block, lax.stop_gradient(refs.nearby(array, place.indexer)))
  elif place.valid:
    block = jnp.where(_count_mask(block.shape, place.valid), block, refs.poison(block.shape, block.dtype))
  return lax.squeeze(block, place.squeezed)


def write_block(mapping: BlockMapping, place: BlockIndex | None, array: Any, block: Any, *, moved: bool = False) -> Any:
  if place is None:
    return block
  block = lax.expand_dims(block, place.squeezed)
  if place.valid:
    old = refs.read(array, [place.indexer])
    block = jnp.where(_count_mask(block.shape, place.valid), block, old)
  return refs.write(array, [place.indexer], block, moved)[1]
