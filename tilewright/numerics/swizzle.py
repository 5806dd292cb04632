"""Scales swizzled into the order in which block-scaled tensor cores read them.

Rows are padded to 128 and columns (blocks along k) to 4. The array [B, R/128, 4, 32, C/4, 4] is then transposed to (0, 1, 4, 3, 2, 5): 128
rows of 4 columns are 512 bytes side by side.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax import export

from tilewright import errors
from tilewright.numerics import arguments

if TYPE_CHECKING:  # a QArray can hold what is defined here
  from tilewright.numerics.qarray import QArray

_ROWS, _COLUMNS = 128, 4
_ORDER = (0, 1, 4, 3, 2, 5)


def padded_shape(rows: int, columns: int) -> tuple[int, int]:
  return -(-rows // _ROWS) * _ROWS, -(-columns // _COLUMNS) * _COLUMNS


def swizzle_scales(scales: jax.Array) -> jax.Array:
  """Scales (..., rows, columns) padded with zero bits and swizzled: (..., rows to 128, columns to 4)."""
  scales = arguments.array("swizzle_scales: scales", scales)
  if scales.ndim < 2:
    raise errors.ShapeMismatchError(f"swizzle_scales: scales must have shape (..., rows, columns), got {scales.shape}.")
  *batch, rows, columns = scales.shape
  to_rows, to_columns = padded_shape(rows, columns)
  count = math.prod(batch)
  bits = _as_bits(scales).reshape(count, rows, columns)
  bits = jnp.pad(bits, ((0, 0), (0, to_rows - rows), (0, to_columns - columns)))
  apart = bits.reshape(count, to_rows // _ROWS, 4, 32, to_columns // _COLUMNS, _COLUMNS)
  return _from_bits(apart.transpose(_ORDER).reshape(*batch, to_rows, to_columns), scales.dtype)


def unswizzle_scales(swizzled: jax.Array, rows: int, columns: int) -> jax.Array:
  """The inverse of `swizzle_scales`: scales (..., rows, columns)."""
  swizzled = arguments.array("unswizzle_scales: swizzled", swizzled)
  if swizzled.ndim < 2:
    raise errors.ShapeMismatchError(
      f"unswizzle_scales: swizzled must have shape (..., rows to 128, columns to 4), got {swizzled.shape}."
    )
  rows, columns = (
    arguments.integer(f"unswizzle_scales: {name}", size, 0) for name, size in (("rows", rows), ("columns", columns))
  )
  *batch, from_rows, from_columns = swizzled.shape
  to_rows, to_columns = padded_shape(rows, columns)
  if (from_rows, from_columns) != (to_rows, to_columns):
    raise errors.ShapeMismatchError(
      f"unswizzle_scales: swizzled, of {rows} rows and {columns} blocks, must have shape (..., {to_rows}, {to_columns}), got "
      f"{swizzled.shape}."
    )
  count = math.prod(batch)
  apart = _as_bits(swizzled).reshape(count, from_rows // _ROWS, from_columns // _COLUMNS, 32, 4, _COLUMNS)
  plain = apart.transpose(_ORDER).reshape(count, from_rows, from_columns)[:, :rows, :columns]
  return _from_bits(plain.reshape(*batch, rows, columns), swizzled.dtype)


def _as_bits(x: jax.Array) -> jax.Array:
  return jax.lax.bitcast_convert_type(x, jnp.uint8) if x.dtype.itemsize == 1 else x


def _from_bits(bits: jax.Array, dtype: Any) -> jax.Array:
  return jax.lax.bitcast_convert_type(bits, dtype) if bits.dtype != dtype else bits


@dataclasses.dataclass(frozen=True)
class Prepared:
  """Marks scales that are padded, and swizzled too if `swizzled`."""

  scales: Any
  swizzled: bool = True

  @property
  def shape(self) -> tuple[int, ...]:
    return self.scales.shape

  @property
  def dtype(self) -> Any:
    return self.scales.dtype


jax.tree_util.register_dataclass(Prepared, data_fields=["scales"], meta_fields=["swizzled"])
export.register_pytree_node_serialization(
  Prepared,
  serialized_name="tilewright.numerics.Prepared",
  serialize_auxdata=lambda fixed: bytes([fixed[0]]),
  deserialize_auxdata=lambda kept: (bool(kept[0]),),
)


def prepare(q: QArray, *, swizzled: bool = True) -> QArray:
  """A QArray `q` that is scaled along its last axis, with its scales as tensor cores read them (only padded unless `swizzled`)."""
  if not hasattr(q, "block"):
    raise errors.NumberFormatError(f"prepare: q must be a QArray, as quantize makes it, got {type(q).__name__}.")
  if q.axis != -1 or q.block is None or q.ndim < 2:
    raise errors.NumberFormatError(
      f"prepare: q must be a matrix, or a batch of them, with block scales along the last axis; got {q!r}."
    )
  if isinstance(q.scales, Prepared) and q.scales.swizzled == swizzled:
    return q
  q = plain_scales(q)
  if swizzled:
    return dataclasses.replace(q, scales=Prepared(swizzle_scales(q.scales), True))
  rows, columns = q.scales.shape[-2:]
  to_rows, to_columns = padded_shape(rows, columns)
  widths = [(0, 0)] * (q.scales.ndim - 2) + [(0, to_rows - rows), (0, to_columns - columns)]
  padded = _from_bits(jnp.pad(_as_bits(q.scales), widths), q.scales.dtype)
  return dataclasses.replace(q, scales=Prepared(padded, False))


def plain_scales(q: Any) -> Any:
  """The same array with its scales in plain order; anything else as it is."""
  if not isinstance(getattr(q, "scales", None), Prepared):
    return q
  rows, columns = q.data.shape[-2], q.padded_size // (q.block or q.padded_size)
  if q.scales.swizzled:
    return dataclasses.replace(q, scales=unswizzle_scales(q.scales.scales, rows, columns))
  return dataclasses.replace(q, scales=q.scales.scales[..., :rows, :columns])
