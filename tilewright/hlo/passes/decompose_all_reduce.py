"""An all-reduce as a reduce-scatter and an all-gather, so that other work can go between the two.

    y = all-reduce(x)      s = reduce-scatter(flat x)     y = all-gather(s), shaped back

Precondition: groups of one known size g > 1, a number of elements that g divides, at least `min_bytes`, no control edges, no
constrained layout. *Proof.* Member k of a group gets part k of the reduced array, and the all-gather of the same groups puts
the parts together in the order of the members: every member holds the whole reduced array. Each element is reduced
once, by the same reducer, over the same devices.

The flat form is the array in row-major order. Where the layout is another one, the reshape would move memory, and the
dimension that varies slowest is cut instead if g divides it; else the all-reduce stays.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import Channels, group_size, has_control_edges
from tilewright.hlo.passes.combine_collectives import replace_results
from tilewright.hlo.shape import Shape


@register_pass("decompose_all_reduce")
@dataclass(frozen=True)
class DecomposeAllReduce(Pass):
  """Decomposes large all-reduces into a reduce-scatter and an all-gather."""

  min_bytes: int = 1 << 20  # of each operand: below that, two latencies cost more than they hide

  def run(self, module: Module) -> bool:
    changed = False
    channels = Channels(module)
    for computation in module.computations:
      for instruction in list(computation.instructions):
        if instruction.opcode == "all-reduce" and not computation.is_fusion and self._is_wanted(instruction, module):
          decompose(instruction, module, channels)
          changed = True
    return changed

  def _is_wanted(self, instruction: Instruction, module: Module) -> bool:
    size = group_size(instruction, module)
    if size is None or size < 2 or has_control_edges(instruction) or instruction.attrs.get("constrain_layout"):
      return False
    shapes = [operand.shape for operand in instruction.operands]
    return all(s.byte_size >= self.min_bytes and scattered_dimension(s, size) is not None for s in shapes)


def scattered_dimension(shape: Shape, size: int) -> int | None:
  """Which dimension to cut into `size` parts; -1 for all of them, flattened; None if it cannot be cut evenly."""
  if shape.is_dynamic or not shape.num_elements or not shape.dimensions:
    return None
  slowest = shape.layout.minor_to_major[-1] if shape.layout is not None else 0
  if shape.dimensions[slowest] % size == 0:
    return slowest
  plain = shape.layout is None or (shape.layout.is_descending and not shape.layout.tiles)
  return -1 if plain and shape.num_elements % size == 0 else None


def decompose(instruction: Instruction, module: Module, channels: Channels) -> None:
  assert instruction.parent is not None
  size = group_size(instruction, module)
  assert size is not None
  builder = Builder(instruction.parent, before=instruction, metadata=instruction.metadata)
  results: list[Instruction] = []
  first = True
  for operand in instruction.operands:
    dimension = scattered_dimension(operand.shape, size)
    assert dimension is not None
    flat = dimension < 0
    x = builder.reshape(operand, (operand.shape.num_elements,)) if flat else operand
    axis = 0 if flat else dimension
    part = tuple(d // size if i == axis else d for i, d in enumerate(x.shape.dimensions))
    part_shape = x.shape.with_dimensions(part).with_layout(x.shape.layout)
    scattered = _collective(instruction, "reduce-scatter", x, part_shape, axis, builder, channels, first)
    gathered = _collective(instruction, "all-gather", scattered, x.shape, axis, builder, channels, False)
    del gathered.attrs["to_apply"]
    results.append(builder.op("reshape", (gathered,), operand.shape) if flat else gathered)
    first = False
  replace_results(instruction, results)


def _collective(
  model: Instruction,
  opcode: str,
  operand: Instruction,
  shape: Shape,
  axis: int,
  builder: Builder,
  channels: Channels,
  keeps_channel: bool,
) -> Instruction:
  """A collective among the same devices as `model`."""
  new = clone_instruction(model, (operand,), shape, opcode)
  new.opcode, new.sharding, new.origin = opcode, None, None
  new.attrs["dimensions"] = (axis,)
  if new.attrs.get("channel_id") and not keeps_channel:
    new.attrs["channel_id"] = channels.take()
  return builder.computation.insert(new, before=builder.before)
