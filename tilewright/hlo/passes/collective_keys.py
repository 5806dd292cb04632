"""Keys of collectives: what two collectives must agree on to be merged: groups, reducers, channels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from tilewright.hlo.groups import Groups
from tilewright.hlo.ir import Computation, Instruction, Module

P2P = frozenset({"send", "send-done", "recv", "recv-done"})


def groups_of(instruction: Instruction) -> Groups:
  """The explicit list of groups; empty for one group of all devices."""
  groups = instruction.attrs.get("replica_groups")
  found: Groups = groups.groups() if groups is not None else ()
  return tuple(group for group in found if group)


def participants_key(instruction: Instruction) -> Hashable:
  """Equal for collectives whose numbers in `replica_groups` name the same devices."""
  attrs = instruction.attrs
  return groups_of(instruction), bool(attrs.get("channel_id")), bool(attrs.get("use_global_device_ids"))


def reducer(instruction: Instruction) -> str | None:
  """`add` where `to_apply` is `(a, b) → a + b`, and so on; None for anything else."""
  computation: Computation | None = instruction.attrs.get("to_apply")
  if computation is None:
    return None
  root, parameters = computation.root, computation.parameters
  if len(parameters) != 2 or len(root.operands) != 2 or set(root.operands) != set(parameters):
    return None
  return root.opcode if root.shape.is_scalar else None


def group_size(instruction: Instruction, module: Module) -> int | None:
  """How many devices participate; None if the groups differ in size, or depend on counts that the module does not state."""
  groups, attrs = groups_of(instruction), instruction.attrs
  by_replica = bool(attrs.get("channel_id")) and not attrs.get("use_global_device_ids")
  if not module.states_devices and (not groups or by_replica):
    return None
  per_id = 1
  if not attrs.get("use_global_device_ids") and attrs.get("channel_id"):
    per_id = module.num_partitions  # ids name replicas, with all their partitions
  if not groups:
    everyone = module.replica_count * (module.num_partitions if attrs.get("use_global_device_ids") else 1)
    return everyone * per_id
  sizes = {len(group) for group in groups}
  return sizes.pop() * per_id if len(sizes) == 1 else None


def next_channel(module: Module) -> int:
  """A channel id that nothing uses yet."""
  return 1 + max((int(i.attrs.get("channel_id") or 0) for i in module.instructions()), default=0)


class Channels:
  """Channel ids that nothing uses yet, one after another; the module is searched once, when the first is requested."""

  def __init__(self, module: Module) -> None:
    self._module = module
    self._next = 0

  def take(self) -> int:
    self._next = self._next + 1 if self._next else next_channel(self._module)
    return self._next


def open_channels(instructions: Iterable[Instruction]) -> set[int]:
  """Channels of sends and receives that begin or end outside of these instructions, such as in the trip before."""
  inside = set(instructions)
  found: set[int] = set()
  for instruction in inside:
    if instruction.opcode in ("send", "recv"):
      halves = [u for u in instruction.users if u.opcode == f"{instruction.opcode}-done"]
    elif instruction.opcode in ("send-done", "recv-done"):
      halves = [o for o in instruction.operands if f"{o.opcode}-done" == instruction.opcode]
    else:
      continue
    if not halves or not inside.issuperset(halves):
      found.add(int(instruction.attrs.get("channel_id") or 0))
  return found


def has_control_edges(instruction: Instruction) -> bool:
  return bool(instruction.control_predecessors or instruction.control_successors)


def scalar_type(instruction: Instruction) -> str:
  """The element type a reducer works on."""
  return str(instruction.attrs["to_apply"].root.shape.element_type)
