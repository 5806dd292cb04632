"""Analysis and editing of while loops: shared by the passes that move code in and out of loops.

A loop `while(init), condition, body` carries a tuple; element k of it is *slot* k. `read_loop` returns the loop if it has that
form. A slot is the *counter* if the body adds a constant to it, it starts at a constant, and the condition compares it
with one: then the trip count is known. A slot is *invariant* if the body returns it unchanged.

XLA hands modules over at many stages, so `trace` looks through instructions that do not change a value: copies, barriers, tuples, and
the boundaries of fusions and calls. It returns a `Value`: an instruction, the enclosing calls, and a
path into its tuple.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.hlo.analysis import call_graph, topological_order
from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_computation, clone_instruction
from tilewright.hlo.errors import HloError
from tilewright.hlo.ir import CALLED_ATTRS, Computation, Instruction, Module
from tilewright.hlo.literal import Literal
from tilewright.hlo.opcodes import SIDE_EFFECTS
from tilewright.hlo.passes.collective_keys import P2P, Channels, open_channels
from tilewright.hlo.shape import Shape


@dataclass(frozen=True, slots=True)
class Value:
  """Element `path` of `instruction`, which is located inside the calls `frames` (outermost first)."""

  instruction: Instruction
  frames: tuple[Instruction, ...] = ()
  path: tuple[int, ...] = ()

  def operand(self, i: int) -> Value:
    return trace(self.instruction.operands[i], self.frames)

  @property
  def constant(self) -> np.ndarray | None:
    """The array, if this is a constant whose elements are known."""
    if self.instruction.opcode != "constant" or self.path:
      return None
    return self.instruction.literal.value


def trace(instruction: Instruction, frames: tuple[Instruction, ...] = (), path: tuple[int, ...] = ()) -> Value:
  """The source of a value, traced through copies, barriers, tuples, fusions and calls."""
  while True:
    opcode = instruction.opcode
    if opcode == "parameter" and frames:
      instruction, frames = frames[-1].operands[instruction.parameter_number], frames[:-1]
    elif opcode == "get-tuple-element":
      path, instruction = (instruction.attrs["index"], *path), instruction.operands[0]
    elif opcode == "tuple" and path:
      instruction, path = instruction.operands[path[0]], path[1:]
    elif opcode in ("copy", "opt-barrier") or (opcode == "bitcast" and _keeps_shape(instruction)):
      instruction = instruction.operands[0]
    elif opcode in ("fusion", "call"):
      frames, instruction = (*frames, instruction), instruction.called_computations[0].root
    else:
      return Value(instruction, frames, path)


def _keeps_shape(bitcast: Instruction) -> bool:
  before, after = bitcast.operands[0].shape, bitcast.shape
  return before.same_logical(after) and (before.rank < 2 or before.layout == after.layout)


def is_zero(instruction: Instruction) -> bool:
  """Whether every element is provably zero."""
  value = trace(instruction)
  while value.instruction.opcode in ("broadcast", "reshape", "transpose", "convert", "bitcast") and not value.path:
    value = value.operand(0)
  array = value.constant
  return array is not None and not np.any(array)


@dataclass(frozen=True, slots=True)
class Loop:
  """A while whose state is a tuple and whose body ends in one."""

  instruction: Instruction

  @property
  def body(self) -> Computation:
    body: Computation = self.instruction.attrs["body"]
    return body

  @property
  def condition(self) -> Computation:
    condition: Computation = self.instruction.attrs["condition"]
    return condition

  @property
  def computation(self) -> Computation:
    assert self.instruction.parent is not None
    return self.instruction.parent

  @property
  def parameter(self) -> Instruction:
    return self.body.parameters[0]

  @property
  def outputs(self) -> tuple[Instruction, ...]:
    """The results of the body, slot by slot."""
    return self.body.root.operands

  @property
  def slots(self) -> int:
    return len(self.instruction.shape.tuple_shapes)

  def initial(self, slot: int) -> Value:
    return trace(self.instruction.operands[0], (), (slot,))

  def is_slot(self, value: Value, slot: int) -> bool:
    return value == Value(self.parameter, (), (slot,))


def read_loop(instruction: Instruction) -> Loop | None:
  """The loop, if it has a form that these passes support."""
  if instruction.opcode != "while" or not instruction.shape.is_tuple or instruction.parent is None:
    return None
  loop = Loop(instruction)
  if loop.body.root.opcode != "tuple" or loop.body is loop.condition:
    return None
  return loop


def loops_of(module: Module) -> list[Loop]:
  """Every loop the entry reaches, inner ones before those around them."""
  found = [read_loop(i) for c in call_graph(module).post_order for i in topological_order(c) if i.opcode == "while"]
  return [loop for loop in found if loop is not None]


# The counter.


@dataclass(frozen=True, slots=True)
class Counter:
  """In trip n (from 0) the slot holds `start + n · step`; there are `trips` of them."""

  slot: int
  start: int
  step: int
  trips: int

  def values(self) -> np.ndarray:
    return self.start + self.step * np.arange(self.trips, dtype=np.int64)


_SWAPPED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "NE": "NE", "EQ": "EQ"}


def find_counter(loop: Loop) -> Counter | None:
  """The counter, if condition, start and step are all constants."""
  test = trace(loop.condition.root)
  if test.instruction.opcode != "compare" or test.path:
    return None
  direction = str(test.instruction.attrs["direction"])
  left, right = test.operand(0), test.operand(1)
  if _condition_slot(loop, left) is None:
    left, right, direction = right, left, _SWAPPED[direction]
  slot = _condition_slot(loop, left)
  if slot is None or loop.instruction.shape.tuple_shapes[slot].kind not in ("signed", "unsigned"):
    return None
  if loop.instruction.shape.tuple_shapes[slot].dimensions:
    return None
  start, limit, step = _integer(loop.initial(slot)), _limit(loop, right), step_of(loop, slot)
  if start is None or limit is None or not step:
    return None
  trips = _count_trips(start, step, limit, direction)
  if trips is None:
    return None
  bounds = np.iinfo(loop.instruction.shape.tuple_shapes[slot].dtype)
  if not bounds.min <= start + step * trips <= bounds.max:
    return None  # it wraps around before the condition ends it
  return Counter(slot, start, step, trips)


def _condition_slot(loop: Loop, value: Value) -> int | None:
  inside = value.instruction is loop.condition.parameters[0] and not value.frames and len(value.path) == 1
  return value.path[0] if inside else None


def _integer(value: Value) -> int | None:
  array = value.constant
  return int(array.reshape(())) if array is not None and array.size == 1 and array.dtype.kind in "iu" else None


def _limit(loop: Loop, value: Value) -> int | None:
  slot = _condition_slot(loop, value)
  if slot is None:
    return _integer(value)
  return _integer(loop.initial(slot)) if is_invariant(loop, slot) else None


def step_of(loop: Loop, slot: int) -> int | None:
  """What a trip adds to the slot, by one addition or several."""
  update, total = trace(loop.outputs[slot]), 0
  while not loop.is_slot(update, slot):
    if update.path or update.instruction.opcode not in ("add", "subtract"):
      return None
    left, right = update.operand(0), update.operand(1)
    if update.instruction.opcode == "add" and _integer(right) is None:
      left, right = right, left
    step = _integer(right)
    if step is None:
      return None
    total += step if update.instruction.opcode == "add" else -step
    update = left
  return total


def _count_trips(start: int, step: int, limit: int, direction: str) -> int | None:
  """How often the condition holds; None if it never stops holding (or stops by wrapping around)."""
  if direction == "NE":
    distance = limit - start
    return distance // step if distance % step == 0 and distance // step >= 0 else None
  if direction == "EQ":
    return 1 if start == limit else 0
  first_failing = {"LT": limit, "GT": limit, "LE": limit + 1, "GE": limit - 1}[direction]
  if direction in ("LT", "LE"):
    if start >= first_failing:
      return 0
    return -(-(first_failing - start) // step) if step > 0 else None
  if start <= first_failing:
    return 0
  return -((first_failing - start) // -step) if step < 0 else None


def trip_count(loop: Loop) -> int | None:
  """From the counter, or from what XLA has noted on the loop."""
  counter = find_counter(loop)
  if counter is not None:
    return counter.trips
  config = loop.instruction.backend_config_json
  try:
    return int(config["known_trip_count"]["n"])
  except (KeyError, TypeError, ValueError):
    return None


def is_invariant(loop: Loop, slot: int) -> bool:
  return loop.is_slot(trace(loop.outputs[slot]), slot)


def slots_read(computation: Computation) -> set[int]:
  """The slots a condition (or body) looks at; all of them if it uses the tuple as a whole."""
  parameter = computation.parameters[0]
  if parameter.is_root or any(user.opcode != "get-tuple-element" for user in parameter.users):
    return set(range(len(parameter.shape.tuple_shapes)))
  return {user.attrs["index"] for user in parameter.users if user.users or user.is_root or user.control_successors}


def always_reached(computation: Computation) -> bool:
  """Whether every device runs this computation whenever it runs the module: no conditional and no loop of unknown length
  stands between the entry and it.
  """
  module = computation.parent
  if module is None:
    return False
  if computation is module.entry:
    return True
  callers = call_graph(module).callers[computation]
  for caller in callers:
    loop = read_loop(caller)
    unconditional = caller.opcode == "call" or (loop is not None and loop.body is computation and trip_count(loop))
    if not unconditional or caller.parent is None or not always_reached(caller.parent):
      return False
  return bool(callers)


# Changing a loop.


def own_computations(loop: Loop) -> None:
  """Returns the loop a body and a condition that have no other callers."""
  module = loop.computation.parent
  assert module is not None
  callers = call_graph(module).callers
  if any(len(callers[c]) > 1 for c in (loop.body, loop.condition)):
    unshare(module)


def edit_alone(loop: Loop, edit: Callable[[], bool]) -> bool:
  """Edits a body and a condition that have no other callers; shared ones are copied for that, unless the edit changes nothing."""
  module, attrs = loop.computation.parent, loop.instruction.attrs
  assert module is not None
  callers = call_graph(module).callers
  shared = {key: attrs[key] for key in ("body", "condition") if len(callers[attrs[key]]) > 1}
  for key, computation in shared.items():
    attrs[key] = module.add_computation(clone_computation(computation))
  changed = edit()
  if shared and changed:
    unshare(module)
  elif shared:
    for key, computation in shared.items():
      module.computations.remove(attrs[key])
      attrs[key].parent = None
      attrs[key] = computation
  return changed


def after(instruction: Instruction) -> Builder:
  """A builder that adds right behind an instruction (in order, if called once and kept)."""
  computation = instruction.parent
  assert computation is not None
  place = computation.instructions.index(instruction) + 1
  following = computation.instructions[place] if place < len(computation.instructions) else None
  return Builder(computation, before=following, metadata=instruction.metadata)


def element(of: Instruction, index: int, builder: Builder) -> Instruction:
  """Element `index` of a tuple; the operand itself where the tuple is built here."""
  return of.operands[index] if of.opcode == "tuple" else builder.element(of, index)


def read_by_element(tuple_value: Instruction) -> None:
  """Makes get-tuple-elements the only users of a tuple, so that its length may change."""
  others = [user for user in tuple_value.users if user.opcode != "get-tuple-element"]
  if not others and not tuple_value.is_root:
    return
  builder = after(tuple_value)
  whole = builder.make_tuple(*(builder.element(tuple_value, i) for i in range(len(tuple_value.shape.tuple_shapes))))
  for user in others:
    user.replace_uses_of(tuple_value, whole)
  if tuple_value.is_root:
    assert tuple_value.parent is not None
    tuple_value.parent.root = whole


def own_init(loop: Loop) -> Instruction:
  """A tuple that only this loop uses as its initial state, right before it, so that anything made there may go in."""
  init = loop.instruction.operands[0]
  if init.opcode == "tuple" and init.users == (loop.instruction,) and not init.is_root:
    instructions = loop.computation.instructions
    instructions.remove(init)
    instructions.insert(instructions.index(loop.instruction), init)
    return init
  builder = Builder(loop.computation, before=loop.instruction)
  new = builder.make_tuple(*(element(init, i, builder) for i in range(loop.slots)))
  loop.instruction.replace_operand(0, new)
  return new


def set_initial(loop: Loop, slot: int, value: Instruction) -> None:
  own_init(loop).replace_operand(slot, value)


def set_output(loop: Loop, slot: int, value: Instruction) -> None:
  loop.body.root.replace_operand(slot, value)


def add_slots(loop: Loop, initial: Sequence[Instruction]) -> list[Instruction]:
  """New slots at the end, which start at `initial` (made before the loop) and return what they got until `set_output`.

  Returns their values inside the body. The loop must own its computations.
  """
  count = loop.slots
  read_by_element(loop.instruction)
  for computation in (loop.body, loop.condition):
    if computation.parameters[0].is_root or any(
      user.opcode != "get-tuple-element" for user in computation.parameters[0].users
    ):
      read_by_element(computation.parameters[0])
  init = own_init(loop)
  init.set_operands((*init.operands, *initial))
  state = Shape.tuple_of(*loop.instruction.shape.tuple_shapes, *(value.shape for value in initial))
  builder = after(loop.parameter)
  for instruction in (init, loop.instruction, loop.parameter, loop.condition.parameters[0], loop.body.root):
    instruction.shape, instruction.sharding, instruction.origin = state, None, None
  inside = [builder.element(loop.parameter, count + i) for i in range(len(initial))]
  loop.body.root.set_operands((*loop.outputs, *inside))
  return inside


def result(loop: Loop, slot: int) -> Instruction:
  """The loop's value at `slot`, after it."""
  for user in loop.instruction.users:
    if user.opcode == "get-tuple-element" and user.attrs["index"] == slot:
      return user
  return after(loop.instruction).element(loop.instruction, slot)


