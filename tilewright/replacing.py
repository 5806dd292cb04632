"""`replace_pallas`: import hooks that run programs written for `jax.experimental.pallas` unchanged on our modules.

    import tilewright
    with tilewright.replace_pallas():
      from jax.experimental.pallas.ops.tpu import flash_attention   # its pl and pltpu are ours
    ...
    tilewright.replace_pallas()                                     # or once, for the rest of the process

An import of `jax.experimental.pallas`, `.tpu`, `.triton`, `.mosaic_gpu`, `.fuser` or `.tpu_sc` finds a `ReplacementModule`: a
module of that name whose attributes are those of our module. A finder in front of `sys.meta_path` makes them;
everything else is found as always, so the kernels below `jax.experimental.pallas.ops` are loaded from where JAX keeps
them, and import the stand-ins in turn. Nothing is written to disk.

What was loaded before and is bound to JAX's modules cannot change under its owner. Modules of `jax.experimental.pallas`
itself leave `sys.modules` and are loaded again when they are next imported; for others there is a `ReplacementWarning`
that names them. On exit all entries of `sys.modules` are what they were, and modules that were loaded meanwhile and
hold our names are forgotten, so that a later import is bound to JAX's modules.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import threading
import types
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from tilewright import errors
from tilewright.runtime import _jax

PALLAS = "jax.experimental.pallas"
PRIVATE = "jax._src.pallas"
MOSAIC = "jax.experimental.mosaic"

# Each module we stand in for, and ours.
MODULES: dict[str, str] = {
  PALLAS: "tilewright.pallas",
  f"{PALLAS}.tpu": "tilewright.pallas.tpu",
  f"{PALLAS}.tpu_sc": "tilewright.pallas.tpu_sc",
  f"{PALLAS}.triton": "tilewright.pallas.triton",
  f"{PALLAS}.mosaic_gpu": "tilewright.pallas.mosaic_gpu",
  f"{PALLAS}.fuser": "tilewright.pallas.fuser",
}
# Packages of programs, which are loaded from JAX's own files.
PROGRAMS = (f"{PALLAS}.ops",)
# Modules that programs import for what they do beside their kernels, as timing them: they can be imported, and their names are errors.
ABSENT = (MOSAIC, f"{MOSAIC}.gpu", f"{MOSAIC}.gpu.profiler")


class ReplacementModule(types.ModuleType):
  """A module with the names of another one. A name that is missing there is an error that says whose name it is."""

  def __init__(self, name: str, ours: str | None):
    super().__init__(name, f"Stands in for `{name}`: {f'the names of `{ours}`' if ours else 'it has no names'}.")
    self.__replaces__ = importlib.import_module(ours) if ours else types.ModuleType(name)

  def __getattr__(self, name: str) -> Any:
    if not name.startswith("__"):  # its place in the import system is its own
      try:
        return getattr(self.__replaces__, name)
      except AttributeError:
        pass
    raise AttributeError(_missing(self.__name__, name))

  def __dir__(self) -> list[str]:
    return sorted({*super().__dir__(), *dir(self.__replaces__)})


def _missing(module: str, name: str) -> str:
  ours = MODULES.get(module)
  if ours is None:
    return f"{module}.{name}: Tilewright replaces {PALLAS}, and has nothing in place of {module}. Run this part with JAX alone."
  return (
    f"{module}.{name}: {ours}, which Tilewright put in place of {module}, has no name {name!r}. docs/api.md lists the names it has; "
    "if JAX has this one, the program needs JAX's own module: run it without replace_pallas()."
  )


class _Loader(importlib.abc.Loader):
  def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
    return ReplacementModule(spec.name, MODULES.get(spec.name))

  def exec_module(self, module: types.ModuleType) -> None:
    """A stand-in has its names from the start."""


class _Finder(importlib.abc.MetaPathFinder):
  """Finds the stand-ins, and refuses modules of JAX's Pallas that we have nothing for."""

  def find_spec(
    self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
  ) -> importlib.machinery.ModuleSpec | None:
    if fullname in ABSENT or (fullname in MODULES and importlib.util.find_spec(MODULES[fullname]) is not None):
      spec = importlib.machinery.ModuleSpec(fullname, _Loader(), origin="tilewright", is_package=True)
      if fullname == PALLAS:
        spec.submodule_search_locations = _folders_of_pallas()
      return spec
    if fullname == PRIVATE and not _below(_importer(), ("jax",)):
      warnings.warn(
        f"The program imports {PRIVATE}, a private package of JAX, which Tilewright does not replace: what it takes from there does not "
        "fit kernels that are compiled by Tilewright.",
        errors.ReplacementWarning,
        stacklevel=2,
      )
    parent, _, name = fullname.rpartition(".")
    if (parent not in MODULES and parent not in ABSENT) or fullname in PROGRAMS:
      return None
    # Reached by `import parent.name` and by `from parent import name` for a name that is not there. Without `name=` the import statement
    # shows this message instead of its own.
    raise ModuleNotFoundError(_missing(parent, name))


def _importer() -> str:
  """The module whose import statement is being carried out."""
  frame = sys._getframe(1)
  while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
    ("importlib", "tilewright.replacing")
  ):
    frame = frame.f_back
  return str(frame.f_globals.get("__name__", ""))


def _folders_of_pallas() -> list[str]:
  """Where JAX keeps its Pallas, for the programs beside it; found without importing it."""
  package = importlib.import_module(PALLAS.rpartition(".")[0])
  return [os.path.join(folder, "pallas") for folder in package.__path__]


