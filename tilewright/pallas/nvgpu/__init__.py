"""Native kernels on NVIDIA GPUs: `compiler_params=nvgpu.CompilerParams()` compiles a kernel to PTX instead of lowering it to XLA.

A kernel that uses something the native target cannot compile yet raises an error that names it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tilewright import errors


@dataclasses.dataclass(frozen=True)
class CompilerParams:
  """Parameters of the NVIDIA target.

  `num_warps` is the number of warps of a block of threads; left out, it is chosen by the size of the blocks of data.
  `dimension_semantics` says for each grid dimension whether its instances may run at the same time ("parallel") or must keep their order
  ("arbitrary"). Left out, a dimension is parallel only where that is proven.
  """

  num_warps: int | None = None
  dimension_semantics: Sequence[str] | None = None
  has_side_effects: bool = False

  def __post_init__(self) -> None:
    if self.num_warps is not None and self.num_warps not in (1, 2, 4, 8, 16, 32):
      raise errors.GridError(f"num_warps: expected 1, 2, 4, 8, 16 or 32, got {self.num_warps}.")
    if self.dimension_semantics is not None:
      object.__setattr__(self, "dimension_semantics", tuple(self.dimension_semantics))
      unknown = set(self.dimension_semantics) - {"parallel", "arbitrary"}
      if unknown:
        raise errors.GridError(f"dimension_semantics: expected 'parallel' or 'arbitrary', got {sorted(unknown)}.")


__all__ = ["CompilerParams"]
