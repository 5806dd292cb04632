"""The calls `__op$quantize` and `__op$dequantize` of HLO as kernels: one pass over memory.

The numbers are those of the calls' definition, which chooses scales in another way than the recipes of `quantize`: the largest magnitude
divided by the power of two in the format's largest number, rounded to the scales' format. An instance takes some of the blocks, which
are rows here; bytes of sub-byte elements are packed and taken apart in the kernel.

    x = [3, -1, 0, 0.5] to f4e2m1fn (at most 6 = 1.5 * 2^2), one block:   scale = 3 / 2^2 = 0.75,   data = [4, -1.5, 0, 0.5]
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.numerics import packing
from tilewright.numerics.convert import decode, encode
from tilewright.numerics.formats import F8E8M0FNU, Format
from tilewright.numerics.launch import How
from tilewright.numerics.scaling import inverse_power

_ELEMENTS = {"cpu": 1 << 16, "gpu": 1 << 12, "portable": 1 << 16}  # of an instance


def quantize(x: jax.Array, block: int, f: Format, scale_format: Format, how: How) -> tuple[jax.Array, jax.Array]:
  """Data, packed along the last dimension if the format has less than 8 bits, and scales."""

  def kernel(x_ref: Any, data_ref: Any, scales_ref: Any) -> None:
    x = x_ref[...].astype(jnp.float32)
    wanted = jnp.max(jnp.abs(x), axis=1) * np.float32(2.0**-f.max_exponent)
    if scale_format == F8E8M0FNU:  # which has no zero
      wanted = jnp.where(wanted == 0, jnp.float32(1), wanted)
    scales = encode(wanted, scale_format)
    scales_ref[...] = jax.lax.bitcast_convert_type(scales, scale_format.storage)
    if scale_format == F8E8M0FNU:
      first, second = inverse_power(scales.astype(jnp.int32))
      ratio = x * first[:, None] * second[:, None]
    else:
      divisor = decode(scales, scale_format)
      ratio = x / jnp.where(divisor == 0, jnp.float32(1), divisor)[:, None]
    bits = encode(jax.lax.clamp(np.float32(-f.max), ratio, np.float32(f.max)), f)
    data_ref[...] = jax.lax.bitcast_convert_type(packing.pack(bits, f.width, 1), data_ref.dtype)

  *outer, k = x.shape
  rows = x.size // block
  step, width = _step(rows, block, how), _width(block, f)
  data, scales = pl.pallas_call(
    kernel,
    out_shape=[jax.ShapeDtypeStruct((rows, width), f.storage), jax.ShapeDtypeStruct((rows,), scale_format.storage)],
    grid=(pl.cdiv(rows, step),),
    in_specs=[pl.BlockSpec((step, block), lambda i: (i, 0))],
    out_specs=[pl.BlockSpec((step, width), lambda i: (i, 0)), pl.BlockSpec((step,), lambda i: (i,))],
    name="quantize",
    **how.options("parallel"),
  )(x.reshape(rows, block))
  return data.reshape(*outer, -1), scales.reshape(*outer, k // block)


def dequantize(data: jax.Array, scales: jax.Array, block: int, f: Format, dtype: np.dtype, how: How) -> jax.Array:
  """Each scale times its block, rounded once."""

  def kernel(data_ref: Any, scales_ref: Any, out_ref: Any) -> None:
    bits = jax.lax.bitcast_convert_type(data_ref[...], jnp.uint8)
    values = decode(packing.unpack(bits, f.width, 1), f)
    out_ref[...] = (values * scales_ref[...].astype(jnp.float32)[:, None]).astype(out_ref.dtype)

  *outer, _ = data.shape
  rows, width = scales.size, _width(block, f)
  step = _step(rows, block, how)
  out = pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct((rows, block), dtype),
    grid=(pl.cdiv(rows, step),),
    in_specs=[pl.BlockSpec((step, width), lambda i: (i, 0)), pl.BlockSpec((step,), lambda i: (i,))],
    out_specs=pl.BlockSpec((step, block), lambda i: (i, 0)),
    name="dequantize",
    **how.options("parallel"),
  )(data.reshape(rows, width), scales.reshape(rows))
  return out.reshape(*outer, -1)


def _step(rows: int, block: int, how: How) -> int:
  """Blocks that an instance takes."""
  return min(rows, max(1, _ELEMENTS[how.target] // block))


def _width(block: int, f: Format) -> int:
  """Bytes of a block."""
  return packing.packed_size(block, f.width) if f.width < 8 else block
