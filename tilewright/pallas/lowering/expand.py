"""Expansion of primitives into other primitives: a JAX function is traced, and its jaxpr is lowered in place of the primitive.

    @expansion("cumlogsumexp")
    def _(x, *, axis, reverse): ...      # written with jax.numpy and lax

The function sees arrays of the operands' types. Whatever it uses must have a rule, or an expansion, itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from tilewright.pallas.lowering.table import Context, lower_jaxpr, rule
from tilewright.runtime import _jax
from tilewright.tile.ir import Value


def expand(ctx: Context, f: Callable[..., Any], *args: Value) -> list[Value]:
  """Lower `f(*args)`, a function of arrays; returns the leaves of its result."""
  avals = [_jax.core.ShapedArray(v.tile.shape, v.tile.dtype) for v in args]
  closed = _jax.trace(lambda *xs: jax.tree.leaves(f(*xs)), avals, what=getattr(f, "__name__", "expansion"))
  jaxpr, consts = _jax.open_jaxpr(closed)
  return lower_jaxpr(ctx.builder, jaxpr, [constant(ctx, c) for c in consts], args)


def constant(ctx: Context, value: Any) -> Value:
  array = np.asarray(value)
  return ctx.constant(array, array.dtype)


def expansion(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
  """A decorator that registers `f(*arrays, **params)` as the expansion of primitives."""

  def add(f: Callable[..., Any]) -> Callable[..., Any]:
    def lower(ctx: Context, *args: Value, **params: Any) -> Any:
      outs = expand(ctx, lambda *xs: f(*xs, **params), *args)
      return outs if ctx.eqn.primitive.multiple_results else outs[0]

    rule(*names)(lower)
    return f

  return add