def zeros(builder: Builder, shape: Shape) -> Instruction:
  zero = builder.constant(Literal(Shape.array(shape.element_type), np.zeros((), shape.dtype)))
  if not shape.dimensions:
    return builder.op("copy", (zero,), shape)  # a constant's memory must not be written to
  return builder.op("broadcast", (zero,), shape, dimensions=())


def copy_in(
  instructions: Iterable[Instruction], known: Mapping[Instruction, Instruction], builder: Builder, module: Module
) -> dict[Instruction, Instruction]:
  """Copies instructions (in topological order) to the builder's place; old → new, with `known` to begin with.

  Copied collectives and transfers get channels of their own, the same one for those that share one; a transfer that began in another
  trip, or ends in one, keeps its channel. What leaves its computation (peeled trips) leaves its scheduling group, or forms a new one if
  all of the group is copied.
  """
  new = dict(known)
  instructions = list(instructions)
  groups = whole_groups(instructions, module)
  channels: dict[int, int] = {}
  free, kept = Channels(module), open_channels(instructions)
  for instruction in instructions:
    if instruction in new:
      continue
    copy = clone_instruction(instruction, [new[operand] for operand in instruction.operands])
    if builder.computation is not instruction.parent and SCHEDULING_GROUP in copy.frontend_attributes:
      group = copy.frontend_attributes.pop(SCHEDULING_GROUP)
      if group in groups:
        copy.frontend_attributes[SCHEDULING_GROUP] = groups[group]
    channel = copy.attrs.get("channel_id")
    if channel and not (channel in kept and instruction.opcode in P2P):
      if channel not in channels:
        channels[channel] = free.take()
      copy.attrs["channel_id"] = channels[channel]
    for predecessor in instruction.control_predecessors:
      if predecessor in new:
        copy.add_control_predecessor(new[predecessor])
    new[instruction] = builder.computation.insert(copy, before=builder.before)
  return new


