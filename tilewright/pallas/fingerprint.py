"""Values that stand for functions and specs as cache keys.

A kernel is often rebuilt on each call: the lambda of an index map is a new object each time, yet means the same. A function is
therefore keyed by its code and by what it closes over, never by its identity. What cannot be keyed by value (an array, a tracer,
an unhashable object) makes the whole key unusable, and the kernel is traced again.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import sys
import sysconfig
import types
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from tilewright.runtime import _jax


class NoFingerprint(Exception):
  """The value cannot be keyed by what it is."""


_ATOMS = (str, bytes, int, bool, type(None), type(...), np.dtype, type, types.ModuleType, enum.Enum)


# Code that does not change while a program runs: looking into it would only cost time.
_LIBRARIES = ("jax.", "jaxlib.", "numpy.", "ml_dtypes.", "tilewright.", "functools.", "builtins.")
_INSTALLED = tuple(sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib"))


def fingerprint(x: Any, seen: dict[Any, int] | None = None) -> Any:
  """A hashable value that is equal for things that mean the same. `seen` numbers the functions already looked into."""
  if isinstance(x, float | complex | np.generic):
    return (type(x), np.asarray(x).tobytes())  # 0.0 == -0.0, but they do not mean the same
  if isinstance(x, (*_ATOMS, _jax.core.AbstractValue)):  # types are interned, or compare by value
    return (type(x), x)
  if isinstance(x, jax.Array | np.ndarray | _jax.core.Tracer):
    raise NoFingerprint
  seen = {} if seen is None else seen
  recur = functools.partial(fingerprint, seen=seen)
  match x:
    case types.FunctionType():
      return _function(x, seen)
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
  wrapped = recur(x.__wrapped__) if isinstance(getattr(x, "__wrapped__", None), types.FunctionType) else None
  if type(x).__hash__ is object.__hash__ and not _is_known(type(x).__module__):
    raise NoFingerprint  # equal only to itself, and it may have changed since
  hash(x)
  return (type(x), x, wrapped)


def _is_known(module: str | None) -> bool:
  return f"{module}.".startswith(_LIBRARIES)


@functools.cache
def _in_library(module: str | None) -> bool:
  """Whether a module is a known library, built in, or installed: its code stays as it is."""
  if _is_known(module) or module in sys.builtin_module_names:
    return True
  file = getattr(sys.modules.get(module or ""), "__file__", None)
  return file is not None and file.startswith(_INSTALLED)


def _function(f: types.FunctionType, seen: dict[Any, int]) -> Any:
  if f in seen:
    return ("seen", seen[f])
  seen[f] = len(seen)
  in_library = _in_library(f.__module__)
  if in_library and "<locals>" not in f.__qualname__:  # a function made inside another is a new object on each call
    return ("library function", f)
  recur = functools.partial(fingerprint, seen=seen)
  names = () if in_library else sorted(_names(f.__code__))
  cells = tuple(_cell(c, names, recur) for c in f.__closure__ or ())
  # A helper or constant of the module may have been redefined since, as happens in a notebook.
  used = tuple((name, _used(f.__globals__[name], names, recur)) for name in names if name in f.__globals__)
  return ("function", f.__code__, cells, recur(f.__defaults__), recur(f.__kwdefaults__), used, recur(f.__dict__))


def _used(x: Any, names: Sequence[str], recur: Any, inside: tuple[Any, ...] = ()) -> Any:
  """What a function refers to. Of a module or class of the user, what it holds under the names the function uses."""
  is_module = isinstance(x, types.ModuleType)
  if not is_module and not isinstance(x, type):
    return recur(x)
  if _in_library(x.__name__ if is_module else x.__module__) or any(x is y for y in inside):
    return x
  held = ((name, getattr(x, name)) for name in names if hasattr(x, name))
  return (x, tuple((name, _used(value, names, recur, (*inside, x))) for name, value in held))


def _names(code: types.CodeType) -> set[str]:
  inner = (_names(c) for c in code.co_consts if isinstance(c, types.CodeType))
  return set(code.co_names).union(*inner)


def _cell(cell: Any, names: Sequence[str], recur: Any) -> Any:
  try:
    contents = cell.cell_contents
  except ValueError:
    return "empty cell"
  return _used(contents, names, recur)
