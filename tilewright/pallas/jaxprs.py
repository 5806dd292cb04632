"""Traversal of kernel jaxprs: how the operands of an equation bind to the inputs of its nested jaxprs.

The error for writes to inputs and the elimination of unused outputs are built on it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from jax import lax

from tilewright.runtime import _jax

AbstractRef = _jax.state_types.AbstractRef
_WRITES = (_jax.state_types.WriteEffect, _jax.state_types.AccumEffect)


@dataclasses.dataclass(frozen=True)
class Inner:
  """A jaxpr nested in an equation: its position among the parameters, and the outer atom each of its inputs is bound to."""

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
  elif "bodies" in params:
    for i, body in enumerate(params["bodies"]):
      yield Inner("bodies", i, body, invars)
  else:
    for name in ("jaxpr", "call_jaxpr"):
      if isinstance(params.get(name), _jax.core.ClosedJaxpr | _jax.core.Jaxpr):
        yield Inner(name, None, params[name], invars)


def map_inner(eqn: Any, f: Callable[[Inner, Any], Any]) -> Any:
  """The equation with each nested jaxpr replaced by `f(inner, bare jaxpr)`."""
  params = dict(eqn.params)
  changed = False
  for inner in inner_jaxprs(eqn):
    body, consts = _jax.open_jaxpr(inner.jaxpr)
    new = f(inner, body)
    if new is body:
      continue
    changed = True
    closed = _jax.core.ClosedJaxpr(new, consts) if isinstance(inner.jaxpr, _jax.core.ClosedJaxpr) else new
    if inner.position is None:
      params[inner.param] = closed
    else:
      items = list(params[inner.param])
      items[inner.position] = closed
      params[inner.param] = tuple(items)
  return eqn.replace(params=params) if changed else eqn


def _drop_effects(holder: Any, drop: Callable[[Any], bool]) -> Any:
  """A jaxpr or equation without some of its effects."""
  if not any(drop(e) for e in holder.effects):
    return holder
  return holder.replace(effects={e for e in holder.effects if not drop(e)})


def resolve_axis_names(jaxpr: Any, names: Sequence[Any], program_id: Any) -> Any:
  """Turn `axis_index` of a named grid dimension into `program_id`, so that the jaxpr needs no axis environment."""
  if not any(isinstance(e, _jax.core.NamedAxisEffect) and e.name in names for e in jaxpr.effects):
    return jaxpr
  is_own = lambda e: isinstance(e, _jax.core.NamedAxisEffect) and e.name in names
  eqns = []
  for eqn in jaxpr.eqns:
    if eqn.primitive is _jax.axis_index_p and eqn.params["axis_name"] in names:
      eqn = eqn.replace(primitive=program_id, params={"axis": list(names).index(eqn.params["axis_name"])})
    eqn = map_inner(eqn, lambda _, body: resolve_axis_names(body, names, program_id))
    eqns.append(_drop_effects(eqn, is_own))
  return _drop_effects(jaxpr.replace(eqns=eqns), is_own)


def with_axis_index(jaxpr: Any, name: Any, index: int) -> Any:
  """The jaxpr at one index of a named axis: `axis_index` of that name is this number."""
  is_own = lambda e: isinstance(e, _jax.core.NamedAxisEffect) and e.name == name
  eqns = []
  for eqn in jaxpr.eqns:
    if eqn.primitive is _jax.axis_index_p and eqn.params["axis_name"] == name:
      number = _jax.core.Literal(np.int32(index), eqn.outvars[0].aval)
      params = {"new_dtype": np.dtype(np.int32), "weak_type": False, "sharding": None}
      eqn = eqn.replace(primitive=lax.convert_element_type_p, invars=[number], params=params)
    eqn = map_inner(eqn, lambda _, body: with_axis_index(body, name, index))
    eqns.append(_drop_effects(eqn, is_own))
  return _drop_effects(jaxpr.replace(eqns=eqns), is_own)


def with_lines(jaxpr: Any, around: Any = None) -> Any:
  """The jaxpr in which each equation has a line of the user's program, for messages and dumps.

  JAX traces the body of a loop or of `run_scoped` separately. If a library function such as `sync_copy` made that body, the tracebacks of
  its equations have no user frame: they get the traceback of the equation `around` them.
  """
  eqns = []
  for eqn in jaxpr.eqns:
    info = eqn.source_info
    if _jax.source_info_util.user_frame(info.traceback) is None and around is not None:
      info = info.replace(traceback=around)
      eqn = eqn.replace(source_info=info)
    eqns.append(map_inner(eqn, lambda _, body: with_lines(body, info.traceback)))
  same = all(a is b for a, b in zip(eqns, jaxpr.eqns))
  return jaxpr if same else jaxpr.replace(eqns=eqns)


def without(jaxpr: Any, primitives: Sequence[Any]) -> Any:
  """The jaxpr without the equations of the given primitives, which must have no results."""
  kept = [map_inner(e, lambda _, body: without(body, primitives)) for e in jaxpr.eqns if e.primitive not in primitives]
  same = len(kept) == len(jaxpr.eqns) and all(a is b for a, b in zip(kept, jaxpr.eqns))
  return jaxpr if same else jaxpr.replace(eqns=kept)


def written_atoms(eqn: Any) -> list[Any]:
  return [e.input for e in eqn.effects if isinstance(e, _WRITES)]


def written_inputs(jaxpr: Any) -> set[Any]:
  """The refs among the inputs that a jaxpr writes to."""
  return {e.input for e in jaxpr.effects if isinstance(e, _WRITES)}


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


# --- elimination of dead stores ----------------------------------------------------------------------------------


_STORES = {"swap", "masked_swap", "addupdate"}


def _is_unread_write(eqn: Any, unused: set[Any]) -> bool:
  """Whether this is a store whose old value is unused: removable if its ref, the first operand, is dead."""
  return eqn.primitive.name in _STORES and all(type(v) is _jax.core.DropVar or v in unused for v in eqn.outvars)


def _observed(jaxpr: Any, seen: Callable[[Any], None], unused: set[Any]) -> None:
  for eqn in jaxpr.eqns:
    inners = list(inner_jaxprs(eqn))
    if inners:
      bound: set[Any] = set()
      for inner in inners:
        body = _jax.open_jaxpr(inner.jaxpr)[0]
        outer_of = dict(zip(body.invars, inner.outer))
        own: set[Any] = set()
        _observed(body, own.add, _unused(body))
        for v in own:
          if isinstance(outer := outer_of.get(v, v), _jax.core.Var):  # a number may be what a ref inside begins with
            seen(outer)
        bound.update(a for a in inner.outer if isinstance(a, _jax.core.Var))
      rest = [a for a in eqn.invars if isinstance(a, _jax.core.Var) and a not in bound]
    else:
      looked_at = eqn.invars[1:] if _is_unread_write(eqn, unused) else eqn.invars
      rest = [a for a in looked_at if isinstance(a, _jax.core.Var)]
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
    if _is_unread_write(eqn, unused) and eqn.invars[0] in dead:
      continue

    def prune(inner: Inner, body: Any) -> Any:
      bound = zip(inner.outer, body.invars)
      own_dead = {own for outer, own in bound if isinstance(outer, _jax.core.Var) and outer in dead}
      return _without_writes(body, own_dead) if own_dead else body

    eqns.append(_drop_effects(map_inner(eqn, prune), lambda e: isinstance(e, _WRITES) and e.input in dead))
  return _drop_effects(jaxpr.replace(eqns=eqns), lambda e: isinstance(e, _WRITES) and e.input in dead)


def eliminate_dead_code(jaxpr: Any, live_refs: Sequence[bool]) -> Any:
  """Remove computation without effects, and stores to refs that are neither live nor ever read.

  Iterates: once a store is removed, the computation of the stored value may be dead too, and with it the reads of other refs.
  """
  while True:
    with _jax.config._check_vma(False):  # as while it was traced: JAX may check what comes out
      jaxpr, _ = _jax.pe.dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars), instantiate=True)
    observed: set[Any] = set()
    _observed(jaxpr, observed.add, _unused(jaxpr))
    written = {e.input for e in jaxpr.effects if isinstance(e, _WRITES)}
    dead = {v for v, live in zip(jaxpr.invars, live_refs) if not live and v not in observed and v in written}
    if not dead:
      return jaxpr
    jaxpr = _without_writes(jaxpr, dead)
