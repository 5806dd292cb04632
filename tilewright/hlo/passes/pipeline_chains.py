"""Chains of a collective in a loop: its dependent instructions, its inputs, and barriers between.

The passes that move collectives across trips look through *formatting* (`pipeline_options.py`). An optimization barrier over several
values is processed value by value. If some of them move to another trip, the barrier is split: the moved values get a
barrier of their own, the others keep theirs. A barrier separates values for the optimizer and computes nothing, so two
barriers are equivalent to one. With `barriers=keep`, or with control edges, a barrier is one instruction, which moves as a whole or not
at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tilewright.hlo.analysis import topological_order
from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import copy_body
from tilewright.hlo.ir import Computation, Instruction
from tilewright.hlo.passes.collective_keys import P2P, has_control_edges
from tilewright.hlo.passes.pipeline_options import COLLECTIVES, Moves
from tilewright.hlo.passes.while_loops import Loop, is_invariant, remove_dead


def chain_after(body: Computation, starts: Iterable[Instruction], split_barriers: bool = True) -> set[Instruction]:
  """The dependents of `starts`, including `starts`, without the root. Barriers are split where only some values depend."""

  def joins(instruction: Instruction, inside: set[Instruction]) -> bool:
    return any(o in inside for o in instruction.operands)

  return _separate(body, set(starts), joins, split_barriers)


def chain_before(
  body: Computation,
  leaves: Iterable[Instruction],
  moves: Moves,
  also: frozenset[str] = frozenset(),
) -> set[Instruction]:
  """Everything that is computed from `leaves` and constants by formatting and candidates, with them, and that waits for nothing
  else. Barriers are split likewise.
  """

  def joins(instruction: Instruction, inside: set[Instruction]) -> bool:
    if not all(p in inside for p in instruction.control_predecessors):
      return False
    if instruction.opcode in ("constant", "iota") or (instruction.opcode == "after-all" and not instruction.operands):
      return True
    allowed = moves.is_formatting(instruction, also | P2P) or moves.is_candidate(instruction)
    return bool(instruction.operands) and allowed and all(o in inside for o in instruction.operands)

  return _separate(body, set(leaves), joins, moves.split_barriers)


def _separate(
  body: Computation,
  inside: set[Instruction],
  joins: Callable[[Instruction, set[Instruction]], bool],
  split_barriers: bool,
) -> set[Instruction]:
  for instruction in topological_order(body):
    if instruction in inside or instruction is body.root or instruction.opcode == "parameter":
      continue
    if split_barriers and _is_barrier_of_several(instruction):
      inside |= _split_barrier(instruction, inside)
    elif split_barriers and _feeds_barriers_only(instruction):
      continue  # the barriers are split, and its elements join one by one
    elif joins(instruction, inside):
      inside.add(instruction)
  return inside


def _is_barrier_of_several(instruction: Instruction) -> bool:
  """Whether it is a barrier whose values may be told apart. A control edge belongs to the barrier as a whole."""
  if instruction.opcode != "opt-barrier" or has_control_edges(instruction):
    return False
  return instruction.operands[0].opcode == "tuple" and not has_control_edges(instruction.operands[0])


def _feeds_barriers_only(instruction: Instruction) -> bool:
  users = instruction.users
  return instruction.opcode == "tuple" and bool(users) and all(map(_is_barrier_of_several, users))


def _split_barrier(barrier: Instruction, inside: set[Instruction]) -> set[Instruction]:
  """Splits a barrier by whether its values are inside; returns the new instructions that are."""
  (source,) = barrier.operands
  held = source.operands
  chosen = [i for i, value in enumerate(held) if value in inside]
  if not chosen:
    return set()
  if len(chosen) == len(held):
    return {source, barrier}
  if barrier.is_root or any(user.opcode != "get-tuple-element" for user in barrier.users):
    return set()  # used as a whole: what it holds stays where it is
  assert barrier.parent is not None
  builder = Builder(barrier.parent, before=barrier, metadata=barrier.metadata)
  moved: set[Instruction] = set()
  users = barrier.users
  for group in (chosen, [i for i in range(len(held)) if i not in chosen]):
    values = builder.make_tuple(*(held[i] for i in group))
    new = builder.op("opt-barrier", (values,))
    elements = {i: builder.element(new, position) for position, i in enumerate(group)}
    for user in users:
      if user.attrs["index"] in elements:
        _take_the_place_of(user, elements[user.attrs["index"]])
    if group is chosen:
      moved = {values, new, *elements.values()}
  remove_dead(builder.computation, [*users, barrier])
  return moved


def _take_the_place_of(old: Instruction, new: Instruction) -> None:
  """Uses and control edges of one instruction become those of another."""
  old.replace_all_uses_with(new)
  for predecessor in old.control_predecessors:
    new.add_control_predecessor(predecessor)
  for successor in old.control_successors:
    successor.add_control_predecessor(new)
  old.drop_control_edges()


# Dependences, without changing anything.


def reached_by(body: Computation, sources: Mapping[Instruction, int], split_barriers: bool) -> dict[Instruction, int]:
  """For each instruction, the bits of the sources it depends on (its own included). The values of a barrier that can be split
  are told apart.
  """
  bits: dict[Instruction, int] = {}
  parts: dict[Instruction, list[int]] = {}  # of tuples before barriers, and of the barriers
  for instruction in topological_order(body):
    found = sources.get(instruction, 0)
    if split_barriers and _feeds_barriers_only(instruction):
      parts[instruction] = [bits[o] for o in instruction.operands]
    elif split_barriers and _is_barrier_of_several(instruction) and instruction.operands[0] in parts:
      parts[instruction] = parts[instruction.operands[0]]
    whole = instruction.is_root or any(u.opcode != "get-tuple-element" for u in instruction.users)
    if instruction in parts and (instruction.opcode == "tuple" or not whole):
      bits[instruction] = found
      continue
    parts.pop(instruction, None)
    for operand in instruction.operands:
      if instruction.opcode == "get-tuple-element" and operand in parts:
        found |= parts[operand][instruction.attrs["index"]]
      elif operand in parts:
        for part in parts[operand]:
          found |= part
      else:
        found |= bits[operand]
    bits[instruction] = found
  return bits


def is_recomputable(loop: Loop, value: Instruction) -> bool:
  """Whether a value is the same in every trip and cheap: constants and invariant slots, and broadcasts of those."""
  while value.opcode in ("broadcast", "reshape", "bitcast", "convert") and not value.control_predecessors:
    value = value.operands[0]
  if value.control_predecessors:
    return False
  if value.opcode in ("constant", "iota"):
    return True
  inside = value.opcode == "get-tuple-element" and value.operands[0] is loop.parameter
  return inside and is_invariant(loop, value.attrs["index"])


def unfuse_stores(body: Computation, moves: Moves) -> None:
  """Splits the fusions that only format and store what is computed from collectives, so that each part is visible."""
  behind: set[Instruction] = set()
  for instruction in topological_order(body):
    if (
      instruction.opcode in COLLECTIVES
      or moves.is_candidate(instruction)
      or not behind.isdisjoint(instruction.operands)
    ):
      behind.add(instruction)
  for fusion in [i for i in body.instructions if i.opcode == "fusion"]:
    if fusion not in behind or not moves.is_formatting(fusion, frozenset({"dynamic-update-slice", "dynamic-slice"})):
      continue
    inner = fusion.called_computations[0]
    copies, new = copy_body(inner, dict(zip(inner.parameters, fusion.operands)))
    for copy in copies:
      body.insert(copy, before=fusion)
    body.replace(fusion, new[inner.root])


def elements_of(loop: Loop, slot: int) -> list[Instruction]:
  """The get-tuple-elements of a slot inside the body."""
  return [u for u in loop.parameter.users if u.opcode == "get-tuple-element" and u.attrs["index"] == slot]


def reads_by_element(loop: Loop) -> bool:
  """Whether body and condition only look at single slots."""
  parameters = (loop.parameter, loop.condition.parameters[0])
  return all(u.opcode == "get-tuple-element" for p in parameters for u in p.users) and not any(
    p.is_root for p in parameters
  )