# --- modules that are bound to one or the other --------------------------------------------------------------------


def _below(name: str, packages: Iterable[str]) -> bool:
  return any(f"{name}.".startswith(f"{package}.") for package in packages)


def _bound_to(modules: Mapping[str, types.ModuleType], belongs: Callable[[str], bool]) -> list[str]:
  """The modules with a global that is a module, or a function or class of a module, that `belongs`; and those that hold one of these."""
  found: set[str] = set()
  while True:
    more = {name for name, module in modules.items() if name not in found and _holds(module, belongs, found)}
    if not more:
      return sorted(found)
    found |= more


def _holds(module: types.ModuleType, belongs: Callable[[str], bool], found: set[str]) -> bool:
  for value in list(getattr(module, "__dict__", {}).values()):
    if isinstance(value, types.ModuleType):
      home = value.__name__
    elif isinstance(value, types.FunctionType | type):
      home = value.__module__ or ""
    else:
      home = type(value).__module__  # members of an enumeration, instances of a spec
    if isinstance(home, str) and (belongs(home) or home in found):
      return True
  return False


# --- the switch ------------------------------------------------------------------------------------------------------


class Replacement:
  """What `replace_pallas` did, as a context manager that undoes it."""

  def __init__(self, undo: Callable[[], None]):
    self._undo: Callable[[], None] | None = undo

  def undo(self) -> None:
    """Put JAX's modules back."""
    undo, self._undo = self._undo, None
    if undo is not None:
      undo()

  def __enter__(self) -> Replacement:
    return self

  def __exit__(self, *exc: object) -> None:
    self.undo()


_lock = threading.RLock()
_active = 0
_finder = _Finder()


def replace_pallas() -> Replacement:
  """Let every import of `jax.experimental.pallas` and its modules find ours from now on, or inside a `with` statement.

  Inside another `replace_pallas`, nothing changes. Imports of other threads are replaced too.
  """
  global _active
  with _lock:
    _active += 1
    if _active > 1:
      return Replacement(_leave)
    _warn_of_old_bindings()
    before = dict(sys.modules)
    swapped = {name: module for name, module in before.items() if _below(name, (PALLAS,))}
    attribute = _take_attribute(PALLAS)
    for name in swapped:
      del sys.modules[name]
    generators = _take_generators(swapped)
    sys.meta_path.insert(0, _finder)
    importlib.invalidate_caches()

    def restore() -> None:
      sys.meta_path.remove(_finder)
      loaded = {
        name: module
        for name, module in list(sys.modules.items())
        if before.get(name) is not module and not _below(name, ("tilewright", "__main__"))
      }
      replaced_names = {name for name in loaded if _below(name, (PALLAS, MOSAIC))}
      ours = lambda home: home in replaced_names or _below(home, ("tilewright.pallas", "tilewright.tile"))
      forgotten = {*replaced_names, *_bound_to(loaded, ours)}
      for name in forgotten:
        if name.rpartition(".")[0] not in forgotten:
          _take_attribute(name)
        del sys.modules[name]
      _take_generators(forgotten)
      sys.modules.update(swapped)
      _put_attribute(PALLAS, attribute)
      _jax.prng.prngs.update(generators)

    _undo.append(restore)
    return Replacement(_leave)


_undo: list[Callable[[], None]] = []


def _leave() -> None:
  global _active
  with _lock:
    _active -= 1
    if not _active:
      _undo.pop()()


def is_replaced() -> bool:
  """Whether imports find our modules now."""
  return _active > 0


def _take_attribute(name: str) -> Any:
  """Remove a module from the attributes of its package: `from package import module` looks there first."""
  parent, _, child = name.rpartition(".")
  return getattr(sys.modules.get(parent), "__dict__", {}).pop(child, None)


def _put_attribute(name: str, value: Any) -> None:
  parent, _, child = name.rpartition(".")
  if parent in sys.modules:
    vars(sys.modules[parent]).pop(child, None)
    if value is not None:
      setattr(sys.modules[parent], child, value)


def _take_generators(modules: Collection[str]) -> dict[str, Any]:
  """Remove the random number generators that modules registered with JAX: they will again when they are loaded again."""
  registered = _jax.prng.prngs
  found = [name for name, impl in registered.items() if getattr(impl.random_bits, "__module__", None) in modules]
  return {name: registered.pop(name) for name in found}


def _warn_of_old_bindings() -> None:
  outside = {
    name: module
    for name, module in list(sys.modules.items())
    if not _below(name, ("jax", "jaxlib", "tilewright")) and isinstance(module, types.ModuleType)
  }
  if not any(_below(name, (PALLAS,)) for name in list(sys.modules)):
    return  # no module can be bound to one that was never loaded
  theirs = lambda home: _below(home, (PALLAS, PRIVATE))
  if late := sorted(name for name, module in outside.items() if _holds(module, theirs, set())):
    shown = ", ".join(late[:5]) + (f" and {len(late) - 5} more" if len(late) > 5 else "")
    warnings.warn(
      f"replace_pallas: {shown} imported {PALLAS} before, and keep JAX's own. Call replace_pallas() before they are imported, import them "
      "again with importlib.reload, or start the program with `tilewright run`.",
      errors.ReplacementWarning,
      stacklevel=3,
    )


__all__ = ["Replacement", "is_replaced", "replace_pallas"]
