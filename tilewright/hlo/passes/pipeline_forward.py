"""Forward pipelining: the collectives of trip n run in trip n+1, beside its work; see `collective_pipeliner.py` for the proof.

    A C | A C | A C     →     A | C A | C A | C

C is the *chain*: the collectives with all their dependents, which ends in dynamic-update-slices of *store slots*.
All chains that can move do so in one rotation: the largest set of candidates and store slots for which the chain holds
formatting only, writes store slots only, and is the only reader of those slots.
"""

from __future__ import annotations

from tilewright.hlo.analysis import topological_order
from tilewright.hlo.builder import Builder
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.pipeline_chains import chain_after, elements_of, is_recomputable, reached_by
from tilewright.hlo.passes.pipeline_options import Moves, Predicate
from tilewright.hlo.passes.while_loops import (
  Counter,
  Loop,
  add_slots,
  after,
  copy_in,
  is_invariant,
  note_trips,
  own_init,
  remove_dead,
  set_initial,
  set_output,
  slots_read,
  trace,
)

UPDATE = frozenset({"dynamic-update-slice", "dynamic-slice"})


def forward(loop: Loop, counter: Counter, module: Module, moves: Moves) -> list[Instruction]:
  """Rotates the loop; returns the values after it that are computed from moved collectives."""
  body = loop.body
  stores = {slot for slot in range(loop.slots) if is_store(loop, slot)}
  fresh = [i for i in topological_order(body) if moves.is_candidate(i) and not _waits_for_nothing_new(loop, i)]
  candidates, slots = movable(
    loop, moves, stores, fresh, lambda i: moves.is_candidate(i) or moves.is_formatting(i, UPDATE)
  )
  if not candidates:
    return []
  inside = chain_after(body, [*candidates, *(e for s in slots for e in elements_of(loop, s))], moves.split_barriers)
  for instruction in inside:  # the trip before has done what these waited for
    for predecessor in instruction.control_predecessors:
      if predecessor not in inside:
        instruction.remove_control_predecessor(predecessor)
  order = [i for i in topological_order(body) if i in inside]
  needs = [o for i in order for o in i.operands if o not in inside]
  if not all(o.shape.is_array or o is loop.parameter for o in needs):
    return []
  return _rotate(loop, slots, order, counter, module)


def movable(
  loop: Loop, moves: Moves, stores: set[int], candidates: list[Instruction], allowed: Predicate
) -> tuple[list[Instruction], list[int]]:
  """The largest set of candidates that can move together, in order, with the slots they store into.

  Everything that depends on a candidate, or on what a store slot holds, must be `allowed`, end in store slots only, and have
  nothing else wait for it.
  """
  body, read = loop.body, slots_read(loop.condition)
  stores = stores - read
  if moves.most:
    candidates = candidates[: moves.most]
  while candidates and stores:
    bit = {c: 1 << n for n, c in enumerate(candidates)}
    slot_bit = {s: 1 << (len(candidates) + n) for n, s in enumerate(sorted(stores))}
    sources = dict(bit)
    for s in stores:
      sources |= dict.fromkeys(elements_of(loop, s), slot_bit[s])
    reached = reached_by(body, sources, moves.split_barriers)
    spoiled = 0
    for instruction, found in reached.items():
      if not found or instruction is body.root:
        continue
      delays = any(not reached[s] for s in instruction.control_successors)
      if delays or (instruction not in sources and not allowed(instruction)):
        spoiled |= found
    for slot, output in enumerate(loop.outputs):
      found = reached[output]
      if found and slot not in stores:
        spoiled |= found
      elif slot in stores and not found & ((1 << len(candidates)) - 1):
        spoiled |= slot_bit[slot]  # no candidate is stored here
    ends = [reached[output] for slot, output in enumerate(loop.outputs) if slot in stores]
    for b in bit.values():
      if not any(end & b for end in ends):
        spoiled |= b  # it goes nowhere
    kept = [c for c in candidates if not bit[c] & spoiled]
    left = {s for s in stores if not slot_bit[s] & spoiled}
    if len(kept) == len(candidates) and left == stores:
      return candidates, sorted(stores)
    candidates, stores = kept, left
  return [], []