SCHEDULING_GROUP = "_scheduling_group_id"


def whole_groups(instructions: Sequence[Instruction], module: Module) -> dict[str, str]:
  """Scheduling groups of several members that are all among these instructions, with a number that is free for each."""
  own: dict[str, int] = {}
  for instruction in instructions:
    group = instruction.frontend_attributes.get(SCHEDULING_GROUP)
    if group:
      own[group] = own.get(group, 0) + 1
  if not own:
    return {}
  everyone = [
    i.frontend_attributes[SCHEDULING_GROUP]
    for i in module.instructions()
    if i.frontend_attributes.get(SCHEDULING_GROUP)
  ]
  source = instructions[0].parent
  members = [i.frontend_attributes.get(SCHEDULING_GROUP) for i in source.instructions] if source is not None else []
  numbers = [int(g.partition(":")[0]) for g in everyone + list(own) if g.partition(":")[0].isdigit()]
  free = 1 + max(numbers, default=0)
  whole = [group for group, count in own.items() if count > 1 and members.count(group) == count]
  return {group: str(free + i) for i, group in enumerate(whole)}


_OWNERS = frozenset({"fusion", "while", "conditional", "call"})


_MAX_COPIED = 1_000_000  # instructions: shared calls, each of which calls the next one twice, have no end of copies


