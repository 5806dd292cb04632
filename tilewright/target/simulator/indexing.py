"""Reading and writing through ref transforms, in place, on NumPy arrays.

The same meaning as in the portable target (`target.xla.refs`), but with concrete indices: most transforms are NumPy views, so a
write through them lands in the buffer. Out-of-bounds elements are a given fill when read and dropped when written; the caller
decides beforehand, with `first_outside`, whether that is an error.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from tilewright import errors
from tilewright.runtime import _jax

NDIndexer = _jax.indexing.NDIndexer
Slice = _jax.indexing.Slice
_types = _jax.state_types

Part: TypeAlias = "range | np.ndarray"  # the elements a slice takes, or integers (a scalar array for one)


def concrete(indexer: Any) -> tuple[Part, ...]:
  """The elements that an index takes of each dimension; integers count from the end if negative."""
  parts: list[Part] = []
  for index, dim in zip(indexer.indices, indexer.shape):
    if isinstance(index, Slice):
      start, size, stride = int(index.start), int(index.size), int(index.stride)
      parts.append(range(start, start + size * stride, stride))
    else:
      array = np.asarray(index)
      array = array.astype(np.int64) if array.dtype != np.bool_ else array
      parts.append(np.where(array < 0, array + int(dim), array))
  return tuple(parts)


def _is_outside(part: Part, dim: int) -> bool:
  if isinstance(part, range):
    return len(part) > 0 and (part[0] < 0 or part[-1] >= dim)
  return bool(part.size) and (int(part.min()) < 0 or int(part.max()) >= dim)


def first_outside(transforms: Sequence[Any], bounds: Sequence[int]) -> tuple[int, Part, int] | None:
  """The first (dimension, elements, size) that lies outside; `bounds` are those of the buffer itself."""
  for level, transform in enumerate(transforms):
    if isinstance(transform, NDIndexer):
      shape = bounds if level == 0 else transform.shape
      for axis, (part, dim) in enumerate(zip(concrete(transform), shape)):
        if _is_outside(part, int(dim)):
          return axis, part, int(dim)
  return None


def describe(transforms: Sequence[Any]) -> str:
  """The index as the user would write it."""

  def show(part: Part) -> str:
    if isinstance(part, range):
      stop = part[-1] + 1 if len(part) else part.start
      return f"{part.start}:{stop}" + (f":{part.step}" if part.step != 1 else "")
    return str(part.tolist())

  shown = [
    "[" + ", ".join(show(p) for p in concrete(t)) + "]" for t in transforms if type(t) is NDIndexer
  ]  # not `Whole`
  return "".join(shown) or "[...]"


# --- one transform -----------------------------------------------------------------------------------------------


def _basic(part: Part) -> Any:
  if isinstance(part, range):
    return slice(part.start, part.stop, part.step) if len(part) else slice(0, 0)
  return int(part) if part.ndim == 0 else part


def _positions(shape: Sequence[int], parts: Sequence[Part]) -> np.ndarray:
  """The flat number of each element that an index takes, -1 where it lies outside."""
  numbers = np.pad(np.arange(math.prod(shape)).reshape(tuple(shape)), [(0, 1)] * len(shape), constant_values=-1)
  index: list[Any] = []
  for axis, (part, dim) in enumerate(zip(parts, shape)):
    wanted = np.asarray(part, np.int64)
    inside = np.where((wanted >= 0) & (wanted < dim), wanted, dim)  # `dim` is the row of -1 that was added
    if isinstance(part, range):
      numbers = numbers.take(inside, axis)
      index.append(slice(None))
    else:
      index.append(inside)
  return np.asarray(numbers[tuple(index)])


def take(array: np.ndarray, parts: Sequence[Part], fill: Any) -> np.ndarray:
  """These elements of an array, with `fill` for those outside: a view of it where NumPy has one, else a copy."""
  shape = array.shape[: len(parts)]  # keys have dimensions of their own behind these
  if not any(_is_outside(p, d) for p, d in zip(parts, shape)):
    return array[tuple(_basic(p) for p in parts)]
  numbers = _positions(shape, parts)
  found = np.array(array.reshape(math.prod(shape), *array.shape[len(parts) :])[np.maximum(numbers, 0)])
  found[numbers < 0] = fill
  return found


def put(array: np.ndarray, parts: Sequence[Part], new: np.ndarray) -> None:
  """Replace these elements of an array; what is for elements outside is dropped."""
  shape = array.shape[: len(parts)]
  if not any(_is_outside(p, d) for p, d in zip(parts, shape)):
    array[tuple(_basic(p) for p in parts)] = new
    return
  numbers = _positions(shape, parts)
  inside = numbers >= 0
  array[np.unravel_index(numbers[inside], shape)] = np.broadcast_to(new, (*numbers.shape, *array.shape[len(parts) :]))[
    inside
  ]


def _apply(array: np.ndarray, transform: Any, fill: Any) -> np.ndarray:
  """What a transform shows of an array: a view of it where NumPy has one, else a copy."""
  match transform:
    case NDIndexer():
      return take(array, concrete(transform), fill)
    case _types.ReshapeTransform():
      return array.reshape(transform.shape)
    case _types.BitcastTransform():
      return _bitcast(array, transform.dtype)
    case _types.TransposeTransform():
      return array.transpose(transform.permutation)
  raise errors.UnsupportedFeatureError(f"A ref transformed by {transform} can be neither read nor written.")


def _put(array: np.ndarray, transform: Any, part: np.ndarray) -> None:
  match transform:
    case NDIndexer():
      put(array, concrete(transform), part)
    case _types.ReshapeTransform():
      array[...] = part.reshape(array.shape)
    case _types.BitcastTransform():
      array[...] = _bitcast(part, array.dtype).reshape(array.shape)
    case _types.TransposeTransform():
      array[...] = part.transpose(np.argsort(transform.permutation))
    case _:
      raise errors.UnsupportedFeatureError(f"A ref transformed by {transform} cannot be written.")


def _bitcast(array: np.ndarray, dtype: Any) -> np.ndarray:
  """The same bits under another type. A change of width goes to the second last dimension, as refs have it."""
  dtype = np.dtype(dtype)
  old, new = array.dtype.itemsize, dtype.itemsize
  if old == new:
    return array.view(dtype)
  *lead, rows, columns = array.shape
  if old < new:
    ratio = new // old
    packed = array.reshape(*lead, rows // ratio, ratio, columns).swapaxes(-1, -2)
    return np.ascontiguousarray(packed).view(dtype)[..., 0]
  ratio = old // new
  split = np.ascontiguousarray(array)[..., None].view(dtype)
  return split.swapaxes(-1, -2).reshape(*lead, rows * ratio, columns)


# --- several transforms ------------------------------------------------------------------------------------------


def read(array: np.ndarray, transforms: Sequence[Any], fill: Any) -> np.ndarray:
  """A copy of what the transforms show."""
  for transform in transforms:
    array = _apply(array, transform, fill)
  return np.array(array)


def write(array: np.ndarray, transforms: Sequence[Any], new: Any) -> None:
  """Put `new` where the transforms point."""
  if not transforms:
    array[...] = new
    return
  first, *rest = transforms
  if not rest:
    _put(array, first, np.asarray(new))
    return
  part = _apply(array, first, 0)
  if np.may_share_memory(part, array):
    write(part, rest, new)
  else:
    write(part, rest, new)
    _put(array, first, part)


def accumulate(
  array: np.ndarray, transforms: Sequence[Any], update: Any, combine: np.ufunc = np.add, mask: Any = None
) -> None:
  """Add `update` where the transforms point, or combine otherwise, where a mask holds; repeated integer indices count each time."""
  elements = elements_of(array.shape, transforms)
  if elements is None:
    old = read(array, transforms, 0)
    write(array, transforms, combine(old, update) if mask is None else np.where(mask, combine(old, update), old))
    return
  inside = elements >= 0 if mask is None else (elements >= 0) & np.asarray(mask)
  array = array if array.ndim else array.reshape(1)  # a view; unravel_index wants a dimension
  combine.at(array, np.unravel_index(elements[inside], array.shape), np.broadcast_to(update, elements.shape)[inside])


def is_inside(shape: Sequence[int], transforms: Sequence[Any]) -> np.ndarray:
  """Which of the elements that the transforms show lie inside of the array."""
  return read(np.ones(tuple(shape), np.bool_), transforms, False)


@functools.lru_cache(maxsize=64)
def numbered(shape: tuple[int, ...]) -> np.ndarray:
  """An array of this shape in which each element is its own flat number."""
  numbers = np.arange(math.prod(shape)).reshape(shape)
  numbers.flags.writeable = False
  return numbers


def is_everything(numbers: np.ndarray, shape: tuple[int, ...]) -> bool:
  """Whether these are the numbers of all elements in their order; found out without looking at each."""
  everything = numbered(shape)
  same_layout = (numbers.shape, numbers.strides) == (everything.shape, everything.strides)
  return same_layout and np.may_share_memory(numbers, everything)


def elements_of(shape: Sequence[int], transforms: Sequence[Any]) -> np.ndarray | None:
  """The flat numbers of the elements that the transforms show (-1 outside), or None if a bitcast mixes elements."""
  numbers = numbered(tuple(shape))
  for transform in transforms:
    if isinstance(transform, _types.BitcastTransform):
      return None
    numbers = _apply(numbers, transform, -1)
  return np.asarray(numbers)


def shape_of(shape: Sequence[int], dtype: Any, transforms: Sequence[Any]) -> tuple[int, ...]:
  """The shape of what the transforms show."""
  array = np.broadcast_to(np.zeros((), dtype), tuple(shape))
  for transform in transforms:
    array = _apply(array, transform, 0)
  return array.shape
