"""The location of a block in its array: the result of an index map, along each dimension.

A block is a contiguous range of elements, of which only some may be valid (a bounded slice), or elements at given numbers (an indirect
dimension).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from tilewright.target.llvm.code import Code
from tilewright.target.llvm.loops import add, i64, mul
from tilewright.target.llvm.memory import Memory
from tilewright.target.llvm.types import I32
from tilewright.tile.grid import Blocked, BlockMapping, BoundedSlice, Element, Indirect, Squeezed
from tilewright.tile.ir import Function, Value, walk
from tilewright.tile.native import index_entries


@dataclasses.dataclass(frozen=True)
class BlockRange:
  """A block along one dimension: `size` elements from `start` on, of which `count` count; or those that `numbers` names."""

  size: int
  start: Any = 0
  count: ir.Value | None = None
  numbers: Memory | None = None


def block_ranges(
  code: Code,
  m: BlockMapping,
  index_map: Function,
  prefetched: Sequence[Memory],
  indices: Sequence[Any],
  keep: Callable[[Value], Memory],
) -> list[BlockRange]:
  """Run an index map. Numbers of elements are kept in memory."""
  count = len(indices)
  for param, i in zip(index_map.params[:count], indices):
    code.env[param] = code.b.trunc(i64(i), I32)
  code.env.update(zip(index_map.params[count:], prefetched))
  for op in walk(index_map.body):
    for result in op.results:
      code.env.pop(result, None)  # of other indices, where the map ran before
  with code.scope():
    code.block(index_map.body)
    return [_block_range(code, dim, entry, keep) for dim, entry in zip(m.block_shape, index_entries(m, index_map))]


def _block_range(code: Code, dim: Any, entry: Any, keep: Callable[[Value], Memory]) -> BlockRange:
  if isinstance(dim, Indirect):
    return BlockRange(dim.block_size, numbers=keep(entry[0]))
  first = code.scalar_index(entry[0])
  match dim:
    case Blocked(size):
      return BlockRange(size, mul(code.b, first, size))
    case Element(size, (low, _)):
      return BlockRange(size, add(code.b, first, -low))
    case BoundedSlice(size):
      return BlockRange(size, first, code.scalar_index(entry[1]))
  assert isinstance(dim, Squeezed)
  return BlockRange(1, first)
