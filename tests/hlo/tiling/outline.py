"""Tiled fusions put into the program as calls of their bodies: the program must compute what it did."""

from __future__ import annotations

from collections.abc import Iterable

from tilewright.hlo import Instruction, Module, Shape
from tilewright.hlo.clone import clone_computation
from tilewright.hlo.passes import run_passes
from tilewright.hlo.tiling import TiledFusion


def outline(fusions: Iterable[TiledFusion]) -> None:
  """Replaces each region by a call, then drops what is dead. The module is changed."""
  module: Module | None = None
  replaced: dict[Instruction, Instruction] = {}
  for fusion in fusions:
    region = fusion.region
    module = region.parent.parent
    assert module is not None
    body = module.add_computation(clone_computation(region.body, "outlined"))
    inputs = [replaced.get(i, i) for i in region.inputs]
    call = region.parent.insert(Instruction("call", "call", body.root.shape, tuple(inputs), {"to_apply": body}))
    leaves: dict[Instruction, list[Instruction]] = {}
    for k, output in enumerate(region.outputs):
      value = call
      if call.shape.is_tuple:
        value = region.parent.insert(Instruction("out", "get-tuple-element", output.root.shape, (call,), {"index": k}))
      leaves.setdefault(output.instruction, []).append(value)
    for old, values in leaves.items():
      new = values[0]
      if old.shape.is_tuple:
        new = region.parent.insert(
          Instruction("outs", "tuple", Shape.tuple_of(*(v.shape for v in values)), tuple(values))
        )
      old.replace_all_uses_with(new)
      replaced[old] = new
  if module is not None:
    module.is_scheduled = False
    run_passes(module, ["dce"], verify=False)
