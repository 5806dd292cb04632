"""A kernel as a native target takes it: its body and its index maps in the tile IR."""

from __future__ import annotations

import dataclasses
from typing import Any

from tilewright.tile.grid import GridMapping
from tilewright.tile.ir import Function


@dataclasses.dataclass(frozen=True)
class NativeKernel:
  """The body takes a ref for each prefetched scalar, input block, output block and scratch buffer. An index map takes the grid indices,
  then the prefetched refs, and yields one scalar per dimension of its array; it is None for an operand that is not cut."""

  name: str
  body: Function
  index_maps: tuple[Function | None, ...]
  mapping: GridMapping
  input_output_aliases: tuple[tuple[int, int], ...]
  scratch: tuple[Any, ...]  # RefTypes
  dimension_semantics: tuple[str, ...] | None = None
