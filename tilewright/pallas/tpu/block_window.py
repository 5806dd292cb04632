"""The position of a block: along each dimension, its slice of the array and its slice of the window that holds it.

A block that hangs over the edge of the array is copied in part. With 10 elements in blocks of 4, block 2 is the slice 8 … 9 of
the array and the slice 0 … 1 of the window. What is known when the kernel is traced stays an int, so that most slices are static.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.runtime import _jax
from tilewright.tile.grid import Blocked, BoundedSlice, Element, Indirect, Squeezed

Slice = _jax.indexing.Slice


def is_static(x: Any) -> bool:
  return isinstance(x, int)


def minimum(a: Any, b: Any) -> Any:
  return min(a, b) if is_static(a) and is_static(b) else jnp.minimum(a, b)


def maximum(a: Any, b: Any) -> Any:
  return max(a, b) if is_static(a) and is_static(b) else jnp.maximum(a, b)


def known_or_int32(entry: Any) -> Any:
  """An entry of an index map: an int if it is known, else an int32 scalar."""
  if hasattr(entry, "__index__") and not isinstance(entry, _jax.core.Tracer):
    return entry.__index__()
  return lax.convert_element_type(entry, jnp.int32)


def _inside(start: Any, size: Any, dim: Any) -> tuple[Any, Any]:
  """The part of start … start + size - 1 that lies in an array of size dim, and where in the window it goes."""
  first = maximum(start, 0)
  count = maximum(minimum(start + size, dim) - first, 0)
  if is_static(count) and count == 0:
    return Slice(0, 0), Slice(0, 0)
  return Slice(first, count), Slice(first - start, count)


def dim_slices(block: Any, dim: Any, entry: Any) -> tuple[Any, Any]:
  """Along one dimension: the index into the array, and the index into the window."""
  match block:
    case Blocked(size):
      start = entry * size
      if is_static(dim) and dim % size == 0:
        return Slice(start, size), Slice(0, size)
      return _inside(start, size, dim)
    case Element(size, (low, _)):
      return _inside(entry - low, size, dim)
    case Squeezed():
      return Slice(entry, 1), Slice(0, 1)
    case BoundedSlice():
      return _inside(entry.start, entry.size, dim)
    case Indirect(size):
      return entry, Slice(0, size)
  raise errors.BlockSpecError(f"A pipeline does not support the block dimension {block}.")


def whole_block(dim: Any, entry: Any) -> Any:
  """The index of a block that is not copied: all of it, even where it hangs over the array."""
  match dim:
    case Blocked(size):
      return Slice(entry * size, size)
    case Element(size, (low, _)):
      return Slice(entry - low, size)
    case BoundedSlice(size):
      return Slice(entry.start, size)
  return entry
