"""What a native target may be told of a kernel, whichever it is. The targets' own parameters (`cpu`, `nvgpu`) are these and more."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tilewright import errors


@dataclasses.dataclass(frozen=True)
class NativeParams:
  """`dimension_semantics` says for each grid dimension whether its instances may run at the same time ("parallel") or must keep their
  order ("arbitrary"). Left out, a dimension is parallel only where that is proven. A kernel with `has_side_effects` runs though nobody
  uses its outputs.
  """

  dimension_semantics: Sequence[str] | None = None
  has_side_effects: bool = False

  def __post_init__(self) -> None:
    if self.dimension_semantics is not None:
      object.__setattr__(self, "dimension_semantics", tuple(self.dimension_semantics))
      unknown = set(self.dimension_semantics) - {"parallel", "arbitrary"}
      if unknown:
        raise errors.GridError(f"dimension_semantics: expected 'parallel' or 'arbitrary', got {sorted(unknown)}.")
