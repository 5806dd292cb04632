"""Transposes sink below elementwise instructions: add(transpose(a), transpose(b)) by one permutation becomes
transpose(add(a, b)).

Precondition and proof: `sinking.py`; equal permutations are the same bijection of positions. Row-major layouts only (after
layout assignment a transpose may be a bitcast, which is the back end's business). A transpose moves down at most as far as
the root, so the pass ends.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.ir import Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.sinking import sink


@register_pass("transpose_mover")
@dataclass(frozen=True)
class TransposeMover(Pass):
  """Moves transposes below elementwise instructions."""

  def run(self, module: Module) -> bool:
    return sink(module, "transpose", lambda transpose: transpose.attrs["dimensions"])
