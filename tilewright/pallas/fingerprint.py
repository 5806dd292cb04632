"""Values that stand for functions and specs as cache keys.

A kernel is often rebuilt on each call: the lambda of an index map is a new object each time, yet means the same. A function is
therefore keyed by its code and by what it closes over, never by its identity. What cannot be keyed by value (an array, a tracer,
an unhashable object) makes the whole key unusable, and the kernel is traced again.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
from typing import Any

import jax
import numpy as np

from tilewright.runtime import _jax


class NoFingerprint(Exception):
  """The value cannot be keyed by what it is."""


_ATOMS = (str, bytes, int, float, complex, bool, type(None), type(...), np.dtype, type, types.ModuleType, enum.Enum)


def fingerprint(x: Any, depth: int = 0) -> Any:
  """A hashable value that is equal for things that mean the same."""
  if depth > 12:
    raise NoFingerprint
  if isinstance(x, (*_ATOMS, _jax.core.AbstractValue)):  # types are interned, or compare by value
    return (type(x), x)
  if isinstance(x, jax.Array | np.ndarray | _jax.core.Tracer):
    raise NoFingerprint
  recur = functools.partial(fingerprint, depth=depth + 1)
  match x:
    case types.FunctionType():
      cells = tuple(_cell(c, recur) for c in x.__closure__ or ())
      defaults = recur(x.__defaults__), recur(x.__kwdefaults__)
      # The globals of a module are looked up by name when the code runs, as for any jitted function.
      return ("function", x.__code__, cells, defaults, x.__globals__.get("__name__"), recur(dict(x.__dict__)))
    case functools.partial():
      return ("partial", recur(x.func), recur(x.args), recur(x.keywords))
    case types.MethodType():
      return ("method", recur(x.__func__), recur(x.__self__))
    case types.BuiltinFunctionType():
      return ("builtin", x)
    case tuple() | list():
      return (type(x), tuple(map(recur, x)))
    case dict():
      return (type(x), tuple((recur(k), recur(v)) for k, v in x.items()))
    case slice():
      return ("slice", recur(x.start), recur(x.stop), recur(x.step))
  if dataclasses.is_dataclass(x) and not isinstance(x, type):
    return (type(x), tuple(recur(getattr(x, f.name)) for f in dataclasses.fields(x)))
  if isinstance(x, _jax.core.AbstractValue):
    return (type(x), x)  # JAX keeps one object for equal types
  if type(x).__hash__ is None:
    raise NoFingerprint
  if type(x).__hash__ is object.__hash__ and not callable(x):
    raise NoFingerprint  # equal only to itself, and it may have changed since
  hash(x)
  return (type(x), x)


def _cell(cell: Any, recur: Any) -> Any:
  try:
    return recur(cell.cell_contents)
  except ValueError:
    return "empty cell"
