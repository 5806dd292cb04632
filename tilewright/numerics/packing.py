"""Packing of sub-byte elements into bytes along one dimension, the first in the lowest bits.

Two 4-bit elements share a byte, four 2-bit elements too, and four 6-bit elements take three bytes:

    elements a b c d of 6 bits:   byte 0 = b₁b₀a₅…a₀   byte 1 = c₃…c₀b₅…b₂   byte 2 = d₅…d₀c₅c₄

Unpacked naturally, element k of each group comes from the same bits of every group: it is a *plane*. Contractions use planes as they are,
since the order of the terms of a sum is free: the sum over k of a[k] b[k] is the sum over planes of their dot products. Only the
other operand, if it is not packed alike, has to be read with a stride.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.numerics import arguments


def unit(width: int) -> tuple[int, int]:
  """How many elements of a width make up how many bytes."""
  if width not in (2, 4, 6, 8, 16, 32):
    raise errors.NumberFormatError(f"width must be 2, 4, 6, 8, 16 or 32 bits of an element, got {width!r}.")
  bits = math.lcm(8, width)
  return bits // width, bits // 8


def packed_size(size: int, width: int) -> int:
  """How many bytes `size` elements below 8 bits take; whole units only."""
  elements, num_bytes = unit(width)
  if size % elements:
    raise errors.ShapeMismatchError(
      f"{size} elements of {width} bits along the axis do not fill whole bytes. Pad them to a multiple of {elements}."
    )
  return size // elements * num_bytes


def _split(x: Any, axis: int, inner: int) -> list[Any]:
  """x[..., n::inner, ...] along an axis, for each n."""
  axis %= x.ndim
  apart = x.reshape(*x.shape[:axis], x.shape[axis] // inner, inner, *x.shape[axis + 1 :])
  return [jax.lax.index_in_dim(apart, n, axis + 1, keepdims=False) for n in range(inner)]


def _interleave(planes: list[Any], axis: int) -> Any:
  axis %= planes[0].ndim
  shape = planes[0].shape
  stacked = jnp.stack(planes, axis + 1)
  return stacked.reshape(*shape[:axis], shape[axis] * len(planes), *shape[axis + 1 :])


def pack(bits: jax.Array, width: int, axis: int = -1) -> jax.Array:
  """Bytes that hold the low `width` bits of each uint8, packed along an axis whose size fills whole bytes."""
  elements, num_bytes = unit(width)
  if width >= 8:
    return bits
  bits = arguments.integers("pack: bits", bits)
  axis = arguments.axis("pack: axis", axis, bits.shape)
  packed_size(bits.shape[axis], width)
  mask = jnp.uint8((1 << width) - 1)
  parts = [p.astype(jnp.uint8) & mask for p in _split(bits, axis, elements)]
  found = []
  for byte in range(num_bytes):
    total = None
    for n, part in enumerate(parts):
      shift = n * width - 8 * byte
      if not -width < shift < 8:
        continue
      moved = part << jnp.uint8(shift) if shift >= 0 else part >> jnp.uint8(-shift)
      total = moved if total is None else total | moved
    found.append(total)
  return _interleave(found, axis)


def planes(packed: Any, width: int, axis: int = -1) -> list[Any]:
  """Plane n holds elements n, n + count, n + 2 * count, … with `count` planes in all. Works on refs' values inside of kernels too."""
  if width >= 8:
    return [packed]
  elements, num_bytes = unit(width)
  mask = jnp.uint8((1 << width) - 1)
  parts = _split(packed, axis, num_bytes) if num_bytes > 1 else [packed]
  found = []
  for n in range(elements):
    first, shift = divmod(n * width, 8)
    value = parts[first] >> jnp.uint8(shift) if shift else parts[first]
    if shift + width > 8:
      value = value | (parts[first + 1] << jnp.uint8(8 - shift))
    found.append(value if shift + width == 8 else value & mask)
  return found


def unpack(packed: jax.Array, width: int, axis: int = -1) -> jax.Array:
  """The bits of the elements of `width` bits that are packed along `axis`, one element in each uint8."""
  _, num_bytes = unit(width)
  if width >= 8:
    return packed
  packed = arguments.integers("unpack: packed", packed)
  axis = arguments.axis("unpack: axis", axis, packed.shape)
  if packed.shape[axis] % num_bytes:
    raise errors.ShapeMismatchError(
      f"unpack: {width}-bit elements come in {num_bytes} bytes at a time, and axis {axis} of {packed.shape} is no multiple of that."
    )
  return _interleave(planes(packed, width, axis), axis)


def strided(x: Any, count: int, axis: int = -1) -> list[Any]:
  """The planes of an array that is not packed."""
  return [x] if count == 1 else _split(x, axis, count)
