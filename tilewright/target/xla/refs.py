"""Reading and writing through ref transforms, on values.

A ref is a value that changes. Reading through transforms (index, reshape, bitcast, transpose) applies them forwards to the
value; writing applies them forwards too, then puts the new part back into each intermediate on the way out. What an index
reads outside of the value is poison (NaN, or the smallest integer), so that mistakes show; what it writes there is dropped.

A slice with a dynamic start may hang over an edge. With `clamped` the nearest start that fits and `shift = start - clamped`
(zero unless it hangs over), element j of the slice is element j + shift of the clamped slice, where that exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright import errors
from tilewright.runtime import _jax
from tilewright.tile.formats import poison_value
from tilewright.tile.memory import is_semaphore

NDIndexer = _jax.indexing.NDIndexer
Slice = _jax.indexing.Slice
_types = _jax.state_types


def poison(shape: Sequence[Any], dtype: Any) -> Any:
  """An array of poison, which must not be read: NaN where the dtype has one, else its smallest value."""
  if is_semaphore(dtype):
    return jnp.zeros(shape, jnp.int32)
  if jnp.issubdtype(dtype, jax.dtypes.prng_key):
    element = _jax.core.physical_aval(_jax.core.ShapedArray((), dtype))
    return jax.random.wrap_key_data(jnp.zeros((*shape, *element.shape), jnp.uint32), impl=dtype._impl)
  return jnp.full(shape, poison_value(dtype), dtype)


def zeros(shape: Sequence[Any], dtype: Any) -> Any:
  """As `poison`, of numbers that do no harm."""
  return jnp.zeros(shape, dtype) if jnp.issubdtype(dtype, jnp.inexact) else poison(shape, dtype)


def nearby(value: Any, indexer: Any) -> Any:
  """What a window selects, moved to where it fits; where it is larger than the value, elements repeat."""
  window = _window(indexer, value.shape)
  if window is None:
    arrays, _ = _gather_indices(value, indexer)
    return value.at[arrays].get(mode="clip")
  starts, sizes, squeezed = window
  return lax.squeeze(lax.dynamic_slice(value, _clamp(starts, sizes, value.shape)[0], sizes), squeezed)


def read(value: Any, transforms: Sequence[Any]) -> Any:
  for transform in transforms:
    value = _apply(value, transform)
  return value


def write(value: Any, transforms: Sequence[Any], new: Any, moved: bool = False) -> tuple[Any, Any]:
  """Write `new` to the elements that `transforms` select; returns (the old elements, the whole value after the write).

  `moved` says that `new` was computed from elements of `value` elsewhere (see the module `self_updates`).
  """
  if not transforms:
    return value, new
  first, *rest = transforms
  old_part, new_part = write(_apply(value, first), rest, new, moved)
  return old_part, _put(value, first, new_part, moved)


def write_where(value: Any, transforms: Sequence[Any], new: Any, mask: Any, moved: bool = False) -> tuple[Any, Any]:
  """As `write`, of the elements that a mask chooses; where integer indices repeat, the others do not count."""
  old = read(value, transforms)
  *outer, last = transforms or [None]
  if not isinstance(last, NDIndexer) or not last.int_indexer_shape:
    return old, write(value, transforms, jnp.where(mask, new, old), moved)[1]
  inner = read(value, outer)
  (first, *others), order = _gather_indices(inner, last)
  ordered = inner if order is None else inner.transpose(order)
  chosen = jnp.where(mask, first, ordered.shape[0])
  put = ordered.at[(chosen, *others)].set(new, mode="drop")
  return old, write(value, outer, put if order is None else put.transpose(np.argsort(order)), moved)[1]


_COMBINE = {
  "add": jnp.add,
  "max": jnp.maximum,
  "min": jnp.minimum,
  "and": jnp.bitwise_and,
  "or": jnp.bitwise_or,
  "xor": jnp.bitwise_xor,
}


def accumulate(value: Any, transforms: Sequence[Any], update: Any, kind: str = "add", moved: bool = False) -> Any:
  """Add `update` where `transforms` point (or combine otherwise, see _COMBINE); where integer indices repeat, all of them count."""
  *outer, last = transforms or [None]
  inner = read(value, outer) if outer else value
  if last is None:
    return _COMBINE[kind](value, update)
  if isinstance(last, NDIndexer) and any(np.shape(i) for i in last.indices if not isinstance(i, Slice)):
    arrays, order = _gather_indices(inner, last)
    ordered = inner if order is None else inner.transpose(order)
    combined = _scattered(ordered, arrays, update, kind)
    return write(value, outer, combined if order is None else combined.transpose(np.argsort(order)), moved)[1]
  return write(value, transforms, _COMBINE[kind](read(inner, [last]), update), moved)[1]


_OF_BITS = {"and": "min", "or": "max", "xor": "add"}  # what a bit of the result is of the bits that meet there


def _scattered(value: Any, arrays: Any, update: Any, kind: str) -> Any:
  """JAX adds and takes extremes where indices repeat; what combines bits does so with a last dimension of bits."""
  if kind not in _OF_BITS:
    return getattr(value.at[arrays], kind)(update, mode="drop")
  dtype = value.dtype
  width = 1 if dtype == jnp.bool_ else jnp.iinfo(dtype).bits
  unsigned = dtype if dtype == jnp.bool_ else jnp.dtype(f"uint{width}")
  wide = jnp.uint64 if width > 32 else jnp.uint32
  place = jnp.arange(width, dtype=wide)
  bits = lambda x: (lax.bitcast_convert_type(x, unsigned).astype(wide)[..., None] >> place) & wide(1)
  combined = getattr(bits(value).at[arrays], _OF_BITS[kind])(bits(jnp.asarray(update, dtype)), mode="drop") & wide(1)
  return lax.bitcast_convert_type(jnp.sum(combined << place, axis=-1, dtype=wide).astype(unsigned), dtype)


def _apply(value: Any, transform: Any) -> Any:
  match transform:
    case NDIndexer():
      return _index(value, transform)
    case _types.ReshapeTransform():
      return value.reshape(transform.shape)
    case _types.BitcastTransform():
      return _jax.state_utils.bitcast(value, transform.dtype)
    case _types.TransposeTransform():
      return value.transpose(transform.permutation)
  raise errors.UnsupportedFeatureError(f"A ref transformed by {transform} can be neither read nor written.")


def _put(value: Any, transform: Any, part: Any, moved: bool) -> Any:
  match transform:
    case NDIndexer():
      return _index_update(value, transform, part, moved)
    case _types.ReshapeTransform():
      return part.reshape(value.shape)
    case _types.BitcastTransform():
      return _jax.state_utils.bitcast(part, value.dtype).reshape(value.shape)
    case _types.TransposeTransform():
      return part.transpose(np.argsort(transform.permutation))
  raise errors.UnsupportedFeatureError(f"A ref transformed by {transform} cannot be written.")


# --- indexing ----------------------------------------------------------------------------------------------------


def _is_static(x: Any) -> bool:
  return isinstance(x, int | np.integer)


def _is_whole(indexer: Any, shape: Sequence[Any]) -> bool:
  return all(
    isinstance(i, Slice)
    and _is_static(i.start)
    and i.start == 0
    and i.size is not None
    and i.stride == 1
    and i.size == d
    for i, d in zip(indexer.indices, shape)
  )


def _static_slice(indexer: Any, shape: Sequence[Any]) -> tuple[list[Any], list[Any], list[int]] | None:
  """Start, stop and stride for `lax.slice`, if every index is a static slice that lies inside."""
  starts, stops, strides = [], [], []
  for index, dim in zip(indexer.indices, shape):
    if not isinstance(index, Slice) or not _is_static(index.start) or index.start < 0:
      return None
    if not _is_static(index.size) and index.size is not dim and not (index.start == 0 and index.size == dim):
      return None
    stop = index.start + max(index.size - 1, 0) * index.stride + 1 if _is_static(index.size) else dim
    if _is_static(index.size) and index.size == 0:
      stop = index.start
    if _is_static(stop) and _is_static(dim) and stop > dim:
      return None
    starts.append(int(index.start))
    stops.append(stop)
    strides.append(int(index.stride))
  return starts, stops, strides


def _window(indexer: Any, shape: Sequence[Any]) -> tuple[list[Any], list[Any], tuple[int, ...]] | None:
  """Starts, sizes and squeezed dimensions, if the index is a window: slices of stride one and scalars."""
  starts: list[Any] = []
  sizes: list[Any] = []
  squeezed = []
  for axis, (index, dim) in enumerate(zip(indexer.indices, shape)):
    if isinstance(index, Slice):
      if index.stride != 1 or index.is_dynamic_size:
        return None
      if not _surely_fits(index.size, dim):
        return None
      starts.append(index.start)
      sizes.append(index.size)
    elif np.shape(index):
      return None
    else:
      starts.append(_wrap(index, dim))
      sizes.append(1)
      squeezed.append(axis)
  return starts, sizes, tuple(squeezed)


def _surely_fits(size: Any, dim: Any) -> bool:
  try:
    return bool(size <= dim)
  except jax.errors.InconclusiveDimensionOperation:  # a symbolic dimension that may be smaller
    return False


def _wrap(index: Any, dim: Any) -> Any:
  """NumPy's rule for scalars and arrays of indices: -1 is the last element."""
  if _is_static(index):
    return index + dim if index < 0 else index
  if jnp.asarray(index).dtype == jnp.bool_:
    raise errors.BooleanIndexError(
      "A ref is indexed by booleans; how many elements they select is not known when the kernel is compiled. Use jnp.where on its "
      "value, or pl.load and pl.store with a mask."
    )
  check_counts(dim, "A dimension of a ref that the kernel indexes")
  index = _int32(index)
  return jnp.where(index < 0, index + dim, index)


