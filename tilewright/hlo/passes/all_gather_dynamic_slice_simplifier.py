"""An all-gather of which every device keeps one member's part: its own part needs no transfer, another's a permute only.

    g = all-gather(x), dimension 0    y = dynamic-slice(g, own number · rows)        →   y = x
    g = all-gather(x), dimension 0    y = dynamic-slice(g, table[own number])        →   y = collective-permute(x)

*Proof.* Part k along the gathered dimension is the operand of member k of the group. The slice's offsets depend on nothing but the
device's number (`device_values.py`), the other dimensions are kept whole, and the parts are whole parts. For the permute, the
parts that devices keep must be those of different members.

A reshape between the two is allowed if it leaves the gathered dimension first and whole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.hlo.builder import Builder
from tilewright.hlo.groups import Groups
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges, next_channel
from tilewright.hlo.passes.device_values import device_groups, per_device
from tilewright.hlo.passes.while_loops import remove_dead


@register_pass("all_gather_dynamic_slice_simplifier")
@dataclass(frozen=True)
class AllGatherDynamicSliceSimplifier(Pass):
  """Removes all-gathers of which each device keeps its own part."""

  allow_multiple_users: bool = False  # also where others use the gathered array

  def run(self, module: Module) -> bool:
    changed = False
    for cut, gather in _cuts(module, self.allow_multiple_users):
      kept = _kept_members(cut, gather, module)
      groups = device_groups(gather, module)
      if kept is not None and all(int(kept[d]) == i for group in groups for i, d in enumerate(group)):
        _replace(cut, gather.operands[0])
        changed = True
    return changed


@register_pass("all_gather_dynamic_slice_permuted_offset_simplifier")
@dataclass(frozen=True)
class AllGatherDynamicSlicePermutedOffsetSimplifier(Pass):
  """Replaces all-gathers of which each device keeps another member's part by collective-permutes."""

  allow_multiple_users: bool = False

  def run(self, module: Module) -> bool:
    changed = False
    for cut, gather in _cuts(module, self.allow_multiple_users):
      kept = _kept_members(cut, gather, module)
      pairs = None if kept is None else _pairs(gather, kept, module)
      if pairs is not None:
        _permute(cut, gather, pairs, module)
        changed = True
    return changed


def _cuts(module: Module, several: bool) -> list[tuple[Instruction, Instruction]]:
  """The dynamic-slices of all-gathers."""
  found: list[tuple[Instruction, Instruction]] = []
  for cut in [i for i in module.instructions() if i.opcode == "dynamic-slice"]:
    gather = cut.operands[0]
    whole = gather
    if gather.opcode in ("reshape", "bitcast") and not has_control_edges(gather):
      gather = gather.operands[0]
    if gather.opcode != "all-gather" or len(gather.operands) != 1 or gather.shape.is_tuple or gather.shape.is_dynamic:
      continue
    if whole is not gather and not _keeps_parts(gather, whole):
      continue
    alone = whole.user_count == gather.user_count == 1 and not whole.is_root and not gather.is_root
    if (alone or several) and not has_control_edges(gather) and not has_control_edges(cut):
      found.append((cut, gather))
  return found


def _keeps_parts(gather: Instruction, reshape: Instruction) -> bool:
  """Whether the reshaped array still holds the members' parts one after another along its first dimension."""
  plain = all(s.layout is None or s.layout.is_descending for s in (gather.shape, reshape.shape))
  same = gather.shape.element_type == reshape.shape.element_type
  members = gather.shape.dimensions[0] // max(gather.operands[0].shape.dimensions[0], 1)
  first = gather.attrs["dimensions"] == (0,) and reshape.shape.rank > 0
  return plain and same and first and members > 0 and reshape.shape.dimensions[0] % members == 0


def _kept_members(cut: Instruction, gather: Instruction, module: Module) -> np.ndarray | None:
  """Whose part each device keeps, as positions in the group; None if that is not known, or no whole part."""
  whole = cut.operands[0]
  axis = gather.attrs["dimensions"][0] if whole is gather else 0
  members = gather.shape.dimensions[axis if whole is gather else 0] // max(gather.operands[0].shape.dimensions[axis], 1)
  if members < 1 or len(cut.operands) != 1 + whole.shape.rank:
    return None
  part = whole.shape.dimensions[axis] // members
  for dimension, (full, kept) in enumerate(zip(whole.shape.dimensions, cut.shape.dimensions)):
    if kept != (part if dimension == axis else full):
      return None
  if not part or any(len(group) != members for group in device_groups(gather, module)):
    return None
  starts = per_device(cut.operands[1 + axis], module)
  if starts is None:
    return None
  starts = np.clip(starts.reshape(-1).astype(np.int64), 0, whole.shape.dimensions[axis] - part)
  return None if np.any(starts % part) else starts // part


def _pairs(gather: Instruction, kept: np.ndarray, module: Module) -> tuple[tuple[int, int], ...] | None:
  """(owner, keeper) as partitions or replicas; None if a member's part is kept twice, or the replicas do not agree."""
  groups: Groups = device_groups(gather, module)
  found = [(group[int(kept[d])], d) for group in groups for d in group]
  if len({owner for owner, _ in found}) != len(found) or len(found) != len(kept):
    return None
  if module.replica_count == 1 or module.num_partitions == 1:
    return tuple(sorted(found))
  return None


def _permute(cut: Instruction, gather: Instruction, pairs: tuple[tuple[int, int], ...], module: Module) -> None:
  assert cut.parent is not None
  builder = Builder(cut.parent, before=cut, metadata=gather.metadata)
  (x,) = gather.operands
  value = builder.op("collective-permute", (x,), x.shape, source_target_pairs=pairs)
  if module.num_partitions > 1:
    value.attrs["channel_id"] = gather.attrs.get("channel_id") or next_channel(module)
  value.frontend_attributes.update(gather.frontend_attributes)
  _replace(cut, value)


def _replace(cut: Instruction, value: Instruction) -> None:
  computation, operands = cut.parent, cut.operands
  assert computation is not None
  if not value.shape.compatible(cut.shape) or value.shape.layout != cut.shape.layout:
    value = Builder(computation, before=cut, metadata=cut.metadata).op("reshape", (value,), cut.shape)
  cut.replace_all_uses_with(value)
  remove_dead(computation, [cut, *operands])
