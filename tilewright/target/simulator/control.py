"""Refs and control flow on the simulated machine: the rules of JAX's own primitives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright.runtime import _jax
from tilewright.target.simulator.evaluate import Context, register
from tilewright.target.simulator.memory import Address, Buffer, Semaphores, is_key

TransformedRef = _jax.state_types.TransformedRef


# --- refs --------------------------------------------------------------------------------------------------------


@register(_jax.state_primitives.get_p)
def _get(ctx: Context, ref: Any, *flat: Any, tree: Any) -> Any:
  return ctx.read(TransformedRef(ref, jax.tree.unflatten(tree, flat)))


@register(_jax.state_primitives.swap_p)
def _swap(ctx: Context, ref: Any, new: Any, *flat: Any, tree: Any) -> Any:
  return ctx.write(TransformedRef(ref, jax.tree.unflatten(tree, flat)), new)


@register(_jax.state_primitives.addupdate_p)
def _addupdate(ctx: Context, ref: Any, update: Any, *flat: Any, tree: Any) -> list[Any]:
  ctx.core.world.accumulate(ctx.core, TransformedRef(ref, jax.tree.unflatten(tree, flat)), ctx.where, update)
  return []


@register(_jax.core.ref_p)
def _new_ref(ctx: Context, value: Any, **_: Any) -> Any:
  aval = ctx.eqn.outvars[0].aval
  ctx.core.world.free(_own_address(ctx))
  return ctx.allocate(("ref", ctx.eqn), aval, f"the ref made at {ctx.where}", shared=False, initial=np.asarray(value))


@register(_jax.core.empty_ref_p)
def _empty_ref(ctx: Context, **_: Any) -> Any:
  ctx.core.world.free(_own_address(ctx))
  return ctx.allocate(("ref", ctx.eqn), ctx.eqn.outvars[0].aval, f"the ref made at {ctx.where}", shared=False)


def _own_address(ctx: Context) -> Any:
  return Address(ctx.core.device, ctx.core.index, ("ref", ctx.eqn))


@register(_jax.core.freeze_p)
def _freeze(ctx: Context, ref: Any) -> Any:
  return ctx.read(ref)


@register(_jax.core.free_ref_p)
def _free_ref(ctx: Context, ref: Any) -> list[Any]:
  ctx.core.world.free(ref.address)
  return []


@register(_jax.discharge.run_state_p)
def _run_state(ctx: Context, *args: Any, jaxpr: Any, **_: Any) -> list[Any]:
  is_memory = [isinstance(a, Buffer | Semaphores) for a in args]
  refs = [
    a
    if own
    else ctx.allocate(("run_state", ctx.eqn, i), v.aval, f"state {i} of run_state", shared=False, initial=np.asarray(a))
    for i, (a, own, v) in enumerate(zip(args, is_memory, jaxpr.invars))
  ]
  ctx.evaluate(jaxpr, (), refs)
  out = []
  for arg, own, ref in zip(args, is_memory, refs):
    out.append(arg if own else ref.read(()))
    if not own:
      ctx.core.world.free(ref.address)
  return out


# --- control flow ------------------------------------------------------------------------------------------------


def _split(items: Sequence[Any], *counts: int) -> list[list[Any]]:
  parts, at = [], 0
  for count in counts:
    parts.append(list(items[at : at + count]))
    at += count
  return [*parts, list(items[at:])]


@register(_jax.loops.scan_p, structural=True)
def _scan(ctx: Context, *args: Any, jaxpr: Any, length: int, reverse: bool, **_: Any) -> list[Any]:
  num_consts, num_carry = _jax.scan_counts(ctx.eqn.params)
  consts, carry, xs = _split(args, num_consts, num_carry)
  body, body_consts = _jax.open_jaxpr(jaxpr)
  xs = [x if is_key(x.dtype) else np.asarray(x) for x in xs]
  rows: list[Any] = [None] * int(length)
  for i in reversed(range(int(length))) if reverse else range(int(length)):
    outs = ctx.evaluate(body, body_consts, [*consts, *carry, *(x[i] for x in xs)])
    carry, rows[i] = _split(outs, num_carry)
  avals = [v.aval for v in ctx.eqn.outvars[num_carry:]]
  ys = [_stack([row[k] for row in rows], aval) for k, aval in enumerate(avals)]
  return [*carry, *ys]


def _stack(rows: Sequence[Any], aval: Any) -> Any:
  if is_key(aval.dtype):
    return jnp.stack(rows)
  return np.stack([np.asarray(row) for row in rows]) if rows else np.zeros(aval.shape, aval.dtype)


@register(_jax.loops.while_p, structural=True)
def _while(
  ctx: Context, *args: Any, cond_nconsts: int, cond_jaxpr: Any, body_nconsts: int, body_jaxpr: Any, **_: Any
) -> list[Any]:
  cond_consts, body_consts, carry = _split(args, cond_nconsts, body_nconsts)
  cond, more_cond = _jax.open_jaxpr(cond_jaxpr)
  body, more_body = _jax.open_jaxpr(body_jaxpr)
  while np.any(going := np.asarray(ctx.evaluate(cond, more_cond, [*cond_consts, *carry])[0])):
    new = ctx.evaluate(body, more_body, [*body_consts, *carry])
    carry = [_chosen(going, n, o) for n, o in zip(new, carry, strict=True)] if going.ndim else new
  return carry


def _chosen(going: np.ndarray, new: Any, old: Any) -> Any:
  """`vmap` of a loop: elements whose condition no longer holds keep their values."""
  which = going.reshape(going.shape + (1,) * (new.ndim - going.ndim))
  return (jnp if is_key(new.dtype) else np).where(which, new, old)


@register(_jax.conditionals.cond_p, structural=True)
def _cond(ctx: Context, index: Any, *args: Any, branches: Sequence[Any], **_: Any) -> list[Any]:
  chosen = min(max(int(index), 0), len(branches) - 1)
  return ctx.evaluate(*_jax.open_jaxpr(branches[chosen]), args)


def _inline(name: str) -> Any:
  """A call whose body runs in place: its jaxpr is the parameter `name`."""

  def rule(ctx: Context, *args: Any, **params: Any) -> list[Any]:
    return ctx.evaluate(*_jax.open_jaxpr(params[name]), args)

  return rule


for _primitive, _name in (
  (_jax.pjit.jit_p, "jaxpr"),
  (_jax.core.closed_call_p, "call_jaxpr"),
  (_jax.core.call_p, "call_jaxpr"),
  (_jax.eval_jaxpr_p, "jaxpr"),
  (_jax.custom_derivatives.custom_jvp_call_p, "call_jaxpr"),
  (_jax.custom_derivatives.custom_vjp_call_p, "call_jaxpr"),
  (_jax.ad_checkpoint.remat_p, "jaxpr"),
):
  register(_primitive, structural=True)(_inline(_name))
