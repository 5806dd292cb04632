"""All-reduce splitting: if devices keep only parts of the result, fewer parts than devices, two all-reduces move less data.

    r = all-reduce(x), {0,1,2,3,4,5,6,7}          a = all-reduce(x), {0,1,2,3},{4,5,6,7}
    y = dynamic-slice(r, part id mod 4)      →    b = dynamic-slice(a, part id mod 4)
                                                  y = all-reduce(b), {0,4},{1,5},{2,6},{3,7}

The first with its slice is a reduce-scatter (`reduce_scatter_creator`). Precondition: as there, with every part kept by equally
many members of a group; ids are devices, or replicas where there is one partition. With `only_known_groups`, some other all-
reduce of the module must have the groups of the second one, so that no new communicator is needed. *Proof.* A member of a first
group holds the reduction over that group; the members of a second group keep the same part, one from each first group, so
reducing those reduces over all.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.groups import Groups, ListGroups
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import groups_of, next_channel, reducer
from tilewright.hlo.passes.device_values import device_groups
from tilewright.hlo.passes.reduce_scatter_creator import part_numbers, slice_of


@register_pass("all_reduce_splitter")
@dataclass(frozen=True)
class AllReduceSplitter(Pass):
  """Splits an all-reduce that feeds a per-device dynamic-slice into one before and one after the slice."""

  only_known_groups: bool = True  # the second all-reduce's groups are those of another all-reduce

  def run(self, module: Module) -> bool:
    changed = False
    reductions = [i for i in module.instructions() if i.opcode == "all-reduce"]
    for instruction in reductions:
      if instruction.parent is not None and not instruction.parent.is_fusion:
        others = {_canonical(groups_of(i)) for i in reductions if i is not instruction}
        changed |= self._split(instruction, module, others)
    return changed

  def _split(self, reduction: Instruction, module: Module, known: set[Groups]) -> bool:
    by_device = bool(reduction.attrs.get("use_global_device_ids"))
    by_replica = not reduction.attrs.get("channel_id") and module.num_partitions == 1
    piece = slice_of(reduction) if by_device or by_replica else None
    if piece is None or piece.whole is not reduction or reducer(reduction) is None:
      return False
    parts = part_numbers(piece, module)
    if parts is None:
      return False
    first: list[tuple[int, ...]] = []
    second: list[tuple[int, ...]] = []
    for group in device_groups(reduction, module):
      keepers = [[d for d in group if int(parts[d]) == part] for part in range(piece.parts)]
      copies = len(keepers[0])
      if copies < 2 or any(len(k) != copies for k in keepers) or copies * piece.parts != len(group):
        return False
      first += [tuple(k[n] for k in keepers) for n in range(copies)]
      second += [tuple(k) for k in keepers]
    if self.only_known_groups and _canonical(tuple(second)) not in known:
      return False
    assert reduction.parent is not None
    reduction.attrs["replica_groups"] = ListGroups(tuple(first))
    again = clone_instruction(reduction, (), piece.cut.shape)
    again.sharding = again.origin = None
    again.attrs["replica_groups"] = ListGroups(tuple(second))
    if again.attrs.get("channel_id"):
      again.attrs["channel_id"] = next_channel(module)
    computation, cut = reduction.parent, piece.cut
    users, is_root = cut.users, cut.is_root
    again.set_operands((cut,))
    place = computation.instructions.index(cut) + 1
    following = computation.instructions[place] if place < len(computation.instructions) else None
    computation.insert(again, before=following)
    for user in users:
      user.replace_uses_of(cut, again)
    if is_root:
      computation.root = again
    return True


def _canonical(groups: Groups) -> Groups:
  return tuple(sorted(tuple(sorted(group)) for group in groups))
