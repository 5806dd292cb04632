"""Native kernels on the CPU: what there is to say about them besides what every target is told.

A kernel becomes native code wherever it is compiled for the CPU. One with `compiler_params=cpu.CompilerParams()` is for the CPU only:
compiled for another platform, it raises an error instead of taking the portable lowering.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tilewright import errors


@dataclasses.dataclass(frozen=True)
class CompilerParams:
  """Parameters of the CPU target.

  `dimension_semantics` says for each grid dimension whether its instances may run at the same time ("parallel") or must keep their order
  ("arbitrary"). Left out, a dimension is parallel only where that is proven.
  """

  dimension_semantics: Sequence[str] | None = None
  has_side_effects: bool = False

  def __post_init__(self) -> None:
    if self.dimension_semantics is not None:
      object.__setattr__(self, "dimension_semantics", tuple(self.dimension_semantics))
      unknown = set(self.dimension_semantics) - {"parallel", "arbitrary"}
      if unknown:
        raise errors.GridError(f"dimension_semantics: expected 'parallel' or 'arbitrary', got {sorted(unknown)}.")


__all__ = ["CompilerParams"]
