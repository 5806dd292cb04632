"""Drop-ins for `jax.nn.scaled_matmul` and `jax.nn.scaled_dot_general`, on every backend.

    y = scaled_matmul(a, b, a_scales, b_scales)                          # elements and scales are given
    y = scaled_dot_general(x, w, dimension_numbers, configs=["mxfp8"] * 3) # floats are quantised on the way, forwards and backwards

In training, the operands are quantised anew along whatever is contracted: along k forwards, along n for the derivative towards x, along
m for that towards w. Scales that are powers of two follow the rule "ceil", as in `jax.nn`. The derivatives pass straight through the
rounding.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.numerics import arguments, packing
from tilewright.numerics.dot import scaled_dot
from tilewright.numerics.formats import F4E2M1FN, F8E4M3FN, INT2, INT4, INT8, format_of
from tilewright.numerics.qarray import QArray
from tilewright.numerics.quantize import quantize
from tilewright.numerics.recipes import RECIPES
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
  if k == 0:  # of no elements, blocks may have any size
    block_size = block_size or 1
  whole = scales.shape[1] in (rows, 1) and k % max(1, scales.shape[2]) == 0 and marked is None
  block = block_size if block_size is not None else k // max(1, scales.shape[2]) if whole else None
  if block is None or -(-k // block) > scales.shape[2]:
    raise errors.ShapeMismatchError(
      f"scaled_matmul: {name}_scales of shape {scales.shape} do not divide {name} of shape {x.shape} into blocks. "
      "If they are padded, pass block_size."
    )
  if marked is None and (scales.shape[1:] == padded_shape(rows, -(-k // block))) and not whole:
    marked = Prepared(scales, False)
  if not jnp.issubdtype(scales.dtype, jnp.floating):
    scales = scales.astype(jnp.float32)
  data, f = _stored(name, x)
  padded = -(-k // block) * block
  if padded != k:
    units, num_bytes = packing.unit(f.width) if f.width < 8 else (1, 1)
    data = jnp.pad(data, ((0, 0), (0, 0), (0, (padded - k) // units * num_bytes)))
  held = Prepared(scales, marked.swizzled) if marked is not None else scales
  return QArray(data, held, None, f, block, -1, k)


def _stored(name: str, x: jax.Array) -> tuple[jax.Array, Any]:
  """Elements as a QArray keeps them: below 8 bits as packed bytes."""
  is_integer = jnp.issubdtype(x.dtype, jnp.integer) or x.dtype == jnp.bool_
  if is_integer and x.dtype not in (jnp.int8, jnp.int4, jnp.int2):
    x = x.astype(jnp.float32)
  f = format_of(x.dtype, f"scaled_matmul: the dtype of {name}")
  if f not in (F4E2M1FN, INT4, INT2):
    return x, f
  if x.shape[-1] % packing.unit(f.width)[0]:  # they fill no whole bytes: each has one of its own
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
  """As `jax.nn.get_scaled_dot_general_config`, for every recipe. Without a global scale the recipe computes its own, if it has one."""
  if mode not in RECIPES:
    raise errors.NumberFormatError(f"mode must be one of {', '.join(RECIPES)}, got {mode!r}.")
  return BlockScaleConfig(mode, global_scale)


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
    lhs: float32, bfloat16 or float16, or integers, which are converted to float32.
    rhs: the same.
    dimension_numbers: as for `jax.lax.dot_general`.
    preferred_element_type: the dtype of the result.
    configs: for `lhs`, `rhs` and the derivatives: recipes by name, or configs. None for the derivatives computes them in bfloat16; None
      for all is `jax.lax.dot_general`.
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
  x, batch, ms = _stacked(_as_float(lhs), lc, lb)
  w, _, ns = _stacked(_as_float(rhs), rc, rb)
  modes, scales = zip(*(_mode(c) for c in configs))
  leaves, tree = jax.tree.flatten((x, w, scales))
  x, w, scales = jax.tree.unflatten(tree, _jax.vary_together(leaves))
  out = _training_dot(_Training(dtype, modes, interpret), x, w, scales)
  return out.reshape(*batch, *ms, *ns)


def _mode(config: Any) -> tuple[str | None, Any]:
  if config is None:
    return None, None
  mode = config if isinstance(config, str) else getattr(config, "mode", config)
  if not isinstance(mode, str) or mode not in RECIPES:
    raise errors.NumberFormatError(f"The mode of a config must be one of {', '.join(RECIPES)}, got {mode!r}.")
  given = getattr(config, "global_scale", None)
  if given is None:
    return mode, None
  scale = arguments.array("scaled_dot_general: the global_scale of a config", given).astype(jnp.float32)
  if scale.size != 1:
    raise errors.ShapeMismatchError(
      f"scaled_dot_general: the global_scale of a config must be one number, got shape {scale.shape}."
    )
  return mode, scale.reshape(())


def _as_float(x: jax.Array) -> jax.Array:
  is_integer = jnp.issubdtype(x.dtype, jnp.integer) or x.dtype == jnp.bool_
  return x.astype(jnp.float32) if is_integer else x


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
  modes: tuple[str | None, ...]  # of either operand, and of the derivatives
  interpret: bool | None
  axes: tuple[int, int] = (2, 2)  # that are contracted

  @property
  def numbers(self) -> arguments.DimensionNumbers:
    return (((self.axes[0],), (self.axes[1],)), ((0,), (0,)))


def _quantised(x: jax.Array, mode: str, scale: Any, axis: int, interpret: bool | None) -> QArray:
  """Powers of two are chosen as `jax.nn` does: so that nothing saturates."""
  rule = "ceil" if RECIPES[mode].rule == "floor" else None
  whole = "recipe" if scale is None else scale
  return quantize(x, mode, axis=axis, global_scale=whole, rule=rule, interpret=interpret)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _training_dot(plan: _Training, x: jax.Array, w: jax.Array, scales: Any) -> jax.Array:
  a, b = (
    z if mode is None else _quantised(z, mode, scale, axis, plan.interpret)
    for z, mode, scale, axis in zip((x, w), plan.modes, scales, plan.axes)
  )
  return scaled_dot(a, b, plan.numbers, preferred_element_type=plan.dtype, interpret=plan.interpret)


def _training_forward(plan: _Training, x: jax.Array, w: jax.Array, scales: Any) -> Any:
  return _training_dot(plan, x, w, scales), (x, w, scales)


def _training_backward(plan: _Training, kept: Any, g: jax.Array) -> Any:
  """The products of derivatives are of the same kind, so that they have derivatives too."""
  x, w, scales = kept
  mode, scale, g = plan.modes[2], scales[2], g.astype(jnp.float32)

  def product(p: jax.Array, q: jax.Array, axes: tuple[int, int]) -> jax.Array:
    further = dataclasses.replace(plan, dtype=jnp.dtype(jnp.float32), modes=(mode,) * 3, axes=axes)
    if mode is not None:
      return _training_dot(further, p, q, (scale,) * 3)
    p, q = p.astype(jnp.bfloat16), q.astype(jnp.bfloat16)
    return jax.lax.dot_general(p, q, further.numbers, preferred_element_type=jnp.float32)

  (of_x, of_w), (rows_x, rows_w) = plan.axes, (3 - axis for axis in plan.axes)
  dx = product(g, w, (2, rows_w)) if of_x == 2 else product(w, g, (rows_w, 2))
  dw = product(g, x, (1, rows_x)) if of_w == 2 else product(x, g, (rows_x, 1))
  return dx.astype(x.dtype), dw.astype(w.dtype), jax.tree.map(jnp.zeros_like, scales)


_training_dot.defvjp(_training_forward, _training_backward)
