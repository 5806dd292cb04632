"""Rematerialisation: recomputes values that cannot be kept, when an order does not fit the memory limit.

A value computed before the peak and used after it, but not at it, can be recomputed after the peak instead of being held. That pays if
it is cheap to compute and its operands are live at that time anyway. One value at a time, largest first, gets a copy in
front of its first use after the peak; that copy is kept if the peak has become smaller.
"""

from __future__ import annotations

from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Instruction
from tilewright.hlo.opcodes import ELEMENTWISE
from tilewright.hlo.schedule.problem import Lowered
from tilewright.hlo.schedule.timing import live_at, memory_profile

_CHEAP = ELEMENTWISE | {"broadcast", "iota", "reshape", "transpose", "slice", "concatenate", "pad", "reverse", "reduce"}


def recompute_once(lowered: Lowered, order: list[int]) -> str | None:
  """Edits the computation so that one value is recomputed after the peak. Returns the name of the new instruction, or None.

  The instructions of the computation are left in `order`, with the new one in its place.
  """
  p, nodes = lowered.problem, lowered.nodes
  profile = memory_profile(p, order)
  peak = max(range(len(order)), key=lambda i: (profile[i], -i))
  place = {v: i for i, v in enumerate(order)}
  number = {instruction: v for v, instruction in enumerate(nodes)}
  touched_at_peak = set(p.touches[order[peak]])
  by_name = {instruction.name: instruction for instruction in nodes}
  for b in live_at(p, order, peak):
    writer = by_name.get(p.buffer_name[b])
    if writer is None or b in touched_at_peak or p.live_out[b] or not is_cheap(writer):
      continue
    touching = sorted(place[v] for v in range(p.size) if b in p.touches[v])
    later = [i for i in touching if i > peak]
    if not later or place[number[writer]] >= peak:
      continue
    if not _operands_are_there(lowered, order, writer, place, later[0]):
      continue
    users = [u for u in writer.users if u in number and place[number[u]] > peak]
    if not users:
      continue
    return _recompute(lowered, order, writer, users, order[later[0]])
  return None


def is_cheap(instruction: Instruction) -> bool:
  """Whether recomputing it costs little and gives the same value."""
  if not instruction.shape.is_array:
    return False
  if instruction.opcode == "fusion":
    inside = instruction.called_computations[0]
    plain = all(i.opcode in _CHEAP or i.opcode in ("parameter", "constant", "bitcast") for i in inside.instructions)
    return plain and instruction.attrs.get("kind") == "kLoop"
  return instruction.opcode in _CHEAP and instruction.opcode != "copy"


def _operands_are_there(
  lowered: Lowered, order: list[int], writer: Instruction, place: dict[int, int], at: int
) -> bool:
  """Whether its operands are live where it would be recomputed, without being held for that."""
  p = lowered.problem
  number = {instruction: v for v, instruction in enumerate(lowered.nodes)}
  for operand in writer.operands:
    source = operand
    while source.opcode in ("get-tuple-element", "bitcast"):
      source = source.operands[0]
    if source.opcode in ("parameter", "constant"):
      continue
    v = number.get(source)
    if v is None:
      return False
    written = [b for b in p.touches[v] if p.buffer_name[b].split("{")[0] == source.name]
    if not written:
      continue
    for b in written:
      last = max(place[u] for u in range(p.size) if b in p.touches[u])
      if last < at and not p.live_out[b]:
        return False
  return True


def _recompute(lowered: Lowered, order: list[int], writer: Instruction, users: list[Instruction], before: int) -> str:
  computation = lowered.computation
  computation.instructions = lowered.instructions(order)
  again = clone_instruction(writer, name=f"{writer.name}.again")
  computation.insert(again, before=lowered.nodes[before])
  for user in users:
    user.replace_uses_of(writer, again)
  return again.name
