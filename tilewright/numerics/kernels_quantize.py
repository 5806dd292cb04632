"""`quantize` as a native kernel: one pass over memory.

Contiguous blocks (`inner` = 1) are rows of a matrix with one column for each element; an instance takes some of them. Where
blocks lie across rows, an instance takes all rows of some blocks, for a range of columns, and vectors go along the columns.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from tilewright import pallas as pl
from tilewright.numerics import packing
from tilewright.numerics.convert import encode
from tilewright.numerics.launch import Execution
from tilewright.numerics.scaling import Scaling, block_elements, block_scales, largest_magnitude

_ELEMENTS = 1 << 16  # of an instance: 256 KiB of float32 stay in L2 between the two times they are read


def applies(scaling: Scaling, apart: jax.Array, divisor: Any, execution: Execution) -> bool:
  """Whether the kernel does it; XLA does the rest. Sub-byte elements side by side would be packed one at a time."""
  scalar = divisor is None or not divisor.ndim
  packs_well = scaling.format.width >= 8 or apart.shape[3] > 1
  return execution.target == "cpu" and scaling.rounding != "stochastic" and scalar and packs_well and apart.size > 0


def quantize_blocks(
  apart: jax.Array, divisor: Any, scaling: Scaling, execution: Execution
) -> tuple[jax.Array, jax.Array]:
  """Data (packed along dimension 2) and scales of an array (outer, blocks, block, inner)."""
  outer, count, block, inner = apart.shape
  if inner == 1:
    data, scales = _along_rows(apart.reshape(outer * count, block), divisor, scaling, execution)
  else:
    data, scales = _across_rows(apart.reshape(outer * count, block, inner), divisor, scaling, execution)
  return data.reshape(outer, count, -1, inner), scales.reshape(outer, count, inner)


def _body(axis: int, scaling: Scaling) -> Any:
  f = scaling.format

  def kernel(x_ref: Any, *refs: Any) -> None:
    *divisors, data_ref, scales_ref = refs
    divisor = divisors[0][0] if divisors else None
    x = x_ref[...].astype(jnp.float32)
    scales = block_scales(largest_magnitude(x, axis), divisor, scaling)
    scales_ref[...] = scales
    scaled = block_elements(x, jnp.expand_dims(scales, axis), divisor, scaling)
    bits = encode(scaled, f, rounding=scaling.rounding, saturate=True)
    if f.width < 8:
      data_ref[...] = packing.pack(bits, f.width, axis)
    else:
      data_ref[...] = jax.lax.bitcast_convert_type(bits, f.storage)

  return kernel


def _along_rows(x: jax.Array, divisor: Any, scaling: Scaling, execution: Execution) -> tuple[jax.Array, jax.Array]:
  rows, block = x.shape
  f = scaling.format
  step = min(rows, max(1, _ELEMENTS // block))
  given = [] if divisor is None else [divisor.reshape(1)]
  data, scales = pl.pallas_call(
    _body(1, scaling),
    out_shape=[
      jax.ShapeDtypeStruct((rows, block), f.storage),
      jax.ShapeDtypeStruct((rows,), scaling.scale_format.storage),
    ],
    grid=(pl.cdiv(rows, step),),
    in_specs=[pl.BlockSpec((step, block), lambda i: (i, 0)), *[pl.BlockSpec((1,), lambda i: (0,))] * len(given)],
    out_specs=[pl.BlockSpec((step, block), lambda i: (i, 0)), pl.BlockSpec((step,), lambda i: (i,))],
    name="quantize",
    **execution.options("parallel"),
  )(x, *given)
  return data, scales


def _across_rows(x: jax.Array, divisor: Any, scaling: Scaling, execution: Execution) -> tuple[jax.Array, jax.Array]:
  blocks, block, inner = x.shape
  f = scaling.format
  elements, num_bytes = packing.unit(f.width)
  packed = block // elements * num_bytes if f.width < 8 else block
  step = min(inner, max(64, _ELEMENTS // block))
  given = [] if divisor is None else [divisor.reshape(1)]
  data, scales = pl.pallas_call(
    _body(0, scaling),
    out_shape=[
      jax.ShapeDtypeStruct((blocks, packed, inner), f.storage),
      jax.ShapeDtypeStruct((blocks, inner), scaling.scale_format.storage),
    ],
    grid=(blocks, pl.cdiv(inner, step)),
    in_specs=[
      pl.BlockSpec((None, block, step), lambda i, j: (i, 0, j)),
      *[pl.BlockSpec((1,), lambda i, j: (0,))] * len(given),
    ],
    out_specs=[
      pl.BlockSpec((None, packed, step), lambda i, j: (i, 0, j)),
      pl.BlockSpec((None, step), lambda i, j: (i, j)),
    ],
    name="quantize",
    **execution.options("parallel", "parallel"),
  )(x, *given)
  return data, scales
