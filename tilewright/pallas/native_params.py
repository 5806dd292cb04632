"""The compiler parameters shared by all native targets. The targets' own parameters (`cpu`, `nvgpu`) extend them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from tilewright import errors


@dataclasses.dataclass(frozen=True)
class NativeParams:
  """`dimension_semantics` declares for each grid dimension whether its instances may run concurrently ("parallel") or must run in
  order ("arbitrary"). If omitted, a dimension is parallel only where that is proven. A kernel with `has_side_effects` runs even if its
  outputs are unused.
  """

  parallel_dims_anywhere: ClassVar[bool] = True  # not only before the others, as on TPUs

  dimension_semantics: Sequence[str] | None = None
  has_side_effects: bool = False

  def __post_init__(self) -> None:
    if self.dimension_semantics is not None:
      object.__setattr__(self, "dimension_semantics", tuple(self.dimension_semantics))
      unknown = set(self.dimension_semantics) - {"parallel", "arbitrary"}
      if unknown:
        raise errors.GridError(f"dimension_semantics: expected 'parallel' or 'arbitrary', got {sorted(unknown)}.")
