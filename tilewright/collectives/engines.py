"""Packages of others that move data between GPUs: whether they are here, and in which version.

engines.require("nccl")      the module, or an error that says what to install
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
from typing import Any

from tilewright import errors


@dataclasses.dataclass(frozen=True)
class Engine:
  """A package: its distribution, the module it is imported as, the first version that will do, and the extra that installs it."""

  name: str
  distribution: str
  module: str
  minimum: str
  extra: str


ENGINES = {
  "nccl": Engine("nccl", "nccl4py", "nccl.core", "0.1", "nccl"),
  "nvshmem": Engine("nvshmem", "nvshmem4py-cu13", "nvshmem.core", "0.1.3", "nvshmem"),
}


class EngineError(errors.UnsupportedFeatureError):
  """An engine that is not installed, too old, or does not load."""


def _numbers(version: str) -> tuple[int, ...]:
  return tuple(int(part) for part in version.split(".") if part.isdigit())


def version(name: str) -> str | None:
  """The version that is installed, or None."""
  try:
    return importlib.metadata.version(ENGINES[name].distribution)
  except importlib.metadata.PackageNotFoundError:
    return None


def problem(name: str) -> str | None:
  """What keeps an engine from being used, with what to do about it; None if nothing does."""
  engine, found = ENGINES[name], version(name)
  install = f"pip install 'tilewright[{engine.extra}]'"
  if found is None:
    return f"the package {engine.distribution} is not installed: {install}"
  if _numbers(found) < _numbers(engine.minimum):
    return f"{engine.distribution} {found} is too old, {engine.minimum} is needed: {install}"
  try:
    importlib.import_module(engine.module)
  except Exception as error:  # a library that is missing, or of another CUDA
    return f"{engine.distribution} {found} does not load: {type(error).__name__}: {error}"
  return None


def require(name: str) -> Any:
  """The module of an engine. It raises `EngineError` where it cannot be used."""
  found = problem(name)
  if found is not None:
    raise EngineError(f"tilewright.collectives.{name}: {found}.")
  return importlib.import_module(ENGINES[name].module)


def require_member(module: Any, path: str, name: str) -> Any:
  """A function of an engine, or an error that names the version that lacks it."""
  found = module
  for part in path.split("."):
    found = getattr(found, part, None)
    if found is None:
      raise EngineError(
        f"tilewright.collectives.{name}: {ENGINES[name].distribution} {version(name)} has no {module.__name__}.{path}, which this "
        "needs. Install a newer version."
      )
  return found
