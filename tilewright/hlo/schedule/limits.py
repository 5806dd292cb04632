"""Resources: what runs beside the main stream, how many operations at once, and which collectives may not overlap.

    Limits(collectives=2, copies=4)        # of each kind, how many pairs may be open: started, not yet waited for

A *kind* names the resource an asynchronous operation occupies. XLA's defaults are one collective, two asynchronous computations and four
sends or receives. `scale_up` is for collectives whose groups stay inside a node: None counts them with the others. Copies to
and from the host are separate, because each direction has its own copy engine, on which copies queue.

*The multi-stream rule.* Two collectives may overlap only if no group of one shares more than one device with a group of the
other: with two devices in common, one could wait in the first for what the other does in the second. Unknown groups never overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.hlo.cost.collectives import carried, participants
from tilewright.hlo.cost.devices import Device
from tilewright.hlo.groups import Groups
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.opcodes import COLLECTIVES
from tilewright.hlo.shape import Shape

COLLECTIVE, SCALE_UP, P2P, ASYNC_COMPUTE, COPY_IN, COPY_OUT = range(6)
KINDS = ("collective", "scale-up collective", "p2p", "async compute", "copy in", "copy out")
IS_COLLECTIVE = (True, True, False, False, False, False)


@dataclass(frozen=True, slots=True)
class Limits:
  """How many pairs of each kind may be open at once."""

  collectives: int = 1
  scale_up: int | None = None
  p2p: int = 4
  async_compute: int = 2
  copies: int = 2  # in each direction

  def of_kinds(self) -> tuple[int, ...]:
    """By kind number."""
    scale_up = self.collectives if self.scale_up is None else self.scale_up
    return (self.collectives, scale_up, self.p2p, self.async_compute, self.copies, self.copies)


# Transfers of one kind that actually make progress concurrently: streams that XLA has for collectives and computations, one engine for
# each direction of copies.
def lanes(limits: Limits) -> tuple[int, ...]:
  opened = limits.of_kinds()
  return (*opened[:COPY_IN], 1, 1)


def kind_of(start: Instruction, module: Module, device: Device, limits: Limits, devices: int | None) -> int:
  """The resource a start, a send, a receive or a plain collective occupies."""
  inner = carried(start)
  if inner.opcode in ("send", "recv"):
    return P2P
  if inner.opcode in COLLECTIVES:
    if limits.scale_up is None:
      return COLLECTIVE
    groups = participants(start, module, devices)
    return SCALE_UP if all(len({d // device.node for d in g}) == 1 for g in groups) else COLLECTIVE
  source, target = [o.shape for o in inner.operands], inner.shape
  if inner.opcode == "copy-start" and target.tuple_shapes:
    target = target.tuple_shapes[0]
  from_host = any(_on_host(s, device) for s in source)
  to_host = any(_on_host(leaf, device) for _, leaf in target.leaves())
  if inner.opcode in ("copy", "copy-start") or from_host or to_host:
    return COPY_IN if from_host and not to_host else COPY_OUT
  return ASYNC_COMPUTE


def _on_host(shape: Shape, device: Device) -> bool:
  return shape.layout is not None and shape.layout.memory_space == device.host_memory_space


def may_overlap(a: Groups, b: Groups) -> bool:
  """The multi-stream rule."""
  if not a or not b:
    return False
  homes: dict[int, list[int]] = {}
  for number, group in enumerate(b):
    for d in group:
      homes.setdefault(d, []).append(number)
  for group in a:
    met: dict[int, int] = {}
    for d in group:
      for number in homes.get(d, ()):
        met[number] = met.get(number, 0) + 1
        if met[number] > 1:
          return False
  return True


def conflicts(groups: Sequence[Groups]) -> list[tuple[int, ...]]:
  """For each distinct set of groups, the numbers of those it must not overlap, itself among them."""
  size = len(groups)
  table = [[not may_overlap(groups[a], groups[b]) for b in range(size)] for a in range(size)]
  return [tuple(b for b in range(size) if table[a][b] or table[b][a]) for a in range(size)]
