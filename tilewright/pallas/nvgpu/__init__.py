"""Native kernels on NVIDIA GPUs: what there is to say about them besides what every target is told.

A kernel becomes native code wherever it is compiled for an NVIDIA GPU. One with `compiler_params=nvgpu.CompilerParams()` is for these only:
compiled for another platform, it raises an error. `layout_cast` says which thread holds which element of a tile. `report` says what a
function's kernels become and what they take, on any machine.
"""

from __future__ import annotations

import dataclasses

from tilewright import errors
from tilewright.pallas.native_params import NativeParams
from tilewright.pallas.nvgpu.inspection import Report, report
from tilewright.pallas.nvgpu.layouts import layout_cast


@dataclasses.dataclass(frozen=True)
class CompilerParams(NativeParams):
  """Parameters of the NVIDIA target: those of `NativeParams`, and `num_warps`, the number of warps of a block of threads; left out, it is
  chosen by the size of the blocks of data.
  """

  num_warps: int | None = None

  def __post_init__(self) -> None:
    super().__post_init__()
    if self.num_warps is not None and self.num_warps not in (1, 2, 4, 8, 16, 32):
      raise errors.GridError(f"num_warps: expected 1, 2, 4, 8, 16 or 32, got {self.num_warps}.")


__all__ = ["CompilerParams", "Report", "layout_cast", "report"]
