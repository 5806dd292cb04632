"""Rules for sorting: `lax.sort`, `lax.top_k`, `lax.approx_top_k`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright.pallas.lowering.expand import expand
from tilewright.pallas.lowering.table import Context, rule
from tilewright.tile.ir import Value

# Up to so many top elements of a row are found in one pass over it; more of them, or a larger fraction, by sorting.
_FEW, _FEW_OF = 32, 4


@rule("sort")
def _sort(ctx: Context, *xs: Value, dimension: int, num_keys: int, **_: Any) -> list[Value]:
  if any(x.tile.dtype.kind == "c" for x in xs):
    return expand(ctx, lambda *arrays: _sort_parts(arrays, dimension, num_keys), *xs)
  return ctx.builder.emit_all("sort", xs, axis=dimension, keys=num_keys, descending=False, total=False)


def _sort_parts(xs: Any, dimension: int, num_keys: int) -> list[Any]:
  """Complex numbers are in the order of their real parts, then of their imaginary ones."""
  pairs = [(lax.real(x), lax.imag(x)) if jnp.iscomplexobj(x) else (x,) for x in xs]
  keys = sum(map(len, pairs[:num_keys]))
  parts = iter(lax.sort([part for pair in pairs for part in pair], dimension=dimension, num_keys=keys))
  return [lax.complex(next(parts), next(parts)) if len(pair) == 2 else next(parts) for pair in pairs]


def _largest(ctx: Context, x: Value, k: int, axis: int, descending: bool) -> list[Value]:
  """The first `k` in order, and their indices."""
  axis %= x.tile.rank
  if 0 < k <= _FEW and k * _FEW_OF <= x.tile.shape[axis]:
    return ctx.builder.emit_all("top_k", [x], axis=axis, k=k, descending=descending, total=True)
  places = ctx.emit("iota", shape=x.tile.shape, axis=axis, dtype=np.dtype(np.int32))
  both = ctx.builder.emit_all("sort", [x, places], axis=axis, keys=1, descending=descending, total=True)
  stops = tuple(k if a == axis else d for a, d in enumerate(x.tile.shape))
  attrs = {"starts": (0,) * len(stops), "stops": stops, "strides": (1,) * len(stops)}
  return [ctx.emit("slice", v, **attrs) for v in both]


@rule("top_k")
def _top_k(ctx: Context, x: Value, *, k: int, axis: int = -1, **_: Any) -> list[Value]:
  return _largest(ctx, x, k, axis, descending=True)


@rule("approx_top_k")
def _approx_top_k(
  ctx: Context, x: Value, *, k: int, reduction_dimension: int, is_max_k: bool, **params: Any
) -> list[Value]:
  """Exact, as XLA is on the CPU."""
  return _largest(ctx, x, k, reduction_dimension, descending=is_max_k)
