"""Cache keys of functions and specs. A key exists only if it can cover everything that tracing would read.

A kernel is often rebuilt on each call: the lambda of an index map is a new object each time, yet computes the same. A function is
therefore keyed by its code, and recursively by the values of its closure, its defaults and the globals its code names:

    SCALE = 2.0
    def body(x_ref, o_ref): o_ref[...] = jnp.exp(x_ref[...]) * SCALE      # key: code, ("SCALE", 2.0), ("jnp", <module>)

A value has a key if nothing reachable from it can change without changing the key: numbers, strings, containers of such values,
functions of the user, and objects of the libraries below, whose code is taken to be constant. Everything else raises `NoFingerprint`, and
the kernel is traced again (`trace`): arrays, classes, modules and objects of the user (their attributes, properties and
`__getattr__` may read anything), functions that import, and mutable state of libraries (`jax.config`, `os.environ`, `np.random`).
"""

from __future__ import annotations

import builtins
import dataclasses
import dis
import enum
import functools
import importlib.util
import types
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright.runtime import _jax


class NoFingerprint(Exception):
  """The value has no key: only tracing can tell what it means."""


_ATOMS = (str, bytes, int, bool, type(None), type(...), types.NotImplementedType, range)
_NUMBERS = (float, complex)

# Libraries whose code does not change while a program runs, and whose configuration is part of JAX's trace context.
_LIBRARIES = ("jax.", "jaxlib.", "numpy.", "ml_dtypes.", "tilewright.")
# Modules of the standard library without state that a kernel could read.
_STATELESS = frozenset({"builtins", "math", "cmath", "functools", "operator", "itertools", "typing", "collections.abc"})
# fmt: off
_PURE_BUILTINS = frozenset({
  abs, all, any, bool, bytes, callable, chr, complex, dict, divmod, enumerate, filter, float, format, frozenset, hasattr, int, isinstance,
  issubclass, iter, len, list, map, max, min, next, ord, pow, print, range, repr, reversed, round, set, slice, sorted, str, sum, tuple,
  zip, NotImplemented, Ellipsis,
})
# fmt: on
# Functions that read variables dynamically, not by names in the code.
_OPAQUE = frozenset({"IMPORT_NAME", "IMPORT_FROM", "IMPORT_STAR", "LOAD_BUILD_CLASS"})


def fingerprint(x: Any) -> Any:
  """A hashable value that is equal for things that mean the same; raises `NoFingerprint` where there is none."""
  walk = _Walk()
  key = walk.key(x)
  walk.check_modules()
  return key


