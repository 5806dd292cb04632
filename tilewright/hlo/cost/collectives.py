"""The cost of collectives: algorithms as rows, links as levels.

A row says how many steps an algorithm takes among `n` devices and which multiple of the message each device sends:

    ring all-reduce     2 (n - 1) steps, 2 (n - 1) / n messages
    tree all-reduce     2 log2 n steps,  2 messages

The time is `steps · latency + messages · bytes / bandwidth`, and the fastest row is taken, as NCCL does by message size. A group
that spans nodes runs in levels: inside the nodes on their links, and between them on the network with the part of the
message that is left (an all-reduce of 8-device nodes sends an eighth between nodes from each device).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tilewright.hlo.cost.devices import Device, Link, steps_of_tree
from tilewright.hlo.cost.work import FREE
from tilewright.hlo.groups import Groups
from tilewright.hlo.ir import Instruction, Module


@dataclass(frozen=True, slots=True)
class Algorithm:
  name: str
  steps: Callable[[int], float]
  messages: Callable[[int], float]
  inside_nodes_only: bool = False
  in_switch: bool = False  # needs switches that reduce and multicast

  def seconds(self, devices: int, size: float, link: Link) -> float:
    return self.steps(devices) * link.latency + self.messages(devices) * size / link.bandwidth


def _ring(times: int) -> Algorithm:
  return Algorithm("ring", lambda n: times * (n - 1), lambda n: times * (n - 1) / n)


def _doubling(times: int) -> Algorithm:
  return Algorithm("recursive doubling", lambda n: times * steps_of_tree(n), lambda n: times * (n - 1) / n * 1.15)


ALGORITHMS: Mapping[str, tuple[Algorithm, ...]] = {
  "all-reduce": (
    _ring(2),
    Algorithm("tree", lambda n: 2 * steps_of_tree(n), lambda n: 2.0),
    Algorithm("one shot", lambda n: 1.0, lambda n: n - 1.0, inside_nodes_only=True),
    # Each device reduces its part and sends it to the others.
    Algorithm("two shot", lambda n: 2.0, lambda n: 2 * (n - 1) / n * 1.1, inside_nodes_only=True),
    # The switch reads from all, reduces, and writes to all: each device sends and receives the message once.
    Algorithm("nvls", lambda n: 3.0, lambda n: 1 + 1 / n, inside_nodes_only=True, in_switch=True),
  ),
  "all-gather": (_ring(1), _doubling(1), Algorithm("nvls", lambda n: 3.0, lambda n: (n - 1) / n, True, True)),
  "reduce-scatter": (_ring(1), _doubling(1), Algorithm("nvls", lambda n: 3.0, lambda n: (n - 1) / n, True, True)),
  "all-to-all": (
    Algorithm("pairwise", lambda n: n - 1.0, lambda n: (n - 1) / n),
    Algorithm("direct", lambda n: 2.0, lambda n: (n - 1) / n * 1.3),
  ),
  "collective-permute": (Algorithm("direct", lambda n: 1.0, lambda n: 1.0),),
  "collective-broadcast": (Algorithm("tree", lambda n: float(steps_of_tree(n)), lambda n: 1.0),),
  "send": (Algorithm("direct", lambda n: 1.0, lambda n: 1.0),),
}
_LIKE = {"ragged-all-to-all": "all-to-all", "collective-reduce": "all-reduce", "recv": "send"}


@dataclass(frozen=True, slots=True)
class CollectiveTime:
  seconds: float
  how: str  # the algorithm and the links


def collective_time(opcode: str, size: float, groups: Groups, device: Device) -> CollectiveTime:
  """The slowest group decides: `size` is the larger of the bytes a device sends and receives."""
  rows = ALGORITHMS[_LIKE.get(opcode, opcode)]
  shapes = {(len(group), len({d // device.node for d in group})) for group in groups} or {(1, 1)}
  times = [_hierarchical(rows, opcode, size, count, nodes, device) for count, nodes in sorted(shapes)]
  return max(times, key=lambda t: t.seconds)


def _best(
  rows: tuple[Algorithm, ...], devices: int, size: float, link: Link, inside: bool = False, switch: bool = False
) -> CollectiveTime:
  if devices <= 1:
    return CollectiveTime(0.0, "")
  usable = [row for row in rows if (inside or not row.inside_nodes_only) and (switch or not row.in_switch)]
  best = min(usable, key=lambda row: row.seconds(devices, size, link))
  return CollectiveTime(best.seconds(devices, size, link), f"{best.name}, {devices} devices on {link.name}")


def _hierarchical(
  rows: tuple[Algorithm, ...], opcode: str, size: float, count: int, nodes: int, device: Device
) -> CollectiveTime:
  if nodes == 1:
    return _best(rows, count, size, device.scale_up, True, device.multicast)
  inside = -(-count // nodes)
  if inside == 1 or opcode in ("collective-permute", "send", "recv", "all-to-all", "ragged-all-to-all"):
    return _best(rows, count, size, device.network)  # nothing to reduce or to share inside a node
  within = _best(rows, inside, size, device.scale_up, True, device.multicast)
  across = _best(rows, nodes, size / inside, device.network)
  return CollectiveTime(within.seconds + across.seconds, f"{within.how}; {across.how}")


# The operands of a collective.


def carried(start: Instruction) -> Instruction:
  """The operation an asynchronous start carries out: itself, or what its computation holds."""
  if start.opcode == "async-start":
    return start.called_computations[0].root
  return start


def plain_opcode(instruction: Instruction) -> str:
  """`all-reduce` for all-reduce, all-reduce-start, and an async-start around one."""
  return carried(instruction).opcode.removesuffix("-start")


def message_bytes(instruction: Instruction) -> float:
  """The larger of what one device contributes and receives."""
  inner = carried(instruction)
  given = sum(o.shape.byte_size for o in inner.operands)
  if inner.opcode == "all-gather-start" and inner.shape.tuple_shapes:
    return float(max(given, inner.shape.tuple_shapes[-1].byte_size))
  if inner.opcode in ("all-gather", "collective-broadcast"):
    return float(max(given, inner.shape.byte_size))
  if inner.opcode == "recv" and inner.shape.tuple_shapes:
    return float(inner.shape.tuple_shapes[0].byte_size)
  if inner.opcode == "send":
    return float(inner.operands[0].shape.byte_size)
  return float(given)


def devices_of(module: Module) -> int:
  """How many devices the module targets: from its header, or from its groups (protos do not keep the header)."""
  named = [d for i in module.instructions() for group in _named(i, module) for d in group]
  return max(1, module.replica_count * module.num_partitions, 1 + max(named, default=0))


def participants(instruction: Instruction, module: Module, devices: int | None = None) -> Groups:
  """The participating devices, group by group. With more devices than the module targets, a group of all of them grows, and
  smaller groups are repeated.
  """
  found = _named(instruction, module)
  most = max((d for group in found for d in group), default=0)
  made_for = max(1, module.replica_count * module.num_partitions, most + 1)
  total = max(devices or made_for, made_for)
  if not found or (len(found) == 1 and len(found[0]) == made_for):
    return (tuple(range(total)),)
  return tuple(tuple(d + made_for * c for d in group) for c in range(total // made_for) for group in found)


def _named(instruction: Instruction, module: Module) -> Groups:
  """The groups an instruction names; none if it means all devices, or is no collective."""
  if instruction.opcode in FREE:
    return ()
  inner = carried(instruction)
  pairs = inner.attrs.get("source_target_pairs")
  if pairs is not None:
    return tuple(_chains(pairs))
  groups = inner.attrs.get("replica_groups")
  found: Groups = tuple(g for g in groups.groups() if g) if groups is not None else ()
  by_replica = bool(inner.attrs.get("channel_id")) and not inner.attrs.get("use_global_device_ids")
  ids = {d for group in found for d in group}
  per = module.num_partitions
  if found and by_replica and per > 1 and len(ids) < module.replica_count * per:
    return tuple(tuple(r * per + p for r in group for p in range(per)) for group in found)  # ids name replicas
  return found


def _chains(pairs: tuple[tuple[int, int], ...]) -> Groups:
  """Devices that a permutation connects."""
  root: dict[int, int] = {}

  def find(x: int) -> int:
    while root.setdefault(x, x) != x:
      x = root[x]
    return x

  for a, b in pairs:
    root[find(a)] = find(b)
  parts: dict[int, list[int]] = {}
  for x in sorted(root):
    parts.setdefault(find(x), []).append(x)
  return tuple(tuple(part) for part in parts.values())
