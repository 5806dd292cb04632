"""Removal of masks that replace out-of-bounds elements of a block with zeros, which a copy to shared memory does anyway.

    place = pl.program_id(2) * 64 + jax.lax.broadcasted_iota(jnp.int32, (128, 64), 1)
    x = jnp.where(place < 1000, x_ref[...], 0)           # x_ref: blocks of 128 x 64 of an array with 1000 columns, the l-th at step l

TMA and `cp.async` fill out-of-bounds elements with zeros. So where the mask of such a select is exactly the array's edge, the select is
redundant, and a product can read the block where it arrives.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from tilewright.tile.grid import Blocked, Squeezed
from tilewright.tile.ir import Op, Value
from tilewright.tile.native import NativeKernel


@dataclasses.dataclass(frozen=True)
class ZeroFilled:
  """A selection between the block of an input and zero: the load, and along which dimension of the block it has zeros past the end."""

  load: Op
  axis: int


def find(kernel: NativeKernel, select: Op) -> ZeroFilled | None:
  """What a `select` is, if its mask says that an element lies inside of its array."""
  if select.name != "select" or len(select.operands) != 3:
    return None
  mask, kept, zero = select.operands
  load, test = kept.owner, mask.owner
  if not isinstance(load, Op) or load.name != "load" or not isinstance(test, Op) or test.name != "lt":
    return None
  if _constant(zero) != 0 or (limit := _constant(test.operands[1])) is None:
    return None
  place = _place(test.operands[0])
  if place is None:
    return None
  start, axis = place
  refs = kernel.body.params[kernel.mapping.num_prefetch :][: kernel.mapping.num_inputs]
  if load.operands[0] not in refs:
    return None
  position = refs.index(load.operands[0])
  mapping, index_map = kernel.mapping.block_mappings[position], kernel.index_maps[position]
  kept_dims = [d for d, dim in enumerate(mapping.block_shape) if not isinstance(dim, Squeezed)]
  if index_map is None or len(kept_dims) != kept.tile.rank:
    return None
  dim = kept_dims[axis]
  size = mapping.block_shape[dim]
  if not isinstance(size, Blocked) or limit != mapping.array_aval.shape[dim]:
    return None
  skip = kernel.mapping.num_vmapped
  indices = {v: d - skip for d, v in enumerate(index_map.params[: len(kernel.mapping.grid)])}
  begins, block = _linear(start, {}), _linear(index_map.body.yielded[dim], indices)
  if begins is None or block is None or begins != {d: size.block_size * n for d, n in block.items()}:
    return None
  return ZeroFilled(load, axis)


def _constant(v: Value) -> int | float | None:
  """The number that all elements of a value are."""
  op = v.owner
  while isinstance(op, Op) and op.name in ("broadcast", "convert"):
    op = op.operands[0].owner
  if not isinstance(op, Op) or op.name != "constant" or np.ndim(op.attrs["value"]):
    return None
  number = float(op.attrs["value"])
  return int(number) if number.is_integer() else number


def _place(v: Value) -> tuple[Value, int] | None:
  """`start + iota` along a dimension: the start, a scalar, and the dimension."""
  op = v.owner
  if not isinstance(op, Op) or op.name != "add":
    return None
  for start, iota in (op.operands, op.operands[::-1]):
    numbers = iota.owner
    if not isinstance(numbers, Op) or numbers.name != "iota" or iota.tile.shape != v.tile.shape:
      continue
    source = start.owner
    if isinstance(source, Op) and source.name == "broadcast" and source.operands[0].tile.is_scalar:
      return source.operands[0], int(numbers.attrs["axis"])
  return None


def _linear(v: Value, indices: Mapping[Value, int]) -> dict[int | None, int] | None:
  """An integer as a sum of multiples of indices of the grid, by dimension; under None what is added besides."""
  if v in indices:
    return {indices[v]: 1}
  op, number = v.owner, _constant(v)
  if isinstance(number, int):
    return {None: number} if number else {}
  if not isinstance(op, Op):
    return None
  if op.name == "program_id":
    return {int(op.attrs["axis"]): 1}
  if op.name not in ("add", "mul"):
    return None
  x, y = (_linear(operand, indices) for operand in op.operands)
  if x is None or y is None:
    return None
  if op.name == "add":
    both = {d: x.get(d, 0) + y.get(d, 0) for d in {*x, *y}}
    return {d: n for d, n in both.items() if n}
  if not (set(x) <= {None} or set(y) <= {None}):
    return None
  factor, other = (x.get(None, 0), y) if set(x) <= {None} else (y.get(None, 0), x)
  return {d: factor * n for d, n in other.items() if factor * n}
