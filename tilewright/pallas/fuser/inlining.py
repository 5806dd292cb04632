"""Inlining of programs into the form that rules work on: one flat list of equations over arrays.

Calls (`jit`, custom derivatives, `remat`) are inlined, and values of user-defined types are replaced by the
arrays they consist of, so that there is one rule for each operation and none for call primitives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from tilewright.runtime import _jax
from tilewright.tile.grid import source_line

core = _jax.core

# The parameter that holds the called jaxpr, by primitive.
CALLS = {
  "jit": "jaxpr",
  "pjit": "jaxpr",
  "remat2": "jaxpr",
  "checkpoint": "jaxpr",
  "eval_jaxpr": "jaxpr",
  "closed_call": "call_jaxpr",
  "core_call": "call_jaxpr",
  "call": "call_jaxpr",
  "custom_jvp_call": "call_jaxpr",
  "custom_vjp_call": "call_jaxpr",
}


def on_leaves(f: Callable[..., Any], in_tree: Any) -> tuple[Callable[..., list[Any]], list[Any]]:
  """A function of the leaves of its arguments to the leaves of its results, and a list to which a call adds the
  structure of those."""
  trees: list[Any] = []

  def flat(*values: Any) -> list[Any]:
    args, kwargs = jax.tree.unflatten(in_tree, values)
    leaves, tree = jax.tree.flatten(f(*args, **kwargs))
    trees.append(tree)
    return leaves

  return flat, trees


def trace_flat(f: Callable[..., Any], avals: Sequence[Any], info: Any = None) -> tuple[Any, tuple[Any, ...]]:
  """The flat jaxpr of a function of leaves to leaves, without dead code, and the values it closes over: its first
  inputs."""
  closed = _jax.trace(f, avals, info, what="fusion")
  jaxpr, consts = _lowered(closed) if closed.jaxpr.is_high else _jax.detach(closed)
  jaxpr, consts = inline(jaxpr, consts)
  return without_dead_code(jaxpr, consts)


def without_dead_code(jaxpr: Any, consts: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
  """What the outputs need. Constants that they do not are dropped; inputs stay."""
  keep = [False] * len(consts) + [True] * (len(jaxpr.invars) - len(consts))
  jaxpr, used = _jax.pe.dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars), instantiate=keep)
  return jaxpr, tuple(c for c, u in zip(consts, used) if u)


def _lowered(closed: Any) -> tuple[Any, tuple[Any, ...]]:
  """The jaxpr over arrays of one over user-defined types. What it closes over is taken apart too."""
  detached, consts = _jax.detach(closed)
  jaxpr, more = _jax.detach(_jax.pe.lower_jaxpr2(_jax.pe.close_jaxpr(detached)))
  return jaxpr, (*more, *(x for c in consts for x in lower_value(c)))


def lower_value(x: Any) -> list[Any]:
  """The arrays that a value consists of."""
  aval = core.typeof(x)
  return list(aval.lower_val(x)) if getattr(aval, "is_high", False) else [x]


def inline(
  jaxpr: Any, consts: Sequence[Any] = (), only: Callable[[Any], bool] = lambda eqn: True
) -> tuple[Any, tuple[Any, ...]]:
  """Replace calls for which `only` holds by the equations they call.

  Takes an open jaxpr whose first inputs are `consts`, and gives such a pair: constants of what was called come before
  the others.
  """
  if not any(e.primitive.name in CALLS and only(e) for e in jaxpr.eqns):
    return jaxpr, tuple(consts)
  fresh = core.Var
  hoisted: list[Any] = []
  values: list[Any] = []
  eqns: list[Any] = []

  def read(env: dict[Any, Any], atom: Any) -> Any:
    return atom if isinstance(atom, core.Literal) else env.get(atom, atom)

  def walk(inner: Any, env: dict[Any, Any], call: Any) -> None:
    for eqn in inner.eqns:
      if call is not None and not source_line(eqn):  # inside of a library function: the user's line is that of the call
        eqn = eqn.replace(source_info=call.source_info)
      args = [read(env, a) for a in eqn.invars]
      if eqn.primitive.name in CALLS and only(eqn):
        body, body_consts = _jax.detach(eqn.params[CALLS[eqn.primitive.name]])
        new = [fresh(v.aval) for v in body.invars[: len(body_consts)]]
        hoisted.extend(new)
        values.extend(body_consts)
        own: dict[Any, Any] = dict(zip(body.invars, [*new, *args], strict=True))
        walk(body, own, eqn)
        env.update(zip(eqn.outvars, (read(own, a) for a in body.outvars)))
        continue
      outs = eqn.outvars
      if call is not None:
        outs = [v if isinstance(v, core.DropVar) else fresh(v.aval) for v in outs]
        env.update(zip(eqn.outvars, outs))
      eqns.append(eqn.replace(invars=args, outvars=outs))

  top: dict[Any, Any] = {}
  walk(jaxpr, top, None)
  outvars = [read(top, a) for a in jaxpr.outvars]
  info = jaxpr.debug_info.with_unknown_names()
  flat = jaxpr.replace(invars=[*hoisted, *jaxpr.invars], eqns=eqns, outvars=outvars, debug_info=info)
  return flat, (*values, *consts)


def contains(jaxpr: Any, primitive: Any) -> bool:
  """Whether a primitive is used in a jaxpr or in what it calls."""
  body, _ = _jax.open_jaxpr(jaxpr)
  for eqn in body.eqns:
    if eqn.primitive is primitive:
      return True
    called = CALLS.get(eqn.primitive.name)
    if called is not None and contains(eqn.params[called], primitive):
      return True
  return False


def evaluate_equation(eqn: Any, args: Sequence[Any], **changed: Any) -> list[Any]:
  """The results of an equation for other operands, with some of its parameters changed."""
  params = eqn.primitive.get_bind_params({**eqn.params, **changed})
  out = eqn.primitive.bind(*args, **params)
  return list(out) if eqn.primitive.multiple_results else [out]
