"""BlueConnect: an all-reduce across hosts in three steps, of which only the middle one, with a fraction of the bytes, leaves the hosts.

    all-reduce(x, {0,1,2,3}), 2 devices per host    →    reduce-scatter {0,1},{2,3}; all-reduce {0,2},{1,3}; all-gather {0,1},{2,3}

Precondition: every group spans several hosts with equally many members, more than one, on each; the number of elements is divisible by
that; no control edges. *Proof.* After the first step local member k of each host holds part k of the host's sum; the second step adds
part k over the hosts; the third puts the parts together. The all-reduces in the middle are split again by the next run, if their
members still share hosts.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.groups import Groups, ListGroups
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import HloPassError, Pass, register_pass
from tilewright.hlo.passes.collective_keys import Channels, groups_of, has_control_edges, reducer
from tilewright.hlo.passes.combine_collectives import replace_results
from tilewright.hlo.shape import Shape


@register_pass("all_reduce_blueconnect")
@dataclass(frozen=True)
class AllReduceBlueConnect(Pass):
  """Splits all-reduces across hosts into steps within and between hosts."""

  num_devices_per_host: int = 8

  def run(self, module: Module) -> bool:
    if self.num_devices_per_host < 1:
      raise HloPassError(
        f"all_reduce_blueconnect: num_devices_per_host={self.num_devices_per_host}, but it is at least 1"
      )
    changed, channels = False, Channels(module)
    for computation in module.computations:
      for instruction in list(computation.instructions):
        if instruction.opcode == "all-reduce" and not computation.is_fusion:
          groups = self._groups(instruction, module)
          if groups is not None:
            _split(instruction, *groups, channels)
            changed = True
    return changed

  def _groups(self, reduction: Instruction, module: Module) -> tuple[Groups, Groups] | None:
    """The groups within hosts, and those between them."""
    attrs = reduction.attrs
    by_device = bool(attrs.get("use_global_device_ids"))
    by_replica = not attrs.get("channel_id") and module.num_partitions == 1
    if not (by_device or by_replica) or has_control_edges(reduction) or attrs.get("constrain_layout"):
      return None
    within: list[tuple[int, ...]] = []
    between: list[tuple[int, ...]] = []
    sizes: set[int] = set()
    for group in groups_of(reduction) or (tuple(range(module.replica_count)),):
      hosts: dict[int, list[int]] = {}
      for device in group:
        hosts.setdefault(device // self.num_devices_per_host, []).append(device)
      sizes |= {len(members) for members in hosts.values()}
      if len(sizes) != 1 or len(hosts) < 2:
        return None
      within += [tuple(members) for members in hosts.values()]
      between += list(zip(*hosts.values()))
    local = sizes.pop()
    shapes = [operand.shape for operand in reduction.operands]
    if local < 2 or reducer(reduction) is None or any(s.is_dynamic or s.num_elements % local for s in shapes):
      return None
    if any(s.layout is not None and not s.layout.is_descending for s in shapes):
      return None  # the flat form would move memory
    return tuple(within), tuple(between)


def _split(reduction: Instruction, within: Groups, between: Groups, channels: Channels) -> None:
  assert reduction.parent is not None
  builder = Builder(reduction.parent, before=reduction, metadata=reduction.metadata)
  flat = [builder.reshape(operand, (operand.shape.num_elements,)) for operand in reduction.operands]
  parts = [f.shape.with_dimensions((f.shape.num_elements // len(within[0]),)) for f in flat]
  scattered = _step(reduction, "reduce-scatter", flat, parts, within, builder, None)
  reduced = _step(reduction, "all-reduce", scattered, parts, between, builder, channels)
  gathered = _step(reduction, "all-gather", reduced, [f.shape for f in flat], within, builder, channels)
  results = [builder.op("reshape", (whole,), operand.shape) for whole, operand in zip(gathered, reduction.operands)]
  replace_results(reduction, results)


def _step(
  model: Instruction,
  opcode: str,
  operands: list[Instruction],
  shapes: list[Shape],
  groups: Groups,
  builder: Builder,
  channels: Channels | None,
) -> list[Instruction]:
  several = len(shapes) > 1
  new = clone_instruction(model, operands, Shape.tuple_of(*shapes) if several else shapes[0], opcode)
  new.opcode, new.sharding, new.origin = opcode, None, None
  new.attrs["replica_groups"] = ListGroups(groups)
  if opcode != "all-reduce":
    new.attrs["dimensions"] = (0,)
  if opcode == "all-gather":
    del new.attrs["to_apply"]
  if channels is not None and new.attrs.get("channel_id"):
    new.attrs["channel_id"] = channels.take()
  builder.computation.insert(new, before=builder.before)
  return [builder.element(new, i) for i in range(len(shapes))] if several else [new]
