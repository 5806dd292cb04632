"""Per-device values: the value of an instruction on each device, where it depends only on the device's number.

    %id = partition-id()   %table = constant({0,8,16,24})   %at = dynamic-slice(%table, %id)      → 0, 8, 16, 24

The instructions a value depends on are copied into a separate module, which the evaluator runs on all devices.
"""

from __future__ import annotations

import numpy as np

from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.errors import HloError
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.collective_keys import groups_of
from tilewright.hlo.passes.effects import Effects

_MAX_INSTRUCTIONS = 64  # instructions that an offset may be made of
_IDS = frozenset({"partition-id", "replica-id", "constant", "iota"})
_CHANNEL_MEANS_PARTITIONS = frozenset({"all-to-all", "collective-permute", "collective-broadcast"})


def per_device(value: Instruction, module: Module) -> np.ndarray | None:
  """The value on every device, by device number; None where it depends on anything else, or the devices are not known."""
  backward_slice = _backward_slice(value) if module.states_devices else None
  if backward_slice is None or not value.shape.is_array:
    return None
  from tilewright.hlo.evaluate import EvaluateLimits, evaluate_devices

  computation = Computation("offsets")
  copies: dict[Instruction, Instruction] = {}
  for instruction in backward_slice:
    copies[instruction] = clone_instruction(instruction, [copies[o] for o in instruction.operands])
    copies[instruction].parent = computation
  computation.instructions, computation.root = list(copies.values()), copies[value]
  small = Module("offsets", [computation], computation)
  computation.parent = small
  called = [c for i in backward_slice for c in i.called_computations]
  small.computations = [*dict.fromkeys(called), computation]
  small.replica_count, small.num_partitions = module.replica_count, module.num_partitions
  devices = module.replica_count * module.num_partitions
  try:
    limits = EvaluateLimits(bytes=2.0**28, steps=400_000, seconds=60)
    return np.stack([np.asarray(x) for x in evaluate_devices(small, [[] for _ in range(devices)], limits=limits)])
  except HloError:
    return None


def _backward_slice(value: Instruction) -> list[Instruction] | None:
  """The backward slice of a value, operands first; None if it contains more than device numbers and constants."""
  effects = Effects()
  order: dict[Instruction, None] = {}
  seen: set[Instruction] = set()
  stack = [value]
  while stack:
    top = stack[-1]
    if top not in seen:
      leaf = top.opcode in _IDS
      if len(seen) >= _MAX_INSTRUCTIONS or (not leaf and (not top.operands or not effects.is_value(top))):
        return None
      seen.add(top)
    waiting = [o for o in top.operands if o not in order]
    if waiting and top not in order:
      stack += waiting
    else:
      order[top] = None
      stack.pop()
  return list(order)


def device_groups(instruction: Instruction, module: Module) -> tuple[tuple[int, ...], ...]:
  """The devices that meet in a collective, group by group, in the order of its ids."""
  attrs, replicas, partitions = instruction.attrs, module.replica_count, module.num_partitions
  groups = groups_of(instruction)
  channel, by_device = bool(attrs.get("channel_id")), bool(attrs.get("use_global_device_ids"))
  if by_device:
    return groups or (tuple(range(replicas * partitions)),)
  if not channel:
    groups = groups or (tuple(range(replicas)),)
    return tuple(tuple(r * partitions + p for r in group) for group in groups for p in range(partitions))
  if instruction.opcode in _CHANNEL_MEANS_PARTITIONS:
    groups = groups or (tuple(range(partitions)),)
    return tuple(tuple(r * partitions + p for p in group) for group in groups for r in range(replicas))
  groups = groups or (tuple(range(replicas)),)
  return tuple(tuple(r * partitions + p for r in group for p in range(partitions)) for group in groups)


def own_entry(table: np.ndarray, builder: Builder, module: Module) -> Instruction:
  """The entry of a table that belongs to the running device: the inverse of `per_device`, for a scalar."""
  replicas, partitions = module.replica_count, module.num_partitions
  if replicas == 1:
    number = builder.op("partition-id")
  elif partitions == 1:
    number = builder.op("replica-id")
  else:
    first = builder.multiply(builder.op("replica-id"), builder.constant(np.uint32(partitions)))
    number = builder.add(first, builder.op("partition-id"))
  entry = builder.dynamic_slice(builder.constant(np.asarray(table)), (number,), (1,))
  return builder.reshape(entry, ())


def position_in_group(instruction: Instruction, module: Module) -> np.ndarray | None:
  """Each device's position in its group of a collective; None if a device is in none, or in several, or not known."""
  if not module.states_devices:
    return None
  positions = np.full(module.replica_count * module.num_partitions, -1, np.int64)
  for group in device_groups(instruction, module):
    for position, device in enumerate(group):
      if not 0 <= device < len(positions) or positions[device] >= 0:
        return None
      positions[device] = position
  return None if np.any(positions < 0) else positions
