"""A content hash of a function, equal in every process: a kernel is identified by its contents, not by its name.

A function is its bytecode, its constants, its defaults, what it closes over, and what the names in it mean: other functions of the user by
their contents, things of libraries by their name (the versions of those that matter are a part of the key). Line numbers, comments and
docstrings do not count.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

_LIBRARIES = ("jax", "jaxlib", "numpy", "ml_dtypes", "tilewright")
_MAX_BYTES = 1 << 24  # of an array that counts by its contents


def content(function: Callable[..., Any]) -> str:
  """The hash of what a function computes."""
  digest = hashlib.sha256()
  for part in _Walk().value(function, root=True):
    digest.update(len(part).to_bytes(8, "little") + part)
  return digest.hexdigest()[:24]


@functools.cache
def is_library(module: str) -> bool:
  """Whether a module's code is taken to be known by its name."""
  top = module.partition(".")[0]
  if top in _LIBRARIES or top in sys.stdlib_module_names:
    return top != "__main__"
  file = getattr(sys.modules.get(module), "__file__", None) or ""
  return "site-packages" in file or "dist-packages" in file


class _Walk:
  """One walk over everything that a function reaches; functions that were visited before are referred to by number."""

  def __init__(self) -> None:
    self.met: dict[int, int] = {}
    self.alive: list[Any] = []  # so that no id is used twice

  def value(self, x: Any, root: bool = False) -> Iterator[bytes]:
    match x:
      case None | bool() | int() | float() | complex() | str() | bytes():
        yield f"{type(x).__name__} {x!r}".encode()
      case tuple() | list():
        yield f"{type(x).__name__} {len(x)}".encode()
        for own in x:
          yield from self.value(own)
      case set() | frozenset():
        yield from self.value(sorted(x, key=repr))
      case dict():
        yield b"dict"
        for key, own in x.items():
          yield from self.value(key)
          yield from self.value(own)
      case types.CodeType():
        yield from self.code(x)
      case types.ModuleType():
        yield f"module {x.__name__}".encode()
      case types.FunctionType():
        yield from self.function(x, root)
      case np.ndarray() | np.generic():
        yield from self.array(np.asarray(x))
      case functools.partial():
        yield from self.value((x.func, x.args, x.keywords))
      case types.MethodType():
        yield from self.value((x.__func__, x.__self__))
      case _:
        yield from self.instance(x)

  def array(self, x: np.ndarray) -> Iterator[bytes]:
    yield f"array {x.dtype} {x.shape}".encode()
    if x.nbytes <= _MAX_BYTES and x.dtype != object:
      yield hashlib.sha256(np.ascontiguousarray(x).tobytes()).digest()

  def instance(self, x: Any) -> Iterator[bytes]:
    kind = type(x)
    if hasattr(x, "shape") and hasattr(x, "dtype") and kind.__module__.partition(".")[0] in ("jax", "jaxlib"):
      yield f"array {x.dtype} {x.shape}".encode()
      if not hasattr(x, "aval") or hasattr(x, "addressable_shards"):
        yield from self.array(np.asarray(x)) if x.size * x.dtype.itemsize <= _MAX_BYTES else ()
      return
    inner = getattr(x, "__wrapped__", None) or getattr(x, "function", None)
    if isinstance(inner, types.FunctionType):  # `jax.jit` of a function, a tuned kernel
      yield kind.__qualname__.encode()
      yield from self.value(inner)
    elif isinstance(x, type) or not hasattr(x, "__dict__"):
      yield f"{getattr(x, '__module__', '')} {getattr(x, '__qualname__', None) or _described(x)}".encode()
    elif id(x) in self.met:
      yield f"seen {self.met[id(x)]}".encode()
    elif is_library(kind.__module__):
      yield f"{kind.__qualname__} {_described(x)}".encode()
    else:
      self.remember(x)
      yield kind.__qualname__.encode()
      yield from self.value(vars(x))

  def remember(self, x: Any) -> None:
    self.met[id(x)] = len(self.met)
    self.alive.append(x)

  def function(self, f: types.FunctionType, root: bool) -> Iterator[bytes]:
    if id(f) in self.met:
      yield f"seen {self.met[id(f)]}".encode()
      return
    if is_library(f.__module__ or "") and not root and f.__closure__ is None:
      yield f"function {f.__module__} {f.__qualname__}".encode()
      return
    self.remember(f)
    yield b"function"
    yield from self.code(f.__code__, f.__doc__)
    yield from self.value(f.__defaults__)
    yield from self.value(f.__kwdefaults__)
    for cell in f.__closure__ or ():
      try:
        yield from self.value(cell.cell_contents)
      except ValueError:
        yield b"empty cell"
    names = _names(f.__code__)
    for name in names:
      if name in f.__globals__:
        found = f.__globals__[name]
        yield name.encode()
        yield from self.value(found)
        if isinstance(found, types.ModuleType) and not is_library(found.__name__):
          for attribute in names:
            if isinstance(getattr(found, attribute, None), types.FunctionType | int | float | str):
              yield from self.value(getattr(found, attribute))

  def code(self, code: types.CodeType, doc: str | None = None) -> Iterator[bytes]:
    yield code.co_code
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_argcount)).encode()
    constants = code.co_consts
    if doc is not None and constants and constants[0] == doc:
      constants = constants[1:]
    yield from self.value(constants)


@functools.cache
def _names(code: types.CodeType) -> tuple[str, ...]:
  """Names of globals and attributes in a code object and in those inside of it."""
  found = list(code.co_names)
  for inner in code.co_consts:
    if isinstance(inner, types.CodeType):
      found += _names(inner)
  return tuple(dict.fromkeys(found))


def _described(x: Any) -> str:
  """A value by its text, unless that has an address in it."""
  text = repr(x)
  return type(x).__qualname__ if " at 0x" in text else text
