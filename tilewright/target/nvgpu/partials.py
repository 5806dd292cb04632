"""Results of reductions that the warps of a block have not put together yet."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from llvmlite import ir

from tilewright.target.llvm.loops import Index, mul
from tilewright.target.nvgpu import views
from tilewright.target.nvgpu.arithmetic import combine, horizontal
from tilewright.target.nvgpu.views import View


@dataclasses.dataclass(eq=False)
class Partials(View):
  """The result of a reduction, of which each element lies in several parts side by side: whoever reads it combines them."""

  kind: str = "sum"
  parts: int = 1

  def load(self, b: ir.IRBuilder, index: Sequence[Index]) -> ir.Value:
    place = [Index(mul(b, i.base, self.parts)) for i in index]
    lanes = math.gcd(self.parts, 4)
    parts = View(self.pointer, (*self.strides, 1), self.dtype, self.base, align=lanes)
    total = None
    for first in range(0, self.parts, lanes):
      part = views.load(b, parts, [*place, Index(first, 1 if lanes > 1 else 0, lanes)], lanes)
      total = part if total is None else combine(b, self.kind, self.dtype, total, part)
    return horizontal(b, self.kind, self.dtype, total)
