"""Rules for primitives that expand into other primitives, and for those that are no-ops inside a kernel."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright.pallas.lowering.expand import expansion
from tilewright.pallas.lowering.table import Context, rule
from tilewright.tile.ir import Value

# --- nothing to do -----------------------------------------------------------------------------------------------


@rule("name", "pvary", "layout_constraint", "sharding_constraint", "reshard", "with_memory_space_constraint")
@rule("tie", "pin", "unpin", "relayout")
def _same(ctx: Context, x: Value, *rest: Value, **_: Any) -> Value:
  return rest[-1] if rest else x


@rule("device_put")
def _device_put(ctx: Context, *xs: Value, **_: Any) -> list[Value]:
  return list(xs)


@rule("dce_sink")
def _dce_sink(ctx: Context, *xs: Value, **_: Any) -> list[Value]:
  return []


@rule("empty", "empty2")
def _empty(ctx: Context, **_: Any) -> Value:
  return ctx.broadcast_scalar(ctx.constant(0, ctx.out.dtype), ctx.out.shape)


@rule("platform_index")
def _platform_index(ctx: Context, *, platforms: Any, **_: Any) -> Value:
  """Which of the cases of `lax.platform_dependent` is for the CPU; the last one is for all others."""
  for number, names in enumerate(platforms):
    if names is None or "cpu" in names:
      return ctx.constant(number, np.int32)
  return ctx.constant(len(platforms), np.int32)


# --- total orders ------------------------------------------------------------------------------------------------


def _total(compare: Any) -> Any:
  """Floats in the order of their bits: -NaN, -inf, ..., -0, 0, ..., inf, NaN."""

  def run(x: Any, y: Any) -> Any:
    return compare(_total_key(x), _total_key(y))

  return run


def _total_key(x: Any) -> Any:
  if not jnp.issubdtype(x.dtype, jnp.floating):
    return x
  width = x.dtype.itemsize * 8
  bits = lax.bitcast_convert_type(x, jnp.dtype(f"int{width}"))
  flip = jnp.array(jnp.iinfo(bits.dtype).max, bits.dtype)
  return jnp.where(bits < 0, bits ^ flip, bits)


for _name, _compare in (("eq_to", lax.eq), ("le_to", lax.le), ("lt_to", lax.lt)):
  expansion(_name)(_total(_compare))


# --- cumulative --------------------------------------------------------------------------------------------------


@expansion("cumlogsumexp")
def _cumlogsumexp(x: Any, *, axis: int, reverse: bool) -> Any:
  """A sequential logsumexp scan. The accumulator of floats of sixteen bits and fewer is float32: in the narrow dtype it would soon be so
  large that further terms round away."""
  wide = jnp.float32 if jnp.finfo(x.dtype).bits < 32 else x.dtype  # fp8 formats are promoted to nothing
  lines = jnp.moveaxis(x.astype(wide), axis, 0)

  def step(total: Any, row: Any) -> Any:
    total = jnp.logaddexp(total, row)
    return total, total

  start = jnp.full(lines.shape[1:], -jnp.inf, lines.dtype)
  return jnp.moveaxis(lax.scan(step, start, lines, reverse=reverse)[1], 0, axis).astype(x.dtype)
