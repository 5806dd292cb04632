"""Prefetched scalars, which are known before a kernel starts and so may determine the index of a block.

    i = jnp.array(3)
    def f(): return table[i]                      # which row of `table` is read depends on `i`
    fn, values, scalars = get_fusion_values(f)    # values: (table,), scalars: (i,)

Index maps are computed from grid indices and prefetched scalars only. So a number that a block's index depends on
must be computed from prefetched scalars alone; a `Scope` finds out whether it is, and computes it where an index
map needs it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from tilewright.pallas.fuser.inlining import evaluate_equation
from tilewright.runtime import _jax

core = _jax.core

MAX_PREFETCHED = 1024  # elements of an array that is worth prefetching as scalars

# Marks a value as the index-th prefetched scalar of a fusion; the identity where it is computed.
scalar_prefetch_p = core.Primitive("scalar_prefetch")
scalar_prefetch_p.def_impl(lambda x, *, index: x)
scalar_prefetch_p.def_abstract_eval(lambda x, *, index: x)
_jax.mlir.register_lowering(scalar_prefetch_p, lambda ctx, x, *, index: [x])


def make_scalar_prefetch_handler(*path: Any) -> Callable[..., Any]:
  """How a fusion's scalars are found among all that a kernel prefetches: `args[path[0]][path[1]]...`; all of them
  without a path."""

  def find(*scalars: Any) -> Any:
    found: Any = scalars
    for key in path:
      found = found[key]
    return found

  return find


class Prefetched:
  """The prefetched scalars of one fusion while an index map or a block is computed."""

  def __init__(self, handler: Callable[..., Any], scalars: tuple[Any, ...], grid: tuple[Any, ...] = ()) -> None:
    self.handler, self.scalars, self.grid = handler, scalars, grid
    self._known: Sequence[Any] | None = None
    self._memo: dict[Any, Any] = {}

  @classmethod
  def known(cls, values: Sequence[Any]) -> Prefetched:
    """Scalars that are values already."""
    found = cls(lambda: (), ())
    found._known = values
    return found

  def value(self, index: int, aval: Any) -> Any:
    if self._known is not None:
      return self._known[index]
    scalar = self.handler(*self.scalars)[index]
    return scalar[0] if scalar.ndim == aval.ndim + 1 else scalar[...]

  def memo(self, key: Any, compute: Callable[[], Any]) -> Any:
    if key not in self._memo:
      self._memo[key] = compute()
    return self._memo[key]


Getter = Callable[[Prefetched], Any]


class Scope:
  """The values of a jaxpr that can be computed from prefetched scalars alone."""

  def __init__(self, jaxpr: Any, known: dict[Any, Getter]) -> None:
    self._defined = {v: (e, i) for e in jaxpr.eqns for i, v in enumerate(e.outvars)}
    self._known: dict[Any, Getter | None] = dict(known)

  @classmethod
  def of_program(cls, jaxpr: Any, consts: Sequence[Any], known: dict[Any, Getter] | None = None) -> Scope:
    """The scope of a function that is being cut: numbers that it closes over are known."""
    known = dict(known or {})
    for var, const in zip(jaxpr.invars, consts):
      marked = all(e.primitive is scalar_prefetch_p for e in jaxpr.eqns if any(a is var for a in e.invars))
      if getattr(var.aval, "shape", ()) == () and not isinstance(const, core.Tracer) and not marked:
        known[var] = lambda _, const=const: const  # type: ignore[misc]
    return cls(jaxpr, known)

  def prefetched_avals(self) -> tuple[Any, ...]:
    found = {
      e.params["index"]: e.outvars[0].aval for e, _ in self._defined.values() if e.primitive is scalar_prefetch_p
    }
    int32 = core.ShapedArray((), jnp.dtype("int32"))
    return tuple(found.get(i, int32) for i in range(max(found, default=-1) + 1))

  def scalar(self, atom: Any) -> Getter | None:
    """How to compute a value from prefetched scalars; None where it depends on something else."""
    if isinstance(atom, core.Literal):
      return lambda _: atom.val
    if atom not in self._known:
      self._known[atom] = self._find(atom)
    return self._known[atom]

  def _find(self, var: Any) -> Getter | None:
    if var not in self._defined:
      return None
    eqn, i = self._defined[var]
    if eqn.primitive is scalar_prefetch_p:
      return lambda p: p.value(eqn.params["index"], var.aval)
    if eqn.effects or math.prod(getattr(var.aval, "shape", ())) > MAX_PREFETCHED:
      return None
    operands = [self.scalar(a) for a in eqn.invars]
    if any(o is None for o in operands):
      return None

    def compute(p: Prefetched) -> Any:
      return p.memo(eqn.outvars[0], lambda: evaluate_equation(eqn, [o(p) for o in operands if o is not None]))[i]

    return compute


def roots_of_index(jaxpr: Any, atom: Any) -> set[Any] | None:
  """The inputs and constants a value is computed from; None if it is too large on the way to be prefetched."""
  defined = {v: e for e in jaxpr.eqns for v in e.outvars}
  roots: set[Any] = set()
  seen: set[Any] = set()
  pending = [atom]
  while pending:
    a = pending.pop()
    if isinstance(a, core.Literal) or a in seen:
      continue
    seen.add(a)
    if math.prod(getattr(a.aval, "shape", (MAX_PREFETCHED + 1,))) > MAX_PREFETCHED:
      return None
    if a in defined:
      pending.extend(defined[a].invars)
    else:
      roots.add(a)
  return roots
