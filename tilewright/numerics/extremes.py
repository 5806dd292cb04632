"""Scales at the ends of their range: elements times such a scale leave float32's range, though the product with the other operand may not.

    448 * 2^127 overflows and 448 * 2^-127 nearly vanishes, but their product is 448 * 448

Each scale 2^e is cut into 2^c * 2^(e - c), with c as near to e as the format's elements allow: elements times 2^c are normal float32s,
for all element values. The remaining power of two, of both operands at once, multiplies the partial sum of each block instead:

    sum over blocks of (sum within the block of a * 2^c * b * 2^d) * 2^(remaining exponents of both)

That takes a pass over the results for every block, so it is done only where blocks of the operands have such scales. `quantize` makes none
where the largest number of a block is above 2^-95.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.numerics import packing
from tilewright.numerics.formats import F8E8M0FNU, Format
from tilewright.numerics.operands import Side, hidden_exponent, plane
from tilewright.numerics.qarray import exponent_factors

_ONE = 127  # the code of the scale 1
_NAN = 255


def has_powers(side: Side, arrays: Sequence[Any]) -> bool:
  """Whether an operand's scales are powers of two, of which some may be extreme."""
  return side.format is not None and arrays[1].dtype == F8E8M0FNU.dtype


def codes_within(f: Format) -> tuple[int, int]:
  """The least and the greatest code of a scale for which all elements but 0, times the scale, are normal float32s."""
  largest = f.max_exponent if f.is_float else f.width - 1
  return _ONE - 126 - round(math.log2(f.min_subnormal)), _ONE + 127 - largest


def _codes(scales: Any) -> Any:
  return jax.lax.bitcast_convert_type(scales, jnp.uint8).astype(jnp.int32)


def are_extreme(sides: Sequence[Side], refs: Sequence[Sequence[Any]]) -> Any:
  """Whether something would be lost of two blocks, whose scales are the last of their refs: a scalar.

  Too small a scale matters only where the other operand has numbers above 1.
  """
  found: Any = jnp.bool_(False)
  for (side, own), (other, others) in zip(zip(sides, refs), list(zip(sides, refs))[::-1]):
    if side.format is None or not has_powers(side, own):
      continue
    least, greatest = codes_within(side.format)
    codes = _codes(own[1][...])
    codes = jnp.where(codes == _NAN, _ONE, codes)
    too_small = jnp.min(codes) < least
    if other.format is not None and has_powers(other, others):
      codes_there = _codes(others[1][...])
      most = jnp.max(jnp.where(codes_there == _NAN, _ONE, codes_there))
      too_small &= most > codes_within(other.format)[1] - 128
    found = found | too_small | (jnp.max(codes) > greatest)
  return found


def total(
  sides: Sequence[Side], refs: Sequence[Sequence[Any]], shape: tuple[int, int], k: int, planes: int, dims: Any
) -> Any:
  """The product of two blocks of `k` elements, (rows, rows of the other), block of scales by block of scales."""
  chunk = math.gcd(*(side.block or k for side in sides))

  def add(c: Any, sums: Any) -> Any:
    (x, ours), (y, theirs) = (_chunk(side, own, c, chunk, planes) for side, own in zip(sides, refs))
    products = (jax.lax.dot_general(p, q, dims, preferred_element_type=jnp.float32) for p, q in zip(x, y))
    left = ours.reshape(-1, 1) + theirs.reshape(1, -1)
    power = jax.lax.bitcast_convert_type((left + _ONE) << 23, jnp.float32)
    return sums + functools.reduce(jnp.add, products) * power

  return jax.lax.fori_loop(0, k // chunk, add, jnp.zeros(shape, jnp.float32))


def _chunk(side: Side, refs: Sequence[Any], c: Any, chunk: int, count: int) -> tuple[list[Any], Any]:
  """Planes of the elements of one block of scales, times what of the scales they can take; and of each row the exponent of what is left."""
  if side.format is None:
    (x_ref,) = refs
    width = chunk // count
    parts = [x_ref[j, :, pl.ds(c * width, width)].astype(jnp.float32) for j in range(count)]
    return parts, jnp.zeros((1, 1), jnp.int32)
  data_ref, scales_ref = refs
  f, axis, own = side.format, 1 if side.k_last else 0, side.planes
  elements, num_bytes = packing.unit(f.width) if f.width < 8 else (1, 1)
  data = _along(data_ref, axis, c * (chunk // elements * num_bytes), chunk // elements * num_bytes)
  only = scales_ref.shape[axis] == 1
  scales = _along(scales_ref, axis, 0 if only else c * chunk // (side.block or chunk), 1)
  hidden = jnp.float32(2.0 ** hidden_exponent(f))
  if scales.dtype == F8E8M0FNU.dtype:
    codes = _codes(scales)
    taken = jnp.where(codes == _NAN, _NAN, jnp.clip(codes, *codes_within(f)))
    first, second = exponent_factors(taken)
    factors, left = [first * hidden, second], codes - taken
  else:
    factors, left = [scales.astype(jnp.float32) * hidden], jnp.zeros(scales.shape, jnp.int32)
  found = []
  for j in range(count):
    value = plane(data, f, j % own, axis)
    if count > own:
      value = packing.strided(value, count // own, axis)[j // own]
    found.append(functools.reduce(jnp.multiply, factors, value))
  return found, left


def factors_of(scales: Sequence[Any]) -> list[Any]:
  """float32s that multiply a sum one after the other as the product of several does, which may be none: 10^-25 * 10^-25, say.

  The significands come first, each below 1, and what is left of the exponents in two halves of the same sign: nothing on the way leaves
  the range unless the result does.
  """
  significand, exponent = np.float32(1), np.int32(0)
  for scale in scales:
    bits = jax.lax.bitcast_convert_type(scale, jnp.int32)
    code = (bits >> 23) & 0xFF
    is_normal = (code > 0) & (code < 0xFF)
    half = jax.lax.bitcast_convert_type((bits & np.int32(-0x7F800001)) | np.int32(126 << 23), jnp.float32)
    significand = significand * jnp.where(is_normal, half, scale)
    exponent = exponent + jnp.where(is_normal, code - 126, 0)
  significand = jnp.where(exponent < -252, np.float32(0), significand)
  exponent = jnp.clip(exponent, -252, 254)
  low = exponent >> 1
  powers = [jax.lax.bitcast_convert_type((e + _ONE) << 23, jnp.float32) for e in (low, exponent - low)]
  return [significand, *powers]


def _along(ref: Any, axis: int, start: Any, size: int) -> Any:
  return ref[:, pl.ds(start, size)] if axis == 1 else ref[pl.ds(start, size), :]
