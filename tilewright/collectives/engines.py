"""Packages of others that move data between GPUs: whether they are here, and in which version.

engines.require("nccl")      the module, or an error that says what to install
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import importlib.metadata
from typing import Any

from tilewright import errors


@dataclasses.dataclass(frozen=True)
class Engine:
  """A package: its distributions (one for each CUDA, any will do), the module it is imported as, the first version that will do, the
  extra that installs it, and the library that it calls, as `cuda.pathfinder` knows it."""

  name: str
  distributions: tuple[str, ...]
  module: str
  minimum: str
  extra: str
  library: str


ENGINES = {
  "nccl": Engine("nccl", ("nccl4py",), "nccl.core", "0.1", "nccl", "nccl"),
  "nvshmem": Engine(
    "nvshmem", ("nvshmem4py-cu13", "nvshmem4py-cu12"), "nvshmem.core", "0.1.3", "nvshmem", "nvshmem_host"
  ),
}


class EngineError(errors.UnsupportedFeatureError):
  """An engine that is not installed, too old, or does not load."""


def _numbers(version: str) -> tuple[int, ...]:
  return tuple(int(part) for part in version.split(".") if part.isdigit())


def installed(name: str) -> tuple[str, str | None]:
  """The distribution of an engine that is installed and its version; the first one and None if there is none."""
  distributions = ENGINES[name].distributions
  for distribution in distributions:
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
      return distribution, importlib.metadata.version(distribution)
  return distributions[0], None


def version(name: str) -> str | None:
  """The version that is installed, or None."""
  return installed(name)[1]


def problem(name: str) -> str | None:
  """What keeps an engine from being used, with what to do about it; None if nothing does."""
  engine, (distribution, found) = ENGINES[name], installed(name)
  install = f"pip install 'tilewright[{engine.extra}]'"
  if found is None:
    return f"the package {' or '.join(engine.distributions)} is not installed: {install}"
  if _numbers(found) < _numbers(engine.minimum):
    return f"{distribution} {found} is too old, {engine.minimum} is needed: {install}"
  try:
    importlib.import_module(engine.module)
  except Exception as error:  # a library that is missing, or of another CUDA
    return f"{distribution} {found} does not load: {type(error).__name__}: {error}"
  missing = _missing_library(engine)
  return None if missing is None else f"{distribution} {found} finds no library of NVIDIA's: {missing}"


def _missing_library(engine: Engine) -> str | None:
  """Why the library of an engine cannot be loaded, or None. Versions that do not look for it by `cuda.pathfinder` are believed."""
  try:
    pathfinder = importlib.import_module("cuda.pathfinder")
  except ImportError:
    return None
  try:
    pathfinder.load_nvidia_dynamic_lib(engine.library)
  except Exception as error:
    return str(error).strip()
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
        f"tilewright.collectives.{name}: {' '.join(map(str, installed(name)))} has no {module.__name__}.{path}, which this "
        "needs. Install a newer version."
      )
  return found
