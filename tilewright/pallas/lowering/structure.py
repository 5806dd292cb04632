"""Rules for values: elementwise operations, shapes, reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.pallas.lowering.table import RULES, Context, rule
from tilewright.tile.ir import Value
from tilewright.tile.types import TileType

# Primitives that are one op with the same name, or another one.
_SAME = (
  *(
    "add",
    "sub",
    "mul",
    "div",
    "rem",
    "max",
    "min",
    "neg",
    "abs",
    "sign",
    "floor",
    "ceil",
    "exp",
    "exp2",
    "expm1",
    "log",
  ),
  *(
    "log1p",
    "sqrt",
    "rsqrt",
    "cbrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
  ),
  *(
    "atanh",
    "logistic",
    "erf",
    "erfc",
    "erf_inv",
    "lgamma",
    "digamma",
    "pow",
    "atan2",
    "mulhi",
    "and",
    "or",
    "xor",
    "not",
    "real",
    "imag",
    "complex",
  ),
  *("eq", "ne", "lt", "le", "gt", "ge", "is_finite", "clz"),
)
_RENAMED = {
  "shift_left": "shl",
  "shift_right_logical": "shr_logical",
  "shift_right_arithmetic": "shr_arithmetic",
  "population_count": "popcount",
  "add_any": "add",
}


def _elementwise(name: str) -> Any:
  def lower(ctx: Context, *args: Value, **_: Any) -> Value:
    shape = ctx.out.shape
    args = tuple(ctx.broadcast(a, shape) for a in args)
    first = args[0].type
    assert isinstance(first, TileType)
    same = [a if a.type == first else ctx.emit("convert", a, dtype=first.dtype) for a in args]
    return ctx.emit(name, *same)

  return lower


RULES.update({name: _elementwise(name) for name in _SAME})
RULES.update({name: _elementwise(op) for name, op in _RENAMED.items()})


@rule("square")
def _square(ctx: Context, x: Value) -> Value:
  return ctx.emit("mul", x, x)


@rule("one_minus_square")
def _one_minus_square(ctx: Context, x: Value, **_: Any) -> Value:
  one = ctx.broadcast(ctx.constant(1, x.tile.dtype), x.tile.shape)
  return ctx.emit("sub", one, ctx.emit("mul", x, x))


@rule("conj")
def _conj(ctx: Context, x: Value, **_: Any) -> Value:
  return ctx.emit("conj", x) if x.tile.dtype.kind == "c" else ctx.emit("convert", x, dtype=ctx.out.dtype)


@rule("integer_pow")
def _integer_pow(ctx: Context, x: Value, *, y: int) -> Value:
  return ctx.emit("integer_pow", x, y=y)


@rule("round")
def _round(ctx: Context, x: Value, *, rounding_method: Any) -> Value:
  return ctx.emit("round_even" if int(rounding_method) == 1 else "round", x)


@rule("select_n")
def _select_n(ctx: Context, which: Value, *cases: Value) -> Value:
  if len(cases) == 1:
    return cases[0]
  shape = ctx.out.shape
  which = ctx.broadcast(which, shape)
  assert isinstance(which.type, TileType)
  if which.type.dtype == np.bool_:
    return ctx.emit("select", which, cases[1], cases[0])
  result = cases[-1]
  for n in reversed(range(len(cases) - 1)):
    limit = ctx.broadcast(ctx.constant(n, which.type.dtype), shape)
    result = ctx.emit("select", ctx.emit("le", which, limit), cases[n], result)
  return result


@rule("clamp")
def _clamp(ctx: Context, low: Value, x: Value, high: Value) -> Value:
  shape = ctx.out.shape
  return ctx.emit("min", ctx.emit("max", x, ctx.broadcast(low, shape)), ctx.broadcast(high, shape))


@rule("convert_element_type")
def _convert(ctx: Context, x: Value, *, new_dtype: Any, **_: Any) -> Value:
  assert isinstance(x.type, TileType)
  return x if x.type.dtype == np.dtype(new_dtype) else ctx.emit("convert", x, dtype=np.dtype(new_dtype))


@rule("copy", "stop_gradient", "multiple_of")
def _identity(ctx: Context, x: Value, **params: Any) -> Value:
  return x


@rule("layout_cast")
def _layout_cast(ctx: Context, x: Value, *, layout: str) -> Value:
  return ctx.emit("layout_cast", x, layout=layout)


@rule("optimization_barrier")
def _barrier(ctx: Context, *xs: Value) -> list[Value]:
  return list(xs)


# --- shapes ------------------------------------------------------------------------------------------------------


@rule("broadcast_in_dim")
def _broadcast_in_dim(
  ctx: Context, x: Value, *dynamic: Value, shape: Any, broadcast_dimensions: Any, **_: Any
) -> Value:
  return ctx.emit("broadcast", x, shape=tuple(shape), dims=tuple(broadcast_dimensions))


@rule("broadcast_to")
def _broadcast_to(ctx: Context, x: Value, *, shape: Any) -> Value:
  assert isinstance(x.type, TileType)
  first = len(shape) - x.type.rank
  return ctx.emit("broadcast", x, shape=tuple(shape), dims=tuple(range(first, len(shape))))


@rule("reshape")
def _reshape(ctx: Context, x: Value, *_: Value, dimensions: Any = None, **__: Any) -> Value:
  if (
    dimensions is not None
  ):  # the order in which elements are taken; dimensions that are not named are the words of keys
    x = ctx.emit("transpose", x, permutation=(*dimensions, *range(len(dimensions), x.tile.rank)))
  return ctx.emit("reshape", x, shape=ctx.out.shape)


@rule("squeeze")
def _same_elements(ctx: Context, x: Value, **_: Any) -> Value:
  return ctx.emit("reshape", x, shape=ctx.out.shape)


@rule("transpose")
def _transpose(ctx: Context, x: Value, *, permutation: Any) -> Value:
  return ctx.emit("transpose", x, permutation=tuple(permutation))


@rule("slice")
def _slice(ctx: Context, x: Value, *, start_indices: Any, limit_indices: Any, strides: Any) -> Value:
  steps = tuple(map(int, strides)) if strides is not None else (1,) * len(start_indices)
  return ctx.emit(
    "slice", x, starts=tuple(map(int, start_indices)), stops=tuple(map(int, limit_indices)), strides=steps
  )


@rule("dynamic_slice")
def _dynamic_slice(ctx: Context, x: Value, *starts: Value, slice_sizes: Any) -> Value:
  return ctx.emit("dynamic_slice", x, *starts[: len(slice_sizes)], sizes=tuple(slice_sizes))


@rule("dynamic_update_slice")
def _dynamic_update_slice(ctx: Context, x: Value, update: Value, *starts: Value) -> Value:
  return ctx.emit("dynamic_update_slice", x, update, *starts)


@rule("pad")
def _pad(ctx: Context, x: Value, fill: Value, *, padding_config: Any) -> Value:
  low, high, interior = (tuple(map(int, p)) for p in zip(*padding_config)) if padding_config else ((), (), ())
  return ctx.emit("pad", x, fill, low=low, high=high, interior=interior)


@rule("concatenate")
def _concatenate(ctx: Context, *xs: Value, dimension: int) -> Value:
  return ctx.emit("concatenate", *xs, axis=dimension)


@rule("stack")
def _stack(ctx: Context, *xs: Value, axis: int) -> Value:
  rows = []
  for x in xs:
    shape = x.tile.shape
    rows.append(ctx.emit("reshape", x, shape=(*shape[:axis], 1, *shape[axis:])))
  return ctx.emit("concatenate", *rows, axis=axis)


@rule("unstack")
def _unstack(ctx: Context, x: Value, *, axis: int) -> list[Value]:
  shape = x.tile.shape
  axis %= len(shape)
  rows = []
  for n in range(shape[axis]):
    starts = tuple(n if a == axis else 0 for a in range(len(shape)))
    stops = tuple(n + 1 if a == axis else d for a, d in enumerate(shape))
    row = ctx.emit("slice", x, starts=starts, stops=stops, strides=(1,) * len(shape))
    rows.append(ctx.emit("reshape", row, shape=(*shape[:axis], *shape[axis + 1 :])))
  return rows


@rule("tile")
def _tile(ctx: Context, x: Value, *, reps: Any) -> Value:
  """Repeat along each dimension: broadcast along a new dimension before it, then merge the two."""
  sizes = x.tile.shape
  apart = tuple(n for pair in zip(reps, sizes) for n in pair)
  spread = ctx.emit("broadcast", x, shape=apart, dims=tuple(range(1, 2 * len(sizes), 2)))
  return ctx.emit("reshape", spread, shape=ctx.out.shape)


@rule("split")
def _split(ctx: Context, x: Value, *, sizes: Any, axis: int) -> list[Value]:
  assert isinstance(x.type, TileType)
  parts, at = [], 0
  for size in map(int, sizes):
    starts = tuple(at if a == axis else 0 for a in range(x.type.rank))
    stops = tuple(at + size if a == axis else d for a, d in enumerate(x.type.shape))
    parts.append(ctx.emit("slice", x, starts=starts, stops=stops, strides=(1,) * x.type.rank))
    at += size
  return parts


@rule("rev")
def _rev(ctx: Context, x: Value, *, dimensions: Any) -> Value:
  return ctx.emit("reverse", x, axes=tuple(dimensions))


@rule("iota")
def _iota(ctx: Context, *_: Value, dtype: Any, shape: Any, dimension: int, **__: Any) -> Value:
  return ctx.emit("iota", shape=tuple(shape), axis=dimension, dtype=np.dtype(dtype))


# --- reductions and contractions ---------------------------------------------------------------------------------


def _reduce(kind: str) -> Any:
  return lambda ctx, x, *, axes, **_: ctx.emit("reduce", x, kind=kind, axes=tuple(axes))


RULES.update({f"reduce_{kind}": _reduce(kind) for kind in ("sum", "prod", "max", "min", "and", "or", "xor")})


def _arg_reduce(kind: str) -> Any:
  return lambda ctx, x, *, axes, index_dtype, **_: ctx.emit(
    "arg_reduce", x, kind=kind, axis=axes[0], dtype=np.dtype(index_dtype)
  )


RULES.update({"argmax": _arg_reduce("max"), "argmin": _arg_reduce("min")})


def _cumulative(kind: str) -> Any:
  return lambda ctx, x, *, axis, reverse, **_: ctx.emit("cumulative", x, kind=kind, axis=axis, reverse=reverse)


RULES.update(
  {f"cum{name}": _cumulative(kind) for name, kind in (("sum", "sum"), ("prod", "prod"), ("max", "max"), ("min", "min"))}
)
