"""A kernel as a native target takes it: its body and its index maps in the tile IR."""

from __future__ import annotations

import dataclasses

from tilewright.tile.grid import BlockMapping, BoundedSlice, GridMapping
from tilewright.tile.ir import Function, Value
from tilewright.tile.types import Type


@dataclasses.dataclass(frozen=True)
class NativeKernel:
  """The body takes a ref for each prefetched scalar, input block, output block and scratch buffer. An index map takes the grid indices,
  then the prefetched refs, and yields for each dimension of its array a scalar, a start and a size for a bounded slice, or a tile of
  element numbers for an indirect dimension; it is None for an operand that is not cut. `scratch_values` are what scratch buffers start
  from, where that is not poison or zero.

  With `in_order` instances run one after another, whatever else is known of the grid. A kernel with `has_side_effects` runs though nobody
  uses its outputs."""

  name: str
  body: Function
  index_maps: tuple[Function | None, ...]
  mapping: GridMapping
  input_output_aliases: tuple[tuple[int, int], ...]
  scratch: tuple[Type, ...]  # of refs and semaphores
  dimension_semantics: tuple[str, ...] | None = None
  in_order: bool = False
  has_side_effects: bool = False
  scratch_values: tuple[tuple[int, ...] | None, ...] = ()


def index_entries(m: BlockMapping, index_map: Function) -> list[tuple[Value, ...]]:
  """What an index map yields for each dimension."""
  left = iter(index_map.body.yielded)
  return [(next(left), next(left)) if isinstance(dim, BoundedSlice) else (next(left),) for dim in m.block_shape]
