"""A registry by which a package provides a module to another one that must not depend on it; the module is imported on demand.

    plugins.register("block_scaling", "tilewright.numerics.hlo_kernels")     # by the provider: the name of the module, without importing it
    plugins.load("block_scaling")                                        # by the user, when it needs them

A loaded module is imported once, and adds its rows to the table of the user.
"""

from __future__ import annotations

import importlib

_registered: dict[str, list[str]] = {}


def register(to: str, module: str) -> None:
  """Register a module under the name of the table that it extends."""
  _registered.setdefault(to, []).append(module)


def load(to: str) -> None:
  """Import the modules registered since the last call."""
  for module in _registered.pop(to, ()):
    importlib.import_module(module)
