"""Structural keys of kernels: two traces of one body that yield the same program have equal keys.

JAX compares jaxprs by identity. Here the key of a jaxpr is the list of its equations, with variables numbered in order of appearance.
A value that cannot be compared by contents (an array, an opaque function) is compared by identity, so equal keys always mean equal
programs. Source lines of equations are not part of a key; the location where the body is defined is.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np

from tilewright.pallas.fingerprint import NoFingerprint, fingerprint
from tilewright.runtime import _jax
from tilewright.tile.grid import Kernel


@dataclasses.dataclass(frozen=True, eq=False)
class _Itself:
  """A value that is compared by identity, and is kept alive as long as the key is."""

  value: Any

  def __eq__(self, other: object) -> bool:
    return isinstance(other, _Itself) and self.value is other.value

  def __hash__(self) -> int:
    return id(self.value)


def content(kernel: Kernel) -> Any:
  """A hashable value that is equal for kernels with the same contents."""
  return _key(kernel), kernel.jaxpr.debug_info.func_src_info, _jax.trace_context()


def _key(x: Any) -> Any:
  if isinstance(x, _jax.core.ClosedJaxpr):
    return ("closed", _jaxpr(x.jaxpr), tuple(map(_key, x.consts)))
  if isinstance(x, _jax.core.Jaxpr):
    return _jaxpr(x)
  if isinstance(x, tuple | list):
    return (type(x), tuple(map(_key, x)))
  if isinstance(x, dict):
    return (type(x), tuple((_key(k), _key(v)) for k, v in x.items()))
  if isinstance(x, jax.Array | np.ndarray | _jax.core.Tracer):
    return _Itself(x)
  if dataclasses.is_dataclass(x) and type(x).__module__.startswith("tilewright."):
    return (type(x), tuple(_key(getattr(x, f.name)) for f in dataclasses.fields(x)))
  if type(x).__hash__ not in (None, object.__hash__) and not isinstance(x, float | complex | np.generic):
    try:
      hash(x)
    except TypeError:
      return _Itself(x)
    return (type(x), x)
  try:
    return fingerprint(x)
  except (NoFingerprint, TypeError, RecursionError):
    return _Itself(x)


def _number(x: Any) -> Any:
  """The key of a literal, by its bits: 0.0 == -0.0, but programs can tell them apart."""
  bits = np.asarray(x)
  return (type(x), bits.dtype, bits.tobytes()) if bits.dtype != object else _Itself(x)


def _jaxpr(jaxpr: Any) -> Any:
  numbers: dict[Any, int] = {}

  def define(v: Any) -> Any:
    if type(v) is not _jax.core.DropVar:
      numbers[v] = len(numbers)
    return v.aval

  def use(a: Any) -> Any:
    return (a.aval, _number(a.val)) if isinstance(a, _jax.core.Literal) else numbers[a]

  def effect(e: Any) -> Any:
    return (type(e), numbers.get(e.input, e.input)) if isinstance(e, _jax.effects.JaxprInputEffect) else e

  inputs = tuple(map(define, (*jaxpr.constvars, *jaxpr.invars)))
  eqns = []
  for eqn in jaxpr.eqns:
    operands = tuple(map(use, eqn.invars))
    params = tuple((name, _key(value)) for name, value in sorted(eqn.params.items()))
    effects = frozenset(map(effect, eqn.effects))
    eqns.append((eqn.primitive, operands, params, effects, eqn.ctx, tuple(map(define, eqn.outvars))))
  return ("jaxpr", inputs, tuple(eqns), tuple(map(use, jaxpr.outvars)))
