"""Whether two jaxprs are the same up to the names of their variables.

Two index maps are equal where the same function was written twice: `lambda i, j: (i, j)` here and there. Functions
cannot be compared, their jaxprs can.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.runtime import _jax

core = _jax.core


def compare_jaxprs(a: Any, b: Any) -> bool:
  """Whether two jaxprs (open or closed) compute the same thing in the same way."""
  a, a_consts = _jax.open_jaxpr(a)
  b, b_consts = _jax.open_jaxpr(b)
  if not _same_lengths((a.invars, b.invars), (a.outvars, b.outvars), (a.constvars, b.constvars), (a.eqns, b.eqns)):
    return False
  if len(a_consts) != len(b_consts) or not all(map(_same_value, a_consts, b_consts)):
    return False
  if any(x.aval != y.aval for x, y in zip((*a.constvars, *a.invars), (*b.constvars, *b.invars))):
    return False
  names: dict[Any, Any] = dict(zip((*a.constvars, *a.invars), (*b.constvars, *b.invars)))

  def same_atom(x: Any, y: Any) -> bool:
    if isinstance(x, core.Literal) or isinstance(y, core.Literal):
      return (
        isinstance(x, core.Literal) and isinstance(y, core.Literal) and x.aval == y.aval and _same_value(x.val, y.val)
      )
    return names.get(x) is y

  for e, f in zip(a.eqns, b.eqns):
    if e.primitive is not f.primitive or not _same_lengths((e.invars, f.invars), (e.outvars, f.outvars)):
      return False
    if not all(map(same_atom, e.invars, f.invars)) or not _same_params(e.params, f.params):
      return False
    names.update(zip(e.outvars, f.outvars))
  return all(map(same_atom, a.outvars, b.outvars))


def _same_lengths(*pairs: tuple[Any, Any]) -> bool:
  return all(len(x) == len(y) for x, y in pairs)


def _same_value(x: Any, y: Any) -> bool:
  if x is y:
    return True
  if isinstance(x, core.Tracer) or isinstance(y, core.Tracer):
    return False
  try:
    return type(x) is type(y) and bool(np.array_equal(np.asarray(x), np.asarray(y)))
  except (TypeError, ValueError):
    return False


def _same_params(a: dict[str, Any], b: dict[str, Any]) -> bool:
  return a.keys() == b.keys() and all(_same_param(a[k], b[k]) for k in a)


def _same_param(x: Any, y: Any) -> bool:
  if isinstance(x, core.Jaxpr | core.ClosedJaxpr):
    return isinstance(y, core.Jaxpr | core.ClosedJaxpr) and compare_jaxprs(x, y)
  if isinstance(x, tuple | list):
    return type(x) is type(y) and len(x) == len(y) and all(map(_same_param, x, y))
  try:
    return bool(x == y)
  except (TypeError, ValueError):
    return x is y
