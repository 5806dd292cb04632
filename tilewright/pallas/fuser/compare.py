"""Structural equality of jaxprs, up to renaming of variables.

Two index maps are equal where the same function was written twice: `lambda i, j: (i, j)` here and there. Functions
cannot be compared, their jaxprs can.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.runtime import _jax

core = _jax.core


def compare_jaxprs(a: Any, b: Any) -> bool:
  """Whether two jaxprs (open or closed) compute the same thing in the same way, up to the names of variables and the
  order of equations that do not depend on each other. Equations with effects keep their order."""
  a, a_consts = _jax.open_jaxpr(a)
  b, b_consts = _jax.open_jaxpr(b)
  if not _same_lengths((a.invars, b.invars), (a.outvars, b.outvars), (a.constvars, b.constvars), (a.eqns, b.eqns)):
    return False
  if len(a_consts) != len(b_consts) or not all(map(_same_value, a_consts, b_consts)):
    return False
  if any(x.aval != y.aval for x, y in zip((*a.constvars, *a.invars), (*b.constvars, *b.invars))):
    return False
  numbers = _ValueNumbers()
  return numbers.of_results(a) == numbers.of_results(b)


class _ValueNumbers:
  """Numbers for values, the same for values that are computed in the same way."""

  def __init__(self) -> None:
    self._literals: list[Any] = []
    # By primitive, operands and place among the equations with effects: the parameters seen, each with its number.
    self._equations: dict[Any, list[tuple[dict[str, Any], int]]] = {}
    self._count = 0

  def of_results(self, jaxpr: Any) -> tuple[list[Any], list[int]]:
    """The numbers of a jaxpr's results and of its equations with effects."""
    env: dict[Any, Any] = {v: ("input", i) for i, v in enumerate((*jaxpr.constvars, *jaxpr.invars))}
    read = lambda atom: self._of_literal(atom) if isinstance(atom, core.Literal) else env[atom]
    with_effects: list[int] = []
    for eqn in jaxpr.eqns:
      place = len(with_effects) if eqn.effects else None
      key = (eqn.primitive, tuple(map(read, eqn.invars)), len(eqn.outvars), place)
      number = self._of_params(key, eqn.params)
      if eqn.effects:
        with_effects.append(number)
      env.update((v, (number, i)) for i, v in enumerate(eqn.outvars))
    return [read(a) for a in jaxpr.outvars], with_effects

  def _of_literal(self, x: Any) -> tuple[str, int]:
    for i, other in enumerate(self._literals):
      if x.aval == other.aval and _same_value(x.val, other.val):
        return "literal", i
    self._literals.append(x)
    return "literal", len(self._literals) - 1

  def _of_params(self, key: Any, params: dict[str, Any]) -> int:
    seen = self._equations.setdefault(key, [])
    for other, number in seen:
      if _same_params(other, params):
        return number
    self._count += 1
    seen.append((params, self._count))
    return self._count


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
