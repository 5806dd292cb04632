"""Tilewright: the kernel compiler that stays in JAX.

`tilewright.pallas` is the kernel language, `tilewright.hlo` the program XLA compiles, as Python objects. `fuse_into`
fuses a program into a library kernel; `accelerate` finds kernels in ordinary programs; `replace_pallas` runs programs
written for JAX's own Pallas unchanged; `tune` chooses parameters of kernels by measurement.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"


# Names that bring more with them than the command always needs: they are imported when they are asked for.
_LATE = {
  "fuse_into": "tilewright.fusing",
  "pretend": "tilewright.runtime.pretend",
  "replace_pallas": "tilewright.replacing",
  "choice": "tilewright.tune",
  "range": "tilewright.tune",
  "power_of_two": "tilewright.tune",
  "build": "tilewright.tune",
  "tuning": "tilewright.tune",
}


def __getattr__(name: str) -> Any:
  if name in ("accelerate", "tune"):  # packages that are called
    return importlib.import_module(f"tilewright.{name}")
  if name in _LATE:
    return getattr(importlib.import_module(_LATE[name]), name)
  raise AttributeError(f"module 'tilewright' has no attribute {name!r}")