def is_store(loop: Loop, slot: int) -> bool:
  """Whether a trip writes into the buffer of the slot, by one update or several."""
  value = trace(loop.outputs[slot])
  updates = 0
  while value.instruction.opcode == "dynamic-update-slice" and not value.path:
    value, updates = value.operand(0), updates + 1
  return updates > 0 and loop.is_slot(value, slot)


def _waits_for_nothing_new(loop: Loop, candidate: Instruction) -> bool:
  """Whether its operands come from the trip before as they are (it is pipelined already) or never change."""
  return all(_is_carried(loop, o) or is_recomputable(loop, o) for o in candidate.operands)


def _is_carried(loop: Loop, operand: Instruction) -> bool:
  value = trace(operand)
  inside = value.instruction is loop.parameter and not value.frames and len(value.path) == 1
  return inside and not is_invariant(loop, value.path[0])


def _rotate(
  loop: Loop, slots: list[int], chain: list[Instruction], counter: Counter, module: Module
) -> list[Instruction]:
  body, inside = loop.body, set(chain)
  needs = dict.fromkeys(o for i in chain for o in i.operands if o not in inside and o is not loop.parameter)
  same = [o for o in needs if is_recomputable(loop, o)]
  carried = [o for o in needs if o not in same]
  rest = [i for i in topological_order(body) if i not in inside and i is not body.root and i is not loop.parameter]

  # The first trip, without its chain, before the loop.
  init = own_init(loop)
  before = Builder(loop.computation, before=init, metadata=loop.instruction.metadata)
  new = trip_copies(rest, loop, list(init.operands), before, module)
  first = [new.get(o, o) for o in loop.outputs]
  for k in range(loop.slots):
    if k not in slots:
      set_initial(loop, k, first[k])
  start = before.constant(counter.start + counter.step, loop.instruction.shape.tuple_shapes[counter.slot].element_type)
  set_initial(loop, counter.slot, before.op("copy", (start,)))
  held = add_slots(loop, [new[o] for o in carried])

  # The loop: the chain works on what the trip before left.
  for position, (value, place) in enumerate(zip(carried, held)):
    for user in value.users:
      if user in inside:
        user.replace_uses_of(value, place)
    set_output(loop, loop.slots - len(carried) + position, value)

  # The last chain, after the loop.
  builder = after(loop.instruction)
  known = {place: builder.element(loop.instruction, loop.slots - len(held) + i) for i, place in enumerate(held)}
  whole = {slot: builder.element(loop.instruction, slot) for slot in slots}
  for value in chain:
    if value.opcode == "get-tuple-element" and value.operands[0] is loop.parameter:
      known[value] = whole[value.attrs["index"]]
  unchanging = sources_of(same, loop)
  for value in unchanging:
    if value.opcode == "get-tuple-element":
      known[value] = builder.element(loop.instruction, value.attrs["index"])
  new = copy_in([*unchanging, *chain], known, builder, module)
  for slot in slots:
    final = new[loop.outputs[slot]]
    for user in loop.instruction.users:
      if user is not whole[slot] and user.attrs.get("index") == slot:
        user.replace_all_uses_with(final)
        remove_dead(loop.computation, [user])
  note_trips(loop, Counter(counter.slot, counter.start + counter.step, counter.step, counter.trips - 1))
  return [new[loop.outputs[slot]] for slot in slots]


def sources_of(values: list[Instruction], loop: Loop) -> list[Instruction]:
  """The values and their transitive operands, in order."""
  found: set[Instruction] = set()
  work = list(values)
  while work:
    value = work.pop()
    if value not in found and value is not loop.parameter:
      found.add(value)
      work += value.operands
  return [i for i in topological_order(loop.body) if i in found]


def trip_copies(
  instructions: list[Instruction], loop: Loop, state: list[Instruction], builder: Builder, module: Module
) -> dict[Instruction, Instruction]:
  """Copies of instructions of the body, for a trip that starts from `state`."""
  known = {
    i: state[i.attrs["index"]]
    for i in loop.parameter.users
    if i.opcode == "get-tuple-element" and i.attrs["index"] < len(state)
  }
  return copy_in([i for i in instructions if i not in known], known, builder, module)
