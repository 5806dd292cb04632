"""Calls of linear functions with explicit transposes, with rules for vmap and for derivatives of any order.

    y = linear(f, t, residuals, x)    # f(residuals, x), linear in x; t(residuals, g) is its transpose

Forward-mode derivatives run `f`, reverse-mode ones `t`; only the residuals are kept between the two passes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from tilewright.runtime import _jax

Flat = Callable[[Sequence[Any], Any], Any]  # leaves of the residuals, what it is linear in -> result

_linear_p = _jax.core.Primitive("tilewright_linear")


def linear(
  function: Callable[[Any, jax.Array], jax.Array],
  transpose: Callable[[Any, jax.Array], jax.Array],
  residuals: Any,
  x: jax.Array,
) -> jax.Array:
  """`function(residuals, x)`; neither function may close over what JAX traces."""
  leaves, tree = jax.tree.flatten(residuals)
  flat = lambda f: lambda leaves, x: f(jax.tree.unflatten(tree, leaves), x)
  return _linear_p.bind(*leaves, x, function=flat(function), transpose=flat(transpose))


@_linear_p.def_impl
def _run(*args: Any, function: Flat, transpose: Flat) -> jax.Array:
  return function(args[:-1], args[-1])


@_linear_p.def_abstract_eval
def _result(*avals: Any, function: Flat, transpose: Flat) -> Any:
  out = jax.eval_shape(lambda *args: function(args[:-1], args[-1]), *avals)
  return _jax.with_varying_axes(_jax.core.ShapedArray(out.shape, out.dtype), _jax.varying_axes(avals))


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, function: Flat, transpose: Flat) -> tuple[Any, Any]:
  (*residuals, x), (*changes, dx) = primals, tangents
  rules = {"function": function, "transpose": transpose}
  out = _linear_p.bind(*primals, **rules)
  parts = [] if isinstance(dx, _jax.ad.Zero) else [_linear_p.bind(*residuals, dx, **rules)]
  moving = [i for i, t in enumerate(changes) if not isinstance(t, _jax.ad.Zero)]
  if moving:

    def of_residuals(*values: Any) -> jax.Array:
      given = dict(zip(moving, values))
      return function([given.get(i, r) for i, r in enumerate(residuals)], x)

    parts.append(jax.jvp(of_residuals, [residuals[i] for i in moving], [changes[i] for i in moving])[1])
  return out, sum(parts[1:], parts[0])


def _transposed(g: Any, *args: Any, function: Flat, transpose: Flat) -> list[Any]:
  *residuals, _ = args
  if isinstance(g, _jax.ad.Zero):
    return [None] * len(args)
  return [None] * len(residuals) + [_linear_p.bind(*residuals, g, function=transpose, transpose=function)]


def _batched(args: Sequence[Any], dims: Sequence[Any], *, function: Flat, transpose: Flat) -> tuple[Any, int]:
  """The linear operand gets the batch dimension too, so that its cotangent has one."""
  size = next(a.shape[d] for a, d in zip(args, dims) if d is not None)
  *residuals, x = args
  x = jnp.broadcast_to(x, (size, *x.shape)) if dims[-1] is None else jnp.moveaxis(x, dims[-1], 0)
  each = lambda f: jax.vmap(f, in_axes=(tuple(dims[:-1]), 0))
  rows = lambda f: lambda leaves, x: each(f)(tuple(leaves), x)
  return _linear_p.bind(*residuals, x, function=rows(function), transpose=rows(transpose)), 0


_jax.ad.primitive_jvps[_linear_p] = _jvp
_jax.ad.primitive_transposes[_linear_p] = _transposed
_jax.batching.primitive_batchers[_linear_p] = _batched
_jax.mlir.register_lowering(_linear_p, _jax.mlir.lower_fun(_run, multiple_results=False))
