"""Backward pipelining: trip n fetches the values trip n+1 needs; see `collective_pipeliner.py` for the proof.

The inputs of a fetch must be known one trip ahead: invariant slots, and slots whose next value is computed from such slots alone (the
counter, a second induction variable). With `loop_variants` any slot qualifies: its next value is the one this trip returns, which
makes the fetch wait for it. Sends and receives between devices are fetched this way, all of a loop together: trip n+1 sends
the values that trip n leaves.
"""

from __future__ import annotations

from tilewright.hlo.analysis import topological_order
from tilewright.hlo.builder import Builder
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.collective_keys import P2P
from tilewright.hlo.passes.pipeline_chains import chain_before, elements_of
from tilewright.hlo.passes.pipeline_forward import trip_copies
from tilewright.hlo.passes.pipeline_options import Moves
from tilewright.hlo.passes.while_loops import (
  Counter,
  Loop,
  add_slots,
  after,
  copy_in,
  is_invariant,
  note_trips,
  own_init,
  read_by_element,
  remove_dead,
  set_output,
)

SLICES = frozenset({"dynamic-slice"})


def backward(loop: Loop, counter: Counter, module: Module, moves: Moves) -> list[Instruction]:
  """Fetches one trip ahead; returns the values that are fetched before the loop."""
  fetches = _fetches(loop, counter, moves)
  if not fetches:
    return []
  body = loop.body
  needed = _ancestors([*fetches, *transfers(body)], loop.parameter)
  order = [i for i in topological_order(body) if i in needed]
  moved = [i for i in order if moves.is_candidate(i) or i.opcode in P2P]
  init = own_init(loop)
  builder = Builder(loop.computation, before=init, metadata=loop.instruction.metadata)
  first = trip_copies(order, loop, list(init.operands), builder, module)
  held = add_slots(loop, [first[fetch] for fetch in fetches])

  # The body uses what was fetched, and fetches for the trip after it.
  for fetch, place in zip(fetches, held):
    for user in fetch.users:
      if user not in needed:
        user.replace_uses_of(fetch, place)
  for fetch in moved:  # what waited for it waits no more: it is there since the trip before
    for successor in fetch.control_successors:
      successor.remove_control_predecessor(fetch)
  builder = Builder(body, before=body.root)
  ahead: dict[Instruction, Instruction] = {}
  for slot in range(loop.slots - len(held)):
    for element in elements_of(loop, slot):
      ahead[element] = element if is_invariant(loop, slot) else loop.outputs[slot]
  rest = [i for i in topological_order(body) if i is not body.root and i is not loop.parameter and i not in moved]
  new = copy_in(order, ahead, builder, module)
  for position, fetch in enumerate(fetches):
    set_output(loop, loop.slots - len(fetches) + position, new[fetch])
  for fetch in moved:  # the copy takes over the channel: the one it was made from goes
    if fetch.attrs.get("channel_id"):
      new[fetch].attrs["channel_id"] = fetch.attrs["channel_id"]

  _end_one_trip_early(loop, counter, module)
  reachable = _without_orphans(rest, moved)
  _peel_last(loop, reachable, loop.slots - len(fetches), module)
  body.remove_all(_with_users([i for i in moved if i.opcode in P2P]))
  remove_dead(body, [f for f in reversed(order) if f.is_dead and f.parent is body])
  note_trips(loop, Counter(counter.slot, counter.start, counter.step, counter.trips - 1))
  return [first[fetch] for fetch in fetches]


def _fetches(loop: Loop, counter: Counter, moves: Moves) -> list[Instruction]:
  """The values that trips read of candidates whose operands a trip could compute for the trip after it."""
  body = loop.body
  exchanged = transfers(body)  # all of them move, or none: devices must meet in the same order
  slots = set(range(loop.slots)) if moves.loop_variants or exchanged else _known_ahead(loop, counter, moves)
  known = chain_before(body, [e for s in slots for e in elements_of(loop, s)], moves, SLICES)
  if not known.issuperset(exchanged):
    return []
  candidates = [i for i in topological_order(body) if i in known and (moves.is_candidate(i) or i.opcode == "recv-done")]
  # A candidate that only the root uses is fetched ahead already.
  values = {c: _values(c) for c in candidates}
  candidates = [c for c in candidates if any(u is not body.root for v in values[c] for u in v.users)]
  if moves.most:
    candidates = candidates[: moves.most]
  needed = _ancestors([*exchanged, *(v for c in candidates for v in values[c])], loop.parameter)
  made = _made_of(loop, candidates, needed)
  outside = [v for v in made if any(user not in needed for user in v.users)]
  while tuples := [v for v in outside if not v.shape.is_array]:
    elements = [u for v in tuples for u in v.users if u not in needed]
    if any(u.opcode != "get-tuple-element" for u in elements):
      return []  # a token, or a tuple, would have to be carried
    needed |= set(elements)
    made = _made_of(loop, candidates, needed)
    outside = [v for v in made if any(user not in needed for user in v.users)]
  return outside