def unshare(module: Module) -> None:
  """Gives every fusion, loop, branch and call a computation of its own, as XLA's back ends need it."""
  taken: set[Computation] = {module.entry}
  copied = 0
  todo = [module.entry]
  while todo:
    for instruction in todo.pop().instructions:
      if instruction.opcode not in _OWNERS:
        continue
      for key, value in [(key, instruction.attrs[key]) for key in CALLED_ATTRS if key in instruction.attrs]:
        owned: list[Computation] = []
        for called in (value,) if isinstance(value, Computation) else value:
          own = called
          if called in taken:
            copied += len(called.instructions)
            if copied > _MAX_COPIED:
              raise HloError(f"module {module.name} calls shared computations too often to copy them for each call")
            own = module.add_computation(clone_computation(called))
          taken.add(own)
          owned.append(own)
        instruction.attrs[key] = owned[0] if isinstance(value, Computation) else tuple(owned)
        todo += owned


def note_trips(loop: Loop, counter: Counter | None) -> None:
  """Updates XLA's trip-count annotation on the loop: the counter's if it is known, else none."""
  config = loop.instruction.backend_config_json
  if not isinstance(config, dict):
    return
  keys = ("known_trip_count", "known_init_step", "known_induction_variable", "dynamic_variables")
  kept = {key: value for key, value in config.items() if key not in keys}
  if counter is not None:
    kept["known_trip_count"] = {"n": str(counter.trips)}
  loop.instruction.backend_config = json.dumps(kept, separators=(",", ":")) if kept else ""


