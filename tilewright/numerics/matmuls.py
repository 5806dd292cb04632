"""Drop-ins for `jax.nn.scaled_matmul` and `jax.nn.scaled_dot_general`, on every backend.

    y = scaled_matmul(a, b, a_scales, b_scales)                          # elements and scales are given
    y = scaled_dot_general(x, w, dimension_numbers, configs=["mxfp8"] * 3) # floats are quantised on the way, forwards and backwards

In training, the operands are requantised along the contracted dimension: along k forwards, along n for the derivative towards x, along
m for that towards w. Scales that are powers of two follow the rule "ceil", as in `jax.nn`. The derivatives pass straight through the
rounding.

A config means what it means in `jax.nn`, whose program is followed operation by operation, with these differences:

- Divisions are rounded once. XLA compiles `jax.nn`'s to products with reciprocals or to approximations, by which numbers in the middle
  between two elements may go either way: of bfloat16s, about one in a thousand elements of NVFP4 is another one then.
- Scales are computed in float32, those of float16s too. In float16, blocks of MXFP8 below 448 * 2^-14 have saturating or zero elements.
- A block with an infinity is NaN in NVFP4 too, where `jax.nn` saturates.
- Derivatives have the dtypes of what they are derivatives of (in `jax.nn`: of the result), the operands may have different ones, and no
  dimension has to be a multiple of the block.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright.numerics import arguments, packing
from tilewright.numerics.dot import scaled_dot
from tilewright.numerics.formats import F4E2M1FN, F8E4M3FN, F8E8M0FNU, INT2, INT4, INT8, Format, format_of
from tilewright.numerics.qarray import QArray
from tilewright.numerics.quantize import quantize
from tilewright.numerics.recipes import RECIPES, Recipe
from tilewright.numerics.swizzle import Prepared, padded_shape
from tilewright.runtime import _jax

_ROWS = (((2,), (2,)), ((0,), (0,)))  # (b, m, k) times (b, n, k)


def scaled_matmul(
  lhs: jax.Array,
  rhs: jax.Array,
  lhs_scales: jax.Array,
  rhs_scales: jax.Array,
  preferred_element_type: Any = jnp.float32,
  *,
  block_size: int | None = None,
  interpret: bool | None = None,
) -> jax.Array:
  """Batches of products of block-scaled matrices, as `jax.nn.scaled_matmul`.

  Args:
    lhs: elements `(B, M, K)` of any dtype with a format here.
    rhs: elements `(B, N, K)`.
    lhs_scales: `(B, M, K / block)`; `Prepared` or with rows padded to 128 and columns to 4, if `block_size` is given.
    rhs_scales: `(B, N, K / block)`, likewise.
    preferred_element_type: the dtype of the result.
    block_size: how many elements share a scale; by default from the shapes.
    interpret: True for the portable lowering on any backend.

  Returns:
    An array `(B, M, N)`, accumulated in float32.
  """
  a, b = given("lhs", lhs, lhs_scales, block_size), given("rhs", rhs, rhs_scales, block_size)
  if (a.shape[0], a.shape[2]) != (b.shape[0], b.shape[2]):
    raise errors.ShapeMismatchError(
      f"scaled_matmul: lhs and rhs must have shapes (B, M, K) and (B, N, K), got {a.shape} and {b.shape}."
    )
  wanted = jnp.float32 if preferred_element_type is None else preferred_element_type
  dtype = arguments.dtype("scaled_matmul: preferred_element_type", wanted)
  own = dtype if jnp.issubdtype(dtype, jnp.floating) else jnp.float32
  return scaled_dot(a, b, _ROWS, preferred_element_type=own, interpret=interpret).astype(dtype)


def given(name: str, x: jax.Array, scales: Any, block_size: int | None) -> QArray:
  """Elements (B, rows, K) and scales (B, rows, blocks) as a quantised array."""
  x = arguments.array(f"scaled_matmul: {name}", x)
  marked = scales if isinstance(scales, Prepared) else None
  scales = arguments.array(f"scaled_matmul: {name}_scales", scales.scales if marked else scales)
  if x.ndim != 3 or scales.ndim != 3 or x.shape[0] != scales.shape[0]:
    raise errors.ShapeMismatchError(
      f"scaled_matmul: {name} and {name}_scales must have shapes (B, rows, K) and (B, rows, blocks), got {x.shape} and {scales.shape}."
    )
  rows, k = x.shape[1:]
  if block_size is not None:
    block_size = arguments.integer("scaled_matmul: block_size", block_size, 1)
  block = block_size if marked is not None and k else _block_of(x.shape, scales.shape, block_size)
  num_blocks = 0 if block is None else -(-k // block)
  is_plain = marked is None and scales.shape[1] in (rows, 1) and scales.shape[2] in (num_blocks, 1)
  if block is None or not (is_plain or scales.shape[1:] == padded_shape(rows, num_blocks)):
    raise errors.ShapeMismatchError(
      f"scaled_matmul: {name}_scales of shape {scales.shape} do not divide {name} of shape {x.shape} into blocks. "
      "If they are padded, pass block_size."
    )
  if not jnp.issubdtype(scales.dtype, jnp.floating):
    scales = scales.astype(jnp.float32)
  padded = num_blocks * block
  data, f = _stored(name, x, padded)
  if padded != k:
    units, num_bytes = packing.unit(f.width) if f.width < 8 else (1, 1)
    data = jnp.pad(data, ((0, 0), (0, 0), (0, (padded - k) // units * num_bytes)))
  held = scales if is_plain else Prepared(scales, marked is not None and marked.swizzled)
  return QArray(data, held, None, f, block, -1, k)


def _block_of(shape: tuple[int, ...], scales: tuple[int, ...], given: int | None) -> int | None:
  """How many elements share a scale: as given, or from the shapes; None if those do not say."""
  (_, rows, k), (_, scale_rows, columns) = shape, scales
  if given is not None:
    return given
  if k == 0:  # of no elements, blocks may have any size
    return 1
  return k // columns if scale_rows in (rows, 1) and columns and k % columns == 0 else None


def _stored(name: str, x: jax.Array, padded: int) -> tuple[jax.Array, Any]:
  """Elements as a QArray keeps them, which will be padded to so many: below 8 bits as packed bytes."""
  is_integer = jnp.issubdtype(x.dtype, jnp.integer) or x.dtype == jnp.bool_
  if is_integer and x.dtype not in (jnp.int8, jnp.int4, jnp.int2):
    x = x.astype(jnp.float32)
  f = format_of(x.dtype, f"scaled_matmul: the dtype of {name}")
  if f not in (F4E2M1FN, INT4, INT2):
    return x, f
  unit, _ = packing.unit(f.width)
  if x.shape[-1] % unit or padded % unit:  # they fill no whole bytes: each has one of its own
    wide = F8E4M3FN if f.is_float else INT8
    return x.astype(wide.dtype), wide
  grouped = x.reshape(*x.shape[:-1], -1, 8 // f.width)
  return jax.lax.bitcast_convert_type(grouped, jnp.uint8), f


# --- floats in, quantised on the way -----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class BlockScaleConfig:
  """How one operand of `scaled_dot_general` is quantised. Objects of `jax.nn.get_scaled_dot_general_config` are taken too."""

  mode: str
  global_scale: Any = None
  infer_only: bool = False

  @property
  def block_size(self) -> int | None:
    return RECIPES[self.mode].block

  @property
  def data_type(self) -> Any:
    """The dtype of elements; None where JAX has none."""
    return RECIPES[self.mode].format.dtype

  @property
  def scale_type(self) -> Any:
    return RECIPES[self.mode].scale_format.dtype


def get_scaled_dot_general_config(mode: str, global_scale: Any = None) -> BlockScaleConfig:
  """As `jax.nn.get_scaled_dot_general_config`, for every recipe: unless it is given, the global scale of "nvfp4" is 1, others have none."""
  if mode not in RECIPES:
    raise errors.NumberFormatError(f"mode must be one of {', '.join(RECIPES)}, got {mode!r}.")
  if global_scale is None and RECIPES[mode].global_scale:
    global_scale = jnp.ones((1,), jnp.float32)
  return BlockScaleConfig(mode, global_scale if RECIPES[mode].global_scale else None)


def scaled_dot_general(
  lhs: jax.Array,
  rhs: jax.Array,
  dimension_numbers: Any,
  preferred_element_type: Any = jnp.float32,
  configs: Sequence[Any] | None = None,
  implementation: str | None = None,
  *,
  interpret: bool | None = None,
) -> jax.Array:
  """dot_general of floats that are quantised on the way, as `jax.nn.scaled_dot_general`.

  Args:
    lhs: float32, bfloat16 or float16; smaller floats and integers are converted to float32.
    rhs: the same.
    dimension_numbers: as for `jax.lax.dot_general`.
    preferred_element_type: the dtype of the result.
    configs: for `lhs`, `rhs` and the derivatives: recipes by name, or configs. By its name, a recipe is that of `quantize`, with its own
      global scale. Backwards, the third is for the derivative of the result, and the operands keep their own. Derivatives are not
      quantised, but products of floats, if the third is a config of "nvfp4" (as in `jax.nn`; 0 towards what is beyond the range of NVFP4),
      or None (in bfloat16). None for all is `jax.lax.dot_general`.
    implementation: ignored, as in JAX.
    interpret: True for the portable lowering on any backend.
  """
  del implementation
  lhs, rhs = (arguments.array(f"scaled_dot_general: {name}", x) for name, x in (("lhs", lhs), ("rhs", rhs)))
  wanted = jnp.float32 if preferred_element_type is None else preferred_element_type
  dtype = arguments.dtype("scaled_dot_general: preferred_element_type", wanted)
  numbers = arguments.dimension_numbers("scaled_dot_general", dimension_numbers, ("lhs", "rhs"), (lhs.shape, rhs.shape))
  if configs is None:
    return jax.lax.dot_general(lhs, rhs, numbers, preferred_element_type=dtype)
  if isinstance(configs, str) or not isinstance(configs, Sequence) or len(configs) != 3:
    raise errors.NumberFormatError(
      f"scaled_dot_general: configs must be three, for lhs, rhs and the derivatives, got {configs!r}."
    )
  (lc, rc), (lb, rb) = numbers
  x, batch, ms = _stacked(_as_float("lhs", lhs), lc, lb)
  w, _, ns = _stacked(_as_float("rhs", rhs), rc, rb)
  ways, scales = zip(*(_way(c) for c in configs))
  leaves, tree = jax.tree.flatten((x, w, scales))
  x, w, scales = jax.tree.unflatten(tree, _jax.vary_together(leaves))
  out = _training_dot(_Training(dtype, ways, interpret), x, w, scales)
  return out.reshape(*batch, *ms, *ns)


@dataclasses.dataclass(frozen=True)
class _OperandRecipe:
  """How an operand is quantised: by a recipe, and whether that was given as a config, which means what it means in `jax.nn`."""

  recipe: Recipe
  is_config: bool

  @property
  def leaves_derivatives(self) -> bool:
    """Whether derivatives stay floats."""
    return self.is_config and self.recipe.global_scale

  @property
  def range(self) -> float:
    """The largest magnitude, in global scales, that does not saturate."""
    return self.recipe.format.max * self.recipe.scale_format.max


def _way(config: Any) -> tuple[_OperandRecipe | None, Any]:
  """How, and the global scale if it is given."""
  if config is None:
    return None, None
  mode = config if isinstance(config, str) else getattr(config, "mode", config)
  if not isinstance(mode, str) or mode not in RECIPES:
    raise errors.NumberFormatError(f"The mode of a config must be one of {', '.join(RECIPES)}, got {mode!r}.")
  recipe = RECIPES[mode]
  if config is mode:
    return _OperandRecipe(_without_saturation(recipe), False), None
  scale = _one_number(getattr(config, "global_scale", None))
  recipe = dataclasses.replace(
    recipe,
    block=getattr(config, "block_size", recipe.block),
    format=_format_of(config, "data_type", recipe.format),
    scale_format=_format_of(config, "scale_type", recipe.scale_format),
  )
  return _OperandRecipe(_without_saturation(recipe), True), scale


def _format_of(config: Any, name: str, default: Format) -> Format:
  given = getattr(config, name, None)
  return default if given is None else format_of(given, f"scaled_dot_general: the {name} of a config")


def _without_saturation(recipe: Recipe) -> Recipe:
  """Powers of two are chosen as `jax.nn` does: so that nothing saturates."""
  return dataclasses.replace(recipe, rule="ceil" if recipe.scale_format == F8E8M0FNU else "divide")


def _one_number(given: Any) -> Any:
  if given is None:
    return None
  scale = arguments.array("scaled_dot_general: the global_scale of a config", given).astype(jnp.float32)
  if scale.size != 1:
    raise errors.ShapeMismatchError(
      f"scaled_dot_general: the global_scale of a config must be one number, got shape {scale.shape}."
    )
  return scale.reshape(())


def _as_float(name: str, x: jax.Array) -> jax.Array:
  """An operand as numbers that are quantised; those of other dtypes are float32s too, without loss but for wide integers."""
  if x.dtype in (jnp.float32, jnp.bfloat16, jnp.float16):
    return x
  is_integer = jnp.issubdtype(x.dtype, jnp.integer) or x.dtype == jnp.bool_
  if not is_integer and not (jnp.issubdtype(x.dtype, jnp.floating) and x.dtype.itemsize == 1):
    raise errors.NumberFormatError(
      f"scaled_dot_general: {name} must be an array of floats up to float32, or of integers, got {x.dtype}. Convert it first."
    )
  return x.astype(jnp.float32)


def _stacked(x: jax.Array, contracted: Sequence[int], batch: Sequence[int]) -> tuple[jax.Array, Any, Any]:
  """An operand as (batch, rows, k), and the sizes of its batch and free dimensions."""
  contracted, batch = (tuple(a % x.ndim for a in axes) for axes in (contracted, batch))
  free = [a for a in range(x.ndim) if a not in contracted and a not in batch]
  sizes = [tuple(x.shape[a] for a in axes) for axes in (batch, free, contracted)]
  moved = jnp.transpose(x, [*batch, *free, *contracted])
  return moved.reshape([math.prod(s) for s in sizes]), sizes[0], sizes[1]


@dataclasses.dataclass(frozen=True)
class _Training:
  """The static part of a dot of (batch, rows, k) or (batch, k, rows) that quantises its operands."""

  dtype: Any
  ways: tuple[_OperandRecipe | None, ...]  # of either operand, and of derivatives
  interpret: bool | None
  axes: tuple[int, int] = (2, 2)  # that are contracted

  @property
  def numbers(self) -> arguments.DimensionNumbers:
    return (((self.axes[0],), (self.axes[1],)), ((0,), (0,)))


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _training_dot(plan: _Training, x: jax.Array, w: jax.Array, scales: Any) -> jax.Array:
  def quantised(z: jax.Array, way: _OperandRecipe | None, scale: Any, axis: int) -> Any:
    whole = "recipe" if scale is None else scale
    return z if way is None else quantize(z, way.recipe, axis=axis, global_scale=whole, interpret=plan.interpret)

  a, b = (quantised(*given) for given in zip((x, w), plan.ways, scales, plan.axes))
  if not any(isinstance(z, QArray) for z in (a, b)):
    return jax.lax.dot_general(a, b, plan.numbers, preferred_element_type=plan.dtype)
  return scaled_dot(a, b, plan.numbers, preferred_element_type=plan.dtype, interpret=plan.interpret)


def _training_forward(plan: _Training, x: jax.Array, w: jax.Array, scales: Any) -> Any:
  return _training_dot(plan, x, w, scales), (x, w, scales)


def _training_backward(plan: _Training, kept: Any, g: jax.Array) -> Any:
  """The products of derivatives are of the same kind, so that they have derivatives too."""
  x, w, scales = kept
  way, scale, g = plan.ways[2], scales[2], g.astype(jnp.float32)

  def product(other: int, axes: tuple[int, int], g_first: bool) -> jax.Array:
    """g times one of the operands, with these axes contracted."""
    z = (x, w)[other]
    in_order = lambda of_g, of_z: (of_g, of_z) if g_first else (of_z, of_g)
    further = dataclasses.replace(plan, dtype=jnp.dtype(jnp.float32), axes=in_order(*axes))
    if way is not None and not way.leaves_derivatives:
      further = dataclasses.replace(further, ways=(*in_order(way, plan.ways[other]), way))
      return _training_dot(further, *in_order(g, z), (*in_order(scale, scales[other]), scale))
    p, q = in_order(g, z) if way is not None else in_order(g.astype(jnp.bfloat16), z.astype(jnp.bfloat16))
    return jax.lax.dot_general(p, q, further.numbers, preferred_element_type=jnp.float32)

  (of_x, of_w), (rows_x, rows_w) = plan.axes, (3 - axis for axis in plan.axes)
  dx = product(1, (2, rows_w), of_x == 2)
  dw = product(0, (1, rows_x), of_w == 2)
  if way is not None and way.leaves_derivatives:
    dx, dw = (_within(plan.ways[i], scales[i], z, dz) for i, (z, dz) in enumerate(((x, dx), (w, dw))))
  return dx.astype(x.dtype), dw.astype(w.dtype), jax.tree.map(jnp.zeros_like, scales)


def _within(way: _OperandRecipe | None, scale: Any, z: jax.Array, dz: jax.Array) -> jax.Array:
  """A derivative towards `z`, 0 where that saturates for the global scale that is given."""
  if way is None or scale is None:
    return dz
  return jnp.where(jnp.abs(z).astype(jnp.float32) <= scale * np.float32(way.range), dz, jnp.float32(0))


_training_dot.defvjp(_training_forward, _training_backward)
