"""Reads of a view that may be partly out of bounds of its array; out-of-bounds elements are zero, as TMA fills them.

Indices of indices are composed first, so that it is the array that ends, not a view on the way: `x.at[i].at[ds(k, n)]` reads what
`x.at[i, ds(k, n)]` does. A view that is reshaped, transposed or bitcast behind such an index is read first, then its value is changed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright.pallas import primitives
from tilewright.pallas.primitives import TransformedRef
from tilewright.runtime import _jax
from tilewright.target.xla import refs

NDIndexer, Slice = _jax.indexing.NDIndexer, _jax.Slice


def zero_filled(view: Any) -> jax.Array:
  """What a ref or a part of one holds, with zeros beyond the edges of the array."""
  if not may_hang_over(view):
    return primitives.load(view)
  steps = list(_composed(view.transforms))
  first = next(n for n, step in enumerate(steps) if step.may_hang_over)
  whole = TransformedRef(view.ref, tuple(step.transform for step in steps[: first + 1]))
  value = primitives.load(whole, mask=steps[first].inside(whole.shape), other=0)
  for step in steps[first + 1 :]:
    value = refs.read(value, [step.transform])
    if step.may_hang_over:
      value = jnp.where(step.inside(value.shape), value, jnp.zeros((), value.dtype))
  return value


def may_hang_over(view: Any) -> bool:
  """Whether slices of a view may reach over the edges of its array."""
  return isinstance(view, TransformedRef) and any(step.may_hang_over for step in _composed(view.transforms))


@dataclasses.dataclass(frozen=True)
class _Step:
  """A transform of a ref; `offset` are the axes along which an index is a scalar that counts from the start of a slice."""

  transform: Any
  offset: frozenset[int] = frozenset()

  @property
  def is_affine(self) -> bool:
    """Whether it is an index of slices, whose sizes are known, and scalars."""
    t = self.transform
    return isinstance(t, NDIndexer) and not (t.int_indexer_shape or any(_is_dynamic(own) for own in t.indices))

  @property
  def may_hang_over(self) -> bool:
    return self.is_affine and any(True for _ in self._open_axes())

  def _open_axes(self) -> Iterator[int]:
    """The axes of the array along which the index may reach over an edge."""
    for axis, (own, size) in enumerate(zip(self.transform.indices, self.transform.shape)):
      if not isinstance(own, Slice) and axis not in self.offset:
        continue
      start, span = (own.start, (own.size - 1) * own.stride) if isinstance(own, Slice) else (own, 0)
      if not _is_static(start) or start < 0 or start + span >= size:
        yield axis

  def inside(self, shape: Sequence[int]) -> jax.Array:
    """Which elements of what the index selects, of a shape, lie in the array."""
    indices, sizes = self.transform.indices, self.transform.shape
    kept = [axis for axis, own in enumerate(indices) if isinstance(own, Slice)]
    found: jax.Array | None = None
    for axis in self._open_axes():
      own = indices[axis]
      if isinstance(own, Slice):
        start, place = own.start, own.stride * lax.broadcasted_iota(jnp.int32, shape, kept.index(axis))
        place = start + place
      else:
        start, place = own, jnp.broadcast_to(own, shape)
      conditions = [place < sizes[axis]]
      if not _is_static(start) or start < 0:
        conditions.append(place >= 0)
      for condition in conditions:
        found = condition if found is None else found & condition
    assert found is not None
    return found


def _composed(transforms: Sequence[Any]) -> Iterator[_Step]:
  """The transforms, with one index for those that follow each other."""
  last: _Step | None = None
  for transform in transforms:
    if getattr(transform, "is_whole", False):
      continue
    step = _Step(transform)
    if last is not None and last.is_affine and step.is_affine:
      last = _one_index(last, step)
      continue
    if last is not None:
      yield last
    last = step
  if last is not None:
    yield last


def _one_index(outer: _Step, inner: _Step) -> _Step:
  """The index that selects what `inner` does of what `outer` does."""
  indices: list[Any] = []
  offset = set(outer.offset)
  shape = outer.transform.shape
  inner_axes = enumerate(inner.transform.indices)
  for axis, (index, size) in enumerate(zip(outer.transform.indices, shape)):
    if not isinstance(index, Slice):
      indices.append(index)
      continue
    inner_axis, own = next(inner_axes)
    if _is_static(index.start) and (index.start, index.size, index.stride) == (0, size, 1):
      indices.append(own)
      offset |= {axis} if inner_axis in inner.offset else set()
    elif isinstance(own, Slice):
      indices.append(Slice(index.start + index.stride * own.start, own.size, index.stride * own.stride))
    else:
      indices.append(index.start + index.stride * _from_the_start(own, index.size))
      offset.add(axis)
  return _Step(NDIndexer(tuple(indices), shape, ()), frozenset(offset))


def _from_the_start(index: Any, size: int) -> Any:
  """A scalar index by NumPy's rule: -1 is the last element."""
  if _is_static(index):
    return int(index) + size if index < 0 else int(index)
  index = jnp.asarray(index)
  if index.dtype.itemsize < 4:  # so that adding the size cannot wrap around
    index = index.astype(jnp.int32)
  return jnp.where(index < 0, index + size, index)


def _is_static(x: Any) -> bool:
  return isinstance(x, int | np.integer)


def _is_dynamic(index: Any) -> bool:
  return isinstance(index, Slice) and index.is_dynamic_size