def remove_dead(computation: Computation, starts: Iterable[Instruction]) -> bool:
  """Removes these instructions and what only they need, where nothing uses them and they have no effect."""
  todo, changed = list(starts), False
  while todo:
    instruction = todo.pop()
    keep = instruction.parent is not computation or not instruction.is_dead or instruction.opcode == "parameter"
    if keep or has_effect(instruction):
      continue
    operands = instruction.operands
    computation.remove(instruction)
    todo += operands
    changed = True
  return changed


def has_effect(instruction: Instruction) -> bool:
  """Whether running it does something besides giving a value. Synchronous collectives only give values."""
  todo, seen = [instruction], set[Computation]()
  while todo:
    current = todo.pop()
    if current.attrs.get("custom_call_has_side_effect"):
      return True
    if current.opcode in _EFFECTS and current.attrs.get("custom_call_target") not in _PASSING_CALLS:
      return True
    for called in current.called_computations:
      if called not in seen:
        seen.add(called)
        todo += called.instructions
  return False


# Calls that give their operand, and whose only work is where it lies.
_PASSING_CALLS = frozenset({"MoveToHost", "MoveToDevice", "InsertedByPreviousStep", "SunkByPreviousStep"})
_EFFECTS = SIDE_EFFECTS | {"async-start", "async-update", "async-done", "copy-start", "copy-done", "custom-call"}
