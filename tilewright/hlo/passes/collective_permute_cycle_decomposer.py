"""A permute with cycles as two permutes without: each can be decomposed into sends and receives, or pipelined, by itself.

    y = collective-permute(x), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}

becomes the edges that close cycles, {{3,0}}, the rest, {{0,1},{1,2},{2,3}}, and a choice by the device's number.

*Proof.* Every device is the target of at most one pair. A target of a closing edge takes the first permute's value, all others
the second's, which is zero where the device is no target at all: as in the permute before.

Numbers are partitions with a channel and replicas without. `_xla_send_recv_validation`, which lists for each pair the trips of a loop
in which it is valid, is split with the pairs. Left alone: several operands, slices, control edges, pairs that name a
device twice, devices that send to themselves only, and what is below `min_bytes`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges, next_channel
from tilewright.hlo.passes.collective_permute_to_send_recv import Pairs, break_cycles, is_one_of
from tilewright.hlo.passes.valid_trips import VALIDATION, read_trips, write_trips


@register_pass("collective_permute_cycle_decomposer")
@dataclass(frozen=True)
class CollectivePermuteCycleDecomposer(Pass):
  """Splits collective-permutes with cycles into two without."""

  min_bytes: int = 0

  def run(self, module: Module) -> bool:
    changed = False
    for computation in module.computations:
      for instruction in list(computation.instructions):
        if self._is_wanted(instruction):
          _split(instruction, module)
          changed = True
    return changed

  def _is_wanted(self, instruction: Instruction) -> bool:
    if instruction.opcode != "collective-permute" or len(instruction.operands) != 1 or not instruction.shape.is_array:
      return False
    if "slice_sizes" in instruction.attrs or has_control_edges(instruction):
      return False
    pairs: Pairs = instruction.attrs["source_target_pairs"]
    once = len({s for s, _ in pairs}) == len({t for _, t in pairs}) == len(pairs)
    if not once or instruction.operands[0].shape.byte_size < self.min_bytes:
      return False
    return any(source != target for source, target in break_cycles(pairs)[1])


def _split(permute: Instruction, module: Module) -> None:
  assert permute.parent is not None
  builder = Builder(permute.parent, before=permute, metadata=permute.metadata)
  pairs: Pairs = permute.attrs["source_target_pairs"]
  paths, closing = break_cycles(pairs)
  trips = read_trips(permute)
  parts: list[Instruction] = []
  for number, some in enumerate((closing, paths)):
    part = clone_instruction(permute)
    part.sharding = part.origin = None
    part.attrs["source_target_pairs"] = some
    if number and part.attrs.get("channel_id"):
      part.attrs["channel_id"] = next_channel(module)
    if trips is not None and len(trips) == len(pairs):
      valid = dict(zip(pairs, trips))
      part.frontend_attributes[VALIDATION] = write_trips([valid[pair] for pair in some])
    parts.append(builder.computation.insert(part, before=permute))
  kind = "partition-id" if permute.attrs.get("channel_id") else "replica-id"
  chosen = is_one_of([target for _, target in closing], permute.shape, builder, kind)
  value = builder.op("select", (chosen, *parts), permute.shape)
  value.sharding = permute.sharding
  permute.parent.replace(permute, value)
