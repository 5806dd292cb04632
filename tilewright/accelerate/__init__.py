"""Acceleration of plain JAX programs: tiled fusions that are found in XLA's module and compiled by us.

    import tilewright
    tilewright.accelerate()                        # from now on
    with tilewright.accelerate(explain=True): ...  # or for a while, with the reasons
    @tilewright.accelerate                         # or for one function
    def model(params, batch): ...

The package itself is what one calls (`tilewright.accelerate(...)`). Its parts, in the order of compilation: `graph` (XLA's fusions opened),
`axes` (which dimensions are the same index), `tiles` (what a kernel's grid cuts), `costs` and `regions` (what is better as one kernel),
`emit` (the tile IR), `calls` (the custom call), `program` (the HLO pass), `session` (what users call), `report` and `page`.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from tilewright.accelerate.report import Decision, ModuleReport
from tilewright.accelerate.session import Acceleration, accelerate


class _CallablePackage(types.ModuleType):
  """`tilewright.accelerate` is a package and a function."""

  def __call__(self, *args: Any, **kwargs: Any) -> Any:
    return accelerate(*args, **kwargs)


sys.modules[__name__].__class__ = _CallablePackage

__all__ = ["Acceleration", "Decision", "ModuleReport", "accelerate"]
