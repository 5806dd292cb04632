"""Walking kernel jaxprs: how the operands of an equation bind to the inputs of the jaxprs inside it.

On this rest the error for writes to inputs, and the removal of outputs that nobody uses.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tilewright.runtime import _jax

AbstractRef = _jax.state_types.AbstractRef
_WRITES = (_jax.state_types.WriteEffect, _jax.state_types.AccumEffect)


@dataclasses.dataclass(frozen=True)
class Inner:
  """A jaxpr inside an equation: where it is among the parameters, and the outer atom each of its inputs is bound to."""

  param: str
  position: int | None
  jaxpr: Any
  outer: tuple[Any, ...]


def inner_jaxprs(eqn: Any) -> Iterator[Inner]:
  params, invars = eqn.params, tuple(eqn.invars)
  if "branches" in params:
    for i, branch in enumerate(params["branches"]):
      yield Inner("branches", i, branch, invars[1:])
  elif "body_jaxpr" in params and "cond_jaxpr" in params:
    nc, nb = params["cond_nconsts"], params["body_nconsts"]
    yield Inner("cond_jaxpr", None, params["cond_jaxpr"], invars[:nc] + invars[nc + nb :])
    yield Inner("body_jaxpr", None, params["body_jaxpr"], invars[nc:])
  else:
    for name in ("jaxpr", "call_jaxpr"):
      if isinstance(params.get(name), _jax.core.ClosedJaxpr | _jax.core.Jaxpr):
        yield Inner(name, None, params[name], invars)


def written_atoms(eqn: Any) -> list[Any]:
  return [e.input for e in eqn.effects if isinstance(e, _WRITES)]


def find_write(jaxpr: Any, var: Any) -> Any | None:
  """The innermost equation that writes to a ref, for its source line."""
  for eqn in jaxpr.eqns:
    if var not in [a for a in written_atoms(eqn) if isinstance(a, _jax.core.Var)]:
      continue
    for inner in inner_jaxprs(eqn):
      body = _jax.open_jaxpr(inner.jaxpr)[0]
      for outer, own in zip(inner.outer, body.invars):
        if outer is var and (found := find_write(body, own)) is not None:
          return found
    return eqn
  return None


# --- removal of writes nobody reads ------------------------------------------------------------------------------


def _is_plain_write(eqn: Any) -> bool:
  """A store whose old value nobody wants: removable if its ref is dead."""
  if eqn.primitive is _jax.state_primitives.addupdate_p:
    return True
  if eqn.primitive is _jax.state_primitives.swap_p or eqn.primitive.name == "masked_swap":
    return all(type(v) is _jax.core.DropVar for v in eqn.outvars)
  return False


def _observed(jaxpr: Any, seen: Callable[[Any], None], unused: set[Any]) -> None:
  for eqn in jaxpr.eqns:
    inners = list(inner_jaxprs(eqn))
    if inners:
      bound: set[Any] = set()
      for inner in inners:
        body = _jax.open_jaxpr(inner.jaxpr)[0]
        outer_of = dict(zip(body.invars, inner.outer))
        _observed(body, lambda v, m=outer_of: seen(m.get(v, v)), _unused(body))
        bound.update(a for a in inner.outer if isinstance(a, _jax.core.Var))
      rest = [a for a in eqn.invars if isinstance(a, _jax.core.Var) and a not in bound]
    else:
      write_only = _is_plain_write(eqn) or (
        eqn.primitive is _jax.state_primitives.swap_p and all(v in unused for v in eqn.outvars)
      )
      rest = [a for a in eqn.invars[1 if write_only else 0 :] if isinstance(a, _jax.core.Var)]
    for atom in rest:
      if isinstance(atom.aval, AbstractRef):
        seen(atom)


def _unused(jaxpr: Any) -> set[Any]:
  used = {a for eqn in jaxpr.eqns for a in eqn.invars if isinstance(a, _jax.core.Var)}
  used |= {a for a in jaxpr.outvars if isinstance(a, _jax.core.Var)}
  return {v for eqn in jaxpr.eqns for v in eqn.outvars if v not in used}


def _without_writes(jaxpr: Any, dead: set[Any]) -> Any:
  unused = _unused(jaxpr)
  eqns = []
  for eqn in jaxpr.eqns:
    is_write = _is_plain_write(eqn) or (
      eqn.primitive is _jax.state_primitives.swap_p and all(v in unused for v in eqn.outvars)
    )
    if is_write and eqn.invars[0] in dead:
      continue
    params = dict(eqn.params)
    changed = False
    for inner in inner_jaxprs(eqn):
      body, consts = _jax.open_jaxpr(inner.jaxpr)
      inner_dead = {own for outer, own in zip(inner.outer, body.invars) if isinstance(outer, _jax.core.Var) and outer in dead}
      if not inner_dead:
        continue
      new = _without_writes(body, inner_dead)
      closed = _jax.core.ClosedJaxpr(new, consts) if isinstance(inner.jaxpr, _jax.core.ClosedJaxpr) else new
      if inner.position is None:
        params[inner.param] = closed
      else:
        items = list(params[inner.param])
        items[inner.position] = closed
        params[inner.param] = tuple(items)
      changed = True
    if changed:
      kept = {e for e in eqn.effects if not (isinstance(e, _WRITES) and e.input in dead)}
      eqn = eqn.replace(params=params, effects=kept)
    eqns.append(eqn)
  kept = {e for e in jaxpr.effects if not (isinstance(e, _WRITES) and e.input in dead)}
  return jaxpr.replace(eqns=eqns, effects=kept)


def eliminate_dead_code(jaxpr: Any, live_refs: Sequence[bool]) -> Any:
  """Drop computation without effect, and writes to refs that are neither live nor ever read.

  Iterates: without the write, what computed the written value may be dead too, and with it the reads of other refs.
  """
  while True:
    jaxpr, _ = _jax.pe.dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars), instantiate=True)
    observed: set[Any] = set()
    _observed(jaxpr, observed.add, _unused(jaxpr))
    written = {e.input for e in jaxpr.effects if isinstance(e, _WRITES)}
    dead = {v for v, live in zip(jaxpr.invars, live_refs) if not live and v not in observed and v in written}
    if not dead:
      return jaxpr
    jaxpr = _without_writes(jaxpr, dead)