def _int32(x: Any) -> Any:
  """As an int32. What does not fit becomes the largest or smallest one, which is as far outside."""
  if _is_static(x):
    return np.int32(x)
  x = jnp.asarray(x)
  if jnp.iinfo(x.dtype).max > jnp.iinfo(jnp.int32).max:
    limits = jnp.iinfo(jnp.int32)
    x = jnp.minimum(x, limits.max)
    if jnp.issubdtype(x.dtype, jnp.signedinteger):
      x = jnp.maximum(x, limits.min)
  return lax.convert_element_type(x, jnp.int32)


def check_counts(dim: Any, what: str) -> None:
  """Elements are counted in 32 bits here: where a number may not fit, there is no answer but an error."""
  if _is_static(dim) and dim > np.iinfo(np.int32).max:
    raise errors.UnsupportedFeatureError(
      f"{what} has {dim} elements, whose numbers do not fit the 32 bits in which the portable lowering counts. Run the kernel natively "
      "(interpret=False), or give the array more dimensions."
    )


def _check_shape(shape: Sequence[Any], sizes: Sequence[Any]) -> None:
  """As `check_counts`, of the dimensions of a ref that is cut."""
  for axis, (dim, size) in enumerate(zip(shape, sizes)):
    if size is None or not _is_static(size) or size != dim:
      check_counts(dim, f"Dimension {axis} of a ref of shape {tuple(shape)}, which the kernel indexes,")


