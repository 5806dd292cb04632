"""The NVIDIA GPU target's interface: compiler parameters, layouts, and reports of generated code.

A kernel compiles to native code wherever it is compiled for an NVIDIA GPU. A kernel with `compiler_params=nvgpu.CompilerParams()` is only
for these: compiled for another platform, it raises an error. `layout_cast` fixes which thread holds which element of a tile. `report`
returns the generated code and the resource usage of a function's kernels, on any machine.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from tilewright import errors
from tilewright.pallas.native_params import NativeParams
from tilewright.pallas.nvgpu.inspection import Report, report
from tilewright.pallas.nvgpu.layouts import layout_cast, print_layout
from tilewright.pallas.nvgpu.profiling import profile
from tilewright.tile.pipeline import Pipeline


@dataclasses.dataclass(frozen=True)
class CompilerParams(NativeParams):
  """Parameters of the NVIDIA target: those of `NativeParams`, and

  - `num_warps`, the number of warps of a CTA; if omitted, it is chosen by the size of the data blocks.
  - `cluster`, a size for each grid dimension: so many neighbouring instances of a matrix product along the grid, by TMA and wgmma (sm_90a),
    run together, and what they share of the operands is read from global memory once. At most eight in all. Devices without clusters do as
    without it; a kernel in which nothing can be shared is an error.
  - `pipeline`, a `Pipeline`: stages, engines and instructions of a matrix product along the grid, where they should not be the compiler's
    choice. A kernel that cannot have it is an error.
  - `writes_all`, a promise that an output which instances see whole and write at computed offsets is written completely. Without it, such
    an output is pre-filled with poison, which takes as long as writing it.
  """

  num_warps: int | None = None
  cluster: Sequence[int] | None = None
  pipeline: Pipeline | None = None
  writes_all: bool = False

  def __post_init__(self) -> None:
    super().__post_init__()
    if self.cluster is not None:
      object.__setattr__(
        self, "cluster", tuple(self.cluster) if isinstance(self.cluster, Sequence) else (self.cluster,)
      )
      if not all(isinstance(n, int) and n > 0 for n in self.cluster) or math.prod(self.cluster) > 8:
        raise errors.GridError(f"cluster: expected positive sizes, at most 8 in all, got {self.cluster}.")
    if self.num_warps is not None and self.num_warps not in (1, 2, 4, 8, 16, 32):
      raise errors.GridError(f"num_warps: expected 1, 2, 4, 8, 16 or 32, got {self.num_warps}.")


__all__ = ["CompilerParams", "Pipeline", "Report", "layout_cast", "print_layout", "profile", "report"]
