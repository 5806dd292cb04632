"""`QArray`: an array kept as small numbers with scales.

    value[..., k, ...] = data[..., k, ...] * scales[..., k // block, ...] * global_scale

The data of formats below 8 bits are packed bytes (see `packing`); along the scaled axis they are padded with zeros to whole blocks. Scales
have the rank of the data, with one element for each block, and size 1 where one scale serves a whole dimension.

A QArray is a pytree of its arrays: it goes through `jit`, `vmap` (over leading dimensions), `eval_shape`, `shard_map`, `jax.checkpoint`,
and into kernels, where its members are refs. `axis` counts from the end, so that leading dimensions may come and go, and an array without
padding says nothing of its size but through its data, so that `shard_map` may cut it along the scaled axis too, between blocks.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

from tilewright import errors
from tilewright.numerics import arguments, packing
from tilewright.numerics.convert import decode
from tilewright.numerics.formats import F8E8M0FNU, Format, format_of
from tilewright.numerics.swizzle import Prepared, plain_scales


@dataclasses.dataclass(frozen=True, eq=False)
class QArray:
  """A quantised array; made by `quantize`. Two are equal if all of their bits are.

  Attributes:
    data: the elements; packed bytes below 8 bits.
    scales: one for each block.
    global_scale: a float32 for the whole array, or one for each of its leading indices, such as those of a stack of matrices; or None.
    format: of the elements.
    block: how many elements along the axis share a scale; None if all do.
    axis: the scaled axis, counted from the end; None if one scale serves the whole array.
    size: the number of elements along the axis, without padding.
  """

  data: Any
  scales: Any
  global_scale: Any
  format: Format
  block: int | None
  axis: int | None
  size: Any

  @property
  def shape(self) -> tuple[int, ...]:
    """The shape of the array that this represents."""
    shape = list(self.data.shape)
    shape[self.pack_axis] = self.size
    return tuple(shape)

  @property
  def ndim(self) -> int:
    return len(self.data.shape)

  @property
  def pack_axis(self) -> int:
    """The axis along which elements share bytes: the scaled one."""
    return -1 if self.axis is None else self.axis

  @property
  def padded_size(self) -> int:
    """The number of elements along the axis, with padding."""
    if self.format.width >= 8:
      return self.data.shape[self.pack_axis]
    elements, num_bytes = packing.unit(self.format.width)
    return self.data.shape[self.pack_axis] // num_bytes * elements

  @property
  def nbytes(self) -> int:
    """What it takes in memory."""
    arrays = [a for a in (self.data, self.scales, self.global_scale) if a is not None]
    return sum(int(np.prod(a.shape)) * np.dtype(a.dtype).itemsize for a in arrays)

  @property
  def scale_format(self) -> Format:
    return format_of(self.scales.dtype)

  def dequantize(self, dtype: Any = jnp.float32) -> jax.Array:
    """The array that this represents."""
    return dequantize(self, dtype)

  @property
  def T(self) -> QArray:
    """The transpose of a matrix, with the scales along."""
    return self.swap_last()

  def swap_last(self) -> QArray:
    """The last two dimensions exchanged."""
    if self.ndim < 2:
      raise errors.ShapeMismatchError(f"A QArray of shape {self.shape} has fewer than two dimensions.")
    swap = functools.partial(jnp.swapaxes, axis1=-1, axis2=-2)
    q = plain_scales(self)
    axis = {-1: -2, -2: -1}.get(self.axis, self.axis) if self.axis is not None else None
    if self.axis is None and self.format.width < 8:
      raise errors.ShapeMismatchError("A packed QArray with one scale for the whole array cannot be transposed.")
    return dataclasses.replace(q, data=swap(q.data), scales=swap(q.scales), axis=axis)

  def __eq__(self, other: object) -> bool:
    if not isinstance(other, QArray):
      return NotImplemented
    (mine, kind), (theirs, other_kind) = jax.tree.flatten(self), jax.tree.flatten(other)
    return kind == other_kind and all(map(_same_bits, mine, theirs))

  def __hash__(self) -> int:
    """Of an array of specs or shapes; arrays have none."""
    members, kind = jax.tree.flatten(self)
    return hash((kind, *members))

  def __len__(self) -> int:
    if not self.ndim:
      raise TypeError("len() of a QArray without dimensions")
    return self.shape[0]

  def __iter__(self) -> Iterator[QArray]:
    return (self[i] for i in range(len(self)))

  def __array__(self, *args: Any, **kwargs: Any) -> Any:
    raise TypeError(f"{self!r} is not an array. Take q.dequantize(), or scaled_dot for a product with it.")

  def _is_no_operand(self, other: Any) -> Any:
    """Arithmetic, which would have to choose where to round."""
    return self.__array__()

  __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __matmul__ = __rmatmul__ = _is_no_operand

  def __getitem__(self, index: Any) -> QArray:
    """Index leading dimensions, such as that of experts or layers."""
    index = index if isinstance(index, tuple) else (index,)
    kept = self.ndim if self.axis is None else -self.axis
    if any(i is Ellipsis or i is None for i in index) or len(index) > self.ndim - kept:
      raise errors.ShapeMismatchError(
        f"A QArray of shape {self.shape} is indexed along the dimensions before the scaled axis {self.axis} only, got {index}. "
        "Take q.dequantize() and index that, or quantise the part."
      )
    count = len(index)
    q = self if count <= self.ndim - 2 else plain_scales(self)  # prepared scales are those of whole matrices
    of_each = lambda scales: jnp.broadcast_to(scales, (*q.data.shape[:count], *scales.shape[count:]))
    whole = q.global_scale
    return dataclasses.replace(
      q,
      data=q.data[index],
      scales=jax.tree.map(lambda scales: of_each(scales)[index], q.scales),
      global_scale=whole if whole is None or not np.ndim(whole) else whole[index[: np.ndim(whole)]],
    )

  def __repr__(self) -> str:
    if _held_size(self) is None or not hasattr(self.scales, "dtype"):
      return f"QArray({self.format.name}, {self.data!r}, {self.scales!r})"
    shape = "x".join(map(str, self.shape))
    per = "array" if self.axis is None else "row" if self.block is None else f"{self.block}"
    order = ("swizzled " if self.scales.swizzled else "padded ") if isinstance(self.scales, Prepared) else ""
    whole = "" if self.global_scale is None else ", global scale"
    saved = 4 * np.prod(self.shape) / max(1, self.nbytes)
    return (
      f"QArray({self.format.name}[{shape}], {order}{self.scale_format.name} scale per {per} along axis {self.axis}{whole}, "
      f"{self.nbytes:,} bytes, {saved:.1f}x smaller than f32)"
    )


def _same_bits(a: Any, b: Any) -> bool:
  """Whether two members are equal; they may be something else than arrays, such as shapes."""
  if not all(isinstance(x, jax.Array | np.ndarray) for x in (a, b)):
    return bool(a == b)
  return a.shape == b.shape and a.dtype == b.dtype and np.asarray(a).tobytes() == np.asarray(b).tobytes()


# --- as a pytree -------------------------------------------------------------------------------------------------

_MEMBERS = ("data", "scales", "global_scale")


def _held_size(q: QArray) -> int | None:
  """The number of elements along the axis as the data have it; None if they are no arrays, as in a tree of specs."""
  shape = getattr(q.data, "shape", None)
  return q.padded_size if shape is not None and len(shape) >= -q.pack_axis else None


def _flatten(q: QArray) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
  size = None if q.size == _held_size(q) else q.size
  return tuple(getattr(q, name) for name in _MEMBERS), (q.format, q.block, q.axis, size)


def _unflatten(fixed: tuple[Any, ...], members: Any) -> QArray:
  q = QArray(*members, *fixed)
  return q if q.size is not None else dataclasses.replace(q, size=_held_size(q))


def _flatten_with_keys(q: QArray) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
  members, fixed = _flatten(q)
  return tuple((jax.tree_util.GetAttrKey(name), x) for name, x in zip(_MEMBERS, members)), fixed


jax.tree_util.register_pytree_with_keys(QArray, _flatten_with_keys, _unflatten, _flatten)


def _fixed_to_bytes(fixed: tuple[Any, ...]) -> bytes:
  """What is fixed of a QArray, for programs of `jax.export` that are kept as bytes."""
  f, *numbers = fixed
  return json.dumps([f.name, *numbers]).encode()


def _fixed_from_bytes(kept: bytes | bytearray) -> tuple[Any, ...]:
  name, *numbers = json.loads(bytes(kept))
  return (format_of(name), *numbers)


export.register_pytree_node_serialization(
  QArray,
  serialized_name="tilewright.numerics.QArray",
  serialize_auxdata=_fixed_to_bytes,
  deserialize_auxdata=_fixed_from_bytes,
)


# --- what it represents ------------------------------------------------------------------------------------------


def elements(data: Any, format: Format) -> Any:
  """Unpacked elements as float32. Data of 8 bits and more have their own dtype."""
  if data.dtype == format.storage and format.width >= 8:
    return (
      decode(jax.lax.bitcast_convert_type(data, jnp.uint8), format) if format.is_float else data.astype(jnp.float32)
    )
  return decode(data, format)


def scale_factors(scales: Any) -> tuple[Any, ...]:
  """float32s whose product is the scale. A power of two is given as two, so that none of them is subnormal."""
  if scales.dtype != F8E8M0FNU.dtype:
    return (scales.astype(jnp.float32),)
  code = jax.lax.bitcast_convert_type(scales, jnp.uint8).astype(jnp.int32)
  return exponent_factors(code)


def exponent_factors(code: Any) -> tuple[Any, Any]:
  """2^(code - 127) as two normal float32s; NaN for code 255."""
  low = (code - 127) >> 1
  high = code - 127 - low
  first, second = (jax.lax.bitcast_convert_type((e + 127) << 23, jnp.float32) for e in (low, high))
  return jnp.where(code == 255, np.float32(np.nan), first), second


def spread(scales: Any, padded: int, axis: int) -> Any:
  """Scales repeated so that there is one for each element along the axis, or one for all."""
  count = scales.shape[axis]
  if count <= 1:
    return scales
  axis %= scales.ndim
  repeats = padded // count
  shape = (*scales.shape[: axis + 1], repeats, *scales.shape[axis + 1 :])
  wide = jnp.broadcast_to(jnp.expand_dims(scales, axis + 1), shape)
  return wide.reshape(*scales.shape[:axis], padded, *scales.shape[axis + 1 :])


def check_scales(what: str, q: QArray) -> None:
  """Whether there is a scale for each block, or one for all along a dimension. Scales are not prepared."""
  own = None if q.axis is None else q.axis % q.ndim
  num_blocks, left = divmod(q.padded_size, q.block) if q.block else (1, 0)
  wanted = tuple(num_blocks if a == own else size for a, size in enumerate(q.data.shape))
  found = tuple(q.scales.shape)
  if len(found) == len(wanted) and not left and all(n in (1, size) for n, size in zip(found, wanted)):
    return
  raise errors.ShapeMismatchError(
    f"{what} holds {q.format.name} data of shape {tuple(q.data.shape)} scaled along axis {q.axis}, {'all' if q.block is None else q.block} "
    f"elements by one scale: its scales must have shape {wanted}, with 1 where one serves a dimension, got {found}. "
    "Of a QArray, vmap and indexing take away or add leading dimensions only."
  )


def dequantize(q: QArray, dtype: Any = jnp.float32) -> jax.Array:
  """The array that `q` represents: elements times scales in float32 (exact but for overflow and underflow), then converted to `dtype`."""
  if not isinstance(q, QArray):
    raise errors.NumberFormatError(f"dequantize: q must be a QArray, as quantize makes it, got {type(q).__name__}.")
  dtype = arguments.dtype("dequantize: dtype", dtype)
  if q.size > q.padded_size:
    raise errors.ShapeMismatchError(
      f"dequantize: the data hold {q.padded_size} elements along axis {q.axis} and {q.size} were to be there. An array that is padded "
      "along its scaled axis cannot be cut along it, by shard_map for example: pad it to whole blocks before it is quantised."
    )
  q = plain_scales(q)
  if q.data.size:
    check_scales("dequantize: q", q)
  bits = packing.unpack(q.data, q.format.width, q.pack_axis)
  value = elements(bits, q.format)
  for factor in scale_factors(q.scales):
    value = value * (spread(factor, q.padded_size, q.axis) if q.axis is not None else factor)
  if q.global_scale is not None:
    value = value * expand_leading(q.global_scale, value.ndim)
  return jax.lax.slice_in_dim(value, 0, q.size, axis=q.pack_axis % value.ndim).astype(dtype)


def expand_leading(x: Any, ndim: int) -> Any:
  """A scale for each leading index, with dimensions of size one behind."""
  return x if not x.ndim else x.reshape(*x.shape, *(1,) * (ndim - x.ndim))
