"""Operations on tiles and refs that TPU kernels name.

All of them are written in terms of JAX's own operations, so they run on every target, inside kernels and outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas import primitives
from tilewright.pallas.block_mapping import check_memory_space
from tilewright.pallas.primitives import Primitive, ReadEffect, TransformedRef
from tilewright.runtime import _jax
from tilewright.target import xla

# --- moving elements ---------------------------------------------------------------------------------------------


def roll(
  x: jax.Array, shift: jax.Array | int, axis: int, *, stride: int | None = None, stride_axis: int | None = None
) -> jax.Array:
  """Rotate `x` along `axis` by `shift` elements; with a stride, slice i of `stride_axis` by `shift + i * stride`."""
  x = jnp.asarray(x)
  if not 0 <= axis < x.ndim:
    raise errors.ShapeMismatchError(
      f"pltpu.roll: axis {axis} is out of range: it must be in [0, {x.ndim}) for shape {x.shape}."
    )
  if isinstance(shift, int) and shift < 0:
    raise errors.ShapeMismatchError(
      f"pltpu.roll: shift must be non-negative, got {shift}. Rolling by {shift % max(x.shape[axis], 1)} is the same."
    )
  if jnp.shape(shift) != ():
    raise errors.ShapeMismatchError(f"pltpu.roll: shift must be a scalar, got shape {jnp.shape(shift)}.")
  if (stride is None) != (stride_axis is None):
    raise errors.ShapeMismatchError("pltpu.roll: stride and stride_axis must be given together or not at all.")
  if stride is None or stride_axis is None:
    return jnp.roll(x, shift, axis)
  if stride < 0:
    raise errors.ShapeMismatchError(f"pltpu.roll: stride must be non-negative, got {stride}.")
  if not 0 <= stride_axis < x.ndim or stride_axis == axis:
    raise errors.ShapeMismatchError(
      f"pltpu.roll: stride_axis must be a dimension of shape {x.shape} other than axis {axis}, got {stride_axis}."
    )
  size = x.shape[axis]
  target = lax.broadcasted_iota(jnp.int32, x.shape, axis)
  slices = lax.broadcasted_iota(jnp.int32, x.shape, stride_axis)
  source = jnp.mod(target - jnp.asarray(shift, jnp.int32) - slices * stride, size)
  return jnp.take_along_axis(x, source, axis=axis)


def repeat(x: jax.Array, repeats: int, axis: int) -> jax.Array:
  """`repeats` copies of `x`, one after the other along `axis`. Deprecated in JAX: use `jnp.tile`."""
  return jnp.concatenate([jnp.asarray(x)] * repeats, axis=axis)


def einshape(equation: str, x: jax.Array, assert_is_tile_preserving: bool = False, **sizes: int) -> jax.Array:
  """Split, reorder and merge dimensions: `einshape("a(bc)->(ba)c", x, b=2)`.

  A letter names a dimension. Parentheses on the left split one dimension, parentheses on the right merge several.

  Args:
    equation: the letters of the dimensions before and after.
    x: the array.
    assert_is_tile_preserving: a check of the TPU compiler; tiles of other targets have no fixed shape.
    **sizes: sizes of letters that do not follow from the shape of `x`.
  """
  x = jnp.asarray(x)
  before, arrow, after = equation.partition("->")
  if not arrow or "->" in after:
    raise errors.ShapeMismatchError(f"einshape: {equation!r} must contain exactly one '->'.")
  left, right = _groups(before, equation), _groups(after, equation)
  if len(left) != x.ndim:
    raise errors.ShapeMismatchError(
      f"einshape: the left side of {equation!r} has {len(left)} dimensions but the array has shape {x.shape}."
    )
  names, target = [n for g in left for n in g], [n for g in right for n in g]
  if len(set(names)) != len(names) or sorted(names) != sorted(target):
    raise errors.ShapeMismatchError(
      f"einshape: both sides of {equation!r} must have the same letters, each once; einshape splits, reorders and merges only."
    )
  known = dict(sizes)
  for group, size in zip(left, x.shape):
    known.update(_split_sizes(group, size, known, equation))
  x = x.reshape([known[name] for name in names])
  x = x.transpose([names.index(name) for name in target])
  merged = []
  for group in right:
    size = 1
    for name in group:
      size *= known[name]
    merged.append(size)
  return x.reshape(merged)


def _groups(side: str, equation: str) -> list[list[str]]:
  groups: list[list[str]] = []
  inside = False
  for letter in side.replace(" ", ""):
    if letter in "()":
      if (letter == "(") == inside:
        raise errors.ShapeMismatchError(f"einshape: unmatched parenthesis in {equation!r}; groups cannot be nested.")
      inside = letter == "("
      if inside:
        groups.append([])
    elif inside:
      groups[-1].append(letter)
    else:
      groups.append([letter])
  if inside:
    raise errors.ShapeMismatchError(f"einshape: unmatched parenthesis in {equation!r}.")
  return groups


def _split_sizes(group: list[str], size: int, known: dict[str, int], equation: str) -> dict[str, int]:
  """The sizes of the letters that one dimension of the array is split into."""
  unknown = [name for name in group if name not in known and name != "1"]
  product = 1
  for name in group:
    product *= known.get(name, 1)
  if len(unknown) > 1:
    raise errors.ShapeMismatchError(
      f"einshape: {equation!r} splits a dimension of size {size} into {group}, which is ambiguous: give the sizes of all but one "
      f"of {unknown} as keyword arguments."
    )
  if size % product or (not unknown and size != product):
    raise errors.ShapeMismatchError(
      f"einshape: a dimension of size {size} cannot be split into {group} with the sizes "
      f"{[known.get(name) for name in group]}."
    )
  found = {name: size // product for name in unknown}
  return found | ({"1": 1} if "1" in group else {})


# --- bits --------------------------------------------------------------------------------------------------------


def _bits(dtype: Any) -> int:
  dtype = jnp.dtype(dtype)
  return int((jnp.iinfo if jnp.issubdtype(dtype, jnp.integer) else jnp.finfo)(dtype).bits)


def bitcast(x: jax.Array, ty: Any) -> jax.Array:
  """The bits of `x` as another dtype.

  A wider element is stored as several narrower ones in the second-minor dimension, lowest bits first: i32[m, n] becomes
  i16[2m, n], whose rows 2i and 2i + 1 are the low and high halves of row i.
  """
  x = jnp.asarray(x)
  old, new = _bits(x.dtype), _bits(ty)
  if old == new:
    return lax.bitcast_convert_type(x, ty)
  if x.ndim < 2:
    raise errors.ShapeMismatchError(
      f"pltpu.bitcast: from {x.dtype} to {jnp.dtype(ty).name} needs at least two dimensions, got shape {x.shape}."
    )
  *batch, rows, columns = x.shape
  if old > new:
    parts = lax.bitcast_convert_type(x, ty)
    return jnp.moveaxis(parts, -1, -2).reshape(*batch, rows * (old // new), columns)
  factor = new // old
  if rows % factor:
    raise errors.ShapeMismatchError(
      f"pltpu.bitcast: {factor} rows of {x.dtype} make one of {jnp.dtype(ty).name}, but the second-minor dimension of shape "
      f"{x.shape} is not a multiple of {factor}."
    )
  parts = jnp.moveaxis(x.reshape(*batch, rows // factor, factor, columns), -2, -1)
  return lax.bitcast_convert_type(parts, ty)


def _check_packing(what: str, wide: Any, packed: Any) -> int:
  """How many packed elements fit into a wide one."""
  wide, packed = jnp.dtype(wide), jnp.dtype(packed)
  floats = wide == jnp.float32 and packed == jnp.bfloat16
  ints = jnp.issubdtype(wide, jnp.integer) and jnp.issubdtype(packed, jnp.integer)
  if not (floats or ints) or _bits(wide) <= _bits(packed):
    raise errors.ShapeMismatchError(
      f"{what}: float32 is packed as bfloat16 and integers as narrower integers; got {wide.name} and {packed.name}."
    )
  return _bits(wide) // _bits(packed)


def _unsigned(bits: int) -> Any:
  return jnp.dtype(f"uint{bits}")


def pack_elementwise(xs: Sequence[jax.Array], *, packed_dtype: Any) -> jax.Array:
  """Pack several arrays into one of integers: element i holds element i of each, the first in the lowest bits.

  There must be as many arrays as packed elements fit into one of theirs. Floats are rounded, integers are cut.
  """
  xs = [jnp.asarray(x) for x in xs]
  if not xs or any(x.shape != xs[0].shape or x.dtype != xs[0].dtype for x in xs):
    raise errors.ShapeMismatchError(
      f"pack_elementwise: xs must be arrays of one shape and dtype, got {[(x.dtype.name, x.shape) for x in xs]}."
    )
  factor = _check_packing("pack_elementwise", xs[0].dtype, packed_dtype)
  if len(xs) != factor:
    raise errors.ShapeMismatchError(
      f"pack_elementwise: {factor} elements of {jnp.dtype(packed_dtype).name} fit into one of {xs[0].dtype}, but "
      f"{len(xs)} arrays were given."
    )
  wide, narrow = _bits(xs[0].dtype), _bits(packed_dtype)
  word = _unsigned(wide)
  packed = jnp.zeros(xs[0].shape, word)
  for i, x in enumerate(xs):
    if jnp.issubdtype(x.dtype, jnp.floating):
      element = lax.bitcast_convert_type(x.astype(packed_dtype), _unsigned(narrow)).astype(word)
    else:
      element = lax.bitcast_convert_type(x, word) & jnp.asarray((1 << narrow) - 1, word)
    packed = packed | (element << jnp.asarray(i * narrow, word))
  return lax.bitcast_convert_type(packed, jnp.dtype(f"int{wide}"))


def unpack_elementwise(x: jax.Array, *, index: int, packed_dtype: Any, unpacked_dtype: Any) -> jax.Array:
  """The `index`-th of the arrays that `pack_elementwise` packed into `x`, as `unpacked_dtype`."""
  x = jnp.asarray(x)
  factor = _check_packing("unpack_elementwise", unpacked_dtype, packed_dtype)
  if not 0 <= index < factor:
    raise errors.ShapeMismatchError(
      f"unpack_elementwise: index {index} is out of range: one element of {jnp.dtype(unpacked_dtype).name} holds {factor} of "
      f"{jnp.dtype(packed_dtype).name}."
    )
  wide, narrow = _bits(unpacked_dtype), _bits(packed_dtype)
  if _bits(x.dtype) != wide:
    raise errors.ShapeMismatchError(f"unpack_elementwise: x must have {wide}-bit elements, got {x.dtype}.")
  word = lax.bitcast_convert_type(x, _unsigned(wide))
  if jnp.issubdtype(packed_dtype, jnp.floating):
    # The bits of a bfloat16 are the upper bits of the float32 with the same value.
    shifted = (word >> jnp.asarray(index * narrow, word.dtype)) << jnp.asarray(wide - narrow, word.dtype)
    return lax.bitcast_convert_type(shifted, unpacked_dtype)
  top = word << jnp.asarray(wide - (index + 1) * narrow, word.dtype)
  back = jnp.asarray(wide - narrow, jnp.int32)
  if jnp.issubdtype(packed_dtype, jnp.signedinteger):
    signed = lax.bitcast_convert_type(top, jnp.dtype(f"int{wide}"))
    return (signed >> back.astype(signed.dtype)).astype(unpacked_dtype)
  return (top >> back.astype(top.dtype)).astype(unpacked_dtype)


def stochastic_round(x: jax.Array, random_bits: jax.Array, *, target_dtype: Any) -> jax.Array:
  """Round float32 to a narrower float, up or down at random so that the mean is the exact value.

  With d mantissa bits to drop, the lowest d random bits are added to the float's bits before they are cut: the carry rounds away
  from zero with just the probability the dropped bits stand for. Below the smallest normal number of the target, the same is
  done on multiples of its smallest subnormal one. Infinities and NaN stay.
  """
  x, random_bits = jnp.asarray(x), jnp.asarray(random_bits)
  target = jnp.dtype(target_dtype)
  if x.dtype != jnp.float32:
    raise errors.ShapeMismatchError(f"stochastic_round: x must be float32, got {x.dtype}.")
  if random_bits.dtype != jnp.uint32 or random_bits.shape != x.shape:
    raise errors.ShapeMismatchError(
      f"stochastic_round: random_bits must be uint32 of the shape of x, {x.shape}; got "
      f"{random_bits.dtype}{list(random_bits.shape)}."
    )
  if not jnp.issubdtype(target, jnp.floating) or _bits(target) >= 32:
    raise errors.ShapeMismatchError(
      f"stochastic_round: target_dtype must be a float narrower than float32, got {target}."
    )
  info = jnp.finfo(target)
  dropped = 23 - int(info.nmant)
  mask = jnp.uint32((1 << dropped) - 1)
  bits = lax.bitcast_convert_type(x, jnp.uint32)
  normal = lax.bitcast_convert_type((bits + (random_bits & mask)) & ~mask, jnp.float32)
  if float(info.smallest_normal) > float(jnp.finfo(jnp.float32).smallest_normal):
    quantum = jnp.float32(info.smallest_subnormal)
    steps = jnp.abs(x) / quantum  # exact: quantum is a power of two
    down = jnp.floor(steps)
    uniform = (random_bits >> 8).astype(jnp.float32) * jnp.float32(2.0**-24)
    tiny = jnp.copysign((down + (uniform < steps - down)) * quantum, x)
    normal = jnp.where(jnp.abs(x) < jnp.float32(info.smallest_normal), tiny, normal)
  return jnp.where(jnp.isfinite(x), normal, x).astype(target)


# --- convolution -------------------------------------------------------------------------------------------------


def conv(
  lhs: jax.Array,
  rhs: jax.Array,
  acc: jax.Array | None = None,
  *,
  dimension_numbers: Any,
  window_strides: Sequence[int] | None = None,
  padding: str | Sequence[tuple[int, int]] | None = None,
  lhs_dilation: Sequence[int] | None = None,
  rhs_dilation: Sequence[int] | None = None,
  window_reversal: Sequence[bool] | None = None,
  feature_group_count: int = 1,
  batch_group_count: int = 1,
  precision: Any = None,
  preferred_element_type: Any = None,
) -> jax.Array:
  """An n-dimensional convolution, added to `acc` if that is given; see `jax.lax.conv_general_dilated` for the arguments.

  Strides and dilations default to 1, padding to none. `window_reversal` turns the window around along a spatial dimension.
  """
  lhs, rhs = jnp.asarray(lhs), jnp.asarray(rhs)
  numbers = lax.conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
  spatial = numbers.rhs_spec[2:]
  if window_reversal is not None:
    if len(window_reversal) != len(spatial):
      raise errors.ShapeMismatchError(
        f"pltpu.conv: window_reversal needs one bool for each of {len(spatial)} spatial dimensions, got {tuple(window_reversal)}."
      )
    rhs = lax.rev(rhs, tuple(d for d, turn in zip(spatial, window_reversal) if turn))
  out = lax.conv_general_dilated(
    lhs,
    rhs,
    window_strides=(1,) * len(spatial) if window_strides is None else tuple(window_strides),
    padding=[(0, 0)] * len(spatial) if padding is None else padding,
    lhs_dilation=lhs_dilation,
    rhs_dilation=rhs_dilation,
    dimension_numbers=numbers,
    feature_group_count=feature_group_count,
    batch_group_count=batch_group_count,
    precision=precision,
    preferred_element_type=acc.dtype if preferred_element_type is None and acc is not None else preferred_element_type,
  )
  if acc is None:
    return out
  if acc.shape != out.shape or acc.dtype != out.dtype:
    raise errors.ShapeMismatchError(
      f"pltpu.conv: acc is {acc.dtype}{list(acc.shape)} but the convolution gives {out.dtype}{list(out.shape)}; they "
      "must be equal."
    )
  return acc + out


# --- refs --------------------------------------------------------------------------------------------------------


def load(ref: Any, *, mask: jax.Array | None = None) -> jax.Array:
  """Read a ref or a view of one; what `mask` leaves out is unspecified."""
  return primitives.load(ref, mask=mask)


def store(ref: Any, val: jax.Array, *, mask: jax.Array | None = None) -> None:
  """Write `val` to a ref or a view of one, where `mask` is true."""
  primitives.store(ref, None, val, mask=mask)


touch_p = Primitive("touch")
touch_p.multiple_results = True
primitives.not_differentiable(touch_p)


@touch_p.def_effectful_abstract_eval
def _(*flat: Any, tree: Any) -> Any:
  return [], {ReadEffect(0)}


xla.register(touch_p)(lambda ctx, *flat, tree: [])  # the portable lowering keeps program order anyway


def touch(ref: Any) -> None:
  """Say that the ref is used here, so that what comes before and after is not reordered across this point."""
  flat, tree = _jax.flatten(primitives.flatten_ref(ref, None, "pltpu.touch"))
  touch_p.bind(*flat, tree=tree)


def annotate(
  ref: Any,
  *,
  no_store: bool = False,
  no_bank_conflict: bool = False,
  no_hazard: bool = False,
  no_hazard_no_deps: bool = False,
) -> Any:
  """The ref with promises about how it is accessed, which the TPU compiler may use. Other targets need none of them.

  `no_bank_conflict` goes with each of the others, which exclude one another.
  """
  view = primitives.flatten_ref(ref, None, "pltpu.annotate")
  flags = {"no_store": no_store, "no_hazard": no_hazard, "no_hazard_no_deps": no_hazard_no_deps}
  chosen = [name for name, is_set in flags.items() if is_set]
  if len(chosen) > 1:
    raise errors.MemorySpaceError(
      f"pltpu.annotate: {' and '.join(chosen)} contradict each other; give at most one of them."
    )
  return view if isinstance(view, TransformedRef) else TransformedRef(view, ())


def trace_value(label: str, value: jax.Array) -> None:
  """Put a scalar into the profiler's trace. Off a TPU there is no such trace, so only the arguments are checked."""
  value = jnp.asarray(value)
  if value.shape != ():
    raise errors.ShapeMismatchError(f"trace_value {label!r}: the value must be a scalar, got shape {value.shape}.")
  if value.dtype not in (jnp.int32, jnp.float32):
    raise errors.ShapeMismatchError(f"trace_value {label!r}: the value must be int32 or float32, got {value.dtype}.")


