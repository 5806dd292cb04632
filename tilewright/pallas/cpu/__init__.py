"""The CPU target's interface: compiler parameters of native kernels.

A kernel compiles to native code wherever it is compiled for the CPU. A kernel with `compiler_params=cpu.CompilerParams()` is for the CPU
only: compiled for another platform, it raises an error instead of using the portable lowering.
"""

from __future__ import annotations

import dataclasses

from tilewright.pallas.native_params import NativeParams


@dataclasses.dataclass(frozen=True)
class CompilerParams(NativeParams):
  """Parameters of the CPU target: `dimension_semantics` and `has_side_effects`, see `NativeParams`."""


__all__ = ["CompilerParams"]
