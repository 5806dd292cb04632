"""Roles of warpgroups: which of them run which code, as an op.

A condition on the number of the warpgroup alone chooses the same block whenever a warpgroup comes to it:

    %w = program_id {axis=2}
    %c = eq %w, %two                                   producer or consumer
    switch %c () { … } () { … }                   →    warps %c {groups=[[0, 1], [2]]} () { … } () { … }
"""

from __future__ import annotations

from tilewright.target.nvgpu.ir.ops import WARPS
from tilewright.target.nvgpu.passes.warpgroup_effects import Roles
from tilewright.tile.ir import walk
from tilewright.tile.native import NativeKernel


def name(kernel: NativeKernel) -> None:
  """Turn such switches of a kernel of several warpgroups into `warps`. In place."""
  roles = Roles(kernel)
  for op in walk(kernel.body.body):
    if kernel.warpgroups > 1 and roles.comes_to(op) and roles.is_by_role(op):
      groups = tuple(tuple(sorted(own)) for own in roles.runs(op))
      op.name, op.attrs = WARPS, {**op.attrs, "groups": groups}
