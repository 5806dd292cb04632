"""Tilewright: the kernel compiler that stays in JAX.

`tilewright.pallas` is the kernel language, `tilewright.hlo` the program XLA compiles, as Python objects. `fuse_into`
fuses a program into a library kernel.
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
  """`fuse_into` brings the kernel language with it, which the command does not always need: it is imported when it is
  asked for."""
  if name == "fuse_into":
    from tilewright.fusing import fuse_into

    return fuse_into
  raise AttributeError(f"module 'tilewright' has no attribute {name!r}")
