"""Reshapes sink below elementwise instructions, so that producers and consumers meet: add(reshape(a), reshape(b)) becomes
reshape(add(a, b)).

Precondition and proof: `sinking.py`; a reshape keeps the elements and their order, so two reshapes from equal dimensions to
equal dimensions are the same bijection. Row-major layouts only. A reshape moves down at most as far as the root, so the pass
ends.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.ir import Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.sinking import sink


@register_pass("reshape_mover")
@dataclass(frozen=True)
class ReshapeMover(Pass):
  """Moves reshapes below elementwise instructions."""

  def run(self, module: Module) -> bool:
    return sink(module, "reshape", lambda reshape: reshape.shape.dimensions)
