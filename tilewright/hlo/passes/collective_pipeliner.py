"""Collectives move across the trips of a loop, so that they run beside the work of another trip.

    forward        trip n computes x; trip n+1 reduces and stores it, while it computes its own
    forward_sink   trips only collect x; one collective after the loop works on all of them
    backward       trip n fetches what trip n+1 will need, while it works with what was fetched before

*Forward.* Precondition: known trips, at least 2; a collective whose result goes through formatting and dynamic-update-slices
into one slot, which nothing else in body or condition reads. Write C for that chain and A for the rest of the body. Trip n was
A then C; A never sees what C writes, so the C of trip n may run at any time before the C of trip n+1. The first A is
peeled off before the loop, the last C after it, and what C needs of A is carried in new slots: A | C A | C A | C. The stores
keep their order, whatever their indices.

*Backward.* Precondition: known trips, at least 2; a collective of something computed by formatting and slicing from invariant
slots and the counter only. Then trip n can compute the operand of trip n+1: invariants are the same, and the counter is
known one step ahead. The first collective runs before the loop, each trip runs the next one and uses the one carried in a
new slot, and the last trip is peeled off, so that nothing is fetched that nobody needs.

*Forward-sink* is in `pipeline_sink.py`. Barriers are looked through value by value (`pipeline_chains.py`). A loop that is
pipelined already is recognised and left alone. Refused besides: bodies with side effects (peeling would let them pass one
another), control edges, tokens among what would be carried, collectives of several operands, states used as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.analysis import topological_order
from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_computation
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.base import HloPassError, Pass, register_pass
from tilewright.hlo.passes.effects import Effects
from tilewright.hlo.passes.pipeline_chains import (
  chain_after,
  chain_before,
  elements_of,
  is_cheap,
  is_collective,
  reads_by_element,
  strip_formatting,
)
from tilewright.hlo.passes.pipeline_sink import sink
from tilewright.hlo.passes.while_loops import (
  Counter,
  Loop,
  Value,
  add_slots,
  after,
  copy_in,
  find_counter,
  is_invariant,
  loops_of,
  note_trips,
  own_init,
  read_by_element,
  remove_dead,
  set_initial,
  set_output,
  slots_read,
  trace,
  unshare,
)

UPDATE = frozenset({"dynamic-update-slice", "dynamic-slice"})
DIRECTIONS = ("forward", "forward_sink", "backward")


@register_pass("collective_pipeliner")
@dataclass(frozen=True)
class CollectivePipeliner(Pass):
  """Moves collectives into the next trip of a loop, behind it, or into the trip before."""

  direction: str = "forward"
  min_bytes: int = 0  # of the collective's operand
  max_bytes: int = 1 << 30  # of what forward_sink collects

  def run(self, module: Module) -> bool:
    if self.direction not in DIRECTIONS:
      raise HloPassError(f"collective_pipeliner: direction={self.direction} is none of {', '.join(DIRECTIONS)}")
    changed = False
    for loop in loops_of(module):
      counter = find_counter(loop)
      if counter is None or counter.trips < 2 or not reads_by_element(loop):
        continue
      changed |= self._in_a_copy(loop, counter, module)
    return changed

  def _in_a_copy(self, loop: Loop, counter: Counter, module: Module) -> bool:
    """Works on a copy of the body, because matching may already split barriers; keeps it only if something moved."""
    original = loop.body
    if self.direction != "forward_sink" and Effects().of_computation(original):
      return False
    loop.instruction.attrs["body"] = copy = clone_computation(original)
    moved = False
    if self.direction == "forward":
      moved = _forward(loop, counter, module, self.min_bytes)
    elif self.direction == "backward":
      moved = _backward(loop, counter, module, self.min_bytes)
    else:
      moved = sink(loop, counter, self.min_bytes, self.max_bytes)
    if not moved:
      loop.instruction.attrs["body"] = original
      return False
    module.add_computation(copy)
    module.remove_unreachable_computations()
    unshare(module)
    return True


# Forward.


def _forward(loop: Loop, counter: Counter, module: Module, min_bytes: int) -> bool:
  for slot in range(loop.slots):
    chain = _storing_chain(loop, slot, min_bytes)
    if chain is not None:
      _rotate(loop, slot, chain, counter, module)
      return True
  return False


def _storing_chain(loop: Loop, slot: int, min_bytes: int) -> list[Instruction] | None:
  """The collectives stored in a slot with everything behind them, in order, if all of it may run one trip later."""
  collectives = _stored_collectives(loop, slot, min_bytes)
  if not collectives or slot in slots_read(loop.condition):
    return None
  if all(_is_carried(loop, trace(c.operands[0])) for c in collectives):
    return None  # computed in the trip before: pipelined already
  body = loop.body
  inside = chain_after(body, [*collectives, *elements_of(loop, slot)])
  for instruction in inside:
    allowed = instruction in collectives or is_cheap(instruction, UPDATE)
    if not allowed or any(user not in inside and user is not body.root for user in instruction.users):
      return None
  stored = [i for i, output in enumerate(loop.outputs) if output in inside]
  if stored != [slot]:
    return None
  order = [i for i in topological_order(body) if i in inside]
  needs = [o for i in order for o in i.operands if o not in inside]
  return order if all(o.shape.is_array or o is loop.parameter for o in needs) else None


def _is_carried(loop: Loop, value: Value) -> bool:
  inside = value.instruction is loop.parameter and not value.frames and len(value.path) == 1
  return inside and not is_invariant(loop, value.path[0])


def _stored_collectives(loop: Loop, slot: int, min_bytes: int) -> list[Instruction]:
  """The collectives whose results a trip stores into the buffer of a slot; empty if the slot is not such a buffer."""
  value, found = trace(loop.outputs[slot]), []
  while value.instruction.opcode == "dynamic-update-slice" and not value.path:
    update = strip_formatting(value.operand(1), frozenset({"dynamic-slice"}))
    if not update.frames and not update.path and is_collective(update.instruction, min_bytes):
      found.append(update.instruction)
    value = value.operand(0)
  return found if loop.is_slot(value, slot) else []


def _rotate(loop: Loop, slot: int, chain: list[Instruction], counter: Counter, module: Module) -> None:
  body, inside = loop.body, set(chain)
  needs = dict.fromkeys(o for i in chain for o in i.operands if o not in inside and o is not loop.parameter)
  constants = [o for o in needs if o.opcode == "constant"]
  invariant = [o for o in needs if _is_invariant_element(loop, o)]
  carried = [o for o in needs if o not in constants and o not in invariant]
  rest = [i for i in topological_order(body) if i not in inside and i is not body.root and i is not loop.parameter]

  # The first trip, without its chain, before the loop.
  init = own_init(loop)
  before = Builder(loop.computation, before=init, metadata=loop.instruction.metadata)
  new = _trip(rest, loop, list(init.operands), before, module)
  first = [new.get(o, o) for o in loop.outputs]
  for k in range(loop.slots):
    if k != slot:
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
  for value in invariant:
    known[value] = builder.element(loop.instruction, value.attrs["index"])
  whole = builder.element(loop.instruction, slot)
  for value in chain:
    if value.opcode == "get-tuple-element" and value.operands[0] is loop.parameter:
      known[value] = whole
  new = copy_in([*constants, *chain], known, builder, module)
  final = new[loop.outputs[slot]]
  for user in loop.instruction.users:
    if user is not whole and user.attrs.get("index") == slot:
      user.replace_all_uses_with(final)
      remove_dead(loop.computation, [user])
  note_trips(loop, Counter(counter.slot, counter.start + counter.step, counter.step, counter.trips - 1))


def _is_invariant_element(loop: Loop, value: Instruction) -> bool:
  inside = value.opcode == "get-tuple-element" and value.operands[0] is loop.parameter
  return inside and is_invariant(loop, value.attrs["index"])


def _trip(
  instructions: list[Instruction], loop: Loop, state: list[Instruction], builder: Builder, module: Module
) -> dict[Instruction, Instruction]:
  """Copies of instructions of the body, for a trip that starts from `state`."""
  known = {
    i: state[i.attrs["index"]]
    for i in loop.parameter.users
    if i.opcode == "get-tuple-element" and i.attrs["index"] < len(state)
  }
  return copy_in([i for i in instructions if i not in known], known, builder, module)


# Backward.


def _backward(loop: Loop, counter: Counter, module: Module, min_bytes: int) -> bool:
  fetches = _fetches(loop, counter, min_bytes)
  if not fetches:
    return False
  body = loop.body
  needs = [_ancestors(fetch, loop.parameter) for fetch in fetches]
  order = [i for i in topological_order(body) if any(i in need for need in needs)]
  init = own_init(loop)
  builder = Builder(loop.computation, before=init, metadata=loop.instruction.metadata)
  first = _trip([*order], loop, list(init.operands), builder, module)
  held = add_slots(loop, [first[fetch] for fetch in fetches])

  # The body uses what was fetched, and fetches for the trip after it.
  for fetch, place in zip(fetches, held):
    fetch.replace_all_uses_with(place)
  builder = Builder(body, before=body.root)
  ahead = {i: loop.outputs[counter.slot] for i in elements_of(loop, counter.slot)}
  ahead |= {
    i: i for i in order if i.opcode == "get-tuple-element" and i.operands[0] is loop.parameter and i not in ahead
  }
  rest = [i for i in topological_order(body) if i is not body.root and i is not loop.parameter and i not in fetches]
  new = copy_in(order, ahead, builder, module)
  for position, fetch in enumerate(fetches):
    set_output(loop, loop.slots - len(fetches) + position, new[fetch])
    # The copy takes over the channel: the one it was made from goes.
    if fetch.attrs.get("channel_id"):
      new[fetch].attrs["channel_id"] = fetch.attrs["channel_id"]

  _end_one_trip_early(loop, counter, module)
  _peel_last(loop, rest, loop.slots - len(fetches), module)
  remove_dead(body, fetches)
  note_trips(loop, Counter(counter.slot, counter.start, counter.step, counter.trips - 1))
  return True


def _fetches(loop: Loop, counter: Counter, min_bytes: int) -> list[Instruction]:
  """The collectives whose operands a trip could compute for the trip after it."""
  leaves = [i for slot in range(loop.slots) if is_invariant(loop, slot) for i in elements_of(loop, slot)]
  leaves += elements_of(loop, counter.slot)
  known = chain_before(loop.body, leaves, frozenset({"dynamic-slice"}))
  found = [i for i in topological_order(loop.body) if is_collective(i, min_bytes) and i.operands[0] in known]
  return [i for i in found if any(user is not loop.body.root for user in i.users)]  # else fetched ahead already


def _ancestors(instruction: Instruction, parameter: Instruction) -> set[Instruction]:
  found: set[Instruction] = set()
  todo = [instruction]
  while todo:
    top = todo.pop()
    if top not in found and top is not parameter:
      found.add(top)
      todo += top.operands
  return found


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
  """Runs the body once more behind the loop; `slots` is how many slots the loop had for others to read."""
  read_by_element(loop.instruction)
  readers = [user for user in loop.instruction.users if user.attrs["index"] < slots]
  builder = after(loop.instruction)
  state = [builder.element(loop.instruction, i) for i in range(loop.slots)]
  new = _trip(rest, loop, state, builder, module)
  for reader in readers:
    final = loop.outputs[reader.attrs["index"]]
    reader.replace_all_uses_with(new.get(final, final))
    remove_dead(loop.computation, [reader])
  remove_dead(loop.computation, [*new.values(), *state])
