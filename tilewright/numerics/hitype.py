"""A quantised array as one value of its own type (hijax): a single variable in a jaxpr, and a single ref in a kernel.

    v = box(quantize(w, "mxfp8"))                      # opaque to pytrees
    pl.pallas_call(kernel, …, in_specs=[pl.BlockSpec((64, 128), …)])(v)   # the spec is for the array that it represents
    def kernel(w_ref, o_ref): o_ref[...] = dequantize_value(w_ref[...])

A block spec for such a value is in elements; the specs of its data and scales follow from it. Blocks along the scaled axis must hold
whole scale blocks.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec

from tilewright import errors
from tilewright import pallas as pl
from tilewright.numerics import arguments, packing, qarray
from tilewright.numerics.formats import Format
from tilewright.numerics.qarray import QArray
from tilewright.numerics.swizzle import Prepared, plain_scales
from tilewright.runtime import _jax


@dataclasses.dataclass(frozen=True)
class QValue:
  """A `QArray` that JAX sees as one value."""

  array: QArray

  @property
  def shape(self) -> tuple[int, ...]:
    return self.array.shape


@dataclasses.dataclass(frozen=True)
class QType(_jax.hijax.HiType):
  """The type of a `QValue`: the types of its arrays, and what a `QArray` says besides."""

  avals: tuple[Any, ...]  # data, scales, and the global scale if there is one
  format: Format
  block: int | None
  axis: int | None
  size: int

  @property
  def shape(self) -> tuple[int, ...]:
    return self._array(self.avals).shape

  @property
  def ndim(self) -> int:
    return len(self.shape)

  def _array(self, arrays: Any) -> QArray:
    data, scales, *whole = arrays
    return QArray(data, scales, whole[0] if whole else None, self.format, self.block, self.axis, self.size)

  def lo_ty(self) -> list[Any]:
    return list(self.avals)

  def lower_val(self, value: QValue) -> list[Any]:
    return _arrays(value.array)

  def raise_val(self, *arrays: Any) -> QValue:
    return QValue(self._array(arrays))

  def to_tangent_aval(self) -> QType:
    return self

  def str_short(self, short_dtypes: bool = False, **_: Any) -> str:
    return f"{self.format.name}[{','.join(map(str, self.shape))}]"

  # --- vmap ------------------------------------------------------------------------------------------------------

  def dec_rank(self, size: int | None, axis: Any) -> QType:
    """The type of one of those along a dimension. A global scale for all of them is that of each."""
    rank, own = len(self.shape), self._array(self.avals).pack_axis % len(self.shape)
    if axis == own:
      raise errors.ShapeMismatchError(
        f"vmap: {self.str_short()} is packed along axis {own} and cannot be mapped over it. Map another axis."
      )
    kept = None if self.axis is None else own - (axis < own) - (rank - 1)
    found = self._with_shapes(lambda shape: (*shape[:axis], *shape[axis + 1 :]) if len(shape) > axis else shape)
    return dataclasses.replace(found, axis=kept)

  def inc_rank(self, size: int | None, axis: Any) -> QType:
    return self._with_shapes(lambda shape: (*shape[:axis], size, *shape[axis:]) if len(shape) >= axis else shape)

  def _with_shapes(self, change: Callable[[tuple[int, ...]], tuple[Any, ...]]) -> QType:
    return dataclasses.replace(self, avals=tuple(a.update(shape=change(a.shape)) for a in self.avals))

  def leading_axis_spec(self) -> int:
    """What `lax.scan` maps over."""
    return 0

  # --- shard_map -------------------------------------------------------------------------------------------------

  def shard(self, mesh: Any, manual_axes: Any, check_vma: bool, spec: Any) -> QType:
    """The type of one device's part."""
    avals = [
      _jax.core.shard_aval(mesh, manual_axes, check_vma, s, a)
      for s, a in zip(self._specs(spec), self.avals, strict=True)
    ]
    return self._of_parts(avals)

  def unshard(self, mesh: Any, check_vma: bool, spec: Any) -> QType:
    avals = [_jax.core.unshard_aval(mesh, check_vma, s, a) for s, a in zip(self._specs(spec), self.avals, strict=True)]
    return self._of_parts(avals)

  def nospec(self, mesh: Any, check_vma: bool, all_names: Any) -> QSpec:
    return QSpec(tuple(a.nospec(mesh, check_vma, all_names) for a in self.avals))

  def _specs(self, spec: Any) -> tuple[PartitionSpec, ...]:
    if isinstance(spec, QSpec):
      return spec.parts
    raise errors.ShapeMismatchError(
      f"shard_map: the spec of {self.str_short()} must be one of partition_specs(value, spec), got {spec}."
    )

  def _of_parts(self, avals: Any) -> QType:
    """Of arrays of other sizes. Padding stays where it is: such an array is not cut along its scaled axis."""
    before, after = (self._array(a).padded_size for a in (self.avals, avals))
    return dataclasses.replace(self, avals=tuple(avals), size=after if before != after else self.size)

  # --- in kernels ------------------------------------------------------------------------------------------------

  def lower_block_spec(self, spec: Any) -> list[Any]:
    """The specs of data, scales and global scale, from one in elements."""
    shape, index_map = tuple(spec.block_shape), spec.index_map
    at = self._array(self.avals).pack_axis % len(shape)
    scales = self.avals[1]
    data_block = list(shape)
    scale_block = [1 if n == 1 and d is not None else d for d, n in zip(shape, scales.shape)]
    elements, num_bytes = packing.unit(self.format.width) if self.format.width < 8 else (1, 1)
    unit = np.lcm(self.block or 1, elements)
    if not isinstance(shape[at], int | np.integer) or (shape[at] % unit and shape[at] != self.size):
      raise errors.BlockSpecError(
        f"A block of {self.str_short()} along axis {at} must hold whole scale blocks: a multiple of {unit}, got {shape[at]} in {shape}."
      )
    data_block[at] = -(-shape[at] // unit) * unit // elements * num_bytes  # all of the axis is so with its padding
    if scales.shape[at] > 1:
      scale_block[at] = -(-shape[at] // (self.block or 1))
    single = [n == 1 for n in scales.shape]
    scale_map = lambda *g: tuple(0 if one else i for i, one in zip(index_map(*g), single))
    found = [pl.BlockSpec(tuple(data_block), index_map), pl.BlockSpec(tuple(scale_block), scale_map)]
    if len(self.avals) == 3:
      rank = len(self.avals[2].shape)
      found.append(pl.BlockSpec(shape[:rank], lambda *g: index_map(*g)[:rank]))
    return found

  def block_type(self, avals: Any) -> QType:
    """The type of a block, from the types of its parts."""
    elements, num_bytes = packing.unit(self.format.width) if self.format.width < 8 else (1, 1)
    at = -1 if self.axis is None else self.axis
    padded = avals[0].shape[at] // num_bytes * elements
    return dataclasses.replace(self, avals=tuple(avals), size=min(padded, self.size))


@dataclasses.dataclass(frozen=True)
class QSpec(_jax.hijax.HiPspec):
  """How `shard_map` cuts a value: the specs of its arrays. Made by `partition_specs`."""

  parts: tuple[PartitionSpec, ...]

  def to_lo(self) -> tuple[PartitionSpec, ...]:
    return self.parts

  def to_tangent_spec(self) -> QSpec:
    return self

  def to_ct_spec(self) -> QSpec:
    return self


def partition_specs(q: Any, spec: PartitionSpec) -> Any:
  """How `shard_map` and `jax.device_put` cut a quantised array, from a spec for the array that it represents.

      jax.shard_map(f, mesh=mesh, in_specs=(P(), partition_specs(q, P("x", None))), …)(x, q)

  Args:
    q: a `QArray`, boxed or not; its scales may serve whole dimensions.
    spec: a `jax.sharding.PartitionSpec`, in dimensions of `q.shape`.

  Returns:
    A QArray of PartitionSpecs; for a boxed array a `QSpec`.
  """
  if not isinstance(spec, PartitionSpec):
    raise errors.NumberFormatError(
      f"partition_specs: spec must be a jax.sharding.PartitionSpec, got {type(spec).__name__}."
    )
  if isinstance(q, QValue):
    return QSpec(tuple(_arrays(partition_specs(q.array, spec))))
  if not isinstance(q, QArray):
    raise errors.NumberFormatError(
      f"partition_specs: q must be a QArray, as quantize makes it, boxed or not, got {type(q).__name__}."
    )
  if len(spec) > q.ndim:
    raise errors.ShapeMismatchError(f"partition_specs: {spec} is for more dimensions than {q!r} has.")
  names = [*spec, *(None,) * (q.ndim - len(spec))]
  if names[q.pack_axis] is not None and q.size != q.padded_size:
    raise errors.ShapeMismatchError(
      f"partition_specs: {spec} shards the scaled axis, which is padded from {q.size} to {q.padded_size} elements. Pad the array to a "
      "multiple of the block times the number of parts before it is quantised."
    )
  if isinstance(q.scales, Prepared) and any(names[-2:]):
    raise errors.ShapeMismatchError(
      f"partition_specs: {spec} shards scales that are prepared. Shard first, then prepare."
    )
  shared = [count == 1 and size != 1 for count, size in zip(q.scales.shape, q.shape)]
  scales = PartitionSpec(*(None if one else name for one, name in zip(shared, names)))
  whole = None if q.global_scale is None else PartitionSpec(*names[: np.ndim(q.global_scale)])
  held: Any = Prepared(scales, q.scales.swizzled) if isinstance(q.scales, Prepared) else scales
  return dataclasses.replace(
    q, data=PartitionSpec(*names), scales=held, global_scale=whole, size=None if q.size == q.padded_size else q.size
  )


def _arrays(q: QArray) -> list[Any]:
  return [a for a in (q.data, q.scales, q.global_scale) if a is not None]


def _type_of(value: QValue) -> QType:
  q = value.array
  avals = tuple(_jax.core.ShapedArray(a.shape, np.dtype(a.dtype)) for a in _arrays(q))
  return QType(avals, q.format, q.block, q.axis, q.size)


_jax.hijax.register_hitype(QValue, _type_of)


class _Dequantise(_jax.UserPrimitive):
  """From a value to the array that it represents."""

  def __init__(self, type_: QType):
    self.in_avals = (type_,)
    self.out_aval = _jax.core.ShapedArray(type_.shape, jnp.dtype("float32"))
    self.params: dict[str, Any] = {}
    super().__init__()

  def expand(self, value: QValue) -> Any:
    return qarray.dequantize(value.array)

  def batch(self, axis_data: Any, args: Any, dims: Any) -> Any:
    """What holds for a dimension more is the same for all of them at once."""
    (value,), (dim,) = args, dims
    return dequantize_value(value), dim

  def vjp_fwd(self, nonzero: Any, value: Any) -> Any:
    """For derivatives towards other arguments, see `_Members`."""
    del nonzero
    return self(value), None


class _Members(_jax.UserPrimitive):
  """From a value to its arrays."""

  def __init__(self, type_: QType):
    self.in_avals = (type_,)
    self.out_aval = type_.avals
    self.params: dict[str, Any] = {}
    super().__init__()

  def expand(self, value: QValue) -> Any:
    return tuple(_arrays(value.array))

  def batch(self, axis_data: Any, args: Any, dims: Any) -> Any:
    (value,), (dim,) = args, dims
    arrays = _Members(_jax.core.typeof(value))(value)
    return arrays, tuple(dim if a.ndim > dim else None for a in arrays)

  def vjp_fwd(self, nonzero: Any, value: Any) -> Any:
    """For derivatives towards other arguments: a value is a constant there, of which nothing is kept."""
    del nonzero
    return self(value), None


class _Value(_jax.UserPrimitive):
  """From arrays to the value that they make up."""

  def __init__(self, type_: QType):
    self.in_avals = type_.avals
    self.out_aval = type_
    self.params: dict[str, Any] = {"type": type_}
    super().__init__()

  def expand(self, *arrays: Any) -> Any:
    return self.out_aval.raise_val(*arrays)

  def batch(self, axis_data: Any, args: Any, dims: Any) -> Any:
    """Leading dimensions come in front of all arrays; one global scale serves all."""
    size = axis_data.size
    moved = [
      a
      if d is None and n == 2 and not a.ndim
      else jnp.broadcast_to(a, (size, *a.shape))
      if d is None
      else jnp.moveaxis(a, d, 0)
      for n, (a, d) in enumerate(zip(args, dims))
    ]
    return box(self.out_aval._array(moved)), 0


def box(q: QArray) -> Any:
  """A quantised array as one value; under `jit` too."""
  if not isinstance(q, QArray):
    raise errors.NumberFormatError(f"box: q must be a QArray, as quantize makes it, got {type(q).__name__}.")
  value = QValue(plain_scales(q))
  if any(isinstance(x, _jax.core.Tracer) for x in _arrays(value.array)):
    type_ = _type_of(value)
    return _Value(type_)(*_arrays(value.array))
  return value


def unbox(value: Any) -> QArray:
  """The quantised array of a value; under `jit` too."""
  if isinstance(value, QValue):
    return value.array
  type_ = _type_in_program("unbox", value)
  return type_._array(_Members(type_)(value))


def unboxed(x: Any) -> Any:
  """What an operand represents: a value's quantised array; anything else as it is."""
  return unbox(x) if isinstance(x, QValue) or _is_traced(x) else x


def _is_traced(x: Any) -> bool:
  return isinstance(x, _jax.core.Tracer) and isinstance(_jax.core.typeof(x), QType)


def dequantize(q: Any, dtype: Any = jnp.float32) -> jax.Array:
  """The array that `q`, boxed or not, represents: elements times scales in float32 (exact but for overflow and underflow), then `dtype`."""
  wanted = arguments.dtype("dequantize: dtype", dtype)
  return dequantize_value(q).astype(wanted) if _is_traced(q) else qarray.dequantize(unboxed(q), wanted)


def dequantize_value(value: Any) -> Any:
  """The array that a value represents; inside of kernels and under `jit` too."""
  return _Dequantise(_type_in_program("dequantize_value", value))(value)


def _type_in_program(what: str, value: Any) -> QType:
  try:
    found = _jax.core.typeof(value)
  except TypeError:
    found = None
  if isinstance(found, QType):
    return found
  raise errors.NumberFormatError(f"{what}: value must be a quantised array that is boxed, got {type(value).__name__}.")
