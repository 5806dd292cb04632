"""Flattening of the call graph: every call, loop, branch and fusion gets a computation of its own.

What two loops share cannot be changed for one of them, and has one set of buffers for both. Reductions and the like may stay shared: they
are not run as computations. *Proof.* A copy computes what the original does.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.ir import Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.while_loops import unshare


@register_pass("flatten_call_graph")
@dataclass(frozen=True)
class FlattenCallGraph(Pass):
  """Copies computations that several instructions call."""

  def run(self, module: Module) -> bool:
    before = len(module.computations)
    unshare(module)
    return len(module.computations) != before