def _clamp(starts: Sequence[Any], sizes: Sequence[Any], shape: Sequence[Any]) -> tuple[list[Any], list[Any]]:
  """The nearest starts that fit, and the distance of each requested start from them (the int 0 where it statically fits)."""
  _check_shape(shape, sizes)
  clamped, shifts = [], []
  for start, size, dim in zip(starts, sizes, shape):
    if _is_static(start) and _is_static(size) and _is_static(dim):
      fit = min(max(int(start), 0), dim - size)
      clamped.append(np.int32(fit))  # all starts have one dtype, also where JAX's default is int64
      shifts.append(int(start) - fit)
    elif _is_static(start) and start == 0:
      clamped.append(np.int32(0))
      shifts.append(0)
    else:
      start = _int32(start)
      fit = jnp.clip(start, 0, _int32(_jax.core.dimension_as_value(dim)) - size)
      clamped.append(fit)
      shifts.append(start - fit)
  return clamped, shifts


def _shift(part: Any, shifts: Sequence[Any], fill: Any) -> Any:
  """`out[j] = part[j + shift]` along each dimension, `fill[j]` where that is outside of `part`."""
  inside: Any = True
  for axis, shift in enumerate(shifts):
    if _is_static(shift) and shift == 0:
      continue
    size = part.shape[axis]
    source = lax.broadcasted_iota(jnp.int32, part.shape, axis) + shift
    inside = inside & (source >= 0) & (source < size)
    part = jnp.roll(part, -jnp.clip(shift, -size, size), axis)
  return jnp.where(inside, part, fill)


