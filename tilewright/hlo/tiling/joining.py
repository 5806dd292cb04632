"""Graph queries for fusion finders: which groups of instructions may be joined, and in which order to try.

A finder starts with every instruction as its own group and joins groups while that is better. The finder decides what is better, and
whether a group can be one kernel: the finder of this package by symbolic tiles, `tilewright.accelerate` by the atoms that it generates
code for. The queries here concern edges alone:

    edges                 producers and consumers, those first over which most bytes flow
    readers               groups that read one large array
    waits_for_itself      whether a kernel of a group would need its own result

Two groups may each have no path out and back in and still wait for one another: a1 → b1 and b2 → a2, for {a1, a2} and {b1, b2}. So a path
that leaves a group continues from all members of the groups that it reaches.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from tilewright.hlo.ir import Instruction

Together = Callable[[Instruction], Collection[Instruction]]  # an instruction with the rest of its group


@dataclass(frozen=True)
class Edge:
  producer: Instruction
  consumer: Instruction

  @property
  def bytes(self) -> int:
    return self.producer.shape.byte_size


def edges(
  members: Iterable[Instruction], position: Mapping[Instruction, int], *, later_first: bool = False
) -> list[Edge]:
  """The edges between instructions, the largest values first; of equal ones that of the earlier consumer, or of the later."""
  inside = dict.fromkeys(members)
  found = [Edge(o, i) for i in inside for o in dict.fromkeys(i.operands) if o in inside]
  sign = -1 if later_first else 1
  return sorted(found, key=lambda e: (-e.bytes, sign * position[e.consumer]))


def readers(
  values: Iterable[Instruction], members: Collection[Instruction], least: int, position: Mapping[Instruction, int]
) -> list[tuple[Instruction, Instruction, Instruction]]:
  """Neighbouring readers of an array of at least so many bytes, and the array; the largest arrays first."""
  found = []
  for value in values:
    if value.shape.is_array and value.shape.byte_size >= least:
      users = sorted((u for u in dict.fromkeys(value.users) if u in members), key=position.__getitem__)
      found += [(a, b, value) for a, b in itertools.pairwise(users)]
  return sorted(found, key=lambda pair: -pair[2].shape.byte_size)


def waits_for_itself(
  members: Collection[Instruction], together: Together, position: Mapping[Instruction, int], last: int
) -> bool:
  """Whether a path leaves these instructions and comes back. Nothing later than `last` leads back."""
  stack = [u for i in members for u in (*i.users, *i.control_successors) if u not in members]
  seen = set(stack)
  while stack:
    for member in together(stack.pop()):
      for user in (*member.users, *member.control_successors):
        if user in members:
          return True
        if user not in seen and position.get(user, last + 1) <= last:
          seen.add(user)
          stack.append(user)
  return False


def last_that_leads_back(
  members: Iterable[Instruction], groups: Iterable[Collection[Instruction]], position: Mapping[Instruction, int]
) -> int:
  """The latest position from which a path may come back to `members`: their own last, and that of groups that reach beyond it."""
  extents = [(min(map(position.__getitem__, g)), max(map(position.__getitem__, g))) for g in groups]
  last = max(position[i] for i in members)
  while later := [end for start, end in extents if start < last < end]:
    last = max(later)
  return last
