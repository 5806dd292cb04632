"""A registry by which a package provides a module to another one that must not depend on it; the module is imported on demand.

    offers.make("block_scaling", "tilewright.numerics.hlo_kernels")     # by the one that offers: the module's name, and no import
    offers.take("block_scaling")                                        # by the other one, when it needs what there is

A module that is taken is imported, once, and puts what it offers into the other's table.
"""

from __future__ import annotations

import importlib

_offered: dict[str, list[str]] = {}


def make(to: str, module: str) -> None:
  """Offer a module under the name of what it is for."""
  _offered.setdefault(to, []).append(module)


def take(to: str) -> None:
  """Import all that was offered since the last time."""
  for module in _offered.pop(to, ()):
    importlib.import_module(module)