@dataclasses.dataclass
class _Walk:
  """One walk through everything reachable from a value: functions by number, library modules and attribute names met."""

  functions: dict[types.FunctionType, int] = dataclasses.field(default_factory=dict)
  modules: list[types.ModuleType] = dataclasses.field(default_factory=list)
  names: set[str] = dataclasses.field(default_factory=set)

  def key(self, x: Any) -> Any:
    kind = type(x)
    if kind in _ATOMS:
      return (kind, x)
    if kind in _NUMBERS or isinstance(x, np.generic):
      return (kind, np.asarray(x).tobytes())  # 0.0 == -0.0, but they do not mean the same
    if kind in (tuple, list):
      return (kind, tuple(map(self.key, x)))
    if kind is dict:
      return (kind, tuple((self.key(k), self.key(v)) for k, v in x.items()))
    if kind in (set, frozenset):
      return (kind, frozenset(map(self.key, x)))
    if kind is _jax.tree_util.PyTreeDef:
      return self.tree(x)
    if kind is slice:
      return (kind, self.key(x.start), self.key(x.stop), self.key(x.step))
    if kind is types.FunctionType:
      return self.function(x)
    if isinstance(x, functools.partial) and kind in (functools.partial, jax.tree_util.Partial):
      return (kind, self.key(x.func), self.key(x.args), self.key(x.keywords), self.key(vars(x)))
    if kind is types.MethodType:
      return (kind, self.key(x.__func__), self.key(x.__self__))
    if kind is types.BuiltinFunctionType:
      return self.builtin(x)
    if kind is types.ModuleType or isinstance(x, types.ModuleType):
      return self.module(x)
    if isinstance(x, type):
      if not _is_constant_module(x.__module__):
        raise NoFingerprint
      return ("type", x)
    return self.instance(x)

  def instance(self, x: Any) -> Any:
    """The key of a library object: by its fields, or by its own equality."""
    kind = type(x)
    if isinstance(x, jax.Array | np.ndarray | _jax.core.Tracer):
      raise NoFingerprint
    if isinstance(x, np.dtype | np.ufunc | jnp.ufunc):
      return (kind, x)
    if kind is functools._lru_cache_wrapper or kind is _JITTED:
      return (kind, x, self.key(x.__wrapped__))
    if isinstance(x, jax.custom_jvp | jax.custom_vjp):
      return (kind, x, self.key(vars(x)))
    if not _in_library(kind.__module__):
      raise NoFingerprint
    if isinstance(x, _INTERNED):
      return (kind, x)
    if dataclasses.is_dataclass(x):
      return (kind, tuple(self.key(getattr(x, f.name)) for f in dataclasses.fields(x)))
    if kind.__hash__ in (None, object.__hash__) and not isinstance(x, enum.Enum):
      raise NoFingerprint  # compared by identity, and it may have been mutated since
    hash(x)
    return (kind, x)

  def tree(self, tree: Any) -> Any:
    """A tree of operands: tuples, lists and dicts. A node of a class of the user is an object that the body sees."""
    node = tree.node_data()
    if node is not None:
      if node[0] not in (tuple, list, dict, type(None)):
        raise NoFingerprint
      self.key(node[1])
      for child in tree.children():
        self.tree(child)
    return tree

  def builtin(self, f: types.BuiltinFunctionType) -> Any:
    owner = f.__self__
    if not isinstance(owner, type(None) | types.ModuleType):
      return ("builtin method", f.__name__, self.key(owner))
    if not _is_constant_module(f.__module__) or (owner is builtins and f not in _PURE_BUILTINS):
      raise NoFingerprint
    return ("builtin", f)

  def module(self, m: types.ModuleType) -> Any:
    m = _of_names(m)
    if not _is_constant_module(m.__name__):
      raise NoFingerprint
    self.modules.append(m)
    return ("module", m)

  def function(self, f: types.FunctionType) -> Any:
    if f in self.functions:
      return ("seen", self.functions[f])
    self.functions[f] = len(self.functions)
    if _is_constant_module(f.__module__):
      if "<locals>" not in f.__qualname__:
        return ("library function", f)
      read: tuple[str, ...] = ()  # made anew on each call; its globals are the library's
    else:
      names = _names(f.__code__)
      if names is None:
        raise NoFingerprint
      read = names.read
      self.names.update(names.attributes)
    return (
      "function",
      f.__code__,
      tuple(map(self.cell, f.__closure__ or ())),
      self.key(f.__defaults__),
      self.key(f.__kwdefaults__),
      tuple(self.read(f, name) for name in read),
      self.key(f.__dict__),
    )

  def read(self, f: types.FunctionType, name: str) -> Any:
    """The value of a name in a function's module: a helper or constant there may have been redefined since, as in a notebook."""
    if name in f.__globals__:
      return (name, self.key(f.__globals__[name]))
    found = getattr(builtins, name, None)
    if (
      found is not None
      and found not in _PURE_BUILTINS
      and not (isinstance(found, type) and issubclass(found, Exception))
    ):
      raise NoFingerprint
    return (name, found)

  def cell(self, cell: types.CellType) -> Any:
    try:
      contents = cell.cell_contents
    except ValueError:
      return "empty cell"
    return self.key(contents)

  def check_modules(self) -> None:
    """Check that the code met reads only constants of the library modules met and of their submodules."""
    for m in self.modules:  # grows
      for name in self.names:
        held = _held(m, name)
        if held is False:
          raise NoFingerprint
        if held is not None and held not in self.modules:
          self.modules.append(held)


_JITTED: Any = type(jax.jit(lambda: None))
# Immutable objects of JAX that are equal only to themselves in some releases, because equal ones are one object.
_INTERNED = (_jax.core.AbstractValue, jax.sharding.Mesh, jax.sharding.AbstractMesh, jax.sharding.Sharding)


def _in_library(module: str | None) -> bool:
  return f"{module}.".startswith(_LIBRARIES)


def _is_constant_module(name: str | None) -> bool:
  return _in_library(name) or name in _STATELESS


@functools.cache
def _held(m: types.ModuleType, name: str) -> Any:
  """What a library module holds under a name, if it is a module of a library too; False if it is state that may change."""
  held = vars(m).get(name)
  try:
    if held is None and hasattr(m, "__path__") and importlib.util.find_spec(f"{m.__name__}.{name}") is not None:
      held = importlib.import_module(f"{m.__name__}.{name}")  # NumPy too imports its submodules on first access
    _Walk().key(held)
  except (NoFingerprint, ImportError, ValueError):  # also where a submodule is refused or cannot be loaded
    return False
  return _of_names(held) if isinstance(held, types.ModuleType) else None


def _of_names(m: types.ModuleType) -> types.ModuleType:
  """The module whose names a module has: another one in a program under `tilewright.replace_pallas`."""
  replaced: types.ModuleType = vars(m).get("__replaces__", m)
  return replaced


@dataclasses.dataclass(frozen=True)
class _Names:
  """The names that code reads: of globals and builtins, and of attributes."""

  read: tuple[str, ...]
  attributes: frozenset[str]


@functools.lru_cache(maxsize=4096)
def _names(code: types.CodeType) -> _Names | None:
  """The names that code and its nested functions read; None if it reads variables dynamically."""
  read: set[str] = set()
  attributes: set[str] = set()
  for inner in _codes(code):
    for at in dis.get_instructions(inner):
      if at.opname in _OPAQUE:
        return None
      if at.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
        read.add(at.argval)
      elif at.opname in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"):
        attributes.add(at.argval)
  return _Names(tuple(sorted(read)), frozenset(attributes))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
  yield code
  for const in code.co_consts:
    if isinstance(const, types.CodeType):
      yield from _codes(const)
