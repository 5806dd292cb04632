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


# Code that does not change while a program runs: looking into it would only cost time.
_LIBRARIES = ("jax.", "jaxlib.", "numpy.", "ml_dtypes.", "tilewright.", "functools.", "builtins.")


def fingerprint(x: Any, inside: tuple[Any, ...] = ()) -> Any:
  """A hashable value that is equal for things that mean the same. `inside` are the functions being looked into."""
  if isinstance(x, (*_ATOMS, _jax.core.AbstractValue)):  # types are interned, or compare by value
    return (type(x), x)
  if isinstance(x, jax.Array | np.ndarray | _jax.core.Tracer):
    raise NoFingerprint
  recur = functools.partial(fingerprint, inside=inside)
  match x:
    case types.FunctionType():
      return _function(x, inside)
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
  if type(x).__hash__ is None:
    raise NoFingerprint
  if type(x).__hash__ is object.__hash__ and not callable(x):
    raise NoFingerprint  # equal only to itself, and it may have changed since
  hash(x)
  return (type(x), x)


def _function(f: types.FunctionType, inside: tuple[Any, ...]) -> Any:
  if f in inside:
    return ("recursion", inside.index(f))
  in_library = f"{f.__module__}.".startswith(_LIBRARIES)
  if in_library and "<locals>" not in f.__qualname__:  # a function made inside another is a new object on each call
    return ("library function", f)
  recur = functools.partial(fingerprint, inside=(*inside, f))
  cells = tuple(_cell(c, recur) for c in f.__closure__ or ())
  # A helper or constant of the module may have been redefined since, as happens in a notebook.
  names = () if in_library else sorted(_names(f.__code__))
  used = tuple((name, recur(f.__globals__[name])) for name in names if name in f.__globals__)
  return ("function", f.__code__, cells, recur(f.__defaults__), recur(f.__kwdefaults__), used, recur(f.__dict__))


def _names(code: types.CodeType) -> set[str]:
  inner = (_names(c) for c in code.co_consts if isinstance(c, types.CodeType))
  return set(code.co_names).union(*inner)


def _cell(cell: Any, recur: Any) -> Any:
  try:
    return recur(cell.cell_contents)
  except ValueError:
    return "empty cell"
