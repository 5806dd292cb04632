"""Functionalisation of control flow with refs: control flow on values.

A loop or branch that may change a ref carries the ref's value through. The cells an equation can reach are those among its
operands and the global ones; inside the body they are replaced by fresh cells, and after it they take the values that come out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.runtime import _jax
from tilewright.target.xla.evaluate import Cell, Context, Instance, register, uses_language
from tilewright.target.xla.self_updates import Contents
from tilewright.tile.grid import source_line


class Threaded:
  """The cells that a body can reach, as values to carry through it."""

  def __init__(self, ctx: Context, args: Sequence[Any], unrolled: bool = False):
    self.ctx = ctx
    self.cells = list(
      {id(c): c for c in [*(a for a in args if isinstance(a, Cell)), *ctx.instance.globals.values()]}.values()
    )
    contents = [cell.contents for cell in self.cells]
    if unrolled:  # what one step read may be what the next one gets, as a carry or in a ref
      everything = ctx.around.union(*(c.identities | c.sources for c in contents))
      self.ctx = dataclasses.replace(ctx, around=everything)
      for c in contents:
        c.add(sources=everything)
    self.ran: list[list[Contents]] = []  # of each run of a body: what its cells hold after it

  @property
  def values(self) -> list[Any]:
    return [cell.value for cell in self.cells]

  def update(self, values: Sequence[Any]) -> None:
    """After the loop or branch: the cells have these values, and what its bodies gave them."""
    for cell, value in zip(self.cells, values, strict=True):
      cell.value = value
    for inner in self.ran:
      for cell, after in zip(self.cells, inner, strict=True):
        cell.contents.add(after.identities, after.sources)

  def run(self, closed: Any, values: Sequence[Any], args: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Evaluate a body on `args` with the cells at `values`; returns its results and the cells' new values."""
    jaxpr, consts = _jax.open_jaxpr(closed)
    fresh = {
      id(cell): Cell(value, cell.aval, contents=cell.contents.copy())
      for cell, value in zip(self.cells, values, strict=True)
    }
    self.ran.append([cell.contents for cell in fresh.values()])
    inner: Instance = self.ctx.instance.with_globals({k: fresh[id(c)] for k, c in self.ctx.instance.globals.items()})
    outs = self.ctx.evaluate(jaxpr, consts, [fresh[id(a)] if isinstance(a, Cell) else a for a in args], inner)
    return outs, [fresh[id(cell)].value for cell in self.cells]


def _split(items: Sequence[Any], *counts: int) -> list[list[Any]]:
  parts, at = [], 0
  for count in counts:
    parts.append(list(items[at : at + count]))
    at += count
  return [*parts, list(items[at:])]


@register(_jax.loops.scan_p)
def _scan(ctx: Context, *args: Any, jaxpr: Any, length: int, reverse: bool, unroll: Any, **_: Any) -> list[Any]:
  num_consts, num_carry = _jax.scan_counts(ctx.eqn.params)
  consts, init, xs = _split(args, num_consts, num_carry)
  threaded = Threaded(ctx, consts, unrolled=unroll is True or int(unroll) > 1)

  def body(state: Any, x: Any) -> Any:
    values, carry = state
    outs, values = threaded.run(jaxpr, values, [*consts, *carry, *x])
    carry, ys = _split(outs, num_carry)
    return (values, carry), ys

  steps = int(length) if isinstance(length, int) else None
  if steps is not None and (unroll is True or (unroll is not False and steps <= int(unroll))):
    state: Any = (threaded.values, list(init))
    rows: list[Any] = [None] * steps
    for step in reversed(range(steps)) if reverse else range(steps):
      state, rows[step] = body(state, [x[step] for x in xs])
    ys_avals = ctx.eqn.outvars[num_carry:]
    ys = [
      jnp.stack([row[i] for row in rows]) if steps else jnp.zeros(v.aval.shape, v.aval.dtype)
      for i, v in enumerate(ys_avals)
    ]
  else:
    state, ys = lax.scan(body, (threaded.values, list(init)), xs, length=length, reverse=reverse, unroll=unroll)
  values, carry = state
  threaded.update(values)
  return [*carry, *ys]


