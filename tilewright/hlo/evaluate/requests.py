"""Requests between devices: a device yields a request and is resumed with the answer.

A device runs until it needs its peers. `Rendezvous` waits until all members of one group have arrived at the same
meeting point, then each gets its own part of `exchange`'s answer. `Receive` waits for a message. The loop in
`devices.py` answers requests; when no request can be answered, it reports which device waits for which.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from tilewright.hlo.evaluate.table import Value
from tilewright.hlo.ir import Instruction

# From the contributions of the members, in the order of the group, to what each of them receives.
Exchange = Callable[[list[Value]], list[Value]]


@dataclass(frozen=True, slots=True)
class Rendezvous:
  instruction: Instruction
  meeting: Hashable  # the same for every member: the channel, or the instruction itself
  group: tuple[int, ...]  # device numbers
  contribution: Value
  exchange: Exchange


@dataclass(frozen=True, slots=True)
class Receive:
  instruction: Instruction
  channel: Hashable
  source: int
  target: int


Request = Rendezvous | Receive