def with_memory_space_constraint(x: jax.Array, memory_space: Any) -> jax.Array:
  """`x`, to be kept in a memory space when it is passed to a kernel. Off a TPU the space has no effect."""
  check_memory_space(memory_space, "with_memory_space_constraint")
  return jnp.asarray(x)


# --- what only a TPU has -----------------------------------------------------------------------------------------


def _matrix_unit_only(name: str) -> Any:
  def unsupported(*args: Any, **kwargs: Any) -> Any:
    raise errors.UnsupportedFeatureError(
      f"pltpu.{name} drives the staging registers and accumulators of a TPU's matrix unit, which no other device has. "
      "Use jnp.dot or pl.dot: a TPU compiles them to the same instructions."
    )

  unsupported.__name__ = unsupported.__qualname__ = name
  unsupported.__doc__ = "Drives a TPU's matrix unit directly; raises UnsupportedFeatureError on every other device."
  return unsupported


matmul_push_rhs = _matrix_unit_only("matmul_push_rhs")
matmul_acc_lhs = _matrix_unit_only("matmul_acc_lhs")
matmul_pop = _matrix_unit_only("matmul_pop")
matmul_lhs_fifo = _matrix_unit_only("matmul_lhs_fifo")
matmul_pop_fifo = _matrix_unit_only("matmul_pop_fifo")
