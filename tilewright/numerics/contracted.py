"""A dot over several dimensions as one over a single dimension: what the kernels compute.

    x (m, h, k) · w (h, k, n) over h and k   =   x (m, h·k) · w (h·k, n)

The dimension along which an operand is scaled comes last among them, so that blocks of scales stay whole. If it is padded, it is padded
alike on both sides, and zeros lie between one index of the others and the next.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.numerics import packing
from tilewright.numerics.arguments import DimensionNumbers
from tilewright.numerics.operands import pad_axis
from tilewright.numerics.qarray import QArray, check_scales, expand_leading, scale_factors


def as_one(a: Any, b: Any, numbers: DimensionNumbers) -> tuple[Any, Any, DimensionNumbers]:
  """The same dot with one contracted dimension. Scales are not prepared."""
  (lc, rc), (lb, rb) = numbers
  a, b = _without_global(a, lc), _without_global(b, rc)
  if len(lc) == 1:
    return a, b, numbers
  last = _scaled_pair(a, b, lc, rc)
  lc, rc = ((*dims[:last], *dims[last + 1 :], dims[last]) for dims in (lc, rc))
  unit = math.lcm(_unit(a), _unit(b))
  size = -(-a.shape[lc[-1]] // unit) * unit
  (a, lk, lb), (b, rk, rb) = (
    _merged(f"scaled_dot: {name}", x, c, batch, size) for name, x, c, batch in (("a", a, lc, lb), ("b", b, rc, rb))
  )
  return a, b, (((lk,), (rk,)), (lb, rb))


def _without_global(x: Any, contracted: tuple[int, ...]) -> Any:
  """An operand whose global scale, if it varies along contracted dimensions, is folded into its scales."""
  if not isinstance(x, QArray) or x.global_scale is None or not any(d < x.global_scale.ndim for d in contracted):
    return x
  factors = (expand_leading(x.global_scale, x.ndim), *scale_factors(x.scales))
  return dataclasses.replace(x, scales=functools.reduce(jnp.multiply, factors), global_scale=None)


def _scaled_pair(a: Any, b: Any, lc: tuple[int, ...], rc: tuple[int, ...]) -> int:
  """The number of the pair of contracted dimensions that is block-scaled."""
  found = set()
  for name, x, dims in (("a", a, lc), ("b", b, rc)):
    if not isinstance(x, QArray) or (x.axis is None and x.format.width >= 8):
      continue
    if x.pack_axis % x.ndim not in dims:
      raise errors.ShapeMismatchError(
        f"scaled_dot: {name} is scaled along axis {x.pack_axis % x.ndim}, which is not among the contracted ones, {dims}. Quantise it "
        "along one of those."
      )
    found.add(dims.index(x.pack_axis % x.ndim))
  if len(found) > 1:
    raise errors.ShapeMismatchError(
      f"scaled_dot: a is scaled along axis {a.pack_axis % a.ndim} and b along axis {b.pack_axis % b.ndim}, which are not contracted with "
      f"each other: {lc} are, with {rc}. Quantise them along the same one."
    )
  return found.pop() if found else len(lc) - 1


def _unit(x: Any) -> int:
  """The number that divides the size of the scaled dimension."""
  if not isinstance(x, QArray):
    return 1
  return math.lcm(x.block or 1, packing.unit(x.format.width)[0] if x.format.width < 8 else 1)


def _merged(
  name: str, x: Any, contracted: tuple[int, ...], batch: tuple[int, ...], size: int
) -> tuple[Any, int, tuple[int, ...]]:
  """An operand whose contracted dimensions are one, where the last of them was; that dimension, and those of the batch."""
  last, count = contracted[-1], len(contracted)
  before = [d for d in range(x.ndim) if d not in contracted and d < last]
  order = [*before, *contracted, *(d for d in range(x.ndim) if d not in contracted and d > last)]
  at = len(before)
  places = [order.index(d) for d in batch]
  batch = tuple(d if d < at else d - count + 1 for d in places)

  def merge(z: jax.Array) -> jax.Array:
    moved = jnp.transpose(z, order)
    return moved.reshape(*moved.shape[:at], math.prod(moved.shape[at : at + count]), *moved.shape[at + count :])

  if not isinstance(x, QArray):
    return merge(pad_axis(x, last, size - x.shape[last])), at, batch
  if x.data.size:
    check_scales(name, x)
  elements, num_bytes = packing.unit(x.format.width) if x.format.width < 8 else (1, 1)
  there = x.padded_size if last == x.pack_axis % x.ndim else x.shape[last]
  data = merge(pad_axis(x.data, last, (size - there) // elements * num_bytes))
  own_size = size * math.prod(x.shape[d] for d in contracted[:-1])
  scales, differ = x.scales, [d for d in contracted if x.scales.shape[d] > 1]
  if x.axis is None and (not differ or last in differ):
    if differ:  # one for each index that a vmap has added: one for each element, then
      scales = jnp.broadcast_to(scales, [x.shape[d] if d in contracted else n for d, n in enumerate(scales.shape)])
      scales = pad_axis(scales, last, size - x.shape[last])
    held = own_size if at == data.ndim - 1 else data.shape[-1]
    return dataclasses.replace(x, data=data, scales=merge(scales), size=held), at, batch
  # Each index of the other dimensions has blocks of its own.
  block = x.block or max(1, size)
  count_there = there // block if x.block is not None else 1
  counts = [count_there if d == last else x.shape[d] if d in contracted else n for d, n in enumerate(scales.shape)]
  scales = jnp.broadcast_to(scales, counts)
  scales = pad_axis(scales, last, -(-size // block) - count_there, jnp.ones((), jnp.float32).astype(scales.dtype))
  return QArray(data, merge(scales), x.global_scale, x.format, block, at - data.ndim, own_size), at, batch
