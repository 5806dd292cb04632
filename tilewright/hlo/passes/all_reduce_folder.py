"""Folding: an all-reduce of an all-reduce over groups that cross is one all-reduce over their products.

    all-reduce(all-reduce(x, {0,1},{2,3},{4,5},{6,7}), {0,2},{1,3},{4,6},{5,7})   →   all-reduce(x, {0,1,2,3},{4,5,6,7})

Precondition: the same reducer and kind of ids, each id one device, the inner result used by nothing else. For every device, the first
groups of the members of its second group are disjoint. *Proof.* The result on a device reduces over those groups' union, each member
once. The union is the same for all devices in it, which is checked, so the unions are groups.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from tilewright.hlo.groups import Groups, ListGroups
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import groups_of, has_control_edges, reducer


@register_pass("all_reduce_folder")
@dataclass(frozen=True)
class AllReduceFolder(Pass):
  """Makes one all-reduce of two in a row."""

  def run(self, module: Module) -> bool:
    changed = False
    for computation in module.computations:
      for instruction in computation.topological_order():
        while instruction.opcode == "all-reduce" and _meets_once(instruction, module) and _fold(instruction):
          changed = True
    return changed


def _meets_once(reduction: Instruction, module: Module) -> bool:
  """Whether an id of a group is one device in each reduction: ids of replicas with a channel stand for all their partitions."""
  attrs = reduction.attrs
  if not attrs.get("channel_id") or attrs.get("use_global_device_ids"):
    return True
  return module.states_devices and module.num_partitions == 1


def _fold(outer: Instruction) -> bool:
  if len(outer.operands) != 1 or has_control_edges(outer):
    return False
  (inner,) = outer.operands
  alone = inner.user_count == 1 and not inner.is_root and not has_control_edges(inner)
  if inner.opcode != "all-reduce" or len(inner.operands) != 1 or not alone or _key(inner) != _key(outer):
    return False
  if reducer(outer) is None or inner.operands[0].shape != outer.shape:
    return False
  groups = _products(groups_of(inner), groups_of(outer))
  if groups is None:
    return False
  outer.attrs["replica_groups"] = ListGroups(groups)
  outer.set_operands(inner.operands)
  assert outer.parent is not None
  outer.parent.remove(inner)
  return True


def _key(reduction: Instruction) -> Hashable:
  attrs = reduction.attrs
  kind = bool(attrs.get("channel_id")), bool(attrs.get("use_global_device_ids")), bool(attrs.get("constrain_layout"))
  return reducer(reduction), kind, reduction.backend_config


def _products(first: Groups, second: Groups) -> Groups | None:
  if not first or not second:
    return None
  group_of = {device: group for group in first for device in group}
  union_of: dict[int, tuple[int, ...]] = {}
  for group in second:
    if any(device not in group_of for device in group):
      return None
    members = [device for member in group for device in group_of[member]]
    if len(set(members)) != len(members):
      return None
    for device in group:
      union_of[device] = tuple(sorted(members))
  if set(union_of) != set(group_of):
    return None
  if any(union_of[member] != union for union in union_of.values() for member in union):
    return None
  return tuple(sorted(set(union_of.values())))
