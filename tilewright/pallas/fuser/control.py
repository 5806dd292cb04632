"""Rules of loops and branches: the body is split into blocks like the whole program.

A loop carry is split in the same way before and after every iteration, so pulling the view of a carried
output through the body must yield the same view of the carried input: a loop-invariant spec. Scanned arrays are read
whole along the dimension that is scanned; the loop runs inside the block.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from tilewright.pallas.fuser import views
from tilewright.pallas.fuser.prefetch import scalar_prefetch_p
from tilewright.pallas.fuser.push_rules import derived, same_specs, shape_of
from tilewright.pallas.fuser.table import Blocks, Pulled, Site, Usage, define
from tilewright.pallas.fuser.views import UNUSED, View, covers
from tilewright.pallas.specs import no_block_spec
from tilewright.runtime import _jax
from tilewright.tile.grid import Blocked


def _only(site: Site, found: Sequence[View], shape: Sequence[int]) -> Any:
  if not found:
    return UNUSED
  if len(found) > 1:
    raise site.refuse(
      found[0], f"inside, a value is needed in blocks of {found[1].block_shape} too", "Use the value in one way only."
    )
  return found[0]


def _invariant(site: Site, body: Any, num_consts: int, num_carry: int, carry: list[Any], rest: Sequence[Any]) -> Any:
  """Views of what is carried that a body keeps: starting with those asked for, add what the body itself needs to
  compute them."""
  avals = [v.aval for v in _jax.open_jaxpr(body)[0].invars]
  known = [site.scalar(a) for a in site.eqn.invars[:num_consts]] + [None] * (len(avals) - num_consts)
  for _ in range(num_carry + 1):
    program = site.inner(body, [*carry, *rest], known)
    changed = False
    for i in range(num_carry):
      aval = avals[num_consts + i]
      for found in program.in_views[num_consts + i]:
        if carry[i] is UNUSED:
          carry[i], changed = found, True
        elif not site.same(carry[i], found, aval.shape):
          raise site.refuse(
            carry[i],
            f"the loop carry, {aval.str_short(short_dtypes=True)}, would need blocks of "
            f"{found.block_shape} before an iteration "
            f"and of {carry[i].block_shape} after it",
            "Make the block cover the dimensions that an iteration mixes.",
          )
    if not changed:
      return program
  raise AssertionError("views of a loop did not settle")


def _block_args(program: Any, values: Sequence[Any]) -> list[list[Any]]:
  return [[v] if found else [] for v, found in zip(values, program.in_views)]


# --- while -------------------------------------------------------------------------------------------------------


def _while_parts(site: Site) -> tuple[int, int]:
  return site.params["cond_nconsts"], site.params["body_nconsts"]


def _pull_while(site: Site, out_views: Sequence[Any]) -> Pulled:
  num_cond, num_body = _while_parts(site)
  in_avals = site.in_avals
  carry = list(out_views)
  cond = site.params["cond_jaxpr"]
  # The condition is one number for all blocks: it must not depend on what is cut.
  cond_known = [site.scalar(a) for a in site.eqn.invars[:num_cond]] + [None] * len(carry)
  test = site.inner(cond, [views.whole(_jax.open_jaxpr(cond)[0].outvars[0].aval)], cond_known)
  for i, found in enumerate(test.in_views[num_cond:]):
    for view in found:
      if carry[i] is UNUSED:
        carry[i] = view
      elif not site.same(carry[i], view, site.out_avals[i].shape):
        raise site.refuse(
          carry[i],
          "its condition reads a value that is split into blocks",
          "Carry what the condition needs as a separate value.",
        )
  body_site_vars = site.eqn.invars[num_cond:]
  of_body = dataclasses.replace(site, eqn=site.eqn.replace(invars=body_site_vars))
  program = _invariant(of_body, site.params["body_jaxpr"], num_body, len(carry), carry, [])
  cond_consts = [_only(site, f, a.shape) for f, a in zip(test.in_views[:num_cond], in_avals)]
  body_consts = [_only(site, f, a.shape) for f, a in zip(program.in_views[:num_body], in_avals[num_cond:])]
  return Pulled([*cond_consts, *body_consts, *carry], (test, program, tuple(carry)))


def _evaluate_while(blocks: Blocks, *args: Any) -> list[Any]:
  num_cond, num_body = _while_parts(blocks.site)
  test, program, carry = blocks.state
  cond_consts, body_consts, init = args[:num_cond], args[num_cond : num_cond + num_body], args[num_cond + num_body :]
  live = [i for i, v in enumerate(carry) if v is not UNUSED]

  def full(state: Sequence[Any]) -> list[Any]:
    found: list[Any] = [None] * len(carry)
    for i, x in zip(live, state):
      found[i] = x
    return found

  at = blocks.program_indices
  cond = lambda state: test.run(_block_args(test, [*cond_consts, *full(state)]), at)[0].reshape(())

  def body(state: Sequence[Any]) -> list[Any]:
    outs = program.run(_block_args(program, [*body_consts, *full(state)]), at)
    return [jnp.asarray(outs[i], x.dtype).reshape(x.shape) for i, x in zip(live, state)]

  return full(lax.while_loop(cond, body, [jnp.asarray(init[i]) for i in live]))


# --- scan --------------------------------------------------------------------------------------------------------


def _scan_parts(site: Site) -> tuple[int, int]:
  return _jax.scan_counts(site.params)


def _pull_scan(site: Site, out_views: Sequence[Any]) -> Pulled:
  num_consts, num_carry = _scan_parts(site)
  length = site.params["length"]
  carry, ys = list(out_views[:num_carry]), out_views[num_carry:]
  row_views = []
  for view in ys:
    if view is UNUSED or view.block_shape is None:
      row_views.append(view)
    elif not covers(view.block_shape[0], length):
      raise site.refuse(view, "the scanned dimension is split into blocks", f"Make its block size {length}.")
    else:
      row_views.append(view.then(tuple(view.block_shape)[1:], lambda i: tuple(i)[1:]))
  program = _invariant(site, site.params["jaxpr"], num_consts, num_carry, carry, row_views)
  in_avals = site.in_avals
  consts = [_only(site, f, a.shape) for f, a in zip(program.in_views[:num_consts], in_avals)]
  xs: list[Any] = []
  first = num_consts + num_carry
  for found, aval in zip(program.in_views[first:], in_avals[first:]):
    view = _only(site, found, aval.shape)
    if view is UNUSED:
      xs.append(view)
    elif view.block_shape is None:
      xs.append(views.whole(aval, view))
    else:
      xs.append(view.then((Blocked(length), *view.block_shape), lambda i: (0, *i)))
  return Pulled([*consts, *carry, *xs], (program, tuple(carry)))


def _evaluate_scan(blocks: Blocks, *args: Any) -> list[Any]:
  num_consts, num_carry = _scan_parts(blocks.site)
  program, carry = blocks.state
  consts, init, xs = args[:num_consts], args[num_consts : num_consts + num_carry], args[num_consts + num_carry :]
  live = [i for i, v in enumerate(carry) if v is not UNUSED]
  live_xs = [i for i, x in enumerate(xs) if x is not None]
  ys = [i for i, v in enumerate(blocks.out_views[num_carry:]) if v is not UNUSED]

  def spread(places: Sequence[int], items: Sequence[Any], n: int) -> list[Any]:
    found: list[Any] = [None] * n
    for i, x in zip(places, items):
      found[i] = x
    return found

  def body(state: Any, rows: Any) -> Any:
    values = [*consts, *spread(live, state, num_carry), *spread(live_xs, rows, len(xs))]
    outs = program.run(_block_args(program, values), blocks.program_indices)
    new = [jnp.asarray(outs[i], x.dtype).reshape(x.shape) for i, x in zip(live, state)]
    return new, [outs[num_carry + i] for i in ys]

  state, rows = lax.scan(
    body,
    [jnp.asarray(init[i]) for i in live],
    [xs[i] for i in live_xs],
    length=blocks.params["length"],
    reverse=blocks.params["reverse"],
    unroll=blocks.params.get("unroll", 1),
  )
  num_ys = len(blocks.out_views) - num_carry
  return [*spread(live, state, num_carry), *spread(ys, rows, num_ys)]


# --- cond --------------------------------------------------------------------------------------------------------


def _pull_cond(site: Site, out_views: Sequence[Any]) -> Pulled:
  known = [site.scalar(a) for a in site.eqn.invars[1:]]
  programs = [site.inner(b, out_views, known) for b in site.params["branches"]]
  found = []
  for i, aval in enumerate(site.in_avals[1:]):
    wanted: list[View] = []
    for program in programs:
      for view in program.in_views[i]:
        if not any(site.same(view, other, aval.shape) for other in wanted):
          wanted.append(view)
    found.append(_only(site, wanted, aval.shape))
  return Pulled([views.whole(site.in_avals[0]), *found], programs)


def _evaluate_cond(blocks: Blocks, which: Any, *args: Any) -> list[Any]:
  used = [i for i, v in enumerate(blocks.out_views) if v is not UNUSED]
  given = [i for i, x in enumerate(args) if x is not None]

  def branch(program: Any) -> Any:
    def run(*operands: Any) -> list[Any]:
      values: list[Any] = [None] * len(args)
      for i, x in zip(given, operands):
        values[i] = x
      outs = program.run(_block_args(program, values), blocks.program_indices)
      return [jnp.asarray(outs[i], blocks.site.out_avals[i].dtype).reshape(blocks.out_sizes(i)) for i in used]

    return run

  which = jnp.asarray(which, jnp.int32).reshape(())
  outs = lax.switch(which, [branch(p) for p in blocks.state], *[args[i] for i in given])
  found: list[Any] = [None] * len(blocks.out_views)
  for i, x in zip(used, outs):
    found[i] = x
  return found


# --- push --------------------------------------------------------------------------------------------------------


def _push_carry(site: Site, carry: Sequence[Any], after: Sequence[Any]) -> list[Any]:
  """The specs of what is carried, which an iteration must leave as they are."""
  found = []
  for before, now in zip(carry, after):
    if before is not no_block_spec and now is not no_block_spec and not same_specs(before, now, site.grid_len):
      raise site.refuse(
        before,
        f"an iteration turns this into blocks of {now.block_shape}",
        "Make the block cover the dimensions that it mixes.",
      )
    found.append(now if before is no_block_spec else before)
  return found


def _push_while(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  num_cond, num_body = _while_parts(site)
  carry = specs[num_cond + num_body :]
  return _push_carry(site, carry, site.inner(site.params["body_jaxpr"], specs[num_cond:]))


def _push_scan(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  num_consts, num_carry = _scan_parts(site)
  length, first = site.params["length"], num_consts + num_carry
  rows: list[Any] = []
  for spec, aval in zip(specs[first:], site.in_avals[first:]):
    if spec is no_block_spec:
      rows.append(spec)
      continue
    shape = shape_of(spec, aval)
    if not covers(shape[0], length):
      raise site.refuse(spec, "the scanned dimension is split into blocks", f"Make its block size {length}.")
    rows.append(derived(spec, shape[1:], lambda i: i[1:]))
  outs = site.inner(site.params["jaxpr"], [*specs[:first], *rows])
  ys = [
    s if s is no_block_spec else derived(s, (length, *(s.block_shape or ())), lambda i: (0, *i))
    for s in outs[num_carry:]
  ]
  return [*_push_carry(site, specs[num_consts:first], outs[:num_carry]), *ys]


def _push_cond(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  first, *others = [site.inner(b, specs[1:]) for b in site.params["branches"]]
  for other in others:
    first = _push_carry(site, first, other)
  return first


# --- scalars that are prefetched ---------------------------------------------------------------------------------


def _pull_prefetch(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  return [UNUSED]


def _evaluate_prefetch(blocks: Blocks, _: Any) -> list[Any]:
  prefetched = blocks.program_indices[0].prefetched
  return [jnp.asarray(prefetched.value(blocks.params["index"], blocks.site.out_avals[0]))]


def _uses_what_is_pulled(site: Site, used: Sequence[bool]) -> Sequence[Usage]:
  """Which operands a body needs is known when it has been pulled; its rule leaves the others out."""
  return [Usage.VALUE if any(used) else Usage.NONE] * len(site.eqn.invars)


define("while", pull=_pull_while, evaluate=_evaluate_while, push=_push_while, usage=_uses_what_is_pulled)
define("scan", pull=_pull_scan, evaluate=_evaluate_scan, push=_push_scan, usage=_uses_what_is_pulled)
define("cond", pull=_pull_cond, evaluate=_evaluate_cond, push=_push_cond, usage=_uses_what_is_pulled)
define(scalar_prefetch_p.name, pull=_pull_prefetch, evaluate=_evaluate_prefetch)
