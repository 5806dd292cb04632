"""A collective-permute as sends and receives, which a pipeline can start early and finish late.

    y = collective-permute(x), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}

becomes two transfers, {{0,1},{1,2},{2,3}} and {{3,0}}, on channels of their own, and a choice by the device's number.

*Why cycles are broken.* A cycle of receives that wait for sends that wait for receives deadlocks once the
transfers are spread over iterations or one buffer is used for both. One edge of every cycle goes to the second transfer: the one against
the direction of all others (3 to 0 above, 0 to 3 in the reverse of it), or else the one into the smallest device. The remaining edges
form paths, each with a device that only sends.

*Proof.* Every device is the target of at most one pair, so it receives data from at most one of the two transfers: the select
takes that one. A device that is not a target gets zeros from both, as from a permute. Per channel,
control edges order recv → send → recv-done → send-done: the receive is posted before its sender can block. Transfers that share
devices are ordered, send before the next receive, so that all of these devices run them in one order.

Numbers are partitions with a channel and replicas without, in permutes and in transfers.

*Pipelining.* Transfers of a value that a loop carries may start a trip ahead. In every loop body those of the first such permute get the
frontend attribute `_xla_send_recv_pipeline="0"`, which asks XLA for it; if two permutes form a cycle together, the one that closes it gets
"0" and the other "1".

Left alone: permutes with several operands or slices, with control edges, below `min_bytes`, and pairs that name a device
twice. In a compilation for the CPU, whose back end runs no sends, everything is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilewright.hlo.analysis import topological_order
from tilewright.hlo.builder import Builder
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, compiled_platform, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges, next_channel
from tilewright.hlo.shape import Shape

Pairs = tuple[tuple[int, int], ...]
PAIRS = "_xla_send_recv_source_target_pairs"
PIPELINE = "_xla_send_recv_pipeline"


@register_pass("collective_permute_to_send_recv")
@dataclass(frozen=True)
class CollectivePermuteToSendRecv(Pass):
  """Turns collective-permutes into sends and receives, breaking cycles."""

  min_bytes: int = 0
  cycles_only: bool = False
  split_cycles: bool = True  # otherwise permutes with cycles stay, as with XLA's collective_permute_decomposer

  def run(self, module: Module) -> bool:
    if compiled_platform() == "cpu":
      return False  # it has no thunks for them
    changed = False
    bodies = {i.attrs["body"] for i in module.instructions() if i.opcode == "while"}
    for computation in module.computations:
      sends: list[tuple[set[int], Instruction]] = []  # devices and the last send of each permute so far
      wanted = [i for i in topological_order(computation) if self._is_wanted(i)]
      stage = pipeline_stages(wanted) if computation in bodies else {}
      for instruction in wanted:
        devices = {d for pair in instruction.attrs["source_target_pairs"] for d in pair}
        earlier = [send for others, send in sends if others & devices]
        sends.append((devices, to_send_recv(instruction, module, earlier, stage.get(instruction))))
        changed = True
    return changed

  def _is_wanted(self, instruction: Instruction) -> bool:
    attrs = instruction.attrs
    if instruction.opcode != "collective-permute" or has_control_edges(instruction):
      return False
    if len(instruction.operands) != 1 or "slice_sizes" in attrs or not instruction.shape.is_array:
      return False
    pairs: Pairs = attrs["source_target_pairs"]
    once = len({s for s, _ in pairs}) == len({t for _, t in pairs}) == len(pairs)
    if not pairs or not once or instruction.operands[0].shape.byte_size < self.min_bytes:
      return False
    # A device that sends to itself waits for no other device: its transfer is separate, but not a cycle.
    has_cycle = any(source != target for source, target in break_cycles(pairs)[1])
    return (has_cycle or not self.cycles_only) and (self.split_cycles or not has_cycle)


def break_cycles(pairs: Pairs) -> tuple[Pairs, Pairs]:
  """(paths, one edge of every cycle). Each device occurs at most once as a source and once as a target."""
  target_of = dict(pairs)
  closing: list[tuple[int, int]] = []
  seen: set[int] = set()
  for start in sorted(target_of):
    walk, device = [], start
    while device in target_of and device not in seen:
      seen.add(device)
      walk.append(device)
      device = target_of[device]
    if walk and device == start:
      closing.append(_closing_edge([(a, target_of[a]) for a in walk]))
  return tuple(p for p in pairs if p not in closing), tuple(closing)


def _closing_edge(cycle: Sequence[tuple[int, int]]) -> tuple[int, int]:
  """The one edge down if all others go up, the one edge up if all others go down, or else the one into the smallest device."""
  up = [edge for edge in cycle if edge[1] > edge[0]]
  down = [edge for edge in cycle if edge[1] <= edge[0]]
  if len(down) != 1 and len(up) == 1:
    return up[0]
  return min(cycle, key=lambda edge: edge[1])


def pipeline_stages(permutes: Sequence[Instruction]) -> dict[Instruction, int]:
  """The permutes of a loop body that may run a trip ahead, and which of the two parts of a cycle each is."""
  carried = [p for p in permutes if _is_carried(p.operands[0])]
  if not carried:
    return {}
  first = carried[0]
  for other in carried[1:]:
    for closing, paths in ((first, other), (other, first)):
      pairs = closing.attrs["source_target_pairs"]
      if len(pairs) == 1 and break_cycles((*paths.attrs["source_target_pairs"], *pairs))[1] == pairs:
        return {closing: 0, paths: 1}
  return {first: 0}


def _is_carried(value: Instruction) -> bool:
  return value.opcode == "get-tuple-element" and value.operands[0].opcode == "parameter"


def to_send_recv(
  instruction: Instruction, module: Module, earlier: Sequence[Instruction] = (), stage: int | None = None
) -> Instruction:
  """Replaces a permute; its transfers come after the `earlier` sends, which share devices with it. Returns its last send."""
  assert instruction.parent is not None
  (x,) = instruction.operands
  builder = Builder(instruction.parent, before=instruction, metadata=instruction.metadata)
  paths, closing = break_cycles(instruction.attrs["source_target_pairs"])
  channel = int(instruction.attrs.get("channel_id") or 0)
  received: list[tuple[Pairs, Instruction]] = []
  previous = list(earlier)
  for part, pairs in enumerate((paths, closing)):
    if pairs:
      own_stage = stage if stage is None or not (paths and closing) else 1 - part
      data, send = _transfer(x, instruction, pairs, channel, builder, previous, own_stage)
      previous = [send]
      received.append((pairs, data))
      channel = next_channel(module) if channel else 0
  value = received[0][1]
  if len(received) == 2:
    kind = "partition-id" if instruction.attrs.get("channel_id") else "replica-id"
    chosen = is_one_of([target for _, target in closing], value.shape, builder, kind)
    value = builder.op("select", (chosen, received[1][1], value), instruction.shape)
  instruction.parent.replace(instruction, value)
  return send


def _transfer(
  x: Instruction,
  permute: Instruction,
  pairs: Pairs,
  channel: int,
  builder: Builder,
  previous: Sequence[Instruction],
  stage: int | None,
) -> tuple[Instruction, Instruction]:
  """Sends `x` along the pairs. Returns the received value, and the send, which the next transfer waits for."""
  shape = permute.shape
  token = builder.op("after-all")
  state = Shape.tuple_of(shape, Shape.array("u32"), Shape.token())
  named: dict[str, Any] = {"channel_id": channel} if channel else {}
  recv = builder.op("recv", (token,), state, **named)
  send = builder.op("send", (x, token), state, **named)
  recv_done = builder.op("recv-done", (recv,), Shape.tuple_of(shape, Shape.token()), **named)
  send_done = builder.op("send-done", (send,), Shape.token(), **named)
  text = "{" + ",".join(f"{{{s},{t}}}" for s, t in pairs) + "}"
  for instruction in (recv, send, recv_done, send_done):
    instruction.frontend_attributes.update(permute.frontend_attributes)
    if stage is not None:
      instruction.frontend_attributes[PIPELINE] = str(stage)
  for instruction in (recv, send):
    instruction.frontend_attributes[PAIRS] = text
  send.add_control_predecessor(recv)
  recv_done.add_control_predecessor(send)
  send_done.add_control_predecessor(recv_done)
  for send_before in previous:
    recv.add_control_predecessor(send_before)
  return builder.element(recv_done, 0), send


def is_one_of(devices: list[int], shape: Shape, builder: Builder, kind: str = "partition-id") -> Instruction:
  """Whether this partition (or replica, with `kind="replica-id"`) is one of them, as a predicate of the given shape."""
  number = builder.op(kind)
  found: Instruction | None = None
  for device in devices:
    equal = builder.compare(number, builder.constant(np.uint32(device)), "EQ")
    found = equal if found is None else builder.op("or", (found, equal))
  assert found is not None
  return (
    builder.op("broadcast", (found,), shape.with_element_type("pred"), dimensions=()) if shape.dimensions else found
  )