def _made_of(loop: Loop, candidates: list[Instruction], needed: set[Instruction]) -> list[Instruction]:
  """The fetched values: candidates, and those of `needed` that are computed from them, in order."""
  made = set(candidates)
  for instruction in topological_order(loop.body):
    if instruction in needed and any(o in made for o in instruction.operands):
      made.add(instruction)
  return [i for i in topological_order(loop.body) if i in made]


def transfers(body: Computation) -> list[Instruction]:
  """Sends and receives between devices, with their dones."""
  return [i for i in body.instructions if i.opcode in P2P]


def _with_users(instructions: list[Instruction]) -> list[Instruction]:
  found: dict[Instruction, None] = {}
  work = list(instructions)
  while work:
    top = work.pop()
    if top not in found:
      found[top] = None
      work += top.users
  return list(found)


def _values(candidate: Instruction) -> list[Instruction]:
  return list(candidate.users) if candidate.shape.is_tuple else [candidate]


def _known_ahead(loop: Loop, counter: Counter, moves: Moves) -> set[int]:
  """Slots whose next value can be computed within a trip from such slots: the largest such set."""
  invariant = {slot for slot in range(loop.slots) if is_invariant(loop, slot)}
  slots = {s for s in range(loop.slots) if loop.instruction.shape.tuple_shapes[s].is_array} | invariant
  while True:
    leaves = {e for s in slots for e in elements_of(loop, s)}
    known = _computed_from(loop.body, leaves, moves)
    kept = {s for s in slots if s in invariant or s == counter.slot or loop.outputs[s] in known}
    if kept == slots:
      return slots
    slots = kept


def _computed_from(body: Computation, leaves: set[Instruction], moves: Moves) -> set[Instruction]:
  """Scalars computed from leaves by formatting: induction values are small."""
  known = set(leaves)
  for instruction in topological_order(body):
    if instruction in known or instruction is body.root or instruction.opcode == "parameter":
      continue
    small = instruction.shape.is_array and instruction.shape.num_elements == 1
    if not small or instruction.control_predecessors or not moves.is_formatting(instruction, SLICES):
      continue
    if instruction.opcode in ("constant", "iota") or all(o in known for o in instruction.operands):
      known.add(instruction)
  return known


def _ancestors(instructions: list[Instruction], parameter: Instruction) -> set[Instruction]:
  found: set[Instruction] = set()
  todo = list(instructions)
  while todo:
    top = todo.pop()
    if top not in found and top is not parameter:
      found.add(top)
      todo += (*top.operands, *top.control_predecessors)
  return found


def _without_orphans(rest: list[Instruction], gone: list[Instruction]) -> list[Instruction]:
  """Instructions whose operands are all still there."""
  missing = set(gone)
  kept: list[Instruction] = []
  for instruction in rest:
    if any(o in missing for o in instruction.operands):
      missing.add(instruction)
    else:
      kept.append(instruction)
  return kept


def _end_one_trip_early(loop: Loop, counter: Counter, module: Module) -> None:
  """A condition that stops before the last trip."""
  state = loop.instruction.shape
  builder = Builder("condition")
  parameter = builder.parameter(state)
  limit = counter.start + counter.step * (counter.trips - 1)
  value = builder.element(parameter, counter.slot)
  end = builder.constant(limit, state.tuple_shapes[counter.slot].element_type)
  test = builder.compare(value, end, "LT" if counter.step > 0 else "GT")
  condition: Computation = builder.finish(test)
  loop.instruction.attrs["condition"] = module.add_computation(condition)


def _peel_last(loop: Loop, rest: list[Instruction], slots: int, module: Module) -> None:
  """Runs the body once more after the loop; `slots` is the number of slots the loop had that outside readers see."""
  read_by_element(loop.instruction)
  readers = [user for user in loop.instruction.users if user.attrs["index"] < slots]
  builder = after(loop.instruction)
  state = [builder.element(loop.instruction, i) for i in range(loop.slots)]
  new = trip_copies(rest, loop, state, builder, module)
  for reader in readers:
    final = loop.outputs[reader.attrs["index"]]
    reader.replace_all_uses_with(new.get(final, final))
    remove_dead(loop.computation, [reader])
  remove_dead(loop.computation, [*new.values(), *state])
