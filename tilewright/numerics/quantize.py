"""`quantize`: from floats to a `QArray`.

    q = quantize(weights, "nvfp4", axis=0)                 # a recipe
    q = quantize(weights, "int4", block=64, axis=0)        # integers with a float32 scale for each group of 64
    q = quantize(x, "f8e4m3fn")                            # one scale for each row
    q = quantize(x, "int8", axis=None)                     # one scale for the array

Blocks are cut along `axis`; the last is padded with zeros. For each, the largest magnitude gives the scale by one of the rules in
`recipes`, and the elements are x / scale, rounded once and saturated. A block with a NaN or an infinity gets a NaN scale: all of it reads
as NaN. A block of zeros has scale 1.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright.numerics import arguments, formats, kernels_quantize, packing
from tilewright.numerics.convert import ROUNDINGS, encode
from tilewright.numerics.formats import format_of
from tilewright.numerics.launch import Execution, execution, platform
from tilewright.numerics.qarray import QArray, expand_leading
from tilewright.numerics.recipes import RULES, Recipe, recipe_of
from tilewright.numerics.scaling import Scaling, block_elements, block_scales, largest_magnitude, quotient

_SCALE_FORMATS = (formats.F8E8M0FNU, formats.F8E4M3FN, formats.F32, formats.BF16, formats.F16)


def quantize(
  x: jax.Array,
  format: Any,
  block: int | None = None,
  axis: int | None = -1,
  scale_format: Any = None,
  *,
  global_scale: Any = "recipe",
  rounding: str = "nearest_even",
  rule: str | None = None,
  key: jax.Array | None = None,
  interpret: bool | None = None,
) -> QArray:
  """An array as small numbers with scales.

  Args:
    x: float32, bfloat16 or float16.
    format: a recipe such as "mxfp8", "nvfp4" or "mxfp6_e2m3", or a number format such as "int4".
    block: how many elements share a scale; by default the recipe's, and without one all along the axis.
    axis: along which blocks are cut: the dimension that will be contracted. None for one scale for the whole array.
    scale_format: of the scales; by default the recipe's, or float32.
    global_scale: a float32 by which all is divided first; True for one that is computed from x, None or False for none; by default what
      the recipe does.
    rounding: "nearest_even", "toward_zero" or "stochastic".
    rule: how scales are chosen, see `tilewright.numerics.recipes`; by default the recipe's.
    key: a random key, for stochastic rounding.
    interpret: True for the portable lowering on any backend.
  """
  x = arguments.array("quantize: x", x)
  if x.dtype not in (jnp.float32, jnp.bfloat16, jnp.float16):
    raise errors.NumberFormatError(
      f"quantize: x must be float32, bfloat16 or float16, got {x.dtype}. Convert it first."
    )
  if not x.ndim:
    raise errors.ShapeMismatchError("quantize: x must have at least one dimension, got a scalar. Reshape it to (1,).")
  recipe = recipe_of(format)
  if recipe.format.width > 8 or not recipe.format.signed:
    raise errors.NumberFormatError(
      f"quantize: format must be signed and have at most 8 bits, got {recipe.format.name}. Use x.astype for wider numbers."
    )
  scaling = _scaling(recipe, scale_format, rounding, rule)
  axis = None if axis is None else arguments.axis("quantize: axis", axis, x.shape)
  if axis is None and block is not None:
    raise errors.NumberFormatError(
      f"quantize: axis=None is one scale for the whole array and takes no block, got {block!r}."
    )
  block = block if block is not None or axis is None else recipe.block
  unit = packing.unit(scaling.format.width)[0]
  if block is not None and (
    isinstance(block, bool) or not isinstance(block, int | np.integer) or block < 1 or block % unit
  ):
    expected = "a positive integer" if unit == 1 else f"a positive multiple of {unit}, as its elements fill whole bytes"
    raise errors.NumberFormatError(f"quantize: block for {scaling.format.name} must be {expected}; got {block!r}.")
  if (rounding == "stochastic") != (key is not None):
    raise errors.NumberFormatError(
      f"quantize: rounding={rounding!r} {'needs' if key is None else 'takes no'} key, a key of jax.random."
    )
  if key is not None and not hasattr(key, "dtype"):
    raise errors.NumberFormatError(f"quantize: key must be a key, as jax.random.key(seed) makes it, got {key!r}.")
  if isinstance(global_scale, str) and global_scale == "recipe":
    global_scale = recipe.global_scale
  if isinstance(global_scale, bool | np.bool_):
    global_scale = _global_scale(x, scaling) if global_scale else None
  elif global_scale is not None:
    global_scale = _given_scale(global_scale, x.shape[: axis or 0])
  q = _quantize(x, scaling, axis, block, global_scale, key, execution(interpret))
  matrices = x.shape[: min(x.ndim - 2, axis)] if axis is not None and x.ndim > 2 else ()
  return dataclasses.replace(q, global_scale=_of_each(global_scale, matrices))


def _scaling(recipe: Recipe, scale_format: Any, rounding: str, rule: str | None) -> Scaling:
  scales = recipe.scale_format if scale_format is None else format_of(scale_format, "scale_format")
  if scales not in _SCALE_FORMATS:
    known = ", ".join(f.name for f in _SCALE_FORMATS)
    raise errors.NumberFormatError(f"quantize: scale_format must be one of {known}, got {scales.name}.")
  if rule is None:
    rule = recipe.rule if scales == recipe.scale_format else "floor" if scales == formats.F8E8M0FNU else "divide"
  if rule not in RULES or (scales == formats.F8E8M0FNU) == (rule == "divide"):
    fitting = "floor or ceil" if scales == formats.F8E8M0FNU else "divide"
    raise errors.NumberFormatError(f"quantize: rule for {scales.name} scales must be {fitting}, got {rule!r}.")
  if rounding not in ROUNDINGS:
    raise errors.NumberFormatError(f"quantize: rounding must be one of {', '.join(ROUNDINGS)}, got {rounding!r}.")
  return Scaling(recipe.format, scales, rule, rounding, divides_once=platform() == "cpu")


def _given_scale(given: Any, leading: tuple[int, ...]) -> jax.Array:
  """A global scale as an array: one number, or one for each of the first indices before the scaled axis."""
  try:
    scale = jnp.asarray(given, jnp.float32)
  except (TypeError, ValueError):
    raise errors.NumberFormatError(
      f'quantize: global_scale must be a number, True, None or "recipe", got {given!r}.'
    ) from None
  if scale.size == 1 and scale.shape != leading[: scale.ndim]:
    scale = scale.reshape(())
  if scale.shape != leading[: scale.ndim]:
    more = f", or one for each leading index: an array of shape {leading} or the beginning of it" if leading else ""
    raise errors.ShapeMismatchError(f"quantize: global_scale must be one number{more}; got shape {scale.shape}.")
  return scale


def _of_each(scale: jax.Array | None, matrices: tuple[int, ...]) -> jax.Array | None:
  """A global scale for each matrix of a stack: `vmap` and `lax.scan` map over that dimension."""
  if scale is None or scale.ndim >= len(matrices):
    return scale
  return jnp.broadcast_to(expand_leading(scale, len(matrices)), matrices)


def _global_scale(x: jax.Array, scaling: Scaling) -> jax.Array:
  """The scale that makes the largest finite block's own scale the largest of its format; 1 for an array of zeros.

  Scales with the range of a float32 would leave it: there the largest block's own is about 1.
  """
  finite = x.astype(jnp.float32)
  amax = largest_magnitude(jnp.where(jnp.abs(finite) < jnp.inf, finite, 0))
  scales = scaling.scale_format
  largest = scales.max if scales.exponent_bits < formats.F32.exponent_bits else 1.0
  found = quotient(amax, np.float32(largest * scaling.format.max), scaling)
  # XLA would flush a subnormal scale to zero.
  return jnp.where(amax > 0, jnp.maximum(found, np.float32(formats.F32.min_normal)), jnp.float32(1))


def _quantize(
  x: jax.Array,
  scaling: Scaling,
  axis: int | None,
  block: int | None,
  global_scale: jax.Array | None,
  key: jax.Array | None,
  execution: Execution,
) -> QArray:
  f = scaling.format
  elements, _ = packing.unit(f.width)
  own_axis = x.ndim - 1 if axis is None else axis
  size, whole = x.shape[own_axis], x
  count = 1 if block is None else -(-size // block)
  # One block for all is only padded to whole bytes.
  padded = count * block if block is not None else -(-size // elements) * elements
  if padded != size:
    widths = [(0, padded - size if a == own_axis else 0) for a in range(whole.ndim)]
    whole = jnp.pad(whole, widths)
  shape = whole.shape
  if axis is None:
    # One block of everything; then the axis has no blocks of its own.
    apart = whole.reshape(1, 1, -1, 1)
  else:
    outer, inner = int(np.prod(shape[:own_axis])), int(np.prod(shape[own_axis + 1 :]))
    apart = whole.reshape(outer, count, padded // max(1, count), inner)
  if axis is None or global_scale is None or not global_scale.ndim:
    divisor = global_scale
  else:
    divisor = jnp.broadcast_to(
      expand_leading(global_scale, x.ndim), (*shape[:own_axis], 1, *(1,) * (x.ndim - own_axis - 1))
    )
    divisor = divisor.reshape(-1, 1, 1, 1)
  if kernels_quantize.applies(scaling, apart, divisor, execution) and axis is not None:
    data, scales = kernels_quantize.quantize_blocks(apart, divisor, scaling, execution)
  else:
    random_bits = None if key is None else jax.random.bits(key, apart.shape, jnp.uint32)
    data, scales = _by_blocks(apart, divisor, random_bits, scaling)
    if f.width >= 8:
      data = jax.lax.bitcast_convert_type(data, f.storage)
  if axis is None:
    data = packing.pack(data.reshape(shape), f.width, -1)
    return QArray(data, scales.reshape((1,) * len(shape)), global_scale, f, None, None, size)
  if f.width < 8 and data.shape[2] == apart.shape[2]:
    data = packing.pack(data, f.width, 2)
  packed = data.shape[1] * data.shape[2]
  data = data.reshape(*shape[:own_axis], packed, *shape[own_axis + 1 :])
  scales = scales.reshape(*shape[:own_axis], count, *shape[own_axis + 1 :])
  return QArray(data, scales, global_scale, f, block, own_axis - x.ndim, size)


@functools.partial(jax.jit, static_argnums=3)
def _by_blocks(apart: jax.Array, divisor: Any, random_bits: Any, scaling: Scaling) -> tuple[jax.Array, jax.Array]:
  """Bits and scales of an array whose blocks lie along dimension 2."""
  x = apart.astype(jnp.float32)
  scales = block_scales(
    largest_magnitude(x, 2), divisor if divisor is None or not divisor.ndim else divisor[..., 0], scaling
  )
  scaled = block_elements(x, scales[:, :, None], divisor, scaling)
  bits = encode(scaled, scaling.format, rounding=scaling.rounding, saturate=True, random_bits=random_bits)
  return bits, scales
