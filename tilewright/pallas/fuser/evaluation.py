"""Evaluation of a function operation by operation, inside a kernel."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

from tilewright import errors
from tilewright.pallas.fuser.inlining import evaluate_equation, on_leaves, trace_flat
from tilewright.runtime import _jax
from tilewright.tile.grid import source_line

core = _jax.core


def evaluate(f: Callable[..., Any], *, allow_transpose: bool = True) -> Callable[..., Any]:
  """The same function, computed operation by operation.

  Args:
    f: the function.
    allow_transpose: whether it may transpose; kernels whose memory layout would make that expensive say no.
  """

  @functools.wraps(f)
  def wrapper(*args: Any, **kwargs: Any) -> Any:
    leaves, in_tree = jax.tree.flatten((args, kwargs))
    flat, trees = on_leaves(f, in_tree)

    info = _jax.api_util.debug_info("evaluate", f, args, kwargs).with_unknown_names()
    jaxpr, consts = trace_flat(flat, [core.typeof(x) for x in leaves], info)
    env: dict[Any, Any] = dict(zip(jaxpr.invars, (*consts, *leaves)))
    read = lambda a: a.val if isinstance(a, core.Literal) else env[a]
    for eqn in jaxpr.eqns:
      if eqn.primitive.name == "transpose" and not allow_transpose:
        raise errors.FusionError(
          f"Transpose not allowed: {source_line(eqn)} transposes. Transpose before the kernel, or pass "
          "allow_transpose=True."
        )
      env.update(zip(eqn.outvars, evaluate_equation(eqn, [read(a) for a in eqn.invars])))
    return jax.tree.unflatten(trees[-1], [read(a) for a in jaxpr.outvars])

  return wrapper
