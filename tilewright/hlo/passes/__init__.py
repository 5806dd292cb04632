"""Passes over HLO modules. Every module in this folder registers the passes it defines; `PASSES` lists them by name."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Iterable

from tilewright.hlo.errors import HloPassWarning
from tilewright.hlo.passes.base import (
  BROKEN,
  PASSES,
  FunctionPass,
  HloPassError,
  Pass,
  PassFunction,
  PassLike,
  as_pass,
  make_pass,
  register_pass,
)
from tilewright.hlo.passes.manager import PassRun, Report, run_passes


def load(names: Iterable[str], package: str = __name__) -> None:
  """Imports the modules that define passes. A module that cannot be imported loses only its own passes; the error is reported when
  one of them is requested.
  """
  for name in names:
    try:
      importlib.import_module(f"{package}.{name}")
    except Exception as error:
      BROKEN[name] = error
      message = f"{package}.{name} cannot be imported, so its passes are missing: {type(error).__name__}: {error}"
      warnings.warn(message, HloPassWarning, stacklevel=2)


load(module.name for module in pkgutil.iter_modules(__path__))

__all__ = [
  "PASSES",
  "FunctionPass",
  "HloPassError",
  "Pass",
  "PassFunction",
  "PassLike",
  "PassRun",
  "Report",
  "as_pass",
  "make_pass",
  "register_pass",
  "run_passes",
]
