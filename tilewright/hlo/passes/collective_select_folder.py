"""Folding of a select that feeds a collective-permute, where all sources of the permute choose the same side.

    s = select(broadcast(partition-id() == 0), a, b)
    y = collective-permute(s), source_target_pairs={{0,1}}           →   collective-permute(a)
    z = collective-permute(s), source_target_pairs={{1,2},{2,3}}     →   collective-permute(b)

A pipeline selects between new input in its first stage and what arrived in the others, and sends one or the other on.

*Proof.* A permute reads the value on its sources only. The predicate depends on nothing but the device's number (`device_values.py`), and
on every source all its elements agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.device_values import per_device
from tilewright.hlo.passes.while_loops import remove_dead


@register_pass("collective_select_folder")
@dataclass(frozen=True)
class CollectiveSelectFolder(Pass):
  """Folds selects by the device's number into the collective-permutes that use them."""

  def run(self, module: Module) -> bool:
    changed = False
    for computation in module.computations:
      for instruction in list(computation.instructions):
        if instruction.opcode == "collective-permute" and len(instruction.operands) == 1:
          while _fold(instruction, module):
            changed = True
    return changed


def _fold(permute: Instruction, module: Module) -> bool:
  (chosen,) = permute.operands
  if chosen.opcode != "select":
    return False
  condition = chosen.operands[0]
  if condition.opcode == "broadcast":
    condition = condition.operands[0]
  answers = per_device(condition, module)
  if answers is None:
    return False
  sources = _sources(permute, module)
  if sources is None:
    return False
  found = {answer for device in sources for answer in np.unique(answers[device]).tolist()}
  if len(found) != 1:
    return False
  side = chosen.operands[1 if found.pop() else 2]
  permute.replace_operand(0, side)
  assert permute.parent is not None
  remove_dead(permute.parent, [chosen])
  return True


def _sources(permute: Instruction, module: Module) -> list[int] | None:
  """Every device that sends; None if one of them does not exist."""
  ids = [source for source, _ in permute.attrs["source_target_pairs"]]
  replicas, partitions = module.replica_count, module.num_partitions
  by_partition = bool(permute.attrs.get("channel_id"))
  if any(not 0 <= i < (partitions if by_partition else replicas) for i in ids):
    return None
  if by_partition:
    return [r * partitions + i for i in ids for r in range(replicas)]
  return [i * partitions + p for i in ids for p in range(partitions)]