def _when_shifted(shifts: Sequence[Any], shifted: Any, plain: Any, *operands: Any) -> Any:
  """`shifted(*operands)` if any shift is not zero, else `plain(*operands)`."""
  moving = [s for s in shifts if not (_is_static(s) and s == 0)]
  if not moving:
    return plain(*operands)
  if any(_is_static(s) for s in moving):
    return shifted(*operands)
  hangs_over = moving[0] != 0
  for s in moving[1:]:
    hangs_over |= s != 0
  return lax.cond(hangs_over, shifted, plain, *operands)


def _wider(dtype: Any) -> Any:
  """A dtype of whole bytes that holds all values of a smaller one, or None: XLA cuts no arrays between bytes."""
  if is_semaphore(dtype) or isinstance(dtype, _jax.dtypes.ExtendedDType) or _jax.dtypes.itemsize_bits(dtype) >= 8:
    return None
  if jnp.issubdtype(dtype, jnp.floating):
    return jnp.bfloat16
  return jnp.uint8 if jnp.issubdtype(dtype, jnp.unsignedinteger) else jnp.int8


def _index(value: Any, indexer: Any) -> Any:
  if _is_whole(indexer, value.shape):
    return value
  if (wider := _wider(value.dtype)) is not None:
    return _select(value.astype(wider), indexer, poison_value(value.dtype)).astype(value.dtype)
  if jnp.issubdtype(value.dtype, jax.dtypes.extended):
    return _select(value, indexer, poison((), value.dtype))
  return _select(value, indexer, poison_value(value.dtype))


def _select(value: Any, indexer: Any, fill: Any) -> Any:
  """What the indexer selects, and `fill` where it points outside."""
  if (static := _static_slice(indexer, value.shape)) is not None:
    return lax.slice(value, *static)
  if (window := _window(indexer, value.shape)) is not None:
    starts, sizes, squeezed = window
    if all(_is_static(n) for n in (*starts, *sizes, *value.shape)) and all(
      0 <= start <= dim - size for start, size, dim in zip(starts, sizes, value.shape)
    ):
      return lax.squeeze(lax.slice(value, starts, [a + n for a, n in zip(starts, sizes)]), squeezed)
    clamped, shifts = _clamp(starts, sizes, value.shape)
    part = lax.dynamic_slice(value, clamped, sizes)
    part = _when_shifted(shifts, lambda p: _shift(p, shifts, fill), lambda p: p, part)
    return lax.squeeze(part, squeezed)
  arrays, order = _gather_indices(value, indexer)
  if order is not None:
    value = value.transpose(order)
  if jnp.issubdtype(value.dtype, jax.dtypes.extended):
    return value[arrays]
  return value.at[arrays].get(mode="fill", fill_value=fill)


