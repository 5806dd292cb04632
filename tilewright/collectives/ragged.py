"""The exchange of rows whose numbers are data, as a JAX primitive.

    sizes = [begin, count, there]      for each member: where its rows begin here, how many they are, and where they begin there

It is linear in the rows that are sent and in those that nothing is sent to. The derivative sends rows back: each member learns from the
others where what it has came from, by an exchange of the sizes.
"""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright import errors
from tilewright.collectives import kernels, primitives
from tilewright.collectives.groups import table
from tilewright.collectives.primitives import (
  Spec,
  kernel_rules,
  log_fallback,
  rank,
  runs_here,
  same_varying,
  without_vma,
)
from tilewright.pallas import semaphores
from tilewright.pallas.primitives import Primitive
from tilewright.runtime import _jax
from tilewright.target.llvm.calling import keeping

ragged_p = Primitive("tilewright_ragged_all_to_all")


def bind(operand: Any, output: Any, sizes: Any, spec: Spec) -> Any:
  """Send rows of the operand; the output's rows that none is sent to stay. `sizes` has the shape (3, members)."""
  if not output.size:
    return output
  return ragged_p.bind(*same_varying(spec, operand, output, sizes), spec=spec)


@ragged_p.def_abstract_eval
def _(operand: Any, output: Any, sizes: Any, *, spec: Spec) -> Any:
  return output.update(weak_type=False)


# --- derivatives and vmap ----------------------------------------------------------------------------------------


def _jvp(primals: Any, tangents: Any, *, spec: Spec) -> Any:
  operand, output, sizes = primals
  out = bind(operand, output, sizes, spec)
  rows, kept, _ = tangents
  if type(rows) is _jax.ad.Zero and type(kept) is _jax.ad.Zero:
    return out, _jax.ad.Zero(_jax.core.typeof(out).to_tangent_aval())
  return out, bind(_jax.ad.instantiate_zeros(rows), _jax.ad.instantiate_zeros(kept), sizes, spec)


def _transpose(ct: Any, operand: Any, output: Any, sizes: Any, *, spec: Spec) -> list[Any]:
  undefined = _jax.ad.is_undefined_primal
  if type(ct) is _jax.ad.Zero:
    return [_jax.ad.Zero(x.aval) if undefined(x) else None for x in (operand, output, sizes)]
  # Where each member's rows came from, and how many: what the others say of us.
  theirs = primitives.bind(sizes.T.reshape(spec.members, 3), spec.like("exchange"))
  to_operand = to_output = None
  if undefined(operand):
    back = jnp.stack([theirs[:, 2], theirs[:, 1], theirs[:, 0]])
    to_operand = bind(ct, jnp.zeros(operand.aval.shape, ct.dtype), back, spec)
  if undefined(output):
    rows = jnp.arange(ct.shape[0])
    written = jnp.any((rows[:, None] >= theirs[:, 2]) & (rows[:, None] < theirs[:, 2] + theirs[:, 1]), axis=1)
    to_output = jnp.where(written.reshape(-1, *[1] * (ct.ndim - 1)), 0, ct).astype(ct.dtype)
  return [to_operand, to_output, None]


def _batch(axis_data: Any, args: Any, dims: Any, *, spec: Spec) -> Any:
  if axis_data.name in spec.axes:
    raise errors.UnsupportedFeatureError(
      f"{spec.title}: the axis {axis_data.name!r} is one of a vmap. Exchange rows along axes of the mesh, or without vmap."
    )
  if all(d is None for d in dims):  # requested only because the axis has a name
    operand, output, sizes = args
    return bind(operand, output, sizes, spec), None
  size = next(x.shape[d] for x, d in zip(args, dims) if d is not None)
  if dims[2] is not None:  # one exchange after another
    each = [
      jnp.moveaxis(x, d, 0) if d is not None else jnp.broadcast_to(x, (size, *x.shape)) for x, d in zip(args, dims)
    ]
    return lax.map(lambda x: bind(x[0], x[1], x[2], spec), tuple(each)), 0
  # Of the same rows: one exchange of longer ones.
  operand, output = (
    jnp.moveaxis(x, d, 1) if d is not None else jnp.broadcast_to(x[:, None], (x.shape[0], size, *x.shape[1:]))
    for x, d in zip(args[:2], dims[:2])
  )
  return bind(operand, output, args[2], spec), 1


_jax.ad.primitive_jvps[ragged_p] = _jvp
_jax.ad.primitive_transposes[ragged_p] = _transpose
_jax.batching.fancy_primitive_batchers[ragged_p] = _batch


# --- lowering ----------------------------------------------------------------------------------------------------


def _as_rows(operand: Any, output: Any) -> tuple[Any, Any]:
  width = max(1, int(np.prod(operand.shape[1:])))
  return operand.reshape(operand.shape[0], width), output.reshape(output.shape[0], width)


def _as_kernel(operand: Any, output: Any, sizes: Any, *, spec: Spec, parts: int) -> Any:
  who = table(tuple(semaphores.device_axes().items()), spec.axes, spec.groups)
  if not operand.size:  # nobody has rows to send
    return output
  return kernels.ragged(*_as_rows(operand, output), sizes, kernels.Call(who, spec.title, parts)).reshape(output.shape)


def _by_gathering(operand: Any, output: Any, sizes: Any, *, spec: Spec) -> Any:
  """The exchange where devices do not see each other's memory: each picks what is for it from what all have."""
  rows, found = _as_rows(operand, output)
  everyone, all_sizes = (primitives.bind(x, spec.like("gather")) for x in (rows, sizes))  # (members, …)
  known = spec.members if spec.groups is None else jnp.asarray(_sizes(spec))[lax.axis_index(spec.axes)]
  numbers = jnp.arange(rows.shape[0])
  for sender in range(spec.members):
    begin, count, there = (jnp.take(all_sizes[sender, k], rank(spec)) for k in range(3))
    sent = (numbers >= begin) & (numbers < begin + count) & (sender < known)
    found = found.at[jnp.where(sent, numbers - begin + there, found.shape[0])].set(everyone[sender], mode="drop")
  return found.reshape(output.shape)


def _sizes(spec: Spec) -> list[int]:
  """For each index along the axes how many members its group has."""
  found = {i: len(group) for group in spec.groups or () for i in group}
  return [found[i] for i in range(len(found))]


_lower_kernel = kernel_rules(_as_kernel)
_lower_gathering = _jax.mlir.lower_fun(without_vma(_by_gathering), multiple_results=False)


def _lower(ctx: Any, *operands: Any, spec: Spec) -> Any:
  module = ctx.module_context
  if runs_here(module):
    with keeping(module):
      return _lower_kernel[module.platforms[0]](ctx, *operands, spec=spec)
  log_fallback("ragged_all_to_all", ", ".join(module.platforms))
  return _lower_gathering(ctx, *operands, spec=spec)


_jax.mlir.register_lowering(ragged_p, _lower, cacheable=False)  # as `collective_p`
ragged_p.def_impl(functools.partial(_jax.dispatch.apply_primitive, ragged_p))

__all__ = ["bind", "ragged_p"]
