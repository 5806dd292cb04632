"""Operands of a block-scaled dot in the kernels' form: batches of matrices, quantised or not, split into planes.

A contraction over k may add its terms in any order, so packed elements are never interleaved again: with P elements to a unit of
bytes, plane j of an operand holds the elements k = j, j + P, j + 2P, … and the dot is the sum of the P dots of planes. An operand that
is not packed is split into planes beforehand, by one strided copy; for the activations of a decoding step its cost is negligible.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright import pallas as pl
from tilewright.numerics import packing
from tilewright.numerics.convert import as_half, decode, half_exponent, half_of_top_bits
from tilewright.numerics.formats import F8E4M3FN, F8E8M0FNU, INT8, Format, format_of
from tilewright.numerics.qarray import QArray, check_scales, exponent_factors


@dataclasses.dataclass(frozen=True)
class Side:
  """The static part of one operand: a stack of matrices (batch, rows, k), or (batch, k, rows) if not `k_last`."""

  rows: int
  batch: int  # 1: shared by all batches
  k_last: bool
  format: Format | None = None  # None: plain floats, in planes: (batch, planes, rows, k / planes)
  block: int | None = None  # elements along k that share a scale; None: all
  scale_rows: int = 1  # 1: one scale for all rows

  @property
  def planes(self) -> int:
    """In how many planes the elements lie."""
    return 1 if self.format is None else packing.unit(self.format.width)[0] if self.format.width < 8 else 1


@dataclasses.dataclass(frozen=True)
class Operand:
  """One operand: its static part, and its arrays."""

  side: Side
  arrays: tuple[Any, ...]  # the data; the scales, if quantised
  k: int  # elements along k, with padding


def matrices(x: Any, contract: int, batch: tuple[int, ...], name: str) -> tuple[Any, Side, tuple[int, ...]]:
  """An operand as a stack of matrices, and the sizes of its free dimensions."""
  ndim = len(x.shape)
  free = [a for a in range(ndim) if a != contract and a not in batch]
  if isinstance(x, QArray):
    return _quantised_matrices(x, contract, batch, free, name)
  k = x.shape[contract]
  order = [*batch, *free, contract]
  moved = x if order == list(range(ndim)) else jnp.transpose(x, order)
  sizes = tuple(x.shape[a] for a in free)
  count = int(np.prod([x.shape[a] for a in batch]))
  rows = int(np.prod(sizes))
  return moved.reshape(count, rows, k), Side(rows, count, True), sizes


def _quantised_matrices(
  q: QArray, contract: int, batch: tuple[int, ...], free: list[int], name: str
) -> tuple[tuple[Any, Any], Side, tuple[int, ...]]:
  ndim = q.ndim
  if q.data.size:
    check_scales(name, q)
  own = None if q.axis is None else q.axis % ndim
  lies = ndim - 1 if own is None and q.format.width < 8 else own
  if lies is not None and lies != contract:
    execution = (
      f"is scaled along axis {lies}" if own is not None else f"has elements that share bytes along axis {lies}"
    )
    raise errors.ShapeMismatchError(
      f"{name} {execution}, but axis {contract} is contracted. Quantise it with axis={contract}."
    )
  sizes = tuple(q.shape[a] for a in free)
  count, rows = int(np.prod([q.shape[a] for a in batch])), int(np.prod(sizes))
  # Matrices with k first are used as they are; any other order is transposed, packed as it is.
  k_last = not free or free[-1] < contract
  order = [*batch, *free, contract] if k_last else [*batch, contract, *free]
  in_order = order == list(range(ndim))
  if not in_order and not k_last:
    k_last, order = True, [*batch, *free, contract]
    in_order = order == list(range(ndim))

  def stacked(z: Any) -> Any:
    moved = z if in_order else jnp.transpose(z, order)
    shape = moved.shape
    first = len(batch)
    if k_last:
      return moved.reshape(int(np.prod(shape[:first])), int(np.prod(shape[first:-1])), shape[-1])
    return moved.reshape(int(np.prod(shape[:first])), shape[first], int(np.prod(shape[first + 1 :])))

  data = stacked(q.data)
  scales = _whole_dimensions(q.scales, q.data.shape, batch, free)
  # A vmap of arrays with one scale each gives a scale for each of what is contracted then.
  block = 1 if own is None and q.scales.shape[contract] > 1 else q.block
  side = Side(rows, count, k_last, q.format, block, 1)
  scales = stacked(scales)
  if scales.shape[0] != count:  # the kernels take scales by the number of the matrix
    scales = jnp.broadcast_to(scales, (count, *scales.shape[1:]))
  side = dataclasses.replace(side, scale_rows=scales.shape[1 if k_last else 2])
  return (data, scales), side, sizes


def _whole_dimensions(scales: Any, shape: tuple[int, ...], *groups: Any) -> Any:
  """Within a group of dimensions that will become one, scales are broadcast along all or along none."""
  target = list(scales.shape)
  for axes in groups:
    if any(target[a] != shape[a] for a in axes) and any(target[a] > 1 for a in axes):
      for a in axes:
        target[a] = shape[a]
  return scales if tuple(target) == tuple(scales.shape) else jnp.broadcast_to(scales, target)


def common_planes(left: Operand, right: Operand) -> tuple[Operand, Operand, int]:
  """The operands, and in how many planes both are read.

  Elements of one plane that lie side by side share a scale if blocks hold whole units. Where the blocks of one operand do not, for which
  they must be smaller than the other's unit, elements are read from bytes of their own.
  """
  count = max(left.side.planes, right.side.planes)
  if all((o.side.block or count) % count == 0 for o in (left, right)):
    return left, right, count
  return unpacked(left), unpacked(right), 1


def unpacked(operand: Operand) -> Operand:
  """The same elements in bytes of their own: f8e4m3fn has every number of the smaller floats."""
  f = operand.side.format
  if f is None or f.width >= 8:
    return operand
  wide = F8E4M3FN if f.is_float else INT8
  data, scales = operand.arrays
  values = decode(packing.unpack(data, f.width, 2 if operand.side.k_last else 1), f)
  return Operand(dataclasses.replace(operand.side, format=wide), (values.astype(wide.dtype), scales), operand.k)


# --- padding along k ---------------------------------------------------------------------------------------------


def pad_k(operand: Operand, k: int) -> Operand:
  """Zeros along k up to a size. Scales of what is added are 1."""
  side = operand.side
  if operand.k == k:
    return operand
  if side.format is None:
    (x,) = operand.arrays
    return dataclasses.replace(operand, arrays=(pad_axis(x, 2, k - operand.k),), k=k)
  data, scales = operand.arrays
  axis = 2 if side.k_last else 1
  more = k - operand.k
  elements, num_bytes = packing.unit(side.format.width) if side.format.width < 8 else (1, 1)
  data = pad_axis(data, axis, more // elements * num_bytes)
  if side.block is not None:
    if scales.shape[axis] == 1:  # it serves all blocks there are
      shape = list(scales.shape)
      shape[axis] = operand.k // side.block
      scales = jnp.broadcast_to(scales, shape)
    scales = pad_axis(scales, axis, more // side.block, jnp.ones((), jnp.float32).astype(scales.dtype))
  return Operand(side, (data, scales), k)


def pad_axis(x: Any, axis: int, more: int, fill: Any = None) -> Any:
  """`more` elements behind those along an axis: zeros, or `fill`."""
  fill = jnp.zeros((), x.dtype) if fill is None else fill
  return jax.lax.pad(x, fill, [(0, more if a == axis else 0, 0) for a in range(x.ndim)])


def in_planes(operand: Operand, count: int) -> Operand:
  """A plain operand as (batch, planes, rows, k / planes)."""
  if operand.side.format is not None:
    return operand
  (x,) = operand.arrays
  batch, rows, k = x.shape
  planes = (
    x.reshape(batch, 1, rows, k) if count == 1 else x.reshape(batch, rows, k // count, count).transpose(0, 3, 1, 2)
  )
  return dataclasses.replace(operand, arrays=(planes,))


# --- inside of a kernel ------------------------------------------------------------------------------------------


def specs(side: Side, rows: int, k: int, count: int, scale_columns: int, place: Any) -> list[Any]:
  """Block specs of an operand's arrays: `rows` of it and `k` elements, at `place(*grid) = (batch, row block, k block)`."""

  def at(*grid: Any) -> tuple[Any, Any, Any]:
    b, i, l = place(*grid)
    return (b if side.batch > 1 else 0), i, l

  if side.format is None:
    return [pl.BlockSpec((None, count, rows, k // count), lambda *g: (at(*g)[0], 0, at(*g)[1], at(*g)[2]))]
  elements, num_bytes = packing.unit(side.format.width) if side.format.width < 8 else (1, 1)
  width = k // elements * num_bytes
  num_scales = 1 if scale_columns == 1 else k // (side.block or k)
  scale_rows = rows if side.scale_rows > 1 else 1

  def scale_at(*grid: Any) -> tuple[Any, Any, Any]:
    b, i, l = at(*grid)
    return b, (i if side.scale_rows > 1 else 0), (l if scale_columns > 1 else 0)

  if side.k_last:
    return [
      pl.BlockSpec((None, rows, width), at),
      pl.BlockSpec((None, scale_rows, num_scales), scale_at),
    ]
  swapped = lambda f: lambda *g: (f(*g)[0], f(*g)[2], f(*g)[1])
  return [
    pl.BlockSpec((None, width, rows), swapped(at)),
    pl.BlockSpec((None, num_scales, scale_rows), swapped(scale_at)),
  ]


_VECTOR = 16  # float32s that a processor handles at once, at most


def scratch(side: Side, scales: Any, shape: tuple[int, ...], planes: int) -> list[Any]:
  """Scratch memory for the decoded scales of a block: each is used for many elements.

  Vectors along k that would need several scales at once find them repeated, one for each element.
  """
  if side.format is None:
    return []
  count = 2 if scales.dtype == F8E8M0FNU.dtype else 1
  if side.k_last and shape[1] > 1 and (side.block or 0) // planes < _VECTOR:
    shape = (*shape, (side.block or 0) // planes)
  return [jax.ShapeDtypeStruct(shape, jnp.float32)] * count


def exact_in_bfloat16(side: Side, scales: Any) -> bool:
  """Whether elements times scales always fit the 8 significant bits of a bfloat16, whose exponents are those of a float32."""
  f = side.format
  if f is None or f.width > 8:
    return False
  scale = format_of(scales.dtype)
  bits = f.mantissa_bits + 1 if f.is_float else f.width
  return scale.width <= 8 and bits + (scale.mantissa_bits + 1 if scale.mantissa_bits else 0) <= 8


def read_planes(
  side: Side, refs: Sequence[Any], factor_refs: Sequence[Any], count: int, dtype: Any = jnp.float32
) -> list[Any]:
  """The planes of a block, scaled: each (rows, k / count), or (k / count, rows) if not `k_last`."""
  if side.format is None:
    (x_ref,) = refs
    return [x_ref[j].astype(jnp.float32) for j in range(count)]
  data_ref, scales_ref = refs
  axis = 1 if side.k_last else 0
  own = side.planes
  data = data_ref[...]
  for ref, factor in zip(factor_refs, _factors(scales_ref[...], hidden_exponent(side.format)), strict=True):
    ref[...] = factor if len(ref.shape) == 2 else jnp.broadcast_to(factor[..., None], ref.shape)
  found = []
  for j in range(count):
    value = plane(data, side.format, j % own, axis)
    if count > own:
      value = packing.strided(value, count // own, axis)[j // own]
    for ref in factor_refs:
      value = value * (_spread(ref[...], value.shape[axis], axis) if len(ref.shape) == 2 else _merged(ref))
    found.append(value.astype(dtype))
  return found


def _merged(ref: Any) -> Any:
  """Repeated scales as one for each element."""
  rows, count, repeats = ref.shape
  return ref.reshape(rows, count * repeats)[...]


def hidden_exponent(f: Format) -> int:
  """The scales take up a power of two that decoding would multiply by."""
  if f.width >= 8:
    return 0
  return half_exponent(f) if f.is_float else f.width - 32


def plane(data: Any, f: Format, number: int, axis: int) -> Any:
  """The elements of a plane as float32, divided by 2 to the hidden exponent.

  Elements below 8 bits are moved to the top of a word, where their sign is the word's: an integer is then converted as it is.
  """
  if f.width >= 8:
    return data.astype(jnp.float32)
  if 8 % f.width:
    return as_half(packing.planes(data, f.width, axis)[number], f)
  below = f.width * number  # bits of the byte before the element
  if f.is_float:
    return half_of_top_bits(data.astype(jnp.int16) << np.int16(16 - f.width - below), f)
  top = data.astype(jnp.int32) << np.int32(32 - f.width - below)
  return (top & np.int32(-1 << (32 - f.width)) if below else top).astype(jnp.float32)


def _factors(scales: Any, exponent: int) -> list[Any]:
  if scales.dtype == F8E8M0FNU.dtype:
    first, second = exponent_factors(jax.lax.bitcast_convert_type(scales, jnp.uint8).astype(jnp.int32))
    return [first * np.float32(2.0**exponent), second]
  return [scales.astype(jnp.float32) * np.float32(2.0**exponent)]


def _spread(factor: Any, size: int, axis: int) -> Any:
  """A factor for each element of a plane."""
  count = factor.shape[axis]
  if count == 1:
    return factor
  shape = list(factor.shape)
  apart = [*shape[: axis + 1], size // count, *shape[axis + 1 :]]
  wide = jax.lax.broadcast_in_dim(factor, apart, [a if a <= axis else a + 1 for a in range(len(shape))])
  shape[axis] = size
  return wide.reshape(shape)