def _index_update(value: Any, indexer: Any, part: Any, moved: bool) -> Any:
  if _is_whole(indexer, value.shape):
    return part
  if (wider := _wider(value.dtype)) is not None:
    return _index_update(value.astype(wider), indexer, part.astype(wider), moved).astype(value.dtype)
  if (window := _window(indexer, value.shape)) is not None:
    starts, sizes, squeezed = window
    part = lax.expand_dims(part, squeezed)
    clamped, shifts = _clamp(starts, sizes, value.shape)

    def merge(old: Any, new: Any) -> Any:
      return _shift(new, [-s for s in shifts], old)

    if any(not (_is_static(s) and s == 0) for s in shifts):
      old = lax.dynamic_slice(value, clamped, sizes)
      part = _when_shifted(shifts, merge, lambda _, new: new, old, part)
    if moved and not jnp.issubdtype(value.dtype, jax.dtypes.extended):
      return _selected(value, part, clamped)
    return lax.dynamic_update_slice(value, part, clamped)
  arrays, order = _gather_indices(value, indexer)
  if order is None:
    return value.at[arrays].set(part, mode="drop")
  return value.transpose(order).at[arrays].set(part, mode="drop").transpose(np.argsort(order))


def _selected(value: Any, part: Any, starts: Sequence[Any]) -> Any:
  """As `dynamic_update_slice`, but each element of the result is chosen, so that XLA does not update `value` in place."""
  inside: Any = True
  for axis, (start, size) in enumerate(zip(starts, part.shape)):
    position = lax.broadcasted_iota(jnp.int32, value.shape, axis) - start
    inside = inside & (position >= 0) & (position < size)
  return jnp.where(inside, lax.dynamic_update_slice(jnp.zeros_like(value), part, starts), value)


def _gather_indices(value: Any, indexer: Any) -> tuple[tuple[Any, ...], tuple[int, ...] | None]:
  """Integer arrays that together select what the indexer selects, and an order to transpose the value into first.

  NumPy puts the dimensions of integer indices first if a slice is between them, else at the position of the first of them. Out
  of range, an index becomes `dim`, which `fill` and `drop` treat as outside (a negative one would count from the end).
  """
  indices = list(indexer.indices)
  _check_shape(value.shape, [i.size if isinstance(i, Slice) else None for i in indices])
  is_int = [not isinstance(i, Slice) for i in indices]
  positions = [axis for axis, flag in enumerate(is_int) if flag]
  order = None
  dims = list(value.shape)
  if positions and positions[-1] - positions[0] + 1 != len(positions):
    order = (*positions, *(axis for axis, flag in enumerate(is_int) if not flag))
    indices = [indices[axis] for axis in order]
    dims = [dims[axis] for axis in order]
    is_int = [is_int[axis] for axis in order]
  int_rank = len(indexer.int_indexer_shape) if positions else 0
  out_rank = sum(not flag for flag in is_int) + int_rank
  arrays: list[Any] = []
  out_axis = 0
  int_axis = None
  for index, dim, flag in zip(indices, dims, is_int):
    if flag:
      if int_axis is None:
        int_axis = out_axis
        out_axis += int_rank
      array = jnp.asarray(_wrap(index, dim), jnp.int32)
      array = jnp.broadcast_to(array, indexer.int_indexer_shape)
      array = array.reshape((*array.shape, *(1,) * (out_rank - int_axis - int_rank)))
    else:
      array = lax.iota(jnp.int32, index.size) * index.stride + index.start
      array = array.reshape((*array.shape, *(1,) * (out_rank - out_axis - 1)))
      out_axis += 1
    arrays.append(jnp.where((array >= 0) & (array < dim), array, dim))
  return tuple(arrays), order
