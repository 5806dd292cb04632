"""Serialisation of functions for another process of the same Python: by value, so that the user's program is not run again there.

`pickle` serialises a function by its name, which does not find lambdas, nested functions, those of a notebook or of the main
program, or one that a decorator has replaced. Here such a function is its code, its defaults, its closure and the globals that its code
names, and a module is its name. Functions and classes of libraries, and of modules that can be imported, go by name.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import marshal
import pickle
import sys
import types
from typing import Any

from tilewright import errors
from tilewright.tune.content import _names, is_library


def dumps(value: Any) -> bytes:
  """A value that may hold functions, as bytes."""
  buffer = io.BytesIO()
  try:
    _Pickler(buffer, protocol=5).dump(value)
  except (pickle.PicklingError, TypeError, AttributeError, ValueError) as error:
    raise errors.TuningError(
      f"tune: the function cannot be sent to the processes that measure it: {error}. What it closes over, its globals and its static "
      "arguments must be values that pickle takes; or put it into a module of its own."
    ) from error
  return buffer.getvalue()


def loads(data: bytes) -> Any:
  return pickle.loads(data)


class _Pickler(pickle.Pickler):
  def reducer_override(self, obj: Any) -> Any:
    if isinstance(obj, types.FunctionType) and not _is_importable(obj):
      return _function(obj)
    if isinstance(obj, types.ModuleType):
      return _import, (obj.__name__, None if is_library(obj.__name__) else getattr(obj, "__file__", None))
    if isinstance(obj, types.CellType):
      return _cell, (), None, None, None, None
    if isinstance(obj, type) and not _is_importable(obj) and obj.__module__ not in ("builtins",):
      return _class(obj)
    return NotImplemented


def _is_importable(obj: Any) -> bool:
  """Whether its module and name lead to this very object, in another process too."""
  module, name = getattr(obj, "__module__", None), getattr(obj, "__qualname__", "")
  if not module or module == "__main__" or "<" in name:
    return False
  found: Any = sys.modules.get(module)
  if found is None or not (is_library(module) or _has_spec(module)):
    return False
  for part in name.split("."):
    found = getattr(found, part, None)
  return found is obj


def _has_spec(module: str) -> bool:
  """Whether importing a module by name gives the file it came from here."""
  try:
    spec = importlib.util.find_spec(module)
  except (ImportError, ValueError, AttributeError):
    return False
  return spec is not None and spec.origin is not None and spec.origin == getattr(sys.modules[module], "__file__", None)


def _function(f: types.FunctionType) -> Any:
  """How to make a function: first without what may refer to it, then the rest."""
  meant = {name: f.__globals__[name] for name in _names(f.__code__) if name in f.__globals__}
  cells = None if f.__closure__ is None else len(f.__closure__)
  made = (marshal.dumps(f.__code__), f.__name__, f.__qualname__, f.__module__, cells)
  filled: list[tuple[Any, ...]] = []
  for cell in f.__closure__ or ():
    try:
      filled.append((cell.cell_contents,))
    except ValueError:
      filled.append(())
  state = (meant, f.__defaults__, f.__kwdefaults__, filled, dict(f.__dict__))
  return _make_function, made, state, None, None, _fill_function


def _make_function(code: bytes, name: str, qualname: str, module: str, cells: int | None) -> types.FunctionType:
  closure = None if cells is None else tuple(types.CellType() for _ in range(cells))
  made = types.FunctionType(
    marshal.loads(code), {"__builtins__": __builtins__, "__name__": module}, name, None, closure
  )
  made.__qualname__, made.__module__ = qualname, module
  return made


def _fill_function(f: types.FunctionType, state: Any) -> None:
  meant, f.__defaults__, f.__kwdefaults__, filled, attributes = state
  f.__globals__.update(meant)
  for cell, own in zip(f.__closure__ or (), filled):
    if own:
      cell.cell_contents = own[0]
  f.__dict__.update(attributes)


def _cell() -> types.CellType:
  return types.CellType()


def _class(kind: type) -> Any:
  """A class of the program that runs: its name, bases and what its body defines."""
  skipped = ("__dict__", "__weakref__", "__doc__", "__module__")
  body = {name: value for name, value in vars(kind).items() if name not in skipped}
  made = (type(kind), kind.__name__, kind.__bases__, kind.__module__)
  return _make_class, made, body, None, None, _fill_class


def _make_class(meta: Any, name: str, bases: tuple[type, ...], module: str) -> type:
  return meta(name, bases, {"__module__": module})


def _fill_class(kind: type, body: dict[str, Any]) -> None:
  for name, value in body.items():
    setattr(kind, name, value)


def _import(name: str, file: str | None) -> types.ModuleType:
  try:
    return importlib.import_module(name)
  except ImportError:
    if file is None:
      raise
  spec = importlib.util.spec_from_file_location(name, file)
  assert spec is not None and spec.loader is not None
  module = importlib.util.module_from_spec(spec)
  sys.modules[name] = module
  spec.loader.exec_module(module)
  return module