@register(_jax.loops.while_p)
def _while(
  ctx: Context, *args: Any, cond_nconsts: int, cond_jaxpr: Any, body_nconsts: int, body_jaxpr: Any, **_: Any
) -> list[Any]:
  cond_consts, body_consts, init = _split(args, cond_nconsts, body_nconsts)
  threaded = Threaded(ctx, [*cond_consts, *body_consts])
  # `vmap` of a loop: elements whose condition no longer holds keep their values.
  batched = bool(cond_jaxpr.out_avals[0].shape)

  if any(isinstance(e, _jax.state_types.WriteEffect | _jax.state_types.AccumEffect) for e in cond_jaxpr.effects):
    if batched:
      raise errors.EffectError(
        f"The condition of the while_loop at {source_line(ctx.eqn)} writes to a ref, which it cannot under vmap: write in the body."
      )

    def with_condition(values: Any, carry: Any) -> Any:  # ahead of each step, as what it writes must be carried
      (continues,), values = threaded.run(cond_jaxpr, values, [*cond_consts, *carry])
      return continues, values, carry

    def step(state: Any) -> Any:
      _, values, carry = state
      carry, values = threaded.run(body_jaxpr, values, [*body_consts, *carry])
      return with_condition(values, carry)

    _, values, carry = lax.while_loop(lambda state: state[0], step, with_condition(threaded.values, list(init)))
    threaded.update(values)
    return carry

  def going(state: Any) -> Any:
    values, carry = state
    return threaded.run(cond_jaxpr, values, [*cond_consts, *carry])[0][0]

  def cond(state: Any) -> Any:
    return jnp.any(going(state)) if batched else going(state)

  def body(state: Any) -> Any:
    values, carry = state
    new, values = threaded.run(body_jaxpr, values, [*body_consts, *carry])
    if batched:
      which = going(state)
      new = [
        lax.select(lax.broadcast_in_dim(which, n.shape, range(which.ndim)), n, o)
        for n, o in zip(new, carry, strict=True)
      ]
    return values, new

  values, carry = lax.while_loop(cond, body, (threaded.values, list(init)))
  threaded.update(values)
  return carry


@register(_jax.conditionals.cond_p)
def _cond(ctx: Context, index: Any, *args: Any, branches: Sequence[Any], **_: Any) -> list[Any]:
  threaded = Threaded(ctx, args)
  plain = [a for a in args if not isinstance(a, Cell)]

  def branch(closed: Any) -> Any:
    def run(values: Any, plain: Any) -> Any:
      rest = iter(plain)
      return threaded.run(closed, values, [a if isinstance(a, Cell) else next(rest) for a in args])

    return run

  outs, values = lax.switch(index, [branch(b) for b in branches], threaded.values, plain)
  threaded.update(values)
  return outs


def _inline(name: str) -> Any:
  """A call whose body runs in place: its jaxpr is the parameter `name`."""

  def rule(ctx: Context, *args: Any, **params: Any) -> list[Any]:
    jaxpr, consts = _jax.open_jaxpr(params[name])
    return ctx.evaluate(jaxpr, consts, args)

  return rule


register(_jax.pjit.jit_p)(_inline("jaxpr"))
register(_jax.core.closed_call_p)(_inline("call_jaxpr"))
register(_jax.core.call_p)(_inline("call_jaxpr"))
register(_jax.eval_jaxpr_p)(_inline("jaxpr"))


def _keep(name: str) -> Any:
  """A call that says how to differentiate its body: bound as it is, so that derivatives of the kernel still see that. Only where
  the body uses refs or the language itself does it run in place."""
  inline = _inline(name)

  def rule(ctx: Context, *args: Any, **params: Any) -> Any:
    if any(isinstance(a, Cell) for a in args) or uses_language(_jax.open_jaxpr(params[name])[0]):
      return inline(ctx, *args, **params)
    return ctx.eqn.primitive.bind(*args, **ctx.eqn.primitive.get_bind_params(params))

  return rule


KEPT = {
  _jax.custom_derivatives.custom_jvp_call_p: "call_jaxpr",
  _jax.custom_derivatives.custom_vjp_call_p: "call_jaxpr",
  _jax.ad_checkpoint.remat_p: "jaxpr",
}
for _primitive, _name in KEPT.items():
  register(_primitive)(_keep(_name))


@register(_jax.discharge.run_state_p)
def _run_state(ctx: Context, *args: Any, jaxpr: Any, **_: Any) -> list[Any]:
  cells = [a if isinstance(a, Cell) else Cell(a, v.aval) for a, v in zip(args, jaxpr.invars)]
  for cell in cells:
    cell.contents.add(sources=ctx.around)
  ctx.evaluate(jaxpr, (), cells)
  return [a if isinstance(a, Cell) else cell.value for a, cell in zip(args, cells)]
