"""Passes over HLO modules. Every module in this folder registers the passes it defines; `PASSES` lists them by name."""

from __future__ import annotations

import importlib
import pkgutil

from tilewright.hlo.passes.base import (
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

for _module in pkgutil.iter_modules(__path__):
  importlib.import_module(f"{__name__}.{_module.name}")

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
