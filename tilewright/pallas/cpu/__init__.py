"""Native kernels on the CPU: what there is to say about them besides what every target is told.

A kernel becomes native code wherever it is compiled for the CPU. One with `compiler_params=cpu.CompilerParams()` is for the CPU only:
compiled for another platform, it raises an error instead of taking the portable lowering.
"""

from __future__ import annotations

import dataclasses

from tilewright.pallas.native_params import NativeParams


@dataclasses.dataclass(frozen=True)
class CompilerParams(NativeParams):
  """Parameters of the CPU target: `dimension_semantics` and `has_side_effects`, see `NativeParams`."""


__all__ = ["CompilerParams"]
