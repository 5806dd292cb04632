"""Gathering before broadcasting: an all-gather of a broadcast moves copies of the same elements.

    all-gather(broadcast(x, f32[8] → f32[4,8]), dimension 1)   →   broadcast(all-gather(x, dimension 0))
    all-gather(broadcast(x, f32[8] → f32[4,8]), dimension 0)   →   x as a row [1,8], gathered to [n,8], each row broadcast 4 times

*Proof.* Dimension 1 of the result is dimension 0 of `x`: gathering commutes with repeating along another dimension. Dimension 0 is new:
part k of the result along it holds the `x` of member k, 4 times.

Left alone: broadcasts that only add dimensions of size 1, constrained layouts, control edges, several operands.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges
from tilewright.hlo.passes.while_loops import remove_dead
from tilewright.hlo.shape import Shape


@register_pass("all_gather_broadcast_reorder")
@dataclass(frozen=True)
class AllGatherBroadcastReorder(Pass):
  """Moves all-gathers before the broadcasts they gather."""

  def run(self, module: Module) -> bool:
    changed = False
    for computation in module.computations:
      for instruction in list(computation.instructions):
        if instruction.opcode == "all-gather" and _is_wanted(instruction):
          _reorder(instruction)
          changed = True
    return changed


def _is_wanted(gather: Instruction) -> bool:
  if (
    len(gather.operands) != 1
    or gather.shape.is_tuple
    or has_control_edges(gather)
    or gather.attrs.get("constrain_layout")
  ):
    return False
  (spread,) = gather.operands
  if spread.opcode != "broadcast" or has_control_edges(spread) or gather.shape.is_dynamic:
    return False
  return 0 < spread.operands[0].shape.num_elements < spread.shape.num_elements


def _reorder(gather: Instruction) -> None:
  computation, (spread,) = gather.parent, gather.operands
  assert computation is not None
  builder = Builder(computation, before=gather, metadata=gather.metadata)
  (x,), places = spread.operands, tuple(spread.attrs.get("dimensions", ()))
  (axis,) = gather.attrs["dimensions"]
  members = gather.shape.dimensions[axis] // spread.shape.dimensions[axis]
  if axis in places:
    own = places.index(axis)
    gathered = _gathered(gather, x, own, members, builder)
    value = builder.op("broadcast", (gathered,), gather.shape, dimensions=places)
  else:
    row = builder.reshape(x, (1, *x.shape.dimensions))
    gathered = _gathered(gather, row, 0, members, builder)
    # The members' dimension stands right before the one that repeats: together they are the gathered dimension.
    dims = spread.shape.dimensions
    wide = (*dims[:axis], members, *dims[axis:])
    moved = (axis, *(p if p < axis else p + 1 for p in places))
    value = builder.op("broadcast", (gathered,), Shape.array(x.shape.element_type, wide), dimensions=moved)
    value = builder.op("reshape", (value,), gather.shape)
  value.sharding = gather.sharding
  computation.replace(gather, value)
  remove_dead(computation, [spread])


def _gathered(gather: Instruction, x: Instruction, axis: int, members: int, builder: Builder) -> Instruction:
  dims = tuple(d * members if i == axis else d for i, d in enumerate(x.shape.dimensions))
  new = clone_instruction(gather, (x,), x.shape.with_dimensions(dims))
  new.sharding = new.origin = None
  new.attrs["dimensions"] = (axis,)
  return builder.computation.insert(new, before=builder.before)
